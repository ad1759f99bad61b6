// SPDX-License-Identifier: MIT
//
// ranges_sliding: the view of `views::sliding`.

#ifndef WAYBILL_EXT_DETAIL_RANGES_SLIDING_HPP
#define WAYBILL_EXT_DETAIL_RANGES_SLIDING_HPP

#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <waybill/ext/detail/ranges_package.hpp>

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

namespace waybill::inline v0_2::detail {

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
    using reading = window_reading<V, M, How>;

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

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_EXT_DETAIL_RANGES_SLIDING_HPP
