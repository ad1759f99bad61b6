// SPDX-License-Identifier: MIT
//
// bench/simulation: the number of sends of a sender that has to learn the broker's sizes.
//
// Twelve scenarios (simulation/scenarios.hpp), our sender with every kind of evidence, and four
// peers (simulation/peers.hpp), all with the same broker. There is no clock, and random numbers are
// seeded, so each run prints the same table. The table has the sends, accepted and refused, over
// the minimum for known sizes.
//
//     simulation [--seeds N] [--scenario S3]... [--evidence N+A]... [--all] [--check] [--trace]
//                [--json FILE] [--second [--messages N] [--in-flight N]]
//
//   --seeds N      N seeds, from 1 on; the default is 5
//   --scenario Sx  only this one; can be given several times, as can the next
//   --evidence X   only our sender with R, H, N, N+A, H+A, H+K, N+A+K or E; or `peers`
//   --all          also every scenario by itself, with its counts
//   --check        only our sender, compared with its targets; exit code 1 if a median misses one
//   --trace        also prints each send of ours
//   --json FILE    also writes FILE, with the figures of each seed
//   --second       only the second set (simulation/second_scenarios.hpp), with its counts. Its
//                  tables also follow those of the first set without --scenario and --evidence
//   --messages N   messages of its scenarios from `season` on, a multiple of 20,000; the default is
//                  200,000
//   --in-flight N  requests in flight in these scenarios; the default is 1
//
// Evidence: R a refusal only, H the size of each message of a refused batch, N the batch's size and
// the limit in a refusal, A the size of accepted batches, E exact sizes from the start. K: the
// caller distinguishes the two kinds of message in S8, and adds a rough guess of the difference to
// the size of one kind. No other scenario has kinds.
// The program ends with 1 if a message of any sender was lost, duplicated without an unknown
// outcome, settled wrongly or out of order. Such a row has a `!`.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulation/broker.hpp"
#include "simulation/kinds.hpp"
#include "simulation/ours.hpp"
#include "simulation/peers.hpp"
#include "simulation/report.hpp"
#include "simulation/scenarios.hpp"
#include "simulation/second_report.hpp"
#include "simulation/targets.hpp"

namespace simulation {

struct contestant {
    std::string name;
    std::string sees;
    std::function<std::unique_ptr<algorithm>(bool trace)> make;
    bool learns = true;
};

template <class A>
contestant peer(const char* name, const char* sees, bool learns = true)
{
    return {name, sees, [](bool) { return std::make_unique<A>(); }, learns};
}

contestant our_sender(const char* sees, const evidence& e)
{
    return {"ours", sees, [e](bool trace) { return std::make_unique<ours>(e, trace); }, !e.exact};
}

std::vector<contestant> all_contestants()
{
    return {
        our_sender("R", {}),
        our_sender("H", {.headers = true}),
        our_sender("N", {.numbers = true}),
        our_sender("N+A", {.numbers = true, .actual = true}),
        our_sender("H+A", {.headers = true, .actual = true}),
        our_sender("H+K", {.headers = true, .kind = rough_guess}),
        our_sender("N+A+K", {.numbers = true, .actual = true, .kind = rough_guess}),
        our_sender("E", {.exact = true}),
        peer<article>("article", "H"),
        peer<recut>("recut", "H"),
        peer<halving>("halving", "R", false),
        peer<ratio>("ratio", "N+A"),
    };
}

struct options {
    std::uint64_t seeds = 5;
    std::vector<std::size_t> only;  // scenarios
    std::vector<std::string> sees;  // kinds of evidence, or "peers"
    bool all = false;
    bool check = false;
    bool trace = false;
    bool second = false;
    std::size_t messages = how_many;  // of the second set
    std::size_t in_flight = 1;        // of the second set
    const char* json = nullptr;

    [[nodiscard]] bool wants(std::size_t number) const
    {
        if (only.empty()) return true;
        return std::find(only.begin(), only.end(), number) != only.end();
    }
    [[nodiscard]] bool wants(const contestant& c) const
    {
        if (check && c.name != "ours") return false;
        if (sees.empty()) return true;
        const std::string_view key = c.name == "ours" ? std::string_view(c.sees) : "peers";
        return std::find(sees.begin(), sees.end(), key) != sees.end();
    }
};

/// A sender for each destination, or one shared by all destinations.
tally run(const scenario& s, const contestant& c, bool shared, bool trace)
{
    std::vector<broker> brokers;
    std::vector<std::unique_ptr<algorithm>> senders;
    for (const stream& to : s.streams) {
        brokers.emplace_back(s, to);
        if (senders.empty() || !shared) senders.push_back(c.make(trace));
    }
    const std::size_t call = s.streams[0].call;
    for (std::size_t i = 0; i != s.streams[0].messages.size(); i += call) {
        for (std::size_t to = 0; to != brokers.size(); ++to) {
            senders[shared ? 0 : to]->call(brokers[to], i, i + call);
        }
    }
    tally sum;
    for (broker& b : brokers) sum += b.close();
    return sum;
}

/// S8 with known kinds, for each guess of the difference of their sizes.
std::vector<row> run_guesses(const options& o)
{
    std::vector<row> rows;
    for (const std::uint64_t guess : guesses) {
        for (const contestant& c :
             {our_sender("R+K", {.kind = guess}),
              our_sender("H+K", {.headers = true, .kind = guess}),
              our_sender("N+K", {.numbers = true, .kind = guess}),
              our_sender("N+A+K", {.numbers = true, .actual = true, .kind = guess})}) {
            rows.push_back({c.name, c.sees, {}, "kinds guessed at " + std::to_string(guess)});
            for (std::uint64_t seed = 1; seed <= o.seeds; ++seed) {
                const scenario s = make_scenario(8, seed);
                tally t = run(s, c, false, false);
                t.optimum = optimum(s);
                rows.back().by_scenario[8].push_back(t);
            }
        }
    }
    return rows;
}

int run_all(const options& o)
{
    std::vector<contestant> contestants;
    std::vector<row> own;
    std::vector<row> shared;
    for (contestant& c : all_contestants()) {
        if (!o.wants(c)) continue;
        own.push_back({c.name, c.sees, {}});
        if (c.learns && !o.check && o.wants(11)) shared.push_back(own.back());
        contestants.push_back(std::move(c));
    }
    for (std::size_t number = 1; number <= scenarios; ++number) {
        if (!o.wants(number)) continue;
        for (std::uint64_t seed = 1; seed <= o.seeds; ++seed) {
            const scenario s = make_scenario(number, seed);
            const std::uint64_t best = optimum(s);
            const auto note = [&](row& to, tally t) {
                t.optimum = best;
                to.by_scenario[number].push_back(t);
            };
            auto next_shared = shared.begin();
            for (std::size_t i = 0; i != contestants.size(); ++i) {
                if (o.trace) {
                    std::printf("\nS%zu, seed %d, %s\n", number, static_cast<int>(seed),
                                label(own[i]).c_str());
                }
                note(own[i], run(s, contestants[i], false, o.trace));
                if (number != 11 || shared.empty() || !contestants[i].learns) continue;
                note(*next_shared++, run(s, contestants[i], true, false));
            }
        }
    }

    std::vector<row> guessed;
    if (!o.check && o.sees.empty() && o.wants(8)) guessed = run_guesses(o);

    bool good = true;
    for (const row& r : guessed) good = good && r.sound();
    for (const row& r : own) good = good && r.sound();
    for (const row& r : shared) good = good && r.sound();

    std::printf(
        "\nsends over the fewest possible: the median of %d seeds; where there are two, "
        "median/worst\n"
        "refused, mean and summed: S1 to S8 together, or those of them that ran\n\n",
        static_cast<int>(o.seeds));
    print_overview(own);
    if (o.all) print_details(own);
    if (!shared.empty()) print_shared(own, shared);
    if (!guessed.empty()) print_guesses(guessed);
    if (!good) std::puts("\nmessages were lost, doubled, settled wrongly or out of order: see !");
    if (o.check) good = print_targets(own) && good;
    if (o.json && !json_file(o.json).write(own, shared, guessed)) {
        std::fprintf(stderr, "cannot write %s\n", o.json);
        good = false;
    }
    return good ? 0 : 1;
}

/// Returns false if the command line has an unknown argument.
bool read(int argc, char** argv, options& o)
{
    for (int i = 1; i < argc; ++i) {
        const std::string_view what = argv[i];
        if (what == "--all") {
            o.all = true;
        } else if (what == "--check") {
            o.check = true;
        } else if (what == "--trace") {
            o.trace = true;
        } else if (what == "--second") {
            o.second = true;
        } else if (i + 1 == argc) {
            return false;
        } else if (what == "--json") {
            o.json = argv[++i];
        } else if (what == "--evidence") {
            o.sees.emplace_back(argv[++i]);
            bool known = o.sees.back() == "peers";
            for (const contestant& c : all_contestants()) {
                known = known || (c.name == "ours" && c.sees == o.sees.back());
            }
            if (!known) return false;
        } else if (what == "--scenario") {
            const char* name = argv[++i];
            const unsigned long n = std::strtoul(*name == 'S' ? name + 1 : name, nullptr, 10);
            if (n == 0 || n > scenarios) return false;
            o.only.push_back(n);
        } else if (what == "--seeds") {
            o.seeds = std::strtoul(argv[++i], nullptr, 10);
            if (o.seeds == 0 || o.seeds > 1'000) return false;
        } else if (what == "--messages") {
            o.messages = std::strtoul(argv[++i], nullptr, 10);
            if (o.messages == 0 || o.messages % a_call != 0) return false;
        } else if (what == "--in-flight") {
            o.in_flight = std::strtoul(argv[++i], nullptr, 10);
            if (o.in_flight == 0 || o.in_flight > 1'000) return false;
        } else {
            return false;
        }
    }
    return true;
}

}  // namespace simulation

int main(int argc, char** argv)
{
    simulation::options o;
    if (!simulation::read(argc, argv, o)) {
        std::fputs(
            "usage: simulation [--seeds N] [--scenario S1..S12]... [--all] [--check] [--trace]\n"
            "                  [--evidence R|H|N|N+A|H+A|H+K|N+A+K|E|peers]... [--json FILE]\n"
            "                  [--second [--messages N] [--in-flight N]]\n",
            stderr);
        return 2;
    }
    int result = o.second ? 0 : simulation::run_all(o);
    if (o.second || (o.only.empty() && o.sees.empty())) {
        const bool good = simulation::run_and_print_second({.seeds = o.seeds,
                                                            .messages = o.messages,
                                                            .slots = o.in_flight,
                                                            .all = o.all || o.second,
                                                            .shown = o.trace});
        if (!good) result = 1;
    }
    return result;
}
