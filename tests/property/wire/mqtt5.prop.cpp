// SPDX-License-Identifier: MIT

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>
#include <support/wire_bytes.hpp>

#include <waybill/wire/mqtt5.hpp>

namespace mqtt5_prop {

namespace mqtt5 = waybill::wire::mqtt5;
using wire_bytes::writer;

void text(writer& w, std::string_view s)
{
    w.fixed(s.size(), 2);
    w.raw(std::string(s));
}

std::string properties(const mqtt5::publish& p)
{
    writer w;
    const auto string = [&](std::uint64_t id, const std::optional<std::string_view>& s) {
        if (!s) return;
        w.fixed(id, 1);
        text(w, *s);
    };
    if (p.utf8) w.fixed(0x0101, 2);
    if (p.message_expiry) w.fixed((std::uint64_t{2} << 32U) | *p.message_expiry, 5);
    string(3, p.content_type);
    string(8, p.response_topic);
    string(9, p.correlation_data);
    if (p.topic_alias) w.fixed((std::uint64_t{0x23} << 16U) | *p.topic_alias, 3);
    for (const auto& u : p.user_properties) {
        w.fixed(0x26, 1);
        text(w, u.key);
        text(w, u.value);
    }
    return w.out;
}

std::string packet(const mqtt5::publish& p)
{
    writer rest;
    text(rest, p.topic);
    if (p.qos > 0) rest.fixed(1, 2);
    rest.varint(properties(p).size());
    rest.raw(properties(p));
    rest.raw(std::string(p.payload));
    writer w;
    w.fixed(0x30U | (p.qos << 1U), 1);
    w.varint(rest.out.size());
    w.raw(rest.out);
    return w.out;
}

TEST_CASE("mqtt5: the size of a PUBLISH packet equals its written length")
{
    CHECK(rc::check([] {
        const auto topic = *wire_bytes::text(65'535);
        const auto payload = *wire_bytes::text();
        const auto type = *wire_bytes::maybe(65'535);
        const auto response = *wire_bytes::maybe(65'535);
        const auto correlation = *wire_bytes::maybe(65'535);
        const auto pairs = *rc::gen::container<std::vector<std::pair<std::string, std::string>>>(
            rc::gen::pair(wire_bytes::text(300), wire_bytes::text(300)));
        std::vector<mqtt5::property> users;
        for (const auto& [key, value] : pairs) users.push_back({key, value});
        mqtt5::publish p{.topic = topic,
                         .payload = payload,
                         .content_type = type,
                         .response_topic = response,
                         .correlation_data = correlation,
                         .user_properties = users};
        p.qos = *rc::gen::inRange(0U, 3U);
        p.utf8 = *rc::gen::arbitrary<bool>();
        if (*rc::gen::arbitrary<bool>()) p.message_expiry = *rc::gen::arbitrary<std::uint32_t>();
        if (*rc::gen::arbitrary<bool>()) p.topic_alias = *rc::gen::arbitrary<std::uint16_t>();

        RC_ASSERT(mqtt5::properties_size(p) == properties(p).size());
        RC_ASSERT(mqtt5::size(p) == packet(p).size());
    }));
}

}  // namespace mqtt5_prop
