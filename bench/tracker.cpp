// SPDX-License-Identifier: MIT
//
// bench/tracker: the cost of a completion and of the next watermark.
//
// In each round all events are begun, and then completed in the order of the log or at random. The
// watermark is queried after each completion. The positions are dense, or there is a gap for each
// tenth event, or they are a million apart. The peers:
//
//   raw loop         reads the positions and keeps no state
//   std::set         the events in flight; the watermark is before the first
//   interval_set     the same in intervals of Boost, which are joined and split
//   vector<bool>     a ring of done bits by hand, only for dense positions and a size that is known
//                    before; without generations and checks
//
// All results must be equal. The raw loop has no results. Figures are per event. Each benchmark
// excludes the other half of its rounds: `begin` measures only begun events, and `complete` only
// completions with the query of the watermark. Allocations are those of both halves, after the first
// two rounds. Instructions are counted in rounds of at most 8,192 events.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <boost/icl/interval_set.hpp>

#include "measure.hpp"
#include <waybill/tracking/commit_schedule.hpp>
#include <waybill/tracking/completion_tracker.hpp>
#include <waybill/tracking/tracker_bytes.hpp>

namespace tracker_bench {

// The events of a round: their positions and the order of their completions. The positions of the
// next round are greater by `step`.
struct scenario {
    std::string name;
    std::vector<std::uint64_t> positions;
    std::vector<std::uint32_t> order;
    std::uint64_t step = 0;
    bool dense = false;
};

std::uint64_t random(std::uint64_t& state)
{
    state += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
}

scenario make(std::string name, std::uint32_t events, std::uint64_t apart, std::uint32_t gap_each,
              bool shuffled)
{
    scenario s;
    s.name = std::move(name);
    std::uint64_t at = 0;
    for (std::uint32_t n = 0; n != events; ++n, at += apart) {
        if (gap_each != 0 && n % gap_each == 0) ++at;
        s.positions.push_back(at);
        s.order.push_back(n);
    }
    std::uint64_t seed = 5;
    for (std::uint32_t n = events; shuffled && n > 1; --n) {
        std::swap(s.order[n - 1], s.order[random(seed) % n]);
    }
    s.step = at;
    s.dense = apart == 1 && gap_each == 0;
    return s;
}

/// `many` is 65,536, or less in the process that counts instructions.
std::vector<scenario> scenarios(std::uint32_t many)
{
    return {
        make("dense, in order, 4,096", 4'096, 1, 0, false),
        make("dense, at random, 4,096", 4'096, 1, 0, true),
        make("dense, in order, 65,536", many, 1, 0, false),
        make("dense, at random, 65,536", many, 1, 0, true),
        make("gaps, in order, 65,536", many, 1, 10, false),
        make("gaps, at random, 65,536", many, 1, 10, true),
        make("sparse, in order, 65,536", many, 1'000'003, 0, false),
        make("sparse, at random, 65,536", many, 1'000'003, 0, true),
    };
}

class raw_loop {
public:
    static constexpr const char* name = "raw loop";
    explicit raw_loop(const scenario&) {}
    void begin(std::uint32_t, std::uint64_t sequence) { benchmark::DoNotOptimize(sequence); }
    void complete(std::uint32_t, std::uint64_t sequence) { last_ = sequence; }
    std::uint64_t watermark() const { return last_; }

private:
    std::uint64_t last_ = 0;
};

class ours {
public:
    static constexpr const char* name = "waybill";
    explicit ours(const scenario& s) : tickets_(s.positions.size()) {}
    void begin(std::uint32_t n, std::uint64_t sequence) { tickets_[n] = *tracker_.begin(sequence); }
    void complete(std::uint32_t n, std::uint64_t) { (void)tracker_.complete(tickets_[n]); }
    std::uint64_t watermark() const { return tracker_.watermark().value_or(0); }
    const waybill::completion_tracker& tracker() const { return tracker_; }

private:
    std::vector<waybill::tracked_event> tickets_;
    waybill::completion_tracker tracker_;
};

// The watermark is the position before the first event in flight, or the newest begun event if there
// is none. Unlike ours it includes gaps before that event, so equal_results() rounds it down.
class by_set {
public:
    static constexpr const char* name = "std::set";
    explicit by_set(const scenario&) {}
    void begin(std::uint32_t, std::uint64_t sequence)
    {
        last_ = sequence;
        open_.insert(open_.end(), sequence);
    }
    void complete(std::uint32_t, std::uint64_t sequence) { open_.erase(sequence); }
    std::uint64_t watermark() const { return open_.empty() ? last_ : *open_.begin() - 1; }

private:
    std::set<std::uint64_t> open_;
    std::uint64_t last_ = 0;
};

class by_intervals {
public:
    static constexpr const char* name = "interval_set";
    explicit by_intervals(const scenario&) {}
    void begin(std::uint32_t, std::uint64_t sequence) { open_.insert(last_ = sequence); }
    void complete(std::uint32_t, std::uint64_t sequence) { open_.erase(sequence); }
    std::uint64_t watermark() const { return open_.empty() ? last_ : boost::icl::first(open_) - 1; }

private:
    boost::icl::interval_set<std::uint64_t> open_;
    std::uint64_t last_ = 0;
};

class by_ring {
public:
    static constexpr const char* name = "vector<bool>";
    explicit by_ring(const scenario& s) : done_(s.positions.size(), false) {}
    void begin(std::uint32_t, std::uint64_t sequence) { last_ = sequence; }
    void complete(std::uint32_t, std::uint64_t sequence)
    {
        done_[sequence & (done_.size() - 1)] = true;
        while (front_ <= last_ && done_[front_ & (done_.size() - 1)]) {
            done_[front_++ & (done_.size() - 1)] = false;
        }
    }
    std::uint64_t watermark() const { return front_ - 1; }

private:
    std::vector<bool> done_;
    std::uint64_t front_ = 1;
    std::uint64_t last_ = 0;
};

template <class Peer>
[[gnu::noinline]] void begin_all(Peer& peer, const scenario& s, std::uint64_t base)
{
    const auto many = static_cast<std::uint32_t>(s.positions.size());
    for (std::uint32_t n = 0; n != many; ++n) peer.begin(n, base + s.positions[n]);
}

template <class Peer>
[[gnu::noinline]] void complete_all(Peer& peer, const scenario& s, std::uint64_t base)
{
    for (const std::uint32_t n : s.order) {
        peer.complete(n, base + s.positions[n]);
        benchmark::DoNotOptimize(peer.watermark());
    }
}

// Returns true if all watermarks are equal. Two watermarks are equal if no event is between them.
template <class Peer>
bool equal_results(const scenario& s)
{
    Peer peer(s);
    ours our(s);
    std::uint64_t base = 1;
    for (int round = 0; round != 3; ++round, base += s.step) {
        begin_all(peer, s, base);
        begin_all(our, s, base);
        for (const std::uint32_t n : s.order) {
            peer.complete(n, base + s.positions[n]);
            our.complete(n, base + s.positions[n]);
            const std::uint64_t theirs = peer.watermark();
            const std::uint64_t first = base + s.positions.front();
            const auto next =
                std::upper_bound(s.positions.begin(), s.positions.end(), theirs - base);
            const bool same =
                theirs < first ? our.watermark() < first : our.watermark() == base + *(next - 1);
            if (!same) {
                std::printf("%s, %s: watermark %llu, but waybill returns %llu\n", Peer::name,
                            s.name.c_str(), static_cast<unsigned long long>(theirs),
                            static_cast<unsigned long long>(our.watermark()));
                return false;
            }
        }
    }
    return true;
}

std::string benchmark_name(const scenario& s, const char* peer, const char* half)
{
    return s.name + "/" + peer + "/" + half;
}

template <class Peer, class F>
void add(bench::runner& all, const scenario& s, const char* half, F round)
{
    all.add(benchmark_name(s, Peer::name, half), static_cast<double>(s.positions.size()),
            [&s, round](benchmark::State& state) {
                Peer peer(s);
                std::uint64_t base = 1;
                for (int n = 0; n != 2; ++n, base += s.step) {
                    begin_all(peer, s, base);
                    complete_all(peer, s, base);
                }
                const std::uint64_t before = bench::allocations;
                for ([[maybe_unused]] auto r : state) {
                    round(state, peer, base);
                    base += s.step;
                }
                state.counters["allocations"] = static_cast<double>(bench::allocations - before) /
                                                static_cast<double>(state.iterations()) /
                                                static_cast<double>(s.positions.size());
            });
}

template <class Peer>
void add(bench::runner& all, const scenario& s)
{
    add<Peer>(all, s, "begin", [&s](benchmark::State& state, Peer& peer, std::uint64_t base) {
        begin_all(peer, s, base);
        bench::exclude(state, [&] { complete_all(peer, s, base); });
    });
    add<Peer>(all, s, "complete", [&s](benchmark::State& state, Peer& peer, std::uint64_t base) {
        bench::exclude(state, [&] { begin_all(peer, s, base); });
        complete_all(peer, s, base);
    });
}

/// One line for each scenario, one column for each peer.
template <class F>
void print(const std::vector<scenario>& cases, const char* title, F figure)
{
    const char* const peers[] = {raw_loop::name, ours::name, by_set::name, by_intervals::name,
                                 by_ring::name};
    std::printf("\n%s\n%-26s", title, "");
    for (const char* p : peers) std::printf(" %17s", p);
    std::printf("\n");
    for (const scenario& s : cases) {
        std::printf("%-26s", s.name.c_str());
        for (const char* p : peers) figure(s, p);
        std::printf("\n");
    }
}

void print(const std::vector<scenario>& cases, const bench::runner& all, const char* half,
           const char* title, double bench::figures::* figure)
{
    print(cases, title, [&](const scenario& s, const char* peer) {
        const double own = all.at(benchmark_name(s, peer, half)).*figure;
        const double raw = all.at(benchmark_name(s, raw_loop::name, half)).*figure;
        if (own > 0 && raw > 0) std::printf(" %8.2f (%6.1f)", own, own / raw);
        else std::printf(" %17s", "-");
    });
}

void print_allocations(const std::vector<scenario>& cases, const bench::runner& all)
{
    print(cases, "allocations per event", [&](const scenario& s, const char* peer) {
        const bench::figures f = all.at(benchmark_name(s, peer, "complete"));
        const auto found = f.counters.find("allocations");
        if (found == f.counters.end()) std::printf(" %17s", "-");
        else std::printf(" %17.2f", found->second);
    });
}

// Prints the memory if all events of a round are in flight, and the encoded size if half of them are
// completed.
void print_sizes(const std::vector<scenario>& cases)
{
    std::printf("\n%-28s %12s %12s %20s\n", "bytes", "per position", "per event",
                "half done, encoded");
    for (const scenario& s : cases) {
        ours our(s);
        std::uint64_t base = 1;
        for (int round = 0; round != 2; ++round, base += s.step) {
            begin_all(our, s, base);
            if (round == 0) complete_all(our, s, base);
        }
        base -= s.step;
        const auto room = static_cast<double>(our.tracker().bytes() - sizeof(our.tracker()));
        for (std::size_t n = 0; n != s.order.size() / 2; ++n) {
            our.complete(s.order[n], base + s.positions[s.order[n]]);
        }
        std::printf(
            "%-28s %12.4f %12.2f %20llu\n", s.name.c_str(),
            room / static_cast<double>(s.positions.back() + 1),
            room / static_cast<double>(s.positions.size()),
            static_cast<unsigned long long>(waybill::encoded_done::full_size(our.tracker())));
    }
}

/// Returns a line for each benchmark that it adds.
std::vector<bench::row> add_others(bench::runner& all)
{
    std::vector<bench::row> rows{{"commit_schedule, one event", ""}};
    all.add(rows.back().name, 1, [](benchmark::State& state) {
        auto now = waybill::steady_time{};
        waybill::commit_schedule pace({.every = 1'000, .interval = waybill::duration::seconds(5)},
                                      now);
        for ([[maybe_unused]] auto round : state) {
            now = now + waybill::duration::nanoseconds(100);
            (void)pace.on(waybill::commit_schedule::events_done{1}, now);
            if (pace.due(now)) {
                (void)pace.on(waybill::commit_schedule::commit_started{}, now);
                (void)pace.on(waybill::commit_schedule::commit_confirmed{}, now);
            }
        }
        benchmark::DoNotOptimize(pace);
    });
    for (const std::uint32_t events : {1'024U, 65'536U}) {
        rows.push_back({"encode, one of " + std::to_string(events) + " events", ""});
        all.add(rows.back().name, events, [events](benchmark::State& state) {
            waybill::completion_tracker tracker;
            std::vector<waybill::tracked_event> tickets;
            for (std::uint64_t n = 0; n != events; ++n) tickets.push_back(*tracker.begin(n));
            for (std::uint32_t n = 1; n < events; n += 3) (void)tracker.complete(tickets[n]);
            for ([[maybe_unused]] auto round : state) {
                benchmark::DoNotOptimize(waybill::encode(tracker, {.max_bytes = 1'000'000}));
            }
        });
    }
    return rows;
}

}  // namespace tracker_bench

int main(int argc, char** argv)
{
    using namespace tracker_bench;
    bench::runner all(argc, argv);
    const std::vector<scenario> cases = scenarios(all.counts_instructions() ? 8'192 : 65'536);
    for (const scenario& s : cases) {
        add<raw_loop>(all, s);
        add<ours>(all, s);
        add<by_set>(all, s);
        add<by_intervals>(all, s);
        if (s.dense) add<by_ring>(all, s);
    }
    const std::vector<bench::row> others = add_others(all);
    if (!all.run(benchmark_name(cases[2], raw_loop::name, "complete"))) return 2;
    for (const scenario& s : cases) {
        if (!equal_results<by_set>(s) || !equal_results<by_intervals>(s)) return 1;
        if (s.dense && !equal_results<by_ring>(s)) return 1;
    }
    all.print_spread();
    if (!all.noisy()) {
        print(cases, all, "begin", "ns per begun event (and in multiples of the raw loop)",
              &bench::figures::ns);
        print(cases, all, "complete",
              "ns per completion with watermark (and in multiples of the raw loop)",
              &bench::figures::ns);
    }
    print(cases, all, "begin", "instructions per begun event (and in multiples of the raw loop)",
          &bench::figures::instructions);
    print(cases, all, "complete",
          "instructions per completion with watermark (and in multiples of the raw loop)",
          &bench::figures::instructions);
    print_allocations(cases, all);
    print_sizes(cases);
    // A third of the events is completed when they are encoded.
    all.print("operation", others);
    return all.failed() ? 1 : 0;
}
