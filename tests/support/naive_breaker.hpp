// SPDX-License-Identifier: MIT
//
// naive_breaker: a circuit breaker that stores every call and every permit in lists, and reads all
// of them for each query. It can have a mistake of other implementations.

#ifndef WAYBILL_TESTS_SUPPORT_NAIVE_BREAKER_HPP
#define WAYBILL_TESTS_SUPPORT_NAIVE_BREAKER_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <waybill/retry/circuit_breaker.hpp>

namespace tests_support {

using waybill::circuit_breaker;

enum class breaker_mistake {
    none,
    no_generation,     // a result counts in any generation
    no_deadline,       // a permit without a result never expires
    stampede,          // after the pause, all calls may pass
    counts_permanent,  // a permanent fault counts as a failure
    counts_cancelled,  // a cancelled call counts as a success
    reported_twice,    // a permit may be reported again
    one_probe,         // one success closes the circuit breaker
};

class naive_breaker {
public:
    naive_breaker(const waybill::circuit_breaker::config& o, std::uint64_t most,
                  breaker_mistake m = breaker_mistake::none)
        : options_(o), most_(most), mistake_(m)
    {
    }

    std::optional<waybill::circuit_breaker::permit> try_acquire(waybill::steady_time now)
    {
        tell(now);
        if (room() == 0) return {};
        waybill::circuit_breaker::permit p;
        p.generation = generation_;
        p.number = calls_.size() + 1;
        p.deadline = now_ + options_.timeout;
        calls_.push_back({p, state_ != circuit_breaker::circuit_state::forced_closed});
        ++given_;
        return p;
    }

    waybill::event_result record(const waybill::circuit_breaker::permit& p, waybill::fault_kind how,
                                 waybill::steady_time now, double draw = 1.0)
    {
        tell(now);
        call* c = p.number == 0 || p.number > calls_.size() ? nullptr : &calls_[p.number - 1];
        const bool of_old = p.generation != generation_;
        if (c == nullptr || (of_old && mistake_ != breaker_mistake::no_generation))
            return waybill::event_result::stale;
        if (!c->out && mistake_ != breaker_mistake::reported_twice)
            return waybill::event_result::stale;
        c->out = false;
        draw_ = draw;
        const bool nothing =
            how == waybill::fault_kind::cancelled || how == waybill::fault_kind::ownership_lost;
        if (nothing && mistake_ != breaker_mistake::counts_cancelled) {
            if (given_ != 0) --given_;
        } else if (how == waybill::fault_kind::infrastructure ||
                   (how == waybill::fault_kind::transient && options_.transient_counts) ||
                   (how == waybill::fault_kind::permanent &&
                    mistake_ == breaker_mistake::counts_permanent)) {
            ended(true, now_);
        } else {
            ended(false, now_);
        }
        return waybill::event_result::applied;
    }

    void force_closed(waybill::steady_time now)
    {
        hold(circuit_breaker::circuit_state::forced_closed, now);
    }
    void force_open(waybill::steady_time now)
    {
        hold(circuit_breaker::circuit_state::forced_open, now);
    }
    void release_force(waybill::steady_time now)
    {
        tell(now);
        if (state_ == circuit_breaker::circuit_state::forced_closed)
            enter(circuit_breaker::circuit_state::closed);
        if (state_ == circuit_breaker::circuit_state::forced_open)
            enter(circuit_breaker::circuit_state::half_open);
    }

    circuit_breaker::circuit_state state(waybill::steady_time now) const
    {
        return advanced(now).state_;
    }
    std::uint64_t generation(waybill::steady_time now) const { return advanced(now).generation_; }
    std::uint64_t room(waybill::steady_time now) const { return advanced(now).room(); }
    waybill::steady_time next_change(waybill::steady_time now) const
    {
        const naive_breaker v = advanced(now);
        if (v.state_ == circuit_breaker::circuit_state::open) return v.until_;
        const call* c = v.first_to_be_lost();
        return c != nullptr ? c->given.deadline : waybill::steady_time::highest();
    }
    bool has(const waybill::circuit_breaker::permit& p, waybill::steady_time now) const
    {
        const naive_breaker v = advanced(now);
        return p.number != 0 && p.number <= v.calls_.size() && p.generation == v.generation_ &&
               v.calls_[p.number - 1].out;
    }
    bool suspects_outage(waybill::steady_time now) const
    {
        const naive_breaker v = advanced(now);
        if (v.state_ == circuit_breaker::circuit_state::forced_closed) return false;
        if (v.state_ != circuit_breaker::circuit_state::closed) return true;
        if (v.ends_.empty() || !v.ends_.back().failed) return false;
        for (const end& e : v.ends_) {
            if (e.failed && v.recent(e.at, v.now_)) return true;
        }
        return false;
    }

private:
    struct call {
        waybill::circuit_breaker::permit given;
        bool out = true;
    };
    struct end {
        bool failed;
        waybill::steady_time at;
    };

    naive_breaker advanced(waybill::steady_time now) const
    {
        naive_breaker v = *this;
        v.tell(now);
        return v;
    }

    std::uint64_t out() const
    {
        std::uint64_t n = 0;
        for (const call& c : calls_) n += c.out && c.given.generation == generation_ ? 1 : 0;
        return n;
    }

    std::uint64_t step_size() const
    {
        std::uint64_t n = 1;
        for (std::uint32_t i = 0; i != step_; ++i) n = n * 2 < most_ ? n * 2 : most_;
        return n;
    }

    std::uint64_t room() const
    {
        if (state_ == circuit_breaker::circuit_state::forced_closed) return ~std::uint64_t{0};
        if (state_ == circuit_breaker::circuit_state::closed) return most_ - out();
        if (state_ != circuit_breaker::circuit_state::half_open) return 0;
        if (mistake_ == breaker_mistake::stampede) return most_ - out();
        return step_size() > given_ ? step_size() - given_ : 0;
    }

    const call* first_to_be_lost() const
    {
        const call* first = nullptr;
        if (mistake_ == breaker_mistake::no_deadline) return first;
        for (const call& c : calls_) {
            if (!c.out || c.given.generation != generation_) continue;
            if (first == nullptr || c.given.deadline < first->given.deadline) first = &c;
        }
        return first;
    }

    void tell(waybill::steady_time now)
    {
        now = later(now_, now);
        for (const call* c = first_to_be_lost(); c != nullptr && c->given.deadline <= now;
             c = first_to_be_lost()) {
            calls_[c->given.number - 1].out = false;
            ended(true, c->given.deadline);
        }
        now_ = now;
        if (state_ == circuit_breaker::circuit_state::open && until_ <= now)
            enter(circuit_breaker::circuit_state::half_open);
    }

    // The number of the tenth of the sampling duration, counted from the clock's zero.
    std::int64_t part_of(waybill::steady_time t) const
    {
        const std::int64_t w = options_.sampling_duration.count() / 10;
        const std::int64_t n = t.since_epoch().count();
        return (n - (n % w + w) % w) / w;
    }
    bool recent(waybill::steady_time t, waybill::steady_time now) const
    {
        return part_of(now) - part_of(t) < 10;
    }

    void ended(bool failed, waybill::steady_time at)
    {
        if (state_ == circuit_breaker::circuit_state::half_open) {
            if (failed) return shut(at);
            if (++answered_ < step_size() && mistake_ != breaker_mistake::one_probe) return;
            given_ = answered_ = 0;
            if (++step_ == options_.half_open_steps || mistake_ == breaker_mistake::one_probe)
                enter(circuit_breaker::circuit_state::closed);
            return;
        }
        if (state_ != circuit_breaker::circuit_state::closed) return;
        ends_.push_back({failed, at});
        std::uint64_t all = 0;
        std::uint64_t bad = 0;
        for (const end& e : ends_) {
            if (!recent(e.at, at)) continue;
            ++all;
            bad += e.failed ? 1 : 0;
        }
        std::uint64_t row = 0;
        for (auto e = ends_.rbegin(); e != ends_.rend() && e->failed; ++e) ++row;
        const bool share =
            all >= options_.minimum_throughput && bad != 0 &&
            static_cast<double>(bad) / static_cast<double>(all) >= options_.failure_ratio;
        if (share || (failed && row >= options_.consecutive_failures)) shut(at);
    }

    void enter(circuit_breaker::circuit_state s)
    {
        state_ = s;
        ++generation_;
        given_ = answered_ = 0;
        step_ = 0;
        if (s != circuit_breaker::circuit_state::closed) return;
        ends_.clear();
        round_ = 0;
    }

    void shut(waybill::steady_time at)
    {
        enter(circuit_breaker::circuit_state::open);
        until_ = at + waybill::pause(options_.break_duration, ++round_, draw_);
    }

    void hold(circuit_breaker::circuit_state s, waybill::steady_time now)
    {
        tell(now);
        if (state_ != s) enter(s);
    }

    waybill::circuit_breaker::config options_;
    std::uint64_t most_;
    breaker_mistake mistake_;
    circuit_breaker::circuit_state state_ = circuit_breaker::circuit_state::closed;
    std::uint64_t generation_ = 1;
    waybill::steady_time now_ = waybill::steady_time::lowest();
    waybill::steady_time until_{};
    std::vector<call> calls_;
    std::vector<end> ends_;
    std::uint32_t step_ = 0;
    std::uint32_t round_ = 0;
    std::uint64_t given_ = 0;
    std::uint64_t answered_ = 0;
    double draw_ = 1.0;
};

}  // namespace tests_support

#endif  // WAYBILL_TESTS_SUPPORT_NAIVE_BREAKER_HPP
