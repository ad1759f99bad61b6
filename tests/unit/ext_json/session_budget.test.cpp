// SPDX-License-Identifier: MIT
//
// The size of a state, around its budget: each accepted state can be written with any progress, and
// as failed for any reason.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/json_states.hpp>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/ext/json/session.hpp>

namespace json_session_budget_test {

struct note {
    std::string text;
    friend bool operator==(const note&, const note&) = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(note, text)

namespace {

using namespace waybill;
using codec = state_codec<note>;
using state = decoded_state<note>;

constexpr state_budget small{.bytes = 1'400, .failure_reserve = 512};

codec make(std::string_view form, state_budget b)
{
    state_codec_options o{.budget = b};
    if (form == "cbor") o.format = state_format::cbor;
    o.envelope = form != "bare";
    return *codec::make(o);
}

session_progress longest(std::string_view why)
{
    session_progress p{
        detail::highest_size,
        detail::highest_size,
        detail::highest_size,
        detail::highest_size,
        session_progress::failure{detail::highest_size, detail::highest_size,
                                  dead_letter_reason::session_failed, detail::highest_size,
                                  std::string(why), wall_time::highest()},
        wall_time::highest(),
        wall_time::highest(),
        detail::highest_size};
    return p;
}

// The size of a state with a value of this many bytes, without progress.
std::uint64_t alone(std::string_view form, std::size_t bytes)
{
    if (form == "cbor") return 47 + 6 + bytes + (bytes < 24 ? 1 : bytes < 256 ? 2 : 3);
    return (form == "bare" ? 0 : 47) + std::string_view(R"({"text":""})").size() + bytes;
}

// A cut text has as many whole characters as fit.
void check_cut(std::string_view said, std::string_view kept, std::size_t free_bytes)
{
    CHECK(said.starts_with(kept));
    CHECK(is_utf8(kept));
    if (kept.size() < said.size()) CHECK(free_bytes < 6);
}

}  // namespace

TEST_CASE("sizes around the budget, for each format")
{
    std::size_t accepted = 0;
    std::size_t refused = 0;
    for (const std::string_view form : {"json", "cbor", "bare"}) {
        CAPTURE(form);
        const codec c = make(form, small);
        const codec large = make(form, {.bytes = 10'000, .failure_reserve = 512});
        for (std::size_t n = 700; n != 1'500; ++n) {
            CAPTURE(n);
            state s;
            s.value.text.assign(n, 'x');
            s.progress.done = 1;
            const bool fits = alone(form, n) <= small.max_value_bytes();
            const auto out = c.encode(s);
            CHECK(out.has_value() == fits);
            const std::string whole = *large.encode(s);
            CHECK(c.size(s) == whole.size());
            const state read = c.decode(whole);
            CHECK(read.outcome == (fits ? state_read::ok : state_read::too_large));
            if (!fits) {
                ++refused;
                CHECK(out.error().problem == state_unwritten::problem_type::too_large);
                CHECK(out.error().size == alone(form, n));
                CHECK(out.error().max_bytes == small.max_value_bytes());
                CHECK(c.encode(read).error().problem == state_unwritten::problem_type::not_read);
                continue;
            }
            ++accepted;
            CHECK(*out == whole);
            state next = read;
            next.progress = longest({});
            next.progress.failed.reset();
            const auto going = c.encode(next);
            REQUIRE(going.has_value());
            CHECK(going->size() <= small.bytes);
            CHECK(c.decode(*going).outcome == state_read::ok);
            CHECK(c.decode(*going).value == s.value);
        }
    }
    CHECK(accepted > 300);
    CHECK(refused > 300);
}

TEST_CASE("a failure is written at every size, with as much of its reason as fits")
{
    std::string odd;  // characters of every length, and some that are escaped
    while (odd.size() < 1'200) odd += "a\xC3\xA9\n\xE2\x82\xAC\x01\xF0\x9F\x98\x80\"";
    std::size_t cut = 0;
    std::size_t kept = 0;
    for (const std::string_view form : {"json", "cbor", "bare"}) {
        CAPTURE(form);
        const codec c = make(form, small);
        for (std::size_t n = 700; n < 1'500;
             n += n > 900 && n < 1'000 ? (tests_support::brief ? 7 : 1) : 37) {
            state s;
            s.value.text.assign(n, 'x');
            const bool fits = alone(form, n) <= small.max_value_bytes();
            if (fits) s = c.decode(*c.encode(s));
            for (std::size_t length = 0; length < 1'200;
                 length += 1 + length / (tests_support::brief ? 9 : 37)) {
                CAPTURE(n);
                CAPTURE(length);
                const std::string_view why = utf8_prefix(odd, length);
                s.progress = longest(why);
                const auto out = c.encode(s);
                REQUIRE_MESSAGE(out.has_value(), describe(out.error()));
                CHECK(out->size() <= small.bytes);
                CHECK(c.size(s) >= out->size());
                const state again = c.decode(*out);
                REQUIRE_MESSAGE(again.outcome == state_read::ok, describe(again));
                REQUIRE(again.progress.failed.has_value());
                const std::string& said = again.progress.failed->text;
                check_cut(why, said, small.bytes - out->size());
                (said.size() == why.size() ? kept : cut) += 1;
                session_progress same = s.progress;
                same.failed->text = said;
                CHECK(again.progress == same);
                REQUIRE(c.encode(again).has_value());
                if (!fits) continue;
                CHECK(again.value == s.value);
                CHECK(*c.encode(again) == *out);  // it does not change any more
            }
        }
    }
    CHECK(cut > (tests_support::brief ? 100 : 1'000));
    CHECK(kept > (tests_support::brief ? 100 : 1'000));
}

TEST_CASE("a reason of invalid UTF-8 or of escaped characters is cut to fit")
{
    const codec c = make("json", small);
    for (const char byte : {'\xFF', '\xC3', '\xE2', '\x01', '\n', '"', '\\', '\0', '\x7F'}) {
        for (std::size_t length = 0; length != 700; ++length) {
            state s;
            s.progress = longest(std::string(length, byte));
            const auto out = c.encode(s);
            REQUIRE(out.has_value());
            CHECK(out->size() <= small.bytes);
            const state again = c.decode(*out);
            REQUIRE_MESSAGE(again.outcome == state_read::ok, describe(again));
            CHECK(again.progress.failed->reason == dead_letter_reason::session_failed);
        }
    }
}

TEST_CASE("the longest progress fits into its reserve")
{
    for (const std::string_view form : {"json", "cbor", "bare"}) {
        const codec c =
            *codec::make({.version = {65'535, 65'535},
                          .format = form == "cbor" ? state_format::cbor : state_format::json,
                          .envelope = form != "bare",
                          .upgrade = [](nlohmann::json&, schema_version) {}});
        state s;
        s.version = {65'535, 65'535};
        s.progress = longest({});
        const std::uint64_t member = c.encode(s)->size() - alone(form, 0);
        CHECK(member <= detail::max_progress_member_bytes);
        CHECK(member > 200);
        s.progress.first = s.progress.tries = 0;
        s.progress.arrived = s.progress.arrived_sequence = detail::highest_size;
        CHECK(c.encode(s)->size() - alone(form, 0) <= detail::max_progress_member_bytes);
    }
}

TEST_CASE("unknown fields count as user data, and a failed state may fill the budget")
{
    const codec c = make("json", small);
    const auto with = [&](std::size_t bytes, bool failed) {
        const std::string later(bytes, 'x');
        nlohmann::json j{{"text", ""}, {"waybill", {{"done", 1}, {"later", later}}}};
        if (failed) j["waybill"]["failed"] = {{"reason", "gap"}, {"sequence", 1}, {"step", 1}};
        return c.decode(tests_support::sealed(j.dump()));
    };
    for (std::size_t n = 700; n != 1'200; ++n) {
        CAPTURE(n);
        state s = with(n, false);
        if (s.outcome == state_read::ok) {
            const std::uint64_t before = c.size(s);
            s.progress = longest("why");
            const auto out = c.encode(s);
            REQUIRE(out.has_value());
            CHECK(c.decode(*out).read.unknown_fields == s.read.unknown_fields);
            CHECK(before <= small.bytes);
        } else {
            CHECK(s.outcome == state_read::too_large);
            CHECK(describe(s).find("increase the budget") != std::string::npos);
        }
        CHECK(with(n, true).outcome == state_read::ok);
    }
    CHECK(with(700, false).outcome == state_read::ok);
    CHECK(with(1'100, false).outcome == state_read::too_large);

    // One megabyte, although the limit is 256 KB.
    const codec usual = make("json", {});
    const state s = usual.decode(std::string(1'000'000, '{'));
    CHECK(s.outcome == state_read::too_large);
    CHECK(describe(s).find("1000000 bytes, but the budget is 262144") != std::string::npos);
}

}  // namespace json_session_budget_test
