// SPDX-License-Identifier: MIT
//
// relayed_batch: the messages of one attempt, as a range for the function that sends them.

#ifndef WAYBILL_QUEUE_DETAIL_RELAYED_BATCH_HPP
#define WAYBILL_QUEUE_DETAIL_RELAYED_BATCH_HPP

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>  // also for std::forward_iterator_tag, because <iterator> costs more

namespace waybill::inline v0_2::detail {

/// A forward range with the interface of the batches of `send_all`. `Send` is the action of the
/// sender. Valid during the call that receives it.
template <class Messages, class Send>
class relayed_batch {
    using runs_type = std::remove_cvref_t<decltype(std::declval<const Send&>().items)>;
    using run_pointer = decltype(std::declval<const runs_type&>().begin());

public:
    class iterator {
    public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = std::remove_cvref_t<decltype(std::declval<const Messages&>()[0])>;
        using difference_type = std::ptrdiff_t;
        using reference = const value_type&;
        using pointer = const value_type*;

        iterator() = default;

        [[nodiscard]] reference operator*() const { return (*all_)[run_->first - base_ + at_]; }
        [[nodiscard]] pointer operator->() const { return &**this; }
        iterator& operator++()
        {
            if (++at_ == run_->count) {
                ++run_;
                at_ = 0;
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
            return a.run_ == b.run_ && a.at_ == b.at_;
        }

    private:
        friend relayed_batch;
        iterator(const Messages& all, std::uint64_t base, run_pointer run)
            : all_(&all), base_(base), run_(run)
        {
        }

        const Messages* all_ = nullptr;
        std::uint64_t base_ = 0;
        run_pointer run_{};
        std::uint64_t at_ = 0;
    };

    /// `base` is the sender's number of the first message.
    relayed_batch(const Messages& all, std::uint64_t base, const Send& send)
        : all_(&all), base_(base), send_(send)
    {
    }

    [[nodiscard]] iterator begin() const { return {*all_, base_, send_.items.begin()}; }
    [[nodiscard]] iterator end() const { return {*all_, base_, send_.items.end()}; }
    /// The number of messages. O(runs).
    [[nodiscard]] std::uint64_t size() const noexcept { return send_.items.items(); }
    /// The number of the attempt; equal only for a repetition of the identical batch.
    [[nodiscard]] std::uint64_t attempt() const noexcept { return send_.attempt; }
    /// Expected bytes, envelope and headers included.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return send_.bytes; }
    /// The reason why the batch was closed.
    [[nodiscard]] auto closed() const noexcept { return send_.closed; }

private:
    const Messages* all_;
    std::uint64_t base_;
    Send send_;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_QUEUE_DETAIL_RELAYED_BATCH_HPP
