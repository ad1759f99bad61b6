// SPDX-License-Identifier: MIT
//
// Pruning while rows are resubmitted and events fail again, in every order.
//
// A pruner reads all rows, makes its plan and removes row by row. Meanwhile each row may be
// resubmitted: held, sent, deleted. If the sending fails, the row is released; the process may also
// die. Its event may fail again, so that the row is replaced or written again. Or both. Rows
// interact only in the plan. So only the orders that differ for one row are tried: each step comes
// before the read, between the read and the removal, or after it.
//
// At the end, every failure is stored, sent, replaced by a later one of its event, or pruned. It
// was pruned only by a plan that contained it, and while it was not held. A pruner that ignores
// `held`, or removes by id alone, loses some.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/every_schedule.hpp>

#include <waybill/consume/prune.hpp>
#include <waybill/testing/choices.hpp>

namespace prune_enumeration_test {
namespace {

using namespace std::chrono_literals;
using waybill::plan_prune;
using waybill::prune_plan;
using waybill::prune_policy;
using waybill::wall_time;
using waybill::testing::choices;

enum class mutant : std::uint8_t {
    none,
    ignores_held,
    removes_by_id,
    compares_no_time,
    compares_no_hold,
};

// The fate of one failure of an event.
enum class fate : std::uint8_t { stored, sent, replaced, pruned, lost };

struct extent {
    std::uint64_t rows = 1;
    std::uint64_t both = 0;  // rows that may be resubmitted and fail again
    mutant how = mutant::none;
};

// One event, its row, and the processes that work on it.
class event {
public:
    event(std::uint64_t id, choices& c, bool both) : id_(id), choices_(c)
    {
        row_ = prune_plan::row{id, 1, parked(0)};
        fates_.push_back(fate::stored);
        const std::uint32_t role = c.pick(both ? 4 : 3);
        resubmits_ = role == 1 || role == 3 ? 3 : 0;
        fails_ = role == 2 || role == 3;
    }

    [[nodiscard]] const std::optional<prune_plan::row>& row() const { return row_; }
    [[nodiscard]] const std::vector<fate>& fates() const { return fates_; }

    /// Some of the remaining steps, or all of them.
    void some_steps(bool all)
    {
        while (resubmits_ != 0 || fails_) {
            if (!all && choices_.pick(2) == 0) return;
            const bool failing = resubmits_ == 0 || (fails_ && choices_.pick(2) == 0);
            if (failing) fail_again();
            else resubmit();
        }
    }

    void remove(const prune_plan::removal& r, mutant how)
    {
        if (!row_) return;
        prune_plan::row seen = *row_;
        if (how == mutant::ignores_held || how == mutant::compares_no_hold) seen.redriving = false;
        if (how == mutant::compares_no_time) seen.dead_lettered_at = r.dead_lettered_at;
        if (how != mutant::removes_by_id && !r.may_remove(seen)) return;
        const bool right = row_->dead_lettered_at == r.dead_lettered_at && !row_->redriving;
        row_.reset();
        if (fates_.back() != fate::sent) fates_.back() = right ? fate::pruned : fate::lost;
    }

private:
    [[nodiscard]] wall_time parked(std::size_t generation) const
    {
        return wall_time::at(
            waybill::duration::seconds(static_cast<std::int64_t>(id_ + 10 * generation)));
    }

    void fail_again()
    {
        fails_ = false;
        if (row_) fates_.back() = fate::replaced;
        row_ = prune_plan::row{id_, 1, parked(fates_.size())};
        fates_.push_back(fate::stored);
    }

    void resubmit()
    {
        switch (resubmits_--) {
            case 3:
                if (!row_ || row_->redriving) {
                    resubmits_ = 0;
                    return;
                }
                row_->redriving = true;
                mine_ = *row_;
                generation_ = fates_.size() - 1;
                break;
            case 2:
                switch (choices_.pick(3)) {
                    case 0: sent_ = true; break;
                    case 1: break;                   // the row is released
                    default: resubmits_ = 0; break;  // the process dies, and the row stays held
                }
                if (sent_) fates_[generation_] = fate::sent;
                break;
            default:
                // Compares the time, too: the row may have been replaced.
                if (!row_ || row_->dead_lettered_at != mine_.dead_lettered_at) return;
                if (sent_) row_.reset();
                else row_->redriving = false;
                break;
        }
    }

    std::uint64_t id_;
    choices& choices_;
    std::optional<prune_plan::row> row_{};
    std::vector<fate> fates_{};  // of each time that it failed
    prune_plan::row mine_{};
    std::size_t generation_ = 0;
    std::uint32_t resubmits_ = 0;
    bool fails_ = false;
    bool sent_ = false;
};

bool all_accounted_for(const extent& x, choices& c)
{
    std::vector<event> events;
    for (std::uint64_t n = 0; n != x.rows; ++n) events.emplace_back(n, c, n < x.both);
    for (event& e : events) e.some_steps(false);

    std::vector<prune_plan::row> rows;
    for (const event& e : events) {
        if (e.row()) rows.push_back(*e.row());
    }
    const auto seen = [&](prune_plan::row r) {
        if (x.how == mutant::ignores_held) r.redriving = false;
        return r;
    };
    const prune_policy policies[] = {{.age = 10s}, {.count = 2, .low_water = 0.5}, {.bytes = 1}};
    const prune_policy& policy = policies[c.pick(3)];
    const prune_plan plan = plan_prune(rows, policy, wall_time::at(15s), seen);

    for (event& e : events) e.some_steps(false);
    for (const prune_plan::removal& r : plan.removals) events[r.id].remove(r, x.how);
    bool good = true;
    for (event& e : events) {
        e.some_steps(true);
        const std::vector<fate>& fates = e.fates();
        for (const fate f : fates) good = good && f != fate::lost;
        good = good && (fates.back() == fate::stored) == e.row().has_value();
    }
    return good;
}

tests_support::verdict all(const extent& x)
{
    const std::string what = std::to_string(x.rows) + " rows";
    return tests_support::every_schedule("prune races", what.c_str(), [&](choices& c) {
        return std::string(all_accounted_for(x, c) ? "" : "a row is lost");
    });
}

}  // namespace

TEST_CASE("prune races: neither a resubmitted row nor a new failure is lost")
{
    std::uint64_t runs = 0;
    const std::uint64_t most = tests_support::brief ? 2 : 3;
    for (std::uint64_t rows = 1; rows <= most; ++rows) {
        const auto v = all({.rows = rows, .both = rows < 3 ? rows : 5 - rows});
        CHECK(v.rule == "");
        runs += v.schedules;
    }
    CHECK(runs > (tests_support::brief ? 10'000U : 1'000'000U));
}

TEST_CASE("deep: prune races: neither a resubmitted row nor a new failure is lost, four rows" *
          doctest::skip())
{
    const auto v = all({.rows = 4, .both = 1});
    CHECK(v.rule == "");
    CHECK(v.schedules > 10'000'000);
}

TEST_CASE("prune races: mutants are caught")
{
    for (const mutant m : {mutant::ignores_held, mutant::removes_by_id, mutant::compares_no_time,
                           mutant::compares_no_hold}) {
        CAPTURE(static_cast<int>(m));
        CHECK(all({.rows = 2, .both = 1, .how = m}).rule != "");
    }
}

}  // namespace prune_enumeration_test
