// SPDX-License-Identifier: MIT
//
// amqp_value: the properties of one AMQP 1.0 value that determine its encoded size.
//
//     value v = 5;                  // int; also bool, the other integers, float, double, char32_t
//     value s = "text";             // a string; a container of octets that are not text is binary
//     value b = value::binary(16);  // and symbol(n), uuid(), timestamp(), encoded(n)
//
// AMQP encodes small numbers and short strings in fewer bytes. The size of a value follows from its
// type, the magnitude of a number and the length of a string. A `value` contains only these: it
// reads no character and cannot dangle. Named functions create AMQP types that C++ does not have.
//
// Lengths are octets in UTF-8. Absent and empty differ: an absent field is not written or is null,
// an empty field has length 0.

#ifndef WAYBILL_WIRE_AMQP_VALUE_HPP
#define WAYBILL_WIRE_AMQP_VALUE_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/wire/detail/amqp_argument.hpp>

namespace waybill::inline v0_2::wire::amqp {

/// The length of a string, symbol or binary, taken from an object with a length. Absent by default
/// and from an empty optional.
class octets {
public:
    constexpr octets() noexcept = default;

    template <class S>
        requires detail::text<S> || detail::blob<S>
    constexpr octets(const S& s) noexcept : length_(present_length(detail::length(s)))
    {
    }

    template <class S>
        requires detail::text<S> || detail::blob<S>
    constexpr octets(const std::optional<S>& s) noexcept
    {
        if (s) length_ = present_length(detail::length(*s));
    }

    constexpr octets(std::nullopt_t) noexcept {}

    /// From a length in octets.
    template <waybill::detail::countable N>
    constexpr explicit octets(N n) noexcept : length_(present_length(waybill::detail::as_size(n)))
    {
    }

    [[nodiscard]] constexpr bool given() const noexcept { return length_ != absent; }

    /// The length in octets; 0 if absent.
    [[nodiscard]] constexpr std::uint64_t size() const noexcept { return given() ? length_ : 0; }

    friend bool operator==(const octets&, const octets&) = default;

private:
    static constexpr std::uint64_t absent = waybill::detail::highest_size;

    // 2^64 - 1 means absent. No encoder can write that many octets, so one less has the same
    // effect.
    static constexpr std::uint64_t present_length(std::uint64_t n) noexcept
    {
        return waybill::detail::lesser(n, absent - 1);
    }

    std::uint64_t length_ = absent;
};

/// Any AMQP scalar, or a value that the caller has measured. Null by default.
class value {
public:
    /// The kinds of values that encoders treat differently in their choice of a width.
    enum class kind : std::uint8_t {
        null,
        boolean,
        number,
        fixed,  ///< char, timestamp and uuid: all encoders write the same width.
        binary,
        text,     ///< string and symbol.
        encoded,  ///< Encoded and measured by the caller.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(kind) noexcept
    {
        return "null, boolean, number, fixed, binary, text, encoded";
    }

    constexpr value() noexcept = default;
    constexpr value(std::nullptr_t) noexcept {}

    template <std::same_as<bool> B>
    constexpr value(B) noexcept : value(kind::boolean, 0, 1, 1 + 1)
    {
    }

    /// The AMQP integer of the same width and sign: ubyte to ulong, byte to long.
    template <detail::number N>
    constexpr value(N n) noexcept
        : kind_(kind::number),
          shortest_size_(typed_size(n)),
          shortest_untyped_size_(untyped_size(n)),
          longest_size_(1 + 8)
    {
    }

    /// The AMQP float or double.
    template <std::floating_point F>
        requires(sizeof(F) <= sizeof(double))
    constexpr value(F f) noexcept
        : kind_(kind::number),
          shortest_size_(sizeof(F) + 1),
          shortest_untyped_size_(untyped_size(static_cast<double>(f))),
          longest_size_(1 + 8)
    {
    }

    /// The AMQP char.
    template <std::same_as<char32_t> C>
    constexpr value(C) noexcept : value(kind::fixed, 0, 1 + 4, 1 + 4)
    {
    }

    template <detail::text S>
    constexpr value(const S& s) noexcept
        : value(kind::text, detail::length(s), short_prefix, long_prefix)
    {
    }

    template <detail::blob S>
    constexpr value(const S& s) noexcept
        : value(kind::binary, detail::length(s), short_prefix, long_prefix)
    {
    }

    template <waybill::detail::countable N>
    [[nodiscard]] static constexpr value string(N n) noexcept
    {
        return {kind::text, waybill::detail::as_size(n), short_prefix, long_prefix};
    }

    template <waybill::detail::countable N>
    [[nodiscard]] static constexpr value symbol(N n) noexcept
    {
        return {kind::text, waybill::detail::as_size(n), short_prefix, long_prefix};
    }

    template <detail::text S>
    [[nodiscard]] static constexpr value symbol(const S& s) noexcept
    {
        return {kind::text, detail::length(s), short_prefix, long_prefix};
    }

    template <waybill::detail::countable N>
    [[nodiscard]] static constexpr value binary(N n) noexcept
    {
        return {kind::binary, waybill::detail::as_size(n), short_prefix, long_prefix};
    }

    [[nodiscard]] static constexpr value uuid() noexcept
    {
        return {kind::fixed, 0, 1 + 16, 1 + 16};
    }
    [[nodiscard]] static constexpr value timestamp() noexcept
    {
        return {kind::fixed, 0, 1 + 8, 1 + 8};
    }

    /// A value that the caller has measured, including its constructor: a list, a map, an array, a
    /// described or a decimal value.
    template <waybill::detail::countable N>
    [[nodiscard]] static constexpr value encoded(N bytes) noexcept
    {
        return {kind::encoded, waybill::detail::as_size(bytes), 0, 0};
    }

    [[nodiscard]] constexpr kind what() const noexcept { return kind_; }

    /// Octets of a string, symbol or binary; bytes of an encoded value; otherwise 0.
    [[nodiscard]] constexpr std::uint64_t length() const noexcept { return length_; }

    /// Bytes of the shortest encoding, without `length()`. A string, symbol or binary of more than
    /// 255 octets takes three bytes more.
    [[nodiscard]] constexpr std::uint64_t shortest_size() const noexcept { return shortest_size_; }

    /// Bytes of the shortest encoding, without `length()`, in a language with one type of number.
    /// JavaScript sends 5.0 and 5L with the same, smallest AMQP type, and a NaN as null. The rules
    /// are those of rhea 3.0.5.
    [[nodiscard]] constexpr std::uint64_t shortest_untyped_size() const noexcept
    {
        return shortest_untyped_size_;
    }

    /// Bytes of the longest encoding, without `length()`. A number may have any type of at most 64
    /// bits.
    [[nodiscard]] constexpr std::uint64_t longest_size() const noexcept { return longest_size_; }

    friend bool operator==(const value&, const value&) = default;

private:
    // Bytes before the octets of a string, symbol or binary: the constructor, and the length in one
    // byte or in four.
    static constexpr std::uint8_t short_prefix = 1 + 1;
    static constexpr std::uint8_t long_prefix = 1 + 4;

    // The sizes include the constructor of one byte, but not `length`.
    constexpr value(kind k, std::uint64_t length, std::uint8_t shortest_size,
                    std::uint8_t longest_size) noexcept
        : length_(length),
          kind_(k),
          shortest_size_(shortest_size),
          shortest_untyped_size_(shortest_size),
          longest_size_(longest_size)
    {
    }

    template <class N>
    [[nodiscard]] static constexpr std::uint8_t typed_size(N n) noexcept
    {
        constexpr std::uint8_t full_size = sizeof(N) + 1;
        if constexpr (sizeof(N) < 4) return full_size;
        else if constexpr (std::is_signed_v<N>) return n >= -128 && n <= 127 ? 2 : full_size;
        else return n == 0 ? 1 : n <= 255 ? 2 : full_size;
    }

    template <class N>
    [[nodiscard]] static constexpr std::uint8_t untyped_size(N n) noexcept
    {
        const auto positive = static_cast<std::uint64_t>(n);
        if (n > 0) return positive <= 255 ? 2 : positive <= 0xFFFF'FFFF ? 5 : 9;
        // rhea writes -2^31 and -2^31 + 1 as 64-bit numbers.
        const auto negative = static_cast<std::int64_t>(n);
        return negative >= -128 ? 2 : negative > -0x7FFF'FFFF ? 5 : 9;
    }

    [[nodiscard]] static constexpr std::uint8_t untyped_size(double d) noexcept
    {
        if (!(d <= 0) && !(d > 0)) return 1;          // NaN
        constexpr double exact = 9007199254740992.0;  // 2^53; larger doubles take 9 bytes
        if (d >= exact || d <= -exact) return 9;
        const auto n = static_cast<std::int64_t>(d);
        const auto rounded = static_cast<double>(n);
        return rounded < d || rounded > d ? 9 : untyped_size(n);
    }

    std::uint64_t length_ = 0;
    kind kind_ = kind::null;
    std::uint8_t shortest_size_ = 1;
    std::uint8_t shortest_untyped_size_ = 1;
    std::uint8_t longest_size_ = 1;
};

/// A message-id or correlation-id: a string, a ulong made from any integer, a uuid or a binary.
/// Absent by default.
class identifier {
public:
    constexpr identifier() noexcept = default;
    constexpr identifier(std::nullopt_t) noexcept {}

    template <detail::number N>
    constexpr identifier(N n) noexcept : value_(waybill::detail::as_size(n))
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

    template <waybill::detail::countable N>
    [[nodiscard]] static constexpr identifier string(N n) noexcept
    {
        return of_value(value::string(n));
    }

    template <waybill::detail::countable N>
    [[nodiscard]] static constexpr identifier binary(N n) noexcept
    {
        return of_value(value::binary(n));
    }

    [[nodiscard]] static constexpr identifier uuid() noexcept { return of_value(value::uuid()); }

    [[nodiscard]] constexpr bool given() const noexcept
    {
        return value_.what() != value::kind::null;
    }

    [[nodiscard]] constexpr const value& as_value() const noexcept { return value_; }

    friend bool operator==(const identifier&, const identifier&) = default;

private:
    [[nodiscard]] static constexpr identifier of_value(const value& v) noexcept
    {
        identifier id;
        id.value_ = v;
        return id;
    }

    value value_;
};

}  // namespace waybill::inline v0_2::wire::amqp

#endif  // WAYBILL_WIRE_AMQP_VALUE_HPP
