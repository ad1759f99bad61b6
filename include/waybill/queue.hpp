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
#include <waybill/version.hpp>

#endif  // WAYBILL_QUEUE_HPP
