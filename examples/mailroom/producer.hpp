// SPDX-License-Identifier: MIT
//
// producer: events into the queue, in as few batches as it takes.
//
// It knows the bodies of its events. What the queue adds to each, and how much that is, it learns
// from the answers: sender does, and the batches to come are cut with what it has learnt.

#ifndef WAYBILL_EXAMPLES_MAILROOM_PRODUCER_HPP
#define WAYBILL_EXAMPLES_MAILROOM_PRODUCER_HPP

#include <cstdint>
#include <variant>
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

/// What has been learnt about the queue, kept beside the bookmark: the next worker goes on with it.
class learnt {
public:
    explicit learnt(engines::database& db);
    [[nodiscard]] waybill::calibration load();
    void store(const waybill::calibration& c);

private:
    engines::statement get_;
    engines::statement set_;
};

class producer {
public:
    producer(engines::database& db, engines::sqlite_queue& queue, phases& at,
             progress_sink progress);

    /// Where the input is to be read on.
    [[nodiscard]] place from() { return bookmark_.load(); }

    /// Puts all events of a resend_buffer into the queue, each of them or a marker in its place.
    /// Before a batch goes, `begin` hears of its first event, and when it is in the queue `done` of
    /// its last.
    template <class Box, class Begin, class Done>
    void send(Box& events, Begin&& begin, Done&& done)
    {
        check(waybill::send_all(
            events, [](const event& e) { return e.body.size(); }, sender_,
            [&](const auto& batch) {
                begin(*batch.begin());
                const event* last = nullptr;
                messages_.clear();
                for (const event& e : batch) {
                    messages_.push_back(to_message(e));
                    last = &e;
                }
                const waybill::send_outcome answer = enqueue(last->next);
                if (waybill::holds_alternative<waybill::batch_sender::accepted>(answer)) done(*last);
                return answer;
            },
            waybill::steady_time{},
            [this](event& e, const waybill::batch_sender::replace& r) {
                put_marker(e, r.bytes);
                return waybill::fault{};
            }));
    }

private:
    waybill::send_outcome enqueue(const place& next);
    void put_marker(event& e, std::uint64_t bytes);
    static void check(const waybill::send_report& report);

    engines::sqlite_queue& queue_;
    phases& at_;
    progress_sink progress_;
    bookmark bookmark_;
    learnt learnt_;
    waybill::batch_sender sender_;
    std::vector<engines::message> messages_;
};

}  // namespace mailroom

#endif  // WAYBILL_EXAMPLES_MAILROOM_PRODUCER_HPP
