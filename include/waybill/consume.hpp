// SPDX-License-Identifier: MIT
//
// consume: module header. Each event takes effect once.
//
// process_batch writes the effects of a batch, its dead letters and its checkpoint to a store, in
// one transaction. Its state machine and the concepts of a store are available to other drivers.
// Other headers process events at least once, lease partitions, track completion out of order, and
// settle the messages of a queue.

#ifndef WAYBILL_CONSUME_HPP
#define WAYBILL_CONSUME_HPP

#include <waybill/consume/at_least_once.hpp>
#include <waybill/consume/attempt.hpp>
#include <waybill/consume/balance.hpp>
#include <waybill/consume/batch_attempt.hpp>
#include <waybill/consume/batch_machine.hpp>
#include <waybill/consume/batch_order.hpp>
#include <waybill/consume/batch_policy.hpp>
#include <waybill/consume/batch_replay.hpp>
#include <waybill/consume/batch_report.hpp>
#include <waybill/consume/batch_steps.hpp>
#include <waybill/consume/cadence.hpp>
#include <waybill/consume/completion_tracker.hpp>
#include <waybill/consume/dense_slots.hpp>
#include <waybill/consume/done_runs.hpp>
#include <waybill/consume/event.hpp>
#include <waybill/consume/event_slots.hpp>
#include <waybill/consume/fenced_store.hpp>
#include <waybill/consume/guarantee.hpp>
#include <waybill/consume/handler_exceptions.hpp>
#include <waybill/consume/held_leases.hpp>
#include <waybill/consume/idempotency_key.hpp>
#include <waybill/consume/lease.hpp>
#include <waybill/consume/lease_calls.hpp>
#include <waybill/consume/lease_group.hpp>
#include <waybill/consume/lease_keeper.hpp>
#include <waybill/consume/lease_observer.hpp>
#include <waybill/consume/letter.hpp>
#include <waybill/consume/partition_lifecycle.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/consume/process_at_least_once.hpp>
#include <waybill/consume/process_batch.hpp>
#include <waybill/consume/processor.hpp>
#include <waybill/consume/reprocess.hpp>
#include <waybill/consume/rewind.hpp>
#include <waybill/consume/separate_stores.hpp>
#include <waybill/consume/sequence_number.hpp>
#include <waybill/consume/settle.hpp>
#include <waybill/consume/settle_batch.hpp>
#include <waybill/consume/sparse_slots.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/consume/stuck_watch.hpp>
#include <waybill/consume/tracker_bytes.hpp>
#include <waybill/consume/tracker_form.hpp>
#include <waybill/consume/tracker_options.hpp>
#include <waybill/version.hpp>

#endif  // WAYBILL_CONSUME_HPP
