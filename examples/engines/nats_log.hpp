// SPDX-License-Identifier: MIT
//
// nats_log: a partitioned log in one stream of NATS JetStream, on nats.c.
//
//     engines::nats_log log("nats://127.0.0.1:4222", "ORDERS", 4);      // partitions "0" to "3"
//     const std::vector<engines::nats_log::new_event> events{{"2", "order-17", "an order"}};
//     const waybill::result<void> stored = log.append_all(events);
//     waybill::run_partitions(log, store, leases, handle, policy, env);
//
// The stream NAME has the subjects NAME.0 to NAME.(N-1) and is created if it is missing.
//
//   1. Sequence numbers are those of the stream. In a partition they ascend and have gaps.
//   2. `read` skips no event. The consumer numbers its messages; after a missing number, the rest
//      of a batch is discarded, and a new consumer begins after the last event that was returned.
//   3. `read` returns no events only if the consumer exists and has sent no message that did not
//      arrive. Otherwise it returns a fault.
//   4. `append_all` publishes each event with its id until the server acknowledges it. The server
//      discards further publishes of an id for 2 minutes after the first one. In that time, the
//      same events can be appended again after a fault: none is lost, none is stored twice.
//   5. If a publish is repeated, an event may be stored after events that follow it in the list.
//      With 1 replica, a server that is killed can lose its last acknowledged events, and use their
//      sequence numbers again. With 3 replicas, that takes the loss of two nodes.
//   6. A read takes at most about 3 s, without a fault of the server a few milliseconds.
//   7. While the caller handles the events of a read, the server already sends the next ones of the
//      partition: at most `max_count` of that read, and 256, if the events of the read have at most
//      256 KiB. So a read may return events that were removed from the stream after the previous
//      read.
//   8. A log belongs to one thread at a time.
//
// Faults, all of the kind infrastructure unless stated: "NATS, stream NAME: ..."
//   not connected (Timeout)          no server of the list can be reached
//   stream info (...)                the stream has no leader at present, or JetStream is disabled
//   create stream (...)              too few nodes for the replicas, or no permission
//   the stream has ...               another program created it with another configuration
//   consumer (...), partition P      the node of the consumer has ended; the next read creates
//                                    another consumer
//   last message (...), partition P  `end`: the stream has no leader at present
//   n of m events ...                `append_all`: no acknowledgement until the time limit
//   there is no partition P          permanent
//   event ID: ...                    permanent: the body is too long, or the id is not usable

#ifndef WAYBILL_EXAMPLES_ENGINES_NATS_LOG_HPP
#define WAYBILL_EXAMPLES_ENGINES_NATS_LOG_HPP

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <nats/nats.h>

#include "nats_client.hpp"
#include "number.hpp"
#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/lease/event_log.hpp>

namespace engines {

class nats_log {
public:
    struct event {
        std::uint64_t sequence = 0;
        std::string body{};
    };
    struct new_event {
        std::string partition{};
        std::string id{};  ///< Unique in the stream for 2 minutes. No control characters.
        std::string body{};
    };

    /// Does not connect; each call connects if there is no connection. `replicas` is 1, or 3 on a
    /// cluster.
    nats_log(std::string urls, std::string stream, std::uint64_t partitions, int replicas = 1)
        : stream_(std::move(stream)), partitions_(partitions), client_(std::move(urls))
    {
        config_ = {.name = stream_, .replicas = replicas, .has_limits_only = true};
        for (std::uint64_t p = 0; p != partitions_; ++p)
            config_.subjects.push_back(subject(std::to_string(p)));
    }
    nats_log(nats_log&&) = default;
    nats_log& operator=(nats_log&&) = delete;
    ~nats_log()
    {
        while (!cursors_.empty()) drop(cursors_.begin()->first);
    }

    [[nodiscard]] waybill::result<std::vector<std::string>> partitions()
    {
        if (waybill::fault f = open(); !f.ok()) return f;
        nats_stream_info info;
        const natsStatus s =
            js_GetStreamInfo(out(info), client_.jetstream(), stream_.c_str(), nullptr, nullptr);
        if (s != NATS_OK) return failure("stream info", s);
        std::vector<std::string> names;
        for (std::uint64_t p = 0; p != partitions_; ++p) names.push_back(std::to_string(p));
        return names;
    }

    [[nodiscard]] waybill::result<std::vector<event>> read(
        const std::string& partition, const std::optional<waybill::position>& after,
        std::uint64_t max_count)
    {
        if (waybill::fault f = usable(partition); !f.ok()) return f;
        const std::optional<std::uint64_t> last =
            after ? std::optional(after->sequence) : std::nullopt;
        std::vector<event> events;
        if (max_count == 0 || last == UINT64_MAX) return events;
        waybill::fault problem;
        for (int attempt = 0; attempt != 2; ++attempt) {
            auto found = cursor_at(partition, last);
            if (!found) return found.error();
            cursor& c = **found;
            natsStatus s = NATS_OK;
            if (c.pending == 0) s = examine(c);
            if (s == NATS_OK && c.pending == 0) return events;
            if (s == NATS_OK) s = fetch(c, max_count, events);
            if (s != NATS_OK) problem = failure("consumer", s, partition);
            if (s != NATS_OK) drop(partition);
            if (s == NATS_OK || !events.empty()) return events;
            // These are certain at once; after others, a further attempt takes too long.
            if (s != NATS_NOT_FOUND && s != NATS_NO_RESPONDERS && s != NATS_MISMATCH) break;
        }
        return problem;
    }

    /// The position of the last event of the partition, from the leader of the stream.
    [[nodiscard]] waybill::result<std::optional<waybill::position>> end(
        const std::string& partition)
    {
        if (waybill::fault f = usable(partition); !f.ok()) return f;
        nats_message m;
        const natsStatus s = js_GetLastMsg(out(m), client_.jetstream(), stream_.c_str(),
                                           subject(partition).c_str(), nullptr, nullptr);
        std::optional<waybill::position> last;
        if (s == NATS_OK) last = waybill::position{natsMsg_GetSequence(m.get()), {}};
        else if (s != NATS_NOT_FOUND) return failure("last message", s, partition);
        return last;
    }

    /// Publishes in the order of the list, and returns after the acknowledgement of the last event.
    /// After a fault, any of the events may be stored, or become stored later. `limit` is at most
    /// 1 minute, so that the repetitions are within the 2 minutes of the ids.
    [[nodiscard]] waybill::result<void> append_all(
        std::span<const new_event> events,
        std::chrono::milliseconds limit = std::chrono::seconds(30))
    {
        const auto deadline = clock::now() + std::min<clock::duration>(limit, max_limit);
        for (const new_event& e : events) {
            if (waybill::fault f = usable(e); !f.ok()) return f;
        }
        if (events.empty()) return {};
        for (;;) {
            waybill::fault f = open();
            if (f.ok()) break;
            if (clock::now() > deadline) return f;
            std::this_thread::sleep_for(pause);
        }
        return publish(events, deadline);
    }

private:
    using clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds pause{50};
    static constexpr std::chrono::milliseconds request_expiry{100};
    /// Longer, so that the status of a request that has expired arrives before the wait ends.
    static constexpr std::chrono::milliseconds fetch_wait{150};
    static constexpr std::chrono::milliseconds examination{500};
    static constexpr std::chrono::seconds ack_wait{1};
    static constexpr std::chrono::minutes max_limit{1};
    static constexpr std::int64_t second = 1'000'000'000;  // the unit of the server is 1 ns
    static constexpr std::int64_t consumer_idle = 30 * second;
    static constexpr std::uint64_t max_batch = 256;
    static constexpr std::uint64_t max_bytes_ahead = 256 * 1024;
    static constexpr std::size_t max_in_flight = 256;

    /// A consumer on the server, and its progress. It is used as long as each read continues after
    /// the last event of the previous one.
    struct cursor {
        std::string name{};
        std::string inbox{};  ///< The subject of its messages.
        nats_subscription subscription;
        std::optional<std::uint64_t> last{};  ///< Sequence in the stream of the last event.
        std::uint64_t received = 0;           ///< Number in the consumer of the last message.
        std::uint64_t pending = 0;            ///< Messages after it. 0: ask the server.
        std::uint64_t requested = 0;          ///< Of these, the requested ones.
    };

    [[nodiscard]] std::string subject(const std::string& partition) const
    {
        return stream_ + '.' + partition;
    }

    [[nodiscard]] waybill::fault problem_of(const std::string& text) const
    {
        return waybill::infrastructure("NATS, stream " + stream_ + ": " + text);
    }
    [[nodiscard]] waybill::fault failure(const std::string& call, natsStatus s,
                                         const std::string& partition = {}) const
    {
        return problem_of(call + " (" + nats_text(s) + ')' +
                          (partition.empty() ? partition : ", partition " + partition));
    }
    [[nodiscard]] waybill::fault refusal(const std::string& text) const
    {
        return waybill::permanent("NATS, stream " + stream_ + ": " + text);
    }

    [[nodiscard]] bool has(const std::string& partition) const
    {
        const auto n = number_in(partition);
        return n && *n < partitions_ && partition == std::to_string(*n);
    }
    [[nodiscard]] waybill::fault usable(const std::string& partition)
    {
        if (!has(partition)) return refusal("there is no partition " + partition);
        return open();
    }
    [[nodiscard]] waybill::fault usable(const new_event& e) const
    {
        if (!has(e.partition)) return refusal("there is no partition " + e.partition);
        const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
        if (e.id.empty() || std::any_of(e.id.begin(), e.id.end(), control))
            return refusal("event " + e.id + ": the id is empty or has control characters");
        return {};
    }

    /// Connects, and creates or checks the stream once.
    [[nodiscard]] waybill::fault open()
    {
        const std::string problem = open_stream(client_, config_, checked_);
        return problem.empty() ? waybill::fault{} : problem_of(problem);
    }

    /// The cursor of the partition, if its last event is `last`; otherwise a new one.
    [[nodiscard]] waybill::result<cursor*> cursor_at(const std::string& partition,
                                                     std::optional<std::uint64_t> last)
    {
        const auto found = cursors_.find(partition);
        if (found != cursors_.end()) {
            if (found->second->last == last) return found->second.get();
            drop(partition);
        }
        const std::string inbox = new_inbox();
        auto c =
            std::make_unique<cursor>(cursor{.name = "waybill-" + inbox.substr(inbox.rfind('.') + 1),
                                            .inbox = inbox,
                                            .subscription{nullptr, {&client_}},
                                            .last = last});
        const std::string filter = subject(partition);
        jsConsumerConfig o{};
        natsStatus s = jsConsumerConfig_Init(&o);
        o.Name = c->name.c_str();
        o.FilterSubject = filter.c_str();
        o.DeliverPolicy = last ? js_DeliverByStartSequence : js_DeliverAll;
        if (last) o.OptStartSeq = *last + 1;
        o.AckPolicy = js_AckNone;
        o.InactiveThreshold = consumer_idle;
        o.MemoryStorage = true;
        o.Replicas = 1;
        if (s == NATS_OK)
            s = natsConnection_SubscribeSync(out(c->subscription), client_.connection(),
                                             c->inbox.c_str());
        // Above a limit, nats.c would discard messages.
        if (s == NATS_OK) s = natsSubscription_SetPendingLimits(c->subscription.get(), -1, -1);
        if (s == NATS_OK)
            s = js_AddConsumer(nullptr, client_.jetstream(), stream_.c_str(), &o, nullptr, nullptr);
        if (s != NATS_OK) return failure("consumer", s, partition);
        return cursors_.insert_or_assign(partition, std::move(c)).first->second.get();
    }

    /// "_INBOX.<unique>". Empty if there is no memory for it.
    [[nodiscard]] static std::string new_inbox()
    {
        natsInbox* inbox = nullptr;
        if (natsInbox_Create(&inbox) != NATS_OK) return {};
        std::string name = inbox;
        natsInbox_Destroy(inbox);
        return name;
    }

    /// Removes the consumer without waiting for the reply. The server removes a consumer by itself
    /// after 30 s without requests.
    void drop(const std::string& partition)
    {
        const auto found = cursors_.find(partition);
        if (found == cursors_.end()) return;
        const std::string call = "$JS.API.CONSUMER.DELETE." + stream_ + '.' + found->second->name;
        if (natsConnection_Status(client_.connection()) == NATS_CONN_STATUS_CONNECTED)
            natsConnection_PublishString(client_.connection(), call.c_str(), "");
        cursors_.erase(found);
    }

    /// Asks the server for the number of further messages. NATS_NOT_FOUND if the consumer does not
    /// exist any more, NATS_MISMATCH if a message is missing.
    [[nodiscard]] natsStatus examine(cursor& c)
    {
        // One node has the consumer. If it has ended, there is no reply, for each partition.
        jsOptions o{};
        natsStatus s = jsOptions_Init(&o);
        o.Wait = examination.count();
        nats_consumer_info info;
        if (s == NATS_OK)
            s = js_GetConsumerInfo(out(info), client_.jetstream(), stream_.c_str(), c.name.c_str(),
                                   &o, nullptr);
        if (s != NATS_OK) return s;
        if (info->Delivered.Consumer != c.received) return NATS_MISMATCH;
        c.pending = info->NumPending;
        return NATS_OK;
    }

    /// Requests the next messages. They arrive in the inbox. A request for more than the pending
    /// messages would last until it expires.
    [[nodiscard]] natsStatus request(cursor& c, std::uint64_t max_count)
    {
        const std::uint64_t count = std::min({max_count, c.pending, max_batch});
        const std::string call = "$JS.API.CONSUMER.MSG.NEXT." + stream_ + '.' + c.name;
        const std::chrono::nanoseconds expiry = request_expiry;
        const std::string text = "{\"batch\":" + std::to_string(count) +
                                 ",\"expires\":" + std::to_string(expiry.count()) + '}';
        const natsStatus s = natsConnection_PublishRequestString(client_.connection(), call.c_str(),
                                                                 c.inbox.c_str(), text.c_str());
        if (s == NATS_OK) c.requested = count;
        return s;
    }

    /// Takes at most `max_count` of the pending messages. On NATS_OK, `events` can still be empty:
    /// all messages were old, or were removed from the stream meanwhile.
    [[nodiscard]] natsStatus fetch(cursor& c, std::uint64_t max_count, std::vector<event>& events)
    {
        natsStatus s = NATS_OK;
        if (c.requested == 0) s = request(c, max_count);
        const auto deadline = clock::now() + fetch_wait;
        std::uint64_t bytes = 0;
        for (std::uint64_t n = std::min(max_count, c.requested); s == NATS_OK && n != 0; --n) {
            const auto left =
                std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now()).count();
            nats_message m;
            s = natsSubscription_NextMsg(out(m), c.subscription.get(),
                                         std::max<std::int64_t>(left, 0));
            if (s == NATS_OK) s = take(c, m.get(), events);
            if (s == NATS_OK) bytes += static_cast<std::uint64_t>(natsMsg_GetDataLength(m.get()));
        }
        // In advance. If it fails, the next fetch repeats it.
        if (s == NATS_OK && c.requested == 0 && c.pending != 0 && bytes <= max_bytes_ahead)
            static_cast<void>(request(c, max_count));
        if (s != NATS_TIMEOUT) return s;
        c.requested = 0;
        s = examine(c);
        return s == NATS_OK && c.pending != 0 ? NATS_TIMEOUT : s;
    }

    /// NATS_MISMATCH if the message is not the next one of the consumer. A consumer on a replica
    /// that is not current begins before `last`; these events are not returned again.
    [[nodiscard]] static natsStatus take(cursor& c, natsMsg* m, std::vector<event>& events)
    {
        // The status of a request that has ended has no numbers: it has expired, or the consumer
        // was removed.
        const char* const numbers = natsMsg_GetReply(m);
        if (numbers == nullptr || *numbers == '\0') return NATS_TIMEOUT;
        nats_metadata data;
        if (const natsStatus s = natsMsg_GetMetaData(out(data), m); s != NATS_OK) return s;
        if (data->Sequence.Consumer != c.received + 1) return NATS_MISMATCH;
        c.received = data->Sequence.Consumer;
        c.pending = data->NumPending;
        --c.requested;
        if (c.last && data->Sequence.Stream <= *c.last) return NATS_OK;
        c.last = data->Sequence.Stream;
        events.push_back(
            {*c.last, {natsMsg_GetData(m), static_cast<std::size_t>(natsMsg_GetDataLength(m))}});
        return NATS_OK;
    }

    // Of append_all.

    /// An event that is not acknowledged yet.
    struct sent {
        std::size_t index = 0;
        clock::time_point at{};
    };

    [[nodiscard]] natsStatus publish_one(const new_event& e, const std::string& reply)
    {
        nats_message m;
        natsStatus s = natsMsg_Create(out(m), subject(e.partition).c_str(), reply.c_str(),
                                      e.body.data(), static_cast<int>(e.body.size()));
        if (s == NATS_OK) s = natsMsgHeader_Set(m.get(), "Nats-Msg-Id", e.id.c_str());
        if (s == NATS_OK) s = natsConnection_PublishMsg(client_.connection(), m.get());
        return s;
    }

    /// Reads {"stream":"NAME","seq":17}, or {"error":{"code":503,"description":"..."},...}.
    [[nodiscard]] bool acknowledges(std::string_view reply, std::string& problem) const
    {
        const bool ours = reply.find("\"stream\":\"" + stream_ + '"') != reply.npos;
        if (ours && reply.find("\"error\"") == reply.npos) return true;
        problem = reply;
        return false;
    }

    [[nodiscard]] waybill::result<void> publish(std::span<const new_event> events,
                                                clock::time_point deadline)
    {
        const std::string inbox = new_inbox() + '.';
        nats_subscription replies{nullptr, {&client_}};
        natsStatus s =
            natsConnection_SubscribeSync(out(replies), client_.connection(), (inbox + '*').c_str());
        if (s != NATS_OK) return failure("inbox", s);

        std::vector<bool> done(events.size());
        std::size_t left = events.size();
        std::deque<sent> in_flight;       // in the order of time
        std::deque<std::size_t> waiting;  // not published, or to be published again
        for (std::size_t i = 0; i != events.size(); ++i) waiting.push_back(i);
        std::string problem = "no acknowledgement";
        while (left != 0) {
            const auto now = clock::now();
            if (now > deadline)
                return problem_of(std::to_string(left) + " of " + std::to_string(events.size()) +
                                  " events are not acknowledged; the last problem: " + problem);
            for (; !in_flight.empty(); in_flight.pop_front()) {
                const sent& oldest = in_flight.front();
                if (done[oldest.index]) continue;
                if (now - oldest.at < ack_wait) break;
                waiting.push_back(oldest.index);
            }
            while (!waiting.empty() && in_flight.size() < max_in_flight) {
                const std::size_t i = waiting.front();
                if (!done[i]) {
                    s = publish_one(events[i], inbox + std::to_string(i));
                    if (s == NATS_MAX_PAYLOAD)
                        return refusal("event " + events[i].id + ": " +
                                       std::to_string(events[i].body.size()) +
                                       " bytes are more than the server accepts (max_payload)");
                    if (s != NATS_OK) break;
                    in_flight.push_back({i, now});
                }
                waiting.pop_front();
            }
            nats_message m;
            s = natsSubscription_NextMsg(out(m), replies.get(), pause.count());
            if (s != NATS_OK) {
                // NATS_NO_RESPONDERS: the stream has no leader at present.
                if (s != NATS_TIMEOUT) std::this_thread::sleep_for(pause);
                if (s != NATS_TIMEOUT) problem = nats_text(s);
                continue;
            }
            const auto i =
                number_in(std::string_view(natsMsg_GetSubject(m.get())).substr(inbox.size()));
            if (!i || *i >= done.size() || done[*i]) continue;
            const std::string_view reply(natsMsg_GetData(m.get()),
                                         static_cast<std::size_t>(natsMsg_GetDataLength(m.get())));
            // After an error, the event is published again at the end of its waiting time.
            if (!acknowledges(reply, problem)) continue;
            done[*i] = true;
            --left;
        }
        return {};
    }

    std::string stream_;
    std::uint64_t partitions_;
    nats_stream config_{};
    nats_client client_;
    bool checked_ = false;
    std::map<std::string, std::unique_ptr<cursor>> cursors_{};
};

static_assert(waybill::event_log<nats_log>);

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_NATS_LOG_HPP
