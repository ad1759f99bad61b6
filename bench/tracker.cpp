// SPDX-License-Identifier: MIT
//
// bench/tracker: what does it cost to know which position may be committed?
//
// In each round so many events are begun, and then done in the order of the log or at random; after
// each completion the watermark is asked for. Positions are dense, or every tenth is a gap, or they
// are a million apart. Beside our tracker stand what one would write otherwise:
//
//   std::set         what is in flight; the watermark is in front of the first
//   interval_set     the same in Boost's intervals, which join and split
//   vector<bool>     a ring of done bits by hand, for dense positions only, of a size known
//                    beforehand, without generations and checks
//
// All of them answer the same, and that is seen to first. The tables have medians of the
// repetitions, of begin and of complete with the question after it; allocations are of rounds after
// the first.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <boost/icl/interval_set.hpp>

#include "support.hpp"
#include <waybill/tracking/commit_schedule.hpp>
#include <waybill/tracking/completion_tracker.hpp>
#include <waybill/tracking/tracker_bytes.hpp>

namespace tracker_bench {

// So many events a round, at these positions and done in this order, and then the same further on.
struct scenario {
    std::string name;
    std::vector<std::uint64_t> positions;
    std::vector<std::uint32_t> order;
    std::uint64_t step = 0;
    bool dense = false;
};

std::uint64_t dice(std::uint64_t& state)
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
        std::swap(s.order[n - 1], s.order[dice(seed) % n]);
    }
    s.step = at;
    s.dense = apart == 1 && gap_each == 0;
    return s;
}

const std::vector<scenario>& scenarios()
{
    static const std::vector<scenario> all = {
        make("dense, in order, 4,096", 4'096, 1, 0, false),
        make("dense, at random, 4,096", 4'096, 1, 0, true),
        make("dense, in order, 65,536", 65'536, 1, 0, false),
        make("dense, at random, 65,536", 65'536, 1, 0, true),
        make("gaps, in order, 65,536", 65'536, 1, 10, false),
        make("gaps, at random, 65,536", 65'536, 1, 10, true),
        make("sparse, in order, 65,536", 65'536, 1'000'003, 0, false),
        make("sparse, at random, 65,536", 65'536, 1'000'003, 0, true),
    };
    return all;
}

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

// A watermark that is in front of the first in flight, and at the newest begun where none is. Gaps
// in front of it are counted in; that differs from ours, so proof() rounds down.
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

// Nobody waits for a gap: two watermarks are the same if no event is between them.
template <class Peer>
bool proof(const scenario& s)
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
            const bool same = theirs < first ? our.watermark() < first
                                             : our.watermark() == base + *(next - 1);
            if (!same) {
                std::printf("%s, %s: %llu and %llu\n", Peer::name, s.name.c_str(),
                            static_cast<unsigned long long>(theirs),
                            static_cast<unsigned long long>(our.watermark()));
                return false;
            }
        }
    }
    return true;
}

// Of this thread, in seconds: what else runs on the machine is not counted.
double spent()
{
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <class Peer>
void add(const scenario& s)
{
    const std::string what = s.name + "/" + Peer::name;
    benchmark::RegisterBenchmark(what.c_str(), [&s](benchmark::State& state) {
        Peer peer(s);
        std::uint64_t base = 1;
        const auto turn = [&] {
            const double started = spent();
            begin_all(peer, s, base);
            const double begun = spent();
            complete_all(peer, s, base);
            const double done = spent();
            base += s.step;
            return std::pair(begun - started, done - begun);
        };
        (void)turn();
        (void)turn();
        const std::uint64_t before = bench::allocations;
        double begun = 0;
        double done = 0;
        for ([[maybe_unused]] auto round : state) {
            const auto [b, c] = turn();
            begun += b;
            done += c;
            state.SetIterationTime(b + c);
        }
        const auto events = static_cast<double>(s.positions.size());
        const double all = static_cast<double>(state.iterations()) * events;
        state.counters["begin"] = begun * 1e9 / all;
        state.counters["complete"] = done * 1e9 / all;
        state.counters["allocations"] = static_cast<double>(bench::allocations - before) / all;
    })->UseManualTime()->Unit(benchmark::kMicrosecond);
}

class table : public benchmark::ConsoleReporter {
public:
    bool ReportContext(const Context&) override { return true; }
    void ReportRuns(const std::vector<Run>& runs) override
    {
        for (const Run& r : runs) {
            if (r.run_type != Run::RT_Iteration) continue;
            for (const char* what : {"begin", "complete", "allocations"}) {
                values_[r.run_name.function_name][what].push_back(r.counters.at(what).value);
            }
        }
    }

    void print(const char* what, const char* title) const
    {
        std::printf("\n%s\n%-28s", title, "");
        const char* const peers[] = {ours::name, by_set::name, by_intervals::name, by_ring::name};
        for (const char* p : peers) std::printf(" %13s", p);
        std::printf("\n");
        for (const scenario& s : scenarios()) {
            std::printf("%-28s", s.name.c_str());
            for (const char* p : peers) {
                const auto found = values_.find(s.name + "/" + p);
                if (found == values_.end()) std::printf(" %13s", "-");
                else std::printf(" %13.2f", bench::median(found->second.at(what)));
            }
            std::printf("\n");
        }
    }

private:
    std::map<std::string, std::map<std::string, std::vector<double>>> values_;
};

// Counted, not timed: memory where all of a round is in flight, and what is written of it.
void print_sizes()
{
    std::printf("\n%-28s %12s %12s %16s\n", "bytes", "a position", "an event",
                "half done, written");
    for (const scenario& s : scenarios()) {
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
        std::printf("%-28s %12.4f %12.2f %16llu\n", s.name.c_str(),
                    room / static_cast<double>(s.positions.back() + 1),
                    room / static_cast<double>(s.positions.size()),
                    static_cast<unsigned long long>(waybill::encoded_size(our.tracker())));
    }
}

void add_others()
{
    const char* const told = "cadence: an event told and the question";
    benchmark::RegisterBenchmark(told, [](benchmark::State& state) {
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
        const std::string name = "encode, " + std::to_string(events) + " of which a third done";
        benchmark::RegisterBenchmark(name.c_str(), [events](benchmark::State& state) {
            waybill::completion_tracker tracker;
            std::vector<waybill::tracked_event> tickets;
            for (std::uint64_t n = 0; n != events; ++n) tickets.push_back(*tracker.begin(n));
            for (std::uint32_t n = 1; n < events; n += 3) (void)tracker.complete(tickets[n]);
            for ([[maybe_unused]] auto round : state) {
                benchmark::DoNotOptimize(waybill::encode(tracker, {.max_bytes = 1'000'000}));
            }
        })->Unit(benchmark::kMicrosecond);
    }
}

}  // namespace tracker_bench

int main(int argc, char** argv)
{
    if (!bench::start({"--benchmark_repetitions=9",
                       "--benchmark_min_time=0.05",
                       "--benchmark_enable_random_interleaving=true"},
                      argc, argv)) {
        return 2;
    }
    using namespace tracker_bench;
    for (const scenario& s : scenarios()) {
        if (!proof<by_set>(s) || !proof<by_intervals>(s)) return 1;
        if (s.dense && !proof<by_ring>(s)) return 1;
        add<ours>(s);
        add<by_set>(s);
        add<by_intervals>(s);
        if (s.dense) add<by_ring>(s);
    }
    table out;
    benchmark::RunSpecifiedBenchmarks(&out);
    out.print("begin", "ns an event that is begun");
    out.print("complete", "ns a completion, with the watermark after it");
    out.print("allocations", "allocations an event, after warm-up");
    print_sizes();
    benchmark::ClearRegisteredBenchmarks();
    add_others();
    std::printf("\n");
    benchmark::ConsoleReporter plain(benchmark::ConsoleReporter::OO_Tabular);
    benchmark::RunSpecifiedBenchmarks(&plain);
    benchmark::Shutdown();
    return 0;
}
