// SPDX-License-Identifier: MIT
//
// ext/fmt: formats each decision, report, policy, error and enum as one readable line.
//
//     fmt::print("{}\n", report);          // sent 47 requests, 1 too large; 1001 accepted, 1 not
//     fmt::print("{}\n", machine.next());  // dead-letter event 3: permanent after 2 tries
//     fmt::print("{:>12}\n", waybill::duration(1500ms));  // fill, align, width: as for a string
//
// Guarantees
//   1. The output is one line. Control characters in texts from outside are shown as escapes, so a
//      message cannot forge a log entry.
//   2. Numbers are exact, times and durations to the nanosecond. Exception: the overhead estimates
//      of a calibration are rounded.
//   3. The lines are for people and may change in a later version. For programs, use ext/json.

#ifndef WAYBILL_EXT_FMT_HPP
#define WAYBILL_EXT_FMT_HPP

#include <waybill/ext/fmt/detail/package.hpp>

#include <waybill/ext/fmt/batch.hpp>
#include <waybill/ext/fmt/consume.hpp>
#include <waybill/ext/fmt/core.hpp>
#include <waybill/ext/fmt/lease.hpp>
#include <waybill/ext/fmt/queue.hpp>
#include <waybill/ext/fmt/retry.hpp>
#include <waybill/ext/fmt/scaling.hpp>
#include <waybill/ext/fmt/session.hpp>
#include <waybill/ext/fmt/tracking.hpp>
#include <waybill/ext/fmt/window.hpp>
#include <waybill/ext/fmt/wire.hpp>

#endif  // WAYBILL_EXT_FMT_HPP
