// SPDX-License-Identifier: MIT
//
// exceptions_catcher: the callable that `catching` returns.

#ifndef WAYBILL_EXT_DETAIL_EXCEPTIONS_CATCHER_HPP
#define WAYBILL_EXT_DETAIL_EXCEPTIONS_CATCHER_HPP

#include <concepts>
#include <cstddef>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include <waybill/batch/send_all.hpp>
#include <waybill/consume/event.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/text.hpp>
#include <waybill/ext/exceptions_by_default.hpp>
#include <waybill/retry/call_report.hpp>
#include <waybill/scaling/command.hpp>

namespace waybill::inline v0_2::detail {

/// A callable that maps an exception to a fault_kind (for handlers and store calls) or to a
/// send_outcome (for send functions).
template <class C>
concept exception_classifier = requires(C& classify, const std::exception& e) {
    requires std::convertible_to<decltype(classify(e)), fault_kind> ||
                 std::convertible_to<decltype(classify(e)), send_outcome>;
};

/// Maximum size of the text of a fault, in bytes.
inline constexpr std::size_t max_exception_text_bytes = 1'024;

/// The fault of an exception, never a success: `none` becomes `permanent`. If memory for its text
/// cannot be allocated, the text is empty.
[[nodiscard]] inline fault exception_fault(fault_kind kind, std::string_view what) noexcept
{
    fault f{kind == fault_kind::none ? fault_kind::permanent : kind, {}};
    try {
        f.text = utf8_prefix(what, max_exception_text_bytes);
    } catch (...) {
        f.text.clear();
    }
    return f;
}

template <class R>
inline constexpr bool is_result = false;
template <class T>
inline constexpr bool is_result<result<T, fault>> = true;

/// True for the results of a source of numbers, and of a call that executes a scaling command. They
/// cannot express a failure, so `catching` returns a result of them.
template <class R>
inline constexpr bool is_plain_value =
    (std::is_arithmetic_v<R> && !std::same_as<R, bool>) || std::same_as<R, scaling::resize_outcome>;
template <class T>
inline constexpr bool is_plain_value<std::optional<T>> = is_plain_value<T>;

template <class R>
struct result_of {
    using type = result<R>;
};

/// A function object that returns a value if the wrapped function throws. Made by `catching`.
template <class F, exception_classifier C>
class catcher {
    /// True for the return type of a send function.
    template <class R>
    static constexpr bool is_send_outcome =
        !std::convertible_to<R, fault> && !is_result<R> && !std::same_as<R, event_outcome> &&
        !std::same_as<R, call_answer> && std::convertible_to<R, send_outcome>;

public:
    constexpr catcher(F inner, C classify)
        : inner_(std::move(inner)), classify_(std::move(classify))
    {
    }

    template <class... Args>
        requires std::invocable<F&, Args...>
    auto operator()(Args&&... args)
    {
        return call(inner_, classify_, std::forward<Args>(args)...);
    }

    template <class... Args>
        requires std::invocable<const F&, Args...>
    auto operator()(Args&&... args) const
    {
        return call(inner_, classify_, std::forward<Args>(args)...);
    }

private:
    template <class Inner, class Classify, class... Args>
    static auto call(Inner& inner, Classify& classify, Args&&... args)
    {
        using R = std::invoke_result_t<Inner&, Args...>;
        if constexpr (is_send_outcome<R>) {
            return call_send_function(inner, classify, std::forward<Args>(args)...);
        } else {
            constexpr bool keeps_type =
                is_result<R> || std::same_as<R, event_outcome> || std::same_as<R, call_answer>;
            constexpr bool supported = std::is_void_v<R> || std::convertible_to<R, fault> ||
                                       keeps_type || is_plain_value<R>;
            static_assert(supported,
                          "catching: a handler must return a fault or nothing, a store a result, "
                          "a source a number, and a send function a send_outcome");
            using kept = std::type_identity<std::conditional_t<keeps_type, R, fault>>;
            using returned =
                typename std::conditional_t<is_plain_value<R>, result_of<R>, kept>::type;
            try {
                if constexpr (std::is_void_v<R>) {
                    inner(std::forward<Args>(args)...);
                    return fault{};
                } else {
                    return returned(inner(std::forward<Args>(args)...));
                }
            } catch (const std::exception& e) {
                return failure<returned>(exception_fault(kind_of(classify, e), text_of(e)));
            } catch (...) {
                constexpr std::string_view what = "an exception that is not a std::exception";
                return failure<returned>(exception_fault(fault_kind::permanent, what));
            }
        }
    }

    template <class Inner, class Classify, class... Args>
    static send_outcome call_send_function(Inner& inner, Classify& classify, Args&&... args)
    {
        using classified = std::invoke_result_t<Classify&, const std::exception&>;
        static_assert(std::same_as<C, by_default> || std::convertible_to<classified, send_outcome>,
                      "catching: classify for a send function must return a send_outcome, "
                      "because a fault_kind does not show if the batch has arrived");
        try {
            return inner(std::forward<Args>(args)...);
        } catch (const std::exception& e) {
            if constexpr (std::convertible_to<classified, send_outcome>) {
                try {
                    return classify(e);
                } catch (...) {
                    return batch_sender::outcome_unknown{};
                }
            } else {
                return batch_sender::outcome_unknown{};
            }
        } catch (...) {
            return batch_sender::outcome_unknown{};
        }
    }

    template <class Returned>
    static Returned failure(fault f)
    {
        if constexpr (is_result<Returned>) return unexpected(std::move(f));
        else if constexpr (std::same_as<Returned, call_answer>)
            return call_answer{std::move(f), {}};
        else return f;
    }

    template <class Classify>
    static fault_kind kind_of(Classify& classify, const std::exception& e) noexcept
    {
        using classified = std::invoke_result_t<Classify&, const std::exception&>;
        static_assert(std::convertible_to<classified, fault_kind>,
                      "catching: classify for a handler must return a fault_kind");
        try {
            return classify(e);
        } catch (...) {
            return fault_kind::permanent;
        }
    }

    static std::string_view text_of(const std::exception& e) noexcept
    {
        const char* what = e.what();
        return what ? what : "";
    }

    F inner_;
    [[no_unique_address]] C classify_;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_EXT_DETAIL_EXCEPTIONS_CATCHER_HPP
