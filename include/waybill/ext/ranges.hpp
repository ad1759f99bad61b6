// SPDX-License-Identifier: MIT
//
// ext/ranges: chunk_by as a pipe of range-v3, over any input range.
//
//     for (auto&& batch : lines | ranges::views::transform(parse)
//                               | waybill::views::chunk_by(limits, &event::bytes))
//         batch.fits ? send(batch) : store_elsewhere(*batch.begin());
//
// What goes for chunk_by goes here: a size function, a framing, nothing where items are sizes.
// What can be walked again is not copied: the elements are `chunk`s, which point into the range.
// What can be read only once is kept: the elements are `owned_chunk`s, which hold the items
// themselves, to be moved out or copied by who keeps them beyond the next. Both have bytes, fits,
// closed, begin() and end(). For both these hold:
//   1. every item is in exactly one chunk, in the order it came, and no chunk is empty;
//   2. a chunk that does not fit is one single item, and no cut could have saved it;
//   3. a chunk is cut when the loop asks for it and not before, with the limits and sizes of that
//      moment. Limits may be a function, and so follow what a sender learnt from the last batch.
// And for those that are read only once:
//   4. each item is read once, and none beyond the one that did not fit: that is the first of the
//      next batch. A batch that is full by count, or by one item too large, reads nothing further,
//      so a slow source never holds back a full batch. Nobody knows then whether it was the last:
//      it is closed by `items` or `bytes` even where nothing follows, and no empty batch does;
//   5. nothing is allocated but by the items and by a framing's state, once a batch has grown to
//      its size and if it is not moved from: what a view reads with is allocated when it is made,
//      and its copies share it;
//   6. no item is lost and none comes twice if a loop is left, if the view is copied or moved, or
//      if something throws: see batched_view.
//
// A container seen through a transform can be walked again, and is: its values are made anew for
// each look. `| ranges::views::cache1` behind the transform makes it one that is read only once.
//
// A window over a series, views::sliding, stands in ext/ranges_window.hpp, which this includes.

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

#include <waybill/batch/chunk_by.hpp>
#include <waybill/batch/closed_by.hpp>
#include <waybill/batch/framing.hpp>
#include <waybill/batch/owned_chunks.hpp>
#include <waybill/batch/tally.hpp>
#include <waybill/ext/ranges_window.hpp>
#include <waybill/wire/limits.hpp>

namespace waybill::inline v0_2 {

/// Limits, or a function that says what they are now.
template <class L>
concept limits_source = std::convertible_to<const L&, limits> || requires(const L& l) {
    { l() } -> std::convertible_to<limits>;
};

namespace detail {

template <limits_source L>
[[nodiscard]] constexpr limits limits_now(const L& l)
{
    if constexpr (std::convertible_to<const L&, limits>) return l;
    else return l();
}

/// Can be walked again by an iterator that the rest of the house takes.
template <class R>
concept walkable = ranges::forward_range<R> && std::forward_iterator<ranges::iterator_t<R>> &&
                   std::sentinel_for<ranges::sentinel_t<R>, ranges::iterator_t<R>>;

}  // namespace detail

/// The chunks of a view that can be walked again. Its iterators look into it, so it outlives them.
template <class V, limits_source L, class F>
class chunked_view : public ranges::view_interface<chunked_view<V, L, F>> {
    template <bool Const>
    class cursor {
        using owner = std::conditional_t<Const, const chunked_view, chunked_view>;
        using base = std::conditional_t<Const, const V, V>;
        using I = ranges::iterator_t<base>;

    public:
        using iterator_concept = std::forward_iterator_tag;
        using iterator_category = std::input_iterator_tag;  // what it gives is made on the way
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
        // The item that did not fit is measured once more: what was learnt from the chunk before it
        // may have changed its size.
        constexpr void cut(I from)
        {
            const F& weigh = owner_->size_;
            const L& from_limits = owner_->limits_;
            const limits l = detail::limits_now(from_limits);
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
        requires detail::walkable<Base> && size_model<F, ranges::range_reference_t<Base>>
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

namespace detail {

// One reading of what can be read only once. It stays where it is made, since the iterator of the
// base may look into the base beside it.
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

    /// To the batch that nobody has seen yet; cuts it if it is not there.
    void start()
    {
        if (!at_) at_.emplace(ranges::begin(base_));
        if (stage_ != stage::cut && !over_) fill();
    }

    /// To the next batch, whether this one was seen or not.
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
        seen,     // the batch was handed out: it is done with
        growing,  // what was read, measured or limited threw in the midst of it: it is gone on with
        cut,      // the batch is whole
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

    [[nodiscard]] closed_by grow()
    {
        const L& from = limits_;
        while (!tally_.full) {
            if (!pull()) return closed_by::end;
            const limits l = limits_now(from);
            const item& next = *held_;
            tally<framing_type> with = tally_;
            const adding what = with.add(l, framing_, next);
            if (what == adding::added) {
                take();
                tally_ = std::move(with);
                continue;
            }
            if (with.items != 0) return with.full ? with.closed : closed_by::bytes;
            const std::uint64_t alone = size_alone(l, framing_, next);
            take();
            batch_.bytes = alone;
            batch_.fits = false;
            return closed_by::bytes;
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
    bool taken_ = false;        // what `at_` is at was read already
    std::optional<item> held_;  // read, and in no batch yet
    owned_chunk<item> batch_;
    tally<framing_type> tally_;
    stage stage_ = stage::seen;
    bool over_ = false;
};

}  // namespace detail

/// The batches of a view that can be read only once. All copies of it, and what it was moved to,
/// are one reading: what one of them has handed out comes from none of the others. begin() goes on
/// with the first batch that was not looked at, so a second loop starts behind the last batch that
/// the first was given. There is no lock: copies belong on one thread.
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

    /// Reads until there is a batch. Empty where it was moved from.
    [[nodiscard]] cursor begin()
    {
        if (reading_) reading_->start();
        return cursor(reading_.get());
    }
    [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

private:
    std::shared_ptr<reading> reading_;
};

namespace views {

struct chunk_by_fn {
    /// What can be walked again: a view of `chunk`s, which point into it.
    template <ranges::viewable_range R, limits_source L = limits, class F = std::identity,
              class V = ranges::views::all_t<R>>
        requires detail::walkable<V> && size_model<F, ranges::range_reference_t<V>>
    [[nodiscard]] constexpr auto operator()(R&& range, L l, F size = {}) const
    {
        V base = ranges::views::all(std::forward<R>(range));
        return chunked_view<V, L, F>(std::move(base), std::move(l), std::move(size));
    }

    /// What can be read only once: a view of `owned_chunk`s, which hold their items.
    template <ranges::viewable_range R, limits_source L = limits, class F = std::identity,
              class V = ranges::views::all_t<R>>
        requires(!detail::walkable<V>) && ranges::input_range<V> &&
                size_model<F, const ranges::range_value_t<V>&>
    [[nodiscard]] auto operator()(R&& range, L l, F size = {}) const
    {
        V base = ranges::views::all(std::forward<R>(range));
        return batched_view<V, L, F>(std::move(base), std::move(l), std::move(size));
    }

    /// To be piped into.
    template <limits_source L = limits, class F = std::identity>
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
