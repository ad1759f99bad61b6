// SPDX-License-Identifier: MIT
//
// chunk_range: the result of `chunk_by`. Each chunk is cut when the loop reaches it.

#ifndef WAYBILL_BATCH_DETAIL_CHUNK_RANGE_HPP
#define WAYBILL_BATCH_DETAIL_CHUNK_RANGE_HPP

#include <cstdint>
#include <iterator>
#include <utility>

#include <waybill/batch/chunk.hpp>
#include <waybill/batch/detail/cut.hpp>
#include <waybill/batch/detail/size_model.hpp>
#include <waybill/core/batch_limits.hpp>
#include <waybill/core/detail/inlining.hpp>

namespace waybill::inline v0_2::detail {

/// All chunks of a sequence. Each chunk is cut when the loop reaches it. Iterators point to the
/// chunk_range and to the items: both must outlive them.
template <std::forward_iterator I, std::sentinel_for<I> S, class F>
class chunk_range {
    static_assert(checked_size<F, std::iter_reference_t<I>>::ok);

public:
    // always_inline: otherwise plain integers in chunks of 8 (`bench/run batch`, "blocks") take 12
    // to 39 % more instructions with g++ 12 and 18 % with clang 14.
    class iterator {
    public:
        using iterator_concept = std::forward_iterator_tag;
        using iterator_category = std::input_iterator_tag;  // operator* returns a value
        using value_type = chunk<I>;
        using difference_type = std::iter_difference_t<I>;
        using pointer = const value_type*;
        using reference = value_type;

        iterator() = default;
        WAYBILL_ALWAYS_INLINE constexpr explicit iterator(const chunk_range& r)
            : range_(&r),
              cut_{r.first_, r.first_},
              next_size_(detail::first_size(r.first_, r.last_, r.size_))
        {
            advance();
        }

        [[nodiscard]] constexpr value_type operator*() const { return cut_; }
        [[nodiscard]] constexpr pointer operator->() const noexcept { return &cut_; }
        WAYBILL_ALWAYS_INLINE constexpr iterator& operator++()
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
        WAYBILL_ALWAYS_INLINE constexpr void advance()
        {
            const chunk_range& r = *range_;
            if (cut_.last == r.last_) {
                cut_ = {cut_.last, cut_.last};
                return;
            }
            std::uint64_t item_bytes = next_size_;
            cut_ = detail::cut(cut_.last, r.last_, r.limits_, r.size_, item_bytes, cut_.count);
            next_size_ = item_bytes;
        }

        const chunk_range* range_ = nullptr;
        chunk<I> cut_;
        std::uint64_t next_size_ = 0;  // the size of the item after the chunk, measured once
    };

    constexpr chunk_range(I first, S last, const batch_limits& l, F size)
        : first_(std::move(first)), last_(std::move(last)), limits_(l), size_(std::move(size))
    {
    }

    [[nodiscard]] constexpr iterator begin() const { return iterator(*this); }
    [[nodiscard]] constexpr std::default_sentinel_t end() const noexcept { return {}; }

private:
    I first_;
    S last_;
    detail::limits_for<F, I> limits_;
    F size_;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_CHUNK_RANGE_HPP
