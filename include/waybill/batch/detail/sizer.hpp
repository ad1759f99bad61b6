// SPDX-License-Identifier: MIT
//
// sizer: a callable that returns the bytes of an item on the wire.
//
// The size of an item depends on the caller's encoder. So the caller passes a function, a lambda, a
// functor or a pointer to a member. It may return any integer. A negative size counts as too large:
// if a size function reports an error as -1, its item does not count as a small one.
//
//     waybill::chunk_by(inbox, limits, wire_size);
//     waybill::chunk_by(inbox, limits, [](const message& m) { return 40 + m.body.size(); });
//     waybill::chunk_by(lines, limits, &std::string::size);

#ifndef WAYBILL_BATCH_DETAIL_SIZER_HPP
#define WAYBILL_BATCH_DETAIL_SIZER_HPP

#include <concepts>
#include <type_traits>

#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::detail {

template <class F, class Item>
    requires requires(const F& size, Item&& item) { size(static_cast<Item&&>(item)); }
constexpr auto measured(const F& size, Item&& item)
{
    return size(static_cast<Item&&>(item));
}

// A data member, `&message::bytes`, or a member function, `&std::string::size`.
template <class Owner, class Member, class Item>
    requires std::derived_from<std::remove_cvref_t<Item>, Owner>
constexpr auto measured(Member Owner::* const& size, const Item& item)
{
    if constexpr (std::is_function_v<Member>) return (item.*size)();
    else return item.*size;
}

/// A const callable, or a pointer to a member, that returns the bytes of an item. The size of an
/// item must not change while its batch is open.
template <class F, class Item>
concept sizer = requires(const F& size, Item&& item) {
    { detail::measured(size, static_cast<Item&&>(item)) } -> countable;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_SIZER_HPP
