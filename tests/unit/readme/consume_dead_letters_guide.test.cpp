// SPDX-License-Identifier: MIT
//
// The snippets of include/waybill/consume/README.md about all dead letters of a store.

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/consume.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_store.hpp>

namespace consume_dead_letters_guide_test {
namespace {

using namespace std::chrono_literals;
using store_type = waybill::testing::memory_store<std::string>;

store_type four_letters()
{
    store_type s;
    auto tx = s.begin();
    for (std::uint64_t n = 1; n != 5; ++n) {
        waybill::dead_letter d;
        d.key = {"orders", "billing", "0"};
        d.at.sequence = n;
        d.body = "order " + std::to_string(n);
        d.dead_lettered_at = waybill::wall_time::at(1h * static_cast<int>(n));
        CHECK(s.put(*tx, d));
    }
    CHECK(tx->commit());
    return s;
}

struct deduplicating_queue {
    std::map<std::string, std::string, std::less<>> messages{};

    waybill::fault send(std::string_view id, std::string_view body)
    {
        messages.emplace(id, body);
        return {};
    }
};

TEST_CASE("consume guide: all dead letters")
{
    store_type store = four_letters();
    waybill::testing::manual_environment env;
    std::string line;
    const auto log = [&](const std::string& text) { line = text; };
    const auto corrected = [](auto& tx, const auto& e) -> waybill::fault {
        if (e.body == "order 2") return waybill::permanent("no total");
        tx.record(e.body);
        return {};
    };

    //! [consume_reprocess_all]
    const auto r = waybill::reprocess_all(store, corrected, env);
    log(waybill::describe(r));  // finished: 3 done, 1 failed
    //! [consume_reprocess_all]

    CHECK(line == "finished: 3 done, 1 failed");
    CHECK(store.records().size() == 3);

    store = four_letters();
    deduplicating_queue queue;
    const auto today = waybill::wall_time::at(3h);

    //! [consume_resubmit]
    // The price service is up again: what failed today comes back, at most 20 per second.
    const auto sent = waybill::resubmit(
        store, [&](const auto& l, std::string_view id) { return queue.send(id, l.body); },
        {.dead_lettered_from = today, .max_per_second = 20}, env);
    //! [consume_resubmit]

    CHECK(sent.done == 2);
    CHECK(queue.messages["orders/billing/0/3"] == "order 3");
    CHECK(env.slept() == waybill::duration(50ms));
}

}  // namespace
}  // namespace consume_dead_letters_guide_test
