// SPDX-License-Identifier: MIT
//
// pipeline_policy: the limits and modes of a pipeline, and the outcomes of a message.
//
// If a broker dead-letters a step itself, it delivers the next step of the session as if the first
// one were done. So the limits of this policy must be reached before the broker's limit. `validate`
// refuses limits that are not less than the broker's.

#ifndef WAYBILL_SESSION_PIPELINE_POLICY_HPP
#define WAYBILL_SESSION_PIPELINE_POLICY_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/nanoseconds.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/decide.hpp>

namespace waybill::inline v0_2 {

/// The configuration of a pipeline. A plain value; `validate` finds invalid fields.
struct pipeline_policy {
    /// The effect of a failed step on the later steps of its session.
    enum class pipeline_mode : std::uint8_t {
        /// Later steps depend on the failed one (a payment on its order). All of them are
        /// dead-lettered.
        stop_on_failure,
        /// Steps are independent (the products of an import). Steps may be missing and may come
        /// late. A step that was sent twice runs twice, because it looks the same as a late one.
        ///
        /// The state contains the last step done and no facts about each step before it.
        /// Consequences:
        ///   - A late step that fails and is not completed is counted as dead-lettered at each
        ///     delivery.
        ///   - A step after the last one finds no state and creates a new one. No message clears
        ///     it; a sweep reports it as stuck.
        ///   - Changes that a late step makes to the user's part of the state are not stored.
        ///   - If the broker does not count deliveries, a late step that ends its process is never
        ///     dead-lettered, because the state has no field for its attempts. With such a broker
        ///     only steps that cannot end the process may be late.
        independent,
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(pipeline_mode) noexcept
    {
        return "stop_on_failure, independent";
    }

    /// The treatment of a step whose dead letter is permanently refused, for example for its size.
    enum class when_refused : std::uint8_t {
        /// The step is given back until its dead letter fits or the broker dead-letters the step
        /// itself.
        hold,
        /// The dead letter has no body. The body is lost unless another system has a copy.
        without_body,
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(when_refused) noexcept
    {
        return "hold, without_body";
    }

    /// The treatment of steps whose session state is corrupt or too large. The state itself is
    /// never changed. If a later version wrote the state, its steps are always held. A state is
    /// also `corrupt` if this program cannot convert it to its value, or if an upgrade of it fails.
    /// With `hold` the steps wait for a program that can convert it.
    enum class when_unreadable : std::uint8_t {
        /// Each step is dead-lettered. No step waits for manual repair.
        dead_letter,
        hold,  ///< Each step is given back until the state is repaired.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(when_unreadable) noexcept
    {
        return "dead_letter, hold";
    }

    pipeline_mode mode = pipeline_mode::stop_on_failure;
    /// Attempts of one step that end with a transient fault, over all its deliveries, and the
    /// pauses between them. `retry.max_attempts` counts the first attempt. After an infrastructure
    /// fault `pauses` gives the pause before the session is delivered again. It grows with the
    /// deliveries of the message, and is at least the cap if the broker does not count them. Some
    /// brokers do not count the delivery of a session that was given back. The pause then does not
    /// grow: set `pauses.base` to the pause wanted in an outage.
    retry_policy retry{};
    /// The longest pause that the pipeline waits with the message in hand, at least 0; renew its
    /// lock meanwhile. Before a longer pause the attempts are saved and the session is given back.
    /// If the next holder receives the message too early, it waits at most this time. Exception: a
    /// late step waits any pause in hand, because the state has no field for its attempts.
    duration max_wait_in_hand = duration::seconds(10);
    /// A step with more deliveries than this is dead-lettered without a run. At least 1 and less
    /// than `broker_max_deliveries`. Its earlier deliveries ended the process, lost the lock, or
    /// were given back to a broker that counts such deliveries. The deliveries up to the broker's
    /// limit are a reserve, because a delivery that dead-letters the step may also end early. A
    /// broker that does not count reports 0 deliveries. Each attempt is then saved before it
    /// starts. If it ends with a fault that the step did not cause, the save is undone. If the undo
    /// is not possible (process, store or lock lost), it counts as an attempt. After a crash caused
    /// by the step the state is the same.
    std::uint64_t max_deliveries = 7;
    /// The delivery limit set at the broker; 2^64 - 1 if it has none. Must be greater than
    /// `retry.max_attempts` and `max_deliveries`. 10 is the default of Azure Service Bus.
    std::uint64_t broker_max_deliveries = 10;
    when_unreadable unreadable = when_unreadable::dead_letter;
    when_refused refused = when_refused::hold;
    std::size_t reason_bytes = 1'024;  ///< Maximum bytes of the reason text of a failure.

    friend bool operator==(const pipeline_policy&, const pipeline_policy&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(const pipeline_policy& p) noexcept
{
    if (const auto bad = validate(p.retry)) return bad;
    if (p.retry.max_attempts >= p.broker_max_deliveries) {
        return config_error{
            "retry.max_attempts", p.retry.max_attempts,
            "must be less than broker_max_deliveries, or the broker dead-letters the "
            "step first and delivers the next one",
            p.broker_max_deliveries};
    }
    if (p.max_deliveries == 0) return config_error{"max_deliveries", 0, "must be at least", 1};
    if (p.max_deliveries >= p.broker_max_deliveries) {
        return config_error{
            "max_deliveries", p.max_deliveries,
            "must be less than broker_max_deliveries, or the broker dead-letters the "
            "step first and delivers the next one",
            p.broker_max_deliveries};
    }
    if (p.max_wait_in_hand < duration{}) {
        return config_error{.field = "max_wait_in_hand",
                            .value = detail::magnitude(p.max_wait_in_hand),
                            .rule = "nanoseconds must be at least",
                            .bound = 0,
                            .negative = true};
    }
    return {};
}

/// The outcome of a message.
enum class step_outcome : std::uint8_t {
    done,      ///< The step has run, the state contains it, and the message is complete.
    repeated,  ///< The step was done before. The message is complete.
    /// The dead letter with the reason is written, and the message is complete.
    dead_lettered,
    given_back,  ///< The message is delivered again, with the rest of its session.
    /// As `given_back`, because the session state is unreadable and must not be overwritten.
    state_unreadable,
    /// The outcome is unknown, or another holder has the session. The message is delivered again
    /// unless it is complete.
    lost,
    /// Another message is in hand. This one is unchanged and has to wait.
    other_in_hand,
};

[[nodiscard]] constexpr std::string_view texts_of(step_outcome) noexcept
{
    return "done, repeated, dead_lettered, given_back, state_unreadable, lost, other_in_hand";
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_PIPELINE_POLICY_HPP
