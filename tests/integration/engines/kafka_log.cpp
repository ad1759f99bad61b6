// SPDX-License-Identifier: MIT
//
// A topic of Kafka is an event log for run_partitions: the conformance suite, markers of
// transactions, removed events, positions after the end, and outages. Readers skip and repeat
// nothing while brokers stop, leaders move and requests fail. The brokers are the mock of
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

// Pauses of librdkafka that are shorter than usual.
engines::kafka_settings settings_of(const engines::kafka_mock& cluster)
{
    return {{"bootstrap.servers", cluster.address()},
            {"reconnect.backoff.ms", "20"},
            {"reconnect.backoff.max.ms", "200"},
            {"topic.metadata.refresh.fast.interval.ms", "50"}};
}

engines::kafka_settings settings_of_log(const engines::kafka_mock& cluster)
{
    return settings_of(cluster).set("fetch.wait.max.ms", "10").set("fetch.error.backoff.ms", "20");
}

constexpr engines::kafka_log::timeouts short_waits{.idle = 100ms, .reply = 300ms};

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
          log_(settings_of_log(cluster), topic),
          other_(settings_of_log(cluster), topic),
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
        if (padding_ == 0) return events;
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

// Faults of one partition.
void has_faults(engines::kafka_mock& cluster)
{
    cluster.topic("faults", 2);
    engines::kafka_log log(settings_of_log(cluster), "faults", short_waits);
    const auto text_has = [](const auto& r, waybill::fault_kind kind, const std::string& part) {
        return !r && r.error().kind == kind && r.error().text.find(part) != std::string::npos;
    };
    for (const char* name : {"", "x", "1x", "-1", "99999999999"}) {
        check(text_has(log.read(name, {}, 1), waybill::fault_kind::permanent, "is not a number"),
              std::string("partition \"") + name + "\" is a permanent fault");
    }
    const auto missing = log.read("7", {}, 1);
    check(text_has(missing, waybill::fault_kind::infrastructure,
                   "Kafka, topic faults, partition 7: "),
          "a partition that does not exist is a fault, not " +
              (missing ? "a success" : missing.error().text));
    const auto listed = log.partitions();
    check(listed && *listed == std::vector<std::string>{"0", "1"}, "partitions: 0 and 1");
    const auto before = steady::now();
    check(log.read("0", {}, 0).has_value(), "zero events are no fault");
    const auto nothing = log.read("0", {}, 10);
    check(nothing && nothing->empty(), "an empty partition has no events");
    const auto again = log.read("0", {}, 10);
    check(again && again->empty() && steady::now() - before < 1'500ms,
          "a read without events does not wait for long");
    const auto after = log.read("0", position{5, {}}, 10);
    check(text_has(after, waybill::fault_kind::infrastructure, "position 5 is after the end, 0"),
          "a position after the end is a fault");

    engines::kafka_feed feed(settings_of(cluster), "faults");
    for (const char* body : {"a", "b", "c"}) append_to(feed, 0, body);
    integration::append_marker(cluster.address(), "faults", 0);
    const auto bound = log.end("0");
    check(bound && *bound && (*bound)->sequence == 3, "end: at most the offset of the marker");
    std::string bodies;
    std::optional<position> at;
    while (bodies.size() < 3) {
        const auto some = log.read("0", at, 10);
        if (!some || some->empty()) break;
        for (const auto& e : *some) bodies += e.body;
        at = waybill::position_of(some->back());
    }
    check(bodies == "abc" && at && at->sequence == 2, "a marker is not an event");
    const auto rest = log.read("0", position{2, {}}, 10);
    const auto exact = log.end("0");
    check(rest && rest->empty() && exact && *exact && (*exact)->sequence == 2,
          "end: exact after a read to the end");
    append_to(feed, 0, "d");
    const auto next = log.read("0", position{2, {}}, 10);
    check(next && next->size() == 1 && next->front().sequence == 4, "read: continues after it");
}

// A log does not use the group of its settings. It fetches a partition again that it has stopped to
// fetch.
void has_no_group(engines::kafka_mock& cluster)
{
    cluster.topic("group", 2);
    engines::kafka_feed feed(settings_of(cluster), "group");
    for (const char* body : {"a", "b", "c"}) append_to(feed, 0, body);
    const std::string name = "readers";
    {
        engines::kafka_log log(settings_of_log(cluster)
                                   .set("group.id", name)
                                   .set("enable.auto.commit", "true")
                                   .set("auto.commit.interval.ms", "10"),
                               "group", {.unused = 50ms});
        std::optional<position> at;
        for (const char* body : {"a", "b", "c"}) {
            const auto one = log.read("0", at, 1);
            check(one && one->size() == 1 && one->front().body == body, "events one by one");
            if (one && !one->empty()) at = waybill::position_of(one->front());
            std::this_thread::sleep_for(100ms);
            const auto none = log.read("1", {}, 1);
            check(none && none->empty(), "the other partition has none");
        }
    }
    engines::kafka_consumer group(settings_of(cluster), name, {}, {});
    const auto committed = group.committed({{"group", 0}});
    check(committed && !committed->front().next, "nothing is committed to the group");
}

void has_outages()
{
    engines::kafka_mock cluster(1);
    cluster.topic("outage", 1);
    engines::kafka_log used(settings_of_log(cluster), "outage", short_waits);
    check(used.read("0", {}, 1).has_value(), "an empty partition");
    engines::kafka_feed feed(settings_of(cluster), "outage");
    append_to(feed, 0, "before");
    cluster.set_down(1);
    engines::kafka_log unused(settings_of_log(cluster), "outage", short_waits);
    for (engines::kafka_log* log : {&used, &unused}) {
        const auto report = waybill::testing::log_outage_conformance(*log);
        for (const std::string& rule : report.broken) check(false, rule);
    }
    const auto begun = steady::now();
    check(!used.read("0", {}, 1) && steady::now() - begun < 1s, "a fault comes within 1 s");
    cluster.set_up(1);
    std::optional<std::string> body;
    for (int n = 0; n != 50 && !body; ++n) {
        const auto events = used.read("0", {}, 1);
        if (events && !events->empty()) body = events->front().body;
    }
    check(body == "before", "after an outage, the events are returned");
}

constexpr std::int32_t partitions = 8;
constexpr std::int32_t brokers = 3;
constexpr std::uint64_t events = 20'000;
const std::string topic = "orders";

// The bodies of a partition by offset, as read first.
class contents {
public:
    bool agrees(std::int32_t partition, std::uint64_t offset, const std::string& body)
    {
        const std::lock_guard lock(mutex_);
        std::vector<std::optional<std::string>>& all = bodies_[static_cast<std::size_t>(partition)];
        if (all.size() <= offset) all.resize(offset + 1);
        if (!all[offset]) all[offset] = body;
        return *all[offset] == body;
    }

private:
    std::mutex mutex_;
    std::array<std::vector<std::optional<std::string>>, partitions> bodies_{};
};

// Appends its share of the events, in lists, within about `takes`.
void feed_partitions(const engines::kafka_settings& s, std::int32_t first, std::int32_t step,
                     std::chrono::milliseconds takes, contents& known)
{
    engines::kafka_feed feed(s, topic);
    constexpr std::uint64_t lists = 50;
    const std::uint64_t of_list = events / lists / static_cast<std::uint64_t>(step);
    std::uint64_t number = 0;
    for (std::uint64_t n = 0; n != lists; ++n) {
        std::vector<engines::kafka_feed::record> list;
        for (std::uint64_t r = 0; r != of_list; ++r) {
            const std::int32_t p = (first + step * static_cast<std::int32_t>(number)) % partitions;
            list.push_back({p, {}, std::to_string(first) + ':' + std::to_string(++number)});
        }
        const auto offsets = feed.append(list, 60s);
        if (!offsets) return check(false, offsets.error().text);
        for (std::size_t r = 0; r != list.size(); ++r) {
            if ((*offsets)[r] < 0) continue;
            const auto offset = static_cast<std::uint64_t>((*offsets)[r]);
            check(known.agrees(list[r].partition, offset, list[r].body),
                  "an event is at the offset of its acknowledgement");
        }
        std::this_thread::sleep_for(takes / lists);
    }
}

struct injected {
    int outages = 0;
    int moves = 0;
    int refusals = 0;
};

class saboteur {
public:
    saboteur(engines::kafka_mock& cluster, std::uint64_t seed) : cluster_(cluster), dice_(seed) {}

    void step()
    {
        const int what = below(4);
        if (what == 0) {
            const int broker = 1 + below(brokers);
            cluster_.set_down(broker);
            const bool two = below(4) == 0;
            if (two) cluster_.set_down(broker % brokers + 1);
            std::this_thread::sleep_for(std::chrono::milliseconds(50 + below(400)));
            cluster_.set_up(broker);
            if (two) cluster_.set_up(broker % brokers + 1);
            ++done_.outages;
        } else if (what == 1) {
            for (int n = 0; n != 4; ++n)
                cluster_.set_leader({topic, below(partitions)}, 1 + below(brokers));
            ++done_.moves;
        } else {
            refuse();
            ++done_.refusals;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20 + below(150)));
    }
    [[nodiscard]] const injected& done() const { return done_; }

private:
    int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(dice_); }

    void refuse()
    {
        static const std::vector<rd_kafka_resp_err_t> of_fetch{
            RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
            RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE,
            RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
            RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR,
            RD_KAFKA_RESP_ERR_UNKNOWN,
            RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
            RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH,
            RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
            RD_KAFKA_RESP_ERR_INVALID_MSG,
            RD_KAFKA_RESP_ERR__TRANSPORT};
        static const std::vector<rd_kafka_resp_err_t> of_produce{
            RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
            RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT};
        static const std::vector<rd_kafka_resp_err_t> of_metadata{
            RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
            RD_KAFKA_RESP_ERR__TRANSPORT};
        const int kind = below(6);
        const std::int16_t request = kind == 0 ? 3 : kind == 1 ? 2 : kind == 2 ? 0 : 1;
        const auto& from = request == 3 ? of_metadata : request == 0 ? of_produce : of_fetch;
        std::vector<rd_kafka_resp_err_t> errors;
        for (int n = 1 + below(4); n != 0; --n)
            errors.push_back(from[static_cast<std::size_t>(below(static_cast<int>(from.size())))]);
        cluster_.refuse(request, errors);
    }

    engines::kafka_mock& cluster_;
    std::mt19937_64 dice_;
    injected done_{};
};

struct record_of_reader {
    std::uint64_t events = 0;
    std::uint64_t reads = 0;
    std::uint64_t sent_back = 0;
    std::map<std::string, std::uint64_t> faults{};
};

using sizes = std::array<std::uint64_t, partitions>;

// Reads all partitions until `is_fed`, and until their ends.
class reader {
public:
    reader(const engines::kafka_settings& s, std::uint64_t seed, contents& known)
        : log_(s, topic, {.idle = 20ms, .reply = 500ms}), known_(known), dice_(seed)
    {
    }

    void run(const std::atomic<bool>& is_fed, const sizes& ends)
    {
        const auto until = steady::now() + 90s;
        while (!(is_fed && next_ == ends)) {
            const auto p = static_cast<std::int32_t>(below(partitions));
            read(p, !is_fed);
            if (steady::now() < until) continue;
            return check(false, "a reader reads all events within 90 s");
        }
    }
    [[nodiscard]] const record_of_reader& record() const { return record_; }

private:
    std::uint64_t below(std::uint64_t n)
    {
        return std::uniform_int_distribution<std::uint64_t>(0, n - 1)(dice_);
    }

    void read(std::int32_t p, bool goes_back)
    {
        std::uint64_t& next = next_[static_cast<std::size_t>(p)];
        if (goes_back && next != 0 && below(8) == 0) {
            next = below(10) == 0 ? 0 : next - below(std::min<std::uint64_t>(next, 300) + 1);
            ++record_.sent_back;
        }
        std::optional<position> after;
        if (next != 0) after = position{next - 1, {}};
        ++record_.reads;
        const auto found = log_.read(std::to_string(p), after, 1 + below(400));
        if (!found) {
            const std::string& text = found.error().text;
            check(found.error().kind == waybill::fault_kind::infrastructure, text);
            check(text.starts_with("Kafka, topic orders, partition " + std::to_string(p)), text);
            ++record_.faults[text.substr(text.find(": ") + 2)];
            return;
        }
        for (const auto& e : *found) {
            check(e.sequence == next, "partition " + std::to_string(p) + ": offset " +
                                          std::to_string(e.sequence) + " instead of " +
                                          std::to_string(next));
            check(known_.agrees(p, e.sequence, e.body), "an event is the same at each read");
            next = e.sequence + 1;
            ++record_.events;
        }
    }

    engines::kafka_log log_;
    contents& known_;
    std::mt19937_64 dice_;
    sizes next_{};
    record_of_reader record_{};
};

// All of the topic, through a group: this does not depend on kafka_log.
void compare_with_group(engines::kafka_mock& cluster, contents& known, const sizes& ends)
{
    engines::kafka_consumer in(settings_of(cluster).set("auto.offset.reset", "earliest"), "control",
                               {topic}, {});
    sizes next{};
    std::map<std::string, int> bodies;
    std::uint64_t left = 0;
    for (const std::uint64_t n : ends) left += n;
    const auto until = steady::now() + 30s;
    while (left != 0 && steady::now() < until) {
        const auto m = in.next(100ms);
        if (!m) continue;
        const auto offset = static_cast<std::uint64_t>(m->offset());
        const std::string body(m->body());
        ++bodies[body];
        check(offset == next[static_cast<std::size_t>(m->at().number)]++, "the group skips none");
        check(known.agrees(m->at().number, offset, body), "the group reads the same event");
        --left;
    }
    check(left == 0, "the group reads all events");
    check(bodies.size() == events, "each appended event is in the topic, and no others");
    const auto twice =
        std::count_if(bodies.begin(), bodies.end(), [](const auto& b) { return b.second != 1; });
    std::printf("%ld events are in the topic more than once\n", static_cast<long>(twice));
}

sizes ends_of(engines::kafka_mock& cluster)
{
    engines::kafka_log log(settings_of_log(cluster), topic);
    sizes ends{};
    const auto until = steady::now() + 30s;
    for (std::int32_t p = 0; p != partitions; ++p) {
        auto end = log.end(std::to_string(p));
        while (!end && steady::now() < until) end = log.end(std::to_string(p));
        check(end && *end, "the end of a partition is known after the faults");
        if (end && *end) ends[static_cast<std::size_t>(p)] = (*end)->sequence + 1;
    }
    return ends;
}

void skips_and_repeats_nothing(std::uint64_t seed)
{
    engines::kafka_mock cluster(brokers);
    cluster.topic(topic, partitions);
    contents known;
    std::atomic<bool> is_fed{false};
    sizes ends{};
    std::vector<std::unique_ptr<reader>> readers;
    std::vector<std::thread> reading;
    std::vector<std::thread> feeding;
    std::mt19937_64 seeds(seed);
    for (int n = 0; n != 3; ++n)
        readers.push_back(std::make_unique<reader>(settings_of_log(cluster), seeds(), known));
    for (const auto& r : readers) reading.emplace_back([&] { r->run(is_fed, ends); });
    constexpr std::int32_t feeds = 2;
    std::atomic<int> feeds_left{feeds};
    for (std::int32_t n = 0; n != feeds; ++n) {
        feeding.emplace_back([&, n] {
            // One request at a time: if one has timed out and a later one succeeds, librdkafka takes
            // the first for stored, because a broker would have refused the later one for its
            // sequence number (its pull request 2081). The mock broker does not look at the number.
            feed_partitions(settings_of(cluster).set("max.in.flight.requests.per.connection", "1"),
                            n, feeds, 4s, known);
            --feeds_left;
        });
    }
    const auto begun = steady::now();
    saboteur faults(cluster, seeds());
    while (feeds_left != 0) faults.step();
    for (std::thread& t : feeding) t.join();
    ends = ends_of(cluster);
    is_fed = true;
    const auto fed = steady::now();
    for (std::thread& t : reading) t.join();
    const auto end = steady::now();
    record_of_reader sum;
    for (const auto& r : readers) {
        sum.events += r->record().events;
        sum.reads += r->record().reads;
        sum.sent_back += r->record().sent_back;
        for (const auto& [text, count] : r->record().faults) sum.faults[text] += count;
    }
    std::uint64_t failed = 0;
    for (const auto& [text, count] : sum.faults) failed += count;
    std::printf(
        "%d outages, %d moves of leaders, %d refusals; %lu reads, %lu events, %lu times "
        "sent back, %lu faults\n",
        faults.done().outages, faults.done().moves, faults.done().refusals,
        static_cast<unsigned long>(sum.reads), static_cast<unsigned long>(sum.events),
        static_cast<unsigned long>(sum.sent_back), static_cast<unsigned long>(failed));
    std::printf("%.1f s with faults, and %.1f s for the rest\n",
                std::chrono::duration<double>(fed - begun).count(),
                std::chrono::duration<double>(end - fed).count());
    if (std::getenv("WAYBILL_VERBOSE")) {
        for (const auto& [text, count] : sum.faults)
            std::printf("%6lu %s\n", static_cast<unsigned long>(count), text.c_str());
    }
    check(failed != 0 && sum.sent_back > 50, "readers meet faults, and are sent back");
    compare_with_group(cluster, known, ends);
}

}  // namespace

int main(int argc, char** argv)
{
    const std::uint64_t seed = argc > 1 ? std::stoull(argv[1]) : std::random_device{}();
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    const auto begun = steady::now();
    const auto seconds = [&] {
        return std::chrono::duration<double>(steady::now() - begun).count();
    };
    try {
        engines::kafka_mock cluster(1);
        conforms(cluster);
        std::printf("conformance: %.1f s\n", seconds());
        has_faults(cluster);
        has_no_group(cluster);
        has_outages();
        std::printf("one broker: %.1f s\n", seconds());
        skips_and_repeats_nothing(seed);
    } catch (const std::exception& e) {
        check(false, e.what());
    }
    std::printf("seed %lu, %.1f s, %d failures\n", static_cast<unsigned long>(seed), seconds(),
                failures.load());
    return failures == 0 ? 0 : 1;
}
