// SPDX-License-Identifier: MIT

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>
#include <support/wire_bytes.hpp>

#include <waybill/wire/kafka.hpp>

namespace kafka_prop {

namespace kafka = waybill::wire::kafka;
using wire_bytes::writer;
using maybe_text = std::optional<std::string>;

struct message {
    maybe_text key{};
    maybe_text value{};
    std::int64_t timestamp = 0;
    std::vector<std::pair<std::string, maybe_text>> headers{};
};

// The model writes a record batch of version 2 as documented.
void nullable(writer& w, const maybe_text& s)
{
    w.zigzag(s ? static_cast<std::int64_t>(s->size()) : -1);
    if (s) w.raw(*s);
}

std::string record(const message& m, std::size_t offset, std::int64_t time)
{
    writer body;
    body.fixed(0, 1);
    body.zigzag(time);
    body.zigzag(static_cast<std::int64_t>(offset));
    nullable(body, m.key);
    nullable(body, m.value);
    body.zigzag(static_cast<std::int64_t>(m.headers.size()));
    for (const auto& [key, value] : m.headers) {
        nullable(body, key);
        nullable(body, value);
    }
    writer w;
    w.zigzag(static_cast<std::int64_t>(body.out.size()));
    w.raw(body.out);
    return w.out;
}

std::string batch(const std::vector<message>& all)
{
    writer w;
    w.fixed(0, 8);  // first offset
    w.fixed(0, 4);  // length of the rest
    w.fixed(0, 4);  // partition leader epoch
    w.fixed(2, 1);  // magic
    w.fixed(0, 4);  // checksum
    w.fixed(0, 2);  // attributes
    w.fixed(all.size() - 1, 4);
    w.fixed(0, 8);  // first timestamp
    w.fixed(0, 8);  // highest timestamp
    w.fixed(0, 8);  // producer
    w.fixed(0, 2);  // producer's epoch
    w.fixed(0, 4);  // first sequence
    w.fixed(all.size(), 4);
    for (std::size_t i = 0; i != all.size(); ++i) {
        w.raw(record(all[i], i, all[i].timestamp - all[0].timestamp));
    }
    return w.out;
}

// The message type of users is a view of it.
struct viewed {
    explicit viewed(const message& m)
    {
        for (const auto& [key, value] : m.headers) headers.push_back({key, value});
        record = {.key = m.key, .value = m.value, .timestamp = m.timestamp, .headers = headers};
    }
    std::vector<kafka::header> headers{};
    kafka::record record{};
};

rc::Gen<message> any_message()
{
    return rc::gen::exec([] {
        message m;
        m.key = *wire_bytes::maybe();
        m.value = *wire_bytes::maybe();
        const int width = *rc::gen::inRange(2, 61);
        m.timestamp = *rc::gen::arbitrary<std::int64_t>() >> width;
        m.headers = *rc::gen::container<std::vector<std::pair<std::string, maybe_text>>>(
            rc::gen::pair(wire_bytes::text(300), wire_bytes::maybe(300)));
        return m;
    });
}

TEST_CASE("kafka: the size of a record equals its written length, and the bound is at most 17 more")
{
    CHECK(rc::check([] {
        const message m = *any_message();
        const auto offset = static_cast<std::size_t>(*rc::gen::arbitrary<std::uint32_t>() >>
                                                     *rc::gen::inRange(1, 32));
        const viewed v(m);
        const std::size_t written = record(m, offset, m.timestamp).size();
        RC_ASSERT(kafka::size(v.record, offset, m.timestamp) == written);
        RC_ASSERT(kafka::bound(v.record) >= written);
        RC_ASSERT(kafka::bound(v.record) - written <= 17U);
    }));
}

TEST_CASE("kafka: the sizes of the framing add up to the length of the written batch")
{
    CHECK(rc::check([] {
        auto all = *rc::gen::nonEmpty(rc::gen::container<std::vector<message>>(any_message()));
        const auto count = *rc::gen::inRange<std::size_t>(0, 100);
        while (all.size() < count) {
            all.push_back(all[0]);
            all.back().timestamp += static_cast<std::int64_t>(all.size());
        }
        const kafka::record_batch framing;
        kafka::record_batch::state state;
        std::uint64_t sum = framing.envelope(viewed(all[0]).record);
        for (const message& m : all) {
            const viewed v(m);
            sum += framing.delta(state, v.record);
            framing.push(state, v.record);
        }
        RC_ASSERT(sum == batch(all).size());
    }));
}

}  // namespace kafka_prop
