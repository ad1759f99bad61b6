// SPDX-License-Identifier: MIT
//
// settlement: a delivery of a message, and how it is settled.

#ifndef WAYBILL_QUEUE_SETTLEMENT_HPP
#define WAYBILL_QUEUE_SETTLEMENT_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/act.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/variant.hpp>

namespace waybill::inline v0_2 {

/// Return the message to the queue now. If `failed` is false, the delivery should not count, as far
/// as the broker can distinguish that.
struct abandon {
    bool failed = true;
    friend bool operator==(const abandon&, const abandon&) = default;
};

/// Return the message to the queue. No consumer receives it within the next `delay`, at least 0.
struct defer {
    duration delay{};
    friend bool operator==(const defer&, const defer&) = default;
};

/// Dead-letter the message with the reason. `used` of `max_attempts` are used up: deliveries if
/// `reason` is `last_delivery` or `crashes`, otherwise tries. If `reason` is `permanent`, both are the tries
/// made.
struct dead_letter_message {
    /// The reason why a message is dead-lettered.
    enum class cause : std::uint8_t {
        permanent,      ///< The fault is permanent: no retry can succeed.
        exhausted,      ///< All tries that the levels allow are used up.
        last_delivery,  ///< The broker would dead-letter it next, without a reason.
        crashes,        ///< Its last deliveries ended without a settlement.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(cause) noexcept
    {
        return "permanent, exhausted, last_delivery, crashes";
    }

    cause reason = cause::permanent;
    fault_kind kind = fault_kind::permanent;
    std::uint64_t used = 0;
    std::uint64_t max_attempts = 0;
    friend bool operator==(const dead_letter_message&, const dead_letter_message&) = default;
};

/// Do not call the queue. It delivers the message again after the lock has expired.
struct let_lock_expire {
    /// The reason why the queue is not called.
    enum class cause : std::uint8_t {
        outage,      ///< A dependency is down. The lock expires without a call.
        pause,       ///< The queue cannot defer. The remaining lock time serves as pause.
        lock_short,  ///< At most `settle_policy::to_settle` of the lock is left.
        lock_lost,   ///< The lock is lost or has expired. Another consumer may have the message.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(cause) noexcept
    {
        return "outage, pause, lock_short, lock_lost";
    }

    cause reason = cause::outage;
    friend bool operator==(const let_lock_expire&, const let_lock_expire&) = default;
};

using settlement = variant<complete, abandon, defer, dead_letter_message, let_lock_expire>;

/// One delivery of a message. SQS (ApproximateReceiveCount) and the SDKs of Service Bus count from
/// 1. The delivery-count of AMQP is the number of earlier deliveries: add 1 to it.
struct queue_delivery {
    std::uint64_t count = 1;  ///< Deliveries by the broker, including this one; 0 is read as 1.
    /// Tries of the message in total. Set it if copies of the message, or several tries in one
    /// delivery, make it differ from `count`; 0 is read as `count`.
    std::uint64_t tries = 0;
    /// The rest of the lock, measured on the consumer's own steady clock; 0 or less if it is lost.
    duration lock_left = duration::highest();
    /// Earlier deliveries that ended in `infrastructure` or `cancelled` and that the broker
    /// counted. They are subtracted from the tries; the result is at least 1.
    std::uint64_t outage_deliveries = 0;

    friend bool operator==(const queue_delivery&, const queue_delivery&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_QUEUE_SETTLEMENT_HPP
