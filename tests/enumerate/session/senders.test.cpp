// SPDX-License-Identifier: MIT
//
// All mistakes of a sender: every sequence of a few messages, some of them good, in every division
// among holders. There are no faults; the numbers are wrong, missing, doubled or late. In other
// runs a dependency of the steps is down at times. A message that was given back for it may or may
// not be delivered again.

#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/every_schedule.hpp>

#include <waybill/session/process_step.hpp>
#include <waybill/testing/choices.hpp>
#include <waybill/testing/manual_environment.hpp>

namespace senders_enumeration {
namespace {

using waybill::pipeline_policy;
using waybill::session_progress;
using waybill::state_read;
using waybill::step_facts;
using waybill::step_outcome;
using waybill::testing::choices;

// Three steps, and messages that do not belong to them.
constexpr step_facts known[] = {
    {0, 1, 1, 3, false, 1},
    {0, 2, 1, 3, false, 1},
    {0, 3, 1, 3, true, 1},  // good
    // the total is not known
    {0, 2, 1, 0, false, 1},
    {0, 3, 1, 0, true, 1},
    // of another job with this id
    {0, 1, 1, 2, false, 1},
    {0, 2, 1, 2, true, 1},
    {0, 4, 1, 0, false, 1},
    {0, 4, 1, 4, true, 1},  // after the last
    {0, 3, 3, 3, true, 1},
    {0, 2, 2, 3, false, 1},  // begins in the middle
    // without readable step properties
    {0, 0, 1, 0, false, 1},
};
constexpr std::uint32_t kinds = sizeof known / sizeof *known;

enum class wrong : std::uint8_t { nothing, cleared_without_first, gap_is_fine };

struct simulation {
    pipeline_policy::pipeline_mode mode;
    choices& c;
    wrong what = wrong::nothing;
    bool flaky = false;      // a dependency of the steps may be down
    bool uncounted = false;  // the broker counts no deliveries
    bool down = false;
    std::optional<session_progress> state{};
    std::map<std::uint64_t, std::uint32_t> runs{};  // runs of each step
    // a letter was written, and the state has not been removed since
    bool failed = false;
    bool letters = false;
    std::uint64_t ran_last = 0;
    std::string broken{};

    void breaks(const char* rule)
    {
        if (broken.empty()) broken = rule;
    }

    void run(const step_facts& m)
    {
        if (mode == pipeline_policy::pipeline_mode::stop_on_failure) {
            const bool begins = m.step == m.first;
            if (failed) breaks("a step runs and its session has failed");
            if (!begins && m.step != ran_last + 1)
                breaks("a step runs and the one before it has not");
            // (A step that begins in the middle may belong to a session of its own under this id.)
            const bool new_to_it = m.first == 1 && runs[m.step] == 0;
            if (begins && letters && new_to_it)
                breaks("a failed session begins with a step that it never had");
        }
        ++runs[m.step];
        ran_last = m.step;
    }

    std::string all(std::uint32_t length)
    {
        std::optional<waybill::pipeline> pipe;
        waybill::testing::manual_environment env;
        for (std::uint32_t i = 0; i != length && broken.empty(); ++i) {
            step_facts m = known[c.pick(kinds)];
            m.sequence = 100 + i;
            if (uncounted) m.deliveries = 0;
            down = flaky && c.pick(2) != 0;
            if (!pipe || c.pick(2) != 0) pipe.emplace(waybill::pipeline_policy{.mode = mode});
            const std::uint32_t before = runs[m.step];
            step_facts seen = m;
            if (what == wrong::gap_is_fine && state && m.step > state->done + 1)
                seen.step = state->done + 1;
            bool parked = false;
            const step_outcome e = waybill::process_step(
                *pipe, seen, env,
                [&](waybill::pipeline::load_state) {
                    if (!state) return waybill::pipeline::state_loaded{};
                    return waybill::pipeline::state_loaded{state_read::ok, *state};
                },
                [&](waybill::pipeline::execute) {
                    if (down) return waybill::infrastructure("down");
                    run(m);
                    return waybill::fault{};
                },
                [&](waybill::pipeline::save_state) {
                    state = pipe->progress();
                    failed = failed || state->failed.has_value();
                    return waybill::fault{};
                },
                [&](waybill::pipeline::write_dead_letter a) {
                    parked = letters = true;
                    if (a.cause == 0) breaks("a letter names no cause");
                    if (mode == pipeline_policy::pipeline_mode::stop_on_failure && !failed)
                        breaks("a letter, and the session has not failed");
                    return waybill::fault{};
                },
                [&](waybill::complete) { return waybill::fault{}; },
                [&](waybill::pipeline::clear_state) {
                    state.reset();
                    failed = false;
                    return waybill::fault{};
                },
                [](waybill::pipeline::give_back) {}, [](waybill::wait_until) {});
            if (what == wrong::cleared_without_first && m.last) {
                state.reset();
                failed = false;
                pipe.reset();
            }
            check(e, m, before, parked);
            if (pipe && pipe->over()) pipe.reset();
        }
        return broken;
    }

    void check(step_outcome e, const step_facts& m, std::uint32_t before, bool parked)
    {
        switch (e) {
            case step_outcome::done:
                if (runs[m.step] != before + 1 || parked)
                    breaks("done, and it has not run, or is parked");
                return;
            case step_outcome::repeated:
                if (before == 0 || runs[m.step] != before || parked)
                    breaks("repeated, and it never ran");
                return;
            case step_outcome::dead_lettered:
                if (!parked || runs[m.step] != before)
                    breaks("parked, and it has run, or there is no letter");
                if (mode == pipeline_policy::pipeline_mode::independent && contradicted(m).empty())
                    breaks("parked for nothing");
                return;
            case step_outcome::given_back:
                if (!down || runs[m.step] != before || parked)
                    breaks("given back, and nothing was down");
                return;
            default: breaks("nothing has failed, and it is not over");
        }
    }

    std::string contradicted(const step_facts& m) const
    {
        // The contradiction is in the message alone, or possible with other messages of this
        // enumeration.
        if (m.step == 0 || m.total != 3 || m.first != 1) return "perhaps";
        session_progress others;
        others.total = state ? state->total : 0;
        if (others.total == 0) return {};
        return std::string(waybill::detail::contradiction(m, others));
    }
};

tests_support::verdict enumerate(const char* name, pipeline_policy::pipeline_mode mode,
                                 std::uint32_t length, wrong what = wrong::nothing,
                                 bool flaky = false, bool uncounted = false)
{
    return tests_support::every_schedule("senders", name, [&](choices& c) {
        return simulation{mode, c, what, flaky, uncounted}.all(length);
    });
}

constexpr std::uint32_t length = tests_support::brief ? 3 : 4;

TEST_CASE("senders: dependent steps: a failed session stays failed, and no step is skipped as done")
{
    const auto v = enumerate("steps that depend on each other",
                             pipeline_policy::pipeline_mode::stop_on_failure, length);
    CHECK(v.rule == "");
    if (!tests_support::brief) CHECK(v.schedules == 165'888);
}

TEST_CASE("senders: independent steps: no step is lost")
{
    const auto v =
        enumerate("independent steps", pipeline_policy::pipeline_mode::independent, length);
    CHECK(v.rule == "");
    if (!tests_support::brief) CHECK(v.schedules == 165'888);
}

TEST_CASE("deep: senders: any five messages: all invariants hold" * doctest::skip())
{
    for (const auto mode : {pipeline_policy::pipeline_mode::stop_on_failure,
                            pipeline_policy::pipeline_mode::independent}) {
        const auto v = enumerate(std::string(name(mode)).c_str(), mode, 5);
        CHECK(v.rule == "");
        CHECK(v.schedules == 3'981'312);
    }
}

TEST_CASE("senders: a message given back during an outage does not affect other steps")
{
    constexpr std::uint32_t few = tests_support::brief ? 2 : 4;
    for (const bool uncounted : {false, true}) {
        for (const auto mode : {pipeline_policy::pipeline_mode::stop_on_failure,
                                pipeline_policy::pipeline_mode::independent}) {
            const std::string said = std::string(name(mode)) +
                                     (uncounted ? ", uncounted, at times down" : ", at times down");
            const auto v = enumerate(said.c_str(), mode, few, wrong::nothing, true, uncounted);
            CHECK(v.rule == "");
            if (!tests_support::brief) CHECK(v.schedules >= 1'000'000);
        }
    }
}

TEST_CASE("senders: mutants are caught")
{
    CHECK(enumerate("cleared without the first", pipeline_policy::pipeline_mode::stop_on_failure, 3,
                    wrong::cleared_without_first)
              .rule == "a failed session begins with a step that it never had");
    CHECK(enumerate("a gap is fine", pipeline_policy::pipeline_mode::stop_on_failure, 3,
                    wrong::gap_is_fine)
              .rule == "a step runs and the one before it has not");
}

}  // namespace
}  // namespace senders_enumeration
