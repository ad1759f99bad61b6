// SPDX-License-Identifier: MIT
//
// producer: sends events to the queue, in as few batches as possible.
//
// The producer knows the sizes of bodies. batch_sender learns the overhead of the queue from its
// replies, and uses it for later batches.

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

/// The producer's position in the input, in the database of the queue. It is stored in the
/// transaction that enqueues, so it always matches the content of the queue.
class bookmark {
public:
    explicit bookmark(engines::database& db);
    [[nodiscard]] place load();
    void store(const place& p) { set_.run(p.byte, p.line); }

private:
    engines::statement get_;
    engines::statement set_;
};

/// The calibration of the sender, stored with the bookmark. The next worker continues with it.
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

    /// The position from which the input is to be read.
    [[nodiscard]] place from() { return bookmark_.load(); }

    /// Puts each event of a resend_buffer, or its marker, into the queue. Calls `begin` with the
    /// first event before a batch is sent, and `done` with the last one after it was accepted.
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
                if (waybill::holds_alternative<waybill::batch_sender::accepted>(answer))
                    done(*last);
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
