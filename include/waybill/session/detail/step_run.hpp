// SPDX-License-Identifier: MIT
//
// step_run: the loop of process_step. It executes the actions of a pipeline with the caller's
// calls.

#ifndef WAYBILL_SESSION_DETAIL_STEP_RUN_HPP
#define WAYBILL_SESSION_DETAIL_STEP_RUN_HPP

#include <concepts>
#include <type_traits>

#include <waybill/core/act.hpp>
#include <waybill/core/detail/time_source.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/match.hpp>
#include <waybill/session/detail/call_results.hpp>
#include <waybill/session/pipeline.hpp>
#include <waybill/session/pipeline_policy.hpp>

namespace waybill::inline v0_2::detail {

template <class All, class Clock>
class step_run {
public:
    /// `same`: `m` is the message that the pipeline has, or had last.
    step_run(pipeline& pipe, const pipeline::step_received& m, bool same, All& call, Clock& clock)
        : pipe_(pipe), message_(m), call_(call), clock_(clock),
          behind_(pipe.busy() && pipe.ended() && !same), received_(pipe.busy() && same)
    {
    }

    step_outcome run()
    {
        while (open_) step();
        if (behind_ && !taken_) return step_outcome::lost;
        return pipe_.ended().value_or(step_outcome::lost);
    }

private:
    /// The time is read after the call, because the call takes time.
    template <class Event>
    event_result tell(const Event& event)
    {
        return pipe_.on(event, waybill::detail::time_of(clock_));
    }

    void step()
    {
        match(
            pipe_.next(waybill::detail::time_of(clock_)),
            [&](pipeline::load_state a) {
                pipeline::state_loaded found = call_(a);
                if (found.deliveries == 0) found.deliveries = message_.facts.deliveries;
                tell(found);
            },
            [&](pipeline::execute a) { execute(a); },
            [&](pipeline::save_state a) {
                const fault f = said(call_(a));
                tell(pipeline::state_saved{f.kind, f.text});
            },
            [&](pipeline::write_dead_letter a) {
                tell(pipeline::step_dead_lettered{said(call_(a)).kind});
            },
            [&](complete a) { tell(pipeline::completed{said(call_(a)).kind}); },
            [&](pipeline::clear_state a) { tell(pipeline::state_cleared{said(call_(a)).kind}); },
            [&](pipeline::give_back a) {
                static_cast<void>(call_(a));
                tell(pipeline::given_back{});
            },
            [&](wait_until a) { wait(a); },
            [&](idle) {
                open_ = !received_ && tell(message_) == event_result::applied;
                received_ = true;
                taken_ = taken_ || open_;
            });
    }

    void execute(const pipeline::execute& a)
    {
        tell(pipeline::step_begun{});
        if (!pipe_.running()) return;  // the last call threw: the attempt is counted first
        if constexpr (std::same_as<answer_to<All, pipeline::execute>, pipeline::executed>)
            tell(call_(a));
        else
            tell(pipeline::executed{said(call_(a))});
    }

    void wait(wait_until a)
    {
        if constexpr (std::is_void_v<answer_to<All, wait_until>>) {
            call_(a);
        } else {
            const fault f = said(call_(a));
            if (f.kind == fault_kind::ownership_lost)
                tell(lock_lost{});
            else if (!f.ok())
                tell(stop_requested{});
        }
    }

    pipeline& pipe_;
    const pipeline::step_received& message_;
    All& call_;
    Clock& clock_;
    bool behind_;    // the message before this one has ended; the state is still to be cleared
    bool received_;  // the pipeline has this message
    bool taken_ = false;
    bool open_ = true;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_SESSION_DETAIL_STEP_RUN_HPP
