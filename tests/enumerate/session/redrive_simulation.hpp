// SPDX-License-Identifier: MIT
//
// redrive_simulation: a session queue, a table of letters, a consumer, and redrives.
//
// The session queue is like Service Bus: messages of a session in order, its own sequence numbers,
// repeated message ids dropped, its own dead letters. The consumer is waybill's pipeline without
// faults; other enumerations have those. A redrive reads all letters, plans, sends and removes.
// Each of its calls can fail, be applied without confirmation, be applied in part, or end the
// process. Between the calls the consumer may work. At some time the dead-letter queue is drained.
// One choice vector selects all of this.
//
// In the end each step has taken effect once and in order, and no message, letter or dead letter is
// left. Each step finds in the state of its session the marks of all earlier steps, also after a
// redrive.

#ifndef WAYBILL_TESTS_ENUMERATE_SESSION_REDRIVE_SIMULATION_HPP
#define WAYBILL_TESTS_ENUMERATE_SESSION_REDRIVE_SIMULATION_HPP

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/core/match.hpp>
#include <waybill/session/dead_letter_import.hpp>
#include <waybill/session/job.hpp>
#include <waybill/session/pipeline.hpp>
#include <waybill/session/pipeline_dead_letter.hpp>
#include <waybill/session/plan_redrive.hpp>
#include <waybill/session/redrive.hpp>
#include <waybill/session/redrive_plan.hpp>
#include <waybill/session/step_properties.hpp>
#include <waybill/session/sweep.hpp>
#include <waybill/testing/choices.hpp>

namespace redrive_simulation {

using waybill::dead_letter_reason;
using waybill::fault_kind;
using waybill::pipeline_dead_letter;
using waybill::testing::choices;

// The outcome of a step in each session that contains it.
enum class fate : std::uint8_t {
    ok,
    fails_once,
    fails_twice,
    broker_parks,  // once, before the consumer gets it
    fails_then_broker_parks,
    // Once. The process that saved the failure dies in the last delivery, and the broker
    // dead-letters it.
    fails_without_letter,
};

inline constexpr fate all_fates[] = {fate::ok,
                                     fate::fails_once,
                                     fate::fails_twice,
                                     fate::broker_parks,
                                     fate::fails_then_broker_parks,
                                     fate::fails_without_letter};
inline constexpr fate plain_fates[] = {fate::ok, fate::fails_once, fate::broker_parks};

enum class wrong : std::uint8_t {
    nothing,
    nothing_by_hand,
    random_session,  // each redrive uses a different new session
    random_message_ids,
    removes_before_it_sends,
    removes_each_piece,  // of a session that is sent in several pieces
    removes_the_first_first,
    marks_too_few,          // the plan has `removed_at_once`, but the table removes in parts
    marks_nothing,          // the sent part of a session is not stored
    first_of_what_is_left,  // the new session begins with the first remaining letter
    takes_silence_for_yes,
    takes_a_part_for_all,
    sends_the_last_first,
    drain_completes_first,
    drains_over_marks,    // a letter that is drained again replaces the stored one
    marks_blindly,        // a mark overwrites changed letters and inserts missing ones
    forgets_the_state,    // the last state of a stopped session is not sent
    lags_with_the_state,  // the state is the one before the last that was saved
    only_causes_have_it,  // the letter of a last step that did not stop its session has no state
    takes_any_state,      // a letter's state before that of the first message, without a done step
};

struct extent {
    std::uint32_t steps = 3;
    std::uint32_t jobs = 1;  // jobs "s" and "t", with `steps` steps each
    std::uint32_t faults = 1;
    std::uint32_t chunk = 2;
    std::span<const fate> fates = all_fates;
    bool drops_repeated = true;
    bool removes_at_once = false;   // all letters of a session or none; the plan relies on it
    std::uint32_t free_rounds = 2;  // after them, all is drained and consumed before each redrive
    bool alone = false;             // steps are independent: each fails alone, in any order
    bool two = false;               // two redrives at the same time, in turns
    bool grows = false;  // more letters are written between the starts of the two redrives
    // the sender knows the total; else only the last step has it
    bool totals = true;
};

struct message {
    std::uint64_t sequence = 0;
    waybill::step_properties properties{};
    waybill::step_properties::origin origin{};
    std::string id{};
};

class simulation {
public:
    simulation(const extent& x, choices& c, wrong w, std::string* trace)
        : extent_(x), choices_(c), wrong_(w), trace_(trace), left_(x.faults)
    {
        jobs_.resize(x.jobs);
        for (std::uint32_t j = 0; j != x.jobs; ++j) {
            const std::string id(1, static_cast<char>('s' + j));
            auto job = x.totals ? waybill::job::make(id, x.steps) : waybill::job::make(id);
            for (std::uint32_t i = 0; i != x.steps; ++i) {
                jobs_[j].steps.push_back(
                    {x.fates[c.pick(static_cast<std::uint32_t>(x.fates.size()))]});
                const bool last = i + 1 == x.steps;
                accept({0, last ? job->last() : job->next(), {}, id + std::to_string(i + 1)});
            }
        }
    }

    /// Returns the first broken rule, or nothing.
    std::string run()
    {
        while (!queue_.empty() && choices_.pick(2) == 0) consume_one();
        for (std::uint32_t round = 0; round != most_rounds && broken_.empty(); ++round) {
            settled_ = round >= extent_.free_rounds;
            if (!dead_.empty() && (settled_ || choices_.pick(2) == 0)) drain();
            consume_perhaps();
            redrive();
        }
        consume();
        if (broken_.empty()) check();
        return broken_;
    }

private:
    static constexpr std::uint32_t most_rounds = 12;

    void tell(const std::string& what)
    {
        if (trace_ != nullptr) *trace_ += what + "\n";
    }
    void broken(const std::string& what)
    {
        if (broken_.empty()) broken_ = what;
    }

    // ------------------------------------------------------------------------------- the broker

    void accept(message m)
    {
        if (extent_.drops_repeated && !ids_.insert(m.id).second) return tell("  dropped " + m.id);
        m.sequence = ++sequence_;
        if (m.origin.generation != 0) {
            auto& times = sent_[{m.properties.session, m.origin.sequence}];
            if (++times > 1) broken("a message is twice in a new session");
        }
        queue_[m.properties.session].push_back(std::move(m));
    }

    void remove_front(const std::string& session)
    {
        auto& q = queue_[session];
        q.pop_front();
        if (q.empty()) queue_.erase(session);
    }

    // ----------------------------------------------------------------------------- the consumer

    struct step_of_job {
        fate how = fate::ok;
        std::uint32_t failures = 0;
        std::uint32_t parks = 0;
    };
    struct job_done {
        std::vector<step_of_job> steps;
        std::uint64_t effects = 0;  // the last step; if steps are independent, a bit for each
    };
    [[nodiscard]] job_done& job_of(const message& m)
    {
        return jobs_[static_cast<std::size_t>(m.properties.session[0] - 's')];
    }
    [[nodiscard]] step_of_job& step_of(const message& m)
    {
        return job_of(m).steps[m.properties.step - 1];
    }

    [[nodiscard]] static bool broker_parks(const message& m, const step_of_job& s)
    {
        const bool now = s.how == fate::broker_parks ||
                         (s.how == fate::fails_then_broker_parks && m.origin.generation == 1);
        return now && s.parks == 0;
    }
    [[nodiscard]] static bool fails_now(const step_of_job& s)
    {
        const bool never = s.how == fate::ok || s.how == fate::broker_parks;
        return s.failures < (s.how == fate::fails_twice ? 2U : never ? 0U : 1U);
    }

    void consume_perhaps()
    {
        if (queue_.empty()) return;
        if (settled_ || choices_.pick(2) == 0) consume();
    }

    void consume()
    {
        for (std::uint32_t i = 0; !queue_.empty() && i != 100; ++i) consume_one();
    }

    void consume_one()
    {
        const std::string session = queue_.begin()->first;
        const message m = queue_.begin()->second.front();
        if (broker_parks(m, step_of(m))) {
            ++step_of(m).parks;
            dead_.push_back(m);
            remove_front(session);
            return tell("broker parks step " + std::to_string(m.properties.step) + " of " +
                        session);
        }
        waybill::pipeline_policy policy;
        if (extent_.alone) policy.mode = waybill::pipeline_policy::pipeline_mode::independent;
        waybill::pipeline pipe(policy);
        std::string memory;  // a mark, since no state is empty, and the completed steps
        bool received = false;
        bool over = false;
        while (!over && !pipe.over()) {
            waybill::match(
                pipe.next({}),
                [&](waybill::pipeline::load_state) {
                    const auto s = states_.find(session);
                    const bool there = s != states_.end();
                    memory = there ? s->second.memory : m.origin.state;
                    if (memory.empty()) memory = "=";
                    pipe.on(
                        waybill::pipeline::state_loaded{
                            there ? waybill::state_read::ok : waybill::state_read::absent,
                            there ? s->second.progress : waybill::session_progress{}},
                        {});
                },
                [&](waybill::idle) {
                    if (std::exchange(received, true)) over = true;
                    else
                        pipe.on(waybill::pipeline::step_received{waybill::step_facts::of(
                                                                     m.properties, m.sequence, 1),
                                                                 at(m.sequence)},
                                {});
                },
                [&](waybill::pipeline::execute) {
                    pipe.on(waybill::pipeline::executed{execute(m, memory)}, {});
                },
                [&](waybill::pipeline::save_state) {
                    state& s = states_[session];
                    s = {pipe.progress(), memory, s.memory};
                    pipe.on(waybill::pipeline::state_saved{}, {});
                },
                [&](const waybill::pipeline::write_dead_letter& p) {
                    step_of_job& s = step_of(m);
                    if (s.how == fate::fails_without_letter &&
                        p.reason == dead_letter_reason::failed && s.parks == 0) {
                        ++s.parks;
                        dead_.push_back(m);
                        remove_front(session);
                        over = true;
                        return tell("the process that failed in step " +
                                    std::to_string(m.properties.step) +
                                    " dies, and the broker parks it");
                    }
                    put(waybill::make_pipeline_dead_letter(of(m, memory_of(session)), p,
                                                           pipe.reason(), pipe.progress(),
                                                           at(m.sequence), letter_policy()));
                    pipe.on(waybill::pipeline::step_dead_lettered{}, {});
                },
                [&](waybill::complete) {
                    remove_front(session);
                    pipe.on(waybill::pipeline::completed{}, {});
                },
                [&](waybill::pipeline::clear_state) {
                    states_.erase(session);
                    pipe.on(waybill::pipeline::state_cleared{}, {});
                },
                [&](waybill::pipeline::give_back) {
                    broken("the pipeline gives back without a fault");
                    over = true;
                },
                [&](waybill::wait_until) { over = true; });
        }
    }

    waybill::fault execute(const message& m, std::string& memory)
    {
        const std::uint64_t step = m.properties.step;
        if (fails_now(step_of(m))) {
            ++step_of(m).failures;
            tell("step " + std::to_string(step) + " of " + m.properties.session + " fails");
            return waybill::permanent("no template");
        }
        tell("step " + std::to_string(step) + " of " + m.properties.session + " takes effect");
        std::uint64_t& effects = job_of(m).effects;
        if (extent_.alone) {
            if ((effects >> step & 1U) != 0)
                broken("step " + std::to_string(step) + " takes effect twice");
            effects |= std::uint64_t{1} << step;
            return {};
        }
        if (memory.size() != effects + 1)
            broken("step " + std::to_string(step) + " finds what steps " + memory + " have left");
        memory += std::to_string(step);
        if (step != effects + 1)
            broken("step " + std::to_string(step) + " takes effect after step " +
                   std::to_string(effects));
        effects = step;
        return {};
    }

    [[nodiscard]] static waybill::wall_time at(std::uint64_t sequence)
    {
        return waybill::wall_time::at(
            waybill::duration::seconds(static_cast<std::int64_t>(1'000 + sequence)));
    }
    [[nodiscard]] waybill::pipeline_dead_letter::policy letter_policy() const
    {
        if (!extent_.alone) return {};
        return {.mode = waybill::pipeline_policy::pipeline_mode::independent};
    }
    [[nodiscard]] static waybill::pipeline_dead_letter::message of(const message& m,
                                                                   std::string_view memory)
    {
        return {m.properties, m.origin, m.sequence, m.id, "body", at(m.sequence), memory};
    }
    [[nodiscard]] std::string_view memory_of(const std::string& session) const
    {
        const auto s = states_.find(session);
        if (s == states_.end()) return {};
        return wrong_ == wrong::lags_with_the_state ? s->second.before : s->second.memory;
    }
    void put(pipeline_dead_letter l)
    {
        tell("letter " + describe(l));
        if (wrong_ == wrong::only_causes_have_it && !l.is_cause()) l.state.clear();
        const auto stored = letters_.find({l.properties.session, l.sequence});
        const bool there = stored != letters_.end() && wrong_ != wrong::drains_over_marks;
        if (there) l = waybill::pipeline_dead_letter::merged(stored->second, std::move(l));
        letters_[{l.properties.session, l.sequence}] = std::move(l);
    }

    // --------------------------------------------------------------------------- the drain

    // 0: no fault.
    std::uint32_t injected_fault(std::uint32_t kinds)
    {
        if (left_ == 0) return 0;
        const std::uint32_t m = choices_.pick(kinds + 1);
        if (m != 0) --left_;
        return m;
    }

    enum drain_injected_fault : std::uint32_t {
        fails = 1,
        not_confirmed,
        dies_before,
        dies_after,
        drain_injected_faults = 4
    };

    void drain()
    {
        for (std::uint32_t tries = 0; !dead_.empty() && tries != 10; ++tries) {
            const message m = dead_.front();
            const auto write = [&] {
                const auto s = states_.find(m.properties.session);
                const waybill::session_progress* known =
                    s == states_.end() ? nullptr : &s->second.progress;
                if (!drained_.insert(m.sequence).second) drained_again_ = true;
                put(waybill::make_broker_dead_letter(of(m, memory_of(m.properties.session)),
                                                     "MaxDeliveryCountExceeded", 10, known,
                                                     at(m.sequence), letter_policy()));
            };
            const auto complete = [&] { dead_.pop_front(); };
            if (wrong_ == wrong::drain_completes_first) {
                complete();
                if (injected_fault(1) == 0) write();
                continue;
            }
            waybill::dead_letter_import d(10);
            bool dead = false;
            const auto call = [&](const auto& what) {
                const std::uint32_t how = injected_fault(drain_injected_faults);
                tell("drain " + std::to_string(how));
                dead = how >= dies_before;
                if (how == 0 || how == not_confirmed || how == dies_after) what();
                return how == 0 ? fault_kind::none : fault_kind::infrastructure;
            };
            while (!d.over() && !dead) {
                waybill::match(
                    d.next({}),
                    [&](const waybill::pipeline::write_dead_letter&) {
                        d.on(waybill::pipeline::step_dead_lettered{call(write)}, {});
                    },
                    [&](waybill::complete) {
                        d.on(waybill::pipeline::completed{call(complete)}, {});
                    },
                    [](waybill::idle) {});
            }
            if (dead) return;  // the message is delivered again when its lock has expired
        }
    }

    // ------------------------------------------------------------------------- the redrive

    enum redrive_injected_fault : std::uint32_t {
        refused = 1,
        silent,
        part,
        silent_part,
        dies_first,
        dies_then,
        dies_between,
        redrive_injected_faults = 7
    };

    enum mark_injected_fault : std::uint32_t { marks_some = 5, mark_injected_faults = 5 };

    struct redriver {
        std::vector<pipeline_dead_letter> letters;
        waybill::redrive_plan plan;
        waybill::redrive run;
        std::uint32_t number = 0;
        bool dead = false;
    };

    redriver begin()
    {
        redriver r{{}, {}, waybill::redrive({}), ++redrives_};
        for (const auto& [key, l] : letters_) r.letters.push_back(l);
        waybill::redrive_plan::options options;
        options.damaged = wrong_ == wrong::first_of_what_is_left;
        if (extent_.removes_at_once || wrong_ == wrong::marks_too_few)
            options.removed_at_once = 100;
        r.plan = waybill::plan_redrive(r.letters, {}, options);
        if (wrong_ == wrong::random_session) {
            for (auto& s : r.plan.sessions) s.id += "." + std::to_string(r.number);
        }
        for (const auto& s : r.plan.sessions) {
            tell(describe(s, r.letters));
            const bool misses =
                s.reason == waybill::redrive_plan::skip_reason::none && s.marks.without_state;
            if (misses && wrong_ == wrong::nothing) broken("a session is sent without its state");
        }
        r.run = waybill::redrive(r.plan, {.chunk = extent_.chunk, .retry = {.max_attempts = 3}});
        return r;
    }

    void redrive()
    {
        if (letters_.empty()) return;
        redriver one = begin();
        if (extent_.two && !settled_ && choices_.pick(2) == 0) {
            while (extent_.grows && !queue_.empty() && choices_.pick(2) == 0) consume_one();
            redriver other = begin();
            std::uint32_t steps = 0;
            while (broken_.empty() && (!one.run.over() || !other.run.over()) && steps++ != 100) {
                const bool first = other.run.over() || (!one.run.over() && choices_.pick(2) == 0);
                step(first ? one : other);
            }
            return;
        }
        while (broken_.empty() && !one.run.over() && !one.dead) {
            step(one);
            consume_perhaps();
        }
    }

    void step(redriver& r)
    {
        if (wrong_ == wrong::nothing_by_hand || wrong_ == wrong::removes_before_it_sends ||
            wrong_ == wrong::removes_each_piece || wrong_ == wrong::sends_the_last_first) {
            return by_hand(r);
        }
        waybill::match(
            r.run.next(waybill::steady_time::highest()),
            [&](const waybill::redrive::resubmit& a) { r.run.on(send(r, a.offset, a.count), {}); },
            [&](const waybill::redrive::mark_sent& a) {
                r.run.on(waybill::redrive::sessions_marked{mark(r, a)}, {});
            },
            [&](const waybill::redrive::remove_dead_letters& a) {
                r.run.on(remove(r, a.offset, a.count), {});
            },
            [](const waybill::wait_until&) {}, [](waybill::idle) {});
        if (r.dead) r.run = waybill::redrive({});
    }

    // A manual redrive with wrong orders. Apart from its mistake: all letters in pieces, then the
    // marks, then all letters are removed from the last one on.
    void by_hand(redriver& r)
    {
        r.run = waybill::redrive({});
        const std::uint64_t ready = r.plan.ready;
        std::uint64_t sessions = 0;
        while (sessions != r.plan.sessions.size() &&
               r.plan.sessions[sessions].reason == waybill::redrive_plan::skip_reason::none)
            ++sessions;
        const auto piece = [&](std::uint64_t at) {
            return std::min<std::uint64_t>(extent_.chunk, ready - at);
        };
        const auto removed = [&](std::uint64_t at) {
            const waybill::redrive_plan::planned_session& s = r.plan.session_of(at);
            if (s.keeps_first && s.offset == at) return true;
            return remove(r, at, 1).removed == 1 && !r.dead;
        };
        if (wrong_ == wrong::removes_before_it_sends) {
            for (std::uint64_t at = ready; at-- != 0;) {
                if (!removed(at)) return;
            }
        }
        for (std::uint64_t at = 0; at < ready; at += piece(at)) {
            const std::uint64_t count = piece(at);
            const std::uint64_t from =
                wrong_ == wrong::sends_the_last_first ? ready - at - count : at;
            if (send(r, from, count).accepted != count || r.dead) return;
            for (std::uint64_t i = count; wrong_ == wrong::removes_each_piece && i-- != 0;) {
                if (!removed(from + i)) return;
            }
        }
        if (mark(r, {0, sessions}) != fault_kind::none || r.dead) return;
        for (std::uint64_t at = ready; at-- != 0;) {
            if (!removed(at)) return;
        }
    }

    waybill::redrive::resubmitted send(redriver& r, std::uint64_t offset, std::uint64_t count)
    {
        const std::uint32_t how = injected_fault(redrive_injected_faults);
        std::uint64_t applied = how == refused || how == dies_first ? 0 : count;
        if (how == part || how == silent_part || how == dies_between) applied = count / 2;
        tell("send " + std::to_string(offset) + "+" + std::to_string(count) + ": " +
             std::to_string(how));
        for (std::uint64_t i = 0; i != applied; ++i) {
            waybill::redrive_plan::planned_message s = r.plan.step(r.letters, offset + i);
            if (wrong_ == wrong::random_message_ids)
                s.message_id += "." + std::to_string(++random_);
            tell("  " + s.message_id + " as step " + std::to_string(s.properties.step) + " of " +
                 s.properties.session);
            if (wrong_ == wrong::forgets_the_state) s.origin.state.clear();
            if (wrong_ == wrong::takes_any_state && !s.origin.state.empty()) {
                const waybill::redrive_plan::planned_session& of = r.plan.session_of(offset + i);
                for (std::uint64_t n = of.end(); n-- != of.offset;) {
                    if (!r.letters[n].state.empty()) s.origin.state = r.letters[n].state;
                }
            }
            accept({0, s.properties, s.origin, s.message_id});
        }
        if (how >= dies_first) r.dead = true;
        if (how == 0) return {count, fault_kind::none};
        if (wrong_ == wrong::takes_silence_for_yes && how == refused)
            return {count, fault_kind::none};
        if (wrong_ == wrong::takes_a_part_for_all && how == part) return {count, fault_kind::none};
        return {how == part ? applied : 0, fault_kind::infrastructure};
    }

    fault_kind mark(redriver& r, const waybill::redrive::mark_sent& a)
    {
        if (wrong_ == wrong::marks_nothing) return fault_kind::none;
        const std::uint32_t how = injected_fault(mark_injected_faults);
        std::uint64_t applied = how == fails || how == dies_before ? 0 : a.count;
        if (how == marks_some) applied = a.count / 2;
        for (std::uint64_t i = 0; i != applied; ++i) {
            if (!r.plan.sessions[a.session + i].mark_before_removal) continue;
            pipeline_dead_letter l = r.plan.marked(r.letters, a.session + i);
            tell("mark " + std::to_string(l.sequence) + ": " + std::to_string(how));
            const auto stored = letters_.find({l.properties.session, l.sequence});
            if (wrong_ == wrong::marks_blindly)
                letters_[{l.properties.session, l.sequence}] = std::move(l);
            else if (stored != letters_.end())
                stored->second = waybill::pipeline_dead_letter::with_mark(stored->second, l);
        }
        if (how >= dies_before) r.dead = true;
        return how == 0 ? fault_kind::none : fault_kind::infrastructure;
    }

    waybill::redrive::dead_letters_removed remove(redriver& r, std::uint64_t offset,
                                                  std::uint64_t count)
    {
        const std::uint32_t how = injected_fault(redrive_injected_faults);
        std::uint64_t applied = how == refused || how == dies_first ? 0 : count;
        if (how == part || how == silent_part || how == dies_between)
            applied = extent_.removes_at_once ? 0 : count / 2;
        tell("remove " + std::to_string(offset) + "+" + std::to_string(count) + ": " +
             std::to_string(how));
        for (std::uint64_t i = 0; i != applied; ++i) {
            const std::uint64_t which =
                wrong_ == wrong::removes_the_first_first ? offset + i : offset + count - 1 - i;
            const pipeline_dead_letter& l = r.letters[which];
            letters_.erase({l.properties.session, l.sequence});
        }
        if (how >= dies_first) r.dead = true;
        return {how == 0      ? count
                : how == part ? applied
                              : 0,
                how == 0 ? fault_kind::none : fault_kind::infrastructure};
    }

    // ----------------------------------------------------------------------------------- the end

    void check()
    {
        if (!dead_.empty()) broken("a message is left at the broker");
        if (!queue_.empty()) broken("a message is left in the queue");
        const std::uint64_t all =
            extent_.alone ? (std::uint64_t{2} << extent_.steps) - 2 : extent_.steps;
        for (const job_done& j : jobs_) {
            if (j.effects != all && extent_.alone) broken("a step has never taken effect");
            if (j.effects != all)
                broken("step " + std::to_string(j.effects + 1) + " has never taken effect");
        }
        // A letter that is drained again after its session was redriven is held back for an
        // operator.
        std::vector<pipeline_dead_letter> letters;
        for (const auto& [key, l] : letters_) letters.push_back(l);
        const bool ready = waybill::plan_redrive(letters).ready != 0;
        if (!letters_.empty() && (ready || !drained_again_))
            broken("a letter is left: " + describe(letters_.begin()->second));
        // plan_sweep must list every state that is left.
        std::vector<waybill::sweep_item::swept_state> left;
        for (const auto& [session, s] : states_)
            left.push_back({session, waybill::state_read::ok, s.progress, {}});
        const auto plan = waybill::plan_sweep(left, waybill::wall_time::highest());
        if (!plan || plan->size() != left.size()) broken("a state is left that no sweep names");
    }

    extent extent_;
    choices& choices_;
    wrong wrong_;
    std::string* trace_;
    std::uint32_t left_;
    bool settled_ = false;
    std::string broken_;
    std::vector<job_done> jobs_;
    std::uint64_t sequence_ = 0;
    std::uint32_t redrives_ = 0;
    std::uint32_t random_ = 0;
    std::map<std::string, std::deque<message>> queue_;
    std::deque<message> dead_;
    std::set<std::uint64_t> drained_;
    bool drained_again_ = false;
    std::set<std::string> ids_;
    std::map<std::pair<std::string, std::uint64_t>, std::uint32_t> sent_;
    struct state {
        waybill::session_progress progress;
        std::string memory;
        std::string before;
    };
    std::map<std::string, state> states_;
    std::map<std::pair<std::string, std::uint64_t>, pipeline_dead_letter> letters_;
};

}  // namespace redrive_simulation

#endif  // WAYBILL_TESTS_ENUMERATE_SESSION_REDRIVE_SIMULATION_HPP
