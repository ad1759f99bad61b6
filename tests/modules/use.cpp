// SPDX-License-Identifier: MIT
//
// A program that imports waybill instead of including it. It uses each module, with the standard
// library included before, as a user's program does.

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

import waybill;

namespace {

int failures = 0;

void expect(bool condition, const char* what)
{
    if (condition) return;
    std::printf("%s\n", what);
    ++failures;
}

/// An environment whose clock stands still.
struct standing_environment {
    waybill::steady_time now() { return {}; }
    waybill::wall_time wall_now() { return {}; }
    void sleep_until(waybill::steady_time) {}
    double random() { return 0.5; }
};
static_assert(waybill::environment<standing_environment>);

void batches()
{
    const std::vector<std::string> inbox(100, std::string(50, '.'));
    std::uint64_t parts = 0;
    for (auto part : waybill::chunk_by(inbox, {.bytes = 1'000}, &std::string::size))
        parts += part.fits;
    expect(parts == 5, "chunk_by");

    waybill::batch_sender sender({.limit = {.bytes = 1'000}});
    standing_environment env;
    const auto transmit = [](const auto&) -> waybill::send_outcome {
        return waybill::batch_sender::accepted{};
    };
    const auto report = waybill::send_all(inbox, &std::string::size, sender, transmit, env);
    expect(report.accepted == 100 && report.outcomes.size() == 1, "send_all");
    expect(waybill::describe(report.outcomes[0]) == "items 0 to 99: accepted", "describe");
}

void retries()
{
    const auto bad = waybill::validate(waybill::retry_policy{.max_attempts = 0});
    expect(bad && !waybill::describe(*bad).empty(), "validate");
    const auto never = [] { return waybill::fault_kind::permanent; };
    standing_environment env;
    const auto r = waybill::retry_call({}, never, env);
    expect(!r.ok() && r.tries == 1, "retry_call");
    waybill::circuit_breaker breaker;
    expect(breaker.try_acquire({}).has_value(), "circuit_breaker");
}

void machines()
{
    waybill::settle_batches calls;
    calls.on(waybill::settle_batches::last_decided{}, {});
    const bool idle = waybill::match(
        calls.next({}), [](const waybill::idle&) { return true; },
        [](const auto&) { return false; });
    expect(idle, "match");
    waybill::completion_tracker tracker;
    const auto ticket = tracker.begin(7);
    expect(ticket && tracker.complete(*ticket) == waybill::event_result::applied,
           "completion_tracker");
    waybill::pipeline pipe;
    expect(!pipe.over(), "pipeline");
    const waybill::processor work({.group = {"orders", "billing", {"0"}, {"host", 1}}});
    expect(!work.ended(), "processor");
}

void figures()
{
    waybill::sliding_window<waybill::stats<int>> window;
    window.insert({waybill::wall_time{}, 5});
    expect(window.size() == 1, "sliding_window");
    expect(waybill::wire::sqs::size({.body = "abc"}) == 3, "wire");
    expect(waybill::wire::find(waybill::wire::kafka_errors, 7) ==
               waybill::wire::answer::outcome_unknown,
           "error codes");
    using waybill::scaling::highest;
    const waybill::scaling::policy policy{
        .up = highest("age") > 30.0, .down = highest("age") < 5.0, .instances = {1, 20}};
    expect(!waybill::scaling::validate(policy), "scaling");
    expect(waybill::name(waybill::event_result::stale) == "stale", "name");
}

}  // namespace

int main()
{
    batches();
    retries();
    machines();
    figures();
    return failures == 0 ? 0 : 1;
}
