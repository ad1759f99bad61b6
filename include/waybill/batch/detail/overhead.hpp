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
// means alone are not enough: half of the batches that are cut to the mean would be refused. Three
// kinds of evidence update the state:
//   - The reported size of a batch: one step of a Kalman filter.
//   - The sizes of single items: a linear regression.
//   - Acceptance or refusal without a size: the filter step with the moments of a truncated normal
//     distribution (assumed density filtering). They need the hazard: the density of the normal
//     distribution divided by its upper tail, here Boyd's bound (1959), within 1.2 %.
// An error above five standard deviations is a change, which the filter adopts at once. A second
// such error within three sums widens the variance among items; smaller errors narrow it again.
// Errors of one sign are a drift and increase the filter gain (Trigg and Leach 1967).

#ifndef WAYBILL_BATCH_DETAIL_OVERHEAD_HPP
#define WAYBILL_BATCH_DETAIL_OVERHEAD_HPP

#include <cstdint>

#include <waybill/batch/calibration.hpp>
#include <waybill/batch/detail/normal.hpp>
#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::detail {

// No encoder is expected to shrink bodies to less than a 64th.
inline constexpr std::uint64_t max_compression = 64;

/// Sums over samples of single items, for the regression. Sizes in bytes.
struct item_samples {
    double n = 0;                ///< Number of samples.
    double bodies = 0;           ///< Sum of the bodies.
    double body_squares = 0;     ///< Sum of the squares of the bodies.
    double beyond = 0;           ///< Sum of the bytes beyond each body.
    double squares = 0;          ///< Sum of the squares of the bytes beyond each body.
    double products = 0;         ///< Sum of the products of each body and the bytes beyond it.
    double max_beyond = 0;       ///< Highest number of bytes beyond a body.
    double max_beyond_body = 0;  ///< Body of the item with `max_beyond`.

    /// Adds an item of `whole` bytes on the wire with a body of `body` bytes. Ignores an item with
    /// an unknown size (`highest_size`, which stands for negative sizes, too).
    constexpr void add(std::uint64_t body, std::uint64_t whole) noexcept
    {
        if (body == highest_size || whole == highest_size) return;
        const double b = static_cast<double>(body);
        const double x = static_cast<double>(whole) - b;
        add_weighted(b, x, 1);
        if (n > 1 && x <= max_beyond) return;
        max_beyond = x;
        max_beyond_body = b;
    }

    /// Adds a body of `body` bytes with `x` bytes beyond it, `weight` times; -1 removes it.
    constexpr void add_weighted(double body, double x, double weight) noexcept
    {
        n += weight;
        bodies += weight * body;
        body_squares += weight * body * body;
        beyond += weight * x;
        squares += weight * x * x;
        products += weight * body * x;
    }

    [[nodiscard]] constexpr double mean() const noexcept { return beyond / n; }
    [[nodiscard]] constexpr double variance() const noexcept
    {
        return squares / n - mean() * mean();
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
    /// `shared_items` is the number of further items whose sizes are shares of a reported sum. Each
    /// has the weight `shared_item_weight`.
    [[nodiscard]] constexpr double variance(double bodies, double items, double shared_items,
                                            double doubt) const noexcept
    {
        return doubt * doubt_of(bodies, items) + noise_of(items, shared_items);
    }

    /// The highest `variance` of a batch with bodies in [`min_bodies`, `max_bodies`] and items in
    /// [`min_items`, `max_items`]. The uncertainty of the mean is convex in both: its maximum is at
    /// a corner.
    [[nodiscard]] constexpr double widest_variance(double min_bodies, double max_bodies,
                                                   double min_items, double max_items,
                                                   double shared_items, double doubt) const noexcept
    {
        const double corners[] = {doubt_of(min_bodies, min_items), doubt_of(min_bodies, max_items),
                                  doubt_of(max_bodies, min_items), doubt_of(max_bodies, max_items)};
        double widest = 0;
        for (const double corner : corners) widest = corner > widest ? corner : widest;
        return doubt * widest + noise_of(max_items, shared_items);
    }

    /// True if the estimate counts as exact, because no evidence has contradicted it.
    [[nodiscard]] constexpr bool counts_as_exact() const noexcept
    {
        return !(estimate_.header_variance > 0) && !(estimate_.noise > 0);
    }

    /// Learns from a reported size: `sum` bytes beyond the bodies.
    constexpr void observe(double bodies, double items, double shared_items, double sum) noexcept
    {
        if (!(items > 0)) return;
        const double error = sum - mean(bodies, items);
        const double square = error * error;
        if (counts_as_exact() && square > 0) set_initial_variances();
        const double noise = noise_of(items, shared_items);
        if (square > change_threshold * (doubt_of(bodies, items) + noise)) {
            // A sum below zero is not caused by a header.
            if (sum < 0 && bodies > 0) estimate_.ratio_variance += square / (bodies * bodies);
            else estimate_.header_variance += square / (items * items);
            // Not a change, because the last one was recent: the items differ more than expected.
            if (estimate_.seen != 0 && estimate_.seen != max_observations)
                scale_noise(second_change_factor, square / items);
            estimate_.seen = 1;
        } else {
            learn_noise(square, doubt_of(bodies, items), noise);
            track_drift(bodies, items, error, noise, estimate_.seen == max_observations);
            // A change has widened the noise, but recent errors are far smaller.
            const double max_noise = noise_over_error * items * estimate_.error * estimate_.error;
            if (estimate_.seen == max_observations && estimate_.noise > max_noise)
                limit_noise(max_noise);
        }
        constexpr double variance_reduction = 1;  // the size is known exactly
        correct(bodies, items, error, doubt_of(bodies, items), noise, variance_reduction);
        if (!is_valid(estimate_)) reset();
    }

    /// The broker reported one size for `items` and `others` together. The first `items` were
    /// `surplus` bytes smaller than their shares. A difference above five standard deviations is a
    /// change of the header, which is then adjusted to `others`. Ignored if `others` is at most
    /// `items` / 8.
    constexpr void observe_surplus(double items, double surplus, double others) noexcept
    {
        if (!(surplus * surplus > change_threshold * estimate_.noise * items)) return;
        if (!(others > items * shared_item_weight)) return;
        estimate_.header += surplus / others;
        if (!is_valid(estimate_)) reset();
    }

    /// A value for the argument `above` of `bounded`.
    static constexpr bool above_bound = true;

    /// Learns from a size that is not reported. The bytes beyond the bodies were more than `bound`
    /// if `above` is true, otherwise at most `bound`.
    constexpr void bounded(double bodies, double items, double shared_items, double bound,
                           bool above) noexcept
    {
        if (!(items > 0)) return;
        if (counts_as_exact() && above) set_initial_variances();
        const double widest = (bound + bodies) * widest_spread;
        const double max_noise = widest * widest / items;
        if (!above && estimate_.noise > max_noise) limit_noise(max_noise);
        const double noise = noise_of(items, shared_items);
        double mean_variance = doubt_of(bodies, items);
        double spread = detail::root(mean_variance + noise);
        if (!(spread > 0)) return;
        double distance = (bound - mean(bodies, items)) / spread;
        if (!above && distance > acceptance_certain) return;
        if (!above && distance < acceptance_likely) scale_noise(accepted_close_factor, unbounded);
        if (above && distance > refusal_unlikely) scale_noise(refused_far_factor, unbounded);
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

    /// Learns from the sizes of at least 2 single items. From `outlier_samples` on, a sample is
    /// left out if it causes more than half of the variance. The ratio stays unchanged in three
    /// cases: all bodies have one size; there are fewer than `min_slope_samples`; there are fewer
    /// than `enough_slope_samples` without a clear correlation.
    constexpr void observe_samples(item_samples s) noexcept
    {
        if (s.n < 2) return;
        const double distance = s.max_beyond - s.mean();
        if (s.n >= outlier_samples && distance * distance > s.variance() * s.n / 2) {
            s.add_weighted(s.max_beyond_body, s.max_beyond, -1);
        }
        const double mean_body = s.bodies / s.n;
        const double body_variance = s.body_squares / s.n - mean_body * mean_body;
        const double covariance = s.products / s.n - mean_body * s.mean();
        const double squared_covariance = covariance * covariance;
        const double variance_product = body_variance * s.variance();
        const bool bodies_differ = body_variance > rounding * mean_body * mean_body;
        // Squared correlation: above 7/8 for 4 samples, 11/16 for 7, 1/2 for more.
        const bool correlated =
            bodies_differ &&
            (s.n >= enough_slope_samples ? squared_covariance > variance_product / 2
                                         : squared_covariance * 16 > (18 - s.n) * variance_product);
        const bool slope_known =
            s.n >= enough_slope_samples ? bodies_differ : s.n >= min_slope_samples && correlated;
        double slope = estimate_.ratio - 1;
        if (slope_known) slope = correlated ? covariance / body_variance : 0;
        double noise = s.variance() - 2 * slope * covariance + slope * slope * body_variance;
        if (!(noise > min_noise)) noise = min_noise;
        double ratio_variance = default_ratio_variance;
        // The lesser of the default and noise / (n * variance), without a division by 0.
        if (slope_known && noise < default_ratio_variance * s.n * body_variance)
            ratio_variance = noise / (s.n * body_variance);
        estimate_ = {.ratio = 1 + slope,
                     .header = s.mean() - slope * mean_body,
                     .ratio_variance = ratio_variance,
                     .covariance = -mean_body * ratio_variance,
                     .header_variance = noise / s.n + mean_body * mean_body * ratio_variance,
                     .noise = noise,
                     .seen = max_observations};
        if (!is_valid(estimate_)) reset();
    }

    friend bool operator==(const overhead&, const overhead&) = default;

private:
    static constexpr double min_noise = 0.25;  // bytes squared; a smaller noise needs no margin
    static constexpr double default_ratio_variance = 0.15 * 0.15;  // of a ratio without evidence
    static constexpr std::uint32_t max_observations = 4;           // of item_estimate::seen

    // `bench/run simulation` measures the requests of the filter with these values. The thresholds
    // matter most if refusals have no numbers (row "ours, R" of its table). With
    // `refused_unexpected` 4, scenario S10 takes 2.4 times the fewest requests instead of 1.4. With
    // `acceptance_likely` 3, S2 takes 1.06 times instead of 1.02.

    // Reported sizes. An error above 5 standard deviations has a probability of 1 in 2 million.
    static constexpr double change_threshold = 5 * 5;
    static constexpr double second_change_factor = 4;  // doubles the standard deviation at most
    static constexpr double noise_over_error = 4 * 4;  // a standard deviation of 4 mean errors
    // Nearly all further items of a reported batch are in the next one, with nearly all of the sum.
    static constexpr double shared_item_weight = 1.0 / 8;

    // Outcomes without a size, by the distance to the limit in standard deviations. The tail of the
    // normal distribution beyond it is the probability of a refusal.
    static constexpr double acceptance_certain = 6;        // 1e-9: an acceptance shows nothing
    static constexpr double acceptance_likely = 4;         // 3e-5: an acceptance shows little noise
    static constexpr double refusal_unlikely = 1.3;        // 10 %: a refusal shows more noise
    static constexpr double refused_unexpected = 2.5;      // 0.6 %: a refusal shows a wrong mean
    static constexpr double accepted_unexpected = -1.5;    // 93 %: an acceptance shows a wrong mean
    static constexpr double explained = 1.5;               // distance after the variance has grown
    static constexpr double min_deviation_divisor = 10;    // the mean is wrong by at least a 10th
    static constexpr double accepted_close_factor = 0.98;  // narrows the noise by 2 %
    static constexpr double refused_far_factor = 2;        // doubles the noise
    static constexpr double widest_spread = 0.25;          // of the limit, for an accepted batch
    static constexpr double unbounded = 1e30;              // bytes squared, above every noise

    // Sizes of single items.
    static constexpr double min_slope_samples = 4;  // 3 points are often close to a line by chance
    // From here on, half of the variance is enough.
    static constexpr double enough_slope_samples = 8;
    static constexpr double outlier_samples = 32;  // the mean of 31 is reliable
    static constexpr double rounding = 1e-9;       // relative variance of bodies of one size

    // Weights of the latest error.
    static constexpr double noise_weight = 0.05;  // a mean over about 20 sums
    static constexpr double drift_weight = 0.35;  // a mean over about 3 sums
    static constexpr double highest_gain = 0.9;   // at 1, the doubt would be infinite

    // Standard deviations of a first estimate: header in bytes, ratio, and noise in bytes.
    static constexpr double header_doubt = 64;   // plus the header
    static constexpr double ratio_doubt = 0.02;  // most encoders leave bodies unchanged
    static constexpr double noise_doubt = 8;     // plus a quarter of the header

    // Squares of numbers up to `highest_number`, and products of two of these, are finite.
    static constexpr double highest_number = 1e60;
    static constexpr double highest_variance = 1e120;
    static constexpr double highest_correlation = 1.01;  // squared; above 1 because of rounding

    [[nodiscard]] static constexpr bool in_range(double x) noexcept
    {
        return x > -highest_number && x < highest_number;
    }

    /// True if all numbers are in range and the variances and covariance are possible.
    [[nodiscard]] static constexpr bool is_valid(const calibration::item_estimate& s) noexcept
    {
        const auto variance = [](double x) { return x >= 0 && x < highest_variance; };
        return in_range(s.ratio) && in_range(s.header) && in_range(s.drift) && in_range(s.error) &&
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

    [[nodiscard]] constexpr double noise_of(double items, double shared_items) const noexcept
    {
        return estimate_.noise * (items + shared_items * shared_item_weight);
    }

    [[nodiscard]] constexpr double doubt_of(double bodies, double items) const noexcept
    {
        const double d = bodies * bodies * estimate_.ratio_variance +
                         2 * bodies * items * estimate_.covariance +
                         items * items * estimate_.header_variance;
        return d > 0 ? d : 0;
    }

    constexpr void limit_noise(double max_noise) noexcept { scale_noise(1, max_noise); }

    constexpr void scale_noise(double factor, double max_noise) noexcept
    {
        const double noise = estimate_.noise * factor;
        estimate_.noise = noise > max_noise ? max_noise : noise;
        if (estimate_.noise < min_noise) estimate_.noise = min_noise;
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
        estimate_.noise += weight * estimate_.noise * (square / all - 1);
        if (estimate_.noise < min_noise) estimate_.noise = min_noise;
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
        // Rounding can make a vanishing variance negative, or the covariance impossible.
        if (estimate_.ratio_variance < 0) estimate_.ratio_variance = 0;
        if (estimate_.header_variance < 0) estimate_.header_variance = 0;
        const double max_covariance =
            detail::root(estimate_.ratio_variance * estimate_.header_variance);
        if (estimate_.covariance > max_covariance) {
            estimate_.covariance = max_covariance;
        }
        if (estimate_.covariance < -max_covariance) {
            estimate_.covariance = -max_covariance;
        }
    }

    calibration::item_estimate estimate_;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_OVERHEAD_HPP
