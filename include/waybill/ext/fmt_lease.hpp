// SPDX-License-Identifier: MIT
//
// ext/fmt_lease: leases and owners, calls to a lease store and the steps of a partition as lines.

#ifndef WAYBILL_EXT_FMT_LEASE_HPP
#define WAYBILL_EXT_FMT_LEASE_HPP

#include <string>
#include <string_view>

#include <fmt/format.h>

#include <waybill/ext/fmt_line.hpp>
#include <waybill/lease/balance.hpp>
#include <waybill/lease/lease.hpp>
#include <waybill/lease/lease_calls.hpp>
#include <waybill/lease/partition_lifecycle.hpp>

namespace waybill::inline v0_2::detail::words {

[[nodiscard]] inline std::string line(const owner_id& o)
{
    if (o.none()) return "nobody";
    return fmt::format("{}#{}", one_line(o.name), o.incarnation);
}

[[nodiscard]] inline std::string line(const lease& l)
{
    return fmt::format("{}: {}, epoch {}, version {}", line(l.key), line(l.owner), l.epoch,
                       l.version);
}

[[nodiscard]] inline std::string line(const owner_heartbeat& p)
{
    return fmt::format("{}/{}: {}, version {}", one_line(p.source), one_line(p.group),
                       line(p.owner), p.version);
}

[[nodiscard]] inline std::string line(const lease_table& t)
{
    return fmt::format("{}, {}", counted(t.leases.size(), "lease", "leases"),
                       counted(t.owners.size(), "owner", "owners"));
}

[[nodiscard]] inline std::string line(const lease_claim& c)
{
    const std::string row =
        c.expected ? fmt::format("if at version {}", *c.expected) : "if there is none";
    return fmt::format("{} for {}, epoch {}, {}", line(c.key), line(c.owner), c.epoch, row);
}

[[nodiscard]] inline std::string line(const claim_result& o)
{
    if (o.outcome != claim_outcome::won) return std::string(name(o.outcome));
    return fmt::format("{}, epoch {}, version {}", name(o.outcome), o.epoch, o.version);
}

[[nodiscard]] inline std::string line(const balance_plan& p)
{
    std::string said = fmt::format("has {} of {}: ", p.mine, p.target);
    if (!p.claim.empty()) {
        said += p.claim.size() == 1 ? "claim partition " : "claim partitions ";
        std::string_view between;
        for (const auto partition : p.claim) {
            said += fmt::format("{}{}", between, partition);
            between = ", ";
        }
        return said;
    }
    if (p.steal) return said + fmt::format("steal partition {}", *p.steal);
    return said + (p.balanced ? "balanced" : "nothing to take");
}

[[nodiscard]] inline std::string line(const lease_options& o)
{
    return fmt::format("a round every {}, free after {}", line(o.interval), line(o.expiry));
}

[[nodiscard]] inline std::string line(const lease_manager_types::heartbeat& a)
{
    return "announce " + line(a.who);
}
[[nodiscard]] inline std::string line(const lease_manager_types::leave& a)
{
    return "withdraw " + line(a.who);
}
[[nodiscard]] inline std::string line(const lease_manager_types::list_leases& a)
{
    return fmt::format("list leases of {}/{}", one_line(a.source), one_line(a.group));
}
[[nodiscard]] inline std::string line(const lease_manager_types::claim& a)
{
    return "claim " + line(a.row);
}

/// "partition 3, epoch 5", for each step of the partition lifecycle.
template <class Step>
[[nodiscard]] std::string of_partition(const Step& s)
{
    return fmt::format("partition {}, epoch {}", s.partition, s.epoch);
}

[[nodiscard]] inline std::string line(const partition_lifecycle::open& a)
{
    return "open " + of_partition(a);
}
[[nodiscard]] inline std::string line(const partition_lifecycle::process& a)
{
    return "process " + of_partition(a);
}
[[nodiscard]] inline std::string line(const partition_lifecycle::close& a)
{
    return (a.lost ? "close lost " : "close ") + of_partition(a);
}
[[nodiscard]] inline std::string line(const partition_lifecycle::save& a)
{
    return "save " + of_partition(a);
}
[[nodiscard]] inline std::string line(const partition_lifecycle::release& a)
{
    return "relinquish " + of_partition(a);
}

}  // namespace waybill::inline v0_2::detail::words

#endif  // WAYBILL_EXT_FMT_LEASE_HPP
