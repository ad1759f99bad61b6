// SPDX-License-Identifier: MIT
//
// The snippets of the guide include/waybill/session/README.md: an order of five steps, and its redrive.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/ext/json/state_codec.hpp>
#include <waybill/session.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_sessions.hpp>

namespace session_order_guide_test {
namespace {

using waybill::pipeline_dead_letter;

struct message {
    waybill::step_properties properties{};
    std::uint64_t sequence = 0;
    std::uint64_t deliveries = 1;
    std::string body{};
    waybill::step_properties::origin origin{};
    std::string id{};
};

struct order {
    std::string done;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(order, done)

struct letter_table {
    std::map<std::pair<std::string, std::string>, pipeline_dead_letter> all{};

    waybill::fault upsert(pipeline_dead_letter l)
    {
        std::pair key(l.properties.session, waybill::row_key::of(l.sequence));
        const auto stored = all.find(key);
        if (stored != all.end())
            l = waybill::pipeline_dead_letter::merged(stored->second, std::move(l));
        all.insert_or_assign(std::move(key), std::move(l));
        return {};
    }
    std::vector<pipeline_dead_letter> list() const
    {
        std::vector<pipeline_dead_letter> v;
        for (const auto& [key, l] : all) v.push_back(l);
        return v;
    }
};

struct queue_of_messages {
    std::vector<message> all{};
    std::size_t at = 0;

    void send(const waybill::step_properties& s, std::string_view body,
              const waybill::step_properties::origin& o = {}, std::string_view id = {})
    {
        all.push_back({s, all.size() + 1, 1, std::string(body), o,
                       id.empty() ? waybill::job::message_id(s) : std::string(id)});
    }
    message* receive() { return at == all.size() ? nullptr : &all[at]; }
    waybill::fault complete(const message&)
    {
        ++at;
        return {};
    }
    waybill::fault renew() { return {}; }
    void give_back(waybill::steady_time) { at = all.size(); }
};

TEST_CASE("session guide: an order whose step 4 fails, and its redrive")
{
    queue_of_messages queue;
    waybill::testing::memory_sessions store;
    letter_table letters;
    const waybill::state_codec<order> codec = *waybill::state_codec<order>::make();
    std::vector<std::uint64_t> ran;
    std::string receipt_template = "{no such field}";
    std::string last_done;
    const auto wall = [] { return waybill::wall_time::at(waybill::duration::seconds(1'000)); };
    waybill::testing::manual_environment env({}, wall());
    const auto run = [&](const message& m, order& o) -> waybill::fault {
        o.done += std::to_string(m.properties.step);
        if (m.properties.step == 4 && receipt_template.starts_with("{no")) {
            return waybill::permanent("broken receipt: no field \"vat\"");
        }
        ran.push_back(m.properties.step);
        last_done = o.done;
        return {};
    };
    const auto letter_of = [&](const message& m, const waybill::pipeline::write_dead_letter& a,
                               const waybill::pipeline& p, std::string_view bytes) {
        return make_pipeline_dead_letter({.properties = m.properties,
                                          .origin = m.origin,
                                          .sequence = m.sequence,
                                          .message_id = m.id,
                                          .body = m.body,
                                          .state = bytes},
                                         a, p.reason(), p.progress(), wall());
    };

    const auto refuse = [](const std::string& why) { FAIL(why); };

    //! [job]
    auto job = waybill::job::make("order-17", 5);  // number, total, payment, receipt, mail
    if (!job) return refuse(waybill::describe(job.error()));
    while (!job->complete()) queue.send(job->next(), "...");
    //! [job]

    const auto hold = [&](const std::string& id) {
        const waybill::pipeline_policy policy{};
        //! [pipeline]
        using waybill::pipeline;
        waybill::versioned_session_state held(store, id);  // or the session state of the broker
        waybill::session_state state(codec, held);         // results that later steps need
        auto pipe = waybill::make<pipeline>(policy);
        if (!pipe) return refuse(waybill::describe(pipe.error()));
        while (message* m = pipe->over() ? nullptr : queue.receive()) {
            process_step(
                *pipe, waybill::step_facts::of(m->properties, m->sequence, m->deliveries), env,
                [&](pipeline::load_state) { return state.load(m->origin.state); },
                [&](pipeline::execute) {
                    return state.attempt([&](order& o) { return run(*m, o); });
                },
                [&](pipeline::save_state a) {
                    if (!queue.renew().ok()) return waybill::ownership_lost("the lock has expired");
                    return state.save(a, pipe->progress());
                },
                [&](pipeline::write_dead_letter a) {
                    if (!queue.renew().ok()) return waybill::ownership_lost("the lock has expired");
                    return letters.upsert(letter_of(*m, a, *pipe, state.bytes()));
                },
                [&](waybill::complete) { return queue.complete(*m); },
                [&](pipeline::clear_state) { return state.clear(); },
                [&](pipeline::give_back a) { queue.give_back(a.until); });
        }
        //! [pipeline]
    };

    hold("order-17");
    CHECK(ran == std::vector<std::uint64_t>{1, 2, 3});
    REQUIRE(letters.all.size() == 2);
    CHECK(letters.list()[1].reason == waybill::dead_letter_reason::session_failed);

    receipt_template = "{total}";
    queue = {};
    auto dead_letters = letters.list();
    const auto plan = waybill::plan_redrive(dead_letters, {.from_step = 4, .to_step = 4});
    for (std::uint64_t n = 0; n != plan.ready; ++n) {
        const auto step = plan.step(dead_letters, n);  // order-17~1: steps 4 and 5
        if (plan.was_sent(n)) continue;
        queue.send(step.properties, dead_letters[n].body, step.origin, step.message_id);
    }
    REQUIRE(queue.all.size() == 2);
    CHECK(queue.all[0].properties.session == "order-17~1");
    CHECK(queue.all[1].id == "order-17/00000000000000000005~1");
    hold("order-17~1");
    CHECK(ran == std::vector<std::uint64_t>{1, 2, 3, 4, 5});
    CHECK(last_done ==
          "12345");  // what steps 1 to 3 have found out came along, and of 4 only the last try
    CHECK(letters.all.size() == 2);
    CHECK(store.states().empty());
}

}  // namespace
}  // namespace session_order_guide_test
