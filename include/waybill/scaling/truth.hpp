// SPDX-License-Identifier: MIT
//
// truth: yes, no, or nobody knows.
//
// A metric that has no points lately is not 0, and a threshold that it cannot be held against is
// not crossed and not kept, either. Rules that take such for "no" have scaled whole services down
// in the middle of the day. So a condition has three answers, and they combine as Kleene's logic
// has it: what one known part decides is decided, and the rest is unknown.

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

/// Yes where all are, no where any is.
[[nodiscard]] constexpr truth both(truth a, truth b) noexcept
{
    return a < b ? a : b;
}

/// Yes where any is, no where all are.
[[nodiscard]] constexpr truth either(truth a, truth b) noexcept
{
    return a < b ? b : a;
}

/// The opposite; of what is unknown, unknown.
[[nodiscard]] constexpr truth opposite(truth t) noexcept
{
    return t == truth::unknown ? t : truth_of(t == truth::no);
}

/// Whether at least `wanted` of some are yes, where `yes` are and `unknown` may be.
[[nodiscard]] constexpr truth at_least(std::uint64_t wanted, std::uint64_t yes,
                                       std::uint64_t unknown) noexcept
{
    if (yes >= wanted) return truth::yes;
    return wanted - yes <= unknown ? truth::unknown : truth::no;
}

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_TRUTH_HPP
