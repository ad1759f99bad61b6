// SPDX-License-Identifier: MIT
//
// kafka_log: a topic of Kafka as an event log, for positions that are stored with the effects.
//
//     engines::kafka_log log({{"bootstrap.servers", "127.0.0.1:9092"}}, "orders");
//     waybill::run_partitions(log, store, leases, handle, policy, env);
//
//   1. The sequence number of an event is its offset, as in kafka_offsets.hpp. An empty position
//      precedes offset 0.
//   2. A log has no group and commits nothing to Kafka. `group.id` of the settings is not used.
//   3. `read` skips no event. After each error of a fetch, the partition begins anew after the last
//      event that was returned. A new position discards the events that were fetched before.
//   4. If the next event was removed, `read` continues with the first event that is left.
//   5. Events of open and aborted transactions are not returned. A record without a value is an
//      event with an empty body.
//   6. Without events, `read` waits at most 100 ms for one. Then it asks the leader for the end of
//      the partition. Without a response, it returns a fault within 2 s.
//   7. `end` returns the last offset before the end of the partition. That can be a marker of a
//      transaction. After `read` has reached the end, it is exactly the last event.
//
// One thread at a time uses a log. A partition that is not read for a minute is no longer fetched.
// queued.max.messages.kbytes limits the memory of each partition; its default is 64 MiB.
//
// Fault                  Cause
// permanent              the name of the partition is not a number
// infrastructure         no response of a broker, no such topic or partition, no permission, a
//                        damaged record, or a position after the end of the partition, as of a
//                        topic that was created anew

#ifndef WAYBILL_EXAMPLES_ENGINES_KAFKA_LOG_HPP
#define WAYBILL_EXAMPLES_ENGINES_KAFKA_LOG_HPP

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "kafka.hpp"
#include <waybill/core/result.hpp>
#include <waybill/lease/event_log.hpp>

namespace engines {

class kafka_log {
public:
    struct event {
        std::uint64_t sequence = 0;
        std::string body{};
    };

    struct timeouts {
        std::chrono::milliseconds idle{100};     ///< A read waits this long for the next event.
        std::chrono::milliseconds reply{2'000};  ///< A call waits this long for a broker.
        /// A partition that is not read for this long is no longer fetched.
        std::chrono::milliseconds unused{60'000};
    };

    /// Throws kafka_error if librdkafka refuses the settings. Does not wait for a connection.
    kafka_log(kafka_settings s, std::string topic) : kafka_log(std::move(s), std::move(topic), {})
    {
    }
    kafka_log(kafka_settings s, std::string topic, timeouts t)
        : topic_(std::move(topic)),
          timeouts_(t),
          k_(new_kafka(RD_KAFKA_CONSUMER, without_group(s, t).made()), &rd_kafka_destroy),
          t_(rd_kafka_topic_new(k_.get(), topic_.c_str(), nullptr), &rd_kafka_topic_destroy)
    {
        if (!t_) throw kafka_error(topic_ + ": " + rd_kafka_err2str(rd_kafka_last_error()));
    }
    kafka_log(const kafka_log&) = delete;
    kafka_log& operator=(const kafka_log&) = delete;
    ~kafka_log()
    {
        for (auto& [number, f] : fetches_) stop(number, f);
    }

    /// "0", "1", ... Does not create the topic.
    [[nodiscard]] waybill::result<std::vector<std::string>> partitions()
    {
        const rd_kafka_metadata_t* found = nullptr;
        const auto e = rd_kafka_metadata(k_.get(), 0, t_.get(), &found, ms(timeouts_.reply));
        if (e != RD_KAFKA_RESP_ERR_NO_ERROR) return failed(nowhere, "metadata", e);
        const std::unique_ptr<const rd_kafka_metadata_t, decltype(&rd_kafka_metadata_destroy)> all(
            found, &rd_kafka_metadata_destroy);
        if (all->topic_cnt != 1)
            return failed(nowhere, "metadata", RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC);
        const rd_kafka_metadata_topic_t& topic = all->topics[0];
        if (topic.err != RD_KAFKA_RESP_ERR_NO_ERROR) return failed(nowhere, "metadata", topic.err);
        std::vector<std::string> names;
        for (int n = 0; n != topic.partition_cnt; ++n) names.push_back(std::to_string(n));
        return names;
    }

    [[nodiscard]] waybill::result<std::vector<event>> read(
        const std::string& partition, const std::optional<waybill::position>& after,
        std::uint64_t max_count)
    {
        std::vector<event> events;
        const std::optional<std::int32_t> number = number_in(partition);
        if (!number) return no_number(partition);
        if (max_count == 0) return events;
        rd_kafka_poll(k_.get(), 0);  // callbacks of the settings, such as those of logins
        fetch& f = fetch_of(*number);
        if (f.events && f.last != sequence_of(after)) stop(*number, f);
        f.last = sequence_of(after);
        if (!f.events && !start(*number, f, next_of(f.last)))
            return failed(*number, "fetch", rd_kafka_last_error());

        rd_kafka_resp_err_t e = take(f, max_count, timeouts_.idle, events);
        if (!events.empty()) return taken(*number, f, e, std::move(events));
        if (is_usual(e)) {
            // An end in the queue may be an old one.
            const auto end = offset_of(*number, RD_KAFKA_OFFSET_END);
            if (!end) return waybill::unexpected(end.error());
            if (!is_before(f, *end)) return events;
            // Records, such as events, markers, or those of open transactions, are not fetched yet.
            e = take(f, max_count, f.end ? timeouts_.idle : timeouts_.reply, events);
        }
        if (is_out_of_range(e)) {
            stop(*number, f);
            if (auto why = start_at_first_left(*number, f)) return waybill::unexpected(*why);
            e = take(f, max_count, timeouts_.reply, events);
        }
        return taken(*number, f, e, std::move(events));
    }

    /// Empty if the partition has no events.
    [[nodiscard]] waybill::result<std::optional<waybill::position>> end(
        const std::string& partition)
    {
        const std::optional<std::int32_t> number = number_in(partition);
        if (!number) return no_number(partition);
        const auto first = offset_of(*number, RD_KAFKA_OFFSET_BEGINNING);
        if (!first) return waybill::unexpected(first.error());
        const auto end = offset_of(*number, RD_KAFKA_OFFSET_END);
        if (!end) return waybill::unexpected(end.error());
        std::optional<waybill::position> last;
        if (*first >= *end) return last;
        last = waybill::position{static_cast<std::uint64_t>(*end - 1), {}};
        const auto f = fetches_.find(*number);
        if (f == fetches_.end() || !has_reached(f->second, *end)) return last;
        // All up to the end was fetched, and the events of it were returned.
        if (!f->second.last) return std::optional<waybill::position>{};
        last->sequence = std::min(last->sequence, *f->second.last);
        return last;
    }

private:
    using clock = std::chrono::steady_clock;
    using event_queue = std::unique_ptr<rd_kafka_queue_t, decltype(&rd_kafka_queue_destroy)>;
    using kafka_message = std::unique_ptr<rd_kafka_message_t, decltype(&rd_kafka_message_destroy)>;

    static constexpr std::int32_t nowhere = -1;
    static constexpr std::uint64_t max_events = 10'000;  ///< Of one read.

    /// A partition that librdkafka fetches.
    struct fetch {
        event_queue events{nullptr, &rd_kafka_queue_destroy};  ///< None if it is not fetched.
        std::optional<std::uint64_t> last{};  ///< The last event that was returned.
        std::optional<std::int64_t> end{};    ///< The end of the partition, if it was reached.
        clock::time_point used{};
    };

    static kafka_settings& without_group(kafka_settings& s, const timeouts& t)
    {
        s.set("group.id", "").set("enable.auto.commit", "false").set("auto.commit.enable", "false");
        s.set("enable.auto.offset.store", "false").set("auto.offset.reset", "error");
        s.set("enable.partition.eof", "true").set("isolation.level", "read_committed");
        // A partition that begins waits for the previous fetch from the same broker.
        const auto wait = std::max(t.idle, std::chrono::milliseconds(10));
        return s.set_default("fetch.wait.max.ms", std::to_string(wait.count()));
    }

    [[nodiscard]] static int ms(std::chrono::milliseconds t) noexcept
    {
        return static_cast<int>(t.count());
    }

    [[nodiscard]] static std::optional<std::int32_t> number_in(const std::string& partition)
    {
        std::int32_t number = 0;
        const char* const end = partition.data() + partition.size();
        const auto [at, e] = std::from_chars(partition.data(), end, number);
        if (e != std::errc{} || at != end || number < 0) return {};
        return number;
    }

    [[nodiscard]] static std::optional<std::uint64_t> sequence_of(
        const std::optional<waybill::position>& p)
    {
        if (!p) return {};
        return p->sequence;
    }

    [[nodiscard]] static std::int64_t next_of(const std::optional<std::uint64_t>& last)
    {
        if (!last) return RD_KAFKA_OFFSET_BEGINNING;
        return static_cast<std::int64_t>(std::min<std::uint64_t>(*last, INT64_MAX - 1) + 1);
    }

    [[nodiscard]] static bool has_reached(const fetch& f, std::int64_t end)
    {
        return f.end && *f.end >= end;
    }

    /// True if records before `end` are not fetched yet, or the position is after `end`: then the
    /// fetch will fail.
    [[nodiscard]] static bool is_before(const fetch& f, std::int64_t end)
    {
        return !has_reached(f, end) && (f.last ? next_of(f.last) : 0) != end;
    }

    [[nodiscard]] static bool is_usual(rd_kafka_resp_err_t e) noexcept
    {
        return e == RD_KAFKA_RESP_ERR_NO_ERROR || e == RD_KAFKA_RESP_ERR__PARTITION_EOF;
    }

    [[nodiscard]] static bool is_out_of_range(rd_kafka_resp_err_t e) noexcept
    {
        return e == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET ||
               e == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE;
    }

    /// The fetch of a partition. Stops those that are no longer used.
    fetch& fetch_of(std::int32_t number)
    {
        const clock::time_point now = clock::now();
        fetches_[number].used = now;
        for (auto& [other, f] : fetches_) {
            if (now - f.used > timeouts_.unused) stop(other, f);
        }
        return fetches_[number];
    }

    /// The queue is a new one, so that it has no events of an earlier fetch.
    bool start(std::int32_t number, fetch& f, std::int64_t offset)
    {
        f.events.reset(rd_kafka_queue_new(k_.get()));
        if (rd_kafka_consume_start_queue(t_.get(), number, offset, f.events.get()) == 0)
            return true;
        f.events.reset();
        return false;
    }

    void stop(std::int32_t number, fetch& f)
    {
        if (f.events) rd_kafka_consume_stop(t_.get(), number);
        f.events.reset();
        f.end.reset();
    }

    /// Continues after events that were removed. Otherwise, returns a fault.
    [[nodiscard]] std::optional<waybill::fault> start_at_first_left(std::int32_t number, fetch& f)
    {
        const auto first = offset_of(number, RD_KAFKA_OFFSET_BEGINNING);
        if (!first) return first.error();
        const auto end = offset_of(number, RD_KAFKA_OFFSET_END);
        if (!end) return end.error();
        const std::int64_t next = f.last ? next_of(f.last) : 0;
        if (next > *end) {
            return waybill::infrastructure(
                place(number) + "position " + std::to_string(*f.last) + " is after the end, " +
                std::to_string(*end) + "; if the topic was created anew, rewind the checkpoint");
        }
        // The first offset may grow meanwhile: then the fetch fails again, and so does the read.
        if (!start(number, f, std::max(next, *first)))
            return failed(number, "fetch", rd_kafka_last_error()).error();
        return {};
    }

    /// Moves events from the queue to `events`, which is empty, until there are `max_count`, or the
    /// queue is empty. Waits for the first one no longer than `wait`. Returns an error of the
    /// fetch, or RD_KAFKA_RESP_ERR__PARTITION_EOF if the fetch has reached the end.
    [[nodiscard]] rd_kafka_resp_err_t take(fetch& f, std::uint64_t max_count,
                                           std::chrono::milliseconds wait,
                                           std::vector<event>& events)
    {
        const clock::time_point until = clock::now() + wait;
        const std::uint64_t most = std::min(max_count, max_events);
        for (;;) {
            // A call for several events would wait until all of them have arrived.
            rd_kafka_resp_err_t e = take_fetched(f, most, events);
            if (e != RD_KAFKA_RESP_ERR_NO_ERROR || !events.empty()) return e;
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
            if (left.count() <= 0) return e;
            const kafka_message first(rd_kafka_consume_queue(f.events.get(), ms(left)),
                                      &rd_kafka_message_destroy);
            // Without a message, it may have been a marker.
            e = first ? add(f, *first, events) : RD_KAFKA_RESP_ERR_NO_ERROR;
            if (e != RD_KAFKA_RESP_ERR_NO_ERROR) return e;
            if (!events.empty()) return take_fetched(f, most, events);
        }
    }

    /// The same without a wait.
    [[nodiscard]] rd_kafka_resp_err_t take_fetched(fetch& f, std::uint64_t max_count,
                                                   std::vector<event>& events)
    {
        batch_.resize(max_count - events.size());
        const ssize_t count =
            rd_kafka_consume_batch_queue(f.events.get(), 0, batch_.data(), batch_.size());
        rd_kafka_resp_err_t e = RD_KAFKA_RESP_ERR_NO_ERROR;
        for (ssize_t n = 0; n < count; ++n) {
            const kafka_message m(batch_[static_cast<std::size_t>(n)], &rd_kafka_message_destroy);
            if (is_usual(e)) e = add(f, *m, events);
        }
        return e;
    }

    /// Adds the message, if it is an event that was not returned before. Returns its error.
    [[nodiscard]] static rd_kafka_resp_err_t add(fetch& f, const rd_kafka_message_t& m,
                                                 std::vector<event>& events)
    {
        if (m.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) f.end = m.offset;
        if (m.err != RD_KAFKA_RESP_ERR_NO_ERROR) return m.err;
        if (!f.last || static_cast<std::uint64_t>(m.offset) > *f.last) {
            f.last = static_cast<std::uint64_t>(m.offset);
            f.end.reset();
            events.push_back({*f.last, body_of(m)});
        }
        return RD_KAFKA_RESP_ERR_NO_ERROR;
    }

    [[nodiscard]] static std::string body_of(const rd_kafka_message_t& m)
    {
        return m.payload ? std::string(static_cast<const char*>(m.payload), m.len) : std::string();
    }

    /// The result of a read. After an error the partition begins anew: librdkafka would continue
    /// after a record that it cannot read.
    [[nodiscard]] waybill::result<std::vector<event>> taken(std::int32_t number, fetch& f,
                                                            rd_kafka_resp_err_t e,
                                                            std::vector<event> events)
    {
        if (is_usual(e)) return events;
        stop(number, f);
        if (events.empty()) return failed(number, "fetch", e);
        return events;
    }

    /// The offset of the first record, or of the one after the last: `which` takes the place of a
    /// time. rd_kafka_query_watermark_offsets of librdkafka 2.0.2 waits forever for a broker that
    /// is down.
    [[nodiscard]] waybill::result<std::int64_t> offset_of(std::int32_t number, std::int64_t which)
    {
        kafka_list list;
        rd_kafka_topic_partition_t& p = list.add(topic_, number);
        p.offset = which;
        rd_kafka_resp_err_t e =
            rd_kafka_offsets_for_times(k_.get(), list.get(), ms(timeouts_.reply));
        if (e == RD_KAFKA_RESP_ERR_NO_ERROR) e = p.err;
        if (e != RD_KAFKA_RESP_ERR_NO_ERROR) return failed(number, "offsets", e);
        if (p.offset < 0) return failed(number, "offsets", RD_KAFKA_RESP_ERR__TIMED_OUT);
        return p.offset;
    }

    [[nodiscard]] std::string place(std::int32_t number) const
    {
        std::string text = "Kafka, topic " + topic_;
        if (number != nowhere) text += ", partition " + std::to_string(number);
        return text + ": ";
    }

    [[nodiscard]] waybill::unexpected<waybill::fault> no_number(const std::string& partition) const
    {
        return waybill::unexpected(waybill::permanent(place(nowhere) + "partition \"" + partition +
                                                      "\" is not a number; see partitions()"));
    }

    [[nodiscard]] waybill::unexpected<waybill::fault> failed(std::int32_t number, const char* what,
                                                             rd_kafka_resp_err_t e) const
    {
        return waybill::unexpected(waybill::infrastructure(place(number) + what + ": " +
                                                           rd_kafka_err2name(e) + ": " +
                                                           rd_kafka_err2str(e) + advice(e)));
    }

    [[nodiscard]] static const char* advice(rd_kafka_resp_err_t e) noexcept
    {
        switch (e) {
            case RD_KAFKA_RESP_ERR__TRANSPORT:
            case RD_KAFKA_RESP_ERR__TIMED_OUT:
            case RD_KAFKA_RESP_ERR__RESOLVE:
            case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
                return "; start the brokers, or correct bootstrap.servers";
            case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
            case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
            case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
                return "; create the topic, or add the partition";
            case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
            case RD_KAFKA_RESP_ERR__AUTHENTICATION:
            case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
                return "; the user needs the permission to read the topic";
            case RD_KAFKA_RESP_ERR__BAD_MSG:
            case RD_KAFKA_RESP_ERR__BAD_COMPRESSION:
            case RD_KAFKA_RESP_ERR_INVALID_MSG:
                return "; if it remains, the record is damaged: restore it from a replica";
            default: return "; read again";
        }
    }

    std::string topic_;
    timeouts timeouts_;
    std::unique_ptr<rd_kafka_t, decltype(&rd_kafka_destroy)> k_;
    std::unique_ptr<rd_kafka_topic_t, decltype(&rd_kafka_topic_destroy)> t_;
    std::map<std::int32_t, fetch> fetches_{};
    std::vector<rd_kafka_message_t*> batch_{};  ///< Of take_fetched; kept for its memory.
};

static_assert(waybill::event_log<kafka_log>);

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_KAFKA_LOG_HPP
