// SPDX-License-Identifier: MIT
//
// sample_iterator: iterates over the samples of a window, from the oldest to the newest.
//
//     for (const auto& s : backlog) std::cout << s.value << '\n';
//
// It contains a pointer to the window and an index. After samples are inserted or removed it stays
// valid, but may refer to another sample.

#ifndef WAYBILL_WINDOW_DETAIL_SAMPLE_ITERATOR_HPP
#define WAYBILL_WINDOW_DETAIL_SAMPLE_ITERATOR_HPP

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace waybill::inline v0_2::detail {

/// A random access iterator over `W::sample_type`. Dereferences to `window[n]`.
template <class W>
class sample_iterator {
public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = typename W::sample_type;
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type*;
    using reference = const value_type&;

    sample_iterator() = default;
    sample_iterator(const W& w, std::uint64_t n) noexcept : window_(&w), index_(n) {}

    [[nodiscard]] reference operator*() const noexcept { return (*window_)[index_]; }
    [[nodiscard]] pointer operator->() const noexcept { return &**this; }
    [[nodiscard]] reference operator[](difference_type n) const noexcept { return *(*this + n); }

    sample_iterator& operator+=(difference_type n) noexcept
    {
        index_ += static_cast<std::uint64_t>(n);
        return *this;
    }
    sample_iterator& operator-=(difference_type n) noexcept
    {
        index_ -= static_cast<std::uint64_t>(n);
        return *this;
    }
    sample_iterator& operator++() noexcept { return *this += 1; }
    sample_iterator& operator--() noexcept { return *this -= 1; }
    sample_iterator operator++(int) noexcept
    {
        const sample_iterator old = *this;
        ++*this;
        return old;
    }
    sample_iterator operator--(int) noexcept
    {
        const sample_iterator old = *this;
        --*this;
        return old;
    }

    [[nodiscard]] friend sample_iterator operator+(sample_iterator i, difference_type n) noexcept
    {
        return i += n;
    }
    [[nodiscard]] friend sample_iterator operator+(difference_type n, sample_iterator i) noexcept
    {
        return i += n;
    }
    [[nodiscard]] friend sample_iterator operator-(sample_iterator i, difference_type n) noexcept
    {
        return i -= n;
    }
    [[nodiscard]] friend difference_type operator-(const sample_iterator& a,
                                                   const sample_iterator& b) noexcept
    {
        return static_cast<difference_type>(a.index_ - b.index_);
    }

    // Comparisons require iterators of the same window.
    [[nodiscard]] friend bool operator==(const sample_iterator& a,
                                         const sample_iterator& b) noexcept
    {
        return a.index_ == b.index_;
    }
    [[nodiscard]] friend std::strong_ordering operator<=>(const sample_iterator& a,
                                                          const sample_iterator& b) noexcept
    {
        return a.index_ <=> b.index_;
    }

private:
    const W* window_ = nullptr;
    std::uint64_t index_ = 0;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_WINDOW_DETAIL_SAMPLE_ITERATOR_HPP
