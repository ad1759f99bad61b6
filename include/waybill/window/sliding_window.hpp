// SPDX-License-Identifier: MIT
//
// sliding_window: exact statistics of the samples of the last n minutes.
//
//     waybill::sliding_window<waybill::stats<std::int64_t>> backlog{{.span = 10min}};
//     backlog.insert(at, value);
//     auto s = backlog.query(now);           // of (now - 10min, now], never stale
//     if (s.points >= 5 && *s.mean() > 100) ...
//     auto h = s.highest();                  // an empty optional without samples
//
//   1. A summary covers exactly the samples in (now - span, now]. If `max_points` has removed some
//      of them, `complete()` returns false.
//   2. A late sample counts at its own time. Samples that are too old, too far ahead of the clock,
//      not finite, or without a weight are not inserted, but counted by reason.
//   3. The clock is the latest time passed in; only it and `max_points` remove samples. A sample
//      after `now` is in no summary before its time. With `max_points`, set `ahead` and pass `now`
//      to insert: else a wrong clock can fill the window with future samples.
//   4. Samples in order and summaries cost O(1) on average; with `worst_case` each of them costs
//      O(1). A late sample costs O(log n) on average. The module's guide lists all costs.
//   5. Allocates only for more samples than ever before; with `max_points` only in the constructor.
// A value without locks: one thread at a time.

#ifndef WAYBILL_WINDOW_SLIDING_WINDOW_HPP
#define WAYBILL_WINDOW_SLIDING_WINDOW_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>

#include <waybill/core/detail/inlining.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/window/amortised.hpp>
#include <waybill/window/detail/window_samples.hpp>
#include <waybill/window/detail/window_times.hpp>
#include <waybill/window/measures.hpp>
#include <waybill/window/sample.hpp>
#include <waybill/window/window_options.hpp>
#include <waybill/window/window_summary.hpp>
#include <waybill/window/worst_case.hpp>

namespace waybill::inline v0_2 {

template <measure Measure, class Time = wall_time, template <class> class How = amortised>
class sliding_window {
public:
    using value_type = typename Measure::value_type;
    using time_type = Time;
    static constexpr bool weighted = detail::has_weights<Measure>;
    using sample_type = detail::sample_for_measure<Measure, Time>;
    using iterator = detail::sample_iterator<detail::window_samples<sample_type, Measure>>;
    using const_iterator = iterator;
    using summary = window_summary<Measure, Time>;

    explicit sliding_window(detail::no_options = {}) : sliding_window(window_options{}) {}
    /// A span of less than 1 ns is replaced by 1 ns, and a `max_points` of 0 by 1. With
    /// `max_points` all memory is allocated here.
    explicit sliding_window(const window_options& o) : options_(o)
    {
        if (options_.span < duration::nanoseconds(1)) options_.span = duration::nanoseconds(1);
        times_.reach = options_.span - duration::nanoseconds(1);
        if (options_.max_points == 0) options_.max_points = 1;
        update_special();
        if (options_.max_points != detail::highest_size) ring_.reserve(options_.max_points);
    }

    sliding_window(const sliding_window&) = default;
    sliding_window& operator=(const sliding_window& o) { return *this = sliding_window(o); }
    ~sliding_window() = default;

    /// After a move the source has no samples. Its clock, options and losses stay as they were.
    sliding_window(sliding_window&& o) noexcept
        : options_(o.options_),
          ring_(std::move(o.ring_)),
          policy_(std::move(o.policy_)),
          times_(o.times_),
          on_time_appends_left_(o.on_time_appends_left_),
          missing_until_(o.missing_until_),
          losses_(o.losses_)
    {
        o.policy_.recompute(o.ring_);
        o.update_ends();
        o.update_special();
    }
    sliding_window& operator=(sliding_window&& o) noexcept
    {
        sliding_window from(std::move(o));
        options_ = from.options_;
        ring_ = std::move(from.ring_);
        policy_ = std::move(from.policy_);
        times_ = from.times_;
        on_time_appends_left_ = from.on_time_appends_left_;
        missing_until_ = from.missing_until_;
        losses_ = from.losses_;
        return *this;
    }

    /// Inserts a sample without moving the clock. Removes the oldest sample if there are more than
    /// `max_points`. O(1) on average for a newest sample, also if it replaces the newest, and O(log
    /// n) for a late sample. O(n) for a late sample that is after the clock or replaces another, or
    /// if the measure is not commutative.
    insert_result insert(Time at, value_type value) { return insert_fields(at, value, 1); }
    insert_result insert(Time at, value_type value, std::uint64_t weight)
        requires weighted
    {
        return insert_fields(at, value, detail::weight_or_zero(weight));
    }
    insert_result insert(sample_type s) { return insert_fields(s.at, s.value, weight_of(s)); }

    /// Moves the clock to `now`, then inserts the sample.
    insert_result insert(Time at, value_type value, Time now)
    {
        advance(now);
        return insert(at, value);
    }
    insert_result insert(Time at, value_type value, std::uint64_t weight, Time now)
        requires weighted
    {
        advance(now);
        return insert(at, value, weight);
    }
    insert_result insert(sample_type s, Time now)
    {
        advance(now);
        return insert(s);
    }

    /// Deleted: a floating-point value in a window of integers. Round it first.
    template <std::floating_point F, class... Rest>
        requires std::integral<value_type>
    insert_result insert(Time, F, Rest...) = delete;

    /// Deleted: a floating-point weight. A weight is a whole number of events.
    template <std::floating_point Weight, class... Rest>
        requires weighted
    insert_result insert(Time, value_type, Weight, Rest...) = delete;

    /// Moves the clock to `now` and removes samples that have left the window. If `now` is not
    /// later than the clock, nothing changes. O(1), plus O(1) on average for each sample that
    /// leaves or whose time has come. Always inlined: clang 14 would call it twice for each sample,
    /// which takes 16 to 18 % more instructions (`bench/run window`).
    WAYBILL_ALWAYS_INLINE void advance(Time now)
    {
        if (now <= times_.now && times_.clock_known) return;
        times_.now = now;
        if (times_.special) [[unlikely]]
            advance_with_checks();
        if (times_.complete_until < now) remove_expired();
    }

    /// Moves the clock to `now` and returns the summary of the samples in (now - span, now]. O(1)
    /// on average. Always inlined: if the summary is returned through memory, the query takes twice
    /// as long, and a sample up to 11 % more instructions (`bench/run window`).
    [[nodiscard]] WAYBILL_ALWAYS_INLINE summary query(Time now)
    {
        advance(now);
        if (times_.now < times_.newest) [[unlikely]] {
            exclude_later_samples();
            if (!ring_.late().empty())
                return summary_of(Measure::combine(called_measure_of_ring(), ring_.late().all()));
        }
        return summary_of(measure_of_ring());
    }

    /// The number of samples, including those after the clock.
    [[nodiscard]] std::uint64_t size() const noexcept { return ring_.count(); }
    /// The n-th oldest sample, from 0. O(1), or O(log^2 n) if the window has very late samples.
    /// Requires: n < size().
    [[nodiscard]] const sample_type& operator[](std::uint64_t n) const noexcept
    {
        return ring_.sample(n, ring_.late_from(n));
    }

    /// Iterators become invalid when a sample is inserted or removed. A step costs O(1).
    [[nodiscard]] iterator begin() const noexcept { return ring_.begin(); }
    [[nodiscard]] iterator end() const noexcept { return ring_.end(); }

    /// The latest time passed to the window. Empty before the first.
    [[nodiscard]] std::optional<Time> clock() const noexcept
    {
        return times_.clock_known ? times_.now : std::optional<Time>();
    }
    [[nodiscard]] const window_options& options() const noexcept { return options_; }
    [[nodiscard]] const window_losses& losses() const noexcept { return losses_; }

    /// The time of the newest sample that `max_points` has removed. A summary whose span includes
    /// that time is not complete.
    [[nodiscard]] std::optional<Time> missing() const noexcept { return missing_until_; }
    /// Records that another window removed a sample of the time `at`, so it is missing here, too.
    void missed(Time at) noexcept
    {
        if (!missing_until_ || *missing_until_ < at) missing_until_ = at;
    }

    /// Compares samples, clock, options, losses and `missing()`, but not the policy's data.
    friend bool operator==(const sliding_window& a, const sliding_window& b)
    {
        if (a.size() != b.size() || a.clock() != b.clock() || !(a.options_ == b.options_) ||
            !(a.losses_ == b.losses_) || a.missing_until_ != b.missing_until_) {
            return false;
        }
        for (auto i = a.begin(), j = b.begin(), end = a.end(); i != end; ++i, ++j) {
            if (!(*i == *j)) return false;
        }
        return true;
    }

private:
    /// Inserts a sample. Its fields are passed one by one for the reason named at `ring_.push`.
    insert_result insert_fields(Time at, value_type value, std::uint32_t weight)
    {
        // In the common case, `times_` is sufficient for all other checks.
        if (times_.newest < at && at <= times_.append_until && detail::is_finite(value) &&
            weight != 0 && ring_.size() != ring_.room()) [[likely]] {
            times_.newest = at;
            policy_.add(ring_, ring_.push(at, value, weight));
            return insert_result::newest;
        }
        return insert_with_checks(at, value, weight);
    }

    /// The measure of the ring, without its waiting samples. At most one call of `combine`. Always
    /// inlined for the reason named at `query`.
    WAYBILL_ALWAYS_INLINE Measure measure_of_ring() const
    {
        return detail::stored<Measure>::completed(policy_.all(ring_), ring_);
    }
    /// The same. For rare calls: inlined twice, it would keep the results of all queries in memory.
    WAYBILL_NOINLINE Measure called_measure_of_ring() const { return measure_of_ring(); }
    /// Always inlined for the reason named at `query`.
    WAYBILL_ALWAYS_INLINE summary summary_of(const Measure& m) const
    {
        return {m, times_.now, options_.span,
                missing_until_ && !(*missing_until_ < times_.begin(options_))};
    }

    /// Sets the shortcuts that depend on the oldest and the newest sample.
    void update_ends()
    {
        times_.newest =
            ring_.empty() || !ring_.late().empty() ? Time::highest() : ring_.newest().at;
        times_.complete_until =
            ring_.empty() ? Time::highest() : times_.last_covered(ring_.oldest().at, options_);
    }
    /// Sets the other shortcuts. Called after a change of the clock if `ahead` is limited. Also
    /// called when the number of samples changes that wait, may have to wait, or are not in the
    /// ring.
    void update_special()
    {
        const bool check_all = ring_.waiting() != 0 || on_time_appends_left_ != 0 ||
                               options_.on_equal_time == window_options::equal_time::replace;
        times_.special = !times_.clock_known || ring_.waiting() != 0 || !ring_.late().empty() ||
                         (!check_all && options_.ahead != duration::highest());
        times_.append_until = check_all ? Time::lowest() : times_.latest_allowed(options_);
    }

    /// The part of `advance` for a first clock, for samples in `ring_.late()` and for waiting ones.
    WAYBILL_NOINLINE void advance_with_checks()
    {
        if (!times_.clock_known) {
            times_.clock_known = true;
            drop_future();
        }
        remove_expired_late();
        if (ring_.waiting() != 0) {
            measure_due_samples();
            if (ring_.waiting() != 0) return;
        }
        update_special();
    }

    /// Removes the samples that have left the window: at least the oldest.
    void remove_expired()
    {
        do {
            if (policy_.forgettable() == 0) [[unlikely]]
                return remove_all_expired();
            policy_.forget_oldest(ring_);
            if (ring_.empty()) [[unlikely]]
                return update_ends();
            times_.complete_until = ring_.oldest().at + times_.reach;
        } while (times_.complete_until < times_.now);
    }
    WAYBILL_NOINLINE void remove_all_expired()
    {
        policy_.forget(ring_, ring_.count_before(times_.begin(options_)));
        update_ends();
    }

    void remove_expired_late()
    {
        if (ring_.late().empty()) return;
        ring_.late().drop_before(times_.begin(options_));
        if (times_.now == Time::highest()) move_late_into_ring();
        update_ends();
    }

    /// Removes samples that are too far ahead of a clock that was unknown when they were inserted.
    void drop_future()
    {
        const std::uint64_t n = ring_.count_until(times_.latest_allowed(options_));
        if (n == ring_.size()) return;
        losses_.future += ring_.size() - n;
        ring_.drop_newest(ring_.size() - n);
        policy_.recompute(ring_);
        update_ends();
    }

    // By default each sample is measured when it is inserted, even if it is after the clock. If a
    // query finds such a sample, `exclude_later_samples` recomputes all measures without the
    // samples after the clock; these wait. From then on, new samples after the clock wait, too,
    // until `on_time_appends_left_` samples at or before the clock have been appended. So
    // recomputations are rare enough to cost O(1) a sample on average.

    /// Makes all samples after the clock wait for their time, and recomputes the measures. Does
    /// nothing if there are none, or if they wait already.
    WAYBILL_NOINLINE void exclude_later_samples()
    {
        if (ring_.waiting() != 0 || ring_.empty() || !(times_.now < ring_.newest().at)) return;
        ring_.set_waiting(ring_.size() - ring_.count_until(times_.now));
        on_time_appends_left_ = ring_.size();
        policy_.recompute(ring_);
        update_special();
    }

    /// Measures the waiting samples whose time has come.
    WAYBILL_NOINLINE void measure_due_samples()
    {
        on_time_appends_left_ = ring_.size();
        while (ring_.waiting() != 0) {
            const sample_type s = ring_[ring_.measured()];
            if (times_.now < s.at) return;
            ring_.set_waiting(ring_.waiting() - 1);
            add_to_measure(s);
        }
    }

    /// Counts and returns the reason not to insert a sample. Empty if there is none.
    [[nodiscard]] std::optional<insert_result> reject(sample_type s)
    {
        if (!detail::is_finite(s.value)) {
            ++losses_.not_finite;
            return insert_result::not_finite;
        }
        if (weight_of(s) == 0) {
            ++losses_.no_weight;
            return insert_result::no_weight;
        }
        const bool appends = !ring_.empty() && ring_.newest().at < s.at;
        if (!appends && s.at < times_.begin(options_)) {
            ++losses_.too_old;
            return insert_result::too_old;
        }
        if (times_.now < s.at && times_.latest_allowed(options_) < s.at) {
            ++losses_.future;
            return insert_result::future;
        }
        return {};
    }

    [[nodiscard]] WAYBILL_NOINLINE insert_result insert_with_checks(Time at, value_type value,
                                                                    std::uint32_t weight)
    {
        sample_type s{at, value};
        if constexpr (weighted) s.weight = weight;
        if (const auto rejected = reject(s)) return *rejected;
        if (!ring_.empty() && s.at <= ring_.newest().at) return insert_late(s);
        append(s);
        return insert_result::newest;
    }

    void append(sample_type s)
    {
        if (is_full()) make_room();
        ring_.push(s);
        update_ends();
        if (on_time_appends_left_ != 0) {
            if (times_.now < s.at) {
                ring_.set_waiting(ring_.waiting() + 1);
                return update_special();
            }
            if (--on_time_appends_left_ == 0) update_special();
        }
        add_to_measure(s);
    }

    void add_to_measure(sample_type s)
    {
        if (options_.on_equal_time == window_options::equal_time::replace)
            policy_.add_newest(ring_, s);
        else policy_.add(ring_, s);
    }

    /// No sample can be inserted before `make_room`.
    [[nodiscard]] bool is_full() const noexcept
    {
        return ring_.size() == ring_.room() || size() == options_.max_points;
    }

    /// Makes room in a full window: the ring grows or, at `max_points`, the oldest sample is
    /// removed.
    WAYBILL_NOINLINE void make_room()
    {
        if (ring_.room() < options_.max_points) return grow();
        count_pushed_out(ring_.oldest_of_all().at);
        if (ring_.oldest_is_late()) return ring_.late().drop_oldest();
        if (ring_.measured() != 0) return policy_.forget(ring_, 1);
        ring_.drop(1);  // all samples are waiting
        ring_.set_waiting(ring_.waiting() - 1);
    }
    void grow()
    {
        const std::uint64_t room = ring_.room();
        const auto first = ring_.first();
        std::uint64_t new_room = room < initial_room ? initial_room : 2 * room;
        if (options_.max_points != detail::highest_size) new_room = options_.max_points;
        ring_.grow(new_room);
        policy_.moved(first, room);
    }
    void count_pushed_out(Time at) noexcept
    {
        ++losses_.pushed_out;
        missed(at);
    }

    /// Inserts a late sample, or one with the time of the newest, at its place in the order of
    /// times.
    [[nodiscard]] insert_result insert_late(sample_type s)
    {
        std::uint64_t n = ring_.count_until(s.at);
        if (options_.on_equal_time == window_options::equal_time::replace && replaces(n, s))
            return insert_result::replaced;
        if (n == ring_.size()) {
            append(s);
            return insert_result::newest;
        }
        if (is_full()) {
            if (size() == options_.max_points && s.at < ring_.oldest_of_all().at) {
                count_pushed_out(s.at);
                return insert_result::too_old;
            }
            const std::uint64_t before = ring_.size();
            make_room();
            n -= before - ring_.size();
        }
        // Samples of `ring_.late()` are never after the clock. At the highest time, `times_.newest`
        // cannot be after it, so there are none.
        const bool allowed =
            times_.clock_known && s.at <= times_.now && times_.now < Time::highest();
        if (allowed && ring_.is_very_late(n, s.at, policy_.older_count())) insert_very_late(s);
        else insert_into_ring(n, s);
        return insert_result::late;
    }

    /// Replaces the sample of the time of `s`. Returns false if there is none. Requires: n is the
    /// number of samples of the ring that are not after `s`.
    [[nodiscard]] bool replaces(std::uint64_t n, sample_type s)
    {
        if (n == 0 || ring_[n - 1].at != s.at) return ring_.late().replace(s);
        if (ring_[n - 1] == s) return true;
        ring_[n - 1] = s;
        // The newest measured sample can be exchanged alone while it is in the newer part of the
        // policy. Another measured sample needs a recomputation.
        if (n == ring_.measured() && n > policy_.older_count()) policy_.replace_newest(ring_, s);
        else if (n <= ring_.measured()) policy_.recompute(ring_);
        return true;
    }

    /// Inserts a late sample before the n-th oldest of the ring, from 0.
    void insert_into_ring(std::uint64_t n, sample_type s)
    {
        const std::uint64_t measured_before = ring_.measured();
        ring_.insert(n, s);
        update_ends();
        if (n > measured_before || (n == measured_before && times_.now < s.at)) {
            ring_.set_waiting(ring_.waiting() + 1);  // until the clock reaches its time
            update_special();
        } else if (n == measured_before) {
            add_to_measure(s);
        } else if (detail::is_commutative<Measure> && n >= policy_.older_count()) {
            if (options_.on_equal_time == window_options::equal_time::replace)
                policy_.add_late(ring_, s);
            else policy_.add(ring_, s);
        } else {
            policy_.recompute(ring_);
        }
    }

    /// Inserts a sample that is not after the clock into `ring_.late()`.
    void insert_very_late(sample_type s)
    {
        if (ring_.late().size() == ring_.max_late()) move_late_into_ring();
        if (ring_.late().empty()) ring_.late().reserve(ring_.max_late());
        ring_.late().insert(s);
        update_ends();
        update_special();
    }
    WAYBILL_NOINLINE void move_late_into_ring()
    {
        if (ring_.late().empty()) return;
        if (ring_.room() < size()) grow();
        ring_.move_late_into_ring();
        policy_.recompute(ring_);
        update_ends();
    }

    /// The room of the first allocation without `max_points`. It doubles from there.
    static constexpr std::uint64_t initial_room = 16;

    window_options options_;
    detail::window_samples<sample_type, Measure> ring_;
    How<detail::stored_measure<Measure>> policy_;
    detail::window_times<Time> times_;
    std::uint64_t on_time_appends_left_ = 0;  // if not 0, new samples after the clock wait
    std::optional<Time> missing_until_;
    window_losses losses_;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_SLIDING_WINDOW_HPP
