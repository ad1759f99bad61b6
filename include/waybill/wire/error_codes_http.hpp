// SPDX-License-Identifier: MIT
//
// error_codes_http: HTTP status codes, and gRPC codes, also those of Google Pub/Sub.
//
//     waybill::wire::find(waybill::wire::http_errors, 413);                       // too_large
//     waybill::wire::find(waybill::wire::pubsub_errors, "DEADLINE_EXCEEDED");     // unknown
//
// A code with several meanings is in no table, unless its text shows which one it is. If a code in a
// table has two readings, its row contains the reading that does no harm if the other one is true.

#ifndef WAYBILL_WIRE_ERROR_CODES_HTTP_HPP
#define WAYBILL_WIRE_ERROR_CODES_HTTP_HPP

#include <waybill/wire/error_codes.hpp>

namespace waybill::inline v0_2::wire {

namespace detail {

inline constexpr error_code http_codes[] = {
    {"400", answer::permanent, 400},       {"401", answer::infrastructure, 401},
    {"403", answer::infrastructure, 403},  {"404", answer::infrastructure, 404},
    {"405", answer::infrastructure, 405},  {"407", answer::infrastructure, 407},
    {"408", answer::transient, 408},  // request not completely received
    {"410", answer::infrastructure, 410},  {"411", answer::infrastructure, 411},
    {"413", answer::too_large, 413},       {"414", answer::permanent, 414},
    {"415", answer::permanent, 415},       {"421", answer::infrastructure, 421},
    {"422", answer::permanent, 422},       {"425", answer::transient, 425},  // RFC 8470 (2018-09)
    {"429", answer::throttled, 429},                                         // RFC 6585 (2012-04)
    {"431", answer::permanent, 431},                                         // RFC 6585
    {"500", answer::outcome_unknown, 500}, {"501", answer::infrastructure, 501},
    {"502", answer::outcome_unknown, 502}, {"503", answer::outcome_unknown, 503},
    {"504", answer::outcome_unknown, 504}, {"505", answer::infrastructure, 505},
    {"507", answer::transient, 507},  // RFC 4918 (2007-06)
};

inline constexpr error_code grpc_codes[] = {
    {"CANCELLED", answer::outcome_unknown, 1},
    {"UNKNOWN", answer::outcome_unknown, 2},
    {"INVALID_ARGUMENT", answer::permanent, 3},
    {"DEADLINE_EXCEEDED", answer::outcome_unknown, 4},
    {"NOT_FOUND", answer::infrastructure, 5},
    {"PERMISSION_DENIED", answer::infrastructure, 7},
    // The libraries refuse a message that is too large with the code of an exceeded quota.
    {"RESOURCE_EXHAUSTED", answer::too_large, 8, "larger than max"},
    {"RESOURCE_EXHAUSTED", answer::too_large, 8, "exceeds maximum size"},
    {"RESOURCE_EXHAUSTED", answer::too_large, 8, "exceeded while decompressing"},  // tonic
    {"RESOURCE_EXHAUSTED", answer::throttled, 8},
    {"FAILED_PRECONDITION", answer::infrastructure, 9},
    {"ABORTED", answer::transient, 10},
    {"OUT_OF_RANGE", answer::too_large, 11, "message length too large"},  // tonic
    {"OUT_OF_RANGE", answer::permanent, 11},
    {"UNIMPLEMENTED", answer::infrastructure, 12},
    {"INTERNAL", answer::outcome_unknown, 13},
    {"UNAVAILABLE", answer::outcome_unknown, 14},
    {"DATA_LOSS", answer::outcome_unknown, 15},
    {"UNAUTHENTICATED", answer::infrastructure, 16},
};

inline constexpr error_code pubsub_codes[] = {
    {"CANCELLED", answer::outcome_unknown, 1},
    {"UNKNOWN", answer::outcome_unknown, 2},
    {"DEADLINE_EXCEEDED", answer::outcome_unknown, 4},
    {"NOT_FOUND", answer::infrastructure, 5},
    {"PERMISSION_DENIED", answer::infrastructure, 7},
    {"RESOURCE_EXHAUSTED", answer::throttled, 8},
    {"FAILED_PRECONDITION", answer::infrastructure, 9},  // billing, a key, a region
    {"ABORTED", answer::transient, 10},
    {"UNIMPLEMENTED", answer::permanent, 12},
    {"INTERNAL", answer::outcome_unknown, 13},
    {"UNAVAILABLE", answer::outcome_unknown, 14},
    {"UNAUTHENTICATED", answer::infrastructure, 16},
    {"BAD_GATEWAY", answer::outcome_unknown},
};

}  // namespace detail

/// HTTP status codes, for a service without a table of its own. If the service defines another
/// meaning of a code, put the code into your own list, which has priority. The codes are those of
/// RFC 9110. A comment beside any other code names its RFC.
/// Not in the table: 409 and 412, whose meaning depends on the service.
/// Reasons for the meanings in the table:
///   - 500, 502, 504: the request may have been executed.
///   - 503: `outcome_unknown`, like UNAVAILABLE in gRPC. An overloaded server sends it instead of
///     executing the request. But a proxy may send it if the connection to the server is lost after
///     the server has received the request (Envoy:
///     https://github.com/envoyproxy/envoy/issues/1979). A server may send it after it has executed
///     the request (https://github.com/envoyproxy/envoy/issues/23089). With a Retry-After, or from
///     a service that uses 503 only for refusals, the meaning is `throttled`: put that into your
///     own list.
///   - 413: temporary if it has a Retry-After; a smaller request also helps then.
///   - 405, 411, 501, 505: the method, framing or version is wrong for all messages. No message is
///     the cause, so do not dead-letter messages for these codes.
inline constexpr error_table http_errors{"HTTP", detail::http_codes, "2022-06",
                                         "https://www.rfc-editor.org/rfc/rfc9110"};

/// gRPC status codes, for a service without a table of its own. Not in the table: ALREADY_EXISTS,
/// which a service may answer to the repetition of a request that it has executed.
inline constexpr error_table grpc_errors{"gRPC", detail::grpc_codes, "2026-11",
                                         "https://grpc.io/docs/guides/status-codes/",
                                         dialect::grpc};

/// The codes of Publish. RESOURCE_EXHAUSTED means an exceeded quota. In other gRPC services it is
/// also the code for a message that is too large.
/// Not in the table: INVALID_ARGUMENT, which is also the code for a request that is too large. Its
/// text shows which of the two it is (`dialect::pubsub`).
inline constexpr error_table pubsub_errors{
    "Google Pub/Sub", detail::pubsub_codes, "2026-11",
    "https://docs.cloud.google.com/pubsub/docs/reference/error-codes", dialect::pubsub};

}  // namespace waybill::inline v0_2::wire

#endif  // WAYBILL_WIRE_ERROR_CODES_HTTP_HPP
