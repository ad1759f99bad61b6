// SPDX-License-Identifier: MIT
//
// silence: decides whether a batch without a verdict was too large.
//
// Part of the sender. Some services break the connection if a request is too large. A caller can
// then report only an unknown outcome or a failure, as in an outage. So a batch that has no verdict
// twice is cut. If then a smaller batch is accepted, the first one counts as refused:
//
//   - At once, if no batch of its size was accepted before. Otherwise the second time, because
//     answers get lost, too.
//   - Not if it is smaller than half of an accepted one, or eight times larger than the one that is
//     accepted: the cause was an outage.
//   - A probe at once: the next one comes later.
//
// The calibration that a sender returns contains none of this.
//
// Cost: constant time, fixed size, no allocation, no errors.

#ifndef WAYBILL_BATCH_DETAIL_SILENCE_HPP
#define WAYBILL_BATCH_DETAIL_SILENCE_HPP

#include <cstdint>

#include <waybill/batch/detail/batch_sizes.hpp>
#include <waybill/batch/detail/calibrator.hpp>

namespace waybill::inline v0_2::detail {

class silence {
public:
    /// The estimates without silences, if they differ from `c`.
    [[nodiscard]] const calibrator& learnt(const calibrator& c) const noexcept
    {
        return counted_ ? learnt_ : c;
    }
    [[nodiscard]] calibrator* learnt() noexcept { return counted_ ? &learnt_ : nullptr; }

    /// Batch `b` had no verdict for the second time. `c` are the current estimates.
    void unanswered(const batch_sizes& b, cut_with cut, calibrator& c) noexcept
    {
        if (cut == cut_with::probe) count(b, cut, c);
        else if (c.predict(b) > c.accepted_bytes() / 2) silent_ = b;
    }

    /// A batch was refused.
    void answered() noexcept { silent_ = {}; }

    /// Batch `b` was accepted. If a larger one had no verdict before it, that one counts as refused
    /// for `c`.
    void accepted(const batch_sizes& b, calibrator& c) noexcept
    {
        const std::uint64_t size = c.predict(b);
        if (doubted_.items != 0 && size >= c.predict(doubted_)) doubted_ = {};
        if (silent_.items == 0) return;
        const batch_sizes silent = silent_;
        silent_ = {};
        if (size >= c.predict(silent) || size <= c.predict(silent) / 8) return;
        if (c.predict(silent) <= c.accepted_bytes() && doubted_.items == 0) {
            doubted_ = silent;
            return;
        }
        doubted_ = {};
        count(silent, cut_with::latest, c);
    }

    /// No decision depends on `learnt`: it is not part of the value.
    friend bool operator==(const silence& a, const silence& b)
    {
        return a.silent_ == b.silent_ && a.doubted_ == b.doubted_;
    }

private:
    void count(const batch_sizes& b, cut_with cut, calibrator& c) noexcept
    {
        if (!counted_) learnt_ = c;
        counted_ = true;
        c.refused(b, {}, {}, {}, cut);
    }

    calibrator learnt_;  // without silences, if one was counted
    bool counted_ = false;
    batch_sizes silent_;   // the last batch without a verdict since the last verdict
    batch_sizes doubted_;  // one that would have counted, but for its size
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_SILENCE_HPP
