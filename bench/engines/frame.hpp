// SPDX-License-Identifier: MIT
//
// frame: rates of peers that take turns on one server, and the row of an engine in the table.
//
//     peers all;
//     all.add("ours", [&](std::uint64_t n) { return events_in(n, [&] { send(n); }); });
//     all.add("single", ...);
//     all.take_turns();
//     r.ours = all.at("ours");
//
//   1. A first turn of each peer is not counted. It determines how many events take 0.3 s.
//   2. The peers take turns, and the order is reversed in each second round. The highest rate of
//      each peer counts: other work on the machine only lowers rates.
//   3. The spread of a peer is how much its highest rate is above its median rate.
//   4. A peer throws if an event is missing at the end of its turn.

#ifndef WAYBILL_BENCH_ENGINES_FRAME_HPP
#define WAYBILL_BENCH_ENGINES_FRAME_HPP

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../examples/support/environment.hpp"
#include <waybill/batch.hpp>

namespace engines_bench {

using clock = std::chrono::steady_clock;

/// An engine, a library or an event is missing.
struct missing : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline void expect(bool is_true, const char* text)
{
    if (!is_true) throw missing(text);
}

inline constexpr int turns = 15;

/// Events per second.
struct rate {
    double highest = 0;  ///< 0: not measured.
    double median = 0;

    [[nodiscard]] double spread() const { return median > 0 ? highest / median - 1 : 0; }
};

/// The rate of a function that handles this number of events.
template <class F>
[[nodiscard]] double events_in(std::uint64_t events, F&& f)
{
    const auto begin = clock::now();
    f();
    return static_cast<double>(events) /
           std::chrono::duration<double>(clock::now() - begin).count();
}

class peers {
public:
    /// `turn(n)` handles n events and returns its rate. Without `events`, n is chosen.
    void add(const std::string& name, std::function<double(std::uint64_t)> turn,
             std::uint64_t events = 0)
    {
        all_.push_back({name, std::move(turn), events});
    }

    void take_turns()
    {
        for (peer& p : all_) {
            if (p.events != 0) static_cast<void>(p.turn(p.events));
            else p.events = fit(p.turn);
        }
        std::map<std::string, std::vector<double>> found;
        for (int n = 0; n != turns; ++n) {
            for (peer& p : all_) found[p.name].push_back(p.turn(p.events));
            std::reverse(all_.begin(), all_.end());
        }
        for (auto& [name, rates] : found) {
            std::sort(rates.begin(), rates.end());
            rates_[name] = {rates.back(), rates[rates.size() / 2]};
        }
    }

    [[nodiscard]] rate at(const std::string& name) const { return rates_.at(name); }

private:
    static constexpr double turn_seconds = 0.3;

    /// About as many events as take 0.3 s.
    [[nodiscard]] static std::uint64_t fit(const std::function<double(std::uint64_t)>& turn)
    {
        for (std::uint64_t n = 100;; n *= 4) {
            const auto in_turn = static_cast<std::uint64_t>(turn(n) * turn_seconds);
            if (in_turn < 3 * n || n > 10'000) return std::clamp(in_turn, n / 4, 3 * n);
        }
    }

    struct peer {
        std::string name{};
        std::function<double(std::uint64_t)> turn{};
        std::uint64_t events = 0;  ///< Of a turn.
    };

    std::vector<peer> all_{};
    std::map<std::string, rate> rates_{};
};

/// One engine. A rate without a value is not in the table.
struct row {
    std::string engine{};    ///< With its version, and what is special about the server.
    std::string adapters{};  ///< Names of files in examples/engines, separated by blanks.
    rate ours{};             ///< Batches through the adapter.
    rate single{};           ///< One event at a time.
    rate library{};          ///< The batches of the client library.
    rate unordered{};        ///< Ours with the guarantees of `library`, if `ours` has more.
    rate consumer{};         ///< run_partitions, run_queue or process_batch.
    rate by_hand{};          ///< The loop by hand.
};

/// Bodies of 16 to 4,096 bytes; the median is 300 bytes. The same in each run.
[[nodiscard]] inline const std::string& body(std::uint64_t n)
{
    static const std::vector<std::string> all = [] {
        std::mt19937_64 random(20'261'101);
        std::lognormal_distribution<double> size(std::log(300.0), 0.6);
        std::vector<std::string> made;
        for (int i = 0; i != 10'000; ++i) {
            made.emplace_back(static_cast<std::size_t>(std::clamp(size(random), 16.0, 4'096.0)),
                              'x');
        }
        return made;
    }();
    return all[n % all.size()];
}

struct message {
    std::string key{}, id{}, body{};
};

/// Messages with new ids. Each has one of 1,000 keys.
[[nodiscard]] inline std::vector<message> messages(std::uint64_t count)
{
    static std::uint64_t number = 0;
    static std::mt19937_64 random(20'261'102);
    std::vector<message> made;
    for (std::uint64_t n = 0; n != count; ++n, ++number)
        made.push_back(
            {"customer-" + std::to_string(random() % 1'000), std::to_string(number), body(number)});
    return made;
}

/// The rate of send_all. `transmit` sends a batch.
template <class Size, class Transmit>
[[nodiscard]] double by_send_all(const std::vector<message>& all,
                                 const waybill::batch_limits& limit, Size size, Transmit transmit)
{
    return events_in(all.size(), [&] {
        support::standard_environment env;
        waybill::batch_sender sender{{.limit = limit}};
        const auto size_of = [&](const message& m) -> std::uint64_t { return size(m.body.size()); };
        const auto report = waybill::send_all(all, size_of, sender, transmit, env);
        expect(report.accepted == all.size(), "send_all: an event was not accepted");
    });
}

/// The bodies of a batch of send_all.
template <class Batch>
[[nodiscard]] std::vector<std::string_view> bodies_of(const Batch& batch)
{
    std::vector<std::string_view> bodies;
    for (const message& m : batch) bodies.push_back(m.body);
    return bodies;
}

/// The first line that a program prints.
[[nodiscard]] inline std::string printed_by(const char* command)
{
    std::string line;
    if (FILE* const out = popen(command, "r")) {
        for (int c = 0; (c = std::fgetc(out)) != EOF && c != '\n';) line += static_cast<char>(c);
        pclose(out);
    }
    return line;
}

// Each works in its own folder, which exists. They throw if the engine is not installed.
[[nodiscard]] row nats(const std::string& folder);
[[nodiscard]] row kafka(const std::string& folder);
[[nodiscard]] row rabbitmq(const std::string& folder);
[[nodiscard]] row postgresql(const std::string& folder);
[[nodiscard]] row sqlite(const std::string& folder);

}  // namespace engines_bench

#endif  // WAYBILL_BENCH_ENGINES_FRAME_HPP
