// SPDX-License-Identifier: MIT
//
// second_broker: the broker of the second set. Several requests may be in flight.
//
// There is no clock. The broker decides about a request when it is sent, and returns the outcome of
// the oldest request if all slots are taken, or if the sender has no batch that it may send. It
// checks that a key is never in two requests in flight, and that the messages of a key arrive in
// order, once.

#ifndef WAYBILL_BENCH_SIMULATION_SECOND_BROKER_HPP
#define WAYBILL_BENCH_SIMULATION_SECOND_BROKER_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "broker.hpp"
#include "second_scenarios.hpp"

namespace simulation {

/// The counts of one sender in one scenario, and how full its requests were.
struct second_tally : tally {
    std::uint64_t half_empty = 0;  // accepted requests with less than half of the limit
    double filled = 0;             // sum of size over limit, of accepted requests
    double in_flight = 0;          // sum of the requests in flight at each answer

    [[nodiscard]] double mean_filled() const { return filled / static_cast<double>(accepted); }
    [[nodiscard]] double mean_in_flight() const
    {
        return in_flight / static_cast<double>(accepted + refused);
    }
    [[nodiscard]] double rounds() const
    {
        return static_cast<double>(accepted + refused) / mean_in_flight();
    }
};

class second_broker {
public:
    struct reply {
        std::uint64_t tag = 0;  // the sender's
        answer got;
        std::vector<stretch> batch;
        batch_sums sums;
    };

    explicit second_broker(const second_scenario& s)
        : s_(s), books_(s.messages.size()), busy_(key_count), next_(key_count)
    {
    }

    [[nodiscard]] const second_scenario& of() const { return s_; }
    [[nodiscard]] bool has_slot() const { return pending_.size() != s_.slots; }
    [[nodiscard]] bool waiting() const { return !pending_.empty(); }
    [[nodiscard]] bool busy(std::size_t i) const { return s_.ordered() && busy_[s_.key(i)] != 0; }

    void send(std::uint64_t tag, std::span<const stretch> batch)
    {
        reply r{tag, {}, {batch.begin(), batch.end()}, {}};
        for_each(batch, [&](std::size_t i) {
            if (busy(i)) ++tally_.wrong;
            r.sums.add(s_.messages[i]);
        });
        if (!has_slot()) ++tally_.wrong;
        for_each(batch, [&](std::size_t i) { ++busy_[s_.key(i)]; });
        r.got.limit = s_.limit_of(requests_++);
        r.got.actual = counted(s_, batch.front().first, r.sums);
        if (r.got.actual > r.got.limit || r.sums.items > most_items) {
            r.got.how = verdict::refused;
            ++tally_.refused;
            tally_.bytes_again += r.got.actual;
        } else {
            accept(r);
        }
        pending_.push_back(std::move(r));
    }

    /// Returns the outcome of the oldest request.
    reply take()
    {
        tally_.in_flight += static_cast<double>(pending_.size());
        reply r = std::move(pending_.front());
        pending_.pop_front();
        for_each(r.batch, [&](std::size_t i) { --busy_[s_.key(i)]; });
        return r;
    }

    /// The sender reports the outcome of these messages.
    void settle(stretch s, bool arrived)
    {
        for (std::size_t i = s.first; i != s.first + s.count; ++i) {
            if (books_[i].settled || arrived != books_[i].arrived) ++tally_.wrong;
            books_[i].settled = true;
        }
    }

    [[nodiscard]] second_tally close()
    {
        for (const page& p : books_) {
            if (!p.settled || !p.arrived) ++tally_.lost;
        }
        return tally_;
    }

private:
    struct page {
        bool arrived = false;
        bool settled = false;
    };

    template <class F>
    static void for_each(std::span<const stretch> batch, const F& f)
    {
        for (const stretch& s : batch) {
            for (std::size_t i = s.first; i != s.first + s.count; ++i) f(i);
        }
    }

    void accept(const reply& r)
    {
        ++tally_.accepted;
        if (r.got.actual < r.got.limit / 2) ++tally_.half_empty;
        tally_.filled += static_cast<double>(r.got.actual) / static_cast<double>(r.got.limit);
        for_each(r.batch, [&](std::size_t i) {
            std::size_t& next = next_[s_.key(i)];
            if (books_[i].arrived) ++tally_.twice;
            const bool in_order = s_.ordered() || s_.slots == 1;
            if (books_[i].arrived || (in_order && i < next)) ++tally_.wrong;
            next = i + 1;
            books_[i].arrived = true;
        });
    }

    const second_scenario& s_;
    std::vector<page> books_;
    std::vector<std::uint32_t> busy_;  // items in flight, by key
    std::vector<std::size_t> next_;    // by key, what may arrive next
    std::deque<reply> pending_;
    std::size_t requests_ = 0;
    second_tally tally_;
};

/// A sender of the second set.
class second_algorithm {
public:
    second_algorithm() = default;
    second_algorithm(const second_algorithm&) = delete;
    second_algorithm& operator=(const second_algorithm&) = delete;
    virtual ~second_algorithm() = default;

    /// Sends the messages [first, last). Returns after the last of them has ended.
    virtual void call(second_broker& to, std::size_t first, std::size_t last) = 0;
};

}  // namespace simulation

#endif  // WAYBILL_BENCH_SIMULATION_SECOND_BROKER_HPP
