// SPDX-License-Identifier: MIT
//
// step_run: the loop of process_step. It executes the actions of a pipeline with the caller's
// calls.

#ifndef WAYBILL_SESSION_DETAIL_STEP_RUN_HPP
#define WAYBILL_SESSION_DETAIL_STEP_RUN_HPP

#include <concepts>
#include <type_traits>
#include <utility>

#include <waybill/core/act.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/match.hpp>
#include <waybill/session/detail/call_results.hpp>
#include <waybill/session/pipeline.hpp>
#include <waybill/session/pipeline_policy.hpp>
#include <waybill/session/step.hpp>

namespace waybill::inline v0_2::detail {

template <class All, class Clock>
class step_run {
public:
    /// `same` is true if `facts` are those of the message that the pipeline received last.
    step_run(pipeline& pipe, const step_facts& facts, bool same, All& call, Clock& clock)
        : pipe_(pipe),
          facts_(facts),
          call_(call),
          clock_(clock),
          previous_message_ended_(pipe.busy() && pipe.ended() && !same),
          has_message_(pipe.busy() && same)
    {
    }

    step_outcome run()
    {
        while (more_actions_) run_action();
        // The outcome in the pipeline is still that of the previous message.
        if (previous_message_ended_ && !accepted_) return step_outcome::lost;
        return pipe_.ended().value_or(step_outcome::lost);
    }

private:
    /// The time is read after the call, because the call takes time.
    template <class Event>
    event_result report(const Event& event)
    {
        return pipe_.on(event, clock_.now());
    }

    event_result receive() { return report(pipeline::step_received{facts_, clock_.wall_now()}); }

    void run_action()
    {
        match(
            pipe_.next(clock_.now()),
            [&](pipeline::load_state a) {
                pipeline::state_loaded found = call_(a);
                // The call did not report deliveries: use those of the message.
                if (found.deliveries == 0) found.deliveries = facts_.deliveries;
                report(found);
            },
            [&](pipeline::execute a) { execute(a); },
            [&](pipeline::save_state a) {
                const fault f = fault_of([&] { return call_(a); });
                report(pipeline::state_saved{f.kind, f.text});
            },
            [&](pipeline::write_dead_letter a) {
                report(pipeline::step_dead_lettered{kind_of(a)});
            },
            [&](complete a) { report(pipeline::completed{kind_of(a)}); },
            [&](pipeline::clear_state a) { report(pipeline::state_cleared{kind_of(a)}); },
            [&](pipeline::give_back a) {
                static_cast<void>(call_(a));
                report(pipeline::given_back{});
            },
            [&](wait_until a) { wait(a); },
            [&](idle) {
                // The first `idle` passes the message. A second one, or a refusal, ends the loop.
                more_actions_ = !has_message_ && receive() == event_result::applied;
                has_message_ = true;
                accepted_ = accepted_ || more_actions_;
            });
    }

    void execute(const pipeline::execute& a)
    {
        report(pipeline::step_begun{});
        if (!pipe_.running()) return;  // the last call threw: its attempt is counted first
        if (clock_.stop_requested()) {
            report(pipeline::executed{cancelled("a stop was requested")});
        } else if constexpr (std::same_as<result_of_call<All, pipeline::execute>,
                                          pipeline::executed>) {
            report(call_(a));
        } else {
            pipeline::executed e{fault_of([&] { return call_(a); })};
            if (!e.reason.ok()) e.random = clock_.random();
            report(e);
        }
    }

    /// Makes the call for `a`.
    template <class Action>
    [[nodiscard]] fault_kind kind_of(const Action& a)
    {
        return fault_of([&] { return call_(a); }).kind;
    }

    void wait(wait_until a)
    {
        if constexpr (!std::invocable<All&, wait_until>) {
            if (!clock_.sleep_until(a.time)) report(stop_requested{});
        } else if (clock_.stop_requested()) {
            report(stop_requested{});
        } else if constexpr (std::is_void_v<result_of_call<All, wait_until>>) {
            call_(a);
        } else {
            const fault f = fault_of([&] { return call_(a); });
            if (f.kind == fault_kind::ownership_lost) report(lock_lost{});
            else if (!f.ok()) report(stop_requested{});
        }
    }

    pipeline& pipe_;
    const step_facts& facts_;
    All& call_;
    Clock& clock_;
    bool previous_message_ended_;  // but its last action, `clear_state` or `give_back`, is pending
    bool has_message_;             // the pipeline has received the message
    bool accepted_ = false;        // the message was received in this run
    bool more_actions_ = true;
};

/// process_step over the clock of a driver.
template <class Clock, class... Calls>
step_outcome run_step(pipeline& pipe, const step_facts& facts, Clock& clock, Calls&&... calls)
{
    using all_calls = overloaded<std::remove_cvref_t<Calls>...>;
    check_step_calls<all_calls, std::remove_cvref_t<Calls>...>();
    if (pipe.over()) return step_outcome::lost;
    const step_facts& previous = pipe.message();
    const bool same_step = facts.by_arrival ? previous.by_arrival : previous.step == facts.step;
    const bool same = previous.sequence == facts.sequence && same_step;
    if (pipe.in_hand() && !same) return step_outcome::other_in_hand;
    all_calls call{std::forward<Calls>(calls)...};
    return step_run<all_calls, Clock>(pipe, facts, same, call, clock).run();
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_SESSION_DETAIL_STEP_RUN_HPP
