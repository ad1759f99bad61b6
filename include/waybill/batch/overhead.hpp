// SPDX-License-Identifier: MIT
//
// overhead: how many bytes items have on the wire beyond their bodies, estimated from what is seen.
//
// Part of the calibration. The model is a line, since what encoders add is a header (an amount for
// each item) and what they do to bodies is base64 or compression (a factor):
//
//     bytes beyond the bodies = (ratio - 1) * bodies + header * items
//
// Kept are the two numbers, how far they are in doubt (a covariance), and how much single items
// differ. That last one is why a mean is not enough: a batch that is cut to the mean is refused every
// other time. Three kinds of evidence change them:
//   - a sum that a broker told: one step of a Kalman filter;
//   - sizes of single items: a regression over them;
//   - a mere yes or no, which says on which side of the limit the sum was: the same step, taken with
//     the moments of a normal distribution that is cut off there (assumed density filtering). Its
//     ratio of density and tail is Boyd's bound of 1959, which is within 1.2 %.
// An error beyond five standard deviations is a change: the filter adopts it at once. A second such
// error in a row widens the variance among items; smaller errors narrow it again. Errors of one
// sign are a drift, and make the filter follow faster (Trigg and Leach 1967).

#ifndef WAYBILL_BATCH_OVERHEAD_HPP
#define WAYBILL_BATCH_OVERHEAD_HPP

#include <cstdint>

#include <waybill/batch/normal.hpp>
#include <waybill/core/saturating.hpp>

namespace waybill::inline v0_2 {

/// What is known of the overhead: plain numbers, to be stored. Bytes, and bytes squared.
struct overhead_state {
    double ratio = 1;             ///< Of a body on the wire to the body.
    double header = 0;            ///< Of each item.
    double ratio_variance = 0;    ///< How far they are in doubt.
    double covariance = 0;
    double header_variance = 0;
    double noise = 0;             ///< Variance among single items.
    double drift = 0;             ///< Mean of recent errors, by item,
    double error = 0;             ///< and of their sizes.
    std::uint32_t seen = 0;       ///< How many sums the noise is learnt from; 4 at the most.

    friend bool operator==(const overhead_state&, const overhead_state&) = default;
};

/// Sizes of single items, summed up for the regression.
struct item_samples {
    double n = 0;
    double bodies = 0;
    double body_squares = 0;
    double beyond = 0;  ///< What they have beyond their bodies.
    double squares = 0;
    double products = 0;
    double most = 0;  ///< The one that has most beyond its body,
    double most_body = 0;

    /// A size that nobody knows, as one that was negative, is left out.
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

    /// Begins with a guess that may well be wrong. None at all, 0, says that sizes are whole, and is
    /// believed until something speaks against it.
    constexpr explicit overhead(double header) noexcept
    {
        known_.header = header;
        if (header > 0) doubt();
    }

    /// Goes on with what was known. What is no number, or no variance, is forgotten.
    constexpr explicit overhead(const overhead_state& s) noexcept : known_(s)
    {
        if (!sound(s)) *this = overhead(sane(s.header) && s.header > 0 ? s.header : 0);
        if (known_.seen > enough) known_.seen = enough;
    }

    [[nodiscard]] constexpr const overhead_state& state() const noexcept { return known_; }

    /// What `items` with so many bytes of bodies are expected to have beyond them.
    [[nodiscard]] constexpr double mean(double bodies, double items) const noexcept
    {
        return (known_.ratio - 1) * bodies + known_.header * items;
    }

    /// The variance of that, of which the doubt about the mean counts `doubt` times. `told` items
    /// were in a batch whose sum is known by now; as nearly all of them go into the next batch
    /// together, so is nearly all of their sum.
    [[nodiscard]] constexpr double variance(double bodies, double items, double told,
                                            double doubt) const noexcept
    {
        return doubt * doubt_of(bodies, items) + noise_of(items, told);
    }

    /// The most that this is for any batch with bodies and items between these. The doubt about a
    /// mean is convex in both, so it is largest at a corner.
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

    /// Whether nothing has spoken against it that sizes are whole.
    [[nodiscard]] constexpr bool believed() const noexcept
    {
        return !(known_.header_variance > 0) && !(known_.noise > 0);
    }

    /// The sum was so many bytes beyond the bodies.
    constexpr void observe(double bodies, double items, double told, double sum) noexcept
    {
        if (!(items > 0)) return;
        const double error = sum - mean(bodies, items);
        const double square = error * error;
        if (believed() && square > 0) doubt();
        const double noise = noise_of(items, told);
        if (square > 25 * (doubt_of(bodies, items) + noise)) {
            // Fewer bytes than the bodies have is no header.
            if (sum < 0 && bodies > 0) known_.ratio_variance += square / (bodies * bodies);
            else known_.header_variance += square / (items * items);
            // Twice in a row is not a change: the items differ more than expected.
            if (known_.seen != 0 && known_.seen != enough) widen(4, square / items);
            known_.seen = 1;
        } else {
            learn_noise(square, doubt_of(bodies, items), noise);
            follow(bodies, items, error, noise, known_.seen == enough);
            // A change widened the noise, but recent errors are far smaller.
            const double most = 16 * items * known_.error * known_.error;
            if (known_.seen == enough && known_.noise > most) widen(1, most);
        }
        correct(bodies, items, error, doubt_of(bodies, items), noise, 1);
        if (!sound(known_)) forget();
    }

    /// The broker reported one size for `items` and `others` together. The first `items` had `less`
    /// bytes below their share. A difference beyond five standard deviations is a change of the
    /// header, which is then adjusted to `others`.
    constexpr void shared(double items, double less, double others) noexcept
    {
        if (!(less * less > 25 * known_.noise * items) || !(8 * others > items)) return;
        known_.header += less / others;
        if (!sound(known_)) forget();
    }

    /// The sum was above `bound`, or it was not.
    constexpr void bounded(double bodies, double items, double told, double bound,
                           bool above) noexcept
    {
        if (!(items > 0)) return;
        if (believed() && above) doubt();
        // What went through cannot vary by all that there is.
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
        if (above ? k > 2.5 : k < -1.5) {  // that should not have happened: who knows how far it is
            double far = k * spread / (1.5 * items);
            const double tenth = (bound + bodies) / items / 10;
            if (above && far < tenth) far = tenth;
            known_.header_variance += far * far;
            doubted = doubt_of(bodies, items);
            spread = detail::root(doubted + noise);
            k = (bound - mean(bodies, items)) / spread;
        }
        const double h = above ? detail::hazard(k) : detail::hazard(-k);
        const double less = above ? h * (h - k) : h * (h + k);
        correct(bodies, items, above ? h * spread : -h * spread, doubted, noise, less);
        if (!sound(known_)) forget();
    }

    /// Sizes of single items. One that is far from all the others says nothing about the next.
    /// A few, or such as have bodies of one size, say nothing about the factor.
    constexpr void sampled(item_samples s) noexcept
    {
        if (s.n < 2) return;
        const double far = s.most - s.mean();
        if (s.n >= 32 && far * far > s.variance() * s.n / 2) s.count(s.most_body, s.most, -1);
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
    static constexpr double least = 0.25;  // of noise: less is not worth a margin
    static constexpr double vague = 0.15 * 0.15;  // the variance of a ratio that nobody has seen
    static constexpr std::uint32_t enough = 4;

    [[nodiscard]] static constexpr bool sane(double x) noexcept { return x > -1e60 && x < 1e60; }

    /// Whether these are numbers, and variances are what they can be.
    [[nodiscard]] static constexpr bool sound(const overhead_state& s) noexcept
    {
        const auto variance = [](double x) { return x >= 0 && x < 1e120; };
        return sane(s.ratio) && sane(s.header) && sane(s.drift) && sane(s.error) &&
               variance(s.ratio_variance) && variance(s.header_variance) && variance(s.noise) &&
               s.covariance > -1e120 && s.covariance < 1e120 &&
               s.covariance * s.covariance <= s.ratio_variance * s.header_variance * 1.01;
    }

    /// Numbers so wild that no arithmetic is left for them are no knowledge.
    constexpr void forget() noexcept
    {
        known_ = {};
        doubt();
    }

    constexpr void doubt() noexcept
    {
        known_.header_variance = (64 + known_.header) * (64 + known_.header);
        known_.ratio_variance = 0.02 * 0.02;  // most encoders leave bodies alone
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

    // What is in doubt more than it varies says little about how it varies.
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
        // What rounding has made of a doubt that is over.
        if (known_.ratio_variance < 0) known_.ratio_variance = 0;
        if (known_.header_variance < 0) known_.header_variance = 0;
        const double most = detail::root(known_.ratio_variance * known_.header_variance);
        if (known_.covariance > most) known_.covariance = most;
        if (known_.covariance < -most) known_.covariance = -most;
    }

    overhead_state known_;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_OVERHEAD_HPP
