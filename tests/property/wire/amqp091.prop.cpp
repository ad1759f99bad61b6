// SPDX-License-Identifier: MIT

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>
#include <support/wire_bytes.hpp>

#include <waybill/wire/amqp091.hpp>

namespace amqp091_prop {

namespace amqp = waybill::wire::amqp091;
using wire_bytes::writer;

void short_string(writer& w, std::string_view s)
{
    w.fixed(s.size(), 1);
    w.raw(std::string(s));
}

void long_string(writer& w, std::string_view s)
{
    w.fixed(s.size(), 4);
    w.raw(std::string(s));
}

// A table that outlives its views, and its bytes as written by the model.
struct any_table {
    std::vector<amqp::field> fields{};
    writer written{};
};

struct made {
    std::list<std::string> texts{};
    std::list<std::vector<amqp::field>> tables{};
    std::list<std::vector<amqp::value>> arrays{};
};

std::pair<amqp::value, std::string> any_value(made& all, int depth);

any_table make_table(made& all, int depth)
{
    any_table t;
    writer inside;
    for (int i = *rc::gen::inRange(0, 5); i != 0; --i) {
        all.texts.push_back(*wire_bytes::text(255));
        const std::string& name = all.texts.back();
        const auto [value, bytes] = any_value(all, depth);
        t.fields.push_back({name, value});
        short_string(inside, name);
        inside.raw(bytes);
    }
    long_string(t.written, inside.out);
    return t;
}

std::pair<amqp::value, std::string> any_value(made& all, int depth)
{
    writer w;
    const auto typed = [&](char type, unsigned bytes, amqp::value v) {
        w.raw(std::string(1, type));
        w.fixed(0, bytes);
        return std::pair<amqp::value, std::string>(v, w.out);
    };
    switch (*rc::gen::inRange(0, depth > 0 ? 15 : 13)) {
        case 0: return typed('t', 1, *rc::gen::arbitrary<bool>());
        case 1: return typed('b', 1, std::int8_t{-1});
        case 2: return typed('B', 1, std::uint8_t{1});
        case 3: return typed('s', 2, std::int16_t{1});
        case 4: return typed('u', 2, std::uint16_t{1});
        case 5: return typed('I', 4, std::int32_t{1});
        case 6: return typed('i', 4, std::uint32_t{1});
        case 7: return typed('l', 8, std::int64_t{1});
        case 8: return typed('f', 4, 1.0F);
        case 9: return typed('d', 8, 1.0);
        case 10: return typed('D', 5, amqp::decimal());
        case 11: return typed('T', 8, amqp::timestamp());
        case 12: {
            const bool text = *rc::gen::arbitrary<bool>();
            all.texts.push_back(*wire_bytes::text());
            const std::string& s = all.texts.back();
            w.raw(text ? "S" : "x");
            long_string(w, s);
            return {text ? amqp::value(s) : amqp::bytes(s), w.out};
        }
        case 13: {
            any_table t = make_table(all, depth - 1);
            all.tables.push_back(std::move(t.fields));
            w.raw("F");
            w.raw(t.written.out);
            return {amqp::table(all.tables.back()), w.out};
        }
        default: {
            all.arrays.emplace_back();
            auto& values = all.arrays.back();
            writer inside;
            for (int i = *rc::gen::inRange(0, 4); i != 0; --i) {
                const auto [value, bytes] = any_value(all, depth - 1);
                values.push_back(value);
                inside.raw(bytes);
            }
            w.raw("A");
            long_string(w, inside.out);
            return {amqp::array(values), w.out};
        }
    }
}

void frame(writer& w, const std::string& payload)
{
    w.fixed(0, 3);  // type and channel
    long_string(w, payload);
    w.fixed(0xCE, 1);
}

TEST_CASE("amqp091: sizes of a published message equal the written lengths of its frames")
{
    CHECK(rc::check([] {
        made all;
        const auto exchange = *wire_bytes::text(255);
        const auto key = *wire_bytes::text(255);
        const auto body = *wire_bytes::text();
        const any_table headers = make_table(all, 2);
        std::vector<std::optional<std::string>> texts;
        for (int i = 0; i != 10; ++i) texts.push_back(*wire_bytes::maybe(255));
        amqp::message m{.exchange = exchange,
                        .routing_key = key,
                        .content_type = texts[0],
                        .content_encoding = texts[1],
                        .correlation_id = texts[2],
                        .reply_to = texts[3],
                        .expiration = texts[4],
                        .message_id = texts[5],
                        .type = texts[6],
                        .user_id = texts[7],
                        .app_id = texts[8],
                        .cluster_id = texts[9],
                        .body = body};
        if (*rc::gen::arbitrary<bool>()) m.headers = headers.fields;
        if (*rc::gen::arbitrary<bool>()) m.delivery_mode = std::uint8_t{2};
        if (*rc::gen::arbitrary<bool>()) m.priority = std::uint8_t{9};
        if (*rc::gen::arbitrary<bool>()) m.timestamp = 1'700'000'000;
        const auto frame_max = *rc::gen::inRange<std::uint64_t>(9, 131'073);

        writer publish;
        publish.fixed(60, 2);
        publish.fixed(40, 2);
        publish.fixed(0, 2);
        short_string(publish, exchange);
        short_string(publish, key);
        publish.fixed(0, 1);
        writer header;
        header.fixed(60, 2);
        header.fixed(0, 2);
        header.fixed(body.size(), 8);
        header.fixed(0, 2);
        const auto put = [&](const std::optional<std::string_view>& s) {
            if (s) short_string(header, *s);
        };
        put(m.content_type);
        put(m.content_encoding);
        if (m.headers) header.raw(headers.written.out);
        if (m.delivery_mode) header.fixed(*m.delivery_mode, 1);
        if (m.priority) header.fixed(*m.priority, 1);
        put(m.correlation_id);
        put(m.reply_to);
        put(m.expiration);
        put(m.message_id);
        if (m.timestamp) header.fixed(*m.timestamp, 8);
        put(m.type);
        put(m.user_id);
        put(m.app_id);
        put(m.cluster_id);

        writer w;
        frame(w, publish.out);
        RC_ASSERT(amqp::method_frame_size(m) == w.out.size());
        frame(w, header.out);
        RC_ASSERT(amqp::header_frame_size(m) == 8 + header.out.size());
        for (std::size_t at = 0; at < body.size(); at += frame_max - 8) {
            frame(w, body.substr(at, frame_max - 8));
        }
        const bool fits = 8 + publish.out.size() <= frame_max && 8 + header.out.size() <= frame_max;
        RC_ASSERT(amqp::size(m, frame_max) ==
                  (fits ? w.out.size() : waybill::detail::highest_size));
    }));
}

}  // namespace amqp091_prop
