// SPDX-License-Identifier: MIT
//
// check: the sizes of wire/pubsub are those of Google's encoder. Its argument is vectors.json.

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <waybill/wire/pubsub.hpp>

namespace {

namespace pubsub = waybill::wire::pubsub;
using nlohmann::json;

std::string_view text(const json& n)
{
    return {"", n.get<std::size_t>()};
}

}  // namespace

int main(int, char** argv)
{
    std::ifstream in(argv[1]);
    const json all = json::parse(in);
    int wrong = 0;
    std::size_t messages = 0;
    for (const json& row : all["rows"]) {
        const pubsub::publish_request framing{text(row[0])};
        pubsub::publish_request::state state;
        std::uint64_t sum = framing.envelope({});
        for (std::size_t i = 0; i != row[1].size(); ++i) {
            const json& m = row[1][i];
            std::vector<pubsub::attribute> attributes;
            for (const json& a : m[1]) attributes.push_back({text(a[0]), text(a[1])});
            const pubsub::message view{text(m[0]), attributes, text(m[2])};
            if (pubsub::size(view) != row[2][i].get<std::uint64_t>()) ++wrong;
            sum += framing.delta(state, view);
            framing.push(state, view);
            ++messages;
        }
        if (sum == row[3].get<std::uint64_t>()) continue;
        ++wrong;
        std::fprintf(stderr, "%s: we say %llu\n", row.dump().c_str(),
                     static_cast<unsigned long long>(sum));
    }
    const std::size_t rows = all["rows"].size();
    std::printf("%zu requests with %zu messages of %s, %d wrong\n", rows, messages,
                all["encoder"].get<std::string>().c_str(), wrong);
    return wrong == 0 && rows >= 300 ? 0 : 1;
}
