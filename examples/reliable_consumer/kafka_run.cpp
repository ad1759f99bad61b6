// SPDX-License-Identifier: MIT
//
// What happens to the members of the group: one joins, one crashes. And what came of it: each event
// that was produced took effect or is a dead letter, and what is committed is the end of the log.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../engines/kafka_offsets.hpp"
#include "../support/lines.hpp"
#include "../support/program.hpp"
#include "kafka.hpp"
#include "ledger.hpp"
#include <waybill/consume/process_at_least_once.hpp>

namespace reliable_consumer {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using support::counted;
using support::grouped;

/// What is to be found in the end, and what was found.
struct kafka_part {
    std::uint64_t events = 0;
    std::uint64_t position = 0;
    std::uint64_t applied = 0;
    std::uint64_t again = 0;
    std::uint64_t dead = 0;
    std::uint64_t owners = 0;
};

/// Sends all lines, and waits until they are there. The number of events in each partition.
std::vector<kafka_part> produce(engines::kafka_producer& out, const std::string& topic,
                                const std::string& input, std::int32_t partitions)
{
    std::vector<kafka_part> parts(static_cast<std::size_t>(partitions));
    support::line_source from(input);
    std::string line;
    bool too_long = false;
    std::uint64_t there = 0;
    std::uint64_t sent = 0;
    const auto reported = [&](const std::vector<engines::kafka_delivery>& all) {
        for (const engines::kafka_delivery& d : all) {
            if (!d.how.ok()) throw support::complaint("an event cannot be produced: " + d.how.text);
            ++parts[d.token].events;
            ++there;
        }
    };
    while (from.next(line, too_long)) {
        const std::uint64_t p = partition_of(line, parts.size());
        const engines::kafka_record r{
            .topic = topic, .partition = static_cast<std::int32_t>(p), .body = line};
        while (true) {
            const auto taken = out.send(r, p);
            if (!taken)
                throw support::complaint("an event cannot be produced: " + taken.error().text);
            if (*taken) break;
            reported(out.poll(10ms));
        }
        ++sent;
    }
    reported(out.flush(30s));
    if (there != sent) throw support::complaint("not all events could be produced within 30 s");
    return parts;
}

/// Reads the dead-letter topic, in order: so process_at_least_once is all it takes.
class letter_reader {
public:
    letter_reader(const engines::kafka_settings& s, const std::string& topic)
        : topic_(topic),
          in_(s, "letters", {topic + std::string(engines::dlt::behind_topic)},
              {.assigned =
                   [this](const auto& all) {
                       for (const auto& o : all) {
                           held& h = held_[o.at];
                           h.waiting.clear();
                           h.mine = {engines::kafka_offsets::key_of(o.at, "letters"),
                                     engines::position_of(o), 0};
                       }
                   },
               .revoked = {}})
    {
    }

    void step()
    {
        for (int n = 0; n != 100; ++n) {
            auto m = in_.next(0ms);
            if (!m) break;
            held_[m->at()].waiting.push_back({static_cast<std::uint64_t>(m->offset()), read(*m)});
        }
        engines::kafka_offsets offsets(in_);
        nowhere letters{&wrong_};
        for (auto& [at, h] : held_) {
            if (h.waiting.empty()) continue;
            const auto r = waybill::process_at_least_once(
                offsets, letters, h.mine, h.waiting,
                [this](const letter& l, std::string_view) -> waybill::fault {
                    if (!l.from)
                        return waybill::permanent("its headers are not those of a dead letter");
                    ++found_[*l.from];
                    return {};
                },
                std::chrono::system_clock::now());
            h.mine.from = r.reached;
            std::erase_if(h.waiting, [&](const letter& l) {
                return r.reached && l.sequence <= r.reached->sequence;
            });
        }
    }

    /// By the event's key, how often.
    [[nodiscard]] const std::map<std::string, std::uint64_t>& found() const { return found_; }
    [[nodiscard]] std::uint64_t wrong() const { return wrong_; }

private:
    struct letter {
        std::uint64_t sequence = 0;
        std::optional<std::string> from{};
    };
    struct held {
        waybill::assignment mine{};
        std::vector<letter> waiting{};
    };
    /// A dead letter that cannot be read has nowhere to go; it is counted.
    struct nowhere {
        std::uint64_t* wrong;
        waybill::result<void> put(const waybill::dead_letter&)
        {
            ++*wrong;
            return {};
        }
    };

    std::optional<std::string> read(const engines::kafka_message& m) const
    {
        namespace dlt = engines::dlt;
        const auto partition = engines::big_endian_in(m.header(dlt::partition), 4);
        const auto offset = engines::big_endian_in(m.header(dlt::offset), 8);
        const auto time = engines::big_endian_in(m.header(dlt::timestamp), 8);
        const auto why = m.header(dlt::reason);
        if (m.header(dlt::topic) != topic_ || !partition || !offset || !time || !why ||
            why->empty())
            return {};
        if (m.header(dlt::group) != "ledger" || m.header(dlt::exception) != "waybill.permanent")
            return {};
        return waybill::idempotency_key({topic_, "ledger", std::to_string(*partition)}, *offset);
    }

    std::string topic_;
    std::map<engines::kafka_partition, held> held_{};
    std::map<std::string, std::uint64_t> found_{};
    std::uint64_t wrong_ = 0;
    engines::kafka_consumer in_;
};

/// What all members have been through.
void add(member_record& all, const member_record& one)
{
    for (const auto& [at, n] : one.assigned) all.assigned[at] += n;
    all.passed_by += one.passed_by;
    all.cut_off += one.cut_off;
    all.commits += one.commits;
    all.commits_failed += one.commits_failed;
    all.letters_again += one.letters_again;
}

class kafka_run {
public:
    kafka_run(const options& o, engines::kafka_settings s, std::string topic,
              std::vector<kafka_part> parts, engines::kafka_mock* mock)
        : mock_(mock),
          seed_(o.seed),
          settings_(std::move(s)),
          topic_(std::move(topic)),
          parts_(std::move(parts)),
          letters_(settings_, topic_)
    {
        for (const kafka_part& p : parts_) events_ += p.events;
    }

    /// The mock takes no commit while its group shares out anew, as brokers do: so what was done
    /// just then comes again, and is counted.
    int run()
    {
        const auto begun = steady_clock::now();
        std::unique_ptr<kafka_member> first = member();
        until([&] { first->step(); }, [&] { return done() * 4 >= events_; });
        // Some dead letters are refused for good, and some for now.
        if (mock_) mock_->refuse(0, {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE});
        if (mock_) mock_->refuse(0, {RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS});
        std::unique_ptr<kafka_member> second = member();
        // It crashes right behind a commit, with events under way that the commit must not pass.
        bool committed = false;
        until(
            [&] {
                const std::uint64_t before = first->record().commits;
                first->step();
                second->step();
                committed = first->record().commits != before;
            },
            [&] {
                const bool shared = parts_.size() == 1 || !second->record().assigned.empty();
                const bool now = committed && shared && first->at_risk() >= 8;
                return done() == events_ || (done() * 2 >= events_ && now);
            });
        // As if its process were gone: nothing is committed, nothing given back.
        const std::uint64_t lost = first->at_risk();
        add(all_, first->record());
        all_.cut_off += lost;
        first.reset();
        until([&] { second->step(); },
              [&] { return done() == events_ && second->position() == events_; });
        second->close();
        add(all_, second->record());
        const std::chrono::duration<double> took = steady_clock::now() - begun;
        return print_and_check(lost, took.count());
    }

private:
    std::unique_ptr<kafka_member> member()
    {
        return std::make_unique<kafka_member>(kafka_place{settings_, topic_, "ledger"}, world_,
                                              ++seed_);
    }

    /// Events that took effect or are dead letters.
    [[nodiscard]] std::uint64_t done() const
    {
        return world_.applied().size() + letters_.found().size();
    }

    template <class Step, class Enough>
    void until(Step&& step, Enough&& enough)
    {
        const auto patience = steady_clock::now() + 60s;
        while (!enough()) {
            step();
            letters_.step();
            if (steady_clock::now() < patience) continue;
            throw support::complaint(fmt::format(
                "it does not get on: {} neither took effect nor are dead letters after 60 s",
                counted(events_ - done(), "event")));
        }
    }

    int print_and_check(std::uint64_t lost, double seconds)
    {
        std::vector<std::string> wrong;
        engines::kafka_consumer group(settings_, "ledger", {}, {});
        kafka_part sum;
        fmt::print("partition     events   position    applied   again  dead  owners\n");
        for (std::size_t n = 0; n != parts_.size(); ++n) {
            kafka_part& p = parts_[n];
            const engines::kafka_partition at{topic_, static_cast<std::int32_t>(n)};
            const auto committed = group.committed({at});
            if (!committed) throw support::complaint(committed.error().text);
            p.position = static_cast<std::uint64_t>(committed->front().next.value_or(0));
            p.owners = all_.assigned[at];
            count(n, p, wrong);
            if (p.position != p.events || !committed->front().metadata.empty()) {
                wrong.push_back(fmt::format("partition {}: {} is committed, and the log ends at {}",
                                            n, p.position, p.events));
            }
            fmt::print("{:>9} {:>10} {:>10} {:>10} {:>7} {:>5} {:>7}\n", n, grouped(p.events),
                       grouped(p.position), grouped(p.applied), p.again, p.dead, p.owners);
            sum.events += p.events;
            sum.applied += p.applied;
            sum.again += p.again;
            sum.dead += p.dead;
            sum.owners += p.owners;
        }
        fmt::print("{:>9} {:>10} {:>10} {:>10} {:>7} {:>5} {:>7}\n", "all", grouped(sum.events), "",
                   grouped(sum.applied), sum.again, sum.dead, sum.owners);
        fmt::print(
            "two members in {:.1f} s, one of which crashed with {} under way or not committed;\n"
            "{} and {} that failed; {} done before, out of order, and passed by; {} sent again\n",
            seconds, counted(lost, "event"), counted(all_.commits, "commit"),
            grouped(all_.commits_failed), counted(all_.passed_by, "event"),
            counted(all_.letters_again, "dead letter"));
        if (sum.again > all_.cut_off) {
            wrong.push_back(
                fmt::format("{} were done again, and only {} had to be", sum.again, all_.cut_off));
        }
        if (letters_.wrong() != 0)
            wrong.push_back(counted(letters_.wrong(), "dead letter") + " cannot be read");
        for (const std::string& w : wrong) support::say(fmt::format("reliable_consumer: {}\n", w));
        if (!wrong.empty()) return 1;
        fmt::print(
            "checked: each event took effect at least once, or is a dead letter with its reason; "
            "no more\n"
            "came again than the crash had cut off; what is committed is the end of the log\n");
        return 0;
    }

    /// Looks for each event of a partition, in the world and among the dead letters.
    void count(std::size_t n, kafka_part& p, std::vector<std::string>& wrong) const
    {
        waybill::idempotency_keys keys({topic_, "ledger", std::to_string(n)});
        for (std::uint64_t offset = 0; offset != p.events; ++offset) {
            const std::string key(keys(offset));
            const auto applied = world_.applied().find(key);
            const auto dead = letters_.found().find(key);
            const bool is_applied = applied != world_.applied().end();
            const bool is_dead = dead != letters_.found().end();
            if (is_applied) p.again += applied->second - 1;
            if (is_dead) p.again += dead->second - 1;
            p.applied += is_applied;
            p.dead += is_dead;
            if (is_applied == is_dead) {
                wrong.push_back(
                    fmt::format("{} {}", key, is_dead ? "took effect and is dead" : "is lost"));
            }
        }
    }

    engines::kafka_mock* mock_;
    std::uint64_t seed_;
    engines::kafka_settings settings_;
    std::string topic_;
    std::vector<kafka_part> parts_;
    std::uint64_t events_ = 0;
    kafka_world world_{};
    letter_reader letters_;
    member_record all_{};
};

}  // namespace

std::uint64_t kafka_member::at_risk_of(const part& p)
{
    return p.tracker.in_flight() + p.pace.unconfirmed() + p.dropped;
}

std::uint64_t kafka_member::at_risk() const
{
    std::uint64_t n = 0;
    for (const auto& [at, p] : parts_) n += p.tracker.assigned() ? at_risk_of(p) : 0;
    return n;
}

std::uint64_t kafka_member::position() const
{
    std::uint64_t n = 0;
    for (const auto& [at, p] : parts_)
        n += p.tracker.assigned() ? p.tracker.resume_at().value_or(0) : 0;
    return n;
}

int run_kafka(const options& o)
{
    std::optional<engines::kafka_mock> mock;
    const bool own = o.kafka == "mock";
    if (own) mock.emplace(3);
    // What a broker holds of an earlier run is none of ours.
    const auto now = std::chrono::system_clock::now().time_since_epoch() / 1ms;
    const std::string topic = own ? "events" : fmt::format("waybill-events-{}", now);
    const int partitions = static_cast<int>(o.partitions);
    if (own) mock->topic(topic, partitions);
    if (own) mock->topic(topic + std::string(engines::dlt::behind_topic), partitions);

    engines::kafka_settings s{{"bootstrap.servers", own ? mock->address() : o.kafka}};
    engines::kafka_producer out(s);
    const std::int32_t there = out.partitions(topic, 10s);
    if (there == 0) throw support::complaint(fmt::format("no topic can be had at {}", o.kafka));
    std::vector<kafka_part> parts = produce(out, topic, o.input, there);
    // A crash is noticed after so long. Brokers allow no less than 6 s; the mock takes 3 s for a
    // group to begin, and forgets who does not stay for longer.
    s.set("session.timeout.ms", own ? "3500" : "6000").set("heartbeat.interval.ms", "200");
    s.set("auto.offset.reset", "earliest");
    return kafka_run(o, s, topic, std::move(parts), own ? &*mock : nullptr).run();
}

}  // namespace reliable_consumer
