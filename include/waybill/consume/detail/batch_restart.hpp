// SPDX-License-Identifier: MIT
//
// batch_restart: the failures and tries that a batch without savepoints remembers when it restarts.
//
// Without savepoints, a failed event can be undone only together with all other events. So the
// batch restarts and leaves out events that failed in their last try or were skipped. The tries of
// the other events are kept.

#ifndef WAYBILL_CONSUME_DETAIL_BATCH_RESTART_HPP
#define WAYBILL_CONSUME_DETAIL_BATCH_RESTART_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include <waybill/consume/batch_steps.hpp>

namespace waybill::inline v0_2::detail {

class batch_restart {
public:
    /// Dead letters of the events that failed in their last try, in the order of events.
    [[nodiscard]] const std::vector<batch_machine_types::write_dead_letter>& dead_letters()
        const noexcept
    {
        return dead_letters_;
    }

    /// The first event from `event` on that is not left out. Called with 0 at each start of the
    /// batch, then with ascending numbers. All calls of one run together read the list once.
    [[nodiscard]] std::uint64_t next_to_handle(std::uint64_t event)
    {
        if (event == 0) excluded_index_ = retried_index_ = 0;
        for (; excluded_index_ != excluded_.size() && excluded_[excluded_index_] <= event;
             ++excluded_index_) {
            if (excluded_[excluded_index_] == event) ++event;
        }
        return event;
    }

    void dead_letter(const batch_machine_types::write_dead_letter& letter)
    {
        auto at = dead_letters_.end();
        while (at != dead_letters_.begin() && (at - 1)->event > letter.event) --at;
        dead_letters_.insert(at, letter);
        skip(letter.event);
    }

    void skip(std::uint64_t event)
    {
        auto at = excluded_.end();
        while (at != excluded_.begin() && *(at - 1) > event) --at;
        excluded_.insert(at, event);
    }

    /// Stores the tries of an event. All failed events are kept, not only the last one. Otherwise
    /// two events that fail in turn would reset each other's count forever.
    void count(std::uint64_t event, std::uint32_t tries)
    {
        auto at = retried_.end();
        while (at != retried_.begin() && (at - 1)->event >= event) --at;
        if (at != retried_.end() && at->event == event) at->tries = tries;
        else retried_.insert(at, {.event = event, .tries = tries});
    }

    /// The stored tries of an event; 0 if none are stored. Called with ascending numbers, after
    /// `next_to_handle`.
    [[nodiscard]] std::uint32_t tries_of(std::uint64_t event)
    {
        while (retried_index_ != retried_.size() && retried_[retried_index_].event < event)
            ++retried_index_;
        const bool known =
            retried_index_ != retried_.size() && retried_[retried_index_].event == event;
        return known ? retried_[retried_index_].tries : 0;
    }

    friend bool operator==(const batch_restart&, const batch_restart&) = default;

private:
    struct retry {
        std::uint64_t event = 0;
        std::uint32_t tries = 0;
        friend bool operator==(const retry&, const retry&) = default;
    };

    // All three lists are in the order of events.
    std::vector<batch_machine_types::write_dead_letter> dead_letters_;
    std::vector<std::uint64_t> excluded_;  // dead-lettered or skipped
    std::vector<retry> retried_;
    std::size_t excluded_index_ = 0;  // current index in excluded_
    std::size_t retried_index_ = 0;   // current index in retried_
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CONSUME_DETAIL_BATCH_RESTART_HPP
