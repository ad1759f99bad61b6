// SPDX-License-Identifier: MIT
//
// Deferred messages as bytes and back. Bytes of version 1 stay readable: golden/queue has the
// files.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <golden/queue/books.hpp>

#include <waybill/core/crc32c.hpp>
#include <waybill/queue/deferred_messages_bytes.hpp>

namespace deferral_bytes_test {
namespace {

using namespace waybill;
using namespace std::string_literals;

static_assert(name(deferred_messages::load_error::code::empty) == "empty");
static_assert(name(deferred_messages::load_error::code::bad_options) == "bad_options");
static_assert(name(static_cast<deferred_messages::load_error::code>(99)) == "?");

std::string summed(std::string bytes)
{
    std::uint32_t sum = crc32c(bytes);
    for (int n = 0; n != 4; ++n, sum >>= 8U) bytes += static_cast<char>(sum & 0xFFU);
    return bytes;
}

std::string wrong(std::string_view bytes)
{
    const auto b = load<deferred_messages>(bytes, {});
    return b ? "nothing" : describe(b.error());
}

// The bytes after the version, with the right checksum.
std::string wrong_entries(const std::string& bytes)
{
    return wrong(summed("wbd\1" + bytes));
}

deferred_messages stored(const deferred_messages& b)
{
    deferred_messages s(b.options());
    b.each([&](const deferred& d) { s.restore(d); });
    return s;
}

}  // namespace

TEST_CASE("stored entries of version 1 load to the same entries, and save writes the same bytes")
{
    std::size_t read = 0;
    golden_books::each([&](std::string_view name, const deferred_messages& b) {
        CAPTURE(name);
        const auto* golden = golden_books::find(name);
        REQUIRE(golden != nullptr);
        const auto again =
            load<deferred_messages>(golden_books::bytes_of(golden->bytes), b.options());
        REQUIRE(again.has_value());
        CHECK(*again == stored(b));  // no entry is handed out
        CHECK(save(b) == golden_books::bytes_of(golden->bytes));
        ++read;
    });
    CHECK(read == std::size(golden_books::version_1));
}

TEST_CASE("stored entries with any bit changed, any suffix missing or a byte appended are refused")
{
    std::uint64_t refused = 0;
    golden_books::each([&](std::string_view name, const deferred_messages& b) {
        CAPTURE(name);
        const std::string good = save(b);
        for (std::size_t n = 0; n != good.size(); ++n) {
            CHECK_FALSE(
                load<deferred_messages>(std::string_view(good).substr(0, n), {}).has_value());
            for (unsigned bit = 0; bit != 8; ++bit) {
                std::string bad = good;
                bad[n] = static_cast<char>(static_cast<unsigned char>(bad[n]) ^ (1U << bit));
                CHECK_FALSE(load<deferred_messages>(bad, {}).has_value());
                ++refused;
            }
        }
        CHECK_FALSE(load<deferred_messages>(good + '\0', {}).has_value());
    });
    CHECK(refused > 1'500);
}

TEST_CASE("a load error contains its kind and the byte offset")
{
    const std::string good = save(deferred_messages());
    CHECK(wrong("") == "deferred messages: empty at byte 0");
    CHECK(wrong("w") == "deferred messages: too_short at byte 1");
    CHECK(wrong("wbd\1") == "deferred messages: too_short at byte 4");
    CHECK(wrong("wbw\1    ") == "deferred messages: other_format at byte 0");
    CHECK(wrong("{}") == "deferred messages: other_format at byte 0");
    CHECK(wrong(good) == "nothing");
    CHECK(wrong(good.substr(0, good.size() - 1) + "x") == "deferred messages: corrupt at byte 5");
    CHECK(wrong(summed("wbd\2 anything"s)) ==
          "deferred messages: newer at byte 3: update the program");
    CHECK(wrong(summed("wbd\0 "s)) == "deferred messages: other_format at byte 3");
}

TEST_CASE("malformed entries are refused, also with a correct checksum")
{
    CHECK(wrong_entries("") == "deferred messages: corrupt at byte 4");
    CHECK(wrong_entries("\0"s) == "nothing");
    CHECK(wrong_entries("\0\0"s) == "deferred messages: corrupt at byte 5");
    CHECK(wrong_entries("\x80\0"s) == "deferred messages: corrupt at byte 4");
    CHECK(wrong_entries("\1"s + "\5\2\0\1\0\0"s) == "nothing");
    CHECK(wrong_entries("\1"s + "\5\2\0\1\0"s) == "deferred messages: corrupt at byte 4");
    CHECK(wrong_entries("\1"s + "\5\2\0\1\1\0"s) == "deferred messages: corrupt at byte 11");
    CHECK(wrong_entries("\1"s + "\5\2\0\1\2\0"s) == "deferred messages: corrupt at byte 9");
    const std::string one = "\5\2\0\1\0\0"s;
    CHECK(wrong_entries("\2"s + one + "\1\2\0\1\0\0"s) == "nothing");
    CHECK(wrong_entries("\2"s + one + "\0\2\0\1\0\0"s) == "deferred messages: unsorted at byte 11");
    const std::string end = "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\1"s;  // 2^64 - 1
    CHECK(wrong_entries("\1"s + end + "\2\0\1\0\0"s) == "nothing");
    CHECK(wrong_entries("\2"s + one + end + "\2\0\1\0\0"s) ==
          "deferred messages: out_of_range at byte 11");
    CHECK(wrong_entries("\1"s + "\5\2\0\x80\x80\x80\x80\x10\0\0"s) ==
          "deferred messages: out_of_range at byte 8");
    CHECK(wrong_entries("\1"s + "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\2\2\0\1\0\0"s) ==
          "deferred messages: corrupt at byte 5");
    CHECK(wrong_entries(end + one) ==
          "deferred messages: corrupt at byte 4");  // more than there can be
}

TEST_CASE("one entry is stored as an object with this entry only")
{
    golden_books::each([&](std::string_view name, const deferred_messages& b) {
        CAPTURE(name);
        deferred_messages again;
        b.each([&](const deferred& d) {
            deferred_messages one;
            one.defer(d);
            CHECK(save(d) == save(one));
            const auto loaded = load<deferred>(save(d));
            REQUIRE(loaded.has_value());
            CHECK(*loaded == d);
            again.restore(*loaded);
        });
        CHECK(save(again) == save(b));
        if (b.size() == 1) return;
        CHECK(describe(load<deferred>(save(b)).error()) == "deferred messages: corrupt at byte 4");
    });
    CHECK(load<deferred>("").error().kind == deferred_messages::load_error::code::empty);
}

TEST_CASE("load takes new options, and keeps stored entries above their limit")
{
    deferred_messages b;
    for (std::uint64_t n = 0; n != 5; ++n) b.defer({.sequence = n, .session = "s"});
    const auto again =
        load<deferred_messages>(save(b), {.max_messages = 2, .session_order = false});
    REQUIRE(again.has_value());
    CHECK(again->size() == 5);
    CHECK(again->options().max_messages == 2);
    deferred_messages c = *again;
    CHECK(c.defer({.sequence = 9}) == deferred_messages::defer_result::full);
    CHECK(c.take(wall_time::at({}), {}, 9).size() == 5);
    CHECK(describe(load<deferred_messages>(save(b), {.max_messages = 0}).error()) ==
          "deferred messages: bad_options: deferral.max_messages is 0: must be at least (1)");
}

}  // namespace deferral_bytes_test
