// SPDX-License-Identifier: MIT
//
// amqp_value: what decides the encoded size of one AMQP 1.0 value, and nothing else of it.
//
// AMQP writes small numbers and short strings in fewer bytes, so the size of a value follows from
// its type, the magnitude of a number and the length of a string. Only these are kept: no character
// is read and nothing can dangle. Values are made from what C++ has, and by name where C++ has
// nothing of the kind:
//
//     value v = 5;                  // int; also bool, the other integers, float, double, char32_t
//     value s = "text";             // a string; whatever holds octets that are no text is binary
//     value b = value::binary(16);  // and symbol(n), uuid(), timestamp(), encoded(n)
//
// Lengths are octets in UTF-8. Absent and empty differ: an absent field is not written or is null,
// an empty one has a length of 0.

#ifndef WAYBILL_WIRE_AMQP_VALUE_HPP
#define WAYBILL_WIRE_AMQP_VALUE_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include <waybill/core/saturating.hpp>

namespace waybill::inline v0_2::wire::amqp {

namespace detail {

template <class S>
concept text = std::convertible_to<const S&, std::string_view> &&
               !std::same_as<std::remove_cvref_t<S>, std::nullptr_t>;

// Octets that are no text: a vector or span of std::byte or std::uint8_t, a u8string_view.
template <class S>
concept blob = !text<S> && requires(const S& s) {
    { s.size() } -> countable;
    requires sizeof(*s.data()) == 1;
};

template <class N>
concept character = std::same_as<N, char> || std::same_as<N, wchar_t> ||
                    std::same_as<N, char8_t> || std::same_as<N, char16_t> ||
                    std::same_as<N, char32_t>;

template <class N>
concept number = countable<N> && !character<N> && sizeof(N) <= sizeof(std::uint64_t);

template <text S>
[[nodiscard]] constexpr std::uint64_t length(const S& s) noexcept
{
    return static_cast<std::string_view>(s).size();
}

template <blob S>
[[nodiscard]] constexpr std::uint64_t length(const S& s) noexcept
{
    return as_size(s.size());
}

}  // namespace detail

/// The length of a string, symbol or binary that is given; made from what has one. Absent by
/// default, and made from an empty optional.
class octets {
public:
    constexpr octets() noexcept = default;

    template <class S>
        requires detail::text<S> || detail::blob<S>
    constexpr octets(const S& s) noexcept : length_(known(detail::length(s)))
    {
    }

    template <class S>
        requires detail::text<S> || detail::blob<S>
    constexpr octets(const std::optional<S>& s) noexcept
    {
        if (s) length_ = known(detail::length(*s));
    }

    constexpr octets(std::nullopt_t) noexcept {}

    /// Where only the length is at hand.
    template <countable N>
    constexpr explicit octets(N n) noexcept : length_(known(as_size(n)))
    {
    }

    [[nodiscard]] constexpr bool given() const noexcept { return length_ != absent; }

    /// 0 where it is absent.
    [[nodiscard]] constexpr std::uint64_t size() const noexcept { return given() ? length_ : 0; }

    friend bool operator==(const octets&, const octets&) = default;

private:
    static constexpr std::uint64_t absent = highest_size;

    // No encoder can write that many, so one less is as good.
    static constexpr std::uint64_t known(std::uint64_t n) noexcept { return lesser(n, absent - 1); }

    std::uint64_t length_ = absent;
};

/// Any AMQP scalar. Null by default.
class value {
public:
    /// What encoders tell apart when they choose a width.
    enum class kind : std::uint8_t {
        null,
        boolean,
        number,
        fixed,    ///< char, timestamp and uuid: one width for all encoders.
        binary,
        text,     ///< string and symbol.
        encoded,  ///< Written by somebody else.
    };

    constexpr value() noexcept = default;
    constexpr value(std::nullptr_t) noexcept {}

    template <std::same_as<bool> B>
    constexpr value(B) noexcept : value(kind::boolean, 0, 1, 2)
    {
    }

    /// The AMQP integer of the same width and sign: ubyte to ulong, byte to long.
    template <detail::number N>
    constexpr value(N n) noexcept
        : kind_(kind::number), narrow_(typed(n)), plain_(untyped(n)), wide_(9)
    {
    }

    /// float and double.
    template <std::floating_point F>
        requires(sizeof(F) <= sizeof(double))
    constexpr value(F f) noexcept
        : kind_(kind::number),
          narrow_(sizeof(F) + 1),
          plain_(untyped(static_cast<double>(f))),
          wide_(9)
    {
    }

    /// char.
    template <std::same_as<char32_t> C>
    constexpr value(C) noexcept : value(kind::fixed, 0, 5, 5)
    {
    }

    template <detail::text S>
    constexpr value(const S& s) noexcept : value(kind::text, detail::length(s), 2, 5)
    {
    }

    template <detail::blob S>
    constexpr value(const S& s) noexcept : value(kind::binary, detail::length(s), 2, 5)
    {
    }

    template <countable N>
    [[nodiscard]] static constexpr value string(N n) noexcept
    {
        return {kind::text, as_size(n), 2, 5};
    }

    template <countable N>
    [[nodiscard]] static constexpr value symbol(N n) noexcept
    {
        return {kind::text, as_size(n), 2, 5};
    }

    template <detail::text S>
    [[nodiscard]] static constexpr value symbol(const S& s) noexcept
    {
        return {kind::text, detail::length(s), 2, 5};
    }

    template <countable N>
    [[nodiscard]] static constexpr value binary(N n) noexcept
    {
        return {kind::binary, as_size(n), 2, 5};
    }

    [[nodiscard]] static constexpr value uuid() noexcept { return {kind::fixed, 0, 17, 17}; }
    [[nodiscard]] static constexpr value timestamp() noexcept { return {kind::fixed, 0, 9, 9}; }

    /// Something that the caller has measured, its constructor included: a list, a map, an array, a
    /// described or a decimal value.
    template <countable N>
    [[nodiscard]] static constexpr value encoded(N bytes) noexcept
    {
        return {kind::encoded, as_size(bytes), 0, 0};
    }

    [[nodiscard]] constexpr kind what() const noexcept { return kind_; }

    /// Octets of a string, symbol or binary, bytes of what is encoded; otherwise 0.
    [[nodiscard]] constexpr std::uint64_t length() const noexcept { return length_; }

    /// The shortest encoding, without the octets of what has a length; with them three bytes more
    /// where they are more than 255.
    [[nodiscard]] constexpr std::uint64_t narrow() const noexcept { return narrow_; }

    /// The same where a language has one type for all numbers: JavaScript sends 5.0 and 5L alike,
    /// by the smallest AMQP type, and a NaN as null. By the rules of rhea 3.0.5.
    [[nodiscard]] constexpr std::uint64_t plain() const noexcept { return plain_; }

    /// The longest encoding, without the octets; a number being of any type.
    [[nodiscard]] constexpr std::uint64_t wide() const noexcept { return wide_; }

    friend bool operator==(const value&, const value&) = default;

private:
    constexpr value(kind k, std::uint64_t length, std::uint8_t narrow, std::uint8_t wide) noexcept
        : length_(length), kind_(k), narrow_(narrow), plain_(narrow), wide_(wide)
    {
    }

    template <class N>
    [[nodiscard]] static constexpr std::uint8_t typed(N n) noexcept
    {
        constexpr std::uint8_t whole = sizeof(N) + 1;
        if constexpr (sizeof(N) < 4) return whole;
        else if constexpr (std::is_signed_v<N>) return n >= -128 && n <= 127 ? 2 : whole;
        else return n == 0 ? 1 : n <= 255 ? 2 : whole;
    }

    template <class N>
    [[nodiscard]] static constexpr std::uint8_t untyped(N n) noexcept
    {
        const auto positive = static_cast<std::uint64_t>(n);
        if (n > 0) return positive <= 255 ? 2 : positive <= 0xFFFF'FFFF ? 5 : 9;
        const auto negative = static_cast<std::int64_t>(n);
        return negative >= -128 ? 2 : negative > -0x7FFF'FFFF ? 5 : 9;
    }

    [[nodiscard]] static constexpr std::uint8_t untyped(double d) noexcept
    {
        if (!(d <= 0) && !(d > 0)) return 1;  // not a number
        constexpr double exact = 9007199254740992.0;  // from here on all are integers, 9 bytes each
        if (d >= exact || d <= -exact) return 9;
        const auto n = static_cast<std::int64_t>(d);
        const auto back = static_cast<double>(n);
        return back < d || back > d ? 9 : untyped(n);
    }

    std::uint64_t length_ = 0;
    kind kind_ = kind::null;
    std::uint8_t narrow_ = 1;
    std::uint8_t plain_ = 1;
    std::uint8_t wide_ = 1;
};

/// A message-id or correlation-id: a string, a ulong made from any integer, a uuid or a binary.
/// Absent by default.
class identifier {
public:
    constexpr identifier() noexcept = default;
    constexpr identifier(std::nullopt_t) noexcept {}

    template <detail::number N>
    constexpr identifier(N n) noexcept : value_(as_size(n))
    {
    }

    template <class S>
        requires detail::text<S> || detail::blob<S>
    constexpr identifier(const S& s) noexcept : value_(s)
    {
    }

    template <class S>
        requires detail::text<S> || detail::blob<S> || detail::number<S>
    constexpr identifier(const std::optional<S>& s) noexcept
    {
        if (s) *this = identifier(*s);
    }

    template <countable N>
    [[nodiscard]] static constexpr identifier string(N n) noexcept
    {
        return made(value::string(n));
    }

    template <countable N>
    [[nodiscard]] static constexpr identifier binary(N n) noexcept
    {
        return made(value::binary(n));
    }

    [[nodiscard]] static constexpr identifier uuid() noexcept { return made(value::uuid()); }

    [[nodiscard]] constexpr bool given() const noexcept
    {
        return value_.what() != value::kind::null;
    }

    [[nodiscard]] constexpr const value& as_value() const noexcept { return value_; }

    friend bool operator==(const identifier&, const identifier&) = default;

private:
    [[nodiscard]] static constexpr identifier made(const value& v) noexcept
    {
        identifier id;
        id.value_ = v;
        return id;
    }

    value value_;
};

}  // namespace waybill::inline v0_2::wire::amqp

#endif  // WAYBILL_WIRE_AMQP_VALUE_HPP
