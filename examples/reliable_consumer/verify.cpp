// SPDX-License-Identifier: MIT

#include "verify.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

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
    audit(const options& o, tables& all) : o_(o), all_(all) {}

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
        judge j(all_.repaired());
        for (const event& e : all_.events(p)) log.emplace(e.sequence, j.fate_of(e.body));
        row.events = log.size();

        std::set<std::uint64_t> applied;
        std::uint64_t last = 0;
        for (const std::uint64_t sequence : all_.effects(p)) {
            if (!applied.insert(sequence).second) ++f_.doubled;
            const auto there = log.find(sequence);
            if (there != log.end() && there->second == fate::either) continue;
            if (sequence < last) ++f_.out_of_order;
            last = sequence;
        }
        row.applied = applied.size();

        std::set<std::uint64_t> dead;
        for (const tables::letter& l : all_.dead_letters(p)) {
            dead.insert(l.sequence);
            if (l.reason.empty() || l.body.empty()) {
                complain(fmt::format("dead letter {}/{} has no reason or no body", p, l.sequence));
            }
        }
        row.dead = dead.size();

        for (const auto& [sequence, must_be] : log) {
            const bool a = applied.contains(sequence);
            const bool d = dead.contains(sequence);
            if (!a && !d) ++f_.lost;
            if (a && d)
                complain(fmt::format("event {}/{} is both applied and a dead letter", p, sequence));
            if ((a && must_be == fate::dead) || (d && must_be == fate::applied)) {
                complain(fmt::format("event {}/{} must{} be a dead letter", p, sequence,
                                     a ? "" : " not"));
            }
        }
        const auto unknown = [&](std::uint64_t s) { return !log.contains(s); };
        if (std::any_of(applied.begin(), applied.end(), unknown) ||
            std::any_of(dead.begin(), dead.end(), unknown)) {
            complain(fmt::format(
                "partition {} has effects or dead letters without an event in its log", p));
        }

        row.position = all_.position(p);
        if (!log.empty() && row.position != log.rbegin()->first) {
            complain(fmt::format("the checkpoint of partition {} is {}, its log ends at {}", p,
                                 row.position, log.rbegin()->first));
        }
        owners(p, row);
        f_.partitions.push_back(row);
    }

    void owners(std::uint64_t p, partition_row& row)
    {
        const tables::lease l = all_.lease_of(p);
        row.owners = l.epoch;
        if (!l.owner.empty()) {
            complain(fmt::format("partition {} was not given back: its lease is still held by {}",
                                 p, l.owner));
        }
        if (row.owners == 0) complain(fmt::format("partition {} never had an owner", p));
    }

    /// The second effect of an event: its package's sum.
    void sums()
    {
        const tables::sums s = all_.count();
        if (s.events != s.lines) {
            complain(fmt::format("the ledger has {} lines, and the sum of its packages is {}",
                                 s.lines, s.events));
        }
    }

    void complain(std::string what)
    {
        if (f_.wrong.size() < 20) f_.wrong.push_back(std::move(what));
    }

    const options& o_;
    tables& all_;
    findings f_{};
};

}  // namespace

findings verify(const options& o, tables& all)
{
    return audit(o, all).run();
}

}  // namespace reliable_consumer
