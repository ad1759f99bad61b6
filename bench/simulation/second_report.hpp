// SPDX-License-Identifier: MIT
//
// second_report: runs the second set, and prints its tables.
//
// The target: with the same evidence, at most 1.10 times the requests of the better of the two
// causal peers, refused requests included. With N+A, `--check` fails if it is missed.

#ifndef WAYBILL_BENCH_SIMULATION_SECOND_REPORT_HPP
#define WAYBILL_BENCH_SIMULATION_SECOND_REPORT_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "report.hpp"
#include "second_ours.hpp"
#include "second_peers.hpp"
#include "second_scenarios.hpp"

namespace simulation {

constexpr double max_over_peers = 1.10;

struct second_contestant {
    std::string name;
    std::string sees;
    std::function<std::unique_ptr<second_algorithm>(const second_scenario&, bool shown)> make;
    bool needs_items = false;  // sizes of single messages, which a compressed batch has not
};

/// A contestant and its tallies, by scenario, for each seed.
struct second_row {
    second_contestant who;
    std::map<std::size_t, std::vector<second_tally>> by_scenario{};

    [[nodiscard]] std::string label() const { return who.name + ", " + who.sees; }
    [[nodiscard]] bool ran(std::size_t n) const { return by_scenario.count(n) != 0; }
    [[nodiscard]] figure of(std::size_t n, double (*value)(const second_tally&)) const
    {
        figure f;
        for (const second_tally& t : by_scenario.at(n)) f.add(value(t));
        return f;
    }
    [[nodiscard]] figure ratio(std::size_t n) const
    {
        return of(n, [](const second_tally& t) { return t.ratio(); });
    }
    [[nodiscard]] bool sound() const
    {
        for (const auto& [n, seeds] : by_scenario) {
            for (const second_tally& t : seeds) {
                if (t.lost != 0 || t.wrong != 0) return false;
            }
        }
        return true;
    }
};

inline second_contestant second_sender(const char* sees, const evidence& e)
{
    return {.name = "ours",
            .sees = sees,
            .make = [e](const second_scenario& s,
                        bool shown) { return std::make_unique<second_ours>(s, e, shown); },
            .needs_items = e.exact};
}

template <class L>
second_contestant second_peer_of(const char* name, bool sizes)
{
    return {
        .name = name, .sees = sizes ? "N+A" : "N", .make = [sizes](const second_scenario&, bool) {
            return std::make_unique<second_peer>(std::make_unique<L>(), sizes);
        }};
}

inline std::vector<second_row> second_rows()
{
    const second_contestant known{
        .name = "p99 known", .sees = "-", .make = [](const second_scenario& s, bool) {
            return std::make_unique<second_peer>(std::make_unique<known_learner>(s), true);
        }};
    std::vector<second_row> rows;
    for (const second_contestant& c :
         {second_sender("N+A", {.numbers = true, .actual = true}),
          second_sender("N", {.numbers = true}), second_sender("H", {.headers = true}),
          second_sender("E", {.numbers = true, .exact = true}),
          second_peer_of<kafka_learner>("kafka", true), second_peer_of<p99_learner>("p99", true),
          second_peer_of<kafka_learner>("kafka", false), second_peer_of<p99_learner>("p99", false),
          known}) {
        rows.push_back({c});
    }
    return rows;
}

inline void run_second(std::vector<second_row>& rows, std::uint64_t seeds, bool shown)
{
    for (std::size_t n = 0; n != second_count; ++n) {
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
            const second_scenario s = make_second(static_cast<second_name>(n), seed);
            const std::uint64_t best = optimum(s);
            for (second_row& r : rows) {
                if (r.who.needs_items && s.compressed) continue;
                const bool show = shown && r.who.name == "ours";
                if (show) {
                    std::printf("\n%s, seed %d, %s\n", s.name(), static_cast<int>(seed),
                                r.label().c_str());
                }
                const auto sender = r.who.make(s, show);
                second_broker broker(s);
                for (std::size_t i = 0; i != how_many; i += a_call) {
                    sender->call(broker, i, i + a_call);
                }
                second_tally t = broker.close();
                t.optimum = best;
                r.by_scenario[n].push_back(t);
            }
        }
    }
}

/// Our requests over those of the better peer with the same evidence, for each seed.
inline figure over_peers(const std::vector<second_row>& rows, const std::string& sees,
                         std::size_t n)
{
    std::vector<double> own;
    std::vector<double> better;
    for (const second_row& r : rows) {
        if (r.who.sees != sees || !r.ran(n)) continue;
        const std::vector<double> ratios = r.ratio(n).values();
        if (r.who.name == "ours") {
            own = ratios;
        } else if (better.empty()) {
            better = ratios;
        } else {
            for (std::size_t i = 0; i != ratios.size(); ++i) {
                better[i] = std::min(better[i], ratios[i]);
            }
        }
    }
    figure f;
    for (std::size_t i = 0; i != own.size(); ++i) f.add(own[i] / better[i]);
    return f;
}

inline void print_second_head(const char* title)
{
    std::printf("%-16s", title);
    for (const char* name : second_names) std::printf(" %11s", name);
    std::puts("");
}

inline void print_second_overview(const std::vector<second_row>& rows)
{
    std::printf("%-16s", "");
    for (const char* name : second_names) std::printf(" %5s", name);
    std::puts("");
    for (const second_row& r : rows) {
        std::printf("%-16s", r.label().c_str());
        for (std::size_t n = 0; n != second_count; ++n) {
            if (r.ran(n)) std::printf(" %5.3f", r.ratio(n).median());
            else std::printf(" %5s", "-");
        }
        std::puts(r.sound() ? "" : " !");
    }
}

/// Prints the median and the worst seed by evidence, and whether the median meets the target.
/// Returns false if one with N+A does not.
inline bool print_second_targets(const std::vector<second_row>& rows)
{
    bool all_met = true;
    std::printf("\nours over the better of kafka and p99, median/worst, at most %.2f\n",
                max_over_peers);
    for (const char* sees : {"N+A", "N"}) {
        print_second_head(sees);
        std::printf("%-16s", "");
        for (std::size_t n = 0; n != second_count; ++n) {
            std::printf(" %11s", ratio_pair(over_peers(rows, sees, n)).c_str());
        }
        std::printf("\n%-16s", "");
        for (std::size_t n = 0; n != second_count; ++n) {
            const bool met = over_peers(rows, sees, n).median() <= max_over_peers;
            std::printf(" %11s", met ? "met" : "not met");
            if (std::string(sees) == "N+A") all_met = all_met && met;
        }
        std::puts("");
    }
    return all_met;
}

/// Prints the counts of requests, their mean fill and the mean number in flight. `rounds` is the
/// time if all requests take equally long: requests over the mean in flight.
inline void print_second_details(const std::vector<second_row>& rows)
{
    for (std::size_t n = 0; n != second_count; ++n) {
        std::printf("\n%-16s %9s %9s %11s %11s %10s %9s\n", second_names[n], "accepted", "refused",
                    "half empty", "mean fill", "in flight", "rounds");
        for (const second_row& r : rows) {
            if (!r.ran(n)) continue;
            const auto median = [&](double (*value)(const second_tally&)) {
                return r.of(n, value).median();
            };
            std::printf(
                "%-16s %9.0f %9.0f %11.0f %11.3f %10.2f %9.0f\n", r.label().c_str(),
                median([](const second_tally& t) { return static_cast<double>(t.accepted); }),
                median([](const second_tally& t) { return static_cast<double>(t.refused); }),
                median([](const second_tally& t) { return static_cast<double>(t.half_empty); }),
                median([](const second_tally& t) { return t.mean_filled(); }),
                median([](const second_tally& t) { return t.mean_in_flight(); }),
                median([](const second_tally& t) { return t.rounds(); }));
        }
    }
}

/// Returns false if anything was lost, doubled, settled wrongly or out of order, or if a target
/// with N+A is not met.
inline bool run_and_print_second(std::uint64_t seeds, bool all, bool shown)
{
    std::vector<second_row> rows = second_rows();
    run_second(rows, seeds, shown);
    std::printf("\nthe second set: requests over the fewest possible, median of %d seeds\n\n",
                static_cast<int>(seeds));
    print_second_overview(rows);
    const bool all_met = print_second_targets(rows);
    if (all) print_second_details(rows);
    return all_met &&
           std::all_of(rows.begin(), rows.end(), [](const second_row& r) { return r.sound(); });
}

}  // namespace simulation

#endif  // WAYBILL_BENCH_SIMULATION_SECOND_REPORT_HPP
