// SPDX-License-Identifier: MIT
//
// ext/fmt/retry.hpp without any other header of waybill.

#include <doctest/doctest.h>

#include <waybill/ext/fmt/retry.hpp>

namespace waybill {
namespace {

TEST_CASE("ext/fmt/retry.hpp alone prints a value of its module")
{
    CHECK(fmt::format("{}", retry_policy{}) ==
          "5 tries, 0 at once, pauses 100ms to 30s, factor 2, jitter full");
}

}  // namespace
}  // namespace waybill
