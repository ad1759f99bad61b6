// SPDX-License-Identifier: MIT
//
// hand_over: calls the handler for the alternative that a variant contains. Part of `match`.

#ifndef WAYBILL_CORE_DETAIL_HAND_OVER_HPP
#define WAYBILL_CORE_DETAIL_HAND_OVER_HPP

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <waybill/core/variant.hpp>

namespace waybill::inline v0_2::detail {

template <class... F>
struct overloaded : F... {
    using F::operator()...;
};
template <class... F>
overloaded(F...) -> overloaded<F...>;

// The type with the number I of a list. Not recursive: recursion makes a class for each step.
template <std::size_t I, class T>
struct numbered_type {
    using type = T;
};
template <class Numbers, class... T>
struct numbered_types;
template <std::size_t... I, class... T>
struct numbered_types<std::index_sequence<I...>, T...> : numbered_type<I, T>... {};
template <std::size_t I, class T>
numbered_type<I, T> with_number(const numbered_type<I, T>&);
template <std::size_t I, class... T>
using nth_type = typename decltype(with_number<I>(
    std::declval<numbered_types<std::index_sequence_for<T...>, T...>>()))::type;

// The action types of a variant, with the value category of the variant: rvalues for a temporary.
template <class... Actions>
struct actions {
    template <class Handlers>
    static constexpr bool handled = (std::invocable<Handlers&, Actions> && ...);
    template <class Handlers, class Result>
    static constexpr bool returns =
        (std::same_as<std::invoke_result_t<Handlers&, Actions>, Result> && ...);

    static constexpr std::size_t count = sizeof...(Actions);
    /// The action with the number I. Requires that the variant contains it.
    template <std::size_t I, class Variant>
    static constexpr nth_type<I, Actions...>&& get(Variant& v) noexcept
    {
        using action = nth_type<I, Actions...>;
        return static_cast<action&&>(variant_access::as<std::remove_cvref_t<action>>(v));
    }
};
template <class Variant>
struct actions_in {
    static_assert(sizeof(Variant) == 0,
                  "match: the first argument is no variant; pass an action of next()");
    template <class>
    static constexpr bool handled = false;
};
template <class... Actions>
struct actions_in<variant<Actions...>> : actions<Actions...> {};
template <class... Actions>
struct actions_in<variant<Actions...>&> : actions<Actions&...> {};
template <class... Actions>
struct actions_in<const variant<Actions...>&> : actions<const Actions&...> {};
template <class... Actions>
struct actions_in<const variant<Actions...>> : actions<const Actions...> {};

// A switch can be inlined; a table of functions cannot.
template <class Actions, std::size_t First, class Variant, class Handlers>
constexpr decltype(auto) hand_over(Variant& v, Handlers& h)
{
    constexpr std::size_t left = Actions::count - First;
    switch (v.index() - First) {
        case 0: return h(Actions::template get<First>(v));
        case 1:
            if constexpr (left > 1) return h(Actions::template get<First + 1>(v));
            break;
        case 2:
            if constexpr (left > 2) return h(Actions::template get<First + 2>(v));
            break;
        case 3:
            if constexpr (left > 3) return h(Actions::template get<First + 3>(v));
            break;
        case 4:
            if constexpr (left > 4) return h(Actions::template get<First + 4>(v));
            break;
        case 5:
            if constexpr (left > 5) return h(Actions::template get<First + 5>(v));
            break;
        case 6:
            if constexpr (left > 6) return h(Actions::template get<First + 6>(v));
            break;
        case 7:
            if constexpr (left > 7) return h(Actions::template get<First + 7>(v));
            break;
        case 8:
            if constexpr (left > 8) return h(Actions::template get<First + 8>(v));
            break;
        case 9:
            if constexpr (left > 9) return h(Actions::template get<First + 9>(v));
            break;
        case 10:
            if constexpr (left > 10) return h(Actions::template get<First + 10>(v));
            break;
        default: break;
    }
    // Without more actions, this is not reached.
    if constexpr (left > 11) return hand_over<Actions, First + 11>(v, h);
    else return h(Actions::template get<First>(v));
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_HAND_OVER_HPP
