// SPDX-License-Identifier: MIT

#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <waybill/batch/chunk_by.hpp>

namespace chunk_by_prop {

using waybill::limits;
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

// Sizes are small here, so plain sums are exact: may these travel together?
bool together(const std::uint64_t* first, const std::uint64_t* last, const limits& l)
{
    std::uint64_t sum = l.envelope;
    for (const auto* at = first; at != last; ++at) {
        if (*at > l.single) return false;
        sum += *at;
    }
    return sum <= l.bytes &&
           static_cast<std::uint64_t>(last - first) <= (l.items == 0 ? 1 : l.items);
}

// The model: take one more as long as all of it may travel together, measured anew each time.
std::vector<part> naive(const sizes& all, const limits& l)
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

// The fewest batches that any way of cutting in order gives; an item that fits nowhere costs one.
std::size_t fewest(const sizes& all, const limits& l)
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
std::vector<part> cut(const Items& items, const limits& l)
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

limits any_limits()
{
    const auto often = [](std::uint64_t most) {
        return *rc::gen::weightedOneOf<std::uint64_t>(
            {{4, up_to(most)}, {1, rc::gen::just(waybill::unlimited)}});
    };
    return {.bytes = often(60), .items = often(6), .single = often(35), .envelope = *up_to(12)};
}

TEST_CASE("the chunks are those of the naive model, on random access and without")
{
    CHECK(rc::check([] {
        const sizes all = any_sizes();
        const limits l = any_limits();
        const auto expected = naive(all, l);
        RC_ASSERT(cut(all, l) == expected);
        RC_ASSERT(cut(std::list<std::uint64_t>(all.begin(), all.end()), l) == expected);
    }));
}

TEST_CASE("every item travels once, in order, within the limits")
{
    CHECK(rc::check([] {
        const sizes all = any_sizes();
        const limits l = any_limits();
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

TEST_CASE("no other way to cut needs fewer chunks")
{
    CHECK(rc::check([] {
        const sizes all = any_sizes();
        const limits l = any_limits();
        RC_ASSERT(cut(all, l).size() == fewest(all, l));
    }));
}

TEST_CASE("cutting chunk by chunk is cutting all at once")
{
    CHECK(rc::check([] {
        const sizes all = any_sizes();
        const limits l = any_limits();
        const auto size = [](std::uint64_t n) { return n; };
        auto at = all.begin();
        for (auto c : waybill::chunk_by(all, l, size)) {
            RC_ASSERT(waybill::front_chunk(at, all.end(), l, size) == c);
            at = c.last;
        }
        RC_ASSERT(at == all.end());
    }));
}

}  // namespace chunk_by_prop
