// SPDX-License-Identifier: MIT
//
// sent_batch: the items of one attempt, as a range for whoever moves them.

#ifndef WAYBILL_BATCH_SENT_BATCH_HPP
#define WAYBILL_BATCH_SENT_BATCH_HPP

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include <waybill/batch/sending.hpp>

namespace waybill::inline v0_2 {

/// A forward range over the items of an attempt. Mostly one piece of the input; after a partial
/// failure there are gaps. Good during the call that it is handed to.
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
        iterator(I at, const run* part) : at_(std::move(at)), part_(part), left_(part->count) {}

        [[nodiscard]] reference operator*() const { return *at_; }
        iterator& operator++()
        {
            if (--left_ != 0) {
                ++at_;
                return *this;
            }
            const std::uint64_t before = part_->end();
            ++part_;
            // Behind the last run there is nothing to look at; the end is known by its run alone.
            if (part_ != last_) {
                std::advance(at_, static_cast<std::iter_difference_t<I>>(part_->first - before + 1));
                left_ = part_->count;
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
            return a.part_ == b.part_ && a.left_ == b.left_;
        }

    private:
        friend sent_batch;
        I at_{};
        const run* part_ = nullptr;
        const run* last_ = nullptr;
        std::uint64_t left_ = 0;
    };

    sent_batch(I first, const act::send& a) : first_(std::move(first)), send_(a) {}

    [[nodiscard]] iterator begin() const
    {
        iterator i(first_, send_.items.begin());
        i.last_ = send_.items.end();
        return i;
    }
    [[nodiscard]] iterator end() const
    {
        iterator i;
        i.part_ = send_.items.end();
        return i;
    }

    /// How many items.
    [[nodiscard]] std::uint64_t size() const noexcept { return send_.items.items(); }
    /// The attempt's number; the same again only for the identical batch.
    [[nodiscard]] std::uint64_t attempt() const noexcept { return send_.attempt; }
    /// Bytes as far as is known, envelope and estimated headers included.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return send_.bytes; }
    /// Why it was closed.
    [[nodiscard]] closed_by closed() const noexcept { return send_.closed; }

private:
    I first_;
    act::send send_;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_SENT_BATCH_HPP
