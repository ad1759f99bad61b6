// SPDX-License-Identifier: MIT
//
// reprocess: handles the event of a dead letter again, and removes the letter with its effects.
//
//     auto fetch = [&](const waybill::dead_letter& d) -> waybill::result<std::optional<order>> {
//         if (d.kept == waybill::dead_letter_body::body) return order{d.at.sequence, d.body};
//         return log.read(d.at);                       // empty if the log does not contain it
//     };
//     auto r = waybill::reprocess(store, key, sequence, fetch, handle, now);
//
// Guarantees
//   1. The letter is removed and the effects are written in one transaction. Of two concurrent
//      calls only one can remove the letter and commit, so no lease is needed.
//   2. An event that fails again leaves no effects. Its letter then has the new reason and number
//      of tries. A letter that was removed in the meantime stays removed.
//   3. Outages change nothing.
//   4. An event that differs from the letter in sequence, size or checksum is not handled (`gone`).
//
// Later events were handled before, so effects are not in the order of the log.

#ifndef WAYBILL_CONSUME_REPROCESS_HPP
#define WAYBILL_CONSUME_REPROCESS_HPP

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <waybill/consume/batch_policy.hpp>
#include <waybill/consume/detail/checked_stores.hpp>
#include <waybill/consume/detail/kept_body.hpp>
#include <waybill/consume/detail/reprocess_steps.hpp>
#include <waybill/consume/event.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/consume/reprocess_report.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// Handles the event of the dead letter `sequence` of `key` again. `fetch(letter)` returns
/// result<optional<E>>: the event, empty if it no longer exists, or an error if it cannot be read
/// now. `now` is the new time in the letter if the event fails again.
template <class Store, class Fetch, class Handler>
[[nodiscard]] reprocess_report reprocess(Store& store, const partition_key& key,
                                         std::uint64_t sequence, Fetch&& fetch, Handler&& handler,
                                         wall_time now, const batch_policy& p = {})
{
    static_assert(detail::checked_dead_letter_queue<Store>::ok);
    static_assert(detail::fetches_event<Fetch>,
                  "reprocess: fetch must accept a const dead_letter& and return "
                  "result<std::optional<event>>");
    const auto found = store.find(key, sequence);
    if (!found) return detail::reprocess_not_done(found.error());
    if (!*found) return {reprocess_report::outcome_type::absent, {}};
    dead_letter letter = **found;

    const auto event = fetch(std::as_const(letter));
    if (!event) return detail::reprocess_not_done(event.error());
    if (!*event)
        return {reprocess_report::outcome_type::gone,
                permanent("the log no longer contains event " + std::to_string(sequence))};
    using E = std::remove_cvref_t<decltype(**event)>;
    static_assert(
        detail::event_handler<Handler, typename Store::transaction, E>,
        "reprocess: the handler must accept (transaction&, const event&) and return a fault or an "
        "event_outcome");
    if (std::string reason = detail::event_mismatch(letter, **event); !reason.empty()) {
        return {reprocess_report::outcome_type::gone, permanent(std::move(reason))};
    }

    auto tx = store.begin();
    if (!tx) return detail::reprocess_not_done(tx.error());
    const auto was_there = store.remove(*tx, key, sequence);
    if (!was_there) return detail::reprocess_not_done(was_there.error());
    if (!*was_there) return {reprocess_report::outcome_type::absent, {}};
    const event_outcome o = handler(*tx, std::as_const(**event));
    const fault_kind kind = o.reason.kind;
    if (kind == fault_kind::none && !o.skipped) {
        return detail::reprocess_commit(store, *tx, letter,
                                        reprocess_report::outcome_type::handled);
    }
    tx->rollback();
    if (detail::is_not_of_event(kind)) {
        return detail::reprocess_not_done(
            {kind, detail::bounded_reason(o.reason.text, p.dead_letters)});
    }
    if (kind != fault_kind::none) detail::record_failure(letter, o.reason, now, p.dead_letters);
    return detail::reprocess_without_effect(store, letter, kind == fault_kind::none);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_REPROCESS_HPP
