// SPDX-License-Identifier: MIT
//
// log_conformance: memory_log conforms, and each of some logs that are subtly wrong does not.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/testing/log_conformance.hpp>
#include <waybill/testing/memory_log.hpp>

namespace log_conformance_test {
namespace {

using waybill::position;
using waybill::result;
using waybill::testing::memory_event;
using waybill::testing::memory_log;

using events = std::vector<memory_event>;

enum class wrong : std::uint8_t {
    nothing,
    skips_after_a_short_read,  // continues after the requested events, not after the returned ones
    returns_the_event_at_the_position,
    reverses_a_page,
    reads_another_partition,
    stops_at_a_gap,
    counts_events_instead_of_sequences,
    ignores_the_limit,
    consumes_what_it_returns,
    remembers_the_end,           // once a read has found nothing, nothing follows
    returns_all_when_truncated,  // a position before the first event is taken for an unknown one
    skips_the_first_left,
    misses_the_last_event,
    names_a_partition_twice,
    end_is_the_next_sequence,
    end_is_that_of_the_first_read,
    first_event_is_after_the_beginning,
    loses_empty_bodies,
    ends_bodies_at_zero,
    cuts_bodies_at_65535,
    stores_1000_events,
    positions_of_32_bits,
    limits_of_32_bits,
};

constexpr wrong all_wrong[] = {wrong::skips_after_a_short_read,
                               wrong::returns_the_event_at_the_position,
                               wrong::reverses_a_page,
                               wrong::reads_another_partition,
                               wrong::stops_at_a_gap,
                               wrong::counts_events_instead_of_sequences,
                               wrong::ignores_the_limit,
                               wrong::consumes_what_it_returns,
                               wrong::remembers_the_end,
                               wrong::returns_all_when_truncated,
                               wrong::skips_the_first_left,
                               wrong::misses_the_last_event,
                               wrong::names_a_partition_twice,
                               wrong::end_is_the_next_sequence,
                               wrong::end_is_that_of_the_first_read,
                               wrong::first_event_is_after_the_beginning,
                               wrong::loses_empty_bodies,
                               wrong::ends_bodies_at_zero,
                               wrong::cuts_bodies_at_65535,
                               wrong::stores_1000_events,
                               wrong::positions_of_32_bits,
                               wrong::limits_of_32_bits};

struct log_under_test {
    wrong how;
    memory_log<> kept{{"0", "1"}};
    std::uint64_t gap = 0;
    std::uint64_t asked_for = 0;
    bool at_end = false;
    std::optional<std::optional<position>> first_end{};

    result<std::vector<std::string>> partitions()
    {
        auto names = kept.partitions();
        if (how == wrong::names_a_partition_twice) names->push_back("1");
        return names;
    }

    result<events> read(const std::string& partition, std::optional<position> after,
                        std::uint64_t max_count)
    {
        if (how == wrong::positions_of_32_bits && after)
            after->sequence = static_cast<std::uint32_t>(after->sequence);
        if (how == wrong::limits_of_32_bits) max_count = static_cast<std::uint32_t>(max_count);
        const std::string name = how == wrong::reads_another_partition ? "0" : partition;
        const bool needs_all =
            how == wrong::returns_all_when_truncated || how == wrong::skips_the_first_left ||
            how == wrong::counts_events_instead_of_sequences || how == wrong::misses_the_last_event;
        events whole = *kept.read(name, {}, needs_all ? 10'000 : 0);
        if (how == wrong::returns_the_event_at_the_position && after && after->sequence != 0)
            --after->sequence;
        if (how == wrong::first_event_is_after_the_beginning && !after) after = position{1, {}};
        if (how == wrong::returns_all_when_truncated && after && !whole.empty() &&
            after->sequence < whole.front().sequence && whole.front().sequence > 1) {
            return events{};
        }
        if (how == wrong::skips_the_first_left && !whole.empty() && whole.front().sequence > 1 &&
            after && after->sequence < whole.front().sequence) {
            after = position{whole.front().sequence, {}};
        }
        if (how == wrong::remembers_the_end && at_end) return events{};
        if (how == wrong::counts_events_instead_of_sequences) {
            const auto first = std::min<std::uint64_t>(after ? after->sequence : 0, whole.size());
            whole.erase(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(first));
            if (whole.size() > max_count)
                whole.erase(whole.begin() + static_cast<std::ptrdiff_t>(max_count), whole.end());
            return whole;
        }
        events found =
            *kept.read(name, after, how == wrong::ignores_the_limit ? max_count + 1 : max_count);
        if (how == wrong::skips_after_a_short_read) {
            // Returns half of the requested events, and continues after all of them.
            if (after && asked_for != 0 && after->sequence == asked_for - 1 && !found.empty())
                found.erase(found.begin());
            if (found.size() == max_count && max_count > 2) {
                asked_for = found.back().sequence;
                found.pop_back();
            }
        }
        if (how == wrong::reverses_a_page) std::reverse(found.begin(), found.end());
        if (how == wrong::stops_at_a_gap) {
            for (std::size_t n = 1; n < found.size(); ++n) {
                if (found[n].sequence == found[n - 1].sequence + 1) continue;
                found.resize(n);
            }
            if (after && !found.empty() && found[0].sequence != after->sequence + 1) found.clear();
        }
        if (how == wrong::consumes_what_it_returns && !found.empty())
            kept.truncate(name, found.back().sequence);
        if (how == wrong::misses_the_last_event && !found.empty() && !whole.empty() &&
            found.back() == whole.back()) {
            found.pop_back();
        }
        at_end = at_end || (found.empty() && after);
        return found;
    }

    result<std::optional<position>> end(const std::string& partition)
    {
        auto last = kept.end(partition);
        if (how == wrong::end_is_the_next_sequence && *last) ++(*last)->sequence;
        if (how == wrong::end_is_that_of_the_first_read) {
            if (!first_end) first_end = *last;
            return *first_end;
        }
        return last;
    }
};

waybill::testing::conformance_report tried(wrong how,
                                           const waybill::testing::store_limits& limits = {})
{
    return waybill::testing::log_conformance(
        [&] { return log_under_test{how}; },
        [](log_under_test& l, const std::string& partition, std::string body) {
            const auto end = *l.kept.end(partition);
            if (l.how == wrong::loses_empty_bodies && body.empty()) return;
            if (l.how == wrong::stores_1000_events && end && end->sequence == 1'000) return;
            if (l.how == wrong::ends_bodies_at_zero) body = body.c_str();
            if (l.how == wrong::cuts_bodies_at_65535 && body.size() > 65'535) body.resize(65'535);
            l.kept.append(partition, {(end ? end->sequence : 0) + 1 + std::exchange(l.gap, 0),
                                      std::move(body)});
        },
        [](log_under_test& l, const std::string&) { l.gap = 3; },
        [](log_under_test& l, const std::string& partition, std::uint64_t sequence) {
            l.kept.truncate(partition, sequence);
        },
        limits);
}

TEST_CASE("log_conformance: memory_log conforms")
{
    const auto report = tried(wrong::nothing);
    CHECK(report.untested.empty());
    for (const std::string& rule : report.broken) MESSAGE(rule);
    CHECK(report.broken.empty());
}

TEST_CASE("memory_log: is constructed from a container of containers of events")
{
    const std::vector<events> all{{{1, "a"}, {4, "b"}}, {}, {{7, "c"}}};
    const memory_log log(all);
    static_assert(std::is_same_v<decltype(log), const memory_log<memory_event>>);
    CHECK(*log.partitions() == std::vector<std::string>{"0", "1", "2"});
    CHECK(*log.read("0", position{1}, 10) == events{{4, "b"}});
    CHECK(log.read("1", {}, 10)->empty());
    CHECK(*log.read("2", {}, 10) == all[2]);
    CHECK((*log.end("0"))->sequence == 4);
    CHECK_FALSE(*log.end("1"));

    struct order {
        std::uint64_t sequence;
        int total;
    };
    const std::vector<std::deque<order>> orders{{{1, 10}, {2, 20}}};
    memory_log other(orders);
    static_assert(std::is_same_v<decltype(other), memory_log<order>>);
    CHECK(other.read("0", {}, 10)->back().total == 20);
    CHECK(memory_log({"x", "y"}).partitions()->back() == "y");
}

TEST_CASE("log_conformance: each of 22 faulty logs breaks a rule")
{
    for (const wrong how : all_wrong) {
        const auto report = tried(how);
        CAPTURE(static_cast<int>(how));
        CHECK_FALSE(report.broken.empty());
    }
}

TEST_CASE("log_conformance: names the promise that a log breaks")
{
    const auto broken = [](wrong how) { return tried(how).broken; };
    const std::vector<std::string> changed{
        "read: bodies of all bytes and of 0, 1, 255, 256, 4,097 and 70,000 bytes are those that "
        "were appended"};
    CHECK(broken(wrong::loses_empty_bodies) == changed);
    CHECK(broken(wrong::ends_bodies_at_zero) == changed);
    CHECK(broken(wrong::cuts_bodies_at_65535) == changed);
    CHECK(broken(wrong::stores_1000_events) ==
          std::vector<std::string>{
              "read: pages of 100, 1,001 and 5,000 of 1,100 events contain each event once"});
    CHECK(broken(wrong::positions_of_32_bits) ==
          std::vector<std::string>{
              "read: a position above the last event has no events, or is an error; sequence "
              "numbers are compared in all 64 bits"});
    CHECK(broken(wrong::limits_of_32_bits) ==
          std::vector<std::string>{"read: `max_count` is compared in all 64 bits"});
    CHECK(tried(wrong::loses_empty_bodies, {.shortest_body = 1}).broken.empty());
}

TEST_CASE("log_conformance: the report counts the untested rules")
{
    struct no_end {
        memory_log<> kept{{"only"}};
        auto partitions() { return kept.partitions(); }
        auto read(const std::string& p, const std::optional<position>& after, std::uint64_t n)
        {
            return kept.read(p, after, n);
        }
    };
    const auto report = waybill::testing::log_conformance(
        [] { return no_end{}; },
        [](no_end& l, const std::string& p, const std::string& body) { l.kept.append(p, body); });
    CHECK(report.broken.empty());
    CHECK(report.untested.size() == 4);
}

TEST_CASE("log_outage_conformance: a log that hides an outage is detected")
{
    struct outage {
        bool hides_it = false;
        result<std::vector<std::string>> partitions()
        {
            if (hides_it) return std::vector<std::string>{};
            return waybill::unexpected(waybill::infrastructure("no broker"));
        }
        result<events> read(const std::string&, const std::optional<position>&, std::uint64_t)
        {
            if (hides_it) return events{};
            return waybill::unexpected(waybill::transient("time limit"));
        }
    } log;
    CHECK(waybill::testing::log_outage_conformance(log).broken.empty());
    log.hides_it = true;
    CHECK(waybill::testing::log_outage_conformance(log).broken.size() == 2);
}

}  // namespace
}  // namespace log_conformance_test
