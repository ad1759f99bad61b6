// SPDX-License-Identifier: MIT
//
// queue: consumes a message queue, and sends the rows of an outbox. Includes its public headers.
//
//   run_queue            receives, handles and settles messages until a stop
//   settle               complete, abandon, defer or dead-letter a message after its handling
//   settle_batches       settles messages in batches, in time before their locks expire
//   deferred_messages    the deferred messages of a consumer, and when to fetch them
//   receive_planner      which messages to receive next
//   lock_renewal         renews the lock of a message during its work
//   relay                sends the rows of an outbox, a table that a transaction writes
//   scheduled_id         ids for copies of a message that are scheduled for later

// Index, written by tests/api --write:
//
//   queue/deferred.hpp
//     struct deferred
//     struct deferral_options
//
//   queue/deferred_messages.hpp
//     class deferred_messages
//
//   queue/deferred_messages_bytes.hpp
//     std::string save(const deferred_messages& messages)
//     std::string save(const deferred& entry)
//     result<B, deferred_messages::load_error> load(bytes, options)
//     result<B, deferred_messages::load_error> load(string_view bytes)
//
//   queue/lock_renewal.hpp
//     struct lock_renewal_types
//     class lock_renewal
//
//   queue/message_queue.hpp
//     concept message_queue
//
//   queue/outbox_store.hpp
//     concept outbox_store
//
//   queue/queue_policy.hpp
//     struct queue_policy
//
//   queue/queue_report.hpp
//     struct queue_report
//
//   queue/receive_planner.hpp
//     class receive_planner
//
//   queue/receive_planner_steps.hpp
//     struct receive_planner_types
//
//   queue/relay.hpp
//     void relay(outbox, sender, transmit, env, p, report)
//     relay_report relay(outbox, sender, transmit, env, p)
//
//   queue/relay_report.hpp
//     struct relay_report
//
//   queue/run_queue.hpp
//     void run_queue(queue, handler, policy, env, report)
//     queue_report run_queue(queue, handler, policy, env)
//
//   queue/scheduled_id.hpp
//     std::string scheduled_id(string_view key, std::uint64_t sequence_number, string_view id)
//
//   queue/settle.hpp
//     settlement settle(p, d, kind, random, hint)
//
//   queue/settle_batches.hpp
//     struct settle_batches_types
//     class settle_batches
//
//   queue/settle_policy.hpp
//     struct settle_policy
//
//   queue/settlement.hpp
//     struct abandon
//     struct defer
//     struct dead_letter_message
//     struct let_lock_expire
//     using settlement
//     struct queue_delivery

#ifndef WAYBILL_QUEUE_HPP
#define WAYBILL_QUEUE_HPP

#include <waybill/queue/deferred.hpp>
#include <waybill/queue/deferred_messages.hpp>
#include <waybill/queue/deferred_messages_bytes.hpp>
#include <waybill/queue/lock_renewal.hpp>
#include <waybill/queue/message_queue.hpp>
#include <waybill/queue/outbox_store.hpp>
#include <waybill/queue/queue_policy.hpp>
#include <waybill/queue/queue_report.hpp>
#include <waybill/queue/receive_planner.hpp>
#include <waybill/queue/receive_planner_steps.hpp>
#include <waybill/queue/relay.hpp>
#include <waybill/queue/relay_report.hpp>
#include <waybill/queue/run_queue.hpp>
#include <waybill/queue/scheduled_id.hpp>
#include <waybill/queue/settle.hpp>
#include <waybill/queue/settle_batches.hpp>
#include <waybill/queue/settle_policy.hpp>
#include <waybill/queue/settlement.hpp>
#include <waybill/version.hpp>

#endif  // WAYBILL_QUEUE_HPP
