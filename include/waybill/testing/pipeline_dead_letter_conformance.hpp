// SPDX-License-Identifier: MIT
//
// pipeline_dead_letter_conformance: checks that a table of step dead letters meets the requirements
// of a redrive.
//
//     const auto report = waybill::testing::pipeline_dead_letter_conformance(
//         [&] { return my_table(new_empty_database()); },          // an empty table at each call
//         [](my_table& t) { return my_table(t.path()); });         // a second connection to it
//     for (const auto& rule : report.broken) log(rule);            // empty if the table conforms
//     for (const auto& rule : report.untested) log(rule);          // empty if all rules were tried
//
//   1. The second connection may be omitted. Its rules are then reported as untested.
//   2. `pipeline_dead_letter_outage_conformance` checks a table that cannot be reached.
//   3. Not tested: that a removal is complete or from the last dead letter to the first.

#ifndef WAYBILL_TESTING_PIPELINE_DEAD_LETTER_CONFORMANCE_HPP
#define WAYBILL_TESTING_PIPELINE_DEAD_LETTER_CONFORMANCE_HPP

#include <span>
#include <type_traits>
#include <utility>

#include <waybill/session/pipeline_dead_letter_store.hpp>
#include <waybill/testing/conformance_report.hpp>
#include <waybill/testing/detail/pipeline_dead_letter_rules.hpp>
#include <waybill/testing/detail/trial.hpp>

namespace waybill::inline v0_2::testing {

/// Tries the rules of `list`, `upsert`, `mark` and `remove`. `make()` returns a new, empty table at
/// each call. `again(table)` returns a second connection to it.
template <class Make, class Again = no_second>
[[nodiscard]] conformance_report pipeline_dead_letter_conformance(Make make, Again again = {})
{
    using store = std::remove_cvref_t<std::invoke_result_t<Make&>>;
    static_assert(pipeline_dead_letter_store<store>,
                  "pipeline_dead_letter_conformance: not a table of dead letters, see "
                  "session/pipeline_dead_letter_store.hpp");
    using calls = detail::step_letter_calls<Make, Again>;
    const detail::rule<calls> rules[] = {
        {"upsert: stores one row for a step", detail::step_letter_upsert_rules},
        {"mark: marks stored rows", detail::step_letter_mark_rules},
        {"remove: removes the rows of the list", detail::step_letter_remove_rules},
        {"upsert: keeps any bytes", detail::step_letter_bytes_rules, "", 0, true},
        {"list: returns all dead letters", detail::step_letter_count_rules, "", 0, true}};
    using detail::way;
    const auto ways = {way::plain, way::repeated, way::alternating, way::reopened};
    detail::trial t;
    detail::run_rules<Again>(t, rules, ways, [&](way how, auto body) {
        calls x(make, again, how, t);
        body(x);
    });
    return std::move(t.report);
}

/// Tries the rules of a table that cannot be reached. Each call must return a fault of the kind
/// `transient` or `infrastructure`.
template <pipeline_dead_letter_store S>
[[nodiscard]] conformance_report pipeline_dead_letter_outage_conformance(S& unreachable)
{
    detail::trial t;
    const pipeline_dead_letter l = detail::step_letter_of("order-17", 7);
    const auto is_outage = [](const fault& f) {
        return f.kind == fault_kind::transient || f.kind == fault_kind::infrastructure;
    };
    const auto listed = unreachable.list();
    t.holds(!listed && is_outage(listed.error()),
            "list: while the table cannot be reached, the result is an error that permits a retry, "
            "not an empty table");
    t.holds(is_outage(unreachable.upsert(l)),
            "upsert: while the table cannot be reached, the "
            "result is a fault that permits a retry");
    t.holds(is_outage(unreachable.mark(std::span(&l, 1))),
            "mark: while the table cannot be reached, the result is a fault that permits a retry");
    t.holds(
        is_outage(unreachable.remove(std::span(&l, 1))),
        "remove: while the table cannot be reached, the result is a fault that permits a retry");
    return std::move(t.report);
}

}  // namespace waybill::inline v0_2::testing

#endif  // WAYBILL_TESTING_PIPELINE_DEAD_LETTER_CONFORMANCE_HPP
