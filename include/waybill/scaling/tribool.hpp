// SPDX-License-Identifier: MIT
//
// tribool: yes, no or unknown.
//
// A metric without recent points is not 0, and a comparison with it is neither true nor false.
// Rules that treat unknown as "no" can scale down a service under full load. Conditions therefore
// use Kleene's three-valued logic: known parts decide if they can, otherwise the result is unknown.

#ifndef WAYBILL_SCALING_TRIBOOL_HPP
#define WAYBILL_SCALING_TRIBOOL_HPP

#include <cstdint>
#include <string_view>

#include <waybill/core/enum_name.hpp>

namespace waybill::inline v0_2::scaling {

using v0_2::name;

enum class tribool : std::uint8_t {
    no,
    unknown,
    yes,
};

[[nodiscard]] constexpr std::string_view texts_of(tribool) noexcept
{
    return "no, unknown, yes";
}

[[nodiscard]] constexpr tribool truth_of(bool holds) noexcept
{
    return holds ? tribool::yes : tribool::no;
}

/// Yes if both are yes, no if either is no.
[[nodiscard]] constexpr tribool both(tribool a, tribool b) noexcept
{
    return a < b ? a : b;
}

/// Yes if either is yes, no if both are no.
[[nodiscard]] constexpr tribool either(tribool a, tribool b) noexcept
{
    return a < b ? b : a;
}

/// Not t; unknown if t is unknown.
[[nodiscard]] constexpr tribool opposite(tribool t) noexcept
{
    return t == tribool::unknown ? t : truth_of(t == tribool::no);
}

/// Yes if at least `wanted` parts hold. `yes` is the number of parts that hold, and `unknown` the
/// number of unknown parts.
[[nodiscard]] constexpr tribool at_least(std::uint64_t wanted, std::uint64_t yes,
                                         std::uint64_t unknown) noexcept
{
    if (yes >= wanted) return tribool::yes;
    return wanted - yes <= unknown ? tribool::unknown : tribool::no;
}

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_TRIBOOL_HPP
