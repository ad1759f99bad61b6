// SPDX-License-Identifier: MIT
//
// brain: the state between two decisions, and the step from one to the next.
//
//     memory m;
//     for (const tick& t : ticks) {
//         for (const decided& d : step(m, rules, t, in)) report(d);
//         keep(text_of(m));                        // see state_file.hpp
//     }
//
// A step is one invocation of an autoscaler without other memory than its stored state. It loads
// the samples of the last minutes, adds the new ones, decides, and stores them again. A kill
// between two steps changes no result: the decisions and means are equal bit by bit.

#ifndef WAYBILL_EXAMPLES_AUTOSCALER_BRAIN_HPP
#define WAYBILL_EXAMPLES_AUTOSCALER_BRAIN_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ticks.hpp"
#include <waybill/core/time.hpp>
#include <waybill/scaling.hpp>
#include <waybill/window.hpp>

namespace autoscaler {

namespace scaling = waybill::scaling;

using key = std::pair<std::string, std::string>;  // resource, metric
using metric_window = waybill::sliding_window<waybill::stats<double>>;
using metric_windows = waybill::window_set<key, metric_window>;

/// The source of the number of instances, and the effect of commands.
enum class instances_are : std::uint8_t {
    simulated,  ///< The program counts them. A command is applied after `delay`.
    recorded,   ///< The rows contain the number. Decisions are advice only.
    real,       ///< The ticks contain the number. Commands are executed and have results.
};

struct rules {
    scaling::policy policy{};
    waybill::duration window{};
    waybill::duration every{};
    waybill::duration delay{};
    instances_are instances = instances_are::simulated;
    std::uint64_t start = 1;  ///< Initial number of simulated instances.
    std::string source{};     ///< The source of the measurements, for messages.
    std::string resource{};   ///< A resource to add, even without samples.

    [[nodiscard]] waybill::window_options window_options() const
    {
        return {.span = window, .on_equal_time = waybill::window_options::equal_time::replace};
    }
};

/// A simulated command that is being executed.
struct under_way {
    scaling::command what{};
    waybill::wall_time due{};

    friend bool operator==(const under_way&, const under_way&) = default;
};

struct resource_memory {
    std::optional<std::uint64_t> instances{};  ///< While unknown, nothing is decided.
    scaling::state state{};
    std::optional<under_way> order{};
    std::string said{};  ///< The last verdict, and the reason if it was held.

    friend bool operator==(const resource_memory&, const resource_memory&) = default;
};

struct memory {
    std::map<key, std::string> windows{};  ///< Samples, as waybill::save writes them.
    std::map<std::string, resource_memory> resources{};
    std::uint64_t ticks = 0;
    std::optional<waybill::wall_time> now{};  ///< The time of the last tick.
    std::uint64_t mark = 0;

    friend bool operator==(const memory&, const memory&) = default;
};

/// The summary of a window.
struct seen_metric {
    std::string metric{};
    std::uint64_t points = 0;
    std::optional<double> mean{};
    std::optional<double> highest{};

    friend bool operator==(const seen_metric&, const seen_metric&) = default;
};

/// A decision and its inputs. Its rows view the policy.
struct decided {
    std::string resource{};
    scaling::decision what{};
    std::vector<seen_metric> seen{};
    std::uint64_t after = 0;  ///< The number of instances after it.
    bool news = false;        ///< It has a command, or differs from the previous one.

    friend bool operator==(const decided&, const decided&) = default;
};

/// The accepted rows by time, and the remarks on others.
struct intake {
    std::map<key, std::map<waybill::wall_time, double>> samples{};
    rejections remarks{};
};

/// One decision for each resource, in the order of their names.
[[nodiscard]] std::vector<decided> step(memory& m, const rules& r, const tick& t, intake& in);

}  // namespace autoscaler

#endif  // WAYBILL_EXAMPLES_AUTOSCALER_BRAIN_HPP
