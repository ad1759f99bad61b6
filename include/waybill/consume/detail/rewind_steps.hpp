// SPDX-License-Identifier: MIT
//
// rewind_steps: the parts of rewind that write the earlier checkpoint and check the result.

#ifndef WAYBILL_CONSUME_DETAIL_REWIND_STEPS_HPP
#define WAYBILL_CONSUME_DETAIL_REWIND_STEPS_HPP

#include <optional>
#include <string>

#include <waybill/consume/position.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>

namespace waybill::inline v0_2::detail {

/// The reason why `to` is refused: `mine` has no checkpoint, or one that is not after `to`.
[[nodiscard]] inline fault cannot_rewind(const assignment& mine, const std::optional<position>& to)
{
    return permanent(
        "cannot rewind to " + (to ? std::to_string(to->sequence) : std::string("the beginning")) +
        ": the checkpoint " +
        (mine.from
             ? "is at " + std::to_string(mine.from->sequence) + ", and must be after the target"
             : "is absent"));
}

/// Writes the earlier checkpoint in the transaction. Requires: `mine.from` is set, and `to` is set
/// or the store has `reset`.
template <class Store>
[[nodiscard]] result<advance_outcome> write_earlier_checkpoint(Store& store,
                                                               typename Store::transaction& tx,
                                                               const assignment& mine,
                                                               const std::optional<position>& to)
{
    if constexpr (checkpoint_reset<Store>) {
        if (!to) return store.reset(tx, mine.key, *mine.from, mine.epoch);
    }
    return store.advance(tx, mine.key, mine.from, *to, mine.epoch);
}

/// Removes the crash record, if the store keeps crash records.
template <class Store>
[[nodiscard]] result<void> clear_crash_record(Store& store, typename Store::transaction& tx,
                                              const partition_key& key)
{
    if constexpr (crash_record_store<Store>) return store.clear_crash_record(tx, key);
    else return {};
}

/// Derives the outcome of a commit from the checkpoint `stored`, which was loaded after it.
/// `unknown` if another owner has moved the checkpoint.
[[nodiscard]] inline commit_outcome outcome_of_rewind(const std::optional<checkpoint>& stored,
                                                      const assignment& mine,
                                                      const std::optional<position>& to)
{
    const auto is_at = [&](const position& p) {
        return stored && stored->at.sequence == p.sequence;
    };
    // If `to` is empty, a reset by another owner has the same result and counts as ours.
    const bool ours = to ? is_at(*to) && stored->epoch == mine.epoch : !stored;
    if (ours) return commit_outcome::applied;
    return is_at(*mine.from) ? commit_outcome::not_applied : commit_outcome::unknown;
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CONSUME_DETAIL_REWIND_STEPS_HPP
