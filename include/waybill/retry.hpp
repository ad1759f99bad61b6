// SPDX-License-Identifier: MIT
//
// retry: decides if a failed call is made again, and when. Includes all headers of this module.
//
// No header sleeps or generates random numbers: times and random numbers are arguments.
//
//   backoff, decide       how long to wait before a retry, and whether to retry
//   attempts, retry_call  the retries of one call as a state machine, and its driver
//   levels                immediate retries, then delayed ones
//   budget, shared_budget a limit for the retries of many calls
//   delivery              how long a queue itself keeps redelivering a message
//   presets               the policies of well-known clients and queues
//   circuit_breaker, scoped_permit  a circuit breaker: whether to make calls at all
//   intake                which messages to receive next
//   deferred_messages         the deferred messages, and when to fetch them
//   lock_renewal          renews the lock of a message during its work
//   scheduled_id          ids for copies of a message that are scheduled for later
//   prune                 which dead letters to remove

#ifndef WAYBILL_RETRY_HPP
#define WAYBILL_RETRY_HPP

#include <waybill/retry/attempts.hpp>
#include <waybill/retry/backoff.hpp>
#include <waybill/retry/budget.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/retry/deferral_book.hpp>
#include <waybill/retry/deferral_bytes.hpp>
#include <waybill/retry/deferred.hpp>
#include <waybill/retry/delivery.hpp>
#include <waybill/retry/intake.hpp>
#include <waybill/retry/intake_steps.hpp>
#include <waybill/retry/levels.hpp>
#include <waybill/retry/lock_renewal.hpp>
#include <waybill/retry/nanoseconds.hpp>
#include <waybill/retry/permits.hpp>
#include <waybill/retry/presets.hpp>
#include <waybill/retry/prune.hpp>
#include <waybill/retry/prune_policy.hpp>
#include <waybill/retry/recent_calls.hpp>
#include <waybill/retry/retry_call.hpp>
#include <waybill/retry/scheduled_id.hpp>
#include <waybill/retry/scoped_permit.hpp>
#include <waybill/retry/shared_budget.hpp>
#include <waybill/retry/valve.hpp>
#include <waybill/retry/valve_options.hpp>
#include <waybill/version.hpp>

#endif  // WAYBILL_RETRY_HPP
