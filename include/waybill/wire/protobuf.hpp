// SPDX-License-Identifier: MIT
//
// protobuf: exact size in bytes of message fields, and of requests with one repeated field.
//
//     namespace protobuf = waybill::wire::protobuf;
//     const auto fixed = protobuf::bytes_field_size(1, topic.size());
//     protobuf::repeated framing{2, fixed, [](const point& p) { return p.ByteSizeLong(); }};
//
// A typical gRPC request has some fixed fields and one repeated field. Each item of that field adds
// its bytes, a tag and a length. The length takes one byte more from 128, 16,384 ... bytes on.
// Without these bytes a batch can be too large: "You passed 4194305, the maximum is 4194304".
//
// A field without presence is not written if it is empty or 0. The functions return the size of a
// written field; the caller decides whether it is written. A message has at most 2 GiB minus one
// byte. A larger field and an invalid field number have the size 2^64 - 1.
//
// Source: https://protobuf.dev/programming-guides/encoding/, and proto-limits/#total for 2 GiB.
// Tested in protobuf.prop.cpp against an independent writer. `bytes_field_size` and `repeated` are
// also tested against Google's encoder, through pubsub.hpp; number fields are not.

#ifndef WAYBILL_WIRE_PROTOBUF_HPP
#define WAYBILL_WIRE_PROTOBUF_HPP

#include <cstdint>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/wire/varint.hpp>

namespace waybill::inline v0_2::wire::protobuf {

/// Maximum bytes of a message, or of one field in it. Source:
/// https://protobuf.dev/programming-guides/proto-limits/#total.
inline constexpr std::uint64_t max_bytes = 0x7FFF'FFFF;

/// Bytes of the tag before each field: 1 for numbers up to 15, 2 up to 2,047, at most 5. The result
/// is 2^64 - 1 if `number` is 0 or over 2^29 - 1. Constant time.
[[nodiscard]] constexpr std::uint64_t tag_size(std::uint64_t number) noexcept
{
    return number == 0 || number > 0x1FFF'FFFF ? waybill::detail::highest_size
                                               : waybill::detail::varint_size(number << 3U);
}

/// Bytes of an integer, bool or enum field. Pass a negative int32 or int64 as 64 bits; it takes 10
/// bytes and the tag. Pass sint32 and sint64 through `zigzag` first. Constant time.
[[nodiscard]] constexpr std::uint64_t varint_field_size(std::uint64_t number,
                                                        std::uint64_t value) noexcept
{
    return waybill::detail::saturating_add(protobuf::tag_size(number),
                                           waybill::detail::varint_size(value));
}

/// Bytes of a fixed32, sfixed32 or float field. Constant time.
[[nodiscard]] constexpr std::uint64_t fixed32_field_size(std::uint64_t number) noexcept
{
    return waybill::detail::saturating_add(protobuf::tag_size(number), 4);
}

/// Bytes of a fixed64, sfixed64 or double field. Constant time.
[[nodiscard]] constexpr std::uint64_t fixed64_field_size(std::uint64_t number) noexcept
{
    return waybill::detail::saturating_add(protobuf::tag_size(number), 8);
}

/// Bytes of a field with a length: string, bytes, an embedded message, a map entry, packed numbers.
/// `length` is the size of its content in bytes. Constant time.
[[nodiscard]] constexpr std::uint64_t bytes_field_size(std::uint64_t number,
                                                       std::uint64_t length) noexcept
{
    if (length > max_bytes) return waybill::detail::highest_size;
    return waybill::detail::saturating_add(protobuf::tag_size(number),
                                           waybill::detail::varint_size(length) + length);
}

/// A request with one repeated field, as a framing. `size` returns the bytes of an item without tag
/// and length.
template <class F>
struct repeated {
    std::uint64_t number = 1;  ///< Field number of the repeated field.
    std::uint64_t fixed = 0;   ///< Bytes of all other fields of the request.
    F size{};

    /// Empty: the bytes of an item do not depend on the items before it.
    struct state {
        friend bool operator==(const state&, const state&) = default;
    };

    template <class Item>
    [[nodiscard]] constexpr std::uint64_t envelope(const Item&) const noexcept
    {
        return fixed;
    }
    template <class Item>
        requires requires(const F& f, const Item& item) {
            { f(item) } -> waybill::detail::countable;
        }
    [[nodiscard]] constexpr std::uint64_t delta(const state&, const Item& item) const
    {
        return protobuf::bytes_field_size(number, waybill::detail::as_size(size(item)));
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
