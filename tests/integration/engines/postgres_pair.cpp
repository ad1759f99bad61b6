// SPDX-License-Identifier: MIT
//
// A pair of PostgreSQL servers loses no confirmed row.
//
//     postgres_pair available                  1 and a reason without PostgreSQL
//     postgres_pair failovers FOLDER SECONDS   writers, and a failover as soon as each is allowed;
//                                              from 10 s on, also with a stopped checkpointer
//     postgres_pair kills FOLDER ROUNDS        the supervisor is killed at random moments
//     postgres_pair calls FOLDER FROM TO       the supervisor is killed at its FROM-th call of
//                                              fsync in a new folder, then at the next, up to
//                                              TO; FROM 0: at TO random calls
//     postgres_pair orphans FOLDER 1           a process of a killed server does not end by itself

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <engines/postgres.hpp>
#include <engines/postgres_pair.hpp>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

/// At this number of calls of fsync from now on, the process kills itself; 0: never.
std::atomic<int> last_call{0};

}  // namespace

/// Replaces the function of the C library. The supervisor calls it before and after each rename.
extern "C" int fsync(int fd)
{
    if (last_call > 0 && --last_call == 0) kill(getpid(), SIGKILL);
    return static_cast<int>(syscall(SYS_fsync, fd));
}

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;
using ids = std::vector<std::int64_t>;

constexpr int writers = 4;
constexpr auto patience = 10min;  // for what takes seconds on a machine without other work

[[nodiscard]] int expect(bool holds, const char* what)
{
    if (!holds) std::printf("wrong: %s\n", what);
    return holds ? 0 : 1;
}

[[nodiscard]] double milliseconds(clock_type::duration d)
{
    return std::chrono::duration<double, std::milli>(d).count();
}

/// The first commit on a connection that is younger than a failover.
class first_commit {
public:
    void killed() noexcept
    {
        commit_ = none;
        killed_ = clock_type::now().time_since_epoch().count();
    }
    void committed(clock_type::time_point connected) noexcept
    {
        std::int64_t expected = none;
        if (connected.time_since_epoch().count() < killed_) return;
        commit_.compare_exchange_strong(expected, clock_type::now().time_since_epoch().count());
    }
    [[nodiscard]] std::optional<clock_type::duration> time() const noexcept
    {
        const std::int64_t at = commit_;
        if (at == none) return {};
        return clock_type::duration(at - killed_);
    }

private:
    static constexpr std::int64_t none = 0;
    std::atomic<std::int64_t> killed_{0};
    std::atomic<std::int64_t> commit_{1};
};

void make_table(const std::string& where)
{
    engines::postgres db(where);
    db.connect();
    db.exec("CREATE TABLE IF NOT EXISTS entries (id bigint NOT NULL)");
}

/// Inserts rows with numbers from `next` on. A number whose outcome is unknown is not used again.
template <class Confirmed>
void write_entries(const std::string& where, std::int64_t next, const std::atomic<bool>& over,
                   Confirmed confirmed)
{
    engines::postgres db(where);
    engines::prepared insert(db, "INSERT INTO entries VALUES ($1)");
    clock_type::time_point connected;
    while (!over) {
        try {
            if (!db.alive()) {
                const auto began = clock_type::now();
                db.connect();
                connected = began;
            }
            insert.run(next++);
            confirmed(next - 1, connected);
        } catch (const engines::postgres_error&) {
            std::this_thread::sleep_for(5ms);
        }
    }
}

[[nodiscard]] int compare(const std::string& where, const ids& confirmed)
{
    engines::postgres db(where);
    db.connect();
    const engines::rows r = db.exec("SELECT id FROM entries");
    std::set<std::int64_t> there;
    for (int i = 0; i != r.size(); ++i) there.insert(r.number(i, 0));
    std::size_t lost = 0;
    for (const std::int64_t id : confirmed) lost += there.count(id) == 0 ? 1U : 0U;
    std::printf("%zu rows confirmed, %zu of them lost, %d rows there\n", confirmed.size(), lost,
                r.size());
    return expect(lost == 0, "each confirmed row is there") +
           expect(there.size() == static_cast<std::size_t>(r.size()), "no row is there twice");
}

struct times {
    void add(double ms)
    {
        sum += ms;
        highest = std::max(highest, ms);
        ++count;
    }
    void print(const char* what) const
    {
        std::printf("%s: %.0f ms in the mean, at most %.0f ms\n", what,
                    count == 0 ? 0.0 : sum / count, highest);
    }
    double sum = 0;
    double highest = 0;
    int count = 0;
};

void wait_until_in_sync(engines::postgres_pair& pair)
{
    for (const auto deadline = clock_type::now() + patience; !pair.in_sync();) {
        if (clock_type::now() > deadline) throw engines::server_error("the pair is never in sync");
        pair.step();
        std::this_thread::sleep_for(10ms);
    }
}

/// The process of a server.
[[nodiscard]] pid_t server_of(const std::string& folder, int node)
{
    const std::string file = folder + "/node-" + std::to_string(node) + "/postmaster.pid";
    return std::atoi(engines::postgres_node::read(file).c_str());
}

/// Kills a server from outside of the pair.
void end_server(const std::string& folder, int node)
{
    const pid_t pid = server_of(folder, node);
    if (pid > 1) kill(pid, SIGKILL);
}

/// Kills the primary from outside. False if the pair is no longer in sync then: it starts the same
/// server again.
[[nodiscard]] bool fails_over_by_itself(const std::string& folder, engines::postgres_pair& pair)
{
    const std::uint64_t before = pair.failovers();
    const int node = pair.primary();
    const pid_t killed = server_of(folder, node);
    end_server(folder, node);
    while (pair.failovers() == before && server_of(folder, node) == killed) pair.step();
    return pair.failovers() != before;
}

/// The checkpointer decides when commits begin to wait for the standby. 0 if it is not found.
[[nodiscard]] pid_t checkpointer_of(const std::string& folder, int node)
{
    const std::string server = std::to_string(server_of(folder, node));
    std::istringstream children(
        engines::postgres_node::read("/proc/" + server + "/task/" + server + "/children"));
    for (pid_t child = 0; children >> child;) {
        const std::string line =
            engines::postgres_node::read("/proc/" + std::to_string(child) + "/cmdline");
        if (line.find("checkpointer") != line.npos) return child;
    }
    return 0;
}

/// A standby that follows is not yet in sync while the checkpointer has not read the settings.
[[nodiscard]] int stop_checkpointer(const std::string& folder, engines::postgres_pair& pair)
{
    wait_until_in_sync(pair);
    end_server(folder, 1 - pair.primary());
    while (pair.in_sync()) std::this_thread::sleep_for(1ms);
    pair.step();
    std::this_thread::sleep_for(50ms);
    const pid_t checkpointer = checkpointer_of(folder, pair.primary());
    if (checkpointer == 0) return expect(false, "there is a checkpointer");
    kill(checkpointer, SIGSTOP);
    bool early = false;
    for (const auto deadline = clock_type::now() + 2s; clock_type::now() < deadline;) {
        pair.step();
        early = early || pair.in_sync();
        std::this_thread::sleep_for(10ms);
    }
    kill(checkpointer, SIGCONT);
    wait_until_in_sync(pair);
    return expect(!early, "the pair is not in sync before commits wait");
}

void print_connection_times(engines::postgres_pair& pair)
{
    for (int round = 0; round != 2; ++round) {
        wait_until_in_sync(pair);
        // Directly after a failover, the old primary refuses connections.
        if (!pair.fail_over()) continue;
        times all;
        for (int n = 0; n != 10; ++n) {
            engines::postgres db(pair.where());
            const auto began = clock_type::now();
            db.connect();
            all.add(milliseconds(clock_type::now() - began));
        }
        all.print(pair.primary() == 1 ? "connection, the first port refuses"
                                      : "connection, the first port is the primary");
    }
}

int failovers(const std::string& folder, std::chrono::seconds length)
{
    engines::postgres_pair pair(folder);
    make_table(pair.where());
    std::atomic<bool> over{false};
    first_commit first;
    ids confirmed[writers];
    std::vector<std::thread> threads;
    for (int w = 0; w != writers; ++w) {
        threads.emplace_back([&, w] {
            write_entries(pair.where(), (w + 1) * 1'000'000'000LL, over,
                          [&](std::int64_t id, clock_type::time_point connected) {
                              confirmed[w].push_back(id);
                              first.committed(connected);
                          });
        });
    }
    times to_commit;
    times to_sync;
    bool outside = false;
    std::string error;
    try {
        for (const auto end = clock_type::now() + length;
             clock_type::now() < end || pair.failovers() < 3 || !outside;) {
            const auto began = clock_type::now();
            wait_until_in_sync(pair);
            to_sync.add(milliseconds(clock_type::now() - began));
            first.killed();
            if (!outside && pair.failovers() >= 1) {
                outside = fails_over_by_itself(folder, pair);
                if (!outside) continue;
            } else if (!pair.fail_over()) {
                continue;
            }
            for (const auto deadline = clock_type::now() + patience;
                 !first.time() && clock_type::now() < deadline;) {
                std::this_thread::sleep_for(1ms);
            }
            to_commit.add(milliseconds(first.time().value_or(patience)));
        }
    } catch (const engines::server_error& e) {
        error = e.what();
    }
    over = true;
    for (std::thread& t : threads) t.join();
    if (!error.empty()) throw engines::server_error(error);
    ids all;
    for (const ids& each : confirmed) all.insert(all.end(), each.begin(), each.end());
    std::printf("failovers: %llu\n", static_cast<unsigned long long>(pair.failovers()));
    to_commit.print("from kill to the first commit");
    to_sync.print("from the failover to a standby in sync");
    int wrong = 0;
    if (length >= 10s) {
        print_connection_times(pair);
        wrong += stop_checkpointer(folder, pair);
    }
    return wrong + compare(pair.where(), all) + expect(!all.empty(), "rows are confirmed") +
           expect(outside, "a primary is killed from outside") +
           expect(pair.failovers() >= 3, "there are at least 3 failovers");
}

/// The program that is killed: reports each confirmed row on the pipe, and each failover as -1.
[[noreturn]] void supervise(const std::string& folder, int round, int pipe, int call)
{
    last_call = call;
    const auto report = [pipe](std::int64_t id) {
        if (write(pipe, &id, sizeof id) != sizeof id) _exit(1);
    };
    try {
        engines::postgres_pair pair(folder);
        make_table(pair.where());
        const std::atomic<bool> over{false};
        std::vector<std::thread> threads;
        for (int w = 0; w != writers; ++w) {
            threads.emplace_back([&, w] {
                write_entries(pair.where(), (round * writers + w + 1) * 1'000'000'000LL, over,
                              [&](std::int64_t id, auto) { report(id); });
            });
        }
        for (;;) {
            pair.step();
            if (pair.fail_over()) report(-1);
            std::this_thread::sleep_for(10ms);
        }
    } catch (const std::exception& e) {
        std::printf("round %d: %s\n", round, e.what());
    }
    std::fflush(stdout);
    _exit(1);
}

/// Returns false if the supervisor ended before it was killed.
[[nodiscard]] bool kill_supervisor(const std::string& folder, int round,
                                   std::chrono::milliseconds after, int call, ids& confirmed,
                                   int& failovers_of_all)
{
    int ends[2];
    if (pipe(ends) != 0) return false;
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        supervise(folder, round, ends[1], call);
    }
    close(ends[1]);
    std::thread reader([&] {
        for (std::int64_t id = 0; read(ends[0], &id, sizeof id) == sizeof id;) {
            if (id == -1) ++failovers_of_all;
            if (id != -1) confirmed.push_back(id);
        }
    });
    int status = 0;
    const auto deadline = clock_type::now() + after;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (clock_type::now() > deadline) kill(child, SIGKILL);
        std::this_thread::sleep_for(1ms);
    }
    reader.join();
    close(ends[0]);
    return WIFSIGNALED(status);
}

int open_again(const std::string& folder, int rounds, const ids& confirmed, int failovers_of_all)
{
    const auto began = clock_type::now();
    engines::postgres_pair pair(folder);
    std::printf("open after the last kill: %.0f ms; failovers in %d rounds: %d\n",
                milliseconds(clock_type::now() - began), rounds, failovers_of_all);
    make_table(pair.where());
    int wrong = compare(pair.where(), confirmed);
    wait_until_in_sync(pair);
    wrong += expect(pair.fail_over(), "the pair fails over afterwards");
    return wrong + compare(pair.where(), confirmed);
}

int kills(const std::string& folder, int rounds)
{
    std::random_device dice;
    ids confirmed;
    int failovers_of_all = 0;
    int wrong = 0;
    for (int round = 0; round != rounds; ++round) {
        const std::chrono::milliseconds after(300 + dice() % 5'700);
        std::printf("kill after %lld ms\n", static_cast<long long>(after.count()));
        const bool killed = kill_supervisor(folder, round, after, 0, confirmed, failovers_of_all);
        wrong += expect(killed, "the supervisor runs until it is killed");
    }
    return wrong + open_again(folder, rounds, confirmed, failovers_of_all);
}

/// Two failovers, with their copies of the other node, make about 50 calls.
constexpr int most_calls = 50;

int calls(const std::string& folder, int from, int to)
{
    std::random_device dice;
    int wrong = 0;
    for (int n = from == 0 ? 1 : from; n <= to; ++n) {
        const int call = from == 0 ? 1 + static_cast<int>(dice() % most_calls) : n;
        std::printf("kill at call %d of fsync\n", call);
        const std::string fresh = folder + "-" + std::to_string(n);
        ids confirmed;
        int failovers_of_all = 0;
        const bool killed = kill_supervisor(fresh, 0, 20s, call, confirmed, failovers_of_all);
        wrong += expect(killed, "the supervisor runs until it is killed");
        wrong += open_again(fresh, 1, confirmed, failovers_of_all);
        std::filesystem::remove_all(fresh);
    }
    return wrong;
}

/// A stopped process of a server does not notice the death of its supervisor. The next supervisor
/// ends it.
int orphans(const std::string& folder)
{
    int ends[2];
    if (pipe(ends) != 0) return expect(false, "there is a pipe");
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        try {
            engines::postgres_pair pair(folder);
            wait_until_in_sync(pair);
            if (write(ends[1], "1", 1) == 1) pause();
        } catch (const std::exception& e) {
            std::printf("%s\n", e.what());
        }
        std::fflush(stdout);
        _exit(1);
    }
    close(ends[1]);
    char started = 0;
    int wrong = expect(read(ends[0], &started, 1) == 1, "the servers have started");
    close(ends[0]);
    const pid_t stopped = checkpointer_of(folder, 0);
    wrong += expect(stopped != 0 && kill(stopped, SIGSTOP) == 0, "a process is stopped");
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    std::this_thread::sleep_for(1s);
    if (wrong != 0) return wrong;
    wrong += expect(kill(stopped, 0) == 0, "the stopped process is left");
    return wrong + open_again(folder, 1, {}, 0);
}

}  // namespace

int main(int count, char** argv)
{
    const std::string mode = count > 1 ? argv[1] : "";
    try {
        if (mode == "available") {
            (void)engines::find_postgres("");
            return 0;
        }
        if (count == 5 && mode == "calls") {
            return calls(argv[2], std::atoi(argv[3]), std::atoi(argv[4])) ? 1 : 0;
        }
        if (count != 4) return 2;
        const int number = std::atoi(argv[3]);
        if (mode == "failovers") return failovers(argv[2], std::chrono::seconds(number)) ? 1 : 0;
        if (mode == "orphans") return orphans(argv[2]) ? 1 : 0;
        if (mode == "kills") return kills(argv[2], number) ? 1 : 0;
    } catch (const engines::server_error& e) {
        std::printf("%s\n", e.what());
        return 1;
    } catch (const engines::postgres_error& e) {
        std::printf("%s\n", e.what());
        return 1;
    }
    return 2;
}
