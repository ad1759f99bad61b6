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

#include <range/v3/range/access.hpp>
#include <range/v3/range/concepts.hpp>
#include <range/v3/range/traits.hpp>
#include <range/v3/view/all.hpp>
#include <range/v3/view/interface.hpp>
#include <range/v3/view/view.hpp>

#include <waybill/core/time.hpp>
#include <waybill/ext/detail/ranges_package.hpp>
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
class window_pass {
    using window = sliding_window<M, time_type_of<V>, How>;

public:
    using summary = typename window::summary;

    window_pass(V base, const window_options& o) : base_(std::move(base)), window_(o) {}
    window_pass(const window_pass&) = delete;
    window_pass& operator=(const window_pass&) = delete;
    ~window_pass() = default;

    /// Moves to the first result that was not handed out.
    void start()
    {
        if (!at_) at_.emplace(ranges::begin(base_));
        if (!result_ || handed_out_) next();
    }

    void next()
    {
        if (sample_was_read_) ++*at_;
        sample_was_read_ = false;
        over_ = *at_ == ranges::end(base_);
        if (over_) return;
        const ranges::range_value_t<V> sample = **at_;
        insert_and_query(as_sample_of<M>(sample));
        sample_was_read_ = true;
        handed_out_ = false;
    }

    [[nodiscard]] const summary& hand_out() noexcept
    {
        handed_out_ = true;
        return *result_;
    }

    [[nodiscard]] bool over() const noexcept { return over_; }

private:
    void insert_and_query(const typename window::sample_type& s)
    {
        // A sample that is not accepted does not advance the clock, unless there is no clock yet.
        switch (window_.insert(s)) {
            case insert_result::newest:
            case insert_result::late:
            case insert_result::replaced: result_ = window_.query(s.at); return;
            default: break;
        }
        result_ = window_.query(window_.clock().value_or(s.at));
    }

    V base_;
    window window_;
    std::optional<ranges::iterator_t<V>> at_;
    std::optional<summary> result_;
    bool sample_was_read_ = false;  // the sample at `at_`
    bool handed_out_ = false;       // the result
    bool over_ = false;
};

/// A view of the results of a window after each sample of V.
template <class V, measure M, template <class> class How>
class sliding_view : public ranges::view_interface<sliding_view<V, M, How>> {
    using pass = window_pass<V, M, How>;

    class cursor {
    public:
        using iterator_concept = std::input_iterator_tag;
        using iterator_category = std::input_iterator_tag;
        using value_type = typename pass::summary;
        using difference_type = std::ptrdiff_t;
        using pointer = const value_type*;
        using reference = const value_type&;

        cursor() = default;
        explicit cursor(std::shared_ptr<pass> p) noexcept : pass_(std::move(p)) {}

        [[nodiscard]] reference operator*() const noexcept { return pass_->hand_out(); }
        [[nodiscard]] pointer operator->() const noexcept { return &pass_->hand_out(); }
        cursor& operator++()
        {
            pass_->next();
            return *this;
        }
        void operator++(int) { ++*this; }

        friend bool operator==(const cursor& i, std::default_sentinel_t) noexcept
        {
            return !i.pass_ || i.pass_->over();
        }

    private:
        std::shared_ptr<pass> pass_;
    };

public:
    sliding_view() = default;
    sliding_view(V base, const window_options& o)
    {
        if constexpr (ranges::forward_range<V>) {
            source_.emplace(std::move(base));
            options_ = o;
        } else {
            source_ = std::make_shared<pass>(std::move(base), o);
        }
    }

    /// Forward range: begins a pass with an empty window. Input range: continues the shared pass
    /// after the last result that was handed out; a view that was moved from is empty.
    [[nodiscard]] cursor begin()
    {
        if (!source_) return {};
        if constexpr (ranges::forward_range<V>) {
            auto new_pass = std::make_shared<pass>(*source_, options_);
            new_pass->start();
            return cursor(std::move(new_pass));
        } else {
            source_->start();
            return cursor(source_);
        }
    }
    [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

private:
    /// The forward range, or the shared pass over the input range.
    std::conditional_t<ranges::forward_range<V>, std::optional<V>, std::shared_ptr<pass>> source_;
    window_options options_;  ///< Used for a forward range only.
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_EXT_DETAIL_RANGES_SLIDING_HPP
