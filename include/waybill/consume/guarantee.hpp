// SPDX-License-Identifier: MIT
//
// guarantee: what a driver promises of each event, as a part of its report's type.
//
// Whoever books a report as "once" has to have got it from a driver that holds that. So each report
// says in its type which guarantee it stands for, and a function can ask for one:
//
//     template <waybill::promises<waybill::delivery_guarantee::effect_once> Report>
//     void charge(const Report& r);                   // takes no report of process_at_least_once

#ifndef WAYBILL_CONSUME_GUARANTEE_HPP
#define WAYBILL_CONSUME_GUARANTEE_HPP

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace waybill::inline v0_2 {

/// What holds of each event, whatever fails.
enum class delivery_guarantee : std::uint8_t {
    effect_once,    ///< It takes effect once, or is a dead letter: both are in one transaction.
    at_least_once,  ///< It is handled once or more often, or is a dead letter; never passed over.
};

[[nodiscard]] constexpr std::string_view name(delivery_guarantee g) noexcept
{
    switch (g) {
        case delivery_guarantee::effect_once: return "effect_once";
        case delivery_guarantee::at_least_once: return "at_least_once";
    }
    return "?";
}

/// A report that says in its type what it stands for.
template <class R>
concept guaranteed = requires {
    { std::remove_cvref_t<R>::guarantee } -> std::convertible_to<delivery_guarantee>;
};

/// A report that stands for this guarantee and no other.
template <class R, delivery_guarantee G>
concept promises = guaranteed<R> && std::remove_cvref_t<R>::guarantee == G;

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_GUARANTEE_HPP
