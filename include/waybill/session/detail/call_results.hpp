// SPDX-License-Identifier: MIT
//
// call_results: the result types that the calls of process_step may return, and their conversion to
// a fault.

#ifndef WAYBILL_SESSION_DETAIL_CALL_RESULTS_HPP
#define WAYBILL_SESSION_DETAIL_CALL_RESULTS_HPP

#include <concepts>
#include <type_traits>

#include <waybill/core/act.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/session/pipeline.hpp>

namespace waybill::inline v0_2::detail {

/// The result of a call as a fault.
[[nodiscard]] inline fault to_fault(fault f)
{
    return f;
}
[[nodiscard]] inline fault to_fault(const result<void>& r)
{
    return r ? fault{} : r.error();
}

/// The same for the result of `call`. A fault is not moved.
template <class Call>
[[nodiscard]] fault fault_of(Call&& call)
{
    if constexpr (std::same_as<std::invoke_result_t<Call&>, fault>) return call();
    else return to_fault(call());
}

template <class Calls, class Action>
inline constexpr bool has_one_call = std::invocable<Calls&, Action>;

template <class Calls, class Action>
using result_of_call = std::remove_cvref_t<std::invoke_result_t<Calls&, Action>>;

/// True for exactly `fault` and `result<void>`. A type that converts to one of them, such as a
/// number or an error code of another library, does not report a result.
template <class Result>
inline constexpr bool is_fault_result =
    std::same_as<Result, fault> || std::same_as<Result, result<void>>;

template <class Calls, class... Actions>
inline constexpr bool are_fault_results = (is_fault_result<result_of_call<Calls, Actions>> && ...);

/// Refuses calls with a wrong result type. Requires: `All` has a call for each action.
template <class All>
constexpr void check_results() noexcept
{
    using load_result = result_of_call<All, pipeline::load_state>;
    static_assert(std::same_as<load_result, pipeline::state_loaded>,
                  "process_step: load_state must return state_loaded{kind, progress}");
    using run_result = result_of_call<All, pipeline::execute>;
    static_assert(is_fault_result<run_result> || std::same_as<run_result, pipeline::executed>,
                  "process_step: execute must return a fault, a result<void> or executed");
    static_assert(are_fault_results<All, pipeline::save_state, pipeline::write_dead_letter,
                                    complete, pipeline::clear_state>,
                  "process_step: save_state, write_dead_letter, complete and clear_state must "
                  "return a fault or a result<void>, so that a failed call is noticed");
    if constexpr (has_one_call<All, wait_until>) {
        using wait_result = result_of_call<All, wait_until>;
        static_assert(is_fault_result<wait_result> || std::is_void_v<wait_result>,
                      "process_step: wait_until must return a fault, a result<void> or void");
    }
}

/// True if `Call` accepts at least one action.
template <class Call>
inline constexpr bool accepts_action =
    has_one_call<Call, pipeline::load_state> || has_one_call<Call, pipeline::execute> ||
    has_one_call<Call, pipeline::save_state> || has_one_call<Call, pipeline::write_dead_letter> ||
    has_one_call<Call, complete> || has_one_call<Call, pipeline::clear_state> ||
    has_one_call<Call, pipeline::give_back> || has_one_call<Call, wait_until>;

/// Refuses an action that has not exactly one call, a call without an action, and a call with a
/// wrong result type. `All` is the overload set of `Calls`.
template <class All, class... Calls>
constexpr void check_step_calls() noexcept
{
    static_assert((accepts_action<Calls> && ...),
                  "process_step: a call accepts none of the pipeline's actions");
    // Each call takes its action by value or by const reference. Two calls that accept one action
    // are ambiguous.
    static_assert(has_one_call<All, pipeline::load_state>,
                  "process_step: no call for load_state, or more than one");
    static_assert(has_one_call<All, pipeline::execute>,
                  "process_step: no call for execute, or more than one");
    static_assert(has_one_call<All, pipeline::save_state>,
                  "process_step: no call for save_state, or more than one");
    static_assert(has_one_call<All, pipeline::write_dead_letter>,
                  "process_step: no call for write_dead_letter, or more than one");
    static_assert(has_one_call<All, complete>,
                  "process_step: no call for complete, or more than one");
    static_assert(has_one_call<All, pipeline::clear_state>,
                  "process_step: no call for clear_state, or more than one");
    static_assert(has_one_call<All, pipeline::give_back>,
                  "process_step: no call for give_back, or more than one");
    static_assert((int{has_one_call<Calls, wait_until>} + ... + 0) <= 1,
                  "process_step: more than one call for wait_until");
    check_results<All>();
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_SESSION_DETAIL_CALL_RESULTS_HPP
