// SPDX-License-Identifier: MIT
//
// Fields that a type does not know, in a state with a later minor version (found when it is read)
// and in one with the same version (found when it is first written). session_arrays.test.cpp has
// the rules for elements of arrays.

#include <cstddef>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <support/json_states.hpp>

#include <waybill/ext/json/detail/state_parts.hpp>
#include <waybill/ext/json/detail/unknown_fields.hpp>
#include <waybill/ext/json/state_codec.hpp>
#include <waybill/session/detail/sealed_state.hpp>
#include <waybill/session/envelope.hpp>

namespace json_session_unknown_test {

struct line {
    int n = 0;
    std::vector<int> sizes;
    friend bool operator==(const line&, const line&) = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(line, n, sizes)

struct order {
    line first;
    std::map<std::string, line> by_name;
    std::vector<line> all;
    std::vector<std::vector<line>> grid;
    friend bool operator==(const order&, const order&) = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(order, first, by_name, all, grid)

/// Leaves a note out if there is none, writes `extra` without reading it, and cannot write 13.
struct odd {
    int n = 0;
    int extra = 0;
    std::string note;
    friend bool operator==(const odd&, const odd&) = default;
};
[[maybe_unused]] void to_json(nlohmann::json& j, const odd& o)
{
    if (o.n == 13) throw std::runtime_error("not 13");
    j = {{"n", o.n}};
    if (o.extra != 0) j["extra"] = o.extra;
    if (!o.note.empty()) j["note"] = o.note;
}
[[maybe_unused]] void from_json(const nlohmann::json& j, odd& o)
{
    o.n = j.value("n", 0);
    o.note = j.value("note", "");
}

namespace {

using namespace waybill;
using nlohmann::json;
using tests_support::make;
using tests_support::sealed;

constexpr schema_version own{1, 0};
constexpr schema_version later{1, 7};

std::string stored_as(const json& user, std::string_view form, schema_version v)
{
    if (form == "json") return detail::seal_state(state_format::json, v, user.dump());
    if (form == "cbor") {
        std::string body;
        json::to_cbor(user, body);
        return detail::seal_state(state_format::cbor, v, body);
    }
    json all = user;
    all["waybill"] = {{"version", describe(v)}};
    return all.dump();
}

/// The user's part that is written after `change`, in all forms. It is the same with both versions,
/// in the first and in the second write, and for a state that is const.
template <class T, class F>
json after(const json& user, F change)
{
    json written;
    for (const std::string_view form : {"json", "cbor", "bare"}) {
        const auto codec =
            make<T>({.format = form == "cbor" ? state_format::cbor : state_format::json,
                     .envelope = form != "bare"});
        for (const schema_version v : {own, later}) {
            CAPTURE(form);
            CAPTURE(v.minor);
            auto s = codec.decode(stored_as(user, form, v));
            REQUIRE_MESSAGE(s.outcome == state_read::ok, describe(s));
            const auto as_read = s;
            CHECK(as_read.read.user_fields.found == (v == later));
            change(s.value);
            const auto before = s;
            const auto of_const = codec.encode(before);
            REQUIRE_MESSAGE(of_const.has_value(), describe(of_const.error()));
            CHECK(codec.encode(s) == of_const);
            CHECK(s == before);
            CHECK(codec.encode(s) == of_const);
            CHECK(codec.size(s) == of_const->size());
            s.stored(*of_const);
            CHECK(codec.encode(s) == of_const);

            // An unchanged value is written with all stored fields.
            s.value = as_read.value;
            CHECK(codec.encode(s) == codec.encode(as_read));

            json now = codec.decode(*of_const).read.user;
            if (!written.is_null()) CHECK(now == written);
            written = std::move(now);
        }
    }
    return written;
}

TEST_CASE("session unknown: every unknown field is kept, at each level")
{
    const json line_7 = {{"n", 7}, {"sizes", {1, 2}}, {"?", {{"a", {1, nullptr}}}}};
    const json stored = {{"first", line_7},
                         {"by_name", {{"x", line_7}, {"y", line_7}}},
                         {"all", {line_7, {{"n", 8}, {"sizes", json::array()}}}},
                         {"grid", {{line_7}, json::array(), {line_7, line_7}}},
                         {"!", nullptr},
                         {"other", {{"first", line_7}, {"all", {line_7}}}}};
    CHECK(after<order>(stored, [](order&) {}) == stored);

    json expected = stored;
    expected["first"]["n"] = 1;
    expected["by_name"].erase("x");
    expected["by_name"]["z"] = line{};
    expected["all"].push_back(line{9, {}});
    expected["grid"].erase(2);
    CHECK(after<order>(stored, [](order& o) {
              o.first.n = 1;
              o.by_name.erase("x");
              o.by_name["z"] = {};
              o.all.push_back({9, {}});
              o.grid.pop_back();
          }) == expected);

    expected = json(order{});
    expected["first"]["?"] = line_7["?"];
    expected["!"] = nullptr;
    expected["other"] = stored["other"];
    CHECK(after<order>(stored, [](order& o) { o = {}; }) == expected);
}

TEST_CASE(
    "session unknown: an omitted known field stays out, and a field of the value takes "
    "precedence")
{
    const json stored = {{"n", 1}, {"note", "a"}, {"extra", 5}, {"?", 1}};
    CHECK(after<odd>(stored, [](odd&) {}) == stored);
    CHECK(after<odd>(stored, [](odd& o) { o.note.clear(); }) ==
          json({{"n", 1}, {"extra", 5}, {"?", 1}}));
    CHECK(after<odd>(stored, [](odd& o) { o.extra = 7; }) ==
          json({{"n", 1}, {"note", "a"}, {"extra", 7}, {"?", 1}}));
    // An older state without unknown fields: nothing is added.
    CHECK(after<odd>({{"n", 1}, {"note", "a"}}, [](odd& o) { o.note.clear(); }) ==
          json({{"n", 1}}));
}

TEST_CASE("session unknown: only unknown fields and the elements of their arrays are stored")
{
    const json stored = {{"first", {{"n", 1}, {"sizes", {1, 2, 3}}}},
                         {"by_name", {{"x", {{"n", 1}, {"?", 2}}}, {"y", {{"n", 3}}}}},
                         {"all", {{{"n", 1}, {"?", 2}}, {{"n", 3}}}},
                         {"grid", {{{{"n", 1}}}}}};
    json known = stored.get<order>();
    const auto fields = detail::unknown_user_fields_in(stored, known);
    CHECK(fields.found);
    CHECK(fields.fields ==
          json({{"by_name", {{"x", {{"?", 2}}}}}, {"all", {{{"?", 2}}, nullptr}}}));
    CHECK(fields.known ==
          json({{"by_name", {{"x", nullptr}}}, {"all", {line{1, {}}, line{3, {}}}}}));

    known = json{{"n", 1}};
    const auto marked =
        detail::unknown_user_fields_in(json({{"n", 1}, {"IsFailedSession", true}}), known);
    CHECK(marked.fields.empty());
}

TEST_CASE("session unknown: an exception of to_json while a later version is read")
{
    const auto codec = make<odd>();
    auto s = codec.decode(sealed(R"({"n":13,"?":1})", later));
    REQUIRE(s.outcome == state_read::ok);
    CHECK(s.problem == json_state_problem::none);
    CHECK_FALSE(s.read.user_fields.found);
    CHECK(describe(codec.encode(s).error()) == "state: not written: its to_json threw: not 13");
    s.value.n = 1;
    CHECK(describe(codec.encode(s).error()) == "state: not written: its to_json threw: not 13");
    s.progress.failed.emplace(waybill::session_progress::failure{});
    CHECK(codec.decode(*codec.encode(s)).read.user == json({{"n", 13}, {"?", 1}}));
}

TEST_CASE("session unknown: the size limit includes unknown fields")
{
    const std::string body = R"({"n":1,"?":")" + std::string(600, 'x') + "\"}";
    for (const schema_version v : {own, later}) {
        const auto codec = make<odd>({.budget = {.bytes = 2'000, .failure_reserve = 1'024}});
        auto s = codec.decode(sealed(body, v));
        REQUIRE(s.outcome == state_read::ok);
        REQUIRE(codec.encode(s).has_value());
        s.value.note = std::string(400, 'y');
        const auto bad = codec.encode(s);
        REQUIRE_FALSE(bad.has_value());
        CHECK(bad.error().problem == state_unwritten::problem_type::too_large);
        CHECK(bad.error().size == detail::envelope_bytes + body.size() + 400 + 10);
    }
}

TEST_CASE("session unknown: a redriven session keeps unknown fields, but not the failure mark")
{
    const auto codec = make<odd>({.envelope = false});
    for (const std::string_view version : {"1.0", "1.7"}) {
        const std::string carried =
            R"({"IsFailedSession":true,"n":1,"?":2,"waybill":{"version":")" + std::string(version) +
            R"(","failed":{"reason":"exhausted","sequence":1,"step":1}}})";
        auto s = codec.decode(std::nullopt, carried);
        REQUIRE_MESSAGE(s.outcome == state_read::absent, describe(s));
        const auto out = codec.encode(s);
        REQUIRE(out.has_value());
        CHECK(codec.decode(*out).read.user == json({{"n", 1}, {"?", 2}}));
        CHECK(codec.encode(s) == out);
    }
}

}  // namespace
}  // namespace json_session_unknown_test
