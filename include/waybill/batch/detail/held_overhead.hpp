// SPDX-License-Identifier: MIT
//
// held_overhead: decides whether batches are cut to the latest estimate of the overhead of items
// ("following") or to the highest overhead ("holding").
//
// Part of `calibrator`, for brokers that report the sizes of accepted batches. If the overhead
// switches between two levels, an estimate that follows each size causes refusals at each switch
// up. After each switch down it causes small batches. If the levels change often, it costs fewer
// requests to stay at the higher one. So the difference of both costs is summed up, in requests:
//   - The way in use costs one request for each full batch and each refusal.
//   - The other way costs what its batches would have cost: the part of a request that the items
//     would have taken, and all requests of a refusal that it would have caused.
// The sum is limited, so that old costs do not count. A change of its sign changes the way. Then
// `commitment` requests are added, so that the next change needs new evidence.
//
// Cost: constant time, fixed size, no allocation, no errors. Part of ==, not of the stored state.

#ifndef WAYBILL_BATCH_DETAIL_HELD_OVERHEAD_HPP
#define WAYBILL_BATCH_DETAIL_HELD_OVERHEAD_HPP

namespace waybill::inline v0_2::detail {

class held_overhead {
public:
    /// A batch whose size was reported.
    struct batch {
        double items = 0;    ///< Number of items whose overhead is estimated.
        double rest = 0;     ///< Bytes of the batch without the overhead of these items.
        double beyond = 0;   ///< Bytes of that overhead, as reported.
        double limit = 1;    ///< The limit in bytes.
        bool clean = false;  ///< True if nearly all items are estimated.
    };

    /// True if batches are cut to `overhead_bytes(items)`.
    [[nodiscard]] constexpr bool is_held() const noexcept { return holds_; }

    /// The highest overhead of `items` items, in bytes.
    [[nodiscard]] constexpr double overhead_bytes(double items) const noexcept
    {
        return peak_ * items;
    }

    /// A full batch was accepted. `expected`: the bytes of overhead for which the latest estimate
    /// would have left room, before it learnt from this batch.
    constexpr void accepted(const batch& b, double expected) noexcept
    {
        if (!known_ || (holds_ && !b.clean)) return;
        // In requests: the batch as cut by holding, as cut by following, and its actual size.
        const double held = (overhead_bytes(b.items) + b.rest) / b.limit;
        const double followed = (expected + b.rest) / b.limit;
        const double actual = (b.beyond + b.rest) / b.limit;
        if (!holds_) add(1 - held);
        else add((b.beyond > expected ? actual * (1 + resent_part + refused_) : followed) - held);
        if (b.clean && b.beyond > overhead_bytes(b.items)) peak_ = b.beyond / b.items;
    }

    /// A batch was refused. `older`: it was cut before the last refusal. Raises the highest
    /// overhead, or replaces it if following costs less.
    constexpr void refused(const batch& b, bool older) noexcept
    {
        if (!known_) {
            if (b.items > 0) *this = held_overhead(b.beyond / b.items);
            return;
        }
        if (!holds_) refused_ = older ? refused_ + 1 : 1;
        add(holds_ && !older ? -1 - resent_part : 1);
        if (b.clean && (b.beyond > overhead_bytes(b.items) || difference_ < 0))
            peak_ = b.beyond / b.items;
    }

    constexpr held_overhead() noexcept = default;

    friend bool operator==(const held_overhead&, const held_overhead&) = default;

private:
    // `bench/run simulation` and tests/unit/batch/sender_moving.test.cpp measure these values.
    static constexpr double max_difference = 20;  // requests
    static constexpr double commitment = 4;       // requests
    static constexpr double resent_part = 0.7;    // the last batch of resent items is not full

    constexpr explicit held_overhead(double peak) noexcept : known_(true), peak_(peak) {}

    /// Adds `requests` that following costs more than holding (less if negative). A change of the
    /// sum's sign changes the way.
    constexpr void add(double requests) noexcept
    {
        difference_ += requests;
        if (holds_ != (difference_ > 0)) {
            holds_ = !holds_;
            difference_ += holds_ ? commitment : -commitment;
        }
        if (!(difference_ < max_difference)) difference_ = max_difference;
        if (!(difference_ > -max_difference)) difference_ = -max_difference;
    }

    bool known_ = false;
    bool holds_ = false;
    double peak_ = 0;                      // bytes per item
    double difference_ = -max_difference;  // requests that following cost more than holding
    double refused_ = 1;                   // batches that the last switch up caused to be refused
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_HELD_OVERHEAD_HPP
