// SPDX-License-Identifier: MIT
//
// ext/fmt/batch.hpp without any other header of waybill.

#include <doctest/doctest.h>

#include <waybill/ext/fmt/batch.hpp>

namespace waybill {
namespace {

TEST_CASE("ext/fmt/batch.hpp alone prints a value of its module")
{
    CHECK(fmt::format("{}", item_range{2, 3}) == "items 2 to 4");
}

}  // namespace
}  // namespace waybill
