// SPDX-License-Identifier: MIT
//
// sliding_window: what samples of the last ten minutes come to, exactly.
//
//     waybill::sliding_window<waybill::stats<std::int64_t>> backlog{{.span = 10min}};
//     backlog.insert(at, value);
//     auto s = backlog.query(now);           // of (now - 10min, now], never stale
//     if (s.points >= 5 && *s.mean() > 100) ...
//     auto h = s.highest();                  // an empty optional where nothing was measured
//
// What holds:
//   1. an answer is that of exactly the samples in (now - span, now], as if they were all added up
//      for it; so ten minutes of one sample a minute are ten samples, wherever the ten minutes
//      begin;
//   2. samples may come late: they are counted at their own time. Older than the window, ahead of
//      the clock by more than allowed, not finite, or without a weight: not taken, and counted by
//      reason;
//   3. only the clock that `query` and `advance` are told lets samples go, and `max_points`. One
//      that is dated in the future is in no answer before its time; where `max_points` is given,
//      give `ahead`, too, or a clock that is wrong fills the window with such. A clock that goes
//      back neither brings samples back nor stops the window: the latest time that was told counts;
//   4. constant time on the average for each sample and answer, or with `worst_case` each single
//      time, while samples come in order; a late one costs what moving the later ones costs, or all
//      of them;
//   5. no allocation once the window has had as many samples; none at all after the constructor
//      where `max_points` is given.
//
// What is stored is samples alone (see window_snapshot.hpp), so a stored window does not depend on
// how its answers are found.

#ifndef WAYBILL_WINDOW_SLIDING_WINDOW_HPP
#define WAYBILL_WINDOW_SLIDING_WINDOW_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <waybill/core/check.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/window/amortised.hpp>
#include <waybill/window/measures.hpp>
#include <waybill/window/sample.hpp>
#include <waybill/window/sample_ring.hpp>
#include <waybill/window/worst_case.hpp>

namespace waybill::inline v0_1 {

/// What to do with a second sample of the same time.
enum class same_time : std::uint8_t {
    keep,     ///< It is another sample.
    replace,  ///< It is the same one, told again: the newer value counts, and it is one sample.
};

/// How a window is kept. A plain value; `check` finds what cannot work.
struct window_options {
    duration span = duration::highest();           ///< Samples older than this go.
    std::uint64_t max_points = highest_size;       ///< The oldest go where there are more.
    duration ahead = duration::highest();          ///< How far a sample may be ahead of the clock.
    same_time twins = same_time::keep;

    friend bool operator==(const window_options&, const window_options&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> check(const window_options& o) noexcept
{
    if (o.span <= duration{}) {
        const std::uint64_t ns = 0 - static_cast<std::uint64_t>(o.span.count());
        return config_error{"span", ns, "nanoseconds must be more than", 0, o.span < duration{}};
    }
    if (o.max_points == 0) return config_error{"max_points", 0, "must be at least", 1};
    constexpr std::uint64_t most = std::uint64_t{1} << 32U;
    if (o.max_points > most && o.max_points != highest_size) {
        return config_error{"max_points", o.max_points, "must be at most", most};
    }
    if (o.ahead < duration{}) {
        const std::uint64_t ns = 0 - static_cast<std::uint64_t>(o.ahead.count());
        return config_error{"ahead", ns, "nanoseconds must be at least", 0, true};
    }
    return {};
}

/// What became of a sample.
enum class inserted : std::uint8_t {
    newest,      ///< Taken, as the newest one.
    late,        ///< Taken, at its place among older ones.
    replaced,    ///< Taken in the place of one of the same time.
    too_old,     ///< Not taken: its time had left the window, or there is room for newer ones only.
    future,      ///< Not taken: farther ahead of the clock than allowed.
    not_finite,  ///< Not taken: an infinity, or not a number.
    no_weight,   ///< Not taken: stands for no event, or for 2^32 and more.
};

[[nodiscard]] constexpr std::string_view name(inserted i) noexcept
{
    switch (i) {
        case inserted::newest: return "newest";
        case inserted::late: return "late";
        case inserted::replaced: return "replaced";
        case inserted::too_old: return "too_old";
        case inserted::future: return "future";
        case inserted::not_finite: return "not_finite";
        case inserted::no_weight: return "no_weight";
    }
    return "?";
}

/// How many samples were not taken, and why; and how many the limit of points has pushed out.
struct window_losses {
    std::uint64_t too_old = 0;
    std::uint64_t future = 0;
    std::uint64_t not_finite = 0;
    std::uint64_t no_weight = 0;
    std::uint64_t pushed_out = 0;

    friend bool operator==(const window_losses&, const window_losses&) = default;
};

/// An answer: the measure, and what it is of.
template <class Measure, class Time>
struct window_summary : Measure {
    Time now{};       ///< Of the samples after now - span, up to now.
    duration span{};

    /// Events a second: how many the samples stand for, over the whole span. Too few where
    /// `max_points` has pushed some out.
    [[nodiscard]] constexpr std::optional<double> rate() const noexcept
        requires requires(const Measure& m) { m.weight(); }
    {
        if (this->empty() || span == duration::highest()) return {};
        return static_cast<double>(this->weight()) / (static_cast<double>(span.count()) / 1e9);
    }

    /// How much of the span lies behind the first sample, 0 to 1: 0.9 for ten minutes of one sample
    /// a minute. A window that has just begun to fill covers little.
    [[nodiscard]] constexpr std::optional<double> coverage() const noexcept
        requires requires(const Measure& m) { m.first_at; }
    {
        if (this->empty() || span == duration::highest()) return {};
        const duration covered = now.since_epoch() - this->first_at;
        return static_cast<double>(covered.count()) / static_cast<double>(span.count());
    }

    /// How old the last sample is.
    [[nodiscard]] constexpr std::optional<duration> age() const noexcept
        requires requires(const Measure& m) { m.last_at; }
    {
        if (this->empty()) return {};
        return now.since_epoch() - this->last_at;
    }

    friend bool operator==(const window_summary&, const window_summary&) = default;
};

template <measure Measure, class Time = wall_time, template <class> class How = amortised>
class sliding_window {
    template <class M>
    static constexpr bool has_weights = requires { requires M::weighted; };
    template <class M>
    static constexpr bool any_order = requires { requires M::commutative; };

public:
    using value_type = typename Measure::value_type;
    using time_type = Time;
    static constexpr bool weighted = has_weights<Measure>;
    using sample_type = std::conditional_t<weighted, weighted_sample<value_type, Time>,
                                           sample<value_type, Time>>;
    using summary = window_summary<Measure, Time>;

    explicit sliding_window(const window_options& o = {}) : options_(o)
    {
        if (options_.max_points == 0) options_.max_points = 1;
        if (options_.max_points != highest_size) ring_.reserve(options_.max_points);
    }

    sliding_window(const sliding_window&) = default;
    sliding_window& operator=(const sliding_window& o) { return *this = sliding_window(o); }
    ~sliding_window() = default;

    /// What was moved from has no samples, and its clock, options and losses as they were.
    sliding_window(sliding_window&& o) noexcept
        : options_(o.options_), ring_(std::move(o.ring_)), how_(std::move(o.how_)),
          times_(o.times_), losses_(o.losses_)
    {
        o.how_.start_anew(o.ring_);
    }
    sliding_window& operator=(sliding_window&& o) noexcept
    {
        sliding_window from(std::move(o));
        options_ = from.options_;
        ring_ = std::move(from.ring_);
        how_ = std::move(from.how_);
        times_ = from.times_;
        losses_ = from.losses_;
        return *this;
    }

    /// Takes a sample. Does not let any go but where there are more than `max_points`.
    inserted insert(Time at, value_type value)
    {
        return insert(sample_type{at, value});
    }
    /// A floating number is no whole one: round it as you mean it.
    template <std::floating_point F>
        requires std::integral<value_type>
    inserted insert(Time, F) = delete;
    template <std::floating_point F>
        requires std::integral<value_type>
    inserted insert(Time, F, std::uint64_t) = delete;

    inserted insert(Time at, value_type value, std::uint64_t weight)
        requires weighted
    {
        if (weight == 0 || weight > UINT32_MAX) {
            ++losses_.no_weight;
            return inserted::no_weight;
        }
        return insert(sample_type{at, value, static_cast<std::uint32_t>(weight)});
    }
    inserted insert(sample_type s)
    {
        if (const inserted no = refusal(s); no != inserted::newest) return no;
        if (ring_.empty() || ring_.newest().at < s.at) {
            append(s);
            return inserted::newest;
        }
        return place(s);
    }

    /// Tells the time; samples that are no longer in the window go. An earlier time than was told
    /// before is not believed.
    void advance(Time now)
    {
        if (times_.told && !(times_.now < now)) return;
        const bool first = !times_.told;
        tell(now);
        if (first) drop_future();
        std::uint64_t n = ring_.begin();
        while (n != ring_.end() && ring_[n].at < times_.first) ++n;
        if (n != ring_.begin()) how_.forget_until(ring_, n);
    }

    /// The measure of the samples in (now - span, now]. Constant time, unless samples are dated
    /// after now: then all are gone through.
    [[nodiscard]] summary query(Time now)
    {
        advance(now);
        if (ring_.empty() || ring_.newest().at <= times_.now) {
            return {how_.all(ring_), times_.now, options_.span};
        }
        Measure m = Measure::identity();
        for (std::uint64_t n = ring_.begin(); n != ring_.end() && ring_[n].at <= times_.now; ++n) {
            m = Measure::combine(m, Measure::of(ring_[n]));
        }
        return {m, times_.now, options_.span};
    }

    /// How many samples are kept, those in the future among them, and the n-th oldest of them.
    [[nodiscard]] std::uint64_t size() const noexcept { return ring_.size(); }
    [[nodiscard]] const sample_type& operator[](std::uint64_t n) const noexcept
    {
        return ring_[ring_.begin() + n];
    }

    /// The latest time that was told.
    [[nodiscard]] std::optional<Time> clock() const noexcept
    {
        return times_.told ? times_.now : std::optional<Time>();
    }
    [[nodiscard]] const window_options& options() const noexcept { return options_; }
    [[nodiscard]] const window_losses& losses() const noexcept { return losses_; }

    /// Samples, clock, options and losses; not how answers are found.
    friend bool operator==(const sliding_window& a, const sliding_window& b)
    {
        if (a.size() != b.size() || a.clock() != b.clock() || !(a.options_ == b.options_) ||
            !(a.losses_ == b.losses_)) {
            return false;
        }
        for (std::uint64_t n = 0; n != a.size(); ++n) {
            if (!(a[n] == b[n])) return false;
        }
        return true;
    }

private:
    /// What follows from the clock, so that a sample need only be compared with it.
    struct times {
        Time now{};
        Time first = Time::lowest();    ///< Samples before it have left.
        Time latest = Time::highest();  ///< Samples after it are not taken.
        bool told = false;
    };

    /// No sample has left where the window begins before all times: there the difference has
    /// saturated, and is a time that may have a sample.
    void tell(Time now) noexcept
    {
        times_.now = now;
        times_.told = true;
        const Time until = now - options_.span;
        const bool some = options_.span != duration::highest() && now - until == options_.span;
        times_.first = some ? until + duration::nanoseconds(1) : Time::lowest();
        times_.latest = now + options_.ahead;
        if (options_.ahead == duration::highest()) times_.latest = Time::highest();
    }

    /// What came before any time was told may have been too far ahead of it.
    void drop_future()
    {
        std::uint64_t n = ring_.end();
        while (n != ring_.begin() && times_.latest < ring_[n - 1].at) --n;
        if (n == ring_.end()) return;
        losses_.future += ring_.end() - n;
        ring_.drop_from(n);
        how_.start_anew(ring_);
    }

    /// Why it is not taken; `newest` where it is.
    [[nodiscard]] inserted refusal(sample_type s)
    {
        if (!is_finite(s.value)) {
            ++losses_.not_finite;
            return inserted::not_finite;
        }
        if (weight_of(s) == 0) {
            ++losses_.no_weight;
            return inserted::no_weight;
        }
        if (s.at < times_.first) {
            ++losses_.too_old;
            return inserted::too_old;
        }
        if (times_.latest < s.at) {
            ++losses_.future;
            return inserted::future;
        }
        return inserted::newest;
    }

    void append(sample_type s)
    {
        make_room();
        ring_.push(s);
        how_.came(ring_, s);
    }

    void make_room()
    {
        if (ring_.size() < options_.max_points) return;
        ++losses_.pushed_out;
        how_.forget_until(ring_, ring_.begin() + 1);
    }

    /// A sample that is not newer than the newest.
    [[nodiscard]] inserted place(sample_type s)
    {
        std::uint64_t n = ring_.end();
        while (n != ring_.begin() && s.at < ring_[n - 1].at) --n;
        if (options_.twins == same_time::replace && n != ring_.begin() && ring_[n - 1].at == s.at) {
            ring_[n - 1] = s;
            how_.start_anew(ring_);
            return inserted::replaced;
        }
        if (n == ring_.end()) {
            append(s);
            return inserted::newest;
        }
        if (ring_.size() == options_.max_points && n == ring_.begin()) {
            ++losses_.pushed_out;  // it would be the oldest, and there is no room for one more
            return inserted::too_old;
        }
        make_room();
        ring_.insert(n, s);
        if (any_order<Measure> && n >= how_.border()) how_.came(ring_, s);
        else how_.start_anew(ring_);
        return inserted::late;
    }

    window_options options_;
    sample_ring<sample_type, Measure> ring_;
    How<Measure> how_;
    times times_;
    window_losses losses_;
};

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_WINDOW_SLIDING_WINDOW_HPP
