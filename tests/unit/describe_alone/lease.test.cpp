// SPDX-License-Identifier: MIT

#include <doctest/doctest.h>

#include <waybill/lease.hpp>

namespace lease_describe_test {

TEST_CASE("describe: the module header has the texts of all that its drivers return")
{
    CHECK(!describe(waybill::partitions_report{}).empty());
}

}  // namespace lease_describe_test
