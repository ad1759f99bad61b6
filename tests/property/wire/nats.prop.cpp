// SPDX-License-Identifier: MIT

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>
#include <support/wire_bytes.hpp>

#include <waybill/wire/nats.hpp>

namespace nats_prop {

namespace nats = waybill::wire::nats;
using headers = std::vector<std::pair<std::string, std::string>>;

std::string block(const headers& all, const std::string& colon)
{
    if (all.empty()) return "";
    std::string out = "NATS/1.0\r\n";
    for (const auto& [key, value] : all) {
        out += key;
        out += colon;
        out += value;
        out += "\r\n";
    }
    return out + "\r\n";
}

std::string frame(const std::string& subject, const std::optional<std::string>& reply,
                  const std::string& head, const std::string& body)
{
    std::string out = (head.empty() ? "PUB " : "HPUB ") + subject + " ";
    if (reply) out += *reply + " ";
    if (!head.empty()) out += std::to_string(head.size()) + " ";
    return out + std::to_string(head.size() + body.size()) + "\r\n" + head + body + "\r\n";
}

TEST_CASE("nats: sizes of headers, payloads and frames equal the written lengths")
{
    CHECK(rc::check([] {
        const auto all = *rc::gen::container<headers>(
            rc::gen::pair(wire_bytes::text(300), wire_bytes::text(300)));
        const auto subject = *wire_bytes::text(300);
        const auto reply = *wire_bytes::maybe(300);
        const auto body = *wire_bytes::text();
        const bool spaced = *rc::gen::arbitrary<bool>();
        const auto style = spaced ? nats::header_style::spaced : nats::header_style::compact;
        std::vector<nats::header> lines;
        for (const auto& [key, value] : all) lines.push_back({key, value});
        const nats::message m{.subject = subject, .reply = reply, .headers = lines, .body = body};

        const std::string head = block(all, spaced ? ": " : ":");
        RC_ASSERT(nats::header_size(lines, style) == head.size());
        RC_ASSERT(nats::payload_size(m, style) == head.size() + body.size());
        RC_ASSERT(nats::frame_size(m, style) == frame(subject, reply, head, body).size());
    }));
}

}  // namespace nats_prop
