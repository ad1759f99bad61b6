// SPDX-License-Identifier: MIT
//
// outbox: an input that can be read only once, and what has been read of it but is not settled.
//
// A forward range can be walked again; lines from a pipe cannot. An outbox keeps what was pulled
// until its outcome is known, so that a refused batch can be cut anew and a sender that has to wait
// can be called again later:
//
//     auto lines = ranges::getlines(std::cin);
//     waybill::outbox box(lines);
//     auto report = waybill::send_all(box, size, sender, clock, transmit);
//     while (report.waiting) { sleep_until(*report.waiting); report += waybill::send_all(box, ...); }
//
// It holds as much as one batch per attempt in flight and one item more.
// A value without locks: one thread at a time.

#ifndef WAYBILL_BATCH_OUTBOX_HPP
#define WAYBILL_BATCH_OUTBOX_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace waybill::inline v0_2 {

template <std::input_iterator I, std::sentinel_for<I> S>
class outbox {
public:
    using value_type = std::iter_value_t<I>;

    outbox(I first, S last) : at_(std::move(first)), last_(std::move(last)) {}

    /// Over a range that outlives the outbox; its begin() is called once, here.
    template <class R>
        requires(!std::same_as<std::remove_cv_t<R>, outbox>)
    explicit outbox(R& range) : outbox(std::begin(range), std::end(range))
    {
    }

    /// Reads one more item and keeps it; null at the end. The input is read no further than that.
    [[nodiscard]] const value_type* pull()
    {
        const value_type* item = peek();
        if (item) take();
        return item;
    }

    /// The same in two steps: the item counts as pulled only once it is taken. Until then it is the
    /// one that the next peek answers with, so nothing is lost to a failure in between.
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
    void take() noexcept { peeked_ = false; }

    /// The kept item of number `n`, counted from the first that was ever pulled.
    [[nodiscard]] const value_type* at(std::uint64_t n) const
    {
        return held_.data() + dead_ + (n - first_);
    }
    [[nodiscard]] value_type* at(std::uint64_t n) { return held_.data() + dead_ + (n - first_); }

    /// How many have been pulled.
    [[nodiscard]] std::uint64_t pulled() const noexcept { return first_ + size(); }

    /// How many of those are kept.
    [[nodiscard]] std::size_t size() const noexcept
    {
        return held_.size() - dead_ - (peeked_ ? 1U : 0U);
    }

    /// The number of the first that is kept.
    [[nodiscard]] std::uint64_t first() const noexcept { return first_; }

    /// Forgets the items below number `n`.
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
    bool read_ = false;    // *at_ is kept, and ++ has yet to come
    bool peeked_ = false;  // the last that is kept does not count yet
    std::vector<value_type> held_;
    std::size_t dead_ = 0;
    std::uint64_t first_ = 0;  // the number of held_[dead_]
};

template <class R>
outbox(R&)
    -> outbox<decltype(std::begin(std::declval<R&>())), decltype(std::end(std::declval<R&>()))>;

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_OUTBOX_HPP
