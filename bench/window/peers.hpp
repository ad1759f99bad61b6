// SPDX-License-Identifier: MIT
//
// peers: other sliding windows. `take` advances the time, removes samples that have left, inserts a
// sample and returns the statistics of the window. No peer checks its input. Of all peers, only FiBA
// (fiba.hpp) accepts late samples.
//
//   floor            a ring with a running sum and a count: the cost of push, pop and comparing times.
//                    Values are subtracted, so a sum of fractions would drift. No extremes.
//   boost            Boost.Accumulators: rolling count, sum and mean. It has no times, and 1.74 has
//                    no rolling extremes.
//   buckets          written after folly's BucketedTimeSeries: sixty buckets of time, of which the
//                    oldest is subtracted as a whole. Sum and count only, over 59 to 60 sixtieths of
//                    the span.
//   two stacks       the textbook's queue: two vectors of samples, each with the measure of all below.
//   two-stacks lite  the same in one ring, after Tangwongsan, Hirzel and Schneider, "In-order
//                    sliding-window aggregation in worst-case constant time" (VLDB Journal 2021)
//   DABA lite        the algorithm with constant time for each operation, of the same paper
//   scan             stores samples only, and reads all of them for each result

#ifndef WAYBILL_BENCH_WINDOW_PEERS_HPP
#define WAYBILL_BENCH_WINDOW_PEERS_HPP

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <boost/accumulators/accumulators.hpp>
#include <boost/accumulators/statistics/rolling_count.hpp>
#include <boost/accumulators/statistics/rolling_mean.hpp>
#include <boost/accumulators/statistics/rolling_sum.hpp>
#include <boost/accumulators/statistics/stats.hpp>

#include "data.hpp"

namespace window_bench {

struct timed {
    std::int64_t at = 0;
    double value = 0;
};

class floor_ring {
public:
    static constexpr const char* name = "floor";
    static constexpr bool extremes = false;

    explicit floor_ring(std::uint64_t n)
        : span_(static_cast<std::int64_t>(n) * step),
          ring_(std::bit_ceil(n)),
          mask_(ring_.size() - 1)
    {
    }

    [[gnu::always_inline]] answer take(std::int64_t at, double value)
    {
        const std::int64_t from = at - span_;
        while (begin_ != end_ && ring_[begin_ & mask_].at <= from) {
            sum_ -= ring_[begin_ & mask_].value;
            ++begin_;
        }
        ring_[end_ & mask_] = {at, value};
        ++end_;
        sum_ += value;
        const std::uint64_t count = end_ - begin_;
        return {count, sum_, sum_ / static_cast<double>(count), 0, 0};
    }

private:
    std::int64_t span_;
    std::vector<timed> ring_;
    std::size_t mask_;
    std::uint64_t begin_ = 0;
    std::uint64_t end_ = 0;
    double sum_ = 0;
};

class boost_rolling {
public:
    static constexpr const char* name = "boost";
    static constexpr bool extremes = false;

    explicit boost_rolling(std::uint64_t n)
        : all_(boost::accumulators::tag::rolling_window::window_size = n)
    {
    }

    [[gnu::always_inline]] answer take(std::int64_t, double value)
    {
        namespace acc = boost::accumulators;
        all_(value);
        return {acc::rolling_count(all_), acc::rolling_sum(all_), acc::rolling_mean(all_), 0, 0};
    }

private:
    using tags = boost::accumulators::stats<boost::accumulators::tag::rolling_count,
                                            boost::accumulators::tag::rolling_sum,
                                            boost::accumulators::tag::rolling_mean>;
    boost::accumulators::accumulator_set<double, tags> all_;
};

class buckets {
public:
    static constexpr const char* name = "buckets";
    static constexpr bool extremes = false;
    static constexpr std::int64_t how_many = 60;

    explicit buckets(std::uint64_t n) : span_(static_cast<std::int64_t>(n) * step), all_(how_many)
    {
    }

    [[gnu::always_inline]] answer take(std::int64_t at, double value)
    {
        const std::int64_t number = bucket(at);
        while (newest_ < number) {
            part& oldest = all_[static_cast<std::size_t>(++newest_ % how_many)];
            sum_ -= oldest.sum;
            count_ -= oldest.count;
            oldest = {};
        }
        part& p = all_[static_cast<std::size_t>(number % how_many)];
        p.sum += value;
        ++p.count;
        sum_ += value;
        ++count_;
        return {count_, sum_, sum_ / static_cast<double>(count_), 0, 0};
    }

    /// The first time that the result for `at` includes.
    std::int64_t from(std::int64_t at) const
    {
        const std::int64_t oldest = bucket(at) - how_many + 1;
        return oldest <= 0 ? 0 : (oldest * span_ + how_many - 1) / how_many;
    }

private:
    struct part {
        double sum = 0;
        std::uint64_t count = 0;
    };

    std::int64_t bucket(std::int64_t at) const { return at * how_many / span_; }

    std::int64_t span_;
    std::vector<part> all_;
    std::int64_t newest_ = 0;
    double sum_ = 0;
    std::uint64_t count_ = 0;
};

/// The measure of several samples.
struct kept {
    std::uint64_t count = 0;
    double sum = 0;
    double lowest = 0;
    double highest = 0;

    static kept of(double v) { return {1, v, v, v}; }
    static kept combine(const kept& a, const kept& b)
    {
        return {a.count + b.count, a.sum + b.sum, b.lowest < a.lowest ? b.lowest : a.lowest,
                a.highest < b.highest ? b.highest : a.highest};
    }
    answer statistics() const
    {
        return {count, sum, sum / static_cast<double>(count), lowest, highest};
    }
};

class two_stacks {
public:
    static constexpr const char* name = "two stacks";
    static constexpr bool extremes = true;

    explicit two_stacks(std::uint64_t n) : span_(static_cast<std::int64_t>(n) * step)
    {
        older_.reserve(n);
        newer_.reserve(n);
    }

    [[gnu::always_inline]] answer take(std::int64_t at, double value)
    {
        while (!empty() && oldest().at <= at - span_) pop();
        push(newer_, {at, value}, newer_.empty() ? kept{} : newer_.back().second);
        if (older_.empty()) return newer_.back().second.statistics();
        return kept::combine(older_.back().second, newer_.back().second).statistics();
    }

private:
    using stack = std::vector<std::pair<timed, kept>>;

    bool empty() const { return older_.empty() && newer_.empty(); }
    const timed& oldest() const
    {
        return older_.empty() ? newer_.front().first : older_.back().first;
    }

    static void push(stack& s, const timed& t, const kept& below)
    {
        const kept own = kept::of(t.value);
        s.emplace_back(t, s.empty() ? own : kept::combine(below, own));
    }
    void pop()
    {
        if (older_.empty()) {
            for (; !newer_.empty(); newer_.pop_back()) {
                push(older_, newer_.back().first, older_.empty() ? kept{} : older_.back().second);
            }
        }
        older_.pop_back();
    }

    std::int64_t span_;
    stack older_;
    stack newer_;
};

/// A ring of slots with a time and a measure, of both algorithms below. Positions only grow.
class measure_ring {
public:
    explicit measure_ring(std::uint64_t n) : slots_(std::bit_ceil(n + 1)), mask_(slots_.size() - 1)
    {
    }

protected:
    struct timed_measure {
        std::int64_t at = 0;
        kept measure{};
    };

    timed_measure& slot(std::uint64_t n) { return slots_[n & mask_]; }

private:
    std::vector<timed_measure> slots_;
    std::size_t mask_;
};

/// Two stacks in one ring. A slot before the border has the measure of the samples from this one to
/// the border; a slot after it has the measure of its sample. When no slot is before the border, the
/// flip goes backwards through the ring and moves the border to the end.
class two_stacks_lite : measure_ring {
public:
    static constexpr const char* name = "two-stacks lite";
    static constexpr bool extremes = true;

    explicit two_stacks_lite(std::uint64_t n)
        : measure_ring(n), span_(static_cast<std::int64_t>(n) * step)
    {
    }

    [[gnu::always_inline]] answer take(std::int64_t at, double value)
    {
        while (begin_ != end_ && slot(begin_).at <= at - span_) {
            if (begin_ == border_) flip();
            ++begin_;
        }
        const kept own = kept::of(value);
        newer_ = border_ == end_ ? own : kept::combine(newer_, own);
        slot(end_++) = {at, own};
        if (begin_ == border_) return newer_.statistics();
        return kept::combine(slot(begin_).measure, newer_).statistics();
    }

private:
    [[gnu::noinline]] void flip()
    {
        kept all = slot(end_ - 1).measure;
        for (std::uint64_t n = end_ - 1; n != begin_;) {
            kept& own = slot(--n).measure;
            own = all = kept::combine(own, all);
        }
        border_ = end_;
    }

    std::int64_t span_;
    std::uint64_t begin_ = 0;
    std::uint64_t border_ = 0;
    std::uint64_t end_ = 0;
    kept newer_{};  // of [border_, end_), if that is not empty
};

/// As above, but each insertion and each removal does a part of the next flip. Marks:
/// begin_ <= l_ <= r_ <= a_ <= b_ <= end_. A slot has the measure of the samples from this one to b_
/// in [begin_, l_) and [a_, b_), to r_ in [l_, r_), and that of its sample in the rest.
class daba_lite : measure_ring {
public:
    static constexpr const char* name = "DABA lite";
    static constexpr bool extremes = true;

    explicit daba_lite(std::uint64_t n)
        : measure_ring(n), span_(static_cast<std::int64_t>(n) * step)
    {
    }

    [[gnu::always_inline]] answer take(std::int64_t at, double value)
    {
        while (begin_ != end_ && slot(begin_).at <= at - span_) {
            ++begin_;
            repair();
        }
        const kept own = kept::of(value);
        newer_ = b_ == end_ ? own : kept::combine(newer_, own);
        slot(end_++) = {at, own};
        repair();
        if (b_ == end_) return slot(begin_).measure.statistics();
        return kept::combine(slot(begin_).measure, newer_).statistics();
    }

private:
    [[gnu::always_inline]] void repair()
    {
        if (begin_ == b_) {  // at most one sample is left, and its own measure is right
            l_ = r_ = a_ = b_ = end_;
            return;
        }
        if (l_ == b_) {  // all of [begin_, b_) is converted: begin the next conversion
            l_ = begin_;
            a_ = b_ = end_;
            middle_ = newer_;  // of [r_, b_)
        }
        if (l_ == r_) {
            ++l_;
            ++r_;
            ++a_;
            return;
        }
        kept& left = slot(l_++).measure;
        left = kept::combine(left, middle_);
        --a_;
        if (a_ + 1 != b_) {
            kept& right = slot(a_).measure;
            right = kept::combine(right, slot(a_ + 1).measure);
        }
    }

    std::int64_t span_;
    std::uint64_t begin_ = 0;
    std::uint64_t l_ = 0;
    std::uint64_t r_ = 0;
    std::uint64_t a_ = 0;
    std::uint64_t b_ = 0;
    std::uint64_t end_ = 0;
    kept middle_{};
    kept newer_{};  // of [b_, end_), if that is not empty
};

class scan {
public:
    static constexpr const char* name = "scan";
    static constexpr bool extremes = true;

    explicit scan(std::uint64_t n)
        : span_(static_cast<std::int64_t>(n) * step),
          ring_(std::bit_ceil(n)),
          mask_(ring_.size() - 1)
    {
    }

    [[gnu::always_inline]] answer take(std::int64_t at, double value)
    {
        skip(at, value);
        return since(begin_);
    }
    /// The same without a result.
    void skip(std::int64_t at, double value)
    {
        while (begin_ != end_ && ring_[begin_ & mask_].at <= at - span_) ++begin_;
        ring_[end_++ & mask_] = {at, value};
    }
    /// The statistics of the samples from a later time on.
    answer since_time(std::int64_t from) const
    {
        std::uint64_t n = begin_;
        while (ring_[n & mask_].at < from) ++n;
        return since(n);
    }

private:
    answer since(std::uint64_t n) const
    {
        kept k = kept::of(ring_[n & mask_].value);
        while (++n != end_) k = kept::combine(k, kept::of(ring_[n & mask_].value));
        return k.statistics();
    }

    std::int64_t span_;
    std::vector<timed> ring_;
    std::size_t mask_;
    std::uint64_t begin_ = 0;
    std::uint64_t end_ = 0;
};

}  // namespace window_bench

#endif  // WAYBILL_BENCH_WINDOW_PEERS_HPP
