// SPDX-License-Identifier: MIT

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>
#include <support/wire_bytes.hpp>

#include <waybill/wire/protobuf.hpp>
#include <waybill/wire/pubsub.hpp>

namespace protobuf_prop {

namespace protobuf = waybill::wire::protobuf;
namespace pubsub = waybill::wire::pubsub;
using wire_bytes::writer;

void field(writer& w, std::uint64_t number, const std::string& content)
{
    w.varint((number << 3U) | 2U);
    w.varint(content.size());
    w.raw(content);
}

struct message {
    std::string data{};
    std::map<std::string, std::string> attributes{};
    std::string ordering_key{};
};

std::string written(const message& m)
{
    writer w;
    if (!m.data.empty()) field(w, 1, m.data);
    for (const auto& [key, value] : m.attributes) {
        writer entry;
        field(entry, 1, key);
        field(entry, 2, value);
        field(w, 2, entry.out);
    }
    if (!m.ordering_key.empty()) field(w, 5, m.ordering_key);
    return w.out;
}

TEST_CASE("protobuf: sizes of tags and fields equal the written lengths, for any field number")
{
    CHECK(rc::check([] {
        const std::uint64_t number =
            (*rc::gen::inRange<std::uint64_t>(1, 1U << 29U) >> *rc::gen::inRange(0, 29)) | 1U;
        const auto width = *rc::gen::inRange(0, 64);
        const std::uint64_t value = *rc::gen::arbitrary<std::uint64_t>() >> width;
        const auto content = *wire_bytes::text();
        writer tag;
        tag.varint(number << 3U);
        writer bytes;
        field(bytes, number, content);
        writer integer = tag;
        integer.varint(value);
        RC_ASSERT(protobuf::tag_size(number) == tag.out.size());
        RC_ASSERT(protobuf::bytes_field_size(number, content.size()) == bytes.out.size());
        RC_ASSERT(protobuf::varint_field_size(number, value) == integer.out.size());
        RC_ASSERT(protobuf::fixed32_field_size(number) == (tag.out + "1234").size());
        RC_ASSERT(protobuf::fixed64_field_size(number) == (tag.out + "12345678").size());
    }));
}

TEST_CASE("pubsub: the size of a PublishRequest equals its written length")
{
    CHECK(rc::check([] {
        const auto topic = *wire_bytes::text(300);
        writer request;
        if (!topic.empty()) field(request, 1, topic);
        const pubsub::publish_request framing{topic};
        const protobuf::repeated same{2, framing.envelope({}), pubsub::size};
        pubsub::publish_request::state state;
        std::uint64_t sum = framing.envelope({});
        RC_ASSERT(sum == request.out.size());
        for (int i = *rc::gen::inRange(0, 8); i != 0; --i) {
            message m;
            m.data = *wire_bytes::text();
            m.attributes = *rc::gen::container<std::map<std::string, std::string>>(
                wire_bytes::text(300), wire_bytes::text(300));
            m.ordering_key = *wire_bytes::text(300);
            std::vector<pubsub::attribute> attributes;
            for (const auto& [key, value] : m.attributes) attributes.push_back({key, value});
            const pubsub::message view{m.data, attributes, m.ordering_key};

            RC_ASSERT(pubsub::size(view) == written(m).size());
            RC_ASSERT(framing.delta(state, view) == same.delta({}, view));
            sum += framing.delta(state, view);
            framing.push(state, view);
            field(request, 2, written(m));
        }
        RC_ASSERT(sum == request.out.size());
    }));
}

}  // namespace protobuf_prop
