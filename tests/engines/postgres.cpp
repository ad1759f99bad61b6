// SPDX-License-Identifier: MIT
//
// Faults of PostgreSQL: a server that is killed, a full disk, cut connections, slow handlers,
// failovers. The count is made by SQL, and each body is read back.
//
//     postgres WHERE FOLDER SERVER      a server that tests/integration/engines/postgres_server
//                                       has made in FOLDER; SERVER is that script
//     postgres pair FOLDER              a primary with a standby in FOLDER

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <engines/postgres.hpp>
#include <engines/postgres_leases.hpp>
#include <engines/postgres_outbox.hpp>
#include <engines/postgres_pair.hpp>
#include <engines/postgres_store.hpp>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../integration/engines/postgres_kills.hpp"
#include "cutting_proxy.hpp"
#include "partition_owners.hpp"
#include "support.hpp"
#include <waybill/queue.hpp>

namespace {

using namespace engines_test;

struct worker {
    explicit worker(const std::string& where) : db(where) {}

    void insert(const std::string& partition, const std::string& body)
    {
        insert_.run(partition, std::strtoull(body.c_str(), nullptr, 10), body);
    }
    static waybill::fault_kind classify(const std::exception& e) noexcept
    {
        return engines::classify_postgres(e);
    }

    engines::postgres db;
    engines::postgres_store store{db};
    engines::postgres_leases leases{db};

private:
    engines::prepared insert_{db, "INSERT INTO effects (part, n, body) VALUES ($1, $2, $3)"};
};

/// The address with another port.
std::string with_port(std::string where, std::uint16_t port)
{
    const std::size_t at = where.find("port=") + 5;
    return where.replace(at, where.find(' ', at) - at, std::to_string(port));
}

/// A schema of its own for each fault. A transaction never waits for a standby that is not there.
std::string schema(const std::string& where, const std::string& name)
{
    engines::postgres db(where);
    db.connect();
    db.exec(("CREATE SCHEMA " + name + "; SET search_path = " + name +
             "; CREATE TABLE effects (id bigserial PRIMARY KEY, part text NOT NULL,"
             " n bigint NOT NULL, body bytea NOT NULL)")
                .c_str());
    return where + " options='-c search_path=" + name + " -c lock_timeout=5s'";
}

std::uint64_t count_of(const std::string& where, const char* table = "effects")
{
    engines::postgres db(where);
    db.connect();
    return db.exec(("SELECT count(*) FROM " + std::string(table)).c_str())
        .number<std::uint64_t>(0, 0);
}

/// All effects, in the order of their commits within a partition.
arrivals effects_of(const std::string& where, const std::vector<std::string>& events)
{
    engines::postgres db(where);
    db.connect();
    engines::prepared page(db, "SELECT id, body FROM effects WHERE id > $1 ORDER BY id LIMIT 5000");
    arrivals found(events);
    for (std::int64_t after = 0;;) {
        const engines::rows r = page.run(after);
        if (r.empty()) return found;
        for (int i = 0; i != r.size(); ++i) {
            found.add(r.bytes(i, 1));
            after = r.number(i, 0);
        }
    }
}

/// Limits the size of each file that the server and its processes write; empty: no limit. A child
/// process does it, as the user of the server.
void limit_files(const std::string& folder, std::optional<rlim_t> bytes)
{
    const auto all = postgres_test::processes_of(folder);
    struct stat owner{};
    if (::stat((folder + "/data").c_str(), &owner) != 0) return;
    const pid_t child = ::fork();
    if (child == 0) {
        if (::geteuid() == 0 && (::setgid(owner.st_gid) != 0 || ::setuid(owner.st_uid) != 0))
            ::_exit(1);
        bool any = false;
        for (const pid_t p : all) {
            rlimit now{};
            if (::prlimit(p, RLIMIT_FSIZE, nullptr, &now) != 0) continue;
            now.rlim_cur = bytes.value_or(now.rlim_max);
            any = ::prlimit(p, RLIMIT_FSIZE, &now, nullptr) == 0 || any;
        }
        ::_exit(any ? 0 : 1);
    }
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0)
        throw engines::server_error("the file size of PostgreSQL cannot be limited");
}

struct server {
    std::string where{};
    std::string folder{};
    std::string script{};

    void kill_9() const
    {
        const auto all = postgres_test::processes_of(folder);
        for (const pid_t p : all) postgres_test::stop_process(p);
        for (const pid_t p : all) ::kill(p, SIGKILL);
    }
    void start() const
    {
        const std::string command = "bash '" + script + "' start '" + folder + "'";
        for (int tries = 0; std::system(command.c_str()) != 0; ++tries) {
            if (tries == 20) throw engines::server_error("PostgreSQL does not start again");
            std::this_thread::sleep_for(milliseconds(200));
        }
    }
    [[nodiscard]] std::uint16_t port() const
    {
        const std::size_t at = where.find("port=") + 5;
        return static_cast<std::uint16_t>(std::stoi(where.substr(at)));
    }
};

void killed(const std::vector<std::string>& events, const server& s)
{
    partition_owners owners(events, {});
    const std::string where = schema(s.where, "killed");
    std::uint64_t kills = 0;
    auto next = clock::now() + seconds(2);
    owners.run([&](std::size_t) { return std::make_unique<worker>(where); },
               [&] {
                   if (clock::now() < next) return;
                   s.kill_9();
                   s.start();
                   ++kills;
                   next = clock::now() + milliseconds(3'000 + 311 * kills % 1'000);
               },
               [&] { return count_of(where); }, seconds(200));
    owners.report("kill -9 of all processes, restart", effects_of(where, events),
                  at_least(kills, 2, "kills"), ", " + std::to_string(kills) + " kills");
}

void full_disk(const std::vector<std::string>& events, const server& s)
{
    partition_owners owners(events, {});
    const std::string where = schema(s.where, "full_disk");
    // The table needs about 40 MB; segments of the write-ahead log have 16 MB.
    limit_files(s.folder, 18 << 20);
    bool lifted = false;
    std::uint64_t last = 0;
    std::uint64_t at_limit = 0;
    auto changed = clock::now();
    owners.run([&](std::size_t) { return std::make_unique<worker>(where); },
               [&] {
                   if (lifted) return;
                   // Processes that were started meanwhile have inherited the limit.
                   if (last == 0 || clock::now() < changed + seconds(3)) return;
                   at_limit = last;
                   limit_files(s.folder, {});
                   lifted = true;
               },
               [&] {
                   const std::uint64_t n = count_of(where);
                   if (n != last) changed = clock::now();
                   return last = n;
               },
               seconds(200));
    limit_files(s.folder, {});
    owners.report("disk full (file size limit), then lifted", effects_of(where, events),
                  at_least(at_limit, 1, "events before the limit"),
                  ", full after " + std::to_string(at_limit) + " events");
}

void cut(const std::vector<std::string>& events, const server& s)
{
    partition_owners owners(events, {});
    const std::string where = schema(s.where, "cut");
    cutting_proxy proxy(s.port(), {milliseconds(200), milliseconds(800)});
    const std::string through = with_port(where, proxy.port());
    owners.run([&](std::size_t) { return std::make_unique<worker>(through); }, [] {},
               [&] { return count_of(where); }, seconds(200));
    owners.report("cut connections", effects_of(where, events), proxy.missing(5),
                  ", " + std::to_string(proxy.cuts()) + " cuts");
}

void slow(const std::vector<std::string>& events, const server& s)
{
    partition_owners owners(events, {.interval = milliseconds(200), .slow = milliseconds(2'500)});
    const std::string where = schema(s.where, "slow");
    owners.run([&](std::size_t) { return std::make_unique<worker>(where); }, [] {},
               [&] { return count_of(where); }, seconds(200));
    owners.report("handler slower than the lease", effects_of(where, events),
                  at_least(owners.slow_repeated(), 1, "slow events that were handled again"),
                  ", " + std::to_string(owners.slow_repeated()) + " slow events handled again");
}

/// A shop adds rows in the transactions of its orders, and a relay sends them. Their connections
/// are cut, and the server is killed.
void outbox(const std::vector<std::string>& events, const server& s)
{
    const auto begin = clock::now();
    const std::string where = schema(s.where, "box");
    cutting_proxy proxy(s.port(), {milliseconds(400), milliseconds(1'400)});
    const std::string through = with_port(where, proxy.port());
    std::atomic<bool> added = false;
    std::atomic<bool> stop = false;
    std::atomic<std::uint64_t> faults = 0;
    std::thread shop([&] {
        engines::postgres db(through);
        engines::postgres_outbox box(db);
        engines::prepared insert(db, "INSERT INTO effects (part, n, body) VALUES ('', $1, $2)");
        engines::prepared end(db, "SELECT coalesce(max(n) + 1, 0) FROM effects");
        std::optional<std::size_t> next;
        while (!next || *next != events.size()) {
            const auto failed = [&] {
                ++faults;
                db.drop();
                next.reset();
                std::this_thread::sleep_for(milliseconds(20));
            };
            try {
                // After a fault, the table has the commits whose outcome is unknown.
                db.connect();
                if (!next) next = end.run().number<std::size_t>(0, 0);
                if (*next == events.size()) break;
                auto tx = box.begin();
                if (!tx) {
                    failed();
                    continue;
                }
                std::size_t n = *next;
                bool good = true;
                for (; good && n != std::min(*next + 100, events.size()); ++n) {
                    insert.run(n, events[n]);
                    good =
                        box.add(*tx, {key_of(n), "e" + std::to_string(n), events[n]}).has_value();
                }
                const auto done = good ? tx->commit() : waybill::commit_outcome::not_applied;
                if (done && *done == waybill::commit_outcome::applied) next = n;
                else failed();
            } catch (const engines::postgres_error&) {
                failed();
            }
        }
        added = true;
    });
    arrivals found(events);
    waybill::relay_report total;
    std::thread relays([&] {
        engines::postgres db(through);
        engines::postgres_outbox box(db);
        waybill::batch_sender sender{
            {.limit = {.items = 500, .answers_per_entry = false}, .ordered = true}};
        stoppable env;
        env.stop = &stop;
        waybill::relay(
            box, sender,
            [&](auto batch) -> waybill::send_outcome {
                for (const auto& m : batch) found.add(m.body);
                return waybill::batch_sender::accepted{};
            },
            env, {.lease = seconds(2), .poll_interval = milliseconds(20)}, total);
    });
    std::uint64_t kills = 0;
    auto next = clock::now() + seconds(3);
    wait_for(
        [&] {
            if (clock::now() > next && kills != 3) {
                s.kill_9();
                s.start();
                ++kills;
                next = clock::now() + seconds(3);
            }
            try {
                return added && count_of(where, "outbox") == 0;
            } catch (const engines::postgres_error&) {
                return false;
            }
        },
        seconds(400));
    stop = true;
    shop.join();
    relays.join();
    const std::string detail = std::to_string(kills) + " kills, " + std::to_string(proxy.cuts()) +
                               " cuts, " + std::to_string(faults) + " faults of the shop, " +
                               describe(total);
    report("outbox: kill -9 and cut connections", found, begin,
           {.max_repeated = total.maybe_twice,
            .missing = at_least(kills, 2, "kills") + proxy.missing(3) +
                       at_least(faults, 1, "faults of the shop") +
                       none(count_of(where, "outbox"), "rows left in the outbox")},
           detail);
    report("outbox: orders in its table", effects_of(where, events), clock::now(), {}, "");
}

void pair(const std::vector<std::string>& events, const std::string& folder)
{
    engines::postgres_pair pair(folder);
    wait_for(
        [&] {
            pair.step();
            return pair.in_sync();
        },
        seconds(60));
    const std::string where = schema(pair.where(), "pair");
    partition_owners owners(events, {});
    auto next = clock::now() + seconds(2);
    owners.run([&](std::size_t) { return std::make_unique<worker>(where); },
               [&] {
                   pair.step();
                   if (clock::now() < next) return;
                   if (pair.fail_over()) next = clock::now() + seconds(2);
               },
               [&] { return count_of(where); }, seconds(200));
    owners.report("primary killed, standby promoted", effects_of(where, events),
                  at_least(static_cast<std::uint64_t>(pair.failovers()), 2, "failovers"),
                  ", " + std::to_string(pair.failovers()) + " failovers");
}

}  // namespace

int main(int argc, char** argv)
{
    try {
        const auto events = make_events(event_count());
        if (std::string(argv[1]) == "pair") {
            pair(events, argv[2]);
            return failures == 0 ? 0 : 1;
        }
        if (argc != 4) return 2;
        const server s{argv[1], argv[2], argv[3]};
        killed(events, s);
        full_disk(events, s);
        cut(events, s);
        slow(events, s);
        outbox(events, s);
    } catch (const std::exception& e) {
        std::printf("postgres: %s\n", e.what());
        return 1;
    }
    return failures == 0 ? 0 : 1;
}
