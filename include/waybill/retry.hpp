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

// Index, written by tests/api --write:
//
//   retry/backoff.hpp
//     struct backoff
//     duration pause(b, n, previous, random, hint)
//     duration pause(const backoff& b, std::uint32_t n, double random, duration hint)
//
//   retry/budget.hpp
//     struct retry_budget
//     class retry_token_bucket
//
//   retry/call_report.hpp
//     struct call_answer
//     struct call_report
//
//   retry/circuit_breaker.hpp
//     class circuit_breaker_of
//     using circuit_breaker
//
//   retry/circuit_breaker_options.hpp
//     struct circuit_breaker_types
//
//   retry/decide.hpp
//     struct retry_now
//     struct give_up
//     struct retry_policy
//     using retry_action
//     retry_action decide(p, tries, kind, random, now, hint)
//     retry_action decide(p, tries, kind, previous, random, now, hint)
//
//   retry/delivery.hpp
//     struct delivery_terms
//     delivery_terms::lifetime time_until_dead_letter(const delivery_terms& t, duration hold)
//     delivery_terms::lifetime time_until_dead_letter(const delivery_terms& t)
//
//   retry/levels.hpp
//     struct retry_levels
//     retry_action decide(l, tries, kind, random, now, hint)
//
//   retry/presets.hpp
//     struct preset
//     constant any_number
//     preset<call_policy> aws_standard()
//     preset<call_policy> aws_standard_2026()
//     preset<call_policy> aws_throttled_2026()
//     preset<retry_budget> aws_retry_quota()
//     preset<retry_budget> aws_retry_quota_2026()
//     preset<call_policy> azure_amqp()
//     preset<call_policy> azure_http()
//     preset<call_policy> kafka_producer()
//     preset<call_policy> google_cloud_cpp()
//     preset<call_policy> google_pubsub_cpp()
//     preset<call_policy> grpc_example()
//     preset<retry_budget> grpc_throttling_example()
//     preset<retry_budget> finagle()
//     preset<call_policy> polly()
//     preset<retry_levels> nservicebus()
//     preset<delivery_terms> service_bus_queue()
//     preset<delivery_terms> sqs_queue()
//     preset<delivery_terms> pubsub_subscription()
//     retry_action decide(p, tries, kind, random, now, hint)
//
//   retry/retry_call.hpp
//     call_report retry_call(p, call, env, budget)
//     call_report retry_call(retry_loop& tries, Call&& call, Environment&& env)
//
//   retry/retry_loop.hpp
//     struct call_policy
//     struct retry_loop_types
//     class retry_loop
//     result<M, config_error> make(const call_policy& p, steady_time now, shared_budget budget)
//     result<M, config_error> make(const P&)
//
//   retry/scoped_permit.hpp
//     class scoped_permit
//
//   retry/shared_budget.hpp
//     class shared_budget

#ifndef WAYBILL_RETRY_HPP
#define WAYBILL_RETRY_HPP

#include <waybill/retry/backoff.hpp>
#include <waybill/retry/budget.hpp>
#include <waybill/retry/call_report.hpp>
#include <waybill/retry/circuit_breaker.hpp>
#include <waybill/retry/circuit_breaker_options.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/retry/delivery.hpp>
#include <waybill/retry/levels.hpp>
#include <waybill/retry/presets.hpp>
#include <waybill/retry/retry_call.hpp>
#include <waybill/retry/retry_loop.hpp>
#include <waybill/retry/scoped_permit.hpp>
#include <waybill/retry/shared_budget.hpp>
#include <waybill/version.hpp>

#endif  // WAYBILL_RETRY_HPP
