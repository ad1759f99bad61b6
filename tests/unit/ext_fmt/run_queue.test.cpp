// SPDX-License-Identifier: MIT

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <waybill/ext/fmt/queue.hpp>
#include <waybill/queue/queue_policy.hpp>
#include <waybill/queue/queue_report.hpp>

TEST_CASE("policy and report of run_queue")
{
    using waybill::queue_report;
    CHECK(fmt::format("{}", waybill::queue_policy{}) ==
          "lock 1min, retries for 24h, pauses of 1s to 150s");
    CHECK(fmt::format("{}", queue_report{.end = queue_report::end_reason::empty,
                                         .received = 1,
                                         .unconfirmed = 1}) == "1 received, 1 unconfirmed; empty");
    CHECK(fmt::format("{}", queue_report::delivery{.id = "order-7",
                                                   .how = queue_report::outcome::unconfirmed,
                                                   .text = "timed out"}) ==
          "order-7: unconfirmed: timed out");
    CHECK(fmt::format("{}", queue_report::end_reason::queue_failed) == "queue_failed");
    CHECK(fmt::format("{}", queue_report::outcome::left_to_lock) == "left_to_lock");
}
