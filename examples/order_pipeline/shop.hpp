// SPDX-License-Identifier: MIT
//
// shop: the work of the steps of an order, and of the import of a product.
//
// The effect of a step is one row with the key of job and step. So it takes effect once, in any
// session and after any number of runs. Runs are counted.

#ifndef WAYBILL_EXAMPLES_ORDER_PIPELINE_SHOP_HPP
#define WAYBILL_EXAMPLES_ORDER_PIPELINE_SHOP_HPP

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "shop_services.hpp"
#include <waybill/core/fault.hpp>

namespace order_pipeline {

inline constexpr std::uint64_t steps_of_an_order = 5;  ///< Number, total, payment, receipt, mail.

/// The state of a session between its steps.
struct order_state {
    std::uint64_t total = 0;
    std::string payment{};
    std::string receipt{};
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(order_state, total, payment, receipt)

/// A step to run.
struct task {
    std::string job{};      ///< Its first name.
    std::string session{};  ///< The session in which it runs.
    std::uint64_t step = 1;
    std::uint64_t tries = 1;
    std::string_view body{};
};

class shop {
public:
    explicit shop(shop_services& w) : services_(w) {}

    [[nodiscard]] waybill::fault run(const task& t, order_state& s);

private:
    void note(const task& t, std::string_view what);

    shop_services& services_;
};

/// Writes the correct templates if `repaired`; otherwise the broken ones, if there are none.
void write_templates(const shop_services& w, bool repaired);

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_SHOP_HPP
