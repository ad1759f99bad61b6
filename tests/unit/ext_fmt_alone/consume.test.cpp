// SPDX-License-Identifier: MIT
//
// ext/fmt/consume.hpp without any other header of waybill.

#include <doctest/doctest.h>

#include <waybill/ext/fmt/consume.hpp>

namespace waybill {
namespace {

TEST_CASE("ext/fmt/consume.hpp alone prints a value of its module")
{
    CHECK(fmt::format("{}", partition_key{"orders", "billing", "0"}) == "orders/billing/0");
}

}  // namespace
}  // namespace waybill
