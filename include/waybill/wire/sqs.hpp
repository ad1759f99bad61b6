// SPDX-License-Identifier: MIT
//
// sqs: size in bytes of a message as Amazon SQS and SNS count it.
//
//     namespace sqs = waybill::wire::sqs;
//     const sqs::attribute attributes[] = {{"trace", "String", trace}};
//     sqs::size({.body = json, .attributes = attributes});
//
// The services do not count the bytes of the request. They count the body and, for each attribute,
// its name, data type and value. The size of a batch is the sum of its messages, so `chunk_by`
// needs no framing.
//
// Documented, not tested: only the services can confirm the size. System attributes, such as a
// trace header, do not count; this is documented for SQS only.
//
// Sources: "all parts of the message attribute, including Name, Type, and Value, are part of the
// message size restriction" (API_MessageAttributeValue.html), and for the sum of a batch
// API_SendMessageBatch.html, both in
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/. For SNS:
// https://docs.aws.amazon.com/sns/latest/api/API_MessageAttributeValue.html.

#ifndef WAYBILL_WIRE_SQS_HPP
#define WAYBILL_WIRE_SQS_HPP

#include <cstdint>
#include <span>
#include <string_view>

#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::wire::sqs {

/// A message attribute.
struct attribute {
    std::string_view name{};
    std::string_view type{};   ///< "String", "Number" or "Binary", with or without a custom label.
    std::string_view value{};  ///< UTF-8, or the bytes of a binary value before base64.
};

/// A message, without system attributes.
struct message {
    std::string_view body{};  ///< UTF-8.
    std::span<const attribute> attributes{};
};

/// Bytes that the service counts for the message. Linear in the attributes. Documented.
[[nodiscard]] constexpr std::uint64_t size(const message& m) noexcept
{
    std::uint64_t sum = m.body.size();
    for (const attribute& a : m.attributes) {
        const std::uint64_t name_and_type =
            waybill::detail::saturating_add(a.name.size(), a.type.size());
        sum = waybill::detail::saturating_add(
            sum, waybill::detail::saturating_add(name_and_type, a.value.size()));
    }
    return sum;
}

}  // namespace waybill::inline v0_2::wire::sqs

namespace waybill::inline v0_2::wire {

/// SNS counts by the same rule, with other limits.
namespace sns = sqs;

}  // namespace waybill::inline v0_2::wire

#endif  // WAYBILL_WIRE_SQS_HPP
