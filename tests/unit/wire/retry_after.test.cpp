// SPDX-License-Identifier: MIT

#include <chrono>
#include <optional>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/core/time_text.hpp>
#include <waybill/wire/retry_after.hpp>

namespace retry_after_test {

using namespace waybill;
using namespace std::chrono_literals;
using wire::retry_after;
using wire::retry_after_ms;
using wire::retry_delay;

namespace {

// 1994-11-06T08:49:37Z
constexpr wall_time now = wall_time::at(duration::seconds(784'111'777));

}  // namespace

// Seconds.
static_assert(retry_after("120", now) == duration(120s));
static_assert(retry_after("0", now) == duration{});
static_assert(retry_after(" 5\t", now) == duration(5s));
static_assert(retry_after("1.5", now) == duration(1500ms));
static_assert(retry_after("-30", now) == duration{});
static_assert(retry_after("99999999999999999999999999", now) == duration::highest());
static_assert(!retry_after("", now));
static_assert(!retry_after("-", now));
static_assert(!retry_after(".5", now));
static_assert(!retry_after("5.", now));
static_assert(!retry_after("5 s", now));
static_assert(!retry_after("+5", now));
static_assert(!retry_after("5,6", now));
static_assert(!retry_after("soon", now));

// Dates, in the three forms of HTTP.
static_assert(retry_after("Sun, 06 Nov 1994 08:51:37 GMT", now) == duration(2min));
static_assert(retry_after("Sunday, 06-Nov-94 08:51:37 GMT", now) == duration(2min));
static_assert(retry_after("Sun Nov  6 08:51:37 1994", now) == duration(2min));
static_assert(retry_after("Wed Nov 16 08:49:37 1994", now) == duration(240h));
static_assert(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", now) == duration{});
static_assert(retry_after("Sun, 06 Nov 1994 08:49:36 GMT", now) == duration{}, "it has passed");
static_assert(retry_after("Fri, 31 Dec 1999 23:59:60 GMT", now) ==
                  retry_after("Sat, 01 Jan 2000 00:00:00 GMT", now),
              "a leap second");
static_assert(retry_after("Thursday, 06-Nov-08 08:49:37 GMT", now) ==
                  retry_after("Thu, 06 Nov 2008 08:49:37 GMT", now),
              "14 years ahead, not 86 ago");
static_assert(retry_after("Thursday, 06-Nov-69 08:49:37 GMT", now) == duration{},
              "25 years ago, not 75 ahead");
static_assert(!retry_after("Sun, 06 Nov 1994 08:51:37", now));
static_assert(!retry_after("Sun, 06 Nov 1994 08:51:37 CET", now));
static_assert(!retry_after("Sun, 06 Nov 1994 24:00:00 GMT", now));
static_assert(!retry_after("Sun, 00 Nov 1994 08:51:37 GMT", now));
static_assert(!retry_after("Sun, 06 Nox 1994 08:51:37 GMT", now));
static_assert(!retry_after("Xyz, 06 Nov 1994 08:51:37 GMT", now));
static_assert(!retry_after("1994-11-06T08:51:37Z", now));

static_assert(retry_after_ms("250") == duration(250ms));
static_assert(retry_after_ms("0.5") == duration(500us));
static_assert(retry_after_ms("-1") == duration{});
static_assert(!retry_after_ms("250ms"));

static_assert(retry_delay("30s") == duration(30s));
static_assert(retry_delay("2.500s") == duration(2500ms));
static_assert(retry_delay("0.000000001s") == duration(1ns));
static_assert(!retry_delay("30"));
static_assert(!retry_delay("s"));

// google.rpc.Status{code: 8, details: RetryInfo{2.5 s}}
constexpr std::string_view status(
    "\x08\x08\x1A\x36\x0A\x28type.googleapis.com/google.rpc.RetryInfo\x12\x0A\x0A\x08"
    "\x08\x02\x10\x80\xCA\xB5\xEE\x01");
static_assert(wire::retry_info(status) == duration(2500ms));
static_assert(!wire::retry_info(""));
static_assert(!wire::retry_info("\x08\x08"));
static_assert(!wire::retry_info("no protobuf at all"));
static_assert(wire::retry_info(std::string_view("\x1A\x36\x0A\x28type.googleapis.com/google.rpc."
                                                "RetryInfo\x12\x0A\x0A\x08\x08\x02\x10\x80\xCA\xB5"
                                                "\xEE\x01\x08\x08")) == duration(2500ms));

TEST_CASE("retry_info: a status that is cut has no pause, and is read no further")
{
    for (std::size_t n = 0; n != status.size(); ++n) {
        CAPTURE(n);
        CHECK(!wire::retry_info(status.substr(0, n)));
    }
}

TEST_CASE("retry_after: no beginning of a value is taken for a shorter one")
{
    for (const std::string_view whole :
         {"Sun, 06 Nov 1994 08:51:37 GMT", "Sunday, 06-Nov-94 08:51:37 GMT",
          "Sun Nov  6 08:51:37 1994"}) {
        for (std::size_t n = 0; n != whole.size(); ++n) {
            CAPTURE(whole.substr(0, n));
            CHECK(!retry_after(whole.substr(0, n), now));
        }
    }
}

}  // namespace retry_after_test
