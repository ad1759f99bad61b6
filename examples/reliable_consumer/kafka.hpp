// SPDX-License-Identifier: MIT
//
// kafka: events from Kafka, each at least once, several at a time and out of order.
//
// kafka.cpp is all that a consumer with a watermark and a dead-letter topic takes. What happens to
// it here, and the checks, are in kafka_run.cpp; what an event does is in kafka_downstream.hpp.

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

/// What a member of the group is told.
struct kafka_place {
    engines::kafka_settings settings;
    std::string topic{};
    std::string group{};
    waybill::tracker_options room{.max_in_flight = 100, .span = 200};  ///< Of each partition.
    waybill::tracker_budget beside{.max_bytes = 4'096};  ///< As the brokers allow by default.
    waybill::commit_schedule::config pace{.every = 200,
                                         .interval = waybill::duration::milliseconds(500)};
    std::uint64_t at_once = 64;  ///< Events begun and not done, of all partitions.
    std::chrono::milliseconds patience{100};  ///< Without room, before partitions are paused.
    std::uint32_t tries = 3;                  ///< Of an event that fails and may work later.
    waybill::backoff pauses{.cap = waybill::duration::seconds(5)};  ///< Between them.
    /// While what the handlers need is down.
    waybill::circuit_breaker::config guard{
        .failure_ratio = 0.5,
        .minimum_throughput = 10,
        .consecutive_failures = 8,
        .break_duration = {.base = waybill::duration::milliseconds(200),
                           .cap = waybill::duration::seconds(10),
                           .spread = waybill::backoff::jitter::none}};
    std::chrono::milliseconds close_within{5'000};  ///< What is not done by then comes again.
};

/// What a member has been through.
struct member_record {
    using times = std::vector<std::chrono::steady_clock::time_point>;

    std::map<engines::kafka_partition, times> assigned{};  ///< When.
    std::uint64_t revoked = 0;    ///< Partitions that were taken away, or given back.
    std::uint64_t passed_by = 0;  ///< Events that the one before had done out of order.
    std::uint64_t not_delivered = 0;    ///< Events that somebody else may have done again.
    std::uint64_t commits = 0;
    std::uint64_t commits_failed = 0;
    std::uint64_t letters_again = 0;  ///< Dead letters that were not there the first time.
};

class kafka_member {
public:
    kafka_member(kafka_place where, downstream_service& service, std::uint64_t seed);

    /// One round: takes up what comes, ends what is done, commits what is due. The same each time.
    void step();
    /// Begins nothing more, waits a while for what is under way, commits, and gives all back.
    void close();

    [[nodiscard]] const member_record& record() const noexcept { return record_; }
    /// Events under way, and events done that are in no commit: what a crash would repeat.
    [[nodiscard]] std::uint64_t at_risk() const;
    /// The offsets that it would commit now, of all its partitions together.
    [[nodiscard]] std::uint64_t position() const;

private:
    /// The tracker stays when the partition goes, so that no ticket outlives its generation unseen.
    struct part {
        explicit part(const kafka_place& w)
            : tracker(w.room), pace(w.pace, std::chrono::steady_clock::now())
        {
        }
        waybill::completion_tracker tracker;
        waybill::commit_schedule pace;
        bool paused = false;
        std::uint64_t dropped = 0;  ///< Of what is done, as it did not fit beside the commit.
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
    // These hold records, and have to go before the consumer does.
    job_queue waiting_{};
    worker_pool pool_;
    job_queue unsent_{};  ///< Dead letters that could not be sent.
    std::map<std::uint64_t, job> parked_{};  ///< Dead letters that are not acknowledged, by token.
    std::uint64_t tokens_ = 0;
    std::int32_t dead_partitions_ = 0;
    waybill::circuit_breaker breaker_;
    std::mt19937_64 dice_;
    bool room_ = true;
    std::chrono::steady_clock::time_point had_room_ = std::chrono::steady_clock::now();
    bool closing_ = false;
};

/// Produces the events, has a group of members take them into effect while one of them joins, one
/// crashes, and checks what came of it.
[[nodiscard]] int run_kafka(const options& o);

}  // namespace reliable_consumer

#endif  // WAYBILL_EXAMPLES_RELIABLE_CONSUMER_KAFKA_HPP
