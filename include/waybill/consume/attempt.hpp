// SPDX-License-Identifier: MIT
//
// attempt: what is noted of a batch before it is handled, and which event ended its process.
//
// An event that ends the process that handles it never comes to the failure path: nobody is left to
// count. So a row is written before anything is handled, and removed with the checkpoint. Whoever
// finds the row of a process that is dead knows that it died there, and plans with it:
//
//     auto plan = waybill::plan_attempt(found, from, events, my_incarnation, deaths, ended);
//     plan.events         // deliver so many, from the first on
//     plan.condemned      // the one event, by itself, has ended its process too often: park it
//     plan.noted          // what to write before it
//
// A delivery that fails and lives to say so writes the row back as it was. Where that fails, too, the
// row stays, and who finds it has to know whether its process lives. It does if it is one's own. With
// leases it does also if the partition was given back or taken for balance: only that incarnation is
// taken for dead whose lease had expired (`assignment::ended`). So no outage of a store is counted as
// a death, however long it lasts and whoever takes over, as long as processes live and renew their
// leases. What is counted although no handler is to blame: a process that sleeps past its lease, or
// ends for other reasons while its row is there. Without leases that is every restart during an
// outage of the store, one made by hand as well, and every owner who was replaced in mid-batch
// (`abandoned`); `deaths` of these in a row begin a search, and condemn where the batch is one event.
// So whoever has owners that replace each other without leases says in `ended` who has died.
// And a death is not counted whose partition is taken for balance before its lease expires.
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

namespace waybill::inline v0_1 {

/// The row of a partition: a delivery was begun, or a search for one event goes on.
struct attempt {
    std::optional<std::uint64_t> from{};  ///< Sequence of the checkpoint that it started from.
    std::uint64_t suspects = 0;           ///< One of so many events after it, if it is any of them.
    std::uint32_t deaths = 0;  ///< So many deliveries of just these were not ended in order.
    std::uint64_t by = 0;      ///< The incarnation that is at it; 0 if none is.

    friend bool operator==(const attempt&, const attempt&) = default;
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

/// What to deliver of `events` events after the checkpoint `from`, and what to note about it. Only
/// `ended` is taken for dead, or every other incarnation where that is empty.
[[nodiscard]] constexpr attempt_plan plan_attempt(const std::optional<attempt>& found,
                                                  const std::optional<std::uint64_t>& from,
                                                  std::uint64_t events, std::uint64_t incarnation,
                                                  std::uint32_t deaths,
                                                  std::optional<std::uint64_t> ended = {}) noexcept
{
    attempt_plan p{events, false, {from, events, 0, incarnation}, {}, 0};
    if (!found || found->from != from || found->suspects == 0 || events == 0) return p;

    attempt known = *found;
    const bool died =
        known.by != 0 && known.by != incarnation && known.by == ended.value_or(known.by);
    if (died && known.deaths != UINT32_MAX) ++known.deaths;
    known.by = 0;
    if (events < known.suspects) {
        known.suspects = events;
        // What more of them did together says nothing about this one by itself.
        if (events == 1) known.deaths = 0;
    }
    const bool often = known.deaths >= greater(deaths, 1);
    p.events = known.suspects;
    if (often && known.suspects == 1) p.condemned = true;
    if (often && known.suspects > 1) {
        p.events = known.suspects / 2;
        p.left = known.suspects - p.events;
    }
    p.called_off = known;
    p.noted = {from, p.events, p.left != 0 && p.events == 1 ? 0 : known.deaths, incarnation};
    return p;
}

/// What to note, within the transaction, of a delivery that reached `to`; nothing where no search is
/// going on any more.
[[nodiscard]] constexpr std::optional<attempt> attempt_after(const attempt_plan& p,
                                                             std::uint64_t to) noexcept
{
    if (p.left == 0) return {};
    return attempt{to, p.left, p.left == 1 ? 0 : p.called_off->deaths, 0};
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

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_CONSUME_ATTEMPT_HPP
