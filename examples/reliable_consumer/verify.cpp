// SPDX-License-Identifier: MIT

#include "verify.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "../engines/sqlite.hpp"
#include "files.hpp"
#include "ledger.hpp"

namespace reliable_consumer {

namespace {

/// The required end of an event.
enum class fate { applied, dead, either };

/// Computes the fate of each event of a partition, in order. An event that breaks only the rule from
/// before the repair is a dead letter until it is handled again, and then out of order.
class judge {
public:
    explicit judge(bool repaired) : repaired_(repaired) {}

    fate fate_of(std::string_view line)
    {
        const reading r = read_event(line);
        if (line == poison || r.package.empty()) return fate::dead;
        const bool versioned = !r.version.empty() || versioned_.contains(r.package);
        if (r.what == "installed" && !versioned) return repaired_ ? fate::either : fate::dead;
        if (versioned) versioned_.insert(r.package);
        return fate::applied;
    }

private:
    bool repaired_;
    std::set<std::string> versioned_;
};

class audit {
public:
    explicit audit(const options& o) : o_(o), log_(log_in(o)), sink_(sink_in(o)) {}

    findings run()
    {
        for (std::uint64_t p = 0; p != o_.partitions; ++p) partition(p);
        sums();
        return std::move(f_);
    }

private:
    void partition(std::uint64_t p)
    {
        partition_row row;
        std::map<std::uint64_t, fate> log;  // by sequence
        judge j(is_repaired(sink_));
        engines::statement read(log_, "SELECT sequence, body FROM log WHERE part = ? ORDER BY sequence");
        for (read.query(p); read.step();) log.emplace(read.size(0), j.fate_of(read.text(1)));
        row.events = log.size();

        std::set<std::uint64_t> applied;
        std::uint64_t last = 0;
        engines::statement effects(sink_, "SELECT sequence FROM effects WHERE part = ? ORDER BY n");
        for (effects.query(p); effects.step();) {
            const std::uint64_t sequence = effects.size(0);
            if (!applied.insert(sequence).second) ++f_.doubled;
            const auto there = log.find(sequence);
            if (there != log.end() && there->second == fate::either) continue;
            if (sequence < last) ++f_.out_of_order;
            last = sequence;
        }
        row.applied = applied.size();

        const std::string part = std::to_string(p);
        std::set<std::uint64_t> dead;
        engines::statement letters(sink_, "SELECT sequence, reason, body FROM dead_letters WHERE part = ?");
        for (letters.query(std::string_view(part)); letters.step();) {
            dead.insert(letters.size(0));
            if (letters.text(1).empty() || letters.text(2).empty()) {
                complain(fmt::format("dead letter {}/{} lacks its reason or its body", p, letters.size(0)));
            }
        }
        row.dead = dead.size();

        for (const auto& [sequence, must_be] : log) {
            const bool a = applied.contains(sequence);
            const bool d = dead.contains(sequence);
            if (!a && !d) ++f_.lost;
            if (a && d) complain(fmt::format("event {}/{} is both applied and a dead letter", p, sequence));
            if ((a && must_be == fate::dead) || (d && must_be == fate::applied)) {
                complain(fmt::format("event {}/{} must{} be a dead letter", p, sequence, a ? "" : " not"));
            }
        }
        const auto unknown = [&](std::uint64_t s) { return !log.contains(s); };
        if (std::any_of(applied.begin(), applied.end(), unknown) ||
            std::any_of(dead.begin(), dead.end(), unknown)) {
            complain(fmt::format("partition {} has what is not in its log", p));
        }

        engines::statement position(sink_, "SELECT sequence FROM checkpoints WHERE part = ?");
        row.position = static_cast<std::uint64_t>(position.number(std::string_view(part)).value_or(0));
        if (!log.empty() && row.position != log.rbegin()->first) {
            complain(fmt::format("the checkpoint of partition {} is {}, its log ends at {}", p,
                                 row.position, log.rbegin()->first));
        }
        owners(p, part, row);
        f_.partitions.push_back(row);
    }

    void owners(std::uint64_t p, const std::string& part, partition_row& row)
    {
        engines::statement lease(sink_, "SELECT epoch, owner FROM leases WHERE part = ?");
        for (lease.query(std::string_view(part)); lease.step();) {
            row.owners = lease.size(0);
            if (!lease.text(1).empty()) {
                complain(fmt::format("partition {} was not given back by {}", p, lease.text(1)));
            }
        }
        if (row.owners == 0) complain(fmt::format("partition {} never had an owner", p));
    }

    /// The second effect of an event: its package's sum.
    void sums()
    {
        engines::statement all(sink_, "SELECT sum(events) FROM packages");
        engines::statement lines(sink_, "SELECT count(*) FROM effects");
        const auto summed = all.number().value_or(0);
        const auto counted = lines.number().value_or(0);
        if (summed != counted) {
            complain(fmt::format("{} lines are in the ledger, and its sums come to {}", counted, summed));
        }
    }

    void complain(std::string what)
    {
        if (f_.wrong.size() < 20) f_.wrong.push_back(std::move(what));
    }

    const options& o_;
    engines::database log_;
    engines::database sink_;
    findings f_{};
};

}  // namespace

findings verify(const options& o) { return audit(o).run(); }

}  // namespace reliable_consumer
