// SPDX-License-Identifier: MIT
//
// session_steps: a program whose jobs run step by step, in one process, on a database in memory.
//
//     support::session_steps<order> shop(policy);
//     shop.send("order-17", bodies);                    // a message for each step
//     shop.run([](order& o, const support::step& s) { return steps[s.number - 1](o, s); });
//     shop.bring_back({});                              // what was parked, once it is mended
//
// Each step is done once and in order. What is done is put to `done`, and what is parked to
// `dead_lettered`.
//
// A program whose database outlives its processes needs a sweep as well (session/sweep.hpp): a
// process that ends between `complete` and `clear_state` leaves a state that no message clears.

#ifndef WAYBILL_EXAMPLES_SUPPORT_SESSION_STEPS_HPP
#define WAYBILL_EXAMPLES_SUPPORT_SESSION_STEPS_HPP

#include <chrono>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "../engines/sqlite_sessions.hpp"
#include "../engines/sqlite_step_letters.hpp"
#include "environment.hpp"
#include <waybill/ext/json/state_codec.hpp>
#include <waybill/session.hpp>

namespace support {

using step = waybill::pipeline::step;

/// `T` is what a job remembers from step to step.
template <class T>
class session_steps {
    using clock = std::chrono::steady_clock;

public:
    explicit session_steps(const waybill::pipeline_policy& policy = {})
        : policy_{.pipeline = policy, .until_empty = true},
          db_(":memory:"),
          queue_(db_),
          letters_(db_)
    {
    }

    /// One message for each body, in order.
    void send(std::string_view id, std::span<const std::string> bodies)
    {
        auto job = waybill::job::make(std::string(id), bodies.size());
        if (!job) throw std::invalid_argument(describe(job.error()));
        for (const std::string& body : bodies) accepted(queue_.send(job->next(), body));
    }

    /// Runs all there is to run: `handle(value, step)` returns a fault.
    template <class F>
    void run(F&& handle)
    {
        const auto report = waybill::run_session(queue_, waybill::state_codec<T>(), letters_,
                                                 handle, policy_, standard_environment());
        if (report.policy_error) throw std::invalid_argument(describe(report));
    }

    /// Sends what is parked as new sessions, and removes the letters. Answers what it did.
    std::vector<std::string> bring_back(const waybill::redrive_plan::filter& which = {})
    {
        std::vector<waybill::pipeline_dead_letter> all = parked();
        const auto plan = waybill::plan_redrive(all, which, {.removed_at_once = UINT64_MAX});
        std::vector<std::string> said;
        for (const auto& s : plan.sessions) said.push_back(describe(s, all));

        waybill::redrive back(plan);
        while (!back.over()) {
            waybill::match(
                back.next(clock::now()),
                [&](waybill::redrive::resubmit a) {
                    for (std::uint64_t n = a.offset; n != a.offset + a.count; ++n) {
                        const waybill::redrive_plan::planned_message s = plan.step(all, n);
                        accepted(queue_.send(s.properties, all[n].body, s.origin, s.message_id));
                    }
                    back.on(waybill::redrive::resubmitted{a.count}, clock::now());
                },
                [&](waybill::redrive::mark_sent a) {
                    std::vector<waybill::pipeline_dead_letter> marked;
                    for (std::uint64_t s = a.session; s != a.session + a.count; ++s) {
                        if (plan.sessions[s].mark_before_removal)
                            marked.push_back(plan.marked(all, s));
                    }
                    back.on(waybill::redrive::sessions_marked{letters_.mark(marked).kind},
                            clock::now());
                },
                [&](waybill::redrive::remove_dead_letters a) {
                    const auto f = letters_.remove(std::span(all).subspan(a.offset, a.count));
                    back.on(waybill::redrive::dead_letters_removed{f.ok() ? a.count : 0, f.kind},
                            clock::now());
                },
                [](waybill::wait_until a) {
                    std::this_thread::sleep_until(clock::time_point(a.time));
                },
                [](waybill::idle) {});
        }
        return said;
    }

    /// The letters of what is parked.
    [[nodiscard]] std::vector<waybill::pipeline_dead_letter> parked()
    {
        auto all = letters_.list();
        if (!all) throw std::runtime_error(all.error().text);
        return *std::move(all);
    }

private:
    static void accepted(const waybill::fault& f)
    {
        if (!f.ok()) throw std::runtime_error(f.text);
    }

    waybill::session_report::policy policy_;
    engines::database db_;
    engines::sqlite_sessions queue_;
    engines::sqlite_step_letters letters_;
};

}  // namespace support

#endif  // WAYBILL_EXAMPLES_SUPPORT_SESSION_STEPS_HPP
