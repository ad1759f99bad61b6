// SPDX-License-Identifier: MIT
//
// peers: other senders for the same messages, each as a small and fair implementation.
//
// None of them is the original code. `article` is the algorithm of the blog post "Sending Large
// Batches to Azure Service Bus" (2017), without its duplicates and its endless recursion: it sends
// only the refused chunk again, and ends with a message that is refused alone. `recut` is the same,
// but cuts the rest again after each refusal. `halving` learns nothing. `ratio` estimates and
// splits like Kafka's producer, which sees the size of each batch after it is built. A higher ratio
// is adopted at once, a lower one in steps of 0.005 a batch, and 5 % of the limit stay free. A
// refusal sets the ratio to the observed one, at least 1. A batch is split at the limit, and a part
// of a batch at half of its size.

#ifndef WAYBILL_BENCH_SIMULATION_PEERS_HPP
#define WAYBILL_BENCH_SIMULATION_PEERS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "broker.hpp"

namespace simulation {

/// Offers the identical batch until its outcome is known. Settles an accepted batch, and a message
/// that is refused alone. Returns false if the batch must be smaller.
inline bool delivered(broker& to, stretch s, answer& got)
{
    do {
        got = to.offer({&s, 1});
    } while (got.how == verdict::unknown);
    const bool taken = got.how == verdict::accepted;
    if (taken || s.count == 1) to.settle(s, taken);
    return taken || s.count == 1;
}

/// The longest stretch from `first` on with a cost of at most `budget`, and at least one message.
template <class Cost>
stretch cut(std::size_t first, std::size_t last, double budget, const Cost& cost)
{
    stretch s{first, 0};
    double bytes = 0;
    while (s.first + s.count != last && s.count != most_items) {
        bytes += cost(s.first + s.count);
        if (s.count != 0 && bytes > budget) break;
        ++s.count;
    }
    return s;
}

/// The state of `article`. A refusal sets the header to the largest one in the batch; if that is
/// not larger than before, it lowers the limit.
class article_state {
public:
    [[nodiscard]] stretch cut_from(const broker& to, std::size_t first, std::size_t last) const
    {
        return cut(first, last, static_cast<double>(limit_), [&](std::size_t i) {
            return static_cast<double>(to.messages().messages[i].body) +
                   static_cast<double>(estimate_);
        });
    }

    void refused(const broker& to, stretch s)
    {
        std::int32_t largest = 0;
        for (std::size_t i = s.first; i != s.first + s.count; ++i) {
            largest = std::max(largest, to.messages().messages[i].header);
        }
        if (largest > estimate_) {
            estimate_ = largest;
        } else {
            limit_ = static_cast<std::uint64_t>(static_cast<double>(limit_) * 0.95);
        }
    }

private:
    std::uint64_t limit_ = 262'000;
    std::int32_t estimate_ = static_cast<std::int32_t>(first_guess);
};

class article final : public algorithm {
public:
    void call(broker& to, std::size_t first, std::size_t last) override
    {
        std::vector<stretch> chunks;
        for (std::size_t at = first; at != last; at += chunks.back().count) {
            chunks.push_back(known_.cut_from(to, at, last));
        }
        answer got;
        for (const stretch& s : chunks) {
            if (delivered(to, s, got)) continue;
            known_.refused(to, s);
            call(to, s.first, s.first + s.count);
        }
    }

private:
    article_state known_;
};

class recut final : public algorithm {
public:
    void call(broker& to, std::size_t first, std::size_t last) override
    {
        answer got;
        while (first != last) {
            const stretch s = known_.cut_from(to, first, last);
            if (delivered(to, s, got)) {
                first += s.count;
            } else {
                known_.refused(to, s);
            }
        }
    }

private:
    article_state known_;
};

class halving final : public algorithm {
public:
    void call(broker& to, std::size_t first, std::size_t last) override
    {
        while (first != last) {
            const stretch s = cut(first, last, static_cast<double>(full_limit), [&](std::size_t i) {
                return static_cast<double>(to.messages().messages[i].body + first_guess);
            });
            send(to, s);
            first += s.count;
        }
    }

private:
    static void send(broker& to, stretch s)
    {
        answer got;
        if (delivered(to, s, got)) return;
        const std::size_t half = s.count / 2;
        send(to, {s.first, half});
        send(to, {s.first + half, s.count - half});
    }
};

/// The estimated ratio of Kafka's producer (CompressionRatioEstimator). A higher observed ratio is
/// adopted at once, with at least 0.05 more; a lower one in steps of 0.005. A refusal sets it to
/// the observed ratio, at least 1.
class kafka_ratio {
public:
    [[nodiscard]] double value() const { return value_; }
    void accepted(double observed)
    {
        if (observed > value_) value_ = std::max(value_ + 0.05, observed);
        else value_ = std::max(value_ - 0.005, observed);
    }
    void refused(double observed) { value_ = std::max(1.0, observed); }

private:
    double value_ = 1;
};

class ratio final : public algorithm {
public:
    void call(broker& to, std::size_t first, std::size_t last) override
    {
        while (first != last) {
            const stretch s = cut_to(to, first, last, static_cast<double>(full_limit));
            send(to, s, false);
            first += s.count;
        }
    }

private:
    [[nodiscard]] static double plain(const broker& to, std::size_t i)
    {
        return static_cast<double>(to.messages().messages[i].body + first_guess);
    }

    [[nodiscard]] stretch cut_to(const broker& to, std::size_t first, std::size_t last,
                                 double target) const
    {
        return cut(first, last, target,
                   [&](std::size_t i) { return 1.05 * estimate_.value() * plain(to, i); });
    }

    void send(broker& to, stretch s, bool was_split)
    {
        double bytes = 0;
        double largest = 0;
        for (std::size_t i = s.first; i != s.first + s.count; ++i) {
            bytes += plain(to, i);
            largest = std::max(largest, plain(to, i));
        }
        answer got;
        const bool over = delivered(to, s, got);
        if (over && got.how == verdict::refused) return;  // a single message gives no estimate
        const double observed = static_cast<double>(got.actual) / bytes;
        if (over) return estimate_.accepted(observed);
        estimate_.refused(observed);
        double target = static_cast<double>(full_limit);
        if (was_split) target = estimate_.value() * std::max(largest, bytes / 2);
        const std::size_t last = s.first + s.count;
        for (std::size_t at = s.first; at != last;) {
            stretch part = cut_to(to, at, last, target);
            // If the estimate does not make it smaller, it is halved, so that the loop ends.
            if (part == s) part.count = s.count / 2;
            send(to, part, true);
            at += part.count;
        }
    }

    kafka_ratio estimate_;
};

}  // namespace simulation

#endif  // WAYBILL_BENCH_SIMULATION_PEERS_HPP
