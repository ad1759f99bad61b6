// expect: run_queue: the queue needs a nested type message with deliveries
// SPDX-License-Identifier: MIT

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/queue/run_queue.hpp>
#include <waybill/testing/manual_environment.hpp>

struct mail {
    std::uint64_t deliveries = 1;
};

struct queue {
    waybill::result<std::optional<mail>> receive(waybill::duration lock);
    waybill::fault complete(const mail&);
    waybill::fault abandon(const mail&);
    waybill::fault dead_letter(const mail&, std::string_view reason);
};

auto runs(queue& q, waybill::testing::manual_environment& env)
{
    return waybill::run_queue(q, [](const mail&) {}, {}, env);
}
