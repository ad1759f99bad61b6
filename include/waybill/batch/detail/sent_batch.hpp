// SPDX-License-Identifier: MIT
//
// sent_batch: the items of one attempt, as a range for the caller's send function.

#ifndef WAYBILL_BATCH_DETAIL_SENT_BATCH_HPP
#define WAYBILL_BATCH_DETAIL_SENT_BATCH_HPP

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include <waybill/batch/sending.hpp>

namespace waybill::inline v0_2::detail {

/// A forward range over the items of an attempt. Usually they are one run of the input; a partial
/// failure leaves gaps. Valid during the call that receives it.
template <std::forward_iterator I>
class sent_batch {
public:
    class iterator {
    public:
        using iterator_concept = std::forward_iterator_tag;
        using iterator_category = std::forward_iterator_tag;
        using value_type = std::iter_value_t<I>;
        using difference_type = std::ptrdiff_t;
        using reference = std::iter_reference_t<I>;
        using pointer = void;

        iterator() = default;
        iterator(I at, const item_range* run)
            : at_(std::move(at)), run_(run), left_in_run_(run->count)
        {
        }

        [[nodiscard]] reference operator*() const { return *at_; }
        iterator& operator++()
        {
            if (--left_in_run_ != 0) {
                ++at_;
                return *this;
            }
            const std::uint64_t before = run_->end();
            ++run_;
            // After the last run the position stays: the run alone identifies the end.
            if (run_ != last_) {
                std::advance(at_, static_cast<std::iter_difference_t<I>>(run_->first - before + 1));
                left_in_run_ = run_->count;
            }
            return *this;
        }
        iterator operator++(int)
        {
            iterator old = *this;
            ++*this;
            return old;
        }
        friend bool operator==(const iterator& a, const iterator& b)
        {
            return a.run_ == b.run_ && a.left_in_run_ == b.left_in_run_;
        }

    private:
        friend sent_batch;
        I at_{};
        const item_range* run_ = nullptr;
        const item_range* last_ = nullptr;
        std::uint64_t left_in_run_ = 0;
    };

    sent_batch(I first, const batch_sender_types::send& a) : first_(std::move(first)), send_(a) {}

    [[nodiscard]] iterator begin() const
    {
        iterator i(first_, send_.items.begin());
        i.last_ = send_.items.end();
        return i;
    }
    [[nodiscard]] iterator end() const
    {
        iterator i;
        i.run_ = send_.items.end();
        return i;
    }

    /// The number of items. O(runs).
    [[nodiscard]] std::uint64_t size() const noexcept { return send_.items.items(); }
    /// The number of the attempt; equal only for a repetition of the identical batch.
    [[nodiscard]] std::uint64_t attempt() const noexcept { return send_.attempt; }
    /// Expected bytes, envelope and headers included.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return send_.bytes; }
    /// The reason why the batch was closed.
    [[nodiscard]] batch_close_reason closed() const noexcept { return send_.closed; }

private:
    I first_;
    batch_sender_types::send send_;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_SENT_BATCH_HPP
