// SPDX-License-Identifier: MIT
//
// Handlers that throw, alone and wrapped.

#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/consume.hpp>
#include <waybill/ext/exceptions.hpp>
#include <waybill/testing/memory_store.hpp>

namespace at_least_once_throwing_test {
namespace {

struct event {
    std::uint64_t sequence;
};

TEST_CASE("process_at_least_once: an exception of a bare handler loses uncommitted progress")
{
    using store = waybill::testing::memory_store<std::uint64_t>;
    const waybill::partition_key key{"log", "mail", "0"};
    const std::vector<event> events{{1}, {2}, {3}, {4}};
    store s;
    waybill::checkpoint_writer_for offsets(s);
    waybill::dead_letter_sink_for letters(s);
    const auto handle = [](const event& e, std::string_view) -> waybill::fault {
        if (e.sequence == 4) throw std::runtime_error("out of it");
        return {};
    };
    CHECK_THROWS_AS(
        (void)waybill::process_at_least_once(offsets, letters, {key, {}, 1, 0}, events, handle, {}),
        std::runtime_error);
    CHECK(!*s.load(key));

    // Earlier commits are stored.
    CHECK_THROWS_AS((void)waybill::process_at_least_once(offsets, letters, {key, {}, 1, 0}, events,
                                                         handle, {}, {.commit_every = 2}),
                    std::runtime_error);
    const auto stored = *s.load(key);
    REQUIRE(stored);
    CHECK(stored->at.sequence == 2);

    const auto down = waybill::catching(
        handle, [](const std::exception&) { return waybill::fault_kind::infrastructure; });
    const auto r =
        waybill::process_at_least_once(offsets, letters, {key, stored->at, 1, 0}, events, down, {});
    CHECK(r.outcome == waybill::batch_outcome::redeliver);
    CHECK(r.reached->sequence == 3);
    CHECK(r.reason == waybill::infrastructure("out of it"));
}

}  // namespace
}  // namespace at_least_once_throwing_test
