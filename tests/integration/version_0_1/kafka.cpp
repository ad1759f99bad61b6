// SPDX-License-Identifier: MIT
//
// The Kafka consumer of reliable_consumer on a mock cluster in this process. Version 0.1 and the
// current version run the same source:
//
//     kafka write LINES STATE     produces the lines, consumes half of them, and crashes
//     kafka read STATE            prints the committed positions as the library reads them
//     kafka continue STATE        restores the cluster, consumes the rest and checks the result
//
// STATE is JSON lines: records of the topics, positions of the groups, and the events that have
// taken effect.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <reliable_consumer/kafka.cpp>
#include <reliable_consumer/kafka_run.cpp>
#include <reliable_consumer/ledger.cpp>
#include <waybill/version.hpp>
#if WAYBILL_VERSION == 100
#include <reliable_consumer/kafka_world.cpp>
namespace reliable_consumer {
using downstream_service = kafka_world;
}
#else
#include <reliable_consumer/kafka_downstream.cpp>
#endif

#include "names.hpp"

namespace {

using namespace std::chrono_literals;
using namespace reliable_consumer;
using engines::kafka_offset;
using engines::kafka_partition;
using json = nlohmann::ordered_json;

constexpr std::int32_t partitions = 4;
const std::string topic = "events";
const std::string dead_topic = topic + std::string(engines::dlt::behind_topic);

using place = std::pair<std::int32_t, std::uint64_t>;  ///< Partition and offset of an event.

std::string key_of(const place& p)
{
    const waybill::partition_key partition{topic, "ledger", std::to_string(p.first)};
    return std::string(waybill::idempotency_key(partition, p.second));
}

/// A cluster with empty topics.
class cluster {
public:
    cluster() : mock_(3)
    {
        mock_.topic(topic, partitions);
        mock_.topic(dead_topic, partitions);
    }

    [[nodiscard]] engines::kafka_settings settings() const
    {
        engines::kafka_settings s{{"bootstrap.servers", mock_.address()}};
        s.set("session.timeout.ms", "3500").set("max.poll.interval.ms", "3500");
        s.set("heartbeat.interval.ms", "200").set("auto.offset.reset", "earliest");
        return s;
    }
    void produce(const std::vector<engines::kafka_record>& records) const
    {
        engines::kafka_producer out(settings());
        for (const engines::kafka_record& r : records) {
            if (!out.send(r, 0) || !out.flush(30s).at(0).how.ok())
                throw std::runtime_error("a record cannot be produced");
        }
    }
    [[nodiscard]] std::vector<kafka_offset> committed(const std::string& group,
                                                      const std::string& of) const
    {
        engines::kafka_consumer c(settings(), group, {}, {});
        return committed(c, of);
    }
    static std::vector<kafka_offset> committed(engines::kafka_consumer& c, const std::string& of)
    {
        std::vector<kafka_partition> all;
        for (std::int32_t p = 0; p != partitions; ++p) all.push_back({of, p});
        auto found = c.committed(all);
        if (!found) throw std::runtime_error(found.error().text);
        return *std::move(found);
    }
    /// Calls f(place, message) for n records of a topic, or for those that come within the time.
    template <class F>
    void each(const std::string& of, std::size_t n, std::chrono::seconds within, F f) const
    {
        engines::kafka_consumer c(settings(), "reader of " + of, {of}, {});
        for (const auto end = steady_clock::now() + within; n != 0 && steady_clock::now() < end;) {
            const auto m = c.next(50ms);
            if (!m) continue;
            f(place{m->at().number, static_cast<std::uint64_t>(m->offset())}, *m);
            --n;
        }
    }

private:
    engines::kafka_mock mock_;
};

kafka_place where(const cluster& c)
{
    kafka_place w{c.settings(), topic, "ledger"};
    w.pace.every = 10;
    w.close_within = 1s;
    return w;
}

/// Text, or bytes in hex if they are not printable.
json value_of(std::string_view bytes)
{
    bool text = true;
    for (const char c : bytes) text = text && c >= ' ' && c != 127;
    return text ? json{{"text", bytes}} : json{{"hex", version_0_1::hex(bytes)}};
}
std::string bytes_in(const json& value)
{
    if (value.contains("text")) return value.at("text").get<std::string>();
    const auto hex = value.at("hex").get<std::string>();
    std::string bytes;
    for (std::size_t n = 0; n < hex.size(); n += 2)
        bytes += static_cast<char>(std::stoi(hex.substr(n, 2), nullptr, 16));
    return bytes;
}

json record_of(const std::string& of, const place& at, std::optional<std::string_view> key,
               const std::vector<std::pair<std::string, std::string>>& headers,
               std::string_view body)
{
    json r{{"topic", of}, {"partition", at.first}, {"offset", at.second}};
    if (key) r["key"] = value_of(*key);
    json all = json::array();
    for (const auto& [name, value] : headers) all.push_back({{name, value_of(value)}});
    r["headers"] = std::move(all);
    r["body"] = value_of(body);
    return r;
}
json record_of(const place& at, const engines::kafka_message& m)
{
    return record_of(m.at().topic, at, m.key(), m.headers(), m.body());
}

/// The records that are in STATE.
struct stored {
    std::vector<engines::kafka_record> records{};
    std::map<place, json> events{};
    std::map<place, json> letters{};  ///< By their own place.
    std::map<std::string, std::vector<kafka_offset>> groups{};
    std::set<std::string> applied{};
};

stored stored_in(const std::string& path)
{
    stored all;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const json j = json::parse(line);
        if (j.contains("applied")) {
            all.applied.insert(j.at("applied").get<std::string>());
            continue;
        }
        const kafka_partition p{j.at("topic").get<std::string>(),
                                j.at("partition").get<std::int32_t>()};
        if (j.contains("group")) {
            kafka_offset o{p, {}, j.at("metadata").get<std::string>()};
            if (!j.at("next").is_null()) o.next = j.at("next").get<std::int64_t>();
            all.groups[j.at("group").get<std::string>()].push_back(o);
            continue;
        }
        const place at{p.number, j.at("offset").get<std::uint64_t>()};
        (p.topic == topic ? all.events : all.letters).emplace(at, j);
        engines::kafka_record r{.topic = p.topic, .partition = p.number};
        if (j.contains("key")) r.key = bytes_in(j.at("key"));
        r.body = bytes_in(j.at("body"));
        for (const json& h : j.at("headers")) {
            for (const auto& [name, value] : h.items())
                r.headers.emplace_back(name, bytes_in(value));
        }
        all.records.push_back(std::move(r));
    }
    if (all.events.empty()) throw std::runtime_error("no events in " + path);
    return all;
}

// --- write ---------------------------------------------------------------------------------------

std::vector<engines::kafka_record> records_of(const std::string& lines)
{
    std::vector<engines::kafka_record> all;
    std::ifstream file(lines);
    for (std::string line; std::getline(file, line);) {
        const auto p = static_cast<std::int32_t>(partition_of(line, partitions));
        engines::kafka_record r{.topic = topic, .partition = p, .body = line};
        if (all.size() % 5 == 1) r.key = "key " + std::to_string(all.size());
        if (all.size() % 3 == 1)
            r.headers = {{"trace", std::string("\0\xff", 2)}, {"tenant", "seven"}};
        all.push_back(std::move(r));
    }
    return all;
}

/// Crashes right after a commit with metadata, with half of the events done and some letters read.
void consume_half(const cluster& c, downstream_service& downstream, std::size_t events)
{
    letter_reader letters(c.settings(), topic);
    for (const auto joined = steady_clock::now() + 5s; steady_clock::now() < joined;)
        letters.step();
    engines::kafka_consumer look(c.settings(), "ledger", {}, {});
    kafka_member member(where(c), downstream, 7);
    const auto end = steady_clock::now() + 60s;
    while (downstream.applied().size() < events / 3 && steady_clock::now() < end) member.step();
    for (const auto read = steady_clock::now() + 2s; steady_clock::now() < read;) letters.step();
    while (steady_clock::now() < end) {
        const std::uint64_t before = member.record().commits;
        member.step();
        if (downstream.applied().size() < events / 2 || member.record().commits == before) continue;
        std::size_t beside = 0;
        for (const kafka_offset& o : cluster::committed(look, topic))
            beside += o.metadata.empty() ? 0 : 1;
        if (beside >= 2 && letters.found().size() >= 2) return;
    }
    throw std::runtime_error("no such moment has come");
}

int write(const std::string& lines, const std::string& path)
{
    const cluster c;
    downstream_service downstream;
    const auto records = records_of(lines);
    c.produce(records);
    consume_half(c, downstream, records.size());
    std::ofstream out(path);
    for (const std::string& of : {topic, dead_topic}) {
        std::map<place, std::string> all;
        c.each(of, records.size(), 8s,
               [&](const place& at, const auto& m) { all[at] = record_of(at, m).dump(); });
        for (const auto& [at, record] : all) out << record << '\n';
    }
    for (const auto& [group, of] : {std::pair{"ledger", topic}, std::pair{"letters", dead_topic}}) {
        for (const kafka_offset& o : c.committed(group, of)) {
            const json next = o.next ? json(*o.next) : json();
            out << json{{"group", group},
                        {"topic", of},
                        {"partition", o.at.number},
                        {"next", next},
                        {"metadata", o.metadata}}
                       .dump()
                << '\n';
        }
    }
    for (const auto& [key, times] : downstream.applied()) out << json{{"applied", key}}.dump() << '\n';
    return out ? 0 : 1;
}

// --- read ----------------------------------------------------------------------------------------

/// The events of a partition that a commit marks as done.
std::set<place> done_in(const kafka_offset& o, std::uint64_t events)
{
    std::set<place> done;
    auto start = waybill::decode_text(o.last_done(), o.metadata);
    if (!start) throw std::runtime_error("metadata: " + std::string(name(start.error())));
    waybill::completion_tracker tracker(kafka_place{engines::kafka_settings({})}.room);
    tracker.resume(*std::move(start));
    const auto next = static_cast<std::uint64_t>(o.next.value_or(0));
    for (std::uint64_t n = 0; n != next; ++n) done.insert({o.at.number, n});
    for (std::uint64_t n = next; n < events; ++n) {
        const auto begun = tracker.begin(n);
        if (!begun && begun.error() == version_0_1::track_error::done_before)
            done.insert({o.at.number, n});
        if (begun) static_cast<void>(tracker.complete(*begun));
    }
    return done;
}

std::uint64_t events_of(const stored& s, std::int32_t partition)
{
    std::uint64_t n = 0;
    for (const auto& [at, event] : s.events) n += at.first == partition ? 1 : 0;
    return n;
}

std::set<place> done_in(const stored& s)
{
    std::set<place> done;
    for (const kafka_offset& o : s.groups.at("ledger"))
        done.merge(done_in(o, events_of(s, o.at.number)));
    return done;
}

int read(const std::string& path)
{
    const stored s = stored_in(path);
    for (const place& p : done_in(s)) std::printf("done: %s\n", key_of(p).c_str());
    for (const kafka_offset& o : s.groups.at("letters")) {
        const auto at = engines::position_of(o);
        std::printf("letters of partition %d: %s\n", o.at.number,
                    at ? std::to_string(at->sequence).c_str() : "none");
    }
    return 0;
}

// --- continue ------------------------------------------------------------------------------------

int wrong = 0;

void expect(bool holds, const std::string& rule)
{
    if (holds) return;
    ++wrong;
    std::printf("wrong: %s\n", rule.c_str());
}

void restore(const cluster& c, const stored& s)
{
    c.produce(s.records);
    for (const auto& [group, all] : s.groups) {
        engines::kafka_consumer member(c.settings(), group, {}, {});
        for (const kafka_offset& o : all) {
            if (!o.next) continue;
            if (const auto done = member.commit({o}); !done)
                throw std::runtime_error(done.error().text);
        }
    }
}

/// The event of a dead letter, by its headers.
place event_of(const engines::kafka_message& m)
{
    const auto partition = engines::big_endian_in(m.header(engines::dlt::partition), 4);
    const auto offset = engines::big_endian_in(m.header(engines::dlt::offset), 8);
    if (!partition || !offset) throw std::runtime_error("a dead letter without a place");
    return {static_cast<std::int32_t>(*partition), *offset};
}

/// A dead letter equals `r`, as this version writes it, except for the time of the event.
void expect_same(const engines::kafka_message& letter, const engines::kafka_record& r)
{
    auto headers = letter.headers();
    auto ours = r.headers;
    for (auto* all : {&headers, &ours}) {
        for (auto& [name, value] : *all)
            if (name == engines::dlt::timestamp) value.assign(value.size(), '?');
    }
    const bool key =
        r.key.has_value() == letter.key().has_value() && (!r.key || *r.key == *letter.key());
    expect(headers == ours && key && r.body == letter.body() && r.topic == letter.at().topic &&
               r.partition == letter.at().number,
           "a dead letter of " + key_of(event_of(letter)) + " would be written otherwise");
}

void check(const cluster& c, const stored& s, const downstream_service& downstream,
           letter_reader& letters)
{
    const std::set<place> done = done_in(s);
    const std::size_t old = s.letters.size();
    std::map<place, engines::kafka_record> expected;
    c.each(topic, s.events.size(), 8s, [&](const place& at, const engines::kafka_message& m) {
        const auto why = downstream_service::judge(m.body());
        expected[at] = engines::dead_letter_of(m, why, "ledger", partitions);
    });
    std::map<place, std::uint64_t> dead;
    std::set<std::string> to_read;
    std::size_t rest = 0;  // of the dead letters of this version
    for (const auto& [at, event] : s.events)
        rest += !done.contains(at) && !downstream_service::judge(bytes_in(event.at("body"))).ok() ? 1 : 0;
    std::set<place> there;
    c.each(dead_topic, old + rest, 8s, [&](const place& at, const engines::kafka_message& m) {
        const place of = event_of(m);
        there.insert(at);
        expect_same(m, expected[of]);
        if (s.letters.contains(at))
            expect(record_of(at, m) == s.letters.at(at), "a stored record has changed");
        else
            ++dead[of];
        const auto& read = s.groups.at("letters").at(static_cast<std::size_t>(at.first)).next;
        if (at.second >= static_cast<std::uint64_t>(read.value_or(0))) to_read.insert(key_of(of));
    });
    expect(there.size() == old + rest, "each dead letter is there");
    for (const auto& [at, event] : s.events) {
        const std::string key = key_of(at);
        const bool hopeless = !downstream_service::judge(bytes_in(event.at("body"))).ok();
        const auto applied = downstream.applied().find(key);
        const std::uint64_t times = applied == downstream.applied().end() ? 0 : applied->second;
        expect(times == (done.contains(at) || hopeless ? 0U : 1U),
               key + " took effect " + std::to_string(times) + " times");
        expect(dead[at] == (done.contains(at) || !hopeless ? 0U : 1U), key + ": new dead letters");
        expect(hopeless || times != 0 || s.applied.contains(key), key + " is lost");
    }
    const auto within = steady_clock::now() + 10s;
    while (letters.found().size() < to_read.size() && steady_clock::now() < within) letters.step();
    for (const auto more = steady_clock::now() + 500ms; steady_clock::now() < more;) letters.step();
    std::set<std::string> found;
    for (const auto& [key, times] : letters.found()) found.insert(key);
    expect(found == to_read && letters.wrong() == 0,
           "the reader of dead letters continues after its position: " +
               std::to_string(found.size()) + " found of " + std::to_string(to_read.size()) + ", " +
               std::to_string(letters.wrong()) + " of them unreadable");
    for (const kafka_offset& o : c.committed("ledger", topic)) {
        const auto end = static_cast<std::int64_t>(events_of(s, o.at.number));
        expect(o.next == end && o.metadata.empty(), "the end of a partition is committed");
    }
}

int go_on(const std::string& path)
{
    const stored s = stored_in(path);
    const cluster c;
    restore(c, s);
    downstream_service downstream;
    kafka_member member(where(c), downstream, 7);
    letter_reader letters(c.settings(), topic);
    const auto end = steady_clock::now() + 30s;
    while (member.position() != s.events.size() && steady_clock::now() < end) {
        member.step();
        letters.step();
    }
    expect(member.position() == s.events.size(), "the end of the log is reached");
    std::uint64_t beside = done_in(s).size();
    for (const kafka_offset& o : s.groups.at("ledger"))
        beside -= static_cast<std::uint64_t>(o.next.value_or(0));
    expect(member.record().passed_by == beside && beside != 0,
           std::to_string(member.record().passed_by) +
               " events were skipped as done, and the metadata has " + std::to_string(beside));
    member.close();
    check(c, s, downstream, letters);
    std::printf(
        "%zu events: %zu took effect now, %s of them after the watermark were done before\n",
        s.events.size(), downstream.applied().size(), std::to_string(beside).c_str());
    return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** argv)
{
    const std::string_view mode = count > 1 ? argv[1] : "";
    try {
        if (mode == "write" && count == 4) return write(argv[2], argv[3]);
        if (mode == "read" && count == 3) return read(argv[2]);
        if (mode == "continue" && count == 3) return go_on(argv[2]);
    } catch (const std::exception& e) {
        std::printf("wrong: %s\n", e.what());
        return 1;
    }
    return 2;
}
