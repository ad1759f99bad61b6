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

TEST_CASE("ext/fmt/queue.hpp: report and policy of a relay")
{
    relay_report r{.outcome = relay_report::ending::drained, .sent = 7, .dead = 1};
    r.store_errors = 1;
    r.last_error.text = "disk\nfull";
    CHECK(fmt::format("{}", r) == "7 sent, 1 dead, 1 store error (last: disk\\nfull); drained");
    CHECK(fmt::format("{}", relay_report::policy{}) ==
          "claims of at most 1000 rows for 1min, pause 1s, until a stop");
    CHECK(fmt::format("{}", relay_report::policy{.drain = true, .dead_row_blocks_key = true}) ==
          "claims of at most 1000 rows for 1min, pause 1s, until none is left, dead rows block "
          "their keys");
    CHECK(fmt::format("{}", r.outcome) == "drained");
}

}  // namespace
}  // namespace waybill
