// SPDX-License-Identifier: MIT
//
// more_report: runs the second set, and prints its tables.
//
// The target: with the same evidence, at most 1.10 times the requests of the better of the two
// causal peers, refused requests included. With N+A, `--check` fails if it is missed.

#ifndef WAYBILL_BENCH_SIMULATION_MORE_REPORT_HPP
#define WAYBILL_BENCH_SIMULATION_MORE_REPORT_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "more_ours.hpp"
#include "more_peers.hpp"
#include "more_scenarios.hpp"
#include "report.hpp"

namespace simulation {

constexpr double most_over_peers = 1.10;

struct more_contestant {
    std::string name;
    std::string sees;
    std::function<std::unique_ptr<more_algorithm>(const more_scenario&, bool shown)> make;
    bool needs_items = false;  // sizes of single messages, which a compressed batch has not
};

/// A contestant and its tallies, by scenario, for each seed.
struct more_row {
    more_contestant who;
    std::map<std::size_t, std::vector<more_tally>> by_scenario{};

    [[nodiscard]] std::string label() const { return who.name + ", " + who.sees; }
    [[nodiscard]] bool ran(std::size_t n) const { return by_scenario.count(n) != 0; }
    [[nodiscard]] figure of(std::size_t n, double (*value)(const more_tally&)) const
    {
        figure f;
        for (const more_tally& t : by_scenario.at(n)) f.add(value(t));
        return f;
    }
    [[nodiscard]] figure ratio(std::size_t n) const
    {
        return of(n, [](const more_tally& t) { return t.ratio(); });
    }
    [[nodiscard]] bool sound() const
    {
        for (const auto& [n, seeds] : by_scenario) {
            for (const more_tally& t : seeds) {
                if (t.lost != 0 || t.wrong != 0) return false;
            }
        }
        return true;
    }
};

inline more_contestant more_sender(const char* sees, const evidence& e)
{
    return {.name = "ours",
            .sees = sees,
            .make = [e](const more_scenario& s,
                        bool shown) { return std::make_unique<more_ours>(s, e, shown); },
            .needs_items = e.exact};
}

template <class L>
more_contestant more_peer_of(const char* name, bool sizes)
{
    return {.name = name, .sees = sizes ? "N+A" : "N", .make = [sizes](const more_scenario&, bool) {
                return std::make_unique<more_peer>(std::make_unique<L>(), sizes);
            }};
}

inline std::vector<more_row> more_rows()
{
    const more_contestant known{
        .name = "p99 known", .sees = "-", .make = [](const more_scenario& s, bool) {
            return std::make_unique<more_peer>(std::make_unique<known_learner>(s), true);
        }};
    std::vector<more_row> rows;
    for (const more_contestant& c :
         {more_sender("N+A", {.numbers = true, .actual = true}),
          more_sender("N", {.numbers = true}), more_sender("H", {.headers = true}),
          more_sender("E", {.numbers = true, .exact = true}),
          more_peer_of<kafka_learner>("kafka", true), more_peer_of<p99_learner>("p99", true),
          more_peer_of<kafka_learner>("kafka", false), more_peer_of<p99_learner>("p99", false),
          known}) {
        rows.push_back({c});
    }
    return rows;
}

inline void run_more(std::vector<more_row>& rows, std::uint64_t seeds, bool shown)
{
    for (std::size_t n = 0; n != more_count; ++n) {
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
            const more_scenario s = make_more(static_cast<more>(n), seed);
            const std::uint64_t best = optimum(s);
            for (more_row& r : rows) {
                if (r.who.needs_items && s.compressed) continue;
                const bool show = shown && r.who.name == "ours";
                if (show) {
                    std::printf("\n%s, seed %d, %s\n", s.name(), static_cast<int>(seed),
                                r.label().c_str());
                }
                const auto sender = r.who.make(s, show);
                more_broker broker(s);
                for (std::size_t i = 0; i != how_many; i += a_call) {
                    sender->call(broker, i, i + a_call);
                }
                more_tally t = broker.close();
                t.optimum = best;
                r.by_scenario[n].push_back(t);
            }
        }
    }
}

/// Our requests over those of the better peer with the same evidence, for each seed.
inline figure over_peers(const std::vector<more_row>& rows, const std::string& sees, std::size_t n)
{
    std::vector<double> own;
    std::vector<double> better;
    for (const more_row& r : rows) {
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

inline void print_more_head(const char* title)
{
    std::printf("%-16s", title);
    for (const char* name : more_names) std::printf(" %11s", name);
    std::puts("");
}

inline void print_more_overview(const std::vector<more_row>& rows)
{
    std::printf("%-16s", "");
    for (const char* name : more_names) std::printf(" %5s", name);
    std::puts("");
    for (const more_row& r : rows) {
        std::printf("%-16s", r.label().c_str());
        for (std::size_t n = 0; n != more_count; ++n) {
            if (r.ran(n)) std::printf(" %5.3f", r.ratio(n).median());
            else std::printf(" %5s", "-");
        }
        std::puts(r.sound() ? "" : " !");
    }
}

/// Prints the median and the worst seed by evidence, and whether the median meets the target.
/// Returns false if one with N+A does not.
inline bool print_more_targets(const std::vector<more_row>& rows)
{
    bool all_met = true;
    std::printf("\nours over the better of kafka and p99, median/worst, at most %.2f\n",
                most_over_peers);
    for (const char* sees : {"N+A", "N"}) {
        print_more_head(sees);
        std::printf("%-16s", "");
        for (std::size_t n = 0; n != more_count; ++n) {
            std::printf(" %11s", ratio_pair(over_peers(rows, sees, n)).c_str());
        }
        std::printf("\n%-16s", "");
        for (std::size_t n = 0; n != more_count; ++n) {
            const bool met = over_peers(rows, sees, n).median() <= most_over_peers;
            std::printf(" %11s", met ? "met" : "not met");
            if (std::string(sees) == "N+A") all_met = all_met && met;
        }
        std::puts("");
    }
    return all_met;
}

/// How the requests of each sender were: counts, how full, how many in flight. `rounds` is the time
/// if all requests take the same: requests over the mean in flight.
inline void print_more_details(const std::vector<more_row>& rows)
{
    for (std::size_t n = 0; n != more_count; ++n) {
        std::printf("\n%-16s %9s %9s %11s %11s %10s %9s\n", more_names[n], "accepted", "refused",
                    "half empty", "mean fill", "in flight", "rounds");
        for (const more_row& r : rows) {
            if (!r.ran(n)) continue;
            const auto median = [&](double (*value)(const more_tally&)) {
                return r.of(n, value).median();
            };
            std::printf(
                "%-16s %9.0f %9.0f %11.0f %11.3f %10.2f %9.0f\n", r.label().c_str(),
                median([](const more_tally& t) { return static_cast<double>(t.accepted); }),
                median([](const more_tally& t) { return static_cast<double>(t.refused); }),
                median([](const more_tally& t) { return static_cast<double>(t.half_empty); }),
                median([](const more_tally& t) { return t.mean_filled(); }),
                median([](const more_tally& t) { return t.mean_in_flight(); }),
                median([](const more_tally& t) { return t.rounds(); }));
        }
    }
}

/// Returns false if anything was lost, doubled, settled wrongly or out of order, or if a target
/// with N+A is not met.
inline bool run_and_print_more(std::uint64_t seeds, bool all, bool shown)
{
    std::vector<more_row> rows = more_rows();
    run_more(rows, seeds, shown);
    std::printf("\nthe second set: requests over the fewest possible, median of %d seeds\n\n",
                static_cast<int>(seeds));
    print_more_overview(rows);
    const bool all_met = print_more_targets(rows);
    if (all) print_more_details(rows);
    return all_met &&
           std::all_of(rows.begin(), rows.end(), [](const more_row& r) { return r.sound(); });
}

}  // namespace simulation

#endif  // WAYBILL_BENCH_SIMULATION_MORE_REPORT_HPP
