// SPDX-License-Identifier: MIT

#include <algorithm>
#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "../engines/nats_client.hpp"
#include "../engines/nats_log.hpp"
#include "../engines/postgres.hpp"
#include "../engines/postgres_leases.hpp"
#include "../engines/postgres_store.hpp"
#include "../support/program.hpp"
#include "files.hpp"
#include "server_ledger.hpp"
#include "servers.hpp"

namespace reliable_consumer {

namespace {

using namespace std::chrono_literals;
using support::counted;

class tables_at_servers : public tables {
public:
    explicit tables_at_servers(const options& o)
        : o_(o), at_(addresses_in(o)), log_(at_.log, stream, o.partitions, o.cluster ? 3 : 1),
          db_(at_.store), store_(db_), leases_(db_), run_(std::random_device{}())
    {
        server_ledger(db_).make_tables();
    }

    bool append(const std::vector<std::string>& lines) override
    {
        std::vector<engines::nats_log::new_event> all;
        for (std::size_t n = 0; n != lines.size(); ++n) {
            all.push_back({std::to_string(partition_of(lines[n], o_.partitions)),
                           fmt::format("{}-{}-{}", run_, appended_, n), lines[n]});
        }
        // The same numbers again after a failure: those that arrived are not stored twice.
        if (!log_.append_all(all, 3s)) return false;
        ++appended_;
        return true;
    }

    /// The sequence numbers are those of the stream, for all partitions.
    std::optional<std::uint64_t> left() override
    {
        std::uint64_t most = 0;
        for (std::uint64_t p = 0; p != o_.partitions; ++p) {
            const auto last = log_.end(std::to_string(p));
            if (!last) return {};
            if (!*last) continue;
            const auto stored = store_.load(key_of(p));
            if (!stored) return {};
            const std::uint64_t at = *stored ? (*stored)->at.sequence : 0;
            most = std::max(most, (*last)->sequence - at);
        }
        return most;
    }

    std::optional<waybill::lease_table> leases() override
    {
        auto all = leases_.list(source, group);
        if (!all) return {};
        return *std::move(all);
    }

    /// Reads with the adapter of the workers. The number of events comes from the server.
    std::vector<event> events(std::uint64_t partition) override
    {
        std::vector<event> all;
        const std::string part = std::to_string(partition);
        const auto last = patiently([&] { return log_.end(part); });
        const std::uint64_t end = last ? last->sequence : 0;
        std::optional<waybill::position> after;
        while ((after ? after->sequence : 0) < end) {
            auto some = patiently([&] { return log_.read(part, after, 1'000); });
            for (auto& e : some) all.push_back({e.sequence, std::move(e.body)});
            if (!all.empty()) after = waybill::position{all.back().sequence, {}};
        }
        const std::uint64_t stored = stored_events(fmt::format("{}.{}", stream, partition));
        if (stored != all.size()) {
            throw support::complaint(fmt::format("partition {}: {} were read, and the stream has {}",
                                                 partition, counted(all.size(), "event"), stored));
        }
        return all;
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
        engines::prepared read(
            db_, "SELECT sequence, reason, body FROM dead_letters WHERE part = $1");
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
        engines::prepared read(db_, "SELECT (SELECT count(*) FROM effects),"
                                    " (SELECT coalesce(sum(events), 0) FROM packages)");
        const engines::rows r = run(read);
        return {r.number<std::uint64_t>(0, 0), r.number<std::uint64_t>(0, 1)};
    }

    bool repaired() override { return false; }

private:
    /// Repeats a call of the log for 30 s: after faults a server may need some seconds.
    template <class Call>
    auto patiently(const Call& call) -> typename decltype(call())::value_type
    {
        const auto until = std::chrono::steady_clock::now() + 30s;
        for (;;) {
            auto answer = call();
            if (answer) return *std::move(answer);
            if (std::chrono::steady_clock::now() > until)
                throw support::complaint(answer.error().text);
            std::this_thread::sleep_for(100ms);
        }
    }

    /// The number of messages that the server has for a subject.
    std::uint64_t stored_events(const std::string& subject)
    {
        engines::nats_client server(at_.log, 2s);
        jsOptions wanted;
        jsOptions_Init(&wanted);
        wanted.Stream.Info.SubjectsFilter = subject.c_str();
        const auto info = patiently([&]() -> waybill::result<engines::nats_stream_info> {
            engines::nats_stream_info found;
            natsStatus s = server.ready(2s);
            if (s == NATS_OK)
                s = js_GetStreamInfo(engines::out(found), server.jetstream(), stream, &wanted, nullptr);
            if (s != NATS_OK) return waybill::unexpected(waybill::infrastructure(engines::nats_text(s)));
            return found;
        });
        std::uint64_t n = 0;
        const jsStreamStateSubjects* const all = info->State.Subjects;
        for (int i = 0; all != nullptr && i != all->Count; ++i) n += all->List[i].Msgs;
        return n;
    }

    template <class... V>
    engines::rows run(engines::prepared& p, const V&... values)
    {
        return db_.outside([&] { return p.run(values...); });
    }

    const options& o_;
    addresses at_;
    engines::nats_log log_;
    engines::postgres db_;
    engines::postgres_store store_;
    engines::postgres_leases leases_;
    std::uint64_t run_;
    std::uint64_t appended_ = 0;
};

}  // namespace

std::unique_ptr<tables> server_tables(const options& o)
{
    return std::make_unique<tables_at_servers>(o);
}

}  // namespace reliable_consumer
