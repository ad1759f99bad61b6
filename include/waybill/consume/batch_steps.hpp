// SPDX-License-Identifier: MIT
//
// batch_steps: the actions of a batch and their result events. One action is one call that can
// fail.

#ifndef WAYBILL_CONSUME_BATCH_STEPS_HPP
#define WAYBILL_CONSUME_BATCH_STEPS_HPP

#include <cstdint>
#include <optional>

#include <waybill/consume/batch_policy.hpp>
#include <waybill/consume/crash_record.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/fault.hpp>

namespace waybill::inline v0_2 {

/// The actions and events of a `batch_machine`, which inherits them.
struct batch_machine_types {
    /// Load the crash record, outside of a transaction. At the start, and before the record is
    /// restored. Result event: `crash_record_loaded`.
    struct load_crash_record {
        friend bool operator==(const load_crash_record&, const load_crash_record&) = default;
    };

    /// Leave all events except the first `events` for later. Result event: `shortened`.
    struct shorten {
        std::uint64_t events = 0;
        friend bool operator==(const shorten&, const shorten&) = default;
    };

    /// Open a transaction. Result event: `done`, like that of all actions without another one.
    struct begin {
        friend bool operator==(const begin&, const begin&) = default;
    };

    /// Write the crash record, within the transaction.
    struct store_crash_record {
        crash_record row{};
        friend bool operator==(const store_crash_record&, const store_crash_record&) = default;
    };

    /// Remove the crash record, within the transaction.
    struct clear_crash_record {
        friend bool operator==(const clear_crash_record&, const clear_crash_record&) = default;
    };

    /// Set the savepoint that `rollback_to_savepoint` goes back to.
    struct savepoint {
        friend bool operator==(const savepoint&, const savepoint&) = default;
    };

    /// Call the handler for this event. Result event: `handled`.
    struct handle {
        std::uint64_t event = 0;
        friend bool operator==(const handle&, const handle&) = default;
    };

    /// Keep the writes since the savepoint.
    struct release_savepoint {
        friend bool operator==(const release_savepoint&, const release_savepoint&) = default;
    };

    /// Undo the writes since the savepoint.
    struct rollback_to_savepoint {
        friend bool operator==(const rollback_to_savepoint&,
                               const rollback_to_savepoint&) = default;
    };

    /// Write the dead letter of this event. In process_batch: within the transaction.
    struct write_dead_letter {
        std::uint64_t event = 0;
        fault_kind kind = fault_kind::permanent;
        std::uint32_t tries = 0;
        /// A poison message: the handler did not return in any of its `tries`.
        bool poison_message = false;
        friend bool operator==(const write_dead_letter&, const write_dead_letter&) = default;
    };

    /// Every event failed, `failed` in total. The caller decides if the events or a dependency are
    /// the cause. Result event: `all_failed_decided`.
    struct decide_all_failed {
        std::uint64_t failed = 0;
        friend bool operator==(const decide_all_failed&, const decide_all_failed&) = default;
    };

    /// Set the checkpoint by compare-and-set, within the transaction. Result event: `advanced`.
    struct advance {
        friend bool operator==(const advance&, const advance&) = default;
    };

    /// Commit the transaction. Result event: `committed`.
    struct commit {
        friend bool operator==(const commit&, const commit&) = default;
    };

    /// Roll back the transaction. This cannot fail: without a commit there are no effects.
    struct rollback {
        friend bool operator==(const rollback&, const rollback&) = default;
    };

    /// Load the checkpoint, in a new transaction or without one. Result event: `loaded`.
    struct check_commit {
        friend bool operator==(const check_commit&, const check_commit&) = default;
    };

    /// The crash record was loaded. If `kind` is not `none`, it could not be loaded.
    struct crash_record_loaded {
        std::optional<crash_record> found{};
        fault_kind kind = fault_kind::none;
        /// Number of events in the batch whose sequence is at most `found->to`. 2^64 - 1 if they
        /// were not counted: then `found->suspects` is used.
        std::uint64_t within = detail::highest_size;

        friend bool operator==(const crash_record_loaded&, const crash_record_loaded&) = default;
    };

    /// The batch was shortened. `to` is the position of its last event.
    struct shortened {
        position to{};

        friend bool operator==(const shortened&, const shortened&) = default;
    };

    /// The step succeeded, or failed with the fault `kind`.
    struct done {
        fault_kind kind = fault_kind::none;

        friend bool operator==(const done&, const done&) = default;
    };

    /// The handler returned, with the fault `kind` or `none`.
    struct handled {
        fault_kind kind = fault_kind::none;
        bool skipped = false;  ///< The event needs no effect. Ignored if there is a fault.

        friend bool operator==(const handled&, const handled&) = default;
    };

    /// The decision about a batch in which every event failed.
    struct all_failed_decided {
        batch_policy::if_all_failed what = batch_policy::if_all_failed::go_on;

        friend bool operator==(const all_failed_decided&, const all_failed_decided&) = default;
    };

    /// The outcome of setting the checkpoint. If `kind` is not `none`, the outcome is not known.
    struct advanced {
        advance_outcome outcome = advance_outcome::applied;
        fault_kind kind = fault_kind::none;

        friend bool operator==(const advanced&, const advanced&) = default;
    };

    /// The transaction ended with this outcome.
    struct committed {
        commit_outcome outcome = commit_outcome::applied;

        friend bool operator==(const committed&, const committed&) = default;
    };

    /// The checkpoint was loaded. If `kind` is not `none`, it could not be loaded.
    struct loaded {
        std::optional<checkpoint> stored{};
        fault_kind kind = fault_kind::none;

        friend bool operator==(const loaded&, const loaded&) = default;
    };

    friend bool operator==(const batch_machine_types&, const batch_machine_types&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_BATCH_STEPS_HPP
