// SPDX-License-Identifier: MIT
//
// attempt: what is noted of a batch before it is handled, and which event ended its process.
//
// An event that ends the process that handles it never comes to the failure path: nobody is left to
// count. The same holds for an event whose handler throws. So a row is written before anything is
// handled, and removed with the checkpoint. A row that is found belongs to a delivery that never
// ended. The next delivery plans with it:
//
//     const waybill::attempt_offer offer{from, events, within, my_incarnation, my_epoch, ended};
//     auto plan = waybill::placed(waybill::plan_attempt(found, offer, deaths), last_sequence);
//     plan.events         // deliver so many, from the first on; `placed` is told the last of them
//     plan.condemned      // the one event, by itself, has ended its process too often: park it
//     plan.noted          // what to write before it
//
// A row names its suspects by the sequence of the last one, not by their number: what retention took
// from the log is no suspect any more, and what stands in its place never was. One event is condemned
// only by deaths of that very event, delivered alone.
//
// A delivery that ends without a commit, a death or an exception reads the row again. If the row is
// still the one that it wrote, it restores the row before that. If the store fails, the row stays.
// A death is
//   - the row of another incarnation: with leases only of the one whose lease had expired
//     (`assignment::ended`), without leases of any other one;
//   - the row of the same incarnation, unless the delivery that noted it returned a report
//     (`assignment::last`). So a handler that throws counts as one that ended its process, if the
//     caller catches and delivers again.
// No outage of a store counts as long as processes live, renew their leases, and keep one assignment
// from delivery to delivery. With a new assignment for each delivery, a store that fails while a
// delivery ends counts as a death.
//
// Some deaths are counted although no handler caused them: a process that slept past its lease, or
// that ended for other reasons while its row existed. Without leases an owner that is still working
// counts, too. A death is not counted if another owner takes the partition for balance before the
// lease expires. A row of a higher epoch belongs to a later owner and is left alone. If another
// owner writes its row between the read and the commit, deaths may be miscounted; effects are not
// affected.
//
// After `deaths` deaths in a row the first half of the suspects is delivered alone. If it goes well
// the rest is halved, if the process dies it is. The event that is found so is delivered alone until
// it has ended its process `deaths` times by itself, since a process may be killed for other reasons.
// Of a batch of n events, one of which ends every process, so many die: 2 * deaths + log2(n) - 1,
// rounded down, or `deaths` where n is 1. `deaths_at_most` says it.

#ifndef WAYBILL_CONSUME_ATTEMPT_HPP
#define WAYBILL_CONSUME_ATTEMPT_HPP

#include <cstdint>
#include <optional>

#include <waybill/core/saturating.hpp>

namespace waybill::inline v0_2 {

/// The row of a partition: a delivery was begun, or a search for one event goes on.
struct attempt {
    std::optional<std::uint64_t> from{};  ///< Sequence of the checkpoint that it started from.
    std::uint64_t to = 0;                 ///< Sequence of the last suspect.
    std::uint64_t suspects = 0;  ///< So many events they were: one of them, if it is any.
    std::uint32_t deaths = 0;    ///< So many deliveries of just these were not ended in order.
    std::uint64_t by = 0;        ///< The incarnation that is at it; 0 if none is.
    std::uint64_t epoch = 0;     ///< Of the owner who wrote it.

    friend bool operator==(const attempt&, const attempt&) = default;
};

/// The batch that is at hand, and whose it is.
struct attempt_offer {
    std::optional<std::uint64_t> from{};  ///< Sequence of the checkpoint before it.
    std::uint64_t events = 0;
    std::uint64_t within = 0;  ///< So many of them have sequences up to that of the last suspect.
    std::uint64_t incarnation = 0;
    std::uint64_t epoch = 0;
    /// Only this incarnation is taken for dead, or every other one where that is empty.
    std::optional<std::uint64_t> ended{};
    /// The last delivery of `incarnation` returned a report: a row of that incarnation is no death.
    bool returned = false;

    friend bool operator==(const attempt_offer&, const attempt_offer&) = default;
};

/// What to make of the row that was found.
struct attempt_plan {
    std::uint64_t events = 0;            ///< Deliver so many of the batch, from its first on.
    bool condemned = false;              ///< That is one event, which is not to be handled again.
    attempt noted{};                     ///< To be written before it.
    std::optional<attempt> called_off{}; ///< To be written if it ends in order without a commit.
    std::uint64_t left = 0;              ///< So many after them stay suspects if they go well.

    friend bool operator==(const attempt_plan&, const attempt_plan&) = default;
};

/// How many events to deliver of those that are offered. What is to be noted about them lacks their
/// end still: see `placed`.
[[nodiscard]] constexpr attempt_plan plan_attempt(const std::optional<attempt>& found,
                                                  const attempt_offer& o,
                                                  std::uint32_t deaths) noexcept
{
    attempt_plan p{o.events, false, {o.from, 0, o.events, 0, o.incarnation, o.epoch}, {}, 0};
    const std::uint64_t suspects = lesser(o.within, o.events);
    if (!found || found->from != o.from || found->suspects == 0 || suspects == 0) return p;

    attempt known = *found;
    const bool same = known.by == o.incarnation;
    const bool gone = same ? !o.returned : known.by == o.ended.value_or(known.by);
    const bool died = known.by != 0 && gone;
    if (died && known.deaths != UINT32_MAX) ++known.deaths;
    known.by = 0;
    known.epoch = o.epoch;
    p.called_off = known;
    // The batch may end before the last suspect, some may have left the log, and some come to it.
    // What several did together says nothing about the one that is left.
    if (suspects == 1 && known.suspects != 1) known.deaths = 0;
    const bool often = known.deaths >= greater(deaths, 1);
    p.events = suspects;
    p.condemned = often && suspects == 1;
    if (often && suspects > 1) {
        p.events = suspects / 2;
        p.left = suspects - p.events;
    }
    p.noted.suspects = p.events;
    p.noted.deaths = p.left != 0 && p.events == 1 ? 0 : known.deaths;
    return p;
}

/// The same, once it is known where the events that it delivers end. One of them alone that is not
/// the one that was suspected alone begins anew, and nothing is known of it.
[[nodiscard]] constexpr attempt_plan placed(attempt_plan p, std::uint64_t to) noexcept
{
    p.noted.to = to;
    const bool alone = p.called_off && p.called_off->suspects == 1 && p.events == 1 && p.left == 0;
    if (!alone || p.called_off->to == to) return p;
    return {1, false, {p.noted.from, to, 1, 0, p.noted.by, p.noted.epoch}, {}, 0};
}

/// What to note, within the transaction, of a delivery that reached `to`; nothing where no search is
/// going on any more.
[[nodiscard]] constexpr std::optional<attempt> attempt_after(const attempt_plan& p,
                                                             std::uint64_t to) noexcept
{
    if (p.left == 0) return {};
    attempt rest = *p.called_off;
    rest.from = to;
    rest.suspects = p.left;
    if (p.left == 1) rest.deaths = 0;
    return rest;
}

/// So many processes at the most are ended by one event in a batch of `events` until it is parked.
[[nodiscard]] constexpr std::uint64_t deaths_at_most(std::uint64_t events,
                                                     std::uint32_t deaths) noexcept
{
    const std::uint64_t each = greater(deaths, 1);
    if (events < 2) return each;
    std::uint64_t most = 2 * each - 1;
    for (; events > 1; events /= 2) ++most;
    return most;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_ATTEMPT_HPP
