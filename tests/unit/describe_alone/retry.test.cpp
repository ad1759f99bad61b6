// SPDX-License-Identifier: MIT

#include <doctest/doctest.h>

#include <waybill/retry.hpp>

namespace retry_describe_test {

TEST_CASE("describe: the module header has the texts of all that its drivers return")
{
    CHECK(!describe(waybill::call_report{}).empty());
    CHECK(!describe(waybill::call_answer{}).empty());
}

}  // namespace retry_describe_test
