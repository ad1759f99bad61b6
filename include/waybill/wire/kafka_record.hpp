// SPDX-License-Identifier: MIT
//
// kafka_record: a record and its headers as a Kafka producer sends them, for kafka.hpp.

#ifndef WAYBILL_WIRE_KAFKA_RECORD_HPP
#define WAYBILL_WIRE_KAFKA_RECORD_HPP

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace waybill::inline v0_2::wire::kafka {

/// A header of a record. Its key is always present; its value may be absent.
struct header {
    std::string_view key{};
    std::optional<std::string_view> value{};
};

/// A record as a producer sends it. Contains views and owns nothing.
struct record {
    std::optional<std::string_view> key{};
    std::optional<std::string_view> value{};
    /// In milliseconds; only the difference from the batch's first record affects the size.
    std::int64_t timestamp = 0;
    std::span<const header> headers{};
};

}  // namespace waybill::inline v0_2::wire::kafka

#endif  // WAYBILL_WIRE_KAFKA_RECORD_HPP
