// SPDX-License-Identifier: MIT
//
// protobuf: exact bytes of the fields of a message, and of requests that repeat one.
//
// A request over gRPC is a few fixed fields and one repeated field, whose items cost their own
// bytes, a tag, and a length that takes a byte more at 128, at 16,384 and so on. That step is what
// "You passed 4194305, the maximum is 4194304" is made of:
//
//     namespace protobuf = waybill::wire::protobuf;
//     const auto fixed = protobuf::bytes_field_size(1, topic.size());
//     protobuf::repeated framing{2, fixed, [](const point& p) { return p.ByteSizeLong(); }};
//
// Fields without presence are not written when they are empty or 0. The functions here size what
// is written; whether it is, the caller says. A message is at most 2 GiB less one byte; a field
// over that reads as the largest size, and so does a field number that there is not.
//
// Source: https://protobuf.dev/programming-guides/encoding/ and, for the 2 GiB,
// https://protobuf.dev/programming-guides/proto-limits/#total.
// `bytes_field_size` and `repeated` are proved by Google's own encoder, through pubsub.hpp. All is
// proved by a writer of our own in protobuf.prop.cpp, fields of numbers by that alone.

#ifndef WAYBILL_WIRE_PROTOBUF_HPP
#define WAYBILL_WIRE_PROTOBUF_HPP

#include <cstdint>

#include <waybill/core/saturating.hpp>
#include <waybill/wire/varint.hpp>

namespace waybill::inline v0_2::wire::protobuf {

/// Most bytes of a message, or of one field in it.
inline constexpr std::uint64_t most_bytes = 0x7FFF'FFFF;

/// Bytes of the tag in front of every field: 1 for numbers up to 15, 2 up to 2,047, at most 5.
/// Constant time.
[[nodiscard]] constexpr std::uint64_t tag_size(std::uint64_t number) noexcept
{
    return number == 0 || number > 0x1FFF'FFFF ? highest_size : varint_size(number << 3U);
}

/// Bytes of an integer, bool or enum field. A negative int32 or int64 is as wide as can be and is
/// given as its 64 bits; sint32 and sint64 go through `zigzag` first. Constant time.
[[nodiscard]] constexpr std::uint64_t varint_field_size(std::uint64_t number,
                                                        std::uint64_t value) noexcept
{
    return saturating_add(protobuf::tag_size(number), varint_size(value));
}

/// Bytes of a fixed32, sfixed32 or float field. Constant time.
[[nodiscard]] constexpr std::uint64_t fixed32_field_size(std::uint64_t number) noexcept
{
    return saturating_add(protobuf::tag_size(number), 4);
}

/// Bytes of a fixed64, sfixed64 or double field. Constant time.
[[nodiscard]] constexpr std::uint64_t fixed64_field_size(std::uint64_t number) noexcept
{
    return saturating_add(protobuf::tag_size(number), 8);
}

/// Bytes of a field that has a length: string, bytes, an embedded message, a map entry, packed
/// numbers. `length` is of what it holds. Constant time.
[[nodiscard]] constexpr std::uint64_t bytes_field_size(std::uint64_t number,
                                                       std::uint64_t length) noexcept
{
    if (length > most_bytes) return highest_size;
    return saturating_add(protobuf::tag_size(number), varint_size(length) + length);
}

/// A request with one repeated field as a framing. `size` says the bytes of an item by itself.
template <class F>
struct repeated {
    std::uint64_t number = 1;  ///< Of the repeated field.
    std::uint64_t fixed = 0;   ///< Bytes of all other fields of the request.
    F size{};

    /// Nothing: what an item adds does not depend on those before it.
    struct state {
        friend bool operator==(const state&, const state&) = default;
    };

    template <class Item>
    [[nodiscard]] constexpr std::uint64_t envelope(const Item&) const noexcept
    {
        return fixed;
    }
    template <class Item>
        requires requires(const F& f, const Item& item) { { f(item) } -> countable; }
    [[nodiscard]] constexpr std::uint64_t delta(const state&, const Item& item) const
    {
        return protobuf::bytes_field_size(number, as_size(size(item)));
    }
    template <class Item>
    constexpr void push(state&, const Item&) const noexcept
    {
    }
};

template <class N, class B, class F>
repeated(N, B, F) -> repeated<F>;

}  // namespace waybill::inline v0_2::wire::protobuf

#endif  // WAYBILL_WIRE_PROTOBUF_HPP
