// SPDX-License-Identifier: MIT
//
// log_rules: the rules of an event log, for log_conformance.

#ifndef WAYBILL_TESTING_DETAIL_LOG_RULES_HPP
#define WAYBILL_TESTING_DETAIL_LOG_RULES_HPP

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <waybill/consume/event.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/lease/event_log.hpp>
#include <waybill/testing/detail/trial.hpp>
#include <waybill/testing/detail/trial_values.hpp>

namespace waybill::inline v0_2::testing::detail {

inline constexpr std::string_view log_bodies =
    "read: bodies of all bytes and of 0, 1, 255, 256, 4,097 and 70,000 bytes are those that were "
    "appended";
inline constexpr std::string_view log_gaps = "read: continues after a gap in the sequence numbers";
inline constexpr std::string_view log_removals = "read: continues after events that were removed";
inline constexpr std::string_view log_end_position = "end: returns the position of the last event";

/// An event as the rules compare it.
struct seen_event {
    position at{};
    std::string body{};

    friend bool operator==(const seen_event&, const seen_event&) = default;
};
using seen_events = std::vector<seen_event>;
using bodies = std::vector<std::string>;

/// The calls of the suite to a new log. `names` are its partitions.
template <class Log, class Append, class Skip, class Truncate>
struct log_trial {
    using event = std::remove_cvref_t<decltype(*std::begin(
        *std::declval<Log&>().read(std::declval<std::string>(), {}, 1)))>;
    static constexpr bool has_body = requires(const event& e) { std::string(e.body); };

    Log& log;
    Append& append;
    Skip& skip;
    Truncate& truncate;
    const store_limits& limits;
    trial& t;
    std::vector<std::string> names{};
    std::uint64_t appended = 0;  ///< In all partitions.

    [[nodiscard]] const std::string& first() const { return names.front(); }

    void add(const std::string& partition, const bodies& all)
    {
        for (const std::string& body : all) append(log, partition, body);
        appended += all.size();
    }

    /// The events of one read. A failed read is reported, and has no events.
    seen_events read(const std::string& partition, const std::optional<position>& after,
                     std::uint64_t max_count)
    {
        seen_events seen;
        const auto events = log.read(partition, after, max_count);
        t.holds(events.has_value(), "read: returns events, or none, if the log can be reached");
        if (!events) return seen;
        for (const auto& e : *events) {
            seen.push_back({waybill::position_of(e), {}});
            if constexpr (has_body) seen.back().body = std::string(e.body);
        }
        t.holds(seen.size() <= max_count, "read: returns at most `max_count` events");
        return seen;
    }

    /// All events after a position, read in pages of `max_count`. Ends after more events than were
    /// appended.
    seen_events read_all(const std::string& partition, std::optional<position> after,
                         std::uint64_t max_count)
    {
        seen_events all;
        while (all.size() <= appended) {
            const seen_events page = read(partition, after, max_count);
            if (page.empty()) break;
            all.insert(all.end(), page.begin(), page.end());
            after = page.back().at;
        }
        return all;
    }

    /// True if the bodies are those that were appended. Of events without bodies it compares the
    /// number.
    [[nodiscard]] static bool have_bodies(const seen_events& events, const bodies& appended)
    {
        if (!has_body) return events.size() == appended.size();
        return std::equal(events.begin(), events.end(), appended.begin(), appended.end(),
                          [](const seen_event& e, const std::string& b) { return e.body == b; });
    }
};

[[nodiscard]] inline bool ascend(const seen_events& events)
{
    for (std::size_t n = 1; n < events.size(); ++n) {
        if (events[n].at.sequence <= events[n - 1].at.sequence) return false;
    }
    return true;
}

[[nodiscard]] inline seen_events events_from(const seen_events& all, std::size_t first)
{
    return {all.begin() + static_cast<std::ptrdiff_t>(first), all.end()};
}

/// Rules of one partition that has the events `all`.
template <class X>
void log_read_rules(X& x, const std::string& partition, const seen_events& all)
{
    bool after_kept = true;
    bool pages_equal = true;
    for (std::size_t n = 0; n != all.size(); ++n) {
        const seen_events rest = events_from(all, n + 1);
        for (const std::uint64_t max_count : {1U, 2U, 3U, 100U}) {
            const seen_events page = x.read_all(partition, all[n].at, max_count);
            if (max_count == 100U) after_kept = page == rest && after_kept;
            else pages_equal = page == rest && pages_equal;
        }
    }
    for (const std::uint64_t max_count : {1U, 2U, 3U, 5U, 7U})
        pages_equal = x.read_all(partition, {}, max_count) == all && pages_equal;
    x.t.holds(after_kept,
              "read: returns exactly the events after the position, not the event at it");
    x.t.holds(pages_equal, "read: pages of any size contain each event once, in the same order");
    x.t.holds(x.read_all(partition, {}, 100) == all,
              "read: removes nothing; the same events are returned again");
}

template <class X>
void log_partition_rules(X& x)
{
    const auto again = x.log.partitions();
    bool unique = again && *again == x.names;
    for (const std::string& name : x.names)
        unique = std::count(x.names.begin(), x.names.end(), name) == 1 && unique;
    x.t.holds(unique, "partitions: returns each name once, and the same names in the same order");

    const std::string& a = x.first();
    const std::string& b = x.names.back();
    x.t.holds(x.read(a, {}, 10).empty(), "read: an empty partition has no events");
    bodies bodies_a;
    bodies bodies_b;
    constexpr int events = 11;
    for (int n = 0; n != events; ++n) {
        bodies_a.push_back("a" + std::to_string(n));
        x.add(a, {bodies_a.back()});
        if (n % 3 != 0 || a == b) continue;
        bodies_b.push_back("b" + std::to_string(n));
        x.add(b, {bodies_b.back()});
    }
    const seen_events all = x.read_all(a, {}, 100);
    x.t.holds(x.have_bodies(all, bodies_a),
              "read: returns all events of the partition, in the order in which they were "
              "appended, and no others");
    x.t.holds(ascend(all), "read: sequence numbers ascend");
    if (all.size() != bodies_a.size()) return;
    log_read_rules(x, a, all);
    if (a == b) {
        x.t.untested("read: partitions are independent", "a log with two partitions");
    } else {
        const seen_events others = x.read_all(b, {}, 100);
        x.t.holds(x.have_bodies(others, bodies_b) && ascend(others),
                  "read: partitions are independent");
    }
    // New events are seen after a read that has reached the end.
    x.t.holds(x.read(a, all.back().at, 10).empty(), "read: after the last event there is none");
    x.add(a, {"later"});
    x.t.holds(x.have_bodies(x.read(a, all.back().at, 10), {"later"}),
              "read: an event that is appended later is returned by the next read");
}

template <class X>
void log_end_rules([[maybe_unused]] X& x)
{
    if constexpr (waybill::detail::log_with_end<std::remove_cvref_t<decltype(x.log)>>) {
        x.t.holds(x.log.end(x.first()).has_value(), "end: an empty partition is no error");
        for (const char* body : {"1", "2", "3"}) {
            x.add(x.first(), {body});
            const seen_events all = x.read_all(x.first(), {}, 100);
            const auto end = x.log.end(x.first());
            x.t.holds(!all.empty() && end && *end && (*end)->sequence == all.back().at.sequence,
                      log_end_position);
        }
    }
}

template <class X>
void log_gap_rules([[maybe_unused]] X& x)
{
    if constexpr (requires { x.skip(x.log, x.first()); }) {
        const std::string& a = x.first();
        const bodies appended{"0", "1", "2", "3", "4", "5"};
        for (const std::string& body : appended) {
            x.add(a, {body});
            x.skip(x.log, a);
        }
        const seen_events all = x.read_all(a, {}, 100);
        bool whole = x.have_bodies(all, appended);
        for (const std::uint64_t max_count : {1U, 2U, 3U, 4U})
            whole = x.read_all(a, {}, max_count) == all && whole;
        x.t.holds(whole, log_gaps);
        bool in_gap = true;
        for (std::size_t n = 0; n + 1 < all.size(); ++n) {
            position inside = all[n].at;
            if (++inside.sequence >= all[n + 1].at.sequence) continue;
            in_gap = x.read_all(a, inside, 100) == events_from(all, n + 1) && in_gap;
        }
        x.t.holds(in_gap, "read: a position in a gap continues with the next event");
    }
}

template <class X>
void log_truncation_rules([[maybe_unused]] X& x)
{
    if constexpr (requires { x.truncate(x.log, x.first(), std::uint64_t{}); }) {
        const std::string& a = x.first();
        x.add(a, {"1", "2", "3", "4", "5"});
        const seen_events all = x.read_all(a, {}, 100);
        if (all.size() != 5) return;
        x.truncate(x.log, a, all[2].at.sequence);
        const seen_events left = events_from(all, 3);
        x.t.holds(x.read_all(a, {}, 100) == left,
                  "read: without a position, it begins with the first event that is left");
        // A log may refuse a position whose following events are removed, but must not skip others.
        const auto old = x.log.read(a, all[0].at, 100);
        x.t.holds(!old || x.read_all(a, all[0].at, 100) == left,
                  "read: a position before the first event that is left continues with that "
                  "event, or is an error");
        x.t.holds(x.read_all(a, all[3].at, 100) == events_from(all, 4),
                  "read: the removal of old events does not change the events after it");
    }
}

template <class X>
void log_body_rules(X& x)
{
    bodies all = sized_values(x.limits.shortest_body, x.limits.longest_body, x.limits.any_bytes);
    for (const std::string& text : odd_texts()) {
        if (x.limits.any_bytes && text.size() >= x.limits.shortest_body) all.push_back(text);
    }
    x.add(x.first(), all);
    x.t.holds(x.have_bodies(x.read_all(x.first(), {}, 1'000), all), log_bodies);
}

/// More events than a request returns.
template <class X>
void log_page_rules(X& x)
{
    bodies all;
    for (int n = 0; n != 1'100; ++n) all.push_back("event " + std::to_string(n));
    x.add(x.first(), all);
    for (const std::uint64_t max_count : {100U, 1'001U, 5'000U}) {
        x.t.holds(x.have_bodies(x.read_all(x.first(), {}, max_count), all),
                  "read: pages of 100, 1,001 and 5,000 of 1,100 events contain each event once");
    }
}

/// Numbers that change in 32 bits, in a double or with a sign.
template <class X>
void log_number_rules(X& x)
{
    const std::string& a = x.first();
    x.add(a, {"1", "2", "3"});
    const seen_events all = x.read_all(a, {}, 100);
    if (all.empty()) return;
    for (const std::uint64_t n : numbers_of_64_bits) {
        if (n != 0) {
            x.t.holds(x.read_all(a, {}, n) == all, "read: `max_count` is compared in all 64 bits");
        }
        if (n <= all.back().at.sequence) continue;
        const auto events = x.log.read(a, position{n, {}}, 100);
        x.t.holds(!events || std::begin(*events) == std::end(*events),
                  "read: a position above the last event has no events, or is an error; sequence "
                  "numbers are compared in all 64 bits");
    }
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_LOG_RULES_HPP
