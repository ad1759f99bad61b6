// SPDX-License-Identifier: MIT
//
// autoscale_report: the counts of an autoscaler, with its last decisions and their reasons.

#ifndef WAYBILL_SCALING_AUTOSCALE_REPORT_HPP
#define WAYBILL_SCALING_AUTOSCALE_REPORT_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <waybill/core/detail/described.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/scaling/decision.hpp>
#include <waybill/scaling/policy_error.hpp>

namespace waybill::inline v0_2::scaling {

/// The report of `autoscale`. Each round ends in one of these: a decision (steady, up, down or
/// held), an unknown number of instances, a failed `load` or `save`, or a stop.
struct autoscale_report {
    /// The maximum size of `decisions`.
    static constexpr std::size_t max_decisions = 16;

    std::uint64_t rounds = 0;
    std::uint64_t steady = 0;
    std::uint64_t up = 0;
    std::uint64_t down = 0;
    std::uint64_t held = 0;
    std::uint64_t applied = 0;      ///< Commands that were confirmed, also by the number itself.
    std::uint64_t failed = 0;       ///< Commands that failed.
    std::uint64_t unconfirmed = 0;  ///< 1 if the last command has no result yet, else 0.
    std::uint64_t overdue = 0;      ///< Commands without a result after `patience`.
    std::uint64_t source_failures = 0;
    std::uint64_t no_values = 0;       ///< Empty optionals of sources. They are no failures.
    std::uint64_t count_failures = 0;  ///< Rounds without the current number of instances.
    std::uint64_t load_failures = 0;
    std::uint64_t save_failures = 0;
    /// The last decisions, oldest first. Of successive decisions that repeat each other
    /// (`decision::repeats`) only the last one is here. They view metric names of the policy.
    std::vector<decision> decisions{};
    /// The last failure, with the name of its call or source.
    fault last_failure{};
    /// Set if the policy or the sources were refused. Then nothing was done.
    std::optional<policy_error> refused{};
    /// Set if it returned because of a stop request: the time of the next round.
    std::optional<steady_time> waiting{};

    friend bool operator==(const autoscale_report&, const autoscale_report&) = default;
};

namespace detail {

/// ", 3 text", or nothing if the number is 0.
[[nodiscard]] inline std::string further(std::uint64_t number, const char* text)
{
    return number == 0 ? std::string() : ", " + std::to_string(number) + ' ' + text;
}

}  // namespace detail

/// One sentence for a log.
[[nodiscard]] inline std::string describe(const autoscale_report& r)
{
    if (r.refused) return "autoscale: refused: " + describe(*r.refused);
    std::string line = "autoscale: " + std::to_string(r.rounds) + " rounds, " +
                       std::to_string(r.up) + " up, " + std::to_string(r.down) + " down";
    line += detail::further(r.held, "held") + detail::further(r.failed, "failed") +
            detail::further(r.unconfirmed, "without a result yet") +
            detail::further(r.overdue, "overdue") +
            detail::further(r.source_failures, "source failures") +
            detail::further(r.no_values, "measurements without a value") +
            detail::further(r.count_failures, "without the number of instances") +
            detail::further(r.load_failures, "load failures") +
            detail::further(r.save_failures, "save failures");
    if (!r.last_failure.ok()) line += "; last failure: " + r.last_failure.text;
    return line;
}

}  // namespace waybill::inline v0_2::scaling

namespace waybill::inline v0_2 {

template <>
struct detail::words::line_of<scaling::autoscale_report> : detail::words::described_line {};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SCALING_AUTOSCALE_REPORT_HPP
