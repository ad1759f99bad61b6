// SPDX-License-Identifier: MIT
//
// retry: decides if a failed call is made again, and when. Includes its public headers.
//
// No header sleeps or generates random numbers: times and random numbers are arguments.
//
//   backoff, decide          how long to wait before a retry, and whether to retry
//   retry_loop, retry_call   the retries of one call as a state machine, and its driver
//   levels                   immediate retries, then delayed ones
//   budget, shared_budget    a limit for the retries of many calls
//   delivery                 how long a queue itself keeps redelivering a message
//   presets                  the policies of well-known clients and queues
//   circuit_breaker, scoped_permit  whether to make calls at all

#ifndef WAYBILL_RETRY_HPP
#define WAYBILL_RETRY_HPP

#include <waybill/retry/backoff.hpp>
#include <waybill/retry/budget.hpp>
#include <waybill/retry/circuit_breaker.hpp>
#include <waybill/retry/circuit_breaker_options.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/retry/delivery.hpp>
#include <waybill/retry/levels.hpp>
#include <waybill/retry/permits.hpp>
#include <waybill/retry/presets.hpp>
#include <waybill/retry/retry_call.hpp>
#include <waybill/retry/retry_loop.hpp>
#include <waybill/retry/scoped_permit.hpp>
#include <waybill/retry/shared_budget.hpp>
#include <waybill/version.hpp>

#endif  // WAYBILL_RETRY_HPP
