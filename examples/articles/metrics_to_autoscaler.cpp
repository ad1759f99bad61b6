// SPDX-License-Identifier: MIT
//
// metrics_to_autoscaler: from messages with metrics to a service with the right size.
//
// A monitor sends the backlog of the service "orders", an autoscaler sends commands, and a platform
// executes them and sends results. Here all three run in one program. They share only JSON messages.
// The output has each change with its reasons. The environment simulates four seconds, so the program
// ends at once, and its output does not depend on the machine.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <waybill/ext/chrono.hpp>
#include <waybill/ext/fmt/scaling.hpp>
#include <waybill/ext/json/scaling.hpp>
#include <waybill/scaling.hpp>
#include <waybill/testing/manual_environment.hpp>

using namespace std::chrono_literals;
using namespace waybill;
using namespace waybill::scaling;
using nlohmann::json;

int main()
{
    testing::manual_environment env;
    autoscale_state state;
    std::string commands, results;  // each delivers its last message repeatedly
    std::uint64_t instances = 1, executed = 0, backlog = 0, rounds = 0;

    // The monitor: 160 orders arrive in each of 40 rounds. Each instance handles 40 in a round.
    const auto measure = [&] {
        if (++rounds <= 40) backlog += 160;
        backlog -= std::min(backlog, 40 * instances);
        const metric_message m{"orders", "backlog", env.wall_now(), double(backlog)};
        return parse_json<metric_message>(json(m).dump())->value;
    };
    // The platform: it executes no command twice, and no stale one.
    const auto execute = [&](const command_message& m) {
        if (admit(m.command, executed, instances) != admission::fresh) return;
        instances = m.command.to;
        executed = m.command.id;
        results = json(result_message{m.resource, executed, true}).dump();
    };
    // The autoscaler.
    // clang-format off
    //! [metrics_to_autoscaler]
    const policy rules{.up = last("backlog") > per_instance(100),
                       .down = highest("backlog") < per_instance(20),
                       .min_points = 3, .cooldown = {200ms, 300ms}, .instances = {1, 8},
                       .stabilise = {{}, 300ms}, .every = 50ms, .window = 500ms};
    const auto count = [&] {
        if (const auto m = parse_json<command_message>(commands)) execute(*m);
        if (auto m = parse_json<result_message>(results)) record(state.state, *m, env.wall_now());
        return instances;
    };
    const auto resize = [&](const command& c) {
        commands = json(command_message{"orders", c}).dump();
        return resize_outcome::pending;
    };
    const auto report =
        autoscale({{"backlog", measure}}, rules, state, count, resize, time_limited(env, 4s));
    for (const decision& d : report.decisions) fmt::print("{}\n", d);
    fmt::print("{}: {} instances\n", describe(report), instances);
    //! [metrics_to_autoscaler]
    // clang-format on
}
