// SPDX-License-Identifier: MIT
//
// circuit_breaker: stops calls to a dependency that is probably down.
//
//     waybill::circuit_breaker breaker;
//     const waybill::fault f = breaker.call(env, [&] { return sdk.send(mail); });
//
// Guarantees (the guide has the details)
//   1. A result counts once, and only before the first change of state after its permit was issued.
//   2. A permit without a report counts as a failure at its deadline, so a lost probe cannot keep
//      the state `half_open`. A scoped_permit reports a failure at the end of its scope.
//   3. By default only `infrastructure` faults are failures. A call that was `cancelled` or ended
//      with `ownership_lost` does not count at all.
//   4. While `half_open`, steps of 1, 2, 4 ... calls pass, each after all calls of the previous
//      step have returned without a failure. The first failure starts the next pause.
//   5. The state depends on reports and times, not on the number of queries.
// Cost: constant time plus one step for each lost permit; fixed size; no allocation. At most
// `MaxPermits` permits are out at the same time. See
// tests/enumerate/retry/circuit_breaker.test.cpp. A value without locks: one thread at a time.

#ifndef WAYBILL_RETRY_CIRCUIT_BREAKER_HPP
#define WAYBILL_RETRY_CIRCUIT_BREAKER_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include <waybill/core/act.hpp>
#include <waybill/core/detail/driver_clock.hpp>
#include <waybill/core/detail/inlining.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/backoff.hpp>
#include <waybill/retry/circuit_breaker_options.hpp>
#include <waybill/retry/detail/guarded_call.hpp>
#include <waybill/retry/detail/permits.hpp>
#include <waybill/retry/detail/recent_calls.hpp>

namespace waybill::inline v0_2 {

template <std::size_t MaxPermits>
class circuit_breaker_of : public circuit_breaker_types {
public:
    /// Maximum number of permits that are out at the same time. `forced_closed` has no maximum.
    static constexpr std::uint64_t max_permits = MaxPermits;

    explicit constexpr circuit_breaker_of(detail::no_options = {}) noexcept
        : circuit_breaker_of(config{})
    {
    }
    explicit constexpr circuit_breaker_of(const config& o) noexcept
        : options_(o), recent_(o.sampling_duration)
    {
        options_.timeout = detail::greater(o.timeout, duration::nanoseconds(1));
    }

    /// Returns a permit if a call may be made now. While `forced_closed`, permits are not tracked.
    /// Inlined: otherwise the result is written in parts and read back as a whole. Then a permit
    /// and its report take 8 to 13 % more instructions, a refusal 37 to 44 % (`bench/run retry`).
    [[nodiscard]] WAYBILL_ALWAYS_INLINE constexpr std::optional<permit> try_acquire(
        steady_time now) noexcept
    {
        advance_to(now);
        const steady_time deadline = now_ + options_.timeout;
        if (state_ != circuit_state::closed) {
            if (state_ == circuit_state::forced_closed) {
                return permit{.generation = generation_, .number = 0, .deadline = deadline};
            }
            if (!take_half_open_permit()) return {};
        } else if (permits_.full()) {
            return {};
        }
        next_change_ = detail::earlier(next_change_, deadline);
        return permits_.issue(generation_, deadline);
    }

    /// Reports the result of a call. `random` in [0, 1) is for the jitter of the next pause, if it
    /// has jitter. A pause that begins because of a lost permit uses the latest `random`.
    /// Returns `stale` without a change if the permit is void, not tracked, or already reported.
    constexpr event_result record(const permit& p, fault_kind kind, steady_time now,
                                  double random = 1.0) noexcept
    {
        advance_to(now);
        if (p.generation != generation_ || !permits_.take_back(p)) return event_result::stale;
        next_change_ = permits_.next_deadline();
        random_ = random;
        if (kind == fault_kind::cancelled || kind == fault_kind::ownership_lost) return_permit();
        else if (is_failure(kind)) failed(now_);
        else succeeded();
        return event_result::applied;
    }

    /// Waits until a call may pass, makes it, records its result with jitter, and returns it. `f`
    /// returns a fault, a fault_kind, a result<T>, or a struct with a fault `reason`, such as
    /// `call_answer`. If a stop is requested before the call, or if no call can ever pass
    /// (`forced_open`), the result is a `cancelled` fault. An exception of `f` counts as a failure
    /// and passes through. `env.now()` must not throw.
    template <class Environment, class F>
    [[nodiscard]] auto call(Environment&& env, F&& f)
    {
        using result_type = std::remove_cvref_t<decltype(f())>;
        static_assert(detail::guarded_result<result_type>,
                      "circuit_breaker: the call must return a fault, a fault_kind, a result, a "
                      "call_answer or a struct with a fault `reason`, and not another type");
        detail::driver_clock clock(env);
        return detail::guarded_call<result_type>(*this, clock, f);
    }

    /// From now on all calls pass (`force_closed`) or no call passes (`force_open`), whatever the
    /// results are, until `release_force`.
    constexpr void force_closed(steady_time now) noexcept
    {
        force(circuit_state::forced_closed, now);
    }
    constexpr void force_open(steady_time now) noexcept { force(circuit_state::forced_open, now); }

    /// Ends a forced state: `forced_closed` becomes `closed`, `forced_open` becomes `half_open`.
    constexpr void release_force(steady_time now) noexcept
    {
        advance_to(now);
        if (state_ == circuit_state::forced_closed) close();
        if (state_ == circuit_state::forced_open) enter(circuit_state::half_open);
    }

    /// The state at `now`.
    [[nodiscard]] constexpr circuit_state state(steady_time now) const noexcept
    {
        return unchanged_until(now) ? state_ : at_time(now).state_;
    }

    /// The generation at `now`. It increases with each change of state.
    [[nodiscard]] constexpr std::uint64_t generation(steady_time now) const noexcept
    {
        return unchanged_until(now) ? generation_ : at_time(now).generation_;
    }

    /// The number of calls that may be made now, each with a permit. 2^64 - 1 while
    /// `forced_closed`.
    [[nodiscard]] constexpr std::uint64_t room(steady_time now) const noexcept
    {
        return unchanged_until(now) ? room() : at_time(now).room();
    }

    /// True if the permit can still be reported.
    [[nodiscard]] constexpr bool has(const permit& p, steady_time now) const noexcept
    {
        return unchanged_until(now) ? has(p) : at_time(now).has(p);
    }

    /// The next time at which time alone may change something: a pause ends, or a permit is lost.
    /// If nothing changes without a report, `steady_time::highest()`.
    [[nodiscard]] constexpr steady_time next_change(steady_time now) const noexcept
    {
        return unchanged_until(now) ? next_change_ : at_time(now).next_change_;
    }

    /// True if a dependency is probably down, so that failures are not caused by the messages. True
    /// in `open`, `half_open` and `forced_open`, false in `forced_closed`. In `closed` it is true
    /// if a call failed within the period and no counted call has ended without a failure since.
    /// Query it when process_batch asks whether all events of a batch become dead letters. Report
    /// the handler's results to the circuit breaker after that, even if the batch is redelivered.
    [[nodiscard]] constexpr bool suspects_outage(steady_time now) const noexcept
    {
        circuit_breaker_of advanced = at_time(now);
        advanced.recent_.advance_to(advanced.now_);
        if (advanced.state_ == circuit_state::closed)
            return advanced.consecutive_failures_ != 0 && advanced.recent_.failed() != 0;
        return advanced.state_ != circuit_state::forced_closed;
    }

    friend bool operator==(const circuit_breaker_of&, const circuit_breaker_of&) = default;

private:
    /// True if time alone has changed nothing until `now`.
    [[nodiscard]] constexpr bool unchanged_until(steady_time now) const noexcept
    {
        return detail::later(now_, now) < next_change_;
    }

    [[nodiscard]] constexpr circuit_breaker_of at_time(steady_time now) const noexcept
    {
        circuit_breaker_of advanced = *this;
        advanced.advance_to(now);
        return advanced;
    }

    [[nodiscard]] constexpr bool has(const permit& p) const noexcept
    {
        return p.generation == generation_ && permits_.has(p);
    }

    [[nodiscard]] constexpr std::uint64_t room() const noexcept
    {
        switch (state_) {
            case circuit_state::closed: return MaxPermits - permits_.size();
            case circuit_state::half_open: return step_size() - step_permits_;
            case circuit_state::forced_closed: return detail::highest_size;
            case circuit_state::open:
            case circuit_state::forced_open: break;
        }
        return 0;
    }

    [[nodiscard]] constexpr std::uint64_t step_size() const noexcept
    {
        constexpr std::uint64_t max_shift = 32;  // 2^32 exceeds MaxPermits
        return detail::lesser(std::uint64_t{1} << detail::lesser(step_, max_shift), MaxPermits);
    }

    [[nodiscard]] constexpr bool is_failure(fault_kind kind) const noexcept
    {
        return kind == fault_kind::infrastructure ||
               (kind == fault_kind::transient && options_.transient_counts);
    }

    constexpr void advance_to(steady_time now) noexcept
    {
        now_ = detail::later(now_, now);
        if (!(now_ < next_change_)) [[unlikely]]
            catch_up();
    }

    /// Applies the changes that time alone causes, in the order of their times. Inlined, it makes
    /// g++ 12 take 2 % more instructions for a permit (`bench/run retry`).
    WAYBILL_NOINLINE constexpr void catch_up() noexcept
    {
        while (permits_.size() != 0 && !(now_ < permits_.next_deadline())) {
            const steady_time lost = permits_.next_deadline();
            permits_.drop_oldest();
            next_change_ = permits_.next_deadline();
            failed(lost);
        }
        if (state_ == circuit_state::open && !(now_ < next_change_))
            enter(circuit_state::half_open);
    }

    /// Counts one more call of the current step, if the step allows one.
    [[nodiscard]] constexpr bool take_half_open_permit() noexcept
    {
        if (state_ != circuit_state::half_open || step_permits_ == step_size()) return false;
        ++step_permits_;
        return true;
    }

    /// For a call that does not count: its step allows another call instead.
    constexpr void return_permit() noexcept
    {
        if (state_ == circuit_state::half_open) --step_permits_;
    }

    constexpr void succeeded() noexcept
    {
        if (state_ == circuit_state::half_open) {
            if (++step_successes_ < step_size()) return;
            step_permits_ = step_successes_ = 0;
            if (++step_ >= options_.half_open_steps) close();
            return;
        }
        consecutive_failures_ = 0;
        recent_.record(false, now_);
        if (recent_.failed() != 0 && failure_ratio_reached()) start_break(now_);
    }

    constexpr void failed(steady_time at) noexcept
    {
        if (state_ == circuit_state::half_open) return start_break(at);
        consecutive_failures_ = detail::saturating_add(consecutive_failures_, 1);
        recent_.record(true, at);
        if (consecutive_failures_ >= options_.consecutive_failures || failure_ratio_reached())
            start_break(at);
    }

    [[nodiscard]] constexpr bool failure_ratio_reached() const noexcept
    {
        return recent_.calls() >= options_.minimum_throughput &&
               static_cast<double>(recent_.failed()) / static_cast<double>(recent_.calls()) >=
                   options_.failure_ratio;
    }

    /// Changes the state, which makes all permits that are out void.
    constexpr void enter(circuit_state s) noexcept
    {
        state_ = s;
        ++generation_;
        permits_.clear();
        next_change_ = steady_time::highest();
        step_ = step_permits_ = step_successes_ = 0;
    }

    constexpr void start_break(steady_time at) noexcept
    {
        enter(circuit_state::open);
        if (break_count_ != UINT32_MAX) ++break_count_;
        next_change_ = at + pause(options_.break_duration, break_count_, random_);
    }

    constexpr void close() noexcept
    {
        enter(circuit_state::closed);
        break_count_ = 0;
        consecutive_failures_ = 0;
        recent_.clear();
    }

    constexpr void force(circuit_state s, steady_time now) noexcept
    {
        advance_to(now);
        if (state_ != s) enter(s);
    }

    config options_;
    circuit_state state_ = circuit_state::closed;
    std::uint64_t generation_ = 1;
    steady_time now_ = steady_time::lowest();  // the latest time passed in
    /// The next deadline of a permit. In the state `open`, the end of the pause.
    steady_time next_change_ = steady_time::highest();
    detail::permits<MaxPermits> permits_{};
    detail::recent_calls recent_;             // used in `closed`
    std::uint64_t consecutive_failures_ = 0;  // used in `closed`
    std::uint64_t step_ = 0;                  // index of the current step, from 0, in `half_open`
    std::uint64_t step_permits_ = 0;    // permits of this step, without calls that do not count
    std::uint64_t step_successes_ = 0;  // calls of this step that did not fail
    std::uint32_t break_count_ = 0;     // number of pauses since the last `closed`
    double random_ = 1.0;               // from the last `record`; for the jitter of the next pause
};

/// A circuit breaker for at most 256 calls at the same time. For another maximum use
/// circuit_breaker_of<n>.
using circuit_breaker = circuit_breaker_of<256>;

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_CIRCUIT_BREAKER_HPP
