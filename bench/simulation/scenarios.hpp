// SPDX-License-Identifier: MIT
//
// scenarios: the messages, their actual sizes, and the limits of the broker.
//
// Twelve streams of 200,000 messages. A sender sees bodies; only the broker counts headers, the
// wrapping of each message and the envelope of the batch. All random numbers of a scenario are from
// one splitmix64, seeded with the scenario's number (and 1,000 more for each further seed). So each
// run has the same numbers. Bodies are drawn before headers, message by message.

#ifndef WAYBILL_BENCH_SIMULATION_SCENARIOS_HPP
#define WAYBILL_BENCH_SIMULATION_SCENARIOS_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace simulation {

constexpr std::size_t how_many = 200'000;      // messages of a scenario
constexpr std::size_t a_call = 20'000;         // messages of one call
constexpr std::size_t scenarios = 12;          // S1 to S12
constexpr std::uint64_t envelope = 40;         // bytes of a batch before its first message
constexpr std::uint64_t full_limit = 262'144;  // bytes of a batch
constexpr std::uint64_t most_items = 4'500;    // messages of a batch
constexpr std::uint64_t first_guess = 54;      // bytes of a header, the first guess of a sender

class splitmix64 {
public:
    explicit splitmix64(std::uint64_t seed = 0) : state_(seed) {}

    std::uint64_t next()
    {
        std::uint64_t z = state_ += 0x9E37'79B9'7F4A'7C15u;
        z = (z ^ (z >> 30)) * 0xBF58'476D'1CE4'E5B9u;
        z = (z ^ (z >> 27)) * 0x94D0'49BB'1331'11EBu;
        return z ^ (z >> 31);
    }

    /// In [0, 1).
    double fraction() { return static_cast<double>(next() >> 11) * 0x1p-53; }

    /// In [low, high].
    std::uint64_t integer(std::uint64_t low, std::uint64_t high)
    {
        return low + static_cast<std::uint64_t>(fraction() * static_cast<double>(high - low + 1));
    }

    /// Box-Muller, from two random numbers. The second result is not used.
    double normal()
    {
        const double radius = std::sqrt(-2.0 * std::log(1.0 - fraction()));
        return radius * std::cos(6.283185307179586 * fraction());
    }

    std::uint64_t lognormal(double median, double sigma, std::uint64_t most)
    {
        const double x = median * std::exp(sigma * normal());
        return x < static_cast<double>(most) ? static_cast<std::uint64_t>(x) : most;
    }

private:
    std::uint64_t state_;
};

/// The sender sees `body`. The broker counts `size`: body on the wire, header and wrapping.
/// `header` is the size without wrapping less the body, as an SDK reports it. It is negative if
/// bodies are compressed.
struct message {
    std::uint32_t body = 0;
    std::uint32_t size = 0;
    std::int32_t header = 0;
    bool traced = false;  // of the kind with large headers
};

/// Messages for one destination.
struct stream {
    std::vector<message> messages;
    std::size_t call = a_call;
    std::uint64_t first_limit = full_limit;  // for messages before `change`
    std::size_t change = 0;

    [[nodiscard]] std::uint64_t limit_at(std::size_t n) const
    {
        return n < change ? first_limit : full_limit;
    }
    [[nodiscard]] bool fits_alone(std::size_t n) const
    {
        return envelope + messages[n].size <= limit_at(n);
    }
};

/// Most have one destination. `unknown` is the fraction of accepted batches without a reply. `dice`
/// selects them, with the same numbers for every algorithm.
struct scenario {
    std::size_t number = 0;
    std::vector<stream> streams;
    bool numbers = true;  // whether a refusal may contain numbers
    double unknown = 0;
    splitmix64 dice;
};

inline message wired(std::uint64_t body, std::uint64_t wire_body, std::uint64_t header)
{
    const std::uint64_t inner = wire_body + header;
    const std::uint64_t wrap = inner < 256 ? 5 : 8;
    return {static_cast<std::uint32_t>(body), static_cast<std::uint32_t>(inner + wrap),
            static_cast<std::int32_t>(inner) - static_cast<std::int32_t>(body)};
}

/// The ratio of S10: a wave between 0.2 and 0.6, with a period of 100,000 messages.
inline double compressed_to(std::size_t i)
{
    return 0.4 - 0.2 * std::cos(6.283185307179586 * static_cast<double>(i) / 100'000.0);
}

/// Message `i` of a scenario; S11 asks for those of S3 and S7.
inline message drawn(std::size_t number, std::size_t i, splitmix64& dice)
{
    const auto plain = [](std::uint64_t body, std::uint64_t header) {
        return wired(body, body, header);
    };
    switch (number) {
        case 1: return plain(dice.integer(20, 200), 54);
        case 3: {
            const std::uint64_t body = dice.lognormal(400, 0.8, 30'000);
            return plain(body, dice.lognormal(200, 0.7, 8'000));
        }
        case 4: return plain(dice.integer(50, 500), i == 3 ? 20'000 : 60);
        case 5: return plain(dice.integer(50, 500), 60);
        case 6: {
            const std::uint64_t body = dice.integer(50, 500);  // drawn even if it is not used
            return plain(i % 50'000 == 25'000 ? 300'000 : body, 80);
        }
        case 7: return plain(dice.integer(50, 500), i < how_many / 2 ? 54 : 250);
        case 8: {
            const std::uint64_t body = dice.integer(50, 500);
            const bool traced = dice.fraction() < 0.05;
            message m = plain(body, traced ? 3'000 : 60);
            m.traced = traced;
            return m;
        }
        case 9: {
            const std::uint64_t body = dice.integer(50, 500);
            return wired(body, (body + 2) / 3 * 4, 60);
        }
        case 10: {
            const std::uint64_t body = dice.integer(200, 2'000);
            const double wire = std::ceil(static_cast<double>(body) * compressed_to(i));
            return wired(body, static_cast<std::uint64_t>(wire), 60);
        }
        default: return plain(dice.integer(50, 500), 300);  // S2 and S12
    }
}

inline scenario make_scenario(std::size_t number, std::uint64_t seed)
{
    scenario s;
    s.number = number;
    s.dice = splitmix64(number + 1'000 * (seed - 1));
    const std::size_t destinations = number == 11 ? 2 : 1;
    s.streams.resize(destinations);
    for (stream& to : s.streams) {
        to.messages.reserve(how_many / destinations);
        to.call = a_call / destinations;
    }
    for (std::size_t i = 0; i != how_many; ++i) {
        const std::size_t like = number != 11 ? number : i % 2 == 0 ? 3 : 7;
        s.streams[i % destinations].messages.push_back(drawn(like, i, s.dice));
    }
    if (number == 5) {
        s.streams[0].first_limit = 200'000;
        s.streams[0].change = how_many / 2;
    }
    if (number == 12) {
        s.numbers = false;
        s.unknown = 0.05;
    }
    return s;
}

/// The minimum of batches in order, call by call, with known sizes and limit.
inline std::uint64_t optimum(const scenario& s)
{
    std::uint64_t batches = 0;
    for (const stream& to : s.streams) {
        for (std::size_t first = 0; first != to.messages.size(); first += to.call) {
            std::uint64_t bytes = 0;
            std::uint64_t items = 0;
            for (std::size_t i = first; i != first + to.call; ++i) {
                if (!to.fits_alone(i)) continue;
                const std::uint64_t own = to.messages[i].size;
                if (items == 0 || bytes + own > to.limit_at(i) || items == most_items) {
                    ++batches;
                    bytes = envelope;
                    items = 0;
                }
                bytes += own;
                ++items;
            }
        }
    }
    return batches;
}

}  // namespace simulation

#endif  // WAYBILL_BENCH_SIMULATION_SCENARIOS_HPP
