// SPDX-License-Identifier: MIT
//
// bounded_list: an array of at most N values in insertion order, stored in place.
//
// Used by `state`, which is stored in one small row and copied for each decision. So the list is
// bounded and does not allocate.

#ifndef WAYBILL_SCALING_BOUNDED_LIST_HPP
#define WAYBILL_SCALING_BOUNDED_LIST_HPP

#include <cstddef>

namespace waybill::inline v0_2::scaling {

template <class T, std::size_t N>
class bounded_list {
public:
    static constexpr std::size_t most = N;

    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
    [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] constexpr bool is_full() const noexcept { return size_ == N; }
    [[nodiscard]] constexpr const T* begin() const noexcept { return items_; }
    [[nodiscard]] constexpr const T* end() const noexcept { return items_ + size_; }
    [[nodiscard]] constexpr T& operator[](std::size_t n) noexcept { return items_[n]; }
    [[nodiscard]] constexpr const T& operator[](std::size_t n) const noexcept { return items_[n]; }
    [[nodiscard]] constexpr const T& back() const noexcept { return items_[size_ - 1]; }

    /// Appends t. Returns false if the list is full.
    constexpr bool push(const T& t) noexcept
    {
        if (is_full()) return false;
        items_[size_++] = t;
        return true;
    }
    /// Removes the last item. Requires: !empty().
    constexpr void pop() noexcept { --size_; }
    /// Removes item n, from 0. Requires: n < size(). Linear.
    constexpr void erase(std::size_t n) noexcept
    {
        for (--size_; n != size_; ++n) items_[n] = items_[n + 1];
    }

    friend constexpr bool operator==(const bounded_list& a, const bounded_list& b) noexcept
    {
        if (a.size_ != b.size_) return false;
        for (std::size_t n = 0; n != a.size_; ++n) {
            if (!(a.items_[n] == b.items_[n])) return false;
        }
        return true;
    }

private:
    T items_[N]{};
    std::size_t size_ = 0;
};

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_BOUNDED_LIST_HPP
