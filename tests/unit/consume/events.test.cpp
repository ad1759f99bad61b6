// SPDX-License-Identifier: MIT

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/consume/process_batch.hpp>
#include <waybill/testing/memory_store.hpp>

namespace consume_events_test {

struct raw {
    std::int64_t sequence = 0;
    std::int64_t offset = 0;
    std::vector<std::byte> body{};
};

// A function of the user with this name is not used.
[[maybe_unused]] int position_of(const raw&)
{
    return -1;
}

namespace {

// An iterator that creates its events when it is read. It has no ->, which a forward iterator need
// not have.
struct counted {
    using value_type = raw;
    using difference_type = std::ptrdiff_t;

    raw operator*() const { return {number, 10 * number, {std::byte{0xC3}, std::byte{0}}}; }
    counted& operator++()
    {
        ++number;
        return *this;
    }
    counted operator++(int) { return {number++}; }
    friend bool operator==(const counted&, const counted&) = default;

    std::int64_t number = 0;
};
static_assert(std::forward_iterator<counted>);

}  // namespace

TEST_CASE("process_batch: accepts temporary events whose body is bytes")
{
    waybill::testing::memory_store<std::string> store;
    const waybill::assignment mine{{"log", "test", "0"}, {}, 1};
    const auto odd = [](auto& tx, const raw& e) -> waybill::fault {
        if (e.sequence % 2 != 0) return waybill::permanent("odd");
        tx.record(std::to_string(e.sequence));
        return {};
    };
    const auto r =
        waybill::process_batch(store, mine, counted{0}, counted{4}, odd, waybill::wall_time());
    CHECK(r.outcome == waybill::batch_outcome::committed);
    CHECK(r.reached == waybill::position{3, "30"});
    CHECK(store.records() == std::vector<std::string>{"0", "2"});
    const auto letter = *store.find(mine.key, 1);
    REQUIRE(letter);
    CHECK(letter->at.offset == "10");
    CHECK(letter->body == std::string("\xC3\0", 2));
}

}  // namespace consume_events_test
