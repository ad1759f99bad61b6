// SPDX-License-Identifier: MIT
//
// The loop of the head comment of pipeline.hpp in a small program: a job numbers the steps, the
// state is text in a store with versions, and failed steps become letters.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/session.hpp>
#include <waybill/session/detail/text_state_codec.hpp>
#include <waybill/testing/memory_sessions.hpp>

namespace pipeline_loop_test {
namespace {

using namespace waybill;

struct message {
    step_properties properties;
    std::uint64_t sequence = 0;
    std::uint64_t deliveries = 0;
    bool complete = false;

    [[nodiscard]] step_facts facts() const
    {
        return {sequence,         properties.step, properties.first,
                properties.total, properties.last, deliveries};
    }
};

/// A program: its queue, states, letters, and a virtual clock.
struct shop {
    std::vector<message> queue{};
    testing::memory_sessions states{};
    std::map<std::uint64_t, pipeline_dead_letter> letters{};
    std::string printed{};
    std::uint64_t broken = 0;  // this step fails
    steady_time time{};

    void send(const std::string& id, std::uint64_t steps)
    {
        job j = *job::make(id, steps);
        while (!j.complete()) queue.push_back({j.next(), 100 + queue.size()});
    }

    message* receive()
    {
        for (message& m : queue) {
            if (m.complete) continue;
            ++m.deliveries;
            return &m;
        }
        return nullptr;
    }

    fault run(const message& m, std::string& receipt)
    {
        if (m.properties.step == broken) return permanent("the receipt's template is broken");
        printed += std::to_string(m.properties.step);
        receipt += "r" + std::to_string(m.properties.step);
        return {};
    }

    void hold(const std::string& id)
    {
        versioned_session_state held(states, id);
        text_state::read_result state;
        std::string before;  // the user's part before the step
        message* in_hand = nullptr;
        const auto now = [&] { return time; };
        const auto wall = [] { return wall_time::at(duration::seconds(1'000)); };

        pipeline pipe = *make<pipeline>(pipeline_policy{});
        bool empty = false;
        while (!pipe.over() && !empty) {
            match(
                pipe.next(now()),
                [&](pipeline::load_state) {
                    const auto bytes = *held.load();
                    state = detail::read_text_state(bytes ? std::optional<std::string_view>(*bytes)
                                                          : std::nullopt);
                    pipe.on(pipeline::state_loaded{state.outcome, state.state.progress}, now());
                },
                [&](idle) {
                    in_hand = receive();
                    empty = in_hand == nullptr;
                    before = state.state.own;
                    if (in_hand) pipe.on(pipeline::step_received{in_hand->facts(), wall()}, now());
                },
                [&](pipeline::execute) {
                    const fault f = run(*in_hand, state.state.own);
                    pipe.on(pipeline::executed{f}, now());
                },
                [&](pipeline::save_state a) {
                    if (a.keep_old_value) state.state.own = before;
                    state.state.progress = pipe.progress();
                    pipe.on(
                        pipeline::state_saved{
                            held.save(*detail::write_text_state(state.state)).kind},
                        now());
                },
                [&](pipeline::write_dead_letter a) {
                    const pipeline_dead_letter::message m{.properties = in_hand->properties,
                                                          .sequence = in_hand->sequence};
                    letters[m.sequence] =
                        make_pipeline_dead_letter(m, a, pipe.reason(), pipe.progress(), wall());
                    pipe.on(pipeline::step_dead_lettered{}, now());
                },
                [&](complete) {
                    in_hand->complete = true;
                    pipe.on(pipeline::completed{}, now());
                },
                [&](pipeline::clear_state) {
                    pipe.on(pipeline::state_cleared{held.clear().kind}, now());
                },
                [&](pipeline::give_back) { pipe.on(pipeline::given_back{}, now()); },
                [&](wait_until a) { time = a.time; });
        }
    }
};

TEST_CASE("pipeline, the loop: a session completes over two holdings")
{
    shop s;
    s.send("order-17", 5);
    s.queue[4].complete = true;  // not sent yet
    s.hold("order-17");
    CHECK(s.printed == "1234");
    REQUIRE(s.states.states().size() == 1);
    const auto kept = detail::read_text_state(s.states.states().begin()->second.bytes);
    CHECK(kept.state.own == "r1r2r3r4");
    CHECK(kept.state.progress.done == 4);
    s.queue[4].complete = false;
    s.hold("order-17");
    CHECK(s.printed == "12345");
    CHECK(s.states.states().empty());
    CHECK(s.letters.empty());
}

TEST_CASE(
    "pipeline, the loop: a failed step stops its session, and its dead letters have resume_at")
{
    shop s;
    s.broken = 3;
    s.send("order-17", 5);
    s.hold("order-17");
    CHECK(s.printed == "12");
    CHECK(s.states.states().empty());
    REQUIRE(s.letters.size() == 3);
    CHECK(describe(s.letters[102]) ==
          "order-17, step 3 of 5 (102): failed: the receipt's template is broken");
    CHECK(describe(s.letters[103]) ==
          "order-17, step 4 of 5 (103): session_failed by 102: the receipt's template is broken");
    CHECK(s.letters[104].cause == 102);
    for (const auto& [sequence, l] : s.letters) CHECK(l.resume_at == 3);
}

TEST_CASE("pipeline, the loop: a failed session stays failed in another process")
{
    shop s;
    s.broken = 3;
    s.send("order-17", 5);
    s.queue[3].complete = s.queue[4].complete = true;
    s.hold("order-17");
    const auto kept = detail::read_text_state(s.states.states().begin()->second.bytes);
    REQUIRE(kept.state.progress.failed.has_value());
    CHECK(kept.state.own == "r1r2");
    s.broken = 0;  // repaired, but the session is not redriven
    s.queue[3].complete = s.queue[4].complete = false;
    s.hold("order-17");
    CHECK(s.printed == "12");
    CHECK(s.letters.size() == 3);
    CHECK(s.states.states().empty());
}

TEST_CASE("pipeline, the loop: an unreadable state dead-letters all messages, and stays")
{
    shop s;
    (void)s.states.save("order-17", "waybill/1 text 0", {});
    s.send("order-17", 2);
    s.hold("order-17");
    CHECK(s.printed.empty());
    CHECK(s.letters.size() == 2);
    CHECK(s.letters[100].reason == dead_letter_reason::unreadable);
    CHECK(s.states.states().begin()->second.bytes == "waybill/1 text 0");
}

}  // namespace
}  // namespace pipeline_loop_test
