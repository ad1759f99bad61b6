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

#include <algorithm>
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
#include <waybill/ext/json/state_codec.hpp>
#include <waybill/session.hpp>

namespace support {

/// A step as it is to be run.
struct step {
    std::string_view job{};  ///< As it was called at first.
    std::uint64_t number = 1;
    std::string_view body{};
};

/// `T` is what a job remembers from step to step.
template <class T>
class session_steps {
    using clock = std::chrono::steady_clock;
    using message = engines::session_message;

public:
    explicit session_steps(const waybill::pipeline_policy& policy = {})
        : policy_(policy), db_(":memory:"), queue_(db_), letters_(db_)
    {
        if (validate(policy_)) throw std::invalid_argument(describe(*validate(policy_)));
    }

    /// One message for each body, in order.
    void send(std::string_view id, std::span<const std::string> bodies)
    {
        auto job = waybill::job::make(std::string(id), bodies.size());
        if (!job) throw std::invalid_argument(describe(job.error()));
        std::vector<message> all;
        for (const std::string& body : bodies) all.push_back(message_of(job->next(), {}, body));
        put(all);
    }

    /// Runs all there is to run: `handle(value, step)` answers with a fault.
    template <class F>
    void run(F&& handle)
    {
        for (auto lock = queue_.accept(); lock && *lock; lock = queue_.accept()) {
            held_by_queue place{queue_, **lock};
            waybill::session_state state(codec_, place);
            waybill::pipeline pipe(policy_);
            waybill::duration pause{};
            while (!pipe.over()) {
                const auto m = queue_.receive(**lock);
                if (!m || !*m) break;
                process(pipe, state, **m, **lock, pause, handle);
            }
            const std::chrono::nanoseconds left(std::max(pause, waybill::duration()).count());
            static_cast<void>(
                queue_.close(**lock, std::chrono::ceil<std::chrono::milliseconds>(left)));
        }
    }

    /// Sends what is parked as new sessions, and removes the letters. Answers what it did.
    std::vector<std::string> bring_back(const waybill::redrive_filter& which = {})
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
                    std::vector<message> messages;
                    for (std::uint64_t n = a.offset; n != a.offset + a.count; ++n) {
                        const waybill::redrive_plan::planned_message s = plan.step(all, n);
                        messages.push_back(message_of(s.properties, s.origin, all[n].body));
                        messages.back().id = s.message_id;
                    }
                    put(messages);
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
    /// The state of a session, which this queue keeps itself.
    struct held_by_queue {
        engines::sqlite_sessions& queue;
        const engines::session_lock& lock;

        auto load() { return queue.state(lock); }
        auto save(const std::string& bytes) { return queue.set_state(lock, bytes); }
        auto clear() { return queue.set_state(lock, {}); }
    };

    template <class State, class F>
    void process(waybill::pipeline& pipe, State& state, const message& m,
                 const engines::session_lock& lock, waybill::duration& pause, F& handle)
    {
        const auto read =
            waybill::read_step_properties([&](auto name) { return m.find(name); }, m.session);
        process_step(
            pipe,
            {waybill::step_facts::of(read.properties, m.sequence, m.deliveries), now_as_wall()},
            &clock::now,
            [&](waybill::pipeline::load_state) { return state.load(read.origin.state); },
            [&](waybill::pipeline::execute a) {
                return state.attempt([&](T& v) { return handle(v, step{read.job(), a.step, m.body}); });
            },
            [&](waybill::pipeline::save_state a) { return state.save(a, pipe.progress()); },
            [&](waybill::pipeline::write_dead_letter a) {
                return letters_.upsert(make_pipeline_dead_letter(
                    {read.properties, read.origin, m.sequence, m.id, m.body, {}, state.bytes()}, a,
                    pipe.reason(), pipe.progress(), now_as_wall()));
            },
            [&](waybill::complete) { return queue_.complete(lock, m); },
            [&](waybill::pipeline::clear_state) { return state.clear(); },
            [&](waybill::pipeline::give_back a) { pause = a.until - clock::now(); },
            [&](waybill::wait_until a) {
                std::this_thread::sleep_until(clock::time_point(a.time));
                return queue_.renew(lock);
            });
    }

    [[nodiscard]] static message message_of(const waybill::step_properties& s,
                                            const waybill::step_origin& o, std::string_view body)
    {
        message m{
            .session = s.session, .id = waybill::job::message_id(s), .body = std::string(body)};
        waybill::write_step_properties(s, o, [&](std::string_view name, std::string_view value) {
            m.properties.emplace(name, value);
        });
        return m;
    }

    void put(const std::vector<message>& all)
    {
        for (const message& m : all) {
            const auto sent = queue_.send(std::span(&m, 1));
            if (!std::holds_alternative<waybill::batch_sender::accepted>(sent)) {
                throw std::runtime_error("the queue does not take " + m.id);
            }
        }
    }

    [[nodiscard]] static waybill::wall_time now_as_wall()
    {
        return waybill::wall_time::at(waybill::duration::milliseconds(engines::wall_milliseconds()));
    }

    waybill::pipeline_policy policy_;
    [[nodiscard]] static waybill::state_codec<T> made_codec()
    {
        auto codec = waybill::state_codec<T>::make();
        if (!codec) throw std::runtime_error(waybill::describe(codec.error()));
        return *std::move(codec);
    }

    waybill::state_codec<T> codec_ = made_codec();
    engines::database db_;
    engines::sqlite_sessions queue_;
    engines::sqlite_step_letters letters_;
};

}  // namespace support

#endif  // WAYBILL_EXAMPLES_SUPPORT_SESSION_STEPS_HPP
