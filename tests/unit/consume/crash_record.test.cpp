// SPDX-License-Identifier: MIT

#include <cstdint>
#include <optional>

#include <doctest/doctest.h>

#include <waybill/consume/crash_record.hpp>
#include <waybill/consume/detail/attempt_plan.hpp>

namespace attempt_test {
namespace {

using waybill::crash_record;
using waybill::detail::attempt_plan;
using waybill::detail::crash_record_after;
using waybill::detail::deaths_at_most;
using waybill::detail::plan_attempt;
using waybill::detail::with_last_event;

constexpr std::optional<std::uint64_t> from = 10;
constexpr std::uint64_t dead = 7;  // the incarnation of a process that is gone
constexpr std::uint64_t me = 8;
constexpr std::uint64_t then = 3;  // its epoch, and ours
constexpr std::uint64_t now = 4;

// A log without gaps: `events` events after 10 are offered.
constexpr attempt_plan plan(const std::optional<crash_record>& found, std::uint64_t events = 8,
                            std::optional<std::uint64_t> ended = {}, bool report_returned = false)
{
    const std::uint64_t within = !found || found->to <= 10 ? 0 : found->to - 10;
    const attempt_plan p =
        plan_attempt(found, {from, events, within, me, now, ended, report_returned}, 2);
    return with_last_event(p, 10 + p.events);
}
// A row of the first `suspects` of them, and one of ours.
constexpr crash_record row(std::uint64_t suspects, std::uint32_t deaths, std::uint64_t by)
{
    return {from, 10 + suspects, suspects, deaths, by, then};
}
constexpr crash_record ours(std::uint64_t suspects, std::uint32_t deaths,
                            std::uint64_t incarnation = me)
{
    return {from, 10 + suspects, suspects, deaths, incarnation, now};
}

// Without a record: all events are delivered, and the initial record has this.
static_assert(plan({}) == attempt_plan{8, false, ours(8, 0), {}, 0});
static_assert(!crash_record_after(plan({}), 18));
// A record of another checkpoint, or an inconsistent one, is ignored.
static_assert(plan(crash_record{11, 18, 8, 5, dead, then}) == plan({}));
static_assert(plan(crash_record{{}, 18, 8, 5, dead, then}) == plan({}));
static_assert(plan(crash_record{from, 18, 0, 5, dead, then}) == plan({}));
static_assert(plan(crash_record{from, 10, 8, 5, dead, then}) == plan({}));
static_assert(!plan_attempt(crash_record{0, 8, 8, 5, dead, then}, {{}, 8, 8, me, now}, 2).restored);

// One process has died: the same once more, and it is counted. Our last delivery counts, too,
// unless it returned.
static_assert(plan(row(8, 0, dead)).initial == ours(8, 1));
static_assert(plan(row(8, 0, me)).initial == ours(8, 1));
static_assert(plan(row(8, 0, me), 8, {}, true).initial == ours(8, 0));
static_assert(plan(row(8, 0, dead), 8, {}, true).initial == ours(8, 1));
static_assert(plan(row(8, 0, me), 8, 0).initial == ours(8, 1));
static_assert(plan(row(8, 1, 0)).initial == ours(8, 1));
static_assert(plan(row(8, 0, dead)).restored == ours(8, 1, 0));

// If leases are known, only the owner whose lease had expired has died. If the previous owner is
// alive, this is not a death. Earlier deaths stay counted.
static_assert(plan(row(8, 0, dead), 8, dead) == plan(row(8, 0, dead)));
static_assert(plan(row(8, 0, dead), 8, 0) == plan(row(8, 0, 0)));
static_assert(plan(row(8, 1, dead), 8, 0).initial == ours(8, 1));
static_assert(plan(row(8, 1, dead), 8, 99) == plan(row(8, 1, 0)));
static_assert(plan(row(1, 2, dead), 8, 0).poison_message);
static_assert(!plan(row(1, 1, dead), 8, 0).poison_message);

// Two have: the first half alone.
static_assert(plan(row(8, 1, dead)).events == 4);
static_assert(plan(row(8, 1, dead)).initial == ours(4, 2));
static_assert(plan(row(8, 1, dead)).restored == ours(8, 2, 0));
static_assert(crash_record_after(plan(row(8, 1, dead)), 14) == crash_record{14, 18, 4, 2, 0, now});
// A further death: half of that next. A success: half of the rest next.
static_assert(plan(row(4, 2, dead)).events == 2);
static_assert(plan(row(4, 2, 0)).events == 2);
static_assert(plan(row(3, 2, 0)).events == 1);

// A single event starts with no deaths. It is a poison message after as many deaths as the batch
// was granted.
static_assert(plan(row(2, 2, dead)).initial == ours(1, 0));
static_assert(plan(row(1, 0, dead)).initial == ours(1, 1));
static_assert(!plan(row(1, 0, dead)).poison_message);
static_assert(plan(row(1, 1, dead)).poison_message);
static_assert(plan(row(1, 1, dead)).events == 1);
static_assert(plan(row(1, 1, dead)).restored == ours(1, 2, 0));
static_assert(crash_record_after(plan(row(2, 2, 0)), 11) == crash_record{11, 12, 1, 0, 0, now});

// Batches may have another size after a restart. A smaller one narrows the suspects. Deaths of a
// larger batch do not count for a single event. If the record is cleared, all suspects are
// restored. A larger batch is cut to the recorded events.
static_assert(plan(row(8, 0, dead), 3).initial == ours(3, 1));
static_assert(plan(row(8, 0, dead), 3).restored == ours(8, 1, 0));
static_assert(plan(row(8, 9, dead), 3).remaining_suspects == 2);
static_assert(crash_record_after(plan(row(8, 9, dead), 3), 11) ==
              crash_record{11, 18, 2, 10, 0, now});
static_assert(plan(row(8, 9, dead), 1).initial == ours(1, 0));
static_assert(!plan(row(8, 9, dead), 1).poison_message);
static_assert(plan(row(8, 0, dead), 100).events == 8);

// Events are removed from the log, or added late. `within` of the present events are suspected, up
// to the one with sequence `last`.
constexpr attempt_plan among(const crash_record& found, std::uint64_t within, std::uint64_t last)
{
    return with_last_event(plan_attempt(found, {from, 8, within, me, now}, 2), last);
}
// The deadly event is gone, and no other event is suspected.
static_assert(among(row(1, 1, dead), 0, 18) == plan({}));
static_assert(among(row(8, 1, dead), 0, 18) == plan({}));
// Some suspects are gone: the remaining ones are searched, and a single one starts with no deaths.
static_assert(among(row(8, 1, dead), 4, 14).events == 2 &&
              among(row(8, 1, dead), 4, 14).remaining_suspects == 2);
static_assert(among(row(8, 9, dead), 1, 18).initial == crash_record{from, 18, 1, 0, me, now});
static_assert(!among(row(8, 9, dead), 1, 18).poison_message);
// A single event is a poison message only if it is the recorded one, not another in its place.
static_assert(among(row(1, 1, dead), 1, 11).poison_message);
static_assert(among(row(1, 1, dead), 1, 12) ==
              attempt_plan{1, false, crash_record{from, 12, 1, 0, me, now}, {}, 0});
static_assert(among(row(1, 9, me), 1, 9).initial.deaths == 0);
// One was added before it: both are searched, each starts with no deaths.
static_assert(among(row(1, 1, dead), 2, 11).initial == crash_record{from, 11, 1, 0, me, now});
static_assert(!among(row(1, 1, dead), 2, 11).poison_message &&
              among(row(1, 1, dead), 2, 11).remaining_suspects == 1);
static_assert(crash_record_after(among(row(1, 1, dead), 2, 9), 9) ==
              crash_record{9, 11, 1, 0, 0, now});
static_assert(among(row(1, 0, dead), 2, 11).initial == crash_record{from, 11, 2, 1, me, now});

// Arbitrary numbers.
constexpr std::uint64_t largest = ~std::uint64_t{0};
constexpr attempt_plan of_all(std::uint64_t suspects, std::uint32_t counted, std::uint64_t events,
                              std::uint32_t deaths)
{
    return with_last_event(
        plan_attempt(crash_record{from, largest, suspects, counted, dead, largest},
                     {from, events, largest, me, largest}, deaths),
        largest);
}
static_assert(of_all(largest, UINT32_MAX, largest, UINT32_MAX).events == largest / 2);
static_assert(of_all(1, UINT32_MAX, 1, UINT32_MAX).poison_message);
static_assert(of_all(1, 0, 1, 0).poison_message);  // 0 reads as 1
static_assert(of_all(1, 0, 0, 1).events == 0);

static_assert(deaths_at_most(1, 3) == 3 && deaths_at_most(0, 0) == 1);
static_assert(deaths_at_most(2, 3) == 6 && deaths_at_most(100, 3) == 11 &&
              deaths_at_most(128, 2) == 10);
static_assert(deaths_at_most(largest, 3) == 5 + 63);

// A log of `events` in batches, one event of which ends every process. Returns the number of
// processes. Returns nothing if a good event is a poison message or the log is not drained.
std::optional<std::uint64_t> deaths_of(std::uint64_t events, std::uint64_t batch,
                                       std::uint64_t deadly, std::uint32_t limit)
{
    std::uint64_t done = 0;
    std::uint64_t deaths = 0;
    std::uint64_t process = 1;
    std::optional<crash_record> row;
    for (std::uint64_t deliveries = 0; done != events; ++deliveries) {
        if (deliveries > 10 * events + 100) return {};
        const std::uint64_t n = events - done < batch ? events - done : batch;
        const std::optional<std::uint64_t> at = done == 0 ? std::nullopt : std::optional(done);
        const std::uint64_t within = row && row->to > done ? row->to - done : 0;
        const attempt_plan some = plan_attempt(row, {at, n, within, process, process}, limit);
        const attempt_plan p = with_last_event(some, done + some.events);
        if (p.poison_message && done != deadly) return {};
        const bool dies = !p.poison_message && deadly >= done && deadly < done + p.events;
        if (!p.poison_message) row = p.initial;
        if (dies) {
            ++deaths;
            ++process;
            continue;
        }
        done += p.events;
        row = crash_record_after(p, done);
    }
    return row ? std::nullopt : std::optional(deaths);
}

TEST_CASE("crash_record: a crashing event is found within deaths_at_most, at every position")
{
    for (const std::uint32_t limit : {1U, 2U, 3U}) {
        for (std::uint64_t batch = 1; batch != 70; ++batch) {
            std::uint64_t most = 0;
            for (std::uint64_t deadly = 0; deadly != batch; ++deadly) {
                const auto deaths = deaths_of(batch, batch, deadly, limit);
                REQUIRE(deaths.has_value());
                CHECK(*deaths <= deaths_at_most(batch, limit));
                if (*deaths > most) most = *deaths;
            }
            CHECK(most == deaths_at_most(batch, limit));
        }
    }
}

TEST_CASE(
    "crash_record: in a log of several batches, a crashing event is found within one "
    "batch's limit")
{
    for (std::uint64_t deadly = 0; deadly != 100; ++deadly) {
        const auto deaths = deaths_of(100, 7, deadly, 2);
        REQUIRE(deaths.has_value());
        CHECK(*deaths <= deaths_at_most(7, 2));
    }
}

}  // namespace
}  // namespace attempt_test
