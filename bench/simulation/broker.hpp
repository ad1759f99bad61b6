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
#include <utility>
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
    std::uint64_t unknown = 0;  // accepted, without an answer
    std::uint64_t silent = 0;   // refused, without an answer
    std::uint64_t outage = 0;   // without an answer, because the broker was down
    std::uint64_t optimum = 0;
    // Bytes of refused sends and of repeated ones.
    std::uint64_t bytes_again = 0;
    // Messages.
    // lost: fits and has not arrived, or was not settled.
    // twice: arrived more than once.
    // wrong: arrived more often than its unknown outcomes allow, in another batch than the one with
    // the unknown outcome before that was repeated, or out of order; or was settled twice or with
    // the wrong outcome.
    // doubted: fits, has not arrived, and was settled as in doubt; not in an outage.
    // again: was sent again after an unknown outcome.
    std::uint64_t lost = 0;
    std::uint64_t twice = 0;
    std::uint64_t wrong = 0;
    std::uint64_t doubted = 0;
    std::uint64_t again = 0;

    /// All requests, except those of outages.
    [[nodiscard]] std::uint64_t requests() const { return accepted + refused + unknown + silent; }

    [[nodiscard]] double ratio() const
    {
        return static_cast<double>(accepted + refused) / static_cast<double>(optimum);
    }

    tally& operator+=(const tally& t)
    {
        accepted += t.accepted;
        refused += t.refused;
        unknown += t.unknown;
        silent += t.silent;
        outage += t.outage;
        bytes_again += t.bytes_again;
        optimum += t.optimum;
        lost += t.lost;
        twice += t.twice;
        wrong += t.wrong;
        doubted += t.doubted;
        again += t.again;
        return *this;
    }
};

/// Requests without an answer.
struct faults {
    double silent = 0;   // fraction of refusals: the connection breaks
    double outages = 0;  // of each request, the probability that an outage begins
};
constexpr std::uint64_t longest_outage = 12;  // requests

class broker {
public:
    broker(const scenario& s, const stream& to, const faults& f = {})
        : to_(to),
          tells_(s.numbers),
          unknown_(s.unknown),
          faults_(f),
          dice_(s.dice),
          fault_dice_(s.number + 77),
          books_(to.messages.size())
    {
    }

    /// The same messages come again. The counts go on.
    void begin_again()
    {
        settle_books();
        books_.assign(books_.size(), {});
        unanswered_.clear();
        next_ = 0;
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
        count_again(batch);
        if (outage_ != 0 || (faults_.outages != 0 && fault_dice_.fraction() < faults_.outages)) {
            if (outage_ == 0) outage_ = fault_dice_.integer(1, longest_outage);
            --outage_;
            ++tally_.outage;
            return unanswered(batch, a, true);
        }
        if (a.actual > a.limit || items > most_items) {
            if (faults_.silent != 0 && fault_dice_.fraction() < faults_.silent) {
                ++tally_.silent;
                return unanswered(batch, a, false);
            }
            a.how = verdict::refused;
            repeated_ = true;  // its items may be sent in other batches
            ++tally_.refused;
            tally_.bytes_again += a.actual;
            return a;
        }
        if (unknown_ != 0 && dice_.fraction() < unknown_) a.how = verdict::unknown;
        ++(a.how == verdict::unknown ? tally_.unknown : tally_.accepted);
        bool again = false;
        for (const stretch& s : batch) {
            for (std::size_t i = s.first; i != s.first + s.count; ++i) {
                again = arrive(i) || again;
            }
        }
        if (again) tally_.bytes_again += a.actual;
        if (a.how == verdict::unknown) return unanswered(batch, a, false);
        unanswered_.clear();
        return a;
    }

    /// The sender reports that it does not know whether these messages have arrived.
    void doubt(stretch s)
    {
        for (std::size_t i = s.first; i != s.first + s.count; ++i) {
            page& p = books_[i];
            if (p.settled) ++tally_.wrong;
            p.settled = true;
            if (p.unanswered == 0) ++tally_.wrong;
            if (p.arrivals == 0 && !p.down && to_.fits_alone(i)) ++tally_.doubted;
        }
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

    /// The counts so far, without what only `close` knows.
    [[nodiscard]] const tally& so_far() const { return tally_; }

    /// Returns the final counts.
    [[nodiscard]] tally close()
    {
        settle_books();
        return tally_;
    }

private:
    struct page {
        std::uint8_t arrivals = 0;
        std::uint8_t unanswered = 0;  // sends without an answer
        bool down = false;            // the last of them was in an outage
        bool again = false;
        bool settled = false;
    };

    void settle_books()
    {
        for (std::size_t i = 0; i != books_.size(); ++i) {
            const page& p = books_[i];
            if (!p.settled || (p.arrivals == 0 && !p.down && to_.fits_alone(i))) ++tally_.lost;
            if (p.arrivals > 1) ++tally_.twice;
            if (p.arrivals > 1 + p.unanswered) ++tally_.wrong;
        }
    }

    answer unanswered(std::span<const stretch> batch, answer a, bool down)
    {
        a.how = verdict::unknown;
        repeated_ = std::equal(batch.begin(), batch.end(), unanswered_.begin(), unanswered_.end());
        unanswered_.assign(batch.begin(), batch.end());
        for (const stretch& s : batch) {
            for (std::size_t i = s.first; i != s.first + s.count; ++i) {
                page& p = books_[i];
                if (p.unanswered != 255) ++p.unanswered;
                p.down = down;
            }
        }
        return a;
    }

    /// Counts messages that are sent again. Before they are sent in another batch, the batch without
    /// an answer must be repeated.
    void count_again(std::span<const stretch> batch)
    {
        bool any = false;
        for (const stretch& s : batch) {
            for (std::size_t i = s.first; i != s.first + s.count; ++i) {
                page& p = books_[i];
                if (p.unanswered == 0) continue;
                any = true;
                if (!std::exchange(p.again, true)) ++tally_.again;
            }
        }
        if (!any || repeated_ || unanswered_.empty()) return;
        if (!std::equal(batch.begin(), batch.end(), unanswered_.begin(), unanswered_.end()))
            ++tally_.wrong;
    }

    /// Records an arrival. Returns whether the message has arrived before.
    bool arrive(std::size_t i)
    {
        page& p = books_[i];
        if (p.arrivals == 0) {
            if (i < next_) ++tally_.wrong;
            next_ = i + 1;
        }
        if (p.arrivals != 255) ++p.arrivals;
        return p.arrivals > 1;
    }

    const stream& to_;
    bool tells_;
    double unknown_;
    faults faults_;
    splitmix64 dice_;
    splitmix64 fault_dice_;
    std::uint64_t outage_ = 0;  // further requests of an outage
    std::vector<page> books_;
    std::vector<stretch> unanswered_;  // the last batch, if its outcome was unknown
    bool repeated_ = false;            // that was a repetition
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
