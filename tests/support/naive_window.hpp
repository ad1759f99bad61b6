// SPDX-License-Identifier: MIT
//
// naive_window: a naive model of a sliding window.
//
// Samples are in a list, and every query reads all of them. The model decides which samples are
// accepted, from the documented rules alone. Times are compared in 128 bits, without saturation.
// Integers are summed in 128 bits, floating-point numbers in long double, and compensated sums in
// 113 bits. Variances take two passes.

#ifndef WAYBILL_TESTS_SUPPORT_NAIVE_WINDOW_HPP
#define WAYBILL_TESTS_SUPPORT_NAIVE_WINDOW_HPP

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <waybill/window/sliding_window.hpp>

namespace tests_support {

__extension__ typedef __int128 wide;
__extension__ typedef __float128 precise;  // 113 bits

[[nodiscard]] constexpr std::int64_t clamped(wide n)
{
    if (n > INT64_MAX) return INT64_MAX;
    return n < INT64_MIN ? INT64_MIN : static_cast<std::int64_t>(n);
}

template <class V>
class naive_window {
public:
    struct entry {
        std::int64_t at = 0;
        V value{};
        std::uint64_t weight = 1;
    };

    explicit naive_window(const waybill::window_options& o) : options_(o) {}

    /// Applies the sample. Returns true if `result` is the right result.
    bool insert(std::int64_t at, V value, std::uint64_t weight, waybill::insert_result result)
    {
        using waybill::insert_result;
        // The first of several reasons counts.
        bool no = false;
        bool said = false;
        const auto against = [&](bool holds, insert_result why, std::uint64_t& count) {
            if (!holds || no) return;
            no = true;
            said = result == why;
            ++count;
        };
        against(!finite(value), insert_result::not_finite, losses_.not_finite);
        against(weight == 0 || weight > 0xFFFF'FFFFU, insert_result::no_weight, losses_.no_weight);
        against(clock_ && gone(at), insert_result::too_old, losses_.too_old);
        against(
            clock_ && unlike_highest(options_.ahead) && wide{at} - *clock_ > options_.ahead.count(),
            insert_result::future, losses_.future);
        if (no) return said;

        std::size_t n = kept_.size();
        while (n != 0 && kept_[n - 1].at > at) --n;
        if (options_.on_equal_time == waybill::window_options::equal_time::replace && n != 0 &&
            kept_[n - 1].at == at) {
            kept_[n - 1] = {at, value, weight};
            return result == insert_result::replaced;
        }
        const insert_result why = n == kept_.size() ? insert_result::newest : insert_result::late;
        kept_.insert(kept_.begin() + static_cast<std::ptrdiff_t>(n), {at, value, weight});
        if (kept_.size() <= options_.max_points) return result == why;
        out_.push_back(kept_.front().at);
        kept_.erase(kept_.begin());
        ++losses_.pushed_out;
        return result == (n == 0 ? insert_result::too_old : why);
    }

    void advance(std::int64_t now)
    {
        const bool first = !clock_;
        if (!clock_ || now > *clock_) clock_ = now;
        std::vector<entry> rest;
        for (const entry& e : kept_) {
            const bool ahead = first && unlike_highest(options_.ahead) &&
                               wide{e.at} - *clock_ > options_.ahead.count();
            if (ahead) ++losses_.future;
            else if (!gone(e.at)) rest.push_back(e);
        }
        kept_.swap(rest);
    }

    [[nodiscard]] const std::vector<entry>& kept() const { return kept_; }
    [[nodiscard]] const waybill::window_losses& losses() const { return losses_; }
    [[nodiscard]] std::optional<std::int64_t> clock() const { return clock_; }

    /// Returns true if every displaced sample would have expired by now.
    [[nodiscard]] bool complete() const
    {
        for (const std::int64_t at : out_) {
            if (!gone(at)) return false;
        }
        return true;
    }

    /// The samples that a query includes.
    [[nodiscard]] std::vector<entry> seen() const
    {
        std::vector<entry> all;
        for (const entry& e : kept_) {
            if (e.at <= *clock_) all.push_back(e);
        }
        return all;
    }

private:
    static bool finite(V v)
    {
        if constexpr (std::floating_point<V>) return std::isfinite(v);
        else return true;
    }
    static bool unlike_highest(waybill::duration d) { return d != waybill::duration::highest(); }
    bool gone(std::int64_t at) const
    {
        return unlike_highest(options_.span) && wide{at} <= wide{*clock_} - options_.span.count();
    }

    waybill::window_options options_;
    std::vector<entry> kept_;
    std::optional<std::int64_t> clock_;
    std::vector<std::int64_t> out_;  // the times of displaced samples
    waybill::window_losses losses_;
};

/// The first field of the summary that differs from these samples; empty if none does.
template <class Summary, class Entry>
[[nodiscard]] std::string differs(const Summary& s, const std::vector<Entry>& all)
{
    using V = decltype(Entry::value);
    // The tolerance: rounding errors, and values too small for the type.
    using of_double = std::numeric_limits<double>;
    constexpr auto eps = static_cast<long double>(of_double::epsilon());
    constexpr auto tiny = static_cast<long double>((of_double::min)());
    const auto n = static_cast<long double>(all.size());
    wide whole = 0;
    long double sum = 0, magnitude = 0, largest = 0, weights = 0;
    std::uint64_t weight = 0;
    for (const Entry& e : all) {
        const auto v = static_cast<long double>(e.value);
        const auto w = static_cast<long double>(e.weight);
        if constexpr (std::integral<V>) whole += wide{e.value} * static_cast<wide>(e.weight);
        weight += e.weight;
        weights += w;
        sum += v * w;
        magnitude += std::fabs(v) * w;
        largest = std::fabs(v) > largest ? std::fabs(v) : largest;
    }
    if (s.points != all.size()) return "points";
    if (s.weight() != weight) return "weight";
    if (s.is_sampled() != (weight > all.size())) return "is_sampled";
    if (s.empty() != all.empty()) return "empty";
    if (s.sampling_rate().has_value() == all.empty()) return "sampling_rate";
    if (!all.empty() &&
        std::fabs(static_cast<long double>(*s.sampling_rate()) - 100 * n / weights) > 1e-10L) {
        return "sampling_rate";
    }
    if constexpr (requires { s.total; }) {
        if (s.sum().has_value() == all.empty()) return "sum";
        if constexpr (std::integral<V>) {
            if (!all.empty() && *s.sum() != clamped(whole)) return "sum";
            if (s.total.fits() != (whole == clamped(whole))) return "fits";
            const auto near = static_cast<long double>(s.total.approximately());
            const auto exact = static_cast<long double>(whole);
            if (std::fabs(near - exact) > 2 * eps * std::fabs(exact)) return "approximately";
        } else if constexpr (requires { s.total.approximately(); }) {
            // As precise as twice the digits, rounded once.
            if (!all.empty()) {
                precise exact = 0;
                for (const Entry& e : all) {
                    exact += static_cast<precise>(e.value) * static_cast<precise>(e.weight);
                }
                const auto off = static_cast<long double>(static_cast<precise>(*s.sum()) - exact);
                const auto size = std::fabs(static_cast<long double>(exact));
                if (!(std::fabs(off) <= eps * size + n * n * eps * eps * magnitude + tiny)) {
                    return "compensated sum";
                }
                const long double mean = size / weights;
                const auto result = std::fabs(static_cast<long double>(*s.mean()));
                if (!(std::fabs(result - mean) <=
                      3 * eps * mean + n * n * eps * eps * magnitude / weights + tiny)) {
                    return "compensated mean";
                }
            }
        } else if (!all.empty()) {
            const auto result = static_cast<long double>(*s.sum());
            if (!(std::fabs(result - sum) <= (n + 1) * eps * magnitude)) return "sum";
        }
    }
    if constexpr (requires { s.mean(); }) {
        if (s.mean().has_value() == all.empty()) return "mean";
        if (!all.empty()) {
            const auto result = static_cast<long double>(*s.mean());
            const long double most = (4 * n + 4) * eps * (magnitude / weights + largest) + tiny;
            if (!(std::fabs(result - sum / weights) <= most)) return "mean";
        }
    }
    if constexpr (requires { s.low; }) {
        if (s.lowest().has_value() == all.empty()) return "lowest";
        if (s.highest().has_value() == all.empty()) return "highest";
        if (!all.empty()) {
            V low = all[0].value, high = all[0].value;
            for (const Entry& e : all) {
                if (e.value < low) low = e.value;
                if (e.value > high) high = e.value;
            }
            if (!(*s.lowest() == low)) return "lowest";
            if (!(*s.highest() == high)) return "highest";
        }
    }
    if constexpr (requires { s.squares; }) {
        if (s.variance().has_value() == all.empty()) return "variance";
        if (!all.empty()) {
            const long double mean = sum / weights;
            long double squares = 0;
            for (const Entry& e : all) {
                const long double d = static_cast<long double>(e.value) - mean;
                squares += d * d * static_cast<long double>(e.weight);
            }
            const long double variance = squares / weights;
            const long double off = (n + 1) * eps * largest;
            const long double most =
                8 * (n + 1) * eps * (variance + largest * std::sqrt(variance)) + 16 * off * off +
                tiny;
            const auto result = static_cast<long double>(*s.variance());
            if (!(result >= 0) || !(std::fabs(result - variance) <= most)) return "variance";
        }
    }
    if constexpr (requires { s.first_at; }) {
        if (s.first().has_value() == all.empty()) return "first";
        if (s.last().has_value() == all.empty()) return "last";
        if (!all.empty()) {
            if (!(*s.first() == all.front().value)) return "first";
            if (!(*s.last() == all.back().value)) return "last";
            if (s.first_at.count() != all.front().at) return "first_at";
            if (s.last_at.count() != all.back().at) return "last_at";
        }
    }
    return {};
}

}  // namespace tests_support

#endif  // WAYBILL_TESTS_SUPPORT_NAIVE_WINDOW_HPP
