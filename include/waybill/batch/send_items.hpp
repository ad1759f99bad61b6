// SPDX-License-Identifier: MIT
//
// send_items: every item that is not over, in 16 bytes, by its number.
//
// Part of the sender. An item is held from when it is queued until it and all before it are over.

#ifndef WAYBILL_BATCH_SEND_ITEMS_HPP
#define WAYBILL_BATCH_SEND_ITEMS_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <waybill/batch/calibration.hpp>
#include <waybill/batch/sending.hpp>

namespace waybill::inline v0_2 {

struct send_item {
    enum class state : std::uint8_t {
        waiting,    ///< To be sent.
        outsized,   ///< Too large; the caller is asked for a smaller one in its place.
        away,       ///< In a batch on its way; marked where a draft begins in front of it.
        over,       ///< Accepted, or settled otherwise.
        gone,       ///< Failed for good; `most` holds the fault class.
        undecided,  ///< Failed for good this time, but may have arrived before.
    };
    enum class known : std::uint8_t {
        body,   ///< `bytes` are its body's; the rest is estimated.
        sum,    ///< The rest was told for several items together, and shared out.
        told,   ///< The broker reported its whole size, and may be wrong.
        exact,  ///< Nothing is to be added.
    };

    std::uint64_t bytes = 0;
    std::uint32_t key = 0;           ///< Its slot, where keys count.
    std::uint16_t most = any_number;  ///< Items that a batch may have which begins with this one.
    std::uint8_t tries = 0;          ///< Failures; refusals and throttling are none.
    state kind : 3 = state::waiting;
    known size : 2 = known::body;
    std::uint8_t replaced : 1 = 0;  ///< Once is enough.
    std::uint8_t last : 1 = 0;      ///< The last item of a reported sum.
    std::uint8_t tried : 1 = 0;     ///< Sent although a reported number makes it too large.

    static constexpr std::uint16_t any_number = 0xFFFF;

    friend bool operator==(const send_item&, const send_item&) = default;
};
static_assert(sizeof(send_item) == 16, "an unsettled item takes 16 bytes");

class send_items {
public:
    using state = send_item::state;

    send_items() = default;
    ~send_items() = default;
    /// A copy has the items, and not the room that there once was need of.
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

    /// The number of the first item that is not over; `end()` where all are.
    [[nodiscard]] std::uint64_t begin() const noexcept { return base_; }
    /// The number that the next item gets.
    [[nodiscard]] std::uint64_t end() const noexcept { return base_ + (tail_ - dead_); }
    [[nodiscard]] send_item& operator[](std::uint64_t n) { return items_[dead_ + (n - base_)]; }

    /// Adds one more like this, but for its bytes. Copied whole, as processors like it.
    send_item& push(const send_item& like, std::uint64_t bytes)
    {
        make_room();
        push_expected(like, bytes);
        return items_[tail_ - 1];
    }

    /// How many more are pushed by `push_expected`, at most; not more than there is room for.
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

    /// So that the next `push` does not fail.
    void make_room()
    {
        if (tail_ == room_) grow();
    }

    template <class F>
    void for_each(const std::vector<run>& parts, F&& f)
    {
        for (const run& r : parts) {
            send_item* i = &(*this)[r.first];
            for (send_item* const end = i + r.count; i != end; ++i) f(*i);
        }
    }

    /// All of these are in that state now.
    void mark(const std::vector<run>& parts, state s)
    {
        for_each(parts, [s](send_item& i) { i.kind = s; });
    }

    /// All of these are over. Mostly they are the head of the list, and are forgotten at once.
    void end(const std::vector<run>& parts)
    {
        if (parts.size() != 1 || parts.front().first != base_) return mark(parts, state::over);
        dead_ += static_cast<std::size_t>(parts.front().count);
        base_ += parts.front().count;
    }

    /// What the sizes of a batch, one by one, say of items whose overhead was a guess.
    [[nodiscard]] item_samples samples(const std::vector<run>& parts,
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

    /// A batch was too large. Its first item keeps how many a batch that begins with it may have:
    /// fewer than these, so a batch that comes back is smaller whatever has been learnt. `sizes`
    /// tells the items whole, one by one, or is empty; `actual` tells the batch.
    void shrink(const std::vector<run>& parts, const batch_sizes& b, const calibration& known,
                std::span<const std::uint64_t> sizes, std::optional<std::uint64_t> actual)
    {
        send_item& head = (*this)[parts.front().first];
        std::uint64_t most = lesser(b.items - 1, send_item::any_number - 1U);
        if (head.most != send_item::any_number) {
            most = actual ? lesser(most, b.items - b.items / 8) : b.items / 2;
        }
        head.most = static_cast<std::uint16_t>(most);
        if (sizes.empty() && !actual) return;
        double share = 0;
        if (sizes.empty() && b.guessed + b.told != 0) {
            share = static_cast<double>(*actual) - static_cast<double>(known.predict(b));
            share /= static_cast<double>(b.guessed + b.told);
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

    /// Some items of a reported sum turned out `less` bytes below their share, or above it if it is
    /// negative. Adds the difference to the other items, which wait from `n` on. Returns how
    /// many those are. Returns 0, without a change, if their mean would then not be within a factor
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

    /// Forgets what is over at the head; moves the rest down once half of the buffer is dead.
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

    /// What is over at the head is no part of the value, nor whether what is on its way is marked.
    friend bool operator==(const send_items& a, const send_items& b)
    {
        if (a.base_ != b.base_ || a.end() != b.end()) return false;
        for (std::size_t i = a.dead_, j = b.dead_; i != a.tail_; ++i, ++j) {
            if (!(unmarked(a.items_[i]) == unmarked(b.items_[j]))) return false;
        }
        return true;
    }

private:
    /// The reported size of an item, at least a 64th of its body: no encoder makes less.
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

    std::vector<send_item> items_;  // number base_ is at items_[dead_]; all there is room for
    std::size_t dead_ = 0;
    std::size_t tail_ = 0;          // where the next one goes
    std::size_t room_ = 0;          // items_.size(), at hand
    std::size_t expected_ = 0;      // where tail_ may be without another look
    std::uint64_t base_ = 0;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_SEND_ITEMS_HPP
