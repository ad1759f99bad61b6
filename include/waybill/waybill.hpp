// SPDX-License-Identifier: MIT
//
// waybill.hpp: all of waybill that needs only the standard library.
//
// A program that needs one module includes only the module header, for example waybill/retry.hpp.
// This header does not include testing/, which is for tests, and ext/, whose headers each need a
// package.

// Index, written by tests/api --write:
//
//   core/act.hpp
//     struct wait_until
//     struct idle
//     struct complete
//     struct stop_requested
//     struct lock_lost
//     enum event_result { applied, stale, invalid }
//
//   core/batch_limits.hpp
//     constant unlimited
//     struct batch_limits
//
//   core/config_error.hpp
//     struct config_error
//     result<M, config_error> make(const Config& config)
//
//   core/crc32c.hpp
//     std::uint32_t crc32c(string_view bytes, std::uint32_t so_far)
//
//   core/enum_name.hpp
//     string_view name(E e)
//
//   core/environment.hpp
//     concept environment
//     class time_limited
//
//   core/fault.hpp
//     enum fault_kind { none, transient, permanent, infrastructure, ownership_lost, cancelled }
//     struct fault
//     fault transient(std::string text)
//     fault permanent(std::string text)
//     fault infrastructure(std::string text)
//     fault ownership_lost(std::string text)
//     fault cancelled(std::string text)
//
//   core/match.hpp
//     auto match(Variant&& action, F &&... handlers)
//
//   core/result.hpp
//     class unexpected
//     class result
//
//   core/text.hpp
//     string_view utf8_prefix(string_view text, std::size_t most)
//
//   core/time.hpp
//     class duration
//     class time_on
//     using steady_time
//     using wall_time
//
//   core/time_text.hpp
//     std::string to_text(duration d)
//     std::string to_text(wall_time t)
//     std::optional<duration> parse_duration(string_view written)
//     std::optional<wall_time> parse_wall_time(string_view written)
//
//   core/utf8.hpp
//     bool is_utf8(string_view text)
//
//   core/variant.hpp
//     class variant
//     bool holds_alternative(const variant<T...>& v)
//     X* get_if(variant<T...>* v)
//     const X* get_if(const variant<T...>* v)

#ifndef WAYBILL_WAYBILL_HPP
#define WAYBILL_WAYBILL_HPP

#include <waybill/batch.hpp>
#include <waybill/batch/describe.hpp>
#include <waybill/consume.hpp>
#include <waybill/consume/describe.hpp>
#include <waybill/consume/describe_position.hpp>
#include <waybill/core/act.hpp>
#include <waybill/core/batch_limits.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/crc32c.hpp>
#include <waybill/core/describe.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/environment.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/match.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/text.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/time_text.hpp>
#include <waybill/core/utf8.hpp>
#include <waybill/core/variant.hpp>
#include <waybill/lease.hpp>
#include <waybill/lease/describe.hpp>
#include <waybill/queue.hpp>
#include <waybill/queue/describe.hpp>
#include <waybill/retry.hpp>
#include <waybill/retry/describe.hpp>
#include <waybill/retry/describe_policies.hpp>
#include <waybill/scaling.hpp>
#include <waybill/scaling/describe.hpp>
#include <waybill/session.hpp>
#include <waybill/session/describe.hpp>
#include <waybill/tracking.hpp>
#include <waybill/tracking/describe.hpp>
#include <waybill/version.hpp>
#include <waybill/window.hpp>
#include <waybill/window/describe.hpp>
#include <waybill/wire.hpp>
#include <waybill/wire/describe.hpp>

#endif  // WAYBILL_WAYBILL_HPP
