// SPDX-License-Identifier: MIT
//
// log_rules: the rules of an event log, for log_conformance.

#ifndef WAYBILL_TESTING_DETAIL_LOG_RULES_HPP
#define WAYBILL_TESTING_DETAIL_LOG_RULES_HPP

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <waybill/consume/event.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/lease/event_log.hpp>
#include <waybill/testing/detail/trial.hpp>

namespace waybill::inline v0_2::testing::detail {

/// An event as the rules compare it.
struct seen_event {
    position at{};
    std::string body{};

    friend bool operator==(const seen_event&, const seen_event&) = default;
};
using seen_events = std::vector<seen_event>;

/// The calls of the suite to an event log.
template <class Log>
class log_trial {
public:
    log_trial(Log& log, trial& t) : log_(log), trial_(t) {}

    /// The events of one read. A failed read is reported, and has no events.
    seen_events read(const std::string& partition, const std::optional<position>& after,
                     std::uint64_t max_count)
    {
        seen_events seen;
        const auto events = log_.read(partition, after, max_count);
        trial_.holds(events.has_value(),
                     "read: returns events, or none, if the log can be reached");
        if (!events) return seen;
        for (const auto& e : *events) {
            seen.push_back({waybill::position_of(e), {}});
            if constexpr (requires { std::string(e.body); }) seen.back().body = std::string(e.body);
        }
        trial_.holds(seen.size() <= max_count, "read: returns at most `max_count` events");
        return seen;
    }

    /// All events after a position, read in pages of `max_count`.
    seen_events read_all(const std::string& partition, std::optional<position> after,
                         std::uint64_t max_count)
    {
        constexpr int max_pages = 100;  // far more than the suite has events
        seen_events all;
        for (int n = 0; n != max_pages; ++n) {
            const seen_events page = read(partition, after, max_count);
            if (page.empty()) break;
            all.insert(all.end(), page.begin(), page.end());
            after = page.back().at;
        }
        return all;
    }

private:
    Log& log_;
    trial& trial_;
};

[[nodiscard]] inline bool ascend(const seen_events& events)
{
    for (std::size_t n = 1; n < events.size(); ++n) {
        if (events[n].at.sequence <= events[n - 1].at.sequence) return false;
    }
    return true;
}

/// True if the bodies are those that were appended, or if the events have no bodies.
[[nodiscard]] inline bool have_bodies(const seen_events& events,
                                      const std::vector<std::string>& bodies)
{
    if (events.size() != bodies.size()) return false;
    bool any_body = false;
    bool equal = true;
    for (std::size_t n = 0; n != events.size(); ++n) {
        any_body = any_body || !events[n].body.empty();
        equal = equal && events[n].body == bodies[n];
    }
    return equal || !any_body;
}

[[nodiscard]] inline seen_events events_from(const seen_events& all, std::size_t first)
{
    return {all.begin() + static_cast<std::ptrdiff_t>(first), all.end()};
}

/// Rules of one partition that has the events `all`, with the bodies that were appended.
template <class Log>
void log_read_rules(log_trial<Log>& reads, const std::string& partition, const seen_events& all,
                    trial& t)
{
    bool after_kept = true;
    bool pages_equal = true;
    for (std::size_t n = 0; n != all.size(); ++n) {
        const seen_events rest = events_from(all, n + 1);
        for (const std::uint64_t max_count : {1U, 2U, 3U, 100U}) {
            const seen_events page = reads.read_all(partition, all[n].at, max_count);
            if (max_count == 100U) after_kept = page == rest && after_kept;
            else pages_equal = page == rest && pages_equal;
        }
    }
    for (const std::uint64_t max_count : {1U, 2U, 3U, 5U, 7U})
        pages_equal = reads.read_all(partition, {}, max_count) == all && pages_equal;
    t.holds(after_kept, "read: returns exactly the events after the position, not the event at it");
    t.holds(pages_equal, "read: pages of any size contain each event once, in the same order");
    t.holds(reads.read_all(partition, {}, 100) == all,
            "read: removes nothing; the same events are returned again");
}

/// `append(log, partition, body)` appends one event.
template <class Log, class Append>
void log_rules(Log& log, Append& append, trial& t)
{
    const auto listed = log.partitions();
    t.holds(listed.has_value() && !listed->empty(), "partitions: returns at least one name");
    if (!listed || listed->empty()) return;
    const auto again = log.partitions();
    bool unique = again && *again == *listed;
    for (std::size_t n = 0; n != listed->size(); ++n) {
        for (std::size_t other = 0; other != n; ++other)
            unique = unique && (*listed)[n] != (*listed)[other];
    }
    t.holds(unique, "partitions: returns each name once, and the same names in the same order");

    log_trial<Log> reads(log, t);
    const std::string& a = listed->front();
    const std::string& b = listed->back();
    t.holds(reads.read(a, {}, 10).empty(), "read: an empty partition has no events");
    std::vector<std::string> bodies_a;
    std::vector<std::string> bodies_b;
    constexpr int events = 11;
    for (int n = 0; n != events; ++n) {
        bodies_a.push_back("a" + std::to_string(n));
        append(log, a, bodies_a.back());
        if (n % 3 != 0 || a == b) continue;
        bodies_b.push_back("b" + std::to_string(n));
        append(log, b, bodies_b.back());
    }
    const seen_events all = reads.read_all(a, {}, 100);
    t.holds(have_bodies(all, bodies_a),
            "read: returns all events of the partition, in the order "
            "in which they were appended, and no others");
    t.holds(ascend(all), "read: sequence numbers ascend");
    if (all.size() != bodies_a.size()) return;
    log_read_rules(reads, a, all, t);
    if (a == b) {
        t.untested("read: partitions are independent", "a log with two partitions");
    } else {
        const seen_events others = reads.read_all(b, {}, 100);
        t.holds(have_bodies(others, bodies_b) && ascend(others),
                "read: partitions are independent");
    }
    // New events are seen after a read that has reached the end.
    t.holds(reads.read(a, all.back().at, 10).empty(), "read: after the last event there is none");
    append(log, a, std::string("later"));
    const seen_events later = reads.read(a, all.back().at, 10);
    t.holds(have_bodies(later, {"later"}) && later.size() == 1,
            "read: an event that is appended later is returned by the next read");
}

/// Rules of `end`, on a new log.
template <class Log, class Append>
void log_end_rules([[maybe_unused]] Log& log, [[maybe_unused]] Append& append, trial& t)
{
    constexpr std::string_view rule = "end: returns the position of the last event";
    if constexpr (!waybill::detail::log_with_end<Log>) {
        t.untested(rule, "a log with the call end");
    } else {
        const auto listed = log.partitions();
        if (!listed || listed->empty()) return;
        const std::string& a = listed->front();
        t.holds(log.end(a).has_value(), "end: an empty partition is no error");
        log_trial<Log> reads(log, t);
        for (const char* body : {"1", "2", "3"}) {
            append(log, a, std::string(body));
            const seen_events all = reads.read_all(a, {}, 100);
            const auto end = log.end(a);
            t.holds(!all.empty() && end && *end && (*end)->sequence == all.back().at.sequence,
                    rule);
        }
    }
}

/// Rules of gaps, on a new log. `skip(log, partition)` makes the sequence numbers of the partition
/// continue after a gap.
template <class Log, class Append, class Skip>
void log_gap_rules(Log& log, Append& append, Skip& skip, trial& t)
{
    const auto listed = log.partitions();
    if (!listed || listed->empty()) return;
    const std::string& a = listed->front();
    std::vector<std::string> bodies;
    for (int n = 0; n != 6; ++n) {
        bodies.push_back(std::to_string(n));
        append(log, a, bodies.back());
        skip(log, a);
    }
    log_trial<Log> reads(log, t);
    const seen_events all = reads.read_all(a, {}, 100);
    bool whole = have_bodies(all, bodies);
    for (const std::uint64_t max_count : {1U, 2U, 3U, 4U})
        whole = reads.read_all(a, {}, max_count) == all && whole;
    t.holds(whole, "read: continues after a gap in the sequence numbers");
    bool in_gap = true;
    for (std::size_t n = 0; n + 1 < all.size(); ++n) {
        position inside = all[n].at;
        if (++inside.sequence >= all[n + 1].at.sequence) continue;
        in_gap = reads.read_all(a, inside, 100) == events_from(all, n + 1) && in_gap;
    }
    t.holds(in_gap, "read: a position in a gap continues with the next event");
}

/// Rules of a log that removes old events, on a new log. `truncate(log, partition, sequence)`
/// removes the events of the partition up to `sequence`.
template <class Log, class Append, class Truncate>
void log_truncation_rules(Log& log, Append& append, Truncate& truncate, trial& t)
{
    const auto listed = log.partitions();
    if (!listed || listed->empty()) return;
    const std::string& a = listed->front();
    for (const char* body : {"1", "2", "3", "4", "5"}) append(log, a, std::string(body));
    log_trial<Log> reads(log, t);
    const seen_events all = reads.read_all(a, {}, 100);
    if (all.size() != 5) return;
    truncate(log, a, all[2].at.sequence);
    const seen_events left = events_from(all, 3);
    t.holds(reads.read_all(a, {}, 100) == left,
            "read: without a position, it begins with the first event that is left");
    // A log may refuse a position whose following events are removed, but must not skip others.
    const auto old = log.read(a, all[0].at, 100);
    t.holds(!old || reads.read_all(a, all[0].at, 100) == left,
            "read: a position before the first event that is left continues with that event, or "
            "is an error");
    t.holds(reads.read_all(a, all[3].at, 100) == events_from(all, 4),
            "read: the removal of old events does not change the events after it");
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_LOG_RULES_HPP
