// SPDX-License-Identifier: MIT
//
// kafka_producer: sends records, and reports the delivery of each.
//
//     engines::kafka_producer out(settings);
//     if (!*out.send(record, 7)) ...                    // the queue is full: poll, then send again
//     for (const auto& d : out.poll(0ms)) if (d.kind.ok()) stored(d.token);
//
//   1. The producer is idempotent: retries of librdkafka neither duplicate nor reorder records.
//   2. A record is stored after a delivery report without a fault, and not before. A consumer that
//      dead-letters a record waits for this report before it commits.
//   3. The destructor discards records without a report.
//
// Code                       Result
// _QUEUE_FULL                `send` returns false
// _FATAL                     throws kafka_error: this producer cannot be used any more
// any other                  a fault, by the table of kafka.hpp

#ifndef WAYBILL_EXAMPLES_ENGINES_KAFKA_PRODUCER_HPP
#define WAYBILL_EXAMPLES_ENGINES_KAFKA_PRODUCER_HPP

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kafka.hpp"
#include <waybill/core/result.hpp>

namespace engines {

struct kafka_record {
    std::string topic{};
    std::optional<std::int32_t> partition{};  ///< Empty: by its key.
    std::optional<std::string> key{};
    std::string body{};
    std::vector<std::pair<std::string, std::string>> headers{};
    std::optional<std::int64_t> timestamp{};  ///< Milliseconds since 1970. Empty: now.
};

/// The outcome of a record.
struct kafka_delivery {
    std::uint64_t token = 0;  ///< The token of `send`.
    waybill::fault how{};
    std::int64_t offset = -1;
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
    bool possibly_written = false;  ///< Transmitted, and without an acknowledgement.
};

/// True for a report of a record that was transmitted and has no acknowledgement.
[[nodiscard]] inline bool kafka_possibly_written(const rd_kafka_message_t& m)
{
    return rd_kafka_message_status(&m) == RD_KAFKA_MSG_STATUS_POSSIBLY_PERSISTED;
}

class kafka_producer {
public:
    /// A record that is reported as stored is once on all replicas in sync. `linger.ms` is 1 if the
    /// settings have none.
    explicit kafka_producer(kafka_settings s) : kafka_producer(std::move(s), {}) {}
    /// Calls `report` for each delivery report, in `poll` and `flush`. These then return nothing.
    kafka_producer(kafka_settings s, std::function<void(const rd_kafka_message_t&)> report)
        : report_(std::move(report))
    {
        rd_kafka_conf_t* const conf =
            s.set("enable.idempotence", "true").set_default("linger.ms", "1").made();
        rd_kafka_conf_set_opaque(conf, this);
        rd_kafka_conf_set_dr_msg_cb(conf, &on_delivery);
        k_ = new_kafka(RD_KAFKA_PRODUCER, conf);
    }
    kafka_producer(const kafka_producer&) = delete;
    kafka_producer& operator=(const kafka_producer&) = delete;
    /// Does not wait for missing delivery reports.
    ~kafka_producer()
    {
        rd_kafka_purge(k_, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        rd_kafka_destroy(k_);
    }

    /// False if the queue is full: call `poll` and send the record again. A fault if it cannot be
    /// sent at all, for example because it is too large.
    [[nodiscard]] waybill::result<bool> send(const kafka_record& r, std::uint64_t token)
    {
        const rd_kafka_resp_err_t e = queue(r, token);
        if (e == RD_KAFKA_RESP_ERR_NO_ERROR) return true;
        if (e == RD_KAFKA_RESP_ERR__QUEUE_FULL) return false;
        if (e == RD_KAFKA_RESP_ERR__FATAL) throw kafka_error(rd_kafka_err2str(e));
        return waybill::unexpected(fault_of(e));
    }

    /// The same with librdkafka's own code: 0 if the record is in the queue.
    [[nodiscard]] rd_kafka_resp_err_t queue(const kafka_record& r, std::uint64_t token)
    {
        rd_kafka_headers_t* const headers = rd_kafka_headers_new(r.headers.size());
        for (const auto& [name, value] : r.headers) {
            rd_kafka_header_add(headers, name.data(), static_cast<ssize_t>(name.size()),
                                value.data(), static_cast<ssize_t>(value.size()));
        }
        std::array<rd_kafka_vu_t, 8> all{};
        all[0].vtype = RD_KAFKA_VTYPE_TOPIC;
        all[0].u.cstr = r.topic.c_str();
        all[1].vtype = RD_KAFKA_VTYPE_PARTITION;
        all[1].u.i32 = r.partition.value_or(RD_KAFKA_PARTITION_UA);
        all[2].vtype = RD_KAFKA_VTYPE_KEY;
        if (r.key) all[2].u.mem = {const_cast<char*>(r.key->data()), r.key->size()};
        all[3].vtype = RD_KAFKA_VTYPE_VALUE;
        all[3].u.mem = {const_cast<char*>(r.body.data()), r.body.size()};
        all[4].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
        all[4].u.i = RD_KAFKA_MSG_F_COPY;
        all[5].vtype = RD_KAFKA_VTYPE_HEADERS;
        all[5].u.headers = headers;
        all[6].vtype = RD_KAFKA_VTYPE_OPAQUE;
        all[6].u.ptr = reinterpret_cast<void*>(token);
        all[7].vtype = RD_KAFKA_VTYPE_TIMESTAMP;
        all[7].u.i64 = r.timestamp.value_or(0);
        rd_kafka_error_t* const error = rd_kafka_produceva(k_, all.data(), all.size());
        if (!error) return RD_KAFKA_RESP_ERR_NO_ERROR;
        const rd_kafka_resp_err_t e = rd_kafka_error_code(error);
        rd_kafka_error_destroy(error);
        rd_kafka_headers_destroy(headers);
        return e;
    }

    /// The reports since the last call, or within `wait`.
    [[nodiscard]] std::vector<kafka_delivery> poll(std::chrono::milliseconds wait)
    {
        rd_kafka_poll(k_, static_cast<int>(wait.count()));
        return std::exchange(delivered_, {});
    }

    /// The number of partitions of a topic, which is created if the brokers do that. 0 if there is
    /// none.
    [[nodiscard]] std::int32_t partitions(const std::string& topic, std::chrono::seconds wait)
    {
        const auto until = std::chrono::steady_clock::now() + wait;
        rd_kafka_topic_t* const t = rd_kafka_topic_new(k_, topic.c_str(), nullptr);
        std::int32_t n = 0;
        do {
            const rd_kafka_metadata_t* all = nullptr;
            if (rd_kafka_metadata(k_, 0, t, &all, 1'000) != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
            if (all->topic_cnt == 1) n = all->topics[0].partition_cnt;
            rd_kafka_metadata_destroy(all);
            if (n == 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
        } while (n == 0 && std::chrono::steady_clock::now() < until);
        rd_kafka_topic_destroy(t);
        return n;
    }

    /// Waits at most `wait` for the reports of all sent records. `linger.ms` is ignored.
    [[nodiscard]] std::vector<kafka_delivery> flush(std::chrono::milliseconds wait)
    {
        rd_kafka_flush(k_, static_cast<int>(wait.count()));
        return std::exchange(delivered_, {});
    }

    /// For other calls of librdkafka, such as those of administrators.
    [[nodiscard]] rd_kafka_t* handle() const noexcept { return k_; }

private:
    static void on_delivery(rd_kafka_t*, const rd_kafka_message_t* m, void* self)
    {
        kafka_producer& owner = *static_cast<kafka_producer*>(self);
        if (owner.report_) return owner.report_(*m);
        owner.delivered_.push_back({reinterpret_cast<std::uint64_t>(m->_private), fault_of(m->err),
                                    m->offset, m->err, kafka_possibly_written(*m)});
    }

    std::function<void(const rd_kafka_message_t&)> report_{};
    rd_kafka_t* k_ = nullptr;
    std::vector<kafka_delivery> delivered_{};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_KAFKA_PRODUCER_HPP
