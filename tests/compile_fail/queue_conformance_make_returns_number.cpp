// expect: queue_conformance: make() must return a message queue
// SPDX-License-Identifier: MIT

#include <string>

#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_queue.hpp>
#include <waybill/testing/queue_conformance.hpp>

using waybill::testing::manual_environment;
using queue = waybill::testing::memory_queue<manual_environment>;

auto tests(manual_environment& env)
{
    return waybill::testing::queue_conformance(
        [] { return 7; }, [](queue& q, std::string body) { q.put(body); }, env);
}
