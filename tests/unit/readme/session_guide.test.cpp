// SPDX-License-Identifier: MIT
//
// The snippets of include/waybill/session/README.md that no other test has.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/session.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_sessions.hpp>

namespace session_guide_test {
namespace {

using namespace std::chrono_literals;
using waybill::fault;
using waybill::step_outcome;

struct message {
    std::map<std::string, std::string> application_properties{};
    std::string body{};
    std::uint64_t sequence = 1;
    std::uint64_t deliveries = 1;
    waybill::step_facts facts{};
    waybill::step_properties::origin origin{};
    waybill::step_properties properties{};

    std::optional<std::string> find(std::string_view name) const
    {
        const auto found = application_properties.find(std::string(name));
        if (found == application_properties.end()) return {};
        return found->second;
    }
};

// A queue with the messages of one session.
struct session_queue {
    std::vector<message> all{};
    std::size_t at = 0;
    int renewals_left = 100;
    bool broken = false;

    message* receive() { return at == all.size() ? nullptr : &all[at]; }
    fault complete(const message&)
    {
        ++at;
        return {};
    }
    fault send(const waybill::redrive_plan::planned_message& s, std::string_view body)
    {
        if (broken) return waybill::permanent("too large");
        message m;
        m.body = body;
        m.origin = s.origin;
        m.properties = s.properties;
        all.push_back(m);
        return {};
    }
    fault renew()
    {
        if (renewals_left-- == 0) return waybill::ownership_lost("expired");
        return {};
    }
    void give_back(waybill::steady_time) { at = all.size(); }
};

// Dead letters by sequence number.
struct letter_table {
    std::map<std::uint64_t, waybill::pipeline_dead_letter> all{};

    fault upsert(waybill::pipeline_dead_letter l)
    {
        const auto stored = all.find(l.sequence);
        if (stored != all.end())
            l = waybill::pipeline_dead_letter::merged(stored->second, std::move(l));
        const std::uint64_t key = l.sequence;
        all.insert_or_assign(key, std::move(l));
        return {};
    }
    fault mark(const waybill::pipeline_dead_letter& marked)
    {
        const auto stored = all.find(marked.sequence);
        if (stored != all.end())
            stored->second = waybill::pipeline_dead_letter::with_mark(stored->second, marked);
        return {};
    }
    fault remove(const waybill::pipeline_dead_letter& l)
    {
        all.erase(l.sequence);
        return {};
    }
    std::vector<waybill::pipeline_dead_letter> list() const
    {
        std::vector<waybill::pipeline_dead_letter> v;
        for (const auto& [key, l] : all) v.push_back(l);
        return v;
    }
};

message step_of(const std::string& session, std::uint64_t step, std::uint64_t total)
{
    message m;
    m.properties = {session, step, 1, total, step == total};
    m.sequence = step;
    m.facts = waybill::step_facts::of(m.properties, m.sequence, 1);
    return m;
}

waybill::wall_time wall()
{
    return waybill::wall_time::at(waybill::duration::seconds(1'000'000));
}
waybill::steady_time now()
{
    return {};
}
void sleep_until(waybill::steady_time) {}

waybill::pipeline_dead_letter letter_of(const message& m,
                                        const waybill::pipeline::write_dead_letter& a,
                                        const waybill::pipeline& pipe, std::string_view state)
{
    return make_pipeline_dead_letter({.properties = m.properties,
                                      .origin = m.origin,
                                      .sequence = m.sequence,
                                      .body = m.body,
                                      .state = state},
                                     a, pipe.reason(), pipe.progress(), wall());
}

TEST_CASE("session guide: properties of a message")
{
    auto job = waybill::job::make("order-17", 5);
    REQUIRE(job);
    message m;
    //! [session_write]
    const waybill::step_properties step = job->next();
    waybill::write_step_properties(step, {}, [&](auto name, auto value) {
        m.application_properties.emplace(name, value);  // waybill-session, waybill-step, ...
    });
    const std::string id = waybill::job::message_id(step);  // "order-17/1"
    //! [session_write]
    CHECK(id == "order-17/1");
    CHECK(m.application_properties.size() == 3);

    std::string logged;
    const auto log = [&](const std::string& line) { logged = line; };
    m.application_properties["waybill-step"] = "three";
    //! [session_read]
    const auto read = waybill::read_step_properties([&](auto name) { return m.find(name); });
    if (!read.ok()) log(read.text());  // waybill-step is not an unsigned number: 'three'
    const waybill::step_facts facts =
        waybill::step_facts::of(read.properties, m.sequence, m.deliveries);
    const std::string key = read.job() + "/" + std::to_string(facts.step);  // of the effect
    //! [session_read]
    CHECK(logged == "waybill-step is not an unsigned number: 'three'");
    CHECK(facts.step == 0);
    CHECK(key == "order-17/0");
}

TEST_CASE("session guide: a loop without process_step")
{
    using namespace waybill;
    testing::memory_sessions store;
    letter_table letters;
    session_queue queue;
    for (std::uint64_t n = 1; n <= 3; ++n) queue.all.push_back(step_of("order-17", n, 3));
    pipeline pipe;
    waybill::text_state_codec codec({.version = {1, 0}});       // the value is a string
    waybill::versioned_session_state place(store, "order-17");  // or the broker's own state
    waybill::session_state state(codec, place);
    std::string ran;
    const auto run = [&](const message& step) {
        return state.attempt([&](std::string& value) -> fault {
            if (step.properties.step == 2) return permanent("no receipt");
            value += "done ";
            ran += std::to_string(step.properties.step);
            return {};
        });
    };
    const auto write = [&](const message& step, const waybill::pipeline::write_dead_letter& a) {
        return letters.upsert(letter_of(step, a, pipe, state.bytes()));
    };
    using waybill::pipeline;
    message* m = queue.receive();  // load_state needs the first message
    while (m != nullptr && !pipe.over())
        waybill::match(
            pipe.next(now()),
            [&](pipeline::load_state) { pipe.on(state.load(m->origin.state), now()); },
            [&](waybill::idle) {
                if (pipe.ended()) m = queue.receive();
                if (m) pipe.on(pipeline::step_received{m->facts, wall()}, now());
            },
            [&](pipeline::execute) { pipe.on(pipeline::executed{run(*m)}, now()); },
            [&](pipeline::save_state a) {
                const fault f = state.save(a, pipe.progress());
                pipe.on(pipeline::state_saved{f.kind, f.text}, now());
            },
            [&](pipeline::write_dead_letter a) {
                pipe.on(pipeline::step_dead_lettered{write(*m, a).kind}, now());
            },
            [&](waybill::complete) {
                pipe.on(pipeline::completed{queue.complete(*m).kind}, now());
            },
            [&](pipeline::clear_state) {
                pipe.on(pipeline::state_cleared{state.clear().kind}, now());
            },
            [&](pipeline::give_back a) {
                queue.give_back(a.until);
                pipe.on(pipeline::given_back{}, now());
            },
            [&](waybill::wait_until a) { sleep_until(a.time); });
    CHECK(ran == "1");
    CHECK(letters.all.size() == 2);
    CHECK(letters.all.at(3).reason == dead_letter_reason::session_failed);
    CHECK(store.states().empty());
}

TEST_CASE("session guide: a lock that is lost writes no dead letter")
{
    waybill::testing::memory_sessions store;
    letter_table letters;
    session_queue session;
    session.all.push_back(step_of("order-17", 1, 2));
    session.renewals_left = 1;
    const waybill::text_state_codec codec;
    waybill::versioned_session_state place(store, "order-17");
    waybill::session_state state(codec, place);
    waybill::pipeline pipe;
    waybill::testing::manual_environment env;
    message* m = session.receive();
    const auto end = waybill::process_step(
        pipe, m->facts, env,
        [&](waybill::pipeline::load_state) { return state.load(m->origin.state); },
        [&](waybill::pipeline::execute) {
            return state.attempt([](std::string&) { return waybill::permanent("no receipt"); });
        },
        [&](waybill::pipeline::save_state a) {
            if (!session.renew().ok()) return waybill::ownership_lost("the lock has expired");
            return state.save(a, pipe.progress());
        },
        [&](waybill::pipeline::write_dead_letter a) {
            if (!session.renew().ok()) return waybill::ownership_lost("the lock has expired");
            return letters.upsert(letter_of(*m, a, pipe, state.bytes()));
        },
        [&](waybill::complete) { return session.complete(*m); },
        [&](waybill::pipeline::clear_state) { return state.clear(); },
        [&](waybill::pipeline::give_back) {});
    CHECK(end == step_outcome::lost);
    CHECK(letters.all.empty());
    CHECK(session.at == 0);
    CHECK(store.states().size() == 1);
}

TEST_CASE("session guide: import, redrive and sweep")
{
    letter_table table;
    session_queue dead_letters;
    dead_letters.all.push_back(step_of("order-17", 1, 2));
    const auto parked_here = step_of("order-17", 2, 2);
    const waybill::pipeline::write_dead_letter gap{waybill::dead_letter_reason::gap};
    table.upsert(letter_of(parked_here, gap, waybill::pipeline(), {}));

    message& m = *dead_letters.receive();
    const waybill::session_progress* progress = nullptr;
    const std::string_view reason = "MaxDeliveryCountExceeded";
    //! [session_import]
    using waybill::pipeline;
    const auto letter = make_broker_dead_letter(  // progress: nullptr if it is unknown
        {.properties = m.properties, .origin = m.origin, .sequence = m.sequence, .body = m.body},
        reason, m.deliveries, progress, wall());
    waybill::dead_letter_import one(m.deliveries);
    while (!one.over())
        waybill::match(
            one.next(now()),
            [&](pipeline::write_dead_letter) {
                one.on(pipeline::step_dead_lettered{table.upsert(letter).kind}, now());
            },
            [&](waybill::complete) {
                one.on(pipeline::completed{dead_letters.complete(m).kind}, now());
            },
            [&](waybill::idle) {});
    //! [session_import]
    CHECK(one.outcome() == waybill::dead_letter_import::import_outcome::drained);
    CHECK(table.all.size() == 2);

    session_queue queue;
    auto letters = table.list();
    const auto plan = waybill::plan_redrive(letters);
    CHECK(describe(plan) ==
          "2 dead letters of 1 session to send, 0 of 0 held back, 0 not selected");
    const auto send = [&](waybill::redrive::resubmit a) -> waybill::redrive::resubmitted {
        for (std::uint64_t n = 0; n != a.count; ++n) {
            const waybill::redrive_plan::planned_message step = plan.step(letters, a.offset + n);
            const fault f = queue.send(step, letters[a.offset + n].body);
            if (!f.ok()) return {n, f.kind};
        }
        return {a.count};
    };
    const auto mark = [&](waybill::redrive::mark_sent a) -> waybill::redrive::sessions_marked {
        fault f;
        for (std::uint64_t s = a.session; f.ok() && s != a.session + a.count; ++s)
            if (plan.sessions[s].mark_before_removal) f = table.mark(plan.marked(letters, s));
        return {f.kind};
    };
    const auto remove =
        [&](waybill::redrive::remove_dead_letters a) -> waybill::redrive::dead_letters_removed {
        for (std::uint64_t n = 0; n != a.count; ++n) {  // the last one first
            const fault f = table.remove(letters[a.offset + a.count - 1 - n]);
            if (!f.ok()) return {n, f.kind};
        }
        return {a.count};
    };
    //! [session_redrive]
    using waybill::redrive;
    redrive run(plan, {.chunk = 100});
    while (!run.over())
        waybill::match(
            run.next(now()), [&](redrive::resubmit a) { run.on(send(a), now()); },
            [&](redrive::mark_sent a) { run.on(mark(a), now()); },              // with_mark
            [&](redrive::remove_dead_letters a) { run.on(remove(a), now()); },  // last one first
            [&](waybill::wait_until a) { sleep_until(a.time); }, [&](waybill::idle) {});
    //! [session_redrive]
    CHECK(run.outcome() == waybill::redrive::redrive_outcome::finished);
    CHECK(table.all.empty());
    REQUIRE(queue.all.size() == 2);
    CHECK(queue.all[0].properties.session == "order-17~1");

    waybill::testing::memory_sessions store;
    const waybill::text_state_codec codec;
    waybill::session_progress stuck{.done = 2, .total = 5};
    stuck.changed = wall() - 36h;
    waybill::session_progress over{.done = 5, .total = 5};
    over.changed = wall() - 15 * 24h;
    for (const auto& p : {stuck, over}) {
        waybill::versioned_session_state place(store, "order-" + std::to_string(p.done));
        waybill::session_state state(codec, place);
        static_cast<void>(state.load({}));
        CHECK(state.save({}, p).ok());
    }
    std::string logged;
    const auto log = [&](const std::string& line) { logged += line; };
    const auto read = [&](const std::string& id, const std::optional<std::string>& bytes) {
        const auto s = codec.decode(bytes);
        return waybill::sweep_item::swept_state{id, s.outcome, s.progress, {}};
    };
    //! [session_sweep]
    std::vector<waybill::sweep_item::swept_state> states;
    for (const auto& [id, stored] : store.states()) states.push_back(read(id, stored.bytes));
    const auto found = waybill::plan_sweep(states, wall(), {.stuck_after = 1h});
    if (!found) return log(waybill::describe(found.error()));  // an invalid policy
    for (const auto& item : *found) {
        const std::string& id = states[item.index].session;
        waybill::versioned_session_state place(store, id);
        const auto bytes = place.load();          // again, now with its version
        if (!item.clears()) log(describe(item));  // "stuck at 2 of 5 for 36h"
        else if (bytes && item.may_clear(read(id, *bytes))) log(place.clear().text);
    }
    //! [session_sweep]
    CHECK(logged == "stuck at 2 of 5 for 36h");
    CHECK(store.states().size() == 1);
}

}  // namespace
}  // namespace session_guide_test
