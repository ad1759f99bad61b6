// SPDX-License-Identifier: MIT

#include "dead_letter_pruning.hpp"

#include <chrono>
#include <vector>

#include <fmt/format.h>

#include "../engines/sqlite.hpp"
#include "../support/program.hpp"
#include "tables.hpp"
#include <waybill/consume/prune.hpp>
#include <waybill/core/time_text.hpp>

namespace outbox {

namespace {

using namespace std::chrono_literals;

/// At 20 letters the oldest are removed, until 10 are left. A hundred within a minute indicate a
/// general fault, so none is removed.
constexpr waybill::prune_policy policy{
    .age = 24h, .count = 20, .low_water = 0.5, .spike = {.count = 100, .within = 1min}};
static_assert(!validate(policy));

std::vector<waybill::prune_plan::row> letters_in(engines::database& db)
{
    std::vector<waybill::prune_plan::row> rows;
    engines::statement all(db,
                           "SELECT id, length(subject) + length(reason), parked, held"
                           " FROM dead_letters ORDER BY parked");
    for (all.query(); all.step();) {
        const auto since = waybill::duration::nanoseconds(all.integer(2));
        const auto parked = waybill::wall_time::at(since);
        rows.push_back({all.size(0), all.size(1), parked, all.size(3) != 0});
    }
    return rows;
}

void print_plan(const waybill::prune_plan& plan)
{
    fmt::print("pruning, dry run: {} of {} would be removed, {} kept\n", plan.removals.size(),
               support::counted(plan.before.rows, "dead letter"), plan.after.rows);
    if (plan.spike) {
        fmt::print(
            "  ALARM: {} arrived within a minute. Find the cause; none is removed for the limit "
            "of rows\n",
            plan.recent);
    }
    if (plan.limit_reached)
        fmt::print("  a limit is reached: keep the circuit breaker open until rows are removed\n");
    if (plan.removals.empty()) return;
    const waybill::prune_plan::removal& first = plan.removals.front();
    fmt::print("  the oldest is of order {}, dead-lettered at {}; limit: {}\n", first.id,
               waybill::to_text(first.dead_lettered_at), name(first.reason));
}

/// Skips a letter that is being resubmitted or was dead-lettered again since the plan.
std::uint64_t remove(engines::database& db, const waybill::prune_plan& plan)
{
    engines::statement note(db,
                            "INSERT OR REPLACE INTO pruned SELECT id, parked, reason"
                            " FROM dead_letters WHERE id = ? AND parked = ? AND held = 0");
    engines::statement drop(db,
                            "DELETE FROM dead_letters"
                            " WHERE id = ? AND parked = ? AND held = 0");
    engines::statement changes(db, "SELECT changes()");
    std::uint64_t removed = 0;
    db.exec("BEGIN IMMEDIATE");
    for (const waybill::prune_plan::removal& r : plan.removals) {
        note.run(r.id, r.dead_lettered_at.since_epoch().count());
        drop.run(r.id, r.dead_lettered_at.since_epoch().count());
        removed += static_cast<std::uint64_t>(changes.number().value_or(0));
    }
    db.exec("COMMIT");
    return removed;
}

}  // namespace

pruning prune_letters(const std::string& db)
{
    engines::database shop(shop_in(db));
    const waybill::wall_time now = std::chrono::system_clock::now();
    const waybill::prune_plan plan = plan_prune(letters_in(shop), policy, now);
    print_plan(plan);
    pruning p{plan.removals.size(), remove(shop, plan), plan.after.rows, plan.spike};
    if (p.planned != 0) fmt::print("pruned: {}\n", support::counted(p.removed, "dead letter"));
    return p;
}

}  // namespace outbox
