// SPDX-License-Identifier: MIT
//
// resend_buffer: an input that can be read only once, with the items read but not yet settled.
//
// A forward range can be read again; lines from a pipe cannot. A resend buffer keeps each item
// until its outcome is known. So a refused batch can be cut again:
//
//     auto lines = ranges::getlines(std::cin);
//     waybill::resend_buffer box(lines);
//     auto report = waybill::send_all(box, size, sender, transmit, env);
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

namespace detail {

template <class R>
R& reject_temporary(const R& temporary)
{
    static_assert(sizeof(R) == 0,
                  "resend_buffer: the range is a temporary, destroyed before its items are read; "
                  "give it a name first");
    return const_cast<R&>(temporary);
}

}  // namespace detail

/// Items are numbered from 0, in the order in which they are pulled.
template <std::input_iterator I, std::sentinel_for<I> S>
class resend_buffer {
public:
    using value_type = std::iter_value_t<I>;

    resend_buffer(I first, S last) : next_(std::move(first)), end_(std::move(last)) {}

    /// Reads a range that must outlive the buffer. Calls its begin() once, here.
    template <class R>
        requires(!std::same_as<std::remove_cv_t<R>, resend_buffer>)
    explicit resend_buffer(R& range) : resend_buffer(std::begin(range), std::end(range))
    {
    }
    /// Refused: a temporary range would be destroyed before its items are read.
    template <class R>
        requires(!std::same_as<std::remove_cv_t<R>, resend_buffer>)
    explicit resend_buffer(const R&& temporary)
        : resend_buffer(detail::reject_temporary<R>(temporary))
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
        if (has_peeked_) return &items_.back();
        if (next_is_read_) {
            ++next_;
            next_is_read_ = false;
        }
        if (next_ == end_) return nullptr;
        items_.push_back(*next_);
        next_is_read_ = has_peeked_ = true;
        return &items_.back();
    }
    /// Counts the item that peek() returned as pulled.
    void take() noexcept { has_peeked_ = false; }

    /// The item with number `n`, which must be in [first(), pulled()).
    [[nodiscard]] const value_type* at(std::uint64_t n) const
    {
        return items_.data() + released_count_ + (n - first_number_);
    }
    [[nodiscard]] value_type* at(std::uint64_t n)
    {
        return items_.data() + released_count_ + (n - first_number_);
    }

    /// The number of items pulled so far.
    [[nodiscard]] std::uint64_t pulled() const noexcept { return first_number_ + size(); }

    /// The number of items that are kept.
    [[nodiscard]] std::size_t size() const noexcept
    {
        return items_.size() - released_count_ - (has_peeked_ ? 1U : 0U);
    }

    /// The number of the first item that is kept.
    [[nodiscard]] std::uint64_t first() const noexcept { return first_number_; }

    /// Drops the items with numbers below `n`. Amortized constant time per item.
    void release(std::uint64_t n)
    {
        const std::uint64_t all = pulled();
        if (n > all) n = all;
        if (n <= first_number_) return;
        released_count_ += n - first_number_;
        first_number_ = n;
        if (released_count_ > items_.size() / 2) {
            items_.erase(items_.begin(),
                         items_.begin() + static_cast<std::ptrdiff_t>(released_count_));
            released_count_ = 0;
        }
    }

private:
    I next_;                          // next position of the input
    S end_;                           // end of the input
    bool next_is_read_ = false;       // *next_ is in items_; increment next_ before reading it
    bool has_peeked_ = false;         // the last item of items_ does not count as pulled yet
    std::vector<value_type> items_;   // the released items, then the kept ones
    std::size_t released_count_ = 0;  // number of released items in items_
    std::uint64_t first_number_ = 0;  // number of the first kept item
};

template <class R>
resend_buffer(R&) -> resend_buffer<decltype(std::begin(std::declval<R&>())),
                                   decltype(std::end(std::declval<R&>()))>;

template <class R>
resend_buffer(const R&& temporary) -> resend_buffer<decltype(std::begin(std::declval<R&>())),
                                                    decltype(std::end(std::declval<R&>()))>;

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_RESEND_BUFFER_HPP
