// SPDX-License-Identifier: MIT
//
// threshold: the number that a statistic is held against, which may depend on the instances.
//
//     scaling::mean("orders") > 300
//     scaling::mean("orders") > scaling::per_instance(100)
//     scaling::mean("orders") > scaling::by_instances({{1, 100}, {4, 350}, {8, 600}})
//     scaling::mean("orders") > scaling::of_instances([](std::uint64_t n) {
//         return 20 + 50 * std::sqrt(static_cast<double>(n));
//     })
//
// Where there are no instances, none has a share: such a threshold is not there, and a condition
// that asks for it is unknown. What wakes the first instance is a rule of its own.

#ifndef WAYBILL_SCALING_THRESHOLD_HPP
#define WAYBILL_SCALING_THRESHOLD_HPP

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/window/sample.hpp>

namespace waybill::inline v0_2::scaling {

/// From so many instances on.
struct threshold_step {
    std::uint64_t instances = 0;
    double value = 0;

    friend bool operator==(const threshold_step&, const threshold_step&) = default;
};

class threshold {
public:
    enum class kind : std::uint8_t {
        constant,      ///< The same for any number of instances.
        per_instance,  ///< So much for each of them.
        table,         ///< By steps: the last one that is not above the number of instances.
        function,      ///< As a function says.
    };
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

    /// What it is for so many instances; empty where it is not there, or no number. Linear in the
    /// steps of a table.
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
        if (t && !is_finite(*t)) t.reset();
        return t;
    }

    friend bool operator==(const threshold&, const threshold&) = default;

private:
    kind kind_ = kind::constant;
    double value_ = 0;
    std::vector<threshold_step> steps_;
    function function_ = nullptr;
};

/// So much for each instance.
[[nodiscard]] inline threshold per_instance(double value)
{
    return threshold::each(value);
}

/// By the number of instances; in rising order of them.
[[nodiscard]] inline threshold by_instances(std::initializer_list<threshold_step> steps)
{
    return threshold::steps(steps);
}

/// A function of the number of instances, without captures, so that a policy remains a value.
[[nodiscard]] inline threshold of_instances(threshold::function f)
{
    return threshold::as(f);
}

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_THRESHOLD_HPP
