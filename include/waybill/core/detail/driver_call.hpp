// SPDX-License-Identifier: MIT
//
// driver_call: calls a function of the caller and returns its result as a fault.

#ifndef WAYBILL_CORE_DETAIL_DRIVER_CALL_HPP
#define WAYBILL_CORE_DETAIL_DRIVER_CALL_HPP

#include <concepts>
#include <type_traits>
#include <utility>

#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2::detail {

/// The result of a call. `retry_after` is the server's delay; zero if it sent no such value.
struct call_fault {
    fault reason{};
    duration retry_after{};
};

/// A fault with the server's delay, such as `call_answer`.
template <class R>
concept delayed_fault = requires(R& r) {
    { std::move(r.reason) } -> std::convertible_to<fault>;
    { r.retry_after } -> std::convertible_to<duration>;
};

/// A return type that drivers accept.
template <class R>
concept driver_call_result =
    std::is_void_v<R> || std::same_as<R, fault_kind> || std::same_as<R, result<void>> ||
    std::convertible_to<R, fault> || delayed_fault<R>;

template <class F, class... Args>
concept driver_callable =
    std::invocable<F&, Args...> &&
    driver_call_result<std::remove_cvref_t<std::invoke_result_t<F&, Args...>>>;

/// Calls `f`. A function that returns nothing succeeds.
template <class F, class... Args>
[[nodiscard]] call_fault driver_call(F& f, Args&&... args)
{
    using R = std::remove_cvref_t<std::invoke_result_t<F&, Args...>>;
    if constexpr (std::is_void_v<R>) {
        f(std::forward<Args>(args)...);
        return {};
    } else if constexpr (std::same_as<R, fault_kind>) {
        return {.reason = {.kind = f(std::forward<Args>(args)...)}};
    } else if constexpr (std::same_as<R, result<void>>) {
        auto r = f(std::forward<Args>(args)...);
        return {.reason = r ? fault{} : std::move(r).error()};
    } else if constexpr (delayed_fault<R>) {
        auto r = f(std::forward<Args>(args)...);
        return {.reason = std::move(r.reason), .retry_after = r.retry_after};
    } else {
        return {.reason = f(std::forward<Args>(args)...)};
    }
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_DRIVER_CALL_HPP
