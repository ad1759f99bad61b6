// SPDX-License-Identifier: MIT
//
// Memory of a completion tracker: none after warm-up, and at most the documented size. If there is
// no memory, nothing changes.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <support/scarce_new.hpp>

#include <waybill/tracking/completion_tracker.hpp>
#include <waybill/tracking/tracker_bytes.hpp>

namespace completion_tracker_memory_test {

using waybill::completion_tracker;
using waybill::event_result;
using waybill::tracked_event;

namespace {

using tests_support::scarce::left;
using tests_support::scarce::taken;

// Some rounds of events at a fixed distance. The first one is done last.
void busy(completion_tracker& t, std::uint64_t many, std::uint64_t apart, int rounds)
{
    std::vector<tracked_event> tickets(many);
    for (int round = 0; round != rounds; ++round) {
        std::uint64_t at = t.expected().value_or(0);
        for (tracked_event& k : tickets) {
            const auto begun = t.begin(at);
            if (!begun) FAIL("not begun");
            k = *begun;
            at += apart;
        }
        for (std::size_t n = tickets.size(); n != 0; --n) {
            if (t.complete(tickets[n - 1]) != event_result::applied) FAIL("not done");
        }
    }
}

}  // namespace

TEST_CASE("completion_tracker memory: no allocation after warm-up, dense or sparse")
{
    completion_tracker t;
    busy(t, 1'000, 1, 1);
    busy(t, 1'000, 70'000, 1);
    busy(t, 300, 33, 1);
    const std::uint64_t before = taken;
    for (int n = 0; n != 10; ++n) {
        busy(t, 1'000, 1, 2);
        busy(t, 1'000, 70'000, 2);
        busy(t, 300, 33, 2);
    }
    CHECK(taken - before == 30);  // busy()'s own
}

TEST_CASE("completion_tracker memory: no allocation after reserve")
{
    completion_tracker t;
    t.reserve(4'096, 1'000);
    std::vector<tracked_event> tickets;
    tickets.reserve(2'000);
    const std::uint64_t before = taken;
    std::uint64_t at = 0;
    for (int n = 0; n != 4'096; ++n) {
        const auto k = t.begin(at++);
        if (n % 4'096 == 0) tickets.push_back(*k);
    }
    CHECK(taken == before);
    CHECK(t.pending() == 4'096);
    t.assign({});
    for (std::uint64_t n = 0; n != 1'000; ++n) tickets.push_back(*t.begin(n * 1'000'000));
    CHECK(taken == before);
    CHECK(!t.dense());
}

TEST_CASE("completion_tracker memory: dense takes 4 bits a position, sparse 12.5 bytes an event")
{
    for (const std::uint64_t many : {5'000U, 60'000U, 65'400U, 65'536U}) {
        for (const std::uint64_t apart : {1U, 2U, 10U, 30U, 33U, 100U, 1'000'000U}) {
            completion_tracker t;
            for (std::uint64_t n = 0; n != many; ++n) (void)t.begin(n * apart);
            const std::uint64_t positions = (many - 1) * apart + 1;
            const std::uint64_t own = t.bytes() - sizeof(t);
            if (apart <= 30) CHECK(t.dense());
            if (apart >= 100) CHECK(!t.dense());
            // The list keeps its previous ring, of 4,096 positions or a few more.
            if (t.dense()) CHECK(own <= positions / 2 + 32);
            else if (apart >= 100) CHECK(own <= many * 25 / 2 + 4'096);
            CHECK(own <= 17 * many + 4'096);
        }
    }
}

TEST_CASE("completion_tracker memory: a failed allocation in begin changes nothing")
{
    std::uint64_t failures = 0;
    for (const std::uint64_t apart : {1U, 3U, 40U, 5'000U, 1'000'000U}) {
        for (const bool taken_over : {false, true}) {
            completion_tracker t;
            if (taken_over) {
                waybill::tracker_start start;
                for (std::uint64_t n = 0; n != 400; n += 2) {
                    if (!start.done.add({n * apart, n * apart})) FAIL("not added");
                }
                t.resume(start);
            }
            std::vector<tracked_event> tickets;
            tickets.reserve(2'000);
            for (std::uint64_t n = 0; n != 1'500; ++n) {
                // Dense again at the end, so that no further growth is left.
                const std::uint64_t at = n < 800 ? n * apart : 800 * apart + n;
                const completion_tracker before = t;
                bool threw = false;
                left = 0;
                try {
                    const auto k = t.begin(at);
                    if (k) tickets.push_back(*k);
                } catch (const std::bad_alloc&) {
                    threw = true;
                }
                left = ~std::uint64_t{0};
                if (!threw) continue;
                ++failures;
                CHECK(t == before);
                CHECK(waybill::encode(t) == waybill::encode(before));
                // The second allocation fails, if there is one.
                left = 1;
                try {
                    const auto k = t.begin(at);
                    if (k) tickets.push_back(*k);
                    left = ~std::uint64_t{0};
                    continue;
                } catch (const std::bad_alloc&) {
                }
                left = ~std::uint64_t{0};
                CHECK(t == before);
                if (const auto k = t.begin(at)) tickets.push_back(*k);
            }
            for (std::size_t n = tickets.size(); n != 0; --n) {
                if (t.complete(tickets[n - 1]) != event_result::applied) FAIL("not done");
            }
            CHECK(t.in_flight() == 0);
            CHECK(t.watermark() == 800 * apart + 1'499);
        }
    }
    CHECK(failures > 30);
}

TEST_CASE("completion_tracker memory: a failed copy, encode or resume changes nothing")
{
    completion_tracker t;
    std::vector<tracked_event> tickets;
    for (std::uint64_t n = 0; n != 3'000; ++n) tickets.push_back(*t.begin(n * 100));
    for (std::size_t n = 1; n < tickets.size(); n += 3) (void)t.complete(tickets[n]);
    const completion_tracker before = t;
    const std::string bytes = waybill::encode(t, {.max_bytes = 1'000'000}).bytes;
    completion_tracker other;
    for (std::uint64_t most = 0; most != 200; ++most) {
        left = most;
        bool threw = false;
        try {
            const auto again = waybill::encode_text(t, {.max_bytes = 1'000'000});
            const auto start = waybill::decode_text({}, again.bytes);
            completion_tracker third = t;
            third.resume(*start);
            other = third;
        } catch (const std::bad_alloc&) {
            threw = true;
        }
        left = ~std::uint64_t{0};
        CHECK(t == before);
        if (!threw) break;
    }
    CHECK(waybill::encode(other, {.max_bytes = 1'000'000}).bytes == bytes);
}

}  // namespace completion_tracker_memory_test
