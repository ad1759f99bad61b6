// SPDX-License-Identifier: MIT
//
// prometheus: sends a thousand messages to a broker in memory and handles those of a queue. Writes
// the counters of the sender, of both reports and of a circuit breaker in the text format of
// Prometheus.

#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "support/environment.hpp"
#include <waybill/batch.hpp>
#include <waybill/ext/counters.hpp>
#include <waybill/queue.hpp>
#include <waybill/retry.hpp>
#include <waybill/testing/memory_queue.hpp>

//! [prometheus]
/// Writes one metric: "messaging.client.sent.messages" becomes messaging_client_sent_messages_total.
void write_metric(std::string_view name, std::string_view kind, std::uint64_t value)
{
    std::string metric(name);
    for (char& c : metric) c = c == '.' ? '_' : c;
    const bool is_counter = kind == "counter";
    if (is_counter) metric += "_total";
    std::cout << "# HELP " << metric << " OpenTelemetry: " << name << ", " << kind << ".\n"
              << "# TYPE " << metric << (is_counter ? " counter\n" : " gauge\n") << metric << " "
              << value << "\n";
}
//! [prometheus]

int main()
{
    std::vector<std::string> inbox;
    for (unsigned i = 0; i < 1'000; ++i) inbox.push_back(std::string(i * i % 4'001, '.'));
    inbox[500] = std::string(300'000, '.');

    support::standard_environment env;
    waybill::circuit_breaker breaker;
    waybill::batch_sender sender{
        {.limit = {.bytes = 262'144, .items = 4'500}, .item_overhead = 62}};
    std::uint64_t requests = 0;
    const auto transmit = [&](auto) -> waybill::send_outcome {
        const auto permit = breaker.try_acquire(env.now());
        const bool lost = ++requests == 3;  // the broker's answer to the third request is lost
        if (permit) {
            breaker.record(*permit,
                           lost ? waybill::fault_kind::infrastructure : waybill::fault_kind::none,
                           env.now());
        }
        if (lost) return waybill::batch_sender::outcome_unknown{};
        return waybill::batch_sender::accepted{};
    };
    const auto size = [](const std::string& body) { return body.size(); };
    const auto report = waybill::send_all(inbox, size, sender, transmit, env);

    waybill::testing::memory_queue queue(env);
    for (const std::string& body : inbox) queue.put(body);
    const auto handle = [](const auto& m) {
        return m.body.empty() ? waybill::permanent("no body") : waybill::fault{};
    };
    const auto handled = waybill::run_queue(queue, handle, {.stop_when_empty = true}, env);

    for_each_counter(report, write_metric);
    for_each_counter(handled, write_metric);
    for_each_counter(sender, write_metric);
    for_each_counter(breaker, env.now(), write_metric);
}
