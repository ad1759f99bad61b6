// SPDX-License-Identifier: MIT
//
// The values in the files <name>.json, <name>.cbor and <name>.bare of version 1. A new state,
// running ones, a redriven one, two without step numbers, failed ones, one of a later minor
// version, and extreme values. Also old_<name>, of the previous version of the user's type. The
// files stay readable and must never change.

#ifndef WAYBILL_TESTS_GOLDEN_SESSION_JSON_STATES_HPP
#define WAYBILL_TESTS_GOLDEN_SESSION_JSON_STATES_HPP

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/ext/json/state_codec.hpp>

namespace golden_json_states {

struct line {
    std::string what;
    double price = 0;
    friend bool operator==(const line&, const line&) = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(line, what, price)

/// nlohmann's library converts any number to an int, even if it does not fit.
struct whole {
    std::int64_t n = 0;
    constexpr whole(std::int64_t number = 0) : n(number) {}
    friend bool operator==(const whole&, const whole&) = default;
};
inline void to_json(nlohmann::json& j, const whole& w)
{
    j = w.n;
}
inline void from_json(const nlohmann::json& j, whole& w)
{
    if (!j.is_number_integer()) throw std::range_error("it is no whole number");
    j.get_to(w.n);
}

struct order {
    whole number{};
    bool paid = false;
    std::string receipt;
    std::vector<line> lines;
    std::map<std::string, std::string> notes;
    friend bool operator==(const order&, const order&) = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(order, number, paid, receipt, lines, notes)

/// The previous type, in versions 1.x.
struct old_order {
    whole no{};
    bool paid = false;
    std::string receipt;
    friend bool operator==(const old_order&, const old_order&) = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(old_order, no, paid, receipt)

using codec = waybill::state_codec<order>;
using state = waybill::decoded_state<order>;

inline constexpr waybill::wall_time noon =  // on 29 February 2024
    waybill::wall_time::at(waybill::duration::seconds(1'709'208'000));

inline void upgraded(nlohmann::json& value, waybill::schema_version)
{
    if (value.contains("no")) value["number"] = value["no"];
    value.erase("no");
}

/// The options of the three forms, by the extension of the file.
inline waybill::state_codec_options options_for(std::string_view form)
{
    waybill::state_codec_options o;
    if (form == "cbor") o.format = waybill::state_format::cbor;
    o.envelope = form != "bare";
    return o;
}

inline codec codec_for(std::string_view form)
{
    waybill::state_codec_options o = options_for(form);
    o.version = {2, 1};
    o.upgrade = upgraded;
    return *codec::make(o);
}

/// The codec of that version.
inline waybill::state_codec<old_order> old_codec_for(std::string_view form)
{
    waybill::state_codec_options o = options_for(form);
    o.version = {1, 4};
    return *waybill::state_codec<old_order>::make(o);
}

/// f(name, state) for each of them.
template <class F>
void each(F f)
{
    using namespace waybill;
    state s;
    s.version = {2, 1};
    f("new", s);

    s.value = {17, true, "r17", {{"tea", 2.5}, {"cup \"blue\"", 1e-7}}, {{"door", "left\nof it"}}};
    s.progress = {.done = 2, .total = 5, .begun = noon, .changed = noon + duration::seconds(7)};
    f("going", s);

    s.progress.tries = 3;
    s.progress.total = 0;
    f("tried", s);

    s.progress = {.done = 4, .total = 9, .begun = noon, .changed = noon + duration::seconds(7)};
    s.progress.first = 3;
    f("redriven", s);

    s.progress = {.done = 4, .begun = noon, .changed = noon + duration::seconds(7)};
    s.progress.arrived = 4;
    s.progress.arrived_sequence = (7ULL << 48U) + 17;
    f("arrived", s);

    s.progress.arrived = 6;
    s.progress.failed =
        waybill::session_progress::failure{5, 18, dead_letter_reason::failed, 1, "no price", noon};
    f("arrived_failed", s);

    s.progress = {.done = 2, .total = 5, .begun = noon, .changed = noon + duration::seconds(60)};
    s.progress.failed =
        waybill::session_progress::failure{3,
                                           (7ULL << 48U) + 17,
                                           dead_letter_reason::exhausted,
                                           5,
                                           "no printer answers: \xE2\x82\xAC 12 is unpaid",
                                           noon + duration::milliseconds(59'250)};
    f("failed", s);

    s.progress.failed->reason = dead_letter_reason::gap;
    s.progress.failed->text = "two\nlines\\ and \"\r\t\x01\x7F\b\f\v\" of them\n";
    f("escaped", s);

    s.value = {-1, false, {}, {}, {{"", "nobody's"}}};
    s.progress = {.done = 4'567, .total = 4'567, .dead_lettered = 12};
    f("import", s);

    s.progress = {.done = 1};
    s.version.minor = 9;
    s.read.user = {{"colour", "blue"}, {"notes", nlohmann::json::object()}};
    s.read.unknown_fields = {{"speed", 17}, {"holder", {{"host", "a"}}}};
    f("later", s);

    s.progress.failed =
        waybill::session_progress::failure{1, 7, dead_letter_reason::failed, 1, "no", noon};
    s.read.unknown_fields["failed"] = {{"host", "b"}};
    f("later_failed", s);

    constexpr wall_time last = wall_time::highest();
    constexpr wall_time first = wall_time::at(duration::lowest());
    s = {};
    s.version = {2, 65'535};
    s.value.number = INT64_MIN;
    s.progress = {detail::highest_size,
                  detail::highest_size,
                  detail::highest_size,
                  detail::highest_size,
                  {},
                  last,
                  first};
    s.progress.failed = waybill::session_progress::failure{detail::highest_size,
                                                           detail::highest_size,
                                                           dead_letter_reason::session_failed,
                                                           detail::highest_size,
                                                           {},
                                                           last};
    f("ends", s);
}

/// f(name, state) for each state that a program of that version has stored.
template <class F>
void each_old(F f)
{
    using namespace waybill;
    decoded_state<old_order> s;
    s.version = {1, 4};
    s.value = {17, true, "r17"};
    s.progress = {.done = 2, .total = 5, .begun = noon, .changed = noon + duration::seconds(7)};
    f("old_going", s);

    s.version.minor = 6;
    s.read.user = {{"colour", "blue"}};
    s.read.unknown_fields = {{"speed", 17}};
    f("old_later", s);

    s.version.minor = 4;
    s.read = {};
    s.progress.failed = waybill::session_progress::failure{
        3, 17, dead_letter_reason::exhausted, 5, "no printer answers", noon};
    f("old_failed", s);
}

}  // namespace golden_json_states

#endif  // WAYBILL_TESTS_GOLDEN_SESSION_JSON_STATES_HPP
