// SPDX-License-Identifier: MIT

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/wire/mqtt5.hpp>

namespace mqtt5_test {

namespace mqtt5 = waybill::wire::mqtt5;
using mqtt5::property;
using mqtt5::publish;
using mqtt5::size;
using waybill::detail::highest_size;

constexpr std::string_view of(std::size_t n)
{
    return {"", n};
}

// Fixed header, remaining length, topic, no properties.
static_assert(size({.topic = "a"}) == 1 + 1 + 3 + 1);
static_assert(size({.topic = "a", .qos = 1}) == 8);
static_assert(size({.topic = "a", .qos = 2}) == 8);
static_assert(size({.payload = of(124)}) == 2 + 127 && size({.payload = of(125)}) == 3 + 128);
static_assert(size({.payload = of(16'380)}) == 3 + 16'383);
static_assert(size({.payload = of(16'381)}) == 4 + 16'384);
static_assert(size({.payload = of(2'097'148)}) == 4 + 2'097'151);
static_assert(size({.payload = of(2'097'149)}) == 5 + 2'097'152);

// The largest remaining length of the format.
static_assert(size({.payload = of(268'435'452)}) == 5 + mqtt5::max_remaining_length);
static_assert(size({.payload = of(268'435'453)}) == highest_size);
#if SIZE_MAX > UINT32_MAX  // with 32 bits there is no such view
static_assert(size({.payload = of(std::size_t{1} << 32U)}) == highest_size);
#endif
static_assert(size({.topic = of(65'535)}) == 1 + 3 + 65'538);
static_assert(size({.topic = of(65'536)}) == highest_size);

// Properties, each alone: an empty one is not absent.
static_assert(properties_size(publish{}) == 0);
static_assert(properties_size(publish{.utf8 = true}) == 2);
static_assert(properties_size(publish{.message_expiry = 0}) == 5);
static_assert(properties_size(publish{.topic_alias = 1}) == 3);
static_assert(properties_size(publish{.content_type = ""}) == 3);
static_assert(properties_size(publish{.response_topic = "ab"}) == 5);
static_assert(properties_size(publish{.correlation_data = of(65'535)}) == 65'538);
static_assert(properties_size(publish{.correlation_data = of(65'536)}) == highest_size);
constexpr property pairs[] = {{"k", "v"}, {"k", ""}};
static_assert(properties_size(publish{.user_properties = pairs}) == 7 + 6);
constexpr property wrong[] = {{"k", of(65'536)}};
static_assert(size({.user_properties = wrong}) == highest_size);

// Their length steps, too.
static_assert(size({.content_type = of(124)}) == 3 + 2 + 1 + 127);
static_assert(size({.content_type = of(125)}) == 3 + 2 + 2 + 128);

TEST_CASE("mqtt5: a message with only a topic alias is shorter by its topic")
{
    const publish first{.topic = "sensors/kitchen/temperature", .payload = "21", .topic_alias = 1};
    publish next = first;
    next.topic = "";
    CHECK(size(first) == 1 + 1 + 2 + 27 + 1 + 3 + 2);
    CHECK(size(next) == size(first) - 27);
}

}  // namespace mqtt5_test
