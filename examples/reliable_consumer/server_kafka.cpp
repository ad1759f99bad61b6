// SPDX-License-Identifier: MIT
//
// The log in a topic of Kafka. Its consumer group and its committed offsets are not used: the
// positions are in PostgreSQL, in one transaction with the effects.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../engines/kafka_feed.hpp"
#include "../engines/kafka_log.hpp"
#include "server_tables.hpp"
#include "server_worker.hpp"
#include "servers.hpp"

namespace reliable_consumer {

namespace {

using namespace std::chrono_literals;

constexpr engines::kafka_log::timeouts patience{.idle = 20ms, .reply = 500ms};

/// The times of a cluster whose brokers are back after a second.
engines::kafka_settings settings_of(const addresses& at)
{
    engines::kafka_settings s{{"bootstrap.servers", at.log.substr(kafka_scheme.size())}};
    return s.set("reconnect.backoff.max.ms", "200")
        .set("topic.metadata.refresh.fast.interval.ms", "50")
        .set("fetch.error.backoff.ms", "20");
}

class tables_with_kafka : public server_tables {
public:
    tables_with_kafka(const options& o, const addresses& at)
        : server_tables(o, at.store), settings_(settings_of(at)), log_(settings_, stream, patience)
    {
        const auto names = patiently([&] { return log_.partitions(); });
        if (names.size() == o.partitions) return;
        throw support::complaint(
            fmt::format("Kafka, topic {}: it has {}; add --partitions {}, or create the topic anew",
                        stream, support::counted(names.size(), "partition"), names.size()));
    }

    bool append(const std::vector<std::string>& lines) override
    {
        std::vector<engines::kafka_feed::record> all;
        for (const std::string& line : lines) {
            const auto part = static_cast<std::int32_t>(partition_of(line, partitions()));
            all.push_back({.partition = part, .body = line});
        }
        if (!feed_) feed_.emplace(settings_, stream);
        if (feed_->append(all, 10s)) return true;
        feed_.reset();
        return false;
    }

    std::optional<std::uint64_t> left() override
    {
        std::uint64_t sum = 0;
        // The first offset is 0.
        const auto add = [&](std::uint64_t end, std::optional<std::uint64_t> done) {
            sum += end + 1 - (done ? *done + 1 : 0);
        };
        if (!with_ends(log_, add)) return {};
        return sum;
    }

    /// Without transactions and compaction, each offset is an event.
    std::vector<event> events(std::uint64_t partition) override
    {
        const std::string part = std::to_string(partition);
        return all_events(log_, partition, [&]() -> waybill::result<std::uint64_t> {
            const auto last = log_.end(part);
            if (!last) return waybill::unexpected(last.error());
            return *last ? (*last)->sequence + 1 : 0;
        });
    }

private:
    engines::kafka_settings settings_;
    engines::kafka_log log_;
    std::optional<engines::kafka_feed> feed_{};
};

}  // namespace

std::unique_ptr<tables> tables_at_kafka(const options& o, const addresses& at)
{
    return std::make_unique<tables_with_kafka>(o, at);
}

int work_at_kafka(const options& o, const addresses& at)
{
    engines::kafka_log log(settings_of(at), stream, patience);
    return consume(o, log, at.store);
}

}  // namespace reliable_consumer
