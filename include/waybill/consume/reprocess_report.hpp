// SPDX-License-Identifier: MIT
//
// reprocess_report: the outcome of handling a dead letter again.

#ifndef WAYBILL_CONSUME_REPROCESS_REPORT_HPP
#define WAYBILL_CONSUME_REPROCESS_REPORT_HPP

#include <cstdint>
#include <string_view>

#include <waybill/consume/event.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/fault.hpp>

namespace waybill::inline v0_2 {

struct [[nodiscard]] reprocess_report {
    /// The outcome of handling a dead letter again.
    enum class outcome_type : std::uint8_t {
        handled,    ///< The event has taken effect, and the letter is removed.
        skipped,    ///< The handler skipped the event. It has no effect, and the letter is removed.
        failed,     ///< The event failed again, without effects. The letter has the reason.
        absent,     ///< The letter does not exist. It was reprocessed or removed already.
        gone,       ///< The event was not found, or differs from the letter. The letter stays.
        not_done,   ///< A store or a dependency of the handler is down. The letter stays. Retry.
        cancelled,  ///< The caller wanted to stop. The letter is unchanged.
        unknown,  ///< The outcome is unknown. A retry is safe: it has no effect without the letter.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(outcome_type) noexcept
    {
        return "handled, skipped, failed, absent, gone, not_done, cancelled, unknown";
    }

    outcome_type outcome = outcome_type::not_done;
    fault reason{};  ///< The reason why the event has not taken effect.

    friend bool operator==(const reprocess_report&, const reprocess_report&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_REPROCESS_REPORT_HPP
