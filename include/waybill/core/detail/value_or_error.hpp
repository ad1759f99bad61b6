// SPDX-License-Identifier: MIT
//
// value_or_error: the storage of a result. With std::variant in its place, <waybill/waybill.hpp> took
// 6 % more memory to compile.
//
// It has two forms: if both types are trivially copyable, so is the storage.

#ifndef WAYBILL_CORE_DETAIL_VALUE_OR_ERROR_HPP
#define WAYBILL_CORE_DETAIL_VALUE_OR_ERROR_HPP

#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace waybill::inline v0_2::detail {

struct as_value {};
struct as_error {};

// `neither` only after the constructor of a value or an error has thrown in an assignment.
enum class held_kind : std::uint8_t { value, error, neither };

template <class T, class E>
concept both_comparable = requires(const T& t, const E& e) {
    t == t;
    e == e;
};

template <class T, class E,
          bool Trivial = std::is_trivially_copyable_v<T> && std::is_trivially_copyable_v<E>>
class value_or_error {
public:
    union {
        T value;
        E error;
    };
    held_kind kind = held_kind::value;

    constexpr value_or_error()
        requires std::is_default_constructible_v<T>
        : value()
    {
    }
    template <class U>
    constexpr value_or_error(as_value, U&& from) : value(std::forward<U>(from))
    {
    }
    constexpr value_or_error(as_error, E&& from) : error(std::move(from)), kind(held_kind::error) {}

    friend constexpr bool operator==(const value_or_error& a, const value_or_error& b)
        requires both_comparable<T, E>
    {
        return a.kind == b.kind &&
               (a.kind == held_kind::value ? a.value == b.value : a.error == b.error);
    }
};

template <class T, class E>
class value_or_error<T, E, false> {
public:
    union {
        T value;
        E error;
    };
    held_kind kind = held_kind::value;

    constexpr value_or_error()
        requires std::is_default_constructible_v<T>
        : value()
    {
    }
    template <class U>
    constexpr value_or_error(as_value, U&& from) : value(std::forward<U>(from))
    {
    }
    constexpr value_or_error(as_error, E&& from) : error(std::move(from)), kind(held_kind::error) {}

    value_or_error(const value_or_error& from)
        requires std::is_copy_constructible_v<T> && std::is_copy_constructible_v<E>
    {
        take(from);
    }
    value_or_error(value_or_error&& from) noexcept(moves_safely) { take(std::move(from)); }
    /// If a copy throws, *this is as before.
    value_or_error& operator=(const value_or_error& from)
        requires std::is_copy_constructible_v<T> && std::is_copy_constructible_v<E>
    {
        return *this = value_or_error(from);
    }
    /// `from` may be a part of *this.
    value_or_error& operator=(value_or_error&& from) noexcept(moves_safely)
    {
        value_or_error taken(std::move(from));
        destroy();
        take(std::move(taken));
        return *this;
    }
    ~value_or_error() { destroy(); }

    friend bool operator==(const value_or_error& a, const value_or_error& b)
        requires both_comparable<T, E>
    {
        if (a.kind != b.kind || a.kind == held_kind::neither) return a.kind == b.kind;
        return a.kind == held_kind::value ? a.value == b.value : a.error == b.error;
    }

private:
    static constexpr bool moves_safely =
        std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_constructible_v<E>;

    // Requires that nothing is held.
    template <class From>
    void take(From&& from)
    {
        const held_kind taken = from.kind;
        kind = held_kind::neither;
        if (taken == held_kind::value) {
            ::new (static_cast<void*>(&value)) T(std::forward<From>(from).value);
        } else if (taken == held_kind::error) {
            ::new (static_cast<void*>(&error)) E(std::forward<From>(from).error);
        }
        kind = taken;
    }
    void destroy() noexcept
    {
        if (kind == held_kind::value) value.~T();
        if (kind == held_kind::error) error.~E();
    }
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_VALUE_OR_ERROR_HPP
