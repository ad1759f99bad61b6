// SPDX-License-Identifier: MIT
//
// error_codes_http: HTTP status codes, and the gRPC codes of Google Pub/Sub.
//
//     waybill::wire::find(waybill::wire::http_errors, 413);                       // too_large
//     waybill::wire::find(waybill::wire::pubsub_errors, "DEADLINE_EXCEEDED");     // unknown
//
// Left out, since they mean more than one thing: HTTP 409 and 412, which depend on the service, and
// Pub/Sub's INVALID_ARGUMENT, which is what a request that is too large gets; the text tells.
//
// A status says less than it seems to; where it has two readings, the row has the one that does no
// harm in the other:
//   500, 502, 504  The request may have been carried out all the same.
//   503            A server that is overloaded says so before it takes anything. A proxy says the
//                  same when it loses a server that has the request already, as Envoy does
//                  (https://github.com/envoyproxy/envoy/issues/1979), and a server may say it after
//                  it did the work (https://github.com/envoyproxy/envoy/issues/23089). So: unknown,
//                  as gRPC's UNAVAILABLE. With a Retry-After, or from a service that is known to
//                  refuse by it, it is throttled: put it into your own list, which goes first.
//   413            With a Retry-After it is a matter of the moment; smaller helps then, too.
//   405, 411, 501, 505  Method, framing and version are the same for every message, so no message
//                  is to blame and none must be parked for it.

#ifndef WAYBILL_WIRE_ERROR_CODES_HTTP_HPP
#define WAYBILL_WIRE_ERROR_CODES_HTTP_HPP

#include <waybill/wire/error_codes.hpp>

namespace waybill::inline v0_2::wire {

namespace detail {

inline constexpr error_code http_codes[] = {
    {"400", answer::permanent, 400},
    {"401", answer::infrastructure, 401},
    {"403", answer::infrastructure, 403},
    {"404", answer::infrastructure, 404},
    {"405", answer::infrastructure, 405},
    {"407", answer::infrastructure, 407},
    {"408", answer::transient, 408},  // the request was not read to its end
    {"410", answer::infrastructure, 410},
    {"411", answer::infrastructure, 411},
    {"413", answer::too_large, 413},
    {"414", answer::permanent, 414},
    {"415", answer::permanent, 415},
    {"421", answer::infrastructure, 421},
    {"422", answer::permanent, 422},
    {"425", answer::transient, 425},  // RFC 8470 (2018-09)
    {"429", answer::throttled, 429},  // RFC 6585 (2012-04)
    {"431", answer::permanent, 431},  // RFC 6585
    {"500", answer::unknown, 500},
    {"501", answer::infrastructure, 501},
    {"502", answer::unknown, 502},
    {"503", answer::unknown, 503},
    {"504", answer::unknown, 504},
    {"505", answer::infrastructure, 505},
    {"507", answer::transient, 507},  // RFC 4918 (2007-06)
};

inline constexpr error_code pubsub_codes[] = {
    {"CANCELLED", answer::unknown, 1},
    {"UNKNOWN", answer::unknown, 2},
    {"DEADLINE_EXCEEDED", answer::unknown, 4},
    {"NOT_FOUND", answer::infrastructure, 5},
    {"PERMISSION_DENIED", answer::infrastructure, 7},
    {"RESOURCE_EXHAUSTED", answer::throttled, 8},
    {"FAILED_PRECONDITION", answer::infrastructure, 9},  // billing, a key, a region
    {"ABORTED", answer::transient, 10},
    {"UNIMPLEMENTED", answer::permanent, 12},
    {"INTERNAL", answer::unknown, 13},
    {"UNAVAILABLE", answer::unknown, 14},
    {"UNAUTHENTICATED", answer::infrastructure, 16},
    {"BAD_GATEWAY", answer::unknown},
};

}  // namespace detail

/// Any service that has no table of its own; its own meaning of a status goes first. The few that
/// are not from RFC 9110 name theirs.
inline constexpr error_table http_errors{
    "HTTP", detail::http_codes, "2022-06", "https://www.rfc-editor.org/rfc/rfc9110"};

/// Publish. RESOURCE_EXHAUSTED is the quota here; elsewhere in gRPC it is also what a message gets
/// that is too large.
inline constexpr error_table pubsub_errors{
    "Google Pub/Sub", detail::pubsub_codes, "2026-11",
    "https://docs.cloud.google.com/pubsub/docs/reference/error-codes"};

}  // namespace waybill::inline v0_2::wire

#endif  // WAYBILL_WIRE_ERROR_CODES_HTTP_HPP
