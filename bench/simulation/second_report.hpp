// SPDX-License-Identifier: MIT
//
// second_report: runs the second set, and prints its tables.
//
// The targets: with the same evidence, at most 1.10 times the requests of the better of the two
// causal peers, refused requests included, and at most 1.05 times in the mean of all scenarios. With
// N+A and N, `--check` fails if one is missed.

#ifndef WAYBILL_BENCH_SIMULATION_SECOND_REPORT_HPP
#define WAYBILL_BENCH_SIMULATION_SECOND_REPORT_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iterator>
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
constexpr double max_mean_over_peers = 1.05;

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
    [[nodiscard]] bool sound(std::size_t n) const
    {
        if (!ran(n)) return true;
        for (const second_tally& t : by_scenario.at(n)) {
            if (t.lost != 0 || t.wrong != 0) return false;
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
        .name = "p99", .sees = "known", .make = [](const second_scenario& s, bool) {
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

inline void run_second(std::vector<second_row>& rows, std::uint64_t seeds, bool shown,
                       std::size_t count, std::size_t slots)
{
    for (std::size_t n = 0; n != second_count; ++n) {
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
            const second_scenario s = make_second(static_cast<second_name>(n), seed, count, slots);
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
                for (std::size_t i = 0; i != s.messages.size(); i += a_call) {
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

/// Prints a line for each scenario: the requests of each contestant over the fewest possible, and
/// ours over those of the better peer. Returns false if a target is missed.
inline bool print_second_overview(const std::vector<second_row>& rows)
{
    const char* const evidences[] = {"N+A", "N"};
    std::printf("%-8s", "");
    for (const second_row& r : rows) std::printf(" %6s", r.who.name.c_str());
    std::printf("%26s\n%-8s", "over the better peer", "");
    for (const second_row& r : rows) std::printf(" %6s", r.who.sees.c_str());
    for (const char* sees : evidences) std::printf(" %12s", sees);
    std::puts("");
    bool all_met = true;
    double sums[] = {0, 0};
    for (std::size_t n = 0; n != second_count; ++n) {
        std::printf("%-8s", second_names[n]);
        bool sound = true;
        for (const second_row& r : rows) {
            std::printf(" %6s", r.ran(n) ? short_ratio(r.ratio(n).median()).c_str() : "-");
            sound = sound && r.sound(n);
        }
        bool met = true;
        for (std::size_t e = 0; e != std::size(evidences); ++e) {
            const figure f = over_peers(rows, evidences[e], n);
            std::printf(" %12s", ratio_pair(f).c_str());
            sums[e] += f.median();
            met = met && f.median() <= max_over_peers;
        }
        std::printf("%s%s\n", met ? "" : " FAIL", sound ? "" : " !");
        all_met = all_met && met;
    }
    std::printf("%-*s", static_cast<int>(8 + 7 * rows.size()), "mean");
    for (const double sum : sums) {
        const double mean = sum / static_cast<double>(second_count);
        std::printf(" %12s", short_ratio(mean).c_str());
        all_met = all_met && mean <= max_mean_over_peers;
    }
    std::printf("\ntargets: each median at most %.2f, the mean at most %.2f: %s\n", max_over_peers,
                max_mean_over_peers, all_met ? "pass" : "FAIL");
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

/// Of the second set. `messages` and `slots` belong to the scenarios that are fed one by one.
struct second_options {
    std::uint64_t seeds = 5;
    std::size_t messages = how_many;
    std::size_t slots = 1;  // requests in flight
    bool all = false;       // also prints the counts
    bool shown = false;     // also prints each batch of ours
};

/// Returns false if anything was lost, doubled, settled wrongly or out of order, or if a target is
/// not met.
inline bool run_and_print_second(const second_options& o)
{
    std::vector<second_row> rows = second_rows();
    run_second(rows, o.seeds, o.shown, o.messages, o.slots);
    std::printf(
        "\nthe second set: requests over the fewest possible, median of %d seeds\n"
        "over the better peer: ours over the better of kafka and p99, median/worst\n\n",
        static_cast<int>(o.seeds));
    bool good = print_second_overview(rows);
    if (o.all) print_second_details(rows);
    for (std::size_t n = 0; n != second_count; ++n) {
        for (const second_row& r : rows) good = good && r.sound(n);
    }
    return good;
}

}  // namespace simulation

#endif  // WAYBILL_BENCH_SIMULATION_SECOND_REPORT_HPP
