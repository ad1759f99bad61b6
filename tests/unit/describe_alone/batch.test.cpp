// SPDX-License-Identifier: MIT

#include <doctest/doctest.h>

#include <waybill/batch.hpp>

namespace batch_describe_test {

TEST_CASE("describe: the module header has the texts of all that its drivers return")
{
    CHECK(!describe(waybill::send_report{}).empty());
    CHECK(!describe(waybill::item_report{}).empty());
}

}  // namespace batch_describe_test
