// SPDX-License-Identifier: MIT
//
// silent: the scenarios S1 to S12 with refusals that only break the connection, and with outages.
//
// Refusals have no numbers. None, half or all of them are silent: the sender sees an unknown outcome.
// In the second half of the table, an outage of 1 to 12 requests begins with each 200th request, on
// average. The messages of a scenario are sent again and again, by one sender, until the sender with
// a verdict for each request needs at least 2,000 requests.
//
// The target: at most 1.10 times the requests of that sender, requests in outages left out. Nothing
// that fits ends in doubt, and `maybe_twice` is the number of messages that were sent again.

#ifndef WAYBILL_BENCH_SIMULATION_SILENT_HPP
#define WAYBILL_BENCH_SIMULATION_SILENT_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "broker.hpp"
#include "ours.hpp"
#include "report.hpp"

namespace simulation {

constexpr double max_over_verdicts = 1.10;
constexpr std::uint64_t min_requests = 2'000;

struct silent_result {
    tally counts;
    std::uint64_t maybe_twice = 0;
    std::uint64_t passes = 0;

    [[nodiscard]] bool sound() const
    {
        return counts.lost == 0 && counts.wrong == 0 && counts.doubted == 0 &&
               counts.again == maybe_twice;
    }
};

/// Sends a scenario `passes` times; if 0, until there are `min_requests`.
inline silent_result run_silent(const scenario& s, const faults& f, std::uint64_t passes,
                                bool trace)
{
    silent_result r;
    std::vector<broker> brokers;
    std::vector<std::unique_ptr<ours>> senders;
    for (const stream& to : s.streams) {
        brokers.emplace_back(s, to, f);
        senders.push_back(std::make_unique<ours>(evidence{}, trace));
    }
    bool more = true;
    while (more) {
        for (broker& b : brokers) {
            if (r.passes != 0) b.begin_again();
        }
        const std::size_t call = s.streams[0].call;
        for (std::size_t i = 0; i != s.streams[0].messages.size(); i += call) {
            for (std::size_t to = 0; to != brokers.size(); ++to) {
                senders[to]->call(brokers[to], i, i + call);
            }
        }
        ++r.passes;
        std::uint64_t requests = 0;
        for (const broker& b : brokers) requests += b.so_far().requests();
        more = passes == 0 ? requests < min_requests : r.passes < passes;
    }
    for (broker& b : brokers) r.counts += b.close();
    for (const auto& o : senders) r.maybe_twice += o->maybe_twice();
    return r;
}

/// Returns false if a target is not met.
inline bool run_and_print_silent(std::uint64_t seeds, const std::vector<std::size_t>& only,
                                 bool trace)
{
    struct column {
        const char* name;
        faults with;
    };
    const column columns[] = {{"half", {.silent = 0.5}},
                              {"always", {.silent = 1}},
                              {"never, o", {.outages = 0.005}},
                              {"half, o", {.silent = 0.5, .outages = 0.005}},
                              {"always, o", {.silent = 1, .outages = 0.005}}};
    std::printf(
        "\nsilent refusals, and outages (o): requests over those with a verdict for each, "
        "median/worst of %d seeds\n\n%-5s %9s",
        static_cast<int>(seeds), "", "requests");
    for (const column& c : columns) std::printf(" %13s", c.name);
    std::puts("");
    bool good = true;
    for (std::size_t n = 1; n <= scenarios; ++n) {
        bool wanted = only.empty();
        for (const std::size_t o : only) wanted = wanted || o == n;
        if (!wanted) continue;
        figure requests;
        figure over[std::size(columns)];
        const char* marks[std::size(columns)] = {};
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
            const scenario s = make_scenario(n, seed);
            const silent_result base = run_silent(s, {}, 0, false);
            const auto most = static_cast<double>(base.counts.requests());
            requests.add(most);
            for (std::size_t i = 0; i != std::size(columns); ++i) {
                const silent_result r = run_silent(s, columns[i].with, base.passes, trace);
                over[i].add(static_cast<double>(r.counts.requests()) / most);
                if (r.sound()) continue;
                marks[i] = "!";
                std::printf(
                    "S%zu, %s, seed %d: lost %d, wrong %d, doubted %d, sent again %d, "
                    "maybe_twice %d\n",
                    n, columns[i].name, static_cast<int>(seed), static_cast<int>(r.counts.lost),
                    static_cast<int>(r.counts.wrong), static_cast<int>(r.counts.doubted),
                    static_cast<int>(r.counts.again), static_cast<int>(r.maybe_twice));
            }
        }
        std::printf("%-5s %9.0f", ("S" + std::to_string(n)).c_str(), requests.median());
        for (std::size_t i = 0; i != std::size(columns); ++i) {
            const bool met = over[i].median() <= max_over_verdicts;
            good = good && met && !marks[i];
            const std::string mark = std::string(met ? "" : "*") + (marks[i] ? marks[i] : "");
            std::printf(" %13s", (ratio_pair(over[i]) + mark).c_str());
        }
        std::puts("");
    }
    return good;
}

}  // namespace simulation

#endif  // WAYBILL_BENCH_SIMULATION_SILENT_HPP
