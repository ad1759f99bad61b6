// SPDX-License-Identifier: MIT
//
// Random logs and random events of a tracker, against a model in std::map and std::set. Events are
// begun and done in any order, reported twice, late or wrongly. Partitions are revoked, assigned,
// and taken over with the complete or shortened bytes. Logs are truncated. After each step all
// queries agree.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>
#include <support/dice.hpp>

#include <waybill/tracking/completion_tracker.hpp>
#include <waybill/tracking/stuck_watch.hpp>
#include <waybill/tracking/tracker_bytes.hpp>

namespace completion_tracker_properties {
namespace {

using tests_support::dice;
using waybill::completion_tracker;
using waybill::event_result;
using waybill::tracked_event;
using waybill::tracker_options;

constexpr std::uint64_t highest = ~std::uint64_t{0};

// Ascending positions: consecutive, small gaps, wide gaps, some up to the largest number.
std::vector<std::uint64_t> any_log(dice& roll)
{
    std::vector<std::uint64_t> log;
    std::uint64_t at = roll.one_in(4) ? 0 : roll(1'000);
    const std::uint64_t many = roll(roll.one_in(4) ? 3'000 : 200) + 1;
    std::uint64_t most = 1;
    while (log.size() != many) {
        log.push_back(at);
        if (roll.one_in(40)) most = roll.any_of({1U, 1U, 2U, 10U, 40U, 5'000U, 1'000'000U});
        at += 1 + roll(most);
        if (roll.one_in(200)) at += std::uint64_t{1} << roll(60);
    }
    if (roll.one_in(3)) {
        const std::uint64_t up = highest - log.back();
        for (std::uint64_t& s : log) s += up;
    }
    return log;
}

struct model {
    tracker_options options;
    bool assigned = true;
    std::optional<std::uint64_t> mark;
    std::optional<std::uint64_t> last;
    std::map<std::uint64_t, bool> events;  // true: in flight; from the oldest in flight on
    std::set<std::uint64_t> before;        // done by an earlier owner, not passed yet

    std::uint64_t in_flight() const
    {
        std::uint64_t n = 0;
        for (const auto& e : events) n += e.second;
        return n;
    }

    void settle()
    {
        while (!events.empty() && !events.begin()->second) {
            mark = events.begin()->first;
            events.erase(events.begin());
        }
    }

    std::optional<completion_tracker::track_error> begin(std::uint64_t s)
    {
        if (!assigned) return completion_tracker::track_error::not_assigned;
        if (mark && s <= *mark) return completion_tracker::track_error::behind;
        if (last && s <= *last) {
            const auto found = events.find(s);
            if (found == events.end()) return completion_tracker::track_error::not_ascending;
            return found->second ? completion_tracker::track_error::duplicate
                                 : completion_tracker::track_error::done_before;
        }
        const bool full = in_flight() >= options.max_in_flight || events.size() >= options.span;
        if (full) return completion_tracker::track_error::full;
        const bool done = before.contains(s);
        before.erase(before.begin(), before.upper_bound(s));
        events[s] = !done;
        last = s;
        settle();
        if (done) return completion_tracker::track_error::done_before;
        return {};
    }

    bool complete(std::uint64_t s)
    {
        const auto found = events.find(s);
        if (found == events.end() || !found->second) return false;
        found->second = false;
        settle();
        return true;
    }

    void forget_below(std::uint64_t s)
    {
        if (s == 0 || (mark && *mark >= s - 1)) return;
        mark = s - 1;
        if (!events.empty() && events.begin()->first < s) {
            const auto rest = std::find_if(events.lower_bound(s), events.end(),
                                           [](const auto& e) { return e.second; });
            for (auto e = events.begin(); e != rest; ++e) mark = std::max(*mark, e->first);
            events.erase(events.begin(), rest);
        }
        if (!last || *last < *mark) last = mark;
        before.erase(before.begin(), before.lower_bound(s));
    }

    void start_over(bool ours)
    {
        assigned = ours;
        events.clear();
        before.clear();
        last = mark;
    }

    // Done after the watermark, ascending.
    std::set<std::uint64_t> done() const
    {
        std::set<std::uint64_t> all = before;
        for (const auto& e : events) {
            if (!e.second) all.insert(e.first);
        }
        return all;
    }
};

void agree(const completion_tracker& t, const model& m)
{
    RC_ASSERT(t.watermark() == m.mark);
    RC_ASSERT(t.in_flight() == m.in_flight());
    RC_ASSERT(t.pending() == m.events.size());
    RC_ASSERT(t.assigned() == m.assigned);
    const bool has_room =
        m.in_flight() < m.options.max_in_flight && m.events.size() < m.options.span;
    RC_ASSERT(t.can_accept() == (m.assigned && has_room));
    std::optional<std::uint64_t> newest = m.mark;
    for (const auto& e : m.events) {
        if (!e.second) newest = e.first;
    }
    RC_ASSERT(t.high_water() == newest);
    const auto b = t.blocked_by();
    RC_ASSERT(b.has_value() == !m.events.empty());
    if (b) {
        RC_ASSERT(b->sequence == m.events.begin()->first);
        RC_ASSERT(b->waiting == m.events.size() - m.in_flight());
    }
    if (m.mark && *m.mark != highest) RC_ASSERT(t.resume_at() == *m.mark + 1);
    if (m.assigned && m.last) {
        RC_ASSERT(t.expected() == (*m.last == highest ? std::nullopt : std::optional(*m.last + 1)));
    }
}

struct life {
    explicit life(std::uint64_t seed) : roll(seed), log(any_log(roll))
    {
        m.options.max_in_flight = 1 + roll(roll.one_in(2) ? 10 : 2'000);
        m.options.span = m.options.max_in_flight + roll(roll.one_in(2) ? 10 : 4'000);
        t = completion_tracker(m.options);
        hand_overs = roll.any_of({4U, 40U, 400U});
    }

    void step()
    {
        switch (roll.one_in(hand_overs) ? 9 : roll(roll.one_in(30) ? 12 : 8)) {
            case 0:
            case 1:
            case 2: begin_next(); break;
            case 3:
            case 4:
            case 5:
            case 6: complete_any(); break;
            case 7: roll.one_in(2) ? begin_again() : complete_late(); break;
            case 8: forget(); break;
            case 9: hand_over(); break;
            case 10: again(); break;
            default: copy(); break;
        }
        agree(t, m);
    }

    void begin_next()
    {
        for (std::uint64_t n = 1 + roll(8); n != 0 && cursor != log.size(); --n) {
            const std::uint64_t s = log[cursor];
            const auto refused = m.begin(s);
            const auto began = t.begin(s);
            RC_ASSERT(began.has_value() == !refused.has_value());
            if (refused) RC_ASSERT(began.error() == *refused);
            else open.push_back(*began);
            if (refused == completion_tracker::track_error::full) return;
            ++cursor;
        }
    }

    void begin_again()
    {
        const std::uint64_t s = log[roll(cursor + 1) % log.size()] + (roll.one_in(3) ? roll(3) : 0);
        if (!(m.last && s <= *m.last) && m.assigned) return;
        const auto refused = m.begin(s);
        RC_ASSERT(refused.has_value());
        RC_ASSERT(t.begin(s).error() == *refused);
    }

    void complete_any()
    {
        if (open.empty()) return;
        // The oldest one sometimes, or the watermark never moves.
        const std::size_t at = roll.one_in(3) ? 0 : roll(open.size());
        tracked_event k = open[at];
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
        if (roll.one_in(10)) k.number = static_cast<std::uint32_t>(roll.bits());
        const bool done = m.complete(k.sequence);
        RC_ASSERT(t.complete(k) == (done ? event_result::applied : event_result::stale));
        over.push_back(k);
        RC_ASSERT(t.complete(k) == event_result::stale);
    }

    void complete_late()
    {
        if (over.empty()) return;
        tracked_event k = over[roll(over.size())];
        if (roll.one_in(3)) k.sequence += roll(3);
        if (k.generation == t.generation()) {
            const auto e = m.events.find(k.sequence);
            if (e != m.events.end() && e->second) return;
        }
        RC_ASSERT(t.complete(k) == event_result::stale);
    }

    void forget()
    {
        const std::uint64_t s = log[roll(log.size())] + roll(3);
        m.forget_below(s);
        t.forget_below(s);
        const completion_tracker once = t;
        t.forget_below(s);
        RC_ASSERT(once == t);
        find_cursor();
    }

    void again()
    {
        over.insert(over.end(), open.begin(), open.end());
        open.clear();
        const auto generation = t.generation();
        if (roll.one_in(2)) {
            t.revoke();
            m.start_over(false);
            agree(t, m);
            RC_ASSERT(!t.expected());
            RC_ASSERT(t.begin(log[0]).error() == completion_tracker::track_error::not_assigned);
        }
        t.assign(m.mark);
        m.start_over(true);
        find_cursor();
        RC_ASSERT(t.generation() > generation);
    }

    void hand_over()
    {
        const auto all = m.done();
        const std::uint64_t most = roll.one_in(3) ? roll(40) : 1'000'000;
        const bool text = roll.one_in(2);
        const waybill::tracker_budget budget{.max_bytes = most};
        const auto beside = text ? waybill::encode_text(t, budget) : waybill::encode(t, budget);
        RC_ASSERT(beside.bytes.size() <= most);
        RC_ASSERT(beside.kept + beside.dropped >= all.size());
        const auto start = text ? waybill::decode_text(m.mark, beside.bytes)
                                : waybill::decode(m.mark, beside.bytes);
        RC_ASSERT(start.has_value());
        over.insert(over.end(), open.begin(), open.end());
        open.clear();
        t.resume(*start);
        m.start_over(true);
        for (const std::uint64_t s : all) {
            if (holds(start->done, s)) m.before.insert(s);
        }
        if (beside.dropped == 0) RC_ASSERT(m.before == all);
        // The nearest positions are kept.
        if (!m.before.empty()) RC_ASSERT(*m.before.rbegin() <= *all.rbegin());
        RC_ASSERT(std::equal(m.before.begin(), m.before.end(), all.begin()));
        find_cursor();
    }

    static bool holds(const waybill::detail::done_runs& runs, std::uint64_t s)
    {
        for (std::uint64_t n = 0; n != runs.size(); ++n) {
            if (runs[n].first <= s && s <= runs[n].last) return true;
        }
        return false;
    }

    void copy()
    {
        completion_tracker other(t);
        RC_ASSERT(other == t);
        completion_tracker moved(std::move(t));
        RC_ASSERT(moved == other);
        RC_ASSERT(t.in_flight() == 0u);
        t = std::move(moved);
        RC_ASSERT(t == other);
        RC_ASSERT(t.bytes() < 300'000u);
    }

    void find_cursor()
    {
        cursor = 0;
        while (cursor != log.size() && m.last && log[cursor] <= *m.last) ++cursor;
    }

    dice roll;
    std::vector<std::uint64_t> log;
    model m;
    completion_tracker t;
    std::uint64_t hand_overs = 1;
    std::size_t cursor = 0;
    std::vector<tracked_event> open;
    std::vector<tracked_event> over;
};

TEST_CASE("completion_tracker: after any events of any log, all queries equal those of a model")
{
    CHECK(rc::check("any events of any log", [](std::uint64_t seed) {
        life l(seed);
        for (int n = 0; n != 1'500; ++n) l.step();
    }));
}

}  // namespace
}  // namespace completion_tracker_properties
