// SPDX-License-Identifier: MIT
//
// Every answer to every step of at_least_once_machine, for up to three events and all values of the
// policy. Some answers come from no store of the other enumerations: a commit that is cancelled,
// refused without a conflict, or reported as owned by another owner.
//
// The rules: the machine ends. Its outcome agrees with the covered events, and its reason with the
// answers. No commit covers an event that is not done. The number of events that wait for a commit
// does not exceed the policy's limit.

#include <array>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <string>
#include <variant>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/every_schedule.hpp>

#include <waybill/consume/at_least_once.hpp>
#include <waybill/testing/choices.hpp>

namespace at_least_once_answers {
namespace {

using waybill::advance_outcome;
using waybill::at_least_once_machine;
using waybill::batch_outcome;
using waybill::fault_kind;
using waybill::detail::highest_size;
using waybill::testing::choices;

constexpr fault_kind faults[] = {fault_kind::none,           fault_kind::transient,
                                 fault_kind::permanent,      fault_kind::infrastructure,
                                 fault_kind::ownership_lost, fault_kind::cancelled};

fault_kind pick_fault(choices& c)
{
    return faults[c.pick(static_cast<std::uint32_t>(std::size(faults)))];
}

class simulation {
public:
    simulation(choices& c, std::uint64_t events)
        : choices_(c), events_(events), policy_(any_policy(c)), machine_(events, policy_)
    {
    }

    /// Returns the first broken rule, or nothing.
    std::string run()
    {
        for (int step = 0; step != 40; ++step) {
            if (machine_.ended()) {
                ended();
                return broken_;
            }
            const auto a = machine_.next();
            if (const auto* h = waybill::get_if<waybill::at_least_once_machine::handle>(&a))
                handle(h->event);
            if (const auto* d =
                    waybill::get_if<waybill::at_least_once_machine::write_dead_letter>(&a))
                put(d->event);
            if (const auto* q =
                    waybill::get_if<waybill::at_least_once_machine::decide_all_failed>(&a))
                ask(q->failed);
            if (const auto* t = waybill::get_if<at_least_once_machine::commit_to>(&a))
                commit(t->event);
            if (waybill::holds_alternative<waybill::at_least_once_machine::check_commit>(a))
                read_back();
            if (waybill::holds_alternative<waybill::idle>(a)) breaks("idle, and it is not over");
            if (!broken_.empty()) return broken_;
        }
        return "the run does not end";
    }

private:
    static waybill::at_least_once_policy any_policy(choices& c)
    {
        constexpr std::uint64_t counts[] = {1, 2, highest_size};
        waybill::at_least_once_policy p;
        p.tries = 1;
        p.commit_every = counts[c.pick(3)];
        p.decide_all_failed_from = counts[c.pick(3)];
        if (c.pick(2) != 0) p.on_exhausted = waybill::batch_policy::when_exhausted::dead_letter;
        return p;
    }

    void breaks(const char* rule)
    {
        if (broken_.empty()) broken_ = rule;
    }

    void handle(std::uint64_t event)
    {
        if (event != next_) breaks("an event is handled out of order");
        const bool enough = event - machine_.committed_events() >= policy_.commit_every;
        if (enough && (worked_ || failed_ >= policy_.decide_all_failed_from))
            breaks("more waits for a commit than may");
        ++next_;
        const bool skipped = choices_.pick(2) != 0;
        const fault_kind how = skipped ? fault_kind::none : pick_fault(choices_);
        if (how != fault_kind::none) why_ = how;
        if (how == fault_kind::none) done_[event] = true;
        worked_ = worked_ || (how == fault_kind::none && !skipped);
        const bool late =
            how == fault_kind::transient &&
            policy_.on_exhausted == waybill::batch_policy::when_exhausted::dead_letter;
        if (late || how == fault_kind::permanent) ++failed_;
        machine_.on(waybill::at_least_once_machine::handled{how, skipped});
    }

    void put(std::uint64_t event)
    {
        const fault_kind how = pick_fault(choices_);
        if (how == fault_kind::none) done_[event] = true;
        if (how != fault_kind::none) why_ = how;
        machine_.on(waybill::at_least_once_machine::done{how});
    }

    void ask(std::uint64_t failed)
    {
        if (worked_ || failed != failed_ || failed < policy_.decide_all_failed_from)
            breaks("all_failed is requested against its rule");
        const bool on = choices_.pick(2) == 0;
        machine_.on(waybill::at_least_once_machine::all_failed_decided{
            on ? waybill::batch_policy::if_all_failed::go_on
               : waybill::batch_policy::if_all_failed::redeliver});
    }

    void commit(std::uint64_t to)
    {
        for (std::uint64_t i = 0; i <= to; ++i) {
            if (!done_[i]) breaks("a commit goes past what is not done");
        }
        const auto which = choices_.pick(7);
        constexpr advance_outcome outcomes[] = {advance_outcome::applied, advance_outcome::conflict,
                                                advance_outcome::stale_epoch};
        if (which < 3) machine_.on(waybill::at_least_once_machine::advanced{outcomes[which]});
        if (which >= 3)
            machine_.on(waybill::at_least_once_machine::advanced{advance_outcome::conflict,
                                                                 faults[which - 1]});
        cancelled_ = cancelled_ || (which >= 3 && faults[which - 1] == fault_kind::cancelled);
    }

    void read_back()
    {
        constexpr at_least_once_machine::checkpoint_found all[] = {
            at_least_once_machine::checkpoint_found::before,
            at_least_once_machine::checkpoint_found::after,
            at_least_once_machine::checkpoint_found::earlier_commit,
            at_least_once_machine::checkpoint_found::elsewhere};
        const auto which = choices_.pick(5);
        if (which == 4)
            machine_.on(
                waybill::at_least_once_machine::commit_checked{{}, fault_kind::infrastructure});
        if (which != 4) machine_.on(waybill::at_least_once_machine::commit_checked{all[which]});
    }

    void ended()
    {
        const at_least_once_machine over = machine_;
        machine_.on(waybill::at_least_once_machine::handled{});
        machine_.on(waybill::at_least_once_machine::done{});
        machine_.on(waybill::at_least_once_machine::all_failed_decided{});
        machine_.on(waybill::at_least_once_machine::advanced{});
        machine_.on(waybill::at_least_once_machine::commit_checked{});
        if (!(machine_ == over) || !waybill::holds_alternative<waybill::idle>(machine_.next()))
            breaks("the machine continues after its end");

        const batch_outcome end = *machine_.ended();
        const fault_kind why = machine_.reason();
        const bool all = machine_.committed_events() == events_;
        if (all != (end == batch_outcome::committed))
            breaks("committed is another thing than covered to the last event");
        if (all != (why == fault_kind::none))
            breaks("there is no reason, or one for what has worked");
        if (all && machine_.checkpoint_failed())
            breaks("the checkpoint has failed where all is covered");
        if (!all && !machine_.checkpoint_failed() && why != why_)
            breaks("the reason is not what was answered last");
        switch (end) {
            case batch_outcome::committed: break;
            case batch_outcome::redeliver:
                if (why == fault_kind::ownership_lost || why == fault_kind::cancelled)
                    breaks("another end fits to the reason");
                break;
            case batch_outcome::ownership_lost:
                if (why != fault_kind::ownership_lost) breaks("abandoned for another reason");
                break;
            case batch_outcome::cancelled:
                if (why != fault_kind::cancelled) breaks("cancelled for another reason");
                if (machine_.checkpoint_failed() && !cancelled_) breaks("no commit was cancelled");
                break;
            case batch_outcome::unknown:
                if (!machine_.checkpoint_failed()) breaks("unknown, and not for the checkpoint");
                break;
            case batch_outcome::empty:
            case batch_outcome::invalid: breaks("there were events");
        }
    }

    choices& choices_;
    std::uint64_t events_;
    waybill::at_least_once_policy policy_;
    at_least_once_machine machine_;
    std::uint64_t next_ = 0;
    std::array<bool, 4> done_{};
    bool worked_ = false;
    std::uint64_t failed_ = 0;
    bool cancelled_ = false;
    fault_kind why_ = fault_kind::none;  // of the last event or dead letter that failed
    std::string broken_;
};

TEST_CASE("at least once: every answer to every step: all invariants hold")
{
    for (std::uint64_t events = 1; events <= (tests_support::brief ? 2 : 3); ++events) {
        const auto v = tests_support::every_schedule(
            "at least once, every answer", (std::to_string(events) + " events").c_str(),
            [&](choices& c) { return simulation(c, events).run(); });
        CHECK(v.rule == "");
    }
}

}  // namespace
}  // namespace at_least_once_answers
