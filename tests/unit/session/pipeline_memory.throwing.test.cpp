// SPDX-License-Identifier: MIT
//
// The heap memory of a pipeline: none if steps are done. If a step fails and there is no memory for
// the reason, nothing changes, and the same event can be reported again.

#include <cstdint>
#include <new>
#include <string>

#include <doctest/doctest.h>
#include <support/scarce_new.hpp>

#include <waybill/session/pipeline.hpp>

namespace pipeline_memory_test {
namespace {

using tests_support::scarce::fails_after;
using tests_support::scarce::left;
using tests_support::scarce::taken;

using namespace waybill;

const steady_time now = steady_time::at(duration::seconds(1));

pipeline held(pipeline_policy::pipeline_mode mode)
{
    pipeline pipe(pipeline_policy{.mode = mode});
    pipe.on(pipeline::state_loaded{}, now);
    return pipe;
}

pipeline::step_received message(std::uint64_t n, std::uint64_t total)
{
    return {{100 + n, n, 1, total, false, 1}, {}};
}

TEST_CASE("pipeline: completed steps allocate nothing")
{
    for (const auto mode : {pipeline_policy::pipeline_mode::stop_on_failure,
                            pipeline_policy::pipeline_mode::independent}) {
        pipeline pipe = held(mode);
        const std::uint64_t before = taken;
        for (std::uint64_t n = 1; n != 1'000; ++n) {
            pipe.on(message(n, 999), now);
            if (pipe.next(now).index() == 0) break;
            pipe.on(pipeline::executed{}, now);
            pipe.on(pipeline::state_saved{}, now);
            pipe.on(pipeline::completed{}, now);
        }
        pipe.on(pipeline::state_cleared{}, now);
        const std::uint64_t after = taken;
        CHECK(after == before);
        CHECK(pipe.found() == state_read::absent);
    }
}

TEST_CASE("pipeline: a failed allocation of the reason changes nothing")
{
    const std::string reason(200, 'r');
    for (const auto mode : {pipeline_policy::pipeline_mode::stop_on_failure,
                            pipeline_policy::pipeline_mode::independent}) {
        std::uint64_t failures = 0;
        for (std::uint64_t after = 0;; ++after) {
            pipeline pipe = held(mode);
            pipe.on(message(1, 2), now);
            const pipeline::executed failed{permanent(reason)};
            const pipeline before = pipe;
            if (!fails_after(after, [&] { pipe.on(failed, now); })) {
                CHECK(pipe.reason() == reason);
                break;
            }
            ++failures;
            CHECK(pipe == before);
        }
        CHECK(failures != 0);
    }
}

TEST_CASE("pipeline: a failed allocation for a refused state or a wrong message changes nothing")
{
    for (const auto mode : {pipeline_policy::pipeline_mode::stop_on_failure,
                            pipeline_policy::pipeline_mode::independent}) {
        for (std::uint64_t after = 0;; ++after) {
            pipeline pipe = held(mode);
            pipe.on(message(1, 2), now);
            pipe.on(pipeline::executed{}, now);
            const pipeline before = pipe;
            if (!fails_after(after,
                             [&] { pipe.on(pipeline::state_saved{fault_kind::permanent}, now); }))
                break;
            CHECK(pipe == before);
            CHECK(pipe.progress().done == 1);
        }
        for (std::uint64_t after = 0;; ++after) {
            pipeline pipe = held(mode);
            if (!fails_after(after, [&] { pipe.on(message(3, 2), now); })) break;
            // It can be reported again: a lost message is not in hand.
            CHECK(!pipe.busy());
        }
    }
}

}  // namespace
}  // namespace pipeline_memory_test
