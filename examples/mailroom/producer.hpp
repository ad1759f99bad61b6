// SPDX-License-Identifier: MIT
//
// producer: events into the queue, in as few batches as it takes.
//
// It knows the bodies of its events. What the queue adds to each, and how much that is, it learns
// from the answers: sender does, and the batches to come are cut with what it has learnt.

#ifndef WAYBILL_EXAMPLES_MAILROOM_PRODUCER_HPP
#define WAYBILL_EXAMPLES_MAILROOM_PRODUCER_HPP

#include <cstdint>
#include <vector>

#include "../engines/sqlite.hpp"
#include "../engines/sqlite_queue.hpp"
#include "event.hpp"
#include "phases.hpp"
#include "tally.hpp"
#include <waybill/batch.hpp>

namespace mailroom {

/// How far a producer has read, in the database of the queue: it is stored in the transaction that
/// enqueues, and so it never says more or less than what is in the queue.
class bookmark {
public:
    explicit bookmark(engines::database& db);
    [[nodiscard]] place load();
    void store(const place& p) { set_.run(p.byte, p.line); }

private:
    engines::statement get_;
    engines::statement set_;
};

class producer {
public:
    producer(engines::database& db, engines::sqlite_queue& queue, phases& at, teller tell);

    /// Where the input is to be read on.
    [[nodiscard]] place from() { return bookmark_.load(); }

    /// What a batch may take, and what an event takes of it, by what is known at this moment.
    [[nodiscard]] waybill::limits limits() const { return {.bytes = sender_.learnt().budget()}; }
    [[nodiscard]] std::uint64_t size(const event& e) const
    {
        return e.body.size() + sender_.learnt().header();
    }

    /// Puts the events into the queue, each of them or a marker in its place.
    void send(const std::vector<event>& batch);

private:
    template <class Batch>
    waybill::send_outcome enqueue(const Batch& batch);
    waybill::send_outcome try_enqueue(const place& next);
    void put_marker(const event& e, std::uint64_t bytes);

    engines::sqlite_queue& queue_;
    phases& at_;
    teller tell_;
    bookmark bookmark_;
    waybill::sender sender_;
    std::vector<engines::message> messages_;
};

}  // namespace mailroom

#endif  // WAYBILL_EXAMPLES_MAILROOM_PRODUCER_HPP
