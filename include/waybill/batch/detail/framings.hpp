// SPDX-License-Identifier: MIT
//
// framings: the framings that `framing.hpp` makes of a size function and of a reserve.

#ifndef WAYBILL_BATCH_DETAIL_FRAMINGS_HPP
#define WAYBILL_BATCH_DETAIL_FRAMINGS_HPP

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <waybill/batch/detail/sizer.hpp>
#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::detail {

/// A size function as a framing, with the same size in every place.
template <class F>
struct plain_framing {
    struct state {
        friend bool operator==(const state&, const state&) = default;
    };

    template <class Item>
    [[nodiscard]] constexpr std::uint64_t envelope(const Item&) const noexcept
    {
        return 0;
    }
    template <class Item>
        requires sizer<F, const Item&>
    [[nodiscard]] constexpr std::uint64_t delta(const state&, const Item& item) const
    {
        return as_size(measured(size, item));
    }
    template <class Item>
    constexpr void push(state&, const Item&) const noexcept
    {
    }

    friend bool operator==(const plain_framing&, const plain_framing&)
        requires std::equality_comparable<F>
    = default;

    F size;
};

// The result of the conversion `of` for `item`: a callable, or a pointer to a member.
template <class F, class Item>
    requires requires(const F& of, const Item& item) { of(item); }
constexpr decltype(auto) projected(const F& of, const Item& item)
{
    return of(item);
}

template <class Owner, class Member, std::derived_from<Owner> Item>
constexpr decltype(auto) projected(Member Owner::* const& of, const Item& item)
{
    if constexpr (std::is_function_v<Member>) return (item.*of)();
    else return (item.*of);
}

/// A framing that adds bytes to each batch and to each item. Saturates.
template <class F>
struct reserving {
    using state = typename F::state;

    template <class Item>
    [[nodiscard]] constexpr std::uint64_t envelope(const Item& item) const
        requires requires(const F& f, const Item& i) { f.envelope(i); }
    {
        return saturating_add(bytes_per_batch, as_size(inner.envelope(item)));
    }
    template <class Item>
    [[nodiscard]] constexpr std::uint64_t delta(const state& s, const Item& item) const
        requires requires(const F& f, const state& a, const Item& i) { f.delta(a, i); }
    {
        return saturating_add(bytes_per_item, as_size(inner.delta(s, item)));
    }
    template <class Item>
    constexpr void push(state& s, const Item& item) const
        requires requires(const F& f, state& a, const Item& i) { f.push(a, i); }
    {
        inner.push(s, item);
    }

    F inner;
    std::uint64_t bytes_per_batch = 0;
    std::uint64_t bytes_per_item = 0;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_FRAMINGS_HPP
