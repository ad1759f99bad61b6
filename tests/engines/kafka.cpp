// SPDX-License-Identifier: MIT
//
// Faults of Kafka on the mock cluster of librdkafka: outages of brokers, leaders that move, refused
// requests, batches that are too large, and members of a group that exceed max.poll.interval.ms.
// The count is made by a plain consumer that is assigned all partitions, or by the handler.
//
//     kafka

#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <engines/kafka_consumer.hpp>
#include <engines/kafka_sender.hpp>

#include "support.hpp"

namespace {

using namespace engines_test;

/// The mock keeps 5 MiB of a partition.
constexpr int partitions = 16;
constexpr std::int16_t produce = 0;
constexpr milliseconds message_timeout(1'000);

engines::kafka_settings settings_of(const engines::kafka_mock& cluster)
{
    return {{"bootstrap.servers", cluster.address()},
            {"reconnect.backoff.ms", "20"},
            {"reconnect.backoff.max.ms", "100"},
            {"topic.metadata.refresh.fast.interval.ms", "50"}};
}

/// Reads each partition to its end, without a group.
void read_all(const engines::kafka_mock& cluster, const std::string& topic, arrivals& found)
{
    auto s = settings_of(cluster);
    s.set("group.id", "count").set("enable.auto.commit", "false");
    s.set("enable.partition.eof", "true").set("auto.offset.reset", "error");
    const std::unique_ptr<rd_kafka_t, decltype(&rd_kafka_destroy)> k(
        engines::new_kafka(RD_KAFKA_CONSUMER, s.made()), &rd_kafka_destroy);
    rd_kafka_poll_set_consumer(k.get());
    engines::kafka_list list;
    for (int p = 0; p != partitions; ++p) list.add(topic, p).offset = 0;
    rd_kafka_assign(k.get(), list.get());
    int ends = 0;
    for (const auto until = clock::now() + seconds(60);
         ends != partitions && clock::now() < until;) {
        rd_kafka_message_t* const m = rd_kafka_consumer_poll(k.get(), 1'000);
        if (m == nullptr) continue;
        if (m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) ++ends;
        if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            found.add({static_cast<const char*>(m->payload), m->len},
                      static_cast<std::size_t>(m->partition));
        }
        rd_kafka_message_destroy(m);
    }
    if (ends != partitions) std::puts("the end of a partition was not reached");
}

struct fault_counts {
    std::uint64_t outages = 0;
    std::uint64_t moves = 0;
    std::uint64_t refusals = 0;
};

/// Until `stop`: a broker is down for a moment, leaders move, requests are refused. Each fourth
/// outage is longer than message.timeout.ms.
void disturb(engines::kafka_mock& cluster, const std::string& topic, const std::atomic<bool>& stop,
             fault_counts& n)
{
    std::mt19937 dice(5);
    while (!stop) {
        const auto broker = static_cast<std::int32_t>(1 + dice() % 3);
        cluster.set_down(broker);
        ++n.outages;
        std::this_thread::sleep_for(n.outages % 4 == 0 ? 2 * message_timeout
                                                       : milliseconds(100 + dice() % 500));
        for (int moved = 0; moved != 4; ++moved, ++n.moves) {
            cluster.set_leader({topic, static_cast<std::int32_t>(dice() % partitions)},
                               static_cast<std::int32_t>(1 + dice() % 3));
        }
        cluster.set_up(broker);
        cluster.refuse(
            produce, {RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
                      RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT});
        n.refusals += 3;
        std::this_thread::sleep_for(milliseconds(100 + dice() % 500));
    }
}

waybill::send_policy policy_of(std::uint64_t items)
{
    auto limit = engines::kafka_sender::about(engines::kafka_sender::default_limit).limit;
    limit.items = items;
    return {.limit = limit,
            .retry = {.max_attempts = 10,
                      .pauses = {.base = milliseconds(20), .cap = milliseconds(500)}}};
}

sending_totals send(const std::vector<std::string>& events, engines::kafka_sender& to,
                    std::uint64_t items, milliseconds pace)
{
    return send_everything(
        events, policy_of(items),
        [](std::size_t body) { return engines::kafka_sender::size_of(body); },
        [&](auto bodies, std::uint64_t attempt) {
            std::this_thread::sleep_for(pace);
            return to.send(bodies, attempt);
        },
        seconds(150));
}

void outages(const std::vector<std::string>& events)
{
    const auto begin = clock::now();
    engines::kafka_mock cluster(3);
    cluster.topic("events", partitions);
    auto settings = settings_of(cluster);
    settings.set("message.timeout.ms", std::to_string(message_timeout.count()));
    settings.set("linger.ms", "500");  // must be below message.timeout.ms
    engines::kafka_sender to(settings, "events");
    std::atomic<bool> stop = false;
    fault_counts n;
    std::thread faults([&] { disturb(cluster, "events", stop, n); });
    const sending_totals t = send(events, to, 200, milliseconds(10));
    stop = true;
    faults.join();
    arrivals found(events);
    read_all(cluster, "events", found);
    report("outages, leader moves, refused requests", found, begin,
           {.max_repeated = t.maybe_twice,
            // The rest of a round is sent after later events.
            .ordered = t.rounds == 1,
            .missing = at_least(n.outages, 4, "outages") + at_least(t.faults, 1, "failed batches")},
           std::to_string(n.outages) + " outages, " + std::to_string(n.moves) + " moves, " +
               std::to_string(n.refusals) + " refusals, " + std::to_string(t.faults) +
               " batches failed, " + std::to_string(t.maybe_twice) + " maybe twice");
}

/// Some batches are refused as too large, and are sent in parts. One event fits into no batch.
void too_large(const std::vector<std::string>& events)
{
    const auto begin = clock::now();
    engines::kafka_mock cluster(1);
    cluster.topic("large", partitions);
    engines::kafka_sender to(settings_of(cluster), "large");
    std::vector<std::string> all = events;
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2),
               std::string(2'000'000, 'x'));
    waybill::batch_sender sender{policy_of(8'000)};
    support::standard_environment env;
    int sends = 0;
    std::vector<std::string_view> bodies;
    const auto r = waybill::send_all(
        all, [](const std::string& b) { return engines::kafka_sender::size_of(b.size()); }, sender,
        [&](auto batch) {
            if (++sends % 5 == 1) cluster.refuse(produce, {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE});
            bodies.assign(batch.begin(), batch.end());
            return to.send(bodies, batch.attempt());
        },
        env);
    std::uint64_t too_large = 0;
    for (const waybill::item_report& each : r.outcomes) {
        if (each.outcome == waybill::item_outcome::too_large && each.items.count == 1 &&
            each.items.first == all.size() / 2)
            ++too_large;
    }
    arrivals found(events);
    read_all(cluster, "large", found);
    report("batches and an event that are too large", found, begin,
           {.max_repeated = r.maybe_twice,
            .missing = at_least(r.refusals, 2, "batches refused") +
                       at_least(too_large, 1, "reports of the event that is too large") +
                       none(r.not_accepted - too_large, "other events not accepted")},
           std::to_string(r.refusals) + " batches refused, " + std::to_string(r.not_accepted) +
               " event too large");
}

/// Events that members of the group have handled and not committed.
class members {
public:
    members(const engines::kafka_mock& cluster, const std::vector<std::string>& events)
        : cluster_(cluster), found_(events)
    {
    }

    void run(std::size_t number)
    {
        // The first join of the mock takes 3 s, in which a member sends no heartbeat.
        auto s = settings_of(cluster_);
        s.set("auto.offset.reset", "earliest").set("session.timeout.ms", "4000");
        s.set("max.poll.interval.ms", "4000").set("heartbeat.interval.ms", "300");
        s.set("client.id", "member-" + std::to_string(number));
        std::map<engines::kafka_partition, std::int64_t> next;
        std::uint64_t open = 0;  // handled, not committed
        // A callback of `in` uses `in`.
        std::unique_ptr<engines::kafka_consumer> in;
        const auto commit = [&] {
            if (next.empty()) return;
            std::vector<engines::kafka_offset> all;
            for (const auto& [at, offset] : next) all.push_back({at, offset, {}});
            if (!in->commit(all)) {
                ++refused_;
                uncommitted_ += open;
            }
            next.clear();
            open = 0;
        };
        in = std::make_unique<engines::kafka_consumer>(
            s, "group", std::vector<std::string>{"slow"},
            engines::kafka_rebalance{.assigned = {}, .revoked = [&](const auto&, bool lost) {
                                         if (!lost) return commit();
                                         ++lost_;
                                         uncommitted_ += open;
                                         next.clear();
                                         open = 0;
                                     }});
        while (!stop_) {
            const auto m = in->next(milliseconds(100));
            if (!m) {
                commit();
                continue;
            }
            handle(*m);
            next[m->at()] = m->offset() + 1;
            if (++open == 500) commit();
        }
        commit();
        in->close();
    }

    [[nodiscard]] bool complete()
    {
        const std::lock_guard guard(mutex_);
        return found_.lost() == 0;
    }
    void stop() { stop_ = true; }

    void result(clock::time_point begin)
    {
        report("handler slower than max.poll.interval", found_, begin,
               {.max_repeated = uncommitted_,
                .ordered = false,
                .missing = at_least(slow_, 1, "slow events") +
                           at_least(lost_ + refused_, 1, "assignments lost or commits refused") +
                           none(uncommitted_at_end(), "events after the committed offsets")},
               std::to_string(slow_) + " slow, " + std::to_string(lost_) + " assignments lost, " +
                   std::to_string(refused_) + " commits refused");
    }

private:
    /// The number of events after the committed offsets, by the brokers.
    [[nodiscard]] std::uint64_t uncommitted_at_end() const
    {
        auto s = settings_of(cluster_);
        s.set("group.id", "group");
        const std::unique_ptr<rd_kafka_t, decltype(&rd_kafka_destroy)> k(
            engines::new_kafka(RD_KAFKA_CONSUMER, s.made()), &rd_kafka_destroy);
        engines::kafka_list list;
        for (int p = 0; p != partitions; ++p) list.add("slow", p);
        if (rd_kafka_committed(k.get(), list.get(), 5'000) != RD_KAFKA_RESP_ERR_NO_ERROR)
            throw engines::kafka_error("no committed offsets");
        std::int64_t open = 0;
        for (int p = 0; p != partitions; ++p) {
            std::int64_t low = 0;
            std::int64_t high = 0;
            if (rd_kafka_query_watermark_offsets(k.get(), "slow", p, &low, &high, 5'000) !=
                RD_KAFKA_RESP_ERR_NO_ERROR)
                throw engines::kafka_error("no offsets");
            const std::int64_t committed = list.get()->elems[p].offset;
            open += std::abs(high - std::max(committed, low));
        }
        return static_cast<std::uint64_t>(open);
    }

    void handle(const engines::kafka_message& m)
    {
        bool slow = false;
        {
            const std::lock_guard guard(mutex_);
            const auto before = found_.distinct();
            found_.add(m.body());
            // Once in each half of the events.
            const auto half = found_.expected() / 2;
            slow = found_.distinct() != before && found_.distinct() % half == half / 2;
        }
        if (!slow) return;
        ++slow_;
        std::this_thread::sleep_for(milliseconds(6'000));
    }

    const engines::kafka_mock& cluster_;
    std::mutex mutex_{};
    arrivals found_;
    std::atomic<bool> stop_ = false;
    std::atomic<std::uint64_t> uncommitted_ = 0;
    std::atomic<std::uint64_t> lost_ = 0;
    std::atomic<std::uint64_t> refused_ = 0;
    std::atomic<std::uint64_t> slow_ = 0;
};

void slow_members(const std::vector<std::string>& events)
{
    const auto begin = clock::now();
    engines::kafka_mock cluster(3);
    cluster.topic("slow", partitions);
    {
        engines::kafka_sender to(settings_of(cluster), "slow");
        (void)send(events, to, 2'000, milliseconds(0));
    }
    members all(cluster, events);
    std::vector<std::thread> threads;
    for (std::size_t n = 0; n != 3; ++n) threads.emplace_back([&, n] { all.run(n); });
    wait_for([&] { return all.complete(); }, seconds(120));
    all.stop();
    for (std::thread& t : threads) t.join();
    all.result(begin);
}

}  // namespace

int main()
{
    try {
        const auto events = make_events(event_count());
        outages(events);
        too_large(events);
        slow_members(events);
    } catch (const std::exception& e) {
        std::printf("kafka: %s\n", e.what());
        return 1;
    }
    return failures == 0 ? 0 : 1;
}
