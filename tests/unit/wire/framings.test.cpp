// SPDX-License-Identifier: MIT
//
// The framings of wire/ cut batches.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/batch/chunk_by.hpp>
#include <waybill/batch/framing.hpp>
#include <waybill/wire/cloudwatch.hpp>
#include <waybill/wire/json_array.hpp>
#include <waybill/wire/kafka.hpp>
#include <waybill/wire/protobuf.hpp>
#include <waybill/wire/pubsub.hpp>

namespace framings_test {

namespace wire = waybill::wire;
using waybill::batch_limits;
using waybill::framing;

struct unsized {};
constexpr auto three = [](const unsized&) { return 3; };

static_assert(framing<wire::kafka::record_batch, wire::kafka::record>);
static_assert(framing<wire::pubsub::publish_request, wire::pubsub::message>);
static_assert(framing<wire::cloudwatch::put_log_events, wire::cloudwatch::event>);
static_assert(framing<wire::json::array<>, std::string> && framing<wire::json::array<>, int>);
static_assert(framing<wire::json::lines<>, std::string_view>);
static_assert(!framing<wire::json::array<>, unsized> && !framing<wire::json::lines<>, bool>);
static_assert(framing<decltype(wire::json::array{three}), unsized>);
static_assert(framing<decltype(wire::protobuf::repeated{1, 0, three}), unsized>);
static_assert(!framing<decltype(wire::protobuf::repeated{1, 0, three}), wire::kafka::record>);
static_assert(!framing<wire::kafka::record_batch, wire::pubsub::message>);

// Items and bytes of each chunk.
struct cut {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    bool fits = true;

    friend bool operator==(const cut&, const cut&) = default;
};

template <class Items, class F>
std::vector<cut> cuts(const Items& items, const batch_limits& l, const F& f)
{
    std::vector<cut> all;
    for (const auto& part : waybill::chunk_by(items, l, f)) {
        all.push_back({part.count, part.bytes, part.fits});
    }
    return all;
}

TEST_CASE("framings: a Kafka record takes one byte more from offset 64 of a batch on")
{
    const std::vector<wire::kafka::record> records(130, {.value = "0123456789"});
    // 61 and 64 records of 17 bytes; the 65th would take 18.
    CHECK(cuts(records, {.bytes = 61 + 64 * 17}, wire::kafka::record_batch{}) ==
          std::vector<cut>{{64, 61 + 64 * 17}, {64, 61 + 64 * 17}, {2, 61 + 34}});
    CHECK(cuts(records, {.bytes = 61 + 64 * 17 + 18}, wire::kafka::record_batch{}) ==
          std::vector<cut>{{65, 61 + 64 * 17 + 18}, {65, 61 + 64 * 17 + 18}});
}

TEST_CASE("framings: events out of order or over a day apart begin a new batch")
{
    constexpr std::int64_t day = 86'400'000;
    const std::vector<wire::cloudwatch::event> events{
        {"a", 0}, {"b", day}, {"c", day + 1}, {"d", day}, {"e", 3 * day}};
    CHECK(cuts(events, {.bytes = 1'048'576, .items = 10'000}, wire::cloudwatch::put_log_events{}) ==
          std::vector<cut>{{2, 54}, {1, 27}, {1, 27}, {1, 27}});
}

TEST_CASE("framings: an oversized item is alone in its chunk and does not fit")
{
    const std::vector<std::string> documents{"1", "22", "333333333", "4"};
    CHECK(cuts(documents, {.bytes = 6}, wire::json::array{}) ==
          std::vector<cut>{{2, 6}, {1, 11, false}, {1, 3}});
    CHECK(cuts(documents, {.bytes = 5}, wire::json::lines{}) ==
          std::vector<cut>{{2, 5}, {1, 10, false}, {1, 2}});
}

TEST_CASE("framings: framed passes a member of the caller's items")
{
    struct order {
        std::string json;
    };
    const std::vector<order> orders{{"1"}, {"22"}};
    CHECK(cuts(orders, {.bytes = 6}, waybill::framed(wire::json::array{}, &order::json)) ==
          std::vector<cut>{{2, 6}});
}

}  // namespace framings_test
