// SPDX-License-Identifier: MIT
//
// kafka: events from Kafka, each at least once, several at a time and out of order.
//
// kafka.cpp is the complete consumer, with a watermark and a dead-letter topic. Faults and checks
// are in kafka_run.cpp, and the effects of an event in kafka_downstream.hpp.

#ifndef WAYBILL_EXAMPLES_RELIABLE_CONSUMER_KAFKA_HPP
#define WAYBILL_EXAMPLES_RELIABLE_CONSUMER_KAFKA_HPP

#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "../engines/kafka_consumer.hpp"
#include "../engines/kafka_letters.hpp"
#include "kafka_downstream.hpp"
#include "options.hpp"
#include <waybill/retry/circuit_breaker.hpp>
#include <waybill/tracking/commit_schedule.hpp>
#include <waybill/tracking/completion_tracker.hpp>
#include <waybill/tracking/tracker_bytes.hpp>

namespace reliable_consumer {

/// The options of a member of the group.
struct kafka_place {
    engines::kafka_settings settings;
    std::string topic{};
    std::string group{};
    waybill::tracker_options room{.max_in_flight = 100, .span = 200};  ///< Of each partition.
    waybill::tracker_budget beside{.max_bytes = 4'096};  ///< The default limit of brokers.
    waybill::commit_schedule::config pace{.every = 200,
                                          .interval = waybill::duration::milliseconds(500)};
    std::uint64_t at_once = 64;               ///< Events begun and not done, of all partitions.
    std::chrono::milliseconds patience{100};  ///< Time without room before a pause.
    std::uint32_t tries = 3;                  ///< Of an event with transient faults.
    waybill::backoff pauses{.cap = waybill::duration::seconds(5)};  ///< Between the tries.
    /// For outages of the service that the handlers call.
    waybill::circuit_breaker::config guard{
        .failure_ratio = 0.5,
        .minimum_throughput = 10,
        .consecutive_failures = 8,
        .break_duration = {.base = waybill::duration::milliseconds(200),
                           .cap = waybill::duration::seconds(10),
                           .spread = waybill::backoff::jitter::none}};
    std::chrono::milliseconds close_within{5'000};  ///< Later events are delivered again.
};

/// The history of a member.
struct member_record {
    using times = std::vector<std::chrono::steady_clock::time_point>;

    std::map<engines::kafka_partition, times> assigned{};  ///< The times of assignments.
    std::uint64_t revoked = 0;        ///< Partitions that were revoked or given back.
    std::uint64_t passed_by = 0;      ///< Events that the previous owner had finished out of order.
    std::uint64_t not_delivered = 0;  ///< Events that another member may have repeated.
    std::uint64_t commits = 0;
    std::uint64_t commits_failed = 0;
    std::uint64_t letters_again = 0;  ///< Dead letters that were sent again.
};

class kafka_member {
public:
    kafka_member(kafka_place where, downstream_service& service, std::uint64_t seed);

    /// One round: accepts records, completes finished events, makes due commits.
    void step();
    /// Begins no further event, waits for those in flight, commits, and gives all partitions back.
    void close();

    [[nodiscard]] const member_record& record() const noexcept { return record_; }
    /// Events that a crash would repeat: those in flight, and finished ones that are in no commit.
    [[nodiscard]] std::uint64_t at_risk() const;
    /// The sum of the offsets of all partitions that it would commit now.
    [[nodiscard]] std::uint64_t position() const;

private:
    /// The tracker stays after a revocation, so that events of an earlier generation are
    /// recognised.
    struct part {
        explicit part(const kafka_place& w)
            : tracker(w.room), pace(w.pace, std::chrono::steady_clock::now())
        {
        }
        waybill::completion_tracker tracker;
        waybill::commit_schedule pace;
        bool paused = false;
        std::uint64_t dropped = 0;  ///< Finished events that did not fit into the commit text.
    };

    void assigned(const std::vector<engines::kafka_offset>& all);
    void revoked(const std::vector<engines::kafka_offset>& all, bool lost);
    void take_up();
    void let_in();
    void hand_out();
    void end(job j);
    void later(job j, job_queue& into);
    void park(job j);
    void park_again(job j, const waybill::fault& why);
    void done(const job& j);
    bool commit(const engines::kafka_partition& at, part& p);
    [[nodiscard]] static std::uint64_t at_risk_of(const part& p);
    void let_go(const engines::kafka_partition& at, part& p);
    [[nodiscard]] std::uint64_t in_hand() const noexcept
    {
        return waiting_.size() + pool_.size() + unsent_.size() + parked_.size();
    }

    kafka_place where_;
    std::map<engines::kafka_partition, part> parts_{};
    member_record record_{};
    engines::kafka_consumer in_;
    engines::kafka_producer letters_;
    // These contain records, and must be destroyed before the consumer.
    job_queue waiting_{};
    worker_pool pool_;
    job_queue unsent_{};                     ///< Dead letters that could not be sent.
    std::map<std::uint64_t, job> parked_{};  ///< Dead letters that are not acknowledged, by token.
    std::uint64_t tokens_ = 0;
    std::int32_t dead_partitions_ = 0;
    waybill::circuit_breaker breaker_;
    std::mt19937_64 dice_;
    bool room_ = true;
    std::chrono::steady_clock::time_point had_room_ = std::chrono::steady_clock::now();
    bool closing_ = false;
};

/// Produces the events, and runs a group of members that handle them. One member joins, one
/// crashes. Then checks the result.
[[nodiscard]] int run_kafka(const options& o);

}  // namespace reliable_consumer

#endif  // WAYBILL_EXAMPLES_RELIABLE_CONSUMER_KAFKA_HPP
