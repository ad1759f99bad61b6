// SPDX-License-Identifier: MIT

#include "worker.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "../support/environment.hpp"
#include "../support/program.hpp"
#include "order_codec.hpp"
#include "phases.hpp"
#include "shop.hpp"
#include "shop_services.hpp"
#include <waybill/ext/exceptions.hpp>
#include <waybill/session.hpp>

namespace order_pipeline {

namespace {

using clock = std::chrono::steady_clock;
using milliseconds = std::chrono::milliseconds;
using message = engines::session_message;

volatile std::sig_atomic_t terminated = 0;

/// A worker's session, from its acceptance to its end.
class holding {
public:
    holding(shop_services& w, shop& s, worker_place& p, const engines::session_lock& l)
        : services_(w), shop_(s), place_(p), lock_(l), pipe_(policy_of(l.session))
    {
    }
    holding(const holding&) = delete;
    holding& operator=(const holding&) = delete;

    /// Receives and settles the next message of the session. Returns false at the end.
    bool next()
    {
        step_ = lock_.session + ": ";
        const auto received = services_.queue.receive(lock_);
        if (!received) put_off(received.error());
        if (!received || !*received) return false;
        // Near the delivery limit no kill is allowed: two more would dead-letter the step.
        const bool spared = (*received)->deliveries + 2 > queue_options.deliveries;
        place_.at = spared ? phase::between : phase::at_work;
        const message& m = **received;
        step_ = (m.id.empty() ? m.session : m.id) + ": ";
        const auto read =
            waybill::read_step_properties([&](auto name) { return m.find(name); }, m.session);

        process_step(
            pipe_, waybill::step_facts::of(read.properties, m.sequence, m.deliveries), environment_,
            [&](waybill::pipeline::load_state) {
                auto loaded = state_.load(read.origin.state);
                if (!loaded.reason.empty()) place_.report(step_ + loaded.reason);
                return loaded;
            },
            [&](waybill::pipeline::execute a) {
                const task t{read.job(), m.session, a.step, a.tries, m.body};
                return logged(run(t));
            },
            [&](waybill::pipeline::save_state a) {
                if (a.keep_old_value) services_.queue.drop_step();
                return logged(state_.save(a, pipe_.progress()));
            },
            [&](waybill::pipeline::write_dead_letter a) { return park(letter_of(m, read, a)); },
            [&](waybill::complete) { return logged(services_.queue.complete(lock_, m)); },
            [&](waybill::pipeline::clear_state) { return logged(state_.clear()); },
            [&](waybill::pipeline::give_back a) { pause_ = a.until - clock::now(); },
            [&](waybill::wait_until a) {
                std::this_thread::sleep_until(clock::time_point(a.time));
                return logged(services_.queue.renew(lock_));
            });
        place_.at = phase::between;
        return !pipe_.over() && terminated == 0 && keep_lock();
    }

    void close()
    {
        services_.queue.drop_step();
        const std::chrono::nanoseconds pause(std::max(pause_, waybill::duration()).count());
        logged(services_.queue.close(lock_, std::chrono::ceil<milliseconds>(pause)));
    }

private:
    struct kept_by_queue {
        holding& of;

        waybill::result<std::optional<std::string>> load()
        {
            return of.services_.queue.state(of.lock_);
        }
        waybill::fault save(const std::string& bytes)
        {
            return of.services_.queue.set_state(of.lock_, bytes);
        }
        waybill::fault clear() { return of.services_.queue.set_state(of.lock_, {}); }
    };

    /// Runs the step. Its effect is committed with the state, if the queue supports this.
    waybill::fault run(const task& t)
    {
        waybill::fault f = services_.queue.begin_step();
        if (!f.ok()) return f;
        f = state_.attempt([&](order_state& s) { return run_(t, s); });
        if (!f.ok()) services_.queue.drop_step();
        else if (pipe_.progress().done >= t.step) f = services_.queue.commit_step();
        return f;
    }

    /// Writes a dead letter. A permanent fault ends the run, and the step stays in the queue.
    waybill::fault park(const waybill::pipeline_dead_letter& l)
    {
        services_.queue.drop_step();
        waybill::fault f = logged(services_.letters.upsert(l, lock_));
        if (f.kind == waybill::fault_kind::permanent) place_.hopeless = true;
        return f;
    }

    /// Reports a fault to the main process, and returns it.
    waybill::fault logged(waybill::fault f)
    {
        const bool ours = f.kind != waybill::fault_kind::ownership_lost;
        if (!f.ok() && ours) place_.report(step_ + f.text);
        return f;
    }

    /// Pauses a session whose messages cannot be received, so that other sessions continue.
    void put_off(const waybill::fault& why)
    {
        logged(why);
        pause_ = 200ms;
    }

    waybill::pipeline_dead_letter letter_of(const message& m,
                                            const waybill::step_properties::read_result& r,
                                            waybill::pipeline::write_dead_letter a)
    {
        const auto came = waybill::wall_time::at(waybill::duration::milliseconds(m.enqueued));
        return make_pipeline_dead_letter(
            {r.properties, r.origin, m.sequence, m.id, m.body, came, state_.bytes()}, a,
            pipe_.reason(), pipe_.progress(), wall());
    }

    bool keep_lock()
    {
        if (clock::now() - renewed_ < queue_options.lock / 4) return true;
        renewed_ = clock::now();
        return logged(services_.queue.renew(lock_)).ok();
    }

    shop_services& services_;
    shop& shop_;
    worker_place& place_;
    engines::session_lock lock_;
    waybill::pipeline pipe_;
    support::standard_environment environment_{};
    waybill::state_codec<order_state> codec_ = order_codec();
    kept_by_queue kept_{*this};
    waybill::session_state<waybill::state_codec<order_state>, kept_by_queue> state_{codec_, kept_};
    std::string step_{};  ///< The current step, for reports.
    waybill::duration pause_{};
    clock::time_point renewed_ = clock::now();
    std::function<waybill::fault(const task&, order_state&)> run_ = waybill::catching(
        [&](const task& t, order_state& s) { return shop_.run(t, s); },
        [&](const std::exception& e) noexcept { return services_.tables.classify(e); });
};

}  // namespace

void work(const options& o)
{
    std::signal(SIGTERM, [](int) { terminated = 1; });
    shop_services services(o);
    shop steps(services);
    phases all(services.phases);
    worker_place& place = all.of(*o.worker);
    while (terminated == 0) {
        place.at = phase::asleep;
        const auto lock = services.queue.accept();
        if (lock && *lock) {
            place.at = phase::between;
            holding session(services, steps, place, **lock);
            while (session.next()) {
            }
            session.close();
        } else {
            if (!lock) place.report(lock.error().text);
            std::this_thread::sleep_for(5ms);
        }
    }
}

}  // namespace order_pipeline
