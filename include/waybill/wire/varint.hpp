// SPDX-License-Identifier: MIT
//
// varint: how many bytes an integer takes in the formats that spend seven bits a byte.
//
// Kafka, MQTT and protobuf write a small number in one byte and a large one in up to ten. So a
// length costs more the longer what it counts is, and a size that forgets this is one byte short
// at 128 (64 where there is a sign), and one more at each of 16,384, 2,097,152 ...
//
//     waybill::wire::varint_size(300)     // 2
//     waybill::wire::zigzag_size(-1)      // 1: small either way of zero is short
//
// They are those of core/varint.hpp, under the name of this room.

#ifndef WAYBILL_WIRE_VARINT_HPP
#define WAYBILL_WIRE_VARINT_HPP

#include <waybill/core/varint.hpp>

namespace waybill::inline v0_2::wire {

using v0_2::varint_size;
using v0_2::zigzag;
using v0_2::zigzag_size;

}  // namespace waybill::inline v0_2::wire

#endif  // WAYBILL_WIRE_VARINT_HPP
