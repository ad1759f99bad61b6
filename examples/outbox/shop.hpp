// SPDX-License-Identifier: MIT
//
// shop: takes orders. It never connects to the mail server, so an outage does not affect it.

#ifndef WAYBILL_EXAMPLES_OUTBOX_SHOP_HPP
#define WAYBILL_EXAMPLES_OUTBOX_SHOP_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "../engines/sqlite.hpp"

namespace outbox {

struct order {
    std::string item{};
    std::string at{};

    friend bool operator==(const order&, const order&) = default;
};

/// One order for each installed package in a file of JSON lines. Throws a complaint if it cannot be
/// read.
[[nodiscard]] std::vector<order> orders_in(const std::string& path);

class shop {
public:
    /// Continues with the stored orders. Throws a complaint if they differ from `all`.
    shop(const std::string& db, const std::vector<order>& all);

    [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }
    [[nodiscard]] bool all_taken() const noexcept { return taken_ == all_->size(); }

    /// Stores the next order and its mail in one transaction.
    void take_next();

    /// Marks the end of the orders.
    void close();

private:
    void expect_the_same();

    engines::database db_;
    const std::vector<order>* all_;
    std::uint64_t taken_ = 0;
};

}  // namespace outbox

#endif  // WAYBILL_EXAMPLES_OUTBOX_SHOP_HPP
