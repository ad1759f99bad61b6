// SPDX-License-Identifier: MIT
//
// overhead: estimates the bytes that items add on the wire beyond their bodies.
//
// Part of `calibrator`. Encoders add a header to each item and scale its body by a factor (base64,
// compression). So the model is linear:
//
//     bytes beyond the bodies = (ratio - 1) * bodies + header * items
//
// The state contains both parameters, their covariance, and the variance among single items. The
// means alone are not enough: half of the batches that are cut to the mean would be refused. Two
// kinds of evidence update the state:
//   - The reported size of a batch or of its items: one step of a Kalman filter.
//   - Acceptance or refusal without a size: the filter step with the moments of a truncated normal
//     distribution (assumed density filtering). They need the hazard: the density of the normal
//     distribution divided by its upper tail, here Boyd's bound (1959), within 1.2 %.
// The mean stays plausible: the header is at least 0, the ratio is in [1/64, 16]. An error above
// five standard deviations is a change, which the filter adopts at once. A second such error within
// three sums widens the variance among items. Errors of one sign are a drift and increase the
// filter gain (Trigg and Leach 1967).
//
// `bench/run simulation` measures the requests with the constants below.

#ifndef WAYBILL_BATCH_DETAIL_OVERHEAD_HPP
#define WAYBILL_BATCH_DETAIL_OVERHEAD_HPP

#include <cstdint>

#include <waybill/batch/calibration.hpp>
#include <waybill/batch/detail/normal.hpp>
#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::detail {

// No encoder is expected to shrink bodies to less than a 64th.
inline constexpr std::uint64_t max_compression = 64;

/// Sums over the items whose sizes are reported. Sizes in bytes.
struct item_sum {
    double items = 0;   ///< Number of items.
    double bodies = 0;  ///< Bytes of their bodies.
    double beyond = 0;  ///< Bytes beyond these bodies.

    /// Adds an item of `whole` bytes on the wire with a body of `body` bytes. Ignores an item with
    /// an unknown size (`highest_size`, which stands for negative sizes, too).
    constexpr void add(std::uint64_t body, std::uint64_t whole) noexcept
    {
        if (body == highest_size || whole == highest_size) return;
        items += 1;
        bodies += static_cast<double>(body);
        beyond += static_cast<double>(whole) - static_cast<double>(body);
    }
};

class overhead {
public:
    constexpr overhead() noexcept = default;

    /// Starts with an estimate of the header in bytes, which may be wrong. 0 means that the
    /// caller's sizes are complete. This holds until evidence contradicts it.
    constexpr explicit overhead(double header) noexcept
    {
        estimate_.header = header;
        if (header > 0) set_initial_variances();
    }

    /// Restores a state. An invalid state is discarded, except a positive header, which becomes the
    /// first estimate. Invalid are numbers out of range and impossible variances.
    constexpr explicit overhead(const calibration::item_estimate& s) noexcept : estimate_(s)
    {
        if (!is_valid(s)) *this = overhead(in_range(s.header) && s.header > 0 ? s.header : 0);
        if (estimate_.seen > max_observations) estimate_.seen = max_observations;
    }

    [[nodiscard]] constexpr const calibration::item_estimate& state() const noexcept
    {
        return estimate_;
    }

    /// The expected bytes beyond the bodies of `items` items whose bodies have `bodies` bytes.
    [[nodiscard]] constexpr double mean(double bodies, double items) const noexcept
    {
        return (estimate_.ratio - 1) * bodies + estimate_.header * items;
    }

    /// The variance of these bytes. The uncertainty of the mean is multiplied by `doubt`.
    [[nodiscard]] constexpr double variance(double bodies, double items,
                                            double doubt) const noexcept
    {
        return doubt * doubt_of(bodies, items) + noise_of(items);
    }

    /// The highest `variance` of a batch with bodies in [`min_bodies`, `max_bodies`] and items in
    /// [`min_items`, `max_items`]. The uncertainty of the mean is convex in both: its maximum is at
    /// a corner.
    [[nodiscard]] constexpr double widest_variance(double min_bodies, double max_bodies,
                                                   double min_items, double max_items,
                                                   double doubt) const noexcept
    {
        const double corners[] = {doubt_of(min_bodies, min_items), doubt_of(min_bodies, max_items),
                                  doubt_of(max_bodies, min_items), doubt_of(max_bodies, max_items)};
        double widest = 0;
        for (const double corner : corners) widest = corner > widest ? corner : widest;
        return doubt * widest + noise_of(max_items);
    }

    /// True if the estimate counts as exact, because no evidence has contradicted it.
    [[nodiscard]] constexpr bool counts_as_exact() const noexcept
    {
        return !(estimate_.header_variance > 0) && !(estimate_.noise > 0);
    }

    /// Learns from a reported size: `sum` bytes beyond the bodies.
    constexpr void observe(double bodies, double items, double sum) noexcept
    {
        if (!(items > 0)) return;
        const double error = sum - mean(bodies, items);
        const double square = error * error;
        if (counts_as_exact() && square > 0) set_initial_variances();
        const double noise = noise_of(items);
        if (square > change_threshold * (doubt_of(bodies, items) + noise)) {
            estimate_.header_variance += square / (items * items);
            // Not a change, because the last one was recent: the items differ more than expected.
            if (estimate_.seen != 0 && estimate_.seen != max_observations)
                set_noise(clamped(square / items, 0, second_change_factor * estimate_.noise));
            estimate_.seen = 1;
        } else {
            learn_noise(square, doubt_of(bodies, items), noise);
            track_drift(bodies, items, error, noise, estimate_.seen == max_observations);
            // A change has widened the noise, but recent errors are far smaller.
            const double max_noise = noise_over_error * items * estimate_.error * estimate_.error;
            if (estimate_.seen == max_observations && estimate_.noise > max_noise)
                set_noise(max_noise);
        }
        constexpr double variance_reduction = 1;  // the size is known exactly
        correct(bodies, items, error, doubt_of(bodies, items), noise, variance_reduction);
        if (!is_valid(estimate_)) reset();
    }

    /// A value for the argument `above` of `bounded`.
    static constexpr bool above_bound = true;

    /// Learns from a size that is not reported. The bytes beyond the bodies were more than `bound`
    /// if `above` is true, otherwise at most `bound`.
    constexpr void bounded(double bodies, double items, double bound, bool above) noexcept
    {
        if (!(items > 0)) return;
        if (counts_as_exact() && above) set_initial_variances();
        const double widest = (bound + bodies) * widest_spread;
        if (estimate_.noise * items > widest * widest) set_noise(widest * widest / items);
        const double noise = noise_of(items);
        double mean_variance = doubt_of(bodies, items);
        double spread = detail::root(mean_variance + noise);
        if (!(spread > 0)) return;
        double distance = (bound - mean(bodies, items)) / spread;
        if (!above && distance > acceptance_certain) return;
        // The outcome was unlikely: the mean is wrong by an unknown amount, so its variance grows.
        if (above ? distance > refused_unexpected : distance < accepted_unexpected) {
            double deviation = distance * spread / (explained * items);
            const double min_deviation = (bound + bodies) / items / min_deviation_divisor;
            if (above && deviation < min_deviation) deviation = min_deviation;
            estimate_.header_variance += deviation * deviation;
            mean_variance = doubt_of(bodies, items);
            spread = detail::root(mean_variance + noise);
            distance = (bound - mean(bodies, items)) / spread;
        }
        const double h = above ? detail::hazard(distance) : detail::hazard(-distance);
        const double variance_reduction = above ? h * (h - distance) : h * (h + distance);
        correct(bodies, items, above ? h * spread : -h * spread, mean_variance, noise,
                variance_reduction);
        if (!is_valid(estimate_)) reset();
    }

    friend bool operator==(const overhead&, const overhead&) = default;

private:
    static constexpr double min_noise = 0.25;  // bytes squared; a smaller noise needs no margin
    static constexpr std::uint32_t max_observations = 4;  // of item_estimate::seen
    static constexpr double max_ratio = 16;
    static constexpr double min_ratio = 1.0 / max_compression;

    // Reported sizes. An error above 5 standard deviations has a probability of 1 in 2 million.
    static constexpr double change_threshold = 5 * 5;
    static constexpr double second_change_factor = 4;  // doubles the standard deviation at most
    static constexpr double noise_over_error = 4 * 4;  // a standard deviation of 4 mean errors

    // Outcomes without a size, by the distance to the limit in standard deviations. The tail of the
    // normal distribution beyond it is the probability of a refusal.
    static constexpr double acceptance_certain = 6;      // 1e-9: an acceptance shows nothing
    static constexpr double refused_unexpected = 2.5;    // 0.6 %: a refusal shows a wrong mean
    static constexpr double accepted_unexpected = -1.5;  // 93 %: an acceptance shows a wrong mean
    static constexpr double explained = 1.5;             // distance after the variance has grown
    static constexpr double min_deviation_divisor = 10;  // the mean is wrong by at least a 10th
    static constexpr double widest_spread = 0.05;        // of the limit, the noise of a batch

    // Weights of the latest error.
    static constexpr double noise_weight = 0.05;  // a mean over about 20 sums
    static constexpr double drift_weight = 0.35;  // a mean over about 3 sums
    static constexpr double highest_gain = 0.9;   // at 1, the doubt would be infinite

    // Standard deviations of a first estimate: header in bytes, ratio, and noise in bytes.
    static constexpr double header_doubt = 64;  // plus the header
    static constexpr double ratio_doubt = 0.1;  // most encoders leave bodies unchanged
    static constexpr double noise_doubt = 8;    // plus a quarter of the header

    // Squares of numbers up to `highest_number`, and products of two of these, are finite.
    static constexpr double highest_number = 1e60;
    static constexpr double highest_variance = 1e120;
    static constexpr double highest_correlation = 1.01;  // squared; above 1 because of rounding

    [[nodiscard]] static constexpr bool in_range(double x) noexcept
    {
        return x > -highest_number && x < highest_number;
    }
    [[nodiscard]] static constexpr double clamped(double x, double low, double high) noexcept
    {
        return x < low ? low : x > high ? high : x;
    }

    /// True if all numbers are in range and the variances and covariance are possible.
    [[nodiscard]] static constexpr bool is_valid(const calibration::item_estimate& s) noexcept
    {
        const auto variance = [](double x) { return x >= 0 && x < highest_variance; };
        return s.ratio >= min_ratio && s.ratio <= max_ratio && s.header >= 0 &&
               s.header < highest_number && in_range(s.drift) && in_range(s.error) &&
               variance(s.ratio_variance) && variance(s.header_variance) && variance(s.noise) &&
               s.covariance > -highest_variance && s.covariance < highest_variance &&
               s.covariance * s.covariance <=
                   s.ratio_variance * s.header_variance * highest_correlation;
    }

    /// Resets a state whose numbers are out of range.
    constexpr void reset() noexcept
    {
        estimate_ = {};
        set_initial_variances();
    }

    constexpr void set_initial_variances() noexcept
    {
        const double header = header_doubt + estimate_.header;
        const double item = noise_doubt + estimate_.header / 4;
        estimate_.header_variance = header * header;
        estimate_.ratio_variance = ratio_doubt * ratio_doubt;
        estimate_.noise = item * item;
    }

    [[nodiscard]] constexpr double noise_of(double items) const noexcept
    {
        return estimate_.noise * items;
    }

    [[nodiscard]] constexpr double doubt_of(double bodies, double items) const noexcept
    {
        const double d = bodies * bodies * estimate_.ratio_variance +
                         2 * bodies * items * estimate_.covariance +
                         items * items * estimate_.header_variance;
        return d > 0 ? d : 0;
    }

    constexpr void set_noise(double noise) noexcept
    {
        estimate_.noise = noise < min_noise ? min_noise : noise;
    }

    // An error has less weight if the uncertainty of the mean exceeds the variance among items.
    constexpr void learn_noise(double square, double doubt, double noise) noexcept
    {
        const double all = doubt + noise;
        if (!(all > 0)) return;
        if (estimate_.seen != max_observations) ++estimate_.seen;
        const double share =
            estimate_.seen == max_observations ? noise_weight : 1.0 / (estimate_.seen + 1);
        const double weight = share * noise / all;
        set_noise(estimate_.noise + weight * estimate_.noise * (square / all - 1));
    }

    constexpr void track_drift(double bodies, double items, double error, double noise,
                               bool raise_gain) noexcept
    {
        const double per_item = error / items;
        estimate_.drift += drift_weight * (per_item - estimate_.drift);
        estimate_.error += drift_weight * ((per_item < 0 ? -per_item : per_item) - estimate_.error);
        if (!raise_gain || !(estimate_.error > 0)) return;
        const double one_sided = estimate_.drift / estimate_.error;
        double gain = one_sided * one_sided;
        if (gain > highest_gain) gain = highest_gain;
        const double missing_variance = noise * gain / (1 - gain) - doubt_of(bodies, items);
        if (!(missing_variance > 0)) return;
        estimate_.header_variance += missing_variance / (items * items) / 2;
        if (bodies > 0) estimate_.ratio_variance += missing_variance / (bodies * bodies) / 2;
    }

    /// One step of the filter. `error`: actual minus expected bytes. `doubt`: variance of the mean.
    /// `variance_reduction`: 1 if the actual bytes are known, less if they are only bounded.
    constexpr void correct(double bodies, double items, double error, double doubt, double noise,
                           double variance_reduction) noexcept
    {
        const double all = doubt + noise;
        if (!(all > 0)) return;
        const double r = bodies * estimate_.ratio_variance + items * estimate_.covariance;
        const double h = bodies * estimate_.covariance + items * estimate_.header_variance;
        estimate_.ratio += r * error / all;
        estimate_.header += h * error / all;
        estimate_.ratio_variance -= variance_reduction * r * r / all;
        estimate_.covariance -= variance_reduction * r * h / all;
        estimate_.header_variance -= variance_reduction * h * h / all;
        keep_plausible();
        // Rounding can make a vanishing variance negative, or the covariance impossible.
        if (estimate_.ratio_variance < 0) estimate_.ratio_variance = 0;
        if (estimate_.header_variance < 0) estimate_.header_variance = 0;
        const double max_covariance =
            detail::root(estimate_.ratio_variance * estimate_.header_variance);
        estimate_.covariance = clamped(estimate_.covariance, -max_covariance, max_covariance);
    }

    /// Moves a parameter that cannot be to the nearest possible value. The other one follows, as
    /// their covariance tells.
    constexpr void keep_plausible() noexcept
    {
        calibration::item_estimate& e = estimate_;
        if (e.header < 0) {
            if (e.header_variance > 0) e.ratio -= e.covariance / e.header_variance * e.header;
            e.header = 0;
        }
        const double ratio = clamped(e.ratio, min_ratio, max_ratio);
        if (ratio == e.ratio) return;
        if (e.ratio_variance > 0) e.header += e.covariance / e.ratio_variance * (ratio - e.ratio);
        if (e.header < 0) e.header = 0;
        e.ratio = ratio;
    }

    calibration::item_estimate estimate_;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_OVERHEAD_HPP
