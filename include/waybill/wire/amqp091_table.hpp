// SPDX-License-Identifier: MIT
//
// amqp091_table: exact size in bytes of an AMQP 0-9-1 field table, such as a message's headers.
//
//     namespace amqp = waybill::wire::amqp091;
//     const amqp::field inner[] = {{"count", std::int64_t{3}}};
//     const amqp::field headers[] = {{"x-death", amqp::table(inner)}, {"flag", true}};
//     amqp::table_size(headers);
//
// A value computes its size in its constructor and stores nothing else. Nested tables therefore
// need no storage.
//
// Source: AMQP 0-9-1, section 4.2.5, https://www.rabbitmq.com/resources/specs/amqp0-9-1.pdf, with
// the types that brokers use, https://www.rabbitmq.com/amqp-0-9-1-errata.html#section_3. Tested
// against amqplib 2.3.1 (tests/golden/amqp091) and an independent writer in amqp091.prop.cpp.

#ifndef WAYBILL_WIRE_AMQP091_TABLE_HPP
#define WAYBILL_WIRE_AMQP091_TABLE_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::wire {

namespace amqp091 {

namespace detail {

[[nodiscard]] constexpr std::uint64_t short_string(std::string_view s) noexcept
{
    return s.size() > 0xFF ? waybill::detail::highest_size : 1 + s.size();
}

// Bytes of a 32-bit length and `n` bytes of content: long strings, byte arrays, tables and arrays.
[[nodiscard]] constexpr std::uint64_t with_length(std::uint64_t n) noexcept
{
    return n > 0xFFFF'FFFF ? waybill::detail::highest_size : 4 + n;
}

}  // namespace detail

/// The size of an encoded value in bytes, without the octet of its type.
struct encoded {
    std::uint64_t bytes = 0;
};

/// The size of a value in a table or an array. The C++ type determines the AMQP type. bool is 't',
/// float is 'f', double is 'd', text is a long string 'S', nullptr is the void type 'V'. An integer
/// keeps its width and sign. The functions below create the other types.
class value {
public:
    constexpr value(std::nullptr_t) noexcept {}
    template <std::integral N>
    constexpr value(N) noexcept : bytes_(sizeof(N))
    {
    }
    template <std::floating_point N>
    constexpr value(N) noexcept : bytes_(sizeof(N))
    {
    }
    template <std::convertible_to<std::string_view> S>
    constexpr value(const S& text) noexcept
        : bytes_(detail::with_length(std::string_view(text).size()))
    {
    }
    constexpr value(encoded e) noexcept : bytes_(e.bytes) {}

    /// Bytes of the value, including the octet of its type. Constant time.
    [[nodiscard]] constexpr std::uint64_t size() const noexcept
    {
        return waybill::detail::saturating_add(1, bytes_);
    }

private:
    std::uint64_t bytes_ = 0;
};

/// A named value. A name has at most 255 bytes; a broker may accept fewer.
struct field {
    std::string_view name{};
    value content = nullptr;
};

/// Bytes of a table, including its 4-byte length, or 2^64 - 1 if it cannot be encoded. Linear in
/// the fields; a nested value takes constant time.
[[nodiscard]] constexpr std::uint64_t table_size(std::span<const field> fields) noexcept
{
    std::uint64_t sum = 0;
    for (const field& f : fields) {
        const std::uint64_t field_bytes =
            waybill::detail::saturating_add(detail::short_string(f.name), f.content.size());
        sum = waybill::detail::saturating_add(sum, field_bytes);
    }
    return detail::with_length(sum);
}

/// A nested table, type 'F'. Linear in its fields.
[[nodiscard]] constexpr value table(std::span<const field> fields) noexcept
{
    return encoded{amqp091::table_size(fields)};
}

/// An array, type 'A'. Linear in its values.
[[nodiscard]] constexpr value array(std::span<const value> values) noexcept
{
    std::uint64_t sum = 0;
    for (const value& v : values) sum = waybill::detail::saturating_add(sum, v.size());
    return encoded{detail::with_length(sum)};
}

/// A byte array, type 'x', with the size of a long string of equal length.
[[nodiscard]] constexpr value bytes(std::string_view all) noexcept
{
    return encoded{detail::with_length(all.size())};
}

/// A time in seconds, type 'T': 64 bits.
[[nodiscard]] constexpr value timestamp() noexcept
{
    return encoded{8};
}

/// A decimal number, type 'D': one octet of scale and 32 bits.
[[nodiscard]] constexpr value decimal() noexcept
{
    return encoded{5};
}

}  // namespace amqp091

}  // namespace waybill::inline v0_2::wire

#endif  // WAYBILL_WIRE_AMQP091_TABLE_HPP
