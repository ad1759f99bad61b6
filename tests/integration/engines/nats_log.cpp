// SPDX-License-Identifier: MIT
//
// The log on NATS JetStream has the properties that run_partitions relies on, also while nodes are
// killed.
//
//     nats_log FOLDER [SECONDS]                    all; SECONDS of kills, 20 without the argument
//     nats_log FOLDER hold                         starts a cluster and waits to be killed
//     nats_log FOLDER cluster SECONDS EVENTS       the kills alone, with this number of events

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <engines/nats_client.hpp>
#include <engines/nats_cluster.hpp>
#include <engines/nats_log.hpp>
#include <engines/nats_server.hpp>
#include <unistd.h>

#include <waybill/testing/log_conformance.hpp>

namespace {

using clock_type = std::chrono::steady_clock;
using engines::nats_log;
using engines::out;
using std::chrono::milliseconds;
using std::chrono::seconds;
using position = std::optional<waybill::position>;

constexpr seconds patience{600};  // for what takes seconds on a machine without other work

int failures = 0;

void check(bool holds, const std::string& what)
{
    if (holds) return;
    ++failures;
    std::printf("%s\n", what.c_str());
}

double seconds_since(clock_type::time_point start)
{
    return std::chrono::duration<double>(clock_type::now() - start).count();
}

std::string url_of(const engines::nats_server& s)
{
    return "nats://127.0.0.1:" + s.at().port;
}

std::string next_id()
{
    static int n = 0;
    return "id-" + std::to_string(++n);
}

void append(nats_log& log, const std::string& partition, const std::string& body)
{
    const nats_log::new_event e{partition, next_id(), body};
    const auto r = log.append_all({&e, 1});
    check(r.has_value(), "append: " + (r ? std::string() : r.error().text));
}

void conformance(const std::string& url)
{
    engines::nats_client client(url);
    check(client.ready(seconds(1)) == NATS_OK, "the server accepts a connection");
    int logs = 0;
    const auto stream = [&] { return "CONFORM" + std::to_string(logs); };
    const auto report = waybill::testing::log_conformance(
        [&] {
            ++logs;
            return nats_log(url, stream(), 3);
        },
        [](nats_log& log, const std::string& p, const std::string& body) { append(log, p, body); },
        [](nats_log& log, const std::string&) { append(log, "1", "a gap in partition 0"); },
        [&](nats_log&, const std::string& p, std::uint64_t n) {
            jsOptions o{};
            jsOptions_Init(&o);
            const std::string subject = stream() + '.' + p;
            o.Stream.Purge.Subject = subject.c_str();
            o.Stream.Purge.Sequence = n + 1;
            check(js_PurgeStream(client.jetstream(), stream().c_str(), &o, nullptr) == NATS_OK,
                  "purge");
        });
    for (const std::string& rule : report.broken) check(false, "broken: " + rule);
    for (const std::string& rule : report.untested) check(false, "untested: " + rule);

    // The logs are destroyed, and so are their consumers.
    for (int n = 1; n <= logs; ++n) {
        engines::nats_stream_info info;
        const std::string name = "CONFORM" + std::to_string(n);
        js_GetStreamInfo(out(info), client.jetstream(), name.c_str(), nullptr, nullptr);
        check(info && info->State.Consumers == 0, name + " has no consumers left");
    }
    nats_log other(url, "CONFORM1", 4);
    const auto names = other.partitions();
    check(!names && names.error().text.find("other subjects") != std::string::npos,
          "a stream with other subjects is refused");
    check(!other.read("4", {}, 1) && !other.read("01", {}, 1) && !other.read("x", {}, 1),
          "there is no partition of another name");
}

/// The name of the only consumer of the stream.
std::string consumer_of(engines::nats_client& client, const std::string& stream)
{
    jsConsumerNamesList* list = nullptr;
    js_ConsumerNames(&list, client.jetstream(), stream.c_str(), nullptr, nullptr);
    check(list != nullptr && list->Count == 1, "the log has one consumer");
    const std::string name = list != nullptr && list->Count != 0 ? list->List[0] : "";
    jsConsumerNamesList_Destroy(list);
    return name;
}

/// Whether the only consumer of the stream sends exactly this number of messages.
bool delivered(engines::nats_client& client, const std::string& stream, std::uint64_t count)
{
    const std::string name = consumer_of(client, stream);
    std::uint64_t found = 0;
    for (int tries = 0; tries != 100 && found < count; ++tries) {
        std::this_thread::sleep_for(milliseconds(20));
        engines::nats_consumer_info info;
        js_GetConsumerInfo(out(info), client.jetstream(), stream.c_str(), name.c_str(), nullptr,
                           nullptr);
        if (info) found = info->Delivered.Consumer;
    }
    if (found != count)
        std::printf("  %s: %llu messages sent\n", stream.c_str(),
                    static_cast<unsigned long long>(found));
    return found == count;
}

/// The log fetches small events ahead, and no large ones.
void ahead(const std::string& url)
{
    engines::nats_client client(url);
    check(client.ready(seconds(1)) == NATS_OK, "the server accepts a connection");
    for (const auto& [stream, size, sent] :
         {std::tuple("SMALL", 100'000U, 4U), std::tuple("LARGE", 200'000U, 2U)}) {
        nats_log log(url, stream, 1);
        for (int n = 0; n != 5; ++n) append(log, "0", std::string(size, 'x'));
        const auto events = log.read("0", {}, 2);
        check(events && events->size() == 2, "two events are read");
        check(delivered(client, stream, sent), std::string(stream) + ": the events ahead");
        std::this_thread::sleep_for(milliseconds(50));
        check(delivered(client, stream, sent), std::string(stream) + ": no others");
    }
}

/// Messages that are lost in transit, and consumers that end: no event is skipped.
void losses(const std::string& url)
{
    const std::string stream = "LOSSES";
    engines::nats_client client(url);
    check(client.ready(seconds(1)) == NATS_OK, "the server accepts a connection");
    nats_log log(url, stream, 1);
    std::uint64_t appended = 0;
    const auto append_some = [&](int count) {
        for (int n = 0; n != count; ++n) append(log, "0", std::to_string(++appended));
    };
    std::uint64_t expected = 0;
    position after;
    const auto read = [&](std::uint64_t count) {
        const auto events = log.read("0", after, count);
        check(events.has_value(), "read: " + (events ? std::string() : events.error().text));
        if (!events) return;
        for (const auto& e : *events) {
            check(e.body == std::to_string(++expected), "the events in order");
            after = waybill::position{e.sequence, {}};
        }
    };
    // The log fetches as many events ahead as a read has returned, so a read can return less.
    const auto read_to = [&](std::uint64_t last) {
        for (int tries = 0; tries != 20 && expected < last; ++tries)
            read(std::min<std::uint64_t>(5, last - expected));
        return expected == last;
    };
    // Takes messages from the consumer of the log, as if they were lost.
    const auto lose = [&](int count) {
        const std::string call =
            "$JS.API.CONSUMER.MSG.NEXT." + stream + '.' + consumer_of(client, stream);
        for (int n = 0; n != count; ++n) {
            engines::nats_message m;
            check(natsConnection_RequestString(out(m), client.connection(), call.c_str(), "",
                                               1'000) == NATS_OK,
                  "a message is lost");
        }
    };
    append_some(20);
    read(3);
    check(delivered(client, stream, 6), "three events are fetched ahead");
    lose(2);  // others follow
    check(read_to(8), "messages lost before others are read by a new consumer");
    check(delivered(client, stream, 4), "two events are fetched ahead");
    lose(10);  // the last ones
    check(read_to(13), "the last messages are lost, and read by a new consumer");
    check(read_to(20), "then come the others");
    read(100);
    append_some(2);
    lose(2);  // the log does not know yet that they exist
    check(read_to(22), "new messages are lost, and read by a new consumer");
    read(100);
    append_some(3);
    const auto remove_consumer = [&] {
        js_DeleteConsumer(client.jetstream(), stream.c_str(), consumer_of(client, stream).c_str(),
                          nullptr, nullptr);
    };
    remove_consumer();
    read(1);
    check(expected == 23, "the consumer is removed, and created again");
    remove_consumer();
    check(read_to(25), "the consumer is removed while messages are pending");

    // The same ids again are not stored again.
    const std::vector<nats_log::new_event> twice{{"0", "a", "26"}, {"0", "b", "27"}};
    check(log.append_all(twice) && log.append_all(twice), "events are appended twice");
    read(100);
    check(expected == 27, "and are stored once");
    const std::vector<nats_log::new_event> large{{"0", "large", std::string(2'000'000, 'x')}};
    const auto refused = log.append_all(large);
    check(!refused && refused.error().kind == waybill::fault_kind::permanent,
          "a body above the limit of the server is refused");
}

void outage(const std::string& folder)
{
    std::optional<engines::nats_server> server(std::in_place, folder);
    nats_log log(url_of(*server), "OUTAGE", 2);
    append(log, "0", "1");
    check(log.read("0", {}, 1).has_value(), "read before the outage");
    nats_log never(url_of(*server), "OUTAGE", 2);
    server.reset();
    const auto start = clock_type::now();
    for (nats_log* l : {&log, &never}) {
        const auto report = waybill::testing::log_outage_conformance(*l);
        for (const std::string& rule : report.broken) check(false, "broken: " + rule);
    }
    check(seconds_since(start) < 100, "without a server, calls return soon");
}

// The cluster.

constexpr std::uint64_t partitions = 8;
int events_total = 20'000;

/// The event number i. Its size varies as those of real events do: 40 bytes to 4 KiB, mean 300.
std::string body_of(int i)
{
    const std::uint32_t hash = static_cast<std::uint32_t>(i) * 2'654'435'769U;
    const std::size_t size = hash % 50 == 0 ? 1'000 + hash / 50 % 3'096 : 40 + hash / 50 % 440;
    std::string body = std::to_string(i) + ' ';
    if (body.size() < size) body.append(size - body.size(), static_cast<char>('a' + hash % 26));
    return body;
}

/// The sequence and the body of each event of each partition.
using content = std::map<std::string, std::vector<std::pair<std::uint64_t, std::string>>>;

/// Reads all partitions until each has reached its last event after `stop` was set.
class reader {
public:
    reader(const std::string& urls, std::string stream)
        : log_(urls, std::move(stream), partitions, 3)
    {
    }

    void run(const std::atomic<bool>& stop, clock_type::time_point deadline)
    {
        for (bool last = false; !last;) {
            last = stop;
            for (std::uint64_t p = 0; p != partitions; ++p) {
                const std::string name = std::to_string(p);
                if (!read(name, last, deadline)) last = false;
            }
            if (clock_type::now() > deadline) return;
            std::this_thread::sleep_for(milliseconds(5));
        }
        complete = true;
    }

    content read_events{};
    std::map<std::string, int> faults{};
    double longest = 0;  // seconds of a read
    bool complete = false;

private:
    /// With `to_end`: until the partition has no more events. False after a fault.
    bool read(const std::string& name, bool to_end, clock_type::time_point deadline)
    {
        do {
            auto& events = read_events[name];
            position after;
            if (!events.empty()) after = waybill::position{events.back().first, {}};
            const auto start = clock_type::now();
            const auto page = log_.read(name, after, 50);
            longest = std::max(longest, seconds_since(start));
            if (!page) {
                ++faults[page.error().text.substr(0, page.error().text.rfind(", partition"))];
                std::this_thread::sleep_for(milliseconds(20));
                return false;
            }
            for (const auto& e : *page) events.emplace_back(e.sequence, e.body);
            if (page->empty()) {
                if (!to_end) return true;
                const auto end = log_.end(name);
                if (!end) return false;
                return !*end || (!events.empty() && events.back().first >= (*end)->sequence);
            }
        } while (to_end && clock_type::now() < deadline);
        return true;
    }

    nats_log log_;
};

/// Appends all events, each until it is acknowledged.
void append_all(const std::string& urls, const std::string& stream, seconds duration,
                std::atomic<int>& faults)
{
    constexpr int batch = 200;
    nats_log log(urls, stream, partitions, 3);
    const auto start = clock_type::now();
    for (int n = 0; n < events_total; n += batch) {
        std::vector<nats_log::new_event> events;
        for (int i = n; i != std::min(n + batch, events_total); ++i) {
            const std::string id = std::to_string(i);
            events.push_back(
                {std::to_string(static_cast<std::uint64_t>(i) % partitions), id, body_of(i)});
        }
        while (!log.append_all(events, seconds(3))) ++faults;
        std::this_thread::sleep_until(start + duration * (n + batch) / events_total);
    }
}

/// Kills the leader of the stream and another node in turn. Returns the number of kills.
int kill_nodes(engines::nats_cluster& cluster, const std::string& stream, seconds duration)
{
    std::mt19937 dice(std::random_device{}());
    const auto start = clock_type::now();
    int kills = 0;
    int leaders = 0;
    const auto leads = [&]() -> std::optional<std::size_t> {
        if (!cluster.current(stream)) return {};
        return cluster.node_of_leader(stream);
    };
    for (;;) {
        const auto waits = clock_type::now();
        std::optional<std::size_t> leader = leads();
        while (!leader && seconds_since(waits) < static_cast<double>(patience.count())) {
            std::this_thread::sleep_for(milliseconds(50));
            leader = leads();
        }
        check(leader.has_value(), "all replicas are current again");
        std::printf("  all replicas current after %.1f s\n", seconds_since(waits));
        if (!leader || clock_type::now() - start > duration) break;
        std::size_t victim = *leader;
        if (kills % 2 == 1) victim = (*leader + 1 + dice() % (cluster.size() - 1)) % cluster.size();
        std::printf("  %.1f s: node %zu killed%s\n", seconds_since(start), victim,
                    victim == *leader ? ", the leader" : "");
        if (victim == *leader) ++leaders;
        cluster.kill_node(victim);
        check(!cluster.alive(victim), "a killed node has ended");
        ++kills;
        std::this_thread::sleep_for(milliseconds(100 + dice() % 900));
        cluster.start_node(victim);
    }
    std::printf("  %d kills, %d of them of the leader\n", kills, leaders);
    return kills;
}

/// Each id once; prints the first that are missing or repeated.
void compare_ids(const content& log, const std::string& name)
{
    std::map<std::string, std::vector<std::uint64_t>> found;
    for (const auto& [partition, events] : log) {
        for (const auto& [sequence, body] : events) found[body].push_back(sequence);
    }
    int lost = 0;
    int twice = 0;
    for (int i = 0; i != events_total; ++i) {
        const auto at = found.find(body_of(i));
        if (at == found.end()) {
            if (++lost <= 5) std::printf("  %s: event %d is missing\n", name.c_str(), i);
        } else if (at->second.size() != 1) {
            if (++twice <= 5) {
                std::printf("  %s: event %d is at", name.c_str(), i);
                for (const std::uint64_t s : at->second)
                    std::printf(" %llu", static_cast<unsigned long long>(s));
                std::printf("\n");
            }
        }
    }
    check(lost == 0 && twice == 0 && found.size() == static_cast<std::size_t>(events_total),
          name + ": " + std::to_string(lost) + " events lost, " + std::to_string(twice) +
              " twice, " + std::to_string(found.size()) + " different ones");
}

void compare(const content& log, const content& read, const std::string& name)
{
    for (const auto& [partition, events] : log) {
        const auto at = read.find(partition);
        if (at == read.end()) continue;
        const auto differs =
            std::mismatch(events.begin(), events.end(), at->second.begin(), at->second.end());
        if (differs.first != events.end() || differs.second != at->second.end())
            std::printf(
                "  %s, partition %s: %zu events, the log has %zu, the first difference is at %zd\n",
                name.c_str(), partition.c_str(), at->second.size(), events.size(),
                differs.first - events.begin());
    }
    check(read == log, name + " got other events than the log has");
}

void killed_nodes(const std::string& folder, seconds duration)
{
    const auto start = clock_type::now();
    const std::string stream = "EVENTS";
    std::optional<engines::nats_cluster> cluster(std::in_place, folder);
    std::printf("  the cluster has a leader after %.1f s\n", seconds_since(start));
    {
        nats_log log(cluster->urls(), stream, partitions, 3);
        while (!log.partitions() && seconds_since(start) < static_cast<double>(patience.count()))
            std::this_thread::sleep_for(milliseconds(100));
    }
    while (!cluster->current(stream) &&
           seconds_since(start) < static_cast<double>(patience.count()))
        std::this_thread::sleep_for(milliseconds(50));
    std::printf("  the stream is current after %.1f s\n", seconds_since(start));

    std::atomic<bool> appended = false;
    std::atomic<int> append_faults = 0;
    const auto deadline = clock_type::now() + patience;
    std::thread appends([&] {
        append_all(cluster->urls(), stream, duration, append_faults);
        appended = true;
    });
    reader first(cluster->urls(), stream);
    reader second(cluster->urls(), stream);
    std::thread first_reads([&] { first.run(appended, deadline); });
    std::thread second_reads([&] { second.run(appended, deadline); });
    const auto begin = clock_type::now();
    const int kills = kill_nodes(*cluster, stream, duration);
    check(kills >= 2, "at least 2 kills");
    appends.join();
    std::printf("  appended after %.1f s, %d faults\n", seconds_since(begin), append_faults.load());
    first_reads.join();
    second_reads.join();
    for (const reader* r : {&first, &second}) {
        check(r->complete, "a reader reaches the end of each partition");
        std::printf("  a reader was complete after %.1f s, longest read %.2f s\n",
                    seconds_since(begin), r->longest);
        for (const auto& [text, count] : r->faults)
            std::printf("    %d x %s\n", count, text.c_str());
    }
    while (!cluster->current(stream) && clock_type::now() < deadline)
        std::this_thread::sleep_for(milliseconds(50));

    // The content, several times: each consumer is on another node.
    content log;
    for (int n = 0; n != 3; ++n) {
        reader again(cluster->urls(), stream);
        again.run(true, clock_type::now() + patience);
        check(again.complete, "the log is read after the kills");
        if (n == 0) log = again.read_events;
        compare_ids(again.read_events, "read " + std::to_string(n));
        compare(log, again.read_events, "read " + std::to_string(n));
    }
    compare(log, first.read_events, "the first reader");
    compare(log, second.read_events, "the second reader");

    // A further run in the folder.
    cluster.reset();
    cluster.emplace(folder);
    reader later(cluster->urls(), stream);
    later.run(true, clock_type::now() + patience);
    compare(log, later.read_events, "a reader after a restart of all nodes");
    std::printf("  %.1f s in all\n", seconds_since(start));
}

/// Starts a cluster, prints the processes of its nodes, and waits to be killed.
int hold(const std::string& folder)
{
    engines::nats_cluster cluster(folder);
    for (std::size_t n = 0; n != cluster.size(); ++n) std::printf("%d\n", cluster.pid(n));
    std::printf("started\n");
    std::fflush(stdout);
    ::alarm(static_cast<unsigned>(patience.count()));  // if the script was killed first
    ::pause();
    return 0;
}

}  // namespace

int main(int argc, char** argv)
{
    const std::string folder = argv[1];
    if (argc > 2 && std::string(argv[2]) == "hold") return hold(folder + "/held_cluster");
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    if (argc > 4 && std::string(argv[2]) == "cluster") {
        events_total = std::atoi(argv[4]);
        killed_nodes(folder + "/cluster", seconds(std::atoi(argv[3])));
        std::printf("%d failures\n", failures);
        return failures == 0 ? 0 : 1;
    }
    const auto start = clock_type::now();
    {
        engines::nats_server server(folder + "/single");
        conformance(url_of(server));
        losses(url_of(server));
        ahead(url_of(server));
    }
    outage(folder + "/outage");
    std::printf("one server: %.1f s, %d failures\n", seconds_since(start), failures);
    killed_nodes(folder + "/cluster", seconds(argc > 2 ? std::atoi(argv[2]) : 20));
    std::printf("%d failures\n", failures);
    return failures == 0 ? 0 : 1;
}
