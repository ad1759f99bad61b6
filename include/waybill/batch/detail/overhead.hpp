// SPDX-License-Identifier: MIT
//
// overhead: estimates the bytes that items add on the wire beyond their bodies.
//
// Part of `calibration`. Encoders add a header to each item and scale its body by a factor (base64,
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
//     distribution (assumed density filtering). The hazard is Boyd's bound (1959), within 1.2 %.
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

/// Sums over samples of single items, for the regression. Sizes in bytes.
struct item_samples {
    double n = 0;             ///< Number of samples.
    double bodies = 0;        ///< Sum of the bodies.
    double body_squares = 0;  ///< Sum of the squares of the bodies.
    double beyond = 0;        ///< Sum of the bytes beyond each body.
    double squares = 0;       ///< Sum of the squares of the bytes beyond each body.
    double products = 0;      ///< Sum of the products of each body and the bytes beyond it.
    double most = 0;          ///< Highest number of bytes beyond a body.
    double most_body = 0;     ///< Body of the item with `most`.

    /// Adds an item of `whole` bytes on the wire with a body of `body` bytes. Ignores an item with
    /// an unknown size (`highest_size`, which stands for negative sizes, too).
    constexpr void add(std::uint64_t body, std::uint64_t whole) noexcept
    {
        if (body == highest_size || whole == highest_size) return;
        const double b = static_cast<double>(body);
        const double x = static_cast<double>(whole) - b;
        count(b, x, 1);
        if (n > 1 && x <= most) return;
        most = x;
        most_body = b;
    }

    /// Adds a body of `body` bytes with `x` bytes beyond it, `weight` times; -1 removes it.
    constexpr void count(double body, double x, double weight) noexcept
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
        known_.header = header;
        if (header > 0) doubt();
    }

    /// Restores a state. An invalid state is discarded, except a positive header, which becomes the
    /// first estimate. Invalid are numbers out of range and impossible variances.
    constexpr explicit overhead(const calibration::item_estimate& s) noexcept : known_(s)
    {
        if (!sound(s)) *this = overhead(sane(s.header) && s.header > 0 ? s.header : 0);
        if (known_.seen > enough) known_.seen = enough;
    }

    [[nodiscard]] constexpr const calibration::item_estimate& state() const noexcept
    {
        return known_;
    }

    /// The expected bytes beyond the bodies of `items` items whose bodies have `bodies` bytes.
    [[nodiscard]] constexpr double mean(double bodies, double items) const noexcept
    {
        return (known_.ratio - 1) * bodies + known_.header * items;
    }

    /// The variance of these bytes. The uncertainty of the mean is multiplied by `doubt`. `told` is
    /// the number of further items from a batch whose total size was reported. Each has the weight
    /// `told_share`.
    [[nodiscard]] constexpr double variance(double bodies, double items, double told,
                                            double doubt) const noexcept
    {
        return doubt * doubt_of(bodies, items) + noise_of(items, told);
    }

    /// The highest `variance` of a batch with bodies in [`fewest_bodies`, `most_bodies`] and items
    /// in [`fewest`, `most`]. The uncertainty of the mean is convex in both: its maximum is at a
    /// corner.
    [[nodiscard]] constexpr double widest_variance(double fewest_bodies, double most_bodies,
                                                   double fewest, double most, double told,
                                                   double doubt) const noexcept
    {
        const double corners[] = {doubt_of(fewest_bodies, fewest), doubt_of(fewest_bodies, most),
                                  doubt_of(most_bodies, fewest), doubt_of(most_bodies, most)};
        double widest = 0;
        for (const double corner : corners) widest = corner > widest ? corner : widest;
        return doubt * widest + noise_of(most, told);
    }

    /// True if the estimate counts as exact, because no evidence has contradicted it.
    [[nodiscard]] constexpr bool believed() const noexcept
    {
        return !(known_.header_variance > 0) && !(known_.noise > 0);
    }

    /// Learns from a reported size: `sum` bytes beyond the bodies.
    constexpr void observe(double bodies, double items, double told, double sum) noexcept
    {
        if (!(items > 0)) return;
        const double error = sum - mean(bodies, items);
        const double square = error * error;
        if (believed() && square > 0) doubt();
        const double noise = noise_of(items, told);
        if (square > change * (doubt_of(bodies, items) + noise)) {
            // A sum below zero is not caused by a header.
            if (sum < 0 && bodies > 0) known_.ratio_variance += square / (bodies * bodies);
            else known_.header_variance += square / (items * items);
            // Not a change, because the last one was recent: the items differ more than expected.
            if (known_.seen != 0 && known_.seen != enough) widen(second_change, square / items);
            known_.seen = 1;
        } else {
            learn_noise(square, doubt_of(bodies, items), noise);
            follow(bodies, items, error, noise, known_.seen == enough);
            // A change has widened the noise, but recent errors are far smaller.
            const double most = noise_over_error * items * known_.error * known_.error;
            if (known_.seen == enough && known_.noise > most) widen(1, most);
        }
        correct(bodies, items, error, doubt_of(bodies, items), noise, 1);
        if (!sound(known_)) forget();
    }

    /// The broker reported one size for `items` and `others` together. The first `items` had `less`
    /// bytes below their share. A difference above five standard deviations is a change of the
    /// header, which is then adjusted to `others`. Ignored if `others` is at most `items` / 8.
    constexpr void shared(double items, double less, double others) noexcept
    {
        if (!(less * less > change * known_.noise * items)) return;
        if (!(others > items * told_share)) return;
        known_.header += less / others;
        if (!sound(known_)) forget();
    }

    /// Learns from a size that is not reported. The bytes beyond the bodies were more than `bound`
    /// if `above` is true, otherwise at most `bound`.
    constexpr void bounded(double bodies, double items, double told, double bound,
                           bool above) noexcept
    {
        if (!(items > 0)) return;
        if (believed() && above) doubt();
        const double widest = (bound + bodies) * widest_spread;
        const double most = widest * widest / items;
        if (!above && known_.noise > most) widen(1, most);
        const double noise = noise_of(items, told);
        double doubted = doubt_of(bodies, items);
        double spread = detail::root(doubted + noise);
        if (!(spread > 0)) return;
        double k = (bound - mean(bodies, items)) / spread;
        if (!above && k > certain) return;
        if (!above && k < close) widen(accepted_close, unbounded);
        if (above && k > doubtful) widen(refused_far, unbounded);
        if (above ? k > refused_unexpected : k < accepted_unexpected) {  // the distance is unknown
            double deviation = k * spread / (explained * items);
            const double smallest = (bound + bodies) / items / smallest_excess;
            if (above && deviation < smallest) deviation = smallest;
            known_.header_variance += deviation * deviation;
            doubted = doubt_of(bodies, items);
            spread = detail::root(doubted + noise);
            k = (bound - mean(bodies, items)) / spread;
        }
        const double h = above ? detail::hazard(k) : detail::hazard(-k);
        const double less = above ? h * (h - k) : h * (h + k);
        correct(bodies, items, above ? h * spread : -h * spread, doubted, noise, less);
        if (!sound(known_)) forget();
    }

    /// Learns from the sizes of at least 2 single items. From `outlier_samples` on, a sample is
    /// left out if it causes more than half of the variance. The ratio stays unchanged if all
    /// bodies have one size, with fewer than `slope_samples`, and with fewer than `line_samples`
    /// that show no clear correlation.
    constexpr void sampled(item_samples s) noexcept
    {
        if (s.n < 2) return;
        const double distance = s.most - s.mean();
        if (s.n >= outlier_samples && distance * distance > s.variance() * s.n / 2) {
            s.count(s.most_body, s.most, -1);
        }
        const double body = s.bodies / s.n;
        const double bodies = s.body_squares / s.n - body * body;
        const double both = s.products / s.n - body * s.mean();
        const double part = both * both;
        const double all = bodies * s.variance();
        const bool spread = bodies > rounding * body * body;
        // Squared correlation: above 7/8 for 4 samples, 11/16 for 7, 1/2 for more.
        const bool clear =
            spread && (s.n >= line_samples ? part > all / 2 : part * 16 > (18 - s.n) * all);
        const bool line = s.n >= line_samples ? spread : s.n >= slope_samples && clear;
        double slope = known_.ratio - 1;
        if (line) slope = clear ? both / bodies : 0;
        double noise = s.variance() - 2 * slope * both + slope * slope * bodies;
        if (!(noise > least)) noise = least;
        double doubted = vague;
        if (line) doubted = noise < vague * s.n * bodies ? noise / (s.n * bodies) : vague;
        known_ = {.ratio = 1 + slope,
                  .header = s.mean() - slope * body,
                  .ratio_variance = doubted,
                  .covariance = -body * doubted,
                  .header_variance = noise / s.n + body * body * doubted,
                  .noise = noise,
                  .seen = enough};
        if (!sound(known_)) forget();
    }

    friend bool operator==(const overhead&, const overhead&) = default;

private:
    static constexpr double least = 0.25;         // bytes squared; a smaller noise needs no margin
    static constexpr double vague = 0.15 * 0.15;  // variance of a ratio without evidence
    static constexpr std::uint32_t enough = 4;

    // `bench/run simulation` measures the requests of the filter with these values. The thresholds
    // matter most if refusals have no numbers (row "ours, R" of its table). With
    // `refused_unexpected` 4, scenario S10 takes 2.4 times the fewest requests instead of 1.4. With
    // `close` 3, S2 takes 1.06 times instead of 1.02.

    // Reported sizes. An error above 5 standard deviations has a probability of 1 in 2 million.
    static constexpr double change = 5 * 5;
    static constexpr double second_change = 4;         // doubles the standard deviation at most
    static constexpr double noise_over_error = 4 * 4;  // a standard deviation of 4 mean errors
    // Nearly all further items of a reported batch are in the next one, with nearly all of the sum.
    static constexpr double told_share = 1.0 / 8;

    // Outcomes without a size. `k` is the distance to the limit in standard deviations; the tail of
    // the normal distribution beyond it is the probability of a refusal.
    static constexpr double certain = 6;                 // 1e-9: an acceptance shows nothing
    static constexpr double close = 4;                   // 3e-5: an acceptance shows little noise
    static constexpr double doubtful = 1.3;              // 10 %: a refusal shows more noise
    static constexpr double refused_unexpected = 2.5;    // 0.6 %: a refusal shows a wrong mean
    static constexpr double accepted_unexpected = -1.5;  // 93 %: an acceptance shows a wrong mean
    static constexpr double explained = 1.5;             // distance after the variance has grown
    static constexpr double smallest_excess = 10;        // the mean is wrong by a 10th at least
    static constexpr double accepted_close = 0.98;       // narrows the noise by 2 %
    static constexpr double refused_far = 2;             // doubles the noise
    static constexpr double widest_spread = 0.25;        // of the limit, for an accepted batch
    static constexpr double unbounded = 1e30;            // bytes squared, above every noise

    // Sizes of single items.
    static constexpr double slope_samples = 4;     // 3 points are often close to a line by chance
    static constexpr double line_samples = 8;      // from here on, half of the variance is enough
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

    [[nodiscard]] static constexpr bool sane(double x) noexcept
    {
        return x > -highest_number && x < highest_number;
    }

    /// True if all numbers are in range and the variances and covariance are possible.
    [[nodiscard]] static constexpr bool sound(const calibration::item_estimate& s) noexcept
    {
        const auto variance = [](double x) { return x >= 0 && x < highest_variance; };
        return sane(s.ratio) && sane(s.header) && sane(s.drift) && sane(s.error) &&
               variance(s.ratio_variance) && variance(s.header_variance) && variance(s.noise) &&
               s.covariance > -highest_variance && s.covariance < highest_variance &&
               s.covariance * s.covariance <=
                   s.ratio_variance * s.header_variance * highest_correlation;
    }

    /// Resets a state whose numbers are out of range.
    constexpr void forget() noexcept
    {
        known_ = {};
        doubt();
    }

    constexpr void doubt() noexcept
    {
        const double header = header_doubt + known_.header;
        const double item = noise_doubt + known_.header / 4;
        known_.header_variance = header * header;
        known_.ratio_variance = ratio_doubt * ratio_doubt;
        known_.noise = item * item;
    }

    [[nodiscard]] constexpr double noise_of(double items, double told) const noexcept
    {
        return known_.noise * (items + told * told_share);
    }

    [[nodiscard]] constexpr double doubt_of(double bodies, double items) const noexcept
    {
        const double d = bodies * bodies * known_.ratio_variance +
                         2 * bodies * items * known_.covariance +
                         items * items * known_.header_variance;
        return d > 0 ? d : 0;
    }

    constexpr void widen(double factor, double most) noexcept
    {
        const double noise = known_.noise * factor;
        known_.noise = noise > most ? most : noise;
        if (known_.noise < least) known_.noise = least;
    }

    // An error has less weight if the uncertainty of the mean exceeds the variance among items.
    constexpr void learn_noise(double square, double doubt, double noise) noexcept
    {
        const double all = doubt + noise;
        if (!(all > 0)) return;
        if (known_.seen != enough) ++known_.seen;
        const double share = known_.seen == enough ? noise_weight : 1.0 / (known_.seen + 1);
        const double weight = share * noise / all;
        known_.noise += weight * known_.noise * (square / all - 1);
        if (known_.noise < least) known_.noise = least;
    }

    constexpr void follow(double bodies, double items, double sum, double noise,
                          bool faster) noexcept
    {
        const double error = sum / items;
        known_.drift += drift_weight * (error - known_.drift);
        known_.error += drift_weight * ((error < 0 ? -error : error) - known_.error);
        if (!faster || !(known_.error > 0)) return;
        const double one_sided = known_.drift / known_.error;
        double gain = one_sided * one_sided;
        if (gain > highest_gain) gain = highest_gain;
        const double lacking = noise * gain / (1 - gain) - doubt_of(bodies, items);
        if (!(lacking > 0)) return;
        known_.header_variance += lacking / (items * items) / 2;
        if (bodies > 0) known_.ratio_variance += lacking / (bodies * bodies) / 2;
    }

    constexpr void correct(double bodies, double items, double error, double doubt, double noise,
                           double less) noexcept
    {
        const double all = doubt + noise;
        if (!(all > 0)) return;
        const double r = bodies * known_.ratio_variance + items * known_.covariance;
        const double h = bodies * known_.covariance + items * known_.header_variance;
        known_.ratio += r * error / all;
        known_.header += h * error / all;
        known_.ratio_variance -= less * r * r / all;
        known_.covariance -= less * r * h / all;
        known_.header_variance -= less * h * h / all;
        // Rounding can make a vanishing variance negative, or the covariance impossible.
        if (known_.ratio_variance < 0) known_.ratio_variance = 0;
        if (known_.header_variance < 0) known_.header_variance = 0;
        const double most = detail::root(known_.ratio_variance * known_.header_variance);
        if (known_.covariance > most) known_.covariance = most;
        if (known_.covariance < -most) known_.covariance = -most;
    }

    calibration::item_estimate known_;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_OVERHEAD_HPP
