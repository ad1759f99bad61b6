// SPDX-License-Identifier: MIT
//
// A program of a user of version 0.1, for tests/integration/rename.sh.

#include <cstdio>
#include <string>
#include <vector>

#include <waybill/batch/sender.hpp>
#include <waybill/consume/cadence.hpp>
#include <waybill/consume/completion_tracker.hpp>
#include <waybill/core/check.hpp>
#include <waybill/retry/valve.hpp>
#include <waybill/wire/limits.hpp>

namespace act = waybill::act;

namespace {

int wrong = 0;

void expect(bool holds, const char* what)
{
    if (holds) return;
    std::printf("not so: %s\n", what);
    ++wrong;
}

void protect(waybill::steady_time now)
{
    waybill::valve guard(waybill::valve_options{.min_calls = 1});
    const auto permit = guard.try_pass(now);
    expect(permit.has_value(), "a new valve lets calls pass");
    expect(guard.report(*permit, waybill::fault_class::infrastructure, now) == waybill::heard::taken,
           "a report is taken");
    expect(guard.state(now) == waybill::valve_state::shut, "a failure shuts it");
}

void send(waybill::steady_time now)
{
    const waybill::limits limits{.bytes = 100};
    expect(!waybill::check(limits), "the limits are valid");
    waybill::sender sender{{.limit = limits, .header = 0}};
    sender.on(waybill::queued{60}, now);
    sender.on(waybill::flushed{}, now);
    const auto next = sender.next(now);
    expect(std::get_if<act::send>(&next) != nullptr, "one batch is to be sent");
    expect(sender.on(waybill::accepted{7}, now) == waybill::heard::late, "no batch has this number");
}

void track(waybill::steady_time now)
{
    waybill::completion_tracker tracker{{}, 9};
    const waybill::result<waybill::ticket, waybill::begin_refusal> t = tracker.begin(10);
    expect(t && tracker.complete(*t) == waybill::heard::taken, "an event is done");
    waybill::commit_cadence every{.every = 1};
    waybill::cadence pace{every, now};
    pace.on(waybill::events_done{1}, now);
    expect(pace.due(now).has_value(), "a commit is due");
}

}  // namespace

int main()
{
    const waybill::steady_time now{};
    protect(now);
    send(now);
    track(now);
    return wrong == 0 ? 0 : 1;
}
