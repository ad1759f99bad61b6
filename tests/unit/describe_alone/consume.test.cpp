// SPDX-License-Identifier: MIT

#include <doctest/doctest.h>

#include <waybill/consume.hpp>

namespace consume_describe_test {

TEST_CASE("describe: the module header has the texts of all that its drivers return")
{
    CHECK(!describe(waybill::at_least_once_report{}).empty());
    CHECK(!describe(waybill::batch_report{}).empty());
    CHECK(!describe(waybill::dead_letter::run_report{}).empty());
    CHECK(!describe(waybill::reprocess_report{}).empty());
    CHECK(!describe(waybill::rewind_report{}).empty());
}

}  // namespace consume_describe_test
