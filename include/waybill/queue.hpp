// SPDX-License-Identifier: MIT
//
// queue: what a consumer of a message queue decides. Includes its public headers.
//
//   settle               complete, abandon, defer or dead-letter a message after its handling
//   settle_batches       settles messages in batches, in time before their locks expire
//   deferred_messages    the deferred messages of a consumer, and when to fetch them
//   receive_planner      which messages to receive next
//   lock_renewal         renews the lock of a message during its work
//   scheduled_id         ids for copies of a message that are scheduled for later

// Index, written by tests/api --write:
//
//   queue/deferred.hpp
//     struct deferred
//     struct handed
//     enum defer_result { added, replaced, full }
//     struct deferral_options
//     struct deferral_error
//
//   queue/deferred_messages.hpp
//     class deferred_messages
//
//   queue/deferred_messages_bytes.hpp
//     std::string save(const deferred_messages& book)
//     result<B, deferral_error> load(string_view bytes, const deferral_options& options)
//
//   queue/lock_renewal.hpp
//     enum lock_outcome { released, lost, expired, too_long }
//     struct lock_renewal_options
//     struct lock_renewal_types
//     class lock_renewal
//
//   queue/receive_planner.hpp
//     struct receive_planner_options
//     class receive_planner
//
//   queue/receive_planner_steps.hpp
//     struct receive_planner_types
//
//   queue/scheduled_id.hpp
//     constant max_id_bytes
//     struct id_error
//     struct id_parts
//     result<std::string, id_error> scheduled_id(original, attempt, most, mark)
//     id_parts original_id(string_view id, char mark)
//     std::optional<string_view> original_of(string_view id, std::uint32_t attempt, char mark)
//
//   queue/settle.hpp
//     struct settle_check
//     settlement settle(p, d, kind, random, now, hint)
//
//   queue/settle_batches.hpp
//     struct settle_batches_types
//     struct settle_batch_policy
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
//     enum settle_kind { complete, abandon, defer, dead_letter }
//     constant settle_kinds
//     std::optional<settle_kind> kind_of(const settlement& s)
//     struct queue_delivery

#ifndef WAYBILL_QUEUE_HPP
#define WAYBILL_QUEUE_HPP

#include <waybill/queue/deferred.hpp>
#include <waybill/queue/deferred_messages.hpp>
#include <waybill/queue/deferred_messages_bytes.hpp>
#include <waybill/queue/lock_renewal.hpp>
#include <waybill/queue/receive_planner.hpp>
#include <waybill/queue/receive_planner_steps.hpp>
#include <waybill/queue/scheduled_id.hpp>
#include <waybill/queue/settle.hpp>
#include <waybill/queue/settle_batches.hpp>
#include <waybill/queue/settle_policy.hpp>
#include <waybill/queue/settlement.hpp>
#include <waybill/version.hpp>

#endif  // WAYBILL_QUEUE_HPP
