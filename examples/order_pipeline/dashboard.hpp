// SPDX-License-Identifier: MIT
//
// dashboard: the outcome of each step of each job, read from the tables.
//
//     order-2    1 2 3 4 5
//     order-3    1 2 3 4x 5-   broken receipt: no field "revision"
//     import-1   [x+++++++++x++]   163 of 167, 4 of them dead-lettered   3x 4x 87x 99x   broken ...

#ifndef WAYBILL_EXAMPLES_ORDER_PIPELINE_DASHBOARD_HPP
#define WAYBILL_EXAMPLES_ORDER_PIPELINE_DASHBOARD_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "shop_services.hpp"

namespace order_pipeline {

enum class mark : std::uint8_t {
    waiting,  ///< Not handled yet.
    done,
    returned,       ///< Done, after it was dead-lettered.
    failed,         ///< Dead-lettered after its own failure.
    after_failure,  ///< Dead-lettered, as an earlier step failed.
};

struct row {
    std::string job{};
    std::vector<mark> marks{};  ///< By step.
    std::string session{};      ///< The last session of the job.
    std::string why{};          ///< The reason of the first failed step.

    [[nodiscard]] std::uint64_t count(mark m) const;
    [[nodiscard]] bool complete() const;
    [[nodiscard]] bool has_returned() const { return count(mark::returned) != 0; }
    [[nodiscard]] bool was_sent_again() const { return session != job; }
};

using dashboard = std::vector<row>;

/// The finished steps, from the shop's tables only.
[[nodiscard]] dashboard read_effects(shop_services& w);

/// The same with the dead letters.
[[nodiscard]] dashboard read_dashboard(shop_services& w);

/// One job in a line.
[[nodiscard]] std::string line_of(const row& r);

enum class shown : std::uint8_t {
    all,             ///< Failed jobs, then redriven ones, then the first ones.
    what_came_back,  ///< The first redriven jobs.
};

/// Prints a line for each of some jobs, then the sums and the legend.
void print(const dashboard& b, shown what);

/// The whole dashboard as a chart.
[[nodiscard]] std::string picture(const dashboard& b);

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_DASHBOARD_HPP
