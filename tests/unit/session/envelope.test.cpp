// SPDX-License-Identifier: MIT
//
// The line before a state: valid, damaged, of a later version, or too large.
// session_golden.test.cpp changes each bit of the files of golden/session.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/core/crc32c.hpp>
#include <waybill/session/detail/sealed_state.hpp>
#include <waybill/session/envelope.hpp>

namespace envelope_test {
namespace {

using namespace waybill;

constexpr std::uint64_t budget = 262'144;

static_assert(name(state_format::json) == "json" && name(state_format::cbor) == "cbor");
static_assert(name(state_format::text) == "text" && name(static_cast<state_format>(9)) == "?");
static_assert(name(opened_state::problem_type::none) == "none");
static_assert(name(opened_state::problem_type::over_budget) == "over_budget");
static_assert(name(static_cast<opened_state::problem_type>(99)) == "?");

static_assert(detail::sealed_size(0) == 47 && detail::envelope_bytes == 47);
static_assert(detail::sealed_size(9'999'999'999) == 10'000'000'046);
static_assert(detail::sealed_size(10'000'000'000) == detail::highest_size);
static_assert(detail::sealed_size(detail::highest_size) == detail::highest_size);

// The example of the guide, read at compile time. Its first and last line ends are not part of it.
constexpr std::string_view shown = R"text(
waybill/1 json 00002.00000 0000000011 64e87f82
{"lines":3}
)text";
constexpr std::string_view example = shown.substr(1, shown.size() - 2);
constexpr opened_state read = detail::open_state(example, budget);
static_assert(read.outcome == state_read::ok && read.problem == opened_state::problem_type::none);
static_assert(read.format == state_format::json && read.version == schema_version{2, 0});
static_assert(read.body == "{\"lines\":3}" && !read.without_envelope &&
              read.size == example.size());

static_assert(detail::open_state(std::nullopt, budget).outcome == state_read::absent);
static_assert(detail::open_state(std::nullopt, 0).outcome == state_read::absent);
static_assert(detail::open_state("", budget).outcome == state_read::corrupt);
static_assert(detail::open_state("", 0).problem == opened_state::problem_type::empty);

constexpr opened_state open(std::string_view bytes)
{
    return detail::open_state(bytes, budget);
}
constexpr opened_state::problem_type wrong(std::string_view bytes)
{
    return open(bytes).problem;
}

// JSON without an envelope.
static_assert(open(R"({"IsFailedSession":true})").without_envelope);
static_assert(open(R"({"IsFailedSession":true})").outcome == state_read::ok);
static_assert(open(R"({"IsFailedSession":true})").version == schema_version{0, 0});
static_assert(open(" \t\r\n{}\n").body == "{}\n");
static_assert(open("\xEF\xBB\xBF{}").body == "{}");
static_assert(wrong("\xEF\xBB\xBF") == opened_state::problem_type::foreign);
static_assert(wrong("[1]") == opened_state::problem_type::foreign);
static_assert(wrong("null") == opened_state::problem_type::foreign);
static_assert(wrong("true") == opened_state::problem_type::foreign);
static_assert(wrong("  ") == opened_state::problem_type::foreign);
static_assert(wrong(std::string_view("\0", 1)) == opened_state::problem_type::foreign);
static_assert(wrong("Waybill/1 json") == opened_state::problem_type::foreign);
static_assert(wrong("waybills") == opened_state::problem_type::foreign);
static_assert(wrong(" waybill/1 json") == opened_state::problem_type::foreign);
static_assert(wrong("w") == opened_state::problem_type::no_line);
static_assert(wrong("waybill/") == opened_state::problem_type::no_line);
static_assert(wrong("waybill/\n") == opened_state::problem_type::no_line);
static_assert(wrong("waybill/12345678\n") == opened_state::problem_type::checksum);

// A line of any version, with a valid checksum.
std::string sealed_by_hand(const std::string& line, std::string_view body)
{
    const std::uint32_t sum = crc32c(body, crc32c("\n", crc32c(line)));
    char digits[9];
    std::snprintf(digits, sizeof digits, "%08x", static_cast<unsigned>(sum));
    return (line + digits + '\n').append(body);
}

opened_state by_hand(const std::string& line, std::string_view body = "{}")
{
    const std::string bytes = sealed_by_hand(line, body);
    opened_state s = open(bytes);
    s.body = {};
    return s;
}

std::string turned(std::string s, std::size_t bit)
{
    s[bit / 8] = static_cast<char>(static_cast<unsigned char>(s[bit / 8]) ^ (1U << bit % 8));
    return s;
}

}  // namespace

TEST_CASE("envelope: a sealed state opens to the same body, for each format and version")
{
    const std::string bodies[] = {"", "{}", "\n", std::string(1, '\0'), std::string(3'000, '\xFF')};
    for (const state_format f : {state_format::json, state_format::cbor, state_format::text}) {
        for (const schema_version v : {schema_version{}, {0, 0}, {2, 7}, {65'535, 65'535}}) {
            for (const std::string& body : bodies) {
                const std::string bytes = detail::seal_state(f, v, body);
                CHECK(bytes.size() == detail::sealed_size(body.size()));
                const opened_state s = open(bytes);
                CHECK(s.outcome == state_read::ok);
                CHECK(s.format == f);
                CHECK(s.version == v);
                CHECK(s.body == body);
                CHECK_FALSE(s.without_envelope);
                CHECK(s.size == bytes.size());
                CHECK(detail::seal_state(f, v, body) == bytes);
            }
        }
    }
    CHECK(detail::seal_state(state_format::json, {2, 0}, "{\"lines\":3}") == example);
}

TEST_CASE("envelope: truncated states, changed bits and four overwritten bytes are corrupt")
{
    for (const std::size_t size : {0U, 1U, 15U, 16U, 17U, 77U, 100U, 300U}) {
        std::string body(size, 'x');
        for (std::size_t n = 0; n != size; ++n) body[n] = static_cast<char>(n * 31 % 97 + ' ');
        if (size > 15) body[15] = '\n';
        const std::string good = detail::seal_state(state_format::text, {1, 0}, body);
        for (std::size_t n = 0; n != good.size(); ++n) {
            CHECK(open(std::string_view(good).substr(0, n)).outcome == state_read::corrupt);
        }
        for (std::size_t bit = 0; bit != 8 * good.size(); ++bit) {
            const std::string bad = turned(good, bit);
            CHECK(open(bad).outcome == state_read::corrupt);
            CHECK(open(bad).body.empty());
        }
        for (std::size_t n = 1; n + 4 <= good.size(); ++n) {
            for (const char* over : {"....", "\n\n\n\n", "0000", "aaaa", " 99 ", "{}{}"}) {
                std::string bad = good;
                bad.replace(n, 4, over);
                if (bad != good) CHECK(open(bad).outcome == state_read::corrupt);
            }
        }
        for (const char* more : {"x", "\n", "{}", " "}) {
            CHECK(wrong(good + more) == opened_state::problem_type::too_long);
        }
    }
}

TEST_CASE("envelope: a later envelope is newer only if its checksum matches")
{
    const opened_state later = by_hand("waybill/2 anything it likes ");
    CHECK(later.outcome == state_read::newer);
    CHECK(later.problem == opened_state::problem_type::newer_envelope);
    CHECK(later.expected == 2);
    CHECK(by_hand("waybill/18446744073709551615 ").outcome == state_read::newer);
    CHECK(by_hand("waybill/2 zstd ", "").outcome == state_read::newer);
    CHECK(by_hand("waybill/1 jso2 00001.00000 0000000002 ").problem ==
          opened_state::problem_type::newer_format);
    CHECK(by_hand("waybill/1 jso2 00001.00000 0000000002 ").outcome == state_read::newer);

    // The line of 128 bytes is the longest.
    const std::string longest = "waybill/3 " + std::string(108, 'x') + ' ';
    CHECK(by_hand(longest).outcome == state_read::newer);
    CHECK(by_hand("waybill/3 " + std::string(109, 'x') + ' ').outcome == state_read::corrupt);

    for (const std::string& line : {std::string("waybill/2 a b "), longest}) {
        const std::string good = sealed_by_hand(line, "its own body\nand more");
        REQUIRE(open(good).outcome == state_read::newer);
        for (std::size_t n = 0; n != good.size(); ++n) {
            CHECK(open(std::string_view(good).substr(0, n)).outcome == state_read::corrupt);
        }
        for (std::size_t bit = 0; bit != 8 * good.size(); ++bit) {
            CHECK(open(turned(good, bit)).outcome == state_read::corrupt);
        }
    }
}

TEST_CASE("envelope: a malformed line is corrupt, also with a correct checksum")
{
    for (const char* line : {
             "waybill/ json 00001.00000 0000000002 ",
             "waybill/0 json 00001.00000 0000000002 ",
             "waybill/02 json 00001.00000 0000000002 ",
             "waybill/-1 json 00001.00000 0000000002 ",
             "waybill/x json 00001.00000 0000000002 ",
             "waybill/18446744073709551616 json 00001.00000 0000000002 ",
             "waybill/1 json 00001.00000 0000000003 ",
             "waybill/1 json 00001.00000 0000000001 ",
             "waybill/1 json 00001.00000 000000002 ",
             "waybill/1 json 00001.00000  000000002 ",
             "waybill/1 json 65536.00000 0000000002 ",
             "waybill/1 json 00001.65536 0000000002 ",
             "waybill/1 json 0000a.00000 0000000002 ",
             "waybill/1 json 00001,00000 0000000002 ",
             "waybill/1 json 00001.00000,0000000002 ",
             "waybill/1 json,00001.00000 0000000002 ",
             "waybill/1,json 00001.00000 0000000002 ",
             "waybill/1 json 00001.00000 0000000002 more ",
             "waybill/1 ",
         }) {
        CAPTURE(line);
        const opened_state s = by_hand(line);
        CHECK(s.outcome == state_read::corrupt);
        CHECK(s.problem != opened_state::problem_type::none);
        CHECK(s.version == schema_version{0, 0});
    }
    // Without the space before it, it is not a separate word. An upper-case letter is not a digit
    // here.
    CHECK(by_hand("waybill/1 json 00001.00000 0000000002").outcome == state_read::corrupt);
    CHECK(by_hand("waybill/2 more").outcome == state_read::corrupt);
    std::string upper(example);
    for (std::size_t n = 38; n != 46; ++n) {
        if (upper[n] >= 'a') upper[n] = static_cast<char>(upper[n] - 'a' + 'A');
    }
    REQUIRE(upper != example);
    CHECK(wrong(upper) == opened_state::problem_type::checksum);
}

TEST_CASE("envelope: the budget is checked first, at every size around it")
{
    const std::string good = detail::seal_state(state_format::json, {1, 0}, R"({"lines":3})");
    for (std::uint64_t most = 0; most != good.size() + 3; ++most) {
        const opened_state s = detail::open_state(good, most);
        CHECK(s.outcome == (most < good.size() ? state_read::too_large : state_read::ok));
        CHECK(s.size == good.size());
        CHECK(s.body.empty() == (most < good.size()));
        // This part was not read, so it may have any value.
        CHECK(detail::open_state(std::string(good.size(), '?'), most).outcome ==
              (most < good.size() ? state_read::too_large : state_read::corrupt));
        CHECK(detail::open_state("{}" + std::string(good.size() - 2, ' '), most).outcome ==
              (most < good.size() ? state_read::too_large : state_read::ok));
    }
    const std::string large(1'000'000, '{');
    CHECK(describe(detail::open_state(large, budget)) ==
          "state: too_large: 1000000 bytes, but the budget is 262144: increase the budget, or "
          "store the large part elsewhere; do not overwrite the state");
}

TEST_CASE("envelope: describe returns a text for each outcome")
{
    const auto said = [](std::optional<std::string_view> bytes) {
        return describe(detail::open_state(bytes, budget));
    };
    const std::string what_to_do =
        ": do not treat it as a new session; save the bytes, check its "
        "steps, and then clear the state by hand";
    CHECK(said(std::nullopt) == "state: absent: the session is new or has ended");
    CHECK(said(example) == "state: ok, 58 bytes, json of version 2.0");
    CHECK(said("{}") == "state: ok, 2 bytes, json without an envelope");
    CHECK(said("") == "state: corrupt: the state is empty (0 bytes)" + what_to_do);
    CHECK(said("[]") ==
          "state: corrupt: 2 bytes that begin with neither an envelope nor {" + what_to_do);
    CHECK(said(example.substr(0, 20)) ==
          "state: corrupt: 20 bytes, truncated in the first line" + what_to_do);
    CHECK(said(example.substr(0, 40)) ==
          "state: corrupt: truncated, 40 bytes instead of 58" + what_to_do);
    CHECK(said(example.substr(0, 57)) ==
          "state: corrupt: truncated, 57 bytes instead of 58" + what_to_do);
    CHECK(said(std::string(example) + "\n") ==
          "state: corrupt: 59 bytes instead of 58" + what_to_do);
    CHECK(said(turned(std::string(example), 8 * 50)) ==
          "state: corrupt: 58 bytes, and the checksum does not match" + what_to_do);
    CHECK(said(sealed_by_hand("waybill/0 ", "")) ==
          "state: corrupt: 19 bytes, and the first line is not valid" + what_to_do);
    CHECK(said(sealed_by_hand("waybill/7 ", "")) ==
          "state: newer: 19 bytes in envelope 7, but this program reads only envelope 1: update "
          "the program, and do not change the state");
    CHECK(said(sealed_by_hand("waybill/1 zstd 00001.00000 0000000000 ", "")) ==
          "state: newer: 47 bytes in an unknown format: update the program, and do not change the "
          "state");
    CHECK(describe(schema_version{2, 7}) == "2.7");
}

}  // namespace envelope_test
