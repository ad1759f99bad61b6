// SPDX-License-Identifier: MIT
//
// send_books: what an audit of a sender writes down: items, attempts, keys, and what is left to be
// done.
//
// The books are a value, so that an enumeration can copy them and go two ways. What they decide by
// is what == compares, so that ways which meet can be followed as one.

#ifndef WAYBILL_TESTS_SUPPORT_SEND_BOOKS_HPP
#define WAYBILL_TESTS_SUPPORT_SEND_BOOKS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <waybill/batch/batch_sender.hpp>

namespace send_audit {

constexpr std::uint64_t none = waybill::unlimited;

struct books {
    struct item {
        std::uint64_t bytes = 0;
        std::size_t key = 0;         // its place among the keys
        std::uint64_t most = none;   // items that a batch may have which begins with it
        std::uint64_t in = none;     // the attempt that it is in
        std::uint32_t tries = 0;
        waybill::fault_kind how = waybill::fault_kind::none;
        bool arrived = false;
        bool maybe = false;      // it was in a batch that is unknown
        bool anew = false;       // since then its batch was refused, or failed in part: it may be
                                 // sent in another
        bool refused = false;    // alone
        bool final = false;      // it has failed for good, or is not asked about any more
        bool overtaken = false;  // the broker has taken a later one and not this
        bool asked = false;      // for a smaller one in its place
        bool kept = false;
        bool settled = false;

        // Of what is settled nothing else is looked at again.
        [[nodiscard]] bool like(const item& i) const
        {
            return settled == i.settled && key == i.key && (settled || *this == i);
        }
        friend bool operator==(const item&, const item&) = default;
    };
    struct attempt {
        std::size_t first = 0;  // its items, in `members`
        std::size_t count = 0;
        std::uint32_t unknowns = 0;
        bool open = true;
        bool away = false;
        waybill::steady_time not_before = waybill::steady_time::lowest();
    };
    // Items behind `from` and below `below` are held back.
    struct key {
        std::uint64_t name = 0;
        std::uint64_t from = 0;
        std::uint64_t below = 0;
        std::uint64_t arrived = none;  // the last item of it that did
        std::uint32_t open = 0;        // attempts

        [[nodiscard]] bool stopped() const { return below == none; }
        [[nodiscard]] bool holds(std::uint64_t n) const { return from < n && n < below; }
        friend bool operator==(const key&, const key&) = default;
    };

    waybill::send_policy policy;
    std::vector<item> items;
    std::vector<attempt> attempts;
    std::vector<std::uint64_t> members;
    std::vector<key> keys;
    std::vector<std::string> broken;
    std::uint64_t open = 0;  // attempts
    std::uint64_t sends = 0;
    std::uint64_t refusals = 0;
    std::uint64_t throttles = 0;
    std::uint64_t arrived = none;  // the last item that did
    std::uint64_t replacements = 0;
    std::uint32_t tokens = 0;
    std::uint32_t successes = 0;
    bool stopped = false;
    bool told = false;     // a broker has given numbers, so limits are no longer the policy's
    bool doubted = false;  // a batch of several was refused, so sizes may be more than bodies
    waybill::steady_time quiet = waybill::steady_time::lowest();

    /// Once more from the start, in the same memory.
    void begin(const waybill::send_policy& p)
    {
        policy = p;
        items.clear();
        attempts.clear();
        members.clear();
        keys.clear();
        broken.clear();
        open = sends = refusals = throttles = replacements = 0;
        arrived = none;
        tokens = p.budget.tokens;
        successes = 0;
        stopped = told = doubted = false;
        quiet = waybill::steady_time::lowest();
    }

    void must(bool holds, const char* promise)
    {
        if (!holds) broken.emplace_back(promise);
    }

    void queued(std::uint64_t bytes, std::uint64_t name = 0)
    {
        std::size_t k = 0;
        while (k != keys.size() && keys[k].name != name) ++k;
        if (k == keys.size()) keys.push_back({.name = name});
        items.push_back({.bytes = bytes, .key = k});
    }

    [[nodiscard]] bool waits(std::uint64_t n) const
    {
        return !items[n].settled && items[n].in == none;
    }

    /// The most sends that there may be: the measure that sees to it that it ends. Every answer but
    /// `throttled` ends an item, takes one of the `most` tries of an item or of the repeats of an
    /// attempt, or takes at least an eighth of what a batch may have that begins with its first
    /// item. After that, the repeats are all there again.
    [[nodiscard]] std::uint64_t bound() const
    {
        std::uint64_t refusals_each = 2;
        for (std::uint64_t n = items.size(); n > 1; n -= std::max<std::uint64_t>(n / 8, 1)) {
            ++refusals_each;
        }
        return items.size() * ((refusals_each + 2) * most_tries() + 1) +
               replacements * refusals_each * most_tries();
    }

    /// What is left to be done, at the most: it shrinks with every answer but `throttled`. A
    /// failure takes one of the tries of an item, a refusal some of what a batch may have that
    /// begins with its first item, an answer that leaves it open one of the repeats of an attempt;
    /// and whatever ends an item takes all that was left of it. A refusal gives the repeats of its
    /// attempt back, and weighs more. A failure in part turns them into tries. `all` is how many
    /// items there will be.
    [[nodiscard]] std::uint64_t left(std::uint64_t all) const
    {
        std::uint64_t n = 0;
        for (const item& i : items) n += left_of(i, all);
        for (const attempt& a : attempts) n -= a.open ? a.unknowns : 0;
        return n;
    }
    [[nodiscard]] std::uint64_t left_of(const item& i, std::uint64_t all) const
    {
        const bool to_be_settled = i.in == none && (i.arrived || i.final);
        if (i.settled || to_be_settled) return 0;
        const bool may_be_replaced =
            policy.on_too_large == waybill::send_policy::when_too_large::replace;
        std::uint64_t n = 1 + 2 * most_tries() - i.tries;
        n += most_tries() * (i.most == none ? all + 1 : i.most);
        return n + (may_be_replaced && !i.asked ? most_tries() * (all + 2) : 0);
    }

    [[nodiscard]] std::uint32_t most_tries() const
    {
        return std::clamp(policy.retry.max_attempts, 1U, 255U);
    }

    /// Alike in all that is still looked at. Counters are not, nor are attempts that are over.
    friend bool operator==(const books& a, const books& b)
    {
        if (a.attempts.size() != b.attempts.size() || a.open != b.open || a.stopped != b.stopped ||
            a.told != b.told || a.doubted != b.doubted || a.quiet != b.quiet ||
            a.tokens != b.tokens || a.successes != b.successes ||
            a.items.size() != b.items.size() || a.keys.size() != b.keys.size()) {
            return false;
        }
        for (std::size_t n = 0; n != a.items.size(); ++n) {
            if (!a.items[n].like(b.items[n])) return false;
        }
        if (a.policy.in_flight < 2 && a.arrived != b.arrived) return false;
        if (a.policy.ordered && a.keys != b.keys) return false;
        for (std::size_t n = 0; n != a.attempts.size(); ++n) {
            const attempt& x = a.attempts[n];
            const attempt& y = b.attempts[n];
            if (x.open != y.open) return false;
            if (!x.open) continue;
            if (x.away != y.away || x.unknowns != y.unknowns || x.count != y.count ||
                x.not_before != y.not_before) {
                return false;
            }
        }
        return true;  // which items an open attempt has, the items say
    }

    /// Alike is alike here, too.
    [[nodiscard]] std::uint64_t digest() const
    {
        std::uint64_t h = attempts.size() * 64 + open;
        const auto mix = [&](std::uint64_t x) {
            h = (h ^ x) * 0x9E37'79B9'7F4A'7C15U;
            h ^= h >> 29;
        };
        for (const item& i : items) {
            if (i.settled) {
                mix(1);
                continue;
            }
            mix(i.in + 64 * i.most + 4096 * i.bytes);
            mix(i.tries * 256U + i.arrived * 1U + i.maybe * 2U + i.refused * 4U + i.final * 8U +
                i.overtaken * 16U + i.asked * 32U + i.kept * 64U + i.anew * 128U);
        }
        for (const attempt& a : attempts) {
            if (!a.open) continue;
            mix(a.away + 2U * a.unknowns);
            mix(static_cast<std::uint64_t>(a.not_before.since_epoch().count()));
        }
        for (const key& k : keys) {
            if (policy.ordered) mix(k.from + 64 * k.below + 4096 * k.arrived);
        }
        mix(tokens + 2U * stopped + 4U * told + 8U * doubted);
        mix(static_cast<std::uint64_t>(quiet.since_epoch().count()));
        return h;
    }
};

}  // namespace send_audit

#endif  // WAYBILL_TESTS_SUPPORT_SEND_BOOKS_HPP
