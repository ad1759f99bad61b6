// SPDX-License-Identifier: MIT
//
// log_conformance: checks that a log meets the requirements of run_partitions.
//
//     const auto report = waybill::testing::log_conformance(
//         [&] { return my_log(new_empty_topic()); },                  // an empty log at each call
//         [](my_log& l, const std::string& partition, const std::string& body) {
//             l.append(partition, body);                              // one event
//         },
//         [](my_log& l, const std::string& partition) { l.skip(partition); },       // a gap
//         [](my_log& l, const std::string& partition, std::uint64_t sequence) {
//             l.remove_up_to(partition, sequence);
//         },
//         {.longest_body = 1'000'000});                           // the limits of the log
//     for (const auto& rule : report.broken) log(rule);            // empty if the log conforms
//     for (const auto& rule : report.untested) log(rule);          // empty if all rules were tried
//
//   1. Use a log with at least two partitions.
//   2. The arguments after `append` may be omitted. Their rules are then reported as untested. For a
//      log that removes events, but has no gaps, pass `no_gaps{}`.
//   3. If events have a `body`, the suite compares it.
//   4. `log_outage_conformance` checks a log that cannot be reached.

#ifndef WAYBILL_TESTING_LOG_CONFORMANCE_HPP
#define WAYBILL_TESTING_LOG_CONFORMANCE_HPP

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <waybill/consume/position.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/lease/event_log.hpp>
#include <waybill/testing/conformance_report.hpp>
#include <waybill/testing/detail/log_rules.hpp>
#include <waybill/testing/detail/trial.hpp>

namespace waybill::inline v0_2::testing {

/// Stands for the function that makes a gap, if the log has no gaps.
struct no_gaps {};
/// Stands for the function that removes events, if the log removes none.
struct no_truncation {};

/// Tries the rules of `partitions`, `read` and `end`. `make()` returns a new, empty log at each
/// call. No body outside of `limits` is appended.
template <class Make, class Append, class Skip = no_gaps, class Truncate = no_truncation>
[[nodiscard]] conformance_report log_conformance(Make make, Append append, Skip skip = {},
                                                 Truncate truncate = {},
                                                 const store_limits& limits = {})
{
    using log_type = std::remove_cvref_t<std::invoke_result_t<Make&>>;
    static_assert(event_log<log_type>,
                  "log_conformance: not an event log, see lease/event_log.hpp");
    using trial = detail::log_trial<log_type, Append, Skip, Truncate>;
    using std::string_view;
    constexpr string_view end =
        waybill::detail::log_with_end<log_type> ? "" : "a log with the call end";
    constexpr string_view gaps = std::is_same_v<Skip, no_gaps> ? "a log with gaps" : "";
    constexpr string_view removal =
        std::is_same_v<Truncate, no_truncation> ? "a log that removes events" : "";
    constexpr string_view body = trial::has_body ? "" : "events with a body";
    const detail::rule<trial> rules[] = {
        {"read: returns the events after a position", detail::log_partition_rules},
        {detail::log_end_position, detail::log_end_rules, end},
        {detail::log_gaps, detail::log_gap_rules, gaps},
        {detail::log_removals, detail::log_truncation_rules, removal},
        {detail::log_bodies, detail::log_body_rules, body, 0, true},
        {"read: returns all events", detail::log_page_rules, "", 0, true},
        {"read: numbers have 64 bits", detail::log_number_rules}};
    detail::trial t;
    detail::run_rules<no_second>(t, rules, {detail::way::plain}, [&](detail::way, auto body_of) {
        auto log = make();
        trial x{log, append, skip, truncate, limits, t};
        const auto listed = log.partitions();
        t.holds(listed && !listed->empty(), "partitions: returns at least one name");
        if (!listed || listed->empty()) return;
        x.names = *listed;
        body_of(x);
    });
    return std::move(t.report);
}

/// Tries the rules of a log that cannot be reached. Each call must return an error of the kind
/// `transient` or `infrastructure`.
template <event_log Log>
[[nodiscard]] conformance_report log_outage_conformance(Log& unreachable,
                                                        const std::string& partition = "0")
{
    detail::trial t;
    const auto is_outage = [](const auto& r) {
        if (r) return false;
        const fault_kind kind = r.error().kind;
        return kind == fault_kind::transient || kind == fault_kind::infrastructure;
    };
    t.holds(is_outage(unreachable.partitions()),
            "partitions: while the log cannot be reached, the result is a temporary error, not an "
            "empty list");
    t.holds(is_outage(unreachable.read(partition, std::nullopt, 1)) &&
                is_outage(unreachable.read(partition, position{1, {}}, 1)),
            "read: while the log cannot be reached, the result is a temporary error, not an empty "
            "list");
    if constexpr (waybill::detail::log_with_end<Log>) {
        t.holds(is_outage(unreachable.end(partition)),
                "end: while the log cannot be reached, the result is a temporary error");
    }
    return std::move(t.report);
}

}  // namespace waybill::inline v0_2::testing

#endif  // WAYBILL_TESTING_LOG_CONFORMANCE_HPP
