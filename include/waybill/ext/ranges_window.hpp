// SPDX-License-Identifier: MIT
//
// ext/ranges_window: `views::sliding`, the results of a window over a series, for range-v3.
//
//     using backlog = waybill::stats<std::int64_t>;
//     for (const auto& s : rows | ranges::views::transform(parse)
//                               | waybill::views::sliding<backlog>({.span = 10min}))
//         print(s.now, s.points, s.mean(), s.highest());
//
// Each element is the result of a sliding_window after one sample: the measure of the samples in
// the span that ends at the latest time so far. Guarantees:
//   1. One result for each sample, also for a sample that is not accepted. The result for a late
//      sample is that of the latest time.
//   2. A sample is read when the loop asks for its result, and once per loop. The element belongs
//      to the window: copy it to keep it after the next increment.
//   3. Accepted samples are the clock. With `ahead`, a sample too far in the future is not
//      accepted; then no sample after a gap longer than `ahead` is accepted either.
//   4. Over a forward range, each loop starts with an empty window. Over an input range, all copies
//      share one pass, without a lock: a second loop continues after the last result seen.

#ifndef WAYBILL_EXT_RANGES_WINDOW_HPP
#define WAYBILL_EXT_RANGES_WINDOW_HPP

#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <range/v3/range/access.hpp>
#include <range/v3/range/concepts.hpp>
#include <range/v3/range/traits.hpp>
#include <range/v3/view/all.hpp>
#include <range/v3/view/interface.hpp>
#include <range/v3/view/view.hpp>

#include <waybill/core/time.hpp>
#include <waybill/window/amortised.hpp>
#include <waybill/window/detail/series.hpp>
#include <waybill/window/measures.hpp>
#include <waybill/window/sliding_window.hpp>

namespace waybill::inline v0_2 {

namespace detail {

template <class R>
using time_type_of = std::remove_cvref_t<decltype(std::declval<ranges::range_value_t<R>&>().at)>;

/// A range of samples from which the measure M can be computed.
template <class R, class M>
concept series_for = ranges::input_range<R> && requires { typename time_type_of<R>; } &&
                     sample_for<ranges::range_value_t<R>, M, time_type_of<R>>;

// One pass over a series. It is neither copied nor moved, because the iterator of the base may
// point into the base next to it.
template <class V, class M, template <class> class How>
class window_reading {
    using window = sliding_window<M, time_type_of<V>, How>;

public:
    using summary = typename window::summary;

    window_reading(V base, const window_options& o) : base_(std::move(base)), window_(o) {}
    window_reading(const window_reading&) = delete;
    window_reading& operator=(const window_reading&) = delete;
    ~window_reading() = default;

    /// Moves to the first result that was not seen yet.
    void start()
    {
        if (!at_) at_.emplace(ranges::begin(base_));
        if (!answer_ || seen_) next();
    }

    void next()
    {
        if (taken_) ++*at_;
        taken_ = false;
        over_ = *at_ == ranges::end(base_);
        if (over_) return;
        const ranges::range_value_t<V> given = **at_;
        take(as_sample_of<M>(given));
        taken_ = true;
        seen_ = false;
    }

    [[nodiscard]] const summary& see() noexcept
    {
        seen_ = true;
        return *answer_;
    }

    [[nodiscard]] bool over() const noexcept { return over_; }

private:
    void take(const typename window::sample_type& s)
    {
        // A sample that is not accepted does not advance the clock.
        switch (window_.insert(s)) {
            case insert_result::newest:
            case insert_result::late:
            case insert_result::replaced: answer_ = window_.query(s.at); return;
            default: break;
        }
        answer_ = window_.query(window_.clock().value_or(s.at));
    }

    V base_;
    window window_;
    std::optional<ranges::iterator_t<V>> at_;
    std::optional<summary> answer_;
    bool taken_ = false;  // the sample at `at_` was read
    bool seen_ = false;   // the result was handed out
    bool over_ = false;
};

/// A view of the results of a window after each sample of V.
template <class V, measure M, template <class> class How>
class sliding_view : public ranges::view_interface<sliding_view<V, M, How>> {
    using reading = detail::window_reading<V, M, How>;

    class cursor {
    public:
        using iterator_concept = std::input_iterator_tag;
        using iterator_category = std::input_iterator_tag;
        using value_type = typename reading::summary;
        using difference_type = std::ptrdiff_t;
        using pointer = const value_type*;
        using reference = const value_type&;

        cursor() = default;
        explicit cursor(std::shared_ptr<reading> r) noexcept : reading_(std::move(r)) {}

        [[nodiscard]] reference operator*() const noexcept { return reading_->see(); }
        [[nodiscard]] pointer operator->() const noexcept { return &reading_->see(); }
        cursor& operator++()
        {
            reading_->next();
            return *this;
        }
        void operator++(int) { ++*this; }

        friend bool operator==(const cursor& i, std::default_sentinel_t) noexcept
        {
            return !i.reading_ || i.reading_->over();
        }

    private:
        std::shared_ptr<reading> reading_;
    };

public:
    sliding_view() = default;
    sliding_view(V base, const window_options& o)
    {
        if constexpr (ranges::forward_range<V>) {
            base_.emplace(std::move(base));
            options_ = o;
        } else {
            base_ = std::make_shared<reading>(std::move(base), o);
        }
    }

    /// Reads the first sample. If the view was moved from, it is empty.
    [[nodiscard]] cursor begin()
    {
        if (!base_) return {};
        if constexpr (ranges::forward_range<V>) {
            auto one = std::make_shared<reading>(*base_, options_);
            one->start();
            return cursor(std::move(one));
        } else {
            base_->start();
            return cursor(base_);
        }
    }
    [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

private:
    std::conditional_t<ranges::forward_range<V>, std::optional<V>, std::shared_ptr<reading>> base_;
    window_options options_;
};

}  // namespace detail

namespace views {

template <measure M, template <class> class How = amortised>
struct sliding_fn {
    template <ranges::viewable_range R, class V = ranges::views::all_t<R>>
        requires detail::series_for<V, M>
    [[nodiscard]] auto operator()(R&& range, const window_options& o) const
    {
        return detail::sliding_view<V, M, How>(ranges::views::all(std::forward<R>(range)), o);
    }

    /// Returns a closure for use with `|`.
    [[nodiscard]] auto operator()(const window_options& o) const
    {
        return ranges::make_view_closure([o]<class R>(R&& range)
            requires std::invocable<const sliding_fn&, R, const window_options&>
        {
            return sliding_fn{}(std::forward<R>(range), o);
        });
    }
};

/// `series | sliding<measure>(options)` or `sliding<measure>(series, options)`.
template <measure M, template <class> class How = amortised>
inline constexpr sliding_fn<M, How> sliding{};

}  // namespace views

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_RANGES_WINDOW_HPP
