// SPDX-License-Identifier: MIT
//
// send_outcomes: the effects of a broker's answers on the items of a sender, for an audit.
//
// The meaning of "in order by key": an item arrives after all arrived items of its key that were
// queued before it. One exception is due to the broker. If it accepts a later item of a key and
// refuses an earlier one in the same partial answer, each such later item has to be reported, and
// the earlier one arrives after it (`may_overtake`) or never.

#ifndef WAYBILL_TESTS_SUPPORT_SEND_OUTCOMES_HPP
#define WAYBILL_TESTS_SUPPORT_SEND_OUTCOMES_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <support/send_books.hpp>

#include <waybill/batch/batch_sender.hpp>
#include <waybill/batch/sending.hpp>
#include <waybill/core/match.hpp>

namespace send_audit {

using event = waybill::send_outcome;

/// Books that are updated by the broker's answers.
struct outcomes : books {
    void stop()
    {
        stopped = true;
        for (std::uint64_t n = 0; n != attempts.size(); ++n) {
            if (attempts[n].open && !attempts[n].away) over(attempts[n]);
        }
    }

    /// Returns true if the sender must report this event as applied.
    [[nodiscard]] bool resume(std::uint64_t name)
    {
        for (key& k : keys) {
            if (k.name != name || !k.stopped()) continue;
            k.below = items.size();
            return true;
        }
        return false;
    }

    void answered(const event& e, waybill::steady_time now)
    {
        waybill::match(e, [&](const auto& x) { answer(x, now); });
    }

protected:
    static std::ptrdiff_t place(std::size_t i) { return static_cast<std::ptrdiff_t>(i); }

    // Adds `by` to the open attempts of each key of the attempt.
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
            must((i.overtaken && policy.may_overtake) || k.arrived == none || k.arrived < n,
                 "a key arrives in order");
        }
        if (policy.in_flight < 2 && !strict) {
            must(i.overtaken || arrived == none || arrived < n, "one at a time arrive in order");
        }
        if (k.arrived == none || k.arrived < n) k.arrived = n;
        if (arrived == none || arrived < n) arrived = n;
    }

    // Takes a token for a retry. Returns false if there is none.
    [[nodiscard]] bool spend()
    {
        if (tokens == 0) return false;
        if (tokens != waybill::retry_budget::uncounted) --tokens;
        return true;
    }

    static bool retriable(waybill::fault_kind how)
    {
        return how == waybill::fault_kind::transient || how == waybill::fault_kind::infrastructure;
    }
    static bool stops(waybill::fault_kind how)
    {
        return how == waybill::fault_kind::cancelled || how == waybill::fault_kind::ownership_lost;
    }

    attempt* of(std::uint64_t number)
    {
        if (number < attempts.size() && attempts[number].open) return &attempts[number];
        must(false, "the test answers what is open");
        return nullptr;
    }

    void answer(const waybill::batch_sender::accepted& e, waybill::steady_time)
    {
        has_numbers = has_numbers || e.actual;
        attempt* a = of(e.attempt);
        if (!a) return;
        for (std::size_t i = a->first; i != a->first + a->count; ++i) {
            arrives(members[i]);
        }
        over(*a);
        succeeds();
        if (suspects == none) return;
        suspects = suspects > a->count ? suspects - a->count : none;
    }

    void succeeds()
    {
        if (tokens >= policy.budget.tokens || ++successes < policy.budget.successes) return;
        successes = 0;
        ++tokens;
    }

    void answer(const waybill::batch_sender::too_large& e, waybill::steady_time)
    {
        ++refusals;
        has_numbers = has_numbers || e.actual || e.limit || !e.item_sizes.empty();
        attempt* a = of(e.attempt);
        if (!a) return;
        doubted = doubted || a->count > 1;
        item& head = items[members[a->first]];
        maybe_anew(*a);
        head.refused = head.refused || a->count == 1;
        head.most = items_after_refusal(a->count, head.most != none, e.actual.has_value());
        over(*a);
    }

    void answer(const waybill::batch_sender::partial& e, waybill::steady_time now)
    {
        using waybill::batch_sender;
        attempt* a = of(e.attempt);
        if (!a) return;
        maybe_anew(*a);
        // The first answer of each entry counts.
        std::vector<const batch_sender::entry_fault*> of_entry(a->count);
        std::size_t refused = 0;
        for (const batch_sender::entry_fault& f : e.failed) {
            if (of_entry[f.index]) continue;
            of_entry[f.index] = &f;
            ++refused;
        }
        if (refused != a->count) succeeds();
        std::uint32_t tries = 0;
        bool stop_now = false;
        waybill::duration hint = e.retry_after;
        bool waits_on = false;
        for (std::size_t i = 0; i != a->count; ++i) {
            const std::uint64_t n = members[a->first + i];
            if (!of_entry[i]) {
                for (std::size_t j = 0; j != i; ++j) {
                    item& before = items[members[a->first + j]];
                    if (!of_entry[j]) continue;
                    before.overtaken = true;
                    if (policy.ordered && before.key == items[n].key) items[n].overtook = true;
                }
                arrives(n);
                continue;
            }
            const bool key_ends = ends_key(*a, of_entry, i);
            waybill::match(
                of_entry[i]->answer,
                [&](const batch_sender::failed& x) {
                    stop_now = stop_now || stops(x.kind);
                    const bool unclear = x.kind == waybill::fault_kind::none;
                    const auto kind = unclear ? waybill::fault_kind::infrastructure : x.kind;
                    if (kind == waybill::fault_kind::infrastructure) {
                        items[n].tries = std::min(items[n].tries + a->unknowns, most_tries() - 1);
                        waits_on = true;
                    } else {
                        fails(n, kind, a->unknowns, tries);
                    }
                    if (key_ends && !stop_now && !items[n].final) {
                        items[n].final = true;
                        items[n].how = kind;
                    }
                },
                [&](const batch_sender::throttled& x) {
                    items[n].tries = std::min(items[n].tries + a->unknowns, most_tries() - 1);
                    waits_on = true;
                    hint = std::max(hint, x.retry_after);
                    if (key_ends && !stop_now) {
                        items[n].final = true;
                        items[n].how = waybill::fault_kind::transient;
                    }
                },
                [&](const batch_sender::too_large&) {
                    items[n].refused = true;
                    if (key_ends) items[n].asked = true;  // a replacement would come too late
                },
                [](const batch_sender::accepted&) {},  // not among the faults
                [&](const auto&) {                     // unknown
                    items[n].maybe = items[n].anew = true;
                    for (std::size_t j = 0; policy.ordered && j != i; ++j) {
                        const item& before = items[members[a->first + j]];
                        if (of_entry[j] && before.key == items[n].key) items[n].overtook = true;
                    }
                    if (policy.on_unknown == waybill::send_policy::when_unknown::repeat)
                        fails(n, waybill::fault_kind::transient, a->unknowns, tries);
                    else items[n].final = true;
                    if (key_ends && !stop_now) items[n].final = true;
                });
        }
        over(*a);
        pay(tries, now, e.random, hint);
        if (waits_on) {
            const waybill::duration most = policy.retry.pauses.highest_hint;
            quiet = waybill::detail::later(quiet, now + waybill::detail::lesser(hint, most));
        }
        if (stop_now) stop();
    }

    // True if the item at `i` is the first refused one of its key, and a later one of the key has
    // arrived: the key ends there, unless the policy allows it.
    [[nodiscard]] bool ends_key(
        const attempt& a, const std::vector<const waybill::batch_sender::entry_fault*>& of_entry,
        std::size_t i) const
    {
        if (!policy.ordered || policy.may_overtake) return false;
        const std::size_t k = items[members[a.first + i]].key;
        bool overtaken = false;
        for (std::size_t j = 0; j != a.count; ++j) {
            if (items[members[a.first + j]].key != k) continue;
            if (j < i && of_entry[j]) return false;
            const bool may_have_arrived =
                !of_entry[j] || waybill::holds_alternative<waybill::batch_sender::outcome_unknown>(
                                    of_entry[j]->answer);
            overtaken = overtaken || (j > i && may_have_arrived);
        }
        return overtaken;
    }

    void answer(const waybill::batch_sender::throttled& e, waybill::steady_time now)
    {
        ++throttles;
        const waybill::duration cap = policy.retry.pauses.cap;
        quiet = waybill::detail::later(quiet, now + waybill::detail::lesser(e.retry_after, cap));
        attempt* a = of(e.attempt);
        if (!a) return;
        a->away = false;
        if (a->unknowns == 0 || stopped) over(*a);
    }

    void answer(const waybill::batch_sender::failed& e, waybill::steady_time now)
    {
        attempt* a = of(e.attempt);
        if (!a) return;
        if (a->unknowns != 0 && retriable(e.kind))
            return answer(waybill::batch_sender::outcome_unknown{e.attempt, e.random}, now);
        if (e.kind == waybill::fault_kind::permanent && a->count > 1) {
            maybe_anew(*a);
            suspects = std::min<std::uint64_t>(suspects, a->count);
            return over(*a);
        }
        if (e.kind == waybill::fault_kind::permanent) suspects = none;
        std::uint32_t tries = 0;
        for (std::size_t i = a->first; i != a->first + a->count; ++i) {
            fails(members[i], e.kind, a->unknowns, tries);
        }
        over(*a);
        pay(tries, now, e.random, {});
        if (stops(e.kind)) stop();
    }

    void answer(const waybill::batch_sender::outcome_unknown& e, waybill::steady_time now)
    {
        attempt* a = of(e.attempt);
        if (!a) return;
        for (std::size_t i = a->first; i != a->first + a->count; ++i) {
            item& x = items[members[i]];
            x.maybe = true;
            x.anew = false;
            // The lost answer can have refused an item and accepted later ones of its key.
            for (std::size_t j = a->first; policy.ordered && policy.may_overtake && j != i; ++j)
                x.overtook = x.overtook || items[members[j]].key == x.key;
        }
        a->away = false;
        ++a->unknowns;
        const bool again = policy.on_unknown == waybill::send_policy::when_unknown::repeat &&
                           a->unknowns < most_tries() && !stopped;
        if (!again || !spend()) {
            for (std::size_t i = a->first; i != a->first + a->count; ++i) {
                items[members[i]].final = true;
            }
            return over(*a);
        }
        a->not_before = due(now, a->unknowns, e.random, {});
    }

    // Items that may have arrived can be sent in another batch from now on.
    void maybe_anew(const attempt& a)
    {
        for (std::size_t i = a.first; i != a.first + a.count; ++i) {
            items[members[i]].anew = items[members[i]].maybe;
        }
    }

    // An item has failed, after `unknowns` unknown outcomes of its batch. It is retried if it has
    // tries left and there is a token.
    void fails(std::uint64_t n, waybill::fault_kind how, std::uint32_t unknowns,
               std::uint32_t& tries)
    {
        item& i = items[n];
        if (stops(how)) return;
        i.final = !retriable(how) || i.tries + unknowns + 1 >= most_tries() || tokens == 0;
        if (i.final) {
            i.how = how;
            return;
        }
        i.tries += unknowns + 1;
        tries = std::max(tries, i.tries);
    }

    void pay(std::uint32_t tries, waybill::steady_time now, double draw, waybill::duration hint)
    {
        if (tries == 0) return;
        must(spend(), "a retry takes a token");
        quiet = waybill::detail::later(quiet, due(now, tries, draw, hint));
    }

    [[nodiscard]] waybill::steady_time due(waybill::steady_time now, std::uint32_t tries,
                                           double draw, waybill::duration hint) const
    {
        const auto a =
            waybill::decide(policy.retry, tries, waybill::fault_kind::transient, draw, now, hint);
        const auto* w = waybill::get_if<waybill::wait_until>(&a);
        return w ? w->time : now;
    }
};

}  // namespace send_audit

#endif  // WAYBILL_TESTS_SUPPORT_SEND_OUTCOMES_HPP
