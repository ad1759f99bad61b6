// SPDX-License-Identifier: MIT
//
// second_ours: waybill::batch_sender as a sender of the second set. A call queues its messages,
// reports `flushed`, and follows `next` until no action is left.

#ifndef WAYBILL_BENCH_SIMULATION_SECOND_OURS_HPP
#define WAYBILL_BENCH_SIMULATION_SECOND_OURS_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "ours.hpp"
#include "second_broker.hpp"
#include <waybill/batch/batch_sender.hpp>
#include <waybill/core/match.hpp>

namespace simulation {

class second_ours final : public second_algorithm {
public:
    /// `shown`: prints a line for each batch and each outcome.
    second_ours(const second_scenario& s, const evidence& e, bool shown = false)
        : see_(e),
          shown_(shown),
          sender_({.limit = {.bytes = full_limit,
                             .items = most_items,
                             .envelope = e.exact ? envelope : 0,
                             .answers_per_entry = false},
                   .item_overhead = e.exact ? 0 : first_guess,
                   .exact_sizes = e.exact,
                   .in_flight = static_cast<std::uint32_t>(s.slots),
                   .ordered = s.ordered()})
    {
    }

    void call(second_broker& to, std::size_t first, std::size_t last) override
    {
        first_ = first - sender_.end();
        bool flushed = false;
        for (bool going = true; going;) {
            while (first != last && (!to.of().fed() || sender_.wants_more())) {
                const message& m = to.of().messages[first];
                const std::uint64_t bytes = see_.exact ? m.size : m.body;
                sender_.on(waybill::batch_sender::queued{bytes, to.of().key(first++)}, now_);
            }
            if (first == last && !flushed) sender_.on(waybill::batch_sender::flushed{}, now_);
            flushed = first == last;
            bool wait = false;
            waybill::match(
                sender_.next(now_), [&](const waybill::batch_sender::send& a) { send(to, a); },
                [&](const waybill::batch_sender::report& x) { settle(to, x); },
                [&](const waybill::wait_until&) { wait = true; },
                [&](const waybill::batch_sender::replace&) { wait = true; },
                [&](waybill::idle) { wait = true; });
            if (wait && to.waiting()) take(to);
            else if (wait) going = false;
        }
    }

private:
    void send(second_broker& to, const waybill::batch_sender::send& a)
    {
        const std::uint64_t attempt = a.attempt;
        batch_.clear();
        for (const waybill::item_range& r : a.items) {
            batch_.push_back({first_ + r.first, r.count});
        }
        if (shown_) {
            std::printf("%8zu %5d items, predicted %7.0f, closed by %s\n", batch_.front().first,
                        static_cast<int>(a.items.items()), static_cast<double>(a.bytes),
                        a.closed == waybill::batch_close_reason::bytes ? "bytes" : "another");
        }
        sender_.on(waybill::batch_sender::started{attempt}, now_);
        to.send(attempt, batch_);
    }

    void take(second_broker& to)
    {
        const second_broker::reply r = to.take();
        if (shown_) {
            std::printf("%8zu answered, actual %7.0f of %6.0f, %s\n", r.batch.front().first,
                        static_cast<double>(r.got.actual), static_cast<double>(r.got.limit),
                        name(r.got.how));
        }
        if (r.got.how == verdict::accepted) {
            waybill::batch_sender::accepted yes{r.tag};
            if (see_.actual && to.of().reports_accepted) yes.actual = r.got.actual;
            sender_.on(yes, now_);
            return;
        }
        waybill::batch_sender::too_large no{r.tag};
        if (see_.numbers) {
            no.actual = r.got.actual;
            no.limit = r.got.limit;
        }
        if (see_.headers) {
            note_sizes(to.of(), r);
            no.item_sizes = sizes_;
        }
        sender_.on(no, now_);
    }

    /// The size of each message of a refused batch: in a compressed one, its share.
    void note_sizes(const second_scenario& s, const second_broker::reply& r)
    {
        const double factor = s.factor(r.batch.front().first, r.sums.bodies);
        sizes_.clear();
        for (const stretch& x : r.batch) {
            for (std::size_t i = x.first; i != x.first + x.count; ++i) {
                const double bytes = factor * static_cast<double>(s.messages[i].size);
                sizes_.push_back(static_cast<std::uint64_t>(std::ceil(bytes)));
            }
        }
    }

    void settle(second_broker& to, const waybill::batch_sender::report& x)
    {
        to.settle({first_ + x.items.first, x.items.count},
                  x.outcome == waybill::item_outcome::accepted);
        sender_.on(waybill::batch_sender::reported{x.items}, now_);
    }

    evidence see_;
    bool shown_;
    waybill::batch_sender sender_;
    std::size_t first_ = 0;  // the message that is the sender's item 0
    waybill::steady_time now_;
    std::vector<stretch> batch_;
    std::vector<std::uint64_t> sizes_;
};

}  // namespace simulation

#endif  // WAYBILL_BENCH_SIMULATION_SECOND_OURS_HPP
