// SPDX-License-Identifier: MIT

#include <string>
#include <string_view>
#include <utility>

#include "../engines/sqlite_leases.hpp"
#include "../engines/sqlite_store.hpp"
#include "../support/program.hpp"
#include "event_log.hpp"
#include "files.hpp"
#include "ledger.hpp"
#include "tables.hpp"

namespace reliable_consumer {

namespace {

class tables_in_sqlite : public tables {
public:
    explicit tables_in_sqlite(const options& o)
        : o_(o),
          log_(log_in(o)),
          rows_(log_in(o)),
          sink_(sink_in(o)),
          store_(sink_),
          leases_(sink_),
          ledger_(sink_)
    {
    }

    bool append(const std::vector<std::string>& lines) override
    {
        log_.append(lines,
                    [&](const std::string& line) { return partition_of(line, o_.partitions); });
        return true;
    }

    std::optional<std::uint64_t> left() override
    {
        std::uint64_t behind = 0;
        for (std::uint64_t p = 0; p != o_.partitions; ++p) {
            const auto stored = store_.load(key_of(p));
            if (!stored)
                throw support::complaint("a checkpoint cannot be read: " + stored.error().text);
            const std::uint64_t at = *stored ? (*stored)->at.sequence : 0;
            behind += log_.extent_of(p).last - at;
        }
        return behind;
    }

    std::optional<waybill::lease_table> leases() override
    {
        auto all = leases_.list(source, group);
        if (!all) throw support::complaint("the leases cannot be read: " + all.error().text);
        return *std::move(all);
    }

    std::vector<event> events(std::uint64_t partition) override
    {
        std::vector<event> all;
        engines::statement read(rows_,
                                "SELECT sequence, body FROM log WHERE part = ? ORDER BY sequence");
        for (read.query(partition); read.step();)
            all.push_back({read.size(0), std::string(read.text(1))});
        return all;
    }

    std::vector<std::uint64_t> effects(std::uint64_t partition) override
    {
        std::vector<std::uint64_t> all;
        engines::statement read(sink_, "SELECT sequence FROM effects WHERE part = ? ORDER BY n");
        for (read.query(partition); read.step();) all.push_back(read.size(0));
        return all;
    }

    std::vector<letter> dead_letters(std::uint64_t partition) override
    {
        std::vector<letter> all;
        engines::statement read(sink_,
                                "SELECT sequence, reason, body FROM dead_letters WHERE part = ?");
        const std::string part = std::to_string(partition);
        for (read.query(std::string_view(part)); read.step();)
            all.push_back({read.size(0), std::string(read.text(1)), std::string(read.text(2))});
        return all;
    }

    std::uint64_t position(std::uint64_t partition) override
    {
        engines::statement read(sink_, "SELECT sequence FROM checkpoints WHERE part = ?");
        const std::string part = std::to_string(partition);
        const auto found = read.number(std::string_view(part));
        return static_cast<std::uint64_t>(found.value_or(0));
    }

    lease lease_of(std::uint64_t partition) override
    {
        lease found;
        engines::statement read(sink_, "SELECT epoch, owner FROM leases WHERE part = ?");
        const std::string part = std::to_string(partition);
        for (read.query(std::string_view(part)); read.step();)
            found = {read.size(0), std::string(read.text(1))};
        return found;
    }

    sums count() override
    {
        engines::statement all(sink_, "SELECT sum(events) FROM packages");
        engines::statement lines(sink_, "SELECT count(*) FROM effects");
        return {static_cast<std::uint64_t>(lines.number().value_or(0)),
                static_cast<std::uint64_t>(all.number().value_or(0))};
    }

    bool repaired() override { return is_repaired(sink_); }

private:
    const options& o_;
    event_log log_;
    engines::database rows_;  // of the log, for the verifier
    engines::database sink_;
    engines::sqlite_store store_;
    engines::sqlite_leases leases_;
    ledger ledger_;  // creates its tables
};

}  // namespace

std::unique_ptr<tables> sqlite_tables(const options& o)
{
    return std::make_unique<tables_in_sqlite>(o);
}

}  // namespace reliable_consumer
