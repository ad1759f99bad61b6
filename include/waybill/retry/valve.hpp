// SPDX-License-Identifier: MIT
//
// valve: a circuit breaker that stops calls to a dependency that is probably down.
//
//     waybill::valve v;
//     if (auto pass = waybill::scoped_permit(v, clock)) pass.report(handle(message).how);
//     else pause_until(v.next_change(clock()));
//
// Guarantees (the guide has the details)
//   1. A result counts once, and only before the first change of state after its permit was issued.
//   2. A permit without a report counts as a failure at its deadline, so a lost probe cannot keep
//      the state `probing`. A scoped_permit reports a failure at the end of its scope.
//   3. By default only `infrastructure` faults are failures. A call that was `cancelled` or ended
//      with `ownership_lost` does not count at all.
//   4. While `probing`, steps of 1, 2, 4 ... calls pass, each after all calls of the previous step
//      have returned without a failure. The first failure starts the next pause.
//   5. The state depends on reports and times, not on the number of queries.
// Cost: constant time plus one step for each lost permit; fixed size; no allocation. At most Most
// permits are out at the same time. See tests/enumerate/retry/valve.test.cpp.
// A value without locks: one thread at a time.

#ifndef WAYBILL_RETRY_VALVE_HPP
#define WAYBILL_RETRY_VALVE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>

#include <waybill/core/act.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/backoff.hpp>
#include <waybill/retry/permits.hpp>
#include <waybill/retry/recent_calls.hpp>
#include <waybill/retry/valve_options.hpp>

namespace waybill::inline v0_2 {

template <std::size_t Most>
class valve_of {
public:
    /// Maximum number of permits that are out at the same time. `held_open` has no maximum.
    static constexpr std::uint64_t most = Most;

    explicit constexpr valve_of(const valve_options& o = {}) noexcept
        : options_(o), recent_(o.period)
    {
        options_.timeout = greater(o.timeout, duration::nanoseconds(1));
    }

    /// Returns a permit if a call may be made now. While `held_open`, permits are not tracked.
    /// Inlined, because otherwise the result is written in parts and read back as a whole, which
    /// costs more than the rest of the function.
    [[nodiscard, gnu::always_inline]] constexpr std::optional<permit> try_pass(
        steady_time now) noexcept
    {
        tell(now);
        const steady_time deadline = now_ + options_.timeout;
        if (state_ != valve_state::flowing) {
            if (state_ == valve_state::held_open) return permit{generation_, 0, deadline, 0};
            if (!take_step()) return {};
        } else if (out_.full()) {
            return {};
        }
        due_ = earlier(due_, deadline);
        return out_.give(generation_, deadline);
    }

    /// Reports the result of a call. `draw` in [0, 1) is for the jitter of the next pause, if it
    /// has jitter. A pause that begins because of a lost permit uses the latest draw. Returns
    /// `late` without a change if the permit is void, not tracked, or already reported.
    constexpr heard report(const permit& p, fault_class how, steady_time now,
                           double draw = 1.0) noexcept
    {
        tell(now);
        if (p.generation != generation_ || !out_.take_back(p)) return heard::late;
        due_ = out_.next_deadline();
        draw_ = draw;
        if (how == fault_class::cancelled || how == fault_class::ownership_lost) took_back();
        else if (counts(how)) failed(now_);
        else answered();
        return heard::taken;
    }

    /// From now on all calls pass (`hold_open`) or no call passes (`hold_shut`), whatever the
    /// results are, until `let_go`.
    constexpr void hold_open(steady_time now) noexcept { hold(valve_state::held_open, now); }
    constexpr void hold_shut(steady_time now) noexcept { hold(valve_state::held_shut, now); }

    /// Ends a hold: `held_open` becomes `flowing`, and `held_shut` becomes `probing`.
    constexpr void let_go(steady_time now) noexcept
    {
        tell(now);
        if (state_ == valve_state::held_open) flow();
        if (state_ == valve_state::held_shut) enter(valve_state::probing);
    }

    /// The state at `now`.
    [[nodiscard]] constexpr valve_state state(steady_time now) const noexcept
    {
        return at_rest(now) ? state_ : told(now).state_;
    }

    /// The generation at `now`. It increases with each change of state.
    [[nodiscard]] constexpr std::uint64_t generation(steady_time now) const noexcept
    {
        return at_rest(now) ? generation_ : told(now).generation_;
    }

    /// The number of calls that may be made now, each with a permit. `highest_size` while
    /// `held_open`.
    [[nodiscard]] constexpr std::uint64_t room(steady_time now) const noexcept
    {
        return at_rest(now) ? room() : told(now).room();
    }

    /// True if the permit can still be reported.
    [[nodiscard]] constexpr bool has(const permit& p, steady_time now) const noexcept
    {
        return at_rest(now) ? has(p) : told(now).has(p);
    }

    /// The next time at which time alone may change something: a pause ends, or a permit is lost.
    /// If nothing changes without a report, `steady_time::highest()`.
    [[nodiscard]] constexpr steady_time next_change(steady_time now) const noexcept
    {
        return at_rest(now) ? due_ : told(now).due_;
    }

    /// True if a dependency is probably down, so that failures are not caused by the messages. True
    /// in `shut`, `probing` and `held_shut`, false in `held_open`. In `flowing` it is true if a
    /// call failed within the period and no other result than a failure was reported since. Query
    /// it before all events of a batch are dead-lettered (`if_all_failed`). Afterwards report the
    /// handler's results to the circuit breaker, even if the batch was kept.
    [[nodiscard]] constexpr bool suspects(steady_time now) const noexcept
    {
        valve_of v = told(now);
        v.recent_.tell(v.now_);
        if (v.state_ == valve_state::flowing) return v.in_a_row_ != 0 && v.recent_.failed() != 0;
        return v.state_ != valve_state::held_open;
    }

    friend bool operator==(const valve_of&, const valve_of&) = default;

private:
    /// True if time alone has changed nothing until `now`.
    [[nodiscard]] constexpr bool at_rest(steady_time now) const noexcept
    {
        return later(now_, now) < due_;
    }

    [[nodiscard]] constexpr valve_of told(steady_time now) const noexcept
    {
        valve_of v = *this;
        v.tell(now);
        return v;
    }

    [[nodiscard]] constexpr bool has(const permit& p) const noexcept
    {
        return p.generation == generation_ && out_.has(p);
    }

    [[nodiscard]] constexpr std::uint64_t room() const noexcept
    {
        switch (state_) {
            case valve_state::flowing: return Most - out_.size();
            case valve_state::probing: return step_size() - given_;
            case valve_state::held_open: return highest_size;
            case valve_state::shut:
            case valve_state::held_shut: break;
        }
        return 0;
    }

    [[nodiscard]] constexpr std::uint64_t step_size() const noexcept
    {
        return lesser(std::uint64_t{1} << lesser(step_, 32), Most);
    }

    [[nodiscard]] constexpr bool counts(fault_class how) const noexcept
    {
        return how == fault_class::infrastructure ||
               (how == fault_class::transient && options_.transient_counts);
    }

    constexpr void tell(steady_time now) noexcept
    {
        now_ = later(now_, now);
        if (!(now_ < due_)) [[unlikely]] catch_up();
    }

    /// Applies the changes that time alone causes, in the order of their times.
    [[gnu::noinline]] constexpr void catch_up() noexcept
    {
        while (out_.size() != 0 && !(now_ < out_.next_deadline())) {
            const steady_time lost = out_.next_deadline();
            out_.drop_oldest();
            due_ = out_.next_deadline();
            failed(lost);
        }
        if (state_ == valve_state::shut && !(now_ < due_)) enter(valve_state::probing);
    }

    /// Counts one more call of the current step, if the step allows one.
    [[nodiscard]] constexpr bool take_step() noexcept
    {
        if (state_ != valve_state::probing || given_ == step_size()) return false;
        ++given_;
        return true;
    }

    constexpr void took_back() noexcept
    {
        if (state_ == valve_state::probing) --given_;
    }

    constexpr void answered() noexcept
    {
        if (state_ == valve_state::probing) {
            if (++answered_ < step_size()) return;
            given_ = answered_ = 0;
            if (++step_ >= options_.ramp) flow();
            return;
        }
        in_a_row_ = 0;
        recent_.note(false, now_);
        if (recent_.failed() != 0 && too_many()) shut(now_);
    }

    constexpr void failed(steady_time at) noexcept
    {
        if (state_ == valve_state::probing) return shut(at);
        in_a_row_ = saturating_add(in_a_row_, 1);
        recent_.note(true, at);
        if (in_a_row_ >= options_.in_a_row || too_many()) shut(at);
    }

    [[nodiscard]] constexpr bool too_many() const noexcept
    {
        return recent_.calls() >= options_.min_calls &&
               static_cast<double>(recent_.failed()) / static_cast<double>(recent_.calls()) >=
                   options_.trip_at;
    }

    /// Changes the state, which makes all permits that are out void.
    constexpr void enter(valve_state s) noexcept
    {
        state_ = s;
        ++generation_;
        out_.clear();
        due_ = steady_time::highest();
        step_ = given_ = answered_ = 0;
    }

    constexpr void shut(steady_time at) noexcept
    {
        enter(valve_state::shut);
        if (round_ != UINT32_MAX) ++round_;
        due_ = at + pause(options_.shut_for, round_, draw_);
    }

    constexpr void flow() noexcept
    {
        enter(valve_state::flowing);
        round_ = 0;
        in_a_row_ = 0;
        recent_.clear();
    }

    constexpr void hold(valve_state s, steady_time now) noexcept
    {
        tell(now);
        if (state_ != s) enter(s);
    }

    valve_options options_;
    valve_state state_ = valve_state::flowing;
    std::uint64_t generation_ = 1;
    steady_time now_ = steady_time::lowest();  // the latest time passed in
    /// The next deadline of a permit. In the state `shut`, the end of the pause.
    steady_time due_ = steady_time::highest();
    permits<Most> out_{};
    recent_calls recent_;           // used in `flowing`
    std::uint64_t in_a_row_ = 0;    // consecutive failures, in `flowing`
    std::uint64_t step_ = 0;        // index of the current step of the ramp, in `probing`
    std::uint64_t given_ = 0;       // permits of this step, without calls that do not count
    std::uint64_t answered_ = 0;    // calls of this step that did not fail
    std::uint32_t round_ = 0;       // number of pauses since the last `flowing`
    double draw_ = 1.0;
};

/// A circuit breaker for at most 256 calls at the same time. For another maximum use valve_of<n>.
using valve = valve_of<256>;

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_VALVE_HPP
