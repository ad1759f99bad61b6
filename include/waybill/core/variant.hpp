// SPDX-License-Identifier: MIT
//
// variant: a value of one of several types, such as an action of a state machine.
//
//     batch_sender::action a = sender.next(now);
//     match(a, [&](const batch_sender::send& s) { ... }, ...);   // a lambda for each type
//     if (const auto* w = get_if<wait_until>(&a)) sleep_until(w->time);
//
// The functions have the names and the meaning of those of std::variant, which takes 7 times the
// memory to compile. Differences:
//   1. A variant always has a value: moving a value throws nothing, or the program does not compile.
//   2. It is made from a value of exactly one of its types, without a conversion. No type is twice
//      in the list.
//   3. `match` takes the place of std::visit, and `get_if` that of std::get. Nothing throws, except
//      a copy of the value.
//   4. If all types are trivially copyable, the variant is, too, and its functions are constexpr.
//
// Cost: the size of the largest type and one byte, rounded up to the alignment. No allocation.

#ifndef WAYBILL_CORE_VARIANT_HPP
#define WAYBILL_CORE_VARIANT_HPP

#include <cstddef>
#include <type_traits>
#include <utility>

#include <waybill/core/detail/variant_storage.hpp>

namespace waybill::inline v0_2 {

namespace detail {
struct variant_access;
}

template <class... T>
class variant {
    using first = typename detail::first_type<T...>::type;
    static_assert((std::is_nothrow_move_constructible_v<T> && ...),
                  "variant: moving a value must not throw");
    static_assert(sizeof...(T) < 256, "variant: at most 255 types");

public:
    /// Holds a value of the first type.
    constexpr variant()
        requires std::is_default_constructible_v<first>
        : variant(first())
    {
    }

    /// Holds this value.
    template <class X>
        requires(std::is_same_v<std::remove_cvref_t<X>, T> || ...)
    constexpr variant(X&& value)
        : held_(std::in_place_index<detail::number_of<std::remove_cvref_t<X>, T...>()>,
                std::forward<X>(value))
    {
    }

    /// The number of the type in the list, from 0.
    [[nodiscard]] constexpr std::size_t index() const noexcept { return held_.index(); }

    /// The type is the same, and the values are equal.
    [[nodiscard]] friend constexpr bool operator==(const variant& a, const variant& b)
    {
        if (a.index() != b.index()) return false;
        std::size_t i = 0;
        bool equal = true;
        ((i++ == a.index() ? void(equal = a.held_.template as<T>() == b.held_.template as<T>())
                           : void()),
         ...);
        return equal;
    }

private:
    friend struct detail::variant_access;
    detail::variant_storage<(std::is_trivially_copyable_v<T> && ...), T...> held_;
};

namespace detail {

/// The value, which has the type X.
struct variant_access {
    template <class X, class... T>
    [[nodiscard]] static constexpr const X& as(const variant<T...>& v) noexcept
    {
        return v.held_.template as<X>();
    }
    template <class X, class... T>
    [[nodiscard]] static constexpr X& as(variant<T...>& v) noexcept
    {
        return const_cast<X&>(v.held_.template as<X>());
    }
};

}  // namespace detail

/// True if `v` holds a value of the type X.
template <class X, class... T>
[[nodiscard]] constexpr bool holds_alternative(const variant<T...>& v) noexcept
{
    constexpr std::size_t number = detail::number_of<X, T...>();
    static_assert(number != sizeof...(T), "holds_alternative: the variant has no such type");
    return v.index() == number;
}

/// The value if it has the type X, otherwise nullptr.
template <class X, class... T>
[[nodiscard]] constexpr X* get_if(variant<T...>* v) noexcept
{
    if (!v || !holds_alternative<X>(*v)) return nullptr;
    return &detail::variant_access::as<X>(*v);
}
template <class X, class... T>
[[nodiscard]] constexpr const X* get_if(const variant<T...>* v) noexcept
{
    if (!v || !holds_alternative<X>(*v)) return nullptr;
    return &detail::variant_access::as<X>(*v);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CORE_VARIANT_HPP
