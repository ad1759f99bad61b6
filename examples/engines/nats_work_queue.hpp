// SPDX-License-Identifier: MIT
//
// nats_work_queue: a queue in NATS JetStream, as a waybill::message_queue.
//
//     engines::nats_work_queue queue({.host = "127.0.0.1", .port = "4222"}, "ORDERS");
//     queue.put("order 7");
//     waybill::run_queue(queue, handle, {.lock = 90s}, env);
//
// It is a stream with work queue retention, which removes acknowledged messages, and one durable
// pull consumer with explicit acknowledgements, called workers. Both are created if they are missing.
// A stream of that name that is not such a queue is not changed; it is an error.
//
// 1. The lock is that of the consumer. `receive` makes it longer if need be, and never shorter: all
//    workers should have the same lock. Each delivery counts.
// 2. The server accepts a settlement from any client. So after the end of the lock, by this clock,
//    it is `ownership_lost`, without a request. A NAK without a reply is not repeated: it could
//    return the message of the next worker.
// 3. A dead letter is a message of the stream NAME_DEAD: the reason, a line feed, the body. Both
//    together must fit into max_payload.
// 4. A server that is killed forgets acknowledgements: those messages are handled again. After that
//    the counts of stream and consumer are wrong. So there is no `empty`.
//
// Faults of the server and of the connection are `infrastructure`. The other calls throw
// socket_error then. The next call connects anew.

#ifndef WAYBILL_EXAMPLES_ENGINES_NATS_WORK_QUEUE_HPP
#define WAYBILL_EXAMPLES_ENGINES_NATS_WORK_QUEUE_HPP

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "depth.hpp"
#include "depth_nats.hpp"
#include "jetstream.hpp"
#include "number.hpp"
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
        std::string reply{};           ///< Where the server expects the acknowledgement.
        clock::time_point until{};     ///< The lock lasts at least until then.
    };

    /// `lease` is that of a queue that is made here.
    nats_work_queue(server at, std::string name,
                    std::chrono::nanoseconds lease = std::chrono::seconds(30))
        : at_(std::move(at)), name_(std::move(name)), lease_(lease)
    {
        const auto fits = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                   c == '_' || c == '-';
        };
        if (name_.empty() || !std::all_of(name_.begin(), name_.end(), fits)) {
            throw socket_error("a stream has a name of letters, digits, _ and -");
        }
        with_server([&](jetstream& js) { prepare(js); });
    }

    /// It is in the stream when this returns.
    void put(std::string_view body)
    {
        with_server([&](jetstream& js) {
            static_cast<void>(jetstream::number_at(js.ask(subject(), body), "/seq"));
        });
    }

    // The calls of a waybill::message_queue.

    [[nodiscard]] waybill::result<std::optional<message>> receive(waybill::duration lock)
    {
        std::optional<message> m;
        const nanoseconds lease = lock.to_chrono();
        waybill::fault f = guarded([&] {
            if (lease > lease_) with_server([&](jetstream& js) { make_consumer(js, lease); });
            with_server([&](jetstream& js) { m = next(js, lease); });
        });
        if (!f.ok()) return waybill::unexpected(std::move(f));
        return m;
    }

    [[nodiscard]] waybill::fault complete(message& m) { return settle(m, "+ACK"); }

    [[nodiscard]] waybill::fault abandon(message& m) { return settle(m, "-NAK"); }

    [[nodiscard]] waybill::fault defer(message& m, waybill::wall_time until)
    {
        const waybill::wall_time now = std::chrono::system_clock::now();
        const auto pause = (until - now).count();
        if (pause <= 0) return abandon(m);
        return settle(m, "-NAK {\"delay\":" + std::to_string(pause) + "}");
    }

    /// First the dead letter, then the message ends: a crash between them repeats both.
    [[nodiscard]] waybill::fault dead_letter(message& m, std::string_view reason)
    {
        if (clock::now() >= m.until) return lost();
        std::string letter(reason);
        std::replace(letter.begin(), letter.end(), '\n', ' ');
        letter.append("\n") += m.body;
        waybill::fault f = guarded([&] {
            with_server([&](jetstream& js) {
                prepare_dead(js);
                static_cast<void>(jetstream::number_at(js.ask(name_ + ".dead", letter), "/seq"));
            });
        });
        return f.ok() ? settle(m, "+TERM") : f;
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
        if (!r) throw socket_error(r.error());
        return *r;
    }

    /// All that was ever put there, and all that is finished.
    [[nodiscard]] std::uint64_t sent() { return figures().sent; }
    [[nodiscard]] std::uint64_t finished()
    {
        const auto f = figures();
        return f.sent - std::min(f.sent, f.there);
    }

    /// Removes the queue from the server, if all is finished. Whether it is gone.
    bool remove_if_empty()
    {
        if (figures().there != 0) return false;
        with_server([&](jetstream& js) {
            static_cast<void>(js.ask("$JS.API.STREAM.DELETE." + name_, {}));
        });
        return true;
    }

private:
    using json = nlohmann::json;
    using nanoseconds = std::chrono::nanoseconds;

    static constexpr const char* consumer = "workers";
    /// A server that nobody answers for some minutes hangs up, and we answer only when we ask.
    static constexpr std::chrono::seconds longest_silence{60};

    struct counts {
        std::uint64_t sent = 0;
        std::uint64_t there = 0;
    };

    template <class F>
    void with_server(F ask)
    {
        if (clock::now() - heard_ > longest_silence) js_.reset();
        try {
            if (!js_) js_.emplace(at_);
            ask(*js_);
            heard_ = clock::now();
        } catch (const socket_error& e) {
            js_.reset();
            throw socket_error("NATS, stream " + name_ + ": " + e.what());
        } catch (const json::exception&) {
            js_.reset();
            throw socket_error("NATS, stream " + name_ + ": an answer of another form");
        }
    }

    [[nodiscard]] std::optional<message> next(jetstream& js, nanoseconds lease)
    {
        const auto until = clock::now() + lease;
        // With no_wait, the server (2.9) may not reply at all after it was killed.
        const auto m = js.request("$JS.API.CONSUMER.MSG.NEXT." + name_ + '.' + consumer,
                                  R"({"batch":1,"expires":100000000})");
        // No message, or `max_ack_pending` messages are in flight.
        if (m.status.starts_with("404") || m.status.starts_with("408") ||
            m.status.starts_with("409 Exceeded")) {
            return {};
        }
        if (!m.status.empty()) throw socket_error("nothing to take from: " + m.status);
        return message_from(m, until);
    }

    [[nodiscard]] static waybill::fault lost()
    {
        return waybill::ownership_lost("the lock has ended");
    }

    template <class F>
    [[nodiscard]] static waybill::fault guarded(F&& f)
    {
        try {
            f();
            return {};
        } catch (const socket_error& e) {
            return waybill::infrastructure(e.what());
        }
    }

    /// After it the message can be settled again only if it may be repeated.
    [[nodiscard]] waybill::fault settle(message& m, const std::string& how)
    {
        if (clock::now() >= m.until) return lost();
        const auto until = std::exchange(m.until, clock::time_point::min());
        waybill::fault f = guarded([&] {
            with_server([&](jetstream& js) {
                const auto answer = js.request(m.reply, how);
                if (!answer.status.empty()) throw socket_error(how + ": " + answer.status);
            });
        });
        if (!f.ok() && !how.starts_with("-NAK")) m.until = until;
        return f;
    }

    [[nodiscard]] std::string subject() const { return name_ + ".work"; }

    void prepare(jetstream& js)
    {
        const std::string info = "$JS.API.STREAM.INFO." + name_;
        auto stream = js.find(info);
        if (!stream) {
            const json config{{"name", name_},
                              {"subjects", json::array({subject()})},
                              {"retention", "workqueue"},
                              {"storage", "file"}};
            // Two may do so at once; the second hears that it is there.
            stream = js.ask("$JS.API.STREAM.CREATE." + name_, jetstream::text(config));
        }
        const json c = stream->value("config", json::object());
        if (c.value("retention", json()) != "workqueue" ||
            c.value("subjects", json()) != json::array({subject()})) {
            throw socket_error("it is there and is no work queue of subject " + subject());
        }
        const auto worker = js.find("$JS.API.CONSUMER.INFO." + name_ + '.' + consumer);
        if (worker) {
            const auto wait = jetstream::number_at(*worker, "/config/ack_wait");
            lease_ = nanoseconds(static_cast<std::int64_t>(wait));
        }
        // Earlier versions left the limit at 1,000, deferred messages included. Above it, the server
        // (2.9) does not reply to a request for a message.
        const json::json_pointer limit("/config/max_ack_pending");
        if (!worker || worker->value(limit, 0) != -1) make_consumer(js, lease_);
    }

    /// Nothing is changed if it is there.
    void prepare_dead(jetstream& js) const
    {
        const json config{{"name", name_ + "_DEAD"},
                          {"subjects", json::array({name_ + ".dead"})},
                          {"storage", "file"},
                          {"allow_direct", true}};
        static_cast<void>(js.ask("$JS.API.STREAM.CREATE." + name_ + "_DEAD", jetstream::text(config)));
    }

    /// Or tells the one that is there how long a lease is from now on.
    void make_consumer(jetstream& js, nanoseconds lease)
    {
        const auto least = std::max<nanoseconds>(lease, std::chrono::milliseconds(1));
        const json config{{"durable_name", consumer},  {"ack_policy", "explicit"},
                          {"ack_wait", least.count()}, {"deliver_policy", "all"},
                          {"max_deliver", -1},         {"replay_policy", "instant"},
                          {"max_ack_pending", -1}};
        const json all{{"stream_name", name_}, {"config", config}};
        static_cast<void>(js.ask("$JS.API.CONSUMER.DURABLE.CREATE." + name_ + '.' + consumer,
                                 jetstream::text(all)));
        lease_ = lease;
    }

    /// $JS.ACK.[domain.account.]stream.consumer.TURN.NUMBER.consumer's.time.pending[.more]
    [[nodiscard]] static message message_from(const jetstream::message& m,
                                              clock::time_point until)
    {
        std::vector<std::string_view> words;
        for (std::string_view rest = m.reply; !rest.empty();) {
            const std::size_t end = rest.find('.');
            words.push_back(rest.substr(0, end));
            rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
        }
        const std::size_t at = words.size() == 9 ? 4 : 6;
        const auto turn = words.size() > at + 1 ? number_in(words[at]) : std::nullopt;
        const auto number = words.size() > at + 1 ? number_in(words[at + 1]) : std::nullopt;
        if (!m.reply.starts_with("$JS.ACK.") || !turn || !number) {
            throw socket_error("a message of no stream, to be answered to " + m.reply);
        }
        return {.number = *number,
                .deliveries = *turn,
                .body = m.body,
                .reply = m.reply,
                .until = until};
    }

    [[nodiscard]] counts figures()
    {
        counts c;
        with_server([&](jetstream& js) {
            const json info = js.ask("$JS.API.STREAM.INFO." + name_, {});
            c.sent = jetstream::number_at(info, "/state/last_seq");
            c.there = jetstream::number_at(info, "/state/messages");
        });
        return c;
    }

    server at_;
    std::string name_;
    std::optional<jetstream> js_{};
    clock::time_point heard_ = clock::now();
    nanoseconds lease_{};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_NATS_WORK_QUEUE_HPP
