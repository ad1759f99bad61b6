// SPDX-License-Identifier: MIT
//
// ext/fmt/core.hpp without any other header of waybill.

#include <doctest/doctest.h>

#include <waybill/ext/fmt/core.hpp>

namespace waybill {
namespace {

TEST_CASE("ext/fmt/core.hpp alone prints a value of its module")
{
    CHECK(fmt::format("{}", fault{fault_kind::transient, "no route"}) == "transient: no route");
}

}  // namespace
}  // namespace waybill
