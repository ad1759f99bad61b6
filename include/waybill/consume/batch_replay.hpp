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

namespace waybill::inline v0_1::detail {

class batch_replay {
public:
    /// Failed for good; in the order of events.
    [[nodiscard]] const std::vector<act::dead_letter>& parked() const noexcept { return parked_; }

    [[nodiscard]] bool leaves_out(std::uint64_t event) const
    {
        for (const act::dead_letter& d : parked_) {
            if (d.event == event) return true;
        }
        for (const std::uint64_t s : skipped_) {
            if (s == event) return true;
        }
        return false;
    }

    void park(const act::dead_letter& letter)
    {
        auto at = parked_.begin();
        while (at != parked_.end() && at->event < letter.event) ++at;
        parked_.insert(at, letter);
    }

    void skip(std::uint64_t event) { skipped_.push_back(event); }

    /// Notes the tries of an event. All that failed are remembered, not only the last one: two events
    /// that fail in turns would otherwise take each other's count away for ever.
    void count(std::uint64_t event, std::uint32_t tries)
    {
        for (retry& r : retried_) {
            if (r.event == event) {
                r.tries = tries;
                return;
            }
        }
        retried_.push_back({event, tries});
    }

    [[nodiscard]] std::uint32_t tries_of(std::uint64_t event) const
    {
        for (const retry& r : retried_) {
            if (r.event == event) return r.tries;
        }
        return 0;
    }

    friend bool operator==(const batch_replay&, const batch_replay&) = default;

private:
    struct retry {
        std::uint64_t event = 0;
        std::uint32_t tries = 0;
        friend bool operator==(const retry&, const retry&) = default;
    };

    std::vector<act::dead_letter> parked_;
    std::vector<std::uint64_t> skipped_;
    std::vector<retry> retried_;
};

}  // namespace waybill::inline v0_1::detail

#endif  // WAYBILL_CONSUME_BATCH_REPLAY_HPP
