// SPDX-License-Identifier: MIT
//
// dashboard: the outcome of each step of each job, read from the tables.
//
//     order-2    1 2 3 4 5
//     order-3    1 2 3 4x 5-   broken receipt: no field "revision"
//     import-1   [x+++++++++x++]   163 of 167, 4 of them dead-lettered   3x 4x 87x 99x   broken label: ...

#ifndef WAYBILL_EXAMPLES_ORDER_PIPELINE_DASHBOARD_HPP
#define WAYBILL_EXAMPLES_ORDER_PIPELINE_DASHBOARD_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "shop_services.hpp"

namespace order_pipeline {

enum class mark : std::uint8_t {
    waiting,  ///< Nobody has got to it.
    done,
    returned,  ///< Done, after it was parked.
    failed,    ///< Parked, and it is the reason.
    behind,    ///< Parked, as one before it failed.
};

struct row {
    std::string job{};
    std::vector<mark> marks{};  ///< By step.
    std::string session{};      ///< The last one that it has been in.
    std::string why{};          ///< Why it stopped, or the first of its steps failed.

    [[nodiscard]] std::uint64_t count(mark m) const;
    [[nodiscard]] bool complete() const;
    [[nodiscard]] bool has_returned() const { return count(mark::returned) != 0; }
    [[nodiscard]] bool was_sent_again() const { return session != job; }
};

using dashboard = std::vector<row>;

/// What is done; this asks nobody but the shop's own tables.
[[nodiscard]] dashboard read_effects(shop_services& w);

/// The same with what is parked.
[[nodiscard]] dashboard read_dashboard(shop_services& w);

/// One job in a line.
[[nodiscard]] std::string line_of(const row& r);

enum class shown : std::uint8_t {
    all,             ///< Those that stopped, then those that came back, then the first ones.
    what_came_back,  ///< The first of the jobs that came back.
};

/// A line for each of some jobs, then the sums, and what the marks mean.
void print(const dashboard& b, shown what);

/// All of it as a picture.
[[nodiscard]] std::string picture(const dashboard& b);

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_DASHBOARD_HPP
