// SPDX-License-Identifier: MIT
//
// ranges_chunked: the views of `views::chunk_by`, over forward and over input ranges.

#ifndef WAYBILL_EXT_DETAIL_RANGES_CHUNKED_HPP
#define WAYBILL_EXT_DETAIL_RANGES_CHUNKED_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <waybill/ext/detail/ranges_package.hpp>

#include <range/v3/range/access.hpp>
#include <range/v3/range/concepts.hpp>
#include <range/v3/range/traits.hpp>
#include <range/v3/utility/semiregular_box.hpp>
#include <range/v3/view/all.hpp>
#include <range/v3/view/interface.hpp>
#include <range/v3/view/view.hpp>

#include <waybill/batch/add_result.hpp>
#include <waybill/batch/batch_close_reason.hpp>
#include <waybill/batch/chunk_by.hpp>
#include <waybill/batch/detail/size_model.hpp>
#include <waybill/batch/detail/tally.hpp>
#include <waybill/batch/framing.hpp>
#include <waybill/batch/owned_chunks.hpp>
#include <waybill/core/batch_limits.hpp>

namespace waybill::inline v0_2::detail {

/// Limits, or a function that returns the current limits.
template <class L>
concept limits_source = std::convertible_to<const L&, batch_limits> || requires(const L& l)
{
    {
        l()
        } -> std::convertible_to<batch_limits>;
};

template <limits_source L>
[[nodiscard]] constexpr batch_limits limits_now(const L& l)
{
    if constexpr (std::convertible_to<const L&, batch_limits>)
        return l;
    else return l();
}

/// A forward range whose iterators also satisfy the concepts of the standard library.
template <class R>
concept walkable = ranges::forward_range<R> && std::forward_iterator<ranges::iterator_t<R>> &&
                   std::sentinel_for<ranges::sentinel_t<R>, ranges::iterator_t<R>>;

/// A view of the chunks of a forward range. Its iterators point into the view, which must outlive
/// them.
template <class V, limits_source L, class F>
class chunked_view : public ranges::view_interface<chunked_view<V, L, F>> {
    template <bool Const>
    class cursor {
        using owner = std::conditional_t<Const, const chunked_view, chunked_view>;
        using base = std::conditional_t<Const, const V, V>;
        using I = ranges::iterator_t<base>;

    public:
        using iterator_concept = std::forward_iterator_tag;
        using iterator_category = std::input_iterator_tag;  // because `reference` is a value
        using value_type = chunk<I>;
        using difference_type = std::iter_difference_t<I>;
        using pointer = const value_type*;
        using reference = value_type;

        cursor() = default;
        constexpr explicit cursor(owner& o) : owner_(&o) { cut(ranges::begin(o.base_)); }

        [[nodiscard]] constexpr value_type operator*() const { return cut_; }
        [[nodiscard]] constexpr pointer operator->() const noexcept { return &cut_; }
        constexpr cursor& operator++()
        {
            cut(cut_.last);
            return *this;
        }
        constexpr cursor operator++(int)
        {
            auto old = *this;
            ++*this;
            return old;
        }

        friend constexpr bool operator==(const cursor& a, const cursor& b)
        {
            return a.cut_.first == b.cut_.first && a.cut_.count == b.cut_.count;
        }
        friend constexpr bool operator==(const cursor& i, std::default_sentinel_t)
        {
            return i.cut_.empty();
        }

    private:
        // The item that did not fit is measured again: the caller may have learnt from the previous
        // chunk and changed the size function's result.
        constexpr void cut(I from)
        {
            const F& weigh = owner_->size_;
            const L& from_limits = owner_->limits_;
            const batch_limits l = limits_now(from_limits);
            cut_ = waybill::front_chunk(std::move(from), ranges::end(owner_->base_), l, weigh);
        }

        owner* owner_ = nullptr;
        chunk<I> cut_{};
    };

public:
    chunked_view() = default;
    constexpr chunked_view(V base, L l, F weigh)
        : base_(std::move(base)), limits_(std::move(l)), size_(std::move(weigh))
    {
    }

    [[nodiscard]] constexpr auto begin() { return cursor<false>(*this); }
    template <class Base = const V>
        requires walkable<Base> && size_model<F, ranges::range_reference_t<Base>>
    [[nodiscard]] constexpr auto begin() const
    {
        return cursor<true>(*this);
    }
    [[nodiscard]] constexpr std::default_sentinel_t end() const noexcept { return {}; }

private:
    V base_{};
    ranges::semiregular_box_t<L> limits_{};
    ranges::semiregular_box_t<F> size_{};
};

// One pass over an input range. It is neither copied nor moved, because the iterator of the base
// may point into the base next to it.
template <class V, limits_source L, class F>
class reading {
    using item = ranges::range_value_t<V>;
    using framing_type = framing_for<item, F>;

public:
    reading(V base, L l, F weigh)
        : base_(std::move(base)), limits_(std::move(l)),
          framing_(framing_of<item, F>(std::move(weigh)))
    {
    }
    reading(const reading&) = delete;
    reading& operator=(const reading&) = delete;
    ~reading() = default;

    /// Moves to the first batch that was not seen yet. Cuts it if that has not been done.
    void start()
    {
        if (!at_) at_.emplace(ranges::begin(base_));
        if (stage_ != stage::cut && !over_) fill();
    }

    /// Moves to the next batch, whether the current one was seen or not.
    void next()
    {
        if (stage_ == stage::cut) stage_ = stage::seen;
        fill();
    }

    [[nodiscard]] owned_chunk<item>& see() noexcept
    {
        stage_ = stage::seen;
        return batch_;
    }

    [[nodiscard]] bool over() const noexcept { return over_; }

private:
    enum class stage : unsigned char {
        seen,     // the batch was handed out and is no longer needed
        growing,  // reading, measuring or the limits function threw: the batch is continued
        cut,      // the batch is complete
    };

    [[nodiscard]] bool pull()
    {
        if (held_) return true;
        if (taken_) ++*at_;
        taken_ = false;
        if (*at_ == ranges::end(base_)) return false;
        held_.emplace(**at_);
        taken_ = true;
        return true;
    }

    void fill()
    {
        if (stage_ != stage::growing) {
            batch_.items.clear();
            tally_ = {};
            stage_ = stage::growing;
        }
        batch_.fits = true;
        batch_.closed = grow();
        if (batch_.fits) batch_.bytes = tally_.bytes;
        if (batch_.items.empty()) over_ = true;
        stage_ = stage::cut;
    }

    [[nodiscard]] batch_close_reason grow()
    {
        const L& from = limits_;
        while (!tally_.full) {
            if (!pull()) return batch_close_reason::end;
            const batch_limits l = limits_now(from);
            const item& next = *held_;
            tally<framing_type> with = tally_;
            const add_result what = with.add(l, framing_, next);
            if (what == add_result::added) {
                take();
                tally_ = std::move(with);
                continue;
            }
            if (with.items != 0) return with.full ? with.closed : batch_close_reason::bytes;
            const std::uint64_t alone = size_alone(l, framing_, next);
            take();
            batch_.bytes = alone;
            batch_.fits = false;
            return batch_close_reason::bytes;
        }
        return tally_.closed;
    }

    void take()
    {
        batch_.items.push_back(std::move(*held_));
        held_.reset();
    }

    V base_;
    L limits_;
    framing_type framing_;
    std::optional<ranges::iterator_t<V>> at_;
    bool taken_ = false;        // the item at `at_` was read
    std::optional<item> held_;  // read, but in no batch yet
    owned_chunk<item> batch_;
    tally<framing_type> tally_;
    stage stage_ = stage::seen;
    bool over_ = false;
};

/// A view of the batches of an input range. All copies of the view, and the view it was moved to,
/// share one pass: each batch is handed out once. begin() continues with the first batch that was
/// not seen, so a second loop starts after the last batch of the first loop. There is no lock: use
/// all copies on one thread.
template <class V, limits_source L, class F>
class batched_view : public ranges::view_interface<batched_view<V, L, F>> {
    using reading = detail::reading<V, L, F>;

    class cursor {
    public:
        using iterator_concept = std::input_iterator_tag;
        using iterator_category = std::input_iterator_tag;
        using value_type = owned_chunk<ranges::range_value_t<V>>;
        using difference_type = std::ptrdiff_t;
        using pointer = value_type*;
        using reference = value_type&;

        cursor() = default;
        explicit cursor(reading* r) noexcept : reading_(r) {}

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
            return i.over();
        }

    private:
        [[nodiscard]] bool over() const noexcept { return !reading_ || reading_->over(); }

        reading* reading_ = nullptr;
    };

public:
    batched_view() = default;
    batched_view(V base, L l, F weigh)
        : reading_(std::make_shared<reading>(std::move(base), std::move(l), std::move(weigh)))
    {
    }

    /// Reads until there is a batch. If the view was moved from, it is empty.
    [[nodiscard]] cursor begin()
    {
        if (reading_) reading_->start();
        return cursor(reading_.get());
    }
    [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

private:
    std::shared_ptr<reading> reading_;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_EXT_DETAIL_RANGES_CHUNKED_HPP
