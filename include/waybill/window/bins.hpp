// SPDX-License-Identifier: MIT
//
// bins: what samples come to by the day, or any other equal part of time.
//
//     waybill::bins<waybill::weighted_stats<double>> daily{24h};
//     daily.add(at, value, weight);                      // or a whole window, a vector: add_all(r)
//     for (auto day : daily) print(day.from, day.measure.weight(), *day.measure.sum());
//
// Where telemetry is thinned out, the samples of a day say nothing of its events: `measure.points`
// are the ones, `measure.weight()` are the others, and only the second can be held against the day
// before.
//
//   1. a bin is [from, until): `origin` is where one begins, and there are as many before it as
//      behind it. Each time is in exactly one. At the ends of time the first may begin later than
//      its width says, and the last holds its end, too;
//   2. a sample is counted in the bin of its own time, however late it comes, and for good: nothing
//      leaves a bin;
//   3. bins without samples are not kept and not shown; `with_gaps()` shows those that lie between
//      others, made on the way, so that a gap of a year costs no memory;
//   4. a sample costs the logarithm of the number of bins, and the newest bin is found at once.
//      There are never more than `max_bins`: a sample that needs one more is counted as `no_room`,
//      so a clock gone wild costs a few bins and not the memory. `forget_before` makes room.
//
// Times are points on one clock, without zones: a day is 24 hours from the origin on, which for
// wall_time is midnight UTC if the origin is. Days of a place, of 23 and 25 hours where clocks are
// put forward and back, are not of equal width, and no business of this type.
//
// A measure for which the order of samples matters is given them as they come.
// A value without locks: one thread at a time.

#ifndef WAYBILL_WINDOW_BINS_HPP
#define WAYBILL_WINDOW_BINS_HPP

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

#include <waybill/core/check.hpp>
#include <waybill/core/time.hpp>
#include <waybill/window/measures.hpp>
#include <waybill/window/sample.hpp>
#include <waybill/window/series.hpp>

namespace waybill::inline v0_2 {

/// How time is parted. A plain value; `check` finds what cannot work.
template <class Time = wall_time>
struct bin_options {
    duration width{};
    Time origin{};  ///< Where a bin begins, one of many.
    std::uint64_t max_bins = 65'536;

    friend bool operator==(const bin_options&, const bin_options&) = default;
};

template <class Time>
[[nodiscard]] constexpr std::optional<config_error> check(const bin_options<Time>& o) noexcept
{
    if (o.width <= duration{}) {
        const std::uint64_t ns = 0 - static_cast<std::uint64_t>(o.width.count());
        return config_error{"width", ns, "nanoseconds must be more than", 0, o.width < duration{}};
    }
    if (o.max_bins == 0) return config_error{"max_bins", 0, "must be at least", 1};
    return {};
}

/// One part of time, and the measure of its samples.
template <class Measure, class Time = wall_time>
struct bin {
    Time from{};
    Time until{};  ///< The first time behind it; the last of all times where there is none.
    Measure measure = Measure::identity();

    friend bool operator==(const bin&, const bin&) = default;
};

/// What became of a sample.
enum class binned : std::uint8_t {
    added,
    no_room,     ///< Not taken: it would have been the first of one bin too many.
    not_finite,  ///< Not taken: an infinity, or not a number.
    no_weight,   ///< Not taken: stands for no event, or for 2^32 and more.
};

[[nodiscard]] constexpr std::string_view name(binned b) noexcept
{
    switch (b) {
        case binned::added: return "added";
        case binned::no_room: return "no_room";
        case binned::not_finite: return "not_finite";
        case binned::no_weight: return "no_weight";
    }
    return "?";
}

/// How many samples were not taken, and why.
struct bin_losses {
    std::uint64_t no_room = 0;
    std::uint64_t not_finite = 0;
    std::uint64_t no_weight = 0;

    friend bool operator==(const bin_losses&, const bin_losses&) = default;
};

template <measure Measure, class Time = wall_time>
class bins {
    using kept = std::map<Time, Measure>;

    template <bool Gaps>
    class cursor {
        using place = typename kept::const_iterator;

    public:
        using iterator_concept = std::forward_iterator_tag;
        using iterator_category = std::input_iterator_tag;  // what it gives is made on the way
        using value_type = bin<Measure, Time>;
        using difference_type = std::ptrdiff_t;
        using pointer = void;
        using reference = value_type;

        cursor() = default;
        cursor(const bins& b, place at) : bins_(&b), at_(at) { arrive(); }

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
            const Time behind = bins_->bounds(from_).until;
            ++at_;
            arrive();
            if (Gaps && at_ != bins_->bins_.end()) from_ = behind;
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
        void arrive() { from_ = at_ == bins_->bins_.end() ? Time{} : at_->first; }

        const bins* bins_ = nullptr;
        place at_{};   // the bin itself, or the next one with samples
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
    using sample_type = sample_of<Measure, Time>;

    /// A width below one nanosecond is taken as one.
    explicit bins(const bin_options<Time>& o) : options_(o)
    {
        options_.width = greater(options_.width, duration::nanoseconds(1));
        if (options_.max_bins == 0) options_.max_bins = 1;
    }
    explicit bins(duration width, Time origin = {}) : bins(bin_options<Time>{width, origin}) {}

    binned add(Time at, value_type value) { return add(sample_type{at, value}); }
    binned add(Time at, value_type value, std::uint64_t weight)
        requires requires(sample_type s) { s.weight; }
    {
        return add(sample_type{at, value, detail::known_weight(weight)});
    }
    template <sample_for<Measure, Time> S>
    binned add(const S& given)
    {
        const sample_type s = as_sample_of<Measure>(given);
        if (!is_finite(s.value)) {
            ++losses_.not_finite;
            return binned::not_finite;
        }
        if (weight_of(s) == 0) {
            ++losses_.no_weight;
            return binned::no_weight;
        }
        Measure* m = open(bounds(s.at).from);
        if (m == nullptr) {
            ++losses_.no_room;
            return binned::no_room;
        }
        *m = Measure::combine(*m, Measure::of(s));
        return binned::added;
    }

    /// All samples of a window or a container. Of a window also those that are not due yet.
    template <class R>
    void add_all(const R& series)
    {
        for_each_sample(series, [this](const auto& s) { this->add(s); });
    }

    /// The bins that have samples, from the oldest on.
    [[nodiscard]] auto begin() const { return cursor<false>(*this, bins_.begin()); }
    [[nodiscard]] auto end() const { return cursor<false>(*this, bins_.end()); }

    /// The same with the empty ones between them. They belong to these bins, which must outlive it.
    [[nodiscard]] gap_range with_gaps() const& noexcept { return {this}; }
    gap_range with_gaps() const&& = delete;

    /// The bin that a time is in, empty where it has no samples.
    [[nodiscard]] bin<Measure, Time> at(Time t) const
    {
        const span b = bounds(t);
        const auto found = bins_.find(b.from);
        return {b.from, b.until, found == bins_.end() ? Measure::identity() : found->second};
    }

    /// Forgets the bins that end by then. A sample that comes late would open one anew.
    void forget_before(Time t)
    {
        while (!bins_.empty() && bounds(bins_.begin()->first).until <= t) {
            bins_.erase(bins_.begin());
        }
    }

    /// How many bins have samples.
    [[nodiscard]] std::uint64_t size() const noexcept { return bins_.size(); }
    [[nodiscard]] bool empty() const noexcept { return bins_.empty(); }

    [[nodiscard]] const bin_options<Time>& options() const noexcept { return options_; }
    [[nodiscard]] const bin_losses& losses() const noexcept { return losses_; }

    friend bool operator==(const bins&, const bins&) = default;

private:
    struct span {
        Time from;
        Time until;
    };

    /// The bin around a time. What lies between a time and the origin may need 64 bits and no sign.
    [[nodiscard]] constexpr span bounds(Time t) const noexcept
    {
        const std::int64_t at = t.since_epoch().count();
        const std::int64_t origin = options_.origin.since_epoch().count();
        const std::uint64_t width = static_cast<std::uint64_t>(options_.width.count());
        const auto after = static_cast<std::uint64_t>(at) - static_cast<std::uint64_t>(origin);
        if (at >= origin) {
            const Time from = t - part(after % width);
            return {from, from + options_.width};
        }
        // The next boundary is at most a whole width away, and not behind the origin.
        const Time until = t + part((0 - after - 1) % width + 1);
        return {until - options_.width, until};
    }
    [[nodiscard]] static constexpr duration part(std::uint64_t ns) noexcept
    {
        return duration::nanoseconds(static_cast<std::int64_t>(ns));
    }

    [[nodiscard]] Measure* open(Time from)
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
    kept bins_;
    bin_losses losses_;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_BINS_HPP
