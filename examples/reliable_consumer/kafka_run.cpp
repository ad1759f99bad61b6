// SPDX-License-Identifier: MIT
//
// The faults of a run: the service of the handlers has an outage, a member joins, one crashes, one
// is stopped during an outage. The checks at the end: each event took effect or, if the ledger
// refuses it, is a dead letter. The committed offsets are the end of the log.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../support/lines.hpp"
#include "../support/program.hpp"
#include "kafka.hpp"
#include "kafka_reader.hpp"
#include "ledger.hpp"

namespace reliable_consumer {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using support::counted;
using support::grouped;

/// The expected and the actual result of a partition.
struct kafka_part {
    std::uint64_t events = 0;
    std::uint64_t hopeless = 0;  ///< Events that must become dead letters.
    std::uint64_t position = 0;
    std::uint64_t applied = 0;
    std::uint64_t again = 0;
    std::uint64_t dead = 0;
    std::uint64_t assigned = 0;  ///< The number of assignments.
    std::uint64_t moved = 0;     ///< Assignments to another member than before.
};

/// Sends all lines, and waits for the acknowledgements. Returns the events of each partition.
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
        if (!downstream_service::judge(line).ok()) ++parts[p].hopeless;
        ++sent;
    }
    reported(out.flush(120s));
    if (there != sent) throw support::complaint("not all events could be produced within 120 s");
    return parts;
}

class kafka_run {
public:
    kafka_run(const options& o, engines::kafka_settings s, std::string topic,
              std::vector<kafka_part> parts, engines::kafka_mock* mock,
              std::chrono::milliseconds longest_silence)
        : mock_(mock),
          seed_(o.seed),
          settings_(std::move(s)),
          topic_(std::move(topic)),
          parts_(std::move(parts)),
          letters_(settings_, topic_),
          longest_silence_(longest_silence)
    {
        for (const kafka_part& p : parts_) events_ += p.events;
    }

    /// Like brokers, the mock refuses commits during a rebalance. So events that were finished in
    /// that time are delivered again, and counted.
    int run()
    {
        const auto begun = steady_clock::now();
        std::unique_ptr<kafka_member> first = member();
        until([&] { first->step(); }, [&] { return done() * 4 >= events_; });
        outage(*first);
        // One refusal of a dead letter is permanent, one transient.
        if (mock_) mock_->refuse(0, {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE});
        if (mock_) mock_->refuse(0, {RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS});
        std::unique_ptr<kafka_member> second = member();
        // It crashes just after a commit, with events in flight before which the commit must stop.
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
        // Like a crash of its process: nothing is committed, nothing given back.
        crashed_with_ = first->at_risk();
        add(1, first->record());
        all_.not_delivered += crashed_with_;
        first.reset();
        const std::uint64_t before = done();
        until([&] { second->step(); },
              [&] { return done() == events_ || done() >= before + (events_ - before) / 2; });
        stop(*second);
        add(2, second->record());
        second.reset();
        const std::unique_ptr<kafka_member> third = member();
        until([&] { third->step(); },
              [&] { return done() == events_ && third->position() == events_; });
        third->close();
        add(3, third->record());
        const std::chrono::duration<double> took = steady_clock::now() - begun;
        return print_and_check(took.count());
    }

private:
    static constexpr std::chrono::milliseconds down_for{2'000};

    std::unique_ptr<kafka_member> member()
    {
        kafka_place where{settings_, topic_, "ledger"};
        where.close_within = 1s;
        where.tries = 2;  // the minimum, so that a try used up by the outage would fail the check
        return std::make_unique<kafka_member>(std::move(where), service_, ++seed_);
    }

    /// First no call returns, for longer than a member may go without a poll. Then each call fails.
    /// The member must stay in the group, and must not retry without pauses. The outage is as long
    /// as some calls take to meet it.
    void outage(kafka_member& m)
    {
        const std::uint64_t revoked = m.record().revoked;
        const auto assigned = m.record().assigned;
        for (const downstream_state s : {downstream_state::hanging, downstream_state::down}) {
            service_.be(s);
            const bool fails = s == downstream_state::down;
            const auto begin = steady_clock::now();
            const auto end = begin + (fails ? down_for : longest_silence_ + 1s);
            until([&] { m.step(); },
                  [&] {
                      const bool met = !fails || service_.in_vain() >= 8;
                      return met && steady_clock::now() >= end;
                  });
            down_ = steady_clock::now() - begin;
        }
        service_.be(downstream_state::up);
        until([&] { m.step(); },
              [&, from = done()] { return done() == events_ || done() >= from + 100; });
        if (m.record().revoked != revoked || m.record().assigned != assigned)
            wrong_.push_back("the member was put out of the group in an outage");
        if (service_.in_vain() > 48)
            wrong_.push_back(counted(service_.in_vain(), "call") + " were made in an outage");
    }

    /// Stops a member while no call returns: it must not wait for events in flight.
    void stop(kafka_member& m)
    {
        service_.be(downstream_state::hanging);
        const auto end = steady_clock::now() + 500ms;
        until([&] { m.step(); }, [&] { return steady_clock::now() >= end; });
        const auto before = steady_clock::now();
        const std::uint64_t not_delivered = m.record().not_delivered;
        m.close();
        stopped_with_ = m.record().not_delivered - not_delivered;
        if (steady_clock::now() - before > 60s) wrong_.push_back("it does not stop in an outage");
        service_.be(downstream_state::up);
    }

    /// Adds the history of a member.
    void add(int number, const member_record& one)
    {
        for (const auto& [at, times] : one.assigned) {
            for (const auto t : times) owners_[at].emplace(t, number);
        }
        all_.passed_by += one.passed_by;
        all_.not_delivered += one.not_delivered;
        all_.commits += one.commits;
        all_.commits_failed += one.commits_failed;
        all_.letters_again += one.letters_again;
    }

    /// Events that took effect or are dead letters.
    [[nodiscard]] std::uint64_t done() const
    {
        return service_.applied().size() + letters_.found().size();
    }

    template <class Step, class Enough>
    void until(Step&& step, Enough&& enough)
    {
        const auto patience = steady_clock::now() + 300s;
        while (!enough()) {
            step();
            letters_.step();
            if (steady_clock::now() < patience) continue;
            throw support::complaint(fmt::format(
                "it does not get on: {} neither took effect nor are dead letters after 300 s",
                counted(events_ - done(), "event")));
        }
    }

    int print_and_check(double seconds)
    {
        engines::kafka_consumer group(settings_, "ledger", {}, {});
        kafka_part sum;
        fmt::print("partition     events   position    applied   again  dead  assigned  moved\n");
        for (std::size_t n = 0; n != parts_.size(); ++n) {
            kafka_part& p = parts_[n];
            const engines::kafka_partition at{topic_, static_cast<std::int32_t>(n)};
            const auto committed = group.committed({at});
            if (!committed) throw support::complaint(committed.error().text);
            p.position = static_cast<std::uint64_t>(committed->front().next.value_or(0));
            int last = 0;
            for (const auto& [when, member] : owners_[at]) {
                ++p.assigned;
                p.moved += last != 0 && last != member;
                last = member;
            }
            count(n, p);
            if (p.position != p.events || !committed->front().metadata.empty()) {
                wrong_.push_back(
                    fmt::format("partition {}: {} is committed, and the log ends at {}", n,
                                p.position, p.events));
            }
            fmt::print("{:>9} {:>10} {:>10} {:>10} {:>7} {:>5} {:>9} {:>6}\n", n, grouped(p.events),
                       grouped(p.position), grouped(p.applied), p.again, p.dead, p.assigned,
                       p.moved);
            sum.events += p.events;
            sum.applied += p.applied;
            sum.again += p.again;
            sum.dead += p.dead;
            sum.assigned += p.assigned;
            sum.moved += p.moved;
        }
        fmt::print("{:>9} {:>10} {:>10} {:>10} {:>7} {:>5} {:>9} {:>6}\n", "all",
                   grouped(sum.events), "", grouped(sum.applied), sum.again, sum.dead, sum.assigned,
                   sum.moved);
        fmt::print(
            "three members in {:.1f} s: one crashed with {} in progress or not committed, and\n"
            "one was stopped with {} while no call returned; {} in an outage of {:.0f} s\n"
            "{} and {} that failed; {} skipped that an earlier owner had done; {} sent again\n",
            seconds, counted(crashed_with_, "event"), grouped(stopped_with_),
            counted(service_.in_vain(), "call"), down_.count(), counted(all_.commits, "commit"),
            grouped(all_.commits_failed), counted(all_.passed_by, "event"),
            counted(all_.letters_again, "dead letter"));
        if (sum.again > all_.not_delivered) {
            wrong_.push_back(
                fmt::format("{} events were handled again, but only {} had not been committed",
                            sum.again, all_.not_delivered));
        }
        if (letters_.wrong() != 0)
            wrong_.push_back(counted(letters_.wrong(), "dead letter") + " cannot be read");
        for (const std::string& w : wrong_) support::say(fmt::format("reliable_consumer: {}\n", w));
        if (!wrong_.empty()) return 1;
        fmt::print(
            "checked: each event took effect at least once, or was refused by the ledger and is\n"
            "a dead letter; only events without a commit were repeated; the outage made no dead\n"
            "letter and removed no member from the group; the committed offsets are the end of\n"
            "the log\n");
        return 0;
    }

    /// Looks for each event of a partition, among the effects and the dead letters.
    void count(std::size_t n, kafka_part& p)
    {
        waybill::idempotency_keys keys({topic_, "ledger", std::to_string(n)});
        for (std::uint64_t offset = 0; offset != p.events; ++offset) {
            const std::string key(keys(offset));
            const auto applied = service_.applied().find(key);
            const auto dead = letters_.found().find(key);
            const bool is_applied = applied != service_.applied().end();
            const bool is_dead = dead != letters_.found().end();
            if (is_applied) p.again += applied->second - 1;
            if (is_dead) p.again += dead->second - 1;
            p.applied += is_applied;
            p.dead += is_dead;
            if (is_applied == is_dead) {
                wrong_.push_back(fmt::format(
                    "{} {}", key, is_dead ? "took effect and is a dead letter" : "is lost"));
            }
        }
        if (p.dead == p.hopeless) return;
        wrong_.push_back(fmt::format("partition {}: {}, and {} have no place in the ledger", n,
                                     counted(p.dead, "dead letter"), p.hopeless));
    }

    engines::kafka_mock* mock_;
    std::uint64_t seed_;
    engines::kafka_settings settings_;
    std::string topic_;
    std::vector<kafka_part> parts_;
    std::uint64_t events_ = 0;
    downstream_service service_{};
    letter_reader letters_;
    member_record all_{};
    std::map<engines::kafka_partition, std::map<steady_clock::time_point, int>> owners_{};
    std::chrono::milliseconds longest_silence_;
    std::chrono::duration<double> down_{};  // each call failed
    std::uint64_t crashed_with_ = 0;
    std::uint64_t stopped_with_ = 0;
    std::vector<std::string> wrong_{};
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
    // A new topic, as a broker may have the events of an earlier run.
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
    // The time until a crash, or a member without polls, is detected. Brokers allow at least 6 s.
    // The mock needs 3 s until a group begins, and removes members with a shorter timeout.
    const std::chrono::milliseconds silence(own ? 3'500 : 6'000);
    s.set("session.timeout.ms", std::to_string(silence.count()));
    s.set("max.poll.interval.ms", std::to_string(silence.count()));
    s.set("heartbeat.interval.ms", "200").set("auto.offset.reset", "earliest");
    return kafka_run(o, s, topic, std::move(parts), own ? &*mock : nullptr, silence).run();
}

}  // namespace reliable_consumer
