// SPDX-License-Identifier: MIT
//
// dead_letter_import: stores a message that the broker has dead-lettered.
//
//     waybill::dead_letter_import drain(message.deliveries);
//     while (!drain.over())
//         waybill::match(drain.next(now()),
//             [&](pipeline::write_dead_letter a) { drain.on(upsert(message, a), now()); },
//             [&](complete) { drain.on(pipeline::completed{queue.complete(message)}, now()); },
//             [&](idle) {});                 // upsert returns a pipeline::step_dead_lettered
//
// Guarantees
//   1. The dead letter is written before the message is completed. After a crash between the two
//      calls the import repeats both, and the dead letter replaces itself.
//   2. An imported dead letter has fewer facts than one of a pipeline.
//      `pipeline_dead_letter::merged` keeps the facts of the pipeline.
//
// Import before `plan_redrive`: without the imported step its session has a gap. If the broker
// dead-lettered the last step, the session state stays after the redrive; see the guide.
// A value without locks: one thread at a time.

#ifndef WAYBILL_SESSION_DEAD_LETTER_IMPORT_HPP
#define WAYBILL_SESSION_DEAD_LETTER_IMPORT_HPP

#include <cstdint>
#include <string_view>

#include <waybill/core/act.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/variant.hpp>
#include <waybill/session/pipeline_policy.hpp>
#include <waybill/session/pipeline_steps.hpp>
#include <waybill/session/step.hpp>

namespace waybill::inline v0_2 {

/// The state machine that moves one dead letter from the broker to a table.
class dead_letter_import {
public:
    /// The outcome of an import.
    enum class import_outcome : std::uint8_t {
        running,
        drained,  ///< The dead letter is written, and the message is complete.
        /// The dead letter is not confirmed. The message is delivered again after its lock expires.
        left,
        /// The dead letter is written, but the message may be delivered again and replace it.
        uncertain,
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(import_outcome) noexcept
    {
        return "running, drained, left, uncertain";
    }

    using action = variant<pipeline_types::write_dead_letter, complete, idle>;

    /// For one message. `deliveries`: its deliveries before the broker dead-lettered it; 0 if
    /// unknown. If the table permanently refuses the dead letter, `refused` decides: the message
    /// stays in the broker's queue, or the dead letter is written without a body.
    explicit dead_letter_import(
        std::uint64_t deliveries = 0,
        pipeline_policy::when_refused refused = pipeline_policy::when_refused::hold)
        : dead_letter_{.reason = dead_letter_reason::broker, .tries = deliveries}, refused_(refused)
    {
    }

    [[nodiscard]] action next(steady_time) const
    {
        if (over()) return idle{};
        if (!written_) return dead_letter_;
        return complete{};
    }

    event_result on(const pipeline_types::step_dead_lettered& p, steady_time)
    {
        if (over() || written_) return event_result::stale;
        if (p.kind == fault_kind::none) written_ = true;
        else if (p.kind == fault_kind::permanent && can_drop_body())
            dead_letter_.without_body = true;
        else outcome_ = import_outcome::left;
        return event_result::applied;
    }

    event_result on(const pipeline_types::completed& c, steady_time)
    {
        if (over() || !written_) return event_result::stale;
        outcome_ = c.kind == fault_kind::none ? import_outcome::drained : import_outcome::uncertain;
        return event_result::applied;
    }

    [[nodiscard]] import_outcome outcome() const noexcept { return outcome_; }
    [[nodiscard]] bool over() const noexcept { return outcome_ != import_outcome::running; }

    friend bool operator==(const dead_letter_import&, const dead_letter_import&) = default;

private:
    [[nodiscard]] bool can_drop_body() const noexcept
    {
        return refused_ == pipeline_policy::when_refused::without_body &&
               !dead_letter_.without_body;
    }

    pipeline_types::write_dead_letter dead_letter_;
    pipeline_policy::when_refused refused_ = pipeline_policy::when_refused::hold;
    bool written_ = false;
    import_outcome outcome_ = import_outcome::running;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_DEAD_LETTER_IMPORT_HPP
