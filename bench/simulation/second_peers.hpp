// SPDX-License-Identifier: MIT
//
// second_peers: two causal peers of the second set, and one that is a reference only.
//
//     kafka      estimates the ratio and splits refused batches as Kafka's producer does
//     p99        cuts with the 99th percentile of the ratios of its last 1,000 full batches, and
//                with the 1st percentile of the limits of its last 1,000 full requests
//     p99 known  the same two percentiles of the whole scenario, known in advance
//
// All take messages in order, skip the keys that are in flight, and fill a batch up to the limit.
// If fewer are available, they wait while a request is in flight. The ratio is the size of a batch
// over its bodies and a guess of 54 bytes a header. The peers see sizes and limits in refusals, and
// the sizes of accepted batches if these are reported (A).

#ifndef WAYBILL_BENCH_SIMULATION_SECOND_PEERS_HPP
#define WAYBILL_BENCH_SIMULATION_SECOND_PEERS_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "peers.hpp"
#include "second_broker.hpp"

namespace simulation {

[[nodiscard]] inline double plain_bytes(const message& m)
{
    return static_cast<double>(m.body + first_guess);
}

/// A batch with the sizes that its sender knows.
struct peer_batch {
    std::vector<std::size_t> items;
    double plain = 0;    // bytes, before the ratio
    double largest = 0;  // of an item
    bool full = false;   // closed by its bytes
    bool split = false;  // a part of a refused batch

    void add(std::size_t i, double bytes)
    {
        items.push_back(i);
        plain += bytes;
        largest = std::max(largest, bytes);
    }
};

/// The estimate of a peer, updated with each outcome.
class learner {
public:
    learner() = default;
    learner(const learner&) = delete;
    learner& operator=(const learner&) = delete;
    virtual ~learner() = default;

    /// The most plain bytes of the next batch.
    [[nodiscard]] virtual double room() const = 0;
    virtual void accepted(const peer_batch& b, std::optional<double> actual) = 0;
    virtual void refused(const peer_batch& b, double actual, double limit) = 0;
    /// The most plain bytes of a part of a refused batch. Without it, all is cut again.
    [[nodiscard]] virtual std::optional<double> part(const peer_batch&) const { return {}; }
};

/// The estimated ratio and the split of Kafka's producer. 5 % of the limit stay free. The limit is
/// the configured one.
class kafka_learner final : public learner {
public:
    [[nodiscard]] double room() const override
    {
        return static_cast<double>(full_limit) / (1.05 * estimate_.value());
    }
    void accepted(const peer_batch& b, std::optional<double> actual) override
    {
        if (actual) estimate_.accepted(*actual / b.plain);
    }
    void refused(const peer_batch& b, double actual, double) override
    {
        estimate_.refused(actual / b.plain);
    }
    [[nodiscard]] std::optional<double> part(const peer_batch& b) const override
    {
        return b.split ? std::max(b.largest, b.plain / 2) / 1.05 : room();
    }

private:
    kafka_ratio estimate_;
};

/// The last values, and a percentile of them (nearest rank).
class trailing_window {
public:
    void add(double value)
    {
        if (values_.size() == capacity) values_.pop_front();
        values_.push_back(value);
    }
    [[nodiscard]] bool empty() const { return values_.empty(); }
    [[nodiscard]] double percentile(double part) const
    {
        std::vector<double> v(values_.begin(), values_.end());
        const double rank = std::ceil(part * static_cast<double>(v.size()));
        const auto at = v.begin() + static_cast<std::ptrdiff_t>(std::max(rank, 1.0) - 1);
        std::nth_element(v.begin(), at, v.end());
        return *at;
    }

private:
    static constexpr std::size_t capacity = 1'000;
    std::deque<double> values_;
};

/// If accepted sizes are not reported, the 99th percentile cannot be seen. Then the ratio is that
/// of the last refused batch. It falls with each accepted full one: by 10 % until the first
/// refusal, and by 0.5 % from the 16th after a refusal on.
class p99_learner final : public learner {
public:
    [[nodiscard]] double room() const override
    {
        const double ratio = reported_ ? ratios_.percentile(0.99) : last_refused_ * fall_;
        const double nominal = static_cast<double>(full_limit);
        return (limits_.empty() ? nominal : limits_.percentile(0.01)) / ratio;
    }
    void accepted(const peer_batch& b, std::optional<double> actual) override
    {
        if (!b.full) return;  // the envelope of a small batch would weigh too much
        limits_.add(static_cast<double>(full_limit));
        if (actual) ratios_.add(*actual / b.plain);
        else if (!was_refused_) fall_ *= 0.9;
        else if (++accepted_ >= 16) fall_ *= 0.995;
        reported_ = reported_ || actual.has_value();
    }
    void refused(const peer_batch& b, double actual, double limit) override
    {
        limits_.add(limit);
        was_refused_ = true;
        accepted_ = 0;
        last_refused_ = actual / b.plain;
        fall_ = 1;
        ratios_.add(last_refused_);
    }

private:
    trailing_window ratios_;
    trailing_window limits_;
    double last_refused_ = 1;
    double fall_ = 1;
    std::size_t accepted_ = 0;  // full batches since the last refusal
    bool was_refused_ = false;
    bool reported_ = false;
};

class known_learner final : public learner {
public:
    explicit known_learner(const second_scenario& s)
    {
        trailing_window limits;
        for (std::size_t r = 0; r != std::min<std::size_t>(s.limits.size(), 1'000); ++r) {
            limits.add(static_cast<double>(s.limits[r]));
        }
        limit_ = limits.percentile(0.01);
        ratio_ = 1;
        for (int pass = 0; pass != 3; ++pass) ratio_ = cut_with(s, room());
    }
    [[nodiscard]] double room() const override { return limit_ / ratio_; }
    void accepted(const peer_batch&, std::optional<double>) override {}
    void refused(const peer_batch&, double, double) override {}

private:
    /// The 99th percentile of the ratios if batches are cut at `room` plain bytes.
    [[nodiscard]] static double cut_with(const second_scenario& s, double room)
    {
        trailing_window ratios;
        batch_sums sums;
        double plain = 0;
        std::size_t head = 0;
        for (std::size_t i = 0; i != s.messages.size(); ++i) {
            const double own = plain_bytes(s.messages[i]);
            if (plain + own > room) {
                ratios.add(static_cast<double>(counted(s, head, sums)) / plain);
                sums = {};
                plain = 0;
                head = i;
            }
            sums.add(s.messages[i]);
            plain += own;
        }
        return ratios.percentile(0.99);
    }

    double limit_ = 0;
    double ratio_ = 0;
};

/// A sender that cuts with the estimate of a peer. `sizes`: accepted sizes are reported to it.
class second_peer final : public second_algorithm {
public:
    second_peer(std::unique_ptr<learner> l, bool sizes) : learner_(std::move(l)), sizes_(sizes) {}

    void call(second_broker& to, std::size_t first, std::size_t last) override
    {
        waiting_.resize(last - first);
        for (std::size_t i = first; i != last; ++i) waiting_[i - first] = i;
        while (!waiting_.empty() || !parts_.empty() || to.waiting()) {
            if (!to.has_slot() || !send_next(to)) take(to);
        }
    }

private:
    /// Returns false if it has to wait for an outcome.
    bool send_next(second_broker& to)
    {
        if (!parts_.empty()) {
            for (const std::size_t i : parts_.front().items) {
                if (to.busy(i)) return false;
            }
            send(to, std::move(parts_.front()));
            parts_.pop_front();
            return true;
        }
        peer_batch b = cut(to, waiting_, learner_->room(), true);
        if (b.items.empty() || (!b.full && to.waiting())) return false;
        std::vector<std::size_t> rest;
        std::set_difference(waiting_.begin(), waiting_.end(), b.items.begin(), b.items.end(),
                            std::back_inserter(rest));
        waiting_ = std::move(rest);
        send(to, std::move(b));
        return true;
    }

    /// The next batch of the messages `from`. If `capped`, it has at most `most_next_` items and no
    /// keys in flight.
    [[nodiscard]] peer_batch cut(const second_broker& to, const std::vector<std::size_t>& from,
                                 double room, bool capped) const
    {
        peer_batch b;
        for (const std::size_t i : from) {
            if (capped && to.busy(i)) continue;
            const double own = plain_bytes(to.of().messages[i]);
            const bool over = b.plain + own > room || b.items.size() == most_items;
            b.full = !b.items.empty() && over;
            if (b.full || (capped && b.items.size() == most_next_)) break;
            b.add(i, own);
        }
        b.full = b.full || b.items.size() == most_next_;
        return b;
    }

    void send(second_broker& to, peer_batch&& b)
    {
        std::vector<stretch> runs;
        for (const std::size_t i : b.items) {
            if (!runs.empty() && runs.back().first + runs.back().count == i) ++runs.back().count;
            else runs.push_back({i, 1});
        }
        to.send(0, runs);
        sent_.push_back(std::move(b));
    }

    void take(second_broker& to)
    {
        const second_broker::reply r = to.take();
        const peer_batch b = std::move(sent_.front());
        sent_.pop_front();
        const double actual = static_cast<double>(r.got.actual);
        if (r.got.how == verdict::refused) {
            learner_->refused(b, actual, static_cast<double>(r.got.limit));
            return refused(to, b);
        }
        most_next_ = most_items;
        refusals_ = 0;
        const bool reported = sizes_ && to.of().reports_accepted;
        learner_->accepted(b, reported ? std::optional<double>(actual) : std::nullopt);
        for (const stretch& s : r.batch) to.settle(s, true);
    }

    void refused(const second_broker& to, const peer_batch& b)
    {
        if (const std::optional<double> room = learner_->part(b)) return split(to, b, *room);
        std::vector<std::size_t> all;
        std::merge(waiting_.begin(), waiting_.end(), b.items.begin(), b.items.end(),
                   std::back_inserter(all));
        waiting_ = std::move(all);
        const std::size_t fewer = refusals_++ == 0 ? b.items.size() - 1 : b.items.size() / 2;
        most_next_ = std::max<std::size_t>(1, fewer);
    }

    /// Divides a refused batch into parts of `room` plain bytes, or into halves if one part would
    /// contain all of it. The parts are the next batches.
    void split(const second_broker& to, const peer_batch& b, double room)
    {
        std::vector<std::size_t> rest = b.items;
        std::vector<peer_batch> parts;
        while (!rest.empty()) {
            peer_batch part = cut(to, rest, room, false);
            if (part.items.size() == b.items.size()) {
                room = b.plain / 2;
                part = cut(to, rest, room, false);
            }
            part.split = true;
            rest.erase(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(part.items.size()));
            parts.push_back(std::move(part));
        }
        parts_.insert(parts_.begin(), std::make_move_iterator(parts.begin()),
                      std::make_move_iterator(parts.end()));
    }

    std::unique_ptr<learner> learner_;
    bool sizes_;
    std::vector<std::size_t> waiting_;  // in order
    std::deque<peer_batch> parts_;      // of refused batches
    std::deque<peer_batch> sent_;
    std::size_t most_next_ = most_items;  // items of the next batch, after a refusal
    std::size_t refusals_ = 0;            // in a row
};

}  // namespace simulation

#endif  // WAYBILL_BENCH_SIMULATION_SECOND_PEERS_HPP
