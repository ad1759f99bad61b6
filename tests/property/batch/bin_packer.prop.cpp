// SPDX-License-Identifier: MIT
//
// Random items and clocks, against a model, against open_batch, and against the bounds that the
// head comment states.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <waybill/batch/bin_packer.hpp>
#include <waybill/batch/open_batch.hpp>

namespace packing_prop {

using namespace waybill;

namespace {

using sizes = std::vector<std::uint64_t>;
using batch = closed_batch<std::uint64_t>;
using numbers = bin_packer<std::uint64_t>;

std::uint64_t itself(const std::uint64_t& n)
{
    return n;
}

constexpr steady_time at(std::int64_t s)
{
    return steady_time::at(duration::seconds(s));
}

struct step {
    int what = 0;  // mostly an item
    std::uint64_t size = 0;
    std::int64_t now = 0;
};

std::ostream& operator<<(std::ostream& out, const step& s)
{
    return out << s.what << '/' << s.size << '@' << s.now;
}

// Sizes are small here, so plain sums are exact.
struct model {
    struct entry {
        batch b;
        std::optional<batch_close_reason> full;
    };
    batch_limits l;
    open_limits o;
    std::vector<entry> all;  // in the order of their opening

    std::uint64_t items() const
    {
        std::uint64_t n = 0;
        for (const entry& e : all) n += e.b.items.size();
        return n;
    }
    bool late(const entry& e, steady_time now) const
    {
        return o.linger != duration::highest() && now >= e.b.opened + o.linger;
    }
    // Full ones in the order of their opening, late ones by deadline, the rest by bytes.
    std::size_t first(steady_time now) const
    {
        const auto before = [&](const entry& a, const entry& b) {
            if (a.full || b.full) return a.full && !b.full;
            if (late(a, now) || late(b, now)) return a.b.opened < b.b.opened;
            return a.b.bytes > b.b.bytes;
        };
        std::size_t best = 0;
        for (std::size_t i = 0; i != all.size(); ++i) {
            if (before(all[i], all[best])) best = i;
        }
        return best;
    }
    void make_room(batch_close_reason why, steady_time now)
    {
        entry& e = all[first(now)];
        if (!e.full) e.full = why;
    }
    add_result add(std::uint64_t own, steady_time now)
    {
        if (own > l.single || l.envelope + own > l.bytes) return add_result::too_large;
        std::optional<std::size_t> best;
        for (std::size_t i = 0; i != all.size(); ++i) {
            if (all[i].full || all[i].b.bytes + own > l.bytes) continue;
            if (!best || all[i].b.bytes > all[*best].b.bytes) best = i;
        }
        if (items() >= (o.items == 0 ? 1 : o.items)) return add_result::full;
        if (!best) {
            if (all.size() >= (o.open == 0 ? 1 : o.open)) {
                make_room(batch_close_reason::bytes, now);
                return add_result::full;
            }
            best = all.size();
            all.push_back({{{}, l.envelope, batch_close_reason::end, now}, {}});
        }
        entry& e = all[*best];
        e.b.items.push_back(own);
        e.b.bytes += own;
        if (e.b.items.size() >= l.items) e.full = batch_close_reason::items;
        if (items() >= o.items) make_room(batch_close_reason::items, now);
        return add_result::added;
    }
    batch take(steady_time now)
    {
        if (all.empty()) return {};
        const std::size_t i = first(now);
        batch b = all[i].b;
        const batch_close_reason open =
            late(all[i], now) ? batch_close_reason::deadline : batch_close_reason::end;
        b.closed = all[i].full ? *all[i].full : open;
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
        return b;
    }
};

std::uint64_t up_to(std::uint64_t most)
{
    return *rc::gen::inRange<std::uint64_t>(0, most + 1);
}

std::uint64_t often(std::uint64_t most)
{
    return up_to(4) == 0 ? unlimited : up_to(most);
}

batch_limits any_limits()
{
    return {.bytes = often(60), .items = often(6), .single = often(35), .envelope = up_to(9)};
}

duration any_linger()
{
    const auto linger = static_cast<std::int64_t>(up_to(12));
    return linger == 0 ? duration::highest() : duration::seconds(linger - 1);
}

std::vector<step> any_steps()
{
    return *rc::gen::container<std::vector<step>>(
        rc::gen::build<step>(rc::gen::set(&step::what, rc::gen::inRange(0, 12)),
                             rc::gen::set(&step::size, rc::gen::inRange<std::uint64_t>(0, 40)),
                             rc::gen::set(&step::now, rc::gen::inRange<std::int64_t>(0, 40))));
}

sizes any_sizes()
{
    return *rc::gen::container<sizes>(rc::gen::inRange<std::uint64_t>(0, 50));
}

// A batch, and the numbers of the items at its opening and before its removal.
struct life {
    batch b;
    std::int64_t opened = 0;
    std::int64_t taken = 0;
};

// Drives the bins as the head comment requires. The clock counts items.
std::vector<life> drive(const sizes& all, const batch_limits& l, std::uint64_t bins)
{
    std::vector<life> out;
    numbers open(l, itself, {.open = bins});
    std::int64_t n = 0;
    const auto take = [&] {
        batch b = open.take(at(n));
        RC_ASSERT(!b.items.empty());
        const std::int64_t opened = b.opened.since_epoch().count() / 1'000'000'000;
        out.push_back({std::move(b), opened, n});
    };
    for (const std::uint64_t own : all) {
        ++n;
        if (open.try_add(own, at(n)) == add_result::full) {
            take();
            RC_ASSERT(open.try_add(own, at(n)) == add_result::added);
        }
        RC_ASSERT(open.open() <= (bins == 0 ? 1 : bins));
        while (open.due(at(n))) take();
    }
    ++n;
    while (!open.empty()) take();
    return out;
}

}  // namespace

TEST_CASE("bin_packer: results equal those of the model, on any clock")
{
    CHECK(rc::check([] {
        const batch_limits l = any_limits();
        const open_limits o{.open = up_to(5), .linger = any_linger(), .items = often(20)};
        numbers real(l, itself, o);
        model expected{l, o, {}};
        for (const step& s : any_steps()) {
            const steady_time now = at(s.now);
            if (s.what == 0) RC_ASSERT(real.take(now) == expected.take(now));
            else RC_ASSERT(real.try_add(s.size, now) == expected.add(s.size, now));
            bool due = false;
            for (const auto& e : expected.all) due = due || e.full || expected.late(e, now);
            RC_ASSERT(real.due(now) == due);
            RC_ASSERT(real.open() == expected.all.size());
            RC_ASSERT(real.items() == expected.items());
            if (const auto by = real.deadline()) RC_ASSERT(real.due(*by));
        }
    }));
}

TEST_CASE("bin_packer: with one bin, results equal those of open_batch")
{
    CHECK(rc::check([] {
        const batch_limits l = any_limits();
        const duration linger = any_linger();
        numbers bins(l, itself, {.open = up_to(1), .linger = linger});
        open_batch<std::uint64_t> one(l, itself, linger);
        for (const step& s : any_steps()) {
            const steady_time now = at(s.now);
            RC_ASSERT(bins.due(now) == one.due(now));
            RC_ASSERT(bins.deadline() == one.deadline());
            RC_ASSERT(bins.empty() == one.empty());
            if (s.what != 0) RC_ASSERT(bins.try_add(s.size, now) == one.try_add(s.size, now));
            else if (!one.empty()) RC_ASSERT(bins.take(now) == one.take(now));
        }
    }));
}

TEST_CASE("pack: each item is in one batch or too large, in order, within the limits")
{
    CHECK(rc::check([] {
        const sizes all = any_sizes();
        const batch_limits l = any_limits();
        std::vector<int> seen(all.size(), 0);
        const packed_bins p = pack(all, l, itself, up_to(6));
        for (const auto& b : p.batches) {
            RC_ASSERT(!b.items.empty());
            RC_ASSERT(b.items.size() <= (l.items == 0 ? 1 : l.items));
            std::uint64_t sum = l.envelope;
            for (std::size_t i = 0; i != b.items.size(); ++i) {
                if (i != 0) RC_ASSERT(b.items[i - 1] < b.items[i]);
                RC_ASSERT(all[b.items[i]] <= l.single);
                sum += all[b.items[i]];
                ++seen[b.items[i]];
            }
            RC_ASSERT(b.bytes == sum);
            RC_ASSERT(sum <= l.bytes);
        }
        for (const std::size_t i : p.too_large) {
            RC_ASSERT((all[i] > l.single || l.envelope + all[i] > l.bytes));
            ++seen[i];
        }
        RC_ASSERT(seen == std::vector<int>(all.size(), 1));
    }));
}

TEST_CASE("bin_packer: two batches open together or taken in succession do not fit into one")
{
    CHECK(rc::check([] {
        const batch_limits l = any_limits();
        const auto out = drive(any_sizes(), l, up_to(6));
        for (std::size_t i = 0; i != out.size(); ++i) {
            for (std::size_t j = i + 1; j != out.size(); ++j) {
                const life& a = out[i];
                const life& b = out[j];
                if (j != i + 1 && b.opened >= a.taken) continue;
                RC_ASSERT((a.b.bytes - l.envelope + b.b.bytes > l.bytes ||
                           a.b.items.size() + b.b.items.size() > l.items));
            }
        }
    }));
}

TEST_CASE("bin_packer: fewer than twice the needed batches, all but one more than half full")
{
    CHECK(rc::check([] {
        const std::uint64_t capacity = 1 + up_to(60);
        const batch_limits l{.bytes = capacity + 7, .envelope = 7};
        const std::uint64_t bins = 1 + up_to(6);
        const auto out = drive(any_sizes(), l, bins);
        std::uint64_t sum = 0;
        std::size_t half_empty = 0;
        for (const life& a : out) {
            sum += a.b.bytes - l.envelope;
            if (2 * (a.b.bytes - l.envelope) <= capacity) ++half_empty;
        }
        if (out.size() > 1) RC_ASSERT(out.size() < 2 * ((sum + capacity - 1) / capacity));
        if (bins > 1) RC_ASSERT(half_empty <= 1u);
    }));
}

TEST_CASE("bin_packer: with an item limit, fewer than four times the needed batches")
{
    CHECK(rc::check([] {
        const std::uint64_t capacity = 1 + up_to(60);
        const std::uint64_t count = 1 + up_to(6);
        const auto out = drive(any_sizes(), {.bytes = capacity, .items = count}, 1 + up_to(6));
        std::uint64_t sum = 0;
        std::uint64_t items = 0;
        for (const life& a : out) {
            sum += a.b.bytes;
            items += a.b.items.size();
        }
        const std::uint64_t by_bytes = (sum + capacity - 1) / capacity;
        const std::uint64_t by_count = (items + count - 1) / count;
        const std::uint64_t needed = by_bytes < by_count ? by_count : by_bytes;
        if (out.size() > 1) RC_ASSERT(out.size() < 4 * needed);
    }));
}

}  // namespace packing_prop
