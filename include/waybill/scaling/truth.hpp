// SPDX-License-Identifier: MIT
//
// truth: yes, no or unknown.
//
// A metric without recent points is not 0, and a comparison with it is neither true nor false.
// Rules that treat unknown as "no" can scale down a service under full load. Conditions therefore
// use Kleene's three-valued logic: known parts decide if they can, otherwise the result is unknown.

#ifndef WAYBILL_SCALING_TRUTH_HPP
#define WAYBILL_SCALING_TRUTH_HPP

#include <cstdint>
#include <string_view>

namespace waybill::inline v0_2::scaling {

enum class truth : std::uint8_t {
    no,
    unknown,
    yes,
};

[[nodiscard]] constexpr std::string_view name(truth t) noexcept
{
    switch (t) {
        case truth::no: return "no";
        case truth::unknown: return "unknown";
        case truth::yes: return "yes";
    }
    return "?";
}

[[nodiscard]] constexpr truth truth_of(bool holds) noexcept
{
    return holds ? truth::yes : truth::no;
}

/// Yes if both are yes, no if either is no.
[[nodiscard]] constexpr truth both(truth a, truth b) noexcept
{
    return a < b ? a : b;
}

/// Yes if either is yes, no if both are no.
[[nodiscard]] constexpr truth either(truth a, truth b) noexcept
{
    return a < b ? b : a;
}

/// Not t; unknown if t is unknown.
[[nodiscard]] constexpr truth opposite(truth t) noexcept
{
    return t == truth::unknown ? t : truth_of(t == truth::no);
}

/// Whether at least `wanted` parts are yes, if `yes` parts are yes and `unknown` parts are unknown.
[[nodiscard]] constexpr truth at_least(std::uint64_t wanted, std::uint64_t yes,
                                       std::uint64_t unknown) noexcept
{
    if (yes >= wanted) return truth::yes;
    return wanted - yes <= unknown ? truth::unknown : truth::no;
}

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_TRUTH_HPP
