// SPDX-License-Identifier: MIT

#include <string>
#include <vector>

#include <fmt/format.h>

#include "../engines/depth_any.hpp"
#include "../support/program.hpp"
#include "run.hpp"
#include "session.hpp"
#include <waybill/core/utf8.hpp>
#include <waybill/scaling/known_metrics.hpp>

namespace autoscaler {

namespace {

/// The name as a resource: one line of valid UTF-8, as JSON requires.
std::string resource_of(std::string name)
{
    if (!waybill::is_utf8(name)) name = "queue";
    for (char& c : name) {
        if (static_cast<unsigned char>(c) < ' ' || c == 127) c = '?';
    }
    return name;
}

}  // namespace

int run_watch(const options& o, rules r)
{
    const auto queue = engines::depth_from(o.from);
    if (!queue) throw support::complaint(queue.error());
    const std::vector<std::string> metrics{"backlog", "in_flight", "age"};
    if (const auto bad = scaling::unknown_metric(r.policy, metrics)) {
        throw support::complaint(fmt::format("{}: {}", o.policy, scaling::describe(*bad)));
    }
    const std::string resource = resource_of(queue->name());
    r.source = "the queue " + resource;
    r.resource = resource;
    session s(o, r);
    end_on_request();
    const waybill::steady_time start = steady_now();
    waybill::steady_time due = start;
    const auto is_time_up = [&] {
        return o.lasting != waybill::duration() && due - start >= o.lasting;
    };
    do {
        sleep_until(due);
        if (is_over()) break;
        s.turn(s.rows_of(resource, queue->read()), {});
        // After a slow read, missed times are skipped.
        while (due <= steady_now()) due = due + o.every;
    } while (!is_time_up());
    return s.end({}, {});
}

}  // namespace autoscaler
