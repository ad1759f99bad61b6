// SPDX-License-Identifier: MIT
//
// nats_work_queue: a queue in NATS JetStream, as a waybill::message_queue, on nats.c.
//
//     engines::nats_work_queue queue({.host = "127.0.0.1", .port = "4222"}, "ORDERS");
//     queue.put("order 7");
//     waybill::run_queue(queue, handle, {.lock = 90s}, env);
//
// It is a stream with work queue retention, which removes acknowledged messages, and one durable
// pull consumer with explicit acknowledgements, called workers. Both are created if they are
// missing. A stream of that name that is not such a queue is not changed; it is an error.
//
//   1. The lock is that of the consumer. `receive` makes it longer if need be, and never shorter:
//      all workers should have the same lock. Each delivery counts.
//   2. The server accepts a settlement from any client. So after the end of the lock, by this
//      clock, it is `ownership_lost`, without a request. A NAK without a reply is not repeated: it
//      could return the message of the next worker. For the same reason, nats.c does not reconnect,
//      so it sends nothing later. The next call connects.
//   3. A dead letter is a message of the stream NAME_DEAD: the bytes of the reason as a decimal
//      number, a line feed, the reason, the body. If all together do not fit into max_payload, the
//      fault is permanent.
//   4. A killed server loses acknowledgements: those messages are delivered again. After that the
//      counts of stream and consumer are wrong. So there is no `empty`.
//   5. A call takes at most `patience` for each of its requests; most calls have one.
//
// Faults are of the kind infrastructure unless stated: "NATS, stream NAME: CALL (...)". The calls
// that do not return a fault throw nats_error with this text.
//
// Status of nats.c              Meaning                                     Outcome
//   NATS_NO_SERVER                no server listens there                     infrastructure
//   NATS_CONNECTION_AUTH_FAILED   the server refuses the user                 infrastructure
//   NATS_TIMEOUT                  no reply; a settlement may be effective     infrastructure
//   NATS_CONNECTION_CLOSED, NATS_CONNECTION_DISCONNECTED
//                                 the connection broke during the call        infrastructure
//   NATS_NO_RESPONDERS            503: the consumer or stream was removed     infrastructure
//   NATS_MAX_PAYLOAD              body above max_payload                      infrastructure
//   NATS_NOT_FOUND                stream or consumer was removed              infrastructure
//   NATS_ERR                      an error of JetStream, with its text        infrastructure
// Status of a reply to `receive`
//   404, 408, 409 Exceeded        no message, or too many are in flight       no message
//   another one                   the consumer was removed, no leader         infrastructure

#ifndef WAYBILL_EXAMPLES_ENGINES_NATS_WORK_QUEUE_HPP
#define WAYBILL_EXAMPLES_ENGINES_NATS_WORK_QUEUE_HPP

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nats/nats.h>

#include "depth.hpp"
#include "depth_nats.hpp"
#include "nats_client.hpp"
#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/ext/chrono.hpp>

namespace engines {

class nats_work_queue {
public:
    using clock = std::chrono::steady_clock;

    struct message {
        std::uint64_t number = 0;
        std::uint64_t deliveries = 0;
        std::string body{};
        std::string reply{};        ///< The subject of the acknowledgement.
        clock::time_point until{};  ///< The lock lasts at least until then.
    };

    /// `lease` is the lock of a queue that is created here.
    nats_work_queue(server at, std::string name,
                    std::chrono::nanoseconds lease = std::chrono::seconds(30))
        : at_(std::move(at)), name_(std::move(name)), client_(nats_settings_of(at_)), lease_(lease)
    {
        const auto fits = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                   c == '_' || c == '-';
        };
        if (name_.empty() || !std::all_of(name_.begin(), name_.end(), fits)) {
            throw nats_error("a stream has a name of letters, digits, _ and -");
        }
        with_server([&] { prepare(); });
    }

    /// The message is in the stream when this returns.
    void put(std::string_view body)
    {
        with_server([&] { publish(subject(), body); });
    }

    // The calls of a waybill::message_queue.

    [[nodiscard]] waybill::result<std::optional<message>> receive(waybill::duration lock)
    {
        std::optional<message> m;
        const nanoseconds lease = lock.to_chrono();
        waybill::fault f = guarded([&] {
            if (lease > lease_) with_server([&] { make_consumer(lease); });
            with_server([&] { m = next(lease); });
        });
        if (!f.ok()) return waybill::unexpected(std::move(f));
        return m;
    }

    [[nodiscard]] waybill::fault complete(message& m) { return settle(m, "+ACK"); }

    [[nodiscard]] waybill::fault abandon(message& m) { return settle(m, "-NAK"); }

    [[nodiscard]] waybill::fault defer(message& m, waybill::duration delay)
    {
        if (delay <= waybill::duration{}) return abandon(m);
        return settle(m, "-NAK {\"delay\":" + std::to_string(delay.count()) + "}");
    }

    /// First the dead letter, then the message ends: a crash between them repeats both.
    [[nodiscard]] waybill::fault dead_letter(message& m, std::string_view reason)
    {
        if (clock::now() >= m.until) return lost();
        std::string letter = std::to_string(reason.size()) + '\n';
        letter.append(reason) += m.body;
        waybill::fault refused;
        waybill::fault f = guarded([&] {
            with_server([&] {
                const auto limit = natsConnection_GetMaxPayload(client_.connection());
                if (letter.size() > static_cast<std::uint64_t>(std::max<std::int64_t>(limit, 0))) {
                    refused =
                        waybill::permanent("NATS, stream " + name_ + ": the dead letter has " +
                                           std::to_string(letter.size()) +
                                           " bytes, max_payload is " + std::to_string(limit));
                    return;
                }
                prepare_dead();
                publish(name_ + ".dead", letter);
            });
        });
        if (!f.ok()) return f;
        return refused.ok() ? settle(m, "+TERM") : refused;
    }

    [[nodiscard]] waybill::fault renew(message& m, waybill::duration lock)
    {
        const auto until = clock::now() + lock.to_chrono();
        waybill::fault f = settle(m, "+WPI");
        if (f.ok()) m.until = until;
        return f;
    }

    [[nodiscard]] engines::depth depth() const
    {
        depth_reading r = nats_depth(at_, name_, consumer).read();
        if (!r) throw nats_error(r.error());
        return *r;
    }

    /// The number of all messages, and of the finished ones.
    [[nodiscard]] std::uint64_t sent() { return figures().sent; }
    [[nodiscard]] std::uint64_t finished()
    {
        const auto f = figures();
        return f.sent - std::min(f.sent, f.there);
    }

    /// Removes the queue from the server if all messages are finished. Returns whether it was
    /// removed.
    bool remove_if_empty()
    {
        if (figures().there != 0) return false;
        with_server([&] {
            check("delete stream",
                  js_DeleteStream(client_.jetstream(), name_.c_str(), nullptr, nullptr));
        });
        return true;
    }

private:
    using nanoseconds = std::chrono::nanoseconds;

    static constexpr const char* consumer = "workers";
    /// Without a limit, deferred messages included. nats.c cannot send -1, which is no limit.
    static constexpr std::int64_t max_in_flight = 1'000'000'000;

    struct counts {
        std::uint64_t sent = 0;
        std::uint64_t there = 0;
    };

    static void check(std::string_view call, natsStatus s)
    {
        if (s != NATS_OK) throw nats_error(std::string(call) + " (" + nats_text(s) + ')');
    }

    template <class F>
    void with_server(F call)
    {
        try {
            if (const natsStatus s = client_.ready(at_.patience); s != NATS_OK)
                throw nats_error("not connected to " + client_.urls() + " (" + nats_text(s) + ')');
            call();
        } catch (const nats_error& e) {
            throw nats_error("NATS, stream " + name_ + ": " + e.what());
        }
    }

    template <class F>
    [[nodiscard]] static waybill::fault guarded(F&& f)
    {
        try {
            f();
            return {};
        } catch (const nats_error& e) {
            return waybill::infrastructure(e.what());
        }
    }

    [[nodiscard]] static waybill::fault lost()
    {
        return waybill::ownership_lost("the lock of the message is lost: its time ended");
    }

    /// Returns after the acknowledgement of the stream.
    void publish(const std::string& to, std::string_view body)
    {
        nats_ack ack;
        const natsStatus s =
            body.size() > INT32_MAX
                ? NATS_MAX_PAYLOAD
                : js_Publish(out(ack), client_.jetstream(), to.c_str(), body.data(),
                             static_cast<int>(body.size()), nullptr, nullptr);
        check("publish", s);
    }

    /// A late reply to an earlier request is discarded by nats.c.
    [[nodiscard]] natsStatus request(nats_message& reply, const std::string& to,
                                     const std::string& body)
    {
        return natsConnection_RequestString(out(reply), client_.connection(), to.c_str(),
                                            body.c_str(), at_.patience.count());
    }

    /// "408 Request Timeout", for a reply that is not a message; otherwise empty.
    [[nodiscard]] static std::string status_of(natsMsg* m)
    {
        const char* status = nullptr;
        const char* text = nullptr;
        if (natsMsgHeader_Get(m, "Status", &status) != NATS_OK) return {};
        if (natsMsgHeader_Get(m, "Description", &text) != NATS_OK) return status;
        return std::string(status) + ' ' + text;
    }

    /// js_PullSubscribe and a fetch would not be exact: a message that arrives after the time limit
    /// of a fetch is returned by the next fetch, and its lock has begun before that.
    [[nodiscard]] std::optional<message> next(nanoseconds lease)
    {
        const auto until = clock::now() + lease;
        // With no_wait, the server (2.9) may not reply at all after it was killed.
        nats_message m;
        check("next message", request(m, "$JS.API.CONSUMER.MSG.NEXT." + name_ + '.' + consumer,
                                      R"({"batch":1,"expires":100000000})"));
        const std::string status = status_of(m.get());
        // No message, or `max_ack_pending` messages are in flight.
        if (status.starts_with("404") || status.starts_with("408") ||
            status.starts_with("409 Exceeded")) {
            return {};
        }
        if (!status.empty()) throw nats_error("next message (" + status + ')');
        nats_metadata data;
        check("next message", natsMsg_GetMetaData(out(data), m.get()));
        return message{.number = data->Sequence.Stream,
                       .deliveries = data->NumDelivered,
                       .body = {natsMsg_GetData(m.get()),
                                static_cast<std::size_t>(natsMsg_GetDataLength(m.get()))},
                       .reply = natsMsg_GetReply(m.get()),
                       .until = until};
    }

    /// A message can be settled again only if the settlement may be repeated. natsMsg_Nak and
    /// natsMsg_Term do not wait for the server's reply, so this is a request.
    [[nodiscard]] waybill::fault settle(message& m, const std::string& how)
    {
        if (clock::now() >= m.until) return lost();
        const auto until = std::exchange(m.until, clock::time_point::min());
        waybill::fault f = guarded([&] {
            with_server([&] {
                nats_message reply;
                check(how, request(reply, m.reply, how));
                const std::string status = status_of(reply.get());
                if (!status.empty()) throw nats_error(how + " (" + status + ')');
            });
        });
        if (!f.ok() && !how.starts_with("-NAK")) m.until = until;
        return f;
    }

    [[nodiscard]] std::string subject() const { return name_ + ".work"; }

    [[nodiscard]] natsStatus stream_info(nats_stream_info& info, const std::string& stream)
    {
        natsStatus s =
            js_GetStreamInfo(out(info), client_.jetstream(), stream.c_str(), nullptr, nullptr);
        if (s == NATS_OK && (info->Config == nullptr || info->Config->Name == nullptr ||
                             info->Config->Name != stream)) {
            s = NATS_PROTOCOL_ERROR;
        }
        return s;
    }

    /// If two clients create it at once, the second one gets the stream of the first.
    void create(nats_stream_info& info, const std::string& stream, const std::string& subject,
                jsRetentionPolicy retention)
    {
        const char* subjects[] = {subject.c_str()};
        jsStreamConfig c{};
        check("create stream", jsStreamConfig_Init(&c));
        c.Name = stream.c_str();
        c.Subjects = subjects;
        c.SubjectsLen = 1;
        c.Retention = retention;
        c.Storage = js_FileStorage;
        c.AllowDirect = retention == js_LimitsPolicy;
        check("create stream", js_AddStream(out(info), client_.jetstream(), &c, nullptr, nullptr));
    }

    void prepare()
    {
        nats_stream_info stream;
        const natsStatus s = stream_info(stream, name_);
        if (s == NATS_NOT_FOUND) create(stream, name_, subject(), js_WorkQueuePolicy);
        else check("stream info", s);
        const jsStreamConfig& c = *stream->Config;
        if (c.Retention != js_WorkQueuePolicy || c.SubjectsLen != 1 || subject() != c.Subjects[0]) {
            throw nats_error("the stream exists, but is no work queue of subject " + subject() +
                             ": name another stream, or remove it");
        }
        nats_consumer_info worker;
        const natsStatus w = js_GetConsumerInfo(out(worker), client_.jetstream(), name_.c_str(),
                                                consumer, nullptr, nullptr);
        if (w != NATS_NOT_FOUND) check("consumer info", w);
        if (w == NATS_OK && worker->Config == nullptr) check("consumer info", NATS_PROTOCOL_ERROR);
        if (w == NATS_OK) lease_ = nanoseconds(worker->Config->AckWait);
        // Other programs may leave the limit at 1,000, deferred messages included. Above it, the
        // server (2.9) does not reply to a request for a message. Some set it to -1.
        const bool is_unlimited = w == NATS_OK && (worker->Config->MaxAckPending < 0 ||
                                                   worker->Config->MaxAckPending >= max_in_flight);
        if (!is_unlimited) make_consumer(lease_);
    }

    /// An existing stream is not changed.
    void prepare_dead()
    {
        nats_stream_info info;
        const std::string dead = name_ + "_DEAD";
        const natsStatus s = stream_info(info, dead);
        if (s == NATS_NOT_FOUND) create(info, dead, name_ + ".dead", js_LimitsPolicy);
        else check("stream info", s);
    }

    /// Changes the lock of an existing consumer.
    void make_consumer(nanoseconds lease)
    {
        const auto least = std::max<nanoseconds>(lease, std::chrono::milliseconds(1));
        jsConsumerConfig c{};
        check("create consumer", jsConsumerConfig_Init(&c));
        c.Durable = consumer;
        c.AckPolicy = js_AckExplicit;
        c.AckWait = least.count();
        c.DeliverPolicy = js_DeliverAll;
        c.MaxDeliver = -1;
        c.ReplayPolicy = js_ReplayInstant;
        c.MaxAckPending = max_in_flight;
        nats_consumer_info info;
        check("create consumer",
              js_AddConsumer(out(info), client_.jetstream(), name_.c_str(), &c, nullptr, nullptr));
        lease_ = lease;
    }

    [[nodiscard]] counts figures()
    {
        counts c;
        with_server([&] {
            nats_stream_info info;
            check("stream info", stream_info(info, name_));
            c = {.sent = info->State.LastSeq, .there = info->State.Msgs};
        });
        return c;
    }

    server at_;
    std::string name_;
    nats_client client_;
    nanoseconds lease_{};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_NATS_WORK_QUEUE_HPP
