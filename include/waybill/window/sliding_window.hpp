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
//      begin. Where `max_points` has pushed some of them out it says so: `complete()`;
//   2. samples may come late: they are counted at their own time. Older than the window, ahead of
//      the clock by more than allowed, not finite, or without a weight: not taken, and counted by
//      reason;
//   3. only the clock that is told lets samples go, and `max_points`. One that is dated in the
//      future is in no answer before its time; where `max_points` is given, give `ahead`, too, or a
//      clock that is wrong fills the window with such. `ahead` is measured from the latest time
//      that was told, so tell it with the sample: insert(at, value, now). A clock that goes back
//      neither brings samples back nor stops the window: the latest time that was told counts;
//   4. constant time on the average for each sample and answer, or with `worst_case` each single
//      time, while samples come in order, one goes for each that comes, there is room, and none is
//      asked for before its time. Many that leave at once cost each its own. A late one costs
//      what moving the later ones costs, or all of them; the newest one, told again, is no late
//      one. The first answer that a sample of the future has to be kept out of costs all of them,
//      and from then on each costs its own when its time has come: constant on the average again;
//   5. no allocation once the window has had as many samples; none at all after the constructor
//      where `max_points` is given, and then there is room for so many samples and their measures
//      and not for one more.
//
// What is stored is samples alone (see window_snapshot.hpp), so a stored window does not depend on
// how its answers are found.
// A value without locks: one thread at a time.

#ifndef WAYBILL_WINDOW_SLIDING_WINDOW_HPP
#define WAYBILL_WINDOW_SLIDING_WINDOW_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>

#include <waybill/core/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/window/amortised.hpp>
#include <waybill/window/measures.hpp>
#include <waybill/window/sample.hpp>
#include <waybill/window/sample_iterator.hpp>
#include <waybill/window/sample_ring.hpp>
#include <waybill/window/window_options.hpp>
#include <waybill/window/window_summary.hpp>
#include <waybill/window/worst_case.hpp>

namespace waybill::inline v0_2 {

template <measure Measure, class Time = wall_time, template <class> class How = amortised>
class sliding_window {
    template <class M>
    static constexpr bool any_order = requires { requires M::commutative; };

public:
    using value_type = typename Measure::value_type;
    using time_type = Time;
    static constexpr bool weighted = detail::has_weights<Measure>;
    using sample_type = detail::sample_for_measure<Measure, Time>;
    using iterator = sample_iterator<sliding_window>;
    using const_iterator = iterator;
    using summary = window_summary<Measure, Time>;

    explicit sliding_window(const window_options& o = {}) : options_(o)
    {
        if (options_.max_points == 0) options_.max_points = 1;
        if (options_.max_points != highest_size) ring_.grow(options_.max_points);
    }

    sliding_window(const sliding_window&) = default;
    sliding_window& operator=(const sliding_window& o) { return *this = sliding_window(o); }
    ~sliding_window() = default;

    /// What was moved from has no samples, and its clock, options and losses as they were.
    sliding_window(sliding_window&& o) noexcept
        : options_(o.options_), ring_(std::move(o.ring_)), how_(std::move(o.how_)),
          times_(o.times_), wary_(o.wary_), missing_(o.missing_), losses_(o.losses_)
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
        wary_ = from.wary_;
        missing_ = from.missing_;
        losses_ = from.losses_;
        return *this;
    }

    /// Takes a sample. Does not let any go but where there are more than `max_points`.
    inserted insert(Time at, value_type value) { return insert(sample_type{at, value}); }
    inserted insert(Time at, value_type value, std::uint64_t weight)
        requires weighted
    {
        return insert(sample_type{at, value, detail::known_weight(weight)});
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

    /// Tells the time, and takes a sample then.
    inserted insert(Time at, value_type value, Time now)
    {
        advance(now);
        return insert(at, value);
    }
    inserted insert(Time at, value_type value, std::uint64_t weight, Time now)
        requires weighted
    {
        advance(now);
        return insert(at, value, weight);
    }
    inserted insert(sample_type s, Time now)
    {
        advance(now);
        return insert(s);
    }

    /// A floating number is no whole one: round it as you mean it.
    template <std::floating_point F, class... Rest>
        requires std::integral<value_type>
    inserted insert(Time, F, Rest...) = delete;

    /// A weight is a number of events, and half an event is none.
    template <std::floating_point Weight, class... Rest>
        requires weighted
    inserted insert(Time, value_type, Weight, Rest...) = delete;

    /// Tells the time; samples that are no longer in the window go. An earlier time than was told
    /// before is not believed.
    void advance(Time now)
    {
        if (now <= times_.now && times_.told) return;
        const bool first = !times_.told;
        tell(now);
        if (first) [[unlikely]] drop_future();
        if (ring_.waiting() != 0) [[unlikely]] let_in();
        std::uint64_t n = 0;
        for (auto p = ring_.first(); n != ring_.size() && ring_.at(p).at < times_.first; ++n) {
            p = ring_.after(p);
        }
        if (n != 0) how_.forget(ring_, n);
    }

    /// The measure of the samples in (now - span, now]. Always inline, since an answer that goes
    /// through memory takes as long again.
    [[nodiscard, gnu::always_inline]] summary query(Time now)
    {
        advance(now);
        if (!ring_.empty() && times_.now < ring_.newest().at && ring_.waiting() == 0) keep_out();
        return {how_.all(ring_), times_.now, options_.span,
                missing_ && !(*missing_ < times_.first)};
    }

    /// How many samples are kept, those in the future among them, and the n-th oldest of them.
    [[nodiscard]] std::uint64_t size() const noexcept { return ring_.size(); }
    [[nodiscard]] const sample_type& operator[](std::uint64_t n) const noexcept
    {
        return ring_[n];
    }

    [[nodiscard]] iterator begin() const noexcept { return {*this, 0}; }
    [[nodiscard]] iterator end() const noexcept { return {*this, size()}; }

    /// The latest time that was told.
    [[nodiscard]] std::optional<Time> clock() const noexcept
    {
        return times_.told ? times_.now : std::optional<Time>();
    }
    [[nodiscard]] const window_options& options() const noexcept { return options_; }
    [[nodiscard]] const window_losses& losses() const noexcept { return losses_; }

    /// The time of the newest sample that `max_points` has pushed out. Answers that reach back so
    /// far are not complete.
    [[nodiscard]] std::optional<Time> missing() const noexcept { return missing_; }
    /// A sample of that time is missing for another reason: it was pushed out elsewhere.
    void missed(Time at) noexcept
    {
        if (!missing_ || *missing_ < at) missing_ = at;
    }

    /// Samples, clock, options and losses; not how answers are found.
    friend bool operator==(const sliding_window& a, const sliding_window& b)
    {
        if (a.size() != b.size() || a.clock() != b.clock() || !(a.options_ == b.options_) ||
            !(a.losses_ == b.losses_) || a.missing_ != b.missing_) {
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

    /// No sample has left where the window begins before all times: there the difference saturates
    /// at the first time that there is.
    void tell(Time now) noexcept
    {
        times_.now = now;
        times_.told = true;
        if (options_.span != duration::highest()) {
            times_.first = now - (options_.span - duration::nanoseconds(1));
        }
        if (options_.ahead != duration::highest()) times_.latest = now + options_.ahead;
    }

    /// What came before any time was told may have been too far ahead of it.
    [[gnu::noinline]] void drop_future()
    {
        std::uint64_t n = ring_.size();
        while (n != 0 && times_.latest < ring_[n - 1].at) --n;
        if (n == ring_.size()) return;
        losses_.future += ring_.size() - n;
        ring_.drop_newest(ring_.size() - n);
        how_.start_anew(ring_);
    }

    // While samples come in order and are asked for no sooner than that, each is measured when it
    // comes, whatever the clock says by then. Where that went wrong, those that are later than the
    // clock wait for their time, until as many others have come: so it goes wrong seldom enough to
    // pay for what it costs.

    /// Samples wait until it is their time, those that are here among them.
    [[gnu::noinline]] void keep_out()
    {
        std::uint64_t n = 0;
        while (n != ring_.size() && times_.now < ring_[ring_.size() - 1 - n].at) ++n;
        ring_.wait(n);
        wary_ = ring_.size();
        how_.start_anew(ring_);
    }

    /// Those whose time has come wait no longer.
    [[gnu::noinline]] void let_in()
    {
        wary_ = ring_.size();
        while (ring_.waiting() != 0) {
            const sample_type s = ring_[ring_.measured()];
            if (times_.now < s.at) return;
            ring_.wait(ring_.waiting() - 1);
            count_in(s);
        }
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
        if (ring_.size() == ring_.room()) make_room();
        ring_.push(s);
        if (wary_ != 0) {
            if (times_.now < s.at) return ring_.wait(ring_.waiting() + 1);
            --wary_;
        }
        count_in(s);
    }

    void count_in(sample_type s)
    {
        if (options_.twins == same_time::replace) how_.came_first(ring_, s);
        else how_.came(ring_, s);
    }

    /// The ring is full: it grows, or where it must not, the oldest sample goes.
    [[gnu::noinline]] void make_room()
    {
        const std::uint64_t room = ring_.room();
        if (room < options_.max_points) {
            const auto first = ring_.first();
            const bool limited = options_.max_points != highest_size;
            ring_.grow(limited ? options_.max_points : room < 16 ? 16 : 2 * room);
            how_.moved(first, room);
            return;
        }
        push_out(ring_.oldest().at);
        if (ring_.measured() != 0) return how_.forget(ring_, 1);
        ring_.drop(1);
        ring_.wait(ring_.waiting() - 1);
    }
    void push_out(Time at) noexcept
    {
        ++losses_.pushed_out;
        missed(at);
    }

    /// A sample that is not newer than the newest.
    [[nodiscard, gnu::noinline]] inserted place(sample_type s)
    {
        std::uint64_t n = ring_.size();
        while (n != 0 && s.at < ring_[n - 1].at) --n;
        if (options_.twins == same_time::replace && n != 0 && ring_[n - 1].at == s.at) {
            ring_[n - 1] = s;
            if (n == ring_.measured() && n > how_.older()) how_.told_again(ring_, s);
            else if (n <= ring_.measured()) how_.start_anew(ring_);
            return inserted::replaced;
        }
        if (n == ring_.size()) {
            append(s);
            return inserted::newest;
        }
        if (ring_.size() == options_.max_points) {
            if (n == 0) {
                push_out(s.at);  // it would be the oldest, and there is no room for one more
                return inserted::too_old;
            }
            --n;
        }
        if (ring_.size() == ring_.room()) make_room();
        ring_.insert(n, s);
        const std::uint64_t measured = ring_.measured() - 1;
        if (n > measured || (n == measured && times_.now < s.at)) {
            ring_.wait(ring_.waiting() + 1);
        } else if (n == measured) {
            count_in(s);
        } else if (any_order<Measure> && n >= how_.older()) {
            if (options_.twins == same_time::replace) how_.came_late(ring_, s);
            else how_.came(ring_, s);
        } else {
            how_.start_anew(ring_);
        }
        return inserted::late;
    }

    window_options options_;
    sample_ring<sample_type, Measure> ring_;
    How<Measure> how_;
    times times_;
    std::uint64_t wary_ = 0;  // for so many samples more
    std::optional<Time> missing_;
    window_losses losses_;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_SLIDING_WINDOW_HPP
