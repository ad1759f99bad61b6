// SPDX-License-Identifier: MIT
//
// A topic of Kafka. At the end it is read back: the batches in the order in which they were
// acknowledged, each from its partition.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../engines/kafka_log.hpp"
#include "../engines/kafka_sender.hpp"
#include "servers.hpp"

namespace send_batches {

namespace {

engines::kafka_settings settings_of(const std::string& brokers)
{
    return {{"bootstrap.servers", brokers},
            {"reconnect.backoff.max.ms", "500"},
            {"topic.metadata.refresh.fast.interval.ms", "50"},
            {"fetch.error.backoff.ms", "50"}};
}

/// One partition of the topic, from the end at the beginning of the run.
class partition_reader {
public:
    partition_reader(engines::kafka_log& log, std::string name) : log_(log), name_(std::move(name))
    {
        const auto end = log_.end(name_);
        if (!end) throw complaint(end.error().text);
        last_ = *end;
    }

    /// The next event; empty at the end.
    [[nodiscard]] std::optional<std::string> next()
    {
        if (at_ == events_.size()) {
            auto more = log_.read(name_, last_, 1'000);
            if (!more) throw complaint(more.error().text);
            events_ = *std::move(more);
            at_ = 0;
            if (events_.empty()) return {};
            last_ = waybill::position{.sequence = events_.back().sequence};
        }
        return std::move(events_[at_++].body);
    }

private:
    engines::kafka_log& log_;
    std::string name_;
    std::optional<waybill::position> last_{};
    std::vector<engines::kafka_log::event> events_{};
    std::size_t at_ = 0;
};

struct topic {
    engines::kafka_sender sender;
    engines::kafka_log log;
    std::map<std::int32_t, partition_reader> partitions{};

    topic(const std::string& brokers, const std::string& name)
        : sender(settings_of(brokers), name), log(settings_of(brokers), name)
    {
    }

    void note_ends()
    {
        const auto names = log.partitions();
        if (!names) throw complaint(names.error().text);
        for (const std::string& name : *names) partitions.try_emplace(std::stoi(name), log, name);
    }

    void read_back(const std::function<void(std::string_view)>& take)
    {
        for (const auto& batch : sender.acknowledged()) {
            for (std::uint64_t n = 0; n != batch.records; ++n) {
                const auto body = partitions.at(batch.partition).next();
                if (!body) break;
                take(*body);
            }
        }
        for (auto& [number, partition] : partitions) {
            while (const auto body = partition.next()) take(*body);
        }
    }
};

destination checked_topic(std::string name, const std::shared_ptr<topic>& t,
                          const engines::manual& reported)
{
    t->note_ends();
    destination d{.name = std::move(name), .reported = reported, .limit = reported.limit};
    d.size_of = &engines::kafka_sender::size_of;
    d.send = [t](std::span<const std::string_view> bodies, std::uint64_t attempt) {
        return t->sender.send(bodies, attempt);
    };
    d.said = [t] { return t->sender.said(); };
    d.read_back = [t](const auto& take) { t->read_back(take); };
    return d;
}

struct mock_topic {
    engines::kafka_mock cluster{3};
    std::shared_ptr<topic> lines{};

    mock_topic()
    {
        cluster.topic("lines", 3);
        lines = std::make_shared<topic>(cluster.address(), "lines");
    }
};

}  // namespace

destination into_kafka(const std::string& name, const std::string& brokers,
                       const std::string& topic_name)
{
    const auto t = std::make_shared<topic>(brokers, topic_name);
    const engines::manual reported = t->sender.about();
    return checked_topic(name, t, reported);
}

destination into_mock_kafka(const options& o)
{
    const auto mock = std::make_shared<mock_topic>();
    const std::uint64_t limit = o.limit.value_or(engines::kafka_sender::default_limit);
    destination d = checked_topic("a topic of Kafka's mock cluster",
                                  std::shared_ptr<topic>(mock, mock->lines.get()),
                                  engines::kafka_sender::about(limit));
    d.limited = true;
    d.send = [mock, limit](std::span<const std::string_view> bodies, std::uint64_t attempt) {
        // The mock cluster accepts any size, unless its next response is set.
        constexpr std::int16_t produce = 0;
        if (engines::kafka_sender::batch_size(bodies) > limit)
            mock->cluster.refuse(produce, {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE});
        return mock->lines->sender.send(bodies, attempt);
    };
    return d;
}

}  // namespace send_batches
