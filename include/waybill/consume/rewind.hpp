// SPDX-License-Identifier: MIT
//
// rewind: moves a checkpoint back, so that events are delivered again.
//
//     auto r = waybill::rewind(store, mine, waybill::position{17});  // the next event follows 17
//     auto r = waybill::rewind(store, mine, std::nullopt);           // the first event is next
//     if (r.outcome == waybill::rewind_report::outcome_type::rewound) mine = r.mine;
//
// Guarantees
//   1. The write is a compare-and-set, like every advance. If another owner has moved the
//      checkpoint since `mine` was loaded, nothing changes.
//   2. If the store keeps crash records, that of the partition is removed in the same transaction.
//
// The effects of events after `to` happen again. The caller must undo the first effects if
// necessary. A dead letter after `to` is replaced if its event fails again. If the event succeeds,
// the dead letter stays. Remove it, or `reprocess` applies the event once more.
//
// A rewind to the beginning requires a store with `reset` (stores.hpp). Without it, rewind to a
// number before the first event, unless the first event has number 0.

#ifndef WAYBILL_CONSUME_REWIND_HPP
#define WAYBILL_CONSUME_REWIND_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <waybill/consume/detail/checked_stores.hpp>
#include <waybill/consume/detail/refused_checkpoint.hpp>
#include <waybill/consume/detail/rewind_steps.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/fault.hpp>

namespace waybill::inline v0_2 {

struct [[nodiscard]] rewind_report {
    /// The outcome of a rewind.
    enum class outcome_type : std::uint8_t {
        rewound,   ///< The checkpoint is at `to`, or before the first event if `to` is empty.
        not_done,  ///< The checkpoint is unchanged. The caller may retry.
        /// Another owner has written the checkpoint. Load it first.
        ownership_lost,
        unknown,  ///< The outcome of the commit is unknown. Load the checkpoint first.
        invalid,  ///< There is no checkpoint, or `to` is not before it. Nothing was changed.
        unable,   ///< `to` is empty, and the store has no `reset`. Nothing was changed.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(outcome_type) noexcept
    {
        return "rewound, not_done, ownership_lost, unknown, invalid, unable";
    }

    outcome_type outcome = outcome_type::not_done;
    assignment mine{};  ///< If `rewound`, `mine` with `from` set to `to`. Otherwise unchanged.
    fault reason{};     ///< The cause if the checkpoint was not moved; empty if `rewound`.

    friend bool operator==(const rewind_report&, const rewind_report&) = default;
};

/// Moves the checkpoint of `mine` back to `to`, in a transaction of its own. An empty `to` means
/// the beginning. `to` must be less than `mine.from`. If the outcome of the commit is unknown, the
/// checkpoint is loaded once to determine it. At most five store calls. Errors:
/// `rewind_report::outcome_type`, with the cause in `reason`.
template <class Store>
[[nodiscard]] rewind_report rewind(Store& store, const assignment& mine,
                                   const std::optional<position>& to)
{
    static_assert(detail::checked_checkpoint_reset<Store>::ok &&
                  detail::checked_crash_records<Store>::ok);
    const auto report = [&](rewind_report::outcome_type e, fault reason) {
        return rewind_report{e, mine, std::move(reason)};
    };
    if (!mine.from || (to && to->sequence >= mine.from->sequence)) {
        return report(rewind_report::outcome_type::invalid, detail::cannot_rewind(mine, to));
    }
    if (!to && !checkpoint_reset<Store>) {
        return report(rewind_report::outcome_type::unable,
                      permanent("the store has no reset(): rewind to a position"));
    }
    auto tx = store.begin();
    if (!tx) return report(rewind_report::outcome_type::not_done, tx.error());
    const auto written = detail::write_earlier_checkpoint(store, *tx, mine, to);
    if (!written) return report(rewind_report::outcome_type::not_done, written.error());
    if (*written != advance_outcome::applied) {
        return report(rewind_report::outcome_type::ownership_lost,
                      detail::refused_checkpoint(*written, mine.from, mine.epoch));
    }
    const auto cleared = detail::clear_crash_record(store, *tx, mine.key);
    if (!cleared) return report(rewind_report::outcome_type::not_done, cleared.error());
    const auto done = tx->commit();
    auto outcome = done ? *done : commit_outcome::unknown;
    if (outcome == commit_outcome::unknown) {
        const auto stored = store.load(mine.key);
        if (!stored) return report(rewind_report::outcome_type::unknown, stored.error());
        outcome = detail::outcome_of_rewind(*stored, mine, to);
        if (outcome == commit_outcome::unknown) {
            return report(rewind_report::outcome_type::ownership_lost,
                          ownership_lost("another owner has moved the checkpoint"));
        }
    }
    if (outcome == commit_outcome::not_applied) {
        return report(rewind_report::outcome_type::not_done,
                      infrastructure("commit not confirmed"));
    }
    rewind_report r{rewind_report::outcome_type::rewound, mine, {}};
    r.mine.from = to;
    return r;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_REWIND_HPP
