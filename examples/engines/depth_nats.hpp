// SPDX-License-Identifier: MIT
//
// depth_nats: the depth of a durable consumer of NATS JetStream, on nats.c.
//
//     engines::nats_depth orders({.host = "127.0.0.1", .port = "4222"}, "ORDERS", "workers");
//     engines::depth_reading r = orders.read();
//
//   1. `ready` counts the messages that the consumer has not delivered, `in_flight` those that it
//      has delivered and that are not acknowledged. The messages of the stream are not counted:
//      they can stay in it after all consumers have read them.
//   2. `age` is the server's time of the next message, compared with the clock of this computer. It
//      is missing if the message is not found, or if the consumer has several filters.
//   3. A reply without the names of the stream and the consumer is unknown, not empty.
//   4. A call takes at most about three times `patience`.
//
// Status of nats.c              Meaning                                     Outcome
//   NATS_OK                       the consumer has replied                    a depth
//   NATS_NOT_FOUND                stream not found, consumer not found        unknown
//   NATS_NO_SERVER, NATS_TIMEOUT  no server, or it does not reply             unknown
//   NATS_CONNECTION_AUTH_FAILED   the server refuses the user                 unknown
//   NATS_NO_RESPONDERS, NATS_ERR  JetStream is disabled, for the account too  unknown
//   another one                   as its text                                 unknown

#ifndef WAYBILL_EXAMPLES_ENGINES_DEPTH_NATS_HPP
#define WAYBILL_EXAMPLES_ENGINES_DEPTH_NATS_HPP

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nats/nats.h>
#include <nlohmann/json.hpp>

#include "depth.hpp"
#include "nats_client.hpp"
#include <waybill/core/result.hpp>

namespace engines {

class nats_depth {
public:
    nats_depth(server at, std::string stream, std::string consumer)
        : at_(std::move(at)), stream_(std::move(stream)), consumer_(std::move(consumer))
    {
    }

    [[nodiscard]] std::string name() const { return consumer_; }

    [[nodiscard]] depth_reading read() const
    {
        nats_client client(nats_settings_of(at_));
        if (const natsStatus s = client.ready(at_.patience); s != NATS_OK)
            return unknown("no connection to " + client.urls() + ": " + nats_text(s));
        nats_consumer_info info;
        jsErrCode code{};
        const natsStatus s = js_GetConsumerInfo(out(info), client.jetstream(), stream_.c_str(),
                                                consumer_.c_str(), nullptr, &code);
        // For this error, nats.c has no text.
        if (code == JSConsumerNotFoundErr) return unknown("consumer not found");
        if (s != NATS_OK) return unknown(nats_text(s));
        if (info->Stream == nullptr || info->Stream != stream_ || info->Name == nullptr ||
            info->Name != consumer_ || info->Config == nullptr || info->NumAckPending < 0) {
            return unknown("the reply is not that of a consumer info");
        }
        depth d{.ready = info->NumPending,
                .in_flight = static_cast<std::uint64_t>(info->NumAckPending)};
        d.age = d.ready == 0 ? 0 : age(client, *info);
        return d;
    }

private:
    [[nodiscard]] depth_reading unknown(const std::string& why) const
    {
        return waybill::unexpected("NATS, consumer " + consumer_ + " of stream " + stream_ + ": " +
                                   why);
    }

    /// The request "next message of a subject" is not a call of nats.c: js_GetMsg has no subject.
    [[nodiscard]] std::optional<std::uint64_t> age(nats_client& client,
                                                   const jsConsumerInfo& info) const
    {
        using json = nlohmann::json;
        // With several filters, nats.c returns none of them.
        const char* const filter = info.Config->FilterSubject;
        const bool is_filtered = filter != nullptr && *filter != '\0';
        const json question{{"seq", info.Delivered.Stream + 1},
                            {"next_by_subj", is_filtered ? filter : ">"}};
        nats_message m;
        const natsStatus s = natsConnection_RequestString(
            out(m), client.connection(), ("$JS.API.STREAM.MSG.GET." + stream_).c_str(),
            question.dump(-1, ' ', false, json::error_handler_t::replace).c_str(),
            at_.patience.count());
        if (s != NATS_OK) return {};
        const std::string_view reply(natsMsg_GetData(m.get()),
                                     static_cast<std::size_t>(natsMsg_GetDataLength(m.get())));
        const json next = json::parse(reply, nullptr, false);
        const json::json_pointer path("/message/time");
        if (!next.is_object() || !next.contains(path) || !next[path].is_string()) return {};
        const auto sent = seconds_in(next[path].get<std::string>());
        if (!sent) return {};
        return age_at(*sent);
    }

    /// 2026-11-22T04:10:07.123456789Z, the form of all times of the server.
    [[nodiscard]] static std::optional<std::int64_t> seconds_in(const std::string& time)
    {
        std::tm t{};
        const char* const rest = strptime(time.c_str(), "%Y-%m-%dT%H:%M:%S", &t);
        if (!rest || !time.ends_with('Z')) return {};
        const std::int64_t seconds = timegm(&t);
        return seconds;
    }

    server at_;
    std::string stream_;
    std::string consumer_;
};

static_assert(depth_source<nats_depth>);

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_DEPTH_NATS_HPP
