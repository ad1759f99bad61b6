// SPDX-License-Identifier: MIT
//
// send_audit: an observer of a sender that knows which items arrived, and records broken rules.
//
// Its input: queued items, sends and the broker's results. It never queries the sender.

#ifndef WAYBILL_TESTS_SUPPORT_SEND_AUDIT_HPP
#define WAYBILL_TESTS_SUPPORT_SEND_AUDIT_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <support/send_outcomes.hpp>

#include <waybill/batch/batch_sender.hpp>

namespace send_audit {

struct audit : outcomes {
    explicit audit(const waybill::send_policy& p) { begin(p); }

    void sent(const waybill::batch_sender::send& s, waybill::steady_time now)
    {
        ++sends;
        const std::size_t first = members.size();
        for (const waybill::item_range& r : s.items) {
            for (std::uint64_t n = r.first; n != r.end(); ++n) members.push_back(n);
        }
        const std::size_t count = members.size() - first;
        if (count == 0) return must(false, "no batch is empty");
        must(s.items.items() == count, "runs have the exact count of items");
        for (std::size_t i = first + 1; i < members.size(); ++i) {
            must(members[i - 1] < members[i], "a batch is in order, and no item in it twice");
        }
        must(!stopped, "nothing is sent once it is stopped");
        must(now >= quiet, "nothing is sent before the end of a pause");
        if (s.attempt < attempts.size()) {
            attempt& a = attempts[s.attempt];
            must(a.open && !a.away, "only attempts of unknown outcome are repeated");
            const auto sent_before = members.begin() + place(a.first);
            must(std::equal(sent_before, sent_before + place(a.count),
                            members.begin() + place(first), members.end()),
                 "what may have arrived is repeated as it was");
            must(now >= a.not_before, "a repetition waits for the pause of the policy");
            members.resize(first);
            a.away = true;
            return;
        }
        // A number that is left out belongs to a batch that changed before it was sent.
        must(s.attempt - attempts.size() <= items.size() + 8,
             "attempt numbers ascend, few left out");
        while (attempts.size() < s.attempt) attempts.push_back({.open = false});
        must(open < std::max(policy.in_flight, 1U), "at most in_flight attempts are open");
        if (members.back() >= items.size()) {
            return must(false, "an item is sent that was never queued");
        }
        keys_allow(first, count);
        fits(s, first, count);
        std::size_t at = first;
        for (std::uint64_t n = 0; n != members.back(); ++n) {
            if (n == members[at]) {
                ++at;
            } else {
                bool busy = policy.ordered && keys[items[n].key].open != 0;
                for (std::size_t i = first; strict && i != at; ++i)
                    busy = busy || items[members[i]].key == items[n].key;
                must(!waits(n) || busy, "batches are cut from the head of the queue");
            }
        }
        for (std::size_t i = first; i != members.size(); ++i) items[members[i]].in = s.attempt;
        attempts.push_back({.first = first, .count = count, .away = true});
        open_keys(attempts.back(), 1);
        ++open;
    }

    /// The sender requests a smaller replacement for an item.
    void asked(const waybill::batch_sender::replace& r)
    {
        must(policy.on_too_large == waybill::send_policy::when_too_large::replace,
             "it asks where it is to");
        if (r.item >= items.size())
            return must(false, "a replacement is requested for a queued item");
        item& i = items[r.item];
        must(waits(r.item) && !i.arrived && !stopped,
             "it asks for an item that is still to be sent");
        must(!i.asked, "a replacement is requested once for an item");
        must(i.refused || has_numbers || large(i),
             "a replacement is requested for an oversized item");
        i.asked = true;
    }
    void replaced(std::uint64_t n, std::uint64_t bytes)
    {
        ++replacements;
        items[n].bytes = bytes;
        items[n].most = none;
        items[n].refused = false;
    }
    void kept(std::uint64_t n) { items[n].kept = true; }

    void settle(const waybill::batch_sender::report& s)
    {
        using waybill::item_outcome;
        must(s.items.count != 0, "no settlement is empty");
        for (std::uint64_t n = s.items.first; n != s.items.end(); ++n) {
            if (n >= items.size()) {
                return must(false, "an item is settled that was never queued");
            }
            must(!items[n].settled, "no item is settled twice");
            must(waits(n), "no item is settled while it is in flight");
            item& i = items[n];
            i.settled = true;
            key& k = keys[i.key];
            const bool never = !i.arrived && !i.maybe;
            must(!i.kept || i.maybe || s.outcome == item_outcome::too_large,
                 "what is kept ends as too large");
            switch (s.outcome) {
                case item_outcome::accepted:
                    must(i.arrived, "an accepted item has arrived");
                    must(s.overtook == i.overtook,
                         "an item that has overtaken one of its key is reported, and no other");
                    continue;
                case item_outcome::in_doubt:
                    must(i.maybe && !i.arrived, "an item in doubt may have arrived");
                    if (k.holds(n) && !stopped) continue;
                    must(i.final || i.refused || stopped || has_numbers || large(i),
                         "undecided was tried enough, or no cut could save it");
                    break;
                case item_outcome::unsent:
                    must(never && stopped, "an unsent item has not arrived");
                    continue;
                case item_outcome::blocked_by_key:
                    must(never && policy.ordered, "an item that was held back has not arrived");
                    must(k.holds(n), "an earlier item of its key has not arrived");
                    continue;
                case item_outcome::failed:
                    must(never && !i.refused && i.final && s.kind == i.how,
                         "a failed item has not arrived, has no retries left and has a reason");
                    break;
                case item_outcome::too_large:
                    must(never && s.items.count == 1,
                         "an oversized item has not arrived and is reported alone");
                    too_large(i);
                    break;
            }
            if (!k.stopped() || n < k.from) k.from = n;
            k.below = none;
        }
    }

    void end()
    {
        for (const item& i : items) must(i.settled, "every item is settled");
        must(open == 0, "no attempt is left open");
        must(sends <= bound() + throttles, "the number of sends is within its bound");
    }

private:
    // True if the item is too large alone, by the limits of the policy.
    [[nodiscard]] bool large(const item& i) const
    {
        const std::uint64_t whole = waybill::detail::saturating_add(i.bytes, policy.limit.envelope);
        return i.bytes > policy.limit.single || whole > policy.limit.bytes || endless(i);
    }
    [[nodiscard]] bool endless(const item& i) const
    {
        return waybill::detail::saturating_add(i.bytes, policy.limit.envelope) ==
               waybill::unlimited;
    }

    void too_large(const item& i)
    {
        using waybill::send_policy;
        must(i.refused || has_numbers || large(i),
             "an oversized item was refused alone or exceeds the limit");
        must(policy.on_too_large != send_policy::when_too_large::send_alone || i.refused ||
                 endless(i),
             "too large was sent alone");
        must(policy.on_too_large != send_policy::when_too_large::replace || i.asked,
             "a replacement was requested");
    }

    void fits(const waybill::batch_sender::send& s, std::size_t first, std::size_t count)
    {
        std::uint64_t bytes = policy.limit.envelope;
        bool alone = false;
        for (std::size_t i = first; i != members.size(); ++i) {
            const item& x = items[members[i]];
            bytes = waybill::detail::saturating_add(bytes, x.bytes);
            alone = alone || x.bytes > policy.limit.single || (!has_numbers && large(x));
        }
        must(count == 1 || !alone, "an oversized item is sent alone");
        must(!alone || policy.on_too_large == waybill::send_policy::when_too_large::send_alone,
             "what is too large is not sent");
        must(count <= items[members[first]].most, "a refused batch is sent again with fewer items");
        must(count <= std::max<std::uint64_t>(policy.limit.items, 1),
             "no batch has more items than the limit");
        must(count <= max_items(), "after a failure for good, smaller batches isolate its item");
        must(s.closed != waybill::batch_close_reason::items || count >= policy.limit.items ||
                 count == max_items(),
             "closed by items has as many");
        must(s.closed != waybill::batch_close_reason::key || policy.one_key || strict,
             "closed by key where they count");
        if (!has_numbers && (policy.exact_sizes || (policy.item_overhead == 0 && !doubted))) {
            must(s.bytes == bytes, "the bytes are exact");
            must(bytes <= policy.limit.bytes || count == 1,
                 "no batch of several is over the limit of bytes");
        }
    }

    void keys_allow(std::size_t first, std::size_t count)
    {
        const std::size_t one = items[members[first]].key;
        for (std::size_t i = first; i != first + count; ++i) {
            const std::uint64_t n = members[i];
            const item& x = items[n];
            must(waits(n), "a sent item was waiting");
            must(!x.arrived, "an item that has arrived is not sent again");
            must(!x.maybe || x.anew, "a batch of unknown outcome is not divided before an answer");
            must(!x.final, "a permanently failed item is not sent again");
            must(!x.kept, "an item without a replacement is not sent");
            must(!policy.one_key || x.key == one, "a batch has one key");
            if (!policy.ordered) continue;
            for (std::size_t j = first; strict && j != i; ++j)
                must(items[members[j]].key != x.key, "a batch has one item of a key");
            must(keys[x.key].open == 0, "no two attempts in flight share a key");
            must(!keys[x.key].holds(n), "no item of a key is sent after one that did not arrive");
        }
    }
};

}  // namespace send_audit

#endif  // WAYBILL_TESTS_SUPPORT_SEND_AUDIT_HPP
