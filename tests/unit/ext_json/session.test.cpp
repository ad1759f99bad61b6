// SPDX-License-Identifier: MIT
//
// A user's type through a state and back: versions, unknown fields, values that cannot be stored,
// and the result of each. Budgets are in session_budget.test.cpp, files in session_golden.test.cpp.

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <support/json_states.hpp>

#include <waybill/ext/json/session.hpp>
#include <waybill/session/detail/sealed_state.hpp>
#include <waybill/session/envelope.hpp>

namespace json_session_test {

struct order {
    int lines = 0;
    std::string receipt;
    friend bool operator==(const order&, const order&) = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(order, lines, receipt)

struct strict {
    int lines = 0;
    friend bool operator==(const strict&, const strict&) = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(strict, lines)

struct marked {
    bool IsFailedSession = false;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(marked, IsFailedSession)

struct nested {
    order first;
    std::map<std::string, order> by_name;
    std::vector<order> all;
    friend bool operator==(const nested&, const nested&) = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(nested, first, by_name, all)

struct shy {};
[[maybe_unused]] void to_json(nlohmann::json&, const shy&)
{
    throw 17;
}
[[maybe_unused]] void from_json(const nlohmann::json&, shy&) {}

namespace {

using namespace waybill;
using nlohmann::json;
using tests_support::make;
using tests_support::sealed;

template <class T>
decoded_state<T> fresh()
{
    return make<T>().decode(std::nullopt);
}

template <class T>
std::string body_of(const state_codec<T>& c, const decoded_state<T>& s)
{
    const auto bytes = c.encode(s);
    REQUIRE_MESSAGE(bytes.has_value(), describe(bytes.error()));
    return c.options().envelope ? bytes->substr(detail::envelope_bytes) : *bytes;
}

template <class T>
std::string refused(std::string_view body)
{
    const auto s = make<T>().decode(sealed(body));
    CHECK(s.outcome == state_read::corrupt);
    CHECK(s.progress == session_progress{});
    CHECK(make<T>().encode(s).error().problem == state_unwritten::problem_type::not_read);
    const std::string said = describe(s);
    CHECK(said.starts_with("state: corrupt: "));
    return said.substr(16, said.find(": do not treat", 16) - 16);
}

TEST_CASE("a value and its progress are read back, and written as readable JSON")
{
    const auto codec = make<order>();
    auto s = codec.decode(std::nullopt);
    CHECK(s.outcome == state_read::absent);
    CHECK(describe(s) == "state: absent: the session is new or has ended");
    CHECK(body_of(codec, s) == R"({"lines":0,"receipt":""})");  // no progress, no member
    s.value = {3, "r17"};
    s.progress = {.done = 2, .total = 5};
    const auto out = codec.encode(s);
    REQUIRE(out.has_value());
    CHECK("\n" + *out + "\n" == R"text(
waybill/1 json 00001.00000 0000000058 a3c54a0e
{"lines":3,"receipt":"r17","waybill":{"done":2,"total":5}}
)text");
    CHECK(codec.size(s) == out->size());
    CHECK(codec.changed(s, *out));  // nothing is stored yet
    s.stored(*out);
    CHECK_FALSE(codec.changed(s, *out));

    auto again = codec.decode(*out);
    CHECK(again.outcome == state_read::ok);
    CHECK(again.value == s.value);
    CHECK(again.progress == s.progress);
    CHECK(describe(again) == "state: ok, 105 bytes, json of version 1.0");
    CHECK_FALSE(codec.changed(again, *out));
    again.value.lines = 4;
    CHECK(codec.changed(again, *codec.encode(again)));
    again.value.lines = 3;
    CHECK_FALSE(codec.changed(again, *codec.encode(again)));
    CHECK(again == codec.decode(*out));
}

TEST_CASE("CBOR keeps the same values, and some that JSON cannot hold")
{
    using numbers = std::map<std::string, std::vector<double>>;
    const auto codec = make<numbers>({.format = state_format::cbor});
    auto s = codec.decode(std::nullopt);
    s.value = {{"a", {1.5, std::numeric_limits<double>::infinity(), -0.0}}};
    for (int n = 0; n != 300; ++n) {  // heads of maps of every length that there is here
        s.value["n" + std::to_string(n)] = {};
        s.progress = {.done = static_cast<std::uint64_t>(n), .total = 5};
        const auto out = codec.encode(s);
        REQUIRE(out.has_value());
        const auto again = codec.decode(*out);
        REQUIRE_MESSAGE(again.outcome == state_read::ok, describe(again));
        CHECK(again.value == s.value);
        CHECK(again.progress == s.progress);
        CHECK(codec.size(s) == out->size());
    }
    const auto out = codec.encode(s);
    const auto as_json = make<numbers>().decode(*out);  // JSON reads it, and cannot write it
    REQUIRE(as_json.outcome == state_read::ok);
    CHECK(describe(make<numbers>().encode(as_json).error()) ==
          "state: not written: /a/1 is not finite, and JSON has no such number: omit it");

    const auto bytes = make<json>({.format = state_format::cbor});
    auto b = bytes.decode(std::nullopt);
    b.value = {{"raw", json::binary({1, 2, 255})}};
    const auto kept = bytes.encode(b);
    REQUIRE(kept.has_value());
    CHECK(bytes.decode(*kept).value == b.value);
    b.value = {{"raw", "\xFF"}};
    CHECK(describe(bytes.encode(b).error()) ==
          "state: not written: /raw is not UTF-8: store it as base64, or as a list of numbers");
}

TEST_CASE("unknown fields are kept, and removed elements stay removed")
{
    const auto codec = make<nested>();
    const std::string stored = sealed(
        R"({"all":[{"lines":1,"receipt":""}],"by_name":{"x":{"lines":1,"receipt":"","size":"L"},)"
        R"("y":{"lines":2,"receipt":"","size":"M"}},)"
        R"("first":{"lines":7,"receipt":"a","tax":[1,{"b":2}]},)"
        R"("later":{"a":1},"waybill":{"done":1,"speed":[3]}})");
    auto s = codec.decode(stored);
    REQUIRE(s.outcome == state_read::ok);
    CHECK(body_of(codec, s) ==
          R"({"all":[{"lines":1,"receipt":""}],"by_name":{"x":{"lines":1,"receipt":"","size":"L"},)"
          R"("y":{"lines":2,"receipt":"","size":"M"}},)"
          R"("first":{"lines":7,"receipt":"a","tax":[1,{"b":2}]},)"
          R"("later":{"a":1},"waybill":{"done":1,"speed":[3]}})");
    s.value.by_name.erase("x");
    s.value.by_name["z"] = {};
    s.value.first.lines = 8;
    s.progress.done = 2;
    CHECK(body_of(codec, s) ==
          R"({"all":[{"lines":1,"receipt":""}],)"
          R"("by_name":{"y":{"lines":2,"receipt":"","size":"M"},"z":{"lines":0,"receipt":""}},)"
          R"("first":{"lines":8,"receipt":"a","tax":[1,{"b":2}]},)"
          R"("later":{"a":1},"waybill":{"done":2,"speed":[3]}})");
    s.value.by_name.clear();
    CHECK(body_of(codec, s).find(R"("by_name":{})") != std::string::npos);

    const auto any = make<json>();  // a type that knows everything
    auto j = any.decode(stored);
    j.value.erase("later");
    j.value["first"].erase("tax");
    CHECK(body_of(any, j).find("later") == std::string::npos);
    CHECK(body_of(any, j).find("tax") == std::string::npos);
}

TEST_CASE("a later minor version is read and kept, a later major version is refused as newer")
{
    const auto codec = make<order>({.version = {1, 3}});
    auto s = codec.decode(sealed(R"({"lines":1,"receipt":"","new":1})", {1, 9}));
    REQUIRE(s.outcome == state_read::ok);
    CHECK(s.version == schema_version{1, 9});
    CHECK(codec.encode(s)->starts_with("waybill/1 json 00001.00009 "));
    s = codec.decode(sealed("{}", {1, 0}));
    CHECK(codec.encode(s)->starts_with("waybill/1 json 00001.00003 "));

    s = codec.decode(sealed(R"({"waybill":"anything"})", {2, 0}));
    CHECK(s.outcome == state_read::newer);
    CHECK(describe(s) ==
          "state: newer: its version is 2.0, and 1 is the latest known version: update the "
          "program, and do not change the state");
    CHECK(codec.encode(s).error().problem == state_unwritten::problem_type::not_read);
    CHECK(codec.size(s) == detail::highest_size);

    const auto bare = make<order>({.envelope = false});
    s = bare.decode(R"({"lines":1,"waybill":{"version":"2.0"}})");
    CHECK(s.outcome == state_read::newer);
    s = codec.decode(R"({"waybill":{"failed":{"reason":"eaten","sequence":1,"step":1}}})");
    CHECK(s.outcome == state_read::newer);
    CHECK(describe(s) ==
          "state: newer: /waybill/failed/reason: expected a reason known to this program, "
          "found \"eaten\": update the program, and do not change the state");
}

TEST_CASE("an older major version is upgraded, or is corrupt with a reason")
{
    const auto up = [](json& value, schema_version from) {
        if (value.contains("throw")) throw std::runtime_error("no way");
        if (value.contains("array")) value = json::array();
        value["lines"] = value.value("rows", 0) + from.major;
        value.erase("rows");
    };
    const state_codec_options o{.version = {2, 0}, .upgrade = up};
    const auto codec = make<order>(o);
    auto s = codec.decode(sealed(R"({"rows":6,"more":1,"waybill":{"done":1}})", {1, 4}));
    REQUIRE(s.outcome == state_read::ok);
    CHECK(s.version == schema_version{1, 4});
    CHECK(s.value.lines == 7);
    CHECK(codec.encode(s)->starts_with("waybill/1 json 00002.00000 "));
    CHECK(body_of(codec, s) == R"({"lines":7,"more":1,"receipt":"","waybill":{"done":1}})");
    CHECK(codec.decode(*codec.encode(s)).value.lines == 7);  // once
    CHECK(codec.decode(R"({"rows":6})").value.lines == 6);   // plain JSON is of version 0.0

    s = codec.decode(sealed(R"({"throw":1})"));
    CHECK(s.outcome == state_read::corrupt);
    CHECK(describe(s) == "state: corrupt: its upgrade failed, from 1.0: no way");
    s = codec.decode(sealed(R"({"array":1,"rows":1})"));
    CHECK(s.outcome == state_read::corrupt);

    // If the session has failed, that is the result, and the old value is written unchanged.
    s = codec.decode(sealed(R"({"throw":1,"waybill":{"failed":{"reason":"gap","sequence":1,)"
                            R"("step":1}}})"));
    CHECK(s.outcome == state_read::ok);
    CHECK(s.progress.failed->reason == dead_letter_reason::gap);
    CHECK(s.problem == json_state_problem::upgrade_failed);
    CHECK(codec.encode(s)->starts_with("waybill/1 json 00001.00000 "));
    CHECK(body_of(codec, s).starts_with(R"({"throw":1,"waybill":)"));
}

TEST_CASE("an invalid state is refused with its path")
{
    CHECK(refused<order>("") == "its body cannot be parsed: invalid at byte 1");
    CHECK(refused<order>("{\"lines\":3,}") == "its body cannot be parsed: invalid at byte 12");
    CHECK(refused<order>("{} 7").starts_with("its body cannot be parsed"));
    CHECK(refused<order>("{\"lines\":1e999}").starts_with("its body cannot be parsed"));
    CHECK(refused<order>("{\"receipt\":\"\xFF\"}").starts_with("its body cannot be parsed"));
    CHECK(refused<order>("[1]") == "expected an object, found an array");
    CHECK(refused<order>("null") == "expected an object, found null");
    CHECK(refused<order>(R"({"lines":1,"lines":2})") == "an object has a name twice: \"lines\"");
    CHECK(refused<order>(R"({"a":{"waybill":1,"waybill":2}})").starts_with("an object has a name"));
    CHECK(refused<order>("{\"a\":" + std::string(300, '[') + std::string(300, ']') + "}") ==
          "it is nested too deep: more than 256 levels");
    CHECK(refused<order>(R"({"waybill":7})") == "/waybill: expected an object, found 7");
    CHECK(refused<order>(R"({"waybill":{"done":-1}})") ==
          "/waybill/done: expected a whole number of at most 64 bits, found -1");
    CHECK(refused<order>(R"({"waybill":{"begun":1}})")
              .starts_with("/waybill/begun: expected a time"));
    CHECK(refused<order>(R"({"waybill":{"failed":null}})") ==
          "/waybill/failed: expected an object, found null");
    CHECK(refused<order>(R"({"waybill":{"failed":{"reason":"gap","step":1}}})") ==
          "/waybill/failed/sequence: expected a value, found null");
    CHECK(refused<order>(R"({"waybill":{"failed":{"reason":1,"step":1,"sequence":1}}})") ==
          "/waybill/failed/reason: expected a reason, found 1");
    CHECK(refused<order>(R"({"waybill":{"version":"1"}})").starts_with("/waybill/version"));
    CHECK(refused<order>(R"({"lines":"many"})").find("type must be number, but is string") !=
          std::string::npos);
    const std::string missing = refused<strict>(R"({"rows":1})");
    CHECK(missing.find("key 'lines' not found") != std::string::npos);
    CHECK(missing.find("WITH_DEFAULT") != std::string::npos);

    const auto codec = make<order>();
    CHECK(codec.decode("").outcome == state_read::corrupt);
    CHECK(codec.decode("[]").outcome == state_read::corrupt);
    CHECK(codec.decode(detail::seal_state(state_format::text, {1, 0}, "\n")).problem ==
          json_state_problem::other_format);
    for (const std::string_view odd : {"\x9F", "\x81\x81\x81", "\xBF\xFF\xFF", "\xA1\x01\x01"}) {
        CHECK(codec.decode(detail::seal_state(state_format::cbor, {1, 0}, odd)).outcome ==
              state_read::corrupt);
    }
    const std::string deep(200'000, '\x81');  // an array of an array of ...
    CHECK(codec.decode(detail::seal_state(state_format::cbor, {1, 0}, deep)).problem ==
          json_state_problem::too_deep);
    CHECK(codec.decode(R"({"IsFailedSession":"yes"})").outcome == state_read::corrupt);
    CHECK(codec.decode(R"({"IsFailedSession":true,"IsFailedSession":false})").outcome ==
          state_read::corrupt);
}

TEST_CASE("a value that cannot be stored is refused with its path")
{
    const auto codec = make<json>();
    auto s = codec.decode(std::nullopt);
    const auto why = [&](json value) {
        s.value = std::move(value);
        CHECK(codec.size(s) == detail::highest_size);
        return describe(codec.encode(s).error()).substr(20);
    };
    CHECK(why(nullptr) == "its JSON must be an object, and is null: store a struct or a map");
    CHECK(why({1, 2}) == "its JSON must be an object, and is an array: store a struct or a map");
    CHECK(why({{"waybill", 1}}) == "the member \"waybill\" is reserved: rename it");
    CHECK(why({{"a", {1, {{"b", NAN}}}}}) ==
          "/a/1/b is not finite, and JSON has no such number: omit it");
    CHECK(why({{"a", {{"b~", "\xFF"}}}}).starts_with("/a/b~0 is not UTF-8"));
    CHECK(why({{"a", json::binary({1})}}) ==
          "/a is binary, which JSON cannot represent: use cbor or base64");
    json deep = 1;
    for (int n = 0; n != 300; ++n) deep = json{{"a", std::move(deep)}};
    const std::string too_deep = why(deep);
    CHECK(too_deep.starts_with("/a/a/a/"));
    CHECK(too_deep.find("/a/.../a/") != too_deep.npos);
    CHECK(too_deep.ends_with("/a is nested too deep: the maximum is 256 levels"));
    CHECK(too_deep.size() < 357);

    const auto throws = make<shy>();
    CHECK(describe(throws.encode(fresh<shy>()).error()) ==
          "state: not written: its to_json threw: an exception that is not a std::exception");
}

TEST_CASE("a session can be written as failed with any value")
{
    const auto codec = make<json>();
    const std::string before = sealed(R"({"kept":1,"waybill":{"done":1,"odd":2}})");
    for (json value : {json(nullptr), json{{"waybill", 1}}, json{{"a", NAN}}, json{{"a", "\xFF"}},
                       json{{"a", std::string(300'000, 'x')}}}) {
        auto s = codec.decode(before);
        s.value = std::move(value);
        CHECK_FALSE(codec.encode(s).has_value());
        s.progress.failed =
            session_progress::failure{2, 9, dead_letter_reason::failed, 1, "gone\xFF\xC3", {}};
        const auto out = codec.encode(s);
        REQUIRE_MESSAGE(out.has_value(), describe(out.error()));
        const auto again = codec.decode(*out);
        REQUIRE(again.outcome == state_read::ok);
        CHECK(again.progress.failed->text == "gone\xEF\xBF\xBD\xEF\xBF\xBD");
        CHECK(again.progress.failed->sequence == 9);
        CHECK(again.value == json{{"kept", 1}});  // as read
        CHECK(again.read.unknown_fields == json{{"odd", 2}});
    }
    auto s = fresh<shy>();  // there was nothing before
    s.progress.failed = session_progress::failure{1, 1, dead_letter_reason::gap, 0, {}, {}};
    CHECK(make<shy>().decode(*make<shy>().encode(s)).progress == s.progress);
}

TEST_CASE("a redriven session begins with the state it was redriven with, without progress")
{
    for (const bool envelope : {true, false}) {
        const auto codec = make<order>({.envelope = envelope});
        auto s = codec.decode(std::nullopt);
        s.value = {3, "r17"};
        s.read.user = {{"odd", 1}, {"lines", 3}};
        s.progress = {.done = 2, .total = 5};
        s.progress.failed =
            session_progress::failure{3, 9, dead_letter_reason::failed, 1, "no template", {}};
        const std::string came = *codec.encode(s);
        auto begun = codec.decode(std::nullopt, came);
        CHECK(begun.outcome == state_read::absent);
        CHECK(describe(begun) == describe(codec.decode(std::nullopt)));
        CHECK(begun.value == order{3, "r17"});
        CHECK(begun.progress == session_progress{});
        CHECK(codec.changed(begun, came));
        const auto later = codec.decode(*codec.encode(begun));
        CHECK(later.outcome == state_read::ok);
        CHECK(!later.progress.failed);
        CHECK(later.value == order{3, "r17"});
        CHECK(later.read.user.value("odd", 0) == 1);
        // A stored state takes precedence. Without any state the session is new.
        const std::string mine = *codec.encode(fresh<order>());
        CHECK(codec.decode(mine, came) == codec.decode(mine));
        CHECK(codec.decode(std::nullopt, "") == codec.decode(std::nullopt));
        CHECK(codec.decode(std::nullopt, came.substr(0, came.size() / 2)).outcome ==
              state_read::corrupt);
    }
    // An unreadable value cannot begin a session, although a failed session may keep it.
    const std::string odd =
        sealed(R"({"rows":1,"waybill":{"failed":{"at":"1970-01-01T00:00:00Z",)"
               R"("reason":"gap","sequence":9,"step":2,"text":"","tries":0}}})");
    CHECK(make<strict>().decode(odd).outcome == state_read::ok);
    CHECK(make<strict>().decode(std::nullopt, odd).outcome == state_read::corrupt);
    CHECK(describe(make<strict>().decode(std::nullopt, odd))
              .starts_with("state: corrupt: the value"));
    // A failed state may be larger than the budget of a running one. Then the session cannot
    // continue.
    for (const state_format f : {state_format::json, state_format::cbor}) {
        const auto codec =
            make<order>({.budget = {.bytes = 2'048, .failure_reserve = 1'024}, .format = f});
        const auto larger =
            make<order>({.budget = {.bytes = 3'072, .failure_reserve = 1'024}, .format = f});
        auto s = fresh<order>();
        for (std::size_t length = 940; length != 1'020; ++length) {
            s.value.receipt.assign(length, 'r');
            s.progress = {};
            const bool goes_on = codec.encode(s).has_value();
            s.progress.done = 1;
            s.progress.failed =
                session_progress::failure{2, 9, dead_letter_reason::failed, 1, "no", {}};
            const auto came = larger.encode(s);
            REQUIRE(came.has_value());
            REQUIRE(codec.decode(*came).outcome == state_read::ok);
            const auto begun = codec.decode(std::nullopt, *came);
            CHECK(begun.outcome == (goes_on ? state_read::absent : state_read::too_large));
            CHECK(codec.encode(begun).has_value() == goes_on);
            if (!goes_on)
                CHECK(
                    describe(begun).find(" bytes without the progress, and 1024 is the maximum") !=
                    std::string::npos);
            if (!goes_on) CHECK(begun.value == order{});
        }
    }
    // A mark that is a field of the user's type is not copied.
    const auto plain = make<marked>({.envelope = false});
    const auto was = plain.decode(R"({"IsFailedSession":true})");
    CHECK(was.progress.failed.has_value());
    const auto begun = plain.decode(std::nullopt, R"({"IsFailedSession":true})");
    CHECK(!begun.value.IsFailedSession);
    CHECK(!plain.decode(*plain.encode(begun)).progress.failed);
}

TEST_CASE("a failed session is read as failed, even if its value is invalid")
{
    const auto codec = make<strict>();
    const std::string stored =
        sealed(R"({"rows":1,"waybill":{"failed":{"at":"1970-01-01T00:00:00Z","reason":"gap",)"
               R"("sequence":9,"step":2,"text":"","tries":0}}})");
    auto s = codec.decode(stored);
    CHECK(s.outcome == state_read::ok);
    CHECK(s.problem == json_state_problem::bad_value);
    CHECK(describe(s).ends_with("; the session has failed, and its state is kept as it is"));
    CHECK(s.progress.failed->sequence == 9);
    CHECK(s.value == strict{});
    s.value.lines = 5;
    CHECK(*codec.encode(s) == stored);
    CHECK(codec.decode(R"({"IsFailedSession":true})").progress.failed.has_value());
}

TEST_CASE("plain JSON without an envelope, for other programs")
{
    const auto codec = make<order>({.envelope = false});
    auto s = codec.decode("\xEF\xBB\xBF {\"lines\": 3, \"theirs\": [1]}\r\n");
    REQUIRE(s.outcome == state_read::ok);
    CHECK(describe(s) == "state: ok, 33 bytes, json without an envelope");
    CHECK(body_of(codec, s) ==
          R"({"lines":3,"receipt":"","theirs":[1],"waybill":{"version":"1.0"}})");
    s.progress.failed = session_progress::failure{1, 5, dead_letter_reason::failed, 1, "no", {}};
    CHECK(body_of(codec, s).find(R"("IsFailedSession":true)") != std::string::npos);
    CHECK(codec.decode(body_of(codec, s)).progress == s.progress);

    const auto own = make<marked>({.envelope = false});  // a type that has the mark itself
    auto m = own.decode(R"({"IsFailedSession":true})");
    CHECK(m.value.IsFailedSession);
    CHECK(m.progress.failed.has_value());
    m = own.decode(R"({"IsFailedSession":false})");
    CHECK_FALSE(m.progress.failed.has_value());
    m.progress.failed = session_progress::failure{};
    CHECK(body_of(own, m).starts_with(R"({"IsFailedSession":true,"waybill":)"));
}

TEST_CASE("the failure mark with one flipped bit is corrupt, not a user field")
{
    const auto codec = make<order>({.envelope = false});
    const auto bad = [&](std::string_view bytes) {
        const auto s = codec.decode(bytes);
        CHECK(s.outcome == state_read::corrupt);
        CHECK(s.problem == json_state_problem::bad_progress);
        CHECK(codec.encode(s).error().problem == state_unwritten::problem_type::not_read);
        return describe(s);
    };
    CHECK(bad(R"({"HsFailedSession":true})") ==
          "state: corrupt: /HsFailedSession: is true, and differs from IsFailedSession in one bit: "
          "do not treat the session as new; keep the bytes, and find the program that wrote them");
    CHECK(bad(R"({"isFailedSession":true,"lines":3})").find("/isFailedSession: ") !=
          std::string::npos);
    CHECK(bad(R"({"IsFailedSessi/n":true,"a":1})").find("/IsFailedSessi~1n: ") !=
          std::string::npos);
    CHECK(bad(R"({"IsFailedSes3ion":true})").find("/IsFailedSes3ion: ") != std::string::npos);
    CHECK(bad(R"({"I3FailedSession":true})").find("/I3FailedSession: ") != std::string::npos);
    CHECK(codec.decode(std::nullopt, R"({"isFailedSession":true})").outcome == state_read::corrupt);
    // These are user fields, or have another value.
    for (const std::string_view other :
         {R"({"HsFailedSession":false})", R"({"HsFailedSession":1})", R"({"isfailedSession":true})",
          R"({"GsFailedSession":true})", R"({"IsFailedSessio":true})",
          R"({"IsFailedSession ":true})", R"({"x":{"HsFailedSession":true}})",
          R"({"HsFailedSession":true,"IsFailedSession":false})",
          R"({"HsFailedSession":true,"waybill":{"done":1}})"}) {
        CAPTURE(other);
        auto s = codec.decode(other);
        REQUIRE_MESSAGE(s.outcome == state_read::ok, describe(s));
        CHECK_FALSE(s.progress.failed.has_value());
        CHECK(codec.decode(body_of(codec, s)).outcome == state_read::ok);
    }
    CHECK(codec.decode(R"({"HsFailedSession":true,"IsFailedSession":true})").progress.failed);
    CHECK(codec.decode(sealed(R"({"HsFailedSession":true})")).outcome == state_read::ok);
}

TEST_CASE("invalid options are refused")
{
    const auto bad = [](const state_codec_options& o) {
        const auto c = state_codec<order>::make(o);
        REQUIRE(!c.has_value());
        return describe(c.error());
    };
    CHECK(bad({.version = {2, 0}}) ==
          "version.major is 2: must have an upgrade, because it is more than (1)");
    CHECK(bad({.version = {0, 1}}) == "version.major is 0: must be at least (1)");
    CHECK(bad({.format = state_format::text}) ==
          "format is 2: must be json (0) or cbor; for text use state_text.hpp; at most (1)");
    CHECK(bad({.format = state_format::cbor, .envelope = false}) ==
          "envelope is 0: must be true, because format is cbor (1)");
    CHECK(bad({.budget = {.bytes = 100}}).find("bytes") != std::string::npos);
    CHECK(make<order>() == make<order>());
    CHECK(make<order>().options().budget.bytes == 262'144);
}

TEST_CASE("the guide's example: a state of the user's own type")
{
    const std::string before =
        "waybill/1 json 00001.00000 0000000058 a3c54a0e\n"
        R"({"lines":3,"receipt":"r17","waybill":{"done":2,"total":5}})";
    std::optional<std::string_view> bytes = before;
    std::string stored;
    const auto store = [&](const std::string& all) { stored = all; };
    const auto stop = [](const std::string& line) { FAIL(line); };

    //! [ext_session]
    auto codec = waybill::state_codec<order>::make({.budget = {.bytes = 262'144}});
    if (!codec) return stop(waybill::describe(codec.error()));
    auto state = codec->decode(bytes);  // std::nullopt if the broker has no state
    if (state.outcome > waybill::state_read::ok) return stop(waybill::describe(state));

    state.value.receipt = "r18";
    auto out = codec->encode(state);  // the bytes, or the reason why not
    if (!out) return stop(waybill::describe(out.error()));
    if (codec->changed(state, *out)) {
        store(*out);
        state.stored(*out);
    }
    //! [ext_session]
    CHECK(stored.ends_with(R"({"lines":3,"receipt":"r18","waybill":{"done":2,"total":5}})"));
    CHECK_FALSE(codec->changed(state, stored));
}

}  // namespace
}  // namespace json_session_test
