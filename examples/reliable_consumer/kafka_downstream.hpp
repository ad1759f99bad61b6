// SPDX-License-Identifier: MIT
//
// kafka_downstream: the simulated service that the handlers of events call, and the workers that
// call it concurrently.

#ifndef WAYBILL_EXAMPLES_RELIABLE_CONSUMER_KAFKA_DOWNSTREAM_HPP
#define WAYBILL_EXAMPLES_RELIABLE_CONSUMER_KAFKA_DOWNSTREAM_HPP

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../engines/kafka.hpp"
#include <waybill/core/fault.hpp>
#include <waybill/retry/circuit_breaker.hpp>
#include <waybill/tracking/completion_tracker.hpp>

namespace reliable_consumer {

enum class downstream_state : std::uint8_t {
    up,
    hanging,  ///< No call returns.
    down,     ///< Each call fails at once.
};

/// The effects of all members. They share no transaction with Kafka, so an event may be handled
/// again. Each effect has the idempotency key of its event, which makes a duplicate visible.
class downstream_service {
public:
    [[nodiscard]] waybill::fault apply(const std::string& key, std::string_view body);
    /// A permanent fault if the event can never be applied.
    [[nodiscard]] static waybill::fault judge(std::string_view body);

    void be(downstream_state s) noexcept { state_ = s; }
    [[nodiscard]] bool hangs() const noexcept { return state_ == downstream_state::hanging; }

    /// The number of effects for each key.
    [[nodiscard]] const std::map<std::string, std::uint64_t>& applied() const noexcept
    {
        return applied_;
    }
    /// Calls while it was down.
    [[nodiscard]] std::uint64_t in_vain() const noexcept { return in_vain_; }

private:
    downstream_state state_ = downstream_state::up;
    std::map<std::string, std::uint64_t> applied_{};
    std::map<std::string, std::uint64_t> failed_once_{};
    std::uint64_t in_vain_ = 0;
};

/// An event in flight.
struct job {
    engines::kafka_partition at{};
    waybill::tracked_event ticket{};
    engines::kafka_message message;
    waybill::circuit_breaker::permit permit{};  ///< Of this try.
    std::uint32_t tries = 0;                    ///< Failures of the event itself.
    std::uint32_t pauses = 0;
    waybill::fault why{};  ///< The result of the last try.
    bool whole = true;     ///< Its dead letter contains the body.
};

/// Events ordered by their due times.
class job_queue {
public:
    using time = std::chrono::steady_clock::time_point;

    void put(job j, time when) { all_.emplace(when, std::move(j)); }
    [[nodiscard]] bool due(time now) const { return !all_.empty() && all_.begin()->first <= now; }
    [[nodiscard]] job take() { return std::move(all_.extract(all_.begin()).mapped()); }
    [[nodiscard]] std::uint64_t size() const noexcept { return all_.size(); }
    void drop(const engines::kafka_partition& of)
    {
        std::erase_if(all_, [&](const auto& entry) { return entry.second.at == of; });
    }
    void clear() { all_.clear(); }

private:
    std::multimap<time, job> all_{};
};

/// Workers with random durations: events do not end in the order in which they began.
class worker_pool {
public:
    worker_pool(downstream_service& service, std::uint64_t seed) : service_(&service), dice_(seed)
    {
    }

    [[nodiscard]] bool has_room() const noexcept { return running_.size() < 32; }
    [[nodiscard]] std::uint64_t size() const noexcept { return running_.size(); }
    void start(job j, const waybill::circuit_breaker::permit& p);
    /// The events that have ended since the last call.
    [[nodiscard]] std::vector<job> finished();

private:
    downstream_service* service_;
    std::mt19937_64 dice_;
    std::multimap<std::chrono::steady_clock::time_point, job> running_{};  ///< By their end.
};

}  // namespace reliable_consumer

#endif  // WAYBILL_EXAMPLES_RELIABLE_CONSUMER_KAFKA_DOWNSTREAM_HPP
