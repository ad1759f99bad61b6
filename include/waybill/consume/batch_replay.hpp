// SPDX-License-Identifier: MIT
//
// batch_replay: what a batch without savepoints has learnt when it begins anew.
//
// There a failed event can be undone only with all the others. So the batch starts over and leaves
// out what failed for good or was none of ours, and knows how often the rest has been tried.

#ifndef WAYBILL_CONSUME_BATCH_REPLAY_HPP
#define WAYBILL_CONSUME_BATCH_REPLAY_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include <waybill/consume/batch_steps.hpp>

namespace waybill::inline v0_2::detail {

class batch_replay {
public:
    /// Failed for good; in the order of events.
    [[nodiscard]] const std::vector<act::dead_letter>& parked() const noexcept { return parked_; }

    /// The first event from `event` on that is not left out. Asked with 0 each time that the batch
    /// begins, and then with numbers that grow: all questions together walk the list once.
    [[nodiscard]] std::uint64_t first_left(std::uint64_t event)
    {
        if (event == 0) out_ = retry_ = 0;
        for (; out_ != left_out_.size() && left_out_[out_] <= event; ++out_) {
            if (left_out_[out_] == event) ++event;
        }
        return event;
    }

    void park(const act::dead_letter& letter)
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

    /// Notes the tries of an event. All that failed are remembered, not only the last one: two events
    /// that fail in turns would otherwise take each other's count away for ever.
    void count(std::uint64_t event, std::uint32_t tries)
    {
        auto at = retried_.end();
        while (at != retried_.begin() && (at - 1)->event >= event) --at;
        if (at != retried_.end() && at->event == event) at->tries = tries;
        else retried_.insert(at, {event, tries});
    }

    /// Asked as `first_left` is, with numbers that grow.
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

    // Each in the order of events.
    std::vector<act::dead_letter> parked_;
    std::vector<std::uint64_t> left_out_;  // parked or skipped
    std::vector<retry> retried_;
    std::size_t out_ = 0;    // where the last question was
    std::size_t retry_ = 0;  // in the two lists
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CONSUME_BATCH_REPLAY_HPP
