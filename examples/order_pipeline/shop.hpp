// SPDX-License-Identifier: MIT
//
// shop: what the steps of an order do, and the import of a product.
//
// A step leaves one row, whose key is that of the job and the step: so it takes effect once, in
// whatever session and however often it runs, which is counted.

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

/// What a session remembers from step to step.
struct order_state {
    std::uint64_t total = 0;
    std::string payment{};
    std::string receipt{};
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(order_state, total, payment, receipt)

/// A step as it is to be run.
struct task {
    std::string job{};      ///< As it was called at first.
    std::string session{};  ///< In which it runs.
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

/// Writes the templates: the broken ones where there are none, or those that are right.
void write_templates(const shop_services& w, bool repaired);

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_SHOP_HPP
