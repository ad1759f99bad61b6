// SPDX-License-Identifier: MIT

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>

#include <waybill/consume/attempt.hpp>

namespace attempt_test {
namespace {

using waybill::attempt;
using waybill::attempt_after;
using waybill::attempt_plan;
using waybill::deaths_at_most;
using waybill::plan_attempt;

constexpr std::optional<std::uint64_t> from = 10;
constexpr std::uint64_t dead = 7;  // the incarnation of a process that is gone
constexpr std::uint64_t me = 8;

constexpr attempt_plan plan(const std::optional<attempt>& found, std::uint64_t events = 8)
{
    return plan_attempt(found, from, events, me, 2);
}

// Nothing is known: all of it, and what is noted says so.
static_assert(plan({}) == attempt_plan{8, false, attempt{from, 8, 0, me}, {}, 0});
static_assert(!attempt_after(plan({}), 18));
// A row of another checkpoint, or one that makes no sense, says nothing.
static_assert(plan(attempt{11, 8, 5, dead}) == plan({}));
static_assert(plan(attempt{{}, 8, 5, dead}) == plan({}));
static_assert(plan(attempt{from, 0, 5, dead}) == plan({}));
static_assert(plan_attempt(attempt{0, 8, 5, dead}, {}, 8, me, 2).called_off == std::nullopt);

// One process has died: the same once more, and it is counted. Ours has not, since we are here.
static_assert(plan(attempt{from, 8, 0, dead}).noted == attempt{from, 8, 1, me});
static_assert(plan(attempt{from, 8, 0, me}).noted == attempt{from, 8, 0, me});
static_assert(plan(attempt{from, 8, 1, 0}).noted == attempt{from, 8, 1, me});
static_assert(plan(attempt{from, 8, 0, dead}).called_off == attempt{from, 8, 1, 0});

// Where leases tell, only the one whose lease had expired has died; and where whoever had it before is
// alive, nobody has. What was counted earlier stays counted.
constexpr attempt_plan plan_after(const attempt& found, const std::optional<std::uint64_t>& ended)
{
    return plan_attempt(found, from, 8, me, 2, ended);
}
static_assert(plan_after({from, 8, 0, dead}, dead) == plan(attempt{from, 8, 0, dead}));
static_assert(plan_after({from, 8, 0, dead}, {}) == plan(attempt{from, 8, 0, dead}));
static_assert(plan_after({from, 8, 0, dead}, 0) == plan(attempt{from, 8, 0, 0}));
static_assert(plan_after({from, 8, 1, dead}, 0).noted == attempt{from, 8, 1, me});
static_assert(plan_after({from, 8, 1, dead}, 99) == plan(attempt{from, 8, 1, 0}));
static_assert(plan_after({from, 1, 2, dead}, 0).condemned);
static_assert(!plan_after({from, 1, 1, dead}, 0).condemned);

// Two have: the first half alone.
static_assert(plan(attempt{from, 8, 1, dead}).events == 4);
static_assert(plan(attempt{from, 8, 1, dead}).noted == attempt{from, 4, 2, me});
static_assert(plan(attempt{from, 8, 1, dead}).called_off == attempt{from, 8, 2, 0});
static_assert(attempt_after(plan(attempt{from, 8, 1, dead}), 14) == attempt{14, 4, 2, 0});
// It dies as well: half of that at once. It goes well: half of the rest at once.
static_assert(plan(attempt{from, 4, 2, dead}).events == 2);
static_assert(plan(attempt{from, 4, 2, 0}).events == 2);
static_assert(plan(attempt{from, 3, 2, 0}).events == 1);

// One event by itself begins at no death, and is condemned after as many as the batch was granted.
static_assert(plan(attempt{from, 2, 2, dead}).noted == attempt{from, 1, 0, me});
static_assert(plan(attempt{from, 1, 0, dead}).noted == attempt{from, 1, 1, me});
static_assert(!plan(attempt{from, 1, 0, dead}).condemned);
static_assert(plan(attempt{from, 1, 1, dead}).condemned);
static_assert(plan(attempt{from, 1, 1, dead}).events == 1);
static_assert(plan(attempt{from, 1, 1, dead}).called_off == attempt{from, 1, 2, 0});
static_assert(attempt_after(plan(attempt{from, 2, 2, 0}), 11) == attempt{11, 1, 0, 0});

// Batches may have another size after a restart. A smaller one narrows the suspects, but what many
// did together says nothing about one by itself; a larger one is cut to those that were seen.
static_assert(plan(attempt{from, 8, 0, dead}, 3).noted == attempt{from, 3, 1, me});
static_assert(plan(attempt{from, 8, 9, dead}, 1).noted == attempt{from, 1, 0, me});
static_assert(!plan(attempt{from, 8, 9, dead}, 1).condemned);
static_assert(plan(attempt{from, 8, 0, dead}, 100).events == 8);

// Numbers from anywhere.
constexpr std::uint64_t largest = ~std::uint64_t{0};
static_assert(plan_attempt(attempt{from, largest, UINT32_MAX, dead}, from, largest, me, UINT32_MAX).events == largest / 2);
static_assert(plan_attempt(attempt{from, 1, UINT32_MAX, dead}, from, 1, me, UINT32_MAX).condemned);
static_assert(plan_attempt(attempt{from, 1, 0, dead}, from, 1, me, 0).condemned);  // 0 reads as 1
static_assert(plan_attempt(attempt{from, 1, 0, dead}, from, 0, me, 1).events == 0);

static_assert(deaths_at_most(1, 3) == 3 && deaths_at_most(0, 0) == 1);
static_assert(deaths_at_most(2, 3) == 6 && deaths_at_most(100, 3) == 11 && deaths_at_most(128, 2) == 10);
static_assert(deaths_at_most(largest, 3) == 5 + 63);

// A log of `events` in batches, one of which ends every process. How many processes that takes, or
// nothing where a good event is condemned or the log is not drained.
std::optional<std::uint64_t> deaths_of(std::uint64_t events, std::uint64_t batch, std::uint64_t deadly, std::uint32_t limit)
{
    std::uint64_t done = 0;
    std::uint64_t deaths = 0;
    std::uint64_t process = 1;
    std::optional<attempt> row;
    for (std::uint64_t deliveries = 0; done != events; ++deliveries) {
        if (deliveries > 10 * events + 100) return {};
        const std::uint64_t n = events - done < batch ? events - done : batch;
        const std::optional<std::uint64_t> at = done == 0 ? std::nullopt : std::optional(done);
        const attempt_plan p = plan_attempt(row, at, n, process, limit);
        if (p.condemned && done != deadly) return {};
        const bool dies = !p.condemned && deadly >= done && deadly < done + p.events;
        if (!p.condemned) row = p.noted;
        if (dies) {
            ++deaths;
            ++process;
            continue;
        }
        done += p.events;
        row = attempt_after(p, done);
    }
    return row ? std::nullopt : std::optional(deaths);
}

TEST_CASE("attempt: a deadly event is found in as many deaths as is said, wherever it is, and no other is blamed")
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

TEST_CASE("attempt: in a long log it is found in the batch where it is, and there are no searches after it")
{
    for (std::uint64_t deadly = 0; deadly != 100; ++deadly) {
        const auto deaths = deaths_of(100, 7, deadly, 2);
        REQUIRE(deaths.has_value());
        CHECK(*deaths <= deaths_at_most(7, 2));
    }
}

}  // namespace
}  // namespace attempt_test
