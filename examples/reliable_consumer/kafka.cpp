// SPDX-License-Identifier: MIT
//
// A consumer of Kafka with many events in flight that skips none. Its three parts:
//
//   the tracker      finds the offset before which all events are done: only this is committed
//   the commit text  has the finished events after that offset, which a successor skips
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

kafka_member::kafka_member(kafka_place where, downstream_service& service, std::uint64_t seed)
    : where_(std::move(where)),
      in_(where_.settings, where_.group, {where_.topic},
          {.assigned = [this](const auto& all) { assigned(all); },
           .revoked = [this](const auto& all, bool lost) { revoked(all, lost); }}),
      letters_(where_.settings),
      pool_(service, seed),
      dead_partitions_(
          letters_.partitions(where_.topic + std::string(engines::dlt::behind_topic), 10s)),
      breaker_(where_.guard),
      dice_(seed)
{
}

void kafka_member::step()
{
    take_up();
    hand_out();
    for (job& j : pool_.finished()) end(std::move(j));
    for (const engines::kafka_delivery& d : letters_.poll(1ms)) {
        job j = std::move(parked_.extract(d.token).mapped());
        d.how.ok() ? done(j) : park_again(std::move(j), d.how);
    }
    let_in();
    for (auto& [at, p] : parts_) {
        const bool due = p.tracker.assigned() && p.pace.due(steady_clock::now());
        if (due && !commit(at, p)) break;  // each commit would wait for the missing broker
    }
}

/// A member that does not poll for max.poll.interval.ms is removed from the group. So it polls even
/// without room: paused partitions return no records, and the poll serves only the group.
void kafka_member::take_up()
{
    while (!room_ || in_hand() < where_.at_once) {
        std::optional<engines::kafka_message> m = in_.next(1ms);
        if (!m) return;
        const kafka_partition at = m->at();
        part& p = parts_.at(at);
        const auto ticket = p.tracker.begin(static_cast<std::uint64_t>(m->offset()));
        if (ticket) waiting_.put({at, *ticket, std::move(*m)}, steady_clock::now());
        else if (ticket.error() == waybill::completion_tracker::track_error::done_before)
            ++record_.passed_by;
        else if (ticket.error() == waybill::completion_tracker::track_error::full ||
                 ticket.error() == waybill::completion_tracker::track_error::not_ascending)
            throw std::logic_error("an event would be skipped");
        // Pauses before the next record arrives, as a refused record would have to be kept.
        if (!p.tracker.can_accept()) let_in();
    }
}

/// Pauses partitions, or resumes them. A pause discards prefetched records. So it begins only after
/// `patience` without room, and ends when half of the room is free.
void kafka_member::let_in()
{
    const auto now = steady_clock::now();
    if (in_hand() < where_.at_once) had_room_ = now;
    if (now - had_room_ > where_.patience) room_ = false;
    if (in_hand() <= where_.at_once / 2) room_ = true;
    for (auto& [at, p] : parts_) {
        const bool open = room_ && !closing_ && where_.beside.can_accept(p.tracker);
        if (!p.tracker.assigned() || open == !p.paused) continue;
        open ? in_.resume(at) : in_.pause(at);
        p.paused = !open;
    }
}

/// Gives due events to idle workers, unless the circuit breaker is open.
void kafka_member::hand_out()
{
    const auto now = steady_clock::now();
    if (closing_) waiting_.clear();  // they are delivered again
    while (pool_.has_room() && waiting_.due(now)) {
        const auto permit = breaker_.try_acquire(now);
        if (!permit) break;
        pool_.start(waiting_.take(), *permit);
    }
    while (unsent_.due(now)) park(unsent_.take());
}

void kafka_member::end(job j)
{
    breaker_.record(j.permit, j.why.kind, steady_clock::now());
    // If its partition was revoked in the meantime, the event is handled again by any member.
    if (j.ticket.generation != parts_.at(j.at).tracker.generation()) return;
    if (j.why.ok()) return done(j);
    if (j.why.kind == waybill::fault_kind::permanent) return park(std::move(j));
    const bool to_blame = j.why.kind == waybill::fault_kind::transient;
    if (to_blame && ++j.tries >= where_.tries) return park(std::move(j));
    later(std::move(j), waiting_);
}

void kafka_member::later(job j, job_queue& into)
{
    const double draw = std::uniform_real_distribution<>()(dice_);
    const auto wait = waybill::pause(where_.pauses, ++j.pauses, draw);
    into.put(std::move(j), steady_clock::now() + std::chrono::nanoseconds(wait.count()));
}

/// Sends the dead letter. The event is done when the dead letter is acknowledged.
void kafka_member::park(job j)
{
    const auto sent = letters_.send(
        engines::dead_letter_of(j.message, j.why, where_.group, dead_partitions_, j.whole),
        ++tokens_);
    if (!sent) return park_again(std::move(j), sent.error());
    if (!*sent) return later(std::move(j), unsent_);  // the queue is full
    parked_.emplace(tokens_, std::move(j));
}

/// The dead letter was not stored. If it was refused, for example for its size, it is sent without
/// its body.
void kafka_member::park_again(job j, const waybill::fault& why)
{
    const bool refused = why.kind == waybill::fault_kind::permanent;
    if (refused && !std::exchange(j.whole, false))
        throw engines::kafka_error("a dead letter is refused: " + why.text);
    ++record_.letters_again;
    later(std::move(j), unsent_);
}

/// Has no effect if the partition was revoked in the meantime: its new owner handles the event
/// again.
void kafka_member::done(const job& j)
{
    part& p = parts_.at(j.at);
    if (p.tracker.complete(j.ticket) == waybill::event_result::applied)
        p.pace.on(waybill::commit_schedule::events_done{1}, steady_clock::now());
}

bool kafka_member::commit(const kafka_partition& at, part& p)
{
    const std::optional<std::uint64_t> next = p.tracker.resume_at();
    if (!next) return true;
    p.pace.on(waybill::commit_schedule::commit_started{}, steady_clock::now());
    const auto beside = waybill::encode_text(p.tracker, where_.beside);
    const auto answer = in_.commit({{at, static_cast<std::int64_t>(*next), beside.bytes}});
    if (answer) {
        ++record_.commits;
        p.dropped = beside.dropped;
        p.pace.on(waybill::commit_schedule::commit_confirmed{}, steady_clock::now());
        return true;
    }
    ++record_.commits_failed;
    p.pace.on(waybill::commit_schedule::commit_failed{}, steady_clock::now());
    if (answer.error().kind == waybill::fault_kind::ownership_lost) let_go(at, p);
    return false;
}

void kafka_member::assigned(const std::vector<kafka_offset>& all)
{
    for (const kafka_offset& o : all) {
        record_.assigned[o.at].push_back(steady_clock::now());
        part& p = parts_.try_emplace(o.at, where_).first->second;
        p.pace = waybill::commit_schedule(where_.pace, steady_clock::now());
        p.paused = false;
        p.dropped = 0;
        const std::optional<std::uint64_t> from = o.last_done();
        auto start = waybill::decode_text(from, o.metadata);
        if (!start)
            support::say(
                fmt::format("partition {}: the stored positions done out of order are {}; "
                            "these events are handled again\n",
                            o.at.number, name(start.error())));
        p.tracker.resume(start ? *std::move(start) : waybill::tracker_start{.from = from});
    }
}

void kafka_member::revoked(const std::vector<kafka_offset>& all, bool lost)
{
    for (const kafka_offset& o : all) {
        part& p = parts_.at(o.at);
        if (!lost && p.tracker.assigned() && p.pace.unconfirmed() != 0) commit(o.at, p);
        if (p.tracker.assigned()) let_go(o.at, p);
        if (p.paused) in_.resume(o.at);  // otherwise it would be paused at the next assignment
        ++record_.revoked;
    }
}

void kafka_member::let_go(const kafka_partition& at, part& p)
{
    record_.not_delivered += at_risk_of(p);
    waiting_.drop(at);
    unsent_.drop(at);
    p.tracker.revoke();
}

/// Waits at most `close_within`, as in an outage nothing is finished.
void kafka_member::close()
{
    closing_ = true;
    let_in();
    const auto until = steady_clock::now() + where_.close_within;
    while (pool_.size() + parked_.size() + unsent_.size() != 0 && steady_clock::now() < until)
        step();
    in_.close();
}

}  // namespace reliable_consumer
