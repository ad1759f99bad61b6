// SPDX-License-Identifier: MIT
//
// retry_loop: a state machine that retries one call. The caller passes times and random numbers.
//
//     waybill::retry_loop tries({.retry = {.max_attempts = 5}, .time_limit = 1min}, now());
//     for (bool open = true; open;)
//         match(tries.next(now()),
//             [&](retry_loop::call) {
//                 tries.on(retry_loop::attempted{call().kind, dice()}, now()); },
//             [&](wait_until w)     { sleep_until(w.time); },
//             [&](retry_loop::done) { open = false; },
//             [&](give_up g)        { write_dead_letter(message, g.reason); open = false; });
//
// Guarantees
//   1. `next` returns the same action until an event, the end of the wait, or the time limit.
//   2. It returns `call` for at most `max_attempts` attempts, and never during a wait.
//   3. After the time limit it does not return `call`, not even for the first attempt. It does not
//      wait for an attempt that would start too late. A result after the limit still counts.
//   4. After `done`, or after a `give_up` that an event caused, events change nothing.
//
// Cost: constant time, fixed size, no allocation. A value without locks: one thread at a time.

#ifndef WAYBILL_RETRY_RETRY_LOOP_HPP
#define WAYBILL_RETRY_RETRY_LOOP_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/act.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/nanoseconds.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/variant.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/retry/shared_budget.hpp>

namespace waybill::inline v0_2 {

/// The limits of one retried call: number of attempts, pauses, and total time.
struct call_policy {
    retry_policy retry{};
    duration time_limit = duration::highest();  ///< From construction; later no attempt starts.

    friend bool operator==(const call_policy&, const call_policy&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(const call_policy& p) noexcept
{
    if (p.time_limit <= duration{}) {
        return config_error{"call.time_limit", detail::magnitude(p.time_limit),
                            "nanoseconds must be at least", 1, p.time_limit < duration{}};
    }
    if (auto bad = validate(p.retry)) return bad;
    // The shortest first pause: random numbers of 0.
    const duration shortest = pause(p.retry.pauses, 1, 0.0);
    if (p.retry.max_attempts > 1 && p.retry.immediate == 0 && p.time_limit <= shortest) {
        return config_error{
            "call.time_limit", detail::magnitude(p.time_limit),
            "nanoseconds must be more than the first pause, or no retry is possible",
            detail::magnitude(shortest)};
    }
    return {};
}

/// The actions and events of a `retry_loop`, which inherits them.
struct retry_loop_types {
    /// The reason why no further attempt follows.
    enum class retry_outcome : std::uint8_t {
        open,       ///< A further attempt may follow.
        succeeded,  ///< The last attempt succeeded.
        /// The last fault was permanent, ownership_lost or cancelled.
        not_retriable,
        tries,       ///< The maximum number of attempts is reached.
        time_limit,  ///< The next attempt, possibly the first, would start too late.
        budget,      ///< The retry budget has no token left.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(retry_outcome) noexcept
    {
        return "open, succeeded, not_retriable, tries, time_limit, budget";
    }

    /// Make the call and report its result as an `attempted` event.
    struct call {
        friend bool operator==(const call&, const call&) = default;
    };

    /// The call succeeded. No action is left.
    struct done {
        friend bool operator==(const done&, const done&) = default;
    };

    /// Event: an attempt has ended.
    struct attempted {
        fault_kind kind = fault_kind::none;
        double random = 0.5;     ///< A random number in [0, 1) for the jitter of the next pause.
        duration retry_after{};  ///< The server's retry-after hint; zero if there is no hint.

        friend bool operator==(const attempted&, const attempted&) = default;
    };

    friend bool operator==(const retry_loop_types&, const retry_loop_types&) = default;
};

class retry_loop : public retry_loop_types {
public:
    using action = variant<call, wait_until, done, give_up>;

    /// The time limit starts at `now`. The policy is not validated: make<retry_loop>(policy, now)
    /// does that. If there is a budget, each retry takes a token from it and the success is
    /// reported to it. The budget must stay at its address while this object or a copy exists.
    constexpr retry_loop(const call_policy& p, steady_time now, shared_budget budget = {}) noexcept
        : policy_(p), budget_(budget), start_time_(now)
    {
    }

    /// The action to take now. If the time limit ends before the first attempt, returns
    /// `give_up{cancelled}`: the call neither succeeded nor failed. Constant time.
    [[nodiscard]] constexpr action next(steady_time now) const noexcept
    {
        if (outcome_ == retry_outcome::succeeded) return done{};
        if (outcome(now) != retry_outcome::open) {
            return give_up{tries_ == 0 ? fault_kind::cancelled : last_kind_};
        }
        if (now < next_attempt_at_) return wait_until{next_attempt_at_};
        return call{};
    }

    /// Reports the end of an attempt at `now`. After the last attempt the event is `stale`.
    constexpr event_result on(const attempted& a, steady_time now)
    {
        if (outcome_ != retry_outcome::open) return event_result::stale;
        if (tries_ != ~std::uint32_t{0}) ++tries_;
        last_kind_ = a.kind;
        const retry_action decision =
            decide(policy_.retry, tries_, a.kind, pause_, a.random, now, a.retry_after);
        const wait_until* wait = get_if<wait_until>(&decision);
        if (a.kind == fault_kind::none) {
            outcome_ = retry_outcome::succeeded;
            budget_.succeeded(now);
        } else if (holds_alternative<give_up>(decision)) {
            outcome_ = detail::is_worth_a_retry(a.kind) ? retry_outcome::tries
                                                        : retry_outcome::not_retriable;
        } else if (too_late(wait != nullptr ? wait->time : now)) {
            outcome_ = retry_outcome::time_limit;
        } else if (!budget_.spend(now)) {
            outcome_ = retry_outcome::budget;
        } else if (wait != nullptr) {
            next_attempt_at_ = wait->time;
            pause_ = wait->time - now;
        } else {
            next_attempt_at_ = steady_time::lowest();  // an immediate retry
        }
        return event_result::applied;
    }

    /// The number of attempts that have ended.
    [[nodiscard]] constexpr std::uint32_t attempts() const noexcept { return tries_; }
    /// The result of the last attempt; `none` before the first one.
    [[nodiscard]] constexpr fault_kind kind() const noexcept { return last_kind_; }
    /// The reason why no further attempt can start at `now`; `open` if one can.
    [[nodiscard]] constexpr retry_outcome outcome(steady_time now) const noexcept
    {
        return outcome_ == retry_outcome::open && too_late(now) ? retry_outcome::time_limit
                                                                : outcome_;
    }
    /// The same reason from reported events only; the current time is ignored.
    [[nodiscard]] constexpr retry_outcome outcome() const noexcept { return outcome_; }
    /// The time from construction to `now`; at least 0.
    [[nodiscard]] constexpr duration elapsed(steady_time now) const noexcept
    {
        return detail::greater(now - start_time_, duration{});
    }
    [[nodiscard]] constexpr const call_policy& policy() const noexcept { return policy_; }

    friend bool operator==(const retry_loop&, const retry_loop&) = default;

private:
    [[nodiscard]] constexpr bool too_late(steady_time at) const noexcept
    {
        return policy_.time_limit < duration::highest() && elapsed(at) >= policy_.time_limit;
    }

    call_policy policy_;
    shared_budget budget_;
    steady_time start_time_;
    steady_time next_attempt_at_ = steady_time::lowest();
    duration pause_{};  // the last one; for decorrelated jitter
    std::uint32_t tries_ = 0;
    fault_kind last_kind_ = fault_kind::none;
    retry_outcome outcome_ = retry_outcome::open;
};

/// Returns the state machine with a time limit from `now`, or the first error of the policy.
template <std::same_as<retry_loop> M>
[[nodiscard]] constexpr result<M, config_error> make(const call_policy& p, steady_time now,
                                                     shared_budget budget = {})
{
    if (const std::optional<config_error> bad = validate(p)) return unexpected(*bad);
    return M(p, now, budget);
}

template <std::same_as<retry_loop> M, std::convertible_to<call_policy> P>
[[nodiscard]] constexpr result<M, config_error> make(const P&)
{
    static_assert(!std::same_as<M, retry_loop>,
                  "a retry_loop needs its start time: call make<retry_loop>(policy, now)");
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_RETRY_LOOP_HPP
