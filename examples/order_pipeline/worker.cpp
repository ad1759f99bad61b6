// SPDX-License-Identifier: MIT

#include "worker.hpp"

#include <chrono>
#include <csignal>
#include <functional>
#include <string>
#include <thread>

#include "../support/program.hpp"
#include "phases.hpp"
#include "shop.hpp"
#include "world.hpp"
#include <waybill/ext/exceptions.hpp>
#include <waybill/ext/json_session.hpp>
#include <waybill/session.hpp>

namespace order_pipeline {

namespace {

using clock = std::chrono::steady_clock;
using milliseconds = std::chrono::milliseconds;
using message = engines::session_message;
namespace act = waybill::act;

volatile std::sig_atomic_t terminated = 0;

/// What a worker has in hand while it has a session.
class holding {
public:
    holding(world& w, shop& s, const engines::session_lock& l)
        : here_(w), shop_(s), lock_(l), policy_(policy_of(l.session)), pipe_(policy_)
    {
    }

    /// The next message of the session, from its receipt to what becomes of it. False at the end.
    bool next(std::atomic<phase>& at)
    {
        const auto received = here_.queue.receive(lock_);
        if (!received || !*received) return false;
        at = phase::at_work;
        const message& m = **received;
        const auto read = waybill::read_stamp([&](auto name) { return m.find(name); }, m.session);
        const std::string job = read.origin.generation == 0 ? m.session : read.origin.session;

        process_step(
            pipe_, {facts_of(read.stamp, m.sequence, m.deliveries), wall()}, &clock::now,
            [&](act::load_state) { return load(job); },
            [&](act::execute a) {
                before_ = state_.value;
                return run_({job, m.session, a.step, a.tries, m.body}, state_.value);
            },
            [&](act::save_state a) { return save(a.undone); },
            [&](act::park a) { return here_.letters.upsert(letter_of(m, read, a)); },
            [&](act::complete) { return here_.queue.complete(lock_, m); },
            [&](act::clear_state) { return here_.queue.set_state(lock_, {}); },
            [&](act::give_back a) { pause_ = a.until - clock::now(); },
            [&](act::wait a) {
                std::this_thread::sleep_until(clock::time_point(a.until));
                return here_.queue.renew(lock_);
            });
        at = phase::between;
        return !pipe_.over() && terminated == 0 && keep_lock();
    }

    void close()
    {
        const std::chrono::nanoseconds pause(waybill::greater(pause_, {}).count());
        static_cast<void>(here_.queue.close(lock_, std::chrono::ceil<milliseconds>(pause)));
    }

private:
    waybill::state_loaded load(const std::string& job)
    {
        const auto bytes = here_.queue.state(lock_);
        if (!bytes) return {.how = bytes.error().how};
        state_ = codec_.decode(*bytes);
        if (state_.how == waybill::state_read::absent) state_.value = shop_.recall(job);
        return {state_.how, state_.progress};
    }

    waybill::fault save(bool undone)
    {
        if (undone) state_.value = before_;
        state_.progress = pipe_.progress();
        const auto bytes = codec_.encode(state_);
        if (!bytes) return waybill::permanent(text(bytes.error()));
        waybill::fault f = here_.queue.set_state(lock_, *bytes);
        if (f.ok()) state_.stored(*bytes);
        return f;
    }

    waybill::step_letter letter_of(const message& m, const waybill::stamp_read& r, act::park a)
    {
        const auto came = waybill::wall_time::at(waybill::duration::milliseconds(m.enqueued));
        return make_step_letter({r.stamp, r.origin, m.sequence, m.id, m.body, came}, a, pipe_.why(),
                                pipe_.progress(), wall(), {.mode = policy_.mode});
    }

    bool keep_lock()
    {
        if (clock::now() - renewed_ < queue_options.lock / 4) return true;
        renewed_ = clock::now();
        return here_.queue.renew(lock_).ok();
    }

    world& here_;
    shop& shop_;
    engines::session_lock lock_;
    waybill::pipeline_policy policy_;
    waybill::pipeline pipe_;
    waybill::state_codec<order_state> codec_ = *waybill::state_codec<order_state>::make();
    waybill::decoded_state<order_state> state_{};
    order_state before_{};
    waybill::duration pause_{};
    clock::time_point renewed_ = clock::now();
    std::function<waybill::fault(const task&, order_state&)> run_ = waybill::catching(
        [&](const task& t, order_state& s) { return shop_.run(t, s); }, engines::classify);
};

}  // namespace

void work(const options& o)
{
    std::signal(SIGTERM, [](int) { terminated = 1; });
    world here(o.db, o.dead_letters);
    shop steps(here);
    phases all(here.phases);
    std::atomic<phase>& at = all.of(*o.worker);
    while (terminated == 0) {
        at = phase::asleep;
        const auto lock = here.queue.accept();
        if (lock && *lock) {
            at = phase::between;
            holding session(here, steps, **lock);
            while (session.next(at)) {
            }
            session.close();
        } else {
            std::this_thread::sleep_for(5ms);
        }
    }
}

}  // namespace order_pipeline
