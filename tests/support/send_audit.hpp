// SPDX-License-Identifier: MIT
//
// send_audit: stands beside a sender, knows what really arrived, and notes every promise that breaks.
//
// It is told what was queued, what was sent and what the broker did, and never asks the sender. It is
// a value like the machine, so that an enumeration can copy both and go two ways; what it decides by
// is what == compares, so that ways which meet can be followed as one.
//
// Order a key, as it is meant here: an item arrives after all items of its key that arrived and were
// queued before it. The one exception is the broker's own: if it takes a later item of a key and
// refuses an earlier one in the same partial answer, the earlier one arrives behind it.

#ifndef WAYBILL_TESTS_SUPPORT_SEND_AUDIT_HPP
#define WAYBILL_TESTS_SUPPORT_SEND_AUDIT_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <waybill/batch/sender.hpp>

namespace send_audit {

using event = std::variant<waybill::accepted, waybill::refused, waybill::partial,
                           waybill::throttled, waybill::failed, waybill::unknown>;

constexpr std::uint64_t none = waybill::unlimited;

struct audit {
    struct item {
        std::uint64_t bytes = 0;
        std::size_t key = 0;         // its place among the keys
        std::uint64_t most = none;   // items that a batch may have which begins with it
        std::uint64_t in = none;     // the attempt that it is in
        std::uint32_t tries = 0;
        waybill::fault_class how = waybill::fault_class::none;
        bool arrived = false;
        bool maybe = false;      // it was in a batch that is unknown
        bool refused = false;    // alone
        bool final = false;      // it has failed for good
        bool overtaken = false;  // the broker has taken a later one and not this
        bool asked = false;      // for a smaller one in its place
        bool kept = false;
        bool settled = false;

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

    explicit audit(const waybill::send_policy& p) { begin(p); }

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

    void stop()
    {
        stopped = true;
        for (std::uint64_t n = 0; n != attempts.size(); ++n) {
            if (attempts[n].open && !attempts[n].away) over(attempts[n]);
        }
    }

    /// Whether the sender is to say that it heard this.
    [[nodiscard]] bool resume(std::uint64_t name)
    {
        for (key& k : keys) {
            if (k.name != name || !k.stopped()) continue;
            k.below = items.size();
            return true;
        }
        return false;
    }

    [[nodiscard]] bool waits(std::uint64_t n) const
    {
        return !items[n].settled && items[n].in == none;
    }

    /// The most sends that there may be: the measure that sees to it that it ends. Every answer but
    /// `throttled` ends an item, takes one of the `most` tries of an item or of the repeats of an
    /// attempt, or takes at least an eighth of what a batch may have that begins with its first item.
    [[nodiscard]] std::uint64_t bound() const
    {
        std::uint64_t refusals_each = 2;
        for (std::uint64_t n = items.size(); n > 1; n -= std::max<std::uint64_t>(n / 8, 1)) {
            ++refusals_each;
        }
        return items.size() * (refusals_each + 2 * most_tries() + 1) +
               replacements * refusals_each;
    }

    void sent(const waybill::act::send& s, waybill::steady_time now)
    {
        ++sends;
        const std::size_t first = members.size();
        for (const waybill::run& r : s.items) {
            for (std::uint64_t n = r.first; n != r.end(); ++n) members.push_back(n);
        }
        const std::size_t count = members.size() - first;
        if (count == 0) return must(false, "no batch is empty");
        must(s.items.items() == count, "runs know how many they are");
        for (std::size_t i = first + 1; i < members.size(); ++i) {
            must(members[i - 1] < members[i], "a batch is in order, and no item in it twice");
        }
        must(!stopped, "nothing is sent once it is stopped");
        must(now >= quiet, "a broker that wants to be left alone is");
        if (s.attempt < attempts.size()) {
            attempt& a = attempts[s.attempt];
            must(a.open && !a.away, "only what is unknown is sent again");
            const auto sent_before = members.begin() + place(a.first);
            must(std::equal(sent_before, sent_before + place(a.count),
                            members.begin() + place(first), members.end()),
                 "what may have arrived is repeated as it was");
            must(now >= a.not_before, "what is repeated waits as long as the policy says");
            members.resize(first);
            a.away = true;
            return;
        }
        // A number that is left out was a batch that changed before it was sent: nobody may use it.
        must(s.attempt - attempts.size() <= items.size() + 8,
             "attempt numbers ascend, few left out");
        while (attempts.size() < s.attempt) attempts.push_back({.open = false});
        must(open < std::max(policy.in_flight, 1U), "no more attempts than the policy says");
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
                const bool busy = policy.ordered && keys[items[n].key].open != 0;
                must(!waits(n) || busy, "batches are cut from the head of the queue");
            }
        }
        for (std::size_t i = first; i != members.size(); ++i) items[members[i]].in = s.attempt;
        attempts.push_back({.first = first, .count = count, .away = true});
        open_keys(attempts.back(), 1);
        ++open;
    }

    void answered(const event& e, waybill::steady_time now)
    {
        std::visit([&](const auto& x) { answer(x, now); }, e);
    }

    /// The sender asks for a smaller one in the place of an item.
    void asked(const waybill::act::replace& r)
    {
        must(policy.on_too_large == waybill::when_too_large::replace, "it asks where it is to");
        if (r.item >= items.size()) return must(false, "it asks for what was queued");
        item& i = items[r.item];
        must(waits(r.item) && !i.arrived && !stopped,
             "it asks for an item that is still to be sent");
        must(!i.asked, "it asks for an item once");
        must(i.refused || told || large(i), "it asks for what is too large");
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

    void settle(const waybill::act::settle& s)
    {
        using waybill::item_outcome;
        must(s.items.count != 0, "no settlement is empty");
        for (std::uint64_t n = s.items.first; n != s.items.end(); ++n) {
            if (n >= items.size()) {
                return must(false, "an item is settled that was never queued");
            }
            must(!items[n].settled, "no item is settled twice");
            must(waits(n), "no item is settled while it is on its way");
            item& i = items[n];
            i.settled = true;
            key& k = keys[i.key];
            const bool never = !i.arrived && !i.maybe;
            must(!i.kept || s.outcome == item_outcome::too_large, "what is kept ends as too large");
            switch (s.outcome) {
                case item_outcome::accepted:
                    must(i.arrived, "accepted has arrived");
                    continue;
                case item_outcome::undecided:
                    must(i.maybe && !i.arrived, "undecided may have arrived");
                    break;
                case item_outcome::unsent:
                    must(never && stopped, "unsent has not arrived");
                    continue;
                case item_outcome::held_back:
                    must(never && policy.ordered, "held back has not arrived");
                    must(k.holds(n), "an item of its key before it was not to arrive");
                    continue;
                case item_outcome::failed:
                    must(never && !i.refused && i.final && s.how == i.how,
                         "failed has not arrived, was tried enough and says how");
                    break;
                case item_outcome::too_large:
                    must(never && s.items.count == 1, "too large has not arrived and is alone");
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
        must(sends <= bound() + throttles, "it ends after as many sends as it may");
    }

    /// Alike in all that is still looked at. Counters are not, nor are attempts that are over.
    friend bool operator==(const audit& a, const audit& b)
    {
        if (a.attempts.size() != b.attempts.size() || a.open != b.open || a.stopped != b.stopped ||
            a.told != b.told || a.doubted != b.doubted || a.quiet != b.quiet ||
            a.tokens != b.tokens || a.successes != b.successes || a.arrived != b.arrived ||
            a.items != b.items || a.keys != b.keys) {
            return false;
        }
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
            mix(i.in + 64 * i.most);
            mix(i.tries * 256U + i.arrived * 1U + i.maybe * 2U + i.refused * 4U + i.final * 8U +
                i.overtaken * 16U + i.asked * 32U + i.kept * 64U + i.settled * 128U);
            mix(i.bytes);
        }
        for (const key& k : keys) mix(k.from + 64 * k.below + 4096 * k.arrived);
        mix(tokens + 2U * stopped + 4U * told + 8U * doubted);
        mix(static_cast<std::uint64_t>(quiet.since_epoch().count()));
        return h;
    }

private:
    static std::ptrdiff_t place(std::size_t i) { return static_cast<std::ptrdiff_t>(i); }

    [[nodiscard]] std::uint32_t most_tries() const
    {
        return std::clamp(policy.retry.most, 1U, 255U);
    }

    // No cut could save it, by what the policy says.
    [[nodiscard]] bool large(const item& i) const
    {
        const std::uint64_t whole = waybill::saturating_add(i.bytes, policy.limit.envelope);
        return i.bytes > policy.limit.single || whole > policy.limit.bytes || endless(i);
    }
    [[nodiscard]] bool endless(const item& i) const
    {
        return waybill::saturating_add(i.bytes, policy.limit.envelope) == waybill::unlimited;
    }

    void too_large(const item& i)
    {
        using waybill::when_too_large;
        must(i.refused || told || large(i), "too large was refused alone, or no cut could save it");
        must(policy.on_too_large != when_too_large::send_alone || i.refused || endless(i),
             "too large was sent alone");
        must(policy.on_too_large != when_too_large::replace || i.asked,
             "a smaller one was asked for");
    }

    void fits(const waybill::act::send& s, std::size_t first, std::size_t count)
    {
        std::uint64_t bytes = policy.limit.envelope;
        bool alone = false;
        for (std::size_t i = first; i != members.size(); ++i) {
            const item& x = items[members[i]];
            bytes = waybill::saturating_add(bytes, x.bytes);
            alone = alone || x.bytes > policy.limit.single || (!told && large(x));
        }
        must(count == 1 || !alone, "what is too large travels alone");
        must(!alone || policy.on_too_large == waybill::when_too_large::send_alone,
             "what is too large is not sent");
        must(count <= items[members[first]].most, "a refused batch comes back smaller");
        must(count <= std::max<std::uint64_t>(policy.limit.items, 1),
             "no batch has more items than the limit");
        must(s.closed != waybill::closed_by::items || count >= policy.limit.items,
             "closed by items has as many");
        must(s.closed != waybill::closed_by::key || policy.one_key,
             "closed by key where they count");
        if (!told && (policy.exact_sizes || (policy.header == 0 && !doubted))) {
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
            must(waits(n), "an item is sent that is elsewhere");
            must(!x.arrived, "what has arrived is not sent again");
            must(!x.maybe, "what may have arrived is never cut anew");
            must(!x.final, "what has failed for good is not sent again");
            must(!x.kept, "what is kept is not sent");
            must(!policy.one_key || x.key == one, "a batch has one key");
            if (!policy.ordered) continue;
            must(keys[x.key].open == 0, "no two attempts in flight share a key");
            must(!keys[x.key].holds(n), "nothing of a key is sent after what did not arrive");
        }
    }

    // An attempt has so many more or less keys open as it has; each counts once.
    void open_keys(const attempt& a, std::uint32_t by)
    {
        for (std::size_t i = a.first; i != a.first + a.count; ++i) {
            const std::size_t k = items[members[i]].key;
            bool before = false;
            for (std::size_t j = a.first; j != i; ++j) before |= items[members[j]].key == k;
            if (!before) keys[k].open += by;
        }
    }

    void over(attempt& a)
    {
        a.open = a.away = false;
        --open;
        open_keys(a, ~std::uint32_t{0});
        for (std::size_t i = a.first; i != a.first + a.count; ++i) items[members[i]].in = none;
    }

    void arrives(std::uint64_t n)
    {
        item& i = items[n];
        i.arrived = true;
        key& k = keys[i.key];
        if (policy.ordered) {
            must(i.overtaken || k.arrived == none || k.arrived < n, "a key arrives in order");
        }
        if (policy.in_flight < 2) {
            must(i.overtaken || arrived == none || arrived < n, "one at a time arrive in order");
        }
        if (k.arrived == none || k.arrived < n) k.arrived = n;
        if (arrived == none || arrived < n) arrived = n;
    }

    // A retry is paid for if it can be.
    [[nodiscard]] bool spend()
    {
        if (tokens == 0) return false;
        if (tokens != waybill::retry_budget::uncounted) --tokens;
        return true;
    }

    static bool retriable(waybill::fault_class how)
    {
        return how == waybill::fault_class::transient ||
               how == waybill::fault_class::infrastructure;
    }
    static bool stops(waybill::fault_class how)
    {
        return how == waybill::fault_class::cancelled ||
               how == waybill::fault_class::ownership_lost;
    }

    attempt* of(std::uint64_t number)
    {
        if (number < attempts.size() && attempts[number].open) return &attempts[number];
        must(false, "the test answers what is open");
        return nullptr;
    }

    void answer(const waybill::accepted& e, waybill::steady_time)
    {
        told = told || e.actual;
        attempt* a = of(e.attempt);
        if (!a) return;
        for (std::size_t i = a->first; i != a->first + a->count; ++i) arrives(members[i]);
        over(*a);
        succeeds();
    }

    void succeeds()
    {
        if (tokens >= policy.budget.tokens || ++successes < policy.budget.successes) return;
        successes = 0;
        ++tokens;
    }

    void answer(const waybill::refused& e, waybill::steady_time)
    {
        ++refusals;
        told = told || e.actual || e.limit || !e.item_sizes.empty();
        attempt* a = of(e.attempt);
        if (!a) return;
        doubted = doubted || a->count > 1;
        item& head = items[members[a->first]];
        if (head.maybe) return over(*a);
        if (a->count == 1) {
            head.refused = true;
            head.most = 0;
        } else if (head.most == none) {
            head.most = a->count - 1;
        } else {
            const std::uint64_t less = e.actual ? a->count - a->count / 8 : a->count / 2;
            head.most = std::min<std::uint64_t>(a->count - 1, less);
        }
        over(*a);
    }

    void answer(const waybill::partial& e, waybill::steady_time now)
    {
        attempt* a = of(e.attempt);
        if (!a) return;
        const bool maybe = items[members[a->first]].maybe;
        std::uint32_t tries = 0;
        bool stop_now = false;
        if (e.failed.size() < a->count) succeeds();
        for (std::size_t i = a->first; i != a->first + a->count; ++i) {
            const std::uint64_t n = members[i];
            waybill::fault_class how = waybill::fault_class::none;
            for (const waybill::entry_fault& f : e.failed) {
                if (f.index == i - a->first && how == waybill::fault_class::none) how = f.how;
            }
            if (how == waybill::fault_class::none) {
                arrives(n);
                for (std::size_t j = a->first; j != i; ++j) {
                    item& before = items[members[j]];
                    if (!before.arrived) before.overtaken = true;
                }
                continue;
            }
            stop_now = stop_now || stops(how);
            fails(n, how, maybe, tries);
        }
        over(*a);
        pay(tries, now, e.draw, e.retry_after);
        if (stop_now) stop();
    }

    void answer(const waybill::throttled& e, waybill::steady_time now)
    {
        ++throttles;
        const waybill::duration cap = policy.retry.pauses.cap;
        quiet = waybill::later(quiet, now + waybill::lesser(e.retry_after, cap));
        attempt* a = of(e.attempt);
        if (!a) return;
        a->away = false;
        if (!items[members[a->first]].maybe || stopped) over(*a);
    }

    void answer(const waybill::failed& e, waybill::steady_time now)
    {
        attempt* a = of(e.attempt);
        if (!a) return;
        const bool maybe = items[members[a->first]].maybe;
        if (maybe && retriable(e.how)) return answer(waybill::unknown{e.attempt, e.draw}, now);
        std::uint32_t tries = 0;
        for (std::size_t i = a->first; i != a->first + a->count; ++i) {
            fails(members[i], e.how, maybe, tries);
        }
        over(*a);
        pay(tries, now, e.draw, {});
        if (stops(e.how)) stop();
    }

    void answer(const waybill::unknown& e, waybill::steady_time now)
    {
        attempt* a = of(e.attempt);
        if (!a) return;
        for (std::size_t i = a->first; i != a->first + a->count; ++i) {
            items[members[i]].maybe = true;
        }
        a->away = false;
        ++a->unknowns;
        const bool again = policy.on_unknown == waybill::when_unknown::repeat &&
                           a->unknowns < most_tries() && !stopped;
        if (!again || !spend()) return over(*a);
        a->not_before = due(now, a->unknowns, e.draw, {});
    }

    // An item of an attempt that may not have arrived before has failed: it is tried again while
    // there are tries and tokens.
    void fails(std::uint64_t n, waybill::fault_class how, bool maybe, std::uint32_t& tries)
    {
        item& i = items[n];
        if (maybe || stops(how)) return;
        i.how = how;
        i.final = !retriable(how) || i.tries + 1 >= most_tries() || tokens == 0;
        if (i.final) return;
        ++i.tries;
        tries = std::max(tries, i.tries);
    }

    void pay(std::uint32_t tries, waybill::steady_time now, double draw, waybill::duration hint)
    {
        if (tries == 0) return;
        must(spend(), "a retry takes a token");
        quiet = waybill::later(quiet, due(now, tries, draw, hint));
    }

    [[nodiscard]] waybill::steady_time due(waybill::steady_time now, std::uint32_t tries,
                                           double draw, waybill::duration hint) const
    {
        const auto a = waybill::decide(policy.retry, tries, waybill::fault_class::transient, draw,
                                       now, hint);
        const auto* w = std::get_if<waybill::act::wait>(&a);
        return w ? w->until : now;
    }
};

}  // namespace send_audit

#endif  // WAYBILL_TESTS_SUPPORT_SEND_AUDIT_HPP
