// SPDX-License-Identifier: MIT
//
// describe: leases, balance, the partition life cycle and the processor as text.

#ifndef WAYBILL_LEASE_DESCRIBE_HPP
#define WAYBILL_LEASE_DESCRIBE_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <waybill/consume/describe.hpp>
#include <waybill/consume/describe_position.hpp>
#include <waybill/core/describe.hpp>
#include <waybill/core/detail/line.hpp>
#include <waybill/lease/balance.hpp>
#include <waybill/lease/lease.hpp>
#include <waybill/lease/lease_calls.hpp>
#include <waybill/lease/lease_manager.hpp>
#include <waybill/lease/partition_lifecycle.hpp>
#include <waybill/lease/partition_tasks.hpp>
#include <waybill/lease/processor.hpp>
#include <waybill/retry/describe_policies.hpp>

namespace waybill::inline v0_2::detail::words {

template <>
struct line_of<partition_lifecycle::config> {
    static std::string text(const auto& o)
    {
        return concat("polls every ", line(o.poll), ", saves in ", tries(o.save_tries), ", ",
                      line(o.pause));
    }
};

template <>
struct line_of<owner_id> {
    static std::string text(const auto& o)
    {
        if (o.none()) return "no owner";
        return concat(one_line(o.name), "#", o.incarnation);
    }
};

template <>
struct line_of<lease> {
    static std::string text(const auto& l)
    {
        return concat(line(l.key), ": ", line(l.owner), ", epoch ", l.epoch, ", version ",
                      l.version);
    }
};

template <>
struct line_of<owner_heartbeat> {
    static std::string text(const auto& p)
    {
        return concat(one_line(p.source), "/", one_line(p.group), ": ", line(p.owner), ", version ",
                      p.version);
    }
};

template <>
struct line_of<lease_table> {
    static std::string text(const auto& t)
    {
        return concat(counted(t.leases.size(), "lease", "leases"), ", ",
                      counted(t.owners.size(), "owner", "owners"));
    }
};

template <>
struct line_of<lease_claim> {
    static std::string text(const auto& c)
    {
        const std::string row =
            c.expected ? concat("if at version ", *c.expected) : "if there is none";
        return concat(line(c.key), " for ", line(c.owner), ", epoch ", c.epoch, ", ", row);
    }
};

template <>
struct line_of<lease_claim::result> {
    static std::string text(const auto& o)
    {
        if (o.outcome != lease_claim::result::claim_outcome::won)
            return std::string(name(o.outcome));
        return concat(name(o.outcome), ", epoch ", o.epoch, ", version ", o.version);
    }
};

template <>
struct line_of<balance_plan> {
    static std::string text(const auto& p)
    {
        std::string result = concat("has ", p.mine, " of ", p.target, ": ");
        if (!p.claim.empty()) return result + "claim " + partitions(p.claim);
        if (!p.steal.empty()) return result + "steal " + partitions(p.steal);
        if (p.surplus != 0) return result + concat("release ", p.surplus);
        return result + (p.balanced ? "balanced" : "nothing to take");
    }

private:
    static std::string partitions(const std::vector<std::uint32_t>& all)
    {
        std::string result = all.size() == 1 ? "partition" : "partitions";
        std::string_view between = " ";
        for (const std::uint32_t partition : all) {
            result += concat(between, partition);
            between = ", ";
        }
        return result;
    }
};

template <>
struct line_of<lease_options> {
    static std::string text(const auto& o)
    {
        std::string result =
            concat("a round every ", line(o.interval), ", free after ", line(o.expiry));
        if (o.max_moves != lease_options::no_limit)
            result += concat(", at most ", o.max_moves, " moves in a round");
        return result;
    }
};

template <>
struct line_of<lease_manager_types::renew> {
    static std::string text(const auto& a) { return "renew " + line(a.row); }
};

template <>
struct line_of<lease_manager_types::leave> {
    static std::string text(const auto& a) { return "leave the group: " + line(a.row); }
};

template <>
struct line_of<lease_manager_types::list_leases> {
    static std::string text(const auto& a)
    {
        return concat("list leases of ", one_line(a.source), "/", one_line(a.group));
    }
};

template <>
struct line_of<lease_manager_types::claim> {
    static std::string text(const auto& a)
    {
        if (a.rows.size() == 1) return "claim " + line(a.rows.front());
        std::string result = concat("claim ", counted(a.rows.size(), "lease", "leases"));
        if (!a.rows.empty()) result += ", the first: " + line(a.rows.front());
        return result;
    }
};

/// "partition 3, epoch 5", for each step of the partition lifecycle.
template <class Step>
std::string of_partition(const Step& s)
{
    return concat("partition ", s.partition, ", epoch ", s.epoch);
}

template <>
struct line_of<partition_lifecycle::open> {
    static std::string text(const auto& a) { return "open " + of_partition(a); }
};

template <>
struct line_of<partition_lifecycle::process> {
    static std::string text(const auto& a) { return "process " + of_partition(a); }
};

template <>
struct line_of<partition_lifecycle::close> {
    static std::string text(const auto& a)
    {
        return (a.lost ? "close lost " : "close ") + of_partition(a);
    }
};

template <>
struct line_of<partition_lifecycle::save> {
    static std::string text(const auto& a) { return "save " + of_partition(a); }
};

template <>
struct line_of<partition_lifecycle::release> {
    static std::string text(const auto& a) { return "release " + of_partition(a); }
};

template <>
struct line_of<balance_plan::lease_view> {
    static std::string text(const auto& a)
    {
        return concat(counted(a.holders.size(), "partition", "partitions"), ", ",
                      counted(a.owners, "owner", "owners"), a.overdue ? ", overdue" : "");
    }
};

template <>
struct line_of<lease_manager_types::renewed> {
    static std::string text(const auto& a)
    {
        return concat("renewed: ", a.written, ", table: ", a.table);
    }
};

template <>
struct line_of<lease_manager_types::claimed> {
    static std::string text(const auto& a)
    {
        return concat("claimed: ", counted(a.answers.size(), "result", "results"));
    }
};

template <>
struct line_of<lease_manager_types::group_left> {
    static std::string text(const auto& a) { return concat("group left: ", a.answer); }
};

template <>
struct line_of<lease_manager_types::listed> {
    static std::string text(const auto& a) { return concat("listed: ", a.answer); }
};

template <>
struct line_of<lease_manager_types::lease_released> {
    static std::string text(const auto& a)
    {
        return fields("lease released", "partition", a.partition);
    }
};

template <>
struct line_of<lease_manager_types::lease_suspected> {
    static std::string text(const auto& a)
    {
        return fields("lease suspected", "partition", a.partition);
    }
};

template <>
struct line_of<lease_manager_types::epoch_too_low> {
    static std::string text(const auto& a)
    {
        return fields("epoch too low", "partition", a.partition, "epoch", a.epoch);
    }
};

template <>
struct line_of<lease_group> {
    static std::string text(const auto& a)
    {
        return concat(one_line(a.source), "/", one_line(a.group), ": ",
                      counted(a.partitions.size(), "partition", "partitions"), ", owner ", a.self,
                      ", ", a.leases);
    }
};

template <>
struct line_of<lease_observer::row> {
    static std::string text(const auto& a)
    {
        return concat("owner ", a.owner, ", epoch ", a.epoch, ", version ", a.version);
    }
};

template <>
struct line_of<partition_lifecycle_types::assigned> {
    static std::string text(const auto& a) { return concat("assigned: epoch ", a.epoch); }
};

template <>
struct line_of<partition_lifecycle_types::revoked> {
    static std::string text(const auto&) { return "revoked"; }
};

template <>
struct line_of<partition_lifecycle_types::partition_lost> {
    static std::string text(const auto&) { return "partition lost"; }
};

template <>
struct line_of<partition_lifecycle_types::woken> {
    static std::string text(const auto& a) { return fields("woken", "partition", a.partition); }
};

template <>
struct line_of<partition_lifecycle_types::partition_opened> {
    static std::string text(const auto& a)
    {
        return fields("partition opened", "partition", a.partition, "epoch", a.epoch, "fault",
                      a.kind, "stored epoch", a.stored_epoch);
    }
};

template <>
struct line_of<partition_lifecycle_types::processed> {
    static std::string text(const auto& a)
    {
        return concat("processed: partition ", a.partition, ", epoch ", a.epoch, ", ", a.pass);
    }
};

template <>
struct line_of<partition_lifecycle_types::partition_closed> {
    static std::string text(const auto& a)
    {
        return fields("partition closed", "partition", a.partition, "epoch", a.epoch);
    }
};

template <>
struct line_of<partition_lifecycle_types::partition_saved> {
    static std::string text(const auto& a)
    {
        return fields("partition saved", "partition", a.partition, "epoch", a.epoch, "fault",
                      a.kind);
    }
};

template <>
struct line_of<partition_lifecycle_types::partition_released> {
    static std::string text(const auto& a)
    {
        return fields("partition released", "partition", a.partition, "epoch", a.epoch);
    }
};

template <>
struct line_of<processor::config> {
    static std::string text(const auto& a) { return concat(a.group, "; ", a.lifecycle); }
};

template <>
struct line_of<partition_tasks::policy> {
    static std::string text(const auto& p)
    {
        return concat(one_line(p.source), "/", one_line(p.group), " as ", one_line(p.owner),
                      ", batches of at most ", events(p.max_events),
                      p.until_drained ? ", until all events are read, " : ", ", p.leases, ", ",
                      p.lifecycle, ", ", p.batch);
    }
};

}  // namespace waybill::inline v0_2::detail::words

#endif  // WAYBILL_LEASE_DESCRIBE_HPP
