// SPDX-License-Identifier: MIT
//
// Unknown fields in the elements of arrays: they stay with an unchanged element, and never move to
// another one.

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <support/json_states.hpp>

#include <waybill/ext/json/detail/unknown_fields.hpp>
#include <waybill/ext/json/state_codec.hpp>

namespace json_session_arrays_test {

struct line {
    std::string what;
    double price = 0;
    std::vector<int> sizes;
    friend bool operator==(const line&, const line&) = default;
    friend bool operator<(const line& a, const line& b) { return a.what < b.what; }
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(line, what, price, sizes)

struct order {
    int n = 0;
    std::vector<line> lines;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(order, n, lines)

struct catalogue {
    std::map<std::string, order> orders;
    std::map<int, line> shelves;  // in JSON an array of arrays
    std::vector<std::vector<line>> grid;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(catalogue, orders, shelves, grid)

struct sorted {
    std::set<line> lines;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(sorted, lines)

/// One of two shapes, by the name of its only member. A drawing that was read has its squares
/// first.
struct shape {
    std::string kind;
    int size = 0;
};
[[maybe_unused]] void to_json(nlohmann::json& j, const shape& s)
{
    j = {{s.kind, s.size}};
}
[[maybe_unused]] void from_json(const nlohmann::json& j, shape& s)
{
    s.kind = j.contains("circle") ? "circle" : "square";
    s.size = j.value(s.kind, 0);
}
struct drawing {
    std::vector<shape> shapes;
};
[[maybe_unused]] void to_json(nlohmann::json& j, const drawing& d)
{
    j = {{"shapes", d.shapes}};
}
[[maybe_unused]] void from_json(const nlohmann::json& j, drawing& d)
{
    d.shapes.clear();
    for (const shape& s : j.at("shapes").get<std::vector<shape>>()) {
        d.shapes.insert(s.kind == "square" ? d.shapes.begin() : d.shapes.end(), s);
    }
}

/// An element that changes when it is read: lower case becomes upper case.
struct loud {
    std::string what;
};
[[maybe_unused]] void to_json(nlohmann::json& j, const loud& l)
{
    j = {{"what", l.what}};
}
[[maybe_unused]] void from_json(const nlohmann::json& j, loud& l)
{
    l.what = j.value("what", "");
    for (char& c : l.what) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

namespace {

using namespace waybill;
using nlohmann::json;
using tests_support::make;
using tests_support::sealed;

/// The stored form after `change` of the value.
template <class T, class F>
json after(std::string_view stored, F change)
{
    const auto codec = make<T>();
    auto s = codec.decode(sealed(stored));
    REQUIRE_MESSAGE(s.outcome == state_read::ok, describe(s));
    change(s.value);
    const auto out = codec.encode(s);
    REQUIRE_MESSAGE(out.has_value(), describe(out.error()));
    auto again = codec.decode(*out);
    REQUIRE_MESSAGE(again.outcome == state_read::ok, describe(again));
    CHECK(json(again.value) == json(s.value));
    return std::move(again.read.user);
}

template <class T>
json unchanged(std::string_view stored)
{
    return after<T>(stored, [](T&) {});
}

TEST_CASE("session arrays: an unchanged element keeps its unknown fields")
{
    const std::string_view stored = R"({"n":1,"lines":[{"what":"tea","price":2,"vat":7}],"x":5})";
    CHECK(unchanged<order>(stored) ==
          json::parse(R"({"n":1,"x":5,"lines":[{"what":"tea","price":2,"sizes":[],"vat":7}]})"));
    const auto codec = make<order>();  // and it is not written again for nothing
    const std::string ours =
        sealed(R"({"lines":[{"price":2.0,"sizes":[],"vat":7,"what":"tea"}],"n":1,"x":5})");
    CHECK(*codec.encode(codec.decode(ours)) == ours);
    CHECK_FALSE(codec.changed(codec.decode(ours), ours));
}

/// Lines a to e, each with an unknown number.
std::string five()
{
    json all = json::array();
    for (int n = 0; n != 5; ++n) {
        all.push_back({{"what", std::string(1, static_cast<char>('a' + n))}, {"no", n}});
    }
    return json{{"lines", all}}.dump();
}

/// a0b1-x: lines by their names, each with its number, or - without one.
std::string lines_of(const json& user)
{
    std::string said;
    for (const json& one : user["lines"]) {
        said += one["what"].get<std::string>();
        said += one.contains("no") ? std::to_string(one["no"].get<int>()) : "-";
    }
    return said;
}

std::string five_after(void (*change)(std::vector<line>&))
{
    return lines_of(after<order>(five(), [&](order& o) { change(o.lines); }));
}

TEST_CASE(
    "session arrays: append, insert, erase and change never move unknown fields to another "
    "element")
{
    using lines = std::vector<line>;
    const line x{"x", 0, {}};
    CHECK(five_after([](lines&) {}) == "a0b1c2d3e4");
    CHECK(five_after([](lines& l) { l.push_back({"x", 0, {}}); }) == "a0b1c2d3e4x-");
    CHECK(five_after([](lines& l) { l.insert(l.begin(), {"x", 0, {}}); }) == "x-a0b1c2d3e4");
    CHECK(five_after([](lines& l) { l.insert(l.begin() + 3, 2, {"x", 0, {}}); }) ==
          "a0b1c2x-x-d3e4");
    CHECK(five_after([](lines& l) { l.erase(l.begin()); }) == "b1c2d3e4");
    CHECK(five_after([](lines& l) { l.erase(l.begin() + 1, l.begin() + 3); }) == "a0d3e4");
    CHECK(five_after([](lines& l) { l.pop_back(); }) == "a0b1c2d3");
    CHECK(five_after([](lines& l) { l.clear(); }).empty());
    CHECK(five_after([](lines& l) { l[2].price = 1; }) == "a0b1c-d3e4");
    CHECK(five_after([](lines& l) { l[2].sizes.push_back(1); }) == "a0b1c-d3e4");
    CHECK(five_after([](lines& l) { l[0].what = l[4].what = "x"; }) == "x-b1c2d3x-");
    CHECK(five_after([](lines& l) { std::swap(l[1], l[3]); }) == "a0d-c2b-e4");
    CHECK(five_after([](lines& l) { l = {l[1], l[0], l[2]}; }) == "b-a-c-");
    CHECK(five_after([](lines& l) { l[1] = l[0]; }) == "a0a-c2d3e4");
    // An equal further element is new. If one of two equal elements is removed, it is not known
    // which one.
    CHECK(five_after([](lines& l) { l.push_back(l[4]); }) == "a0b1c2d3e4e-");
    const std::string twins = R"({"lines":[{"what":"a","no":1},{"what":"a","no":2}]})";
    CHECK(lines_of(unchanged<order>(twins)) == "a1a2");
    CHECK(lines_of(after<order>(twins, [](order& o) { o.lines.pop_back(); })) == "a-");
    CHECK(lines_of(after<order>(R"({"lines":[{"what":"a","no":2},{"what":"a","no":2}]})",
                                [](order& o) { o.lines.pop_back(); })) == "a2");
}

TEST_CASE("session arrays: nested in arrays, objects and maps, at any depth")
{
    const std::string_view stored =
        R"({"orders":{"first":{"n":1,"lines":[{"what":"a","price":1,"sizes":[1],"v":[{"w":1}]}],)"
        R"("y":2},"last":{"n":0,"lines":[]}},"shelves":[[3,{"what":"b","price":0,"sizes":[],)"
        R"("v":2}],[7,{"what":"c","price":0,"sizes":[],"v":3}]],"grid":[[],[{"what":"d","price":0,)"
        R"("sizes":[],"v":4},{"what":"e","price":0,"sizes":[],"v":5}],[{"what":"f","price":0,)"
        R"("sizes":[],"v":6}]],"z":[[{"q":1}]]})";
    json expected = json::parse(stored);
    CHECK(unchanged<catalogue>(stored) == expected);
    const json out = after<catalogue>(stored, [](catalogue& h) {
        h.orders["first"].lines.push_back({"g", 2, {}});
        h.orders.erase("last");
        h.shelves[5] = {"h", 3, {}};
        h.grid[2][0].price = 4;
    });
    expected["orders"]["first"]["lines"].push_back({{"what", "g"}, {"price", 2}, {"sizes", {}}});
    expected["orders"]["first"]["lines"][1]["sizes"] = json::array();
    expected["orders"].erase("last");
    expected["shelves"] = {expected["shelves"][0], {5, line{"h", 3, {}}}, expected["shelves"][1]};
    expected["grid"][2][0]["price"] = 4;
    expected["grid"][2][0].erase("v");
    CHECK(out == expected);
}

TEST_CASE("session arrays: types that reorder their elements lose unknown fields")
{
    CHECK(unchanged<sorted>(R"({"lines":[{"what":"b","v":1},{"what":"a","v":2}],"x":1})") ==
          json::parse(R"({"lines":[{"what":"a","price":0,"sizes":[]},)"
                      R"({"what":"b","price":0,"sizes":[]}],"x":1})"));
    CHECK(unchanged<sorted>(R"({"lines":[{"what":"a","v":1},{"v":2}]})")["lines"] ==
          json::parse(R"([{"what":"","price":0,"sizes":[]},{"what":"a","price":0,"sizes":[]}])"));
    CHECK(unchanged<sorted>(R"({"lines":[{"what":"a","v":1},{"what":"a","v":2}]})")["lines"] ==
          json::parse(R"([{"what":"a","price":0,"sizes":[]}])"));
    CHECK(unchanged<sorted>(R"({"lines":[{"what":"a","v":1},{"what":"b","v":2}]})")["lines"] ==
          json::parse(R"([{"what":"a","price":0,"sizes":[],"v":1},)"
                      R"({"what":"b","price":0,"sizes":[],"v":2}])"));
    CHECK(unchanged<catalogue>(R"({"shelves":[[7,{"v":1}],[3,{"v":2}]]})")["shelves"] ==
          json({{3, line{}}, {7, line{}}}));
    json more = json::parse(R"([{"a":1},{"a":2}])");  // one has been added by reading it
    const json known = more;
    CHECK(detail::unknown_part_of(json::parse(R"([{"a":1,"v":1}])"), more).fields.is_null());
    CHECK(more == known);
    // A circle does not match a square, although they share no name.
    CHECK(unchanged<drawing>(R"({"shapes":[{"circle":1,"v":1},{"square":2,"v":2}],"x":1})") ==
          json::parse(R"({"shapes":[{"square":2},{"circle":1}],"x":1})"));
    CHECK(unchanged<std::map<std::string, std::vector<drawing>>>(
              R"({"all":[{"shapes":[{"circle":1},{"square":2}],"v":1}]})") ==
          json::parse(R"({"all":[{"shapes":[{"square":2},{"circle":1}]}]})"));
}

TEST_CASE(
    "session arrays: an element changed by reading loses its unknown fields, others keep "
    "them")
{
    CHECK(unchanged<std::map<std::string, std::vector<loud>>>(
              R"({"all":[{"what":"A","v":1},{"what":"b","v":2},{"what":"C","v":3}]})") ==
          json::parse(R"({"all":[{"what":"A","v":1},{"what":"B"},{"what":"C","v":3}]})"));
    // The default of a missing field is no change.
    CHECK(unchanged<order>(R"({"lines":[{"v":1},{"what":"a","v":2}]})")["lines"] ==
          json::parse(R"([{"what":"","price":0,"sizes":[],"v":1},)"
                      R"({"what":"a","price":0,"sizes":[],"v":2}])"));
}

/// All words of at most `most` letters of a, b and c.
std::vector<std::string> words(std::size_t most)
{
    std::vector<std::string> all{""};
    for (std::size_t n = 0; n != all.size(); ++n) {
        if (all[n].size() == most) break;
        for (const char c : {'a', 'b', 'c'}) all.push_back(all[n] + c);
    }
    return all;
}

/// For each letter an object with this name; a c has one more field.
json elements(std::string_view word)
{
    json all = json::array();
    for (const char c : word) {
        all.push_back({{"what", std::string(1, c)}});
        if (c == 'c') all.back()["no"] = "c";
    }
    return all;
}

/// The letter of this element; its other fields are added to `others`.
char letter_of(json element, json& others)
{
    const std::string what = element["what"];
    element.erase("what");
    if (what == "c") {
        CHECK(element["no"] == "c");
        element.erase("no");
    }
    others = std::move(element);
    return what.at(0);
}

/// For each element of `fresh` the element of `before` whose unknown fields it keeps, or -1. An
/// element is matched by its index if the sizes are equal. Otherwise all elements up to it are
/// equal, or all from it on. If elements were removed and both are true, the two differ: neither.
std::vector<int> matches(const std::string& before, const std::string& fresh)
{
    std::vector<int> all(fresh.size(), -1);
    const std::size_t inserted = fresh.size() - std::min(fresh.size(), before.size());
    const std::size_t removed = before.size() - std::min(fresh.size(), before.size());
    const auto same_index = [&](std::size_t n) {
        return n < before.size() && fresh[n] == before[n];
    };
    const auto up_to = [&](std::size_t n) {
        return fresh.substr(0, n + 1) == before.substr(0, n + 1);
    };
    const auto from = [&](std::size_t n) {
        return n >= inserted && fresh.substr(n) == before.substr(n - inserted + removed);
    };
    std::size_t first = 0;  // elements matched by their distance from the front
    while (first != fresh.size() && up_to(first)) ++first;
    for (std::size_t n = 0; n != fresh.size(); ++n) {
        const std::size_t from_end = n - inserted + removed;
        if (fresh.size() == before.size()) all[n] = same_index(n) ? static_cast<int>(n) : -1;
        else if (up_to(n)) all[n] = removed != 0 && from(n) ? -1 : static_cast<int>(n);
        else if (from(n) && from_end >= first) all[n] = static_cast<int>(from_end);
    }
    return all;
}

/// True if one block of `longer`, at any place, was removed to make `shorter`.
bool is_without_a_block(const std::string& longer, const std::string& shorter)
{
    if (longer.size() <= shorter.size()) return false;
    const std::size_t block = longer.size() - shorter.size();
    for (std::size_t n = 0; n <= shorter.size(); ++n) {
        if (longer.substr(0, n) + longer.substr(n + block) == shorter) return true;
    }
    return false;
}

TEST_CASE("session arrays: for all pairs of short arrays, each element keeps its own fields only")
{
    const std::vector<std::string> all = words(4);
    std::size_t kept = 0;
    std::size_t wrong = 0;
    for (const std::string& before : all) {
        // An unknown field has the name of a known field of another type, so names do not identify
        // it.
        const json known = elements(before);
        json then = known;
        for (std::size_t n = 0; n != then.size(); ++n) then[n]["id"] = n;
        for (const std::string& fresh : all) {
            const json now = elements(fresh);
            json out = now;
            detail::add_unknown_fields(out, then, known);
            if (out != now && !detail::lacks(now, then)) ++wrong;
            std::vector<int> ids;
            std::set<int> given;
            if (out.size() != now.size()) ++wrong;
            for (std::size_t n = 0; n != out.size(); ++n) {
                json others;
                if (letter_of(out[n], others) != fresh[n]) ++wrong;
                ids.push_back(others.empty() ? -1 : others["id"].get<int>());
                if (others.empty()) continue;
                if (others.size() != 1 || before[others["id"]] != fresh[n]) ++wrong;
                if (!given.empty() && *given.rbegin() >= ids.back()) ++wrong;  // in their order
                given.insert(ids.back());
            }
            kept += given.size();
            if (ids != matches(before, fresh)) ++wrong;
            // All of them, if one block was inserted, at the front, in between or at the end.
            if (is_without_a_block(fresh, before) && given.size() != before.size()) ++wrong;
            // All that remain, if one block was removed and no two elements are equal.
            const std::set<char> letters(before.begin(), before.end());
            const bool all_differ = letters.size() == before.size();
            if (all_differ && is_without_a_block(before, fresh) && given.size() != fresh.size())
                ++wrong;
        }
    }
    CHECK(wrong == 0);
    CHECK(kept > 9'000);
}

TEST_CASE("session arrays: names of any length are compared to the last byte")
{
    for (std::size_t size = 0; size != 40; ++size) {
        const std::string one(size, 'n');
        CHECK(detail::same_name(one, std::string(one)));
        CHECK_FALSE(detail::same_name(one, one + 'n'));
        CHECK(detail::is_ascii(one));
        for (std::size_t n = 0; n != size; ++n) {
            std::string other = one;
            other[n] = 'm';
            CHECK_FALSE(detail::same_name(one, other));
            CHECK(detail::is_ascii(other));
            other[n] = '\x80';
            CHECK_FALSE(detail::is_ascii(other));
        }
    }
}

TEST_CASE("session arrays: lacks() reports whether a field is missing")
{
    const auto lacks = [](std::string_view now, std::string_view then) {
        return detail::lacks(json::parse(now), json::parse(then));
    };
    CHECK_FALSE(lacks("[]", "[]"));
    CHECK_FALSE(lacks("[1,2]", "[3,4,5]"));
    CHECK_FALSE(lacks(R"([1,{"a":1}])", R"([{"a":1},2])"));
    CHECK_FALSE(lacks(R"([{"a":1,"b":2}])", R"([{"a":1}])"));
    CHECK_FALSE(lacks(R"([{"a":[1]},{"a":[]}])", R"([{"a":[1]},{"a":[2,3]}])"));
    CHECK(lacks(R"([{"a":1}])", R"([{"b":1}])"));
    CHECK(lacks(R"([{"a":1},{"a":1}])", R"([{"a":1},{"b":1}])"));
    CHECK(lacks(R"([[{"a":1}]])", R"([[{"a":1,"b":1}]])"));
    CHECK(lacks(R"({"x":{"y":[1,{"a":[{}]}]}})", R"({"x":{"y":[1,{"a":[{"b":1}]}]}})"));
    // The same number of names in another element hides nothing.
    CHECK(lacks(R"([{"a":1,"b":1},{"a":1}])", R"([{"a":1,"b":1}])"));
    CHECK(lacks(R"([{"a":1}])", R"([{"a":1},{"a":1,"b":1}])"));
}

}  // namespace
}  // namespace json_session_arrays_test
