// SPDX-License-Identifier: MIT
//
// match: visit what a machine answers, one lambda for each action.
//
//     waybill::match(machine.next(now),
//         [&](act::send s)   { ... },
//         [&](act::wait w)   { ... },
//         [&](act::idle)     { ... });
//
// An action without a lambda does not compile, so a machine that learns a new one cannot be driven
// by a loop that has never heard of it.

#ifndef WAYBILL_CORE_MATCH_HPP
#define WAYBILL_CORE_MATCH_HPP

#include <concepts>
#include <type_traits>
#include <utility>
#include <variant>

namespace waybill::inline v0_1 {

namespace detail {

template <class... F>
struct overloaded : F... {
    using F::operator()...;
};
template <class... F>
overloaded(F...) -> overloaded<F...>;

// As the visit will hand them over: an action of a temporary variant is a temporary itself.
template <class Handlers, class Variant>
inline constexpr bool handles_all = false;
template <class Handlers, class... Actions>
inline constexpr bool handles_all<Handlers, std::variant<Actions...>> =
    (std::invocable<Handlers&, Actions> && ...);
template <class Handlers, class... Actions>
inline constexpr bool handles_all<Handlers, std::variant<Actions...>&> =
    (std::invocable<Handlers&, Actions&> && ...);
template <class Handlers, class... Actions>
inline constexpr bool handles_all<Handlers, const std::variant<Actions...>&> =
    (std::invocable<Handlers&, const Actions&> && ...);
template <class Handlers, class... Actions>
inline constexpr bool handles_all<Handlers, const std::variant<Actions...>> =
    (std::invocable<Handlers&, const Actions> && ...);

}  // namespace detail

/// Calls the one handler that takes what `action` holds, and returns its answer.
template <class Variant, class... F>
constexpr decltype(auto) match(Variant&& action, F&&... handlers)
{
    using all = detail::overloaded<std::remove_cvref_t<F>...>;
    constexpr bool complete = detail::handles_all<all, Variant>;
    static_assert(complete, "match: an action that this machine can answer has no handler here");
    if constexpr (complete) {
        return std::visit(all{std::forward<F>(handlers)...}, std::forward<Variant>(action));
    }
}

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_CORE_MATCH_HPP
