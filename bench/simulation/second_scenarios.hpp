// SPDX-License-Identifier: MIT
//
// second_scenarios: ordered keys, limits that differ by request, and compressed batches.
//
// 200,000 messages for one destination, in calls of 20,000. The limit belongs to a request: it is
// found by the request's number, refused requests included. The broker counts
// `envelope + factor(batch) * sum of sizes`; the factor is 1 if batches are not compressed.
//
//     O2 O4 O8   ordered keys: 500, by Zipf's law; 2, 4, 8 requests in flight
//     N2 N8      two or eight nodes share an address; one has 200 KiB, the others 256 KiB
//     L100       a new limit after every 100 requests, from 128 to 256 KiB
//     D          each message is compressed; the mean ratio drifts, the messages scatter around it
//     C+ C-      each batch is compressed; accepted sizes are reported (C+), or not (C-)
//     B          two kinds of headers, 60 and 1,500 bytes, mixed at random
//     J          the limit of a request is 256 KiB less a random part of up to 10 %
//
// The rest has a constant limit. The sender takes a message only when it needs one:
//
//     season     sizes and compression of messages follow a cycle of 20,000 messages
//     hops       the header changes after every 10,000 messages, from 60 to 1,200 bytes
//     groups     100 to 2,000 messages of one producer in a row, each with its ratio of compression
//     turns      headers of 80 and of 900 bytes, in turns of 1,500 messages
//     base64     a third of the messages are encoded in base64
//     giants     one body of 2,000 has 20 to 200 KB
//     pareto     bodies from 100 to 60,000 bytes, with a heavy tail
//     growth     the header grows steadily, from 50 to 2,000 bytes
//     burst      3,000 of every 25,000 messages have eight times the size, and larger headers
//     tiny       bodies of 0 to 20 bytes, with headers of 90 to 110 bytes

#ifndef WAYBILL_BENCH_SIMULATION_SECOND_SCENARIOS_HPP
#define WAYBILL_BENCH_SIMULATION_SECOND_SCENARIOS_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "scenarios.hpp"

namespace simulation {

enum class second_name : std::uint8_t {
    O2,
    O4,
    O8,
    N2,
    N8,
    L100,
    D,
    C_plus,
    C_minus,
    B,
    J,
    season,
    hops,
    groups,
    turns,
    base64,
    giants,
    pareto,
    growth,
    burst,
    tiny
};

inline constexpr const char* second_names[] = {
    "O2",    "O4",     "O8",     "N2",     "N8",     "L100",  "D",
    "C+",    "C-",     "B",      "J",      "season", "hops",  "groups",
    "turns", "base64", "giants", "pareto", "growth", "burst", "tiny"};
constexpr std::size_t second_count = std::size(second_names);

constexpr std::uint64_t small_limit = 204'800;  // bytes of a batch, at a small node
constexpr std::size_t key_count = 500;          // of the ordered scenarios
constexpr double key_exponent = 1.0;            // of Zipf's law
constexpr std::size_t limits_drawn = 1U << 15;  // requests until the limits repeat
constexpr double level_pull = 1.0 / 10'000;     // D and C: how fast the level returns
constexpr double level_sigma = 0.3;             // and its deviation, of the logarithm
constexpr double mean_ratio = 0.35;             // of compression

struct second_scenario {
    second_name which{};
    std::vector<message> messages;
    std::vector<std::uint32_t> keys;    // empty if there is no order
    std::vector<std::uint64_t> limits;  // by the number of the request, and from the first again
    std::size_t slots = 1;              // requests in flight
    bool reports_accepted = true;       // whether the sizes of accepted batches may be reported
    bool compressed = false;            // whether batches are compressed
    std::uint64_t seed = 0;

    [[nodiscard]] const char* name() const { return second_names[static_cast<std::size_t>(which)]; }
    [[nodiscard]] bool ordered() const { return !keys.empty(); }
    /// Whether the sender takes a message only when it needs one.
    [[nodiscard]] bool fed() const { return which >= second_name::season; }
    [[nodiscard]] std::uint32_t key(std::size_t i) const { return keys.empty() ? 0 : keys[i]; }
    [[nodiscard]] std::uint64_t limit_of(std::size_t request) const
    {
        return limits[request % limits.size()];
    }

    /// The factor of a compressed batch. It falls with the bytes of the bodies, from 1.5 to 1, and
    /// has a noise of 2 % that belongs to the first message.
    [[nodiscard]] double factor(std::size_t first, std::uint64_t bodies) const
    {
        if (!compressed) return 1;
        splitmix64 dice(seed * 1'000'003 + first);
        const double noise = std::exp(0.02 * dice.normal());
        return noise * (1 + 0.5 * std::sqrt(16'384.0 / (16'384.0 + static_cast<double>(bodies))));
    }
};

/// The sums of a batch, from which the broker's bytes follow.
struct batch_sums {
    std::uint64_t bodies = 0;
    std::uint64_t sizes = 0;
    std::uint64_t items = 0;

    void add(const message& m)
    {
        bodies += m.body;
        sizes += m.size;
        ++items;
    }
};

inline std::uint64_t counted(const second_scenario& s, std::size_t first, const batch_sums& b)
{
    const double bytes = s.factor(first, b.bodies) * static_cast<double>(b.sizes);
    return envelope + static_cast<std::uint64_t>(std::ceil(bytes));
}

/// A logarithm that wanders around 0 and returns to it.
class wandering_level {
public:
    double next(splitmix64& dice)
    {
        level_ += -level_pull * level_ + level_sigma * std::sqrt(2 * level_pull) * dice.normal();
        return level_;
    }

private:
    double level_ = 0;
};

/// Key numbers by Zipf's law.
class key_dice {
public:
    key_dice()
    {
        double sum = 0;
        for (std::size_t k = 0; k != key_count; ++k) {
            sum += std::pow(static_cast<double>(k + 1), -key_exponent);
            upper_.push_back(sum);
        }
    }
    [[nodiscard]] std::uint32_t draw(splitmix64& dice) const
    {
        const double x = dice.fraction() * upper_.back();
        const auto found = std::upper_bound(upper_.begin(), upper_.end(), x);
        return static_cast<std::uint32_t>(found - upper_.begin());
    }

private:
    std::vector<double> upper_;
};

/// Message `i` of a scenario whose messages are taken one by one. `header` and `ratio` belong to
/// the messages since the last change, which comes at `change`.
struct message_dice {
    std::uint64_t header = 60;
    double ratio = 1;
    std::size_t change = 0;

    message draw(second_name which, std::size_t i, std::size_t count, splitmix64& dice)
    {
        const auto times = [](std::uint64_t body, double factor) {
            return static_cast<std::uint64_t>(std::ceil(static_cast<double>(body) * factor));
        };
        std::uint64_t body = dice.integer(50, 500);
        switch (which) {
            case second_name::season: {
                const double cycle = 6.283185307179586 * static_cast<double>(i) / 20'000.0;
                const double day = 0.5 - 0.5 * std::cos(cycle);
                body = dice.lognormal(300 * std::pow(10, day), 0.7, 60'000);
                return wired(body, times(body, 0.35 + 0.45 * day), 60);
            }
            case second_name::hops:
                if (i % 10'000 == 0)
                    header = static_cast<std::uint64_t>(60 * std::pow(20, dice.fraction()));
                return wired(body, body, header);
            case second_name::groups:
                if (i == change) {
                    change += dice.integer(100, 2'000);
                    ratio = 0.2 + 0.8 * dice.fraction();
                }
                return wired(body * 4, times(body * 4, ratio), 60);
            case second_name::turns: return wired(body, body, i / 1'500 % 2 == 0 ? 80 : 900);
            case second_name::base64:
                return wired(body, dice.integer(1, 3) == 1 ? (body + 2) / 3 * 4 : body, 60);
            case second_name::giants:
                if (dice.integer(1, 2'000) == 1) body = dice.integer(20'000, 200'000);
                return wired(body, body, 110);
            case second_name::pareto:
                body = times(100, std::min(600.0, std::pow(1 - dice.fraction(), -1 / 1.3)));
                return wired(body, body, 110);
            case second_name::growth: return wired(body, body, 50 + 1'950 * i / count);
            case second_name::burst: {
                const bool large = i % 25'000 >= 22'000;
                return wired(large ? 8 * body : body, large ? 8 * body : body, large ? 300 : 60);
            }
            default: {
                body = dice.integer(0, 20);
                return wired(body, body, dice.integer(90, 110));
            }
        }
    }
};

inline void draw_messages(second_scenario& s, std::size_t count, splitmix64& dice)
{
    const key_dice keys;
    wandering_level level;
    message_dice fed;
    s.messages.reserve(count);
    for (std::size_t i = 0; i != count; ++i) {
        if (s.fed()) {
            s.messages.push_back(fed.draw(s.which, i, count, dice));
        } else if (s.slots != 1) {
            const std::uint64_t body = dice.integer(50, 500);
            s.messages.push_back(wired(body, body, 60));
            s.keys.push_back(keys.draw(dice));
        } else if (s.which == second_name::D || s.compressed) {
            const std::uint64_t body =
                s.compressed ? dice.integer(200, 2'000) : dice.integer(500, 5'000);
            const double wander = s.which == second_name::D ? level.next(dice) : 0;
            const double ratio = mean_ratio * std::exp(wander + 0.2 * dice.normal());
            const double wire = std::ceil(static_cast<double>(body) * std::min(1.0, ratio));
            s.messages.push_back(wired(body, static_cast<std::uint64_t>(wire), 60));
        } else if (s.which == second_name::B) {
            const std::uint64_t body = dice.integer(50, 500);
            s.messages.push_back(wired(body, body, dice.fraction() < 0.25 ? 1'500 : 60));
        } else {
            const std::uint64_t body = dice.integer(200, 2'000);
            s.messages.push_back(wired(body, body, 60));
        }
    }
}

inline void draw_limits(second_scenario& s, splitmix64& dice)
{
    const bool constant = s.fed() || s.slots != 1 || s.which == second_name::D || s.compressed ||
                          s.which == second_name::B;
    for (std::size_t r = 0; r != (constant ? 1 : limits_drawn); ++r) {
        std::uint64_t limit = full_limit;
        if (s.which == second_name::N2 && dice.integer(1, 2) == 1) limit = small_limit;
        if (s.which == second_name::N8 && dice.integer(1, 8) == 1) limit = small_limit;
        if (s.which == second_name::L100 && r % 100 != 0) limit = s.limits.back();
        if (s.which == second_name::L100 && r % 100 == 0)
            limit = dice.integer(full_limit / 2, full_limit);
        if (s.which == second_name::J) {
            limit = static_cast<std::uint64_t>((1 - 0.1 * dice.fraction()) * 262'144.0);
        }
        s.limits.push_back(limit);
    }
}

inline second_scenario make_second(second_name which, std::uint64_t seed,
                                   std::size_t count = how_many, std::size_t slots = 1)
{
    second_scenario s;
    s.which = which;
    s.seed = 100 + static_cast<std::uint64_t>(which) + 1'000 * (seed - 1);
    if (which == second_name::C_minus) --s.seed;  // the same messages as C+
    if (which == second_name::O2) s.slots = 2;
    if (which == second_name::O4) s.slots = 4;
    if (which == second_name::O8) s.slots = 8;
    s.compressed = which == second_name::C_plus || which == second_name::C_minus;
    s.reports_accepted = which != second_name::C_minus;
    splitmix64 dice(s.seed);
    if (s.fed()) s.slots = slots;
    draw_messages(s, s.fed() ? count : how_many, dice);
    draw_limits(s, dice);
    return s;
}

/// The fewest requests of a sender that knows all sizes and the limit of each request, call by
/// call: cuts in order. With keys, any order: the bytes of a call divided by the limit.
inline std::uint64_t optimum(const second_scenario& s)
{
    std::uint64_t requests = 0;
    for (std::size_t first = 0; first != s.messages.size(); first += a_call) {
        batch_sums sums;
        std::size_t head = first;
        for (std::size_t i = first; i != first + a_call; ++i) {
            batch_sums with = sums;
            with.add(s.messages[i]);
            const std::uint64_t bytes = counted(s, head, with);
            const bool fits = bytes <= s.limit_of(requests) && sums.items != most_items;
            if (s.ordered() || fits) {
                sums = with;
                continue;
            }
            ++requests;
            sums = {};
            head = i;
            sums.add(s.messages[i]);
        }
        const std::uint64_t room = full_limit - envelope;
        requests += s.ordered() ? (sums.sizes + room - 1) / room : 1;
    }
    return requests;
}

}  // namespace simulation

#endif  // WAYBILL_BENCH_SIMULATION_SECOND_SCENARIOS_HPP
