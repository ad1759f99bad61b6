// SPDX-License-Identifier: MIT
//
// States that another program has written or damaged, and user types and upgrades with faults.
// Nothing ends the program, nothing unreadable is written, and no stored data is lost.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <support/json_states.hpp>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/ext/json/session.hpp>
#include <waybill/session/detail/sealed_state.hpp>
#include <waybill/session/envelope.hpp>

namespace json_session_odd_test {

bool broken = false;  // the function that reads a bill does not work yet

struct bill {
    int cents = 0;
    friend bool operator==(const bill&, const bill&) = default;
};
[[maybe_unused]] void to_json(nlohmann::json& j, const bill& b)
{
    j = {{"cents", b.cents}};
}
[[maybe_unused]] void from_json(const nlohmann::json& j, bill& b)
{
    if (broken) throw std::runtime_error("not\nyet\xFF");
    b.cents = j.value("cents", 0);
}

struct item {
    int id = 0;
    friend bool operator==(const item&, const item&) = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(item, id)

struct marked {
    std::string IsFailedSession;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(marked, IsFailedSession)

namespace {

using namespace waybill;
using namespace std::string_view_literals;
using nlohmann::json;
using tests_support::make;
using tests_support::sealed;

std::string cbor_of(const json& value)
{
    std::string body;
    json::to_cbor(value, body);
    return detail::seal_state(state_format::cbor, {1, 0}, body);
}

constexpr std::string_view failure =
    R"("waybill":{"failed":{"reason":"gap","sequence":9,"step":3,"text":"x"}}})";

session_progress::failure longest(std::string why = {})
{
    return {detail::highest_size, detail::highest_size, dead_letter_reason::session_failed,
            detail::highest_size, std::move(why),       wall_time::highest()};
}

static_assert(detail::nested_string_at(""sv) == 0);
static_assert(detail::nested_string_at("\x7F\x61"
                                       "a\x60\xFF\x7F\xFF"sv) == 0);
static_assert(detail::nested_string_at("\x7F\x7F"sv) == 2);
static_assert(detail::nested_string_at("\x81\x5F\x41\x7F\x5F"sv) == 5);
static_assert(detail::nested_string_at("\x63\x7F\x7F\x7F\x18\x7F\x19\x7F\x7F"sv) == 0);
static_assert(detail::nested_string_at("\x79\x00\x02\x7F\x7F\x7F\x60\x7F"sv) == 8);
static_assert(detail::nested_string_at("\x7B\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F\x7F"sv) == 0);
static_assert(detail::nested_string_at("\x1C\x7F\x7F"sv) == 0);  // this is no head at all
static_assert(detail::nested_string_at("\x7B\xFF"sv) == 0);

TEST_CASE("nested CBOR strings of indefinite length are refused, for any number of them")
{
    const auto codec = make<item>();
    for (const std::string_view piece : {"\x7F", "\x5F", "\x7F\x60", "\x5F\x41\xFF", "\x7F\x5F"}) {
        for (const std::string_view before : {"", "\xA1",
                                              "\xA1\x61"
                                              "a",
                                              "\x81", "\xBF"}) {
            std::string body(before);
            while (body.size() < 250'000) body += piece;
            const auto s = codec.decode(detail::seal_state(state_format::cbor, {1, 0}, body));
            CHECK(s.outcome == state_read::corrupt);
            CHECK(describe(s).starts_with(
                "state: corrupt: its body cannot be parsed: invalid at byte "));
        }
    }
    const auto s = codec.decode(detail::seal_state(state_format::cbor, {1, 0},
                                                   "\xA1\x7F\x61i\x61"
                                                   "d\xFF\x18\x7F"));
    REQUIRE_MESSAGE(s.outcome == state_read::ok, describe(s));
    CHECK(s.value.id == 127);
}

TEST_CASE("bytes after a NUL are refused")
{
    const auto codec = make<item>();
    for (const std::string_view body : {"{\"id\":3}\0,\"IsFailedSession\":true}"sv,
                                        "{\"id\":3}\0"sv, "{\"id\":3\0}"sv, "{\"a\":\"\0\"}"sv}) {
        CHECK(codec.decode(body).outcome == state_read::corrupt);
        const auto s = codec.decode(sealed(body));
        CHECK(s.outcome == state_read::corrupt);
        CHECK(s.reason == "invalid at byte " + std::to_string(body.find('\0') + 1));
    }
    CHECK(codec.decode(R"({"a":"\u0000"})").outcome == state_read::ok);
}

TEST_CASE("an upgrade with an unreadable result leaves the stored value unchanged")
{
    const auto up = [](json& j, schema_version) { j["cents"] = j.value("cents", 0) * 100; };
    const auto codec = make<bill>({.version = {2, 0}, .upgrade = up});
    const std::string stored = sealed(R"({"cents":5,)" + std::string(failure));
    broken = true;
    auto s = codec.decode(stored);
    CHECK(s.outcome == state_read::ok);
    CHECK(s.problem == json_state_problem::bad_value);
    const auto out = codec.encode(s);
    REQUIRE(out.has_value());
    CHECK(out->starts_with("waybill/1 json 00001.00000 "));
    CHECK(out->find(R"({"cents":5,)") != std::string::npos);
    CHECK(codec.decode(sealed(R"({"cents":5})")).outcome == state_read::corrupt);
    broken = false;
    CHECK(codec.decode(*out).value.cents == 500);
    CHECK(codec.decode(*out).read.user == json{{"cents", 500}});

    s.progress.failed.reset();  // its value is not known, so it cannot go on either
    CHECK(codec.encode(s).error().problem == state_unwritten::problem_type::not_read);
}

TEST_CASE("an upgrade whose result cannot be written has failed")
{
    const std::map<std::string, state_upgrade> upgrades = {
        {"its JSON must be an object, and is null", [](json& j, schema_version) { j = nullptr; }},
        {"the member \"waybill\" is reserved", [](json& j, schema_version) { j["waybill"] = 3; }},
        {"/x is not finite", [](json& j, schema_version) { j["x"] = NAN; }},
        {"/x is not UTF-8", [](json& j, schema_version) { j["x"] = "\xFF"; }},
        {"/x is binary", [](json& j, schema_version) { j["x"] = json::binary({1}); }},
        {"is nested too deep: the maximum is 256 levels",
         [](json& j, schema_version) {
             for (int n = 0; n != 300; ++n) j = json{{"x", std::move(j)}};
         }},
        {"its result is too large: 300",
         [](json& j, schema_version) { j["x"] = std::string(300'000, 'x'); }},
    };
    for (const auto& one : upgrades) {
        const std::string& said = one.first;
        CAPTURE(said);
        const auto codec = make<item>({.version = {2, 0}, .upgrade = one.second});
        auto s = codec.decode(sealed(R"({"old":1})"));
        CHECK(s.outcome == state_read::corrupt);
        CHECK(describe(s).starts_with("state: corrupt: its upgrade failed, from 1.0: its result "));
        CHECK_MESSAGE(describe(s).find(said) != std::string::npos, describe(s));
        s = codec.decode(sealed(R"({"old":1,)" + std::string(failure)));
        CHECK(s.outcome == state_read::ok);
        CHECK(s.problem == json_state_problem::upgrade_failed);
        CHECK(codec.encode(s)->find(R"({"old":1,"waybill":{"failed")") != std::string::npos);
        CHECK(codec.encode(s)->starts_with("waybill/1 json 00001.00000 "));
    }
}

TEST_CASE("an accepted failed state can be written as failed again")
{
    std::size_t kept = 0;
    std::size_t left_out = 0;
    for (const state_budget b : {state_budget{1'400, 512}, state_budget{513, 512}}) {
        for (const std::string_view form : {"json", "cbor", "bare", "upgraded"}) {
            CAPTURE(form);
            state_codec_options o{.budget = b};
            if (form == "cbor") o.format = state_format::cbor;
            if (form == "upgraded") {
                o.version = {2, 0};
                o.upgrade = [](json&, schema_version) { throw 17; };
            }
            o.envelope = form != "bare";
            const auto codec = make<json>(o);
            for (std::size_t n = 0; n < 1'400; n += n > 1'100 ? 1 : 100) {
                CAPTURE(n);
                json j = json::parse("{" + std::string(failure));
                j["text"] = std::string(n, 'x');
                const std::string bytes = form == "cbor"   ? cbor_of(j)
                                          : form == "bare" ? j.dump()
                                                           : sealed(j.dump());
                auto s = codec.decode(bytes);
                if (s.outcome != state_read::ok) continue;
                s.progress = {detail::highest_size, detail::highest_size, detail::highest_size,
                              detail::highest_size, longest("gone"),      wall_time::highest(),
                              wall_time::highest(), detail::highest_size};
                const auto out = codec.encode(s);
                REQUIRE_MESSAGE(out.has_value(), describe(out.error()));
                CHECK(out->size() <= b.bytes);
                const auto again = codec.decode(*out);
                REQUIRE(again.outcome == state_read::ok);
                CHECK(again.progress.failed->sequence == detail::highest_size);
                ++(again.read.user.contains("text") ? kept : left_out);
            }
        }
    }
    CHECK(kept > 20);
    CHECK(left_out > 200);
}

TEST_CASE("a failed CBOR state that JSON cannot hold is written without its value")
{
    json j = json::parse("{" + std::string(failure));
    for (const json& odd : {json(NAN), json::binary({1, 2})}) {
        j["odd"] = odd;
        const auto s = make<item>().decode(cbor_of(j));
        REQUIRE(s.outcome == state_read::ok);
        const auto out = make<item>().encode(s);
        REQUIRE_MESSAGE(out.has_value(), describe(out.error()));
        CHECK(make<item>().decode(*out).progress == s.progress);
    }
    // A field that only a later version has is not replaced by null.
    auto s = make<item>().decode(cbor_of({{"waybill", {{"done", 1}, {"z", {{"b", NAN}}}}}}));
    REQUIRE(s.outcome == state_read::ok);
    CHECK(describe(make<item>().encode(s).error()) ==
          "state: not written: /waybill/z/b is not finite, and JSON has no such number: omit it");
    CHECK(make<item>({.format = state_format::cbor}).encode(s).has_value());
    s.progress.failed = longest();
    CHECK(make<item>().encode(s).has_value());
}

TEST_CASE("an accepted state fits with an envelope added, and in the other format")
{
    const state_budget b{.bytes = 1'400, .failure_reserve = 512};
    std::size_t accepted = 0;
    std::size_t refused = 0;
    for (const bool cbor : {false, true}) {
        const auto codec =
            make<json>({.budget = b, .format = cbor ? state_format::cbor : state_format::json});
        const auto try_one = [&](const std::string& bytes) {
            auto s = codec.decode(bytes);
            if (s.outcome != state_read::ok) {
                CHECK(s.outcome == state_read::too_large);
                ++refused;
                return;
            }
            ++accepted;
            const json value = s.value;
            const auto out = codec.encode(s);
            REQUIRE_MESSAGE(out.has_value(), describe(out.error()));
            s.progress = {.done = detail::highest_size, .failed = longest()};
            CHECK(codec.decode(*codec.encode(s)).value == value);
        };
        for (std::size_t n = 0; n != 200; ++n) {
            try_one(json{{"x", std::string(700 + n, 'x')}}.dump());
            const json doubles{{"x", std::vector<double>(n * 2, 0.1)}};
            try_one(sealed(doubles.dump()));
            try_one(cbor_of({{"x", std::string(n * 2, '\x01')}}));
        }
    }
    CHECK(accepted > 300);
    CHECK(refused > 300);
}

TEST_CASE("a failure whose value cannot be written keeps the last stored value")
{
    for (const std::string_view form : {"json", "cbor", "bare"}) {
        const auto codec =
            make<json>({.format = form == "cbor" ? state_format::cbor : state_format::json,
                        .envelope = form != "bare"});
        for (const bool was_there : {false, true}) {
            auto s = codec.decode(std::nullopt);
            s.value = {{"paid", "no"}};
            if (was_there) s = codec.decode(*codec.encode(s));
            s.value = {{"paid", "4711"}, {"only", 1}};
            s.progress.done = 2;
            s.stored(*codec.encode(s));
            s.value["receipt"] = "latin 1 \xE9";
            s.progress.failed = longest("x");
            const auto out = codec.encode(s);
            REQUIRE(out.has_value());
            json kept = codec.decode(*out).value;
            kept.erase("IsFailedSession");
            CHECK(kept == json{{"paid", "4711"}, {"only", 1}});
            s.stored("no known format");  // the read state is better than nothing
            CHECK(codec.encode(s).has_value());
        }
    }
}

TEST_CASE("fields of a failure are removed with it")
{
    const auto codec = make<item>();
    auto s = codec.decode(sealed(R"({"id":1,"waybill":{"done":2,"failed":{"reason":"gap",)"
                                 R"("sequence":9,"step":3,"stack":"of 3"},"speed":7}})"));
    s.progress.failed.reset();
    s.stored(*codec.encode(s));
    s.progress.failed = longest();
    const std::string out = *codec.encode(s);
    CHECK(out.find("stack") == std::string::npos);
    CHECK(out.find(R"("speed":7)") != std::string::npos);
}

TEST_CASE("a value that would be corrupt when read is not written")
{
    const auto codec = make<json>({.format = state_format::cbor});
    auto s = codec.decode(std::nullopt);
    s.value = {{"a", {{"b", json::binary({1, 2}, 42)}}}};
    CHECK(describe(codec.encode(s).error()) ==
          "state: not written: /a/b is binary with a subtype: store the subtype as a field");
    s.value = {{"b", json::binary({1, 2})}};
    CHECK(codec.decode(*codec.encode(s)).value == s.value);

    const auto plain = make<marked>({.envelope = false});
    auto m = plain.decode(std::nullopt);
    CHECK(describe(plain.encode(m).error()) ==
          "state: not written: the member \"IsFailedSession\" (neither true nor false) is "
          "reserved: rename it");
    m.progress.failed = longest();
    CHECK(plain.decode(*plain.encode(m)).progress == m.progress);
    CHECK(make<marked>().decode(*make<marked>().encode(m)).value.IsFailedSession.empty());
}

TEST_CASE("descriptions are one line of UTF-8, for any name and any exception")
{
    const auto line = [](std::string_view said) {
        CHECK_MESSAGE(is_utf8(said), said);
        CHECK_MESSAGE(std::all_of(said.begin(), said.end(),
                                  [](char c) {
                                      return static_cast<unsigned char>(c) >= 0x20 && c != '\x7F';
                                  }),
                      said);
    };
    const auto codec = make<json>();
    const auto cbor = [&](std::string_view body) {
        return describe(codec.decode(detail::seal_state(state_format::cbor, {1, 0}, body)));
    };
    line(
        cbor("\xA1\x63"
             "a\nb\x61\xFF"));
    line(
        cbor("\xA1\x63"
             "a\xFF"
             "b\x01"));
    CHECK(cbor("\xA1\x63"
               "a\nb\x61\xFF")
              .find("/a\\nb is not UTF-8") != std::string::npos);
    auto s = codec.decode(std::nullopt);
    s.value = {
        {"a\n\x01\xFF"
         "b",
         "\xFF"}};
    line(describe(codec.encode(s).error()));
    broken = true;
    line(describe(make<bill>().decode("{}")));
    broken = false;
}

}  // namespace
}  // namespace json_session_odd_test
