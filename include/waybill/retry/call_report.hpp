// SPDX-License-Identifier: MIT
//
// call_report: the result of one call and the outcome of all attempts of retry_call.

#ifndef WAYBILL_RETRY_CALL_REPORT_HPP
#define WAYBILL_RETRY_CALL_REPORT_HPP

#include <cstdint>
#include <optional>

#include <waybill/core/describe.hpp>
#include <waybill/core/detail/line.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/retry_loop.hpp>

namespace waybill::inline v0_2 {

/// The result of one call.
struct call_answer {
    fault reason{};          ///< `none` if the call succeeded.
    duration retry_after{};  ///< The server's "retry after". Zero if it sent no such value.

    friend bool operator==(const call_answer&, const call_answer&) = default;
};

/// The outcome of all attempts.
struct call_report {
    /// The fault of the last attempt, `none` on success. Its text is empty if an earlier retry_call
    /// with the same `retry_loop` made that attempt. If the time limit allowed no attempt, the kind
    /// is `cancelled`.
    fault reason{};
    /// The reason for no further attempt.
    retry_loop::retry_outcome outcome = retry_loop::retry_outcome::open;
    std::uint32_t tries = 0;  ///< Number of attempts, the first one included.
    duration elapsed{};       ///< Time since the construction of the retry_loop.
    /// Time of the next attempt, if a stop was requested, or if the form used never sleeps.
    std::optional<steady_time> waiting{};

    [[nodiscard]] bool ok() const noexcept
    {
        return outcome == retry_loop::retry_outcome::succeeded;
    }
    friend bool operator==(const call_report&, const call_report&) = default;
};

}  // namespace waybill::inline v0_2

namespace waybill::inline v0_2::detail::words {

template <>
struct line_of<call_report> {
    static std::string text(const auto& r)
    {
        if (r.waiting) {
            return concat(line(r.reason), " after ", tries(r.tries), ", waiting until ",
                          line(*r.waiting));
        }
        const std::string took = concat(tries(r.tries), " in ", line(r.elapsed));
        if (r.ok()) return "ok after " + took;
        return concat("given up after ", took, " (", name(r.outcome), "): ", line(r.reason));
    }
};

template <>
struct line_of<call_answer> {
    static std::string text(const auto& a)
    {
        return fields(line(a.reason), "retry after", a.retry_after);
    }
};

}  // namespace waybill::inline v0_2::detail::words

#endif  // WAYBILL_RETRY_CALL_REPORT_HPP
