// SPDX-License-Identifier: MIT
//
// send_source: the inputs of `send_all`, as the loop reads them.
//
// `walked_source` is an input that can be walked again, `kept_source` one in a `resend_buffer`.

#ifndef WAYBILL_BATCH_DETAIL_SEND_SOURCE_HPP
#define WAYBILL_BATCH_DETAIL_SEND_SOURCE_HPP

#include <concepts>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include <waybill/batch/batch_sender.hpp>
#include <waybill/batch/detail/sent_batch.hpp>
#include <waybill/batch/detail/sizer.hpp>

namespace waybill::inline v0_2::detail {

/// A function that returns the bytes of an item, or its bytes and key as `queued{bytes, key}`.
template <class F, class Item>
concept queueing = sizer<F, Item> || requires(const F& size, Item&& item) {
    { detail::measured(size, static_cast<Item&&>(item)) } -> std::same_as<batch_sender::queued>;
};

/// An input that can be walked again. Items are found by walking from the first unsettled one.
template <class I, class S, class F>
class walked_source {
public:
    walked_source(I first, S last, const F& size, std::uint64_t taken)
        : here_(first), next_(std::move(first)), last_(std::move(last)), size_(size)
    {
        while (taken_ != taken && next_ != last_) {
            ++next_;
            ++taken_;
        }
    }

    /// The number of items taken. After construction it is too low if the input is too short.
    [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }

    /// The next item. `take` is a second step, so an exception between the two loses no item.
    [[nodiscard]] std::optional<batch_sender::queued> peek()
    {
        if (next_ == last_) return {};
        return batch_sender::queued(detail::measured(size_, *next_));
    }
    void take()
    {
        ++next_;
        ++taken_;
    }

    /// The item with number `n`. `measure` returns its current size.
    [[nodiscard]] decltype(auto) item(std::uint64_t n) const { return *seek(here_, n - place_); }
    [[nodiscard]] batch_sender::queued measure(std::uint64_t n) const
    {
        return batch_sender::queued(detail::measured(size_, item(n)));
    }

    [[nodiscard]] auto batch(const batch_sender::send& a, std::uint64_t origin)
    {
        return sent_batch<I>(seek(here_, a.items.front().first - origin - place_), a);
    }

    void release(std::uint64_t n)
    {
        if (n > taken_) n = taken_;
        if (n <= place_) return;
        here_ = seek(here_, n - place_);
        place_ = n;
    }

private:
    static I seek(I from, std::uint64_t steps)
    {
        std::advance(from, static_cast<std::iter_difference_t<I>>(steps));
        return from;
    }

    I here_;  // item number place_
    I next_;  // item number taken_
    S last_;
    const F& size_;
    std::uint64_t place_ = 0;
    std::uint64_t taken_ = 0;
};

/// An input whose open items are stored in a `resend_buffer`.
template <class Box, class F>
class kept_source {
public:
    kept_source(Box& box, const F& size, std::uint64_t settled)
        : box_(box), size_(size), base_(settled)
    {
    }

    [[nodiscard]] std::optional<batch_sender::queued> peek()
    {
        const auto* item = box_.peek();
        if (!item) return {};
        return batch_sender::queued(detail::measured(size_, *item));
    }
    void take() noexcept { box_.take(); }

    [[nodiscard]] auto& item(std::uint64_t n) const { return *box_.at(base_ + n); }
    [[nodiscard]] batch_sender::queued measure(std::uint64_t n) const
    {
        return batch_sender::queued(detail::measured(size_, std::as_const(item(n))));
    }

    [[nodiscard]] auto batch(const batch_sender::send& a, std::uint64_t origin)
    {
        const auto* first = std::as_const(box_).at(base_ + a.items.front().first - origin);
        return sent_batch<decltype(first)>(first, a);
    }

    void release(std::uint64_t n) { box_.release(base_ + n); }

private:
    Box& box_;
    const F& size_;
    std::uint64_t base_;  // items of the box that were settled before this input was opened
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_SEND_SOURCE_HPP
