// SPDX-License-Identifier: MIT
//
// Random messages, takes and clocks, against a model of the head comment.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <waybill/batch/keyed_batches.hpp>

namespace keyed_batches_prop {

using namespace waybill;

namespace {

using sizes = std::vector<std::uint64_t>;
using batch = keyed_batch<int, std::uint64_t>;
using numbers = keyed_batches<int, std::uint64_t>;

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
    int key = 0;
    std::uint64_t size = 0;
    std::int64_t now = 0;
};

std::ostream& operator<<(std::ostream& out, const step& s)
{
    return out << s.what << '/' << s.key << '/' << s.size << '@' << s.now;
}

// Sizes are small here, so plain sums are exact. A full batch has the time of its last refusal.
struct model {
    struct entry {
        batch b;
        std::optional<batch_close_reason> full;
        std::uint64_t refused = 0;
    };
    batch_limits l;
    open_limits o;
    std::vector<entry> all;  // in the order of their opening
    std::uint64_t refusals = 0;

    std::uint64_t items() const
    {
        std::uint64_t n = 0;
        for (const entry& e : all) n += e.b.items.size();
        return n;
    }
    std::size_t find(int key) const
    {
        std::size_t i = 0;
        while (i != all.size() && all[i].b.key != key) ++i;
        return i;
    }
    bool late(const entry& e, steady_time now) const
    {
        return o.linger != duration::highest() && now >= e.b.opened + o.linger;
    }
    // The full one with the latest refusal, else a full one, else the oldest. Of equals, the first.
    std::size_t first() const
    {
        const auto before = [](const entry& a, const entry& b) {
            if (a.full && b.full) return a.refused > b.refused;
            if (a.full || b.full) return a.full.has_value();
            return a.b.opened < b.b.opened;
        };
        std::size_t best = 0;
        for (std::size_t i = 0; i != all.size(); ++i) {
            if (before(all[i], all[best])) best = i;
        }
        return best;
    }
    void make_room(batch_close_reason why)
    {
        entry& e = all[first()];
        if (!e.full) e.full = why;
    }
    add_result add(int key, std::uint64_t own, steady_time now)
    {
        if (own > l.single || l.envelope + own > l.bytes) return add_result::too_large;
        const std::size_t i = find(key);
        if (i != all.size() && (all[i].full || all[i].b.bytes + own > l.bytes)) {
            if (!all[i].full) all[i].full = batch_close_reason::bytes;
            all[i].refused = ++refusals;
            return add_result::full;
        }
        if (items() >= (o.items == 0 ? 1 : o.items)) return add_result::full;
        if (i == all.size()) {
            if (all.size() >= (o.open == 0 ? 1 : o.open)) {
                make_room(batch_close_reason::key);
                return add_result::full;
            }
            all.push_back({{key, {}, l.envelope, batch_close_reason::end, now}, {}, 0});
        }
        all[i].b.items.push_back(own);
        all[i].b.bytes += own;
        if (all[i].b.items.size() >= l.items) all[i].full = batch_close_reason::items;
        if (items() >= o.items) make_room(batch_close_reason::items);
        return add_result::added;
    }
    batch take(std::size_t i, steady_time now)
    {
        if (i == all.size()) return {};
        batch b = all[i].b;
        const batch_close_reason open =
            late(all[i], now) ? batch_close_reason::deadline : batch_close_reason::end;
        b.closed = all[i].full ? *all[i].full : open;
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
        return b;
    }
    bool due(steady_time now) const
    {
        for (const entry& e : all) {
            if (e.full || late(e, now)) return true;
        }
        return false;
    }
    std::optional<steady_time> deadline() const
    {
        if (all.empty()) return {};
        const entry& e = all[first()];
        if (e.full) return e.b.opened;
        if (o.linger == duration::highest()) return {};
        return e.b.opened + o.linger;
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

open_limits any_open_limits()
{
    const auto linger = static_cast<std::int64_t>(up_to(12));
    return {.open = up_to(5),
            .linger = linger == 0 ? duration::highest() : duration::seconds(linger - 1),
            .items = often(20)};
}

std::vector<step> any_steps()
{
    return *rc::gen::container<std::vector<step>>(
        rc::gen::build<step>(rc::gen::set(&step::what, rc::gen::inRange(0, 12)),
                             rc::gen::set(&step::key, rc::gen::inRange(0, 7)),
                             rc::gen::set(&step::size, rc::gen::inRange<std::uint64_t>(0, 30)),
                             rc::gen::set(&step::now, rc::gen::inRange<std::int64_t>(0, 40))));
}

}  // namespace

TEST_CASE("keyed_batches: results equal those of the model, on any clock")
{
    CHECK(rc::check([] {
        const batch_limits l = any_limits();
        const open_limits o = any_open_limits();
        numbers real(l, itself, o);
        model expected{l, o, {}, 0};
        for (const step& s : any_steps()) {
            const steady_time now = at(s.now);
            if (s.what == 0) {
                const std::size_t i = expected.all.empty() ? 0 : expected.first();
                RC_ASSERT(real.take(now) == expected.take(i, now));
            } else if (s.what == 1) {
                batch b = expected.take(expected.find(s.key), now);
                b.key = s.key;
                RC_ASSERT(real.take(s.key, now) == b);
            } else {
                RC_ASSERT(real.try_add(s.key, s.size, now) == expected.add(s.key, s.size, now));
            }
            RC_ASSERT(real.due(now) == expected.due(now));
            RC_ASSERT(real.deadline() == expected.deadline());
            RC_ASSERT(real.open() == expected.all.size());
            RC_ASSERT(real.items() == expected.items());
        }
    }));
}

TEST_CASE("keyed_batches: each message is in one batch, in the order of its key, within the limits")
{
    CHECK(rc::check([] {
        const batch_limits l = any_limits();
        const open_limits o = any_open_limits();
        numbers open(l, itself, o);
        std::map<int, sizes> sent;
        std::map<int, sizes> arrived;
        const auto flush = [&](const batch& b) {
            RC_ASSERT(!b.items.empty());
            std::uint64_t sum = l.envelope;
            for (const std::uint64_t n : b.items) {
                sum += n;
                RC_ASSERT(n <= l.single);
                arrived[b.key].push_back(n);
            }
            RC_ASSERT(b.bytes == sum);
            RC_ASSERT(sum <= l.bytes);
            RC_ASSERT(b.items.size() <= (l.items == 0 ? 1 : l.items));
        };
        for (const step& s : any_steps()) {
            const steady_time now = at(s.now);
            add_result what = open.try_add(s.key, s.size, now);
            if (what == add_result::full) {
                RC_ASSERT(open.due(now));
                flush(open.take(now));
                what = open.try_add(s.key, s.size, now);
                RC_ASSERT(what == add_result::added);
            }
            RC_ASSERT((what == add_result::too_large) ==
                      (s.size > l.single || l.envelope + s.size > l.bytes));
            if (what == add_result::added) sent[s.key].push_back(s.size);
            RC_ASSERT(open.open() <= (o.open == 0 ? 1 : o.open));
            RC_ASSERT(open.items() <= (o.items == 0 ? 1 : o.items));
            if (s.what == 0 && open.due(now)) flush(open.take(now));
            if (s.what == 1 && !open.empty()) flush(open.take(now));
        }
        while (!open.empty()) flush(open.take(at(0)));
        RC_ASSERT(arrived == sent);
    }));
}

TEST_CASE("keyed_batches: a refused key accepts nothing before a take, and one take is enough")
{
    CHECK(rc::check([] {
        const batch_limits l = any_limits();
        numbers open(l, itself, any_open_limits());
        std::map<int, bool> refused;  // since the last take
        for (const step& s : any_steps()) {
            const add_result what = open.try_add(s.key, s.size, at(s.now));
            if (refused[s.key]) RC_ASSERT(what != add_result::added);
            if (what != add_result::full) continue;
            refused[s.key] = true;
            numbers trial = open;
            RC_ASSERT(!trial.take(at(s.now)).items.empty());
            RC_ASSERT(trial.try_add(s.key, s.size, at(s.now)) == add_result::added);
            if (s.what < 3) {
                (void)open.take(at(s.now));
                refused.clear();
            }
        }
    }));
}

}  // namespace keyed_batches_prop
