// SPDX-License-Identifier: MIT
//
// valve: whether to take more work while what it needs may be down.
//
// When a database is down every message fails, is tried again and ends as a dead letter, and all of
// them were good. A valve shuts before that: it counts how calls end, lets none through for a while
// when too many fail, then one to find out, then two, four, and then all.
//
//     waybill::valve v;
//     if (auto pass = waybill::scoped_permit(v, clock)) pass.report(handle(message).how);
//     else pause_until(v.next_change(clock()));
//
// A circuit breaker is the same with its words turned round: here open means that work flows.
//
// What holds:
//   1. each call has a permit of one generation, and every change of state begins a new one. A
//      result that comes after such a change changes nothing; nor does one that comes twice;
//   2. a permit that is never reported counts as failed at its deadline, so no lost probe keeps the
//      valve half open; one in a scoped_permit does so at the end of its scope;
//   3. by default only `infrastructure` counts as failed. A message that fails by itself, be it for
//      good, was answered; a call that was cancelled, or lost its partition, says nothing;
//   4. it opens by steps of 1, 2, 4 ... calls, each begun when all calls of the one before are back
//      and were answered; the first that fails shuts it again, for the next pause of `shut_for`:
//      one that is longer than the last, up to its cap, if it grows and there is no jitter;
//   5. the state follows from what was reported and when, not from how often it is asked. A clock
//      that goes back stands still, and one that jumps ahead finds what it would have found.
//
// Constant time but for lost permits, each of which is counted once; fixed size; nothing is
// allocated. No more than Most permits are out at once, and a valve that has given them all gives
// none until one is back or lost. See tests/enumerate/retry/valve.test.cpp.
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
    /// Most permits that are out at once.
    static constexpr std::uint64_t most = Most;

    explicit constexpr valve_of(const valve_options& o = {}) noexcept
        : options_(o), recent_(o.period)
    {
        options_.timeout = greater(o.timeout, duration::nanoseconds(1));
    }

    /// A permit, if a call may be made now. Inlined, or it would be written in parts and read back
    /// as a whole, which costs more than all the rest.
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

    /// How a call ended. `draw` in [0, 1) is for the jitter of a pause, where there is one; a pause
    /// that begins because a permit was lost takes the latest draw. `late` has changed nothing.
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

    /// Whatever happens, all may pass from now on, or none, until it is let go.
    constexpr void hold_open(steady_time now) noexcept { hold(valve_state::held_open, now); }
    constexpr void hold_shut(steady_time now) noexcept { hold(valve_state::held_shut, now); }

    /// Decides by itself again. What was held shut is probed first.
    constexpr void let_go(steady_time now) noexcept
    {
        tell(now);
        if (state_ == valve_state::held_open) flow();
        if (state_ == valve_state::held_shut) enter(valve_state::probing);
    }

    [[nodiscard]] constexpr valve_state state(steady_time now) const noexcept
    {
        return at_rest(now) ? state_ : told(now).state_;
    }

    /// Grows with each change of state.
    [[nodiscard]] constexpr std::uint64_t generation(steady_time now) const noexcept
    {
        return at_rest(now) ? generation_ : told(now).generation_;
    }

    /// How many calls may be made now. A permit each is to be taken.
    [[nodiscard]] constexpr std::uint64_t room(steady_time now) const noexcept
    {
        return at_rest(now) ? room() : told(now).room();
    }

    /// Whether the permit can still be reported.
    [[nodiscard]] constexpr bool has(const permit& p, steady_time now) const noexcept
    {
        return at_rest(now) ? has(p) : told(now).has(p);
    }

    /// When time alone may change something next: a pause ends, or a permit is lost. The end of
    /// time where nothing will change without a report.
    [[nodiscard]] constexpr steady_time next_change(steady_time now) const noexcept
    {
        return at_rest(now) ? due_ : told(now).due_;
    }

    /// Whether it is plausible that what a call needs is down, so that a failure is nobody's fault:
    /// the valve lets not all pass, or a call failed within the period and none was answered since.
    /// For who is about to park all events of a batch (`if_all_failed`): he reports afterwards what
    /// his handler said, and not that the batch was kept. Held open it suspects nothing.
    [[nodiscard]] constexpr bool suspects(steady_time now) const noexcept
    {
        valve_of v = told(now);
        v.recent_.tell(v.now_);
        if (v.state_ == valve_state::flowing) return v.in_a_row_ != 0 && v.recent_.failed() != 0;
        return v.state_ != valve_state::held_open;
    }

    friend bool operator==(const valve_of&, const valve_of&) = default;

private:
    /// Nothing has happened by itself until now.
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

    /// What time alone brings about, in the order in which it does.
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

    /// One more call of this step, if there is room for it.
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

    /// Every change of state makes void what is out.
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
    steady_time now_ = steady_time::lowest();  // the latest that was told
    /// When a permit is lost next or, while shut, the pause is over.
    steady_time due_ = steady_time::highest();
    permits<Most> out_{};
    recent_calls recent_;           // while flowing
    std::uint64_t in_a_row_ = 0;    // failures since the last that was answered, while flowing
    std::uint64_t step_ = 0;        // of the ramp, while probing
    std::uint64_t given_ = 0;       // permits of this step that were not taken back
    std::uint64_t answered_ = 0;    // of this step
    std::uint32_t round_ = 0;       // shut so many times since it last flowed
    double draw_ = 1.0;
};

/// With room for 256 calls at once. Others are valve_of<n>.
using valve = valve_of<256>;

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_VALVE_HPP
