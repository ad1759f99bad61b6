// SPDX-License-Identifier: MIT
//
// broker: accepts or refuses batches, and records arrivals and reported outcomes.
//
// It counts the actual bytes. It compares the arrivals of each message with the outcome that the
// sender reports. So it finds lost messages, duplicates without an unknown outcome, and messages
// out of order.

#ifndef WAYBILL_BENCH_SIMULATION_BROKER_HPP
#define WAYBILL_BENCH_SIMULATION_BROKER_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "scenarios.hpp"

namespace simulation {

/// Consecutive messages of a stream.
struct stretch {
    std::size_t first = 0;
    std::size_t count = 0;

    friend bool operator==(const stretch&, const stretch&) = default;
};

enum class verdict : std::uint8_t { accepted, refused, unknown };

[[nodiscard]] constexpr const char* name(verdict v)
{
    switch (v) {
        case verdict::accepted: return "accepted";
        case verdict::refused: return "refused";
        case verdict::unknown: return "unknown";
    }
    return "?";
}

struct answer {
    verdict how = verdict::accepted;
    std::uint64_t actual = 0;  // the batch's actual bytes
    std::uint64_t limit = 0;
};

/// The counts of one algorithm in one scenario.
struct tally {
    // Sends by their outcomes, and the minimum of sends.
    std::uint64_t accepted = 0;
    std::uint64_t refused = 0;
    std::uint64_t unknown = 0;
    std::uint64_t optimum = 0;
    // Bytes of refused sends and of repeated ones.
    std::uint64_t bytes_again = 0;
    // Messages.
    // lost: fits and has not arrived, or was not settled.
    // twice: arrived more than once.
    // wrong: arrived more often than its unknown outcomes allow, in another batch than the one with
    // the unknown outcome, or out of order; or was settled twice or with the wrong outcome.
    std::uint64_t lost = 0;
    std::uint64_t twice = 0;
    std::uint64_t wrong = 0;

    [[nodiscard]] double ratio() const
    {
        return static_cast<double>(accepted + refused) / static_cast<double>(optimum);
    }

    tally& operator+=(const tally& t)
    {
        accepted += t.accepted;
        refused += t.refused;
        unknown += t.unknown;
        bytes_again += t.bytes_again;
        optimum += t.optimum;
        lost += t.lost;
        twice += t.twice;
        wrong += t.wrong;
        return *this;
    }
};

class broker {
public:
    broker(const scenario& s, const stream& to)
        : to_(to), tells_(s.numbers), unknown_(s.unknown), dice_(s.dice), books_(to.messages.size())
    {
    }

    [[nodiscard]] const stream& messages() const { return to_; }

    /// Whether a refusal of this broker contains numbers.
    [[nodiscard]] bool tells() const { return tells_; }

    /// One send.
    answer offer(std::span<const stretch> batch)
    {
        answer a{verdict::accepted, envelope, to_.limit_at(batch.front().first)};
        std::uint64_t items = 0;
        for (const stretch& s : batch) {
            for (std::size_t i = s.first; i != s.first + s.count; ++i) {
                a.actual += to_.messages[i].size;
            }
            items += s.count;
        }
        if (a.actual > a.limit || items > most_items) {
            a.how = verdict::refused;
            ++tally_.refused;
            tally_.bytes_again += a.actual;
            return a;
        }
        if (unknown_ != 0 && dice_.fraction() < unknown_) a.how = verdict::unknown;
        ++(a.how == verdict::unknown ? tally_.unknown : tally_.accepted);
        bool again = false;
        for (const stretch& s : batch) {
            for (std::size_t i = s.first; i != s.first + s.count; ++i) {
                again = arrive(i, a.how == verdict::unknown) || again;
            }
        }
        if (again) {
            tally_.bytes_again += a.actual;
            if (!std::equal(batch.begin(), batch.end(), unanswered_.begin(), unanswered_.end())) {
                ++tally_.wrong;
            }
        }
        unanswered_.clear();
        if (a.how == verdict::unknown) unanswered_.assign(batch.begin(), batch.end());
        return a;
    }

    /// The sender reports the outcome of these messages: arrived, or refused.
    void settle(stretch s, bool arrived)
    {
        for (std::size_t i = s.first; i != s.first + s.count; ++i) {
            page& p = books_[i];
            if (p.settled) ++tally_.wrong;
            p.settled = true;
            if (arrived != (p.arrivals != 0)) ++tally_.wrong;
        }
    }

    /// Returns the final counts.
    [[nodiscard]] tally close()
    {
        for (std::size_t i = 0; i != books_.size(); ++i) {
            const page& p = books_[i];
            if (!p.settled || (p.arrivals == 0 && to_.fits_alone(i))) ++tally_.lost;
            if (p.arrivals > 1) ++tally_.twice;
            if (p.arrivals > 1 + p.unanswered) ++tally_.wrong;
        }
        return tally_;
    }

private:
    struct page {
        std::uint8_t arrivals = 0;
        std::uint8_t unanswered = 0;
        bool settled = false;
    };

    /// Records an arrival. Returns whether the message has arrived before.
    bool arrive(std::size_t i, bool unanswered)
    {
        page& p = books_[i];
        if (p.arrivals == 0) {
            if (i < next_) ++tally_.wrong;
            next_ = i + 1;
        }
        if (p.arrivals != 255) ++p.arrivals;
        if (unanswered && p.unanswered != 255) ++p.unanswered;
        return p.arrivals > 1;
    }

    const stream& to_;
    bool tells_;
    double unknown_;
    splitmix64 dice_;
    std::vector<page> books_;
    std::vector<stretch> unanswered_;  // the last batch, if its outcome was unknown
    std::size_t next_ = 0;             // the next message in order
    tally tally_;
};

/// A sender, to one destination or to all. It sees bodies, and the sizes that its evidence
/// contains.
class algorithm {
public:
    algorithm() = default;
    algorithm(const algorithm&) = delete;
    algorithm& operator=(const algorithm&) = delete;
    virtual ~algorithm() = default;

    /// Sends the messages [first, last). Returns after the last of them has ended.
    virtual void call(broker& to, std::size_t first, std::size_t last) = 0;
};

}  // namespace simulation

#endif  // WAYBILL_BENCH_SIMULATION_BROKER_HPP
