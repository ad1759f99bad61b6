// SPDX-License-Identifier: MIT
//
// batch_steps: the steps of a batch and their answers. One step is one call that can fail by itself.

#ifndef WAYBILL_CONSUME_BATCH_STEPS_HPP
#define WAYBILL_CONSUME_BATCH_STEPS_HPP

#include <cstdint>
#include <optional>

#include <waybill/consume/position.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/fault.hpp>

namespace waybill::inline v0_1 {

namespace act {

/// Open a transaction. Answered by `done`, as are all that do not say otherwise.
struct begin {
    friend bool operator==(const begin&, const begin&) = default;
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
    friend bool operator==(const dead_letter&, const dead_letter&) = default;
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

/// The step was done, or failed in this way.
struct done {
    fault_class how = fault_class::none;

    friend bool operator==(const done&, const done&) = default;
};

/// The handler has answered.
struct handled {
    fault_class how = fault_class::none;

    friend bool operator==(const handled&, const handled&) = default;
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

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_CONSUME_BATCH_STEPS_HPP
