// SPDX-License-Identifier: MIT
//
// Batches for a topic of Kafka: one Produce request each, of exactly the computed size, and the
// outcome of each error code. The brokers are the mock of librdkafka. The sizes are read from the
// requests, on their way to the socket.

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <engines/kafka_log.hpp>
#include <engines/kafka_sender.hpp>
#include <support/environment.hpp>
#include <support/send_in_flight.hpp>
#include <sys/socket.h>

#include "scripted.hpp"

namespace {

using scripted::in_words;

/// The sizes of the record batches in Produce requests.
struct {
    std::mutex mutex{};
    std::vector<std::uint64_t> sizes{};

    std::vector<std::uint64_t> taken()
    {
        const std::lock_guard lock(mutex);
        return std::exchange(sizes, {});
    }
} requests;

std::int64_t number_at(const std::string& bytes, std::size_t at, std::size_t size)
{
    std::uint64_t n = 0;
    for (std::size_t i = 0; i != size; ++i)
        n = n << 8U | static_cast<unsigned char>(bytes.at(at + i));
    return static_cast<std::int64_t>(n);
}

/// Versions 3 to 7 of the request: one topic with one partition.
void note_request(const std::string& head)
{
    constexpr std::string_view client = "rdkafka";
    const std::size_t name = 14;  // size, key of the API, version, correlation id, length
    if (head.size() < 80 || head.compare(name, client.size(), client) != 0) return;
    if (number_at(head, 4, 2) != 0) return;             // not Produce
    std::size_t at = name + client.size() + 2 + 2 + 4;  // no transaction, acks, timeout
    const std::int64_t topics = number_at(head, at, 4);
    at += 4 + 2 + static_cast<std::size_t>(number_at(head, at + 4, 2));
    const std::int64_t partitions = number_at(head, at, 4);
    const auto size = static_cast<std::uint64_t>(number_at(head, at + 8, 4));
    const std::lock_guard lock(requests.mutex);
    requests.sizes.push_back(topics == 1 && partitions == 1 ? size : 0);
}

}  // namespace

/// In the place of the function of the system.
extern "C" ssize_t sendmsg(int to, const msghdr* m, int flags)
{
    using function = ssize_t (*)(int, const msghdr*, int);
    static const auto real = reinterpret_cast<function>(dlsym(RTLD_NEXT, "sendmsg"));
    std::string head;
    for (std::size_t i = 0; i != m->msg_iovlen && head.size() < 200; ++i)
        head.append(static_cast<const char*>(m->msg_iov[i].iov_base), m->msg_iov[i].iov_len);
    note_request(head);
    return real(to, m, flags);
}

namespace {

int failures = 0;

void check(bool holds, const std::string& what)
{
    if (holds) return;
    ++failures;
    std::printf("broken: %s\n", what.c_str());
}

engines::kafka_settings settings_of(const engines::kafka_mock& cluster)
{
    return {{"bootstrap.servers", cluster.address()},
            {"reconnect.backoff.ms", "20"},
            {"reconnect.backoff.max.ms", "100"},
            {"message.timeout.ms", "6000"},
            {"topic.metadata.refresh.fast.interval.ms", "50"}};
}

std::string sent(engines::kafka_sender& s, std::size_t lines, std::size_t bytes)
{
    const std::string body(bytes, 'x');
    const std::vector<std::string_view> bodies(lines, body);
    return in_words(s.send(bodies));
}

/// Each batch is one request of the computed size.
void test_sizes(const engines::kafka_mock& cluster)
{
    engines::kafka_sender s(settings_of(cluster), "sizes");
    static_cast<void>(requests.taken());
    for (const std::size_t lines : {1U, 2U, 63U, 64U, 65U, 128U, 1'000U, 8'192U}) {
        for (const std::size_t bytes : {0U, 1U, 55U, 56U, 57U, 63U, 64U, 65U, 300U}) {
            const std::string body(bytes, 'x');
            const std::vector<std::string_view> bodies(lines, body);
            const std::uint64_t size = engines::kafka_sender::batch_size(bodies);
            const std::uint64_t bound =
                waybill::wire::kafka::batch_head + lines * engines::kafka_sender::size_of(bytes);
            const waybill::send_outcome o = s.send(bodies);
            const auto* a = waybill::get_if<waybill::batch_sender::accepted>(&o);
            const std::string which = std::to_string(lines) + " x " + std::to_string(bytes);
            check(a && a->actual == size, which + ": " + in_words(o));
            const std::vector<std::uint64_t> on_the_wire = requests.taken();
            check(on_the_wire == std::vector{size}, which + ": not one request of this size");
            check(bound >= size && bound - size <= 128, which + ": the bound is not close");
        }
    }
    for (const std::size_t bytes : {8'180U, 8'191U, 8'192U, 70'000U, 1'100'000U}) {
        check(sent(s, 3, bytes) == "accepted", std::to_string(bytes));
        const std::string body(bytes, 'x');
        const std::vector<std::string_view> bodies(3, body);
        check(requests.taken() == std::vector{engines::kafka_sender::batch_size(bodies)},
              std::to_string(bytes) + ": not one request of this size");
    }
}

struct row {
    rd_kafka_resp_err_t code;
    std::string_view expected;
};
constexpr row rows[]{
    {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, "refused 89 of ?"},
    {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, "failed, cancelled"},
    {RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED, "failed, cancelled"},
    {RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION, "failed, cancelled"},
    {RD_KAFKA_RESP_ERR_INVALID_RECORD, "failed, permanent"},
    {RD_KAFKA_RESP_ERR_POLICY_VIOLATION, "failed, permanent"},
    {RD_KAFKA_RESP_ERR_INVALID_MSG, "failed, transient"},
    {RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED, "throttled"},
    {RD_KAFKA_RESP_ERR_UNKNOWN, "unknown"},
    {RD_KAFKA_RESP_ERR_INVALID_CONFIG, "unknown"},  // in no table
    // librdkafka retries them.
    {RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, "accepted"},
    {RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, "accepted"},
    {RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, "accepted"},
    {RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND, "accepted"},
};

void test_codes(engines::kafka_mock& cluster, scripted::score& score)
{
    engines::kafka_sender s(settings_of(cluster), "codes");
    check(sent(s, 1, 10) == "accepted", "the first batch");
    for (const row& r : rows) {
        cluster.refuse(0, {r.code});
        const std::string outcome = sent(s, 2, 7);
        score.expect("Kafka", rd_kafka_err2name(r.code) + (" (" + s.said() + ')'), outcome,
                     r.expected);
        check(sent(s, 2, 7) == "accepted", std::string("after ") + rd_kafka_err2name(r.code));
    }
}

void test_outages(scripted::score& score)
{
    engines::kafka_mock cluster(1);
    cluster.topic("outages", 1);
    const auto settings =
        settings_of(cluster).set("linger.ms", "1000").set("message.timeout.ms", "1500");
    engines::kafka_sender s(settings, "outages");
    check(sent(s, 1, 10) == "accepted", "before the outages");
    cluster.set_down(1);
    score.expect("Kafka", "down", sent(s, 3, 10), "failed, transient");
    cluster.set_up(1);
    check(sent(s, 3, 10) == "accepted", "after the broker was down");
    cluster.set_delay(1, 2'500);
    score.expect("Kafka", "no response", sent(s, 3, 10), "unknown");
    cluster.set_delay(1, 0);
    check(sent(s, 3, 10) == "accepted", "after the broker was late");

    engines::kafka_sender none({{"bootstrap.servers", "127.0.0.1:1"}}, "none");
    score.expect("Kafka", "no broker", sent(none, 3, 10), "failed, infrastructure");
}

/// The queue of librdkafka takes ten records.
void test_full_queue(const engines::kafka_mock& cluster, scripted::score& score)
{
    engines::kafka_sender s(settings_of(cluster).set("queue.buffering.max.messages", "10"),
                            "queue");
    score.expect("Kafka", "a full queue", sent(s, 12, 10), "partial 10 throttled 11 throttled");
    score.expect("Kafka", "after it", sent(s, 2, 10), "accepted");
}

// ---- several batches in flight

using std::chrono::milliseconds;

/// Starts a batch of one line for each number of bytes; its attempt is the number. Bodies that are
/// not copied live here.
void start(engines::kafka_sender& s, const std::vector<std::size_t>& sizes)
{
    static std::map<std::size_t, std::string> bodies;
    for (const std::size_t bytes : sizes) {
        const std::string& body = bodies.try_emplace(bytes, bytes, 'x').first->second;
        s.start(bytes, std::vector<std::string_view>{body});
    }
}

/// "17 accepted, 18 failed, transient": the attempts in ascending order, each with its outcome.
std::string ended(engines::kafka_sender& s, std::size_t batches)
{
    std::map<std::uint64_t, std::string> outcomes;
    for (std::size_t n = 0; n != batches; ++n) {
        const auto e = s.finished(milliseconds(10'000));
        if (!e) return "a batch does not end";
        std::string& found = outcomes[e->attempt];
        check(found.empty(), "attempt " + std::to_string(e->attempt) + " ends twice");
        found = in_words(e->outcome);
    }
    check(!s.finished(milliseconds(0)), "no batch is left");
    std::string text;
    for (const auto& [attempt, outcome] : outcomes)
        text += (text.empty() ? "" : ", ") + std::to_string(attempt) + ' ' + outcome;
    return text;
}

/// Each partition has another leader.
void spread(engines::kafka_mock& cluster, const char* topic)
{
    cluster.topic(topic, 3);
    for (std::int32_t n = 0; n != 3; ++n) cluster.set_leader({topic, n}, n + 1);
}

void test_in_flight(scripted::score& score)
{
    engines::kafka_mock cluster(3);
    spread(cluster, "flights");
    const auto settings = settings_of(cluster).set("message.timeout.ms", "1500");
    engines::kafka_sender s(settings, "flights");
    start(s, {10, 11, 12});
    score.expect("Kafka", "three batches", ended(s, 3), "10 accepted, 11 accepted, 12 accepted");

    // All requests are on their way before the first response. A fourth batch waits.
    for (std::int32_t n = 1; n != 4; ++n) cluster.set_delay(n, 300);
    static_cast<void>(requests.taken());
    start(s, {10, 11, 12});
    std::this_thread::sleep_for(milliseconds(150));
    check(!s.finished(milliseconds(0)), "the brokers have responded too early");
    check(requests.taken().size() == 3, "not three requests before the first response");
    start(s, {13});
    check(requests.taken().size() <= 1, "more than one batch in flight for a partition");
    score.expect("Kafka", "four batches", ended(s, 4),
                 "10 accepted, 11 accepted, 12 accepted, 13 accepted");
    for (std::int32_t n = 1; n != 4; ++n) cluster.set_delay(n, 0);

    // The outcome of one batch does not affect the others.
    for (std::size_t refused = 0; refused != 3; ++refused) {
        std::vector<rd_kafka_resp_err_t> responses(refused, RD_KAFKA_RESP_ERR_NO_ERROR);
        responses.push_back(RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
        cluster.refuse(0, responses);
        start(s, {10, 20, 30});
        const std::string found = ended(s, 3);
        const bool one = found == "10 refused 78 of ?, 20 accepted, 30 accepted" ||
                         found == "10 accepted, 20 refused 88 of ?, 30 accepted" ||
                         found == "10 accepted, 20 accepted, 30 refused 98 of ?";
        check(one, "one of three is refused: " + found);
    }

    // The partitions take turns, so the next three batches go to brokers 1, 2 and 3 in some order.
    cluster.set_down(2);
    start(s, {10, 11, 12});
    std::string found = ended(s, 3);
    check(found == "10 failed, transient, 11 accepted, 12 accepted" ||
              found == "10 accepted, 11 failed, transient, 12 accepted" ||
              found == "10 accepted, 11 accepted, 12 failed, transient",
          "one of three brokers is down: " + found);
    cluster.set_up(2);
    start(s, {10, 11, 12});
    score.expect("Kafka", "after it", ended(s, 3), "10 accepted, 11 accepted, 12 accepted");

    // After an unknown outcome, the other batches in flight keep their own outcomes.
    cluster.set_delay(2, 2'600);
    start(s, {10, 11, 12});
    found = ended(s, 3);
    check(found == "10 unknown, 11 accepted, 12 accepted" ||
              found == "10 accepted, 11 unknown, 12 accepted" ||
              found == "10 accepted, 11 accepted, 12 unknown",
          "one of three brokers does not respond: " + found);
    cluster.set_delay(2, 0);
    start(s, {10, 11, 12});
    score.expect("Kafka", "after it", ended(s, 3), "10 accepted, 11 accepted, 12 accepted");

    // The producer is replaced after an unknown outcome, and not before the other batches end.
    engines::kafka_sender fresh(settings, "flights");
    start(fresh, {9, 10, 11});
    score.expect("Kafka", "a first turn", ended(fresh, 3), "9 accepted, 10 accepted, 11 accepted");
    start(fresh, {10});  // to broker 1
    score.expect("Kafka", "a second turn", ended(fresh, 1), "10 accepted");
    for (const std::int32_t n : {2, 3}) cluster.set_delay(n, 700);
    start(fresh, {11, 12});
    std::this_thread::sleep_for(milliseconds(100));  // their requests have arrived
    cluster.refuse(0, {RD_KAFKA_RESP_ERR_UNKNOWN});
    start(fresh, {13});
    const auto first = fresh.finished(milliseconds(400));
    check(first && first->attempt == 13 && in_words(first->outcome) == "unknown",
          "the batch to broker 1 is unknown");
    for (const std::int32_t n : {2, 3}) cluster.set_delay(n, 0);  // of later responses
    start(fresh, {14});
    score.expect("Kafka", "batches in flight during it", ended(fresh, 3),
                 "11 accepted, 12 accepted, 14 accepted");
}

/// Keys with faults: each line arrives, and those of a key in order within each partition.
void test_ordered_keys()
{
    engines::kafka_mock cluster(3);
    spread(cluster, "keys");
    engines::kafka_sender s(settings_of(cluster), "keys");
    struct line {
        std::uint64_t key = 0;
        std::string body{};
    };
    constexpr std::uint64_t keys = 40;
    std::vector<line> all;
    for (std::uint64_t n = 0; n != 8'000; ++n)
        all.push_back({n / 20 % keys, std::to_string(n / 20 % keys) + ' ' + std::to_string(n)});
    // In proportion to the batches, so that a slow machine does not use up the retries.
    int starts = 0;
    int faults = 0;
    const auto disturb = [&] {
        if (++starts % 8 != 0) return;
        const int n = faults++;
        if (n % 3 == 0) {
            cluster.refuse(0, {RD_KAFKA_RESP_ERR_INVALID_MSG, RD_KAFKA_RESP_ERR_NO_ERROR,
                               RD_KAFKA_RESP_ERR_UNKNOWN});
        } else if (n % 3 == 1) {
            cluster.set_leader({"keys", n % 2}, 1 + n / 3 % 3);
        } else {
            cluster.set_down(1 + n / 3 % 3);
        }
    };
    const auto repair = [&] {
        std::this_thread::sleep_for(milliseconds(5));
        for (std::int32_t n = 1; n != 4; ++n) cluster.set_up(n);
    };
    waybill::batch_sender sender{
        {.limit = {.items = 60, .answers_per_entry = false},
         .exact_sizes = true,
         .in_flight = 3,
         .ordered = true,
         .retry = {.max_attempts = 20,
                   .pauses = {.base = milliseconds(5), .cap = milliseconds(50)}}}};
    support::standard_environment env;
    std::size_t most = 0;
    const auto r = support::send_in_flight(
        all, [](const line& l) { return waybill::batch_sender::queued{l.body.size(), l.key}; },
        sender,
        [&](std::uint64_t attempt, const auto& batch) {
            std::vector<std::string_view> bodies;
            for (const line* l : batch) bodies.push_back(l->body);
            disturb();
            s.start(attempt, bodies);
            if (starts % 8 == 0) repair();
            most = std::max(most, sender.in_flight() + 1);
        },
        [&](milliseconds wait) { return s.finished(wait); }, env);
    check(r.accepted == all.size() && r.taken == all.size(), "not all lines are accepted");
    check(most == 3, std::to_string(most) + " batches in flight instead of 3");
    check(faults > 5, "too few faults: " + std::to_string(faults));

    engines::kafka_log log(settings_of(cluster), "keys");
    std::vector<std::uint64_t> arrived(all.size());
    const auto names = log.partitions();
    check(names && names->size() == 3, "three partitions");
    for (const std::string& name : *names) {
        std::optional<waybill::position> last;
        std::map<std::string, std::uint64_t> first_of_key;  // the highest number so far
        std::vector<bool> seen(all.size());
        for (;;) {
            const auto events = log.read(name, last, 1'000);
            if (!events || events->empty()) break;
            for (const auto& e : *events) {
                const std::size_t blank = e.body.find(' ');
                const std::uint64_t n = std::stoull(e.body.substr(blank + 1));
                ++arrived.at(n);
                if (seen[n]) continue;  // a repetition after an unknown outcome
                seen[n] = true;
                std::uint64_t& highest = first_of_key[e.body.substr(0, blank)];
                check(n >= highest, "line " + e.body + " is out of order");
                highest = std::max(highest, n);
            }
            last = waybill::position{.sequence = events->back().sequence};
        }
    }
    std::uint64_t twice = 0;
    std::uint64_t missing = 0;
    for (const std::uint64_t n : arrived) {
        missing += n == 0 ? 1U : 0U;
        twice += n > 1 ? 1U : 0U;
    }
    check(missing == 0, std::to_string(missing) + " lines are missing");
    std::printf("keys: %d faults, %llu batches, %llu lines twice\n", faults,
                static_cast<unsigned long long>(r.sends), static_cast<unsigned long long>(twice));
}

}  // namespace

int main()
{
    engines::kafka_mock cluster(1);
    for (const char* const topic : {"sizes", "codes", "queue"}) cluster.topic(topic, 1);
    scripted::score score;
    test_sizes(cluster);
    test_codes(cluster, score);
    test_full_queue(cluster, score);
    test_outages(score);
    test_in_flight(score);
    test_ordered_keys();
    std::printf("%d answers, %d taken otherwise, %d broken\n", score.asked(), score.wrong(),
                failures);
    return score.wrong() == 0 && failures == 0 ? 0 : 1;
}
