// SPDX-License-Identifier: MIT
//
// ext/fmt/tracking.hpp without any other header of waybill.

#include <doctest/doctest.h>

#include <waybill/ext/fmt/tracking.hpp>

namespace waybill {
namespace {

TEST_CASE("ext/fmt/tracking.hpp alone prints a value of its module")
{
    CHECK(fmt::format("{}", tracked_event{7, 2}) == "event 7, generation 2");
}

}  // namespace
}  // namespace waybill
