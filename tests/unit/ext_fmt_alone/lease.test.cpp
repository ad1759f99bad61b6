// SPDX-License-Identifier: MIT
//
// ext/fmt/lease.hpp without any other header of waybill.

#include <doctest/doctest.h>

#include <waybill/ext/fmt/lease.hpp>

namespace waybill {
namespace {

TEST_CASE("ext/fmt/lease.hpp alone prints a value of its module")
{
    CHECK(fmt::format("{}", owner_id{"host-7", 81}) == "host-7#81");
}

}  // namespace
}  // namespace waybill
