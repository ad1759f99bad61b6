// SPDX-License-Identifier: MIT
//
// ext/json_retry: options of circuit breakers, lock renewal, the receive planner and queues, read
// and written; their results and actions, written only.
//
//     {"at_once": 32, "guard": {"trip_at": 0.3, "min_calls": 20, "timeout": "5min"}}

#ifndef WAYBILL_EXT_JSON_RETRY_HPP
#define WAYBILL_EXT_JSON_RETRY_HPP

#include <nlohmann/json.hpp>

#include <waybill/ext/json_enum.hpp>
#include <waybill/ext/json_policy.hpp>
#include <waybill/ext/json_read.hpp>
#include <waybill/queue/lock_renewal.hpp>
#include <waybill/queue/receive_planner.hpp>
#include <waybill/retry/circuit_breaker_options.hpp>
#include <waybill/retry/delivery.hpp>

namespace waybill::inline v0_2 {

/// The value `never` is written as "unlimited".
inline void to_json(nlohmann::json& j, const circuit_breaker_options& o)
{
    j = {{"trip_at", o.failure_ratio},
         {"min_calls", detail::size_or_unlimited(o.minimum_throughput)},
         {"period", o.sampling_duration},
         {"in_a_row", detail::size_or_unlimited(o.consecutive_failures)},
         {"timeout", o.timeout},
         {"shut_for", o.break_duration},
         {"ramp", o.half_open_ramp},
         {"transient_counts", o.transient_counts}};
}

inline void read_value(const json_place& at, circuit_breaker_options& into)
{
    json_fields(at)
        .may("trip_at", into.failure_ratio)
        .may_size("min_calls", into.minimum_throughput)
        .may("period", into.sampling_duration)
        .may_size("in_a_row", into.consecutive_failures)
        .may("timeout", into.timeout)
        .may("shut_for", into.break_duration)
        .may("ramp", into.half_open_ramp)
        .may("transient_counts", into.transient_counts)
        .done();
}

inline void to_json(nlohmann::json& j, const lock_renewal_options& o)
{
    j = {{"lock", o.lock},         {"renew_left", o.renew_left},
         {"margin", o.margin},     {"answer", o.answer_timeout},
         {"most", o.max_duration}, {"pauses", o.pauses}};
}

inline void read_value(const json_place& at, lock_renewal_options& into)
{
    json_fields(at)
        .may("lock", into.lock)
        .may("renew_left", into.renew_left)
        .may("margin", into.margin)
        .may("answer", into.answer_timeout)
        .may("most", into.max_duration)
        .may("pauses", into.pauses)
        .done();
}

inline void to_json(nlohmann::json& j, const receive_planner_options& o)
{
    j = {{"at_once", detail::size_or_unlimited(o.max_in_flight)},
         {"pause", o.pause},
         {"look_every", o.poll_interval},
         {"guard", o.breaker}};
}

inline void read_value(const json_place& at, receive_planner_options& into)
{
    json_fields(at)
        .may_size("at_once", into.max_in_flight)
        .may("pause", into.pause)
        .may("look_every", into.poll_interval)
        .may("guard", into.breaker)
        .done();
}

inline void to_json(nlohmann::json& j, const delivery_terms& t)
{
    j = {{"lock", t.lock},
         {"max_deliveries", detail::size_or_unlimited(t.max_deliveries)},
         {"time_to_live", t.time_to_live},
         {"highest_lock", t.highest_lock}};
}

inline void read_value(const json_place& at, delivery_terms& into)
{
    json_fields(at)
        .may("lock", into.lock)
        .may_size("max_deliveries", into.max_deliveries)
        .may("time_to_live", into.time_to_live)
        .may("highest_lock", into.highest_lock)
        .done();
}

inline void to_json(nlohmann::json& j, const delivery_lifetime& p)
{
    j = {{"lasts", p.lasts}, {"by", p.by}};
}

inline void to_json(nlohmann::json& j, const lock_renewal::renew& a)
{
    j = {{"act", "renew"}, {"attempt", a.attempt}};
}

inline void to_json(nlohmann::json& j, const receive_planner::take_due& a)
{
    j = {{"act", "take_due"}, {"first", a.first}, {"most", a.max_pairs}};
}
inline void to_json(nlohmann::json& j, const receive_planner::receive& a)
{
    j = {{"act", "receive"}, {"first", a.first}, {"most", a.max_messages}};
}
inline void to_json(nlohmann::json& j, const receive_planner::receive_deferred& a)
{
    j = {{"act", "receive_deferred"}, {"work", a.work}};
}
inline void to_json(nlohmann::json& j, const receive_planner::settle_original& a)
{
    j = {{"act", "settle_original"}, {"work", a.work}, {"how", a.as}};
}
inline void to_json(nlohmann::json& j, const receive_planner::settle_message& a)
{
    j = {{"act", "settle_message"}, {"work", a.work}, {"how", a.as}};
    if (a.gone) j["gone"] = true;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_RETRY_HPP
