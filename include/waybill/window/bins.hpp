// SPDX-License-Identifier: MIT
//
// bins: the measure of the samples of each day, or of any other interval of constant width.
//
//     waybill::bins<waybill::weighted_stats<double>> daily{24h};
//     daily.add(at, value, weight);                      // add_all(r) for a window or a vector
//     for (auto day : daily) print(day.from, day.measure.weight(), *day.measure.sum());
//
// If telemetry is sampled, `measure.weight()` is the number of events and `measure.points` that of
// samples. Only the weights of different days can be compared.
//
//   1. A bin is [from, until). One bin begins at `origin`, with others before and after it. Each
//      time is in one bin. The first possible bin may be narrower; the last one includes its end.
//   2. A sample counts in the bin of its own time, however late it is added, and stays in it.
//   3. Bins without samples are not stored. `with_gaps()` generates those between others.
//   4. There are never more than `max_bins` bins, so a wrong clock costs little memory. A sample
//      that needs one more is counted as `no_room` instead. `forget_before` removes bins.
//
// Cost: O(1) for a sample in the newest bin, else O(log n) for n bins.
// A value without locks: one thread at a time.

#ifndef WAYBILL_WINDOW_BINS_HPP
#define WAYBILL_WINDOW_BINS_HPP

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

#include <waybill/core/config_error.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/time.hpp>
#include <waybill/window/detail/series.hpp>
#include <waybill/window/measures.hpp>
#include <waybill/window/sample.hpp>

namespace waybill::inline v0_2 {

/// The division of time into bins. A plain value; `validate` checks it. Times have no zone: with
/// the default origin, bins of 24 hours of wall_time begin at midnight UTC. Local days of 23 or 25
/// hours are not supported.
template <class Time = wall_time>
struct bin_options {
    duration width{};                 ///< More than 0.
    Time origin{};                    ///< The start of one bin.
    std::uint64_t max_bins = 65'536;  ///< The maximum number of bins with samples. At least 1.

    friend bool operator==(const bin_options&, const bin_options&) = default;
};

template <class Time>
[[nodiscard]] constexpr std::optional<config_error> validate(const bin_options<Time>& o) noexcept
{
    if (o.width <= duration{}) {
        const std::uint64_t ns = 0 - static_cast<std::uint64_t>(o.width.count());
        return config_error{.field = "width",
                            .value = ns,
                            .rule = "nanoseconds must be more than",
                            .bound = 0,
                            .negative = o.width < duration{}};
    }
    if (o.max_bins == 0) return config_error{"max_bins", 0, "must be at least", 1};
    return {};
}

/// One bin: its interval and the measure of its samples.
template <class Measure, class Time = wall_time>
struct bin {
    Time from{};
    Time until{};  ///< The first time after the bin. The highest time for the last possible bin.
    Measure measure = Measure::identity();

    friend bool operator==(const bin&, const bin&) = default;
};

/// The outcome of `add`.
enum class binned : std::uint8_t {
    added,
    no_room,     ///< Not added: it needs a new bin, and there are `max_bins` already.
    not_finite,  ///< Not added: the value is an infinity or NaN.
    no_weight,   ///< Not added: the weight is 0 or at least 2^32.
};

[[nodiscard]] constexpr std::string_view texts_of(binned) noexcept
{
    return "added, no_room, not_finite, no_weight";
}

/// The number of samples that were not added, by reason.
struct bin_losses {
    std::uint64_t no_room = 0;
    std::uint64_t not_finite = 0;
    std::uint64_t no_weight = 0;

    friend bool operator==(const bin_losses&, const bin_losses&) = default;
};

template <measure Measure, class Time = wall_time>
class bins {
    using bin_map = std::map<Time, Measure>;

    /// Iterates over the bins; if `Gaps` is true, also over the empty bins between others.
    template <bool Gaps>
    class cursor {
        using place = typename bin_map::const_iterator;

    public:
        using iterator_concept = std::forward_iterator_tag;
        using iterator_category = std::input_iterator_tag;  // operator* returns a temporary
        using value_type = bin<Measure, Time>;
        using difference_type = std::ptrdiff_t;
        using pointer = void;
        using reference = value_type;

        cursor() = default;
        cursor(const bins& b, place at) : bins_(&b), at_(at) { read_start(); }

        [[nodiscard]] value_type operator*() const
        {
            const Time until = bins_->bounds(from_).until;
            if (Gaps && from_ != at_->first) return {from_, until, Measure::identity()};
            return {from_, until, at_->second};
        }
        cursor& operator++()
        {
            if (Gaps && from_ != at_->first) {
                from_ = bins_->bounds(from_).until;
                return *this;
            }
            const Time next_bin = bins_->bounds(from_).until;
            ++at_;
            read_start();
            if (Gaps && at_ != bins_->bins_.end()) from_ = next_bin;
            return *this;
        }
        cursor operator++(int)
        {
            auto old = *this;
            ++*this;
            return old;
        }
        friend bool operator==(const cursor& a, const cursor& b)
        {
            return a.at_ == b.at_ && a.from_ == b.from_;
        }

    private:
        void read_start() { from_ = at_ == bins_->bins_.end() ? Time{} : at_->first; }

        const bins* bins_ = nullptr;
        place at_{};  // the current bin or, within a gap, the next bin with samples
        Time from_{};
    };

    struct gap_range {
        const bins* of = nullptr;
        [[nodiscard]] auto begin() const { return cursor<true>(*of, of->bins_.begin()); }
        [[nodiscard]] auto end() const { return cursor<true>(*of, of->bins_.end()); }
    };

public:
    using value_type = typename Measure::value_type;
    using time_type = Time;
    using sample_type = detail::sample_of<Measure, Time>;

    /// A width below one nanosecond is replaced by one nanosecond, and a `max_bins` of 0 by 1.
    explicit bins(const bin_options<Time>& o) : options_(o)
    {
        options_.width = detail::greater(options_.width, duration::nanoseconds(1));
        if (options_.max_bins == 0) options_.max_bins = 1;
    }
    explicit bins(duration width, Time origin = {})
        : bins(bin_options<Time>{.width = width, .origin = origin})
    {
    }

    /// Adds a sample to the bin of its time. The measure combines samples in the order of calls.
    /// O(1) for the newest bin, else O(log n).
    binned add(Time at, value_type value) { return add(sample_type{at, value}); }
    binned add(Time at, value_type value, std::uint64_t weight)
        requires requires(sample_type s) { s.weight; }
    {
        return add(sample_type{at, value, detail::weight_or_zero(weight)});
    }
    template <detail::sample_for<Measure, Time> S>
    binned add(const S& given)
    {
        const sample_type s = detail::as_sample_of<Measure>(given);
        if (!detail::is_finite(s.value)) {
            ++losses_.not_finite;
            return binned::not_finite;
        }
        if (weight_of(s) == 0) {
            ++losses_.no_weight;
            return binned::no_weight;
        }
        Measure* m = find_or_add(bounds(s.at).from);
        if (m == nullptr) {
            ++losses_.no_room;
            return binned::no_room;
        }
        *m = Measure::combine(*m, Measure::of(s));
        return binned::added;
    }

    /// Adds all samples of a window or a container. For a window this includes samples dated after
    /// its clock.
    template <class R>
    void add_all(const R& series)
    {
        detail::for_each_sample(series, [this](const auto& s) { this->add(s); });
    }

    /// Iterates over the bins that have samples, from oldest to newest.
    [[nodiscard]] auto begin() const { return cursor<false>(*this, bins_.begin()); }
    [[nodiscard]] auto end() const { return cursor<false>(*this, bins_.end()); }

    /// A range that also contains the empty bins between others. It is valid as long as `*this`.
    [[nodiscard]] gap_range with_gaps() const& noexcept { return {this}; }
    gap_range with_gaps() const&& = delete;

    /// The bin that contains `t`, with an empty measure if it has no samples. O(log n).
    [[nodiscard]] bin<Measure, Time> at(Time t) const
    {
        const interval b = bounds(t);
        const auto found = bins_.find(b.from);
        return {b.from, b.until, found == bins_.end() ? Measure::identity() : found->second};
    }

    /// Removes the bins with `until <= t`. A sample of such a bin that is added later opens it
    /// again.
    void forget_before(Time t)
    {
        while (!bins_.empty() && bounds(bins_.begin()->first).until <= t) {
            bins_.erase(bins_.begin());
        }
    }

    /// The number of bins with samples.
    [[nodiscard]] std::uint64_t size() const noexcept { return bins_.size(); }
    [[nodiscard]] bool empty() const noexcept { return bins_.empty(); }

    [[nodiscard]] const bin_options<Time>& options() const noexcept { return options_; }
    [[nodiscard]] const bin_losses& losses() const noexcept { return losses_; }

    friend bool operator==(const bins&, const bins&) = default;

private:
    struct interval {
        Time from;
        Time until;
    };

    /// The interval of the bin that contains `t`. The distance from the origin to `t` may need 64
    /// unsigned bits.
    [[nodiscard]] constexpr interval bounds(Time t) const noexcept
    {
        const std::int64_t at = t.since_epoch().count();
        const std::int64_t origin = options_.origin.since_epoch().count();
        const std::uint64_t width = static_cast<std::uint64_t>(options_.width.count());
        const auto offset = static_cast<std::uint64_t>(at) - static_cast<std::uint64_t>(origin);
        if (at >= origin) {
            const Time from = t - nanoseconds(offset % width);
            return {from, from + options_.width};
        }
        // `t` is 0 - offset before the origin. The end of its bin is 1 ns to one width after `t`.
        const Time until = t + nanoseconds((0 - offset - 1) % width + 1);
        return {until - options_.width, until};
    }
    [[nodiscard]] static constexpr duration nanoseconds(std::uint64_t ns) noexcept
    {
        return duration::nanoseconds(static_cast<std::int64_t>(ns));
    }

    /// The measure of the bin that begins at `from`; null if it is new and there is no room.
    [[nodiscard]] Measure* find_or_add(Time from)
    {
        if (!bins_.empty()) {
            const auto newest = std::prev(bins_.end());
            if (newest->first == from) return &newest->second;
        }
        if (const auto found = bins_.find(from); found != bins_.end()) return &found->second;
        if (bins_.size() >= options_.max_bins) return nullptr;
        return &bins_.emplace(from, Measure::identity()).first->second;
    }

    bin_options<Time> options_;
    bin_map bins_;
    bin_losses losses_;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_BINS_HPP
