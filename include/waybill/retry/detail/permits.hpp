// SPDX-License-Identifier: MIT
//
// permits: the permits that a circuit breaker has issued and that are not yet returned.
//
//     waybill::detail::permits<256> issued;
//     if (!issued.full()) { const auto p = issued.issue(generation, deadline); ... }
//     issued.take_back(p);                 // false if p was already returned, or is void
//
// Guarantees
//   1. Each permit has a number that no other permit ever has. A second return of a permit is not
//      mistaken for the return of the permit that now has its place.
//   2. Deadlines never decrease, because `issue` requires it. So the permit with the earliest
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

/// A list of at most `MaxPermits` permits, `MaxPermits` in [1, 1'000'000].
template <std::size_t MaxPermits>
class permits {
    static_assert(MaxPermits >= 1 && MaxPermits <= 1'000'000,
                  "permits: MaxPermits must be in [1, 1000000]");

public:
    constexpr permits() noexcept { clear(); }

    /// Issues a permit. Requires: !full(), and a deadline not before that of the previous permit.
    constexpr circuit_breaker_types::permit issue(std::uint64_t generation,
                                                  steady_time deadline) noexcept
    {
        std::uint32_t place = first_free_;
        if (place != list_end) first_free_ = entries_[place].next;
        else place = used_count_++;
        const std::uint64_t number = ++last_number_;
        const std::uint32_t newest = entries_[list_end].previous;
        entries_[place] = {number, deadline, newest, list_end};
        entries_[newest].next = place;
        entries_[list_end].previous = place;
        ++issued_count_;
        return {generation, number, deadline, place};
    }

    /// Removes a permit. False, without a change, if it was already returned or is void.
    constexpr bool take_back(const circuit_breaker_types::permit& p) noexcept
    {
        if (!has(p)) return false;
        drop(static_cast<std::uint32_t>(p.place));
        return true;
    }

    /// True if the permit was issued and is neither returned nor void.
    [[nodiscard]] constexpr bool has(const circuit_breaker_types::permit& p) const noexcept
    {
        return p.place < used_count_ && entries_[p.place].number == p.number && p.number != 0;
    }

    /// Makes all issued permits void.
    constexpr void clear() noexcept
    {
        entries_[list_end] = {
            .deadline = steady_time::highest(), .previous = list_end, .next = list_end};
        first_free_ = list_end;
        used_count_ = issued_count_ = 0;
    }

    /// The earliest deadline, or `steady_time::highest()` if there is no permit.
    [[nodiscard]] constexpr steady_time next_deadline() const noexcept
    {
        return entries_[entries_[list_end].next].deadline;
    }

    /// Removes the permit with the earliest deadline. Requires: size() != 0.
    constexpr void drop_oldest() noexcept { drop(entries_[list_end].next); }

    [[nodiscard]] constexpr std::uint64_t size() const noexcept { return issued_count_; }
    [[nodiscard]] constexpr bool full() const noexcept { return issued_count_ == MaxPermits; }

    friend bool operator==(const permits&, const permits&) = default;

private:
    /// Index of the entry that marks the end of the circular list; it is no permit.
    static constexpr std::uint32_t list_end = MaxPermits;

    struct entry {
        std::uint64_t number = 0;  // 0 if the entry is free
        steady_time deadline{};
        std::uint32_t previous = 0;
        std::uint32_t next = 0;  // of a free entry: the next free one
        friend bool operator==(const entry&, const entry&) = default;
    };

    constexpr void drop(std::uint32_t place) noexcept
    {
        const std::uint32_t previous = entries_[place].previous;
        const std::uint32_t next = entries_[place].next;
        entries_[previous].next = next;
        entries_[next].previous = previous;
        entries_[place].number = 0;
        entries_[place].next = first_free_;
        first_free_ = place;
        --issued_count_;
    }

    std::array<entry, MaxPermits + 1> entries_{};
    std::uint64_t last_number_ = 0;
    std::uint32_t first_free_ = list_end;
    std::uint32_t used_count_ = 0;    // entries used since the last clear()
    std::uint32_t issued_count_ = 0;  // permits in the list
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_RETRY_DETAIL_PERMITS_HPP
