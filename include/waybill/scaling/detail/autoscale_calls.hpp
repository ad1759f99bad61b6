// SPDX-License-Identifier: MIT
//
// autoscale_calls: the callables of an autoscaler, checked, and its sources.

#ifndef WAYBILL_SCALING_DETAIL_AUTOSCALE_CALLS_HPP
#define WAYBILL_SCALING_DETAIL_AUTOSCALE_CALLS_HPP

#include <concepts>
#include <string_view>
#include <type_traits>

#include <waybill/core/detail/time_source.hpp>
#include <waybill/scaling/command.hpp>
#include <waybill/scaling/decision.hpp>
#include <waybill/scaling/detail/source_value.hpp>
#include <waybill/scaling/metric_source.hpp>

namespace waybill::inline v0_2::scaling::detail {

/// The default for `observe`.
struct ignore_decision {
    void operator()(const decision&) const noexcept {}
};

/// Calls f(name, callable) for each source until it returns false.
template <class Sources, class F>
void each_source(Sources& sources, F f)
{
    for (auto& s : sources) {
        using source = std::remove_cvref_t<decltype(s)>;
        if constexpr (std::same_as<source, metric_source>) {
            if (!f(s.metric(), s)) return;
        } else {
            auto& [metric, measure] = s;
            static_assert(number_source<std::remove_reference_t<decltype(measure)>>,
                          "autoscale: a source must be a pair of a name and a callable that "
                          "returns a number, a std::optional or a result of a number");
            if (!f(std::string_view(metric), measure)) return;
        }
    }
}

/// Refuses callables of a wrong type.
template <class Count, class Resize, class Observe, class Environment>
struct checked_calls {
    static_assert(number_source<Count>,
                  "autoscale: count() must return the current number of instances: a number, a "
                  "std::optional or a result of it; a mutable lambda must not be const");
    static_assert(
        requires(Resize& resize, const command& c) {
            { resize(c) };
            requires resize_result<std::remove_cvref_t<decltype(resize(c))>>;
        },
        "autoscale: resize must accept a scaling::command and return a fault, a resize_outcome, a "
        "result of void or resize_outcome, or void, and not bool; a mutable lambda must not be "
        "const");
    static_assert(
        requires(Observe& observe, const decision& d) { observe(d); },
        "autoscale: observe must accept a scaling::decision; a mutable lambda must not "
        "be const");
    static_assert(!waybill::detail::time_source<Environment>,
                  "autoscale: it needs an environment, and not a clock alone");
    static constexpr bool ok = true;
};

}  // namespace waybill::inline v0_2::scaling::detail

#endif  // WAYBILL_SCALING_DETAIL_AUTOSCALE_CALLS_HPP
