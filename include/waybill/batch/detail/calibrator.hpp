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
//   4. Deterministic, independent of time, no errors. All arithmetic is the library's own.
//
// Cost: constant time, fixed size, no allocation.

#ifndef WAYBILL_BATCH_DETAIL_CALIBRATOR_HPP
#define WAYBILL_BATCH_DETAIL_CALIBRATOR_HPP

#include <cstdint>
#include <optional>

#include <waybill/batch/calibration.hpp>
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

/// The contents of a batch, as far as the sender knows them.
struct batch_sizes {
    std::uint64_t bodies = 0;    ///< Bytes of the bodies of items whose overhead is estimated.
    std::uint64_t guessed = 0;   ///< Number of items whose overhead is estimated.
    std::uint64_t exact = 0;     ///< Bytes of items whose size is known, overhead included.
    std::uint64_t reported = 0;  ///< Number of items in `exact` with a share of a reported sum.
    std::uint64_t items = 0;     ///< Number of all items.

    friend bool operator==(const batch_sizes&, const batch_sizes&) = default;
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
          probe_after_(s.probe_after < first_probe ? first_probe : s.probe_after),
          reports_(s.reports),
          refuted_(s.refuted)
    {
        if (refused_ <= accepted_ || refused_ < 2) clear_search_bounds();
        if (probe_after_ > rarest_probe) probe_after_ = rarest_probe;
    }

    /// The complete state as plain data, to be stored.
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
        return whole(items_.state().header);
    }

    /// The estimated bytes of items beyond their bodies.
    [[nodiscard]] constexpr const overhead& items() const noexcept { return items_; }

    /// The expected size of a batch in bytes, envelope included.
    [[nodiscard]] constexpr std::uint64_t predict(const batch_sizes& b) const noexcept
    {
        const std::uint64_t known = saturating_add(saturating_add(envelope_, b.exact), b.bodies);
        if (b.guessed == 0) return known;
        const double beyond =
            items_.mean(static_cast<double>(b.bodies), static_cast<double>(b.guessed));
        if (beyond >= 0) return saturating_add(known, whole(beyond));
        // No encoder is expected to shrink bodies to less than a 64th. If the estimate is smaller,
        // the limit is probably higher.
        return saturating_sub(known, lesser(whole(-beyond), b.bodies - b.bodies / 64));
    }

    /// The maximum of the expected size of the next batch plus its margin, in bytes.
    [[nodiscard]] constexpr std::uint64_t budget() const noexcept
    {
        if (!probing()) return believed_limit();
        if (limit_ < ceiling_) return lesser(ceiling_, saturating_add(limit_, reach(limit_)));
        if (refused_ == unlimited) return saturating_add(limit_, reach(limit_ / 16));
        // The first step at most doubles the size. Each refused probe halves it, down to a 32nd.
        const std::uint64_t now = believed_limit();
        std::uint64_t more = lesser(limit_ - now, now);
        for (std::uint32_t n = probe_after_; n > first_probe; n /= 2) more /= 2;
        return lesser(limit_, saturating_add(now, reach(more > now / 32 ? more : now / 32 + 1)));
    }

    /// The bytes by which batch `b` must stay below the budget, because its size is uncertain. 0 if
    /// all sizes are exact.
    [[nodiscard]] constexpr std::uint64_t margin(const batch_sizes& b) const noexcept
    {
        if (b.guessed == 0 && b.reported == 0) return 0;
        return margin_of(spread_of(b));
    }

    /// An upper bound of the margin of all batches that contain `from` and are contained in `to`.
    /// The largest value if the standard deviation may reach 0.24 of the budget.
    [[nodiscard]] constexpr std::uint64_t widest_margin(const batch_sizes& from,
                                                        const batch_sizes& to) const noexcept
    {
        // The margin grows with the deviation up to 0.24 of the budget, and shrinks beyond that.
        const double most = widest_part * static_cast<double>(budget());
        const double spread = root(items_.widest_variance(
            static_cast<double>(from.bodies), static_cast<double>(to.bodies),
            static_cast<double>(from.guessed), static_cast<double>(to.guessed),
            static_cast<double>(to.reported), doubt_counts()));
        return spread < most ? margin_of(spread) : highest_size;
    }

    /// True if the expected size of `b` plus its margin is within the budget.
    [[nodiscard]] constexpr bool fits(const batch_sizes& b) const noexcept
    {
        const std::uint64_t size = predict(b);
        return size <= budget() && size != highest_size &&
               saturating_add(size, margin(b)) <= budget();
    }

    /// The knowledge that the next batch is cut with: `probe` or `latest`.
    [[nodiscard]] constexpr cut_with next_cut() const noexcept
    {
        return probing() ? cut_with::probe : cut_with::latest;
    }

    /// While `on`, no probe is cut, because one is in flight. Part of ==, not of `state()`.
    constexpr void hold_probes(bool on) noexcept { probes_held_ = on; }

    /// Batch `b` was accepted. `actual`: its size in bytes, if the broker reported it. `full`: one
    /// more item would have exceeded a limit in bytes. `cut`: the knowledge that `b` was cut with;
    /// `next_cut()` by default.
    constexpr void accepted(const batch_sizes& b, std::optional<std::uint64_t> actual,
                            bool full) noexcept
    {
        accepted(b, actual, full, next_cut());
    }
    constexpr void accepted(const batch_sizes& b, std::optional<std::uint64_t> actual, bool full,
                            cut_with cut) noexcept
    {
        const bool probe = full && cut == cut_with::probe;
        const bool without_effect = probe && predict(b) <= believed_limit();
        const std::uint64_t counted = reported_size(actual);
        if (counted != 0) {
            reports_ = calibration::broker_reports::sizes;
            // The search bounds are predicted sizes: a wrong prediction makes the upper one void.
            const std::uint64_t guess = predict(b);
            const std::uint64_t off = guess < counted ? counted - guess : guess - counted;
            if (b.guessed != 0 && off > counted / 16) refused_ = unlimited;
            items_.observe(static_cast<double>(b.bodies), static_cast<double>(b.guessed),
                           static_cast<double>(b.reported), beyond_bodies(b, counted));
        } else if ((full || unlikely(b)) && limit_ != unlimited) {
            items_.bounded(static_cast<double>(b.bodies), static_cast<double>(b.guessed),
                           static_cast<double>(b.reported),
                           beyond_bodies(b, probe ? ceiling_ : limit_), false);
        }
        if (cut == cut_with::older) return;
        const bool reported_lower = limit_ < ceiling_;
        const std::uint64_t size = counted != 0 ? counted : predict(b);
        raise_limit(b, size, counted != 0, probe);
        if (size > accepted_) accepted_ = lesser(size, unlimited - 1);
        if (accepted_ >= refused_) {  // the limit was raised, to an unknown value
            refused_ = saturating_add(accepted_, accepted_ / 64 + 1);
            if (refused_ > limit_) refused_ = unlimited;
            if (probe) probe_after_ = first_probe;
        }
        const bool doubted =
            limit_in_doubt() || refused_ != unlimited || (b.guessed != 0 && !items_.believed());
        if (full && doubted) count_full(b, probe, without_effect || (probe && reported_lower));
    }

    /// The broker reported one size for the items of `b` and `others` more items. `b` was `less`
    /// bytes smaller than its share of that size. So the other items are `less` bytes larger.
    constexpr void shared(const batch_sizes& b, double less, std::uint64_t others) noexcept
    {
        items_.shared(static_cast<double>(b.reported), less, static_cast<double>(others));
    }

    /// Batch `b` was refused for its size. `actual`: its size in bytes, `limit`: the broker's limit
    /// in bytes, `samples`: sizes of single items, each as far as reported. `cut`: the knowledge
    /// that `b` was cut with; `next_cut()` by default.
    constexpr void refused(const batch_sizes& b, std::optional<std::uint64_t> actual,
                           std::optional<std::uint64_t> limit,
                           const item_samples& samples = {}) noexcept
    {
        refused(b, actual, limit, samples, next_cut());
    }
    constexpr void refused(const batch_sizes& b, std::optional<std::uint64_t> actual,
                           std::optional<std::uint64_t> limit, const item_samples& samples,
                           cut_with cut) noexcept
    {
        if (b.items < 2) return;
        const std::uint64_t predicted = predict(b);
        const bool older = cut == cut_with::older;
        const bool probe = cut == cut_with::probe;
        if (probe) {
            consecutive_accepted_ = 0;
            if (probe_after_ < rarest_probe) probe_after_ *= 2;
        }
        // A size within the reported limit does not explain the refusal: both are ignored (0). If
        // the limit is not adopted, lower_limit() still may start its search there.
        std::uint64_t size = reported_size(actual);
        std::uint64_t most = reported_size(limit);
        if (size != 0 && size <= most) size = most = 0;
        const std::uint64_t reported = most;
        if (!adopt_reported(most, size != 0 || predicted > most, older)) most = 0;
        if (samples.n > 1 || size != 0) {
            learn_sizes(b, size, samples, reported, most != 0);
        } else if (older && predicted > believed_limit()) {
            return;  // known since then to be too large
        } else if (most == 0 || predicted <= limit_) {
            learn_excess(b, predicted, reported, probe);
        }
    }

    friend bool operator==(const calibrator&, const calibrator&) = default;

private:
    // `bench/run simulation` measures the requests with these values.
    static constexpr std::uint32_t first_probe = 32;       // accepted full batches before a probe
    static constexpr std::uint32_t rarest_probe = 16'384;  // after nine refused probes
    static constexpr std::uint32_t reporting_factor = 16;  // times, if refusals report sizes
    static constexpr std::uint32_t reach_doublings = 6;    // a probe reaches 64 steps at most
    static constexpr double caution = 1.25;                // times the margin with the most bytes
    // best_distance(p) * p is highest at exp(-1 / 2) / sqrt(2 pi).
    static constexpr double widest_part = 0.24;
    static constexpr std::uint64_t first_envelope = 64;  // bytes, if items were reported without it
    static constexpr double implausible_header = 64;     // bytes an item, beyond twice its body

    /// A reported number; 0 if there is none, or if it is the largest value.
    [[nodiscard]] static constexpr std::uint64_t reported_size(
        std::optional<std::uint64_t> n) noexcept
    {
        const std::uint64_t size = n.value_or(0);
        return size == highest_size ? 0 : size;
    }

    [[nodiscard]] static constexpr std::uint64_t whole(double x) noexcept
    {
        if (!(x > 0)) return 0;
        if (x >= 18'446'744'073'709'549'568.0) return highest_size;
        const auto n = static_cast<std::uint64_t>(x);
        return static_cast<double>(n) < x ? n + 1 : n;
    }

    /// The variance of the bytes beyond bodies. `doubt` is the weight of the doubt about the mean.
    [[nodiscard]] constexpr double variance(const batch_sizes& b, double doubt) const noexcept
    {
        return items_.variance(static_cast<double>(b.bodies), static_cast<double>(b.guessed),
                               static_cast<double>(b.reported), doubt);
    }

    /// The standard deviation for the margin. If the broker reports few sizes, the doubt about the
    /// mean has less weight: only further batches can resolve it.
    [[nodiscard]] constexpr double spread_of(const batch_sizes& b) const noexcept
    {
        return root(variance(b, doubt_counts()));
    }
    [[nodiscard]] constexpr double doubt_counts() const noexcept
    {
        return reports_ == calibration::broker_reports::sizes      ? 1
               : reports_ == calibration::broker_reports::refusals ? 0.5
                                                                   : 0.25;
    }

    // The optimum counts bytes only. Operators notice refusals, so the factor makes them rarer.
    [[nodiscard]] constexpr std::uint64_t margin_of(double spread) const noexcept
    {
        const double part = spread / static_cast<double>(budget());
        return whole(caution * spread * best_distance(part));
    }

    /// True for a batch of one item that exceeds the limit only by its estimated overhead. False if
    /// the limit is below the ceiling: then the limit itself may be higher.
    [[nodiscard]] constexpr bool unlikely(const batch_sizes& b) const noexcept
    {
        return b.guessed == 1 && b.items == 1 && limit_ == ceiling_ && predict(b) > limit_ &&
               saturating_add(envelope_, b.bodies) <= limit_;
    }

    /// The bytes of a batch of `size` bytes that are left for the overhead of guessed items.
    [[nodiscard]] constexpr double beyond_bodies(const batch_sizes& b, std::uint64_t size) const
    {
        return static_cast<double>(size) - static_cast<double>(envelope_) -
               static_cast<double>(b.exact) - static_cast<double>(b.bodies);
    }

    /// True if the next batch is a probe. The search for a limit (`believed_limit`) and the trials
    /// of single items (send_trials.hpp) also send what may be refused, but they are no probes.
    [[nodiscard]] constexpr bool probing() const noexcept
    {
        return !probes_held_ && consecutive_accepted_ >= accepted_before_probe() &&
               (limit_in_doubt() || refused_ != unlimited ||
                reports_ != calibration::broker_reports::sizes);
    }

    /// True if the limit is below the highest known one or above the documented one.
    [[nodiscard]] constexpr bool limit_in_doubt() const noexcept
    {
        return limit_ < ceiling_ || limit_ > documented_;
    }

    /// The step of a probe in bytes. Doubles after each probe without effect, up to 64 times
    /// `step`.
    [[nodiscard]] constexpr std::uint64_t reach(std::uint64_t step) const noexcept
    {
        const std::uint64_t further =
            saturating_sub(consecutive_accepted_, accepted_before_probe());
        return saturating_mul(step, std::uint64_t{1} << lesser(further, reach_doublings));
    }

    /// The number of accepted full batches before the next probe. 16 times as many if refusals
    /// report sizes, because reported numbers are rarely wrong.
    [[nodiscard]] constexpr std::uint32_t accepted_before_probe() const noexcept
    {
        const bool told = reports_ == calibration::broker_reports::refusals && !limit_in_doubt();
        return told && refused_ == unlimited ? reporting_factor * probe_after_ : probe_after_;
    }

    /// The largest size in bytes that is expected to be accepted.
    [[nodiscard]] constexpr std::uint64_t believed_limit() const noexcept
    {
        if (refused_ == unlimited) return limit_;
        const std::uint64_t gap = refused_ - accepted_;
        if (gap > refused_ / 64 + 1) return lesser(limit_, accepted_ + gap / 2);
        return lesser(limit_, accepted_ == 0 ? refused_ - 1 : accepted_);
    }

    /// A refusal with the size of the batch or of its items.
    constexpr void learn_sizes(const batch_sizes& b, std::uint64_t size,
                               const item_samples& samples, std::uint64_t reported,
                               bool believed) noexcept
    {
        if (reports_ == calibration::broker_reports::nothing)
            reports_ = calibration::broker_reports::refusals;
        const bool known = size != 0;
        if (samples.n > 1) {
            items_.sampled(samples);
            if (envelope_ == 0) envelope_ = lesser(first_envelope, limit_ / 2'048);
            if (!known) size = predict(b);
        } else {
            items_.observe(static_cast<double>(b.bodies), static_cast<double>(b.guessed),
                           static_cast<double>(b.reported), beyond_bodies(b, size));
        }
        if (believed || size > limit_) return;
        // Item sizes exclude the envelope. So a sum just below the limit means a larger envelope.
        if (!known && size > limit_ - limit_ / 64) {
            envelope_ = saturating_add(envelope_, saturating_add(limit_ - size, first_envelope));
        } else {
            lower_limit(size, reported);
        }
    }

    /// A refusal without sizes: the items are larger than predicted, or the limit is lower.
    constexpr void learn_excess(const batch_sizes& b, std::uint64_t predicted,
                                std::uint64_t reported, bool probe) noexcept
    {
        if (limit_ == unlimited || b.guessed == 0 ||
            reports_ == calibration::broker_reports::sizes || refused_ != unlimited) {
            return lower_limit(predicted, reported);
        }
        if (probe) return;
        items_.bounded(static_cast<double>(b.bodies), static_cast<double>(b.guessed),
                       static_cast<double>(b.reported), beyond_bodies(b, limit_), true);
        // More overhead than the bodies and `implausible_header` an item: the limit is lower.
        const double bodies = static_cast<double>(b.bodies);
        const double items = static_cast<double>(b.guessed);
        if (items_.mean(bodies, items) < bodies + implausible_header * items) return;
        items_ = overhead();
        accepted_ = 0;
        lower_limit(predict(b), reported);
    }

    /// Counts an accepted full batch towards the next probe. After an accepted probe another one
    /// follows. `longer` doubles the step of the next one, because the last one may not have
    /// exceeded the limit.
    constexpr void count_full(const batch_sizes& b, bool probe, bool longer) noexcept
    {
        if (longer && consecutive_accepted_ < accepted_before_probe() + reach_doublings)
            ++consecutive_accepted_;
        if (probe || consecutive_accepted_ >= accepted_before_probe()) return;
        // If refusals report sizes, but the mean is in doubt by a 16th of the limit, count 32.
        const double sixteenth = static_cast<double>(limit_) / 16;
        const double doubt = variance(b, 1) - variance(b, 0);
        consecutive_accepted_ +=
            reports_ == calibration::broker_reports::refusals && doubt > sixteenth * sixteenth
                ? first_probe
                : 1U;
    }

    /// Adopts a reported limit. False if it is 0, refuted by an accepted batch, or above the
    /// current limit without explaining the refusal.
    constexpr bool adopt_reported(std::uint64_t limit, bool explains, bool older) noexcept
    {
        if (limit <= refuted_) return false;
        if (limit > ceiling_) ceiling_ = limit;
        if (limit > limit_ && !explains) return false;
        if (limit == limit_ || (older && limit > limit_)) return true;
        consecutive_accepted_ = 0;
        const std::uint64_t off = limit < limit_ ? limit_ - limit : limit - limit_;
        // A smaller change may be a limit that varies.
        if (off > limit / 16) probe_after_ = first_probe;
        limit_ = limit;
        clear_search_bounds();
        return true;
    }

    /// A batch of `size` bytes was accepted. A lower reported limit is refuted by a reported size,
    /// by a predicted size if the broker reports sizes, or else by the size of envelope and bodies.
    /// An accepted probe also raises the limit if it reached the highest known limit or the largest
    /// step.
    constexpr void raise_limit(const batch_sizes& b, std::uint64_t size, bool counted,
                               bool probe) noexcept
    {
        if (size <= limit_) return;
        const bool certain = counted || reports_ != calibration::broker_reports::nothing;
        if (limit_ == ceiling_) {
            if (certain) limit_ = ceiling_ = size;
            return;
        }
        const std::uint64_t bodies = saturating_add(saturating_add(envelope_, b.exact), b.bodies);
        const bool refutes = (certain ? size : lesser(size, bodies)) > limit_;
        const std::uint64_t most = saturating_add(limit_, reach(limit_));
        const bool highest =
            probe && (most >= ceiling_ ||
                      consecutive_accepted_ >= accepted_before_probe() + reach_doublings);
        if (!refutes && !highest) return;
        if (refutes && limit_ > refuted_) refuted_ = limit_;
        if (counted && size > ceiling_) ceiling_ = size;
        limit_ = ceiling_;
    }

    /// Batches of `size` bytes are refused. If a batch as large was accepted before, the limit was
    /// lowered. The search then starts at `reported`, or at 0 if that is not smaller.
    constexpr void lower_limit(std::uint64_t size, std::uint64_t reported) noexcept
    {
        if (size < 2) return;
        if (consecutive_accepted_ > first_probe) consecutive_accepted_ = first_probe;
        refused_ = lesser(refused_, size);
        if (refused_ <= accepted_) accepted_ = reported < refused_ ? reported : 0;
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
    std::uint32_t probe_after_ = first_probe;
    calibration::broker_reports reports_ = calibration::broker_reports::nothing;
    std::uint64_t refuted_ = 0;
    bool probes_held_ = false;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_CALIBRATOR_HPP
