// SPDX-License-Identifier: MIT
//
// eventbridge: bytes of an entry as Amazon EventBridge accounts for it in PutEvents.
//
// The event that subscribers see is larger than its entry, as it is JSON with more keys. What the
// limit is held against is the entry, and the sum of a request's entries has to be *less* than it:
//
//     namespace eventbridge = waybill::wire::eventbridge;
//     eventbridge::size({.source = "shop", .detail_type = "order", .detail = json});
//
// Documented, not proved: only the service itself could show it. The event bus's name and a trace
// header are not in the documented sum.
//
// Source: "Calculating PutEvents event entry size",
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-putevent-size.html.

#ifndef WAYBILL_WIRE_EVENTBRIDGE_HPP
#define WAYBILL_WIRE_EVENTBRIDGE_HPP

#include <cstdint>
#include <span>
#include <string_view>

#include <waybill/core/saturating.hpp>

namespace waybill::inline v0_2::wire::eventbridge {

/// An entry of PutEvents; all text is UTF-8.
struct entry {
    std::string_view source{};
    std::string_view detail_type{};
    std::string_view detail{};
    std::span<const std::string_view> resources{};
    bool has_time = false;  ///< Whether a time is given.
};

/// Bytes that the entry is counted with. Linear in the resources. Documented.
[[nodiscard]] constexpr std::uint64_t size(const entry& e) noexcept
{
    std::uint64_t sum = e.has_time ? 14 : 0;
    sum = saturating_add(sum, saturating_add(e.source.size(), e.detail_type.size()));
    sum = saturating_add(sum, e.detail.size());
    for (const std::string_view r : e.resources) sum = saturating_add(sum, r.size());
    return sum;
}

}  // namespace waybill::inline v0_2::wire::eventbridge

#endif  // WAYBILL_WIRE_EVENTBRIDGE_HPP
