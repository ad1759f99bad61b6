// SPDX-License-Identifier: MIT

#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/consume.hpp>
#include <waybill/testing/faulty.hpp>
#include <waybill/testing/memory_store.hpp>

namespace throwing_handler_test {
namespace {

struct event {
    std::uint64_t sequence;
};

TEST_CASE("process_batch: an exception of the handler rolls back")
{
    const waybill::partition_key key{"s", "g", "p"};
    const std::vector<event> events{{1}, {2}, {3}};
    waybill::testing::memory_store<std::string> kept;
    std::vector<waybill::testing::store_call> calls;
    waybill::testing::faulty store(kept, [&](waybill::testing::store_call c) {
        calls.push_back(c);
        return waybill::testing::injected_fault::none;
    });
    int throws_at = 2;
    auto handle = [&](auto& tx, const event& e) {
        tx.inner()->record(std::to_string(e.sequence));
        if (static_cast<int>(e.sequence) == throws_at) throw std::runtime_error("out of it");
        return waybill::fault{};
    };
    CHECK_THROWS_AS((void)waybill::process_batch(store, {key, {}, 1}, events, handle, {}),
                    std::runtime_error);
    CHECK(calls.back() == waybill::testing::store_call::savepoint);
    CHECK(kept.records().empty());
    CHECK(!*kept.load(key));

    // No transaction is left open: the same store continues.
    throws_at = 0;
    const auto r = waybill::process_batch(store, {key, {}, 1}, events, handle, {});
    CHECK(r.outcome == waybill::batch_outcome::committed);
    CHECK(kept.records() == std::vector<std::string>{"1", "2", "3"});
}

}  // namespace
}  // namespace throwing_handler_test
