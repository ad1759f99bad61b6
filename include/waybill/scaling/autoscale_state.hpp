// SPDX-License-Identifier: MIT
//
// autoscale_state: the stored data of an autoscaler, and the concept of its store.
//
// With the state, a killed autoscaler continues with its next decision. Without it, a restart
// begins with empty windows and without cooldowns.

#ifndef WAYBILL_SCALING_AUTOSCALE_STATE_HPP
#define WAYBILL_SCALING_AUTOSCALE_STATE_HPP

#include <concepts>
#include <string>
#include <vector>

#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/scaling/state.hpp>
#include <waybill/window/sample.hpp>

namespace waybill::inline v0_2::scaling {

/// The recent samples of a metric, oldest first.
struct metric_samples {
    std::string metric{};
    std::vector<sample<double>> samples{};

    friend bool operator==(const metric_samples&, const metric_samples&) = default;
};

/// The data of an autoscaler between two decisions: the state of `decide`, and the samples of the
/// window. At most window / every + 1 samples for each metric.
struct autoscale_state {
    scaling::state state{};
    std::vector<metric_samples> metrics{};

    friend bool operator==(const autoscale_state&, const autoscale_state&) = default;
};

/// The store of one autoscaler, such as a row of a table. `load` returns the state of the last
/// `save` that succeeded, or a default state if there was none. If `load` cannot read the row, it
/// returns an error. `save` is durable when it returns without a fault. At most one autoscaler uses
/// a store at a time. testing/autoscale_state_conformance.hpp checks it.
template <class S>
concept state_store = requires(S& s, const autoscale_state& v) {
    { s.load() } -> std::convertible_to<result<autoscale_state>>;
    { s.save(v) } -> std::convertible_to<fault>;
};

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_AUTOSCALE_STATE_HPP
