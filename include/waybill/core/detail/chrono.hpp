// SPDX-License-Identifier: MIT
//
// chrono: recognises <chrono> types by their members, and converts them from and to nanoseconds.
//
// Part of time.hpp, which does not include <chrono>. Sums, differences, products and quotients
// saturate.

#ifndef WAYBILL_CORE_DETAIL_CHRONO_HPP
#define WAYBILL_CORE_DETAIL_CHRONO_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace waybill::inline v0_2::detail {

/// A type with the members of a std::chrono::duration.
template <class D>
concept chrono_duration = requires(const D& d) {
    typename D::rep;
    d.count();
    { D::period::num } -> std::convertible_to<std::intmax_t>;
    { D::period::den } -> std::convertible_to<std::intmax_t>;
};

/// A type with the members of a std::chrono::time_point.
template <class T>
concept chrono_point = requires(const T& t) {
    typename T::clock;
    { t.time_since_epoch() } -> chrono_duration;
};

/// A time point of a steady clock, which never jumps.
template <class T>
concept steady_point = chrono_point<T> && T::clock::is_steady;

/// A time point of a clock that counts from the Unix epoch: only such a clock has to_time_t.
template <class T>
concept wall_point =
    chrono_point<T> && !T::clock::is_steady && requires(const T& t) { T::clock::to_time_t(t); };

inline constexpr std::int64_t lowest_ns = INT64_MIN;
inline constexpr std::int64_t highest_ns = INT64_MAX;

// The sum or difference modulo 2^64 has the wrong sign if and only if it is out of range. To
// compare `a` with a bound minus `b` would take twice as many instructions.

[[nodiscard]] constexpr std::int64_t add_ns(std::int64_t a, std::int64_t b) noexcept
{
    const auto sum =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    if (((a ^ sum) & (b ^ sum)) < 0) [[unlikely]]
        return b < 0 ? lowest_ns : highest_ns;
    return sum;
}

[[nodiscard]] constexpr std::int64_t saturating_difference(std::int64_t a, std::int64_t b) noexcept
{
    const auto difference =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
    if (((a ^ b) & (a ^ difference)) < 0) [[unlikely]]
        return b < 0 ? highest_ns : lowest_ns;
    return difference;
}

/// a * b, saturated. Requires b >= 0.
[[nodiscard]] constexpr std::int64_t multiply_ns(std::int64_t a, std::int64_t b) noexcept
{
    if (b != 0 && a > highest_ns / b) return highest_ns;
    if (b != 0 && a < lowest_ns / b) return lowest_ns;
    return a * b;
}

/// ns without its fraction, clamped to the range of std::int64_t.
[[nodiscard]] constexpr std::int64_t truncate_ns(double ns) noexcept
{
    constexpr double largest = 9223372036854774784.0;  // the largest double below 2^63
    if (ns >= largest) return highest_ns;
    if (ns <= -largest) return lowest_ns;
    return ns == ns ? static_cast<std::int64_t>(ns) : 0;  // NaN becomes 0
}

[[nodiscard]] constexpr std::int64_t common_divisor(std::int64_t a, std::int64_t b) noexcept
{
    while (b != 0) {
        const std::int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/// True if N is an unsigned integer type of any width. std::is_unsigned does not recognise 128-bit
/// integers in strict mode.
template <class N>
inline constexpr bool is_unsigned_rep = N(-1) > N(0);

/// An integer type by which a duration is multiplied or divided exactly.
template <class N>
concept exact_factor = std::integral<N> && sizeof(N) <= sizeof(std::int64_t);

[[nodiscard]] constexpr std::uint64_t absolute(exact_factor auto n) noexcept
{
    const auto bits = static_cast<std::uint64_t>(n);
    return n < 0 ? 0 - bits : bits;
}

/// `magnitude` with a sign, clamped to the range of std::int64_t.
[[nodiscard]] constexpr std::int64_t signed_ns(std::uint64_t magnitude, bool negative) noexcept
{
    constexpr auto most = static_cast<std::uint64_t>(highest_ns);
    if (magnitude > most) return negative ? lowest_ns : highest_ns;
    const auto ns = static_cast<std::int64_t>(magnitude);
    return negative ? -ns : ns;
}

/// a * n, saturated.
[[nodiscard]] constexpr std::int64_t product_ns(std::int64_t a, exact_factor auto n) noexcept
{
    const std::uint64_t x = absolute(a), y = absolute(n);
    const bool out_of_range = y != 0 && x > ~std::uint64_t{0} / y;
    return signed_ns(out_of_range ? ~std::uint64_t{0} : x * y, (a < 0) != (n < 0));
}

/// a / n, truncated. If n is 0, the end of the range on the side of a; 0 if a is 0, too.
[[nodiscard]] constexpr std::int64_t quotient_ns(std::int64_t a, exact_factor auto n) noexcept
{
    if (n == 0) return a == 0 ? 0 : signed_ns(~std::uint64_t{0}, a < 0);
    return signed_ns(absolute(a) / absolute(n), (a < 0) != (n < 0));
}

/// A hash of all bits of n (the finalizer of MurmurHash3, Appleby 2011).
template <class Hash = std::size_t>  // a parameter: the cast is useless where size_t has 64 bits
[[nodiscard]] constexpr Hash hash_of_ns(std::int64_t n) noexcept
{
    auto x = static_cast<std::uint64_t>(n);
    x = (x ^ (x >> 33)) * 0xff51'afd7'ed55'8ccdULL;
    x = (x ^ (x >> 33)) * 0xc4ce'b9fe'1a85'ec53ULL;
    return static_cast<Hash>(x ^ (x >> 33));
}

/// n, clamped to the range of std::int64_t. N may be any integer type.
template <class N>
[[nodiscard]] constexpr std::int64_t clamp_ns(N n) noexcept
{
    if constexpr (sizeof(N) > sizeof(std::int64_t) || is_unsigned_rep<N>) {
        if (n > static_cast<N>(highest_ns)) return highest_ns;
    }
    if constexpr (sizeof(N) > sizeof(std::int64_t) && !is_unsigned_rep<N>) {
        if (n < static_cast<N>(lowest_ns)) return lowest_ns;
    }
    return static_cast<std::int64_t>(n);
}

/// n, clamped to the range of N, an integer type of any width.
template <class N>
[[nodiscard]] constexpr N narrow_ns(std::int64_t n) noexcept
{
    if constexpr (is_unsigned_rep<N>) {
        if (n < 0) return N(0);
        if constexpr (sizeof(N) < sizeof(n)) {
            if (n > static_cast<std::int64_t>(N(-1))) return N(-1);
        }
    } else if constexpr (sizeof(N) < sizeof(n)) {
        constexpr std::int64_t most = (std::int64_t{1} << (8 * sizeof(N) - 1)) - 1;
        if (n > most) return static_cast<N>(most);
        if (n < -most - 1) return static_cast<N>(-most - 1);
    }
    return static_cast<N>(n);
}

/// One chrono tick in nanoseconds, as the fraction factor / parts.
template <class Period>
struct unit {
    static constexpr std::int64_t divisor = common_divisor(1'000'000'000, Period::den);
    static constexpr std::int64_t whole = 1'000'000'000 / divisor;
    static constexpr std::int64_t factor = multiply_ns(Period::num, whole);
    static constexpr std::int64_t parts = Period::den / divisor;
    static constexpr double as_double =
        static_cast<double>(Period::num) * static_cast<double>(whole) / static_cast<double>(parts);
    /// True if a remainder below `parts`, multiplied by `factor`, fits into 64 bits.
    static constexpr bool exact = factor <= highest_ns / parts && factor != highest_ns;
};

template <chrono_duration D>
[[nodiscard]] constexpr std::int64_t to_ns(const D& d) noexcept
{
    using rep = typename D::rep;
    using in = unit<typename D::period>;
    if constexpr (std::floating_point<rep> || !in::exact) {
        return truncate_ns(static_cast<double>(d.count()) * in::as_double);
    } else {
        using narrow = std::conditional_t<is_unsigned_rep<rep>, std::uint64_t, std::int64_t>;
        using wide = std::conditional_t<(sizeof(rep) > sizeof(narrow)), rep, narrow>;
        const auto n = static_cast<wide>(d.count());
        const auto parts = static_cast<wide>(in::parts);
        const auto rest = static_cast<std::int64_t>(n % parts);
        return add_ns(multiply_ns(clamp_ns(n / parts), in::factor),
                      multiply_ns(rest, in::factor) / in::parts);
    }
}

template <chrono_duration D>
[[nodiscard]] constexpr D from_ns(std::int64_t ns) noexcept
{
    using rep = typename D::rep;
    using in = unit<typename D::period>;
    if constexpr (std::floating_point<rep>) {
        return D(static_cast<rep>(static_cast<double>(ns) / in::as_double));
    } else if constexpr (!in::exact) {
        return D(narrow_ns<rep>(truncate_ns(static_cast<double>(ns) / in::as_double)));
    } else {
        return D(narrow_ns<rep>(add_ns(multiply_ns(ns / in::factor, in::parts),
                                       multiply_ns(ns % in::factor, in::parts) / in::factor)));
    }
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_CHRONO_HPP
