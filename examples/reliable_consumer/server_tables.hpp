// SPDX-License-Identifier: MIT
//
// server_tables: the tables in PostgreSQL. A derived class adds the log.

#ifndef WAYBILL_EXAMPLES_RELIABLE_CONSUMER_SERVER_TABLES_HPP
#define WAYBILL_EXAMPLES_RELIABLE_CONSUMER_SERVER_TABLES_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../engines/postgres.hpp"
#include "../engines/postgres_leases.hpp"
#include "../engines/postgres_store.hpp"
#include "../support/program.hpp"
#include "files.hpp"
#include "server_ledger.hpp"
#include "tables.hpp"

namespace reliable_consumer {

class server_tables : public tables {
public:
    server_tables(const options& o, const std::string& store)
        : o_(o), db_(store), store_(db_), leases_(db_)
    {
        server_ledger(db_).make_tables();
    }

    std::optional<waybill::lease_table> leases() override
    {
        auto all = leases_.list(source, group);
        if (!all) return {};
        return *std::move(all);
    }

    std::vector<std::uint64_t> effects(std::uint64_t partition) override
    {
        std::vector<std::uint64_t> all;
        engines::prepared read(db_, "SELECT sequence FROM effects WHERE part = $1 ORDER BY n");
        const engines::rows r = run(read, partition);
        for (int i = 0; i != r.size(); ++i) all.push_back(r.number<std::uint64_t>(i, 0));
        return all;
    }

    std::vector<letter> dead_letters(std::uint64_t partition) override
    {
        std::vector<letter> all;
        engines::prepared read(db_,
                               "SELECT sequence, reason, body FROM dead_letters WHERE part = $1");
        const engines::rows r = run(read, std::to_string(partition));
        for (int i = 0; i != r.size(); ++i)
            all.push_back({r.number<std::uint64_t>(i, 0), r.bytes(i, 1), r.bytes(i, 2)});
        return all;
    }

    std::uint64_t position(std::uint64_t partition) override
    {
        engines::prepared read(db_, "SELECT sequence FROM checkpoints WHERE part = $1");
        const engines::rows r = run(read, std::to_string(partition));
        return r.empty() || r.null(0, 0) ? 0 : r.number<std::uint64_t>(0, 0);
    }

    lease lease_of(std::uint64_t partition) override
    {
        engines::prepared read(db_, "SELECT epoch, owner FROM leases WHERE part = $1");
        const engines::rows r = run(read, std::to_string(partition));
        if (r.empty()) return {};
        return {r.number<std::uint64_t>(0, 0), std::string(r.text(0, 1))};
    }

    sums count() override
    {
        engines::prepared read(db_,
                               "SELECT (SELECT count(*) FROM effects),"
                               " (SELECT coalesce(sum(events), 0) FROM packages)");
        const engines::rows r = run(read);
        return {r.number<std::uint64_t>(0, 0), r.number<std::uint64_t>(0, 1)};
    }

    bool repaired() override { return false; }

protected:
    [[nodiscard]] std::uint64_t partitions() const noexcept { return o_.partitions; }

    /// The checkpoint of a partition, which may be missing. Nothing in an outage.
    [[nodiscard]] std::optional<std::optional<std::uint64_t>> checkpoint(std::uint64_t partition)
    {
        const auto stored = store_.load(key_of(partition));
        if (!stored) return std::nullopt;
        std::optional<std::uint64_t> at;
        if (*stored) at = (*stored)->at.sequence;
        return at;
    }

    /// Calls f(end, checkpoint) for each partition with events: the sequence number of its last
    /// event, and that of its checkpoint if it has one. False in an outage.
    template <class Log, class F>
    [[nodiscard]] bool with_ends(Log& log, F f)
    {
        for (std::uint64_t p = 0; p != partitions(); ++p) {
            const auto last = log.end(std::to_string(p));
            if (!last) return false;
            if (!*last) continue;
            const auto done = checkpoint(p);
            if (!done) return false;
            f((*last)->sequence, *done);
        }
        return true;
    }

    /// All events of a partition. The adapter of the workers reads them. `stored` is the number of
    /// events by the count of the server. After faults, a server that became the leader may need
    /// some seconds until it counts all events that another server has already delivered.
    template <class Log, class Stored>
    [[nodiscard]] std::vector<event> all_events(Log& log, std::uint64_t partition,
                                                const Stored& stored)
    {
        std::vector<event> all;
        const std::string part = std::to_string(partition);
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        for (;;) {
            const auto last = patiently([&] { return log.end(part); });
            std::optional<waybill::position> after;
            if (!all.empty()) after = waybill::position{all.back().sequence, {}};
            while (last && (!after || after->sequence < last->sequence)) {
                auto some = patiently([&] { return log.read(part, after, 1'000); });
                for (auto& e : some) all.push_back({e.sequence, std::move(e.body)});
                if (!all.empty()) after = waybill::position{all.back().sequence, {}};
            }
            const std::uint64_t count = patiently(stored);
            if (count == all.size()) return all;
            if (std::chrono::steady_clock::now() > until) {
                throw support::complaint(fmt::format(
                    "partition {}: {} were read, and for 30 s the server has {}", partition,
                    support::counted(all.size(), "event"), support::grouped(count)));
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
    }

    /// Repeats a call of the log for 30 s: after faults a server may need some seconds.
    template <class Call>
    auto patiently(const Call& call) -> typename decltype(call())::value_type
    {
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        for (;;) {
            auto answer = call();
            if (answer) return *std::move(answer);
            if (std::chrono::steady_clock::now() > until)
                throw support::complaint(answer.error().text);
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
    }

private:
    template <class... V>
    engines::rows run(engines::prepared& p, const V&... values)
    {
        return db_.outside([&] { return p.run(values...); });
    }

    const options& o_;
    engines::postgres db_;
    engines::postgres_store store_;
    engines::postgres_leases leases_;
};

}  // namespace reliable_consumer

#endif  // WAYBILL_EXAMPLES_RELIABLE_CONSUMER_SERVER_TABLES_HPP
