// SPDX-License-Identifier: MIT
//
// The bytes beside the watermark. Each known mistake of such metadata is a test: nothing to write,
// lengths beyond 16 and 32 bits, gaps that make lengths negative, truncated logs, and bytes of
// another version or position.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/core/crc32c.hpp>
#include <waybill/tracking/completion_tracker.hpp>
#include <waybill/tracking/tracker_bytes.hpp>

namespace tracker_bytes_test {
namespace {

using waybill::completion_tracker;
using waybill::encoded_done;
using waybill::tracked_event;
using waybill::tracker_budget;
using waybill::tracker_start;
using waybill::detail::tracker_form;

constexpr std::uint64_t highest = ~std::uint64_t{0};

static_assert(!waybill::validate(tracker_budget{}));
static_assert(waybill::validate(tracker_budget{.max_bytes = 23})->field == "max_bytes");
static_assert(waybill::validate(tracker_budget{.pressure = 101})->field == "pressure");
static_assert(waybill::detail::base64_bytes(4'096) == 3'072 &&
              waybill::detail::base64_characters(3'072) == 4'096);
static_assert(waybill::detail::base64_bytes(5) == 3 && waybill::detail::base64_bytes(7) == 5);
static_assert(waybill::detail::base64_characters(1) == 2 &&
              waybill::detail::base64_characters(2) == 3);
static_assert(name(tracker_form::bits) == "bits" && name(encoded_done::encoded_as::cut) == "cut");
static_assert(name(tracker_start::decode_error::other_base) == "other_base");

// After `from`: these positions are begun, and all but the open ones are done.
completion_tracker made(std::optional<std::uint64_t> from, const std::vector<std::uint64_t>& begun,
                        const std::vector<std::uint64_t>& open)
{
    completion_tracker t{{.max_in_flight = 100'000}, from};
    std::vector<tracked_event> tickets;
    for (const std::uint64_t s : begun) tickets.push_back(*t.begin(s));
    for (const tracked_event& k : tickets) {
        bool done = true;
        for (const std::uint64_t o : open) done = done && o != k.sequence;
        if (done) t.complete(k);
    }
    return t;
}

std::vector<std::uint64_t> row(std::uint64_t first, std::uint64_t last, std::uint64_t step = 1)
{
    std::vector<std::uint64_t> all;
    for (std::uint64_t s = first; s <= last; s += step) all.push_back(s);
    return all;
}

std::string hex(std::string_view bytes)
{
    std::string text;
    for (const char c : bytes) {
        text += "0123456789abcdef"[static_cast<unsigned char>(c) / 16];
        text += "0123456789abcdef"[static_cast<unsigned char>(c) % 16];
    }
    return text;
}

tracker_form form_of(std::string_view bytes)
{
    return static_cast<tracker_form>(static_cast<unsigned char>(bytes.at(0)) & 3U);
}

std::string sealed(std::string bytes)
{
    std::uint32_t sum = waybill::crc32c(bytes);
    for (int n = 0; n != 4; ++n, sum >>= 8U) bytes += static_cast<char>(sum & 0xFFU);
    return bytes;
}

// Decodes a body with a valid checksum.
std::optional<tracker_start::decode_error> problem(std::string_view body,
                                                   std::optional<std::uint64_t> from = 10)
{
    const auto r = waybill::decode(from, sealed(std::string(body)));
    if (r) return {};
    return r.error();
}

// Encodes and decodes it, and compares each of the events.
void comes_back(const completion_tracker& t, const std::vector<std::uint64_t>& begun,
                const std::vector<std::uint64_t>& open)
{
    const auto beside = waybill::encode(t, {.max_bytes = 1'000'000});
    CHECK(beside.outcome == encoded_done::encoded_as::whole);
    CHECK(beside.bytes.size() == encoded_done::full_size(t));
    const auto start = waybill::decode(t.watermark(), beside.bytes);
    REQUIRE(start.has_value());
    completion_tracker next;
    next.resume(*start);
    CHECK(next.resume_at() == t.resume_at());
    CHECK(waybill::encode(next, {.max_bytes = 1'000'000}).bytes == beside.bytes);
    for (const std::uint64_t s : begun) {
        if (t.watermark() && s <= *t.watermark()) continue;
        bool done = true;
        for (const std::uint64_t o : open) done = done && o != s;
        const auto k = next.begin(s);
        CHECK(k.has_value() != done);
        if (!k) CHECK(k.error() == completion_tracker::track_error::done_before);
    }
}

}  // namespace

TEST_CASE("tracker_bytes: without completed events after the watermark, the encoding is empty")
{
    for (const completion_tracker& t :
         {completion_tracker(), made(10, {}, {}), made(10, {11, 12}, {}), made(10, {11, 12}, {12}),
          made({}, {5, 6}, {5, 6}), made(10, {highest}, {})}) {
        const auto beside = waybill::encode(t);
        CHECK(beside == waybill::encoded_done{});
        CHECK(encoded_done::full_size(t) == 0);
        CHECK(waybill::encode_text(t).bytes.empty());
        const auto start = waybill::decode(t.watermark(), "");
        REQUIRE(start.has_value());
        CHECK(start->done.empty());
        completion_tracker next;
        next.resume(*start);
        CHECK(next.watermark() == t.watermark());
    }
}

TEST_CASE("tracker_bytes: each form has the documented bytes")
{
    // A first position, none done, twenty not, 981 done.
    const auto runs = made(10, row(11, 1'011), row(11, 30));
    CHECK(hex(waybill::encode(runs).bytes).substr(0, 12) == "100b0013d407");
    // A hundred apart, and three in flight: each by its distance.
    const auto open = made(10, row(100, 10'000, 100), {100, 5'000, 5'100});
    CHECK(form_of(waybill::encode(open).bytes) == tracker_form::open);
    CHECK(hex(waybill::encode(open).bytes).substr(0, 16) == "110b59a32663a326");
    // A few done among many in flight.
    const auto done = made(10, row(11, 1'000), [] {
        std::vector<std::uint64_t> all;
        for (const std::uint64_t s : row(11, 1'000)) {
            if (s != 20 && s != 500) all.push_back(s);
        }
        return all;
    }());
    CHECK(hex(waybill::encode(done).bytes).substr(0, 10) == "120b09df03");
    const auto bits = made({}, row(0, 15), row(0, 14, 2));
    CHECK(hex(waybill::encode(bits).bytes).substr(0, 8) == "1700aaaa");
    for (const completion_tracker* t : {&runs, &open, &done, &bits}) {
        CHECK(waybill::encode(*t) == waybill::encode(completion_tracker(*t)));
        const std::string text = waybill::encode_text(*t).bytes;
        CHECK(waybill::decode_text(t->watermark(), text) ==
              waybill::decode(t->watermark(), waybill::encode(*t).bytes));
    }
}

TEST_CASE("tracker_bytes: lengths above 16 and 32 bits survive encode and decode")
{
    for (const std::uint64_t far :
         {std::uint64_t{1} << 15U, std::uint64_t{1} << 16U, (std::uint64_t{1} << 16U) + 1,
          std::uint64_t{1} << 31U, std::uint64_t{1} << 32U, (std::uint64_t{1} << 32U) + 1,
          std::uint64_t{1} << 63U, highest - 12}) {
        const std::vector<std::uint64_t> begun{11, 12, 12 + far};
        comes_back(made(10, begun, {11}), begun, {11});
        comes_back(made(10, begun, {12}), begun, {12});
        comes_back(made(10, begun, {11, 12}), begun, {11, 12});
        const std::vector<std::uint64_t> at_the_end{far, highest - 1, highest};
        comes_back(made({}, at_the_end, {far}), at_the_end, {far});
        comes_back(made({}, at_the_end, {far, highest - 1}), at_the_end, {far, highest - 1});
        comes_back(made({}, at_the_end, {highest - 1}), at_the_end, {highest - 1});
    }
    comes_back(made({}, row(0, 70'000), {0}), row(0, 70'000), {0});
    comes_back(made({}, row(0, 70'000), {0, 69'999}), row(0, 70'000), {0, 69'999});
}

TEST_CASE("tracker_bytes: gaps left by transaction markers survive encode and decode")
{
    // Every other position is a marker, before and after the events in flight.
    const auto begun = row(12, 400, 2);
    for (const std::uint64_t o : {12U, 14U, 100U, 398U, 400U}) {
        comes_back(made(10, begun, {o}), begun, {o});
        comes_back(made({}, begun, {o}), begun, {o});
        comes_back(made(11, begun, {o, 200}), begun, {o, 200});
    }
}

TEST_CASE("tracker_bytes: bytes of truncated logs, and bytes from before a truncation, are decoded")
{
    completion_tracker t = made(10, row(11, 40), {11, 12, 30});
    t.forget_below(12);
    CHECK(t.watermark() == 11);
    comes_back(t, row(12, 40), {12, 30});
    t.forget_below(20);
    CHECK(t.watermark() == 29);
    comes_back(t, row(30, 40), {30});
    // The next owner's log was truncated in the meantime: first done events were removed, then
    // events in flight.
    const auto start = waybill::decode(29, waybill::encode(t).bytes);
    REQUIRE(start.has_value());
    completion_tracker next;
    next.resume(*start);
    next.forget_below(35);
    CHECK(next.watermark() == 34);
    CHECK(next.begin(36).error() == completion_tracker::track_error::done_before);
    CHECK(next.watermark() == 36);
    next.forget_below(50);
    CHECK(waybill::encode(next).bytes.empty());
}

TEST_CASE("tracker_bytes: events over max_bytes are cut, left out or refused, and counted")
{
    // Every other one of 4,000: one bit each is the shortest form.
    const auto t = made(10, row(11, 4'010), row(11, 4'010, 2));
    CHECK(encoded_done::full_size(t) == 1 + 1 + 500 + 4);
    const auto whole = waybill::encode(t, {.max_bytes = 506});
    CHECK(whole.outcome == encoded_done::encoded_as::whole);
    CHECK(whole.kept == 2'000);
    const auto cut = waybill::encode(t, {.max_bytes = 505});
    CHECK(cut.outcome == encoded_done::encoded_as::cut);
    CHECK(cut.kept == 1'996);
    CHECK(cut.dropped == 4);
    CHECK(cut.bytes.size() == 505);
    const auto start = waybill::decode(10, cut.bytes);
    REQUIRE(start.has_value());
    CHECK((*start).done[0] == waybill::detail::position_run{12, 12});
    CHECK((*start).done.size() == 1'996);
    const auto out = waybill::encode(
        t, {.max_bytes = 505, .if_too_long = tracker_budget::when_too_long::leave_out});
    CHECK(out == waybill::encoded_done{"", 0, 2'000, encoded_done::encoded_as::left_out});
    const auto refused = waybill::encode(
        t, {.max_bytes = 505, .if_too_long = tracker_budget::when_too_long::refuse});
    CHECK(refused == waybill::encoded_done{"", 0, 2'000, encoded_done::encoded_as::refused});
    CHECK(waybill::encode(t, {.max_bytes = 0}) == out);
    for (std::uint64_t most = 0; most <= 700; ++most) {
        const auto text = waybill::encode_text(t, {.max_bytes = most});
        CHECK(text.bytes.size() <= most);
        CHECK(text.kept + text.dropped == 2'000);
        CHECK(waybill::decode_text(10, text.bytes).has_value());
    }
    CHECK(waybill::encode_text(t, {.max_bytes = 675}).outcome == encoded_done::encoded_as::whole);
    CHECK(waybill::encode_text(t, {.max_bytes = 674}).outcome == encoded_done::encoded_as::cut);
}

TEST_CASE("tracker_bytes: can_accept is false from the pressure limit on")
{
    const auto t = made(10, row(11, 4'010), row(11, 4'010, 2));  // 506 bytes
    CHECK(waybill::tracker_budget{.max_bytes = 675}.can_accept(t));
    CHECK(!waybill::tracker_budget{.max_bytes = 674}.can_accept(t));
    CHECK(waybill::tracker_budget{.max_bytes = 506, .pressure = 100}.can_accept(t));
    CHECK(!waybill::tracker_budget{.max_bytes = 506, .pressure = 99}.can_accept(t));
    CHECK(waybill::tracker_budget{.max_bytes = 506, .pressure = 1'000}.can_accept(t));
    CHECK(!waybill::tracker_budget{.max_bytes = highest, .pressure = 0}.can_accept(t));
    CHECK(waybill::tracker_budget{.max_bytes = 900}.in_bytes().can_accept(t));
    CHECK(!waybill::tracker_budget{.max_bytes = 896}.in_bytes().can_accept(t));
    CHECK(waybill::tracker_budget{.max_bytes = 0}.can_accept(made(10, {11}, {11})));
}

TEST_CASE("tracker_bytes: a high-water mark is encoded as no bytes")
{
    completion_tracker t{{.mark = waybill::tracker_options::commit_mark::high_water}, 10};
    (void)t.begin(11);
    t.complete(*t.begin(12));
    CHECK(t.watermark() == 12);
    CHECK(waybill::encode(t).bytes.empty());
}

TEST_CASE("tracker_bytes: every flipped bit and every truncation is corrupt")
{
    for (const completion_tracker& t :
         {made(10, row(11, 1'011), {11}), made({}, row(0, 15), row(0, 14, 2)),
          made(5'000, row(5'100, 50'000, 100), {5'100, 20'000})}) {
        const std::string bytes = waybill::encode(t).bytes;
        for (std::size_t n = 1; n != bytes.size(); ++n) {
            const auto r = waybill::decode(t.watermark(), bytes.substr(0, n));
            REQUIRE(!r);
            CHECK(r.error() == tracker_start::decode_error::corrupt);
        }
        for (std::size_t n = 0; n != bytes.size() * 8; ++n) {
            std::string turned = bytes;
            const auto byte = static_cast<unsigned char>(turned[n / 8]);
            turned[n / 8] = static_cast<char>(byte ^ 1U << n % 8);
            const auto r = waybill::decode(t.watermark(), turned);
            REQUIRE(!r);
            CHECK(r.error() == tracker_start::decode_error::corrupt);
        }
        CHECK(waybill::decode(t.watermark(), bytes + '\0').error() ==
              tracker_start::decode_error::corrupt);
    }
}

TEST_CASE("tracker_bytes: bytes of another position or version are refused")
{
    const std::string at_10 = waybill::encode(made(10, row(11, 20), {11})).bytes;
    CHECK(waybill::decode(10, at_10).has_value());
    for (const auto& from : {std::optional<std::uint64_t>(), {0}, {9}, {11}, {highest}}) {
        CHECK(waybill::decode(from, at_10).error() == tracker_start::decode_error::other_base);
    }
    // Nothing is done before it: there may be no position, or Kafka's, which is that of the next
    // event.
    const std::string at_none = waybill::encode(made({}, row(11, 20), {11})).bytes;
    CHECK(waybill::decode({}, at_none)->next == 11);
    CHECK(waybill::decode(10, at_none).has_value());
    CHECK(waybill::decode(11, at_none).error() == tracker_start::decode_error::other_base);
    CHECK(problem(std::string_view("\x20\x0b\x00\x00\x01", 5)) ==
          tracker_start::decode_error::newer);
    CHECK(problem(std::string_view("\xf7", 1)) == tracker_start::decode_error::corrupt);
    CHECK(problem(std::string_view("\x00\x0b\x00\x00\x01", 5)) ==
          tracker_start::decode_error::corrupt);
    CHECK(problem(std::string_view("\x18\x0b\x00\x00\x01", 5)) ==
          tracker_start::decode_error::corrupt);
}

TEST_CASE("tracker_bytes: bytes with the salt of another partition are corrupt")
{
    const auto t = made(10, row(11, 400), {11, 50, 300});
    const std::string plain = waybill::encode(t).bytes;
    CHECK(waybill::encode(t, {}, 0).bytes == plain);
    const std::uint64_t salts[] = {1,
                                   2,
                                   std::uint64_t{1} << 63U,
                                   waybill::crc32c("orders/7"),
                                   waybill::crc32c("orders/8"),
                                   highest};
    for (const std::uint64_t mine : salts) {
        const auto beside = waybill::encode(t, {}, mine);
        CHECK(beside.bytes.size() == plain.size());
        CHECK(waybill::decode(10, beside.bytes, mine) == waybill::decode(10, plain));
        CHECK(waybill::decode(10, beside.bytes).error() == tracker_start::decode_error::corrupt);
        CHECK(waybill::decode(10, plain, mine).error() == tracker_start::decode_error::corrupt);
        for (const std::uint64_t other : salts) {
            const auto read = waybill::decode(10, beside.bytes, other);
            CHECK(read.has_value() == (other == mine));
        }
        const std::string text = waybill::encode_text(t, {.max_bytes = 4'096}, mine).bytes;
        CHECK(waybill::decode_text(10, text, mine).has_value());
        CHECK(waybill::decode_text(10, text).error() == tracker_start::decode_error::corrupt);
        CHECK(waybill::decode(10, "", mine).has_value());
    }
    // As in the format: the two checksums added without carry, the lowest byte first.
    std::string salted = plain;
    const std::uint32_t number = waybill::crc32c(std::string_view("\7\0\0\0\0\0\0\0", 8));
    for (std::size_t n = 0; n != 4; ++n) {
        char& c = salted[plain.size() - 4 + n];
        c = static_cast<char>(static_cast<unsigned char>(c) ^ (number >> 8 * n & 0xFFU));
    }
    CHECK(waybill::encode(t, {}, 7).bytes == salted);
}

TEST_CASE("tracker_bytes: decode treats a negative position as no position")
{
    const std::string at_none = waybill::encode(made({}, row(11, 20), {11})).bytes;
    CHECK(waybill::decode(-1, at_none) == waybill::decode({}, at_none));
    CHECK(!waybill::decode(-1, "")->from);
    CHECK(waybill::decode_text(std::optional<std::int64_t>(-1'001), "") == waybill::decode({}, ""));
}

TEST_CASE("tracker_bytes: decode allocates at most 64 times the encoded size")
{
    const auto allocated_bytes = [](const std::string& bytes) {
        const auto start = waybill::decode(10, bytes);
        REQUIRE(start.has_value());
        CHECK(start->done.bytes() <= 64 * bytes.size());
        return start->done.bytes();
    };
    // As bits, each of which is a run; and by their distances, each a byte.
    CHECK(allocated_bytes(sealed("\x13\x0b" + std::string(1'000, '\xaa'))) == 4'000 * 16);
    CHECK(allocated_bytes(sealed("\x13\x0b" + std::string(1'000, '\x55'))) == 4'000 * 16);
    CHECK(allocated_bytes(sealed("\x13\x0b" + std::string(1'000, '\xff'))) == 16);
    CHECK(allocated_bytes(sealed("\x13\x0b" + std::string(999, '\x81') + '\x01')) == 1'000 * 16);
    for (std::size_t many = 1; many != 300; ++many) {
        (void)allocated_bytes(sealed("\x12\x0b" + std::string(many, '\x01')));
        (void)allocated_bytes(sealed("\x10\x0b" + std::string(2 * many, '\x01') + '\x01'));
        (void)allocated_bytes(sealed("\x11\x0b" + std::string(many, '\x01') + '\x01'));
    }
}

TEST_CASE("tracker_bytes: malformed bodies with a valid checksum are corrupt")
{
    const auto is = [](std::string_view body) { return problem(body); };
    CHECK(!is(std::string_view("\x10\x0b\x00\x00\x01", 5)));
    CHECK(!is(std::string_view("\x10\x0b\x05", 3)));
    const std::string_view bad[] = {
        {"\x10\x0b", 2},                  // no body at all
        {"\x10\x0b\x00", 3},              // none done
        {"\x10\x0b\x00\x00", 4},          // not a pair
        {"\x10\x0b\x80\x00\x00\x01", 6},  // a zero that need not be there
        {"\x10\x8b\x00\x00\x00\x01", 6},  // the same in the first position
        {"\x10\x0b\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00", 14},  // past the end
        {"\x10\x0b\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02\x00", 14},  // more than 64 bits
        {"\x10\x0b\x00\x00\xf4\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00", 16},
        {"\x11\x0b\x80", 3},  // a number without an end
        {"\x12\x0b\x80", 3},
        {"\x12\x0b\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12},
        {"\x12\x0b\xf4\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00", 13},  // above the largest number
        {"\x13\x0b\x00", 3},                                           // none done
        {"\x13\x0b\x01\x00", 4},  // a byte that need not be there
    };
    for (const std::string_view b : bad) {
        INFO(hex(b));
        CHECK(is(b) == tracker_start::decode_error::corrupt);
    }
    // The last bits are above the largest number.
    const std::string at_the_end = "\x13\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    CHECK(problem(at_the_end + '\x03', highest - 1) == tracker_start::decode_error::corrupt);
    CHECK(!problem(at_the_end + '\x01', highest - 1));
}

TEST_CASE("tracker_bytes: decode_text refuses other characters as not_text")
{
    CHECK(waybill::decode_text(10, "?").error() == tracker_start::decode_error::not_text);
    CHECK(waybill::decode_text(10, "").has_value());
}

}  // namespace tracker_bytes_test
