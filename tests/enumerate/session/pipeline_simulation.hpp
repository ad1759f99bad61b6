// SPDX-License-Identifier: MIT
//
// pipeline_simulation: a broker with sessions, their states and letters, and processes that run
// steps, die, lose their locks and restart.
//
// One choice vector selects the outcomes of the steps and the faults. So a run that breaks a rule
// is one printed line. A process is process_step over a pipeline. It can have one mistake.

#ifndef WAYBILL_TESTS_ENUMERATE_SESSION_PIPELINE_SIMULATION_HPP
#define WAYBILL_TESTS_ENUMERATE_SESSION_PIPELINE_SIMULATION_HPP

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/every_schedule.hpp>

#include <waybill/session/process_step.hpp>
#include <waybill/testing/choices.hpp>

namespace pipeline_simulation {

using waybill::dead_letter_reason;
using waybill::duration;
using waybill::fault;
using waybill::fault_kind;
using waybill::pipeline_policy;
using waybill::session_progress;
using waybill::state_read;
using waybill::steady_time;
using waybill::step_outcome;
using waybill::testing::choices;

enum class outcome : std::uint8_t {
    ok,
    permanent,
    transient_once,
    transient_for_ever,
    infrastructure_once,
    deadly,  // ends the process each time it runs
};
inline constexpr outcome of_all[] = {outcome::ok,
                                     outcome::permanent,
                                     outcome::transient_for_ever,
                                     outcome::transient_once,
                                     outcome::infrastructure_once,
                                     outcome::deadly};

// The size of an enumeration.
struct extent {
    pipeline_policy::pipeline_mode mode;
    std::uint32_t steps;
    std::uint32_t faults;
    std::span<const outcome> outcomes;
    std::uint32_t sessions = 1;
    bool overtaken = false;   // a holder may pause until another one has done its work
    bool corrupt = false;     // a stored state may become unreadable
    bool refused = false;     // the store may refuse a state or a letter permanently
    bool uncounted = false;   // the broker counts no deliveries and dead-letters no message
    bool pauses = false;      // the process may die, stop or lose its lock during a pause
    std::uint32_t shift = 0;  // the number of steps done in the session that this one continues
    bool open = false;        // only the last step has the total
    bool by_arrival = false;  // no step has a number, and the last one is marked
};

// A process with one mistake.
enum class wrong : std::uint8_t {
    nothing,
    clear_before_complete,
    settle_before_state,  // complete, and then save that the step is done
    letter_before_state,  // dead-letter and complete, and then save that the session has failed
    gap_ignored,
    corrupt_is_absent,
    tries_not_saved,
    park_after_save,  // in independent mode
    failed_state_ignored,
    unsure_complete_is_done,
    unsure_save_is_saved,
    unsure_park_is_parked,
    store_fault_is_step_fault,
    deliveries_ignored,
    never_cleared,
    every_step_is_new,  // a step that is done runs again
    cause_not_named,
    parked_and_run,     // the step after a failure is run and dead-lettered
    charged_in_pauses,  // a try is saved before its pause instead of before its start
    first_forgotten,    // a session that continues another one is treated as if it began at step 1
    arrival_forgotten,  // a message delivered again is numbered as a new one
    arrival_not_saved,  // the number of a message after a failure is not saved
};

struct letter {
    std::uint64_t step;
    dead_letter_reason reason;
    std::uint64_t cause;
    std::uint64_t tries;
};

struct message {
    std::uint64_t step;
    std::uint64_t sequence;
    outcome how = outcome::ok;
    std::uint32_t counted = 0;  // counted deliveries that did not complete it
    bool complete = false;
    bool at_broker = false;  // in the broker's own dead-letter queue
    std::uint32_t effects = 0;
    std::uint32_t runs = 0;
    bool refused = false;       // the state after this step was refused
    std::uint32_t unended = 0;  // deliveries that did not complete it, counted or not
    std::uint32_t begun = 0;    // tries, as far as their process could know
    std::optional<letter> parked{};
};

struct session {
    std::array<message, 6> messages{};
    std::uint64_t token = 0;  // of the lock; 0: not locked
    std::optional<session_progress> state{};
    std::uint64_t version = 0;  // of the state, counted over all of its lives
    bool corrupt = false;
    bool leftover_excused = false;
    std::uint64_t ran_up_to = 0;
    std::uint64_t done = 0;  // the highest number in a state so far
};

// One process that holds one session.
struct holder {
    std::uint64_t token = 0;
    bool alive = true;
    std::optional<std::uint64_t> version{};  // of the state, as loaded or written
    message* hand = nullptr;
    const waybill::pipeline* pipe = nullptr;
    std::uint64_t numbered() const { return pipe->message().step; }
    bool settled_early = false;  // mutants
    bool parks_later = false;
    waybill::pipeline::write_dead_letter parking{};
    bool letter_written = false;
};

class simulation {
public:
    simulation(const extent& x, choices& c, wrong w, std::string* trace)
        : extent_(x), choices_(c), wrong_(w), trace_(trace), left_(x.faults), sessions_(x.sessions)
    {
        policy_.mode = x.mode;
        policy_.retry = {
            .max_attempts = 2,
            .pauses = {.base = duration::seconds(1), .spread = waybill::backoff::jitter::none}};
        policy_.max_wait_in_hand = duration::seconds(c.pick(2) == 0 ? 10 : 0);
        if (x.refused && c.pick(2) == 0)
            policy_.refused = waybill::pipeline_policy::when_refused::without_body;
        policy_.max_deliveries = 3;
        policy_.broker_max_deliveries =
            x.uncounted ? waybill::detail::highest_size : broker_max_deliveries;
        give_back_counts_ = c.pick(2) != 0;
        native_ = c.pick(2) == 0;
        for (std::uint32_t s = 0; s != x.sessions; ++s) {
            for (std::uint32_t i = 0; i != x.steps; ++i) {
                message& m = sessions_[s].messages[i];
                m.step = i + 1;
                m.sequence = 100 * (s + 1) + i;
                // The second session must not change because of the first.
                if (s == 0)
                    m.how = x.outcomes[c.pick(static_cast<std::uint32_t>(x.outcomes.size()))];
            }
        }
    }

    /// Returns the first broken rule, or nothing.
    std::string run()
    {
        for (std::uint32_t round = 0; round != 40; ++round) {
            if (!drain_one()) return broken_.empty() ? finished() : broken_;
            if (!broken_.empty()) return broken_;
        }
        return "the sessions are not drained in so many holdings";
    }

private:
    static constexpr std::uint64_t broker_max_deliveries = 4;
    enum class call : std::uint8_t { load, execute, save, park, complete, clear, wait };
    enum class injected_fault : std::uint8_t {
        none,
        dies_before,
        dies_after,
        fails,
        applied_and_fails,
        lock_lost,
        overtaken,
        rots,
        refused,
    };

    void tell(const std::string& line)
    {
        if (trace_) *trace_ += line + "\n";
    }
    void breaks(const char* rule)
    {
        if (broken_.empty()) broken_ = rule;
        tell(std::string("BROKEN: ") + rule);
    }

    // -- the broker

    message* next_of(session& s)
    {
        for (std::uint32_t i = 0; i != extent_.steps; ++i) {
            message& m = s.messages[i];
            if (!m.complete && !m.at_broker) return &m;
        }
        return nullptr;
    }

    /// The delivery of this message has ended and counts at the broker.
    void count(session& s, message* m, bool by_fault)
    {
        if (!m || m->complete || m->at_broker) return;
        if (++m->counted < broker_max_deliveries || extent_.uncounted) return;
        m->at_broker = true;
        s.leftover_excused = true;
        tell("-- the broker parks step " + std::to_string(m->step));
        if (!by_fault)
            breaks(
                "the broker has parked a step itself, and nothing had gone wrong in that delivery");
    }

    bool locked(const session& s, const holder& h) const { return s.token == h.token; }

    void lose_lock(session& s, holder& h)
    {
        if (!locked(s, h)) return;
        s.token = 0;
        count(s, h.hand, true);
    }

    void die(session& s, holder& h, bool by_fault)
    {
        h.alive = false;
        tell("-- the process dies");
        if (!locked(s, h)) return;
        s.token = 0;
        count(s, h.hand, by_fault);
    }

    // -- the faults

    injected_fault injected_fault_at(session& s, holder& h, call at)
    {
        static constexpr injected_fault on_load[] = {
            injected_fault::none, injected_fault::dies_before, injected_fault::fails,
            injected_fault::lock_lost, injected_fault::rots};
        static constexpr injected_fault on_execute[] = {
            injected_fault::none, injected_fault::dies_before, injected_fault::dies_after,
            injected_fault::lock_lost, injected_fault::overtaken};
        static constexpr injected_fault on_writes[] = {
            injected_fault::none,  injected_fault::dies_before,       injected_fault::dies_after,
            injected_fault::fails, injected_fault::applied_and_fails, injected_fault::refused};
        static constexpr injected_fault on_wait[] = {
            injected_fault::none, injected_fault::dies_before, injected_fault::fails,
            injected_fault::lock_lost};
        static constexpr injected_fault on_others[] = {
            injected_fault::none,     injected_fault::dies_before,       injected_fault::dies_after,
            injected_fault::fails,    injected_fault::applied_and_fails, injected_fault::lock_lost,
            injected_fault::overtaken};
        if (left_ == 0 || !broken_.empty()) return injected_fault::none;
        std::span<const injected_fault> all = on_others;
        if (at == call::load) all = std::span(on_load).first(extent_.corrupt && s.state ? 5 : 4);
        if (at == call::execute) all = on_execute;
        if (at == call::wait) all = on_wait;
        if (!extent_.overtaken && all.back() == injected_fault::overtaken)
            all = all.first(all.size() - 1);
        if (extent_.refused && (at == call::save || at == call::park)) all = on_writes;
        const injected_fault m = all[choices_.pick(static_cast<std::uint32_t>(all.size()))];
        if (m == injected_fault::none) return m;
        --left_;
        if (trace_) {
            static constexpr const char* names[] = {
                "none",      "dies before", "dies after", "fails",           "is applied and fails",
                "lock lost", "overtaken",   "rots",       "refused for ever"};
            tell(std::string("   injected_fault: ") + names[static_cast<std::size_t>(m)]);
        }
        // This may have been the save before a try; it is not known here.
        if (at == call::save && h.hand) ++h.hand->begun;
        const bool at_the_end = h.hand && h.hand->step == extent_.steps;
        if (at_the_end && (at == call::complete || at == call::clear)) s.leftover_excused = true;
        return m;
    }

    /// One call. `apply` returns false if the lock or the version has changed.
    template <class Apply>
    fault io(session& s, holder& h, call at, Apply apply)
    {
        if (!h.alive) return waybill::infrastructure("the process has died");
        static constexpr const char* names[] = {"load",     "execute", "save", "park",
                                                "complete", "clear",   "wait"};
        if (trace_) {
            const std::string step = h.hand ? std::to_string(h.hand->step) : "?";
            tell("s" + std::to_string(&s - sessions_.data()) + " " +
                 names[static_cast<std::size_t>(at)] + " " + step);
        }
        const injected_fault m = injected_fault_at(s, h, at);
        switch (m) {
            case injected_fault::dies_before:
                die(s, h, true);
                return waybill::infrastructure("dead");
            case injected_fault::fails: return waybill::infrastructure("down");
            case injected_fault::refused:
                h.hand->refused = h.hand->refused || at == call::save;
                return waybill::permanent("refused");
            case injected_fault::lock_lost: lose_lock(s, h); break;
            case injected_fault::overtaken: overtake(s, h); break;
            case injected_fault::rots:  // the writer that damaged it has changed the version
                s.corrupt = true;
                ++s.version;
                s.leftover_excused = true;
                break;
            default: break;
        }
        const bool taken = apply();
        if (m == injected_fault::dies_after) {
            die(s, h, true);
            return waybill::infrastructure("dead");
        }
        if (m == injected_fault::applied_and_fails) return waybill::infrastructure("no answer");
        if (!taken) return waybill::ownership_lost("refused");
        return {};
    }

    /// Meanwhile another holder does some or all of the work.
    void overtake(session& s, holder& h)
    {
        lose_lock(s, h);
        s.leftover_excused = true;
        const std::uint32_t messages = choices_.pick(2) == 0 ? 1 : 100;
        tell("-- meanwhile, elsewhere");
        for (int n = 0; n != 8 && broken_.empty() && s.token == 0 && next_of(s); ++n) {
            hold(s, messages);
            if (messages == 1) break;
        }
        tell("-- and back");
    }

    // -- the calls of a process

    waybill::pipeline::state_loaded load(session& s, holder& h)
    {
        const fault f = io(s, h, call::load, [&] { return locked(s, h); });
        if (!f.ok()) return {.kind = f.kind};
        h.version.reset();
        if (!s.state) return {};
        h.version = s.version;
        if (s.corrupt && wrong_ == wrong::corrupt_is_absent) return {};
        if (s.corrupt) return {.found = state_read::corrupt};
        waybill::pipeline::state_loaded found{state_read::ok, *s.state};
        if (wrong_ == wrong::failed_state_ignored) found.progress.failed.reset();
        if (wrong_ == wrong::every_step_is_new) {
            found.progress.done = h.hand ? h.hand->step - 1 + extent_.shift : 0;
        }
        return found;
    }

    bool write_state(session& s, holder& h, const session_progress* p)
    {
        const bool may = native_ ? locked(s, h) : s.state ? h.version == s.version : !h.version;
        if (!may) return false;
        if (s.corrupt) breaks("a state that cannot be read was written over or removed");
        if (p) s.state = *p;
        else s.state.reset();
        if (p && p->done > s.done + extent_.shift) s.done = p->done - extent_.shift;
        h.version.reset();
        if (p) h.version = ++s.version;
        return true;
    }

    fault save(session& s, holder& h, waybill::pipeline::save_state a, const session_progress& p)
    {
        const bool tries = a.keep_old_value && !p.failed && !h.letter_written;
        if (wrong_ == wrong::tries_not_saved && tries) return {};
        const bool after_failure = p.failed && h.hand && p.failed->sequence != h.hand->sequence;
        if (wrong_ == wrong::arrival_not_saved && after_failure) return {};
        if (wrong_ == wrong::settle_before_state && !a.keep_old_value) settle_early(s, h);
        if (wrong_ == wrong::letter_before_state && p.failed) {
            const auto& f = *p.failed;
            if (const fault n = write_letter(s, h, {f.reason, f.sequence, f.step, f.tries});
                !n.ok())
                return n;
            settle_early(s, h);
        }
        fault f = io(s, h, call::save, [&] { return write_state(s, h, &p); });
        if (wrong_ == wrong::unsure_save_is_saved && f.kind == fault_kind::infrastructure &&
            h.alive)
            f = {};
        if (f.ok() && h.parks_later) f = write_letter(s, h, h.parking);
        return f;
    }

    fault park(session& s, holder& h, const waybill::pipeline::write_dead_letter& a)
    {
        if (wrong_ == wrong::letter_before_state && h.letter_written) return {};
        if (wrong_ == wrong::park_after_save) {
            h.parks_later = true;
            h.letter_written = true;
            h.parking = a;
            return {};
        }
        if (wrong_ == wrong::parked_and_run && a.reason == dead_letter_reason::session_failed)
            record(s, h);
        fault f = write_letter(s, h, a);
        if (wrong_ == wrong::unsure_park_is_parked && f.kind == fault_kind::infrastructure &&
            h.alive)
            f = {};
        return f;
    }

    fault write_letter(session& s, holder& h, const waybill::pipeline::write_dead_letter& a)
    {
        const std::uint64_t cause = wrong_ == wrong::cause_not_named ? 0 : a.cause;
        return io(s, h, call::park, [&] {
            h.letter_written = true;
            h.hand->parked = letter{h.numbered(), a.reason, cause, a.tries};
            if (trace_) tell("   letter: " + std::string(name(a.reason)));
            return true;
        });
    }

    bool remove_message(session& s, holder& h)
    {
        if (!locked(s, h) || h.hand->complete || h.hand->at_broker) return false;
        h.hand->complete = true;
        if (!h.hand->parked && h.hand->effects == 0)
            breaks("a message is complete, and its step neither done nor parked");
        return true;
    }

    void settle_early(session& s, holder& h)
    {
        if (io(s, h, call::complete, [&] { return remove_message(s, h); }).ok())
            h.settled_early = true;
    }

    fault complete(session& s, holder& h)
    {
        if (h.settled_early) return {};
        const bool last = h.hand->step == extent_.steps;
        if (wrong_ == wrong::clear_before_complete && last) {
            if (const fault f = io(s, h, call::clear, [&] { return write_state(s, h, nullptr); });
                !f.ok())
                return f;
        }
        fault f = io(s, h, call::complete, [&] { return remove_message(s, h); });
        if (wrong_ == wrong::unsure_complete_is_done && f.kind == fault_kind::infrastructure &&
            h.alive)
            f = {};
        return f;
    }

    fault clear(session& s, holder& h)
    {
        if (wrong_ == wrong::never_cleared || wrong_ == wrong::clear_before_complete) return {};
        return io(s, h, call::clear, [&] { return write_state(s, h, nullptr); });
    }

    /// The effect of the step in hand.
    void record(session& s, holder& h)
    {
        message& m = *h.hand;
        ++m.effects;
        if (extent_.mode == pipeline_policy::pipeline_mode::stop_on_failure &&
            m.step > s.ran_up_to + 1) {
            breaks("a step has run and the one before it has not");
        }
        if (m.step > s.ran_up_to) s.ran_up_to = m.step;
    }

    void may_run(session& s, holder& h)
    {
        if (!locked(s, h)) return;  // overtaken, and not aware of it yet
        if (s.corrupt) breaks("a step runs, and the state of its session cannot be read");
        if (h.hand->complete) breaks("a step runs whose message is complete");
        if (!s.state) return;
        if (s.state->failed) breaks("a step runs after its session has failed");
        if (s.state->done >= h.hand->step + extent_.shift) breaks("a step runs that is done");
    }

    fault execute(session& s, holder& h)
    {
        message& m = *h.hand;
        bool first = false;
        if (h.alive) ++m.begun;
        const fault f = io(s, h, call::execute, [&] {
            may_run(s, h);
            first = m.runs++ == 0;
            // The effect is that of a successful handler.
            const bool works = m.how == outcome::ok ||
                               (!first && m.how == outcome::transient_once) ||
                               (!first && m.how == outcome::infrastructure_once);
            if (works) record(s, h);
            return true;
        });
        if (!f.ok()) return f;
        switch (m.how) {
            case outcome::ok: return {};
            case outcome::permanent: return waybill::permanent("bad");
            case outcome::transient_for_ever: return waybill::transient("busy");
            case outcome::transient_once: return first ? waybill::transient("busy") : fault{};
            case outcome::infrastructure_once:
                if (!first) return {};
                if (wrong_ == wrong::store_fault_is_step_fault) return waybill::permanent("down");
                return waybill::infrastructure("down");
            case outcome::deadly: die(s, h, false); return waybill::infrastructure("dead");
        }
        return {};
    }

    /// A fault ends the pause early, like a stop request.
    fault wait(session& s, holder& h, waybill::wait_until a, const session_progress& p)
    {
        if (wrong_ == wrong::charged_in_pauses && locked(s, h)) (void)write_state(s, h, &p);
        const fault f =
            extent_.pauses ? io(s, h, call::wait, [&] { return locked(s, h); }) : fault{};
        if (f.ok()) now_ = a.time;
        return f;
    }

    // -- processes

    bool drain_one()
    {
        std::array<session*, 2> open{};
        std::uint32_t n = 0;
        for (session& s : sessions_) {
            if (next_of(s)) open[n++] = &s;
        }
        if (n == 0) return false;
        session& s = *open[choices_.pick(n)];
        hold(s, n == 2 && choices_.pick(2) == 0 ? 1 : 100);
        return true;
    }

    /// The time of the simulation. Its pauses are calls, which may fail.
    struct environment {
        waybill::steady_time& time;

        [[nodiscard]] waybill::steady_time now() const { return time; }
        [[nodiscard]] waybill::wall_time wall_now() const
        {
            return waybill::wall_time::at(time.since_epoch());
        }
        void sleep_until(waybill::steady_time t) { time = t; }
        [[nodiscard]] static double random() { return 0.5; }
    };

    /// One lock of a session, for at most `messages` messages.
    void hold(session& s, std::uint32_t messages)
    {
        holder h;
        h.token = s.token = ++tokens_;
        waybill::pipeline pipe(policy_);
        h.pipe = &pipe;
        tell("-- s" + std::to_string(&s - sessions_.data()) + " is held");
        environment env{now_};
        while (!pipe.over() && h.alive && messages-- != 0 && broken_.empty()) {
            message* const m = locked(s, h) ? next_of(s) : nullptr;
            if (!m) break;
            h.hand = m;
            h.settled_early = h.parks_later = h.letter_written = false;
            const std::uint64_t before = extent_.shift;
            waybill::step_facts facts{m->sequence,
                                      m->step + before,
                                      1 + before,
                                      extent_.open ? 0 : extent_.steps + before,
                                      m->step == extent_.steps,
                                      m->counted + 1};
            const std::uint64_t expected = s.state ? s.state->done + 1 : 1 + before;
            if (wrong_ == wrong::gap_ignored && facts.step > expected)
                facts = {m->sequence, expected};
            if (extent_.by_arrival) {
                facts.step = facts.total = 0;
                facts.by_arrival = true;
                if (wrong_ == wrong::arrival_forgotten) facts.sequence = 1'000 + ++tokens_;
            }
            if (wrong_ == wrong::first_forgotten) facts.first = 1;
            if (wrong_ == wrong::deliveries_ignored) facts.deliveries = 1;
            if (extent_.uncounted) facts.deliveries = 0;
            const auto end = waybill::process_step(
                pipe, facts, env, [&](waybill::pipeline::load_state) { return load(s, h); },
                [&](waybill::pipeline::execute) { return execute(s, h); },
                [&](waybill::pipeline::save_state a) { return save(s, h, a, pipe.progress()); },
                [&](const waybill::pipeline::write_dead_letter& a) { return park(s, h, a); },
                [&](waybill::complete) { return complete(s, h); },
                [&](waybill::pipeline::clear_state) { return clear(s, h); },
                [&](waybill::pipeline::give_back a) {
                    if (!h.alive) return;
                    tell("give back");
                    if (locked(s, h)) s.token = 0;
                    if (give_back_counts_ && h.alive) count_given_back(s, h);
                    if (native_ && now_ < a.until)
                        now_ = a.until;  // only such a broker delays the redelivery
                },
                [&](waybill::wait_until a) { return wait(s, h, a, pipe.progress()); });
            if (trace_) tell("-> " + std::string(name(end)));
            if (!m->complete) ++m->unended;
            if (h.alive) check_end(end, *m);
        }
        if (h.alive && locked(s, h)) s.token = 0;
    }

    /// If giving back counts as a delivery, its reason must be an injected fault or the step
    /// itself.
    void count_given_back(session& s, holder& h)
    {
        const bool by_step = h.hand && (h.hand->how == outcome::infrastructure_once ||
                                        h.hand->how == outcome::transient_once ||
                                        h.hand->how == outcome::transient_for_ever);
        count(s, h.hand, !by_step || left_ != extent_.faults);
    }

    void check_end(step_outcome e, const message& m)
    {
        const bool claims = e == step_outcome::done || e == step_outcome::repeated ||
                            e == step_outcome::dead_lettered;
        const bool lies = wrong_ == wrong::unsure_complete_is_done;
        if (claims && !m.complete && !lies) breaks("reported as complete, and is not");
        if (e == step_outcome::dead_lettered && !m.parked && wrong_ == wrong::nothing)
            breaks("reported as parked, and there is no letter");
    }

    // -- the end

    std::string finished()
    {
        for (std::uint32_t n = 0; n != extent_.sessions; ++n) {
            finished(sessions_[n], n != 0);
        }
        return broken_;
    }

    void finished(const session& s, bool untouched)
    {
        if (s.state && !s.leftover_excused)
            breaks("a state is left without a fault that allows it");
        const message* first_failed = nullptr;
        for (std::uint32_t i = 0; i != extent_.steps; ++i) {
            const message& m = s.messages[i];
            const bool failed = m.parked || (m.at_broker && m.step > s.done);
            if (failed && !first_failed) first_failed = &m;
            if (untouched && extent_.faults == 0 && failed)
                breaks("a step of another session was parked");
            if (!m.parked && !m.at_broker && m.effects == 0)
                breaks("a step is neither done nor parked");
            if (m.parked) check_letter(s, m, *first_failed);
            if (extent_.mode == pipeline_policy::pipeline_mode::independent || !first_failed)
                continue;
            if (!failed) breaks("a step after a failure is done");
            if (&m != first_failed && m.effects != 0) breaks("a step has run after a failure");
        }
    }

    void check_letter(const session& s, const message& m, const message& first)
    {
        const letter& l = *m.parked;
        // Only messages that the broker dead-letters may shift the numbers by arrival.
        const bool shifted = extent_.by_arrival && (first.at_broker || s.corrupt);
        if (l.step != m.step + extent_.shift && !shifted)
            breaks("a letter has another number than its message");
        const bool by_deliveries =
            l.reason == dead_letter_reason::ended_process && m.counted >= policy_.max_deliveries;
        const bool stops = extent_.mode == pipeline_policy::pipeline_mode::stop_on_failure;
        if (s.corrupt && l.reason == dead_letter_reason::unreadable) return;
        if (m.refused && l.reason == dead_letter_reason::failed && l.cause == m.sequence) return;
        if (stops && &m != &first) {
            // A message that the broker dead-lettered is a gap for the next step.
            const bool gap =
                l.reason == dead_letter_reason::gap && first.at_broker && l.cause == m.sequence;
            if (!gap && l.reason != dead_letter_reason::session_failed)
                breaks("a step after a failure is dead-lettered with another reason");
            if (!gap && l.cause != first.sequence && !first.at_broker)
                breaks("a letter does not name what stopped its session");
            if (!gap && first.at_broker && l.cause == 0)
                breaks("a letter does not name what stopped its session");
            return;
        }
        if (l.cause != m.sequence) breaks("the letter of a failure names another cause");
        if (l.reason == dead_letter_reason::exhausted && l.tries > m.begun)
            breaks("a letter counts tries that never began");
        if (extent_.uncounted && l.reason == dead_letter_reason::exhausted && l.tries == 2) {
            // Failed tries, and tries without a result.
            const std::uint32_t failed = m.how == outcome::transient_for_ever ? 2
                                         : m.how == outcome::transient_once   ? 1
                                                                              : 0;
            if (failed + m.unended < 2) breaks("a step is parked that never failed");
            return;
        }
        if (l.reason == dead_letter_reason::gap || l.reason == dead_letter_reason::session_failed) {
            return breaks("a step that nothing stopped is parked for a failure before it");
        }
        switch (m.how) {
            case outcome::permanent:
                if (l.reason != dead_letter_reason::failed && !by_deliveries)
                    breaks("a letter gives another reason than there was");
                return;
            case outcome::transient_for_ever:
                if (l.reason != dead_letter_reason::exhausted && !by_deliveries)
                    breaks("a letter gives another reason than there was");
                if (l.reason == dead_letter_reason::exhausted && l.tries != 2)
                    breaks("a letter counts other tries than there were");
                return;
            default:
                if (!by_deliveries) breaks("a step is parked that never failed");
        }
    }

    const extent& extent_;
    choices& choices_;
    wrong wrong_;
    std::string* trace_;
    std::uint32_t left_;
    std::vector<session> sessions_;
    waybill::pipeline_policy policy_;
    bool give_back_counts_ = false;
    bool native_ = true;  // the state is under the session lock and has no versions
    steady_time now_ = steady_time::at(duration::seconds(1));
    std::uint64_t tokens_ = 0;
    std::string broken_;
};

inline std::string run(const extent& x, choices& c, wrong w, std::string* trace = nullptr)
{
    simulation it(x, c, w, trace);
    return it.run();
}

using tests_support::verdict;

inline verdict enumerate(const char* what, const extent& x, wrong w = wrong::nothing,
                         const char* rule = "")
{
    return tests_support::every_schedule(
        "pipeline", what, [&](choices& c) { return run(x, c, w); }, rule);
}

/// The pipeline breaks no rule, in at least `at_least` different schedules.
inline void holds(const char* what, const extent& x, std::uint64_t at_least)
{
    const verdict v = enumerate(what, x);
    CHECK(v.rule == "");
    if (!tests_support::brief) CHECK(v.schedules >= at_least);
}

/// The mutant must break this rule.
inline void is_caught(const char* what, const extent& x, wrong w, const char* rule)
{
    CHECK(enumerate(what, x, w, rule).rule == rule);
}

/// Runs only the schedule of the line in WAYBILL_REPLAY, in each extent that has such a schedule.
inline void replay(std::initializer_list<const extent*> extents, wrong w = wrong::nothing)
{
    const char* line = std::getenv("WAYBILL_REPLAY");
    if (!line) return;
    for (const extent* x : extents) {
        auto c = choices::replay(line);
        REQUIRE_MESSAGE(c.has_value(), "not a line of choices");
        std::string trace;
        const std::string broken = run(*x, *c, w, &trace);
        const bool whole = !c->next() && !c->diverged();
        if (!whole) continue;
        std::printf("pipeline: %u steps, %u faults at most\n%s", x->steps, x->faults,
                    trace.c_str());
        CHECK(broken == "");
    }
}

}  // namespace pipeline_simulation

#endif  // WAYBILL_TESTS_ENUMERATE_SESSION_PIPELINE_SIMULATION_HPP
