// SPDX-License-Identifier: MIT
//
// One partition in one process: all its events, in every order.
//
// A partition_lifecycle gets assignments with rising, equal and lower epochs, and every answer,
// requested or not, of this epoch or an older one. The clock advances, goes back by a day or jumps
// to its end. After each event, a model checks the next action. The model has the laws of the head
// comment and no knowledge of the machine's states. A run ends at an event that changes nothing,
// since the shorter runs contain the rest. At the end of each run the partition is revoked and all
// calls succeed: it must come to rest in a few steps.

#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/every_schedule.hpp>

#include <waybill/core/match.hpp>
#include <waybill/lease/partition_lifecycle.hpp>
#include <waybill/testing/choices.hpp>

namespace lifecycle_test {
namespace {

using waybill::duration;
using waybill::event_result;
using waybill::fault_kind;
using waybill::partition_lifecycle;
using partition_lost = waybill::partition_lifecycle::partition_lost;
using waybill::steady_time;
using waybill::testing::choices;

constexpr std::uint32_t save_tries = 2;
constexpr duration poll = duration::seconds(5);
constexpr duration base = duration::seconds(1);
constexpr duration cap = duration::seconds(3);
constexpr waybill::partition_lifecycle::config options{
    poll, {.base = base, .cap = cap, .spread = waybill::backoff::jitter::none}, save_tries};

// Knows which actions are allowed. It gets the same events as the machine, and stores only facts.
class model {
public:
    // Each overload returns the result that the machine must return.
    event_result apply(const waybill::partition_lifecycle::assigned& a, steady_time now)
    {
        if (a.epoch <= epoch_ || a.epoch <= following_) return event_result::stale;
        if (ours_) {
            following_ = a.epoch;
            gives_on_ = false;
            drop(now);
        } else {
            begin(a.epoch, now);
        }
        return event_result::applied;
    }
    event_result apply(const waybill::partition_lifecycle::revoked&, steady_time now)
    {
        if (dropped_ && following_ != 0 && !gives_on_) {
            gives_on_ = true;
            return event_result::applied;
        }
        if (!ours_ || revoked_ || dropped_) return event_result::stale;
        revoked_ = true;
        ready_ = now;
        return event_result::applied;
    }
    event_result apply(const partition_lost&, steady_time now)
    {
        following_ = 0;
        gives_on_ = false;
        if (!ours_) return event_result::stale;
        if (closed_ && !dropped_) rest();
        else drop(now);
        return event_result::applied;
    }
    event_result apply(const waybill::partition_lifecycle::woken&, steady_time now)
    {
        if (!reads() || failures_ != 0) return event_result::stale;
        ready_ = now;
        return event_result::applied;
    }
    event_result apply(const waybill::partition_lifecycle::partition_opened& o, steady_time now)
    {
        if (!of_this(o.epoch) || revoked_ || dropped_ || opened_) return event_result::stale;
        if (o.kind == fault_kind::none) {
            opened_ = true;
            ready_ = now;
        } else {
            failed(now);
        }
        return event_result::applied;
    }
    event_result apply(const waybill::partition_lifecycle::processed& p, steady_time now)
    {
        const bool in_hand = ours_ && revoked_ && !closed_ && !dropped_;  // when it was revoked
        if (!of_this(p.epoch) || (!reads() && !in_hand)) return event_result::stale;
        written_ = true;
        if (in_hand) return event_result::applied;
        if (p.pass == partition_lifecycle::batch_result::moved ||
            p.pass == partition_lifecycle::batch_result::drained) {
            failures_ = 0;
            ready_ = p.pass == partition_lifecycle::batch_result::drained ? now + poll : now;
        } else {
            opened_ = p.pass == partition_lifecycle::batch_result::again;
            failed(now);
        }
        return event_result::applied;
    }
    event_result apply(const waybill::partition_lifecycle::partition_closed& c, steady_time now)
    {
        if (!of_this(c.epoch) || (!dropped_ && (!revoked_ || closed_))) return event_result::stale;
        closed_ = true;
        ready_ = now;
        failures_ = 0;
        if (!dropped_) return event_result::applied;
        const std::uint64_t next = following_;
        const bool never_open = gives_on_;
        rest();
        if (next != 0) begin(next, now);
        revoked_ = closed_ = never_open;
        return event_result::applied;
    }
    event_result apply(const waybill::partition_lifecycle::partition_saved& s, steady_time now)
    {
        if (!of_this(s.epoch) || !saves()) return event_result::stale;
        if (s.kind == fault_kind::ownership_lost) {
            rest();
            return event_result::applied;
        }
        ++saves_;
        saved_ = s.kind == fault_kind::none;
        ready_ = now;
        if (!saved_ && saves_ != save_tries) failed(now);
        return event_result::applied;
    }
    event_result apply(const waybill::partition_lifecycle::partition_released& r, steady_time)
    {
        if (!of_this(r.epoch) || !gives_back()) return event_result::stale;
        rest();
        return event_result::applied;
    }

    // The rule that is broken, or nothing.
    [[nodiscard]] std::string allows(const partition_lifecycle::action& a, steady_time now) const
    {
        return waybill::match(
            a,
            [&](const partition_lifecycle::open& o) -> std::string {
                if (!ours_) return "opened without an assignment";
                if (dropped_) return "opened after it was lost";
                if (revoked_) return "opened after it was revoked";
                if (opened_) return "opened twice";
                return timely(o.epoch, now);
            },
            [&](const partition_lifecycle::process& p) -> std::string {
                if (!reads()) return "processed while it is not open";
                return timely(p.epoch, now);
            },
            [&](const partition_lifecycle::close& c) -> std::string {
                if (!ours_ || (!revoked_ && !dropped_)) return "closed for no reason";
                if (c.lost != dropped_) return "closed as what it is not";
                if (closed_ && !dropped_) return "closed twice";
                return timely(c.epoch, now);
            },
            [&](const partition_lifecycle::save& s) -> std::string {
                if (dropped_ || !ours_) return "saved after it was lost";
                if (!saves()) return "saved when it should not";
                return timely(s.epoch, now);
            },
            [&](const partition_lifecycle::release& r) -> std::string {
                if (dropped_ || !ours_) return "given back without being ours";
                if (!gives_back()) return "given back too early";
                return timely(r.epoch, now);
            },
            [&](const waybill::wait_until& w) -> std::string {
                if (!ours_) return "waits for nothing";
                if (now >= ready_) return "waits for too long";
                return w.time == ready_ ? "" : "waits until another time";
            },
            [&](const waybill::idle&) -> std::string {
                return ours_ ? "idle with a partition" : "";
            });
    }

    [[nodiscard]] bool ours() const { return ours_; }
    [[nodiscard]] steady_time ready() const { return ready_; }
    [[nodiscard]] std::uint64_t epoch() const { return epoch_; }
    [[nodiscard]] std::uint64_t highest() const { return following_ != 0 ? following_ : epoch_; }

private:
    [[nodiscard]] bool of_this(std::uint64_t epoch) const { return ours_ && epoch == epoch_; }
    [[nodiscard]] bool reads() const { return ours_ && opened_ && !revoked_ && !dropped_; }
    [[nodiscard]] bool saves() const
    {
        return ours_ && !dropped_ && closed_ && written_ && !saved_ && saves_ != save_tries;
    }
    [[nodiscard]] bool gives_back() const
    {
        return ours_ && !dropped_ && closed_ && (!written_ || saved_ || saves_ == save_tries);
    }
    [[nodiscard]] std::string timely(std::uint64_t epoch, steady_time now) const
    {
        if (epoch != epoch_) return "under another epoch";
        return now < ready_ ? "before the pause is over" : "";
    }
    void begin(std::uint64_t epoch, steady_time now)
    {
        rest();
        ours_ = true;
        epoch_ = epoch;
        ready_ = now;
    }
    void drop(steady_time now)
    {
        dropped_ = true;
        ready_ = now;
    }
    void failed(steady_time now)
    {
        ++failures_;
        ready_ = now + (failures_ == 1 ? base : failures_ == 2 ? base + base : cap);
    }
    void rest()
    {
        const std::uint64_t epoch = epoch_;
        *this = {};
        epoch_ = epoch;
    }

    std::uint64_t epoch_ = 0;
    std::uint64_t following_ = 0;
    bool ours_ = false;
    bool opened_ = false;
    bool revoked_ = false;
    bool dropped_ = false;
    bool gives_on_ = false;  // the following assignment was revoked before it began
    bool closed_ = false;
    bool written_ = false;
    bool saved_ = false;
    std::uint32_t saves_ = 0;
    std::uint32_t failures_ = 0;
    steady_time ready_;
};

// The machine itself, and mutants of it with one mistake each.
struct right {
    partition_lifecycle inner{7, options};

    template <class Event>
    event_result on(const Event& e, steady_time now)
    {
        return inner.on(e, now);
    }
    [[nodiscard]] partition_lifecycle::action next(steady_time now) const
    {
        return inner.next(now);
    }
};

struct opens_after_lost : right {
    using right::on;
    bool gone = false;
    event_result on(const partition_lost& l, steady_time now)
    {
        gone = true;
        return inner.on(l, now);
    }
    [[nodiscard]] partition_lifecycle::action next(steady_time now) const
    {
        if (gone && inner.is_idle()) return partition_lifecycle::open{7, inner.epoch()};
        return inner.next(now);
    }
};

struct saves_after_lost : right {
    using right::on;
    event_result on(const partition_lost&, steady_time now)
    {
        return inner.on(waybill::partition_lifecycle::revoked{}, now);
    }
};

struct gives_back_twice : right {
    using right::on;
    bool once = false;
    event_result on(const waybill::partition_lifecycle::partition_released& r, steady_time now)
    {
        auto copy = inner;
        if (once) return inner.on(r, now);
        once = copy.on(r, now) == event_result::applied;
        return once ? event_result::applied : event_result::stale;
    }
};

struct processes_unopened : right {
    using right::on;
    event_result on(const waybill::partition_lifecycle::assigned& a, steady_time now)
    {
        const event_result h = inner.on(a, now);
        if (h == event_result::applied)
            (void)inner.on(waybill::partition_lifecycle::partition_opened{7, a.epoch}, now);
        return h;
    }
};

struct never_pauses : right {
    [[nodiscard]] partition_lifecycle::action next(steady_time) const
    {
        return inner.next(steady_time::highest());
    }
};

struct goes_on_not_knowing : right {
    using right::on;
    event_result on(waybill::partition_lifecycle::processed p, steady_time now)
    {
        if (p.pass == partition_lifecycle::batch_result::reopen)
            p.pass = partition_lifecycle::batch_result::again;
        return inner.on(p, now);
    }
};

struct applies_older_epochs : right {
    using right::on;
    event_result on(waybill::partition_lifecycle::processed p, steady_time now)
    {
        p.epoch = inner.epoch();
        return inner.on(p, now);
    }
};

struct tries_to_save_for_ever : right {
    using right::on;
    event_result on(const waybill::partition_lifecycle::partition_saved& s, steady_time now)
    {
        const partition_lifecycle before = inner;
        const event_result h = inner.on(s, now);
        if (s.kind == fault_kind::transient && h == event_result::applied &&
            waybill::holds_alternative<partition_lifecycle::release>(inner.next(now))) {
            inner = before;
        }
        return h;
    }
};

// One run: a limited number of events, then a revocation without faults.
template <class Machine>
class life {
public:
    // Returns the broken rule, or nothing. Sets `useless` if the last event changed nothing.
    std::string run(choices& c, int depth, bool& useless)
    {
        for (int n = 0; n != depth; ++n) {
            const bool changed = happens(c);
            asks();
            if (!broken_.empty()) return broken_;
            if (changed) continue;
            useless = true;
            return {};
        }
        ends();
        return broken_;
    }

private:
    static constexpr std::uint32_t kinds = 25;

    // Applies one event. Returns false if it changed nothing or was not possible.
    bool happens(choices& c)
    {
        const std::uint64_t e = model_.epoch();
        const std::uint64_t older = e - 1;  // no epoch at all before the first one
        switch (c.pick(kinds)) {
            case 0: return tell(waybill::partition_lifecycle::assigned{model_.highest() + 2});
            case 1: return tell(waybill::partition_lifecycle::assigned{model_.highest()});
            case 2: return tell(waybill::partition_lifecycle::assigned{model_.highest() - 1});
            case 3: return tell(waybill::partition_lifecycle::partition_opened{7, e});
            case 4:
                return tell(waybill::partition_lifecycle::partition_opened{
                    7, e, fault_kind::infrastructure});
            case 5: return tell(waybill::partition_lifecycle::partition_opened{7, older});
            case 6:
                return tell(waybill::partition_lifecycle::processed{
                    7, e, partition_lifecycle::batch_result::moved});
            case 7:
                return tell(waybill::partition_lifecycle::processed{
                    7, e, partition_lifecycle::batch_result::drained});
            case 8:
                return tell(waybill::partition_lifecycle::processed{
                    7, e, partition_lifecycle::batch_result::again});
            case 9:
                return tell(waybill::partition_lifecycle::processed{
                    7, e, partition_lifecycle::batch_result::reopen});
            case 10:
                return tell(waybill::partition_lifecycle::processed{
                    7, e, partition_lifecycle::batch_result::lost});
            case 11:
                return tell(waybill::partition_lifecycle::processed{
                    7, older, partition_lifecycle::batch_result::moved});
            case 12: return tell(waybill::partition_lifecycle::revoked{});
            case 13: return tell(partition_lost{});
            case 14: return tell(waybill::partition_lifecycle::woken{7});
            case 15: return tell(waybill::partition_lifecycle::partition_closed{7, e});
            case 16: return tell(waybill::partition_lifecycle::partition_closed{7, older});
            case 17: return tell(waybill::partition_lifecycle::partition_saved{7, e});
            case 18:
                return tell(
                    waybill::partition_lifecycle::partition_saved{7, e, fault_kind::transient});
            case 19:
                return tell(waybill::partition_lifecycle::partition_saved{
                    7, e, fault_kind::ownership_lost});
            case 20: return tell(waybill::partition_lifecycle::partition_saved{7, older});
            case 21: return tell(waybill::partition_lifecycle::partition_released{7, e});
            case 22: return tell(waybill::partition_lifecycle::partition_released{7, older});
            case 23: return later();
            default: break;
        }
        return jumps();
    }

    template <class Event>
    bool tell(const Event& e)
    {
        const partition_lifecycle before = machine_.inner;
        const event_result must = model_.apply(e, now_);
        const event_result said = machine_.on(e, now_);
        if (said != must) {
            broken_ = must == event_result::stale ? "an event for another assignment is applied"
                                                  : "an event is not applied";
            return false;
        }
        const bool same = machine_.inner == before;
        if (said == event_result::applied) return !same;
        // A loss that arrives before the following assignment has begun cancels that assignment.
        if (!same && !std::is_same_v<Event, partition_lost>)
            broken_ = "a stale event changes the machine";
        return !same && broken_.empty();
    }

    bool later()
    {
        if (now_ >= model_.ready() || !model_.ours()) return false;
        now_ = model_.ready();
        return true;
    }
    // Once back by a day, then once to the end of time.
    bool jumps()
    {
        if (jumps_ == 2 || !model_.ours()) return false;
        now_ = jumps_++ == 0 ? now_ - duration::seconds(86'400) : steady_time::highest();
        return true;
    }

    void asks()
    {
        if (!broken_.empty()) return;
        const auto next = machine_.next(now_);
        if (next != machine_.next(now_)) broken_ = "next changes the machine";
        if (broken_.empty()) broken_ = model_.allows(next, now_);
    }

    void ends()
    {
        (void)tell(waybill::partition_lifecycle::revoked{});
        // At most two closes, two saves with a wait before each, and one of each other action.
        int steps = 0;
        for (; broken_.empty() && model_.ours() && steps != 9; ++steps) {
            waybill::match(
                machine_.next(now_),
                [&](const partition_lifecycle::open&) { broken_ = "opens in the end"; },
                [&](const partition_lifecycle::process&) { broken_ = "reads in the end"; },
                [&](const partition_lifecycle::close& x) {
                    (void)tell(waybill::partition_lifecycle::partition_closed{7, x.epoch});
                },
                [&](const partition_lifecycle::save& x) {
                    (void)tell(waybill::partition_lifecycle::partition_saved{7, x.epoch});
                },
                [&](const partition_lifecycle::release& x) {
                    (void)tell(waybill::partition_lifecycle::partition_released{7, x.epoch});
                },
                [&](const waybill::wait_until& w) { now_ = w.time; }, [](const waybill::idle&) {});
            asks();
        }
        if (broken_.empty() && model_.ours()) broken_ = "does not end";
    }

    Machine machine_;
    model model_;
    steady_time now_ = steady_time::at(duration::seconds(1'000'000));
    int jumps_ = 0;
    std::string broken_;
};

template <class Machine>
tests_support::verdict enumerate(const char* what, int depth, const char* rule = "")
{
    choices c;
    tests_support::verdict v;
    bool goes_on = true;
    while (goes_on) {
        bool useless = false;
        const std::string broken = life<Machine>().run(c, depth, useless);
        if (!broken.empty() && (*rule == 0 || broken == rule)) {
            v.rule = broken;
            v.line = c.line();
        }
        goes_on = (useless ? c.cut() : c.next()) && v.rule.empty();
    }
    CHECK(!c.diverged());
    v.schedules = c.completed();
    std::printf("lifecycle: %-28s %9llu runs, %9llu cut short%s%s%s%s\n", what,
                static_cast<unsigned long long>(v.schedules),
                static_cast<unsigned long long>(c.cut_short()), *rule == 0 ? "" : "; ",
                v.rule.c_str(), *rule == 0 ? "" : ": ", v.line.c_str());
    if (!v.rule.empty()) {
        auto again = choices::replay(v.line);
        REQUIRE(again.has_value());
        bool useless = false;
        CHECK(life<Machine>().run(*again, depth, useless) == v.rule);
    }
    return v;
}

TEST_CASE("lifecycle: every order of events keeps all invariants, and every run ends")
{
    const auto v = enumerate<right>("the machine", tests_support::brief ? 7 : 9);
    CHECK(v.rule == "");
    CHECK(v.schedules >= (tests_support::brief ? 40'000U : 1'000'000U));
}

TEST_CASE("deep: lifecycle: every order of ten events keeps all invariants, and every run ends" *
          doctest::skip())
{
    const auto v = enumerate<right>("the machine", 10);
    CHECK(v.rule == "");
    CHECK(v.schedules >= 5'000'000U);
}

template <class Machine>
void caught(const char* what, const char* rule, int depth = 5)
{
    CHECK(enumerate<Machine>(what, depth, rule).rule == rule);
}

TEST_CASE("lifecycle: mutants are caught")
{
    caught<opens_after_lost>("opens after it was lost", "opened without an assignment");
    caught<saves_after_lost>("takes lost for revoked", "closed as what it is not");
    caught<gives_back_twice>("gives back twice", "given back without being ours");
    caught<processes_unopened>("processes what is not open", "processed while it is not open");
    caught<never_pauses>("never pauses", "before the pause is over");
    caught<goes_on_not_knowing>("continues without a known position",
                                "processed while it is not open");
    caught<applies_older_epochs>("applies events of older epochs",
                                 "an event for another assignment is applied");
    caught<tries_to_save_for_ever>("tries to save for ever", "waits for too long", 7);
}

}  // namespace
}  // namespace lifecycle_test
