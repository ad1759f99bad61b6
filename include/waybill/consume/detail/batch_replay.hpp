// SPDX-License-Identifier: MIT
//
// batch_replay: the knowledge that a batch without savepoints keeps when it restarts.
//
// Without savepoints, a failed event can be undone only together with all other events. So the
// batch restarts and leaves out events that failed for good or were skipped. The tries of the other
// events are kept.

#ifndef WAYBILL_CONSUME_DETAIL_BATCH_REPLAY_HPP
#define WAYBILL_CONSUME_DETAIL_BATCH_REPLAY_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include <waybill/consume/batch_steps.hpp>

namespace waybill::inline v0_2::detail {

class batch_replay {
public:
    /// Dead letters of the events that failed for good, in the order of events.
    [[nodiscard]] const std::vector<batch_machine_types::write_dead_letter>& parked() const noexcept
    {
        return parked_;
    }

    /// The first event from `event` on that is not left out. Called with 0 at each start of the
    /// batch, then with ascending numbers. All calls of one run together read the list once.
    [[nodiscard]] std::uint64_t first_left(std::uint64_t event)
    {
        if (event == 0) out_ = retry_ = 0;
        for (; out_ != left_out_.size() && left_out_[out_] <= event; ++out_) {
            if (left_out_[out_] == event) ++event;
        }
        return event;
    }

    void park(const batch_machine_types::write_dead_letter& letter)
    {
        auto at = parked_.end();
        while (at != parked_.begin() && (at - 1)->event > letter.event) --at;
        parked_.insert(at, letter);
        skip(letter.event);
    }

    void skip(std::uint64_t event)
    {
        auto at = left_out_.end();
        while (at != left_out_.begin() && *(at - 1) > event) --at;
        left_out_.insert(at, event);
    }

    /// Stores the tries of an event. All failed events are kept, not only the last one. Otherwise
    /// two events that fail in turn would reset each other's count forever.
    void count(std::uint64_t event, std::uint32_t tries)
    {
        auto at = retried_.end();
        while (at != retried_.begin() && (at - 1)->event >= event) --at;
        if (at != retried_.end() && at->event == event) at->tries = tries;
        else retried_.insert(at, {event, tries});
    }

    /// Like `first_left`, called with ascending numbers.
    [[nodiscard]] std::uint32_t tries_of(std::uint64_t event)
    {
        while (retry_ != retried_.size() && retried_[retry_].event < event) ++retry_;
        const bool known = retry_ != retried_.size() && retried_[retry_].event == event;
        return known ? retried_[retry_].tries : 0;
    }

    friend bool operator==(const batch_replay&, const batch_replay&) = default;

private:
    struct retry {
        std::uint64_t event = 0;
        std::uint32_t tries = 0;
        friend bool operator==(const retry&, const retry&) = default;
    };

    // All three lists are in the order of events.
    std::vector<batch_machine_types::write_dead_letter> parked_;
    std::vector<std::uint64_t> left_out_;  // dead-lettered or skipped
    std::vector<retry> retried_;
    std::size_t out_ = 0;    // current index in left_out_
    std::size_t retry_ = 0;  // current index in retried_
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CONSUME_DETAIL_BATCH_REPLAY_HPP
