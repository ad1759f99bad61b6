// SPDX-License-Identifier: MIT

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/core/batch_limits.hpp>
#include <waybill/wire/amqp091.hpp>

namespace amqp091_test {

namespace amqp = waybill::wire::amqp091;
using amqp::body_frames_size;
using amqp::field;
using amqp::header_frame_size;
using amqp::message;
using amqp::method_frame_size;
using amqp::table_size;
using amqp::value;
using waybill::unlimited;
using waybill::detail::highest_size;

constexpr std::string_view of(std::size_t n)
{
    return {"", n};
}

// Values, with the octet that names their type.
static_assert(value(nullptr).size() == 1);
static_assert(value(true).size() == 2 && value(std::int8_t{1}).size() == 2);
static_assert(value(std::uint16_t{1}).size() == 3 && value(std::int32_t{1}).size() == 5);
static_assert(value(std::int64_t{1}).size() == 9 && value(1.0F).size() == 5);
static_assert(value(1.0).size() == 9 && value("text").size() == 9, "text is no bool");
static_assert(amqp::timestamp().size() == 9 && amqp::decimal().size() == 6);
static_assert(amqp::bytes("ab").size() == 7 && value(amqp::encoded{3}).size() == 4);
static_assert(value(of(0xFFFF'FFFF)).size() == 5 + std::uint64_t{0xFFFF'FFFF});
#if SIZE_MAX > UINT32_MAX  // with 32 bits there is no such view
static_assert(value(of(std::size_t{1} << 32U)).size() == highest_size);
#endif

// Nested tables and arrays.
constexpr field inner[] = {{"count", std::int64_t{3}}, {"reason", "expired"}};
constexpr value list[] = {amqp::table(inner), nullptr, true};
constexpr field outer[] = {{"x-death", amqp::array(list)}, {"n", std::int32_t{1}}};
static_assert(table_size({}) == 4);
static_assert(table_size(inner) == 4 + (6 + 9) + (7 + 12));
static_assert(amqp::table(inner).size() == 39);
static_assert(table_size(outer) == 4 + (8 + 1 + 4 + 39 + 1 + 2) + (2 + 5));
constexpr field long_name[] = {{of(255), nullptr}};
constexpr field too_long_name[] = {{of(256), nullptr}};
static_assert(table_size(long_name) == 4 + 256 + 1);
static_assert(table_size(too_long_name) == highest_size);

// Frames.
static_assert(method_frame_size({}) == 8 + 9);
static_assert(method_frame_size({.exchange = "ex", .routing_key = "key"}) == 8 + 9 + 5);
static_assert(method_frame_size({.exchange = of(255)}) == 8 + 9 + 255);
static_assert(method_frame_size({.routing_key = of(256)}) == highest_size);
static_assert(header_frame_size({}) == 8 + 14);
static_assert(header_frame_size({.delivery_mode = std::uint8_t{2}, .priority = std::uint8_t{0}}) ==
              8 + 14 + 2);
static_assert(header_frame_size({.timestamp = 0}) == 8 + 14 + 8);
static_assert(header_frame_size({.content_type = "text/plain", .message_id = ""}) ==
              8 + 14 + 11 + 1);
static_assert(header_frame_size({.headers = inner}) == 8 + 14 + table_size(inner));
static_assert(header_frame_size({.headers = std::span<const field>{}}) == 8 + 14 + 4,
              "an empty table is sent, an absent one is not");
static_assert(header_frame_size({.cluster_id = of(256)}) == highest_size);

static_assert(body_frames_size(0) == 0);
static_assert(body_frames_size(1) == 9);
static_assert(body_frames_size(131'064) == 131'072 && body_frames_size(131'065) == 131'081);
static_assert(body_frames_size(10, 9) == 90, "a byte a frame");
static_assert(body_frames_size(1, 8) == highest_size && body_frames_size(1, 0) == highest_size);
static_assert(body_frames_size(0, 0) == 0);
static_assert(body_frames_size(0xFFFF'FFFF, unlimited) == 8 + std::uint64_t{0xFFFF'FFFF});
static_assert(body_frames_size(0x1'0000'0000, unlimited) == 16 + std::uint64_t{0x1'0000'0000});
static_assert(body_frames_size(highest_size) == highest_size);

// Method and content header must each fit into a frame; the body need not.
constexpr message typical{
    .exchange = "orders", .routing_key = "a.b", .headers = inner, .body = of(200'000)};
static_assert(size(typical) == 26 + (22 + 38) + 200'000 + 2 * 8);
static_assert(size(typical, 60) == 26 + 60 + 200'000 + 3'847 * 8);
static_assert(size(typical, 59) == highest_size, "the content header is 60 bytes");
static_assert(size(message{.exchange = of(60)}, 60) == highest_size);

TEST_CASE("amqp091: table_size accepts headers made at run time")
{
    const std::string trace(55, '0');
    const field headers[] = {{"traceparent", trace}, {"attempt", 2}};
    CHECK(table_size(headers) == 4 + 12 + 5 + 55 + 8 + 5);
}

}  // namespace amqp091_test
