// SPDX-License-Identifier: MIT
//
// kafka_world: what an event does outside, and the workers that do it side by side.

#ifndef WAYBILL_EXAMPLES_RELIABLE_CONSUMER_KAFKA_WORLD_HPP
#define WAYBILL_EXAMPLES_RELIABLE_CONSUMER_KAFKA_WORLD_HPP

#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../engines/kafka.hpp"
#include <waybill/consume/completion_tracker.hpp>
#include <waybill/core/fault.hpp>

namespace reliable_consumer {

/// What was done, by whom ever. It shares no transaction with Kafka, so an event may come again;
/// each effect has the event's key, by which a second one of the same is known.
class kafka_world {
public:
    [[nodiscard]] waybill::fault apply(const std::string& key, std::string_view body);

    /// By key, how often.
    [[nodiscard]] const std::map<std::string, std::uint64_t>& applied() const noexcept
    {
        return applied_;
    }
    [[nodiscard]] std::uint64_t calls() const noexcept { return calls_; }

private:
    std::map<std::string, std::uint64_t> applied_{};
    std::map<std::string, std::uint64_t> failed_once_{};
    std::uint64_t calls_ = 0;
};

/// An event under way.
struct job {
    engines::kafka_partition at{};
    waybill::ticket ticket{};
    engines::kafka_message message;
    std::uint32_t tries = 0;
    waybill::fault why{};  ///< How it went.
    bool whole = true;     ///< Its dead letter has all that it carries.
};

/// So many workers, each of which takes as long as it happens to: what was begun first is not what
/// ends first.
class worker_pool {
public:
    worker_pool(kafka_world& world, std::uint64_t seed) : world_(&world), dice_(seed) {}

    [[nodiscard]] bool has_room() const noexcept { return running_.size() < 32; }
    [[nodiscard]] bool busy() const noexcept { return !running_.empty(); }
    [[nodiscard]] std::uint64_t size() const noexcept { return running_.size(); }
    void start(job j);
    /// Those that have ended by now.
    [[nodiscard]] std::vector<job> finished();

private:
    kafka_world* world_;
    std::mt19937_64 dice_;
    std::multimap<std::chrono::steady_clock::time_point, job> running_{};  ///< By their end.
};

}  // namespace reliable_consumer

#endif  // WAYBILL_EXAMPLES_RELIABLE_CONSUMER_KAFKA_WORLD_HPP
