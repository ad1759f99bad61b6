// SPDX-License-Identifier: MIT
//
// state_budget: the maximum size of a session state, with a reserve for the report of a failure.
//
//     waybill::state_budget b{.bytes = 262'144, .failure_reserve = 2'048};
//     b.max_value_bytes()  // 260,096: for the user's own part and the envelope
//
// A broker limits the size of a state. The reserve is for the report of a failure. Without it, the
// user's part could fill the state, the failure could not be stored, and later steps would run.
//
// Guarantees
//   1. A user's part of at most `max_value_bytes()` bytes, envelope included, can be written with
//      any progress and any failure. The error text is cut to the free bytes of the reserve. A
//      reader with the same budget refuses a larger user's part.
//   2. Exception: the state of a failed session may be as large as `bytes`. It can be written again
//      with the same progress. If a longer progress does not fit, `text_state_codec` reports
//      `too_large`, and `state_codec` of ext/json/state_codec.hpp omits the user's part.

#ifndef WAYBILL_SESSION_STATE_BUDGET_HPP
#define WAYBILL_SESSION_STATE_BUDGET_HPP

#include <cstdint>
#include <optional>
#include <string>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/described.hpp>
#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2 {

/// The maximum size of a state, and the part of it that is reserved for a failure.
struct state_budget {
    /// The reason why a state is not written: its size and the limit.
    struct too_large {
        std::uint64_t size = 0;       ///< Bytes required.
        std::uint64_t max_bytes = 0;  ///< Bytes available.

        friend bool operator==(const too_large&, const too_large&) = default;
    };

    /// The minimum of `failure_reserve`: the longest numbers and times of a progress with a
    /// failure, and some bytes of its error text.
    static constexpr std::uint64_t min_failure_reserve = 512;

    /// Maximum size of a state, envelope included. Default: 256 KiB, the limit of Service Bus
    /// Standard.
    std::uint64_t bytes = 262'144;
    std::uint64_t failure_reserve = 2'048;  ///< The part of `bytes` for progress and failure.

    /// Maximum bytes of the user's part and the envelope.
    [[nodiscard]] constexpr std::uint64_t max_value_bytes() const noexcept
    {
        return detail::saturating_sub(bytes, failure_reserve);
    }

    friend bool operator==(const state_budget&, const state_budget&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(const state_budget& b) noexcept
{
    if (b.failure_reserve < state_budget::min_failure_reserve) {
        return config_error{"failure_reserve", b.failure_reserve, "must be at least",
                            state_budget::min_failure_reserve};
    }
    if (b.bytes <= b.failure_reserve) {
        return config_error{"bytes", b.bytes, "must be more than failure_reserve",
                            b.failure_reserve};
    }
    return std::nullopt;
}

namespace detail::words {
template <>
struct line_of<state_budget::too_large> : described_line {};
}  // namespace detail::words

/// One line for a log: size, limit and the action to take.
[[nodiscard]] inline std::string describe(const state_budget::too_large& e)
{
    return "state: too large: " + std::to_string(e.size) + " bytes, and " +
           std::to_string(e.max_bytes) +
           " is the maximum without the bytes reserved for a failure: "
           "increase the budget, or store the large part elsewhere";
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_STATE_BUDGET_HPP
