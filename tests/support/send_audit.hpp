// SPDX-License-Identifier: MIT
//
// send_audit: stands beside a sender, knows what really arrived, and notes every promise that breaks.
//
// It is told what was queued, what was sent and what the broker did, and never asks the sender. It is
// a value like the machine, so that an enumeration can copy both and go two ways.

#ifndef WAYBILL_TESTS_SUPPORT_SEND_AUDIT_HPP
#define WAYBILL_TESTS_SUPPORT_SEND_AUDIT_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <waybill/batch/sender.hpp>

namespace send_audit {

using event = std::variant<waybill::accepted, waybill::refused, waybill::partial,
                           waybill::throttled, waybill::failed, waybill::unknown>;

struct audit {
    struct item {
        std::uint64_t bytes = 0;
        std::uint64_t most = waybill::unlimited;  // items that a batch with it may have
        bool arrived = false;
        bool maybe = false;    // it was in a batch that is unknown
        bool refused = false;  // alone
        bool settled = false;
    };
    struct attempt {
        std::vector<std::uint64_t> items;
        bool open = true;
        bool away = false;
    };

    explicit audit(const waybill::send_policy& p) : policy(p) {}

    waybill::send_policy policy;
    std::vector<item> items;
    std::vector<attempt> attempts;
    std::vector<std::string> broken;
    std::uint64_t sends = 0;
    std::uint64_t refusals = 0;
    bool stopped = false;
    bool told = false;  // a broker has given numbers, so limits are no longer the policy's
    waybill::steady_time quiet = waybill::steady_time::lowest();

    void must(bool holds, const char* promise)
    {
        if (!holds) broken.emplace_back(promise);
    }

    void queued(std::uint64_t bytes) { items.push_back({.bytes = bytes}); }

    static std::vector<std::uint64_t> numbers(const waybill::runs& all)
    {
        std::vector<std::uint64_t> n;
        for (const waybill::run& r : all) {
            for (std::uint64_t i = r.first; i != r.end(); ++i) n.push_back(i);
        }
        return n;
    }

    [[nodiscard]] std::size_t open() const
    {
        std::size_t n = 0;
        for (const attempt& a : attempts) n += a.open ? 1U : 0U;
        return n;
    }

    [[nodiscard]] bool waits(std::uint64_t n) const
    {
        if (items[n].settled) return false;
        for (const attempt& a : attempts) {
            if (a.open && std::find(a.items.begin(), a.items.end(), n) != a.items.end())
                return false;
        }
        return true;
    }

    void sent(const waybill::act::send& s, waybill::steady_time now)
    {
        ++sends;
        const std::vector<std::uint64_t> batch = numbers(s.items);
        if (batch.empty()) return must(false, "no batch is empty");
        must(std::is_sorted(batch.begin(), batch.end()), "a batch is in order");
        must(std::adjacent_find(batch.begin(), batch.end()) == batch.end(), "no item is in twice");
        must(s.items.items() == batch.size(), "runs know how many they are");
        must(!stopped, "nothing is sent once it is stopped");
        must(now >= quiet, "a broker that wants to be left alone is");
        if (s.attempt < attempts.size()) {
            attempt& a = attempts[s.attempt];
            must(a.open && !a.away, "only what is unknown is sent again");
            must(a.items == batch, "what may have arrived is repeated as it was");
            a.away = true;
            return;
        }
        // A number that is left out was a batch that changed before it was sent: nobody may use it.
        must(s.attempt - attempts.size() <= items.size() + 8, "attempt numbers ascend, few left out");
        while (attempts.size() < s.attempt) attempts.push_back({{}, false, false});
        must(open() < std::max(policy.in_flight, 1U), "no more attempts than the policy says");
        std::uint64_t bytes = policy.limit.envelope;
        for (const std::uint64_t n : batch) {
            if (n >= items.size()) {
                must(false, "an item is sent that was never queued");
                return;
            }
            const item& i = items[n];
            must(waits(n), "an item is sent that is elsewhere");
            must(!i.arrived, "what has arrived is not sent again");
            must(!i.maybe, "what may have arrived is never cut anew");
            must(batch.size() <= i.most, "a refused batch comes back smaller");
            bytes = waybill::saturating_add(bytes, i.bytes);
        }
        for (std::uint64_t n = 0; n < batch.back(); ++n) {
            const bool in = std::find(batch.begin(), batch.end(), n) != batch.end();
            must(in || !waits(n), "batches are cut from the head of the queue");
        }
        must(batch.size() <= std::max<std::uint64_t>(policy.limit.items, 1),
             "no batch has more items than the limit");
        if (!told && policy.header == 0) {
            must(s.bytes == bytes, "the bytes are exact");
            must(bytes <= policy.limit.bytes || batch.size() == 1,
                 "no batch of several is over the limit of bytes");
        }
        attempts.push_back({batch, true, true});
    }

    void answered(const event& e, waybill::steady_time now)
    {
        std::visit([&](const auto& x) { answer(x, now); }, e);
    }

    void settle(const waybill::act::settle& s)
    {
        using waybill::item_outcome;
        must(s.items.count != 0, "no settlement is empty");
        for (std::uint64_t n = s.items.first; n != s.items.end(); ++n) {
            if (n >= items.size()) {
                must(false, "an item is settled that was never queued");
                return;
            }
            must(!items[n].settled, "no item is settled twice");
            must(waits(n), "no item is settled while it is on its way");
            item& i = items[n];
            i.settled = true;
            const bool never = !i.arrived && !i.maybe;
            switch (s.outcome) {
                case item_outcome::accepted:
                    must(i.arrived, "accepted has arrived");
                    break;
                case item_outcome::undecided:
                    must(i.maybe && !i.arrived, "undecided may have arrived");
                    break;
                case item_outcome::unsent:
                    must(never && stopped, "unsent has not arrived");
                    break;
                case item_outcome::failed:
                    must(never && !i.refused && s.how != waybill::fault_class::none,
                         "failed has not arrived and says how");
                    break;
                case item_outcome::too_large:
                    must(never && s.items.count == 1, "too large has not arrived and is alone");
                    must(i.refused || told || i.bytes > policy.limit.single ||
                             waybill::saturating_add(i.bytes, policy.limit.envelope) >
                                 std::min(policy.limit.bytes, waybill::unlimited - 1),
                         "too large was refused alone, or no cut could save it");
                    break;
            }
        }
    }

    void end()
    {
        for (const item& i : items) must(i.settled, "every item is settled");
        must(open() == 0, "no attempt is left open");
    }

private:
    attempt* of(std::uint64_t number)
    {
        if (number < attempts.size() && attempts[number].open) return &attempts[number];
        must(false, "the test answers what is open");
        return nullptr;
    }

    // The attempt is over, unless an earlier send of it may still have arrived.
    void over(attempt& a) { a.open = a.away = false; }

    void answer(const waybill::accepted& e, waybill::steady_time)
    {
        told = told || e.actual;
        if (attempt* a = of(e.attempt)) {
            for (const std::uint64_t n : a->items) items[n].arrived = true;
            over(*a);
        }
    }
    void answer(const waybill::refused& e, waybill::steady_time)
    {
        ++refusals;
        told = told || e.actual || e.limit || !e.item_sizes.empty();
        if (attempt* a = of(e.attempt)) {
            for (const std::uint64_t n : a->items) {
                items[n].most = std::min<std::uint64_t>(items[n].most, a->items.size() - 1);
                if (a->items.size() == 1) items[n].refused = true;
            }
            over(*a);
        }
    }
    void answer(const waybill::partial& e, waybill::steady_time)
    {
        if (attempt* a = of(e.attempt)) {
            for (std::size_t i = 0; i < a->items.size(); ++i) {
                const bool bad = std::any_of(e.failed.begin(), e.failed.end(), [&](const auto& f) {
                    return f.index == i && f.how != waybill::fault_class::none;
                });
                if (!bad) items[a->items[i]].arrived = true;
            }
            over(*a);
            for (const auto& f : e.failed) stops(f.how);
        }
    }
    void answer(const waybill::throttled& e, waybill::steady_time now)
    {
        const waybill::duration cap = policy.retry.pauses.cap;
        quiet = waybill::later(quiet, now + waybill::lesser(e.retry_after, cap));
        again(e.attempt, true);
    }
    void answer(const waybill::failed& e, waybill::steady_time)
    {
        const bool later = e.how == waybill::fault_class::transient ||
                           e.how == waybill::fault_class::infrastructure;
        again(e.attempt, later);
        stops(e.how);
    }
    void answer(const waybill::unknown& e, waybill::steady_time)
    {
        if (attempt* a = of(e.attempt)) {
            for (const std::uint64_t n : a->items) items[n].maybe = true;
        }
        again(e.attempt, true);
    }

    // Whether an attempt that may have arrived is repeated or ends here shows at the next step: it
    // is open until its items are settled.
    void again(std::uint64_t number, bool repeated)
    {
        attempt* a = of(number);
        if (!a) return;
        a->away = false;
        const bool maybe = !a->items.empty() && items[a->items.front()].maybe;
        a->open = maybe && repeated;
    }
    void stops(waybill::fault_class how)
    {
        stopped = stopped || how == waybill::fault_class::cancelled ||
                  how == waybill::fault_class::ownership_lost;
    }

public:
    /// The sender gives up repeating: items of attempts that are not away are settled.
    void gives_up(const waybill::run& now_settled)
    {
        for (attempt& a : attempts) {
            const bool among = std::any_of(a.items.begin(), a.items.end(), [&](std::uint64_t n) {
                return n >= now_settled.first && n < now_settled.end();
            });
            if (among && !a.away) a.open = false;
        }
    }
};

}  // namespace send_audit

#endif  // WAYBILL_TESTS_SUPPORT_SEND_AUDIT_HPP
