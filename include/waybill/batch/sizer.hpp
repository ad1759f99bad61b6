// SPDX-License-Identifier: MIT
//
// sizer: what tells how many bytes an item takes on the wire.
//
// Only the caller knows his encoder, so a size is a callable of his: a function, a lambda, a
// functor or a pointer to a member. It may return any integer. A negative one reads as "too large",
// so that an item whose size function reports an error by -1 cannot slip through as a small one:
//
//     waybill::chunk_by(inbox, limits, wire_size);
//     waybill::chunk_by(inbox, limits, [](const letter& l) { return 40 + l.body.size(); });
//     waybill::chunk_by(lines, limits, &std::string::size);

#ifndef WAYBILL_BATCH_SIZER_HPP
#define WAYBILL_BATCH_SIZER_HPP

#include <concepts>
#include <type_traits>

#include <waybill/core/saturating.hpp>

namespace waybill::inline v0_2 {

namespace detail {

template <class F, class Item>
    requires requires(const F& size, Item&& item) { size(static_cast<Item&&>(item)); }
constexpr auto measured(const F& size, Item&& item)
{
    return size(static_cast<Item&&>(item));
}

// A member to read, `&letter::bytes`, or one to call, `&std::string::size`.
template <class Owner, class Member, class Item>
    requires std::derived_from<std::remove_cvref_t<Item>, Owner>
constexpr auto measured(Member Owner::* const& size, const Item& item)
{
    if constexpr (std::is_function_v<Member>) return (item.*size)();
    else return item.*size;
}

}  // namespace detail

/// Tells how many bytes an item takes. The same item has the same size as long as its batch is in
/// the making, and asking for it changes nothing: the size is called as a constant.
template <class F, class Item>
concept sizer = requires(const F& size, Item&& item) {
    { detail::measured(size, static_cast<Item&&>(item)) } -> countable;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_SIZER_HPP
