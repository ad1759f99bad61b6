// SPDX-License-Identifier: MIT
//
// resend_buffer: an input that can be read only once, with the items that are read but not settled.
//
// A forward range can be read again; lines from a pipe cannot. A resend buffer keeps each item
// until its outcome is known. So a refused batch can be cut again, and a sender that must wait can
// be called again later:
//
//     auto lines = ranges::getlines(std::cin);
//     waybill::resend_buffer box(lines);
//     auto report = waybill::send_all(box, size, sender, clock, transmit);
//     while (report.waiting) {
//         sleep_until(*report.waiting);
//         report += waybill::send_all(box, ...);
//     }
//
// Memory: one batch per attempt in flight, and one more item.
// A value without locks: one thread at a time.

#ifndef WAYBILL_BATCH_RESEND_BUFFER_HPP
#define WAYBILL_BATCH_RESEND_BUFFER_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace waybill::inline v0_2 {

/// Items are numbered from 0, in the order in which they are pulled.
template <std::input_iterator I, std::sentinel_for<I> S>
class resend_buffer {
public:
    using value_type = std::iter_value_t<I>;

    resend_buffer(I first, S last) : at_(std::move(first)), last_(std::move(last)) {}

    /// Reads a range that must outlive the buffer. Calls its begin() once, here.
    template <class R>
        requires(!std::same_as<std::remove_cv_t<R>, resend_buffer>)
    explicit resend_buffer(R& range) : resend_buffer(std::begin(range), std::end(range))
    {
    }

    /// Reads one more item and keeps it; null at the end. Does not read the input any further. The
    /// pointer is valid until the next call of pull(), peek() or release().
    [[nodiscard]] const value_type* pull()
    {
        const value_type* item = peek();
        if (item) take();
        return item;
    }

    /// pull() in two steps: an item counts as pulled only after take(). Until then, each peek()
    /// returns the same item. So no item is lost if an exception occurs in between.
    [[nodiscard]] const value_type* peek()
    {
        if (peeked_) return &held_.back();
        if (read_) {
            ++at_;
            read_ = false;
        }
        if (at_ == last_) return nullptr;
        held_.push_back(*at_);
        read_ = peeked_ = true;
        return &held_.back();
    }
    /// Counts the item that peek() returned as pulled.
    void take() noexcept { peeked_ = false; }

    /// The item with number `n`, which must be in [first(), pulled()).
    [[nodiscard]] const value_type* at(std::uint64_t n) const
    {
        return held_.data() + dead_ + (n - first_);
    }
    [[nodiscard]] value_type* at(std::uint64_t n) { return held_.data() + dead_ + (n - first_); }

    /// The number of items pulled so far.
    [[nodiscard]] std::uint64_t pulled() const noexcept { return first_ + size(); }

    /// The number of items that are kept.
    [[nodiscard]] std::size_t size() const noexcept
    {
        return held_.size() - dead_ - (peeked_ ? 1U : 0U);
    }

    /// The number of the first item that is kept.
    [[nodiscard]] std::uint64_t first() const noexcept { return first_; }

    /// Drops the items with numbers below `n`. Amortized constant time per item.
    void release(std::uint64_t n)
    {
        const std::uint64_t all = pulled();
        if (n > all) n = all;
        if (n <= first_) return;
        dead_ += n - first_;
        first_ = n;
        if (dead_ > held_.size() / 2) {
            held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(dead_));
            dead_ = 0;
        }
    }

private:
    I at_;
    S last_;
    bool read_ = false;    // *at_ is in held_; at_ must be incremented before the next read
    bool peeked_ = false;  // the last item in held_ does not count as pulled yet
    std::vector<value_type> held_;
    std::size_t dead_ = 0;     // the number of dropped items at the beginning of held_
    std::uint64_t first_ = 0;  // the number of held_[dead_]
};

template <class R>
resend_buffer(R&) -> resend_buffer<decltype(std::begin(std::declval<R&>())),
                                   decltype(std::end(std::declval<R&>()))>;

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_RESEND_BUFFER_HPP
