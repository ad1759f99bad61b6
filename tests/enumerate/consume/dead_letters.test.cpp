// SPDX-License-Identifier: MIT
//
// reprocess and rewind, with every fault at every store call, and a concurrent owner.
//
// A dead letter and the effect of its event: after any faults and any number of attempts, exactly
// one of the two is present. The effect happens at most once. A rewound checkpoint equals the one
// in the report. A rewind never removes the work of another owner.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/every_schedule.hpp>

#include <waybill/consume.hpp>
#include <waybill/lease.hpp>
#include <waybill/testing/choices.hpp>
#include <waybill/testing/faulty.hpp>
#include <waybill/testing/memory_store.hpp>

namespace letters_test {
namespace {

using tests_support::brief;
using waybill::dead_letter;
using waybill::event_outcome;
using waybill::fault;
using waybill::position;
using waybill::reprocess_report;
using waybill::result;
using waybill::rewind_report;
using waybill::testing::choices;
using waybill::testing::injected_fault;
using waybill::testing::store_call;
using memory = waybill::testing::memory_store<std::uint64_t>;

const waybill::partition_key key{"log", "test", "0"};
const auto first_parked = waybill::wall_time::at(waybill::duration::seconds(7));
const auto now = waybill::wall_time::at(waybill::duration::seconds(9));

struct event {
    std::uint64_t sequence;
};

dead_letter letter(std::uint64_t n)
{
    dead_letter d;
    d.key = key;
    d.at = {n, ""};
    d.reason = "first";
    d.tries = 3;
    d.dead_lettered_at = first_parked;
    return d;
}

// The faults of the store: at most `faults` calls fail.
class script {
public:
    script(choices& c, std::uint32_t faults, std::string* trace)
        : choices_(&c), left_(faults), trace_(trace)
    {
    }
    injected_fault operator()(store_call call)
    {
        injected_fault m = injected_fault::none;
        if (left_ != 0) {
            const auto all = waybill::testing::faults_of(call);
            m = all[choices_->pick(static_cast<std::uint32_t>(all.size()))];
        }
        if (m != injected_fault::none) --left_;
        if (trace_) *trace_ += std::string(name(call)) + " " + std::string(name(m)) + "\n";
        return m;
    }
    /// Returns true if the process ends within a handler.
    bool dies()
    {
        if (left_ == 0 || choices_->pick(2) == 0) return false;
        --left_;
        return true;
    }

private:
    choices* choices_;
    std::uint32_t left_;
    std::string* trace_;
};

template <class Run>
std::string enumerate(const char* what, std::uint64_t at_least, Run run)
{
    if (const char* only = std::getenv("WAYBILL_REPLAY")) {
        auto again = choices::replay(only);
        REQUIRE_MESSAGE(again.has_value(), "not a line of choices");
        std::string trace;
        const std::string r = run(*again, &trace);
        if (!again->next() && !again->diverged())
            std::printf("letters: %s\n%s%s\n", what, trace.c_str(), r.c_str());
        return {};
    }
    const auto v =
        tests_support::every_schedule("letters", what, [&](choices& c) { return run(c, nullptr); });
    if (!brief) CHECK(v.schedules >= at_least);
    return v.rule;
}

// ---------------------------------------------------------------------------------------------
// reprocess

struct reprocess_itself {
    template <class Store, class Fetch, class Handler>
    waybill::reprocess_report operator()(Store& s, Fetch fetch, Handler handler) const
    {
        return waybill::reprocess(s, key, 10, fetch, handler, now);
    }
};

enum class wrong : std::uint8_t {
    row_in_its_own_transaction,  // the letter is removed after the effect is committed
    row_first,                   // the letter is removed before the effect
    // a letter that failed again is written even if it was removed
    written_blindly,
};

struct reprocess_by_hand {
    wrong what;

    template <class Store, class Fetch, class Handler>
    waybill::reprocess_report operator()(Store& s, Fetch fetch, Handler handler) const
    {
        const auto found = s.find(key, 10);
        if (!found) return {reprocess_report::outcome_type::not_done, {}};
        if (!*found) return {reprocess_report::outcome_type::absent, {}};
        const auto e = fetch(**found);
        if (!e) return {reprocess_report::outcome_type::not_done, {}};
        if (!*e) return {reprocess_report::outcome_type::gone, {}};
        const auto removed = [&] {
            auto own = s.begin();
            if (!own) return false;
            const auto r = s.remove(*own, key, 10);
            const auto c = r && *r
                               ? own->commit()
                               : result<waybill::commit_outcome>(waybill::commit_outcome::unknown);
            return c && *c == waybill::commit_outcome::applied;
        };
        if (what == wrong::row_first && !removed())
            return {reprocess_report::outcome_type::not_done, {}};
        auto tx = s.begin();
        if (!tx) return {reprocess_report::outcome_type::not_done, {}};
        if (what == wrong::written_blindly) {
            const auto r = s.remove(*tx, key, 10);
            if (!r || !*r) return {reprocess_report::outcome_type::not_done, {}};
        }
        const event_outcome o = handler(*tx, **e);
        if (!o.reason.ok() || o.skipped) {
            tx->rollback();
            if (what != wrong::written_blindly || o.skipped)
                return {reprocess_report::outcome_type::not_done, o.reason};
            auto own = s.begin();
            if (own && s.put(*own, **found)) (void)own->commit();
            return {reprocess_report::outcome_type::not_done, o.reason};
        }
        const auto c = tx->commit();
        if (!c || *c != waybill::commit_outcome::applied)
            return {reprocess_report::outcome_type::not_done, {}};
        if (what == wrong::row_in_its_own_transaction && !removed())
            return {reprocess_report::outcome_type::not_done, {}};
        return {reprocess_report::outcome_type::handled, {}};
    }
};

enum class again : std::uint8_t {
    ok,
    permanent,
    transient,
    skipped,
    infrastructure,
    cancelled,
    gone,
    log_down
};

// Repeats it until it is over. Another process may do the same during the fetch or the handler.
template <class Driver>
std::string reprocess_run(choices& c, std::uint32_t faults, const Driver& driver,
                          std::string* trace)
{
    memory kept;
    {
        auto tx = *kept.begin();
        (void)kept.put(tx, letter(10));
        (void)kept.put(tx, letter(20));
        (void)tx.commit();
    }
    script how(c, faults, trace);
    waybill::testing::faulty store(kept, [&](store_call call) { return how(call); });
    bool somebody_else = false;
    bool was_skipped = false;
    std::uint32_t failures = 0;  // the failures that a letter may count
    const auto interfere = [&] {
        if (somebody_else || c.pick(2) == 0) return;
        somebody_else = true;
        if (trace) *trace += "another process handles it\n";
        auto fetch = [](const dead_letter& d) -> result<std::optional<event>> {
            return event{d.at.sequence};
        };
        auto handle = [](auto& tx, const event& e) {
            tx.record(e.sequence);
            return fault{};
        };
        (void)waybill::reprocess(kept, key, 10, fetch, handle, now);
    };
    const auto there = [&] { return kept.letters().contains({key, 10}); };
    for (int round = 0; round != 12; ++round) {
        const bool last = round > 1;
        const auto what = last ? again::ok : static_cast<again>(c.pick(8));
        if (!store.alive()) store.revive();
        const bool there_before = there();
        const std::size_t effects_before = kept.records().size();
        const dead_letter before = there_before ? kept.letters().at({key, 10}) : dead_letter{};
        const auto fetch = [&](const dead_letter& d) -> result<std::optional<event>> {
            interfere();
            if (what == again::gone) return std::optional<event>();
            if (what == again::log_down)
                return waybill::unexpected(waybill::infrastructure("log down"));
            return event{d.at.sequence};
        };
        const auto handle = [&](auto& tx, const event& e) -> event_outcome {
            if (!last) interfere();
            tx.inner()->record(e.sequence);
            if (how.dies()) return store.die();
            switch (what) {
                case again::permanent: ++failures; return waybill::permanent("again");
                case again::transient: ++failures; return waybill::transient("late");
                case again::skipped: was_skipped = true; return waybill::skipped();
                case again::infrastructure: return waybill::infrastructure("down");
                case again::cancelled: return waybill::cancelled("stop");
                default: return {};
            }
        };
        const auto r = driver(store, fetch, handle);
        if (trace) *trace += "-- " + std::string(name(r.outcome)) + "\n";

        const std::size_t effects = kept.records().size();
        if (effects > 1) return "the event has taken effect twice";
        if (effects == 1 && there())
            return "the event has taken effect, and its letter is still there";
        if (effects == 0 && !there() && !was_skipped)
            return "the event has not taken effect, and its letter is gone";
        if (kept.letters().at({key, 20}) != letter(20)) return "another letter was touched";
        if (there()) {
            const dead_letter& d = kept.letters().at({key, 10});
            if (d.tries > 3 + failures) return "the letter counts tries that were none";
            const bool counted = d.tries != 3;
            if (counted &&
                (d.dead_lettered_at != now || (d.reason != "again" && d.reason != "late"))) {
                return "the letter counts an attempt without its result";
            }
        }
        if (!store.alive()) continue;
        switch (r.outcome) {
            case reprocess_report::outcome_type::handled:
                if (effects != 1) return "reported as handled, and is not";
                return "";
            case reprocess_report::outcome_type::skipped:
                if (there()) return "reported as skipped, and the letter is still there";
                return "";
            case reprocess_report::outcome_type::absent:
                if (there()) return "reported as absent, and is there";
                return "";
            case reprocess_report::outcome_type::failed:
                if (!there() || kept.letters().at({key, 10}).tries != before.tries + 1) {
                    return "reported as failed, and the letter does not count the attempt";
                }
                break;
            case reprocess_report::outcome_type::gone:
                if (what != again::gone) return "reported as gone, and the log has it";
                if (!there() && !somebody_else) return "an event that is gone has lost its letter";
                break;
            case reprocess_report::outcome_type::cancelled:
                if (what != again::cancelled) return "reported as cancelled without a cancellation";
                break;
            case reprocess_report::outcome_type::not_done:
                if (effects != effects_before && !somebody_else)
                    return "reported as not done, and is";
                break;
            case reprocess_report::outcome_type::unknown: break;
        }
    }
    return "it does not come to an end";
}

template <class Driver>
std::string reprocessing(const char* what, std::uint32_t faults, const Driver& driver,
                         std::uint64_t at_least = 0)
{
    return enumerate(what, at_least, [&](choices& c, std::string* trace) {
        return reprocess_run(c, faults, driver, trace);
    });
}

TEST_CASE(
    "dead letters: reprocess: up to two faults and a concurrent process: all invariants "
    "hold")
{
    CHECK(reprocessing("reprocess", 0, reprocess_itself{}) == "");
    CHECK(reprocessing("reprocess, one fault", 1, reprocess_itself{}) == "");
    if (!brief) CHECK(reprocessing("reprocess, two faults", 2, reprocess_itself{}, 130'000) == "");
}

TEST_CASE(
    "deep: dead letters: reprocess: three faults and a concurrent process: all invariants "
    "hold" *
    doctest::skip())
{
    CHECK(reprocessing("reprocess, three faults", 3, reprocess_itself{}, 2'000'000) == "");
}

TEST_CASE("dead letters: mutant caught: reprocess removes the row in its own transaction")
{
    CHECK(reprocessing("reprocess removes the row in its own transaction", 1,
                       reprocess_by_hand{wrong::row_in_its_own_transaction}) != "");
    CHECK(reprocessing("reprocess removes the row first, on its own", 1,
                       reprocess_by_hand{wrong::row_first}) != "");
}

TEST_CASE("dead letters: mutant caught: a removed dead letter is written again")
{
    CHECK(reprocessing("a failed letter is written blindly", 0,
                       reprocess_by_hand{wrong::written_blindly}) != "");
}

// ---------------------------------------------------------------------------------------------
// rewind

// A mutant: overwrites any checkpoint, as an UPDATE without a WHERE does.
struct blind_set {
    template <class Store>
    waybill::rewind_report operator()(Store& s, const waybill::assignment& mine,
                                      const std::optional<position>& to) const
    {
        auto tx = s.begin();
        if (!tx) return {rewind_report::outcome_type::not_done, mine, {}};
        const auto stored = s.load(key);
        if (!stored) return {rewind_report::outcome_type::not_done, mine, {}};
        const auto set = s.advance(*tx, key, waybill::position_of(*stored), *to, mine.epoch);
        const auto c =
            set && *set == waybill::advance_outcome::applied && s.clear_crash_record(*tx, key)
                ? tx->commit()
                : result<waybill::commit_outcome>(waybill::commit_outcome::not_applied);
        if (!c || *c == waybill::commit_outcome::unknown)
            return {rewind_report::outcome_type::unknown, mine, {}};
        if (*c != waybill::commit_outcome::applied)
            return {rewind_report::outcome_type::not_done, mine, {}};
        return {rewind_report::outcome_type::rewound, {key, to, mine.epoch}, {}};
    }
};

struct rewind_itself {
    template <class Store>
    waybill::rewind_report operator()(Store& s, const waybill::assignment& mine,
                                      const std::optional<position>& to) const
    {
        return waybill::rewind(s, mine, to);
    }
};

// The checkpoint is 30. It is rewound to `to`, or to the beginning. Another owner may move it to
// 40, before or after that, with the same epoch or a later one. A crash record is present.
template <class Driver>
std::string rewind_run(choices& c, std::uint32_t faults, const Driver& driver,
                       const std::optional<position>& to, std::string* trace)
{
    memory kept;
    const std::uint64_t goal = to ? to->sequence : 0;
    const auto stands_at = [&] {
        const auto stored = *kept.load(key);
        return stored ? stored->at.sequence : 0;
    };
    const auto set = [&](const std::optional<position>& from, std::uint64_t sequence,
                         std::uint64_t epoch) {
        auto tx = *kept.begin();
        const auto a = *kept.advance(tx, key, from, {sequence, ""}, epoch);
        return a == waybill::advance_outcome::applied &&
               *tx.commit() == waybill::commit_outcome::applied;
    };
    (void)set({}, 30, 5);
    {
        auto tx = *kept.begin();
        (void)kept.store_crash_record(tx, key, {30, 4, 1, 7});
        (void)tx.commit();
    }
    const std::uint64_t their_epoch = 5 + c.pick(2);
    bool they_went_on = false;
    script how(c, faults, trace);
    waybill::testing::faulty store(kept, [&](store_call call) {
        if (!they_went_on && c.pick(2) != 0) {
            they_went_on = set(position{30, ""}, 40, their_epoch);
            if (trace)
                *trace += they_went_on ? "another owner advances to 40\n"
                                       : "another owner cannot advance\n";
        }
        return how(call);
    });
    waybill::assignment mine{key, position{30, ""}, 5};
    for (int round = 0; round != 8; ++round) {
        if (!store.alive()) store.revive();
        const std::uint64_t before = stands_at();
        const auto r = driver(store, mine, to);
        if (trace) *trace += "-- " + std::string(name(r.outcome)) + "\n";
        const std::uint64_t at = stands_at();
        if (they_went_on && at != 40) return "the progress of another owner is reset";
        if (at == goal && *kept.load_crash_record(key)) return "the row of attempts is still there";
        if (!store.alive()) {
            if (at == goal) return "";
            continue;
        }
        switch (r.outcome) {
            case rewind_report::outcome_type::rewound:
                if (at != goal) return "reported as rewound, and is not";
                if (r.mine.from != to || r.mine.epoch != 5) return "the next assignment is wrong";
                return "";
            case rewind_report::outcome_type::ownership_lost:
                if (!they_went_on) {
                    // An earlier rewind of ours was applied, its answer was lost, and we tried
                    // again.
                    if (at != goal || round == 0) return "ownership lost without another owner";
                }
                return "";
            case rewind_report::outcome_type::not_done:
                if (at == goal && before != goal) return "reported as not done, and is";
                break;
            case rewind_report::outcome_type::unknown: break;
            case rewind_report::outcome_type::invalid:
            case rewind_report::outcome_type::unable: return "a good rewind was not taken";
        }
        if (r.mine != mine) return "the assignment has changed, and nothing was done";
    }
    return "it does not come to an end";
}

template <class Driver>
std::string rewinding(const char* what, std::uint32_t faults, const Driver& driver,
                      const std::optional<position>& to = position{10, ""},
                      std::uint64_t at_least = 0)
{
    return enumerate(what, at_least, [&](choices& c, std::string* trace) {
        return rewind_run(c, faults, driver, to, trace);
    });
}

TEST_CASE(
    "dead letters: rewind: up to three faults, another owner at any step: all invariants "
    "hold")
{
    CHECK(rewinding("rewind", 0, rewind_itself{}) == "");
    CHECK(rewinding("rewind, one fault", 1, rewind_itself{}) == "");
    CHECK(rewinding("rewind, three faults", brief ? 2 : 3, rewind_itself{}, position{10, ""},
                    90'000) == "");
}

TEST_CASE("dead letters: rewind to the beginning: up to three faults, another owner at any step")
{
    CHECK(rewinding("rewind to the beginning", 0, rewind_itself{}, std::nullopt) == "");
    CHECK(rewinding("rewind to the beginning, one fault", 1, rewind_itself{}, std::nullopt) == "");
    CHECK(rewinding("rewind to the beginning, three faults", brief ? 2 : 3, rewind_itself{},
                    std::nullopt, 90'000) == "");
}

TEST_CASE("dead letters: mutant caught: rewind sets the checkpoint without a comparison")
{
    CHECK(rewinding("rewind by blind set", 0, blind_set{}) != "");
}

}  // namespace
}  // namespace letters_test
