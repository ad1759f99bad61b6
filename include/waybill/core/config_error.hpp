// SPDX-License-Identifier: MIT
//
// config_error: the error type for invalid configurations, and `make`, which validates before
// construction.
//
// A configuration is a plain aggregate and can contain any values. `validate` returns the first
// invalid field. `make` constructs a state machine only from a valid configuration:
//
//     if (auto bad = waybill::validate(limits)) log(waybill::describe(*bad));
//     // "limits.envelope is 300000: must be less than bytes (262144)"
//     auto s = waybill::make<waybill::batch_sender>(policy);  // result<batch_sender, config_error>

#ifndef WAYBILL_CORE_CONFIG_ERROR_HPP
#define WAYBILL_CORE_CONFIG_ERROR_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/detail/described.hpp>
#include <waybill/core/result.hpp>

namespace waybill::inline v0_2 {

/// The first invalid field of a configuration. Both texts are literals: no allocation.
struct config_error {
    std::string_view field{};  ///< The path of the field, such as "limits.envelope".
    std::uint64_t value = 0;   ///< The field's value; its absolute value if `negative`.
    std::string_view rule{};   ///< The violated rule, such as "must be less than bytes".
    std::uint64_t bound = 0;   ///< The limit that the rule compares with.
    bool negative = false;     ///< The value is below zero.

    friend bool operator==(const config_error&, const config_error&) = default;
};

namespace detail {
/// No argument, or `{}`: `machine m({});` then has default options. With a default argument for the
/// options in its place, g++ calls it ambiguous with a copy.
enum class no_options {};
}  // namespace detail

namespace detail::words {
template <>
struct line_of<config_error> : described_line {};
}  // namespace detail::words

/// One line for a log: field, value, rule, bound.
[[nodiscard]] inline std::string describe(const config_error& e)
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

/// An M made from `config`, or the first invalid field of `config`.
template <class M, class Config>
[[nodiscard]] constexpr result<M, config_error> make(const Config& config)
{
    if (const std::optional<config_error> bad = validate(config)) return unexpected(*bad);
    return M(config);
}

/// Include <waybill/waybill.hpp>, or <waybill/MODULE/describe.hpp> with the name of the module.
std::string describe(const detail::describe_needs_waybill_MODULE_describe_hpp&) = delete;

// For argument-dependent lookup.
namespace scaling {
using v0_2::describe;
}
namespace wire {
using v0_2::describe;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CORE_CONFIG_ERROR_HPP
