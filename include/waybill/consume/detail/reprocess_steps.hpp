// SPDX-License-Identifier: MIT
//
// reprocess_steps: the parts of reprocess that compare the event and end the transaction.

#ifndef WAYBILL_CONSUME_DETAIL_REPROCESS_STEPS_HPP
#define WAYBILL_CONSUME_DETAIL_REPROCESS_STEPS_HPP

#include <cstdint>
#include <string>
#include <utility>

#include <waybill/consume/dead_letter.hpp>
#include <waybill/consume/dead_letter_options.hpp>
#include <waybill/consume/detail/kept_body.hpp>
#include <waybill/consume/event.hpp>
#include <waybill/consume/reprocess_report.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2::detail {

/// A function that reads the event of a dead letter. It returns result<std::optional<event>>.
template <class Fetch>
concept fetches_event = requires(Fetch& fetch, const dead_letter& letter) {
    fetch(letter).error();
    !*fetch(letter);
    **fetch(letter);
};

/// The report after a read or a step failed with `reason`.
[[nodiscard]] inline reprocess_report reprocess_not_done(fault reason)
{
    const bool stop = reason.kind == fault_kind::cancelled;
    return {
        stop ? reprocess_report::outcome_type::cancelled : reprocess_report::outcome_type::not_done,
        std::move(reason)};
}

/// The reason why `e` is not the event of the letter. Empty if sequence, size and checksum are
/// equal or unknown.
template <class E>
[[nodiscard]] std::string event_mismatch([[maybe_unused]] const dead_letter& d,
                                         [[maybe_unused]] const E& e)
{
    if constexpr (sequenced<E>) {
        // Only sequence, size and checksum are compared: fault, tries and time stay empty.
        const dead_letter fetched =
            make_dead_letter(d.key, e, {}, 0, {}, {.keeps = dead_letter_body::pointer});
        const std::string number = std::to_string(d.at.sequence);
        if (fetched.at.sequence != d.at.sequence) {
            return "event " + std::to_string(fetched.at.sequence) +
                   " was fetched instead of event " + number;
        }
        // Both are 0 if the letter was made without the body, or if the body is empty.
        const bool known = d.size != 0 || d.checksum != 0;
        if constexpr (requires { e.body; }) {
            if (known && (fetched.size != d.size || fetched.checksum != d.checksum)) {
                return "event " + number +
                       " differs from its dead letter: " + std::to_string(fetched.size) +
                       " bytes, not " + std::to_string(d.size) + ", or another checksum";
            }
        }
    }
    return {};
}

/// Adds one more failure to a letter.
inline void record_failure(dead_letter& d, const fault& reason, wall_time now,
                           const dead_letter_options& o)
{
    d.kind = reason.kind;
    d.reason = bounded_reason(reason.text, o);
    d.dead_lettered_at = now;
    if (d.tries != UINT32_MAX) ++d.tries;
}

/// True for a fault whose cause is not the event.
[[nodiscard]] constexpr bool is_not_of_event(fault_kind kind) noexcept
{
    return kind == fault_kind::infrastructure || kind == fault_kind::ownership_lost ||
           kind == fault_kind::cancelled;
}

/// Commits the removal of a letter. Returns `if_applied` if the commit was applied. An unknown
/// outcome counts as applied if the store no longer contains the letter. Then this call or another
/// one has removed it.
template <class Store>
[[nodiscard]] reprocess_report reprocess_commit(Store& store, typename Store::transaction& tx,
                                                const dead_letter& d,
                                                reprocess_report::outcome_type if_applied)
{
    const auto done = tx.commit();
    auto outcome = done ? *done : commit_outcome::unknown;
    if (outcome == commit_outcome::unknown) {
        const auto stored = store.find(d.key, d.at.sequence);
        if (!stored) return {reprocess_report::outcome_type::unknown, stored.error()};
        outcome = *stored ? commit_outcome::not_applied : commit_outcome::applied;
    }
    if (outcome == commit_outcome::applied) return {if_applied, {}};
    return reprocess_not_done(done ? infrastructure("commit not confirmed") : done.error());
}

/// Removes or updates the letter of an event that was handled without a remaining effect. A letter
/// that was removed in the meantime is not inserted again.
template <class Store>
[[nodiscard]] reprocess_report reprocess_without_effect(Store& store, const dead_letter& d,
                                                        bool skipped)
{
    auto tx = store.begin();
    if (!tx) return reprocess_not_done(tx.error());
    const auto was_there = store.remove(*tx, d.key, d.at.sequence);
    if (!was_there) return reprocess_not_done(was_there.error());
    if (!*was_there) return {reprocess_report::outcome_type::absent, {}};
    if (skipped) return reprocess_commit(store, *tx, d, reprocess_report::outcome_type::skipped);

    if (const auto put = store.put(*tx, d); !put) return reprocess_not_done(put.error());
    const auto done = tx->commit();
    if (done && *done == commit_outcome::applied)
        return {reprocess_report::outcome_type::failed, {d.kind, d.reason}};
    // The event has failed. The letter may have the old reason or the new one.
    return reprocess_not_done(done ? infrastructure("commit not confirmed") : done.error());
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CONSUME_DETAIL_REPROCESS_STEPS_HPP
