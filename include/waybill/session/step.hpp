// SPDX-License-Identifier: MIT
//
// step: what the messages of a session say of themselves, and why one of them is parked.
//
// A session is one job: an order with its five steps, an import with its 4,567 products. Each step
// is a message; they share a session id and come in order. What a consumer has to know of each is
// its number, where the session begins and ends, and how often it has been delivered.

#ifndef WAYBILL_SESSION_STEP_HPP
#define WAYBILL_SESSION_STEP_HPP

#include <cstdint>
#include <string>
#include <string_view>

namespace waybill::inline v0_2 {

/// What a sender writes into the properties of a step's message; `job` makes them.
struct step_stamp {
    std::string session{};       ///< 1 to 128 bytes.
    std::uint64_t step = 1;      ///< From 1 on, without gaps.
    std::uint64_t first = 1;     ///< The step that the session begins with: later after a redrive.
    std::uint64_t total = 0;     ///< The number of the last step; 0 where it is not known yet.
    bool last = false;           ///< Nothing comes after it.

    friend bool operator==(const step_stamp&, const step_stamp&) = default;
};

/// What a consumer knows of a message that it has received.
struct step_facts {
    std::uint64_t sequence = 0;    ///< The broker's number of the message.
    std::uint64_t step = 1;
    std::uint64_t first = 1;
    std::uint64_t total = 0;
    bool last = false;
    /// This one counted, as SQS and the SDKs of Service Bus do; to AMQP's own delivery-count, which
    /// says how many there were before, add one. 0: the broker does not count.
    std::uint64_t deliveries = 1;

    friend bool operator==(const step_facts&, const step_facts&) = default;
};

/// Why a step is parked.
enum class park_reason : std::uint8_t {
    failed,          ///< No retry can help it.
    exhausted,       ///< It was tried as often as the policy allows.
    ended_process,   ///< Its deliveries are used up, and none of them has said how it went.
    session_failed,  ///< An earlier step of its session failed.
    gap,             ///< A step before it is missing.
    contradiction,   ///< Its numbers contradict each other, or those of its session.
    unreadable,      ///< The state of its session cannot be read.
    broker,          ///< The broker has parked it itself.
};

[[nodiscard]] constexpr std::string_view name(park_reason r) noexcept
{
    switch (r) {
        case park_reason::failed: return "failed";
        case park_reason::exhausted: return "exhausted";
        case park_reason::ended_process: return "ended_process";
        case park_reason::session_failed: return "session_failed";
        case park_reason::gap: return "gap";
        case park_reason::contradiction: return "contradiction";
        case park_reason::unreadable: return "unreadable";
        case park_reason::broker: return "broker";
    }
    return "?";
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_STEP_HPP
