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
#include <waybill/ext/detail/ranges_package.hpp>

namespace waybill::inline v0_2::detail {

/// Limits, or a function that returns the current limits.
template <class L>
concept limits_source = std::convertible_to<const L&, batch_limits> || requires(const L& l) {
    { l() } -> std::convertible_to<batch_limits>;
};

template <limits_source L>
[[nodiscard]] constexpr batch_limits current_limits(const L& l)
{
    if constexpr (std::convertible_to<const L&, batch_limits>) return l;
    else return l();
}

/// A forward range whose iterators also satisfy the concepts of the standard library.
template <class R>
concept std_forward_range =
    ranges::forward_range<R> && std::forward_iterator<ranges::iterator_t<R>> &&
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

        [[nodiscard]] constexpr value_type operator*() const { return chunk_; }
        [[nodiscard]] constexpr pointer operator->() const noexcept { return &chunk_; }
        constexpr cursor& operator++()
        {
            cut(chunk_.last);
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
            return a.chunk_.first == b.chunk_.first && a.chunk_.count == b.chunk_.count;
        }
        friend constexpr bool operator==(const cursor& i, std::default_sentinel_t)
        {
            return i.chunk_.empty();
        }

    private:
        // The item that did not fit is measured again: the caller may have learnt from the previous
        // chunk and changed the size function's result.
        constexpr void cut(I from)
        {
            const F& item_size = owner_->size_;
            const L& limits = owner_->limits_;
            const batch_limits l = current_limits(limits);
            chunk_ =
                waybill::front_chunk(std::move(from), ranges::end(owner_->base_), l, item_size);
        }

        owner* owner_ = nullptr;
        chunk<I> chunk_{};
    };

public:
    chunked_view() = default;
    constexpr chunked_view(V base, L l, F item_size)
        : base_(std::move(base)), limits_(std::move(l)), size_(std::move(item_size))
    {
    }

    [[nodiscard]] constexpr auto begin() { return cursor<false>(*this); }
    template <class Base = const V>
        requires std_forward_range<Base> && size_model<F, ranges::range_reference_t<Base>>
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
class input_pass {
    using item = ranges::range_value_t<V>;
    using framing_type = framing_for<item, F>;

public:
    input_pass(V base, L l, F item_size)
        : base_(std::move(base)),
          limits_(std::move(l)),
          framing_(framing_of<item, F>(std::move(item_size)))
    {
    }
    input_pass(const input_pass&) = delete;
    input_pass& operator=(const input_pass&) = delete;
    ~input_pass() = default;

    /// Moves to the first batch that was not handed out, and cuts it if it is not complete yet.
    void start()
    {
        if (!at_) at_.emplace(ranges::begin(base_));
        if (stage_ != stage::cut && !over_) fill();
    }

    /// Moves to the next batch, even if the current one was not handed out.
    void next()
    {
        if (stage_ == stage::cut) stage_ = stage::handed_out;
        fill();
    }

    [[nodiscard]] owned_chunk<item>& hand_out() noexcept
    {
        stage_ = stage::handed_out;
        return batch_;
    }

    [[nodiscard]] bool over() const noexcept { return over_; }

private:
    enum class stage : unsigned char {
        handed_out,  // the batch is no longer needed
        growing,     // not complete; continued even after an exception of a user's function
        cut,         // complete, but not handed out
    };

    /// Reads an item into `pending_` unless there is one. Returns false at the end of the range.
    [[nodiscard]] bool read_item()
    {
        if (pending_) return true;
        if (item_was_read_) ++*at_;
        item_was_read_ = false;
        if (*at_ == ranges::end(base_)) return false;
        pending_.emplace(**at_);
        item_was_read_ = true;
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
        const L& limits = limits_;
        while (!tally_.full) {
            if (!read_item()) return batch_close_reason::end;
            const batch_limits l = current_limits(limits);
            const item& next = *pending_;
            tally<framing_type> extended = tally_;
            const add_result added = extended.add(l, framing_, next);
            if (added == add_result::added) {
                append_pending();
                tally_ = std::move(extended);
                continue;
            }
            if (extended.items != 0) {  // the pending item begins the next batch
                return extended.full ? extended.closed : batch_close_reason::bytes;
            }
            const std::uint64_t alone = size_alone(l, framing_, next);
            append_pending();
            batch_.bytes = alone;
            batch_.fits = false;
            return batch_close_reason::bytes;
        }
        return tally_.closed;
    }

    void append_pending()
    {
        batch_.items.push_back(std::move(*pending_));
        pending_.reset();
    }

    V base_;
    L limits_;
    framing_type framing_;
    std::optional<ranges::iterator_t<V>> at_;
    bool item_was_read_ = false;   // the item at `at_`
    std::optional<item> pending_;  // read, but in no batch yet
    owned_chunk<item> batch_;
    tally<framing_type> tally_;
    stage stage_ = stage::handed_out;
    bool over_ = false;
};

/// A view of the batches of an input range. All copies of the view, and the view it was moved to,
/// share one pass: each batch is handed out once. begin() continues with the first batch that was
/// not handed out, so a second loop starts after the last batch of the first loop. There is no
/// lock: use all copies on one thread.
template <class V, limits_source L, class F>
class batched_view : public ranges::view_interface<batched_view<V, L, F>> {
    using pass = input_pass<V, L, F>;

    class cursor {
    public:
        using iterator_concept = std::input_iterator_tag;
        using iterator_category = std::input_iterator_tag;
        using value_type = owned_chunk<ranges::range_value_t<V>>;
        using difference_type = std::ptrdiff_t;
        using pointer = value_type*;
        using reference = value_type&;

        cursor() = default;
        explicit cursor(pass* p) noexcept : pass_(p) {}

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
            return i.over();
        }

    private:
        [[nodiscard]] bool over() const noexcept { return !pass_ || pass_->over(); }

        pass* pass_ = nullptr;
    };

public:
    batched_view() = default;
    batched_view(V base, L l, F item_size)
        : pass_(std::make_shared<pass>(std::move(base), std::move(l), std::move(item_size)))
    {
    }

    /// Reads until a batch is complete. A view that was moved from is empty.
    [[nodiscard]] cursor begin()
    {
        if (pass_) pass_->start();
        return cursor(pass_.get());
    }
    [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

private:
    std::shared_ptr<pass> pass_;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_EXT_DETAIL_RANGES_CHUNKED_HPP
