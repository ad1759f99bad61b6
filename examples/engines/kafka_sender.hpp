// SPDX-License-Identifier: MIT
//
// kafka_sender: batches of lines for a topic. Each line is a record, each batch one record batch.
//
//     engines::kafka_sender topic({{"bootstrap.servers", "127.0.0.1:9092"}}, "mails");
//     engines::manual m = topic.about();            // max.message.bytes of the topic
//     waybill::send_outcome o = topic.send(lines);  // a span of string_views
//
//     topic.start(1, lines);                        // several batches in flight
//     topic.start(2, more);
//     auto e = topic.finished(100ms);               // e->attempt, e->outcome
//
// ../support/send_in_flight.hpp has the loop that sends an input with several batches in flight.
//
//   1. A batch is one Produce request with one record batch for one partition. librdkafka neither
//      splits nor merges batches. The partitions take turns. The records have no key.
//   2. `batch_size` is the exact size of the record batch in the request, without compression.
//      `size_of` is a bound: a batch has at most 128 bytes less.
//   3. The producer is idempotent, and acks=all: librdkafka's own retries duplicate nothing. A
//      batch without an acknowledgement within message.timeout.ms (10 s) is unknown if it was
//      transmitted.
//   4. The outcome is that of the delivery reports, record by record. If records differ, it is
//      `partial`. If one is unknown, the batch is unknown.
//   5. A broker with a quota delays its response. Such a batch is accepted.
//   6. Each batch that was started ends once. A partition has at most one batch in flight; `start`
//      waits for a free partition. After an unknown outcome it waits for all batches in flight, and
//      makes a new producer.
//   7. The bodies are not copied. They must stay valid until the outcome of their batch.
//
// Code                              Outcome
// NO_ERROR                          accepted
// 10 MSG_SIZE_TOO_LARGE             refused: the record batch exceeds max.message.bytes
// _QUEUE_FULL                       throttled: the queue of librdkafka is full
// 17, 29, 31, _UNKNOWN_TOPIC ...    the sender stops: no such topic, or no permission
// _MSG_TIMED_OUT, _TRANSPORT ...    transient if it was not transmitted, otherwise unknown
// any other code of a broker        waybill::wire::kafka_errors; unknown if it has no such code,
//                                   or if librdkafka reports the record as possibly stored

#ifndef WAYBILL_EXAMPLES_ENGINES_KAFKA_SENDER_HPP
#define WAYBILL_EXAMPLES_ENGINES_KAFKA_SENDER_HPP

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kafka_producer.hpp"
#include "number.hpp"
#include "verdict.hpp"
#include <waybill/batch.hpp>
#include <waybill/wire/error_codes_brokers.hpp>
#include <waybill/wire/kafka.hpp>

namespace engines {

/// Codes that waybill::wire::kafka_errors does not contain, or that have another meaning here.
/// Codes below zero are librdkafka's own.
inline constexpr error_code kafka_own[]{
    {"NO_ERROR", answer::accepted, 0},
    {"_QUEUE_FULL", answer::throttled, -184},
    // The topic is the same for all lines: no line can succeed before an operator has acted.
    {"TOPIC_EXCEPTION", answer::infrastructure, 17},
    {"_UNKNOWN_TOPIC", answer::infrastructure, -188},
    {"_UNKNOWN_PARTITION", answer::infrastructure, -190},
    {"_AUTHENTICATION", answer::infrastructure, -169},
    // Of a record that was not transmitted. A transmitted record with one of them is unknown.
    {"_MSG_TIMED_OUT", answer::transient, -192},
    {"_TRANSPORT", answer::transient, -195},
    {"_ALL_BROKERS_DOWN", answer::transient, -187},
    {"_PURGE_QUEUE", answer::transient, -152},
    {"_FATAL", answer::transient, -150},
};

class kafka_sender {
public:
    /// Brokers accept record batches of this size, if not configured otherwise.
    static constexpr std::uint64_t default_limit = 1'048'588;
    /// The offset of a record in its batch takes at most two bytes up to this number of records.
    static constexpr std::uint64_t max_records = 8'192;

    /// Throws kafka_error if librdkafka refuses the settings. Does not wait for a connection.
    kafka_sender(kafka_settings s, std::string topic)
        : settings_(std::move(s)), topic_(std::move(topic))
    {
        settings_.set_default("message.timeout.ms", "10000")
            .set_default("retry.backoff.ms", "50")
            .set("linger.ms", "0")  // a batch is queued as a whole
            .set("batch.num.messages", std::to_string(max_records))
            .set("batch.size", "1000000000")
            .set("message.max.bytes", "1000000000");
        open();
    }
    kafka_sender(const kafka_sender&) = delete;
    kafka_sender& operator=(const kafka_sender&) = delete;

    /// Throws kafka_error if no broker responds within 5 s, or the topic cannot be created.
    [[nodiscard]] manual about()
    {
        if (!connected()) throw kafka_error(said_);
        return about(topic_limit().value_or(default_limit));
    }
    /// With this limit for a record batch, in bytes.
    [[nodiscard]] static manual about(std::uint64_t limit)
    {
        return {
            {.bytes = limit, .items = max_records, .envelope = waybill::wire::kafka::batch_head},
            true};
    }

    /// The size of a record with this body at the last position of a batch, in bytes.
    [[nodiscard]] static constexpr std::uint64_t size_of(std::uint64_t body)
    {
        constexpr std::uint64_t around =
            1 + 1 + 2 + 1 + 1;  // attributes, time, offset, key, headers
        const std::uint64_t record = around + number_size(body) + body;
        return number_size(record) + record;
    }

    /// The exact size of the record batch, in bytes.
    [[nodiscard]] static std::uint64_t batch_size(std::span<const std::string_view> bodies)
    {
        namespace kafka = waybill::wire::kafka;
        std::uint64_t bytes = kafka::batch_head;
        for (std::size_t i = 0; i != bodies.size(); ++i)
            bytes += kafka::size({.value = bodies[i]}, i, 0);
        return bytes;
    }

    /// Sends one batch, and waits for its outcome. No other batch may be in flight.
    [[nodiscard]] waybill::send_outcome send(std::span<const std::string_view> bodies,
                                             std::uint64_t attempt = 0)
    {
        start(attempt, bodies);
        for (;;) {
            if (auto e = finished(patience)) return std::move(e->outcome);
        }
    }

    /// The outcome of a batch. A span in it is valid until the next call of `finished` or `send`.
    struct ended_batch {
        std::uint64_t attempt = 0;
        waybill::send_outcome outcome{};
    };

    /// Begins to send a batch. The span of the bodies is not needed after the call.
    void start(std::uint64_t attempt, std::span<const std::string_view> bodies)
    {
        std::optional<std::size_t> partition;
        while (!partition) {
            if (is_broken_) reopen();
            if (!connected()) {
                ended_.push_back({.attempt = attempt, .is_connected = false, .said = said_});
                return;
            }
            // A report that arrives meanwhile can end the producer, so it is checked again.
            partition = free_partition();
            if (!partition) poll(clock::time_point::max());
        }
        connect_leader(*partition);
        flight& f = flights_[*partition];
        f = {.attempt = attempt,
             .partition = static_cast<std::int32_t>(*partition),
             .found = std::vector<std::optional<answer>>(bodies.size()),
             .missing = bodies.size(),
             .bytes = batch_size(bodies),
             .last_report = clock::now() + patience};
        ++in_flight_;
        queue(bodies, f);
    }

    /// The outcome of a batch, in the order in which they end. Empty if none ends within `wait`, or
    /// none is in flight.
    [[nodiscard]] std::optional<ended_batch> finished(std::chrono::milliseconds wait)
    {
        const auto until = clock::now() + wait;
        while (ended_.empty() && in_flight_ != 0) {
            if (!poll(until) && clock::now() >= until) break;
        }
        if (is_broken_ && in_flight_ == 0) reopen();
        if (ended_.empty()) return {};
        const flight f = std::move(ended_.front());
        ended_.pop_front();
        return ended_batch{f.attempt, outcome(f)};
    }

    /// The text of the last error, of librdkafka.
    [[nodiscard]] const std::string& said() const noexcept { return said_; }

    /// The records of a batch that the broker has acknowledged.
    struct placed {
        std::int32_t partition = 0;
        std::uint64_t records = 0;
    };
    [[nodiscard]] const std::vector<placed>& acknowledged() const noexcept { return placed_; }

private:
    /// Longer than message.timeout.ms, after which librdkafka reports each record.
    static constexpr std::chrono::seconds patience{20};
    static constexpr std::chrono::seconds connecting{5};
    static constexpr int leader_wait = 1'000;  // milliseconds

    /// Bytes of a non-negative number in a record.
    [[nodiscard]] static constexpr std::uint64_t number_size(std::uint64_t n)
    {
        std::uint64_t bytes = 1;
        for (n *= 2; n > 127; n /= 128) ++bytes;
        return bytes;
    }

    using clock = std::chrono::steady_clock;

    /// A batch.
    struct flight {
        std::uint64_t attempt = 0;
        bool is_connected = true;
        std::int32_t partition = 0;
        std::vector<std::optional<answer>> found{};  // of each record
        std::size_t missing = 0;                     // records without a report
        std::uint64_t bytes = 0;
        clock::time_point last_report{};  // later reports are not waited for
        std::string said{};               // the last error
    };

    void open()
    {
        out_ = std::make_unique<kafka_producer>(settings_,
                                                [this](const rd_kafka_message_t& m) { take(m); });
        records_.reset(rd_kafka_topic_new(out_->handle(), topic_.c_str(), nullptr));
    }

    /// True if the producer knows the partitions of the topic.
    [[nodiscard]] bool connected()
    {
        if (!out_) open();
        if (is_connected_) return true;
        const std::int32_t n = out_->partitions(topic_, connecting);
        if (n <= 0) {
            said_ = "Kafka: no broker responds, or there is no topic " + topic_ +
                    ": start the brokers, or create the topic";
            return false;
        }
        flights_.resize(static_cast<std::size_t>(n));
        has_asked_.assign(flights_.size(), false);
        is_connected_ = true;
        return true;
    }

    /// librdkafka connects to a broker when a record is queued for it, but not for records of a
    /// paused partition: it would find these only after a second. A request connects at once.
    void connect_leader(std::size_t partition)
    {
        if (has_asked_[partition]) return;
        has_asked_[partition] = true;
        std::int64_t begin = 0;
        std::int64_t end = 0;
        static_cast<void>(rd_kafka_query_watermark_offsets(out_->handle(), topic_.c_str(),
                                                           static_cast<std::int32_t>(partition),
                                                           &begin, &end, leader_wait));
    }

    /// Waits for the batches in flight. The next call makes a new producer.
    void reopen()
    {
        while (in_flight_ != 0) poll(clock::time_point::max());
        close();
    }
    void close()
    {
        records_.reset();
        out_.reset();
        is_broken_ = false;
        is_connected_ = false;
    }

    /// The next partition in turn without a batch in flight.
    [[nodiscard]] std::optional<std::size_t> free_partition()
    {
        for (std::size_t i = 0; i != flights_.size(); ++i) {
            const std::size_t p = batches_++ % flights_.size();
            if (flights_[p].missing == 0) return p;
        }
        return {};
    }

    /// Queues the records while the partition is paused. So the thread of the broker finds all of
    /// them at once, and makes one request of them.
    void queue(std::span<const std::string_view> bodies, flight& f)
    {
        queued_.assign(bodies.size(), {});
        for (std::size_t i = 0; i != bodies.size(); ++i) {
            queued_[i].payload = const_cast<char*>(bodies[i].data());
            queued_[i].len = bodies[i].size();
            queued_[i]._private = token(f, i);
        }
        kafka_list partition;
        partition.add(topic_, f.partition);
        rd_kafka_pause_partitions(out_->handle(), partition.get());
        rd_kafka_produce_batch(records_.get(), f.partition, 0, queued_.data(),
                               static_cast<int>(bodies.size()));
        rd_kafka_resume_partitions(out_->handle(), partition.get());
        for (std::size_t i = 0; i != bodies.size(); ++i) {
            if (queued_[i].err == RD_KAFKA_RESP_ERR_NO_ERROR) continue;
            note(f, i, queued_[i].err, false);
            --f.missing;
        }
        if (f.missing == 0) end(f);
        rd_kafka_flush(out_->handle(), 0);  // wakes the threads of the brokers
    }

    /// The partition and the position of a record.
    [[nodiscard]] static void* token(const flight& f, std::size_t record)
    {
        static_assert(sizeof(void*) == 8);
        return reinterpret_cast<void*>(static_cast<std::uint64_t>(f.partition) << 32U | record);
    }

    /// Takes the reports that arrive until this time. False if there were none.
    bool poll(clock::time_point until)
    {
        using std::chrono::milliseconds;
        auto first = clock::time_point::max();
        for (const flight& f : flights_) {
            if (f.missing != 0) first = std::min(first, f.last_report);
        }
        const auto wait =
            std::chrono::ceil<milliseconds>(std::min(first, until) - clock::now()).count();
        const bool found =
            rd_kafka_poll(out_->handle(), wait > 0 ? static_cast<int>(wait) : 0) != 0;
        if (!found && clock::now() >= first) give_up();
        return found;
    }

    /// Ends all batches. Without reports, records may still be in the queue.
    void give_up()
    {
        said_ = "no delivery report of librdkafka in time";
        close();
        for (flight& f : flights_) {
            if (f.missing != 0) end(f);
        }
    }

    void take(const rd_kafka_message_t& m)
    {
        const auto token = reinterpret_cast<std::uint64_t>(m._private);
        flight& f = flights_[token >> 32U];
        const std::size_t record = token & UINT32_MAX;
        if (m.err == RD_KAFKA_RESP_ERR_NO_ERROR) f.found[record] = answer::accepted;
        else note(f, record, m.err, kafka_possibly_written(m));
        if (--f.missing == 0) end(f);
    }

    void note(flight& f, std::size_t record, rd_kafka_resp_err_t e, bool possibly_written)
    {
        answer a = answer::outcome_unknown;
        // A broker's code is that of the last attempt; an earlier one may have stored the record.
        if (!possibly_written) {
            using waybill::wire::kafka_errors;
            a = waybill::wire::find(kafka_own, kafka_errors, std::int64_t{e}).value_or(a);
        }
        if (a != answer::accepted) said_ = f.said = fault_of(e).text;
        // librdkafka keeps such an error of a topic or of a producer.
        is_broken_ = is_broken_ || a == answer::infrastructure || a == answer::outcome_unknown;
        f.found[record] = a;
    }

    void end(flight& f)
    {
        --in_flight_;
        f.missing = 0;
        ended_.push_back(std::exchange(f, {}));
        is_broken_ = is_broken_ || (out_ && is_fatal());
    }

    [[nodiscard]] waybill::send_outcome outcome(const flight& f)
    {
        if (!f.is_connected) return not_connected(f.said, answer::transient);
        if (f.found.empty()) return waybill::batch_sender::accepted{};
        faults_.clear();
        bool unknown = false;
        bool differ = false;
        for (std::size_t i = 0; i != f.found.size(); ++i) {
            const answer a = f.found[i].value_or(answer::outcome_unknown);
            unknown = unknown || a == answer::outcome_unknown;
            differ = differ || f.found[i] != f.found[0];
            if (a != answer::accepted) faults_.push_back({i, outcome_of(a, f.said)});
        }
        if (const std::uint64_t n = f.found.size() - faults_.size(); n != 0)
            placed_.push_back({f.partition, n});
        if (unknown) return waybill::batch_sender::outcome_unknown{};
        if (differ) return waybill::batch_sender::partial{.failed = faults_};
        return outcome_of(*f.found[0], f.said, {.actual = f.bytes});
    }

    [[nodiscard]] bool is_fatal() const
    {
        char text[1];
        return rd_kafka_fatal_error(out_->handle(), text, sizeof text) !=
               RD_KAFKA_RESP_ERR_NO_ERROR;
    }

    /// max.message.bytes of the topic. Empty without a response, as without the permission for it.
    [[nodiscard]] std::optional<std::uint64_t> topic_limit()
    {
        rd_kafka_t* const k = out_->handle();
        const std::unique_ptr<rd_kafka_queue_t, decltype(&rd_kafka_queue_destroy)> replies(
            rd_kafka_queue_new(k), &rd_kafka_queue_destroy);
        const std::unique_ptr<rd_kafka_ConfigResource_t, decltype(&rd_kafka_ConfigResource_destroy)>
            of(rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic_.c_str()),
               &rd_kafka_ConfigResource_destroy);
        const std::unique_ptr<rd_kafka_AdminOptions_t, decltype(&rd_kafka_AdminOptions_destroy)>
            options(rd_kafka_AdminOptions_new(k, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS),
                    &rd_kafka_AdminOptions_destroy);
        char why[256];
        rd_kafka_AdminOptions_set_request_timeout(options.get(), 2'000, why, sizeof why);
        rd_kafka_ConfigResource_t* all[] = {of.get()};
        rd_kafka_DescribeConfigs(k, all, 1, options.get(), replies.get());
        const std::unique_ptr<rd_kafka_event_t, decltype(&rd_kafka_event_destroy)> reply(
            rd_kafka_queue_poll(replies.get(), 3'000), &rd_kafka_event_destroy);
        const rd_kafka_DescribeConfigs_result_t* const result =
            reply ? rd_kafka_event_DescribeConfigs_result(reply.get()) : nullptr;
        if (!result) return {};
        std::size_t count = 0;
        const auto* const found = rd_kafka_DescribeConfigs_result_resources(result, &count);
        for (std::size_t i = 0; i != count; ++i) {
            if (const auto limit = limit_in(found[i])) return limit;
        }
        return {};
    }

    [[nodiscard]] static std::optional<std::uint64_t> limit_in(const rd_kafka_ConfigResource_t* r)
    {
        std::size_t count = 0;
        const auto* const entries = rd_kafka_ConfigResource_configs(r, &count);
        for (std::size_t i = 0; i != count; ++i) {
            const char* const name = rd_kafka_ConfigEntry_name(entries[i]);
            const char* const value = rd_kafka_ConfigEntry_value(entries[i]);
            if (value && std::string_view(name) == "max.message.bytes") return number_in(value);
        }
        return {};
    }

    kafka_settings settings_;
    std::string topic_;
    std::vector<flight> flights_{};  // of each partition; none if no record is missing
    std::size_t in_flight_ = 0;
    std::deque<flight> ended_{};  // `finished` has not returned them
    std::vector<rd_kafka_message_t> queued_{};
    std::unique_ptr<kafka_producer> out_{};
    std::unique_ptr<rd_kafka_topic_t, decltype(&rd_kafka_topic_destroy)> records_{
        nullptr, &rd_kafka_topic_destroy};
    bool is_connected_ = false;
    std::vector<bool> has_asked_{};  // for the leader of each partition, by this producer
    std::uint64_t batches_ = 0;
    std::vector<waybill::batch_sender::entry_fault> faults_{};
    std::vector<placed> placed_{};
    bool is_broken_ = false;  // the producer cannot be used for more batches
    std::string said_{};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_KAFKA_SENDER_HPP
