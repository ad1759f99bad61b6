// SPDX-License-Identifier: MIT
//
// rewind: moves a checkpoint back, so that events are delivered again.
//
//     auto r = waybill::rewind(store, mine, waybill::position{17});  // the next event follows 17
//     auto r = waybill::rewind(store, mine, std::nullopt);           // the first event is next
//     if (r.outcome == waybill::rewind_outcome::rewound) mine = r.mine;
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

#include <waybill/consume/position.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/fault.hpp>

namespace waybill::inline v0_2 {

/// How a rewind ended.
enum class rewind_outcome : std::uint8_t {
    rewound,    ///< The checkpoint is at `to`, or before the first event if `to` is empty.
    not_done,   ///< The checkpoint is unchanged. The caller may retry.
    abandoned,  ///< Another owner has written the checkpoint. Load it first.
    unknown,    ///< The outcome of the commit is unknown. Load the checkpoint first.
    invalid,    ///< There is no checkpoint, or `to` is not before it. Nothing was changed.
    unable,     ///< `to` is empty, and the store has no `reset`. Nothing was changed.
};

[[nodiscard]] constexpr std::string_view texts_of(rewind_outcome) noexcept
{
    return "rewound, not_done, abandoned, unknown, invalid, unable";
}

struct [[nodiscard]] rewind_report {
    rewind_outcome outcome = rewind_outcome::not_done;
    assignment mine{};  ///< If `rewound`, `mine` with `from` set to `to`. Otherwise unchanged.
    fault reason{};     ///< The cause if the checkpoint was not moved; empty if `rewound`.

    friend bool operator==(const rewind_report&, const rewind_report&) = default;
};

namespace detail {

/// Writes the earlier checkpoint in the transaction. Requires: `mine.from` is set, and `to` is set
/// or the store has `reset`.
template <class Store>
[[nodiscard]] result<advance_outcome> set_back(Store& store, typename Store::transaction& tx,
                                               const assignment& mine,
                                               const std::optional<position>& to)
{
    if constexpr (checkpoint_reset<Store>) {
        if (!to) return store.reset(tx, mine.key, *mine.from, mine.epoch);
    }
    return store.advance(tx, mine.key, mine.from, *to, mine.epoch);
}

}  // namespace detail

/// Moves the checkpoint of `mine` back to `to`, in a transaction of its own. An empty `to` means
/// the beginning. `to` must be less than `mine.from`. If the outcome of the commit is unknown, the
/// checkpoint is loaded once to determine it. At most five store calls. Errors: `rewind_outcome`,
/// with the cause in `reason`.
template <checkpoint_store Store>
[[nodiscard]] rewind_report rewind(Store& store, const assignment& mine,
                                   const std::optional<position>& to)
{
    rewind_report r{rewind_outcome::not_done, mine, {}};
    if (!mine.from || (to && to->sequence >= mine.from->sequence)) {
        r.outcome = rewind_outcome::invalid;
        r.reason =
            permanent("cannot rewind to " +
                      (to ? std::to_string(to->sequence) : std::string("the beginning")) +
                      ": the checkpoint " +
                      (mine.from ? "is at " + std::to_string(mine.from->sequence) : "is absent"));
        return r;
    }
    if (!to && !checkpoint_reset<Store>) {
        r.outcome = rewind_outcome::unable;
        r.reason = permanent("the store has no reset");
        return r;
    }
    const auto ends = [&](rewind_outcome e, fault reason) {
        r.outcome = e;
        r.reason = std::move(reason);
        return r;
    };
    auto tx = store.begin();
    if (!tx) return ends(rewind_outcome::not_done, tx.error());
    const auto set = detail::set_back(store, *tx, mine, to);
    if (!set) return ends(rewind_outcome::not_done, set.error());
    if (*set != advance_outcome::applied) {
        return ends(rewind_outcome::abandoned,
                    ownership_lost("checkpoint " + std::string(name(*set))));
    }
    if constexpr (attempt_store<Store>) {
        if (const auto gone = store.forget(*tx, mine.key); !gone) {
            return ends(rewind_outcome::not_done, gone.error());
        }
    }
    const auto done = tx->commit();
    auto outcome = done ? *done : commit_outcome::unknown;
    if (outcome == commit_outcome::unknown) {
        const auto stored = store.load(mine.key);
        if (!stored) return ends(rewind_outcome::unknown, stored.error());
        const auto stands_at = [&](const position& p) {
            return *stored && (*stored)->at.sequence == p.sequence;
        };
        // A reset by another owner has the same result.
        const bool ours = to ? stands_at(*to) && (*stored)->epoch == mine.epoch : !*stored;
        if (!ours && !stands_at(*mine.from)) {
            return ends(rewind_outcome::abandoned, ownership_lost("checkpoint moved"));
        }
        outcome = ours ? commit_outcome::applied : commit_outcome::not_applied;
    }
    if (outcome == commit_outcome::not_applied) {
        return ends(rewind_outcome::not_done, infrastructure("commit not confirmed"));
    }
    r.mine.from = to;
    return ends(rewind_outcome::rewound, {});
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_REWIND_HPP
