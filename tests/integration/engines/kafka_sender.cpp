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
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <engines/kafka_sender.hpp>
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
    score.expect("Kafka", "a full queue", sent(s, 12, 10), "partial 10 transient 11 transient");
    score.expect("Kafka", "after it", sent(s, 2, 10), "accepted");
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
    std::printf("%d answers, %d taken otherwise, %d broken\n", score.asked(), score.wrong(),
                failures);
    return score.wrong() == 0 && failures == 0 ? 0 : 1;
}
