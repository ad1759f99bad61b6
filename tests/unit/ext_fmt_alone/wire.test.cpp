// SPDX-License-Identifier: MIT
//
// ext/fmt/wire.hpp without any other header of waybill.

#include <doctest/doctest.h>

#include <waybill/ext/fmt/wire.hpp>

namespace waybill {
namespace {

TEST_CASE("ext/fmt/wire.hpp alone prints a value of its module")
{
    CHECK(fmt::format("{}", wire::refusal_numbers{}) == "request: no limit is named");
}

}  // namespace
}  // namespace waybill
