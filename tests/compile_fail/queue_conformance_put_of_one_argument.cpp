// expect: queue_conformance: put(queue, body) must add a message to the queue
// SPDX-License-Identifier: MIT

#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_queue.hpp>
#include <waybill/testing/queue_conformance.hpp>

using waybill::testing::manual_environment;
using queue = waybill::testing::memory_queue<manual_environment>;

auto tests(manual_environment& env)
{
    return waybill::testing::queue_conformance([&] { return queue(env); }, [](queue&) {}, env);
}
