// SPDX-License-Identifier: MIT
//
// Two owners of one partition, step by step, in every order.
//
// Each owner drives a batch_machine over the same store, with its own batch size. An owner that
// finds a newer checkpoint loads again. All orders of their steps are run, with at most one commit
// whose answer gets lost. Each event takes effect once and in order, with either owner. This fails
// without compare-and-set, or with a check that is not repeated at the commit.
//
// For longer logs, the steps that touch no shared state (begin, handle, rollback) are joined with
// the next step that does. Their order relative to the steps of the other owner changes nothing.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/every_schedule.hpp>
#include <support/wrong_store.hpp>

#include <waybill/consume/batch_machine.hpp>
#include <waybill/consume/process_batch.hpp>
#include <waybill/core/match.hpp>
#include <waybill/testing/choices.hpp>
#include <waybill/testing/memory_store.hpp>

namespace owners_test {
namespace {

using waybill::batch_outcome;
using waybill::commit_outcome;
using waybill::testing::choices;

const waybill::partition_key key{"log", "test", "0"};

// How an owner treats a commit whose answer got lost.
enum class belief : std::uint8_t { reads_back, not_applied, applied };

struct extent {
    std::uint64_t events;
    std::uint64_t batches[2];
    std::uint64_t epochs[2];
    std::uint32_t lost_answers = 0;
    belief on_unknown = belief::reads_back;
    bool every_step = true;
};

template <class Store>
class owner {
    using transaction = typename Store::transaction;

public:
    owner(Store& s, const extent& x, int which, choices& c, std::uint32_t& lost_answers)
        : store_(s),
          extent_(x),
          batch_(x.batches[which]),
          epoch_(x.epochs[which]),
          choices_(c),
          left_(lost_answers)
    {
    }

    [[nodiscard]] bool stopped() const { return stopped_; }
    [[nodiscard]] bool has_committed() const { return has_committed_; }
    [[nodiscard]] std::uint32_t reloads() const { return reloads_; }

    void step()
    {
        do {
            shared_ = false;
            one_step();
        } while (!extent_.every_step && !shared_ && !stopped_);
    }

private:
    void one_step()
    {
        if (!machine_) return load();
        waybill::match(
            machine_->next(),
            [&](waybill::batch_machine::begin) {
                tx_.emplace(*store_.begin());
                machine_->on(waybill::batch_machine::done{});
            },
            [&](waybill::batch_machine::handle a) {
                tx_->record(first_ + 10 * a.event);
                machine_->on(waybill::batch_machine::handled{});
            },
            [&](waybill::batch_machine::advance) {
                shared_ = true;
                const auto r = *store_.advance(*tx_, key, from_, to_, epoch_);
                stale_ = r == waybill::advance_outcome::stale_epoch;
                machine_->on(waybill::batch_machine::advanced{r});
            },
            [&](waybill::batch_machine::commit) { commit(); },
            [&](waybill::batch_machine::rollback) {
                tx_->rollback();
                tx_.reset();
                machine_->on(waybill::batch_machine::done{});
            },
            [&](waybill::batch_machine::check_commit) {
                shared_ = true;
                machine_->on(waybill::batch_machine::loaded{*store_.load(key)});
            },
            [](waybill::batch_machine::savepoint) { FAIL("without savepoints"); },
            [](waybill::batch_machine::release_savepoint) { FAIL("without savepoints"); },
            [](waybill::batch_machine::rollback_to_savepoint) { FAIL("without savepoints"); },
            [](waybill::batch_machine::write_dead_letter) { FAIL("no handler fails"); },
            [](waybill::batch_machine::load_crash_record) { FAIL("no incarnation"); },
            [](waybill::batch_machine::shorten) { FAIL("no incarnation"); },
            [](const waybill::batch_machine::store_crash_record&) { FAIL("no incarnation"); },
            [](waybill::batch_machine::clear_crash_record) { FAIL("no incarnation"); },
            [](waybill::batch_machine::decide_all_failed) { FAIL("no handler fails"); },
            [](waybill::idle) { FAIL("idle before its end"); });
        if (const auto end = machine_->ended()) ended(*end);
    }

    void load()
    {
        shared_ = true;
        from_ = waybill::position_of(*store_.load(key));
        deliver();
    }

    void deliver()
    {
        const std::uint64_t done = from_ ? from_->sequence : 0;
        if (done >= 10 * extent_.events) {
            stopped_ = true;
            return;
        }
        first_ = done + 10;
        const std::uint64_t left = extent_.events - done / 10;
        const std::uint64_t n = left < batch_ ? left : batch_;
        to_ = {done + 10 * n, {}};
        machine_.emplace(n, from_, to_, epoch_, waybill::batch_policy{.savepoints = false});
    }

    void commit()
    {
        shared_ = true;
        const std::uint32_t what = left_ != 0 ? choices_.pick(3) : 0;
        if (what != 0) --left_;
        auto outcome = commit_outcome::unknown;
        if (what != 2) {
            const auto truth = *tx_->commit();
            if (truth == commit_outcome::applied) has_committed_ = true;
            if (what == 0) outcome = truth;
        }
        tx_.reset();
        if (outcome == commit_outcome::unknown && extent_.on_unknown == belief::not_applied) {
            outcome = commit_outcome::not_applied;
        }
        if (outcome == commit_outcome::unknown && extent_.on_unknown == belief::applied) {
            outcome = commit_outcome::applied;
        }
        machine_->on(waybill::batch_machine::committed{outcome});
    }

    void ended(batch_outcome end)
    {
        machine_.reset();
        if (end == batch_outcome::committed) from_ = to_;
        if (end == batch_outcome::committed || end == batch_outcome::redeliver) return deliver();
        if (end != batch_outcome::ownership_lost) FAIL("no other end");
        ++reloads_;
        if (stale_) stopped_ = true;  // the other owner has a higher epoch
    }

    Store& store_;
    const extent& extent_;
    std::uint64_t batch_;
    std::uint64_t epoch_;
    choices& choices_;
    std::uint32_t& left_;
    std::optional<waybill::position> from_;
    std::uint64_t first_ = 0;
    waybill::position to_;
    std::optional<waybill::batch_machine> machine_;
    std::optional<transaction> tx_;
    bool shared_ = false;
    bool stale_ = false;
    bool stopped_ = false;
    bool has_committed_ = false;
    std::uint32_t reloads_ = 0;
};

template <class Store>
std::string run(const extent& x, choices& c, Store store)
{
    std::uint32_t lost_answers = x.lost_answers;
    owner<Store> a(store, x, 0, c, lost_answers);
    owner<Store> b(store, x, 1, c, lost_answers);
    std::uint64_t reached = 0;
    for (int steps = 0; !a.stopped() || !b.stopped(); ++steps) {
        if (steps == 200) return "they go on for ever";
        const bool fenced = b.has_committed() && x.epochs[0] < x.epochs[1];
        const std::size_t effects = store.records().size();
        const bool first = b.stopped() || (!a.stopped() && c.pick(2) == 0);
        if (first) a.step();
        else b.step();

        const auto& done = store.records();
        for (std::size_t i = 0; i != done.size(); ++i) {
            if (done[i] < 10 * (i + 1)) return "an event has taken effect twice";
            if (done[i] > 10 * (i + 1)) return "an event is lost";
        }
        const auto stored = *store.load(key);
        const std::uint64_t at = stored ? stored->at.sequence : 0;
        if (at < reached) return "the checkpoint has moved back";
        reached = at;
        if (at != 10 * done.size()) return "effects and checkpoint differ";
        if (fenced && first && done.size() != effects) return "a replaced owner has written";
    }
    return store.records().size() == x.events ? "" : "the log is not drained";
}

// A schedule must break this rule. If it is empty, no schedule breaks one.
template <class MakeStore>
void is_caught(const char* what, const extent& x, MakeStore make, const char* rule)
{
    const auto v = tests_support::every_schedule(
        "owners", what, [&](choices& c) { return run(x, c, make()); }, rule);
    CHECK(v.rule == rule);
}

template <class MakeStore>
void holds(const char* what, const extent& x, MakeStore make)
{
    is_caught(what, x, make, "");
}

using tests_support::flaw;
using tests_support::wrong_store;

auto right()
{
    return [] { return waybill::testing::memory_store<std::uint64_t>(); };
}
auto wrong_in(flaw f)
{
    return [f] { return wrong_store(f); };
}

constexpr bool few = tests_support::brief;
constexpr extent every_step{few ? 2 : 3, {2, few ? 2 : 3}, {1, 1}};
constexpr extent every_step_replaced{2, {few ? 2 : 1, 2}, {1, 2}};
constexpr extent equals{few ? 4 : 8, {2, 3}, {1, 1}, 0, belief::reads_back, false};
constexpr extent replaced{few ? 4 : 8, {2, 3}, {1, 2}, 0, belief::reads_back, false};
constexpr extent replaced_by_a_slow_one{few ? 4 : 8, {3, 2}, {1, 2}, 0, belief::reads_back, false};
constexpr extent answer_lost{few ? 3 : 6, {2, 3}, {1, 1}, 1, belief::reads_back, false};
constexpr extent answer_lost_and_replaced{few ? 3 : 6,        {2, 3}, {1, 2}, 1,
                                          belief::reads_back, false};
constexpr extent small{few ? 3 : 4, {2, 3}, {1, 1}, 0, belief::reads_back, false};
constexpr extent small_replaced{few ? 3 : 4, {1, 2}, {1, 2}, 0, belief::reads_back, false};

TEST_CASE("owners: two owners of the same epoch: each event takes effect once and in order")
{
    holds("two owners, same epoch, every step", every_step, right());
    holds("two owners, same epoch", equals, right());
}

TEST_CASE("owners: a replaced owner: each event takes effect once and in order")
{
    holds("two owners, later epoch, every step", every_step_replaced, right());
    holds("two owners, later epoch", replaced, right());
    holds("two owners, later epoch, smaller batches", replaced_by_a_slow_one, right());
}

TEST_CASE("owners: a lost commit answer: each event takes effect once and in order")
{
    holds("two owners, a lost answer", answer_lost, right());
    holds("two owners, later epoch, a lost answer", answer_lost_and_replaced, right());
}

TEST_CASE("owners: mutant caught: `>` instead of compare-and-set")
{
    is_caught("`>` instead of compare-and-set", small, wrong_in(flaw::only_forward),
              "an event has taken effect twice");
}

TEST_CASE("owners: mutant caught: a store without a guard")
{
    is_caught("no guard", small, wrong_in(flaw::no_guard), "an event has taken effect twice");
}

TEST_CASE("owners: mutant caught: the checkpoint is compared at advance and not at commit")
{
    is_caught("compared before, not within the commit", small, wrong_in(flaw::checked_once),
              "an event has taken effect twice");
}

TEST_CASE("owners: mutant caught: epochs are not compared")
{
    is_caught("epochs not compared", small_replaced, wrong_in(flaw::no_epoch),
              "a replaced owner has written");
}

// An owner that treats a lost answer as a failed commit delivers again. With compare-and-set it is
// stopped; without, the events take effect twice. If it treats the answer as a commit, it is
// stopped, too; without compare-and-set, an event is lost.
constexpr extent taking_it_for_no{few ? 3 : 4, {2, 3}, {1, 1}, 1, belief::not_applied, false};
constexpr extent taking_it_for_yes{few ? 3 : 4, {2, 3}, {1, 1}, 1, belief::applied, false};

TEST_CASE("owners: mutant caught: unknown is treated as not applied, without compare-and-set")
{
    holds("unknown is no, with compare-and-set", taking_it_for_no, right());
    is_caught("unknown is no, without", taking_it_for_no, wrong_in(flaw::no_guard),
              "an event has taken effect twice");
}

TEST_CASE("owners: mutant caught: unknown is treated as applied, without compare-and-set")
{
    holds("unknown is yes, with compare-and-set", taking_it_for_yes, right());
    is_caught("unknown is yes, without", taking_it_for_yes, wrong_in(flaw::no_guard),
              "an event is lost");
}

}  // namespace
}  // namespace owners_test
