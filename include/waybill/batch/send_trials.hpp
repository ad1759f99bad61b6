// SPDX-License-Identifier: MIT
//
// send_trials: which items are sent although they are larger than a broker said that they may be.
//
// Part of the sender. A limit that a broker told may be raised again, and an item over it that is never
// sent never finds out. So where a higher limit is known, the first such item goes alone, and of those
// that follow each second, fourth ... 32nd: a limit that holds costs few requests.

#ifndef WAYBILL_BATCH_SEND_TRIALS_HPP
#define WAYBILL_BATCH_SEND_TRIALS_HPP

#include <cstdint>

#include <waybill/core/saturating.hpp>

namespace waybill::inline v0_1 {

class send_trials {
public:
    /// Whether item `n`, which is over that limit, is to be sent.
    [[nodiscard]] bool wants(std::uint64_t n, std::uint64_t limit) noexcept
    {
        if (limit != limit_) *this = send_trials(limit);
        if (++passed_ < every_) return false;
        passed_ = 0;
        if (every_ < 32) every_ *= 2;
        last_ = n;
        return true;
    }

    /// The last one that was, or the highest number.
    [[nodiscard]] std::uint64_t last() const noexcept { return last_; }

    send_trials() noexcept = default;
    friend bool operator==(const send_trials&, const send_trials&) = default;

private:
    explicit send_trials(std::uint64_t limit) noexcept : limit_(limit) {}

    std::uint64_t limit_ = 0;
    std::uint64_t last_ = highest_size;
    std::uint32_t passed_ = 0;
    std::uint32_t every_ = 1;
};

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_BATCH_SEND_TRIALS_HPP
