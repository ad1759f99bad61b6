// SPDX-License-Identifier: MIT
//
// error_codes_azure: AMQP error conditions of Azure Service Bus and Event Hubs.
//
//     auto a = waybill::wire::find(waybill::wire::azure_amqp_errors, condition);
//
// A condition is the error of a rejected delivery, or of a closed link or connection. If a link or
// connection was closed, deliveries without an outcome may have arrived, whatever the condition is.
//
// Known exception: if a batch has more messages than Service Bus accepts, the condition is
// amqp:internal-error and the text advises a retry. `find` then returns `outcome_unknown`
// (https://github.com/Azure/azure-service-bus/issues/397).

#ifndef WAYBILL_WIRE_ERROR_CODES_AZURE_HPP
#define WAYBILL_WIRE_ERROR_CODES_AZURE_HPP

#include <waybill/wire/error_codes.hpp>

namespace waybill::inline v0_2::wire {

namespace detail {

inline constexpr error_code azure_amqp_codes[] = {
    {"amqp:link:message-size-exceeded", answer::too_large},
    {"com.microsoft:server-busy", answer::throttled},
    {"amqp:link:transfer-limit-exceeded", answer::throttled},
    {"com.microsoft:timeout", answer::outcome_unknown},  // may have completed
    {"com.microsoft:operation-cancelled", answer::outcome_unknown},
    {"amqp:internal-error", answer::outcome_unknown},
    {"amqp:resource-limit-exceeded", answer::transient},  // for example: the queue is full
    // Service Bus Premium, for a batch above 1 MiB where single messages may be larger.
    {"amqp:not-allowed", answer::too_large, {}, "received a batch message with no data in it"},
    {"amqp:not-allowed", answer::permanent},
    {"amqp:not-implemented", answer::permanent},
    {"amqp:decode-error", answer::permanent},
    {"amqp:invalid-field", answer::permanent},
    {"amqp:frame-size-too-small", answer::permanent},
    {"amqp:precondition-failed", answer::permanent},
    {"com.microsoft:precondition-failed", answer::permanent},
    {"com.microsoft:argument-error", answer::permanent},
    {"com.microsoft:argument-out-of-range", answer::permanent},
    {"com.microsoft:no-matching-subscription", answer::permanent},
    {"amqp:not-found", answer::infrastructure},
    {"amqp:resource-deleted", answer::infrastructure},
    {"amqp:unauthorized-access", answer::infrastructure},
    {"amqp:illegal-state", answer::infrastructure},
    {"com.microsoft:auth-failed", answer::infrastructure},
    {"com.microsoft:publisher-revoked", answer::infrastructure},
    {"com.microsoft:entity-disabled", answer::infrastructure},
    {"com.microsoft:out-of-order-sequence", answer::infrastructure},
    {"amqp:connection:forced", answer::infrastructure},
    {"amqp:connection:framing-error", answer::infrastructure},
    {"amqp:connection:redirect", answer::infrastructure},
    {"amqp:session:window-violation", answer::infrastructure},
    {"amqp:session:errant-link", answer::infrastructure},
    {"amqp:session:handle-in-use", answer::infrastructure},
    {"amqp:session:unattached-handle", answer::infrastructure},
    {"amqp:link:detach-forced", answer::infrastructure},
    {"amqp:link:redirect", answer::infrastructure},
    {"amqp:link:stolen", answer::ownership_lost},
    {"amqp:resource-locked", answer::ownership_lost},
    {"com.microsoft:message-lock-lost", answer::ownership_lost},
    {"com.microsoft:session-lock-lost", answer::ownership_lost},
    {"com.microsoft:session-cannot-be-locked", answer::ownership_lost},
    {"com.microsoft:store-lock-lost", answer::ownership_lost},
    {"com.microsoft:partition-not-owned", answer::ownership_lost},
    {"com.microsoft:producer-epoch-stolen", answer::ownership_lost},
};

}  // namespace detail

/// Service Bus and Event Hubs over AMQP.
inline constexpr error_table azure_amqp_errors{
    "Azure Service Bus and Event Hubs", detail::azure_amqp_codes, "2026-11",
    "https://learn.microsoft.com/javascript/api/@azure/core-amqp/conditionerrornamemapper",
    dialect::azure_amqp};

}  // namespace waybill::inline v0_2::wire

#endif  // WAYBILL_WIRE_ERROR_CODES_AZURE_HPP
