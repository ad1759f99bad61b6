// SPDX-License-Identifier: MIT
//
// send_books: the records of an audit of a sender: items, attempts, keys, and the remaining work.
//
// The books are a value, so that an enumeration can copy them and follow two paths. == compares all
// that their decisions depend on, so that equal paths can be joined.

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

/// The item limit that the first item of a refused batch of `count` items gets. The first refusal
/// leaves one item less. Each further refusal (`again`) halves the limit, or lowers it by an eighth
/// if the broker reported the size of the batch, but by at least one item.
[[nodiscard]] constexpr std::uint64_t items_after_refusal(std::uint64_t count, bool again,
                                                          bool size_reported)
{
    if (!again) return count - 1;
    return std::min(count - 1, size_reported ? count - count / 8 : count / 2);
}

/// The maximum of refusals of batches that begin with the same item, if a batch has at most
/// `max_items`.
[[nodiscard]] constexpr std::uint64_t max_refusals(std::uint64_t max_items, bool sizes_reported)
{
    std::uint64_t refusals = 0;
    for (std::uint64_t n = max_items; n != 0;) {
        n = items_after_refusal(n, refusals != 0, sizes_reported);
        ++refusals;
    }
    return refusals;
}

struct books {
    struct item {
        std::uint64_t bytes = 0;
        std::size_t key = 0;        // its index among the keys
        std::uint64_t most = none;  // the item limit of a batch that begins with it
        std::uint64_t in = none;    // the attempt that has it
        std::uint32_t tries = 0;
        waybill::fault_kind how = waybill::fault_kind::none;
        bool arrived = false;
        bool maybe = false;  // it was in a batch with unknown outcome
        // after `maybe`, its batch was refused or failed in part, so another batch may have it
        bool anew = false;
        bool refused = false;    // refused alone
        bool final = false;      // failed permanently, or not retried any more
        bool overtaken = false;  // the broker has accepted a later item and not this one
        bool overtook = false;   // it has arrived before an earlier item of its key
        bool asked = false;      // a smaller replacement was requested
        bool kept = false;
        bool settled = false;

        // Nothing else of a settled item is read again.
        [[nodiscard]] bool like(const item& i) const
        {
            return settled == i.settled && key == i.key && (settled || *this == i);
        }
        friend bool operator==(const item&, const item&) = default;
    };
    struct attempt {
        std::size_t first = 0;  // the index of its items in `members`
        std::size_t count = 0;
        std::uint32_t unknowns = 0;
        bool open = true;
        bool away = false;
        waybill::steady_time not_before = waybill::steady_time::lowest();
    };
    // Items after `from` and before `below` are blocked.
    struct key {
        std::uint64_t name = 0;
        std::uint64_t from = 0;
        std::uint64_t below = 0;
        std::uint64_t arrived = none;  // the last of its items that arrived
        std::uint32_t open = 0;        // open attempts with items of it

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
    std::uint64_t open = 0;  // open attempts
    std::uint64_t sends = 0;
    std::uint64_t refusals = 0;
    std::uint64_t throttles = 0;
    std::uint64_t arrived = none;  // the last item that arrived
    // After a batch of several items failed for good: the items of which one may be the reason.
    std::uint64_t suspects = none;
    std::uint64_t replacements = 0;
    std::uint32_t tokens = 0;
    std::uint32_t successes = 0;
    bool stopped = false;
    bool strict = false;  // a batch has at most one item of a key
    bool has_numbers =
        false;  // a broker has reported numbers, so the limits are no longer the policy's
    // a batch of several items was refused, so items may be larger than their bodies
    bool doubted = false;
    waybill::steady_time quiet = waybill::steady_time::lowest();

    /// Restarts in the same memory.
    void begin(const waybill::send_policy& p)
    {
        policy = p;
        items.clear();
        attempts.clear();
        members.clear();
        keys.clear();
        broken.clear();
        open = sends = refusals = throttles = replacements = 0;
        arrived = suspects = none;
        strict = p.ordered && p.limit.answers_per_entry && !p.may_overtake;
        tokens = p.budget.tokens;
        successes = 0;
        stopped = has_numbers = doubted = false;
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

    /// The maximum of sends: the proof that it ends. Every answer except `throttled` has one of
    /// three effects. It ends an item. Or it takes one of the `most_tries` tries of an item or
    /// repeats of an attempt. Or it lowers the item limit of its first item (see
    /// `items_after_refusal`); then all repeats are available again.
    [[nodiscard]] std::uint64_t bound() const
    {
        const std::uint64_t max_items =
            std::min<std::uint64_t>(items.size(), std::max<std::uint64_t>(policy.limit.items, 1));
        const std::uint64_t refusals_each = max_refusals(max_items, true);
        return items.size() * ((refusals_each + 2) * most_tries() + 1) +
               (items.size() + 1) * isolation_width(max_items) * most_tries() +
               replacements * refusals_each * most_tries();
    }

    /// The maximum of remaining work. It shrinks with every answer except `throttled`. A failure
    /// takes one try of an item. A refusal lowers the item limit of its first item; it restores the
    /// repeats of its attempt, and weighs more than they do. So does an isolation, which halves the
    /// next batch. It grows again when an item ends. Larger batches in flight can fail once each. An unknown outcome takes one repeat of
    /// an attempt. A partial failure turns repeats into tries. The end of an item takes all of its
    /// remaining work. `all` is the final number of items.
    [[nodiscard]] std::uint64_t left(std::uint64_t all) const
    {
        std::uint64_t n = 0;
        for (const item& i : items) n += left_of(i, all);
        for (const attempt& a : attempts) {
            if (a.open) n -= a.unknowns;
            if (a.open && a.count > max_items()) n += isolation_weight();
        }
        const std::uint64_t in_flight = std::max(policy.in_flight, 1U);
        const std::uint64_t width = isolation_width(suspects == none ? 2 * all : suspects);
        return n + isolation_weight() * (in_flight + 1) * width;
    }
    /// The maximum of items in a batch while one of the suspects is to be found.
    [[nodiscard]] std::uint64_t max_items() const
    {
        return suspects == none ? none : std::max<std::uint64_t>(suspects / 2, 1);
    }
    [[nodiscard]] std::uint64_t isolation_weight() const { return most_tries() + 1; }
    [[nodiscard]] static std::uint64_t isolation_width(std::uint64_t max_items)
    {
        std::uint64_t width = 0;
        for (; max_items != 0; max_items /= 2) ++width;
        return width;
    }
    [[nodiscard]] std::uint64_t left_of(const item& i, std::uint64_t all) const
    {
        const bool to_be_settled = i.in == none && (i.arrived || i.final);
        if (i.settled || to_be_settled) return 0;
        const bool may_be_replaced =
            policy.on_too_large == waybill::send_policy::when_too_large::replace;
        std::uint64_t n = 1 + 2 * most_tries() - i.tries;
        n += isolation_weight() * (std::max(policy.in_flight, 1U) + 1) * isolation_width(2 * all);
        n += most_tries() * (i.most == none ? all + 1 : i.most);
        return n + (may_be_replaced && !i.asked ? most_tries() * (all + 2) : 0);
    }

    [[nodiscard]] std::uint32_t most_tries() const
    {
        return std::clamp(policy.retry.max_attempts, 1U, 255U);
    }

    /// Equal in all that is still read. Counters and ended attempts are not compared.
    friend bool operator==(const books& a, const books& b)
    {
        if (a.attempts.size() != b.attempts.size() || a.open != b.open || a.stopped != b.stopped ||
            a.has_numbers != b.has_numbers || a.suspects != b.suspects || a.doubted != b.doubted ||
            a.quiet != b.quiet || a.tokens != b.tokens || a.successes != b.successes ||
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
        return true;  // the items contain the attempt that has them
    }

    /// Equal books have equal digests.
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
                i.overtaken * 16U + i.asked * 32U + i.kept * 64U + i.anew * 128U +
                i.overtook * 512U);
        }
        for (const attempt& a : attempts) {
            if (!a.open) continue;
            mix(a.away + 2U * a.unknowns);
            mix(static_cast<std::uint64_t>(a.not_before.since_epoch().count()));
        }
        for (const key& k : keys) {
            if (policy.ordered) mix(k.from + 64 * k.below + 4096 * k.arrived);
        }
        mix(suspects);
        mix(tokens + 2U * stopped + 4U * has_numbers + 8U * doubted);
        mix(static_cast<std::uint64_t>(quiet.since_epoch().count()));
        return h;
    }
};

}  // namespace send_audit

#endif  // WAYBILL_TESTS_SUPPORT_SEND_BOOKS_HPP
