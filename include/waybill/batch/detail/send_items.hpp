// SPDX-License-Identifier: MIT
//
// send_items: all open items by number, in 16 bytes each.
//
// Part of the sender. An item is stored until it and all items before it have ended.

#ifndef WAYBILL_BATCH_DETAIL_SEND_ITEMS_HPP
#define WAYBILL_BATCH_DETAIL_SEND_ITEMS_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <waybill/batch/detail/calibrator.hpp>
#include <waybill/batch/sending.hpp>

namespace waybill::inline v0_2::detail {

struct send_item {
    enum class state : std::uint8_t {
        waiting,    ///< To be sent.
        oversized,  ///< Too large; the caller is to replace it.
        away,       ///< In a batch in flight; set only if a draft begins before the item.
        over,       ///< Ended: accepted or settled otherwise.
        gone,       ///< Failed permanently; `max_items` contains the fault kind.
        in_doubt,   ///< Failed, but an earlier send of the same batch may have arrived.
    };
    enum class known : std::uint8_t {
        body,   ///< `bytes` is the body; the overhead is estimated.
        sum,    ///< `bytes` is a share of a size that was reported for several items.
        told,   ///< `bytes` is the whole size as the broker reported it. It may be wrong.
        exact,  ///< `bytes` is the whole size.
    };

    std::uint64_t bytes = 0;               ///< Size in bytes; `size` defines its meaning.
    std::uint32_t key = 0;                 ///< Key slot, if keys are used.
    std::uint16_t max_items = any_number;  ///< Maximum items in a batch that begins with this one.
    std::uint8_t tries = 0;                ///< Failures, without refusals and throttling.
    state kind : 3 = state::waiting;
    known size : 2 = known::body;
    std::uint8_t replaced : 1 = 0;  ///< 1: `replace` has been requested once.
    std::uint8_t last : 1 = 0;      ///< 1: the last item of a reported sum.
    std::uint8_t tried : 1 = 0;     ///< 1: sent although it exceeds a reported limit.

    static constexpr std::uint16_t any_number = 0xFFFF;

    friend bool operator==(const send_item&, const send_item&) = default;
};
static_assert(sizeof(send_item) == 16, "an unsettled item takes 16 bytes");

class send_items {
public:
    using state = send_item::state;

    send_items() = default;
    ~send_items() = default;
    /// A copy contains the items, without unused memory.
    send_items(const send_items& o)
        : items_(o.items_.data() + o.dead_, o.items_.data() + o.tail_),
          tail_(items_.size()),
          room_(items_.size()),
          base_(o.base_)
    {
    }
    send_items(send_items&& o) noexcept { swap(o); }
    send_items& operator=(send_items o) noexcept
    {
        swap(o);
        return *this;
    }

    /// The number of the first item that has not ended; `end()` if all have.
    [[nodiscard]] std::uint64_t begin() const noexcept { return base_; }
    /// The number of the next item to be queued.
    [[nodiscard]] std::uint64_t end() const noexcept { return base_ + (tail_ - dead_); }
    [[nodiscard]] send_item& operator[](std::uint64_t n) { return items_[dead_ + (n - base_)]; }

    /// Adds an item like `like`, with `bytes` bytes. One 16-byte copy is faster than two 8-byte
    /// copies.
    send_item& push(const send_item& like, std::uint64_t bytes)
    {
        make_room();
        push_expected(like, bytes);
        return items_[tail_ - 1];
    }

    /// Announces up to `more` calls of `push_expected`, limited to the allocated memory.
    void expect(std::uint64_t more) noexcept
    {
        expected_ = tail_ + lesser(more, room_ - tail_);
    }
    [[nodiscard]] bool expects() const noexcept { return tail_ < expected_; }
    void push_expected(const send_item& like, std::uint64_t bytes)
    {
        send_item& added = items_[tail_++];
        added = like;
        added.bytes = bytes;
    }

    /// Allocates, so that the next `push` cannot fail.
    void make_room()
    {
        if (tail_ == room_) grow();
    }

    template <class F>
    void for_each(const std::vector<item_range>& parts, F&& f)
    {
        for (const item_range& r : parts) {
            send_item* i = &(*this)[r.first];
            for (send_item* const end = i + r.count; i != end; ++i) f(*i);
        }
    }

    /// Sets the state of all items in `parts`.
    void mark(const std::vector<item_range>& parts, state s)
    {
        for_each(parts, [s](send_item& i) { i.kind = s; });
    }

    /// Ends all items in `parts`. Usually they are the head of the list and are removed at once.
    void end(const std::vector<item_range>& parts)
    {
        if (parts.size() != 1 || parts.front().first != base_) return mark(parts, state::over);
        dead_ += static_cast<std::size_t>(parts.front().count);
        base_ += parts.front().count;
    }

    /// Samples of the items whose overhead was estimated. `sizes` contains the reported size of
    /// each item of the batch, in batch order, or is empty.
    [[nodiscard]] item_samples samples(const std::vector<item_range>& parts,
                                       std::span<const std::uint64_t> sizes)
    {
        item_samples seen;
        if (sizes.empty()) return seen;
        const std::uint64_t* whole = sizes.data();
        for_each(parts, [&](const send_item& i) {
            if (i.size == send_item::known::body) seen.add(i.bytes, plausible(i.bytes, *whole));
            ++whole;
        });
        return seen;
    }

    /// Learns from a refused batch. Its first item stores a maximum for the items of a batch that
    /// begins with it: fewer than now, so the next batch is smaller, whatever was learnt. `sizes`
    /// contains the whole size of each item, or is empty. `actual` is the size of the batch, if
    /// known.
    void shrink(const std::vector<item_range>& parts, const batch_sizes& b, const calibrator& known,
                std::span<const std::uint64_t> sizes, std::optional<std::uint64_t> actual)
    {
        send_item& head = (*this)[parts.front().first];
        std::uint64_t most = lesser(b.items - 1, send_item::any_number - 1U);
        if (head.max_items != send_item::any_number) {
            most = actual ? lesser(most, b.items - b.items / 8) : b.items / 2;
        }
        head.max_items = static_cast<std::uint16_t>(most);
        if (sizes.empty() && !actual) return;
        double share = 0;
        if (sizes.empty() && b.guessed + b.reported != 0) {
            share = static_cast<double>(*actual) - static_cast<double>(known.predict(b));
            share /= static_cast<double>(b.guessed + b.reported);
        }
        const std::uint64_t* told = sizes.data();
        double rest = 0;
        for_each(parts, [&](send_item& i) {
            i.last = 0;
            if (!sizes.empty()) {
                i.bytes = plausible(i.bytes, *told++);
                i.size = send_item::known::told;
            } else if (i.size < send_item::known::told) {
                const bool guessed = i.size == send_item::known::body;
                const double body = static_cast<double>(i.bytes);
                give(i, body + share + (guessed ? known.items().mean(body, 1) : 0), rest);
                i.size = send_item::known::sum;
            }
        });
        (*this)[parts.back().end() - 1].last = 1;
    }

    /// Items of a reported sum took `less` bytes less than their share; more if it is negative.
    /// Adds the difference to the other items of that sum, which wait from `n` on, and returns
    /// their number. Returns 0, without a change, if their mean would then not be within a factor
    /// of 8 of `mean`.
    std::uint64_t share(std::uint64_t n, double less, double mean)
    {
        if (n == base_ || (n - 1 >= base_ && (*this)[n - 1].last != 0)) return 0;
        std::uint64_t end = n;
        double sum = less;
        for (bool last = false; !last && end != this->end(); ++end) {
            const send_item& i = (*this)[end];
            if (i.size != send_item::known::sum || i.kind != state::waiting) break;
            sum += static_cast<double>(i.bytes);
            last = i.last != 0;
        }
        const double others = static_cast<double>(end - n);
        if (!(sum > others * mean / 8) || !(sum < others * mean * 8)) return 0;
        double rest = 0;
        for (std::uint64_t k = n; k != end; ++k) {
            send_item& i = (*this)[k];
            give(i, static_cast<double>(i.bytes) + less / others, rest);
        }
        return end - n;
    }

    /// Removes ended items at the head. Moves the rest down if more than half of the buffer is
    /// unused.
    void trim()
    {
        while (dead_ != tail_ && items_[dead_].kind == state::over) {
            ++dead_;
            ++base_;
        }
        if (dead_ <= tail_ / 2) return;
        expected_ = expected_ < dead_ ? 0 : expected_ - dead_;
        tail_ -= dead_;
        for (std::size_t i = 0; i != tail_; ++i) items_[i] = items_[dead_ + i];
        dead_ = 0;
    }

    /// Ended items at the head and the mark `away` are not part of the value.
    friend bool operator==(const send_items& a, const send_items& b)
    {
        if (a.base_ != b.base_ || a.end() != b.end()) return false;
        for (std::size_t i = a.dead_, j = b.dead_; i != a.tail_; ++i, ++j) {
            if (!(unmarked(a.items_[i]) == unmarked(b.items_[j]))) return false;
        }
        return true;
    }

private:
    /// The reported size of an item, but at least a 64th of its body: no encoder compresses more.
    [[nodiscard]] static std::uint64_t plausible(std::uint64_t body, std::uint64_t told) noexcept
    {
        return greater(told, body / 64 + (body % 64 != 0 ? 1 : 0));
    }

    /// Sets an item's size to `bytes` plus `rest`, rounded down, and keeps the fraction in `rest`.
    /// So the sizes add up to the reported sum.
    static void give(send_item& i, double bytes, double& rest) noexcept
    {
        rest += bytes;
        if (!(rest < 1.8e19)) i.bytes = highest_size;
        else i.bytes = rest > 0 ? static_cast<std::uint64_t>(rest) : 0;
        rest -= static_cast<double>(i.bytes);
    }

    void swap(send_items& o) noexcept
    {
        items_.swap(o.items_);
        std::swap(dead_, o.dead_);
        std::swap(tail_, o.tail_);
        std::swap(room_, o.room_);
        std::swap(expected_, o.expected_);
        std::swap(base_, o.base_);
    }

    [[nodiscard]] static send_item unmarked(send_item i) noexcept
    {
        if (i.kind == state::away) i.kind = state::waiting;
        return i;
    }

    [[gnu::noinline]] void grow()
    {
        items_.resize(tail_ < 32 ? 64 : 2 * tail_);
        room_ = items_.size();
    }

    std::vector<send_item> items_;  // number base_ is at items_[dead_]; its size is the room
    std::size_t dead_ = 0;          // ended items at the head of items_
    std::size_t tail_ = 0;          // position of the next item
    std::size_t room_ = 0;          // items_.size()
    std::size_t expected_ = 0;      // push_expected() may be called while tail_ is below this
    std::uint64_t base_ = 0;        // number of the first item
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_SEND_ITEMS_HPP
