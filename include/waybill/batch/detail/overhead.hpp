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

#include <waybill/batch/detail/normal.hpp>
#include <waybill/core/saturating.hpp>

namespace waybill::inline v0_2::detail {

/// The state of `overhead`, to be stored. Bytes; variances in bytes squared.
struct overhead_state {
    double ratio = 1;            ///< Bytes on the wire for each byte of a body.
    double header = 0;           ///< Bytes that each item adds.
    double ratio_variance = 0;   ///< Variance of the estimate `ratio`.
    double covariance = 0;       ///< Covariance of the estimates `ratio` and `header`.
    double header_variance = 0;  ///< Variance of the estimate `header`.
    double noise = 0;            ///< Variance among single items.
    double drift = 0;            ///< Mean of recent errors, in bytes an item.
    double error = 0;            ///< Mean of recent absolute errors, in bytes an item.
    std::uint32_t seen = 0;      ///< Sums since the last change, for `noise`; at most 4.

    friend bool operator==(const overhead_state&, const overhead_state&) = default;
};

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
    constexpr explicit overhead(const overhead_state& s) noexcept : known_(s)
    {
        if (!sound(s)) *this = overhead(sane(s.header) && s.header > 0 ? s.header : 0);
        if (known_.seen > enough) known_.seen = enough;
    }

    [[nodiscard]] constexpr const overhead_state& state() const noexcept { return known_; }

    /// The expected bytes beyond the bodies of `items` items whose bodies have `bodies` bytes.
    [[nodiscard]] constexpr double mean(double bodies, double items) const noexcept
    {
        return (known_.ratio - 1) * bodies + known_.header * items;
    }

    /// The variance of these bytes. The uncertainty of the mean is multiplied by `doubt`. `told` is
    /// the number of further items from a batch whose total size was reported. Each counts as an
    /// eighth, because nearly all of them are in the next batch together, with nearly all of that
    /// sum.
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
        if (square > 25 * (doubt_of(bodies, items) + noise)) {
            // A sum below zero is not caused by a header.
            if (sum < 0 && bodies > 0) known_.ratio_variance += square / (bodies * bodies);
            else known_.header_variance += square / (items * items);
            // Not a change, because the last one was recent: the items differ more than expected.
            if (known_.seen != 0 && known_.seen != enough) widen(4, square / items);
            known_.seen = 1;
        } else {
            learn_noise(square, doubt_of(bodies, items), noise);
            follow(bodies, items, error, noise, known_.seen == enough);
            // A change has widened the noise, but recent errors are far smaller.
            const double most = 16 * items * known_.error * known_.error;
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
        if (!(less * less > 25 * known_.noise * items) || !(8 * others > items)) return;
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
        // The sum of an accepted batch deviates by at most a quarter of the limit.
        const double most = (bound + bodies) * (bound + bodies) / (16 * items);
        if (!above && known_.noise > most) widen(1, most);
        const double noise = noise_of(items, told);
        double doubted = doubt_of(bodies, items);
        double spread = detail::root(doubted + noise);
        if (!(spread > 0)) return;
        double k = (bound - mean(bodies, items)) / spread;
        if (!above && k > 6) return;
        if (!above && k < 4) widen(0.98, 1e30);
        if (above && k > 1.3) widen(2, 1e30);
        if (above ? k > 2.5 : k < -1.5) {  // unexpected: the distance is unknown
            double deviation = k * spread / (1.5 * items);
            const double tenth = (bound + bodies) / items / 10;
            if (above && deviation < tenth) deviation = tenth;
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

    /// Learns from the sizes of at least 2 single items. Of 32 samples or more, a sample is left
    /// out if it causes more than half of the variance. The ratio stays unchanged if all bodies
    /// have one size, with fewer than 4 samples, and with fewer than 8 that show no clear
    /// correlation.
    constexpr void sampled(item_samples s) noexcept
    {
        if (s.n < 2) return;
        const double distance = s.most - s.mean();
        if (s.n >= 32 && distance * distance > s.variance() * s.n / 2) {
            s.count(s.most_body, s.most, -1);
        }
        const double body = s.bodies / s.n;
        const double bodies = s.body_squares / s.n - body * body;
        const double both = s.products / s.n - body * s.mean();
        const double part = both * both;
        const double all = bodies * s.variance();
        const bool spread = bodies > 1e-9 * body * body;
        const bool clear = spread && (s.n >= 8 ? part > all / 2 : part * 16 > (18 - s.n) * all);
        const bool line = s.n >= 8 ? spread : s.n >= 4 && clear;
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

    [[nodiscard]] static constexpr bool sane(double x) noexcept { return x > -1e60 && x < 1e60; }

    /// True if all numbers are in range and the variances and covariance are possible.
    [[nodiscard]] static constexpr bool sound(const overhead_state& s) noexcept
    {
        const auto variance = [](double x) { return x >= 0 && x < 1e120; };
        return sane(s.ratio) && sane(s.header) && sane(s.drift) && sane(s.error) &&
               variance(s.ratio_variance) && variance(s.header_variance) && variance(s.noise) &&
               s.covariance > -1e120 && s.covariance < 1e120 &&
               s.covariance * s.covariance <= s.ratio_variance * s.header_variance * 1.01;
    }

    /// Resets a state whose numbers are out of range.
    constexpr void forget() noexcept
    {
        known_ = {};
        doubt();
    }

    constexpr void doubt() noexcept
    {
        known_.header_variance = (64 + known_.header) * (64 + known_.header);
        known_.ratio_variance = 0.02 * 0.02;  // most encoders leave bodies unchanged
        known_.noise = (8 + known_.header / 4) * (8 + known_.header / 4);
    }

    [[nodiscard]] constexpr double noise_of(double items, double told) const noexcept
    {
        return known_.noise * (items + told / 8);
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
        const double weight = (known_.seen == enough ? 0.05 : 1.0 / (known_.seen + 1)) * noise / all;
        known_.noise += weight * known_.noise * (square / all - 1);
        if (known_.noise < least) known_.noise = least;
    }

    constexpr void follow(double bodies, double items, double sum, double noise, bool faster) noexcept
    {
        const double error = sum / items;
        known_.drift += 0.35 * (error - known_.drift);
        known_.error += 0.35 * ((error < 0 ? -error : error) - known_.error);
        if (!faster || !(known_.error > 0)) return;
        const double one_sided = known_.drift / known_.error;
        double gain = one_sided * one_sided;
        if (gain > 0.9) gain = 0.9;
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

    overhead_state known_;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_OVERHEAD_HPP
