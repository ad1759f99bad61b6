// SPDX-License-Identifier: MIT
//
// ext/ranges: `views::chunk_by`, a view of batches over any input range, for range-v3.
//
//     for (auto&& batch : lines | ranges::views::transform(parse)
//                               | waybill::views::chunk_by(limits, &event::bytes))
//         batch.fits ? send(batch) : store_elsewhere(*batch.begin());
//
// A forward range is not copied: the elements are `chunk`s, which point into the range. An input
// range is read once: the elements are `owned_chunk`s, which contain the items.
//
// Guarantees (4 to 6 are for input ranges)
//   1. Every item is in exactly one chunk, in its order. No chunk is empty.
//   2. A chunk that does not fit is a single item that exceeds a limit alone.
//   3. A chunk is cut when the loop asks for it, with the limits and sizes of that time.
//   4. An item is read once. Only an item that did not fit is read ahead: it begins the next batch.
//      A full batch, or a single item too large, is returned without reading ahead.
//   5. After batches have grown, only items, framings and batches that were moved from allocate.
//   6. No item is lost or duplicated by leaving a loop, by copies and moves, or by exceptions.
//
// ext/ranges_window.hpp has views::sliding, a window over a series.

#ifndef WAYBILL_EXT_RANGES_HPP
#define WAYBILL_EXT_RANGES_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

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
#include <waybill/batch/detail/tally.hpp>
#include <waybill/batch/framing.hpp>
#include <waybill/batch/owned_chunks.hpp>
#include <waybill/core/batch_limits.hpp>
#include <waybill/ext/ranges_window.hpp>

namespace waybill::inline v0_2 {

namespace detail {

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
            const batch_limits l = detail::limits_now(from_limits);
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
        requires detail::walkable<Base> && detail::size_model<F, ranges::range_reference_t<Base>>
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
            detail::tally<framing_type> with = tally_;
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
    detail::tally<framing_type> tally_;
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

}  // namespace detail

namespace views {

struct chunk_by_fn {
    /// For a forward range: a view of `chunk`s, which point into the range.
    template <ranges::viewable_range R, detail::limits_source L = batch_limits,
              class F = std::identity, class V = ranges::views::all_t<R>>
    requires detail::walkable<V> && detail::size_model<F, ranges::range_reference_t<V>>
    [[nodiscard]] constexpr auto operator()(R&& range, L l, F size = {}) const
    {
        V base = ranges::views::all(std::forward<R>(range));
        return detail::chunked_view<V, L, F>(std::move(base), std::move(l), std::move(size));
    }

    /// For an input range: a view of `owned_chunk`s, which contain their items.
    template <ranges::viewable_range R, detail::limits_source L = batch_limits,
              class F = std::identity, class V = ranges::views::all_t<R>>
        requires(!detail::walkable<V> && ranges::input_range<V> &&
                 detail::size_model<F, const ranges::range_value_t<V>&>)
    [[nodiscard]] auto operator()(R&& range, L l, F size = {}) const
    {
        V base = ranges::views::all(std::forward<R>(range));
        return detail::batched_view<V, L, F>(std::move(base), std::move(l), std::move(size));
    }

    /// Returns a closure for use with `|`.
    template <detail::limits_source L = batch_limits, class F = std::identity>
    [[nodiscard]] constexpr auto operator()(L l, F size = {}) const
    {
        return ranges::make_view_closure([l, size]<class R>(R&& range)
            requires std::invocable<const chunk_by_fn&, R, L, F>
        {
            return chunk_by_fn{}(std::forward<R>(range), l, size);
        });
    }
};

/// `range | chunk_by(limits, size)` or `chunk_by(range, limits, size)`.
inline constexpr chunk_by_fn chunk_by{};

}  // namespace views

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_RANGES_HPP
