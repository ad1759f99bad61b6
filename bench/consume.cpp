// SPDX-License-Identifier: MIT
//
// bench/consume: the cost of process_batch over the same SQL by hand.
//
// Events of about 100 bytes have an effect in SQLite, in batches of 1, 10 and 100. Each event has a
// savepoint. One in a hundred fails and becomes a dead letter. The checkpoint is compared and set
// in the same transaction. A crash record is committed before each batch, and removed with its
// checkpoint. process_batch uses the store of the examples. The loop by hand uses the C interface
// of SQLite, with the same statements in the same order, prepared once, and with the same journal
// and syncs. Both are checked to leave the same rows. They take turns batch by batch, so that other
// work on the machine slows both, and the ratio of a run is that of its two times.
//
// The second table has no database: process_batch over a store that does nothing, without and with
// crash records. The raw loop calls the handler. One operation is one event.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <sqlite3.h>

#include "../examples/engines/sqlite_store.hpp"
#include "measure.hpp"
#include <waybill/consume.hpp>
#include <waybill/lease.hpp>

namespace consume_bench {

using bench::allocations;

constexpr std::uint64_t how_many = 100'000;

struct event {
    std::uint64_t sequence;
    std::string body;
};

const std::vector<event>& events()
{
    static const std::vector<event> made = [] {
        std::vector<event> v;
        for (std::uint64_t i = 1; i <= how_many; ++i)
            v.push_back({i, std::string(80 + i % 40, 'x')});
        return v;
    }();
    return made;
}

bool fails(const event& e)
{
    return e.sequence % 100 == 50;
}

const waybill::partition_key key{"orders", "billing", "0"};
constexpr std::string_view reason = "the total is negative";
const auto noon = waybill::wall_time::at(waybill::duration::seconds(43'200));
constexpr std::int64_t incarnation = 7;
const char* const effects_table =
    "CREATE TABLE effects (id INTEGER PRIMARY KEY, body TEXT NOT NULL)";
const char* const insert_effect = "INSERT INTO effects VALUES (?, ?)";

// The name of a new database file, which the destructor removes.
class scratch {
public:
    scratch()
        : path_(std::filesystem::temp_directory_path() /
                ("waybill_bench_" + std::to_string(++number)))
    {
        clear();
    }
    ~scratch() { clear(); }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;
    std::string path() const { return path_.string(); }

private:
    void clear() const
    {
        for (const char* ending : {"", "-wal", "-shm"})
            std::filesystem::remove(path_.string() + ending);
    }
    static inline std::uint64_t number = static_cast<std::uint64_t>(
        std::filesystem::file_time_type::clock::now().time_since_epoch().count());
    std::filesystem::path path_;
};

// All rows of all tables, as one text.
std::string rows(sqlite3* db)
{
    std::string text;
    for (const char* sql :
         {"SELECT count(*), sum(id), sum(length(body)) FROM effects",
          "SELECT source, grp, part, sequence, place, epoch FROM checkpoints",
          "SELECT count(*), sum(sequence), sum(length(body)), max(reason), max(class), "
          "max(parked), "
          "sum(tries), count(occurred), sum(size), sum(checksum), max(kept) FROM dead_letters",
          "SELECT count(*) FROM attempts"}) {
        sqlite3_exec(
            db, sql,
            [](void* out, int n, char** values, char**) {
                for (int i = 0; i != n; ++i)
                    *static_cast<std::string*>(out) +=
                        std::string(values[i] ? values[i] : "-") + "|";
                return 0;
            },
            &text, nullptr);
    }
    return text;
}

[[noreturn]] void fail(sqlite3* db)
{
    std::fprintf(stderr, "SQLite: %s\n", sqlite3_errmsg(db));
    std::exit(1);
}

// The loop by hand.
class raw {
public:
    explicit raw(sqlite3* db) : db_(db) {}
    ~raw()
    {
        for (sqlite3_stmt* s : made_) sqlite3_finalize(s);
    }
    raw(const raw&) = delete;
    raw& operator=(const raw&) = delete;

    void batch(const event* first, const event* last, std::uint64_t& at, bool& absent)
    {
        named(attempted_);
        if (sqlite3_step(attempted_) == SQLITE_ROW) fail(db_);  // no crash here
        sqlite3_reset(attempted_);
        step(begin_);
        named(note_);
        if (absent) sqlite3_bind_null(note_, 4);
        else sqlite3_bind_int64(note_, 4, static_cast<sqlite3_int64>(at));
        sqlite3_bind_int64(note_, 5, static_cast<sqlite3_int64>((last - 1)->sequence));
        sqlite3_bind_int64(note_, 6, last - first);
        sqlite3_bind_int(note_, 7, 0);
        sqlite3_bind_int64(note_, 8, incarnation);
        sqlite3_bind_int64(note_, 9, 1);
        step(note_);
        step(commit_);
        step(begin_);
        for (const event* e = first; e != last; ++e) {
            step(savepoint_);
            sqlite3_bind_int64(effect_, 1, static_cast<sqlite3_int64>(e->sequence));
            text(effect_, 2, e->body);
            step(effect_);
            if (!fails(*e)) {
                step(release_);
                continue;
            }
            step(undo_);
            step(release_);
            named(put_);
            sqlite3_bind_int64(put_, 4, static_cast<sqlite3_int64>(e->sequence));
            text(put_, 5, "");
            sqlite3_bind_int(put_, 6, static_cast<int>(waybill::fault_kind::permanent));
            text(put_, 7, reason);
            sqlite3_bind_blob(put_, 8, e->body.data(), static_cast<int>(e->body.size()),
                              SQLITE_STATIC);
            sqlite3_bind_int(put_, 9, 1);
            sqlite3_bind_null(put_, 10);
            sqlite3_bind_int64(put_, 11, noon.since_epoch().count());
            sqlite3_bind_int(put_, 12, 0);
            sqlite3_bind_int64(put_, 13, static_cast<sqlite3_int64>(e->body.size()));
            sqlite3_bind_int64(put_, 14, waybill::crc32c(e->body));
            step(put_);
        }
        named(get_);
        const bool found = sqlite3_step(get_) == SQLITE_ROW;
        const bool same =
            found ? !absent && static_cast<std::uint64_t>(sqlite3_column_int64(get_, 0)) == at &&
                        sqlite3_column_int64(get_, 2) <= 1
                  : absent;
        sqlite3_reset(get_);
        if (!same) fail(db_);
        named(set_);
        sqlite3_bind_int64(set_, 4, static_cast<sqlite3_int64>((last - 1)->sequence));
        text(set_, 5, "");
        sqlite3_bind_int(set_, 6, 1);
        step(set_);
        named(forget_);
        step(forget_);
        step(commit_);
        at = (last - 1)->sequence;
        absent = false;
    }

private:
    sqlite3_stmt* make(const char* sql)
    {
        sqlite3_stmt* s = nullptr;
        if (sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &s, nullptr) != SQLITE_OK)
            fail(db_);
        made_.push_back(s);
        return s;
    }
    void step(sqlite3_stmt* s)
    {
        if (sqlite3_step(s) != SQLITE_DONE) fail(db_);
        sqlite3_reset(s);
    }
    static void text(sqlite3_stmt* s, int place, std::string_view t)
    {
        sqlite3_bind_text(s, place, t.data(), static_cast<int>(t.size()), SQLITE_STATIC);
    }
    static void named(sqlite3_stmt* s)
    {
        text(s, 1, key.source);
        text(s, 2, key.group);
        text(s, 3, key.partition);
    }

    sqlite3* db_;
    std::vector<sqlite3_stmt*> made_;
    sqlite3_stmt* begin_ = make("BEGIN IMMEDIATE");
    sqlite3_stmt* savepoint_ = make("SAVEPOINT event");
    sqlite3_stmt* release_ = make("RELEASE event");
    sqlite3_stmt* undo_ = make("ROLLBACK TO event");
    sqlite3_stmt* commit_ = make("COMMIT");
    sqlite3_stmt* effect_ = make(insert_effect);
    sqlite3_stmt* get_ = make(
        "SELECT sequence, place, epoch FROM checkpoints WHERE source = ? AND grp = ? AND part = ?");
    sqlite3_stmt* set_ = make(
        "INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (source, grp, part) DO UPDATE SET sequence = excluded.sequence,"
        " place = excluded.place, epoch = excluded.epoch");
    sqlite3_stmt* put_ = make(
        "INSERT OR REPLACE INTO dead_letters VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    sqlite3_stmt* attempted_ = make(
        "SELECT sequence, last, suspects, deaths, incarnation, epoch FROM attempts WHERE source = "
        "? AND grp = ? AND part = ?");
    sqlite3_stmt* note_ =
        make("INSERT OR REPLACE INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    sqlite3_stmt* forget_ = make("DELETE FROM attempts WHERE source = ? AND grp = ? AND part = ?");
};

struct pair {
    double hand;  // seconds per event
    double ours;
};

// The times of all runs of in_turns, by the size of the batch.
std::map<std::uint64_t, std::vector<pair>> pairs;

// Measures the loop by hand and process_batch in turns, each with its own database.
void in_turns(benchmark::State& state, std::uint64_t batch)
{
    const scratch hand_file;
    engines::database hand_db(hand_file.path());
    const engines::sqlite_store tables(hand_db);  // creates the tables
    hand_db.exec(effects_table);
    raw loop(hand_db.handle());
    std::uint64_t reached = 0;
    bool absent = true;

    const scratch our_file;
    engines::database our_db(our_file.path());
    engines::sqlite_store store(our_db);
    our_db.exec(effects_table);
    engines::statement effect(our_db, insert_effect);
    const auto handle = [&](auto&, const event& e) -> waybill::fault {
        effect.run(e.sequence, e.body);
        if (fails(e)) return waybill::permanent(std::string(reason));
        return {};
    };
    waybill::assignment mine{key, {}, 1, incarnation};

    const auto by_hand = [&](const event* at) { loop.batch(at, at + batch, reached, absent); };
    const auto by_us = [&](const event* at) {
        auto r = waybill::process_batch(store, mine, at, at + batch, handle, noon);
        if (r.outcome != waybill::batch_outcome::committed) fail(our_db.handle());
        mine.from = std::move(r.reached);
    };
    const auto timed = [](const auto& way, const event* at) {
        const auto started = std::chrono::steady_clock::now();
        way(at);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    };
    const event* at = events().data();
    double hand = 0;
    double ours = 0;
    bool hand_first = false;
    for ([[maybe_unused]] auto round : state) {
        hand_first = !hand_first;
        if (hand_first) hand += timed(by_hand, at);
        ours += timed(by_us, at);
        if (!hand_first) hand += timed(by_hand, at);
        at += batch;
    }
    const double made = static_cast<double>(state.iterations()) * static_cast<double>(batch);
    pairs[batch].push_back({hand / made, ours / made});
    if (rows(hand_db.handle()) != rows(our_db.handle())) {
        state.SkipWithError("process_batch and the loop by hand leave different rows");
    }
}

// A store that does nothing. Its functions are not inlined.
struct nowhere {
    struct transaction {
        [[gnu::noinline]] waybill::result<void> savepoint() { return {}; }
        [[gnu::noinline]] waybill::result<void> release_savepoint() { return {}; }
        [[gnu::noinline]] waybill::result<void> rollback_to_savepoint() { return {}; }
        [[gnu::noinline]] waybill::result<waybill::commit_outcome> commit()
        {
            return waybill::commit_outcome::applied;
        }
        void rollback() noexcept {}
    };
    waybill::result<transaction> begin() { return transaction{}; }
    waybill::result<std::optional<waybill::checkpoint>> load(const waybill::partition_key&)
    {
        return std::optional<waybill::checkpoint>();
    }
    [[gnu::noinline]] waybill::result<waybill::advance_outcome> advance(
        transaction&, const waybill::partition_key&, const std::optional<waybill::position>&,
        const waybill::position&, std::uint64_t)
    {
        return waybill::advance_outcome::applied;
    }
    waybill::result<void> put(transaction&, const waybill::dead_letter&) { return {}; }
    [[gnu::noinline]] waybill::result<std::optional<waybill::crash_record>> load_crash_record(
        const waybill::partition_key&)
    {
        return std::optional<waybill::crash_record>();
    }
    [[gnu::noinline]] waybill::result<void> store_crash_record(transaction&,
                                                               const waybill::partition_key&,
                                                               const waybill::crash_record&)
    {
        return {};
    }
    [[gnu::noinline]] waybill::result<void> clear_crash_record(transaction&,
                                                               const waybill::partition_key&)
    {
        return {};
    }
    waybill::result<std::optional<waybill::dead_letter>> find(const waybill::partition_key&,
                                                              std::uint64_t)
    {
        return std::optional<waybill::dead_letter>();
    }
};

[[gnu::noinline]] waybill::fault touch(const event& e)
{
    benchmark::DoNotOptimize(e.sequence);
    return {};
}

void handler_alone(benchmark::State& state, std::uint64_t batch)
{
    const event* const first = events().data();
    const std::uint64_t before = allocations;
    for ([[maybe_unused]] auto round : state) {
        for (const event* e = first; e != first + batch; ++e) {
            if (!touch(*e).ok()) std::abort();
        }
    }
    const std::uint64_t allocated = allocations - before;
    state.counters["allocations"] =
        static_cast<double>(allocated) / static_cast<double>(state.iterations());
}

void machine_alone(benchmark::State& state, std::uint64_t batch, std::uint64_t counted_by)
{
    nowhere store;
    const event* const first = events().data();
    const waybill::assignment mine{key, {}, 1, counted_by};
    const auto handle = [](auto&, const event& e) { return touch(e); };
    const std::uint64_t before = allocations;
    for ([[maybe_unused]] auto round : state) {
        const auto r = waybill::process_batch(store, mine, first, first + batch, handle, noon);
        if (r.handled != batch) std::abort();
    }
    const std::uint64_t allocated = allocations - before;
    state.counters["allocations"] =
        static_cast<double>(allocated) / static_cast<double>(state.iterations());
}

constexpr std::uint64_t batches[] = {1, 10, 100};
constexpr const char* alone[] = {"handler", "process_batch", "with crash records"};

std::string benchmark_name(const std::string& peer, std::uint64_t batch)
{
    return peer + "/" + std::to_string(batch);
}

void add(bench::runner& all, std::uint64_t batch)
{
    const auto operations = static_cast<double>(batch);
    all.add(benchmark_name(alone[0], batch), operations,
            [batch](benchmark::State& s) { handler_alone(s, batch); });
    all.add(benchmark_name(alone[1], batch), operations,
            [batch](benchmark::State& s) { machine_alone(s, batch, 0); });
    all.add(benchmark_name(alone[2], batch), operations,
            [batch](benchmark::State& s) { machine_alone(s, batch, 7); });
    const std::uint64_t taken = (batch == 1 ? how_many / 4 : how_many) / batch;
    all.add(benchmark_name("sqlite", batch), operations,
            [batch](benchmark::State& s) { in_turns(s, batch); },
            {.counted = false,
             .iterations = static_cast<benchmark::IterationCount>(taken),
             .repetitions = 9});
}

// The median of a figure of all pairs.
template <class F>
double median(const std::vector<pair>& all, F figure)
{
    std::vector<double> v;
    for (const pair& p : all) v.push_back(figure(p));
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

// The throughput with SQLite. The ratios are printed on a noisy machine, too, because each compares
// two times of one run, and their spread shows the noise.
void print_sqlite(bool noisy)
{
    std::printf("\n%-8s %18s %18s %8s %17s\n", "batch", "by hand, events/s", "process_batch",
                "ratio", "lowest - highest");
    for (const auto& [batch, runs] : pairs) {
        const auto ratio = [](const pair& p) { return p.hand / p.ours; };
        const auto [lowest, highest] =
            std::minmax_element(runs.begin(), runs.end(),
                                [&](const pair& a, const pair& b) { return ratio(a) < ratio(b); });
        const double hand = median(runs, [](const pair& p) { return 1 / p.hand; });
        const double ours = median(runs, [](const pair& p) { return 1 / p.ours; });
        std::printf("%-8llu %18s %18s", static_cast<unsigned long long>(batch),
                    bench::cell(noisy ? 0 : hand, 0).c_str(),
                    bench::cell(noisy ? 0 : ours, 0).c_str());
        std::printf(" %8.2f %8.2f - %6.2f\n", median(runs, ratio), ratio(*lowest), ratio(*highest));
    }
}

// Without SQLite. Returns false if a batch has allocated.
bool print_alone(const bench::runner& all)
{
    std::printf("\n%-8s %-20s %9s %9s %8s %14s %14s %18s\n", "batch", "per event", "ns",
                "- handler", "ratio", "instructions", "- handler", "allocations/batch");
    bool none = true;
    for (const std::uint64_t batch : batches) {
        const bench::figures raw = all.at(benchmark_name(alone[0], batch));
        for (const char* peer : alone) {
            const bench::figures f = all.at(benchmark_name(peer, batch));
            if (f.counters.empty()) continue;  // left out by --benchmark_filter
            const double ns = all.noisy() ? 0 : f.ns;
            const double allocated = f.counters.at("allocations");
            std::printf("%-8llu %-20s %9s %9s %8s", static_cast<unsigned long long>(batch), peer,
                        bench::cell(ns, 1).c_str(), bench::cell(ns - raw.ns, 1).c_str(),
                        bench::cell(ns / raw.ns, 2).c_str());
            std::printf(" %14s %14s %18.1f\n", bench::cell(f.instructions, 1).c_str(),
                        bench::cell(f.instructions - raw.instructions, 1).c_str(), allocated);
            none = none && allocated == 0;
        }
    }
    return none;
}

}  // namespace consume_bench

int main(int argc, char** argv)
{
    using namespace consume_bench;
    (void)events();
    bench::runner all(argc, argv);
    for (const std::uint64_t batch : batches) add(all, batch);
    if (!all.run(benchmark_name(alone[0], 100))) return 2;
    all.print_spread();
    print_sqlite(all.noisy());
    const bool none = print_alone(all);
    if (!none) std::fprintf(stderr, "a batch has allocated\n");
    return none && !all.failed() ? 0 : 1;
}
