// SPDX-License-Identifier: MIT
//
// The allocations of a sender: none for an item, after its buffers have grown. Every allocation of
// this program is counted.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/scarce_new.hpp>

#include <waybill/batch/send_all.hpp>

namespace memory_test {

using namespace waybill;
using tests_support::scarce::bytes;
using tests_support::scarce::taken;

namespace {

// An endless input that is read once.
struct endless {
    using value_type = std::uint64_t;
    using difference_type = std::ptrdiff_t;
    std::uint64_t* at = nullptr;
    std::uint64_t last = 0;
    std::uint64_t operator*() const { return 10 + *at % 50; }
    endless& operator++()
    {
        ++*at;
        return *this;
    }
    void operator++(int) { ++*at; }
    friend bool operator==(const endless& e, std::default_sentinel_t) { return *e.at == e.last; }
};

// Streams `items` through. Some answers send items back. `keys` is the number of keys in rotation;
// each key that stops is resumed.
void stream(batch_sender& s, std::vector<std::uint64_t>& away, std::uint64_t items,
            std::uint64_t& sends, std::uint64_t keys = 1)
{
    const batch_sender::entry_fault first[] = {{0, fault_kind::transient}};
    steady_time now{};
    for (std::uint64_t n = 0; n != items;) {
        const auto a = s.next(now);
        if (const auto* x = waybill::get_if<batch_sender::report>(&a)) {
            const std::uint64_t item = x->items.first;
            s.on(batch_sender::reported{x->items}, now);
            s.on(batch_sender::resumed{item * 7 % keys}, now);
        } else if (const auto* send = waybill::get_if<batch_sender::send>(&a)) {
            away.push_back(send->attempt);
            s.on(batch_sender::started{send->attempt}, now);
            ++sends;
        } else if (const auto* w = waybill::get_if<wait_until>(&a); w && away.empty()) {
            now = w->time;
        } else if (away.size() == s.policy().in_flight || (!away.empty() && n % 7 == 0)) {
            const std::uint64_t attempt = away.front();
            away.erase(away.begin());
            if (sends % 11 == 0)
                s.on(batch_sender::partial{.attempt = attempt, .failed = first, .random = 0.0},
                     now);
            else if (sends % 13 == 0) s.on(batch_sender::outcome_unknown{attempt, 0.0}, now);
            else if (sends % 17 == 0) s.on(batch_sender::throttled{attempt, {}, 0.0}, now);
            else s.on(batch_sender::accepted{attempt}, now);
        } else {
            const std::uint64_t item = s.end();
            s.on(batch_sender::queued(10 + item % 50, item * 7 % keys), now);
            ++n;
        }
    }
}

constexpr std::uint64_t streamed = tests_support::rounds(100'000, 100'000);

}  // namespace

TEST_CASE("sender: no allocation per item after the buffers have grown")
{
    for (const std::uint32_t in_flight : {1U, 4U}) {
        batch_sender s({.limit = {.bytes = 2'000, .items = 64},
                        .in_flight = in_flight,
                        .retry = {.max_attempts = 9}});
        std::uint64_t sends = 0;
        std::vector<std::uint64_t> away;
        stream(s, away, streamed, sends);
        const std::uint64_t before = taken;
        const std::uint64_t sent = sends;
        stream(s, away, streamed, sends);
        CHECK(sends - sent > streamed / 100);
        CHECK(taken - before == 0);
    }
}

TEST_CASE("sender: in order, no allocation per item or key after the buffers have grown")
{
    for (const std::uint64_t keys : {1U, 50U, 1'000U, 1'000'000'000U}) {
        for (const int mode : {0, 1, 2}) {  // with batches of one key, with answers per entry
            const bool per_entry = mode == 2;
            if (per_entry && keys < 100) continue;  // small batches: the queue grows all the time
            batch_sender s({.limit = {.bytes = 2'000, .items = 64, .answers_per_entry = per_entry},
                            .in_flight = 4,
                            .ordered = true,
                            .one_key = mode == 1,
                            .retry = {.max_attempts = 3}});
            std::uint64_t sends = 0;
            std::vector<std::uint64_t> away;
            stream(s, away, streamed, sends, keys);
            const std::uint64_t before = taken;
            const std::uint64_t sent = sends;
            stream(s, away, streamed, sends, keys);
            CHECK(sends - sent > streamed / 100);
            CHECK(taken - before == 0);
        }
    }
}

TEST_CASE("sender: a waiting item takes 16 bytes, in order 20")
{
    for (const bool ordered : {false, true}) {
        batch_sender s({.limit = {.items = 10}, .ordered = ordered});
        const std::uint64_t before = bytes;
        constexpr std::uint64_t items = 1 << 20;
        for (std::uint64_t n = 0; n != items; ++n)
            s.on(batch_sender::queued(n, n % 8), steady_time{});
        // A growing vector allocates up to twice its final size in total.
        CHECK(bytes - before < 2 * (ordered ? 20 : 16) * items + 4'096);
        CHECK(bytes - before >= (ordered ? 20 : 16) * items);
    }
}

TEST_CASE("send_all: a long input takes bounded memory and no allocation per item")
{
    std::uint64_t at = 0;
    resend_buffer<endless, std::default_sentinel_t> box(endless{&at, 200'000}, {});
    batch_sender s({.limit = {.bytes = 2'000}});
    std::uint64_t at_half = 0, items = 0, after = 0;
    std::size_t held = 0;
    const send_report r = send_all(
        box, [](std::uint64_t n) { return n; }, s,
        [&](const auto& batch) -> send_outcome {
            items += batch.size();
            held = box.size() > held ? box.size() : held;
            if (at_half == 0 && items > 100'000) at_half = taken;
            after = taken;
            return batch_sender::accepted{};
        },
        steady_time{});
    CHECK(r.accepted == 200'000);
    CHECK(r.outcomes.size() == 1);
    CHECK(held <= 2'000 / 10 + 1);
    CHECK(after == at_half);
}

}  // namespace memory_test
