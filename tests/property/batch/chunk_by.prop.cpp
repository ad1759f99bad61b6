// SPDX-License-Identifier: MIT

#include <cstddef>
#include <cstdint>
#include <list>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <waybill/batch/chunk_by.hpp>

namespace chunk_by_prop {

using waybill::batch_limits;
using sizes = std::vector<std::uint64_t>;

struct part {
    sizes items;
    std::uint64_t bytes = 0;
    bool fits = true;

    friend bool operator==(const part&, const part&) = default;
};

void showValue(const part& p, std::ostream& out)
{
    out << p.bytes << (p.fits ? " for " : " too large: ");
    rc::show(p.items, out);
}

// True if these items fit in one batch. Sizes are small here, so plain sums are exact.
bool together(const std::uint64_t* first, const std::uint64_t* last, const batch_limits& l)
{
    std::uint64_t sum = l.envelope;
    for (const auto* at = first; at != last; ++at) {
        if (*at > l.single) return false;
        sum += *at;
    }
    return sum <= l.bytes &&
           static_cast<std::uint64_t>(last - first) <= (l.items == 0 ? 1 : l.items);
}

// The model: adds items while the batch fits, and measures it from the start each time.
std::vector<part> naive(const sizes& all, const batch_limits& l)
{
    std::vector<part> parts;
    for (std::size_t i = 0; i != all.size();) {
        std::size_t n = 1;
        const bool fits = together(&all[i], &all[i] + 1, l);
        while (fits && i + n != all.size() && together(&all[i], &all[i] + n + 1, l)) ++n;
        part& p = parts.emplace_back();
        p.fits = fits;
        p.bytes = l.envelope;
        for (; n != 0; --n, ++i) {
            p.items.push_back(all[i]);
            p.bytes += all[i];
        }
    }
    return parts;
}

// The fewest batches of any cut in order. An item that never fits counts as one.
std::size_t fewest(const sizes& all, const batch_limits& l)
{
    std::vector<std::size_t> best(all.size() + 1, 0);
    for (std::size_t end = 1; end <= all.size(); ++end) {
        best[end] = best[end - 1] + 1;
        for (std::size_t first = 0; first + 1 < end; ++first) {
            if (!together(&all[first], all.data() + end, l)) continue;
            if (best[first] + 1 < best[end]) best[end] = best[first] + 1;
        }
    }
    return best[all.size()];
}

template <class Items>
std::vector<part> cut(const Items& items, const batch_limits& l)
{
    std::vector<part> parts;
    for (auto c : waybill::chunk_by(items, l, [](std::uint64_t n) { return n; })) {
        parts.push_back({sizes(c.begin(), c.end()), c.bytes, c.fits});
    }
    return parts;
}

rc::Gen<std::uint64_t> up_to(std::uint64_t most)
{
    return rc::gen::inRange<std::uint64_t>(0, most + 1);
}

sizes any_sizes()
{
    return *rc::gen::container<sizes>(up_to(30));
}

batch_limits any_limits()
{
    const auto often = [](std::uint64_t most) {
        return *rc::gen::weightedOneOf<std::uint64_t>(
            {{4, up_to(most)}, {1, rc::gen::just(waybill::unlimited)}});
    };
    return {.bytes = often(60), .items = often(6), .single = often(35), .envelope = *up_to(12)};
}

TEST_CASE("chunk_by: chunks equal those of the naive model, with and without random access")
{
    CHECK(rc::check([] {
        const sizes all = any_sizes();
        const batch_limits l = any_limits();
        const auto expected = naive(all, l);
        RC_ASSERT(cut(all, l) == expected);
        RC_ASSERT(cut(std::list<std::uint64_t>(all.begin(), all.end()), l) == expected);
    }));
}

TEST_CASE("chunk_by: each item is in one chunk, in order, within the limits")
{
    CHECK(rc::check([] {
        const sizes all = any_sizes();
        const batch_limits l = any_limits();
        sizes travelled;
        for (const part& p : cut(all, l)) {
            RC_ASSERT(!p.items.empty());
            RC_ASSERT(p.fits == together(p.items.data(), p.items.data() + p.items.size(), l));
            RC_ASSERT(p.fits || p.items.size() == 1u);
            travelled.insert(travelled.end(), p.items.begin(), p.items.end());
        }
        RC_ASSERT(travelled == all);
    }));
}

TEST_CASE("chunk_by: no other cut in order has fewer chunks")
{
    CHECK(rc::check([] {
        const sizes all = any_sizes();
        const batch_limits l = any_limits();
        RC_ASSERT(cut(all, l).size() == fewest(all, l));
    }));
}

TEST_CASE("front_chunk: repeated calls return the chunks of chunk_by")
{
    CHECK(rc::check([] {
        const sizes all = any_sizes();
        const batch_limits l = any_limits();
        const auto size = [](std::uint64_t n) { return n; };
        auto at = all.begin();
        for (auto c : waybill::chunk_by(all, l, size)) {
            RC_ASSERT(waybill::front_chunk(at, all.end(), l, size) == c);
            at = c.last;
        }
        RC_ASSERT(at == all.end());
    }));
}

/// The size of an item depends on all inputs of a framing: whether it is the first, the number of
/// items before it, and the last item. An item that equals the last one takes one byte.
struct wild_framing {
    struct state {
        std::uint64_t count = 0;
        std::uint64_t last = 0;
        friend bool operator==(const state&, const state&) = default;
    };

    std::uint64_t envelope(std::uint64_t first) const { return first % 4; }
    std::uint64_t delta(const state& s, std::uint64_t n) const
    {
        if (s.count != 0 && s.last == n) return 1;
        return n + s.count / 3;
    }
    void push(state& s, std::uint64_t n) const
    {
        ++s.count;
        s.last = n;
    }
};

/// A comma before each item but the first. Each part of a batch that fits also fits.
struct with_commas {
    struct state {
        bool any = false;
        friend bool operator==(const state&, const state&) = default;
    };

    std::uint64_t envelope(std::uint64_t) const { return 2; }
    std::uint64_t delta(const state& s, std::uint64_t n) const { return n + (s.any ? 1 : 0); }
    void push(state& s, std::uint64_t) const { s.any = true; }
};

/// The size of the batch of [first, last), from its first byte to its last.
struct whole {
    std::uint64_t bytes = 0;
    bool fits = true;
};

template <class F>
whole written(const std::uint64_t* first, const std::uint64_t* last, const batch_limits& l,
              const F& f)
{
    whole w{l.envelope + f.envelope(*first), true};
    typename F::state s;
    for (const auto* at = first; at != last; ++at) {
        const std::uint64_t own = f.delta(s, *at);
        w.fits = w.fits && own <= l.single;
        w.bytes += own;
        f.push(s, *at);
    }
    w.fits = w.fits && w.bytes <= l.bytes &&
             static_cast<std::uint64_t>(last - first) <= (l.items == 0 ? 1 : l.items);
    return w;
}

template <class F>
std::vector<part> naive_framed(const sizes& all, const batch_limits& l, const F& f)
{
    std::vector<part> parts;
    for (std::size_t i = 0; i != all.size();) {
        std::size_t n = 1;
        const std::uint64_t* const at = &all[i];
        const bool fits = written(at, at + 1, l, f).fits;
        while (fits && i + n != all.size() && written(at, at + n + 1, l, f).fits) ++n;
        parts.push_back({sizes(at, at + n), written(at, at + n, l, f).bytes, fits});
        i += n;
    }
    return parts;
}

template <class Items, class F>
std::vector<part> cut_framed(const Items& items, const batch_limits& l, const F& f)
{
    std::vector<part> parts;
    for (auto c : waybill::chunk_by(items, l, f)) {
        parts.push_back({sizes(c.begin(), c.end()), c.bytes, c.fits});
    }
    return parts;
}

TEST_CASE("chunk_by: chunks of a framing equal those of a naive model that measures each batch")
{
    CHECK(rc::check([] {
        const sizes all = any_sizes();
        const batch_limits l = any_limits();
        const auto wild = naive_framed(all, l, wild_framing{});
        RC_ASSERT(cut_framed(all, l, wild_framing{}) == wild);
        RC_ASSERT(cut_framed(std::list<std::uint64_t>(all.begin(), all.end()), l, wild_framing{}) ==
                  wild);
        RC_ASSERT(cut_framed(all, l, with_commas{}) == naive_framed(all, l, with_commas{}));
        for (auto c : waybill::chunk_by(all, l, wild_framing{})) {
            RC_ASSERT(waybill::front_chunk(c.first, all.end(), l, wild_framing{}) == c);
        }
    }));
}

TEST_CASE("chunk_by: no other cut has fewer chunks for a framing where each part of a batch fits")
{
    CHECK(rc::check([] {
        const sizes all = any_sizes();
        const batch_limits l = any_limits();
        const with_commas f;
        std::vector<std::size_t> best(all.size() + 1, 0);
        for (std::size_t end = 1; end <= all.size(); ++end) {
            best[end] = best[end - 1] + 1;
            for (std::size_t first = 0; first + 1 < end; ++first) {
                if (!written(&all[first], all.data() + end, l, f).fits) continue;
                if (best[first] + 1 < best[end]) best[end] = best[first] + 1;
            }
        }
        RC_ASSERT(cut_framed(all, l, f).size() == best[all.size()]);
    }));
}

/// Numbers of one type: mostly small ones, so that long runs fit; sometimes the ends of the range.
template <class N>
std::vector<N> any_integers()
{
    const std::uint64_t all_bits = static_cast<std::make_unsigned_t<N>>(~std::uint64_t{0});
    const auto any = rc::gen::weightedOneOf<std::uint64_t>(
        {{400, up_to(100)},
         {2, up_to(5'000)},
         {1, rc::gen::arbitrary<std::uint64_t>()},
         {1, rc::gen::element(all_bits, all_bits - 1, all_bits / 2, all_bits / 2 + 1, all_bits / 64,
                              all_bits / 64 + 1, std::uint64_t{0})}});
    const auto blocks = *rc::gen::inRange<std::size_t>(0, 12);
    const auto rest = *rc::gen::inRange<std::size_t>(0, 70);
    std::vector<N> all;
    for (const std::uint64_t n : *rc::gen::container<sizes>(64 * blocks + rest, any)) {
        all.push_back(static_cast<N>(n));
    }
    return all;
}

batch_limits wide_limits()
{
    const auto often = [](std::uint64_t most) {
        return *rc::gen::weightedOneOf<std::uint64_t>(
            {{6, up_to(most)},
             {2, rc::gen::just(waybill::unlimited)},
             {1, rc::gen::arbitrary<std::uint64_t>()},
             {1,
              rc::gen::element(waybill::unlimited - 1, waybill::unlimited / 2, std::uint64_t{0})}});
    };
    const std::uint64_t envelope = *rc::gen::weightedOneOf<std::uint64_t>(
        {{8, up_to(200)}, {1, rc::gen::just(waybill::unlimited)}, {1, up_to(40'000)}});
    const std::uint64_t single = *rc::gen::weightedOneOf<std::uint64_t>(
        {{4, rc::gen::just(waybill::unlimited)}, {2, up_to(6'000)}, {1, up_to(110)}});
    return {.bytes = often(30'000), .items = often(700), .single = single, .envelope = envelope};
}

/// The chunks of bare integers, cut by blocks, equal those with an identity size function.
template <class N>
bool cut_alike()
{
    return rc::check([] {
        const std::vector<N> all = any_integers<N>();
        const batch_limits l = wide_limits();
        const auto itself = [](N n) { return n; };
        const auto bare = waybill::chunk_by(all, l);
        const auto asked = waybill::chunk_by(all, l, itself);
        auto at = bare.begin();
        for (auto c : asked) {
            RC_ASSERT(at != bare.end());
            RC_ASSERT(*at == c);
            RC_ASSERT(waybill::front_chunk(c.first, all.end(), l) == c);
            ++at;
        }
        RC_ASSERT(at == bare.end());
        // The same by the tally, which counts one by one.
        const waybill::detail::plain_framing<decltype(itself)> plain{itself};
        auto framed = bare.begin();
        for (auto c : waybill::chunk_by(all, l, plain)) RC_ASSERT(*framed++ == c);
    });
}

TEST_CASE("chunk_by: chunks of bare integers of all widths equal those of a size function")
{
    CHECK(cut_alike<std::uint8_t>());
    CHECK(cut_alike<std::int8_t>());
    CHECK(cut_alike<std::uint16_t>());
    CHECK(cut_alike<std::int16_t>());
    CHECK(cut_alike<std::uint32_t>());
    CHECK(cut_alike<std::int32_t>());
    CHECK(cut_alike<std::uint64_t>());
    CHECK(cut_alike<std::int64_t>());
}

}  // namespace chunk_by_prop
