// SPDX-License-Identifier: MIT
//
// fault: the kind of a failure outside the library, which determines the reaction to it.
//
// A bool cannot distinguish between "retry", "dead-letter the message" and "stop using the
// partition". Handlers and stores return a fault; an empty fault means success:
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

#include <waybill/core/enum_name.hpp>

namespace waybill::inline v0_2 {

/// The kinds of results of an external call.
enum class fault_kind : std::uint8_t {
    none,            ///< Success.
    transient,       ///< The message may succeed later: retry.
    permanent,       ///< The message will never succeed: dead-letter it.
    infrastructure,  ///< A dependency is down; the messages are valid. Redeliver all of them.
    ownership_lost,  ///< Another consumer owns the partition now: stop and write nothing.
    cancelled,       ///< The caller is stopping. Neither success nor failure.
};

[[nodiscard]] constexpr std::string_view texts_of(fault_kind) noexcept
{
    return "none, transient, permanent, infrastructure, ownership_lost, cancelled";
}

/// The result of an external call: its kind and a text for logs.
struct fault {
    fault_kind kind = fault_kind::none;
    std::string text{};

    [[nodiscard]] bool ok() const noexcept { return kind == fault_kind::none; }
    friend bool operator==(const fault&, const fault&) = default;
};

[[nodiscard]] inline fault transient(std::string text)
{
    return {fault_kind::transient, std::move(text)};
}
[[nodiscard]] inline fault permanent(std::string text)
{
    return {fault_kind::permanent, std::move(text)};
}
[[nodiscard]] inline fault infrastructure(std::string text)
{
    return {fault_kind::infrastructure, std::move(text)};
}
[[nodiscard]] inline fault ownership_lost(std::string text)
{
    return {fault_kind::ownership_lost, std::move(text)};
}
[[nodiscard]] inline fault cancelled(std::string text)
{
    return {fault_kind::cancelled, std::move(text)};
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CORE_FAULT_HPP
