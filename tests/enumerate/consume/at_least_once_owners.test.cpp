// SPDX-License-Identifier: MIT
//
// Every interleaving of two owners of one partition. Each has its own machine, driven step by step.
// Batch sizes differ, and answers get lost.
//
// Effects are external, so a replaced owner that does not know it repeats events. That cannot be
// prevented. The rules: no event up to the checkpoint is lost. The checkpoint never moves back. An
// owner repeats an event only if one of its commits was lost. In the end the whole log is done. The
// last owner is never stopped.
//
// Over stores without a guard, the enumeration must find broken rules.

#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <variant>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/every_schedule.hpp>

#include <waybill/consume/at_least_once.hpp>
#include <waybill/testing/choices.hpp>

namespace at_least_once_owners {
namespace {

using waybill::advance_outcome;
using waybill::at_least_once_machine;
using waybill::batch_outcome;
using waybill::checkpoint;
using waybill::fault_kind;
using waybill::position;
using waybill::testing::choices;

constexpr std::uint64_t events = 4;
constexpr std::uint64_t bad_event = 2;

enum class guard : std::uint8_t { compare_and_set, none };

// Loads, delivers the following events, and repeats this until the log is drained or the other
// owner has the partition. Then the first owner ends. The second owner is the current one.
struct owner {
    std::uint64_t epoch;
    std::uint64_t batch;
    std::optional<at_least_once_machine> machine{};
    bool loaded = false;
    bool over = false;
    std::uint64_t from = 0;   // events that are done, as loaded or committed; 0: no checkpoint
    std::uint64_t first = 0;  // the first event of the delivery
    std::uint64_t to = 0;     // the end of the last commit
    std::uint32_t refused = 0;
    std::array<std::uint32_t, events> handled{};
};

class simulation {
public:
    simulation(choices& c, guard g, std::uint32_t losses, std::uint64_t commit_every)
        : choices_(c), guard_(g), losses_(losses), left_(losses), commit_every_(commit_every)
    {
    }

    /// Returns the first broken rule, or nothing.
    std::string run()
    {
        owner one{1, 2};
        owner two{2, 3};
        for (int step = 0; step != 120; ++step) {
            if (one.over && two.over) {
                if (done() != events) breaks("the log is not drained");
                return broken_;
            }
            const bool first = !one.over && (two.over || choices_.pick(2) == 0);
            take(first ? one : two);
            if (!broken_.empty()) return broken_;
        }
        return "the run does not end";
    }

private:
    void breaks(const char* rule)
    {
        if (broken_.empty()) broken_ = rule;
    }

    [[nodiscard]] std::uint64_t done() const { return stored_ ? stored_->at.sequence : 0; }

    /// One step of one owner.
    void take(owner& o)
    {
        if (!o.loaded) {
            o.from = done();
            o.loaded = true;
            o.over = o.from == events;
            return;
        }
        if (!o.machine) {
            const waybill::at_least_once_policy p{
                .commit_every = commit_every_,
                .decide_all_failed_from = waybill::detail::highest_size};
            const std::uint64_t left = events - o.from;
            o.machine.emplace(left < o.batch ? left : o.batch, p);
            o.first = o.from;
        }
        at_least_once_machine& m = *o.machine;
        const auto a = m.next();
        if (const auto* h = waybill::get_if<waybill::at_least_once_machine::handle>(&a))
            handle(o, o.first + h->event);
        if (const auto* d =
                waybill::get_if<waybill::at_least_once_machine::write_dead_letter>(&a)) {
            ++times_[o.first + d->event];
            m.on(waybill::at_least_once_machine::done{});
        }
        if (const auto* to = waybill::get_if<at_least_once_machine::commit_to>(&a)) {
            o.to = o.first + to->event + 1;
            m.on(commit(o));
        }
        if (waybill::holds_alternative<waybill::at_least_once_machine::check_commit>(a)) {
            const auto from = o.from == 0 ? std::nullopt : std::optional(position{o.from, {}});
            m.on(waybill::at_least_once_machine::commit_checked{
                waybill::at_least_once_machine::classify(stored_, from, {o.to, {}}, o.epoch)});
        }
        o.from = o.first + m.committed_events();
        for (std::uint64_t n = 0; n != done(); ++n) {
            if (times_[n] == 0) breaks("an event before the checkpoint is lost");
        }
        if (const auto end = m.ended()) ended(o, *end);
    }

    void handle(owner& o, std::uint64_t n)
    {
        // Once, and once more for each lost commit.
        if (++o.handled[n] > 1 + (losses_ - left_) + o.refused)
            breaks("an owner repeats without a reason");
        if (n != bad_event) ++times_[n];
        o.machine->on(waybill::at_least_once_machine::handled{n == bad_event ? fault_kind::permanent
                                                                             : fault_kind::none});
    }

    waybill::at_least_once_machine::advanced commit(const owner& o)
    {
        // 0: works; 1: the commit is lost; 2: the commit arrives, and the answer is lost.
        const std::uint32_t how = left_ != 0 ? choices_.pick(3) : 0;
        if (how != 0) --left_;
        advance_outcome what = advance_outcome::applied;
        if (guard_ == guard::compare_and_set) {
            if (done() != o.from) what = advance_outcome::conflict;
            if (stored_ && o.epoch < stored_->epoch) what = advance_outcome::stale_epoch;
        }
        if (how != 1 && what == advance_outcome::applied) {
            if (o.to < done()) breaks("the checkpoint has moved back");
            stored_ = checkpoint{{o.to, {}}, o.epoch};
        }
        if (how != 0) return {advance_outcome::conflict, fault_kind::infrastructure};
        return {what, fault_kind::none};
    }

    void ended(owner& o, batch_outcome end)
    {
        o.over = o.from == events;
        if (end == batch_outcome::ownership_lost || end == batch_outcome::unknown) {
            const bool last = o.epoch == 2;
            if (last && stored_ && stored_->epoch == 2)
                breaks("the last owner lost the partition without another owner");
            ++o.refused;
            o.over = !last;
            o.loaded = !last;
        }
        o.machine.reset();
    }

    choices& choices_;
    guard guard_;
    std::uint32_t losses_;
    std::uint32_t left_;
    std::uint64_t commit_every_;
    std::optional<checkpoint> stored_;
    std::array<std::uint32_t, events> times_{};  // took effect, or became a dead letter
    std::string broken_;
};

std::string run(choices& c, guard g, std::uint32_t losses, std::uint64_t commit_every)
{
    return simulation(c, g, losses, commit_every).run();
}

std::string enumerate(const char* what, guard g, std::uint32_t losses, std::uint64_t commit_every)
{
    return tests_support::every_schedule(
               "at least once, two owners", what,
               [&](choices& c) { return run(c, g, losses, commit_every); })
        .rule;
}

TEST_CASE(
    "at least once, two owners: every interleaving, up to two lost answers: all invariants "
    "hold")
{
    CHECK(enumerate("nothing lost", guard::compare_and_set, 0, waybill::detail::highest_size) ==
          "");
    if (tests_support::brief) return;
    CHECK(enumerate("one answer lost", guard::compare_and_set, 1, waybill::detail::highest_size) ==
          "");
    CHECK(enumerate("two answers lost", guard::compare_and_set, 2, waybill::detail::highest_size) ==
          "");
    CHECK(enumerate("a commit an event", guard::compare_and_set, 0, 1) == "");
}

TEST_CASE("at least once, two owners: mutant caught: a store without compare-and-set")
{
    CHECK(enumerate("no guard", guard::none, 0, waybill::detail::highest_size) != "");
}

}  // namespace
}  // namespace at_least_once_owners
