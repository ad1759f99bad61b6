// SPDX-License-Identifier: MIT
//
// Calls that throw: the pipeline asks for them again, and the message in hand is gone on with.

#include <doctest/doctest.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include <waybill/session/process_step.hpp>

namespace process_step_throwing_test {
namespace {

namespace act = waybill::act;
using waybill::fault;
using waybill::pipeline;
using waybill::state_loaded;
using waybill::step_end;
using waybill::step_received;

struct calls {
    pipeline pipe{};
    std::string said{};
    std::string throws{};

    fault call(const std::string& what)
    {
        said += what + " ";
        if (what == throws) {
            throws.clear();
            throw std::runtime_error(what);
        }
        return {};
    }

    step_end operator()(std::uint64_t step)
    {
        return waybill::process_step(
            pipe, step_received{{100 + step, step, 1, 1, true, 1}, {}}, [] { return waybill::steady_time{}; },
            [&](act::load_state) {
                call("load");
                return state_loaded{};
            },
            [&](act::execute) { return call("run"); }, [&](act::save_state) { return call("save"); },
            [&](act::park) { return call("park"); }, [&](act::complete) { return call("complete"); },
            [&](act::clear_state) { return call("clear"); }, [&](act::give_back) { call("back"); },
            [](act::wait) {});
    }
};

TEST_CASE("process_step: whichever call throws is made again, and none before it")
{
    const std::string all[] = {"load", "run", "save", "complete", "clear"};
    for (const std::string& one : all) {
        calls c;
        c.throws = one;
        CHECK_THROWS_AS(c(1), std::runtime_error);
        CHECK(c.pipe.ended().has_value() == (one == "clear"));
        CHECK(c(1) == step_end::done);
        std::string expected;
        for (const std::string& a : all) expected += a == one ? a + " " + a + " " : a + " ";
        CHECK(c.said == expected);
    }
}

}  // namespace
}  // namespace process_step_throwing_test
