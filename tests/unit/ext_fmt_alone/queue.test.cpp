// SPDX-License-Identifier: MIT
//
// ext/fmt/queue.hpp without any other header of waybill.

#include <doctest/doctest.h>

#include <waybill/ext/fmt/queue.hpp>

namespace waybill {
namespace {

TEST_CASE("ext/fmt/queue.hpp alone prints a value of its module")
{
    CHECK(fmt::format("{}", settlement{abandon{}}) == "abandon");
}

}  // namespace
}  // namespace waybill
