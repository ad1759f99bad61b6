// SPDX-License-Identifier: MIT
//
// brain: what is known from one decision to the next, and the step between them.
//
//     memory m;
//     for (const tick& t : ticks) {
//         for (const decided& d : step(m, rules, t, in)) report(d);
//         keep(text_of(m));                        // see state_file.hpp
//     }
//
// A step is what an autoscaler does that is woken now and then and knows nothing but what it has
// stored: it loads the samples of the last minutes, adds those that have come, decides, and stores
// them again. So it makes no difference whether the program was killed between two steps, and a run
// that was is the same as one that was not, to the last bit of a mean.

#ifndef WAYBILL_EXAMPLES_AUTOSCALER_BRAIN_HPP
#define WAYBILL_EXAMPLES_AUTOSCALER_BRAIN_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <waybill/core/time.hpp>
#include <waybill/scaling.hpp>
#include <waybill/window.hpp>

#include "ticks.hpp"

namespace autoscaler {

namespace scaling = waybill::scaling;

using key = std::pair<std::string, std::string>;  // resource, metric
using metric_window = waybill::sliding_window<waybill::stats<double>>;
using metric_windows = waybill::window_set<key, metric_window>;

/// Where instances come from, and what becomes of commands.
enum class instances_are : std::uint8_t {
    simulated,  ///< We count them ourselves: what was decided is done after `delay`.
    recorded,   ///< The rows contain the number. Decisions are advice only.
    real,       ///< The ticks contain the number. Commands are executed and have results.
};

struct rules {
    scaling::policy policy{};
    waybill::duration window{};
    waybill::duration every{};
    waybill::duration delay{};
    instances_are instances = instances_are::simulated;
    std::uint64_t start = 1;  ///< So many where they are simulated.
    std::string source{};     ///< Whose measurements these are.
    std::string resource{};   ///< One that there is, though nobody may know anything of it.

    [[nodiscard]] waybill::window_options window_options() const
    {
        return {.span = window, .on_equal_time = waybill::window_options::equal_time::replace};
    }
};

/// A command that is being executed, as if.
struct under_way {
    scaling::command what{};
    waybill::wall_time due{};

    friend bool operator==(const under_way&, const under_way&) = default;
};

struct resource_memory {
    std::optional<std::uint64_t> instances{};  ///< As long as nobody knows, nothing is decided.
    scaling::state state{};
    std::optional<under_way> order{};
    std::string said{};  ///< The last verdict, and why it was held back if it was.

    friend bool operator==(const resource_memory&, const resource_memory&) = default;
};

struct memory {
    std::map<key, std::string> windows{};  ///< Samples, as waybill::save writes them.
    std::map<std::string, resource_memory> resources{};
    std::uint64_t ticks = 0;
    std::optional<waybill::wall_time> now{};  ///< The time and mark of the last one.
    std::uint64_t mark = 0;

    friend bool operator==(const memory&, const memory&) = default;
};

/// What a window said.
struct seen_metric {
    std::string metric{};
    std::uint64_t points = 0;
    std::optional<double> mean{};
    std::optional<double> highest{};

    friend bool operator==(const seen_metric&, const seen_metric&) = default;
};

/// A decision and what it was made of. Its rows view the policy.
struct decided {
    std::string resource{};
    scaling::decision what{};
    std::vector<seen_metric> seen{};
    std::uint64_t after = 0;  ///< So many instances there are behind it.
    bool news = false;        ///< It changes something, or differs from the one before.

    friend bool operator==(const decided&, const decided&) = default;
};

/// What became of rows: those that count, each at its time, and what was remarked of others.
struct intake {
    std::map<key, std::map<waybill::wall_time, double>> samples{};
    rejections remarks{};
};

/// One decision for each resource, in the order of their names.
[[nodiscard]] std::vector<decided> step(memory& m, const rules& r, const tick& t, intake& in);

}  // namespace autoscaler

#endif  // WAYBILL_EXAMPLES_AUTOSCALER_BRAIN_HPP
