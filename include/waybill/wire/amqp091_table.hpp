// SPDX-License-Identifier: MIT
//
// amqp091_table: exact bytes of an AMQP 0-9-1 field table, such as a message's headers.
//
// A value is sized when it is made, so that tables nest without anything being kept:
//
//     namespace amqp = waybill::wire::amqp091;
//     const amqp::field inner[] = {{"count", std::int64_t{3}}};
//     const amqp::field headers[] = {{"x-death", amqp::table(inner)}, {"flag", true}};
//     amqp::table_size(headers);
//
// Source: AMQP 0-9-1, section 4.2.5, https://www.rabbitmq.com/resources/specs/amqp0-9-1.pdf, with
// the types that brokers use, https://www.rabbitmq.com/amqp-0-9-1-errata.html#section_3.
// Proved by amqplib 2.3.1 (tests/golden/amqp091) and by a writer in amqp091.prop.cpp.

#ifndef WAYBILL_WIRE_AMQP091_TABLE_HPP
#define WAYBILL_WIRE_AMQP091_TABLE_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <waybill/core/saturating.hpp>

namespace waybill::inline v0_2::wire {

namespace amqp091 {

namespace detail {

[[nodiscard]] constexpr std::uint64_t short_string(std::string_view s) noexcept
{
    return s.size() > 0xFF ? highest_size : 1 + s.size();
}

// What has a 32-bit length in front: long strings, byte arrays, tables, arrays.
[[nodiscard]] constexpr std::uint64_t with_length(std::uint64_t n) noexcept
{
    return n > 0xFFFF'FFFF ? highest_size : 4 + n;
}

}  // namespace detail

/// Bytes of a value as they stand after the octet that names its type.
struct encoded {
    std::uint64_t bytes = 0;
};

/// A value in a table or an array. What it is made of says its type: a bool is 't', integers are
/// signed or unsigned of their own width, float is 'f' and double 'd', text is a long string 'S',
/// nullptr is no value 'V'. The others are made by name.
class value {
public:
    constexpr value(std::nullptr_t) noexcept {}
    template <std::integral N>
    constexpr value(N) noexcept : bytes_(sizeof(N)) {}
    template <std::floating_point N>
    constexpr value(N) noexcept : bytes_(sizeof(N)) {}
    template <std::convertible_to<std::string_view> S>
    constexpr value(const S& text) noexcept
        : bytes_(detail::with_length(std::string_view(text).size())) {}
    constexpr value(encoded e) noexcept : bytes_(e.bytes) {}

    /// With the octet that names the type.
    [[nodiscard]] constexpr std::uint64_t size() const noexcept
    {
        return saturating_add(1, bytes_);
    }

private:
    std::uint64_t bytes_ = 0;
};

/// A named value. Names are short strings; a broker may take less than their 255 bytes.
struct field {
    std::string_view name{};
    value content = nullptr;
};

/// Bytes of a table with the length in front of it. Linear in its fields.
[[nodiscard]] constexpr std::uint64_t table_size(std::span<const field> fields) noexcept
{
    std::uint64_t sum = 0;
    for (const field& f : fields) {
        const std::uint64_t own = saturating_add(detail::short_string(f.name), f.content.size());
        sum = saturating_add(sum, own);
    }
    return detail::with_length(sum);
}

/// A table in a table: 'F'.
[[nodiscard]] constexpr value table(std::span<const field> fields) noexcept
{
    return encoded{amqp091::table_size(fields)};
}

/// An array: 'A'.
[[nodiscard]] constexpr value array(std::span<const value> values) noexcept
{
    std::uint64_t sum = 0;
    for (const value& v : values) sum = saturating_add(sum, v.size());
    return encoded{detail::with_length(sum)};
}

/// Bytes, 'x': as long as the same text would be.
[[nodiscard]] constexpr value bytes(std::string_view all) noexcept
{
    return encoded{detail::with_length(all.size())};
}

/// A time in seconds: 'T'.
[[nodiscard]] constexpr value timestamp() noexcept
{
    return encoded{8};
}

/// A decimal number, 'D': its scale and 32 bits.
[[nodiscard]] constexpr value decimal() noexcept
{
    return encoded{5};
}

}  // namespace amqp091

}  // namespace waybill::inline v0_2::wire

#endif  // WAYBILL_WIRE_AMQP091_TABLE_HPP
