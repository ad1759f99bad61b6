// SPDX-License-Identifier: MIT
//
// A consumer of four partitions with its checkpoints, crash records, dead letters and leases in
// PostgreSQL. Version 0.1 and the current version run the same source:
//
//     postgres ADDRESS prepare        an unused checkpoint of partition 3, reset to the start
//     postgres ADDRESS load FILE      replaces all tables by those of a dump
//     postgres ADDRESS work NAME N    processes the first N events of each partition
//     postgres ADDRESS print          prints every row as the stores read it
//     postgres ADDRESS check N        compares effects and dead letters with the N events
//
// One event of partition 1 ends the process with SIGKILL. The events are computed, so no log is
// needed. Those of partition 2 have sequence numbers above 2^63. Partition 3 is empty while N is at
// most 21.

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <engines/postgres_leases.hpp>
#include <engines/postgres_store.hpp>
#include <unistd.h>

#include "names.hpp"

namespace {

using clock_type = std::chrono::steady_clock;
using namespace std::chrono_literals;
using namespace std::string_literals;
using namespace version_0_1;

constexpr std::uint32_t partitions = 4;
constexpr std::uint64_t batch_size = 8;
const std::string hopeless = "no total \0\xff"s;

waybill::partition_key key_of(std::uint32_t partition)
{
    return {"orders", "billing", std::to_string(partition)};
}

struct event {
    std::uint64_t sequence = 0;
    std::string offset{};
    std::string body{};
    waybill::wall_time time{};
};

/// Event `n` of a partition, n from 1. Every fifth number is left out.
event event_of(std::uint32_t partition, std::uint64_t n)
{
    const std::uint64_t sequence = n + n / 5 + (partition == 2 ? 18'446'744'073'709'551'000U : 0U);
    event e{sequence, "at " + std::to_string(n), "{\"order\":" + std::to_string(n) + "}", {}};
    if (n % 3 == 0) e.offset += "\0\xff"s;
    if (n % 9 == 4) e.body += "\0 \xff not text, and longer than 32 bytes"s;
    if (n % 2 == 0) {
        const auto n_ns = static_cast<std::int64_t>(n);
        e.time = waybill::wall_time::at(
            waybill::duration::nanoseconds(1'767'225'600'000'000'000 + n_ns));
    }
    return e;
}

enum class fate { effect, permanent, transient, ends_process };

fate fate_of(std::uint32_t partition, std::uint64_t n)
{
    if (partition == 1 && n == 14) return fate::ends_process;
    if (n % 9 == 4) return fate::permanent;
    if (n % 13 == 6) return fate::transient;
    return fate::effect;
}

/// Number of the event with this sequence; 0 if there is none.
std::uint64_t number_of(std::uint32_t partition, std::uint64_t sequence, std::uint64_t last)
{
    for (std::uint64_t n = 1; n <= last; ++n) {
        if (event_of(partition, n).sequence == sequence) return n;
    }
    return 0;
}

waybill::batch_policy policy_of(std::uint32_t partition)
{
    waybill::batch_policy p;
    p.on_exhausted = version_0_1::when_exhausted::dead_letter;
    auto& letters = version_0_1::dead_letters_of(p);
    if (partition == 0) {
        letters.body_bytes = 32;
        letters.summary_bytes = 9;
    }
    if (partition == 1) letters.keeps = dead_letter_body::pointer;
    return p;
}

class consumer {
public:
    consumer(engines::postgres& db, const std::string& name, std::uint64_t events)
        : checkpoints_(db),
          leases_(db),
          store_(checkpoints_, leases_),
          effect_(db, "INSERT INTO effects VALUES ($1, $2)"),
          events_(events),
          incarnation_(std::random_device{}() | std::uint64_t{std::random_device{}()} << 32U),
          dice_(incarnation_),
          work_(config(name, incarnation_))
    {
    }

    /// Runs until each partition has been processed to its end.
    void run()
    {
        while (!work_.ended()) {
            if (at_end_.size() == partitions) work_.on(stop_requested{}, clock_type::now());
            waybill::match(
                work_.next(clock_type::now()),
                [&](const version_0_1::lease_call& c) {
                    const double draw = std::uniform_real_distribution<double>(0, 1)(dice_);
                    work_.on(waybill::perform(leases_, c, draw), clock_type::now());
                },
                [&](lifecycle::open a) {
                    const auto stored = store_.load(work_.key(a.partition));
                    if (stored) mine_[a.partition] = work_.assignment_of(a, *stored);
                    work_.on(version_0_1::opened(a, stored),
                             clock_type::now());
                },
                [&](lifecycle::process a) {
                    work_.on(version_0_1::processed(a, one_batch(a.partition)),
                             clock_type::now());
                },
                [&](lifecycle::close a) {
                    work_.on(lifecycle::partition_closed{a.partition, a.epoch}, clock_type::now());
                },
                [&](lifecycle::save a) {
                    work_.on(lifecycle::partition_saved{a.partition, a.epoch}, clock_type::now());
                },
                [&](wait_until w) {
                    const auto left = time_of(w) - waybill::steady_time(clock_type::now());
                    const std::chrono::nanoseconds until(left.count());
                    std::this_thread::sleep_for(std::min<clock_type::duration>(until, 20ms));
                },
                [](idle) {});
        }
    }

private:
    static version_0_1::processor_config config(const std::string& name, std::uint64_t incarnation)
    {
        version_0_1::processor_config c;
        c.group = {"orders", "billing", {}, {name, incarnation}};
        for (std::uint32_t p = 0; p != partitions; ++p)
            c.group.partitions.push_back(std::to_string(p));
        c.group.leases = {.interval = 100ms, .expiry = 800ms};
        c.lifecycle = {.poll = 20ms, .pause = {.base = 20ms, .cap = 100ms}};
        return c;
    }

    batch_outcome one_batch(std::uint32_t partition)
    {
        waybill::assignment& mine = mine_.at(partition);
        std::vector<event> events;
        const std::uint64_t last = partition == 3 && events_ <= 21 ? 0 : events_;
        for (std::uint64_t n = 1; n <= last && events.size() != batch_size; ++n) {
            event e = event_of(partition, n);
            if (!mine.from || e.sequence > mine.from->sequence) events.push_back(std::move(e));
        }
        if (events.empty()) at_end_.insert(partition);
        const auto handle = [&](auto&, const event& e) -> waybill::fault {
            effect_.run(std::to_string(partition), e.sequence);
            switch (fate_of(partition, number_of(partition, e.sequence, events_))) {
                case fate::effect: break;
                case fate::permanent: return waybill::permanent(hopeless);
                case fate::transient: return waybill::transient("no answer in time");
                case fate::ends_process: ::kill(::getpid(), SIGKILL); break;
            }
            return {};
        };
        const auto r = waybill::process_batch(
            store_, mine, events, handle, std::chrono::system_clock::now(), policy_of(partition));
        if (outcome_of(r) == batch_outcome::committed) mine.from = r.reached;
        return outcome_of(r);
    }

    engines::postgres_store checkpoints_;
    engines::postgres_leases leases_;
    waybill::fenced_store<engines::postgres_store, engines::postgres_leases> store_;
    engines::prepared effect_;
    std::uint64_t events_;
    std::uint64_t incarnation_;
    std::mt19937_64 dice_;
    waybill::processor work_;
    std::map<std::uint32_t, waybill::assignment> mine_{};
    std::set<std::uint32_t> at_end_{};
};

int prepare(engines::postgres& db)
{
    db.connect();
    db.exec("CREATE TABLE effects (part text NOT NULL, sequence numeric(20) NOT NULL)");
    engines::postgres_store store(db);
    const waybill::position at{7, "at 6"};
    auto first = store.begin();
    bool good = first && store.advance(*first, key_of(3), {}, at, 0) && first->commit();
    auto second = store.begin();
    good = good && second && store.reset(*second, key_of(3), at, 0) && second->commit();
    return good ? 0 : 1;
}

int load(engines::postgres& db, const char* path)
{
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    db.connect();
    db.exec("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
    db.exec(text.c_str());
    return text.empty() ? 1 : 0;
}

template <class T>
T got(waybill::result<T> r)
{
    if (!r) throw std::runtime_error(r.error().text);
    return *std::move(r);
}

std::string text_of(std::optional<std::uint64_t> n)
{
    return n ? std::to_string(*n) : "none";
}

void print_partition(engines::postgres_store& store, std::uint32_t partition)
{
    const auto checkpoint = got(store.load(key_of(partition)));
    std::printf("checkpoint %u ", partition);
    if (!checkpoint)
        std::printf("none\n");
    else
        std::printf("sequence=%s offset=%s epoch=%s\n",
                    std::to_string(checkpoint->at.sequence).c_str(),
                    hex(checkpoint->at.offset).c_str(), std::to_string(checkpoint->epoch).c_str());
    if (const auto a = got(version_0_1::load_crash_record(store, key_of(partition)))) {
        std::printf("crash record %u from=%s to=%s suspects=%s deaths=%u by=%s epoch=%s\n",
                    partition, text_of(a->from).c_str(), text_of(a->to).c_str(),
                    text_of(a->suspects).c_str(), a->deaths, text_of(version_0_1::incarnation(*a)).c_str(),
                    text_of(a->epoch).c_str());
    }
    for (const waybill::dead_letter& d : got(store.list(key_of(partition), {}, 1'000))) {
        const auto kind = name(kind_of(d));
        const auto kept = name(d.kept);
        const auto time = [](waybill::wall_time t) {
            return std::to_string(t.since_epoch().count());
        };
        std::printf(
            "dead letter %u sequence=%s offset=%s kind=%.*s tries=%u kept=%.*s size=%s"
            " checksum=%u occurred=%s dead_lettered=%s reason=%s body=%s\n",
            partition, text_of(d.at.sequence).c_str(), hex(d.at.offset).c_str(),
            static_cast<int>(kind.size()), kind.data(), d.tries, static_cast<int>(kept.size()),
            kept.data(), text_of(d.size).c_str(), d.checksum, time(d.occurred).c_str(),
            time(dead_lettered_at(d)).c_str(), hex(d.reason).c_str(), hex(d.body).c_str());
    }
}

int print(engines::postgres& db)
{
    engines::postgres_store store(db);
    for (std::uint32_t p = 0; p != partitions; ++p) print_partition(store, p);
    engines::postgres_leases leases(db);
    std::vector<std::string> lines;
    const auto all = got(leases.list("orders", "billing"));
    const auto owner = [](const waybill::owner_id& o) {
        return "owner=" + o.name + " incarnation=" + std::to_string(o.incarnation);
    };
    for (const waybill::lease& l : all.leases) {
        lines.push_back("lease " + l.key.partition + " " + owner(l.owner) + " epoch=" +
                        std::to_string(l.epoch) + " version=" + std::to_string(l.version));
    }
    for (const auto& o : all.owners)
        lines.push_back(owner(o.owner) + " version=" + std::to_string(o.version));
    std::sort(lines.begin(), lines.end());
    for (const std::string& l : lines) std::printf("%s\n", l.c_str());
    return 0;
}

int wrong = 0;

void expect(bool holds, const char* rule, std::uint32_t partition, std::uint64_t n)
{
    if (holds) return;
    ++wrong;
    std::printf("wrong: %s: event %s of partition %u\n", rule, std::to_string(n).c_str(),
                partition);
}

void check_letter(const waybill::dead_letter& d, std::uint32_t partition, std::uint64_t n)
{
    const event e = event_of(partition, n);
    waybill::batch_policy p = policy_of(partition);
    const auto& letters = version_0_1::dead_letters_of(p);
    const bool summary = partition == 0 && e.body.size() > letters.body_bytes;
    const auto kept = partition == 1 ? dead_letter_body::pointer
                      : summary      ? dead_letter_body::summary
                                     : dead_letter_body::body;
    expect(d.kept == kept && d.size == e.body.size() && d.checksum == waybill::crc32c(e.body),
           "kept, size and checksum", partition, n);
    const std::string body = partition == 1 ? ""
                             : summary      ? e.body.substr(0, letters.summary_bytes)
                                            : e.body;
    expect(d.body == body, "the body", partition, n);
    expect(d.at == waybill::position{e.sequence, e.offset} && d.occurred == e.time,
           "position and time", partition, n);
    const fate f = fate_of(partition, n);
    const auto kind = f == fate::transient ? fault_kind::transient : fault_kind::permanent;
    expect(kind_of(d) == kind, "the kind of error", partition, n);
    expect(f != fate::ends_process || d.reason.find("process") != d.reason.npos,
           "the reason of a poison message", partition, n);
    expect(f != fate::transient || (d.tries == 3 && d.reason == "no answer in time"),
           "tries and reason", partition, n);
    expect(f != fate::permanent || d.reason == hopeless, "the reason", partition, n);
}

/// Each event has taken effect once, or has exactly one dead letter.
int check(engines::postgres& db, std::uint64_t events)
{
    engines::postgres_store store(db);
    engines::prepared effects(db, "SELECT count(*) FROM effects WHERE part = $1 AND sequence = $2");
    engines::prepared count(db, "SELECT count(*) FROM effects");
    std::uint64_t seen = 0;
    for (std::uint32_t p = 0; p != partitions; ++p) {
        const auto at = got(store.load(key_of(p)));
        const event last = event_of(p, events);
        expect(at && at->at == waybill::position{last.sequence, last.offset}, "the checkpoint", p,
               events);
        expect(!got(version_0_1::load_crash_record(store, key_of(p))), "no crash record is left", p,
               0);
        std::uint64_t dead = 0;
        for (std::uint64_t n = 1; n <= events; ++n) {
            const std::uint64_t sequence = event_of(p, n).sequence;
            const auto times = effects.run(std::to_string(p), sequence).number<std::uint64_t>(0, 0);
            const auto letter = got(store.find(key_of(p), sequence));
            const bool effect = fate_of(p, n) == fate::effect;
            expect(times == (effect ? 1U : 0U), "one effect, or none of a dead letter", p, n);
            expect(letter.has_value() != effect, "a dead letter, or none", p, n);
            if (letter) check_letter(*letter, p, n);
            seen += times;
            dead += letter ? 1 : 0;
        }
        expect(got(store.list(key_of(p), {}, 1'000)).size() == dead, "no other dead letter", p, 0);
    }
    expect(count.run().number<std::uint64_t>(0, 0) == seen, "no other effect", 0, 0);
    return wrong == 0 ? 0 : 1;
}

int run(engines::postgres& db, const std::vector<std::string>& words)
{
    if (words[0] == "prepare") return prepare(db);
    if (words[0] == "print") return print(db);
    if (words[0] == "load" && words.size() == 2) return load(db, words[1].c_str());
    if (words[0] == "check" && words.size() == 2) {
        db.connect();
        return check(db, std::stoull(words[1]));
    }
    if (words[0] != "work" || words.size() != 3) return 2;
    db.connect();
    consumer(db, words[1], std::stoull(words[2])).run();
    return 0;
}

}  // namespace

int main(int count, char** argv)
{
    if (count < 3) return 2;
    engines::postgres db(argv[1]);
    try {
        return run(db, {argv + 2, argv + count});
    } catch (const std::exception& e) {
        std::printf("wrong: %s\n", e.what());
        return 1;
    }
}
