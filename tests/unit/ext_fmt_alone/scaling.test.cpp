// SPDX-License-Identifier: MIT
//
// ext/fmt/scaling.hpp without any other header of waybill.

#include <doctest/doctest.h>

#include <waybill/ext/fmt/scaling.hpp>

namespace waybill {
namespace {

TEST_CASE("ext/fmt/scaling.hpp alone prints a value of its module")
{
    CHECK(fmt::format("{}", scaling::command{.id = 4, .from = 2, .to = 3}) == "command 4: 2 -> 3");
}

}  // namespace
}  // namespace waybill
