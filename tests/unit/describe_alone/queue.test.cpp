// SPDX-License-Identifier: MIT

#include <doctest/doctest.h>

#include <waybill/queue.hpp>

namespace queue_describe_test {

TEST_CASE("describe: the module header has the texts of all that its drivers return")
{
    CHECK(!describe(waybill::queue_report{}).empty());
    CHECK(!describe(waybill::relay_report{}).empty());
}

}  // namespace queue_describe_test
