// SPDX-License-Identifier: MIT
//
// varint: size in bytes of an integer in formats with seven bits per byte.
//
//     waybill::wire::varint_size(300)     // 2
//     waybill::wire::zigzag_size(-1)      // 1: numbers near zero are short
//
// Kafka, MQTT and protobuf write integers and lengths in this format, in one to ten bytes. A length
// takes one byte more from 128, 16,384, 2,097,152 ... on (from 64, 8,192 ... for zigzag numbers).

#ifndef WAYBILL_WIRE_VARINT_HPP
#define WAYBILL_WIRE_VARINT_HPP

#include <waybill/core/detail/varint.hpp>

namespace waybill::inline v0_2::wire {

using v0_2::detail::varint_size;
using v0_2::detail::zigzag;
using v0_2::detail::zigzag_size;

}  // namespace waybill::inline v0_2::wire

#endif  // WAYBILL_WIRE_VARINT_HPP
