// SPDX-License-Identifier: MIT
//
// letter_drain: takes a message that the broker has parked itself to where the other letters are.
//
//     waybill::letter_drain drain(message.deliveries);
//     while (!drain.over())
//         waybill::match(drain.next(now()),
//             [&](act::park a)     { drain.on(step_parked{upsert(message, a)}, now()); },
//             [&](act::complete)   { drain.on(completed{dead_letters.complete(message)}, now()); },
//             [&](act::idle)       {});
//
// First the letter is written, then the message is completed; what dies between does both again,
// and the letter replaces itself. A drained letter knows less than one of a pipeline: see
// merged_letter().
//
// A broker parks a step when its deliveries are used up, or its time; the next steps then come to a
// gap, and their letters say where the session stands. With the drained one among them the session
// is whole and can be redriven. Drain before you plan.
//
// Behind a last step that the broker has parked nothing comes that would clear the state. It stays
// when the step has come back in another session: plan_sweep names it as stuck, and lets it go once
// it is older than `give_up_after`, which is never unless somebody says so; where the session had
// failed before, once it is older than `keep_failed`. Who clears it by hand does so after the
// redrive: until then a drain reads in it where the session stands, and what it remembers.
// A value without locks: one thread at a time.

#ifndef WAYBILL_SESSION_LETTER_DRAIN_HPP
#define WAYBILL_SESSION_LETTER_DRAIN_HPP

#include <cstdint>
#include <string_view>
#include <variant>

#include <waybill/consume/settle.hpp>
#include <waybill/core/act.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/session/pipeline_policy.hpp>
#include <waybill/session/pipeline_steps.hpp>
#include <waybill/session/step.hpp>

namespace waybill::inline v0_2 {

/// What became of a message that was to be drained.
enum class drain_end : std::uint8_t {
    running,
    drained,   ///< There is a letter, and the message is complete.
    left,      ///< There is no letter for sure. The message comes again when its lock runs out.
    uncertain, ///< There is a letter; perhaps the message comes again, and replaces it.
};

[[nodiscard]] constexpr std::string_view name(drain_end e) noexcept
{
    switch (e) {
        case drain_end::running: return "running";
        case drain_end::drained: return "drained";
        case drain_end::left: return "left";
        case drain_end::uncertain: return "uncertain";
    }
    return "?";
}

class letter_drain {
public:
    using action = std::variant<act::park, act::complete, act::idle>;

    /// For one message, delivered so often before the broker parked it. Where its letter is refused
    /// for good it stays with the broker, or its letter is written without its body.
    explicit letter_drain(std::uint64_t deliveries = 0, when_refused refused = when_refused::hold)
        : park_{park_reason::broker, 0, 0, deliveries}, refused_(refused)
    {
    }

    [[nodiscard]] action next(steady_time) const
    {
        if (over()) return act::idle{};
        if (!written_) return park_;
        return act::complete{};
    }

    heard on(const step_parked& p, steady_time)
    {
        if (over() || written_) return heard::late;
        if (p.how == fault_class::none) written_ = true;
        else if (p.how == fault_class::permanent && may_be_bare()) park_.bare = true;
        else end_ = drain_end::left;
        return heard::taken;
    }

    heard on(const completed& c, steady_time)
    {
        if (over() || !written_) return heard::late;
        end_ = c.how == fault_class::none ? drain_end::drained : drain_end::uncertain;
        return heard::taken;
    }

    [[nodiscard]] drain_end end() const noexcept { return end_; }
    [[nodiscard]] bool over() const noexcept { return end_ != drain_end::running; }

    friend bool operator==(const letter_drain&, const letter_drain&) = default;

private:
    [[nodiscard]] bool may_be_bare() const noexcept
    {
        return refused_ == when_refused::without_body && !park_.bare;
    }

    act::park park_;
    when_refused refused_ = when_refused::hold;
    bool written_ = false;
    drain_end end_ = drain_end::running;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_LETTER_DRAIN_HPP
