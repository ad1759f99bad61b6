// SPDX-License-Identifier: MIT
//
// The door to retry/: whether to try again, and when.
//
// backoff says how long to wait, decide says whether to. Neither sleeps, and neither draws the
// random number that spreads the waits. delivery says how long a queue itself keeps trying.

#ifndef WAYBILL_RETRY_HPP
#define WAYBILL_RETRY_HPP

#include <waybill/retry/backoff.hpp>
#include <waybill/retry/budget.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/retry/delivery.hpp>
#include <waybill/version.hpp>

#endif  // WAYBILL_RETRY_HPP
