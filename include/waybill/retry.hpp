// SPDX-License-Identifier: MIT
//
// The door to retry/: whether to try again, and when.
//
// backoff says how long to wait, decide says whether to. Neither sleeps, and neither draws the
// random number that spreads the waits. delivery says how long a queue itself keeps trying. attempts
// is one call that is tried again, retry_call drives it; levels tries at once and then after pauses;
// shared_budget bounds the retries of many; presets says what well-known clients do. valve says
// whether to take more work at all, and intake what to receive next.

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
