// SPDX-License-Identifier: MIT
//
// kafka_letters: a dead-letter topic, in the format of Spring for Apache Kafka.
//
//     out.send(engines::dead_letter_of(m, waybill::permanent("no total"), "billing", 8), token);
//
//   1. The topic is NAME.DLT. The partition has the same number, if the dead-letter topic has it.
//   2. Key, body and headers are unchanged. The source and the reason are in further headers
//      (kafka_dlt-...), which tools for dead letters read.
//   3. Numbers in headers are big-endian, as in Java: 4 bytes for a partition, 8 for offsets and
//      times.
//   4. A reason is cut after 1,024 bytes.
//
// No calls to a broker are made here. The faults of sending are those of kafka_producer.hpp.

#ifndef WAYBILL_EXAMPLES_ENGINES_KAFKA_LETTERS_HPP
#define WAYBILL_EXAMPLES_ENGINES_KAFKA_LETTERS_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kafka_producer.hpp"
#include <waybill/core/fault.hpp>
#include <waybill/core/text.hpp>

namespace engines {

namespace dlt {

inline constexpr const char* topic = "kafka_dlt-original-topic";
inline constexpr const char* partition = "kafka_dlt-original-partition";
inline constexpr const char* offset = "kafka_dlt-original-offset";
inline constexpr const char* timestamp = "kafka_dlt-original-timestamp";
inline constexpr const char* timestamp_type = "kafka_dlt-original-timestamp-type";
inline constexpr const char* group = "kafka_dlt-original-consumer-group";
inline constexpr const char* exception = "kafka_dlt-exception-fqcn";
inline constexpr const char* reason = "kafka_dlt-exception-message";

inline constexpr std::string_view behind_topic = ".DLT";
inline constexpr std::size_t reason_bytes = 1'024;

}  // namespace dlt

/// A number in `bytes` bytes, the highest first.
[[nodiscard]] inline std::string big_endian(std::uint64_t n, std::size_t bytes)
{
    std::string out(bytes, '\0');
    for (std::size_t i = bytes; i-- != 0; n >>= 8U) out[i] = static_cast<char>(n & 0xFFU);
    return out;
}

/// The number in such a header; empty if it has another length.
[[nodiscard]] inline std::optional<std::uint64_t> big_endian_in(
    std::optional<std::string_view> bytes, std::size_t length)
{
    if (!bytes || bytes->size() != length) return {};
    std::uint64_t n = 0;
    for (const char c : *bytes) n = n << 8U | static_cast<unsigned char>(c);
    return n;
}

/// `partitions` are those of the dead-letter topic. `whole` is false for a record that is too
/// large for the topic: its body is left out, and can be found by topic, partition and offset.
[[nodiscard]] inline kafka_record dead_letter_of(const kafka_message& m, const waybill::fault& why,
                                                 const std::string& group, std::int32_t partitions,
                                                 bool whole = true)
{
    const kafka_partition from = m.at();
    kafka_record r{.topic = from.topic + std::string(dlt::behind_topic)};
    if (from.number < partitions) r.partition = from.number;
    if (const auto key = m.key()) r.key = std::string(*key);
    if (whole) {
        r.body = m.body();
        r.headers = m.headers();
    }
    const bool by_log = m.timestamp_type() == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME;
    const auto number = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
    r.headers.emplace_back(dlt::topic, from.topic);
    r.headers.emplace_back(dlt::partition, big_endian(number(from.number), 4));
    r.headers.emplace_back(dlt::offset, big_endian(number(m.offset()), 8));
    r.headers.emplace_back(dlt::timestamp, big_endian(number(m.timestamp()), 8));
    r.headers.emplace_back(dlt::timestamp_type, by_log ? "LogAppendTime" : "CreateTime");
    r.headers.emplace_back(dlt::group, group);
    r.headers.emplace_back(dlt::exception, "waybill." + std::string(name(why.kind)));
    r.headers.emplace_back(dlt::reason, waybill::utf8_prefix(why.text, dlt::reason_bytes));
    return r;
}

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_KAFKA_LETTERS_HPP
