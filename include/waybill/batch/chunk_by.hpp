// SPDX-License-Identifier: MIT
//
// chunk_by: cut a sequence of messages into the fewest batches that a broker accepts.
//
// A broker refuses a batch that is too large, and how large a batch is shows only once it is
// encoded. Encoding it just to find out is waste, so the bytes are added up instead,
//
//     bytes(batch) = envelope + sum of size(item)
//
// and the caller's size function knows what an item takes with its framing:
//
//     constexpr waybill::limits l{.bytes = 262'144, .items = 4'500, .envelope = 512};
//     for (auto part : waybill::chunk_by(inbox, l, wire_size))
//         part.fits ? send(part) : store_elsewhere(*part.begin());
//
// Whatever the sizes and the limits are, five things hold:
//   1. every item is in exactly one chunk, in the order it came;
//   2. no chunk is empty, so a loop over the chunks ends;
//   3. a chunk that does not fit is one single item, and no cut could have saved it;
//   4. no other way to cut the same sequence in order needs fewer chunks;
//   5. nothing is copied or allocated, and one pass asks for the size of each item once.

#ifndef WAYBILL_BATCH_CHUNK_BY_HPP
#define WAYBILL_BATCH_CHUNK_BY_HPP

#include <cstdint>
#include <iterator>
#include <utility>

#include <waybill/batch/closed_by.hpp>
#include <waybill/batch/sizer.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/wire/limits.hpp>

namespace waybill::inline v0_1 {

/// A run of items that travel together, and the bytes that they take. Itself a range of its items.
template <std::forward_iterator I>
struct chunk {
    I first{};
    I last{};
    std::uint64_t bytes = 0;  ///< With the envelope; the true sum where it does not fit, too.
    std::uint64_t count = 0;  ///< Of items.
    bool fits = true;  ///< False only for a single item that is over a limit by itself.
    closed_by closed = closed_by::end;  ///< Why nothing more went in.

    [[nodiscard]] constexpr I begin() const { return first; }
    [[nodiscard]] constexpr I end() const { return last; }
    [[nodiscard]] constexpr std::uint64_t size() const noexcept { return count; }

    /// Never true for the chunks of a range; for `front_chunk`, of an empty input only.
    [[nodiscard]] constexpr bool empty() const noexcept { return count == 0; }

    friend bool operator==(const chunk&, const chunk&) = default;
};

namespace detail {

// The limits in the form that a walk compares with, worked out once.
struct room {
    constexpr explicit room(const limits& l) noexcept
        : items(l.items == 0 ? 1 : l.items), envelope(l.envelope)
    {
        constexpr std::uint64_t known = highest_size - 1;  // the largest sum that is not saturated
        const std::uint64_t bytes = lesser(l.bytes, known);
        space = saturating_sub(bytes, l.envelope);
        if (l.envelope <= bytes) too_large = lesser(l.single, space) + 1;
    }

    std::uint64_t items;
    std::uint64_t envelope;
    std::uint64_t space = 0;      // bytes for items
    std::uint64_t too_large = 0;  // the smallest size that fits into no batch at all
};

template <class I, class F>
constexpr std::uint64_t size_at(const I& at, const F& size)
{
    return as_size(detail::measured(size, *at));
}

// Cuts a chunk off [first, last), which is not empty. `own` comes as the size of the item in front
// and goes as the size of the item after the chunk, if there is one: so each item is measured once,
// and no branch has to guess whether the next is known already. Small chunks cost what a loop by
// hand costs only if all of this melts into the caller's, more than compilers do untold.
template <class I, class S, class F>
[[gnu::always_inline]] constexpr chunk<I> cut(I first, const S& last, const room& r, const F& size,
                                              std::uint64_t& own)
{
    I at = first;
    ++at;
    if (own >= r.too_large) {
        const std::uint64_t whole = saturating_add(r.envelope, own);
        if (at != last) own = detail::size_at(at, size);
        return {first, at, whole, 1, false, closed_by::bytes};
    }
    // Counting down what is left cannot wrap, where adding up what is taken could.
    std::uint64_t left = r.space - own;
    std::uint64_t taken = 1;
    closed_by why = closed_by::items;
    if constexpr (std::random_access_iterator<I> && std::sized_sentinel_for<S, I>) {
        const auto ahead = static_cast<std::uint64_t>(last - first);
        const I bound = first + static_cast<std::iter_difference_t<I>>(lesser(ahead, r.items));
        if (r.too_large > r.space) {  // what is left of the space is the only limit of an item
            for (; at != bound; ++at) {
                own = detail::size_at(at, size);
                if (own > left) {
                    why = closed_by::bytes;
                    break;
                }
                left -= own;
            }
        } else {
            for (; at != bound; ++at) {
                own = detail::size_at(at, size);
                if (own > left || own >= r.too_large) {
                    why = closed_by::bytes;
                    break;
                }
                left -= own;
            }
        }
        taken = static_cast<std::uint64_t>(at - first);
        if (why == closed_by::items) {
            if (at == last) why = closed_by::end;
            else own = detail::size_at(at, size);
        }
    } else {
        for (;; ++at, ++taken) {
            if (at == last) {
                why = closed_by::end;
                break;
            }
            own = detail::size_at(at, size);
            if (taken == r.items) break;
            if (own > left || own >= r.too_large) {
                why = closed_by::bytes;
                break;
            }
            left -= own;
        }
    }
    return {first, at, r.envelope + (r.space - left), taken, true, why};
}

}  // namespace detail

/// Cuts the longest chunk that fits off the front of [first, last); empty only if the input is.
/// Call it directly, cut by cut, when the broker's answers are to change the limits on the way.
/// Linear in the chunk; asks for the size of its items and of the one after it.
template <std::forward_iterator I, std::sentinel_for<I> S, sizer<std::iter_reference_t<I>> F>
[[nodiscard]] constexpr chunk<I> front_chunk(I first, S last, const limits& l, const F& size)
{
    if (first == last) return {first, first};
    std::uint64_t own = detail::size_at(first, size);
    return detail::cut(first, last, detail::room(l), size, own);
}

/// All chunks of a sequence, each cut when the loop asks for it. The iterators look into the range,
/// which must outlive them, as the items must.
template <std::forward_iterator I, std::sentinel_for<I> S, sizer<std::iter_reference_t<I>> F>
class chunk_range {
public:
    class iterator {
    public:
        using iterator_concept = std::forward_iterator_tag;
        using iterator_category = std::input_iterator_tag;  // what it gives is made on the way
        using value_type = chunk<I>;
        using difference_type = std::iter_difference_t<I>;
        using pointer = const value_type*;
        using reference = value_type;

        iterator() = default;
        [[gnu::always_inline]] constexpr explicit iterator(const chunk_range& r)
            : range_(&r), cut_{r.first_, r.first_}
        {
            if (r.first_ != r.last_) next_ = detail::size_at(r.first_, r.size_);
            advance();
        }

        [[nodiscard]] constexpr value_type operator*() const { return cut_; }
        [[nodiscard]] constexpr pointer operator->() const noexcept { return &cut_; }
        [[gnu::always_inline]] constexpr iterator& operator++()
        {
            advance();
            return *this;
        }
        constexpr iterator operator++(int)
        {
            auto old = *this;
            advance();
            return old;
        }

        friend bool operator==(const iterator&, const iterator&) = default;
        friend constexpr bool operator==(const iterator& i, std::default_sentinel_t)
        {
            return i.cut_.empty();
        }

    private:
        [[gnu::always_inline]] constexpr void advance()
        {
            const chunk_range& r = *range_;
            if (cut_.last == r.last_) {
                cut_ = {cut_.last, cut_.last};
                return;
            }
            std::uint64_t own = next_;
            cut_ = detail::cut(cut_.last, r.last_, r.room_, r.size_, own);
            next_ = own;
        }

        const chunk_range* range_ = nullptr;
        chunk<I> cut_;
        std::uint64_t next_ = 0;  // the size of the item after the chunk, which is asked for once
    };

    constexpr chunk_range(I first, S last, const limits& l, F size)
        : first_(std::move(first)), last_(std::move(last)), room_(l), size_(std::move(size)) {}

    [[nodiscard]] constexpr iterator begin() const { return iterator(*this); }
    [[nodiscard]] constexpr std::default_sentinel_t end() const noexcept { return {}; }

private:
    I first_;
    S last_;
    detail::room room_;
    F size_;
};

/// Cuts [first, last) into chunks within `l`. The chunks point into the input.
template <std::forward_iterator I, std::sentinel_for<I> S, sizer<std::iter_reference_t<I>> F>
[[nodiscard]] constexpr chunk_range<I, S, F> chunk_by(I first, S last, const limits& l, F size)
{
    return {std::move(first), std::move(last), l, std::move(size)};
}

/// The same for a container, which must be an lvalue so that it outlives its chunks.
template <class Items, sizer<decltype(*std::begin(std::declval<Items&>()))> F>
[[nodiscard]] constexpr auto chunk_by(Items& items, const limits& l, F size)
{
    return chunk_by(std::begin(items), std::end(items), l, std::move(size));
}

namespace detail {
struct name_the_container_first {};
}  // namespace detail

/// A temporary container would be gone before its chunks are read.
template <class Items, class F>
detail::name_the_container_first chunk_by(const Items&& temporary, const limits&, F) = delete;

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_BATCH_CHUNK_BY_HPP
