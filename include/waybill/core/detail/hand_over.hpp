// SPDX-License-Identifier: MIT
//
// hand_over: calls the handler for the alternative that a variant contains. Part of `match`.

#ifndef WAYBILL_CORE_DETAIL_HAND_OVER_HPP
#define WAYBILL_CORE_DETAIL_HAND_OVER_HPP

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>

namespace waybill::inline v0_2::detail {

template <class... F>
struct overloaded : F... {
    using F::operator()...;
};
template <class... F>
overloaded(F...) -> overloaded<F...>;

// The action types of a variant, with the value category of the variant: rvalues for a temporary.
template <class... Actions>
struct actions {
    template <class Handlers>
    static constexpr bool handled = (std::invocable<Handlers&, Actions> && ...);
    template <class Handlers, class Result>
    static constexpr bool returns =
        (std::same_as<std::invoke_result_t<Handlers&, Actions>, Result> && ...);
};
template <class Variant>
struct actions_in {
    static_assert(sizeof(Variant) == 0,
                  "match: the first argument is no std::variant; pass an action of next()");
};
template <class... Actions>
struct actions_in<std::variant<Actions...>> : actions<Actions...> {};
template <class... Actions>
struct actions_in<std::variant<Actions...>&> : actions<Actions&...> {};
template <class... Actions>
struct actions_in<const std::variant<Actions...>&> : actions<const Actions&...> {};
template <class... Actions>
struct actions_in<const std::variant<Actions...>> : actions<const Actions...> {};

// For more than eleven alternatives, std::visit calls through a table. A switch can be inlined. A
// valueless variant matches no case: std::get then throws as std::visit would.
template <std::size_t First, class Variant, class Handlers>
constexpr decltype(auto) hand_over(Variant&& v, Handlers& h)
{
    constexpr std::size_t left = std::variant_size_v<std::remove_reference_t<Variant>> - First;
    switch (v.index() - First) {
        case 0: return h(std::get<First>(std::forward<Variant>(v)));
        case 1:
            if constexpr (left > 1) return h(std::get<First + 1>(std::forward<Variant>(v)));
            break;
        case 2:
            if constexpr (left > 2) return h(std::get<First + 2>(std::forward<Variant>(v)));
            break;
        case 3:
            if constexpr (left > 3) return h(std::get<First + 3>(std::forward<Variant>(v)));
            break;
        case 4:
            if constexpr (left > 4) return h(std::get<First + 4>(std::forward<Variant>(v)));
            break;
        case 5:
            if constexpr (left > 5) return h(std::get<First + 5>(std::forward<Variant>(v)));
            break;
        case 6:
            if constexpr (left > 6) return h(std::get<First + 6>(std::forward<Variant>(v)));
            break;
        case 7:
            if constexpr (left > 7) return h(std::get<First + 7>(std::forward<Variant>(v)));
            break;
        case 8:
            if constexpr (left > 8) return h(std::get<First + 8>(std::forward<Variant>(v)));
            break;
        case 9:
            if constexpr (left > 9) return h(std::get<First + 9>(std::forward<Variant>(v)));
            break;
        case 10:
            if constexpr (left > 10) return h(std::get<First + 10>(std::forward<Variant>(v)));
            break;
        default: break;
    }
    if constexpr (left > 11) return hand_over<First + 11>(std::forward<Variant>(v), h);
    else return h(std::get<First>(std::forward<Variant>(v)));
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_HAND_OVER_HPP
