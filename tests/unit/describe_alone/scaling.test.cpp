// SPDX-License-Identifier: MIT

#include <doctest/doctest.h>

#include <waybill/scaling.hpp>

namespace scaling_describe_test {

TEST_CASE("describe: the module header has the texts of all that its drivers return")
{
    CHECK(!describe(waybill::scaling::autoscale_report{}).empty());
}

}  // namespace scaling_describe_test
