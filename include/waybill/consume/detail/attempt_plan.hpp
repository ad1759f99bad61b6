// SPDX-License-Identifier: MIT
//
// attempt_plan: how many events of a batch are delivered after deliveries that did not return.
// The crash record contains the suspects; the plan halves them until one is left.
//
//     const detail::attempt_offer offer{from, events, suspects_in_batch, my_incarnation, my_epoch,
//                                       expired_incarnation};
//     auto plan = detail::plan_attempt(crash_record, offer, max_deaths);
//     plan.events            // deliver the first n events
//     plan = detail::with_last_event(plan, sequence_of_event_n);
//     plan.poison_message    // it alone ended its process too often: dead-letter it
//     plan.initial           // the crash record to store before the delivery
//
// The guarantees are in crash_record.hpp.

#ifndef WAYBILL_CONSUME_DETAIL_ATTEMPT_PLAN_HPP
#define WAYBILL_CONSUME_DETAIL_ATTEMPT_PLAN_HPP

#include <cstdint>
#include <optional>

#include <waybill/consume/crash_record.hpp>
#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::detail {

/// The batch to be delivered, and its owner.
struct attempt_offer {
    std::optional<std::uint64_t> from{};  ///< Sequence of the checkpoint before the batch.
    std::uint64_t events = 0;
    /// Number of events in the batch whose sequence is at most that of the last suspect.
    std::uint64_t within = 0;
    std::uint64_t incarnation = 0;
    std::uint64_t epoch = 0;
    /// The only other incarnation that counts as dead; 0 for none. If empty, all others do.
    std::optional<std::uint64_t> expired_incarnation{};
    /// The last delivery of `incarnation` returned a report: its record does not count as a death.
    bool report_returned = false;

    friend bool operator==(const attempt_offer&, const attempt_offer&) = default;
};

/// The decision about a batch, made from the crash record that was found.
struct attempt_plan {
    std::uint64_t events = 0;     ///< Number of events to deliver, from the first on.
    bool poison_message = false;  ///< The only event is a poison message: do not handle it.
    crash_record initial{};       ///< Crash record to store before the delivery.
    std::optional<crash_record> restored{};  ///< Record to restore after an end without commit.
    std::uint64_t remaining_suspects = 0;    ///< Later events that stay suspects after a commit.

    friend bool operator==(const attempt_plan&, const attempt_plan&) = default;
};

/// Plans how many of the offered events to deliver: all, if there is no record of this checkpoint.
/// `deaths` is the limit of deaths in a row; 0 counts as 1. `initial.to` is still missing: see
/// `with_last_event`. Constant time.
[[nodiscard]] constexpr attempt_plan plan_attempt(const std::optional<crash_record>& found,
                                                  const attempt_offer& o,
                                                  std::uint32_t deaths) noexcept
{
    attempt_plan p{
        .events = o.events,
        .initial = {
            .from = o.from, .suspects = o.events, .incarnation = o.incarnation, .epoch = o.epoch}};
    const std::uint64_t suspects = lesser(o.within, o.events);
    if (!found || found->from != o.from || found->suspects == 0 || suspects == 0) return p;

    crash_record record = *found;
    const bool own = record.incarnation == o.incarnation;
    // If it is unknown which incarnation expired, every other incarnation counts as ended.
    const bool incarnation_ended =
        own ? !o.report_returned
            : record.incarnation == o.expired_incarnation.value_or(record.incarnation);
    const bool died = record.incarnation != 0 && incarnation_ended;
    if (died && record.deaths != UINT32_MAX) ++record.deaths;
    record.incarnation = 0;
    record.epoch = o.epoch;
    p.restored = record;
    // The batch may end before the last suspect, suspects may have left the log, and other events
    // may have been added. Deaths of several suspects together do not count for the last one.
    if (suspects == 1 && record.suspects != 1) record.deaths = 0;
    const bool limit_reached = record.deaths >= greater(deaths, 1);
    p.events = suspects;
    p.poison_message = limit_reached && suspects == 1;
    if (limit_reached && suspects > 1) {
        p.events = suspects / 2;
        p.remaining_suspects = suspects - p.events;
    }
    p.initial.suspects = p.events;
    p.initial.deaths = p.remaining_suspects != 0 && p.events == 1 ? 0 : record.deaths;
    return p;
}

/// Completes a plan with `to`, the sequence of the last delivered event. If a single event is
/// delivered and is not the single suspect of the record, its deaths are counted from 0 again.
[[nodiscard]] constexpr attempt_plan with_last_event(attempt_plan p, std::uint64_t to) noexcept
{
    p.initial.to = to;
    const bool single_suspect =
        p.restored && p.restored->suspects == 1 && p.events == 1 && p.remaining_suspects == 0;
    if (!single_suspect || p.restored->to == to) return p;
    return {.events = 1,
            .initial = {.from = p.initial.from,
                        .to = to,
                        .suspects = 1,
                        .incarnation = p.initial.incarnation,
                        .epoch = p.initial.epoch}};
}

/// The crash record to store in the transaction of a delivery that reached `to`. Empty if the
/// search is over: then the record is removed.
[[nodiscard]] constexpr std::optional<crash_record> crash_record_after(const attempt_plan& p,
                                                                       std::uint64_t to) noexcept
{
    if (p.remaining_suspects == 0) return {};
    crash_record remaining = *p.restored;
    remaining.from = to;
    remaining.suspects = p.remaining_suspects;
    if (p.remaining_suspects == 1) remaining.deaths = 0;
    return remaining;
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CONSUME_DETAIL_ATTEMPT_PLAN_HPP
