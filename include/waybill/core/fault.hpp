// SPDX-License-Identifier: MIT
//
// fault: what went wrong outside, told as what to do about it.
//
// A bool cannot say whether to try again, to park the message, or to stop touching the partition.
// A handler or a store answers with a fault; an empty one means that all went well:
//
//     waybill::fault handle(tx&, const order& o)
//     {
//         if (o.total < 0) return waybill::permanent("total is negative");
//         return {};
//     }

#ifndef WAYBILL_CORE_FAULT_HPP
#define WAYBILL_CORE_FAULT_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace waybill::inline v0_2 {

/// The six answers that the outside world can give.
enum class fault_class : std::uint8_t {
    none,            ///< It worked.
    transient,       ///< This message may work later.
    permanent,       ///< This message will never work: park it.
    infrastructure,  ///< A store or broker is down. No message is to blame; give all of them again.
    ownership_lost,  ///< Somebody else owns the partition now: stop, write nothing.
    cancelled,       ///< The caller is stopping. Neither success nor failure.
};

[[nodiscard]] constexpr std::string_view name(fault_class c) noexcept
{
    switch (c) {
        case fault_class::none: return "none";
        case fault_class::transient: return "transient";
        case fault_class::permanent: return "permanent";
        case fault_class::infrastructure: return "infrastructure";
        case fault_class::ownership_lost: return "ownership_lost";
        case fault_class::cancelled: return "cancelled";
    }
    return "?";
}

/// How it went, and in whose words.
struct fault {
    fault_class how = fault_class::none;
    std::string text{};

    [[nodiscard]] bool ok() const noexcept { return how == fault_class::none; }
    friend bool operator==(const fault&, const fault&) = default;
};

[[nodiscard]] inline fault transient(std::string text)
{
    return {fault_class::transient, std::move(text)};
}
[[nodiscard]] inline fault permanent(std::string text)
{
    return {fault_class::permanent, std::move(text)};
}
[[nodiscard]] inline fault infrastructure(std::string text)
{
    return {fault_class::infrastructure, std::move(text)};
}
[[nodiscard]] inline fault ownership_lost(std::string text)
{
    return {fault_class::ownership_lost, std::move(text)};
}
[[nodiscard]] inline fault cancelled(std::string text)
{
    return {fault_class::cancelled, std::move(text)};
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CORE_FAULT_HPP
