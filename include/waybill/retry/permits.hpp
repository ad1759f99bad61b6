// SPDX-License-Identifier: MIT
//
// permits: which calls were let through and are not back yet.
//
//     waybill::permits<256> out;
//     if (!out.full()) { const auto p = out.give(generation, deadline); ... }
//     out.take_back(p);                    // false for one that is not out: back already, or void
//
// Each has a number that no other ever has, so one that comes back twice is told from another that
// has its place now. Deadlines are given in rising order, which keeps the one that is due next at
// the front. Every step is constant time, and the size is fixed.
// A value without locks: one thread at a time.

#ifndef WAYBILL_RETRY_PERMITS_HPP
#define WAYBILL_RETRY_PERMITS_HPP

#include <array>
#include <cstddef>
#include <cstdint>

#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// That one call may be made. It is reported once, before its deadline. All of it is equally wide,
/// so that a copy is quick.
struct permit {
    std::uint64_t generation = 0;  ///< Of the valve that gave it; it is void in every other.
    std::uint64_t number = 0;      ///< Its own; 0 is nobody's.
    steady_time deadline{};        ///< Not reported by then, it counts as failed.
    std::uint64_t place = 0;       ///< Where the valve looks for it.

    friend bool operator==(const permit&, const permit&) = default;
};

template <std::size_t Most>
class permits {
    static_assert(Most >= 1 && Most <= 1'000'000,
                  "a valve has at least one permit, and at most a million");

public:
    constexpr permits() noexcept { clear(); }

    /// Requires: !full(), and no deadline before the last one.
    constexpr permit give(std::uint64_t generation, steady_time deadline) noexcept
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

    /// False, and nothing changes, for one that is not out.
    constexpr bool take_back(const permit& p) noexcept
    {
        if (!has(p)) return false;
        drop(static_cast<std::uint32_t>(p.place));
        return true;
    }

    [[nodiscard]] constexpr bool has(const permit& p) const noexcept
    {
        return p.place < used_ && all_[p.place].number == p.number && p.number != 0;
    }

    /// All that are out are void.
    constexpr void clear() noexcept
    {
        all_[ends] = {0, steady_time::highest(), ends, ends};
        free_ = ends;
        used_ = size_ = 0;
    }

    /// The deadline that comes next; the end of time where none is out.
    [[nodiscard]] constexpr steady_time next_deadline() const noexcept
    {
        return all_[all_[ends].after].deadline;
    }

    /// Requires: size() != 0.
    constexpr void drop_oldest() noexcept { drop(all_[ends].after); }

    [[nodiscard]] constexpr std::uint64_t size() const noexcept { return size_; }
    [[nodiscard]] constexpr bool full() const noexcept { return size_ == Most; }

    friend bool operator==(const permits&, const permits&) = default;

private:
    static constexpr std::uint32_t ends = Most;  // the ring of those that are out is closed there

    struct entry {
        std::uint64_t number = 0;  // 0 for a free place
        steady_time deadline{};
        std::uint32_t before = 0;
        std::uint32_t after = 0;  // for a free place the next free one
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
    std::uint32_t used_ = 0;  // places that were given since all were void
    std::uint32_t size_ = 0;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_PERMITS_HPP
