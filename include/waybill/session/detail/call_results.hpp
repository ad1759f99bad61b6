// SPDX-License-Identifier: MIT
//
// call_results: the result types that the calls of process_step may return, and their conversion to
// a fault.

#ifndef WAYBILL_SESSION_DETAIL_CALL_RESULTS_HPP
#define WAYBILL_SESSION_DETAIL_CALL_RESULTS_HPP

#include <concepts>
#include <type_traits>

#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>

namespace waybill::inline v0_2::detail {

/// The result of a call as a fault. An error of the kind `none` becomes `infrastructure`.
[[nodiscard]] inline fault said(fault f) { return f; }
[[nodiscard]] inline fault said(const result<void>& r)
{
    if (r) return {};
    const bool says_none = r.error().kind == fault_kind::none;
    return {says_none ? fault_kind::infrastructure : r.error().kind, r.error().text};
}

template <class Calls, class Action>
inline constexpr bool takes = std::invocable<Calls&, Action>;

template <class Calls, class Action>
using answer_to = std::remove_cvref_t<std::invoke_result_t<Calls&, Action>>;

/// True for exactly `fault` and `result<void>`. A type that converts to one of them, such as a
/// number or an error code of another library, does not report a result.
template <class Answer>
inline constexpr bool says_how = std::same_as<Answer, fault> || std::same_as<Answer, result<void>>;

template <class Calls, class... Actions>
inline constexpr bool all_say_how = (says_how<answer_to<Calls, Actions>> && ...);

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_SESSION_DETAIL_CALL_RESULTS_HPP
