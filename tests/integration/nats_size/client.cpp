// SPDX-License-Identifier: MIT
//
// client: nats.c and JetStream accept messages of exactly the computed maximum of wire/nats, and
// refuse one more byte. Arguments: URL, max_payload.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <nats/nats.h>

#include <waybill/wire/nats.hpp>

namespace {

namespace nats = waybill::wire::nats;
constexpr int max_msg_size = 60'000;

struct made {
    made(const char* subject, const std::vector<nats::header>& headers, std::size_t body)
        : text(body, 'b')
    {
        natsMsg_Create(&msg, subject, nullptr, text.data(), static_cast<int>(text.size()));
        for (const auto& h : headers) {
            natsMsgHeader_Add(msg, std::string(h.key).c_str(), std::string(h.value).c_str());
        }
    }
    ~made() { natsMsg_Destroy(msg); }
    made(const made&) = delete;
    made& operator=(const made&) = delete;

    std::string text;
    natsMsg* msg = nullptr;
};

}  // namespace

int main(int, char** argv)
{
    const auto max_payload = static_cast<std::uint64_t>(std::atoll(argv[2]));
    natsConnection* connection = nullptr;
    jsCtx* js = nullptr;
    jsStreamConfig config;
    if (natsConnection_ConnectTo(&connection, argv[1]) != NATS_OK ||
        natsConnection_JetStream(&js, connection, nullptr) != NATS_OK ||
        jsStreamConfig_Init(&config) != NATS_OK) {
        std::fprintf(stderr, "no connection to %s\n", argv[1]);
        return 1;
    }
    const char* subjects[] = {"kept"};
    config.Name = "S";
    config.Subjects = subjects;
    config.SubjectsLen = 1;
    config.MaxMsgSize = max_msg_size;
    jsErrCode code{};
    if (js_AddStream(nullptr, js, &config, nullptr, &code) != NATS_OK) return 1;

    const std::vector<std::vector<nats::header>> all_headers{
        {}, {{"K", "V"}}, {{"One", "1"}, {"Two", "22"}, {"One", ""}}};
    int wrong = 0;
    const auto expect = [&](bool right, const char* what, std::size_t headers, std::uint64_t over) {
        if (right) return;
        ++wrong;
        std::fprintf(stderr, "%s, %zu headers, %llu over\n", what, headers,
                     static_cast<unsigned long long>(over));
    };
    for (const auto& headers : all_headers) {
        const std::uint64_t head = nats::payload_size({.headers = headers});
        for (const std::uint64_t over : {0U, 1U}) {
            made plain("size.of", headers, max_payload - head + over);
            const natsStatus s = natsConnection_PublishMsg(connection, plain.msg);
            expect(s == (over == 0 ? NATS_OK : NATS_MAX_PAYLOAD), "nats.c", headers.size(), over);
            made kept("kept", headers, max_msg_size - head + over);
            code = {};
            const natsStatus t = js_PublishMsg(nullptr, js, kept.msg, nullptr, &code);
            expect(over == 0 ? t == NATS_OK : code == JSStreamMessageExceedsMaximumErr, "JetStream",
                   headers.size(), over);
        }
    }
    expect(natsConnection_Flush(connection) == NATS_OK, "flush", 0, 0);
    jsCtx_Destroy(js);
    natsConnection_Destroy(connection);
    std::printf("nats.c and JetStream: 12 messages, %d wrong\n", wrong);
    return wrong == 0 ? 0 : 1;
}
