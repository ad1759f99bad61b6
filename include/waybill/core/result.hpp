// SPDX-License-Identifier: MIT
//
// result: a value or an error, with the interface of std::expected.
//
// std::expected requires C++23. The member names are the same, so code can later move to it by
// search and replace. `result` is never an alias of std::expected: an alias that depends on the
// compiler could link object files with different types. There is no throwing value(): call
// has_value() before access.
//
//     auto loaded = store.load(key);               // result<std::optional<checkpoint>>
//     if (!loaded) return loaded.error();          // a fault becomes the error of a result
//     if (*loaded) resume_after((*loaded)->at);
//
// Access without a check is undefined. A hardened standard library (_GLIBCXX_ASSERTIONS, libc++'s
// hardening modes) ends the program there.

#ifndef WAYBILL_CORE_RESULT_HPP
#define WAYBILL_CORE_RESULT_HPP

#include <concepts>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <waybill/core/detail/value_or_error.hpp>
#include <waybill/core/fault.hpp>

namespace waybill::inline v0_2 {

/// Marks the error in a return statement.
template <class E>
class unexpected {
public:
    constexpr explicit unexpected(E e) : error_(std::move(e)) {}
    [[nodiscard]] constexpr const E& error() const& noexcept { return error_; }
    [[nodiscard]] constexpr E& error() & noexcept { return error_; }
    [[nodiscard]] constexpr E&& error() && noexcept { return std::move(error_); }
    friend bool operator==(const unexpected&, const unexpected&) = default;

private:
    E error_;
};
template <class E>
unexpected(E) -> unexpected<E>;

template <class T, class E = fault>
class result;

namespace detail {

template <class X>
inline constexpr bool is_unexpected = false;
template <class E>
inline constexpr bool is_unexpected<unexpected<E>> = true;

// True if a U converts implicitly to a T. False for a result and for an `unexpected`, which have
// constructors of their own. False from scalar to scalar: the caller converts these, so that the
// compiler can warn of narrowing there.
template <class U, class T, class Result>
concept becomes_value =
    !std::same_as<std::remove_cvref_t<U>, Result> && !is_unexpected<std::remove_cvref_t<U>> &&
    !(std::is_scalar_v<T> && std::is_scalar_v<std::decay_t<U>>) && std::convertible_to<U, T>;

// True if a fault is always the error: it does not convert to a T.
template <class F, class T, class E>
concept becomes_error = std::same_as<E, F> && !std::convertible_to<F, T>;

// An error of kind `none` would be neither success nor failure.
template <class E>
constexpr void require_kind(E& error) noexcept
{
    if constexpr (std::same_as<E, fault>) {
        if (error.ok()) error.kind = fault_kind::infrastructure;
    }
}

// Requires that a condition holds. The standard library checks it in its hardened modes; in the
// others this is no code. Of the checked functions, this one costs the least to include.
constexpr void require(bool holds) noexcept
{
    std::string_view("?").remove_prefix(holds ? 0 : 2);
}

}  // namespace detail

/// A T or an E. Requires has_value() for * and ->, and !has_value() for error(). An error that is a
/// fault of kind `none` becomes `infrastructure`, because there is no value.
template <class T, class E>
class [[nodiscard]] result {
public:
    using value_type = T;
    using error_type = E;

    constexpr result()
        requires std::is_default_constructible_v<T>
    = default;
    constexpr result(T value) : held_(detail::as_value{}, std::move(value)) {}
    /// For `return std::nullopt;` with a result of an optional, or `return "text";` with a string.
    template <class U>
        requires detail::becomes_value<U, T, result>
    constexpr result(U&& value) : held_(detail::as_value{}, std::forward<U>(value))
    {
    }
    /// Deleted: a pointer would convert to bool.
    template <class P>
        requires std::same_as<T, bool>
    constexpr result(P*) = delete;
    template <class G>
        requires std::is_constructible_v<E, G>
    constexpr result(unexpected<G> u) : held_(detail::as_error{}, E(std::move(u).error()))
    {
        detail::require_kind(held_.error);
    }
    /// For `return waybill::permanent("text");`.
    template <std::same_as<fault> F>
        requires detail::becomes_error<F, T, E>
    constexpr result(F f) : held_(detail::as_error{}, std::move(f))
    {
        detail::require_kind(held_.error);
    }

    [[nodiscard]] constexpr bool has_value() const noexcept
    {
        return held_.kind == detail::held_kind::value;
    }
    constexpr explicit operator bool() const noexcept { return has_value(); }

    [[nodiscard]] constexpr T& operator*() & noexcept
    {
        detail::require(has_value());
        return held_.value;
    }
    [[nodiscard]] constexpr const T& operator*() const& noexcept
    {
        detail::require(has_value());
        return held_.value;
    }
    [[nodiscard]] constexpr T&& operator*() && noexcept { return std::move(**this); }
    [[nodiscard]] constexpr T* operator->() noexcept { return &**this; }
    [[nodiscard]] constexpr const T* operator->() const noexcept { return &**this; }

    [[nodiscard]] constexpr E& error() & noexcept
    {
        detail::require(held_.kind == detail::held_kind::error);
        return held_.error;
    }
    [[nodiscard]] constexpr const E& error() const& noexcept
    {
        detail::require(held_.kind == detail::held_kind::error);
        return held_.error;
    }
    [[nodiscard]] constexpr E&& error() && noexcept { return std::move(error()); }

    template <class U>
    [[nodiscard]] constexpr T value_or(U&& other) const&
    {
        return has_value() ? **this : static_cast<T>(std::forward<U>(other));
    }
    template <class U>
    [[nodiscard]] constexpr T value_or(U&& other) &&
    {
        return has_value() ? *std::move(*this) : static_cast<T>(std::forward<U>(other));
    }

    /// Returns f(value), which must be a result with the same error type. Returns an error
    /// unchanged.
    template <class F>
    [[nodiscard]] constexpr auto and_then(F&& f) const -> std::invoke_result_t<F, const T&>
    {
        if (!has_value()) return unexpected(error());
        return std::forward<F>(f)(**this);
    }

    /// Returns a result that contains f(value). Returns an error unchanged.
    template <class F>
    [[nodiscard]] constexpr auto transform(F&& f) const
        -> result<std::remove_cvref_t<std::invoke_result_t<F, const T&>>, E>
    {
        if (!has_value()) return unexpected(error());
        if constexpr (std::is_void_v<std::invoke_result_t<F, const T&>>) {
            std::forward<F>(f)(**this);
            return {};
        } else {
            return std::forward<F>(f)(**this);
        }
    }

    friend bool operator==(const result&, const result&) = default;

private:
    detail::value_or_error<T, E> held_;
};

/// Success without a value, or an E.
template <class E>
class [[nodiscard]] result<void, E> {
public:
    using value_type = void;
    using error_type = E;

    constexpr result() = default;
    template <class G>
        requires std::is_constructible_v<E, G>
    constexpr result(unexpected<G> u) : error_(E(std::move(u).error()))
    {
        detail::require_kind(*error_);
    }
    /// An empty fault is success.
    template <std::same_as<fault> F>
        requires std::same_as<E, fault>
    constexpr result(F f)
    {
        if (!f.ok()) error_ = std::move(f);
    }

    [[nodiscard]] constexpr bool has_value() const noexcept { return !error_.has_value(); }
    constexpr explicit operator bool() const noexcept { return has_value(); }
    [[nodiscard]] constexpr E& error() & noexcept { return *error_; }
    [[nodiscard]] constexpr const E& error() const& noexcept { return *error_; }
    [[nodiscard]] constexpr E&& error() && noexcept { return *std::move(error_); }

    template <class F>
    [[nodiscard]] constexpr auto and_then(F&& f) const -> std::invoke_result_t<F>
    {
        if (!has_value()) return unexpected(error());
        return std::forward<F>(f)();
    }

    template <class F>
    [[nodiscard]] constexpr auto transform(F&& f) const
        -> result<std::remove_cvref_t<std::invoke_result_t<F>>, E>
    {
        if (!has_value()) return unexpected(error());
        if constexpr (std::is_void_v<std::invoke_result_t<F>>) {
            std::forward<F>(f)();
            return {};
        } else {
            return std::forward<F>(f)();
        }
    }

    friend bool operator==(const result&, const result&) = default;

private:
    std::optional<E> error_;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CORE_RESULT_HPP
