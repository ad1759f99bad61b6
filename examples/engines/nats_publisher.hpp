// SPDX-License-Identifier: MIT
//
// nats_publisher: sends batches of messages to a stream of NATS JetStream, on nats.c. Each message
// has an id, with which the server recognises a repetition.
//
//     engines::nats_publisher broker("nats://127.0.0.1:4222", "ORDERS");
//     waybill::batch_sender sender{{.limit = {.items = 200, .answers_per_entry = false},
//                                   .ordered = true}};
//     waybill::relay(outbox, sender, [&](auto batch) { return broker.publish(batch); }, env);
//
// A message has the members key, id and body. Its subject is NAME.<key>, and the id is its header
// Nats-Msg-Id. The stream NAME has the subjects NAME.> and is created if it is missing.
//
//   1. `accepted`, and in `partial` each message without a failure: the server has acknowledged the
//      message.
//   2. A message is published after the acknowledgement of the previous message of its key. If that
//      one is not stored, it is not published. So the messages of a key are stored in the order of
//      the batch, and a batch may have any number of them: `answers_per_entry` is not needed.
//      Messages of different keys are published at the same time.
//   3. A message that was stored less than the duplicate window ago (2 minutes, unless it is set)
//      is not stored again under the same id. After that time it is. So a relay stores each row
//      once if it repeats an unknown outcome within the window.
//   4. A call takes at most about 3 s, or 8 s if it creates the stream. It publishes for 0.5 s; the
//      messages that are left are failures of the kind transient. Between 256 and 4,096 messages
//      are in flight, depending on how fast the server acknowledges.
//   5. An object belongs to one thread at a time.
//
// Cost: one round trip for each message of a key, so about 1,000 messages a second for each key.
//
// Outcomes of `publish`. `problem` has the text "NATS, stream NAME: ..." of the last fault.
//   all messages are acknowledged        accepted
//   a message has no acknowledgement     outcome_unknown: it is stored, or not
//   no connection, no stream             failed, infrastructure: nothing was published
//   nothing is stored, and of those that
//   are refused, none is permanent       failed, infrastructure
//   one message alone that is refused    failed, with the kind below
//   other messages that are refused      partial, with the kinds below
//
//   id or body not usable, body too long (max_payload of the server, max_msg_size of the stream)
//                                        permanent
//   no responders                        infrastructure: the stream has no leader, or was removed
//   an error of the server               infrastructure: no space, a limit of the stream
//   not published (guarantees 2 and 4)   transient

#ifndef WAYBILL_EXAMPLES_ENGINES_NATS_PUBLISHER_HPP
#define WAYBILL_EXAMPLES_ENGINES_NATS_PUBLISHER_HPP

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <nats/nats.h>
#include <nlohmann/json.hpp>

#include "nats_client.hpp"
#include "number.hpp"
#include <waybill/batch.hpp>
#include <waybill/core/fault.hpp>

namespace engines {

class nats_publisher {
public:
    /// Does not connect. `replicas` is 1, or 3 on a cluster.
    nats_publisher(std::string urls, std::string stream, int replicas = 1,
                   std::chrono::seconds duplicate_window = std::chrono::minutes(2))
        : stream_(std::move(stream)),
          usual_reply_("{\"stream\":\"" + stream_ + "\", \"seq\":"),
          client_(std::move(urls))
    {
        config_ = {.name = stream_,
                   .subjects = {stream_ + ".>"},
                   .replicas = replicas,
                   .duplicate_window = duplicate_window};
    }
    nats_publisher(const nats_publisher&) = delete;
    nats_publisher& operator=(const nats_publisher&) = delete;

    /// Connects, and creates or checks the stream once.
    [[nodiscard]] waybill::fault open()
    {
        const std::string problem = open_stream(client_, config_, checked_);
        if (!problem.empty()) return problem_of(problem);
        if (client_.connection() != subscribed_) {
            if (const natsStatus s = subscribe(); s != NATS_OK)
                return problem_of("inbox (" + nats_text(s) + ')');
        }
        return {};
    }

    /// Sends a range of messages. The result is valid until the next call.
    template <class Batch>
    [[nodiscard]] waybill::send_outcome publish(const Batch& batch)
    {
        std::vector<entry> all;
        std::map<std::string_view, std::size_t> last;  // of each key
        for (const auto& m : batch) {
            const std::string_view key = m.key;
            const std::size_t index = all.size();
            all.push_back({key, std::string_view(m.id), std::string_view(m.body)});
            if (key.empty()) continue;  // such messages have no order
            const auto [found, is_first] = last.try_emplace(key, index);
            if (is_first) continue;
            all[found->second].next = index;
            all[index].is_first = false;
            found->second = index;
        }
        return send(all);
    }

    /// The text of the last fault; empty if there was none.
    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
    /// Acknowledgements of messages that the server had already.
    [[nodiscard]] std::uint64_t duplicates() const noexcept { return duplicates_; }

    /// NAME.<key>. Bytes that a subject cannot have are written as %XX, and an empty key as %.
    [[nodiscard]] std::string subject(std::string_view key) const
    {
        std::string s = stream_ + '.';
        for (const char c : key) {
            const auto byte = static_cast<unsigned char>(c);
            const bool usable = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                (c >= '0' && c <= '9') || c == '-' || c == '_';
            constexpr std::string_view digits = "0123456789ABCDEF";
            if (usable) s += c;
            else (s += '%', s += digits[byte >> 4U], s += digits[byte & 15U]);
        }
        return key.empty() ? s + '%' : s;
    }

private:
    using clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds publish_time{500};
    static constexpr std::chrono::milliseconds ack_wait{1'000};
    /// Acknowledgements faster than `quick` enlarge the window up to `max_window`. One slower than
    /// `slow` reduces it, so that no message waits longer than `ack_wait` for the ones before it.
    static constexpr std::size_t min_window = 256;
    static constexpr std::size_t max_window = 4'096;
    static constexpr std::chrono::milliseconds quick{100};
    static constexpr std::chrono::milliseconds slow{250};
    static constexpr std::size_t many = 128;  ///< Messages in flight.
    static constexpr std::chrono::microseconds nap{200};
    static constexpr std::size_t none = SIZE_MAX;

    enum class state { waiting, in_flight, stored, failed };

    /// A message of the batch.
    struct entry {
        std::string_view key{};
        std::string_view id{};
        std::string_view body{};
        std::size_t next = none;  ///< Position of the next message of the key.
        bool is_first = true;     ///< Of its key.
        state at = state::waiting;
        waybill::fault_kind kind = waybill::fault_kind::transient;  ///< If it is not stored.
        clock::time_point published{};
    };

    [[nodiscard]] waybill::fault problem_of(const std::string& text)
    {
        problem_ = "NATS, stream " + stream_ + ": " + text;
        return waybill::infrastructure(problem_);
    }

    /// One inbox for all replies, until one is missing. nats.c keeps it when it reconnects.
    [[nodiscard]] natsStatus subscribe()
    {
        subscription_.reset();
        natsInbox* unique = nullptr;
        natsStatus s = natsInbox_Create(&unique);
        if (s != NATS_OK) return s;
        inbox_ = std::string(unique) + '.';
        natsInbox_Destroy(unique);
        s = natsConnection_SubscribeSync(out(subscription_), client_.connection(),
                                         (inbox_ + '*').c_str());
        // Above a limit, nats.c would discard messages.
        if (s == NATS_OK) s = natsSubscription_SetPendingLimits(subscription_.get(), -1, -1);
        if (s == NATS_OK) subscribed_ = client_.connection();
        return s;
    }

    // ---- a batch

    [[nodiscard]] waybill::send_outcome send(std::vector<entry>& all)
    {
        problem_.clear();
        if (const waybill::fault f = open(); !f.ok())
            return waybill::batch_sender::failed{.kind = f.kind, .text = f.text};
        const auto last_publish = clock::now() + publish_time;
        std::deque<std::size_t> ready;
        for (std::size_t i = 0; i != all.size(); ++i) {
            if (all[i].is_first) ready.push_back(i);
        }
        std::size_t in_flight = 0;
        std::size_t without_responders = 0;  // of these
        std::deque<std::size_t> sent;        // in the order of time
        for (;;) {
            while (!ready.empty() && in_flight < window_ && clock::now() < last_publish) {
                entry& e = all[ready.front()];
                if (publish_one(e, ready.front())) {
                    ++in_flight;
                    sent.push_back(ready.front());
                }
                ready.pop_front();
            }
            if (in_flight == 0) break;
            while (all[sent.front()].at != state::in_flight) sent.pop_front();
            // It waits for half of the replies, while the server works on the other half.
            const clock::time_point oldest = all[sent.front()].published;
            const clock::time_point deadline = oldest + ack_wait;
            const std::size_t awaited = in_flight - without_responders;
            if (awaited >= many) await_replies(awaited / 2, deadline);
            const std::size_t before = in_flight;
            nats_message reply;
            natsStatus s = next_reply(reply, deadline);
            if (s != NATS_OK && s != NATS_NO_RESPONDERS) break;
            for (; s == NATS_OK || s == NATS_NO_RESPONDERS;
                 s = next_reply(reply, clock::time_point::min())) {
                if (s == NATS_OK) take(reply.get(), all, ready, in_flight);
                else ++without_responders;
            }
            if (in_flight != before) resize_window(clock::now() - oldest, before - in_flight);
            // nats.c does not return the message of such a reply. When no other replies are left,
            // these are the replies to all messages in flight.
            if (in_flight != 0 && in_flight == without_responders) {
                for (const std::size_t i : sent) {
                    if (all[i].at == state::in_flight)
                        refuse(all[i], waybill::fault_kind::infrastructure,
                               "no responders: the stream has no leader, or does not exist");
                }
                in_flight = without_responders = 0;
            }
        }
        // A late reply must not count as one of the next call, which gets another inbox.
        if (in_flight != 0) subscribed_ = nullptr;
        return outcome_of(all, in_flight);
    }

    /// False if it was refused before it was sent.
    [[nodiscard]] bool publish_one(entry& e, std::size_t index)
    {
        const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
        if (e.id.empty() || std::any_of(e.id.begin(), e.id.end(), control))
            return refuse(e, waybill::fault_kind::permanent,
                          "the id is empty or has control characters");
        if (e.body.size() > INT32_MAX)
            return refuse(e, waybill::fault_kind::permanent, "the body is longer than 2 GiB");
        const std::string reply = inbox_ + std::to_string(index);
        nats_message m;
        natsStatus s = natsMsg_Create(out(m), subject(e.key).c_str(), reply.c_str(), e.body.data(),
                                      static_cast<int>(e.body.size()));
        if (s == NATS_OK) s = natsMsgHeader_Set(m.get(), "Nats-Msg-Id", std::string(e.id).c_str());
        if (s == NATS_OK) s = natsConnection_PublishMsg(client_.connection(), m.get());
        if (s == NATS_MAX_PAYLOAD)
            return refuse(e, waybill::fault_kind::permanent,
                          std::to_string(e.body.size()) +
                              " bytes are more than the server accepts (max_payload)");
        if (s != NATS_OK)
            return refuse(e, waybill::fault_kind::infrastructure, "publish (" + nats_text(s) + ')');
        e.at = state::in_flight;
        e.published = clock::now();
        return true;
    }

    bool refuse(entry& e, waybill::fault_kind kind, const std::string& text)
    {
        (void)problem_of("message " + std::string(e.id) + ": " + text);
        e.at = state::failed;
        e.kind = kind;
        return false;
    }

    void resize_window(clock::duration ack_time, std::size_t replies)
    {
        if (ack_time < quick) window_ = std::min(window_ + replies, max_window);
        if (ack_time > slow) window_ = std::max(window_ / 2, min_window);
    }

    /// Waits for this number of replies, at most until the deadline. A thread that each reply wakes
    /// takes more time than the replies, so this one sleeps in between.
    void await_replies(std::uint64_t wanted, clock::time_point deadline)
    {
        std::uint64_t arrived = 0;
        while (natsSubscription_QueuedMsgs(subscription_.get(), &arrived) == NATS_OK &&
               arrived < wanted && clock::now() < deadline)
            std::this_thread::sleep_for(nap);
    }

    /// NATS_TIMEOUT if there is none until the deadline. NATS_NO_RESPONDERS for such a reply.
    [[nodiscard]] natsStatus next_reply(nats_message& m, clock::time_point deadline)
    {
        using ms = std::chrono::milliseconds;
        const auto now = clock::now();
        const ms left = deadline > now ? std::chrono::ceil<ms>(deadline - now) : ms(0);
        return natsSubscription_NextMsg(out(m), subscription_.get(), left.count());
    }

    /// A reply to "<inbox><index>".
    void take(natsMsg* m, std::vector<entry>& all, std::deque<std::size_t>& ready,
              std::size_t& in_flight)
    {
        std::string_view to = natsMsg_GetSubject(m);
        if (!to.starts_with(inbox_)) return;
        const auto index = number_in(to.substr(inbox_.size()));
        if (!index || *index >= all.size() || all[*index].at != state::in_flight) return;
        entry& e = all[*index];
        --in_flight;
        read_reply(e, {natsMsg_GetData(m), static_cast<std::size_t>(natsMsg_GetDataLength(m))});
        if (e.at == state::stored && e.next != none) ready.push_back(e.next);
    }

    /// {"stream":"NAME","seq":17,"duplicate":true}, or {"error":{"err_code":10054,
    /// "description":"message size exceeds maximum allowed"},...}.
    void read_reply(entry& e, std::string_view text)
    {
        constexpr int too_long = 10'054;
        if (acknowledges(text)) {
            e.at = state::stored;
            return;
        }
        const auto reply = nlohmann::json::parse(text, nullptr, false);
        const auto error = reply.is_object() ? reply.find("error") : reply.end();
        if (!reply.is_object()) {
            refuse(e, waybill::fault_kind::infrastructure, "reply: " + std::string(text));
        } else if (error != reply.end() && error->is_object()) {
            refuse(e,
                   error->value("err_code", 0) == too_long ? waybill::fault_kind::permanent
                                                           : waybill::fault_kind::infrastructure,
                   error->value("description", std::string(text)));
        } else if (reply.value("stream", "") != stream_ || reply.value("seq", 0) == 0) {
            refuse(e, waybill::fault_kind::infrastructure,
                   "another stream has the subject, reply: " + std::string(text));
        } else {
            e.at = state::stored;
            if (reply.value("duplicate", false)) ++duplicates_;
        }
    }

    /// True for {"stream":"NAME", "seq":17}, the usual reply, which needs no parser.
    [[nodiscard]] bool acknowledges(std::string_view text) const
    {
        if (!text.starts_with(usual_reply_) || !text.ends_with('}')) return false;
        const auto sequence =
            number_in(text.substr(usual_reply_.size(), text.size() - usual_reply_.size() - 1));
        return sequence && *sequence != 0;
    }

    [[nodiscard]] waybill::send_outcome outcome_of(const std::vector<entry>& all,
                                                   std::size_t in_flight)
    {
        if (in_flight != 0) {
            (void)problem_of(std::to_string(in_flight) + " of " + std::to_string(all.size()) +
                             " messages are not acknowledged");
            return waybill::batch_sender::outcome_unknown{};
        }
        failed_.clear();
        for (std::size_t i = 0; i != all.size(); ++i) {
            if (all[i].at != state::stored) failed_.push_back({i, all[i].kind});
        }
        if (failed_.empty()) return waybill::batch_sender::accepted{};
        const auto any_failed = [&all](waybill::fault_kind kind) {
            return std::ranges::any_of(
                all, [kind](const entry& e) { return e.at == state::failed && e.kind == kind; });
        };
        if (failed_.size() == all.size() && !any_failed(waybill::fault_kind::permanent) &&
            any_failed(waybill::fault_kind::infrastructure))
            return waybill::batch_sender::failed{.kind = waybill::fault_kind::infrastructure,
                                                 .text = problem_};
        if (all.size() == 1)
            return waybill::batch_sender::failed{.kind = all[0].kind, .text = problem_};
        return waybill::batch_sender::partial{.failed = failed_};
    }

    std::string stream_;
    nats_stream config_{};
    std::string usual_reply_;  ///< Its text before the sequence number.
    nats_client client_;
    natsConnection* subscribed_ = nullptr;  ///< The connection of the subscription.
    nats_subscription subscription_{nullptr, {&client_}};
    std::string inbox_{};
    bool checked_ = false;
    std::size_t window_ = min_window;  ///< Messages in flight at most.
    std::uint64_t duplicates_ = 0;
    std::string problem_{};
    std::vector<waybill::batch_sender::entry_fault> failed_{};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_NATS_PUBLISHER_HPP
