// SPDX-License-Identifier: MIT
//
// eventbridge: size in bytes of a PutEvents entry as Amazon EventBridge counts it.
//
//     namespace eventbridge = waybill::wire::eventbridge;
//     eventbridge::size({.source = "shop", .detail_type = "order", .detail = json});
//
// The limit applies to the entries. The event that subscribers receive is larger, because it is
// JSON with more keys. The sum of the entries of a request must be *less* than the limit.
//
// Documented, not tested: only the service can confirm the size. The documented sum does not
// contain the name of the event bus or a trace header.
//
// Source: "Calculating PutEvents event entry size",
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-putevent-size.html.

#ifndef WAYBILL_WIRE_EVENTBRIDGE_HPP
#define WAYBILL_WIRE_EVENTBRIDGE_HPP

#include <cstdint>
#include <span>
#include <string_view>

#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::wire::eventbridge {

/// An entry of PutEvents; all text is UTF-8.
struct entry {
    std::string_view source{};
    std::string_view detail_type{};
    std::string_view detail{};
    std::span<const std::string_view> resources{};
    bool has_time = false;  ///< True if the entry has a time, which counts 14 bytes.
};

/// Bytes that the service counts for the entry. Linear in the resources. Documented.
[[nodiscard]] constexpr std::uint64_t size(const entry& e) noexcept
{
    std::uint64_t sum = e.has_time ? 14 : 0;
    sum = waybill::detail::saturating_add(
        sum, waybill::detail::saturating_add(e.source.size(), e.detail_type.size()));
    sum = waybill::detail::saturating_add(sum, e.detail.size());
    for (const std::string_view r : e.resources)
        sum = waybill::detail::saturating_add(sum, r.size());
    return sum;
}

}  // namespace waybill::inline v0_2::wire::eventbridge

#endif  // WAYBILL_WIRE_EVENTBRIDGE_HPP
