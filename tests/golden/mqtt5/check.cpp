// SPDX-License-Identifier: MIT
//
// check: the sizes of wire/mqtt5 are those of mqtt-packet. Its argument is vectors.json.

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <waybill/wire/mqtt5.hpp>

namespace {

namespace mqtt5 = waybill::wire::mqtt5;
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

}  // namespace

int main(int, char** argv)
{
    std::ifstream in(argv[1]);
    const json all = json::parse(in);
    int wrong = 0;
    for (const json& row : all["rows"]) {
        std::vector<mqtt5::property> users;
        for (const json& u : row[9]) users.push_back({text(u[0]), text(u[1])});
        mqtt5::publish p{.topic = text(row[0]),
                         .payload = text(row[1]),
                         .qos = row[2].get<unsigned>(),
                         .utf8 = row[3] == 1,
                         .content_type = maybe(row[6]),
                         .response_topic = maybe(row[7]),
                         .correlation_data = maybe(row[8]),
                         .user_properties = users};
        if (!row[4].is_null()) p.message_expiry = row[4].get<std::uint32_t>();
        if (!row[5].is_null()) p.topic_alias = row[5].get<std::uint16_t>();
        if (mqtt5::size(p) == row[10].get<std::uint64_t>()) continue;
        ++wrong;
        std::fprintf(stderr, "%s: we say %llu\n", row.dump().c_str(),
                     static_cast<unsigned long long>(mqtt5::size(p)));
    }
    const std::size_t rows = all["rows"].size();
    std::printf("%zu packets of %s, %d wrong\n", rows, all["encoder"].get<std::string>().c_str(),
                wrong);
    return wrong == 0 && rows >= 300 ? 0 : 1;
}
