// SPDX-License-Identifier: MIT
//
// calibrator: learns the size of a batch as the broker counts it, and the broker's size limit, from
// the outcomes of batches. `state()` is the calibration that a sender returns. Estimated size in
// bytes:
//
//     envelope + ratio * bodies + header * items
//
// A batch is cut below the limit by a margin that grows with the variance among items. The guide
// describes the rules for outcomes, refusals and probes.
//
//   1. A batch that was cut before the last refusal never raises the limit.
//   2. A reported limit below the highest known one is ignored after a larger batch was accepted.
//   3. A refused batch of one item changes nothing: the item is too large, not the estimate.
//   4. Deterministic, independent of time, no errors. Of the standard maths functions, only
//      the square root is used.
//
// Cost: constant time, fixed size, no allocation.

#ifndef WAYBILL_BATCH_DETAIL_CALIBRATOR_HPP
#define WAYBILL_BATCH_DETAIL_CALIBRATOR_HPP

#include <cstdint>
#include <optional>

#include <waybill/batch/calibration.hpp>
#include <waybill/batch/detail/batch_sizes.hpp>
#include <waybill/batch/detail/normal.hpp>
#include <waybill/batch/detail/overhead.hpp>
#include <waybill/core/batch_limits.hpp>
#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::detail {

/// The knowledge that a batch was cut with. A refusal applies to all batches in flight: they become
/// `older`.
enum class cut_with : std::uint8_t {
    latest,  ///< The current knowledge.
    probe,   ///< The current knowledge, but the batch is larger, to test the limit.
    older,   ///< The knowledge before the last refusal.
};

class calibrator {
public:
    constexpr calibrator() noexcept = default;

    /// Starts with the documented limits. `header`: estimated bytes of an item beyond its body.
    /// With 0, the sizes count as complete until an outcome contradicts.
    constexpr explicit calibrator(const batch_limits& l, std::uint64_t header = 0) noexcept
        : documented_(l.bytes),
          limit_(l.bytes),
          ceiling_(l.bytes),
          envelope_(l.envelope),
          items_(static_cast<double>(header))
    {
    }

    /// Continues from a stored state. Contradictory fields are corrected: `ceiling` is at least
    /// `limit`, `probe_after` is in [32, 16384], and contradictory search bounds are dropped.
    constexpr explicit calibrator(const calibration& s) noexcept
        : documented_(s.documented),
          limit_(s.limit),
          ceiling_(s.ceiling < s.limit ? s.limit : s.ceiling),
          envelope_(s.envelope),
          items_(s.items),
          accepted_(s.accepted),
          refused_(s.refused),
          consecutive_accepted_(s.consecutive_accepted),
          probe_after_(s.probe_after < min_probe_after ? min_probe_after : s.probe_after),
          reports_(s.reports),
          refuted_(s.refuted_limit)
    {
        // Below 2 bytes there is no size left between the bounds.
        if (refused_ <= accepted_ || refused_ < 2) clear_search_bounds();
        if (probe_after_ > max_probe_after) probe_after_ = max_probe_after;
    }

    /// The plain data to store. It excludes the peak.
    [[nodiscard]] constexpr calibration state() const noexcept
    {
        return {documented_,    limit_,    ceiling_, envelope_,
                items_.state(), accepted_, refused_, consecutive_accepted_,
                probe_after_,   reports_,  refuted_};
    }

    /// The current limit in bytes: documented, reported, or raised after an accepted batch.
    [[nodiscard]] constexpr std::uint64_t limit() const noexcept { return limit_; }

    /// The highest known limit in bytes. Higher than `limit()` if the broker reported a lower one.
    [[nodiscard]] constexpr std::uint64_t ceiling() const noexcept { return ceiling_; }

    /// The estimated bytes of an item beyond its body, rounded up. Valid if bodies keep their size
    /// on the wire (ratio 1).
    [[nodiscard]] constexpr std::uint64_t header() const noexcept
    {
        return rounded_up(items_.state().header);
    }

    /// The sizes of items that batches are cut with: `ratio` bytes for each byte of a body, and
    /// `header` bytes more.
    struct line {
        double ratio = 1;
        double header = 0;

        [[nodiscard]] constexpr double beyond(double bodies, double items) const noexcept
        {
            return (ratio - 1) * bodies + header * items;
        }
    };
    [[nodiscard]] constexpr line item_line() const noexcept
    {
        if (at_peak()) return {.ratio = 1, .header = peak_};
        return {.ratio = items_.state().ratio, .header = items_.state().header};
    }

    /// The expected size of a batch in bytes, envelope included.
    [[nodiscard]] constexpr std::uint64_t predict(const batch_sizes& b) const noexcept
    {
        const std::uint64_t known =
            saturating_add(saturating_add(envelope_, b.exact_bytes), b.body_bytes);
        if (b.estimated_items == 0) return known;
        const double beyond = item_line().beyond(static_cast<double>(b.body_bytes),
                                                 static_cast<double>(b.estimated_items));
        return beyond >= 0 ? saturating_add(known, rounded_up(beyond))
                           : saturating_sub(known, rounded_up(-beyond));
    }

    /// The maximum of the expected size of the next batch plus its margin, in bytes.
    [[nodiscard]] constexpr std::uint64_t budget() const noexcept
    {
        if (!probing()) return believed_limit();
        if (limit_ < ceiling_) return lesser(ceiling_, saturating_add(limit_, probe_step(limit_)));
        // The limit is the highest known one, but items may have become smaller.
        if (refused_ == unlimited) return saturating_add(limit_, probe_step(limit_ / 16));
        // The first step at most doubles the size. Each refused probe halves the step, down to a
        // 32nd of the size.
        const std::uint64_t believed = believed_limit();
        std::uint64_t step = lesser(limit_ - believed, believed);
        for (std::uint32_t n = probe_after_; n > min_probe_after; n /= 2) step /= 2;
        const std::uint64_t min_step = believed / 32 + 1;
        return lesser(limit_, saturating_add(believed, probe_step(greater(step, min_step))));
    }

    /// The bytes by which batch `b` must stay below the budget, because its size is uncertain. 0 if
    /// all sizes are exact.
    [[nodiscard]] constexpr std::uint64_t margin(const batch_sizes& b) const noexcept
    {
        if (at_peak() || b.estimated_items == 0) return 0;
        return margin_of(spread_of(b));
    }

    /// An upper bound of the margin of each batch that has at least the items of `from` and at most
    /// those of `to`. The draft computes it once, and then adds items without a new computation.
    /// `highest_size` (no bound) if the standard deviation may reach 0.24 of the budget.
    [[nodiscard]] constexpr std::uint64_t widest_margin(const batch_sizes& from,
                                                        const batch_sizes& to) const noexcept
    {
        if (at_peak()) return 0;
        // The margin grows with the deviation up to 0.24 of the budget, and shrinks beyond that.
        const double max_spread = widest_deviation * static_cast<double>(budget());
        const double spread = root(items_.widest_variance(
            static_cast<double>(from.body_bytes), static_cast<double>(to.body_bytes),
            static_cast<double>(from.estimated_items), static_cast<double>(to.estimated_items),
            doubt_weight()));
        return spread < max_spread ? margin_of(spread) : highest_size;
    }

    /// True if the expected size of `b` plus its margin is within the budget.
    [[nodiscard]] constexpr bool fits(const batch_sizes& b) const noexcept
    {
        const std::uint64_t size = predict(b);
        return size <= budget() && size != highest_size &&
               saturating_add(size, margin(b)) <= budget();
    }

    /// The knowledge that the next batch is cut with: `probe` or `latest`.
    [[nodiscard]] constexpr cut_with next_cut_with() const noexcept
    {
        return probing() ? cut_with::probe : cut_with::latest;
    }

    /// While `on`, no probe is cut, because one is in flight. Part of ==, not of `state()`.
    constexpr void hold_probes(bool on) noexcept { probes_on_hold_ = on; }

    /// Batch `b` was accepted. `actual`: its size in bytes, if the broker reported it. `full`: one
    /// more item would have exceeded a limit in bytes. `cut`: the knowledge that `b` was cut with;
    /// `next_cut_with()` by default.
    constexpr void accepted(const batch_sizes& b, std::optional<std::uint64_t> actual,
                            bool full) noexcept
    {
        accepted(b, actual, full, next_cut_with());
    }
    constexpr void accepted(const batch_sizes& b, std::optional<std::uint64_t> actual, bool full,
                            cut_with cut) noexcept
    {
        const bool probe = full && cut == cut_with::probe;
        const bool below_believed = probe && predict(b) <= believed_limit();
        const std::uint64_t reported_bytes = reported_size(actual);
        if (reported_bytes != 0) {
            reports_ = calibration::broker_reports::sizes;
            // The search bounds are predicted sizes. If this prediction is wrong by more than a
            // 16th, the upper bound is dropped.
            const std::uint64_t predicted = predict(b);
            const std::uint64_t error = predicted < reported_bytes ? reported_bytes - predicted
                                                                   : predicted - reported_bytes;
            if (b.estimated_items != 0 && error > reported_bytes / 16) refused_ = unlimited;
            const double bodies = static_cast<double>(b.body_bytes);
            const double items = static_cast<double>(b.estimated_items);
            const double beyond = beyond_bodies(b, reported_bytes);
            if (full) weigh_accepted(b, beyond);
            items_.observe(bodies, items, beyond);
        } else if ((full || exceeds_by_estimate(b)) && limit_ != unlimited) {
            items_.bounded(static_cast<double>(b.body_bytes),
                           static_cast<double>(b.estimated_items),
                           beyond_bodies(b, probe ? ceiling_ : limit_), !overhead::above_bound);
        }
        if (cut == cut_with::older) return;
        const bool reported_lower = limit_ < ceiling_;
        const std::uint64_t size = reported_bytes != 0 ? reported_bytes : predict(b);
        raise_limit(b, size, reported_bytes != 0, probe);
        if (size > accepted_) accepted_ = lesser(size, unlimited - 1);
        if (accepted_ >= refused_) {  // the limit was raised, to an unknown value
            refused_ = saturating_add(accepted_, accepted_ / 64 + 1);
            if (refused_ > limit_) refused_ = unlimited;
            if (probe) probe_after_ = min_probe_after;
        }
        const bool doubted = limit_in_doubt() || refused_ != unlimited ||
                             (b.estimated_items != 0 && !items_.counts_as_exact());
        if (full && doubted) count_full(probe, below_believed || (probe && reported_lower));
    }

    /// Batch `b` was refused for its size. `actual`: its size in bytes, `limit`: the broker's limit
    /// in bytes, `sizes`: those of single items, as far as reported. `cut`: the knowledge
    /// that `b` was cut with; `next_cut_with()` by default.
    constexpr void refused(const batch_sizes& b, std::optional<std::uint64_t> actual,
                           std::optional<std::uint64_t> limit, const item_sum& sizes = {}) noexcept
    {
        refused(b, actual, limit, sizes, next_cut_with());
    }
    constexpr void refused(const batch_sizes& b, std::optional<std::uint64_t> actual,
                           std::optional<std::uint64_t> limit, const item_sum& sizes,
                           cut_with cut) noexcept
    {
        if (b.items < 2) return;
        const std::uint64_t predicted = predict(b);
        const bool older = cut == cut_with::older;
        const bool probe = cut == cut_with::probe;
        if (probe) {
            consecutive_accepted_ = 0;
            if (probe_after_ < max_probe_after) probe_after_ *= 2;
        } else if (!older && reports_ == calibration::broker_reports::refusals) {
            probe_after_ = min_probe_after;
        }
        // A size within the reported limit does not explain the refusal: both are ignored (0). A
        // reported limit that is not adopted can still start the search in lower_limit().
        std::uint64_t size = reported_size(actual);
        std::uint64_t reported_limit = reported_size(limit);
        if (size != 0 && size <= reported_limit) size = reported_limit = 0;
        const bool explains_refusal = size != 0 || predicted > reported_limit;
        const bool adopted = adopt_reported(reported_limit, explains_refusal, older);
        if (sizes.items > 1 || size != 0) {
            learn_sizes(b, size, sizes, reported_limit, adopted);
            if (!probe && size != 0) weigh_refused(b, beyond_bodies(b, size));
        } else if (older && predicted > believed_limit()) {
            return;  // already known to be too large
        } else if (!adopted || predicted <= limit_) {
            learn_excess(b, predicted, reported_limit, probe);
        }
    }

    friend bool operator==(const calibrator&, const calibrator&) = default;

private:
    // `bench/run simulation` measures the requests with these values.
    static constexpr std::uint32_t min_probe_after = 32;      // accepted full batches
    static constexpr std::uint32_t max_probe_after = 16'384;  // after nine refused probes
    static constexpr std::uint32_t probe_after_sizes = 256;   // if refusals report sizes
    static constexpr std::uint32_t step_doublings = 6;        // the step grows up to 64 times
    // Factor of the margin at which most bytes pass per request.
    static constexpr double margin_factor = 1.25;
    // The margin best_distance(p) * p is highest at p = exp(-1 / 2) / sqrt(2 pi) = 0.242.
    static constexpr double widest_deviation = 0.24;
    // Bytes added to the envelope if items were reported without it. The first value is at most
    // limit / 2048.
    static constexpr std::uint64_t envelope_guess = 64;
    // Costs in requests, see `at_peak`.
    static constexpr double refusal_cost = 2;
    static constexpr double max_balance = 12;
    static constexpr double peak_tolerance = 1.05;
    static constexpr double peak_decay = 1.0 / 16;

    /// A reported number; 0 if there is none, or if it is the largest value.
    [[nodiscard]] static constexpr std::uint64_t reported_size(
        std::optional<std::uint64_t> n) noexcept
    {
        const std::uint64_t size = n.value_or(0);
        return size == highest_size ? 0 : size;
    }

    [[nodiscard]] static constexpr std::uint64_t rounded_up(double x) noexcept
    {
        if (!(x > 0)) return 0;
        constexpr double max_exact = 18'446'744'073'709'549'568.0;  // highest double below 2^64
        if (x >= max_exact) return highest_size;
        const auto n = static_cast<std::uint64_t>(x);
        return static_cast<double>(n) < x ? n + 1 : n;
    }

    /// The variance of the bytes beyond bodies. `doubt` is the weight of the doubt about the mean.
    [[nodiscard]] constexpr double variance(const batch_sizes& b, double doubt) const noexcept
    {
        return items_.variance(static_cast<double>(b.body_bytes),
                               static_cast<double>(b.estimated_items), doubt);
    }

    /// The standard deviation for the margin. If the broker reports few sizes, the doubt about the
    /// mean has less weight: only further batches can resolve it.
    [[nodiscard]] constexpr double spread_of(const batch_sizes& b) const noexcept
    {
        return root(variance(b, doubt_weight()));
    }
    [[nodiscard]] constexpr double doubt_weight() const noexcept
    {
        if (reports_ == calibration::broker_reports::sizes) return 1;
        if (reports_ == calibration::broker_reports::refusals) return 0.5;
        return 0.25;
    }

    // The optimum counts bytes only. Operators notice refusals, so the factor makes them rarer.
    [[nodiscard]] constexpr std::uint64_t margin_of(double spread) const noexcept
    {
        const double part = spread / static_cast<double>(budget());
        return rounded_up(margin_factor * spread * best_distance(part));
    }

    /// True for a batch of one item that exceeds the limit only by its estimated overhead. False if
    /// the limit is below the ceiling: then the limit itself may be higher.
    [[nodiscard]] constexpr bool exceeds_by_estimate(const batch_sizes& b) const noexcept
    {
        return b.estimated_items == 1 && b.items == 1 && limit_ == ceiling_ &&
               predict(b) > limit_ && saturating_add(envelope_, b.body_bytes) <= limit_;
    }

    /// The part of `size` bytes, the size of batch `b`, that is left for the estimated overhead.
    [[nodiscard]] constexpr double beyond_bodies(const batch_sizes& b, std::uint64_t size) const
    {
        return static_cast<double>(size) - static_cast<double>(envelope_) -
               static_cast<double>(b.exact_bytes) - static_cast<double>(b.body_bytes);
    }

    /// True if batches are cut to the highest recent overhead, and not to the latest estimate. For
    /// brokers that report the sizes of accepted batches. If the overhead changes between two
    /// levels, the latest estimate is refused at each change up, and the peak leaves batches small
    /// until then. `balance_` sums up the difference of both costs, in requests.
    [[nodiscard]] constexpr bool at_peak() const noexcept { return balance_ > 0; }

    /// A full batch with `beyond` bytes of overhead was accepted, and is not yet learnt from.
    constexpr void weigh_accepted(const batch_sizes& b, double beyond) noexcept
    {
        if (!(peak_ > 0) || b.estimated_items == 0) return;
        const double items = static_cast<double>(b.estimated_items);
        const double expected = items_.mean(static_cast<double>(b.body_bytes), items) +
                                static_cast<double>(margin_of(spread_of(b)));
        weigh((beyond > expected ? refusal_cost : 0) -
              (peak_ * items - beyond) / static_cast<double>(greater(limit_, 1)));
        if (beyond > peak_ * items) peak_ = beyond / items;
    }

    /// A batch with `beyond` bytes of overhead was refused. The peak would have avoided that, unless
    /// it is lower.
    constexpr void weigh_refused(const batch_sizes& b, double beyond) noexcept
    {
        if (reports_ != calibration::broker_reports::sizes || b.estimated_items == 0) return;
        const double overhead = beyond / static_cast<double>(b.estimated_items);
        if (peak_ > 0) {
            const bool above = overhead > (at_peak() ? peak_ : peak_ * peak_tolerance);
            weigh(above ? -refusal_cost : refusal_cost);
        }
        if (overhead > peak_) peak_ = overhead;
        else if (!at_peak()) peak_ += (overhead - peak_) * peak_decay;
    }

    constexpr void weigh(double requests) noexcept
    {
        balance_ += requests;
        if (!(balance_ < max_balance)) balance_ = max_balance;
        if (!(balance_ > -max_balance)) balance_ = -max_balance;
    }

    /// True if the next batch is a probe. The search for a limit (`believed_limit`) and the trials
    /// of single items (send_trials.hpp) also send what may be refused, but they are no probes.
    [[nodiscard]] constexpr bool probing() const noexcept
    {
        return !probes_on_hold_ && consecutive_accepted_ >= probe_after_ &&
               (limit_in_doubt() || refused_ != unlimited ||
                reports_ != calibration::broker_reports::sizes);
    }

    /// True if the limit is below the highest known one or above the documented one.
    [[nodiscard]] constexpr bool limit_in_doubt() const noexcept
    {
        return limit_ < ceiling_ || limit_ > documented_;
    }

    /// The step of a probe in bytes. Doubles after each probe without effect, up to 64 times
    /// `first_step`.
    [[nodiscard]] constexpr std::uint64_t probe_step(std::uint64_t first_step) const noexcept
    {
        const std::uint64_t further = saturating_sub(consecutive_accepted_, probe_after_);
        return saturating_mul(first_step, std::uint64_t{1} << lesser(further, step_doublings));
    }

    /// The largest size in bytes that is expected to be accepted.
    [[nodiscard]] constexpr std::uint64_t believed_limit() const noexcept
    {
        if (refused_ == unlimited) return limit_;
        const std::uint64_t gap = refused_ - accepted_;
        if (gap > refused_ / 64 + 1) return lesser(limit_, accepted_ + gap / 2);
        return lesser(limit_, accepted_ == 0 ? refused_ - 1 : accepted_);
    }

    /// A refusal with the size of the batch, or of its items; `size` is 0 in the second case.
    constexpr void learn_sizes(const batch_sizes& b, std::uint64_t size, const item_sum& sizes,
                               std::uint64_t reported_limit, bool limit_adopted) noexcept
    {
        if (reports_ == calibration::broker_reports::nothing) {
            reports_ = calibration::broker_reports::refusals;
            if (!limit_in_doubt()) probe_after_ = probe_after_sizes;
        }
        const bool size_reported = size != 0;
        if (sizes.items > 1) {
            items_.observe(sizes.bodies, sizes.items, sizes.beyond);
            if (envelope_ == 0) envelope_ = lesser(envelope_guess, limit_ / 2'048);
            if (!size_reported) size = predict(b);
        } else {
            items_.observe(static_cast<double>(b.body_bytes),
                           static_cast<double>(b.estimated_items), beyond_bodies(b, size));
        }
        if (limit_adopted || size > limit_) return;
        // Item sizes exclude the envelope. So a sum just below the limit means a larger envelope.
        if (!size_reported && size > limit_ - limit_ / 64) {
            envelope_ = saturating_add(envelope_, saturating_add(limit_ - size, envelope_guess));
        } else {
            lower_limit(size, reported_limit);
        }
    }

    /// A refusal without sizes: the items are larger than predicted, or the limit is lower.
    constexpr void learn_excess(const batch_sizes& b, std::uint64_t predicted,
                                std::uint64_t reported_limit, bool probe) noexcept
    {
        if (limit_ == unlimited || b.estimated_items == 0 ||
            reports_ == calibration::broker_reports::sizes || refused_ != unlimited) {
            return lower_limit(predicted, reported_limit);
        }
        if (probe) return;
        const double bodies = static_cast<double>(b.body_bytes);
        const double items = static_cast<double>(b.estimated_items);
        items_.bounded(bodies, items, beyond_bodies(b, limit_), overhead::above_bound);
    }

    /// Counts an accepted full batch towards the next probe. After an accepted probe another one
    /// follows. `double_step` doubles the step of the next one, because the last one may not have
    /// exceeded the limit.
    constexpr void count_full(bool probe, bool double_step) noexcept
    {
        if (double_step && consecutive_accepted_ < probe_after_ + step_doublings)
            ++consecutive_accepted_;
        if (!probe && consecutive_accepted_ < probe_after_) ++consecutive_accepted_;
    }

    /// Adopts a reported limit. False if it is 0, refuted by an accepted batch, or above the
    /// current limit without explaining the refusal.
    constexpr bool adopt_reported(std::uint64_t limit, bool explains_refusal, bool older) noexcept
    {
        if (limit <= refuted_) return false;
        if (limit > ceiling_) ceiling_ = limit;
        if (limit > limit_ && !explains_refusal) return false;
        if (limit == limit_ || (older && limit > limit_)) return true;
        consecutive_accepted_ = 0;
        const std::uint64_t change = limit < limit_ ? limit_ - limit : limit - limit_;
        // A smaller change may be a limit that varies.
        if (change > limit / 16) probe_after_ = min_probe_after;
        limit_ = limit;
        clear_search_bounds();
        return true;
    }

    /// A batch of `size` bytes was accepted. It refutes a lower reported limit. If the broker reports
    /// sizes, it raises the highest known one. The evidence is its size, if that was reported or all
    /// sizes are exact. Otherwise only envelope and bodies refute, up to the predicted size, and a
    /// single item with its predicted size if the broker reports any sizes. An accepted probe also
    /// raises the limit if it reached the highest known limit or the largest step.
    constexpr void raise_limit(const batch_sizes& b, std::uint64_t size, bool size_reported,
                               bool probe) noexcept
    {
        if (size <= limit_) return;
        const bool certain = size_reported || b.estimated_items == 0;
        if (limit_ == ceiling_) {
            const bool reported = reports_ != calibration::broker_reports::nothing;
            if (certain && reported) limit_ = ceiling_ = size;
            return;
        }
        const std::uint64_t bodies =
            saturating_add(saturating_add(envelope_, b.exact_bytes), b.body_bytes);
        const bool by_size =
            certain || (b.items == 1 && reports_ != calibration::broker_reports::nothing);
        const bool refutes = (by_size ? size : lesser(size, bodies)) > limit_;
        const std::uint64_t probed = saturating_add(limit_, probe_step(limit_));
        const bool probed_highest =
            probe && (probed >= ceiling_ || consecutive_accepted_ >= probe_after_ + step_doublings);
        if (!refutes && !probed_highest) return;
        if (refutes && limit_ > refuted_) refuted_ = limit_;
        if (size_reported && size > ceiling_) ceiling_ = size;
        limit_ = ceiling_;
    }

    /// Batches of `size` bytes are refused. If a batch as large was accepted before, the limit was
    /// lowered. The search then starts at `reported_limit`, or at 0 if that is not smaller.
    constexpr void lower_limit(std::uint64_t size, std::uint64_t reported_limit) noexcept
    {
        if (size < 2) return;
        if (refused_ == unlimited) probe_after_ = min_probe_after;
        if (consecutive_accepted_ > min_probe_after) consecutive_accepted_ = min_probe_after;
        refused_ = lesser(refused_, size);
        if (refused_ <= accepted_) accepted_ = reported_limit < refused_ ? reported_limit : 0;
    }

    constexpr void clear_search_bounds() noexcept
    {
        accepted_ = 0;
        refused_ = unlimited;
    }

    std::uint64_t documented_ = unlimited;
    std::uint64_t limit_ = unlimited;
    std::uint64_t ceiling_ = unlimited;
    std::uint64_t envelope_ = 0;
    overhead items_;
    std::uint64_t accepted_ = 0;
    std::uint64_t refused_ = unlimited;
    std::uint32_t consecutive_accepted_ = 0;
    std::uint32_t probe_after_ = min_probe_after;
    calibration::broker_reports reports_ = calibration::broker_reports::nothing;
    std::uint64_t refuted_ = 0;
    bool probes_on_hold_ = false;
    double peak_ = 0;                // bytes of overhead per item; 0 if unknown
    double balance_ = -max_balance;  // requests that the latest estimate costs more than the peak
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_CALIBRATOR_HPP
