// SPDX-License-Identifier: MIT
//
// tracking: the progress of a consumer. Includes its public headers.
//
//   completion_tracker   the position that may be committed if events complete out of order
//   tracker_bytes        the events completed after that position, in a few bytes
//   commit_schedule      when to commit
//   stuck_watch          how long an event has kept the position from moving

// Index, written by tests/api --write:
//
//   tracking/commit_schedule.hpp
//     struct commit_schedule_types
//     class commit_schedule
//
//   tracking/completion_tracker.hpp
//     class completion_tracker
//
//   tracking/stuck_watch.hpp
//     class stuck_watch
//
//   tracking/tracker_bytes.hpp
//     struct tracker_budget
//     struct encoded_done
//     encoded_done encode(const completion_tracker& t, const tracker_budget& b, std::uint64_t salt)
//     encoded_done encode_text(t, b, salt)
//     result<tracker_start, tracker_start::decode_error> decode(done, bytes, salt)
//     result<tracker_start, tracker_start::decode_error> decode_text(done, text, salt)
//
//   tracking/tracker_options.hpp
//     struct tracker_options
//     struct tracked_event
//     struct tracker_start

#ifndef WAYBILL_TRACKING_HPP
#define WAYBILL_TRACKING_HPP

#include <waybill/tracking/commit_schedule.hpp>
#include <waybill/tracking/completion_tracker.hpp>
#include <waybill/tracking/stuck_watch.hpp>
#include <waybill/tracking/tracker_bytes.hpp>
#include <waybill/tracking/tracker_options.hpp>
#include <waybill/version.hpp>

#endif  // WAYBILL_TRACKING_HPP
