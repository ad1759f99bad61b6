// SPDX-License-Identifier: MIT
//
// check: what is wrong with a configuration, by field, value and rule.
//
// A configuration is a plain aggregate, so anything can stand in it. `check` finds the first field
// that cannot work; `make` builds a machine only from what passes:
//
//     if (auto bad = waybill::check(limits)) log(waybill::text(*bad));
//     // "limits.envelope is 300000: must be less than bytes (262144)"
//     auto s = waybill::make<waybill::sender>(policy);      // result<sender, config_error>

#ifndef WAYBILL_CORE_CHECK_HPP
#define WAYBILL_CORE_CHECK_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/result.hpp>

namespace waybill::inline v0_2 {

/// The first field that cannot work. Both texts are literals: nothing is allocated.
struct config_error {
    std::string_view field{};   ///< Its path, as in "limits.envelope".
    std::uint64_t value = 0;  ///< What stands in it.
    std::string_view rule{};    ///< What must hold, as in "must be less than bytes".
    std::uint64_t bound = 0;  ///< What the value was held against.
    bool negative = false;    ///< The value is so much below zero.

    friend bool operator==(const config_error&, const config_error&) = default;
};

/// One line for a log: field, value, rule, bound.
[[nodiscard]] inline std::string text(const config_error& e)
{
    std::string line(e.field);
    line += e.negative ? " is -" : " is ";
    line += std::to_string(e.value);
    line += ": ";
    line += e.rule;
    line += " (";
    line += std::to_string(e.bound);
    line += ")";
    return line;
}

/// An M made from `config`, or the first thing that is wrong with it.
template <class M, class Config>
[[nodiscard]] constexpr result<M, config_error> make(const Config& config)
{
    if (const std::optional<config_error> bad = check(config)) return unexpected(*bad);
    return M(config);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CORE_CHECK_HPP
