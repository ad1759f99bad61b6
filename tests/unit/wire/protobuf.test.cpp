// SPDX-License-Identifier: MIT

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/wire/protobuf.hpp>
#include <waybill/wire/pubsub.hpp>

namespace protobuf_test {

namespace protobuf = waybill::wire::protobuf;
namespace pubsub = waybill::wire::pubsub;
using protobuf::bytes_field_size;
using protobuf::tag_size;
using waybill::detail::highest_size;

constexpr std::string_view of(std::size_t n)
{
    return {"", n};
}

static_assert(tag_size(1) == 1 && tag_size(15) == 1 && tag_size(16) == 2);
static_assert(tag_size(2'047) == 2 && tag_size(2'048) == 3);
static_assert(tag_size(536'870'911) == 5 && tag_size(536'870'912) == highest_size);
static_assert(tag_size(0) == highest_size);

static_assert(bytes_field_size(1, 0) == 2);
static_assert(bytes_field_size(1, 127) == 129 && bytes_field_size(1, 128) == 131);
static_assert(bytes_field_size(1, 16'383) == 16'386 && bytes_field_size(1, 16'384) == 16'388);
static_assert(bytes_field_size(16, 127) == 130);
static_assert(bytes_field_size(1, 2'147'483'647) == 2'147'483'653);
static_assert(bytes_field_size(1, 2'147'483'648) == highest_size);
static_assert(bytes_field_size(1, highest_size) == highest_size);
static_assert(bytes_field_size(0, 1) == highest_size);

static_assert(protobuf::varint_field_size(1, 0) == 2);
static_assert(protobuf::varint_field_size(1, static_cast<std::uint64_t>(-1)) == 11);
static_assert(protobuf::fixed32_field_size(1) == 5 && protobuf::fixed64_field_size(16) == 10);

// A request with a repeated field. A negative size is an error code, and fits nowhere.
constexpr auto identity = [](int n) { return n; };
constexpr protobuf::repeated framing{16, 10, identity};
static_assert(framing.envelope(1) == 10);
static_assert(framing.delta({}, 127) == 130 && framing.delta({}, 128) == 132);
static_assert(framing.delta({}, -1) == highest_size);

// Pub/Sub: an empty value is not written, except in an entry of a map.
constexpr pubsub::attribute one[] = {{"k", "v"}};
constexpr pubsub::attribute empty[] = {{"", ""}};
static_assert(pubsub::size({}) == 0);
static_assert(pubsub::size({.data = of(127)}) == 129);
static_assert(pubsub::size({.data = of(128), .ordering_key = "key"}) == 131 + 5);
static_assert(pubsub::size({.attributes = one}) == 2 + 6);
static_assert(pubsub::size({.attributes = empty}) == 2 + 4);
static_assert(pubsub::size({.data = of(std::size_t{1} << 31U)}) == highest_size);
static_assert(pubsub::size({.data = of(2'147'483'641)}) == 2'147'483'647);
static_assert(pubsub::size({.data = of(2'147'483'642)}) == highest_size, "over 2 GiB as a whole");

static_assert(pubsub::billed_size({}) == 20);
static_assert(pubsub::billed_size({.data = of(9), .attributes = one, .ordering_key = "ab"}) == 33);

constexpr pubsub::publish_request request{"projects/p/topics/t"};
static_assert(request.envelope({}) == 2 + 19);
static_assert(pubsub::publish_request{}.envelope({}) == 0);
static_assert(request.delta({}, {}) == 2);
static_assert(request.delta({}, {.data = of(125)}) == 129);
static_assert(request.delta({}, {.data = of(126)}) == 131);

TEST_CASE("protobuf: repeated accepts a size function of the caller")
{
    const protobuf::repeated strings{1, 0, [](const std::string& s) { return s.size(); }};
    decltype(strings)::state state;
    strings.push(state, std::string("abc"));
    CHECK(strings.delta(state, std::string("abc")) == 5);
    CHECK(state == decltype(strings)::state{});
}

}  // namespace protobuf_test
