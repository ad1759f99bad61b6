// SPDX-License-Identifier: MIT
//
// sample_iterator: iterates over the samples of a window, from the oldest to the newest.
//
//     for (const auto& s : backlog) std::cout << s.value << '\n';
//
// After a sample is inserted or removed, the iterator is invalid.

#ifndef WAYBILL_WINDOW_DETAIL_SAMPLE_ITERATOR_HPP
#define WAYBILL_WINDOW_DETAIL_SAMPLE_ITERATOR_HPP

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace waybill::inline v0_2::detail {

/// A random access iterator over `Samples::sample_type`. `++` costs O(1), a larger step as much as
/// `window[n]`.
template <class Samples>
class sample_iterator {
public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = typename Samples::sample_type;
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type*;
    using reference = const value_type&;

    sample_iterator() = default;
    sample_iterator(const Samples& s, std::uint64_t n) noexcept
        : samples_(&s), index_(n), late_(s.late_from(n))
    {
    }

    [[nodiscard]] reference operator*() const noexcept { return samples_->sample(index_, late_); }
    [[nodiscard]] pointer operator->() const noexcept { return &**this; }
    [[nodiscard]] reference operator[](difference_type n) const noexcept { return *(*this + n); }

    sample_iterator& operator+=(difference_type n) noexcept
    {
        return *this = {*samples_, index_ + static_cast<std::uint64_t>(n)};
    }
    sample_iterator& operator-=(difference_type n) noexcept
    {
        return *this = {*samples_, index_ - static_cast<std::uint64_t>(n)};
    }
    sample_iterator& operator++() noexcept
    {
        samples_->step(index_, late_);
        ++index_;
        return *this;
    }
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
    const Samples* samples_ = nullptr;
    std::uint64_t index_ = 0;
    typename Samples::late_place late_{};
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_WINDOW_DETAIL_SAMPLE_ITERATOR_HPP
