// SPDX-License-Identifier: MIT
//
// step: the properties of a step in its message, the facts about a received message, and the
// reasons for dead-lettering a step.
//
// A session is one job, for example an order with 5 steps or an import of 4,567 products. Each step
// is one message. All messages of a session have its session id, and the broker delivers them in
// order. The sender writes the number of the step into the message (`step_properties`). A pipeline
// receives these numbers with the broker's sequence number and delivery count (`step_facts`).

#ifndef WAYBILL_SESSION_STEP_HPP
#define WAYBILL_SESSION_STEP_HPP

#include <cstdint>
#include <string>
#include <string_view>

#include <waybill/core/enum_name.hpp>

namespace waybill::inline v0_2 {

/// The step properties that a sender writes into a message; `job` creates them.
struct step_properties {
    struct origin;
    struct read_result;

    /// The names of the properties.
    struct names {
        static constexpr std::string_view session = "waybill-session";
        static constexpr std::string_view step = "waybill-step";
        static constexpr std::string_view first = "waybill-first";
        static constexpr std::string_view total = "waybill-total";
        static constexpr std::string_view last = "waybill-last";
        static constexpr std::string_view origin = "waybill-origin";
        static constexpr std::string_view origin_sequence = "waybill-origin-sequence";
        static constexpr std::string_view origin_message = "waybill-origin-message";
        static constexpr std::string_view generation = "waybill-generation";
        static constexpr std::string_view tries = "waybill-tries";
        static constexpr std::string_view state = "waybill-state";
    };

    std::string session{};    ///< The session id, 1 to 128 bytes.
    std::uint64_t step = 1;   ///< The number of the step, from 1 on, without gaps.
    std::uint64_t first = 1;  ///< The first step of the session; more than 1 after a redrive.
    std::uint64_t total = 0;  ///< The number of the last step; 0 if it is not known yet.
    bool last = false;        ///< No step follows.

    friend bool operator==(const step_properties&, const step_properties&) = default;
};

/// The facts that a consumer knows about a received message.
struct step_facts {
    std::uint64_t sequence = 0;  ///< The broker's sequence number of the message.
    std::uint64_t step = 1;      ///< The number of the step, from 1 on.
    std::uint64_t first = 1;     ///< The first step of the session; more than 1 after a redrive.
    std::uint64_t total = 0;     ///< The number of the last step; 0 if it is not known yet.
    bool last = false;           ///< No step follows.
    /// The number of deliveries, this one included, as in SQS and the SDKs of Service Bus. AMQP's
    /// delivery-count contains only the earlier ones: add 1. 0: the broker does not count.
    std::uint64_t deliveries = 1;
    /// The message has no step number. `step` is not used: the pipeline numbers the message by its
    /// arrival in the session, from 1 on. The guide lists the cases that this cannot detect.
    bool by_arrival = false;

    /// The facts about a message with these properties, for a pipeline.
    [[nodiscard]] static constexpr step_facts of(const step_properties& s, std::uint64_t sequence,
                                                 std::uint64_t deliveries) noexcept
    {
        return {.sequence = sequence,
                .step = s.step,
                .first = s.first,
                .total = s.total,
                .last = s.last,
                .deliveries = deliveries};
    }

    friend bool operator==(const step_facts&, const step_facts&) = default;
};

/// The reason why a step is dead-lettered.
enum class dead_letter_reason : std::uint8_t {
    failed,          ///< The fault is permanent.
    exhausted,       ///< The retry limit is reached.
    ended_process,   ///< The delivery limit is reached, and no delivery reported a result.
    session_failed,  ///< An earlier step of its session failed.
    gap,             ///< An earlier step is missing.
    contradiction,   ///< The numbers of the step contradict each other or its session.
    unreadable,      ///< The state of its session cannot be read.
    broker,          ///< The broker dead-lettered it.
};

[[nodiscard]] constexpr std::string_view texts_of(dead_letter_reason) noexcept
{
    return "failed, exhausted, ended_process, session_failed, gap, contradiction, unreadable, "
           "broker";
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_STEP_HPP
