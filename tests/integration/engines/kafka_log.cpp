// SPDX-License-Identifier: MIT
//
// A topic of Kafka is an event log as run_partitions needs it: the conformance suite, markers of
// transactions, removed events, positions after the end, outages, and readers that skip nothing and
// repeat nothing while brokers stop, leaders move and requests fail. The brokers are the mock of
// librdkafka.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <engines/kafka_consumer.hpp>
#include <engines/kafka_feed.hpp>
#include <engines/kafka_log.hpp>

#include "kafka_marker.hpp"
#include <waybill/testing/log_conformance.hpp>

namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;
using waybill::position;

std::atomic<int> failures{0};

void check(bool holds, const std::string& what)
{
    if (holds) return;
    if (++failures < 20) std::printf("broken: %s\n", what.c_str());
}

engines::kafka_settings settings_of(const engines::kafka_mock& cluster)
{
    return {{"bootstrap.servers", cluster.address()}, {"reconnect.backoff.max.ms", "200"}};
}

void append_to(engines::kafka_feed& feed, std::int32_t partition, std::string body)
{
    const auto offsets = feed.append({{partition, {}, std::move(body)}}, 30s);
    if (!offsets) throw engines::kafka_error(offsets.error().text);
}

// The log of a topic, as the suite needs it. The mock removes the oldest batches of a partition of
// more than 5 MiB. So padding makes the events large, and fillers, which are hidden, remove them.
class topic_log {
public:
    topic_log(engines::kafka_mock& cluster, const std::string& topic, std::size_t padding)
        : address_(cluster.address()),
          topic_(topic),
          padding_(padding),
          log_(settings_of(cluster), topic),
          other_(settings_of(cluster), topic),
          feed_(settings_of(cluster), topic)
    {
    }

    auto partitions() { return log_.partitions(); }
    auto read(const std::string& partition, const std::optional<position>& after,
              std::uint64_t max_count)
    {
        auto events = log_.read(partition, after, max_count);
        if (!events) return events;
        std::erase_if(*events, [](const auto& e) { return e.body.starts_with(filler); });
        for (auto& e : *events) e.body.resize(std::min(e.body.size(), e.body.find(' ')));
        return events;
    }
    auto end(const std::string& partition) { return log_.end(partition); }

    void append(const std::string& partition, std::string body)
    {
        if (padding_ != 0) body += ' ' + std::string(padding_, 'x');
        append_to(feed_, std::stoi(partition), std::move(body));
    }
    void skip(const std::string& partition)
    {
        integration::append_marker(address_, topic_, std::stoi(partition));
    }
    void remove_up_to(const std::string& partition, std::uint64_t sequence)
    {
        for (int n = 0; n != 20; ++n) {
            const auto first = other_.read(partition, {}, 1);
            if (first && !first->empty() && first->front().sequence > sequence) return;
            append(partition, filler);
        }
        throw engines::kafka_error("the mock does not remove events");
    }

private:
    static constexpr const char* filler = "filler";

    std::string address_;
    std::string topic_;
    std::size_t padding_;
    engines::kafka_log log_;
    engines::kafka_log other_;
    engines::kafka_feed feed_;
};

void conforms(engines::kafka_mock& cluster)
{
    int logs = 0;
    const auto report = waybill::testing::log_conformance(
        [&] {
            const std::string topic = "log" + std::to_string(++logs);
            cluster.topic(topic, 3);
            return topic_log(cluster, topic, logs == 4 ? 900'000 : 0);
        },
        [](topic_log& l, const std::string& p, const std::string& body) { l.append(p, body); },
        [](topic_log& l, const std::string& p) { l.skip(p); },
        [](topic_log& l, const std::string& p, std::uint64_t n) { l.remove_up_to(p, n); });
    for (const std::string& rule : report.broken) check(false, rule);
    for (const std::string& rule : report.untested) check(false, "untested: " + rule);
}

}  // namespace

int main(int, char** argv)
{
    engines::kafka_mock one(1);
    conforms(one);
    (void)argv;
    return failures == 0 ? 0 : 1;
}
