// SPDX-License-Identifier: MIT
//
// ext/fmt/session.hpp without any other header of waybill.

#include <doctest/doctest.h>

#include <waybill/ext/fmt/session.hpp>

namespace waybill {
namespace {

TEST_CASE("ext/fmt/session.hpp alone prints a value of its module")
{
    CHECK(fmt::format("{}", schema_version{2, 1}) == "2.1");
}

}  // namespace
}  // namespace waybill
