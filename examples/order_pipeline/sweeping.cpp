// SPDX-License-Identifier: MIT

#include "sweeping.hpp"

#include <chrono>
#include <thread>
#include <vector>

#include "../support/program.hpp"
#include "order_codec.hpp"
#include <waybill/session.hpp>

namespace order_pipeline {

namespace {

/// In production these are days. Here the queue is known to be empty.
constexpr waybill::sweep_policy policy{
    .messages_live = 1ms, .keep_failed = 1ms, .stuck_after = 1ms};
static_assert(!validate(policy));

waybill::sweep_item::swept_state read(shop_services& w, const engines::session_lock& l)
{
    const auto bytes = w.queue.state(l);
    if (!bytes) throw support::complaint(bytes.error().text);
    const auto s = order_codec().decode(*bytes);
    return {l.session, s.outcome, s.progress, {}};
}

/// Accepts a session. A killed worker may have its lock for a moment.
engines::session_lock accept(shop_services& w, const std::string& session)
{
    for (int tries = 0; tries != 1'000; ++tries) {
        const auto lock = w.queue.accept(session);
        if (lock && *lock) return **lock;
        std::this_thread::sleep_for(5ms);
    }
    throw support::complaint("the lock of " + session + " is not released");
}

}  // namespace

std::uint64_t sweep(shop_services& w)
{
    const auto names = w.queue.sessions_with_state();
    if (!names) throw support::complaint(names.error().text);
    std::vector<waybill::sweep_item::swept_state> states;
    for (const std::string& name : *names) {
        const engines::session_lock lock = accept(w, name);
        states.push_back(read(w, lock));
        static_cast<void>(w.queue.close(lock));
    }
    if (states.empty()) return 0;
    std::this_thread::sleep_for(2ms);
    std::uint64_t swept = 0;
    const auto plan = plan_sweep(states, wall(), policy);
    if (!plan) throw support::complaint(describe(plan.error()));
    for (const waybill::sweep_item& i : *plan) {
        const std::string& session = states[i.index].session;
        if (!i.clears()) throw support::complaint(session + ": " + describe(i));
        const engines::session_lock lock = accept(w, session);
        if (i.may_clear(read(w, lock)) && w.queue.set_state(lock, {}).ok()) ++swept;
        static_cast<void>(w.queue.close(lock));
    }
    return swept;
}

}  // namespace order_pipeline
