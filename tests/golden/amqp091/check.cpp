// SPDX-License-Identifier: MIT
//
// check: the sizes of wire/amqp091 are those of amqplib. Its argument is vectors.json.

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <waybill/wire/amqp091.hpp>

namespace {

namespace amqp = waybill::wire::amqp091;
using nlohmann::json;

std::string_view text(const json& n)
{
    return {"", n.get<std::size_t>()};
}

std::optional<std::string_view> maybe(const json& n)
{
    if (n.is_null()) return std::nullopt;
    return text(n);
}

std::vector<amqp::field> fields(const json& rows);

amqp::value value(const json& v)
{
    switch (v[0].get<std::string>()[0]) {
        case 't': return true;
        case 'b': return std::int8_t{-1};
        case 'B': return std::uint8_t{200};
        case 's': return std::int16_t{300};
        case 'u': return std::uint16_t{300};
        case 'I': return std::int32_t{1};
        case 'i': return std::uint32_t{1};
        case 'l': return std::int64_t{1};
        case 'T': return amqp::timestamp();
        case 'f': return 1.0F;
        case 'd': return 1.0;
        case 'D': return amqp::decimal();
        case 'V': return nullptr;
        case 'S': return text(v[1]);
        case 'x': return amqp::bytes(text(v[1]));
        case 'F': return amqp::table(fields(v[1]));
        default: {
            std::vector<amqp::value> all;
            for (const json& of : v[1]) all.push_back(value(of));
            return amqp::array(all);
        }
    }
}

std::vector<amqp::field> fields(const json& rows)
{
    std::vector<amqp::field> all;
    for (const json& f : rows) all.push_back({text(f[0]), value(f[1])});
    return all;
}

}  // namespace

int main(int, char** argv)
{
    std::ifstream in(argv[1]);
    const json all = json::parse(in);
    int wrong = 0;
    for (const json& row : all["rows"]) {
        const json& t = row[2];
        const auto headers = fields(row[3].is_null() ? json::array() : row[3]);
        amqp::message m{.exchange = text(row[0]),
                        .routing_key = text(row[1]),
                        .content_type = maybe(t[0]),
                        .content_encoding = maybe(t[1]),
                        .correlation_id = maybe(t[2]),
                        .reply_to = maybe(t[3]),
                        .expiration = maybe(t[4]),
                        .message_id = maybe(t[5]),
                        .type = maybe(t[6]),
                        .user_id = maybe(t[7]),
                        .app_id = maybe(t[8]),
                        .cluster_id = maybe(t[9]),
                        .body = text(12345)};
        if (!row[3].is_null()) m.headers = headers;
        if (!row[4].is_null()) m.delivery_mode = row[4].get<std::uint8_t>();
        if (!row[5].is_null()) m.priority = row[5].get<std::uint8_t>();
        if (!row[6].is_null()) m.timestamp = row[6].get<std::uint64_t>();
        if (amqp::method_frame_size(m) == row[7] && amqp::header_frame_size(m) == row[8]) continue;
        ++wrong;
        std::fprintf(stderr, "%s: we say %llu and %llu\n", row.dump().c_str(),
                     static_cast<unsigned long long>(amqp::method_frame_size(m)),
                     static_cast<unsigned long long>(amqp::header_frame_size(m)));
    }
    const std::size_t rows = all["rows"].size();
    std::printf("%zu messages of %s, %d wrong\n", rows, all["encoder"].get<std::string>().c_str(),
                wrong);
    return wrong == 0 && rows >= 300 ? 0 : 1;
}
