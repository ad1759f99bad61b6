// SPDX-License-Identifier: MIT
//
// batch_steps: the steps of a batch and their answers. One step is one call that can fail by itself.

#ifndef WAYBILL_CONSUME_BATCH_STEPS_HPP
#define WAYBILL_CONSUME_BATCH_STEPS_HPP

#include <cstdint>
#include <optional>

#include <waybill/consume/attempt.hpp>
#include <waybill/consume/batch_policy.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/saturating.hpp>

namespace waybill::inline v0_2 {

namespace act {

/// Load the row of attempts, outside of a transaction: first of all, and before it is called off.
/// Answered by `recalled`.
struct recall {
    friend bool operator==(const recall&, const recall&) = default;
};

/// Leave all events but the first `events` for later. Answered by `shortened`.
struct shorten {
    std::uint64_t events = 0;
    friend bool operator==(const shorten&, const shorten&) = default;
};

/// Open a transaction. Answered by `done`, as are all that do not say otherwise.
struct begin {
    friend bool operator==(const begin&, const begin&) = default;
};

/// Write the row of attempts, within the transaction.
struct note {
    attempt row{};
    friend bool operator==(const note&, const note&) = default;
};

/// Remove the row of attempts, within the transaction.
struct forget {
    friend bool operator==(const forget&, const forget&) = default;
};

/// Mark the place that `undo` goes back to.
struct savepoint {
    friend bool operator==(const savepoint&, const savepoint&) = default;
};

/// Call the handler for this event. Answered by `handled`.
struct handle {
    std::uint64_t event = 0;
    friend bool operator==(const handle&, const handle&) = default;
};

/// Keep what was written since the savepoint.
struct release {
    friend bool operator==(const release&, const release&) = default;
};

/// Remove what was written since the savepoint.
struct undo {
    friend bool operator==(const undo&, const undo&) = default;
};

/// Write the dead letter of this event, within the transaction.
struct dead_letter {
    std::uint64_t event = 0;
    fault_class how = fault_class::permanent;
    std::uint32_t tries = 0;
    bool condemned = false;  ///< No handler has failed: each of its `tries` ended its process.
    friend bool operator==(const dead_letter&, const dead_letter&) = default;
};

/// Every event failed, so many of them: is it the events, or what they need? Answered by `answered`.
struct ask {
    std::uint64_t failed = 0;
    friend bool operator==(const ask&, const ask&) = default;
};

/// Compare and set the checkpoint, within the transaction. Answered by `advanced`.
struct advance {
    friend bool operator==(const advance&, const advance&) = default;
};

/// Make the transaction last. Answered by `committed`.
struct commit {
    friend bool operator==(const commit&, const commit&) = default;
};

/// Drop the transaction. That cannot fail: one that is not committed is not there.
struct rollback {
    friend bool operator==(const rollback&, const rollback&) = default;
};

/// Load the checkpoint, in a new transaction or none. Answered by `loaded`.
struct read_back {
    friend bool operator==(const read_back&, const read_back&) = default;
};

}  // namespace act

/// The row of attempts is this; `how` says why it could not be read.
struct recalled {
    std::optional<attempt> found{};
    fault_class how = fault_class::none;
    /// So many events of the batch have a sequence up to `found->to`. Where nobody has counted them it
    /// is `highest_size`, and they are taken to be as many as there were.
    std::uint64_t within = highest_size;

    friend bool operator==(const recalled&, const recalled&) = default;
};

/// The last event that is left stands here.
struct shortened {
    position to{};

    friend bool operator==(const shortened&, const shortened&) = default;
};

/// The step was done, or failed in this way.
struct done {
    fault_class how = fault_class::none;

    friend bool operator==(const done&, const done&) = default;
};

/// The handler has answered.
struct handled {
    fault_class how = fault_class::none;
    bool skipped = false;  ///< The event is none of ours. Counts where there is no fault.

    friend bool operator==(const handled&, const handled&) = default;
};

/// What becomes of a batch in which every event failed.
struct answered {
    if_all_failed what = if_all_failed::go_on;

    friend bool operator==(const answered&, const answered&) = default;
};

/// The checkpoint was set or was not; `how` says why no answer could be had.
struct advanced {
    advance_outcome outcome = advance_outcome::applied;
    fault_class how = fault_class::none;

    friend bool operator==(const advanced&, const advanced&) = default;
};

/// The transaction has ended in this way.
struct committed {
    commit_outcome outcome = commit_outcome::applied;

    friend bool operator==(const committed&, const committed&) = default;
};

/// The checkpoint is this; `how` says why it could not be read.
struct loaded {
    std::optional<checkpoint> stored{};
    fault_class how = fault_class::none;

    friend bool operator==(const loaded&, const loaded&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_BATCH_STEPS_HPP
