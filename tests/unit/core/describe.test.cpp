// SPDX-License-Identifier: MIT
//
// describe without a package: helpers of the texts, and types of each module found by ADL.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/waybill.hpp>

namespace describe_test {
namespace {

namespace words = waybill::detail::words;

TEST_CASE("describe: numbers are the shortest text that round-trips, as in fmt")
{
    CHECK(words::decimal(0.0) == "0");
    CHECK(words::decimal(2.0) == "2");
    CHECK(words::decimal(-0.1) == "-0.1");
    CHECK(words::decimal(100'000.0) == "100000");
    CHECK(words::decimal(0.0001) == "0.0001");
    CHECK(words::decimal(0.00001) == "1e-05");
    CHECK(words::decimal(1e16) == "1e+16");
    CHECK(words::decimal(1.0 / 3) == "0.3333333333333333");
    CHECK(words::rounded(1.0 / 3) == "0.333333");
    CHECK(words::rounded(0.0003178597036850306) == "0.00031786");
    CHECK(words::rounded(-412.5) == "-412.5");
    CHECK(words::rounded(0.0) == "0");
    CHECK(words::rounded(1e-9) == "1e-09");
    CHECK(words::rounded(99'999.96) == "100000");
    CHECK(words::rounded(123'456.7F) == "123457");
    CHECK(words::rounded(1'234'567'890'123.4) == "1234567890123");
    CHECK(words::rounded(1e16) == "1e+16");
    CHECK(words::rounded(-1.7976931348623157e308) == "-1.79769e+308");
    CHECK(words::concat(2.0 / 3) == "0.666667");
    CHECK(words::decimal(1.3333, 1) == "1.3");
    CHECK(words::decimal(std::numeric_limits<double>::infinity()) == "inf");
    CHECK(words::decimal(-std::numeric_limits<double>::max(), 3).size() == 314);
}

TEST_CASE("describe: fields with empty values are omitted")
{
    CHECK(words::fields("none") == "none");
    CHECK(words::fields("event", "a", 1, "b", std::optional<int>(), "c", false, "d", std::string(),
                        "e", waybill::duration{}, "f", waybill::fault_kind::none) == "event: a 1");
    CHECK(words::fields("event", "a", std::optional<int>(2), "b", true, "items",
                        std::vector<int>{1, 2}, "c", std::string("x\ny"), "d",
                        waybill::fault_kind::transient) ==
          "event: a 2, b, 2 items, c x\\ny, d transient");
}

TEST_CASE("describe: policies, reports, actions and events of each module")
{
    CHECK(describe(waybill::retry_policy{}) ==
          "5 tries, 0 at once, pauses 100ms to 30s, factor 2, jitter full");
    CHECK(describe(waybill::send_report{.sends = 1}) ==
          "sent 1 request, 0 too large; 0 accepted, 0 not");
    CHECK(describe(waybill::batch_sender(waybill::send_policy{}).next({})) == "idle");
    CHECK(describe(waybill::batch_sender::throttled{.attempt = 2}) == "throttled: attempt 2");
    CHECK(describe(waybill::event_outcome{}) == "ok");
    CHECK(describe(waybill::skipped("a\nb")) == "skipped: a\\nb");
    CHECK(describe(waybill::dead_letter_options{}) == "keep body, reasons of at most 1024 bytes");
    CHECK(describe(waybill::lease_manager::listed{
              waybill::unexpected(waybill::transient("busy"))}) == "listed: transient: busy");
    CHECK(describe(waybill::lock_renewal::lock_taken{waybill::duration::seconds(30)}) ==
          "lock taken: lasts 30s");
    CHECK(describe(waybill::redrive_plan::filter{}) == "all dead letters");
    CHECK(
        describe(waybill::redrive_plan::filter{.reasons = {waybill::dead_letter_reason::failed,
                                                           waybill::dead_letter_reason::exhausted},
                                               .from_step = 4,
                                               .to_step = 4}) ==
        "dead letters with the reason failed or exhausted, from step 4 to 4");
    CHECK(describe(waybill::redrive_policy{}).starts_with("calls of at most "));
    CHECK(describe(waybill::tracker_options{}).ends_with("commits at low_water"));
    CHECK(describe(waybill::window_losses{}) == "none lost");
    CHECK(describe(waybill::window_losses{.too_old = 2, .future = 1}) ==
          "3 samples lost: too old 2, future 1");
}

TEST_CASE("describe: values of the scaling namespace are found")
{
    namespace scaling = waybill::scaling;
    CHECK(describe(scaling::change{.count = 2}) == "2");
    CHECK(describe(scaling::change{.percent = 10}) == "10 %");
    scaling::policy p;
    p.up = scaling::mean("orders") > scaling::per_instance(100);
    p.instances = {.lowest = 1, .highest = 10};
    CHECK(describe(p).starts_with("1 to 10 instances; up if mean(orders) > 100 per instance; "));
    CHECK(describe(scaling::applied{7}) == "applied: command 7");
}

TEST_CASE("describe: a result is described by its value or its error")
{
    using result = waybill::result<waybill::lease_table>;
    CHECK(describe(result(waybill::lease_table{})) == "0 leases, 0 owners");
    CHECK(describe(waybill::result<void>(waybill::unexpected(waybill::permanent("no")))) ==
          "permanent: no");
    CHECK(describe(waybill::result<void>()) == "ok");
}

}  // namespace
}  // namespace describe_test
