// SPDX-License-Identifier: MIT
//
// shop: takes orders. It never speaks to a mail server, so none can be in its way.

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

/// All that is installed in a file of JSON lines. Throws a complaint if it cannot be read.
[[nodiscard]] std::vector<order> orders_in(const std::string& path);

class shop {
public:
    /// Goes on with what is there. Throws a complaint if those are other orders.
    shop(const std::string& db, const std::vector<order>& all);

    [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }
    [[nodiscard]] bool all_taken() const noexcept { return taken_ == all_->size(); }

    /// The next order and its mail: both, or after a crash neither.
    void take_next();

    /// There will be no more.
    void close();

private:
    void expect_the_same();

    engines::database db_;
    const std::vector<order>* all_;
    std::uint64_t taken_ = 0;
};

}  // namespace outbox

#endif  // WAYBILL_EXAMPLES_OUTBOX_SHOP_HPP
