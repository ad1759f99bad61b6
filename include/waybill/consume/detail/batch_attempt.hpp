// SPDX-License-Identifier: MIT
//
// batch_attempt: how one delivery of a batch uses the crash record (crash_record.hpp).

#ifndef WAYBILL_CONSUME_DETAIL_BATCH_ATTEMPT_HPP
#define WAYBILL_CONSUME_DETAIL_BATCH_ATTEMPT_HPP

#include <cstdint>
#include <optional>

#include <waybill/consume/batch_steps.hpp>
#include <waybill/consume/crash_record.hpp>
#include <waybill/consume/detail/attempt_plan.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/fault.hpp>

namespace waybill::inline v0_2::detail {

class batch_attempt {
public:
    batch_attempt(std::uint64_t incarnation, std::uint64_t epoch,
                  std::optional<std::uint64_t> expired_incarnation, bool report_returned)
        : expired_incarnation_(expired_incarnation), report_returned_(report_returned)
    {
        plan_.initial.incarnation = incarnation;
        plan_.initial.epoch = epoch;
    }

    /// A later owner wrote the record: this process was replaced and does not know it yet.
    [[nodiscard]] bool is_of_later_owner(const batch_machine_types::crash_record_loaded& r) const
    {
        return r.found && r.found->epoch > plan_.initial.epoch;
    }

    /// Plans to deliver all events, because no record was found.
    void plan_all(const std::optional<std::uint64_t>& from, std::uint64_t events)
    {
        plan_.events = plan_.initial.suspects = events;
        plan_.initial.from = from;
    }

    /// Plans how many of the `events` events to deliver, from the loaded record. `deaths` is the
    /// limit of deaths in a row.
    void make_plan(const batch_machine_types::crash_record_loaded& r,
                   const std::optional<std::uint64_t>& from, std::uint64_t events,
                   std::uint32_t deaths)
    {
        if (!r.found) return plan_all(from, events);
        const std::uint64_t within = r.within == highest_size ? r.found->suspects : r.within;
        const attempt_offer o{.from = from,
                              .events = events,
                              .within = within,
                              .incarnation = plan_.initial.incarnation,
                              .epoch = plan_.initial.epoch,
                              .expired_incarnation = expired_incarnation_,
                              .report_returned = report_returned_};
        plan_ = plan_attempt(r.found, o, deaths);
    }
    /// `to` is the sequence of the last delivered event.
    void set_last_event(std::uint64_t to)
    {
        if (plan_.restored) plan_ = with_last_event(plan_, to);
        else plan_.initial.to = to;
    }
    [[nodiscard]] const attempt_plan& plan() const noexcept { return plan_; }

    /// From now on the stored record may be the one of this delivery.
    void set_stored() { stored_ = true; }
    [[nodiscard]] bool stored() const noexcept { return stored_; }
    /// True if the stored record equals the one that this delivery stored. Otherwise another owner
    /// wrote it, or the batch was committed.
    [[nodiscard]] bool is_own(const batch_machine_types::crash_record_loaded& r) const
    {
        return r.kind == fault_kind::none && r.found == plan_.initial;
    }
    /// The crash record to store together with the checkpoint `to`.
    [[nodiscard]] std::optional<crash_record> record_after_commit(std::uint64_t to) const
    {
        return crash_record_after(plan_, to);
    }

    friend bool operator==(const batch_attempt&, const batch_attempt&) = default;

private:
    std::optional<std::uint64_t> expired_incarnation_;
    bool report_returned_;
    attempt_plan plan_;  // always has the own incarnation and epoch in `initial`
    bool stored_ = false;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CONSUME_DETAIL_BATCH_ATTEMPT_HPP
