// SPDX-License-Identifier: MIT
//
// check: the sizes of wire/kafka are those of kafkajs. Its argument is vectors.json.

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <waybill/wire/kafka.hpp>

namespace {

namespace kafka = waybill::wire::kafka;
using nlohmann::json;

// Only lengths matter.
std::string_view text(const json& n)
{
    return {"", n.get<std::size_t>()};
}

std::optional<std::string_view> maybe(const json& n)
{
    if (n.get<std::int64_t>() < 0) return std::nullopt;
    return text(n);
}

std::vector<kafka::header> headers(const json& rows)
{
    std::vector<kafka::header> all;
    for (const json& h : rows) all.push_back({text(h[0]), text(h[1])});
    return all;
}

struct batch {
    void push(const kafka::record& r)
    {
        if (state.count == 0) bytes = framing.envelope(r);
        bytes += framing.delta(state, r);
        framing.push(state, r);
    }
    kafka::record_batch framing{};
    kafka::record_batch::state state{};
    std::uint64_t bytes = 0;
};

int wrong = 0;

void same(std::uint64_t said, const json& bytes, const json& row)
{
    if (said == bytes.get<std::uint64_t>()) return;
    ++wrong;
    std::fprintf(stderr, "%s: we say %llu\n", row.dump().substr(0, 200).c_str(),
                 static_cast<unsigned long long>(said));
}

}  // namespace

int main(int, char** argv)
{
    std::ifstream in(argv[1]);
    const json all = json::parse(in);
    for (const json& row : all["records"]) {
        const auto heads = headers(row[4]);
        const kafka::record r{.key = maybe(row[0]), .value = maybe(row[1]), .headers = heads};
        same(kafka::size(r, row[2].get<std::uint64_t>(), row[3].get<std::int64_t>()), row[5], row);
        if (kafka::bound(r) < row[5].get<std::uint64_t>()) same(kafka::bound(r), row[5], row);
    }
    for (const json& row : all["batches"]) {
        batch b;
        for (const json& of : row[0]) {
            const auto heads = headers(of[3]);
            b.push({.key = maybe(of[0]),
                    .value = maybe(of[1]),
                    .timestamp = of[2].get<std::int64_t>(),
                    .headers = heads});
        }
        same(b.bytes, row[1], row);
    }
    for (const json& row : all["runs"]) {
        batch b;
        const auto step = row[2].get<std::int64_t>();
        for (std::int64_t i = 0; i != row[0].get<std::int64_t>(); ++i) {
            b.push({.value = text(row[1]), .timestamp = 1'700'000'000'000 + i * step});
        }
        same(b.bytes, row[3], row);
    }
    const std::size_t records = all["records"].size();
    const std::size_t batches = all["batches"].size() + all["runs"].size();
    std::printf("%zu records and %zu batches of %s, %d wrong\n", records, batches,
                all["encoder"].get<std::string>().c_str(), wrong);
    return wrong == 0 && records >= 400 && batches >= 60 ? 0 : 1;
}
