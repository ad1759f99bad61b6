// SPDX-License-Identifier: MIT
//
// nats_work_queue: a queue in NATS JetStream for several workers, who take messages for a while.
//
//     engines::nats_work_queue queue({.host = "127.0.0.1", .port = "4222"}, "ORDERS");
//     queue.put("order 7");
//     if (auto w = queue.take(10s)) {          // nobody else gets it for ten seconds
//         work_on(w->body);
//         if (!queue.done(*w)) undo();         // too late: it is somebody else's by now
//     }
//
// The same as sqlite_work_queue, and as far as the server can say so, the same in each answer. It
// is a stream with work queue retention, where what is acknowledged is gone, and one durable pull
// consumer with explicit acknowledgements, who is called workers. Both are made if need be. A
// stream of that name that is not such a queue is left alone, and complained about.
//
// What differs, as it is the server who counts:
//
// 1. The lease is one for all: the newest that somebody asked for holds for what others have, too.
// 2. What a dead worker had stays in flight, and is handed out again when its time is up and
//    somebody takes: only then does the server see that it is late.
// 3. A server believes whoever acknowledges a message, also when it is somebody else's by now. So
//    who is late does not ask it: done() says no as soon as the time is up by our own clock.
//
// Everything throws socket_error if the server is away or says no. The next call connects anew.

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

namespace engines {

class nats_work_queue {
public:
    using clock = std::chrono::steady_clock;

    struct work {
        std::uint64_t number = 0;
        std::uint64_t turn = 0;  ///< 1 when it is handed out for the first time.
        std::string body{};
        std::string reply{};  ///< Where the server expects the acknowledgement.
        clock::time_point until{};
    };

    nats_work_queue(server at, std::string name) : at_(std::move(at)), name_(std::move(name))
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

    /// The oldest that nobody has; it belongs to the caller for so long.
    [[nodiscard]] std::optional<work> take(std::chrono::milliseconds lease)
    {
        const auto until = clock::now() + lease;
        std::optional<work> w;
        with_server([&](jetstream& js) {
            if (lease != lease_) make_consumer(js, lease);
            const auto m = js.request("$JS.API.CONSUMER.MSG.NEXT." + name_ + '.' + consumer,
                                      R"({"batch":1,"no_wait":true})");
            // Nothing there, or so many are at work that the server wants to see them done first.
            if (m.status.starts_with("404") || m.status.starts_with("408") ||
                m.status.starts_with("409 Exceeded")) {
                return;
            }
            if (!m.status.empty()) throw socket_error("nothing to take from: " + m.status);
            w = work_from(m);
            w->until = until;
        });
        return w;
    }

    /// False, and nothing is changed, if the time was up, so that somebody else may have got it.
    [[nodiscard]] bool done(const work& w)
    {
        if (clock::now() >= w.until) return false;
        with_server([&](jetstream& js) {
            const auto m = js.request(w.reply, "+ACK");
            if (!m.status.empty()) throw socket_error("nobody hears what is done: " + m.status);
        });
        return true;
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
    static constexpr std::chrono::seconds first_lease{30};
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
        if (!worker) return make_consumer(js, first_lease);
        const auto wait = jetstream::number_at(*worker, "/config/ack_wait");
        lease_ = nanoseconds(static_cast<std::int64_t>(wait));
    }

    /// Or tells the one that is there how long a lease is from now on.
    void make_consumer(jetstream& js, nanoseconds lease)
    {
        const auto least = std::max<nanoseconds>(lease, std::chrono::milliseconds(1));
        const json config{{"durable_name", consumer},  {"ack_policy", "explicit"},
                          {"ack_wait", least.count()}, {"deliver_policy", "all"},
                          {"max_deliver", -1},         {"replay_policy", "instant"}};
        const json all{{"stream_name", name_}, {"config", config}};
        static_cast<void>(js.ask("$JS.API.CONSUMER.DURABLE.CREATE." + name_ + '.' + consumer,
                                 jetstream::text(all)));
        lease_ = lease;
    }

    /// $JS.ACK.[domain.account.]stream.consumer.TURN.NUMBER.consumer's.time.pending[.more]
    [[nodiscard]] static work work_from(const jetstream::message& m)
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
        return {.number = *number, .turn = *turn, .body = m.body, .reply = m.reply};
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
