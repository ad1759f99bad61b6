// SPDX-License-Identifier: MIT
//
// rewind: set a checkpoint back, on purpose, so that events are delivered again.
//
//     auto r = waybill::rewind(store, mine, waybill::position{17});      // the next event is behind 17
//     auto r = waybill::rewind(store, mine, std::nullopt);               // the first event is the next
//     if (r.end == waybill::rewind_end::rewound) mine = r.mine;
//
// It compares and sets as every advance does: where somebody else has moved the checkpoint since,
// nothing is done, and he is not robbed of what he has done. A row of attempts goes with it.
//
// Effects of events behind `to` happen again; that is what it is for, and only the caller knows how
// to undo the first ones. A dead letter behind `to` is written over if its event fails again. If it
// does not, the letter stays: remove it, or `reprocess` would take the event into effect once more.
//
// To the beginning a store goes back that has `reset` (stores.hpp). Where it has none, rewind to a
// number in front of the first event, if that is not 0.

#ifndef WAYBILL_CONSUME_REWIND_HPP
#define WAYBILL_CONSUME_REWIND_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <waybill/consume/position.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/fault.hpp>

namespace waybill::inline v0_2 {

/// How a rewind ended.
enum class rewind_end : std::uint8_t {
    rewound,    ///< The checkpoint stands at `to`, or in front of the first event.
    not_done,   ///< It stands where it stood. Try again.
    abandoned,  ///< Somebody else has moved it: load it before anything else.
    unknown,    ///< Nobody can say. Load the checkpoint before anything else.
    invalid,    ///< `to` is not before the checkpoint. Nothing was touched.
    unable,     ///< The store cannot go back to the beginning: it has no `reset`.
};

[[nodiscard]] constexpr std::string_view name(rewind_end e) noexcept
{
    switch (e) {
        case rewind_end::rewound: return "rewound";
        case rewind_end::not_done: return "not_done";
        case rewind_end::abandoned: return "abandoned";
        case rewind_end::unknown: return "unknown";
        case rewind_end::invalid: return "invalid";
        case rewind_end::unable: return "unable";
    }
    return "?";
}

struct [[nodiscard]] rewind_report {
    rewind_end end = rewind_end::not_done;
    assignment mine{};  ///< To go on with: from `to` if it is `rewound`, otherwise as it was.
    fault why{};        ///< What kept it from being done.

    friend bool operator==(const rewind_report&, const rewind_report&) = default;
};

namespace detail {

/// Writes the earlier checkpoint, within the transaction. Requires: `from` is there, and the store
/// has a way to `to`.
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

/// Sets the checkpoint of `mine` back to `to`, or to the beginning where that is empty, in a
/// transaction of its own.
template <checkpoint_store Store>
[[nodiscard]] rewind_report rewind(Store& store, const assignment& mine,
                                   const std::optional<position>& to)
{
    rewind_report r{rewind_end::not_done, mine, {}};
    if (!mine.from || (to && to->sequence >= mine.from->sequence)) {
        r.end = rewind_end::invalid;
        r.why = permanent("cannot rewind to " +
                          (to ? std::to_string(to->sequence) : std::string("the beginning")) +
                          ": the checkpoint " +
                          (mine.from ? "is at " + std::to_string(mine.from->sequence) : "is absent"));
        return r;
    }
    if (!to && !checkpoint_reset<Store>) {
        r.end = rewind_end::unable;
        r.why = permanent("the store has no reset");
        return r;
    }
    const auto ends = [&](rewind_end e, fault why) {
        r.end = e;
        r.why = std::move(why);
        return r;
    };
    auto tx = store.begin();
    if (!tx) return ends(rewind_end::not_done, tx.error());
    const auto set = detail::set_back(store, *tx, mine, to);
    if (!set) return ends(rewind_end::not_done, set.error());
    if (*set != advance_outcome::applied) {
        return ends(rewind_end::abandoned, ownership_lost("checkpoint " + std::string(name(*set))));
    }
    if constexpr (attempt_store<Store>) {
        if (const auto gone = store.forget(*tx, mine.key); !gone) {
            return ends(rewind_end::not_done, gone.error());
        }
    }
    const auto done = tx->commit();
    auto outcome = done ? *done : commit_outcome::unknown;
    if (outcome == commit_outcome::unknown) {
        const auto stored = store.load(mine.key);
        if (!stored) return ends(rewind_end::unknown, stored.error());
        const auto stands_at = [&](const position& p) {
            return *stored && (*stored)->at.sequence == p.sequence;
        };
        // Who else has reset it has done the same.
        const bool ours = to ? stands_at(*to) && (*stored)->epoch == mine.epoch : !*stored;
        if (!ours && !stands_at(*mine.from)) {
            return ends(rewind_end::abandoned, ownership_lost("checkpoint moved"));
        }
        outcome = ours ? commit_outcome::applied : commit_outcome::not_applied;
    }
    if (outcome == commit_outcome::not_applied) {
        return ends(rewind_end::not_done, infrastructure("commit not confirmed"));
    }
    r.mine.from = to;
    return ends(rewind_end::rewound, {});
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_REWIND_HPP
