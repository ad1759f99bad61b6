// SPDX-License-Identifier: MIT
//
// kafka_consumer: a member of a consumer group. It commits only what the caller passes to `commit`.
//
//     engines::kafka_consumer in(settings, "billing", {"orders"}, {.assigned = a, .revoked = r});
//     while (auto m = in.next(100ms)) handle(*m);
//     in.commit({{{"orders", 0}, next_offset, text}});     // returns after the coordinator's reply
//
//   1. `assigned` is called before the first record of a partition, with the committed offset and
//      text.
//   2. `revoked` is called before the partition is given back. It may still commit, unless `lost`
//      is set.
//   3. Both are called inside of `next` and `close`, on the same thread. If one of them throws,
//      `next` or `close` throws the same exception.
//   4. A destructor without `close` is like the end of the process: the group waits for the session
//      timeout.
//
// `commit` returns the faults of kafka.hpp. `infrastructure` is unknown: committed or not. `next`
// throws kafka_error after a fatal error of the client.

#ifndef WAYBILL_EXAMPLES_ENGINES_KAFKA_CONSUMER_HPP
#define WAYBILL_EXAMPLES_ENGINES_KAFKA_CONSUMER_HPP

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kafka.hpp"
#include <waybill/core/result.hpp>

namespace engines {

struct kafka_rebalance {
    std::function<void(const std::vector<kafka_offset>&)> assigned{};
    std::function<void(const std::vector<kafka_offset>&, bool lost)> revoked{};
};

class kafka_consumer {
public:
    /// Without topics it is no member, and can only read the committed offsets.
    kafka_consumer(kafka_settings s, const std::string& group,
                   const std::vector<std::string>& topics, kafka_rebalance r)
        : rebalance_(std::move(r))
    {
        s.set("group.id", group).set("enable.auto.commit", "false");
        s.set("enable.auto.offset.store", "false");
        rd_kafka_conf_t* const conf = s.made();
        rd_kafka_conf_set_opaque(conf, this);
        rd_kafka_conf_set_rebalance_cb(conf, &on_rebalance);
        k_ = new_kafka(RD_KAFKA_CONSUMER, conf);
        rd_kafka_poll_set_consumer(k_);
        if (topics.empty()) return;
        kafka_list list;
        for (const std::string& t : topics) list.add(t, RD_KAFKA_PARTITION_UA);
        const auto e = rd_kafka_subscribe(k_, list.get());
        if (e == RD_KAFKA_RESP_ERR_NO_ERROR) return;
        crash();
        throw kafka_error(std::string("subscribe: ") + rd_kafka_err2str(e));
    }
    kafka_consumer(const kafka_consumer&) = delete;
    kafka_consumer& operator=(const kafka_consumer&) = delete;
    /// Like the end of a process: the group removes the member after its session timeout.
    ~kafka_consumer() { crash(); }

    /// The next record, or none within `wait`. Must be called at least once in
    /// max.poll.interval.ms, with or without records.
    [[nodiscard]] std::optional<kafka_message> next(std::chrono::milliseconds wait)
    {
        rd_kafka_message_t* const m = rd_kafka_consumer_poll(k_, static_cast<int>(wait.count()));
        std::optional<kafka_message> got;
        if (m) got.emplace(m);
        if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
        if (!m || m->err == RD_KAFKA_RESP_ERR_NO_ERROR) return got;
        switch (m->err) {
            // These need an operator. librdkafka handles all others.
            case RD_KAFKA_RESP_ERR__FATAL:
            case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
            case RD_KAFKA_RESP_ERR__AUTHENTICATION:
            case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
            case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
            case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
                throw kafka_error(rd_kafka_message_errstr(m));
            default: return {};
        }
    }

    /// Returns after the coordinator's reply. An infrastructure fault is unknown: committed or not.
    [[nodiscard]] waybill::result<void> commit(const std::vector<kafka_offset>& all)
    {
        kafka_list list;
        for (const kafka_offset& o : all) list.add(o);
        rd_kafka_resp_err_t e = rd_kafka_commit(k_, list.get(), 0);
        for (int i = 0; e == RD_KAFKA_RESP_ERR_NO_ERROR && i != list.get()->cnt; ++i) {
            e = list.get()->elems[i].err;
        }
        if (e != RD_KAFKA_RESP_ERR_NO_ERROR) return waybill::unexpected(fault_of(e));
        return {};
    }

    /// The committed offsets of the group.
    [[nodiscard]] waybill::result<std::vector<kafka_offset>> committed(
        const std::vector<kafka_partition>& of)
    {
        kafka_list list;
        for (const kafka_partition& p : of) list.add(p.topic, p.number);
        const auto e = committed(list.get());
        if (e != RD_KAFKA_RESP_ERR_NO_ERROR) return waybill::unexpected(fault_of(e));
        return kafka_list::read(list.get());
    }

    /// Returns no records of this partition until it is resumed. Records that were fetched before
    /// are returned then.
    void pause(const kafka_partition& p) { rd_kafka_pause_partitions(k_, one(p).get()); }
    void resume(const kafka_partition& p) { rd_kafka_resume_partitions(k_, one(p).get()); }

    /// Gives the partitions back, so that other members do not wait. `revoked` may still commit.
    void close()
    {
        rd_kafka_consumer_close(k_);
        if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
    }

private:
    void crash() noexcept { rd_kafka_destroy_flags(k_, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE); }

    static kafka_list one(const kafka_partition& p)
    {
        kafka_list list;
        list.add(p.topic, p.number);
        return list;
    }

    rd_kafka_resp_err_t committed(rd_kafka_topic_partition_list_t* list)
    {
        rd_kafka_resp_err_t e = rd_kafka_committed(k_, list, 10'000);
        for (int i = 0; e == RD_KAFKA_RESP_ERR_NO_ERROR && i != list->cnt; ++i)
            e = list->elems[i].err;
        return e;
    }

    static void on_rebalance(rd_kafka_t*, rd_kafka_resp_err_t what,
                             rd_kafka_topic_partition_list_t* list, void* self)
    {
        static_cast<kafka_consumer*>(self)->rebalanced(what, list);
    }

    /// Called through frames of C, so an exception is stored until next() throws it.
    void rebalanced(rd_kafka_resp_err_t what, rd_kafka_topic_partition_list_t* list) noexcept
    {
        const bool added = what == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS;
        try {
            if (added) begin(list);
            else if (rebalance_.revoked) {
                rebalance_.revoked(kafka_list::read(list), rd_kafka_assignment_lost(k_) != 0);
            }
        } catch (...) {
            thrown_ = std::current_exception();
        }
        const char* const protocol = rd_kafka_rebalance_protocol(k_);
        if (protocol && std::string_view(protocol) == "COOPERATIVE") {
            rd_kafka_error_t* const e = added ? rd_kafka_incremental_assign(k_, list)
                                              : rd_kafka_incremental_unassign(k_, list);
            if (e) rd_kafka_error_destroy(e);
        } else {
            rd_kafka_assign(k_, added ? list : nullptr);
        }
    }

    /// Without a committed offset auto.offset.reset decides. If the offsets cannot be read, it
    /// throws: a default would skip events or repeat all of them.
    void begin(rd_kafka_topic_partition_list_t* list)
    {
        const rd_kafka_resp_err_t e = committed(list);
        if (e != RD_KAFKA_RESP_ERR_NO_ERROR) {
            throw kafka_error(std::string("committed offsets: ") + rd_kafka_err2str(e));
        }
        if (rebalance_.assigned) rebalance_.assigned(kafka_list::read(list));
    }

    kafka_rebalance rebalance_;
    rd_kafka_t* k_ = nullptr;
    std::exception_ptr thrown_{};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_KAFKA_CONSUMER_HPP
