// SPDX-License-Identifier: MIT
//
// ext/fmt/lease: leases and owners, calls to a lease store and the steps of a partition as lines.

#ifndef WAYBILL_EXT_FMT_LEASE_HPP
#define WAYBILL_EXT_FMT_LEASE_HPP

#include <waybill/ext/fmt/detail/package.hpp>

#include <waybill/ext/fmt/consume.hpp>
#include <waybill/ext/fmt/core.hpp>
#include <waybill/ext/fmt/detail/line.hpp>
#include <waybill/ext/fmt/retry.hpp>
#include <waybill/lease/describe.hpp>
#include <waybill/lease/balance.hpp>
#include <waybill/lease/lease.hpp>
#include <waybill/lease/lease_calls.hpp>
#include <waybill/lease/lease_manager.hpp>
#include <waybill/lease/partition_lifecycle.hpp>
#include <waybill/lease/partition_tasks.hpp>
#include <waybill/lease/partitions_report.hpp>
#include <waybill/lease/processor.hpp>

namespace waybill::inline v0_2::detail::words {

template <>
struct line_of<claim_result::claim_outcome> : enumerator_line {};

template <>
struct line_of<partition_lifecycle::config> {
    template <class T>
    [[nodiscard]] static std::string text(const T& o)
    {
        return fmt::format("polls every {}, saves in {}, {}", line(o.poll),
                           counted(o.save_tries, "try", "tries"), line(o.pause));
    }
};

template <>
struct line_of<owner_id> {
    template <class T>
    [[nodiscard]] static std::string text(const T& o)
    {
        if (o.none()) return "nobody";
        return fmt::format("{}#{}", one_line(o.name), o.incarnation);
    }
};

template <>
struct line_of<lease> {
    template <class T>
    [[nodiscard]] static std::string text(const T& l)
    {
        return fmt::format("{}: {}, epoch {}, version {}", line(l.key), line(l.owner), l.epoch,
                           l.version);
    }
};

template <>
struct line_of<owner_heartbeat> {
    template <class T>
    [[nodiscard]] static std::string text(const T& p)
    {
        return fmt::format("{}/{}: {}, version {}", one_line(p.source), one_line(p.group),
                           line(p.owner), p.version);
    }
};

template <>
struct line_of<lease_table> {
    template <class T>
    [[nodiscard]] static std::string text(const T& t)
    {
        return fmt::format("{}, {}", counted(t.leases.size(), "lease", "leases"),
                           counted(t.owners.size(), "owner", "owners"));
    }
};

template <>
struct line_of<lease_claim> {
    template <class T>
    [[nodiscard]] static std::string text(const T& c)
    {
        const std::string row =
            c.expected ? fmt::format("if at version {}", *c.expected) : "if there is none";
        return fmt::format("{} for {}, epoch {}, {}", line(c.key), line(c.owner), c.epoch, row);
    }
};

template <>
struct line_of<claim_result> {
    template <class T>
    [[nodiscard]] static std::string text(const T& o)
    {
        if (o.outcome != claim_result::claim_outcome::won) return std::string(name(o.outcome));
        return fmt::format("{}, epoch {}, version {}", name(o.outcome), o.epoch, o.version);
    }
};

template <>
struct line_of<balance_plan> {
    template <class T>
    [[nodiscard]] static std::string text(const T& p)
    {
        std::string result = fmt::format("has {} of {}: ", p.mine, p.target);
        if (!p.claim.empty()) return result + "claim " + partitions(p.claim);
        if (!p.steal.empty()) return result + "steal " + partitions(p.steal);
        if (p.surplus != 0) return result + fmt::format("release {}", p.surplus);
        return result + (p.balanced ? "balanced" : "nothing to take");
    }

private:
    [[nodiscard]] static std::string partitions(const std::vector<std::uint32_t>& all)
    {
        std::string result = all.size() == 1 ? "partition" : "partitions";
        std::string_view between = " ";
        for (const std::uint32_t partition : all) {
            result += fmt::format("{}{}", between, partition);
            between = ", ";
        }
        return result;
    }
};

template <>
struct line_of<lease_options> {
    template <class T>
    [[nodiscard]] static std::string text(const T& o)
    {
        std::string result =
            fmt::format("a round every {}, free after {}", line(o.interval), line(o.expiry));
        if (o.max_moves != lease_options::no_limit)
            result += fmt::format(", at most {} moves in a round", o.max_moves);
        return result;
    }
};

template <>
struct line_of<lease_manager_types::renew> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return "renew " + line(a.row);
    }
};

template <>
struct line_of<lease_manager_types::leave> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return "withdraw " + line(a.row);
    }
};

template <>
struct line_of<lease_manager_types::list_leases> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return fmt::format("list leases of {}/{}", one_line(a.source), one_line(a.group));
    }
};

template <>
struct line_of<lease_manager_types::claim> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        if (a.rows.size() == 1) return "claim " + line(a.rows.front());
        std::string result = fmt::format("claim {}", counted(a.rows.size(), "lease", "leases"));
        if (!a.rows.empty()) result += ", the first: " + line(a.rows.front());
        return result;
    }
};

/// "partition 3, epoch 5", for each step of the partition lifecycle.
template <class Step>
[[nodiscard]] std::string of_partition(const Step& s)
{
    return fmt::format("partition {}, epoch {}", s.partition, s.epoch);
}

template <>
struct line_of<partition_lifecycle::open> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return "open " + of_partition(a);
    }
};

template <>
struct line_of<partition_lifecycle::process> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return "process " + of_partition(a);
    }
};

template <>
struct line_of<partition_lifecycle::close> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return (a.lost ? "close lost " : "close ") + of_partition(a);
    }
};

template <>
struct line_of<partition_lifecycle::save> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return "save " + of_partition(a);
    }
};

template <>
struct line_of<partition_lifecycle::release> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return "relinquish " + of_partition(a);
    }
};

template <>
struct line_of<partitions_report> {
    template <class T>
    [[nodiscard]] static std::string text(const T& r)
    {
        return one_line(describe(r));
    }
};

template <>
struct line_of<partition_tasks::policy> {
    template <class T>
    [[nodiscard]] static std::string text(const T& p)
    {
        return fmt::format("{}/{} as {}, batches of at most {}, {}, {}, {}", one_line(p.source),
                           one_line(p.group), one_line(p.owner),
                           counted(p.max_events, "event", "events"), line(p.leases),
                           line(p.lifecycle), line(p.batch));
    }
};

template <>
struct line_of<lease_manager::lease_call> : action_line {};
template <>
struct line_of<lease_manager::action> : action_line {};
template <>
struct line_of<partition_lifecycle::action> : action_line {};
template <>
struct line_of<processor::action> : action_line {};

}  // namespace waybill::inline v0_2::detail::words

// Full specialisations: only those take precedence over the partial specialisations for variants
// and ranges in the headers of {fmt}.
template <>
struct fmt::formatter<waybill::lease_manager::lease_call>
    : waybill::detail::line_formatter<waybill::lease_manager::lease_call> {};
template <>
struct fmt::formatter<waybill::lease_manager::lease_answer>
    : waybill::detail::line_formatter<waybill::lease_manager::lease_answer> {};
template <>
struct fmt::formatter<waybill::lease_manager::action>
    : waybill::detail::line_formatter<waybill::lease_manager::action> {};
template <>
struct fmt::formatter<waybill::partition_lifecycle::action>
    : waybill::detail::line_formatter<waybill::partition_lifecycle::action> {};
template <>
struct fmt::formatter<waybill::processor::action>
    : waybill::detail::line_formatter<waybill::processor::action> {};

#endif  // WAYBILL_EXT_FMT_LEASE_HPP
