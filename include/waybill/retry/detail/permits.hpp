// SPDX-License-Identifier: MIT
//
// permits: the permits that a circuit breaker has issued and that are not yet returned.
//
//     waybill::detail::permits<256> out;
//     if (!out.full()) { const auto p = out.give(generation, deadline); ... }
//     out.take_back(p);                    // false if p is not out: already returned, or void
//
// Guarantees
//   1. Each permit has a number that no other permit ever has. A second return of a permit is not
//      mistaken for the return of the permit that now has its place.
//   2. Deadlines never decrease, because `give` requires it. So the permit with the earliest
//      deadline is the first of the list.
//
// Cost: constant time for each operation, fixed size.
// A value without locks: one thread at a time.

#ifndef WAYBILL_RETRY_DETAIL_PERMITS_HPP
#define WAYBILL_RETRY_DETAIL_PERMITS_HPP

#include <array>
#include <cstddef>
#include <cstdint>

#include <waybill/core/time.hpp>
#include <waybill/retry/circuit_breaker_options.hpp>

namespace waybill::inline v0_2::detail {

/// A list of at most `Most` permits, `Most` in [1, 1'000'000].
template <std::size_t Most>
class permits {
    static_assert(Most >= 1 && Most <= 1'000'000,
                  "permits: Most must be in [1, 1000000]");

public:
    constexpr permits() noexcept { clear(); }

    /// Issues a permit. Requires: !full(), and a deadline not before that of the previous permit.
    constexpr circuit_breaker_types::permit give(std::uint64_t generation,
                                                 steady_time deadline) noexcept
    {
        std::uint32_t place = free_;
        if (place != ends) free_ = all_[place].after;
        else place = used_++;
        const std::uint64_t number = ++last_number_;
        const std::uint32_t newest = all_[ends].before;
        all_[place] = {number, deadline, newest, ends};
        all_[newest].after = place;
        all_[ends].before = place;
        ++size_;
        return {generation, number, deadline, place};
    }

    /// Removes a permit. False, without a change, if the permit is not out.
    constexpr bool take_back(const circuit_breaker_types::permit& p) noexcept
    {
        if (!has(p)) return false;
        drop(static_cast<std::uint32_t>(p.place));
        return true;
    }

    /// True if the permit is out.
    [[nodiscard]] constexpr bool has(const circuit_breaker_types::permit& p) const noexcept
    {
        return p.place < used_ && all_[p.place].number == p.number && p.number != 0;
    }

    /// Makes all permits that are out void.
    constexpr void clear() noexcept
    {
        all_[ends] = {0, steady_time::highest(), ends, ends};
        free_ = ends;
        used_ = size_ = 0;
    }

    /// The earliest deadline, or `steady_time::highest()` if no permit is out.
    [[nodiscard]] constexpr steady_time next_deadline() const noexcept
    {
        return all_[all_[ends].after].deadline;
    }

    /// Removes the permit with the earliest deadline. Requires: size() != 0.
    constexpr void drop_oldest() noexcept { drop(all_[ends].after); }

    [[nodiscard]] constexpr std::uint64_t size() const noexcept { return size_; }
    [[nodiscard]] constexpr bool full() const noexcept { return size_ == Most; }

    friend bool operator==(const permits&, const permits&) = default;

private:
    static constexpr std::uint32_t ends = Most;  // the end entry of the circular list of permits

    struct entry {
        std::uint64_t number = 0;  // 0 if the entry is free
        steady_time deadline{};
        std::uint32_t before = 0;
        std::uint32_t after = 0;  // if the entry is free, the next free entry
        friend bool operator==(const entry&, const entry&) = default;
    };

    constexpr void drop(std::uint32_t place) noexcept
    {
        const std::uint32_t before = all_[place].before;
        const std::uint32_t after = all_[place].after;
        all_[before].after = after;
        all_[after].before = before;
        all_[place].number = 0;
        all_[place].after = free_;
        free_ = place;
        --size_;
    }

    std::array<entry, Most + 1> all_{};
    std::uint64_t last_number_ = 0;
    std::uint32_t free_ = ends;
    std::uint32_t used_ = 0;  // entries used since the last clear()
    std::uint32_t size_ = 0;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_RETRY_DETAIL_PERMITS_HPP
