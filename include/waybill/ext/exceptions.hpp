// SPDX-License-Identifier: MIT
//
// ext/exceptions: code that throws, in a house that answers.
//
//     auto r = waybill::process_batch(store, mine, events, waybill::catching(handle), now);
//     auto s = waybill::send_all(inbox, size, sender, clock, waybill::catching(transmit));
//     auto own = waybill::catching(handle, [](const std::exception& e) {
//         return dynamic_cast<const sql_error*>(&e) ? waybill::fault_class::infrastructure
//                                                   : waybill::fault_class::permanent;
//     });
//
// What an exception becomes is seen from what the function answers otherwise:
//   - a handler that returns a fault, an event_outcome or nothing: a fault with the class that
//     `classify` says and the exception's what() as its text;
//   - a call that returns a result<T>, as those of a store: the same fault as its error;
//   - a send function, which returns a send_outcome: `unknown`, since nobody can say whether the
//     batch had arrived when it threw. A classify that knows better returns a send_outcome.
//
// By default memory and system errors (std::bad_alloc, std::system_error and with it those of files
// and streams) are `infrastructure`: no event is to blame, and all are given again. Everything else
// is `permanent`, also what is no std::exception: what an event made throw once it mostly makes
// throw again, and a dead letter can be looked at while a blocked partition cannot go on. A
// classify of your own knows better what your database, your files and your network throw.
//
// Three things hold:
//   1. no exception leaves the wrapped function, not even one of classify;
//   2. an exception is never a success: where classify says `none`, it is `permanent`;
//   3. the text is at most 1024 bytes, cut between characters.

#ifndef WAYBILL_EXT_EXCEPTIONS_HPP
#define WAYBILL_EXT_EXCEPTIONS_HPP

#include <concepts>
#include <cstddef>
#include <exception>
#include <new>
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

namespace waybill::inline v0_2 {

/// What `catching` does if nothing else is said.
struct by_default {
    [[nodiscard]] fault_class operator()(const std::exception& e) const noexcept
    {
        const bool system = dynamic_cast<const std::bad_alloc*>(&e) != nullptr ||
                            dynamic_cast<const std::system_error*>(&e) != nullptr;
        return system ? fault_class::infrastructure : fault_class::permanent;
    }
};

/// Says of an exception what sort of fault it is, or what became of the batch.
template <class C>
concept exception_classifier = requires(C& classify, const std::exception& e) {
    requires std::convertible_to<decltype(classify(e)), fault_class> ||
                 std::convertible_to<decltype(classify(e)), send_outcome>;
};

namespace detail {

inline constexpr std::size_t exception_text_bytes = 1'024;

/// A fault, even where there is no memory left for its text.
[[nodiscard]] inline fault caught(fault_class how, std::string_view what) noexcept
{
    fault f{how == fault_class::none ? fault_class::permanent : how, {}};
    try {
        f.text = utf8_prefix(what, exception_text_bytes);
    } catch (...) {
        f.text.clear();
    }
    return f;
}

template <class R>
inline constexpr bool is_result = false;
template <class T>
inline constexpr bool is_result<result<T, fault>> = true;

}  // namespace detail

/// A function that answers where the one inside throws. Made by `catching`.
template <class F, exception_classifier C>
class catcher {
    template <class R>
    static constexpr bool sends = !std::convertible_to<R, fault> && !detail::is_result<R> &&
                                  !std::same_as<R, event_outcome> &&
                                  std::convertible_to<R, send_outcome>;

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
        if constexpr (sends<R>) {
            return sent(inner, classify, std::forward<Args>(args)...);
        } else {
            constexpr bool own = detail::is_result<R> || std::same_as<R, event_outcome>;
            constexpr bool known = std::is_void_v<R> || std::convertible_to<R, fault> || own;
            static_assert(known,
                          "catching: a handler answers a fault or nothing, a store a result, and a "
                          "send function a send_outcome");
            using answer = std::conditional_t<own, R, fault>;
            try {
                if constexpr (std::is_void_v<R>) {
                    inner(std::forward<Args>(args)...);
                    return fault{};
                } else {
                    return answer(inner(std::forward<Args>(args)...));
                }
            } catch (const std::exception& e) {
                return failure<answer>(detail::caught(class_of(classify, e), said(e)));
            } catch (...) {
                constexpr std::string_view what = "an exception that is not a std::exception";
                return failure<answer>(detail::caught(fault_class::permanent, what));
            }
        }
    }

    template <class Inner, class Classify, class... Args>
    static send_outcome sent(Inner& inner, Classify& classify, Args&&... args)
    {
        using said_by = std::invoke_result_t<Classify&, const std::exception&>;
        static_assert(std::same_as<C, by_default> || std::convertible_to<said_by, send_outcome>,
                      "catching: of a send function's exception classify says a send_outcome, "
                      "since a fault_class does not tell whether the batch has arrived");
        try {
            return inner(std::forward<Args>(args)...);
        } catch (const std::exception& e) {
            if constexpr (std::convertible_to<said_by, send_outcome>) {
                try {
                    return classify(e);
                } catch (...) {
                    return unknown{};
                }
            } else {
                return unknown{};
            }
        } catch (...) {
            return unknown{};
        }
    }

    template <class Answer>
    static Answer failure(fault f)
    {
        if constexpr (detail::is_result<Answer>) return unexpected(std::move(f));
        else return f;
    }

    template <class Classify>
    static fault_class class_of(Classify& classify, const std::exception& e) noexcept
    {
        using said_by = std::invoke_result_t<Classify&, const std::exception&>;
        static_assert(std::convertible_to<said_by, fault_class>,
                      "catching: of a handler's exception classify says a fault_class");
        try {
            return classify(e);
        } catch (...) {
            return fault_class::permanent;
        }
    }

    static std::string_view said(const std::exception& e) noexcept
    {
        const char* what = e.what();
        return what ? what : "";
    }

    F inner_;
    [[no_unique_address]] C classify_;
};

/// `handler`, or any function of which the above speaks, with its exceptions turned into answers.
/// It is copied or moved in; hand in std::ref(handler) if it is to stay where it is.
template <class F, exception_classifier C = by_default>
[[nodiscard]] constexpr catcher<F, C> catching(F handler, C classify = {})
{
    return {std::move(handler), std::move(classify)};
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_EXCEPTIONS_HPP
