// SPDX-License-Identifier: MIT
//
// The heap memory of deferred_messages. If an allocation fails, no entry is lost, added or handed
// out.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <support/scarce_new.hpp>

#include <waybill/queue/deferred_messages.hpp>
#include <waybill/queue/deferred_messages_bytes.hpp>

namespace deferral_memory_test {
namespace {

using tests_support::scarce::left;
using tests_support::scarce::taken;

using namespace waybill;

wall_time wall(std::int64_t s)
{
    return wall_time::at(duration::seconds(s));
}

const std::string long_one(100, 's');

deferred_messages some()
{
    deferred_messages b;
    for (std::uint64_t n = 0; n != 6; ++n) {
        b.defer({.sequence = 10 * n, .due = wall(0), .session = n % 2 == 0 ? long_one : "other"});
    }
    b.defer({.sequence = 100, .due = wall(0)});
    (void)b.take(wall(0), {}, 1);
    return b;
}

// Fails at each allocation of f(messages), one after the other, until it works. Returns the number of
// allocations.
template <class F>
std::uint64_t each_failure(F f)
{
    const deferred_messages before = some();
    for (std::uint64_t after = 0;; ++after) {
        deferred_messages b = before;
        bool failed = false;
        left = after;
        try {
            f(b);
        } catch (const std::bad_alloc&) {
            failed = true;
        }
        left = ~std::uint64_t{0};
        if (!failed) return after;
        CHECK(b == before);
        // Both continue equally, and the order is kept.
        deferred_messages other = before;
        while (!other.empty()) {
            const auto a = other.take(wall(9), steady_time::highest(), 2);
            REQUIRE(b.take(wall(9), steady_time::highest(), 2) == a);
            for (const deferred_messages::taken& h : a) {
                REQUIRE(other.settled(h.entry.sequence) == event_result::applied);
                REQUIRE(b.settled(h.entry.sequence) == event_result::applied);
            }
        }
        REQUIRE(b.empty());
    }
}

}  // namespace

TEST_CASE("deferred_messages memory: each failed allocation leaves the object unchanged")
{
    CHECK(each_failure([](deferred_messages& b) {
              b.defer({.sequence = 7, .session = std::string(200, 'n')});
          }) >= 5);
    CHECK(each_failure(
              [](deferred_messages& b) { b.defer({.sequence = 8, .session = long_one}); }) >= 4);
    CHECK(each_failure([](deferred_messages& b) { b.defer({.sequence = 9}); }) == 2);
    CHECK(each_failure(
              [](deferred_messages& b) { b.defer({.sequence = 20, .session = "other"}); }) >= 3);
    CHECK(each_failure([](deferred_messages& b) { b.defer({.sequence = 0}); }) >= 2);
    CHECK(each_failure([](deferred_messages& b) { (void)b.take(wall(0), {}, 9); }) >= 1);
    CHECK(each_failure([](deferred_messages& b) {
              (void)b.take(wall(0), {}, 9, deferral_options::hand_out_order::group_by_partition);
          }) >= 3);
    CHECK(each_failure([](deferred_messages& b) {
              const deferred_messages other = some();
              deferred_messages into;
              into.defer({.sequence = 1});
              const deferred_messages copy = into;
              try {
                  into = b;
              } catch (const std::bad_alloc&) {
                  const std::uint64_t rest = std::exchange(left, ~std::uint64_t{0});
                  CHECK(into == copy);
                  left = rest;
                  throw;
              }
          }) >= 10);
    CHECK(each_failure([](deferred_messages& b) { (void)save(b); }) >= 1);
    CHECK(each_failure([](deferred_messages& b) { (void)load<deferred_messages>(save(b), {}); }) >=
          10);
}

TEST_CASE(
    "deferred_messages memory: hold_on, give_back, settled, empty takes and moves do not allocate")
{
    deferred_messages b = some();
    auto out = b.take(wall(0), {}, 9);
    REQUIRE(!out.empty());
    const std::uint64_t before = taken;
    for (const deferred_messages::taken& h : out) {
        CHECK(b.hold_on(h.entry.sequence, h.ticket, {}) == event_result::applied);
        CHECK(b.give_back(h.entry.sequence, h.ticket) == event_result::applied);
    }
    CHECK(b.take(wall(-1), {}, 9).empty());
    b.settled(0);
    deferred_messages moved(std::move(b));
    CHECK(moved.size() == 6);
    CHECK(taken == before);
}

}  // namespace deferral_memory_test
