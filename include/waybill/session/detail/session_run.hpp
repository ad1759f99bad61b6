// SPDX-License-Identifier: MIT
//
// session_run: the loops of run_session, over sessions and over the messages of one session.

#ifndef WAYBILL_SESSION_DETAIL_SESSION_RUN_HPP
#define WAYBILL_SESSION_DETAIL_SESSION_RUN_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/core/act.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/backoff.hpp>
#include <waybill/session/detail/call_results.hpp>
#include <waybill/session/detail/message_step.hpp>
#include <waybill/session/detail/session_handler.hpp>
#include <waybill/session/detail/session_places.hpp>
#include <waybill/session/detail/step_run.hpp>
#include <waybill/session/job.hpp>
#include <waybill/session/pipeline.hpp>
#include <waybill/session/pipeline_dead_letter.hpp>
#include <waybill/session/session_queue.hpp>
#include <waybill/session/session_report.hpp>
#include <waybill/session/session_state.hpp>

namespace waybill::inline v0_2::detail {

/// A message in hand. If a callable throws, the outcome of the message is unknown.
class message_count {
public:
    explicit message_count(session_report& r) : report_(r) { ++report_.received; }
    message_count(const message_count&) = delete;
    message_count& operator=(const message_count&) = delete;
    ~message_count() { ++counter(); }
    void set(step_outcome o) noexcept { outcome_ = o; }

private:
    [[nodiscard]] std::uint64_t& counter() const noexcept
    {
        switch (outcome_) {
            case step_outcome::done: return report_.done;
            case step_outcome::repeated: return report_.repeated;
            case step_outcome::dead_lettered: return report_.dead_lettered;
            case step_outcome::given_back: return report_.given_back;
            case step_outcome::state_unreadable: return report_.state_unreadable;
            case step_outcome::lost:
            case step_outcome::other_in_hand: break;
        }
        return report_.lost;
    }

    session_report& report_;
    step_outcome outcome_ = step_outcome::lost;
};

/// A lock of a session, which is renewed when it is due.
template <class Queue, class Clock>
class renewed_lock {
public:
    renewed_lock(Queue& queue, const typename Queue::lock& lock, Clock& clock, duration every,
                 steady_time accepted)
        : queue_(queue), lock_(lock), clock_(clock), every_(every), renewed_(accepted)
    {
    }

    /// True if the lock is to be renewed, also if the clock has jumped back.
    [[nodiscard]] bool is_due()
    {
        const steady_time now = clock_.now();
        return now < renewed_ || now - renewed_ >= every_;
    }

    /// A fault other than `ownership_lost` is `infrastructure`: it is not the fault of a step.
    [[nodiscard]] fault renew()
    {
        const steady_time now = clock_.now();
        fault f = to_fault(queue_.renew(lock_));
        if (f.ok()) renewed_ = now;
        else if (f.kind != fault_kind::ownership_lost) f.kind = fault_kind::infrastructure;
        return f;
    }

    /// Calls `call`, after a renewal if it is due. Returns the first fault.
    template <class Call>
    [[nodiscard]] fault renewed(const Call& call)
    {
        if (is_due()) {
            if (fault f = renew(); !f.ok()) return f;
        }
        return call();
    }

    /// Sleeps until `t` and renews the lock meanwhile. `cancelled` if a stop was requested.
    [[nodiscard]] fault sleep_until(steady_time t)
    {
        for (;;) {
            if (is_due()) {
                if (fault f = renew(); !f.ok()) return f;
            }
            if (clock_.now() >= t) return {};
            if (!clock_.sleep_until(earlier(t, renewed_ + every_)))
                return cancelled("a stop was requested");
        }
    }

private:
    Queue& queue_;
    const typename Queue::lock& lock_;
    Clock& clock_;
    duration every_;
    steady_time renewed_;  // before the call, so that the lock expires later than assumed
};

template <class Queue, class Places, class Codec, class Letters, class Handler, class Clock>
class session_run {
    static_assert(checked_session_queue<Queue>::ok);
    using value_type = typename Codec::value_type;
    using handler_type = session_handler<Handler, Queue, value_type>;
    using lock_type = typename Queue::lock;
    using message_type = typename Queue::message;
    using tx_type = typename transaction_of<Queue>::type;
    static_assert(
        requires(Letters& letters, const pipeline_dead_letter& l) {
            { letters.upsert(l) } -> fault_or_result;
        },
        "run_session: the dead letters must have upsert(pipeline_dead_letter), which returns a "
        "fault");
    static_assert(!handler_type::in_transaction || Places::in_transactions,
                  "run_session: the handler accepts a transaction of the queue, but the states "
                  "are in a session store");

public:
    session_run(Queue& queue, const Places& places, const Codec& codec, Letters& letters,
                Handler& handler, const session_report::policy& p, Clock& clock, session_report& r)
        : queue_(queue),
          places_(places),
          codec_(codec),
          letters_(letters),
          handler_(handler),
          policy_(p),
          clock_(clock),
          report_(r)
    {
    }

    void run()
    {
        using outcome = session_report::run_outcome;
        report_.ended = outcome::unfinished;
        report_.policy_error = validate(policy_);
        if (report_.policy_error) {
            report_.ended = outcome::invalid_policy;
            return;
        }
        while (report_.ended == outcome::unfinished) {
            if (clock_.stop_requested()) return end(outcome::stopped);
            const steady_time before = clock_.now();
            auto accepted = queue_.accept();
            if (!accepted) {
                const fault& f = accepted.error();
                note(f);
                if (f.kind == fault_kind::permanent) return end(outcome::queue_refused);
                if (f.kind == fault_kind::cancelled) return end(outcome::stopped);
                pause_after_fault();
            } else if (!*accepted) {
                faults_in_a_row_ = 0;
                if (policy_.until_empty) return end(outcome::queue_empty);
                sleep_until(clock_.now() + policy_.poll);
            } else {
                ++report_.sessions;
                drain(**accepted, before);
            }
        }
    }

private:
    using state_type =
        session_state<Codec, decltype(std::declval<const Places&>().open(
                                 std::declval<Queue&>(), std::declval<const lock_type&>(),
                                 std::declval<std::optional<tx_type>&>()))>;

    void end(session_report::run_outcome o)
    {
        report_.ended = o;
        drop_ended_pauses();
        report_.sessions_waiting = pauses_.size();
    }

    /// Keeps the end of a pause. Drops those that have ended whenever their number has doubled, so
    /// that the memory is bounded by the sessions that wait.
    void add_pause(steady_time until)
    {
        if (pauses_.size() == pauses_bound_) {
            drop_ended_pauses();
            pauses_bound_ = 2 * pauses_.size() + 16;
        }
        pauses_.push_back(until);
    }

    void drop_ended_pauses()
    {
        const steady_time now = clock_.now();
        std::erase_if(pauses_, [now](steady_time until) { return until <= now; });
    }

    void sleep_until(steady_time t)
    {
        if (!clock_.sleep_until(t)) end(session_report::run_outcome::stopped);
    }

    void pause_after_fault()
    {
        if (faults_in_a_row_ != UINT32_MAX) ++faults_in_a_row_;
        sleep_until(clock_.now() +
                    pause(policy_.pipeline.retry.pauses, faults_in_a_row_, clock_.random()));
    }

    /// Counts a failed call.
    void note(const fault& f)
    {
        if (f.ok()) return;
        ++report_.faults;
        report_.last_fault = f;
    }

    /// Processes the messages of one session, and closes it.
    void drain(const lock_type& lock, steady_time accepted)
    {
        std::optional<tx_type> tx;
        auto place = places_.open(queue_, lock, tx);
        state_type state(codec_, place);
        pipeline pipe(policy_.pipeline);
        renewed_lock held(queue_, lock, clock_, policy_.renew_every, accepted);
        close_at_ = steady_time::lowest();
        bool failed = false;
        bool any = false;
        while (!pipe.over() && !clock_.stop_requested()) {
            auto m = queue_.receive(lock);
            failed = !m;
            if (failed) note(m.error());
            if (failed || !*m) break;
            any = true;
            message_count count(report_);
            const step_outcome o = process(pipe, state, held, tx, lock, **m);
            tx.reset();
            count.set(o);
        }
        close(lock, held);
        if (failed) return pause_after_fault();
        if (any) faults_in_a_row_ = 0;
        else if (report_.ended == session_report::run_outcome::unfinished)
            sleep_until(clock_.now() + policy_.poll);
    }

    template <class Held>
    step_outcome process(pipeline& pipe, state_type& state, Held& held, std::optional<tx_type>& tx,
                         const lock_type& lock, const message_type& m)
    {
        message_step s = read_message_step([&m](std::string_view name) { return m.find(name); },
                                           std::string_view(lock.session), policy_.last_property);
        if (s.by_arrival) ++report_.numbered_by_arrival;
        if (s.read.id_problem == job::error::code::redriven_end) ++report_.without_origin;
        const step_facts facts = s.facts(m.sequence, m.deliveries);
        return run_step(
            pipe, facts, clock_,
            [&](pipeline::load_state) {
                pipeline::state_loaded loaded = state.load(s.read.origin.state);
                if (loaded.kind != fault_kind::none) note({loaded.kind, loaded.reason});
                return loaded;
            },
            [&](pipeline::execute a) { return execute(pipe, state, held, tx, s, m, a); },
            [&](pipeline::save_state a) {
                if (a.keep_old_value) tx.reset();
                const auto save = [&] { return state.save(a, pipe.progress()); };
                // An open transaction checks the lock itself.
                fault f = tx ? save() : held.renewed(save);
                tx.reset();
                note(f);
                return f;
            },
            [&](const pipeline::write_dead_letter& a) {
                tx.reset();
                fault f = held.renewed(
                    [&] { return to_fault(letters_.upsert(letter_of(pipe, state, s, m, a))); });
                note(f);
                return f;
            },
            [&](complete) {
                fault f = fault_of([&] { return queue_.complete(lock, m); });
                note(f);
                return f;
            },
            [&](pipeline::clear_state) {
                fault f = state.clear();
                note(f);
                if (!f.ok()) ++report_.states_left;
                return f;
            },
            [&](const pipeline::give_back& a) { close_at_ = a.until; },
            [&](wait_until a) {
                fault f = held.sleep_until(a.time);
                if (f.kind != fault_kind::cancelled) note(f);
                return f;
            });
    }

    /// Runs the step, in a transaction if the handler accepts one.
    template <class Held>
    pipeline::executed execute(pipeline& pipe, state_type& state, Held& held,
                               std::optional<tx_type>& tx, const message_step& s,
                               const message_type& m, const pipeline::execute& a)
    {
        tx.reset();
        const fault f = prepare(held, tx);
        note(f);
        if (!f.ok()) return {.reason = f, .random = clock_.random()};
        if (clock_.stop_requested()) return {.reason = cancelled("a stop was requested")};
        return execute_step(pipe, state, tx, s, m, a);
    }

    pipeline::executed execute_step(pipeline& pipe, state_type& state, std::optional<tx_type>& tx,
                                    const message_step& s, const message_type& m,
                                    const pipeline::execute& a)
    {
        const pipeline::step step{.job = s.read.job(),
                                  .number = a.step,
                                  .last = is_last(pipe.message(), pipe.progress()),
                                  .attempt = a.tries,
                                  .body = m.body};
        pipeline::executed e =
            state.attempt([&](value_type& value) { return handle(state, tx, value, step, m); });
        // A step that is counted already is not saved, and commits on its own.
        const bool counted = pipe.progress().done >= a.step;
        if constexpr (handler_type::in_transaction) {
            if (e.reason.ok() && counted && tx) {
                e.reason = commit_fault(tx->commit());
                note(e.reason);
            }
        }
        if (!e.reason.ok() || counted) tx.reset();
        return e;
    }

    /// Renews the lock if it is due, and begins the transaction if there is one.
    template <class Held>
    [[nodiscard]] fault prepare(Held& held, std::optional<tx_type>& tx)
    {
        fault f;
        if (held.is_due()) f = held.renew();
        if constexpr (handler_type::in_transaction) {
            if (!f.ok() || clock_.stop_requested()) return f;
            auto begun = queue_.begin();
            if (begun) tx.emplace(*std::move(begun));
            else f = infrastructure("no transaction begins: " + begun.error().text);
        }
        return f;
    }

    pipeline::executed handle(const state_type& state, std::optional<tx_type>& tx,
                              value_type& value, const pipeline::step& step, const message_type& m)
    {
        tx_type* const open = tx ? &*tx : nullptr;
        const double random = clock_.random();
        if constexpr (std::is_void_v<typename handler_type::result_type>) {
            handler_type::call(handler_, open, value, step, m);
            return {.random = random};
        } else if constexpr (handler_type::is_executed) {
            return handler_type::call(handler_, open, value, step, m);
        } else if constexpr (handler_type::may_skip) {
            auto r = handler_type::call(handler_, open, value, step, m);
            if (r.skipped) {  // no effect
                value = state.value();
                tx.reset();
                return {.random = random};
            }
            return {.reason = std::move(r.reason), .random = random};
        } else {
            return {.reason = fault_of([&]() -> decltype(auto) {
                        return handler_type::call(handler_, open, value, step, m);
                    }),
                    .random = random};
        }
    }

    [[nodiscard]] pipeline_dead_letter letter_of(const pipeline& pipe, const state_type& state,
                                                 const message_step& s, const message_type& m,
                                                 const pipeline::write_dead_letter& a)
    {
        pipeline_dead_letter::message letter{.properties = s.read.properties,
                                             .origin = s.read.origin,
                                             .sequence = m.sequence,
                                             .message_id = m.id,
                                             .body = m.body,
                                             .state = state.bytes()};
        letter.properties.step = pipe.message().step;
        if constexpr (requires { wall_time(m.enqueued); }) letter.enqueued = m.enqueued;
        return make_pipeline_dead_letter(letter, a, pipe.reason(), pipe.progress(),
                                         clock_.wall_now(), policy_.dead_letters);
    }

    /// Releases the session. If the queue cannot delay its next delivery, holds it until then.
    template <class Held>
    void close(const lock_type& lock, Held& held)
    {
        const duration left = close_at_ - clock_.now();
        const duration pause =
            close_at_ == steady_time::lowest() ? duration{} : greater(left, duration{});
        fault f;
        if constexpr (closes_with_pause<Queue, lock_type>) {
            f = to_fault(queue_.close(lock, pause));
            if (pause > duration{} && f.ok()) add_pause(close_at_);
        } else {
            if (pause > duration{}) f = held.sleep_until(close_at_);
            if (f.kind == fault_kind::cancelled) f = {};
            if (f.kind != fault_kind::ownership_lost) f = to_fault(queue_.close(lock));
        }
        if (f.kind != fault_kind::ownership_lost) note(f);
    }

    Queue& queue_;
    const Places& places_;
    const Codec& codec_;
    Letters& letters_;
    Handler& handler_;
    const session_report::policy& policy_;
    Clock& clock_;
    session_report& report_;
    steady_time close_at_;
    std::uint32_t faults_in_a_row_ = 0;
    std::vector<steady_time> pauses_;  // the ends of the pauses of sessions that were given back
    std::uint64_t pauses_bound_ = 0;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_SESSION_DETAIL_SESSION_RUN_HPP
