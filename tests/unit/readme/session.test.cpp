// SPDX-License-Identifier: MIT
//
// What the README shows of a session whose steps run in order, and of one that is brought back.

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <waybill/session.hpp>
#include <waybill/testing/memory_sessions.hpp>

namespace readme_session {
namespace {

namespace act = waybill::act;
using waybill::step_letter;

struct message {
    waybill::step_stamp stamp{};
    std::uint64_t sequence = 0;
    std::uint64_t deliveries = 1;
    std::string body{};
};

struct queue_of_messages {
    std::vector<message> all{};
    std::size_t at = 0;

    void send(const waybill::step_stamp& s, std::string_view body)
    {
        all.push_back({s, all.size() + 1, 1, std::string(body)});
    }
    message* receive() { return at == all.size() ? nullptr : &all[at]; }
    waybill::fault complete(const message&)
    {
        ++at;
        return {};
    }
    void give_back(waybill::steady_time) { at = all.size(); }
};

TEST_CASE("README: a session of steps, one of which is broken, and back again")
{
    queue_of_messages queue;
    waybill::testing::memory_sessions store;
    std::vector<step_letter> letters;
    std::vector<std::uint64_t> ran;
    std::string receipt_template = "{no such field}";
    const auto wall = [] { return waybill::wall_time::at(waybill::duration::seconds(1'000)); };
    waybill::steady_time time;
    const auto now = [&] { return time = time + waybill::duration::seconds(1); };
    const auto sleep_until = [](waybill::steady_time) {};
    const auto run = [&](const message& m, std::string& receipt) -> waybill::fault {
        if (m.stamp.step == 4 && receipt_template.starts_with("{no")) {
            return waybill::permanent("broken receipt: no field \"vat\"");
        }
        ran.push_back(m.stamp.step);
        receipt += m.body;
        return {};
    };
    const auto letter_of = [&](const message& m, const act::park& a, const waybill::pipeline& p) {
        return make_step_letter({.stamp = m.stamp, .sequence = m.sequence, .body = m.body}, a, p.why(),
                                p.progress(), wall());
    };

    //! [job]
    auto order = *waybill::job::make("order-17", 5);      // number, total, payment, receipt, mail
    while (!order.complete()) queue.send(order.next(), "...");
    //! [job]

    const auto hold = [&](const std::string& id) {
        waybill::held_state held(store, id);
        const waybill::pipeline_policy policy{};
        const auto stored = [&]() -> std::optional<std::string> { return *held.load(); };
        std::string before;
        //! [pipeline]
        waybill::pipeline pipe(policy);                   // whoever holds the session has one
        waybill::text_state_read state;                   // or JSON, by ext/json_session.hpp
        while (message* m = pipe.over() ? nullptr : queue.receive()) {
            process_step(pipe, {facts_of(m->stamp, m->sequence, m->deliveries), wall()}, now,
                [&](act::load_state) {
                    state = waybill::read_text_state(stored());       // absent, ok, newer, corrupt
                    return waybill::state_loaded{state.how, state.state.progress};
                },
                [&](act::execute) {
                    before = state.state.own;
                    return run(*m, state.state.own);
                },
                [&](act::save_state a) {
                    if (a.undone) state.state.own = before;
                    state.state.progress = pipe.progress();
                    return held.save(*write_text_state(state.state));
                },
                [&](act::park a) {
                    letters.push_back(letter_of(*m, a, pipe));
                    return waybill::fault{};
                },
                [&](act::complete)    { return queue.complete(*m); },
                [&](act::clear_state) { return held.clear(); },
                [&](act::give_back a) { queue.give_back(a.until); },
                [&](act::wait a)      { sleep_until(a.until); });
        }
        //! [pipeline]
    };

    hold("order-17");
    CHECK(ran == std::vector<std::uint64_t>{1, 2, 3});
    REQUIRE(letters.size() == 2);
    CHECK(letters[1].reason == waybill::park_reason::session_failed);

    receipt_template = "{total}";
    queue = {};
    std::string id;
    //! [redrive]
    const auto plan = waybill::plan_redrive(letters, {.reasons = {waybill::park_reason::failed}});
    for (std::uint64_t n = 0; n != plan.ready; ++n) {
        const auto step = plan.step(letters, n);
        queue.send(step.stamp, letters[n].body);          // order-17~1: steps 4 and 5
        id = step.stamp.session;
    }
    //! [redrive]
    CHECK(id == "order-17~1");
    hold(id);
    CHECK(ran == std::vector<std::uint64_t>{1, 2, 3, 4, 5});
    CHECK(letters.size() == 2);
    CHECK(store.states().empty());
}

}  // namespace
}  // namespace readme_session
