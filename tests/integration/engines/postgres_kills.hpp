// SPDX-License-Identifier: MIT
//
// postgres_kills: a server whose processes are all killed during commits, many times.

#ifndef WAYBILL_TESTS_POSTGRES_KILLS_HPP
#define WAYBILL_TESTS_POSTGRES_KILLS_HPP

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <signal.h>

#include "postgres_own.hpp"

namespace postgres_test {

/// The main process of the server in this folder, and its children.
[[nodiscard]] inline std::vector<pid_t> processes_of(const std::string& folder)
{
    pid_t first = 0;
    std::ifstream(folder + "/data/postmaster.pid") >> first;
    if (first <= 1) return {};
    std::vector<pid_t> all{first};
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const std::string name = entry.path().filename();
        if (name.find_first_not_of("0123456789") != name.npos) continue;
        std::ifstream in(entry.path() / "stat");
        std::string line;
        std::getline(in, line);
        // After the name in parentheses: the state and the parent process.
        const std::size_t behind = line.rfind(')');
        if (behind == line.npos || line.size() < behind + 4) continue;
        if (std::atoi(line.c_str() + behind + 4) == first) all.push_back(std::stoi(name));
    }
    return all;
}

/// Stops a process, and waits until it has stopped. Before that it may still start children.
inline void stop_process(pid_t p)
{
    ::kill(p, SIGSTOP);
    for (int i = 0; i != 5'000; ++i) {
        std::ifstream in("/proc/" + std::to_string(p) + "/stat");
        std::string line;
        std::getline(in, line);
        const std::size_t behind = line.rfind(')');
        if (behind == line.npos || line.compare(behind, 3, ") T") == 0) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

/// Counts the commits that have started, so that the server can be killed during one.
class watched {
public:
    class transaction {
    public:
        explicit transaction(watched& w, engines::postgres_store::transaction tx)
            : watched_(&w), inner(std::move(tx))
        {
        }
        auto savepoint() { return inner.savepoint(); }
        auto release_savepoint() { return inner.release_savepoint(); }
        auto rollback_to_savepoint() { return inner.rollback_to_savepoint(); }
        waybill::result<waybill::commit_outcome> commit()
        {
            ++watched_->commits;
            const auto r = inner.commit();
            if (r && *r == waybill::commit_outcome::unknown) ++watched_->unknown;
            return r;
        }
        void rollback() noexcept { inner.rollback(); }

    private:
        watched* watched_;

    public:
        engines::postgres_store::transaction inner;
    };

    explicit watched(engines::postgres_store& s) : store_(s) {}

    waybill::result<transaction> begin()
    {
        auto begun = store_.begin();
        if (!begun) return waybill::unexpected(begun.error());
        return transaction(*this, *std::move(begun));
    }
    auto load(const waybill::partition_key& key) { return store_.load(key); }
    auto advance(transaction& tx, const waybill::partition_key& key,
                 const std::optional<waybill::position>& from, const waybill::position& to,
                 std::uint64_t epoch)
    {
        return store_.advance(tx.inner, key, from, to, epoch);
    }
    auto put(transaction& tx, const waybill::dead_letter& d) { return store_.put(tx.inner, d); }
    auto find(const waybill::partition_key& key, std::uint64_t sequence)
    {
        return store_.find(key, sequence);
    }
    auto load_crash_record(const waybill::partition_key& key)
    {
        return store_.load_crash_record(key);
    }
    auto store_crash_record(transaction& tx, const waybill::partition_key& key,
                            const waybill::crash_record& a)
    {
        return store_.store_crash_record(tx.inner, key, a);
    }
    auto clear_crash_record(transaction& tx, const waybill::partition_key& key)
    {
        return store_.clear_crash_record(tx.inner, key);
    }

    std::atomic<std::uint64_t> commits{0};
    std::uint64_t unknown = 0;

private:
    engines::postgres_store& store_;
};

/// Delivers batches of three until the server was killed often enough. Each event inserts a row
/// without a unique key. Each seventh event is a dead letter.
[[nodiscard]] inline int kills(const std::string& folder, const std::string& script)
{
    using std::chrono::steady_clock;
    constexpr int rounds = 20;
    struct event {
        std::uint64_t sequence;
        std::string body;
    };
    struct count {
        std::uint64_t committed = 0, redelivered = 0, unread = 0, there = 0, other = 0;
    } batches;
    store_at s(fresh_schema());
    const auto key = key_of("0");
    (void)s.load(key);
    // A slow commit, so that many of the kills happen during one.
    s.db().exec(
        "CREATE TABLE effects (n bigint);"
        "CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN PERFORM pg_sleep(0.0005); RETURN NULL; END';"
        "CREATE CONSTRAINT TRIGGER pause AFTER INSERT OR UPDATE ON checkpoints"
        " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pause()");

    watched store(s.bare());
    std::atomic<bool> over{false};
    std::atomic<int> starts{0};
    std::atomic<bool> hang{false};  // the next commit is durable, and its reply does not arrive
    int killed = 0;
    std::thread killer([&] {
        std::mt19937_64 dice(7);
        const auto enough = steady_clock::now() + std::chrono::seconds(300);
        for (int round = 0; round != rounds && steady_clock::now() < enough; ++round) {
            const std::uint64_t from = store.commits;
            const std::uint64_t later = from + 3 + dice() % 8;
            const auto patience = steady_clock::now() + std::chrono::seconds(30);
            while (store.commits < from + 2 && steady_clock::now() < patience) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
            const std::vector<pid_t> all = processes_of(folder);
            // A busy wait: a commit takes about a millisecond.
            while (store.commits < later && steady_clock::now() < patience) {
            }
            auto moment = steady_clock::now() + std::chrono::microseconds(dice() % 1'000);
            if (round % 2 == 1) {
                hang = true;
                while (hang && steady_clock::now() < patience) std::this_thread::yield();
                moment = steady_clock::now() + std::chrono::milliseconds(10 + dice() % 10);
            }
            while (steady_clock::now() < moment) {
            }
            // The youngest first, which executes the commit; then processes that have started
            // since.
            for (std::size_t i = all.size(); i > 1; --i) ::kill(all[i - 1], SIGKILL);
            if (!all.empty()) stop_process(all[0]);
            for (const pid_t p : processes_of(folder)) {
                if (!all.empty() && p != all[0]) ::kill(p, SIGKILL);
            }
            if (!all.empty()) ::kill(all[0], SIGKILL);
            ++killed;
            // A server does not start while a process of its predecessor is alive.
            const auto back = steady_clock::now() + std::chrono::seconds(120);
            while (steady_clock::now() < back) {
                if (std::system(("'" + script + "' start '" + folder + "'").c_str()) == 0) {
                    ++starts;
                    break;
                }
                std::this_thread::sleep_for(std::chrono::milliseconds(100));
            }
            if (starts != killed) break;
        }
        over = true;
    });

    engines::prepared insert(s.db(), "INSERT INTO effects VALUES ($1)");
    std::uint64_t next = 1;
    waybill::assignment mine{.key = key, .epoch = 1, .incarnation = 1};
    bool known = true;
    while (!over) {
        if (!known) {
            const auto loaded = store.load(key);
            if (!loaded) {
                std::this_thread::sleep_for(std::chrono::milliseconds(2));
                continue;
            }
            const auto stands = waybill::position_of(*loaded);
            if (stands != mine.from) ++batches.there;
            mine.from = stands;
            next = mine.from ? mine.from->sequence + 1 : 1;
            known = true;
        }
        std::vector<event> events;
        for (int i = 0; i != 3; ++i) events.push_back({next + events.size(), "body"});
        const auto r = waybill::process_batch(
            store, mine, events,
            [&](auto&, const event& e) -> waybill::fault {
                try {
                    insert.run(e.sequence);
                    if (hang.exchange(false)) s.db().exec("SET LOCAL synchronous_commit = on");
                } catch (const engines::postgres_error& why) {
                    return waybill::infrastructure(why.what());
                }
                if (e.sequence % 7 == 0) return waybill::permanent("a seventh");
                return {};
            },
            std::chrono::system_clock::now());
        known = r.outcome == waybill::batch_outcome::committed;
        if (known) {
            mine.from = r.reached;
            next = r.reached->sequence + 1;
            ++batches.committed;
        } else if (r.outcome == waybill::batch_outcome::redeliver) {
            ++batches.redelivered;
        } else if (r.outcome == waybill::batch_outcome::unknown) {
            ++batches.unread;  // unknown, and reading it back failed, too
        } else {
            ++batches.other;
        }
    }
    killer.join();
    if (starts != killed) {
        (void)std::system(("tail -n 20 '" + folder + "/log' >&2").c_str());
        return expect(false, "the server is killed and restarts");
    }

    // The last kill may just be over, so the rows are counted on a new connection.
    auto loaded = store.load(key);
    for (int attempt = 0; !loaded && attempt != 100; ++attempt) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        loaded = store.load(key);
    }
    s.db().connect();
    const std::uint64_t last = loaded && *loaded ? (*loaded)->at.sequence : 0;
    const auto once = [&](const char* sql) { return s.db().exec(sql).number<std::uint64_t>(0, 0); };
    const std::uint64_t effects = once("SELECT count(*) FROM effects");
    const std::uint64_t distinct = once("SELECT count(DISTINCT n) FROM effects");
    const std::uint64_t dead = once("SELECT count(*) FROM dead_letters");
    const std::uint64_t wild = once(
        "SELECT count(*) FROM effects WHERE n % 7 = 0 OR n > (SELECT sequence FROM checkpoints)");
    std::printf(
        "kills: %d of the server, %llu batches committed, %llu redelivered, "
        "%llu commits unknown, of which %llu were there; %llu events\n",
        killed, static_cast<unsigned long long>(batches.committed),
        static_cast<unsigned long long>(batches.redelivered),
        static_cast<unsigned long long>(store.unknown),
        static_cast<unsigned long long>(batches.there), static_cast<unsigned long long>(last));
    return expect(killed >= 5, "the server is killed and restarts") +
           expect(batches.other == 0, "no batch ends in another way") +
           expect(last != 0 && effects == last - last / 7, "no effect is lost") +
           expect(distinct == effects, "no effect is there twice") +
           expect(wild == 0, "no effect is there that should not be") +
           expect(dead == last / 7, "dead letters are complete");
}

}  // namespace postgres_test

#endif  // WAYBILL_TESTS_POSTGRES_KILLS_HPP
