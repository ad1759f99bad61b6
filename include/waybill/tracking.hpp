// SPDX-License-Identifier: MIT
//
// tracking: how far a consumer has come. Includes its public headers.
//
//   completion_tracker   the position that may be committed if events complete out of order
//   tracker_bytes        the events completed after that position, in a few bytes
//   commit_schedule      when to commit
//   stuck_watch          how long an event has kept the position from moving

#ifndef WAYBILL_TRACKING_HPP
#define WAYBILL_TRACKING_HPP

#include <waybill/tracking/commit_schedule.hpp>
#include <waybill/tracking/completion_tracker.hpp>
#include <waybill/tracking/stuck_watch.hpp>
#include <waybill/tracking/tracker_bytes.hpp>
#include <waybill/tracking/tracker_options.hpp>
#include <waybill/version.hpp>

#endif  // WAYBILL_TRACKING_HPP
