// SPDX-License-Identifier: MIT
//
// match: visits an action of a state machine, with one lambda per type of action.
//
//     waybill::match(machine.next(now),
//         [&](batch_sender::send s) { ... },
//         [&](wait_until w)         { ... },
//         [&](idle)                 { ... });
//
// An action type without a lambda is a compile error. So a new action of a state machine cannot be
// overlooked in an existing loop.

#ifndef WAYBILL_CORE_MATCH_HPP
#define WAYBILL_CORE_MATCH_HPP

#include <type_traits>
#include <utility>

#include <waybill/core/detail/hand_over.hpp>

namespace waybill::inline v0_2 {

/// Calls the handler for the alternative that `action` contains, and returns its result. A missing
/// handler and different result types are compile errors.
template <class Variant, class... F>
constexpr decltype(auto) match(Variant&& action, F&&... handlers)
{
    using all = detail::overloaded<std::remove_cvref_t<F>...>;
    using actions = detail::actions_in<Variant>;
    constexpr bool complete = actions::template handled<all>;
    static_assert(complete, "match: an action has no handler; add one for each type of action");
    if constexpr (complete) {
        all h{std::forward<F>(handlers)...};
        using result_type = decltype(h(actions::template get<0>(action)));
        constexpr bool same_type = actions::template returns<all, result_type>;
        static_assert(same_type,
                      "match: the handlers return different types; return the same type");
        if constexpr (same_type) return detail::hand_over<actions, 0>(action, h);
    }
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CORE_MATCH_HPP
