// SPDX-License-Identifier: MIT
//
// A consumer of Kafka that has many events under way and passes none over. Three things do it:
//
//   the tracker      knows what is done, and up to where everything is: only that is committed
//   the text beside  says what was done behind it, so that a successor need not do it again
//   the dead letter  of an event is acknowledged before the event counts as done

#include "kafka.hpp"

#include <chrono>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "../support/program.hpp"

namespace reliable_consumer {

using engines::kafka_offset;
using engines::kafka_partition;
using std::chrono::steady_clock;
using namespace std::chrono_literals;

kafka_member::kafka_member(kafka_place where, kafka_world& world, std::uint64_t seed)
    : where_(std::move(where)),
      in_(where_.settings, where_.group, {where_.topic},
          {.assigned = [this](const auto& all) { assigned(all); },
           .revoked = [this](const auto& all, bool lost) { revoked(all, lost); }}),
      letters_(where_.settings),
      pool_(world, seed),
      dead_partitions_(
          letters_.partitions(where_.topic + std::string(engines::dlt::behind_topic), 10s))
{
}

void kafka_member::step()
{
    take_up();
    for (job& j : pool_.finished()) end(std::move(j));
    for (const engines::kafka_delivery& d : letters_.poll(0ms)) {
        job j = std::move(parked_.extract(d.token).mapped());
        if (d.how.ok())
            done(j);
        else
            park_again(std::move(j), d.how);
    }
    for (auto& [at, p] : parts_) {
        if (!p.tracker.assigned()) continue;
        if (p.paused && !closing_ && waybill::can_accept(p.tracker, where_.beside)) {
            in_.resume(at);
            p.paused = false;
        }
        if (p.pace.due(steady_clock::now())) commit(at, p);
    }
}

void kafka_member::take_up()
{
    while (pool_.has_room()) {
        std::optional<engines::kafka_message> m = in_.next(1ms);
        if (!m) return;
        const kafka_partition at = m->at();
        part& p = parts_.at(at);
        const auto ticket = p.tracker.begin(static_cast<std::uint64_t>(m->offset()));
        if (ticket) {
            pool_.start({at, *ticket, std::move(*m)});
        } else if (ticket.error() == waybill::begin_refusal::done_before) {
            ++record_.passed_by;
        } else if (ticket.error() == waybill::begin_refusal::full ||
                   ticket.error() == waybill::begin_refusal::not_ascending) {
            throw std::logic_error("an event would be passed over");
        }
        // Now, and not when the next one has come: what is refused then would have to be kept.
        if (!p.tracker.can_accept()) {
            in_.pause(at);
            p.paused = true;
        }
    }
}

void kafka_member::end(job j)
{
    switch (j.why.how) {
        case waybill::fault_class::none:
            return done(j);
        case waybill::fault_class::transient:
            if (++j.tries < where_.tries) return pool_.start(std::move(j));
            return park(std::move(j));
        case waybill::fault_class::permanent:
            return park(std::move(j));
        default:
            return pool_.start(std::move(j));  // the event is not to blame
    }
}

/// The event is done when its dead letter is there, and not before.
void kafka_member::park(job j)
{
    const std::uint64_t token = ++tokens_;
    while (true) {
        const auto sent = letters_.send(
            engines::dead_letter_of(j.message, j.why, where_.group, dead_partitions_, j.whole),
            token);
        if (sent && *sent) break;
        if (!sent) return park_again(std::move(j), sent.error());
        letters_.wait_for_room(10ms);  // the queue is full
    }
    parked_.emplace(token, std::move(j));
}

/// It is not there. What is refused, say for its size, goes without what it carries.
void kafka_member::park_again(job j, const waybill::fault& why)
{
    const bool refused = why.how == waybill::fault_class::permanent;
    if (refused && !j.whole) throw engines::kafka_error("a dead letter is refused: " + why.text);
    if (refused) j.whole = false;
    ++record_.letters_again;
    park(std::move(j));
}

/// Late where the partition was somebody else's in the meantime: it has begun the event anew.
void kafka_member::done(const job& j)
{
    part& p = parts_.at(j.at);
    if (p.tracker.complete(j.ticket) == waybill::heard::late) return;
    p.pace.on(waybill::events_done{1}, steady_clock::now());
}

void kafka_member::commit(const kafka_partition& at, part& p)
{
    const std::optional<std::uint64_t> next = p.tracker.resume_at();
    if (!next) return;
    p.pace.on(waybill::commit_started{}, steady_clock::now());
    const auto beside = waybill::encode_text(p.tracker, where_.beside);
    const auto answer = in_.commit({{at, static_cast<std::int64_t>(*next), beside.bytes}});
    if (answer) {
        ++record_.commits;
        p.dropped = beside.dropped;
        p.pace.on(waybill::commit_confirmed{}, steady_clock::now());
        return;
    }
    ++record_.commits_failed;
    p.pace.on(waybill::commit_failed{}, steady_clock::now());
    if (answer.error().how != waybill::fault_class::ownership_lost) return;
    record_.cut_off += at_risk_of(p);
    p.tracker.revoke();
}

void kafka_member::assigned(const std::vector<kafka_offset>& all)
{
    for (const kafka_offset& o : all) {
        ++record_.assigned[o.at];
        part& p = parts_
                      .try_emplace(o.at, part{waybill::completion_tracker(where_.room),
                                              waybill::cadence({}, steady_clock::now())})
                      .first->second;
        p.pace = waybill::cadence(where_.pace, steady_clock::now());
        p.paused = false;
        p.dropped = 0;
        std::optional<std::uint64_t> from;  // the last event done
        if (o.next && *o.next > 0) from = static_cast<std::uint64_t>(*o.next - 1);
        auto start = waybill::decode_text(from, o.metadata);
        if (start) {
            p.tracker.resume(*std::move(start));
        } else {
            support::say(
                fmt::format("partition {}: what was done behind {} is {}, and is done again\n",
                            o.at.number, from.value_or(0), name(start.error())));
            p.tracker.assign(from);
        }
    }
}

void kafka_member::revoked(const std::vector<kafka_offset>& all, bool lost)
{
    for (const kafka_offset& o : all) {
        part& p = parts_.at(o.at);
        if (!lost && p.tracker.assigned() && p.pace.unconfirmed() != 0) commit(o.at, p);
        if (p.tracker.assigned()) record_.cut_off += at_risk_of(p);
        if (p.paused) in_.resume(o.at);  // it would still be when it comes back
        p.tracker.revoke();
    }
}

void kafka_member::close()
{
    closing_ = true;
    for (auto& [at, p] : parts_) {
        if (p.tracker.assigned()) in_.pause(at);
    }
    while (pool_.busy() || !parked_.empty()) step();
    in_.close();
}

}  // namespace reliable_consumer
