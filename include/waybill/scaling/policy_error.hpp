// SPDX-License-Identifier: MIT
//
// policy_error: the first error in a policy: its path, the valid values, and the value found.
//
// Paths are those of the policy's JSON (ext/json/scaling.hpp).

#ifndef WAYBILL_SCALING_POLICY_ERROR_HPP
#define WAYBILL_SCALING_POLICY_ERROR_HPP

#include <concepts>
#include <string>

#include <waybill/core/detail/described.hpp>

namespace waybill::inline v0_2::scaling {

/// The first error in a policy.
struct policy_error {
    std::string path{};      ///< The path of the field, such as "/up/any/0/above".
    std::string expected{};  ///< A description of valid values.
    std::string found{};     ///< The invalid value.

    friend bool operator==(const policy_error&, const policy_error&) = default;
};

/// One line for a log: path, expected, found.
template <std::same_as<policy_error> T>
[[nodiscard]] std::string describe(const T& e)
{
    return (e.path.empty() ? "the policy" : e.path) + ": expected " + e.expected + ", found " +
           e.found;
}

}  // namespace waybill::inline v0_2::scaling

namespace waybill::inline v0_2 {

template <>
struct detail::words::line_of<scaling::policy_error> : detail::words::described_line {};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SCALING_POLICY_ERROR_HPP
