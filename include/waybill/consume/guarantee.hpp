// SPDX-License-Identifier: MIT
//
// guarantee: the delivery guarantee of a driver, as part of the type of its report.
//
//     template <class Report>
//         requires(Report::guarantee == waybill::delivery_guarantee::effect_once)
//     void charge(const Report& r);      // a report of process_at_least_once does not compile here
//
// Each report type names the guarantee of its driver. A function that depends on a guarantee
// requires it in its signature, and the compiler rejects all other reports.

#ifndef WAYBILL_CONSUME_GUARANTEE_HPP
#define WAYBILL_CONSUME_GUARANTEE_HPP

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <waybill/core/enum_name.hpp>

namespace waybill::inline v0_2 {

/// The guarantee for each event, whatever fails.
enum class delivery_guarantee : std::uint8_t {
    /// The event takes effect once or becomes a dead letter, both in one transaction.
    effect_once,
    /// The event is handled at least once or becomes a dead letter. The checkpoint never passes an
    /// event with neither.
    at_least_once,
};

[[nodiscard]] constexpr std::string_view texts_of(delivery_guarantee) noexcept
{
    return "effect_once, at_least_once";
}

namespace detail {

/// A report type with a static member `guarantee`, convertible to `delivery_guarantee`.
template <class R>
concept guaranteed = requires {
    { std::remove_cvref_t<R>::guarantee } -> std::convertible_to<delivery_guarantee>;
};

/// A report type whose guarantee equals `G`.
template <class R, delivery_guarantee G>
concept promises = detail::guaranteed<R> && std::remove_cvref_t<R>::guarantee == G;

}  // namespace detail

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_GUARANTEE_HPP
