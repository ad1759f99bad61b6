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
// Effects are not ordered relative to those of later events, which were handled before.

#ifndef WAYBILL_CONSUME_REPROCESS_HPP
#define WAYBILL_CONSUME_REPROCESS_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <waybill/consume/batch_policy.hpp>
#include <waybill/consume/dead_letter.hpp>
#include <waybill/consume/event.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// The outcome of handling a dead letter again.
enum class reprocess_outcome : std::uint8_t {
    handled,    ///< The event has taken effect, and the letter is removed.
    skipped,    ///< The handler skipped the event. It has no effect, and the letter is removed.
    failed,     ///< The event failed again, without effects. The letter has the reason.
    absent,     ///< The letter does not exist. It was reprocessed or removed already.
    gone,       ///< The event was not found, or differs from the letter. The letter stays.
    not_done,   ///< A store or a dependency of the handler is down. The letter stays. Retry.
    cancelled,  ///< The caller wanted to stop. The letter is unchanged.
    unknown,    ///< The outcome is unknown. A retry is safe: the letter exists or it does not.
};

[[nodiscard]] constexpr std::string_view texts_of(reprocess_outcome) noexcept
{
    return "handled, skipped, failed, absent, gone, not_done, cancelled, unknown";
}

struct [[nodiscard]] reprocess_report {
    reprocess_outcome outcome = reprocess_outcome::not_done;
    fault reason{};  ///< The reason why the event has not taken effect.

    friend bool operator==(const reprocess_report&, const reprocess_report&) = default;
};

namespace detail {

/// The report after a read or a step failed with `reason`.
[[nodiscard]] inline reprocess_report reprocess_failed(fault reason)
{
    const bool stop = reason.kind == fault_kind::cancelled;
    return {stop ? reprocess_outcome::cancelled : reprocess_outcome::not_done, std::move(reason)};
}

/// The reason why `e` is not the event of the letter. Empty if sequence, size and checksum are
/// equal or unknown.
template <class E>
[[nodiscard]] std::string another_event([[maybe_unused]] const dead_letter& d,
                                        [[maybe_unused]] const E& e)
{
    if constexpr (sequenced<E>) {
        const dead_letter is =
            make_dead_letter(d.key, e, {}, 0, {}, {.keeps = dead_letter_body::pointer});
        const std::string number = std::to_string(d.at.sequence);
        if (is.at.sequence != d.at.sequence) {
            return "event " + std::to_string(is.at.sequence) + " was fetched for " + number;
        }
        // Both are 0 if the letter was made without the body, or if the body is empty.
        const bool known = d.size != 0 || d.checksum != 0;
        if constexpr (requires { e.body; }) {
            if (known && (is.size != d.size || is.checksum != d.checksum)) {
                return "event " + number + " is not what its letter says: of " +
                       std::to_string(is.size) + " bytes, not " + std::to_string(d.size) +
                       ", or with other ones";
            }
        }
    }
    return {};
}

/// Commits the removal of a letter, and returns `as` if it is applied. If the outcome of the commit
/// is unknown, the letter decides: it is still there, or it was removed by this call or another
/// one.
template <class Store>
[[nodiscard]] reprocess_report reprocess_commit(Store& store, typename Store::transaction& tx,
                                                const dead_letter& d, reprocess_outcome as)
{
    const auto done = tx.commit();
    auto outcome = done ? *done : commit_outcome::unknown;
    if (outcome == commit_outcome::unknown) {
        const auto left = store.find(d.key, d.at.sequence);
        if (!left) return {reprocess_outcome::unknown, left.error()};
        outcome = *left ? commit_outcome::not_applied : commit_outcome::applied;
    }
    if (outcome == commit_outcome::applied) return {as, {}};
    return {reprocess_outcome::not_done, infrastructure("commit not confirmed")};
}

/// Removes or updates the letter of an event that was handled without a remaining effect. A letter
/// that was removed in the meantime is not inserted again.
template <class Store>
[[nodiscard]] reprocess_report reprocess_without_effect(Store& store, const dead_letter& d,
                                                        bool skipped)
{
    auto tx = store.begin();
    if (!tx) return reprocess_failed(tx.error());
    const auto was_there = store.remove(*tx, d.key, d.at.sequence);
    if (!was_there) return reprocess_failed(was_there.error());
    if (!*was_there) return {reprocess_outcome::absent, {}};
    if (skipped) return reprocess_commit(store, *tx, d, reprocess_outcome::skipped);

    if (const auto put = store.put(*tx, d); !put) return reprocess_failed(put.error());
    const auto done = tx->commit();
    if (done && *done == commit_outcome::applied)
        return {reprocess_outcome::failed, {d.kind, d.reason}};
    // The event has failed. The letter may have the old reason or the new one.
    return {reprocess_outcome::not_done, infrastructure("commit not confirmed")};
}

}  // namespace detail

/// Handles the event of the dead letter `sequence` of `key` again. `fetch(letter)` returns
/// result<optional<E>>: the event, empty if it no longer exists, or an error if it cannot be read
/// now. `now` is the new time in the letter if the event fails again.
template <dead_letter_queue Store, class Fetch, class Handler>
[[nodiscard]] reprocess_report reprocess(Store& store, const partition_key& key,
                                         std::uint64_t sequence, Fetch&& fetch, Handler&& handler,
                                         wall_time now, const batch_policy& p = {})
{
    const auto found = store.find(key, sequence);
    if (!found) return detail::reprocess_failed(found.error());
    if (!*found) return {reprocess_outcome::absent, {}};
    dead_letter letter = **found;

    const auto event = fetch(std::as_const(letter));
    if (!event) return detail::reprocess_failed(event.error());
    if (!*event) {
        return {reprocess_outcome::gone, permanent("the log has the event no more")};
    }
    using E = std::remove_cvref_t<decltype(**event)>;
    static_assert(event_handler<Handler, typename Store::transaction, E>,
                  "reprocess: the handler takes (transaction&, const event&) and answers a fault");
    if (std::string reason = detail::another_event(letter, **event); !reason.empty()) {
        return {reprocess_outcome::gone, permanent(std::move(reason))};
    }

    auto tx = store.begin();
    if (!tx) return detail::reprocess_failed(tx.error());
    const auto was_there = store.remove(*tx, key, sequence);
    if (!was_there) return detail::reprocess_failed(was_there.error());
    if (!*was_there) return {reprocess_outcome::absent, {}};
    const event_outcome o = handler(*tx, std::as_const(**event));
    const fault_kind kind = o.reason.kind;
    if (kind == fault_kind::none && !o.skipped) {
        return detail::reprocess_commit(store, *tx, letter, reprocess_outcome::handled);
    }
    tx->rollback();
    if (kind == fault_kind::infrastructure || kind == fault_kind::ownership_lost ||
        kind == fault_kind::cancelled) {
        return detail::reprocess_failed({kind, detail::bounded_reason(o.reason.text, p)});
    }
    if (kind != fault_kind::none) {
        letter.kind = kind;
        letter.reason = detail::bounded_reason(o.reason.text, p);
        letter.dead_lettered_at = now;
        if (letter.tries != UINT32_MAX) ++letter.tries;
    }
    return detail::reprocess_without_effect(store, letter, kind == fault_kind::none);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_REPROCESS_HPP
