// SPDX-License-Identifier: MIT
//
// ours: waybill::batch_sender with the simulated broker. Only this file uses the library.

#ifndef WAYBILL_BENCH_SIMULATION_OURS_HPP
#define WAYBILL_BENCH_SIMULATION_OURS_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <vector>

#include "broker.hpp"
#include <waybill/batch/batch_sender.hpp>
#include <waybill/core/match.hpp>

namespace simulation {

/// The sizes of the broker that a sender sees.
struct evidence {
    bool headers = false;  // H: the whole size of each message of a refused batch
    bool numbers = false;  // N: the batch's size and the limit, in a refusal
    bool actual = false;   // A: the size of an accepted batch
    bool exact = false;    // E: all sizes from the start, and the limit
    // K: the caller recognises a kind of message, and adds this guess of its further bytes.
    std::uint64_t kind = 0;
};

class ours final : public algorithm {
public:
    /// With a trace, it prints a line for each send.
    explicit ours(const evidence& e, bool trace = false) : see_(e), trace_(trace) {}

    void call(broker& to, std::size_t first, std::size_t last) override
    {
        const stream& s = to.messages();
        const std::uint64_t limit = see_.exact ? s.limit_at(first) : full_limit;
        // A sender that is shared by several brokers keeps its calibration.
        if (!sender_ || &to != last_ || limit != sender_->policy().limit.bytes) {
            sender_ = started_with(limit);
            last_ = &to;
        }
        first_ = first - sender_->end();
        for (std::size_t i = first; i != last; ++i) {
            const message& m = s.messages[i];
            sender_->on(waybill::batch_sender::queued{seen(m)}, now_);
        }
        sender_->on(waybill::batch_sender::flushed{}, now_);
        for (bool going = true; going;) {
            waybill::match(
                sender_->next(now_), [&](const waybill::batch_sender::send& a) { send(to, a); },
                [&](const waybill::batch_sender::report& x) { settle(to, x); },
                [&](const waybill::wait_until& w) { now_ = w.time; },
                [](const waybill::batch_sender::replace&) {},
                [&](waybill::idle) { going = false; });
        }
    }

private:
    /// The size function of a user.
    [[nodiscard]] std::uint64_t seen(const message& m) const
    {
        if (see_.exact) return m.size;
        return m.body + (m.traced ? see_.kind : 0);
    }

    [[nodiscard]] waybill::batch_sender started_with(std::uint64_t limit) const
    {
        const waybill::send_policy policy{
            .limit = {.bytes = limit, .items = most_items, .envelope = see_.exact ? envelope : 0},
            .item_overhead = see_.exact ? 0 : first_guess,
            .exact_sizes = see_.exact};
        if (!sender_ || see_.exact) return waybill::batch_sender(policy);
        return waybill::batch_sender(policy, sender_->learnt());
    }

    void send(broker& to, const waybill::batch_sender::send& a)
    {
        const std::uint64_t attempt = a.attempt;
        const std::uint64_t predicted = a.bytes;
        const std::uint64_t items = a.items.items();
        batch_.clear();
        for (const waybill::item_range& r : a.items) {
            batch_.push_back({first_ + r.first, r.count});
        }
        sender_->on(waybill::batch_sender::started{attempt}, now_);
        const answer got = to.offer(batch_);
        if (trace_) {
            std::printf("%8zu %5d items, predicted %7.0f, actual %7.0f of %6.0f, %s\n",
                        batch_.front().first, static_cast<int>(items),
                        static_cast<double>(predicted), static_cast<double>(got.actual),
                        static_cast<double>(got.limit), name(got.how));
        }
        if (got.how == verdict::accepted) {
            waybill::batch_sender::accepted yes{attempt};
            if (see_.actual) yes.actual = got.actual;
            sender_->on(yes, now_);
        } else if (got.how == verdict::unknown) {
            sender_->on(waybill::batch_sender::outcome_unknown{attempt}, now_);
        } else {
            sender_->on(refusal(to, attempt, got), now_);
        }
    }

    [[nodiscard]] waybill::batch_sender::too_large refusal(const broker& to, std::uint64_t attempt,
                                                           const answer& got)
    {
        waybill::batch_sender::too_large no{attempt};
        if (see_.numbers && to.tells()) {
            no.actual = got.actual;
            no.limit = got.limit;
        }
        if (see_.headers) {
            sizes_.clear();
            for (const stretch& s : batch_) {
                for (std::size_t i = s.first; i != s.first + s.count; ++i) {
                    sizes_.push_back(to.messages().messages[i].size);
                }
            }
            no.item_sizes = sizes_;
        }
        return no;
    }

    void settle(broker& to, const waybill::batch_sender::report& x)
    {
        // An item in doubt after all its tries has arrived, as each send with an unknown outcome.
        const bool arrived = x.outcome == waybill::item_outcome::accepted ||
                             x.outcome == waybill::item_outcome::in_doubt;
        to.settle({first_ + x.items.first, x.items.count}, arrived);
        sender_->on(waybill::batch_sender::reported{x.items}, now_);
    }

    evidence see_;
    bool trace_;
    std::optional<waybill::batch_sender> sender_;
    const broker* last_ = nullptr;
    std::size_t first_ = 0;  // the message that is the sender's item 0
    waybill::steady_time now_;
    std::vector<stretch> batch_;
    std::vector<std::uint64_t> sizes_;
};

}  // namespace simulation

#endif  // WAYBILL_BENCH_SIMULATION_OURS_HPP
