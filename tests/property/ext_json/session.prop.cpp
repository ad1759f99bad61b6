// SPDX-License-Identifier: MIT
//
// A state of a later version has unknown fields in objects of any depth. It is read, changed in
// known fields, and written. All unchanged parts must be equal. A changed or new element of an
// array has no unknown fields.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <waybill/ext/json/session.hpp>
#include <waybill/session/detail/sealed_state.hpp>

namespace json_session_prop {

struct part {
    int count = 0;
    std::string name;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(part, count, name)

struct box {
    part first;
    std::map<std::string, part> by_name;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(box, first, by_name)

struct order {
    int lines = 0;
    box inner;
    std::vector<box> all;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(order, lines, inner, all)

namespace {

using namespace waybill;
using nlohmann::json;

std::string any_text()
{
    std::string made;
    for (int n = *rc::gen::inRange(0, 4); n != 0; --n) {
        made += *rc::gen::element<std::string>("a", "waybill", "~/", "\n", "\"", "\\", "\x7F",
                                               "\u00e9", "\u20ac", "\U0001F600", "_");
    }
    return made;
}

json any_value(int depth)
{
    switch (*rc::gen::inRange(0, depth == 0 ? 6 : 8)) {
        case 0: return nullptr;
        case 1: return *rc::gen::arbitrary<bool>();
        case 2: return *rc::gen::arbitrary<std::int64_t>();
        case 3: return *rc::gen::arbitrary<std::uint64_t>();
        case 4: {
            const double x = *rc::gen::arbitrary<double>();
            return std::isfinite(x) ? x : 0.1;
        }
        case 5: return any_text();
        case 6: {
            json all = json::array();
            for (int n = *rc::gen::inRange(0, 4); n != 0; --n) all.push_back(any_value(depth - 1));
            return all;
        }
        default: {
            json all = json::object();
            for (int n = *rc::gen::inRange(0, 4); n != 0; --n) {
                all[any_text()] = any_value(depth - 1);
            }
            return all;
        }
    }
}

/// Adds unknown fields to the object.
void add_unknown(json& object)
{
    for (int n = *rc::gen::inRange(0, 3); n != 0; --n) object["?" + any_text()] = any_value(3);
}

json any_part()
{
    json p = part{*rc::gen::arbitrary<int>(), any_text()};
    add_unknown(p);
    return p;
}

json any_box()
{
    json b = box{};
    b["first"] = any_part();
    for (int n = *rc::gen::inRange(0, 4); n != 0; --n) b["by_name"][any_text()] = any_part();
    add_unknown(b);
    return b;
}

json any_order()
{
    json o = order{};
    o["lines"] = *rc::gen::arbitrary<int>();
    o["inner"] = any_box();
    for (int n = *rc::gen::inRange(0, 5); n != 0; --n) {
        o["all"].push_back(any_box());
        o["all"].back()["first"]["count"] = n;  // no two elements are equal
    }
    add_unknown(o);
    return o;
}

/// Changes a known field, in the value and in the expected document.
void change(order& value, json& expected)
{
    auto& by_name = value.inner.by_name;
    json& names = expected["inner"]["by_name"];
    const int n = *rc::gen::arbitrary<int>();
    switch (*rc::gen::inRange(0, 4)) {
        case 0: expected["lines"] = value.lines = n; break;
        case 1: expected["inner"]["first"]["count"] = value.inner.first.count = n; break;
        case 2:
            if (by_name.empty()) break;
            names[by_name.begin()->first]["count"] = by_name.begin()->second.count = n;
            break;
        default:
            if (by_name.empty()) break;
            names.erase(by_name.begin()->first);
            by_name.erase(by_name.begin());
            break;
    }
}

/// Changes one element of the array.
void change_all(order& value, json& expected)
{
    std::vector<box>& all = value.all;
    json& boxes = expected["all"];
    const int n = *rc::gen::inRange(0, static_cast<int>(all.size()) + 1);
    const int some = *rc::gen::inRange(1, 4);
    const bool is_end = n == static_cast<int>(all.size());
    const box fresh{{some - 10, any_text()}, {}};
    switch (*rc::gen::inRange(0, 4)) {
        case 0: break;
        case 1:
            all.insert(all.begin() + n, static_cast<std::size_t>(some), fresh);
            for (int more = some; more != 0; --more) boxes.insert(boxes.begin() + n, json(fresh));
            break;
        case 2:
            for (int less = some; less != 0 && n != static_cast<int>(all.size()); --less) {
                all.erase(all.begin() + n);
                boxes.erase(boxes.begin() + n);
            }
            break;
        default:
            if (is_end) break;
            all[static_cast<std::size_t>(n)].by_name["new"].count = some;
            boxes[static_cast<std::size_t>(n)] = all[static_cast<std::size_t>(n)];
            break;
    }
}

/// The bytes of a state, as written by a program that knows all of its fields.
std::string stored(const json& user, const json& member, std::string_view form)
{
    json all = user;
    all["waybill"] = member;
    if (form == "bare") return all.dump();
    if (form == "json") return detail::seal_state(state_format::json, {1, 7}, all.dump());
    std::string body;
    json::to_cbor(all, body);
    return detail::seal_state(state_format::cbor, {1, 7}, body);
}

}  // namespace

TEST_CASE("state_codec: unknown fields at any place are written unchanged")
{
    const bool holds = rc::check([] {
        const auto form = *rc::gen::element<std::string>("json", "cbor", "bare");
        state_codec_options o;
        if (form == "cbor") o.format = state_format::cbor;
        o.envelope = form != "bare";
        const auto codec = *state_codec<order>::make(o);
        json expected = any_order();
        json later = json::object();
        add_unknown(later);
        json member = later;
        member["done"] = 1;
        if (form == "bare") member["version"] = "1.7";

        const std::string bytes = stored(expected, member, form);
        auto s = codec.decode(bytes);
        RC_ASSERT(s.outcome == state_read::ok);
        if (later.empty()) RC_ASSERT(*codec.encode(s) == bytes);  // else in the library's order
        for (int n = *rc::gen::inRange(0, 3); n != 0; --n) {
            change(s.value, expected);
            if (*rc::gen::arbitrary<bool>()) s.stored(*codec.encode(s));
        }
        change_all(s.value, expected);
        s.progress.done = 2;
        const auto out = codec.encode(s);
        RC_ASSERT(out.has_value());
        const auto again = codec.decode(*out);
        RC_ASSERT(again.outcome == state_read::ok);
        RC_ASSERT(again.read.user == expected);
        RC_ASSERT(again.progress == s.progress);
        const bool same = again.read.unknown_fields == later;
        RC_ASSERT(same || (later.empty() && again.read.unknown_fields.empty()));
        RC_ASSERT(again.version == (schema_version{1, 7}));
        RC_ASSERT(json(again.value) == json(s.value));
        RC_ASSERT(*codec.encode(again) == *out);
    });
    CHECK(holds);
}

}  // namespace json_session_prop
