// SPDX-License-Identifier: MIT

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>

#include <waybill/batch/batch_sender.hpp>
#include <waybill/batch/detail/send_keys.hpp>

namespace send_keys_test {

using namespace waybill;

namespace {

// A simple model of the keys.
struct model {
    struct state {
        std::uint32_t items = 0;
        std::uint64_t from = 0;
        std::uint64_t below = 0;
        bool stopped = false;
    };
    std::map<std::uint64_t, state> keys;
};

std::uint64_t next(std::uint64_t& seed)
{
    seed += 0x9E3779B97F4A7C15U;  // splitmix64
    std::uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
}

// Keys with nearly the same place in a table of 16, and keys at the ends of the range.
std::vector<std::uint64_t> crowd()
{
    std::vector<std::uint64_t> keys{0, ~std::uint64_t{0}, 1, std::uint64_t{1} << 63};
    for (std::uint64_t k = 2; keys.size() != 24; ++k) {
        std::uint64_t h = k * 0x9E37'79B9'7F4A'7C15U;
        h ^= h >> 32;
        // the last places, so that rows of them continue at the start of the table
        if ((h & 15) >= 14) keys.push_back(k);
    }
    return keys;
}

}  // namespace

TEST_CASE("send_keys: a stopped key blocks items after the failed one until it is resumed")
{
    detail::send_keys k;
    const std::uint32_t s = k.enter(5);
    CHECK(k.enter(5) == s);
    CHECK(!k.resume(5, 9));
    CHECK(!k[s].stopped());
    k.stop(s, 3);
    CHECK(k[s].stopped());
    CHECK(!k[s].blocks(2));
    CHECK(!k[s].blocks(3));
    CHECK(k[s].blocks(4));
    k.stop(s, 6);  // it has stopped before that
    CHECK(k[s].blocks(4));
    k.stop(s, 1);
    CHECK(k[s].blocks(2));
    CHECK(!k.resume(6, 9));
    CHECK(k.resume(5, 9));
    CHECK(!k.resume(5, 9));
    CHECK(k[s].blocks(8));
    CHECK(!k[s].blocks(9));
    k.stop(s, 9);
    CHECK(!k[s].blocks(9));
    CHECK(k[s].blocks(10));
    k.leave(s);
    k.leave(s);
    CHECK(k.enter(5) == s);  // a key that has stopped is remembered
    CHECK(k[s].stopped());
    k.leave(s);
    CHECK(k.resume(5, 9));
    CHECK(k == detail::send_keys());
}

TEST_CASE("send_keys: equals a std::map model after random operations")
{
    for (std::uint64_t seed = 1; seed != 200; ++seed) {
        std::uint64_t dice = seed;
        detail::send_keys k;
        model m;
        std::map<std::uint64_t, std::uint32_t> slots;
        const std::vector<std::uint64_t> crowded = crowd();
        const bool few = seed % 2 == 0;  // else up to a thousand
        for (std::uint64_t step = 0; step != 2'000; ++step) {
            const std::uint64_t drawn = next(dice);
            const std::uint64_t key = few ? crowded[drawn % crowded.size()] : drawn % 1'000;
            const bool there = m.keys.count(key) != 0;
            model::state& x = m.keys[key];
            switch (next(dice) % 8) {
                case 0:
                case 1:
                case 2: {
                    const std::uint32_t s = k.enter(key);
                    if (there) CHECK(s == slots[key]);
                    slots[key] = s;
                    ++x.items;
                    break;
                }
                case 3:
                case 4:
                case 5:
                    if (x.items == 0) break;
                    k.leave(slots[key]);
                    --x.items;
                    break;
                case 6:
                    if (x.items == 0) break;
                    k.stop(slots[key], step);
                    if (!x.stopped) x.from = step;
                    x.stopped = true;
                    x.below = ~std::uint64_t{0};
                    break;
                default:
                    CHECK(k.resume(key, step) == x.stopped);
                    if (x.stopped) x.below = step;
                    x.stopped = false;
                    break;
            }
            if (x.items == 0 && !x.stopped) m.keys.erase(key);
            if (step % 64 != 0) continue;
            detail::send_keys again;  // the same keys, entered in another order into another table
            for (auto i = m.keys.rbegin(); i != m.keys.rend(); ++i) {
                const model::state& want = i->second;
                const std::uint32_t s = again.enter(i->first);
                for (std::uint32_t n = 1; n < want.items; ++n) (void)again.enter(i->first);
                again[s].stopped_at = want.from;
                again[s].blocked_end = want.below;
                if (want.items == 0) again.leave(s);
            }
            for (const auto& [name, want] : m.keys) {
                const detail::send_keys::slot& is = k[slots[name]];
                CHECK(is.key == name);
                CHECK(is.items == want.items);
                CHECK(is.stopped() == want.stopped);
            }
            CHECK(k == again);
            CHECK(again == k);
            (void)again.enter(5'000);
            CHECK(!(k == again));
        }
    }
}

TEST_CASE("send_keys: a copy is independent")
{
    detail::send_keys a;
    const std::uint32_t s = a.enter(1);
    detail::send_keys b = a;
    CHECK(a == b);
    b.stop(s, 0);
    CHECK(!(a == b));
    a.stop(s, 0);
    CHECK(a == b);
    a[s].in_flight = true;
    CHECK(!(a == b));
}

TEST_CASE("sender: a million items of a million keys are sent in full batches")
{
    // A search that grows with the keys, or a new scan for each item, would take too long here.
    constexpr std::uint64_t items = tests_support::brief ? 100'000 : 1'000'000;
    batch_sender s({.limit = {.items = 1'000}, .in_flight = 8, .ordered = true});
    const steady_time now{};
    for (std::uint64_t n = 0; n != items; ++n)
        s.on(batch_sender::queued(1U, n * 0x1'0000'0001U), now);
    s.on(batch_sender::flushed{}, now);
    std::vector<std::uint64_t> away;
    std::uint64_t sends = 0;
    while (!s.finished()) {
        const auto a = s.next(now);
        if (const auto* x = waybill::get_if<batch_sender::report>(&a)) {
            s.on(batch_sender::reported{item_range(x->items)}, now);
        } else if (const auto* send = waybill::get_if<batch_sender::send>(&a)) {
            away.push_back(send->attempt);
            s.on(batch_sender::started{away.back()}, now);
            ++sends;
        } else {
            REQUIRE(!away.empty());
            s.on(batch_sender::accepted{away.back()}, now);  // out of order
            away.pop_back();
        }
    }
    CHECK(sends == items / 1'000);
}

}  // namespace send_keys_test
