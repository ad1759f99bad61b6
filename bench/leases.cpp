// SPDX-License-Identifier: MIT
//
// bench/leases: the time and the cost until a group of owners is balanced again after a change.
//
// Owners run in simulated time over one store in memory; handlers return at once. Two managers
// are real code: `lease_manager` with a store that renews all leases at once, and the same with a
// store that has one call for each row. Three peers are models of their rules, with the defaults of
// their libraries:
//
//   KCL      a taker every 20.05 s that scans the table, takes expired leases up to the quota, or
//            steals one (maxLeasesToStealAtOneTime 1); each lease is renewed every 3.3 s; expiry
//            10 s
//   Azure    "greedy": cycles of one list and one claim without a pause until the owner has its
//            share; each ownership is renewed every 30 s; expiry 120 s (.NET 5.12)
//   Kafka    cooperative-sticky: two rebalances, in each of which all members join and sync; a
//            heartbeat every 3 s; session timeout 45 s. The broker is the coordinator
//
// "calls" and "rows" are those of all owners from the change until the group is balanced, "moves"
// are partitions that changed their owner. The last two columns are those of a balanced group, for
// each owner and interval; the CPU time is that of the state machine, without the store.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/lease.hpp>
#include <waybill/testing/memory_leases.hpp>

namespace leases_bench {

using waybill::duration;
using waybill::steady_time;

constexpr waybill::lease_options options{};  // 10 s and 60 s
constexpr std::int64_t interval_ms = 10'000;
constexpr std::int64_t expiry_ms = 60'000;

struct counts {
    std::uint64_t calls = 0;
    std::uint64_t rows = 0;
    std::uint64_t moves = 0;
};

/// The store with counters. If it is down, each call fails.
class row_store {
public:
    explicit row_store(std::size_t partitions) : owners_of_(partitions) {}

    waybill::result<waybill::lease_table> list(const std::string& source, const std::string& group)
    {
        return read([&] { return rows_.list(source, group); });
    }
    waybill::result<waybill::lease_claim::result> claim(const waybill::lease_claim& c)
    {
        ++seen.calls;
        if (down) return waybill::unexpected(waybill::infrastructure("down"));
        return note(c, *rows_.claim(c));
    }
    waybill::result<void> heartbeat(const waybill::owner_heartbeat& p)
    {
        ++seen.calls;
        if (down) return waybill::unexpected(waybill::infrastructure("down"));
        return rows_.heartbeat(p);
    }
    waybill::result<void> leave(const waybill::owner_heartbeat& p)
    {
        ++seen.calls;
        if (down) return waybill::unexpected(waybill::infrastructure("down"));
        return rows_.leave(p);
    }

    counts seen{};
    bool down = false;

protected:
    template <class F>
    waybill::result<waybill::lease_table> read(F&& f)
    {
        ++seen.calls;
        if (down) return waybill::unexpected(waybill::infrastructure("down"));
        waybill::result<waybill::lease_table> t = f();
        seen.rows += t->leases.size() + t->owners.size();
        return t;
    }
    waybill::lease_claim::result note(const waybill::lease_claim& c,
                                      const waybill::lease_claim::result& r)
    {
        if (r.outcome != waybill::lease_claim::result::claim_outcome::won || c.owner.none())
            return r;
        std::string& last = owners_of_[std::stoul(c.key.partition)];
        if (!last.empty() && last != c.owner.name) ++seen.moves;
        last = c.owner.name;
        return r;
    }

    waybill::testing::memory_leases rows_{};
    std::vector<std::string> owners_of_;  // the last owner of each partition
};

class bulk_store : public row_store {
public:
    using row_store::row_store;
    waybill::result<waybill::lease_table> renew(const waybill::owner_heartbeat& own,
                                                std::uint64_t since)
    {
        return read([&] { return rows_.renew(own, since); });
    }
    waybill::result<std::vector<waybill::lease_claim::result>> claim_all(
        const std::vector<waybill::lease_claim>& claims)
    {
        ++seen.calls;
        if (down) return waybill::unexpected(waybill::infrastructure("down"));
        auto results = *rows_.claim_all(claims);
        for (std::size_t n = 0; n != claims.size(); ++n) (void)note(claims[n], results[n]);
        return results;
    }
};

struct figures {
    double seconds = 0;
    counts spent{};
    double steady_calls = 0;  // for each owner and interval
    double steady_us = 0;
};

/// A group of owners with real managers, in simulated time.
template <class Store>
class group {
public:
    group(std::size_t partitions, std::size_t owners) : store_(partitions), partitions_(partitions)
    {
        for (std::size_t p = 0; p != partitions; ++p) names_.push_back(std::to_string(p));
        for (std::size_t o = 0; o != owners; ++o) start("owner " + std::to_string(o), now_ms_);
        until_balanced();
        run_until(now_ms_ + 3 * interval_ms);
    }

    void start(const std::string& name, std::int64_t at_ms)
    {
        owners_.push_back(std::make_unique<owner>(
            waybill::lease_manager({"log", "bench", names_, {name, random_()}, options}), name));
        queue_.push({at_ms + phase(), owners_.size() - 1});
        ++live_;
    }
    void join(std::size_t owners)
    {
        for (std::size_t n = 0; n != owners; ++n) start("new owner " + std::to_string(n), now_ms_);
    }
    void crash(std::size_t which)
    {
        owners_[which]->dead = true;
        --live_;
    }
    /// Each owner stops, and starts again three rounds later, one after another.
    void restart_all()
    {
        const std::size_t all = owners_.size();
        for (std::size_t n = 0; n != all; ++n) {
            waybill::lease_manager& m = owners_[n]->manager;
            m.on(waybill::stop_requested{}, now());
            for (std::uint32_t p = 0; p != partitions_; ++p)
                m.on(waybill::lease_manager::lease_released{p}, now());
            queue_.push({now_ms_, n});
            --live_;
            run_until(now_ms_ + 3 * interval_ms);
            start(owners_[n]->name, now_ms_);
            until_balanced();
        }
    }
    void outage(std::int64_t length_ms)
    {
        store_.down = true;
        run_until(now_ms_ + length_ms);
        store_.down = false;
    }

    /// Runs until the group is balanced, at most two simulated hours.
    void until_balanced()
    {
        const std::int64_t end = now_ms_ + 7'200'000;
        while (now_ms_ < end && !balanced()) step();
    }
    void run_until(std::int64_t end)
    {
        while (!queue_.empty() && queue_.top().first <= end) step();
        now_ms_ = end;
    }

    figures measure(const std::function<void(group&)>& change)
    {
        figures f;
        const std::int64_t begin = now_ms_;
        store_.seen = {};
        change(*this);
        until_balanced();
        f.seconds = static_cast<double>(now_ms_ - begin) / 1000;
        f.spent = store_.seen;
        run_until(now_ms_ + 3 * interval_ms);
        store_.seen = {};
        cpu_ = {};
        constexpr int rounds = 5;
        run_until(now_ms_ + rounds * interval_ms);
        const double owner_rounds = static_cast<double>(live_) * rounds;
        f.steady_calls = static_cast<double>(store_.seen.calls) / owner_rounds;
        f.steady_us = std::chrono::duration<double, std::micro>(cpu_).count() / owner_rounds;
        return f;
    }

private:
    struct owner {
        owner(waybill::lease_manager m, std::string n) : manager(std::move(m)), name(std::move(n))
        {
        }
        waybill::lease_manager manager;
        std::string name;
        std::uint32_t held = 0;
        bool dead = false;
    };
    using clock = std::chrono::steady_clock;

    [[nodiscard]] steady_time now() const
    {
        return steady_time::at(duration::milliseconds(now_ms_));
    }
    std::int64_t phase() { return static_cast<std::int64_t>(random_() % interval_ms); }

    /// One owner makes its calls.
    void step()
    {
        const auto [at_ms, which] = queue_.top();
        queue_.pop();
        now_ms_ = std::max(now_ms_, at_ms);
        owner& o = *owners_[which];
        if (o.dead) return;
        auto begun = clock::now();
        while (auto call = o.manager.call(now())) {
            cpu_ += clock::now() - begun;
            const auto answer = perform(store_, *call, random_share());
            begun = clock::now();
            o.manager.on(answer, now());
            cpu_ += clock::now() - begun;
            for (std::uint32_t p = 0; p != partitions_; ++p) {
                if (o.manager.to_release(p) && o.manager.trusted(p, now()))
                    o.manager.on(waybill::lease_manager::lease_released{p}, now());
            }
            begun = clock::now();
        }
        const auto next = o.manager.next(now());
        cpu_ += clock::now() - begun;
        if (const auto* w = waybill::get_if<waybill::wait_until>(&next)) {
            const std::int64_t ms = w->time.since_epoch().count() / 1'000'000 + 1;
            queue_.push({std::max(ms, now_ms_ + 1), which});
        }
        o.held = o.manager.held();
    }
    double random_share() { return static_cast<double>(random_() >> 11U) * 0x1p-53; }

    [[nodiscard]] bool balanced() const
    {
        std::uint32_t low = ~std::uint32_t{0};
        std::uint32_t high = 0;
        std::uint64_t all = 0;
        for (const auto& o : owners_) {
            if (o->dead || o->manager.stopping()) continue;
            low = std::min(low, o->held);
            high = std::max(high, o->held);
            all += o->held;
        }
        return all == partitions_ && high - low <= 1;
    }

    Store store_;
    std::size_t partitions_;
    std::vector<std::string> names_;
    std::vector<std::unique_ptr<owner>> owners_;
    using event = std::pair<std::int64_t, std::size_t>;
    std::priority_queue<event, std::vector<event>, std::greater<>> queue_;
    std::mt19937_64 random_{20'26};
    std::int64_t now_ms_ = 0;
    std::size_t live_ = 0;
    clock::duration cpu_{};
};

// The models.

enum class change : std::uint8_t { join, crash, restart, outage };

struct scenario {
    std::size_t partitions;
    std::size_t owners;
    change what;
    std::size_t joiners = 1;
};

double share(const scenario& s, std::size_t owners)
{
    return static_cast<double>(s.partitions) / static_cast<double>(owners);
}

std::optional<figures> kcl(const scenario& s)
{
    const auto all = static_cast<double>(s.partitions);
    const double renewals = all / 3.31;  // in a second
    figures f;
    const double taker = 20.05;
    std::size_t owners = s.owners;
    if (s.what == change::join) {
        owners += s.joiners;
        // Each joiner steals one lease in each of its runs.
        const double quota = std::ceil(share(s, owners));
        const double runs = quota - (quota > share(s, owners) ? 1 : 0);
        f.seconds = taker * runs;
        f.spent.moves = static_cast<std::uint64_t>(runs) * s.joiners;
    } else if (s.what == change::crash) {
        --owners;
        f.seconds = 10 + taker;
        f.spent.moves = static_cast<std::uint64_t>(share(s, s.owners));
    } else {
        return {};
    }
    const double scans = f.seconds / taker * static_cast<double>(owners);
    f.spent.calls = static_cast<std::uint64_t>(renewals * f.seconds + scans) + f.spent.moves;
    f.spent.rows = static_cast<std::uint64_t>(scans * all);
    f.steady_calls = (share(s, owners) / 3.31 + 1 / taker) * 10;
    return f;
}

std::optional<figures> azure_greedy(const scenario& s)
{
    const auto all = static_cast<double>(s.partitions);
    figures f;
    std::size_t owners = s.owners;
    if (s.what == change::join) {
        owners += s.joiners;
        f.spent.moves = static_cast<std::uint64_t>(share(s, owners)) * s.joiners;
        f.seconds = 0;  // without a pause: the time of its calls
        f.spent.calls = 2 * f.spent.moves;
        f.spent.rows = f.spent.moves * s.partitions;
    } else if (s.what == change::crash) {
        --owners;
        f.spent.moves = static_cast<std::uint64_t>(share(s, s.owners));
        f.seconds = 120 + 30;
        const double cycles = f.seconds / 30 * static_cast<double>(owners);
        f.spent.calls =
            static_cast<std::uint64_t>(all * f.seconds / 30 + cycles) + 2 * f.spent.moves;
        f.spent.rows =
            static_cast<std::uint64_t>((cycles + static_cast<double>(f.spent.moves)) * all);
    } else {
        return {};
    }
    f.steady_calls = (share(s, owners) + 1) / 3;
    return f;
}

std::optional<figures> kafka_cooperative(const scenario& s)
{
    figures f;
    std::size_t owners = s.owners;
    double wait = 0;
    if (s.what == change::join) {
        owners += s.joiners;
        f.spent.moves = static_cast<std::uint64_t>(share(s, owners)) * s.joiners;
    } else if (s.what == change::crash) {
        --owners;
        f.spent.moves = static_cast<std::uint64_t>(share(s, s.owners));
        wait = 45;
    } else {
        return {};
    }
    f.seconds = wait + 2 * 3;
    f.spent.calls = 2 * 2 * owners + static_cast<std::uint64_t>(f.seconds / 3) * owners;
    f.steady_calls = 10.0 / 3;
    return f;
}

template <class Store>
figures measured(const scenario& s)
{
    using each = group<Store>;
    each g(s.partitions, s.owners);
    switch (s.what) {
        case change::join: return g.measure([&](each& x) { x.join(s.joiners); });
        case change::crash: return g.measure([](each& x) { x.crash(0); });
        case change::restart: return g.measure([](each& x) { x.restart_all(); });
        case change::outage: return g.measure([](each& x) { x.outage(2 * expiry_ms); });
    }
    return {};
}

void print(const scenario& s, const char* who, const std::optional<figures>& f, bool real)
{
    static constexpr const char* names[] = {"join", "crash", "restart of all", "outage of 120 s"};
    if (!f) return;
    std::printf("%-16s %8zu %7zu %-18s %9.0f %10llu %11llu %8llu %8.1f",
                names[static_cast<int>(s.what)], s.partitions, s.owners, who, f->seconds,
                static_cast<unsigned long long>(f->spent.calls),
                static_cast<unsigned long long>(f->spent.rows),
                static_cast<unsigned long long>(f->spent.moves), f->steady_calls);
    if (real) std::printf(" %9.1f\n", f->steady_us);
    else std::printf(" %9s\n", "-");
}

void all(const scenario& s, bool with_rows)
{
    print(s, "waybill", measured<bulk_store>(s), true);
    if (with_rows) print(s, "waybill, by rows", measured<row_store>(s), true);
    print(s, "KCL (model)", kcl(s), false);
    print(s, "Azure (model)", azure_greedy(s), false);
    print(s, "Kafka (model)", kafka_cooperative(s), false);
    std::fflush(stdout);
}

}  // namespace leases_bench

int main(int count, char** argv)
{
    using namespace leases_bench;
    const bool few = count > 1 && std::string_view(argv[1]) == "--few";
    std::printf("%-16s %8s %7s %-18s %9s %10s %11s %8s %8s %9s\n", "change", "parts", "owners", "",
                "seconds", "calls", "rows", "moves", "calls/r", "us/round");
    all({100, 3, change::join}, true);
    all({1'000, 9, change::join}, true);
    all({1'000, 9, change::crash}, true);
    all({1'000, 9, change::restart}, true);
    all({1'000, 9, change::outage}, true);
    if (few) return 0;
    all({5'000, 20, change::join, 5}, true);
    all({5'000, 1'000, change::join}, false);
    all({10'000, 100, change::join}, false);
    all({10'000, 100, change::crash}, false);
    all({100'000, 10, change::join}, false);
    all({100'000, 100, change::join}, false);
    return 0;
}
