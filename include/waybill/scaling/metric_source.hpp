// SPDX-License-Identifier: MIT
//
// metric_source: a metric and the callable that measures it.
//
//     scaling::autoscale({{"orders", [&] { return broker.depth("orders"); }},
//                         {"age", [&] { return broker.oldest("orders"); }}}, ...);
//
// It refers to the callable and the name, and lives as long as the call that it is written in. A
// list of sources that is made at run time is a container of pairs, such as
// std::map<std::string, std::function<double()>>.

#ifndef WAYBILL_SCALING_METRIC_SOURCE_HPP
#define WAYBILL_SCALING_METRIC_SOURCE_HPP

#include <optional>
#include <string_view>
#include <type_traits>

#include <waybill/core/result.hpp>
#include <waybill/scaling/detail/source_value.hpp>

namespace waybill::inline v0_2::scaling {

/// `f()` returns a number, a std::optional of a number (empty: no value now), or a `result` of a
/// number. Not copyable, since a copy could outlive the callable.
class metric_source {
public:
    template <class F>
    metric_source(std::string_view metric, F&& f)
        : metric_(metric),
          callable_(const_cast<void*>(static_cast<const void*>(&f))),
          measure_([](void* callable) {
              return detail::as_double((*static_cast<std::remove_reference_t<F>*>(callable))());
          })
    {
        static_assert(!std::is_function_v<std::remove_reference_t<F>>,
                      "metric_source: pass a lambda or a function object, not a function");
        static_assert(detail::number_source<std::remove_reference_t<F>>,
                      "metric_source: the callable must return a number, a std::optional or a "
                      "result of a number; a mutable lambda must not be const");
    }
    metric_source(const metric_source&) = delete;
    metric_source& operator=(const metric_source&) = delete;
    ~metric_source() = default;

    [[nodiscard]] std::string_view metric() const noexcept { return metric_; }
    /// Measures. nullopt: no value now.
    template <class Number = double>
    [[nodiscard]] result<std::optional<Number>> operator()() const
    {
        return measure_(callable_);
    }

private:
    std::string_view metric_;
    void* callable_;
    result<std::optional<double>> (*measure_)(void*);
};

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_METRIC_SOURCE_HPP
