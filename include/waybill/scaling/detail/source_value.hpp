// SPDX-License-Identifier: MIT
//
// source_value: the results of the callables of an autoscaler, converted to one type each.

#ifndef WAYBILL_SCALING_DETAIL_SOURCE_VALUE_HPP
#define WAYBILL_SCALING_DETAIL_SOURCE_VALUE_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/scaling/command.hpp>
#include <waybill/scaling/detail/numbers.hpp>
#include <waybill/scaling/detail/policy_path.hpp>

namespace waybill::inline v0_2::scaling::detail {

template <class T>
concept plain_number = std::is_arithmetic_v<T> && !std::same_as<T, bool>;

template <class T>
inline constexpr bool is_optional_number = false;
template <plain_number T>
inline constexpr bool is_optional_number<std::optional<T>> = true;
template <class T>
inline constexpr bool is_number_result = false;
template <class T>
inline constexpr bool is_number_result<result<T, fault>> = plain_number<T> || is_optional_number<T>;

/// The result types of a source: a number, an optional number (empty: unknown), or a result of
/// either.
template <class T>
concept number_or_failure = plain_number<T> || is_number_result<T> || is_optional_number<T>;

template <class F>
concept number_source = requires(F& measure) {
    { measure() };
    requires number_or_failure<std::remove_cvref_t<decltype(measure())>>;
};

[[nodiscard]] inline fault not_finite(double x)
{
    return permanent(short_number(x) +
                     " is not a finite number: return an empty optional if it is unknown");
}

/// The number as a double, or nullopt for an empty optional.
template <number_or_failure T>
[[nodiscard]] result<std::optional<double>> as_double(T x)
{
    if constexpr (plain_number<T>) {
        const auto value = static_cast<double>(x);
        if (!is_finite(value)) return unexpected(not_finite(value));
        return value;
    } else if constexpr (is_number_result<T>) {
        if (!x) return unexpected(std::move(x).error());
        return as_double(*x);
    } else {
        if (!x) return std::nullopt;
        return as_double(*x);
    }
}

/// The current number of instances.
template <number_or_failure T>
[[nodiscard]] result<std::uint64_t> as_instances(T x)
{
    if constexpr (plain_number<T>) {
        if constexpr (std::is_signed_v<T>) {
            if (x < 0) {
                return unexpected(permanent(short_number(static_cast<double>(x)) +
                                            " instances: must be at least 0"));
            }
        }
        if constexpr (std::is_floating_point_v<T>) {
            const auto value = static_cast<double>(x);
            if (!is_finite(value)) return unexpected(not_finite(value));
            if (!(value < 1e18)) {
                return unexpected(
                    permanent(short_number(value) + " instances: must be less than 1e18"));
            }
        }
        return result<std::uint64_t>(static_cast<std::uint64_t>(x));
    } else if constexpr (is_number_result<T>) {
        if (!x) return unexpected(std::move(x).error());
        return as_instances(*x);
    } else {
        if (!x) return unexpected(transient("the number of instances is unknown"));
        return as_instances(*x);
    }
}

/// The outcome of a command, and its fault if it failed.
struct resized {
    resize_outcome outcome = resize_outcome::applied;
    fault failure{};
};

[[nodiscard]] inline resized as_resized(fault f)
{
    if (f.ok()) return {};
    const bool is_open = f.kind == fault_kind::cancelled;
    return {is_open ? resize_outcome::pending : resize_outcome::failed, std::move(f)};
}
[[nodiscard]] inline resized as_resized(resize_outcome o)
{
    if (o != resize_outcome::failed) return {.outcome = o};
    return {.outcome = o,
            .failure = transient("failed without a reason: return a fault to report one")};
}
template <class T>
    requires std::is_void_v<T> || std::same_as<T, resize_outcome>
[[nodiscard]] resized as_resized(result<T> r)
{
    if (!r) return as_resized(std::move(r).error());
    if constexpr (std::is_void_v<T>) return {};
    else return as_resized(*r);
}

template <class T>
concept resize_result = std::is_void_v<T> || requires(T t) {
    { as_resized(std::move(t)) } -> std::same_as<resized>;
};

/// Calls `resize(c)`.
template <class Resize>
[[nodiscard]] resized call_resize(Resize& resize, const command& c)
{
    if constexpr (std::is_void_v<decltype(resize(c))>) {
        resize(c);
        return {};
    } else {
        return as_resized(resize(c));
    }
}

/// Puts the name of a call before the text of its fault.
[[nodiscard]] inline fault named_failure(std::string_view name, fault f)
{
    f.text = std::string(name) + ": " + f.text;
    return f;
}

}  // namespace waybill::inline v0_2::scaling::detail

#endif  // WAYBILL_SCALING_DETAIL_SOURCE_VALUE_HPP
