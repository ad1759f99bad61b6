// SPDX-License-Identifier: MIT
//
// send_source: the inputs of `send_all`, as the loop reads them.
//
// `forward_source` reads an input that can be walked again, `buffered_source` a `resend_buffer`.

#ifndef WAYBILL_BATCH_DETAIL_SEND_SOURCE_HPP
#define WAYBILL_BATCH_DETAIL_SEND_SOURCE_HPP

#include <concepts>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include <waybill/batch/batch_sender.hpp>
#include <waybill/batch/detail/sent_batch.hpp>
#include <waybill/batch/detail/size_model.hpp>
#include <waybill/batch/detail/sizer.hpp>

namespace waybill::inline v0_2::detail {

/// A function that returns the bytes of an item, or its bytes and key as `queued{bytes, key}`.
template <class F, class Item>
concept queueing = sizer<F, Item> || requires(const F& size, Item&& item) {
    { detail::measured(size, static_cast<Item&&>(item)) } -> std::same_as<batch_sender::queued>;
};

/// Refuses a size function of a wrong type.
template <class F, class Item>
struct checked_queueing {
    static constexpr bool ok = queueing<F, Item>;
    static constexpr bool takes_item = ok || accepts_item<F, Item>;
    static constexpr bool returns_bytes = ok || !takes_item;

    static_assert(takes_item, "send_all: the size function must be const and accept an item");
    static_assert(returns_bytes,
                  "send_all: the size function must return the bytes of an item as "
                  "an integer, not as bool, or queued{bytes, key}");
};

/// An input that can be walked again. Items are found by walking from the first unsettled one.
template <class I, class S, class F>
class forward_source {
    static_assert(checked_queueing<F, std::iter_reference_t<I>>::ok);

public:
    using batch_type = sent_batch<I>;

    forward_source(I first, S last, const F& size, std::uint64_t taken)
        : first_open_(first), next_(std::move(first)), last_(std::move(last)), size_(size)
    {
        while (taken_count_ != taken && next_ != last_) {
            ++next_;
            ++taken_count_;
        }
    }

    /// The number of items taken. After construction it is too low if the input is too short.
    [[nodiscard]] std::uint64_t taken() const noexcept { return taken_count_; }

    /// Takes items while `queue(queued)` is true. Returns the first other item, if there is one.
    /// `take` takes it in a second step, so an exception between the two loses no item.
    template <class Queue>
    [[nodiscard]] std::optional<batch_sender::queued> take_while(const Queue& queue)
    {
        for (; next_ != last_; take()) {
            const batch_sender::queued q(detail::measured(size_, *next_));
            if (!queue(q)) return q;
        }
        return {};
    }
    void take()
    {
        ++next_;
        ++taken_count_;
    }

    /// The item with number `n`, counted from the first item of the input. `measure` returns its
    /// current size.
    [[nodiscard]] decltype(auto) item(std::uint64_t n) const
    {
        return *seek(first_open_, n - released_count_);
    }
    [[nodiscard]] batch_sender::queued measure(std::uint64_t n) const
    {
        return batch_sender::queued(detail::measured(size_, item(n)));
    }

    /// The items of `a` as a range. `input_begin` is the sender's number of the first item of the
    /// input.
    [[nodiscard]] batch_type batch(const batch_sender::send& a, std::uint64_t input_begin)
    {
        const std::uint64_t first = a.items.front().first - input_begin;
        return batch_type(seek(first_open_, first - released_count_), a);
    }

    /// Items with numbers below `n` are settled and are not read again.
    void release(std::uint64_t n)
    {
        if (n > taken_count_) n = taken_count_;
        if (n <= released_count_) return;
        first_open_ = seek(first_open_, n - released_count_);
        released_count_ = n;
    }

private:
    static I seek(I from, std::uint64_t distance)
    {
        std::advance(from, static_cast<std::iter_difference_t<I>>(distance));
        return from;
    }

    I first_open_;  // the item with number released_count_
    I next_;        // the item with number taken_count_
    S last_;
    const F& size_;
    std::uint64_t released_count_ = 0;
    std::uint64_t taken_count_ = 0;
};

/// An input whose open items are stored in a `resend_buffer`.
template <class Buffer, class F>
class buffered_source {
    static_assert(checked_queueing<F, const typename Buffer::value_type&>::ok);

public:
    using batch_type = sent_batch<const typename Buffer::value_type*>;

    buffered_source(Buffer& buffer, const F& size, std::uint64_t settled_before)
        : buffer_(buffer), size_(size), settled_before_(settled_before)
    {
    }

    template <class Queue>
    [[nodiscard]] std::optional<batch_sender::queued> take_while(const Queue& queue)
    {
        for (; const auto* item = buffer_.peek(); take()) {
            const batch_sender::queued q(detail::measured(size_, *item));
            if (!queue(q)) return q;
        }
        return {};
    }
    void take() noexcept { buffer_.take(); }

    [[nodiscard]] auto& item(std::uint64_t n) const { return *buffer_.at(settled_before_ + n); }
    [[nodiscard]] batch_sender::queued measure(std::uint64_t n) const
    {
        return batch_sender::queued(detail::measured(size_, std::as_const(item(n))));
    }

    [[nodiscard]] batch_type batch(const batch_sender::send& a, std::uint64_t input_begin)
    {
        const std::uint64_t number = settled_before_ + a.items.front().first - input_begin;
        return batch_type(std::as_const(buffer_).at(number), a);
    }

    void release(std::uint64_t n) { buffer_.release(settled_before_ + n); }

private:
    Buffer& buffer_;
    const F& size_;
    std::uint64_t settled_before_;  // items of the buffer that earlier inputs have settled
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_SEND_SOURCE_HPP
