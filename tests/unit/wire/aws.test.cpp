// SPDX-License-Identifier: MIT
//
// The documented rules of SQS, SNS, Kinesis, EventBridge and CloudWatch Logs.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/wire/cloudwatch.hpp>
#include <waybill/wire/eventbridge.hpp>
#include <waybill/wire/kinesis.hpp>
#include <waybill/wire/sqs.hpp>

namespace aws_test {

namespace wire = waybill::wire;
using waybill::detail::highest_size;

constexpr std::string_view of(std::size_t n)
{
    return {"", n};
}

constexpr std::size_t most = ~std::size_t{0} / 2;

constexpr wire::sqs::attribute attributes[] = {{"trace", "String", "0123"},
                                               {"n", "Number.int", "7"}};
static_assert(wire::sqs::size({}) == 0);
static_assert(wire::sqs::size({.body = of(262'144)}) == 262'144);
static_assert(wire::sqs::size({.body = "body", .attributes = attributes}) == 4 + 15 + 12);
static_assert(wire::sns::size({.body = "body", .attributes = attributes}) == 31, "the same rule");
#if SIZE_MAX > UINT32_MAX  // with 32 bits there are no views whose sum saturates
constexpr wire::sqs::attribute absurd[] = {{of(most), of(most), of(most)}};
static_assert(wire::sqs::size({.attributes = absurd}) == highest_size);
static_assert(wire::eventbridge::size(
                  {.source = of(most), .detail_type = of(2), .detail = of(most)}) == highest_size);
#endif

static_assert(wire::kinesis::size({.data = of(1'048'576), .partition_key = of(256)}) == 1'048'832);
static_assert(wire::kinesis::size({.data = of(most), .partition_key = of(most)}) == 2 * most);

constexpr std::string_view resources[] = {"arn:1", "", "arn:22"};
static_assert(wire::eventbridge::size({}) == 0);
static_assert(wire::eventbridge::size({.has_time = true}) == 14);
static_assert(wire::eventbridge::size({.source = "s",
                                       .detail_type = "dt",
                                       .detail = "{}",
                                       .resources = resources,
                                       .has_time = true}) == 14 + 5 + 11);

namespace logs = wire::cloudwatch;
static_assert(logs::size({}) == 26);
static_assert(logs::size({.message = of(most)}) == std::uint64_t{most} + 26);

// The additional bytes of an event after these.
constexpr std::uint64_t after(std::int64_t first, std::int64_t last, std::int64_t next,
                              logs::put_log_events framing = {})
{
    logs::put_log_events::state state;
    framing.push(state, {.timestamp = first});
    framing.push(state, {.timestamp = last});
    return framing.delta(state, {.message = "abcd", .timestamp = next});
}

constexpr std::int64_t day = 86'400'000;
static_assert(logs::put_log_events{}.envelope({}) == 0);
static_assert(logs::put_log_events{}.delta({}, {.message = "abcd", .timestamp = -day}) == 30);
static_assert(after(0, 0, 0) == 30 && after(0, 5, 5) == 30);
static_assert(after(0, 0, day) == 30 && after(0, day, day + 1) == highest_size, "a day, not more");
static_assert(after(0, 5, 4) == highest_size, "earlier than the one before it");
static_assert(after(-day, -1, 0) == 30 && after(-day, 0, 1) == highest_size);
static_assert(after(std::numeric_limits<std::int64_t>::lowest(), 0, 1) == highest_size);
static_assert(after(0, 0, 2 * day, {.span = highest_size}) == 30, "a span that is lifted");

TEST_CASE("aws: an event out of time order does not fit in the batch")
{
    const logs::put_log_events framing;
    logs::put_log_events::state state;
    framing.push(state, {.message = "late", .timestamp = 10});
    const logs::event earlier{.message = "early", .timestamp = 9};
    CHECK(framing.delta(state, earlier) == highest_size);
    CHECK(framing.delta({}, earlier) == 31);
}

}  // namespace aws_test
