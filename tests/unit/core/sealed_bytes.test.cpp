// SPDX-License-Identifier: MIT

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include <waybill/core/detail/seal.hpp>
#include <waybill/core/detail/sealed_bytes.hpp>

namespace sealed_bytes_test {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;
using waybill::detail::put_seal;
using waybill::detail::sealed_reader;
using waybill::detail::sealed_writer;

enum class problem : std::uint8_t { empty, too_short, not_a_note, corrupt, newer, too_long };

struct note_error {
    problem what = problem::corrupt;
    std::uint64_t offset = 0;

    friend bool operator==(const note_error&, const note_error&) = default;
};

struct note_format {
    using error_type = note_error;
    using problem_type = problem;
    static constexpr problem foreign = problem::not_a_note;
    static constexpr std::string_view magic = "wbn";
    static constexpr std::uint8_t version = 2;
};
using writer = sealed_writer<note_format>;
using reader = sealed_reader<note_format>;

// A reader is a value without heap memory, so it can be tested at compile time.
static_assert(reader("").error() == note_error{problem::empty, 0});
static_assert(reader("w").error() == note_error{problem::too_short, 1});
static_assert(reader("wbn\1").error() == note_error{problem::too_short, 4});
static_assert(reader("wbn\1\0\0\0"sv).error() == note_error{problem::too_short, 7});
static_assert(reader("wbn\1\0\0\0\0"sv).error() == note_error{problem::corrupt, 4});
static_assert(reader("x").error() == note_error{problem::not_a_note, 0});
static_assert(reader("wbx\1\0\0\0\0"sv).error() == note_error{problem::not_a_note, 0});

std::string sealed(std::string bytes)
{
    put_seal(bytes);
    return bytes;
}

std::optional<note_error> after(void (*read)(reader&), const std::string& body)
{
    const std::string bytes = sealed("wbn\2" + body);
    reader in(bytes);
    read(in);
    CHECK((!in.error() || in.left() == 0));
    return in.error();
}

void whole(reader& in)
{
    (void)in.integer();
    in.end();
}

void two_texts(reader& in)
{
    (void)in.text();
    (void)in.text();
    in.end();
}

}  // namespace

TEST_CASE("sealed_bytes: the exact bytes of a written value")
{
    writer out(100);
    out.byte(7);
    out.integer(300);
    out.signed_integer(0U - std::uint64_t{1});
    out.text("text");
    CHECK(std::move(out).finish() == sealed("wbn\2\7\xAC\2\1\4text"));
    CHECK(writer().finish() == sealed("wbn\2"));
}

TEST_CASE("sealed_bytes: positive and negative numbers are read back")
{
    for (unsigned shift = 0; shift != 64; ++shift) {
        for (const std::uint64_t low : {0U, 1U, 2U}) {
            const std::uint64_t n = (std::uint64_t{1} << shift) - 1 + low;
            writer out;
            out.integer(n);
            out.signed_integer(n);
            out.signed_integer(0U - n);
            const std::string stored = std::move(out).finish();
            reader in(stored);
            CHECK(in.integer() == n);
            CHECK(in.signed_integer() == n);
            CHECK(in.signed_integer() == 0U - n);
            in.end();
            CHECK_FALSE(in.error().has_value());
        }
    }
}

TEST_CASE("sealed_bytes: texts are views into the bytes")
{
    writer out;
    out.text("");
    out.text("with a \0 in it"sv);
    const std::string stored = std::move(out).finish();
    reader in(stored);
    CHECK(in.text().empty());
    const std::string_view t = in.text();
    CHECK(t == "with a \0 in it"sv);
    CHECK(t.data() == stored.data() + 6);
    in.end();
    CHECK_FALSE(in.error().has_value());
}

TEST_CASE("sealed_bytes: earlier versions are read, later ones are newer, and 0 is not a note")
{
    CHECK(reader(sealed("wbn\0"s)).error() == note_error{problem::not_a_note, 3});
    CHECK_FALSE(reader(sealed("wbn\1")).error().has_value());
    CHECK_FALSE(reader(sealed("wbn\2")).error().has_value());
    CHECK(reader(sealed("wbn\3")).error() == note_error{problem::newer, 3});
    CHECK(reader(sealed("wbn\xFF")).error() == note_error{problem::newer, 3});
}

TEST_CASE("sealed_bytes: an error has the offset of the last field read")
{
    CHECK(after(whole, "\5") == std::nullopt);
    CHECK(after(whole, "") == note_error{problem::corrupt, 4});
    CHECK(after(whole, "\xAC") == note_error{problem::corrupt, 4});
    CHECK(after(whole, "\x80\0"s) == note_error{problem::corrupt, 4});
    CHECK(after(whole, "\5\5") == note_error{problem::corrupt, 5});
    CHECK(after(two_texts, "\1a\2bc") == std::nullopt);
    CHECK(after(two_texts, "\1a\3bc") == note_error{problem::corrupt, 6});
    CHECK(after(two_texts, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\1") ==
          note_error{problem::corrupt, 4});

    const std::string bytes = sealed("wbn\2\5\6\7\x08");
    reader in(bytes);
    CHECK(in.left() == 4);
    CHECK(in.byte() == 5);
    CHECK(in.integer() == 6);
    CHECK(in.next_byte() == 7);
    in.fail(problem::too_long);
    CHECK(in.error() == note_error{problem::too_long, 5});
    CHECK(in.left() == 0);
    CHECK(in.byte() == 0);
    CHECK(in.next_byte() == 0);
    CHECK(in.integer() == 0);
    CHECK(in.signed_integer() == 0);
    CHECK(in.text().empty());
    in.end();
    in.fail(problem::newer);
    CHECK(in.error() == note_error{problem::too_long, 5});  // the first one
}

TEST_CASE("sealed_bytes: any flipped bit and any truncation is an error")
{
    writer out;
    out.text("what was stored");
    const std::string good = std::move(out).finish();
    CHECK_FALSE(reader(good).error().has_value());
    for (std::size_t n = 0; n != good.size(); ++n) {
        CHECK(reader(std::string_view(good).substr(0, n)).error().has_value());
        for (unsigned bit = 0; bit != 8; ++bit) {
            std::string bad = good;
            bad[n] = static_cast<char>(static_cast<unsigned char>(bad[n]) ^ (1U << bit));
            const problem expected = n < 3 ? problem::not_a_note : problem::corrupt;
            CHECK(reader(bad).error()->what == expected);
        }
    }
    CHECK(reader(good + '\0').error().has_value());
}

}  // namespace sealed_bytes_test
