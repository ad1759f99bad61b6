// SPDX-License-Identifier: MIT
//
// sqs: bytes of a message as Amazon SQS and SNS account for it.
//
// They do not measure the request: they add up the body and, of each attribute, the name, the data
// type and the value. A batch is held against the sum of its messages, so a size function is all
// that cutting needs:
//
//     namespace sqs = waybill::wire::sqs;
//     const sqs::attribute attributes[] = {{"trace", "String", trace}};
//     sqs::size({.body = json, .attributes = attributes});
//
// Documented, not proved: only the services themselves could show it. That system attributes, such
// as a trace header, do not count is documented for SQS alone.
//
// Sources: MessageAttributeValue in the API references, "all parts of the message attribute,
// including Name, Type, and Value, are part of the message size restriction":
// https://docs.aws.amazon.com/sns/latest/api/API_MessageAttributeValue.html, and
// API_MessageAttributeValue.html and, for the sum of a batch, API_SendMessageBatch.html in
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/.

#ifndef WAYBILL_WIRE_SQS_HPP
#define WAYBILL_WIRE_SQS_HPP

#include <cstdint>
#include <span>
#include <string_view>

#include <waybill/core/saturating.hpp>

namespace waybill::inline v0_2::wire::sqs {

/// A message attribute.
struct attribute {
    std::string_view name{};
    std::string_view type{};   ///< "String", "Number", "Binary", with a custom label or without.
    std::string_view value{};  ///< UTF-8, or the bytes of a binary value before base64.
};

/// A message, without system attributes.
struct message {
    std::string_view body{};  ///< UTF-8.
    std::span<const attribute> attributes{};
};

/// Bytes that the message is counted with. Linear in the attributes. Documented.
[[nodiscard]] constexpr std::uint64_t size(const message& m) noexcept
{
    std::uint64_t sum = m.body.size();
    for (const attribute& a : m.attributes) {
        const std::uint64_t names = saturating_add(a.name.size(), a.type.size());
        sum = saturating_add(sum, saturating_add(names, a.value.size()));
    }
    return sum;
}

}  // namespace waybill::inline v0_2::wire::sqs

namespace waybill::inline v0_2::wire {

/// The same rule, with limits of its own.
namespace sns = sqs;

}  // namespace waybill::inline v0_2::wire

#endif  // WAYBILL_WIRE_SQS_HPP
