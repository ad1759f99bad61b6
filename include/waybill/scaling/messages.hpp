// SPDX-License-Identifier: MIT
//
// messages: the messages that measuring, deciding and executing processes send over queues.
//
//     queue.send(json(scaling::metric_message{"orders", "backlog", now, 412}).dump());
//     queue.send(json(scaling::command_message{"orders", *d.command}).dump());
//     queue.send(json(scaling::result_message{"orders", id, true}).dump());
//
// ext/json/scaling.hpp reads and writes them. Queues deliver messages late and more than once:
// `admit` detects such commands, and `state::on` such results.

#ifndef WAYBILL_SCALING_MESSAGES_HPP
#define WAYBILL_SCALING_MESSAGES_HPP

#include <cstdint>
#include <string>

#include <waybill/core/time.hpp>
#include <waybill/scaling/command.hpp>
#include <waybill/scaling/state.hpp>

namespace waybill::inline v0_2::scaling {

/// One sample of a metric of a resource.
struct metric_message {
    std::string resource{};
    std::string metric{};
    wall_time at{};
    double value = 0;

    friend bool operator==(const metric_message&, const metric_message&) = default;
};

/// A command, and the resource whose instances it changes.
struct command_message {
    std::string resource{};
    scaling::command command{};

    friend bool operator==(const command_message&, const command_message&) = default;
};

/// The result of a command.
struct result_message {
    std::string resource{};
    std::uint64_t id = 0;
    bool applied = false;  ///< False: it failed, and nothing was changed.
    std::string text{};    ///< The reason of a failure, for logs.

    friend bool operator==(const result_message&, const result_message&) = default;
};

/// Records the result of a command, as `state::on` does. The caller compares the resource.
inline command_result record(state& s, const result_message& m, wall_time now)
{
    return m.applied ? s.on(applied{m.id}, now) : s.on(failed{m.id}, now);
}

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_MESSAGES_HPP
