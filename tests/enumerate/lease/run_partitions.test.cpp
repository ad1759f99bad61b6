// SPDX-License-Identifier: MIT
//
// Two processes share two partitions through partition_tasks. At each call to the log, the store
// and the leases there is one fault. The call fails before or after its effect. Or the process ends
// before or after it, and another one starts. Or the process is suspended for longer than the
// expiry of its leases, while the other one continues. In the full extent, a second fault follows.
//
// Each event takes effect once, in the order of its partition. No batch is committed by a process
// that has no lease. Then both have one partition each, and a stop gives both back.

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>

#include <waybill/lease/run_partitions.hpp>
#include <waybill/testing/faulty.hpp>
#include <waybill/testing/memory_leases.hpp>
#include <waybill/testing/memory_log.hpp>
#include <waybill/testing/memory_store.hpp>

namespace run_partitions_enumeration {
namespace {

using waybill::duration;
using waybill::partition_key;
using waybill::partition_tasks;
using waybill::position;
using waybill::result;
using waybill::steady_time;
using waybill::testing::injected_fault;
using waybill::testing::memory_event;
using waybill::testing::memory_leases;
using waybill::testing::memory_log;
using waybill::testing::store_call;
using memory = waybill::testing::memory_store<std::string>;

// The defects of the stores that the test must find.
enum class wrong : std::uint8_t { nothing, no_fence, advances_blindly };

enum class kind : std::uint8_t { read, write, commit };

enum class trouble : std::uint8_t {
    fails,
    dies_before,
    suspended,
    suspended_until_taken,  // until the other process has taken the lease and done nothing else
    fails_though_done,
    dies_after,
    not_applied,
    unknown_not_applied,
    unknown_applied,
};
constexpr int troubles_of_reads = 4;
constexpr int troubles_of_writes = 6;
constexpr int all_troubles = 9;

struct planned {
    std::uint64_t call = ~std::uint64_t{0};
    trouble what = trouble::fails;
};

class simulation {
public:
    simulation(wrong w, planned first, planned second) : wrong_(w), plan_{first, second}
    {
        for (const char* partition : {"a", "b"}) {
            for (const char* body : {"1", "2", "3"}) log_.append(partition, body);
        }
        for (std::uint64_t n = 0; n != 2; ++n) start(n);
    }
    simulation(const simulation&) = delete;
    simulation& operator=(const simulation&) = delete;

    /// Returns the broken rule, or an empty text.
    std::string run()
    {
        while (broken_.empty() && !(all_done() && balanced())) {
            if (now_ > steady_time::at(duration::seconds(2'000))) return "it does not converge";
            step_both();
        }
        for (owner& o : owners_) o.work->on(waybill::stop_requested{}, now_);
        while (broken_.empty() && !(ended(0) && ended(1))) {
            if (now_ > steady_time::at(duration::seconds(3'000))) return "it does not stop";
            step_both();
        }
        if (broken_.empty()) check_records();
        return broken_;
    }

    [[nodiscard]] std::uint64_t calls() const { return calls_; }
    [[nodiscard]] bool too_few_troubles() const { return !plan_[0].used; }

private:
    struct script {
        simulation* s;
        std::uint64_t owner;
        injected_fault operator()(store_call c) const { return s->before_store_call(owner, c); }
    };
    using faulty_store = waybill::testing::faulty<memory, script>;

    struct environment {
        simulation* s;
        std::uint64_t seed;

        [[nodiscard]] steady_time now() const { return s->now_; }
        [[nodiscard]] waybill::wall_time wall_now() const { return {}; }
        void sleep_until(steady_time) const {}
        double random()
        {
            seed = seed * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
            return static_cast<double>(seed >> 11U) * 0x1p-53;
        }
    };

    // The calls of one process to the log and the leases.
    struct own_log {
        simulation* s;
        std::uint64_t owner;
        result<std::vector<std::string>> partitions() { return s->log_.partitions(); }
        result<std::vector<memory_event>> read(const std::string& p,
                                               const std::optional<position>& after,
                                               std::uint64_t n)
        {
            return s->call(owner, kind::read, [&] { return s->log_.read(p, after, n); });
        }
        result<std::optional<position>> end(const std::string& p)
        {
            return s->call(owner, kind::read, [&] { return s->log_.end(p); });
        }
    };
    struct own_leases {
        simulation* s;
        std::uint64_t owner;
        auto list(const std::string& source, const std::string& group)
        {
            return s->call(owner, kind::read, [&] { return s->leases_.list(source, group); });
        }
        auto renew(const waybill::owner_heartbeat& own, std::uint64_t since)
        {
            return s->call(owner, kind::write, [&] { return s->leases_.renew(own, since); });
        }
        auto claim(const waybill::lease_claim& c) { return s->leases_.claim(c); }
        auto claim_all(const std::vector<waybill::lease_claim>& claims)
        {
            return s->call(owner, kind::write, [&] { return s->leases_.claim_all(claims); });
        }
        auto heartbeat(const waybill::owner_heartbeat& p) { return s->leases_.heartbeat(p); }
        auto leave(const waybill::owner_heartbeat& p)
        {
            return s->call(owner, kind::write, [&] { return s->leases_.leave(p); });
        }
        template <class Transaction>
        result<std::optional<std::uint64_t>> epoch(Transaction& tx, const partition_key& key)
        {
            return s->call(owner, kind::read, [&]() -> result<std::optional<std::uint64_t>> {
                auto& o = s->owners_[owner];
                o.has_lock = true;
                if (s->wrong_ == wrong::no_fence) return std::optional(o.task_epoch);
                return s->leases_.epoch(tx, key);
            });
        }
    };
    // A store whose advance may be wrong.
    struct own_store {
        simulation* s;
        std::uint64_t owner;
        faulty_store& inner;
        using transaction = faulty_store::transaction;

        auto begin() { return inner.begin(); }
        auto load(const partition_key& key) { return inner.load(key); }
        result<waybill::advance_outcome> advance(transaction& tx, const partition_key& key,
                                                 const std::optional<position>& from,
                                                 const position& to, std::uint64_t epoch)
        {
            if (s->wrong_ != wrong::advances_blindly)
                return inner.advance(tx, key, from, to, epoch);
            const auto stored = *s->store_.load(key);
            const auto own = stored ? std::optional(stored->at) : std::nullopt;
            return inner.advance(tx, key, own, to, ~std::uint64_t{0} - 1);
        }
        auto put(transaction& tx, const waybill::dead_letter& d) { return inner.put(tx, d); }
        auto find(const partition_key& key, std::uint64_t n) { return inner.find(key, n); }
        auto load_crash_record(const partition_key& key) { return inner.load_crash_record(key); }
        auto store_crash_record(transaction& tx, const partition_key& key,
                                const waybill::crash_record& row)
        {
            return inner.store_crash_record(tx, key, row);
        }
        auto clear_crash_record(transaction& tx, const partition_key& key)
        {
            return inner.clear_crash_record(tx, key);
        }
    };

    struct owner {
        waybill::owner_id id{};
        std::optional<partition_tasks> work{};
        std::optional<faulty_store> store{};
        bool alive = true;
        bool suspended = false;
        bool has_lock = false;  // on the row of the lease, in the open transaction
        partition_key key{};    // of the task
        std::uint64_t task_epoch = 0;
    };

    void start(std::uint64_t n)
    {
        owner& o = owners_[n];
        o.id = {n == 0 ? "one" : "two", ++incarnations_};
        o.work.emplace(partition_tasks::policy{.group = "billing",
                                               .owner = o.id.name,
                                               .max_events = 2,
                                               .leases = {.expiry = duration::seconds(30)}},
                       *log_.partitions(), o.id.incarnation);
        o.store.emplace(store_, script{this, n});
        o.alive = true;
    }

    void step_both()
    {
        step(0);
        if (now_ >= second_begins) step(1);
        now_ += duration::seconds(1);
        const char* const later[] = {"4", "5", "6", "7"};
        if (appended_ == 4 || now_ < second_begins + duration::seconds(10 * appended_)) return;
        for (const char* partition : {"a", "b"}) log_.append(partition, later[appended_]);
        ++appended_;
    }

    /// Runs due tasks, at most `max_tasks`. Returns false if fewer were due.
    bool step(std::uint64_t n, std::uint64_t max_tasks = 1'000)
    {
        owner& o = owners_[n];
        if (o.suspended) return false;
        environment env{this, n + 1};
        own_log log{this, n};
        own_leases leases{this, n};
        own_store store{this, n, *o.store};
        const auto handle = [&](auto& tx, const memory_event& e, const partition_key& key) {
            if (tx.inner()) tx.inner()->record(key.partition + e.body);
        };
        for (; broken_.empty() && max_tasks != 0; --max_tasks) {
            auto t = o.work->next_task(now_);
            if (t.waits() || t.ended()) return false;
            o.key = t.key();
            for (std::uint32_t p = 0; p != 2; ++p) {
                const auto epoch = o.work->state().leases().epoch(p);
                if (o.work->state().key(p) == o.key && epoch) o.task_epoch = *epoch;
            }
            o.work->run(t, log, store, leases, handle, env);
            o.work->complete(std::move(t), now_);
            if (!o.alive) start(n);
        }
        return true;
    }

    /// The trouble of this call, if any.
    std::optional<trouble> next_trouble(kind k)
    {
        const std::uint64_t number = calls_++;
        for (auto& p : plan_) {
            const int possible = k == kind::read    ? troubles_of_reads
                                 : k == kind::write ? troubles_of_writes
                                                    : all_troubles;
            if (p.at.call != number || static_cast<int>(p.at.what) >= possible) continue;
            p.used = true;
            return p.at.what;
        }
        return {};
    }

    template <class F>
    auto call(std::uint64_t n, kind k, F&& f) -> decltype(f())
    {
        const auto failed = [] { return waybill::unexpected(waybill::infrastructure("failed")); };
        owner& o = owners_[n];
        if (!o.alive) return failed();
        const auto t = next_trouble(k);
        if (!t) return f();
        if (t == trouble::suspended || t == trouble::suspended_until_taken) {
            suspend(n, *t);
            return f();
        }
        if (t == trouble::fails_though_done || t == trouble::dies_after) (void)f();
        if (t == trouble::dies_before || t == trouble::dies_after) die(n);
        return failed();
    }

    injected_fault before_store_call(std::uint64_t n, store_call c)
    {
        owner& o = owners_[n];
        if (c == store_call::begin) o.has_lock = false;
        const bool reads = c == store_call::load || c == store_call::load_crash_record;
        const auto t = next_trouble(c == store_call::commit ? kind::commit
                                    : reads                 ? kind::read
                                                            : kind::write);
        if (c == store_call::commit && o.has_lock) check_owner(n);
        if (!t) return injected_fault::none;
        switch (*t) {
            case trouble::fails: return injected_fault::fails;
            case trouble::fails_though_done: return injected_fault::fails_though_done;
            case trouble::dies_before: o.alive = false; return injected_fault::dies_before;
            case trouble::dies_after: o.alive = false; return injected_fault::dies_after;
            case trouble::not_applied: return injected_fault::not_applied;
            case trouble::unknown_not_applied: return injected_fault::unknown_not_applied;
            case trouble::unknown_applied: return injected_fault::unknown_applied;
            case trouble::suspended:
            case trouble::suspended_until_taken:
                if (!o.has_lock) suspend(n, *t);  // another claim would wait for the lock
                break;
        }
        return injected_fault::none;
    }

    void die(std::uint64_t n)
    {
        owners_[n].alive = false;
        (void)owners_[n].store->die();
    }

    /// Runs the other process for longer than an expiry, or until it has the lease.
    void suspend(std::uint64_t n, trouble how)
    {
        owner& o = owners_[n];
        if (owners_[1 - n].suspended) return;
        o.suspended = true;
        const partition_key key = o.key;
        const bool has_lease = is_owner(n);
        const steady_time until = now_ + duration::seconds(100);
        while (now_ < until) {
            if (!step(1 - n, 1)) now_ += duration::seconds(1);
            if (how == trouble::suspended_until_taken && has_lease && !is_owner(n)) break;
        }
        o.suspended = false;
        o.key = key;
    }

    /// True if the process has the lease of the partition of its task.
    [[nodiscard]] bool is_owner(std::uint64_t n) const
    {
        const auto table = *leases_.list("", "billing");
        for (const auto& row : table.leases) {
            if (row.key == owners_[n].key) return row.owner == owners_[n].id;
        }
        return false;
    }

    void check_owner(std::uint64_t n)
    {
        if (!is_owner(n)) broken_ = "a batch is committed without a lease";
    }

    [[nodiscard]] bool all_done() const { return store_.records().size() >= 14; }
    [[nodiscard]] bool balanced() const
    {
        return owners_[0].work->state().leases().held() == 1 &&
               owners_[1].work->state().leases().held() == 1;
    }
    [[nodiscard]] bool ended(std::uint64_t n)
    {
        auto t = owners_[n].work->next_task(now_);
        if (t.ended()) return true;
        owners_[n].work->complete(std::move(t), now_);
        // If a process died and was restarted, it has to be stopped, too.
        owners_[n].work->on(waybill::stop_requested{}, now_);
        return false;
    }

    void check_records()
    {
        std::string a;
        std::string b;
        for (const std::string& r : store_.records()) (r[0] == 'a' ? a : b) += r[1];
        if (a != "1234567" || b != "1234567") broken_ = "took effect: a" + a + " b" + b;
        if (!store_.letters().empty()) broken_ = "a good event is a dead letter";
        const auto table = *leases_.list("", "billing");
        for (const auto& row : table.leases) {
            if (!row.owner.none() && !plan_[0].used) broken_ = "a lease was not given back";
        }
    }

    struct used_plan {
        planned at;
        bool used = false;
        used_plan(planned p) : at(p) {}
    };

    static constexpr steady_time second_begins = steady_time::at(duration::seconds(115));

    wrong wrong_;
    int appended_ = 0;
    used_plan plan_[2];
    memory_log<> log_{{"a", "b"}};
    memory store_;
    memory_leases leases_;
    owner owners_[2];
    steady_time now_ = steady_time::at(duration::seconds(100));
    std::uint64_t incarnations_ = 0;
    std::uint64_t calls_ = 0;
    std::string broken_;
};

struct totals {
    std::uint64_t runs = 0;
    std::string broken;  // the first broken rule, and where
};

void try_one(totals& sum, wrong w, planned first, planned second)
{
    simulation s(w, first, second);
    const std::string broken = s.run();
    if (s.too_few_troubles() && first.call != ~std::uint64_t{0}) return;  // not of this kind
    ++sum.runs;
    if (broken.empty()) return;
    sum.broken = broken + " at call " + std::to_string(first.call) + ", " +
                 std::to_string(static_cast<int>(first.what)) + ", then " +
                 std::to_string(second.call) + ", " + std::to_string(static_cast<int>(second.what));
}

// Ends at the first run that breaks a rule.
totals try_all(const char* what, wrong w, std::uint64_t second_within)
{
    totals sum;
    simulation quiet(w, {}, {});
    CHECK(quiet.run().empty());
    for (std::uint64_t k = 0; k != quiet.calls(); ++k) {
        for (int t = 0; t != all_troubles && sum.broken.empty(); ++t) {
            const planned first{k, static_cast<trouble>(t)};
            try_one(sum, w, first, {});
            for (std::uint64_t d = 1; d <= second_within; ++d) {
                for (const trouble u : {trouble::dies_before, trouble::suspended}) {
                    if (sum.broken.empty()) try_one(sum, w, first, {k + d, u});
                }
            }
        }
    }
    std::printf("run_partitions: %-28s %4llu calls, %7llu runs%s%s\n", what,
                static_cast<unsigned long long>(quiet.calls()),
                static_cast<unsigned long long>(sum.runs),
                sum.broken.empty() ? "" : ", broken: ", sum.broken.c_str());
    return sum;
}

TEST_CASE("run_partitions: one or two faults at any calls: each event takes effect once")
{
    const totals sum =
        try_all("one trouble, or two", wrong::nothing, tests_support::rounds<std::uint64_t>(0, 12));
    CHECK(sum.runs > 300);
    CHECK(sum.broken == "");
}

TEST_CASE("run_partitions: mutant caught: a store without a fence")
{
    CHECK(try_all("without a fence", wrong::no_fence, 0).broken != "");
}

TEST_CASE("run_partitions: mutant caught: a store that advances checkpoints without a comparison")
{
    CHECK(try_all("a store that advances blindly", wrong::advances_blindly, 0).broken != "");
}

}  // namespace
}  // namespace run_partitions_enumeration
