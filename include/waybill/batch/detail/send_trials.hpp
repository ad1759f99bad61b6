// SPDX-License-Identifier: MIT
//
// send_trials: decides which items are sent although they exceed a reported limit.
//
// Part of the sender. A reported limit may be wrong, or may be raised later; only a trial shows
// that. If a higher limit is known, an item above the reported limit is sent alone. After an item
// of at most the same size was refused alone, only every second, fourth ... 32nd is sent. So a
// correct limit costs few requests.

#ifndef WAYBILL_BATCH_DETAIL_SEND_TRIALS_HPP
#define WAYBILL_BATCH_DETAIL_SEND_TRIALS_HPP

#include <cstdint>

#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::detail {

class send_trials {
public:
    /// True if item `n` is to be sent alone. It has `bytes` bytes, more than the reported `limit`.
    [[nodiscard]] bool begin_trial(std::uint64_t n, std::uint64_t bytes,
                                   std::uint64_t limit) noexcept
    {
        if (limit != limit_) {
            limit_ = limit;
            skipped_count_ = 0;
            trial_interval_ = 1;
        }
        if (bytes >= smallest_refused_) {
            if (++skipped_count_ < trial_interval_) return false;
            skipped_count_ = 0;
            if (trial_interval_ < max_trial_interval) trial_interval_ *= 2;
        }
        last_trial_ = n;
        return true;
    }

    /// An item of `bytes` bytes was refused alone.
    void refused(std::uint64_t bytes) noexcept
    {
        smallest_refused_ = lesser(smallest_refused_, bytes);
    }
    /// An item of `bytes` bytes was accepted alone. Earlier refusals of items of at most this size
    /// no longer count.
    void accepted(std::uint64_t bytes) noexcept
    {
        if (bytes >= smallest_refused_) smallest_refused_ = highest_size;
    }

    /// The number of the last item that was tried; `highest_size` before the first trial.
    [[nodiscard]] std::uint64_t last_trial() const noexcept { return last_trial_; }

    friend bool operator==(const send_trials&, const send_trials&) = default;

private:
    static constexpr std::uint32_t max_trial_interval = 32;

    std::uint64_t limit_ = 0;  // the reported limit that is tested
    std::uint64_t last_trial_ = highest_size;
    std::uint64_t smallest_refused_ = highest_size;  // smallest size that was refused alone
    std::uint32_t skipped_count_ = 0;                // items since the last trial
    std::uint32_t trial_interval_ = 1;               // every n-th item is tried
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_SEND_TRIALS_HPP
