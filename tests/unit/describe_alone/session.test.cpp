// SPDX-License-Identifier: MIT

#include <doctest/doctest.h>

#include <waybill/session.hpp>

namespace session_describe_test {

TEST_CASE("describe: the module header has the texts of all that its drivers return")
{
    CHECK(!describe(waybill::redrive::redrive_report{}).empty());
    CHECK(!describe(waybill::session_report{}).empty());
}

}  // namespace session_describe_test
