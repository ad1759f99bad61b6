// SPDX-License-Identifier: MIT
//
// threshold: the limit for a statistic, fixed or dependent on the number of instances.
//
//     scaling::mean("orders") > 300
//     scaling::mean("orders") > scaling::per_instance(100)
//     scaling::mean("orders") > scaling::by_instances({{1, 100}, {4, 350}, {8, 600}})
//     scaling::mean("orders") > scaling::of_instances([](std::uint64_t n) {
//         return 20 + 50 * std::sqrt(static_cast<double>(n));
//     })
//
// With 0 instances, a threshold per instance does not exist, and its comparison is unknown. A
// separate rule starts the first instance: the policy's `activation`.

#ifndef WAYBILL_SCALING_THRESHOLD_HPP
#define WAYBILL_SCALING_THRESHOLD_HPP

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/scaling/detail/numbers.hpp>
#include <waybill/window/sample.hpp>

namespace waybill::inline v0_2::scaling {

/// The threshold `value` applies from this number of instances on.
struct threshold_step {
    std::uint64_t instances = 0;
    double value = 0;

    friend bool operator==(const threshold_step&, const threshold_step&) = default;
};

class threshold {
public:
    enum class kind : std::uint8_t {
        constant,      ///< The same for any number of instances.
        per_instance,  ///< The value times the number of instances.
        table,         ///< The last step whose `instances` is not above the current number.
        function,      ///< The result of a function.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(kind) noexcept
    {
        return "constant, per_instance, table, function";
    }
    using function = double (*)(std::uint64_t);

    threshold(double value = 0) : value_(value) {}

    [[nodiscard]] static threshold each(double value)
    {
        threshold t(value);
        t.kind_ = kind::per_instance;
        return t;
    }
    [[nodiscard]] static threshold steps(std::vector<threshold_step> s)
    {
        threshold t;
        t.kind_ = kind::table;
        t.steps_ = std::move(s);
        return t;
    }
    [[nodiscard]] static threshold as(function f)
    {
        threshold t;
        t.kind_ = kind::function;
        t.function_ = f;
        return t;
    }

    [[nodiscard]] kind what() const noexcept { return kind_; }
    [[nodiscard]] double value() const noexcept { return value_; }
    [[nodiscard]] const std::vector<threshold_step>& table() const noexcept { return steps_; }

    /// The threshold for this number of instances. Empty if there is none, or if it is not finite.
    /// Linear in the number of steps of a table.
    [[nodiscard]] std::optional<double> at(std::uint64_t instances) const
    {
        std::optional<double> t;
        switch (kind_) {
            case kind::constant: t = value_; break;
            case kind::per_instance:
                if (instances != 0) t = value_ * static_cast<double>(instances);
                break;
            case kind::table:
                for (const threshold_step& s : steps_) {
                    if (s.instances <= instances) t = s.value;
                }
                break;
            case kind::function:
                if (function_ != nullptr) t = function_(instances);
                break;
        }
        if (t && !detail::is_finite(*t)) t.reset();
        return t;
    }

    friend bool operator==(const threshold&, const threshold&) = default;

private:
    kind kind_ = kind::constant;
    double value_ = 0;
    std::vector<threshold_step> steps_;
    function function_ = nullptr;
};

/// A threshold of `value` per instance.
[[nodiscard]] inline threshold per_instance(double value)
{
    return threshold::each(value);
}

/// A threshold by steps, in ascending order of the number of instances.
[[nodiscard]] inline threshold by_instances(std::initializer_list<threshold_step> steps)
{
    return threshold::steps(steps);
}

/// A threshold computed by a function without captures, so that a policy remains a plain value.
[[nodiscard]] inline threshold of_instances(threshold::function f)
{
    return threshold::as(f);
}

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_THRESHOLD_HPP
