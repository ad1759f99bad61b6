// SPDX-License-Identifier: MIT
//
// ext/fmt_retry: plans that prune dead letters, the time until dead-lettering, and actions of the
// receive planner and of lock renewal as lines.

#ifndef WAYBILL_EXT_FMT_RETRY_HPP
#define WAYBILL_EXT_FMT_RETRY_HPP

#include <string>

#include <fmt/format.h>

#include <waybill/consume/prune.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/ext/fmt_line.hpp>
#include <waybill/queue/lock_renewal.hpp>
#include <waybill/queue/receive_planner_steps.hpp>
#include <waybill/retry/delivery.hpp>

namespace waybill::inline v0_2::detail::words {

[[nodiscard]] inline std::string line(const prune_removal& r)
{
    return fmt::format("remove {}: {}, {}, parked {}", r.id, name(r.reason), bytes(r.bytes),
                       line(r.dead_lettered_at));
}

[[nodiscard]] inline std::string line(const prune_totals& t)
{
    return fmt::format("{}, {}", counted(t.rows, "row", "rows"), bytes(t.bytes));
}

[[nodiscard]] inline std::string line(const prune_plan& p)
{
    if (p.wrong) return fmt::format("remove nothing of {}; {}", line(p.before), line(*p.wrong));
    std::string said = fmt::format("remove {} of {}; {} left", p.removals.size(), line(p.before),
                                   line(p.after));
    if (p.held.rows != 0) said += fmt::format("; held {}", line(p.held));
    if (p.spike) said += fmt::format("; spike, {} recent", p.recent);
    if (p.full) said += "; full";
    if (!p.in_order) said += "; rows not in order";
    return said;
}

[[nodiscard]] inline std::string line(const delivery_lifetime& p)
{
    return fmt::format("lasts {}, ended by {}", line(p.lasts), name(p.by));
}

[[nodiscard]] inline std::string line(const lock_renewal::renew& a)
{
    return fmt::format("renew, attempt {}", a.attempt);
}

[[nodiscard]] inline std::string line(const receive_planner_types::take_due& a)
{
    return fmt::format("take due: at most {} from number {}", counted(a.max_pairs, "pair", "pairs"),
                       a.first);
}
[[nodiscard]] inline std::string line(const receive_planner_types::receive& a)
{
    return fmt::format("receive: at most {} from number {}",
                       counted(a.max_messages, "message", "messages"), a.first);
}
[[nodiscard]] inline std::string line(const receive_planner_types::receive_deferred& a)
{
    return fmt::format("receive deferred {}", a.work);
}
[[nodiscard]] inline std::string line(const receive_planner_types::settle_original& a)
{
    return fmt::format("settle original {}: {}", a.work, name(a.as));
}
[[nodiscard]] inline std::string line(const receive_planner_types::settle_message& a)
{
    return fmt::format("settle message {}: {}{}", a.work, name(a.as),
                       a.gone ? ", original gone" : "");
}

}  // namespace waybill::inline v0_2::detail::words

#endif  // WAYBILL_EXT_FMT_RETRY_HPP
