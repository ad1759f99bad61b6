// SPDX-License-Identifier: MIT
//
// ext/fmt_options: options of consumers, leases, queues, circuit breakers and locks as lines.

#ifndef WAYBILL_EXT_FMT_OPTIONS_HPP
#define WAYBILL_EXT_FMT_OPTIONS_HPP

#include <string>
#include <string_view>

#include <fmt/format.h>

#include <waybill/consume/at_least_once.hpp>
#include <waybill/consume/idempotency_key.hpp>
#include <waybill/consume/prune_policy.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/ext/fmt_consume.hpp>
#include <waybill/ext/fmt_line.hpp>
#include <waybill/ext/fmt_report.hpp>
#include <waybill/lease/partition_lifecycle.hpp>
#include <waybill/queue/lock_renewal.hpp>
#include <waybill/queue/receive_planner.hpp>
#include <waybill/queue/settle.hpp>
#include <waybill/queue/settle_batches.hpp>
#include <waybill/retry/circuit_breaker_options.hpp>
#include <waybill/retry/delivery.hpp>
#include <waybill/tracking/commit_schedule.hpp>
#include <waybill/tracking/tracker_options.hpp>

namespace waybill::inline v0_2::detail::words {

[[nodiscard]] inline std::string line(const circuit_breaker_options& o)
{
    std::string said = "shuts at ";
    if (o.minimum_throughput != circuit_breaker_options::never) {
        said +=
            fmt::format("{} of {} failed in {}", o.failure_ratio,
                        counted(o.minimum_throughput, "call", "calls"), line(o.sampling_duration));
        if (o.consecutive_failures != circuit_breaker_options::never) said += " or ";
    }
    if (o.consecutive_failures != circuit_breaker_options::never)
        said += fmt::format("{} in a row", o.consecutive_failures);
    if (o.transient_counts) said += ", transient ones too";
    return said + fmt::format("; calls of at most {}, {} to open, {}", line(o.timeout),
                              counted(o.half_open_ramp, "step", "steps"), line(o.break_duration));
}

[[nodiscard]] inline std::string line(const receive_planner_options& o)
{
    return fmt::format("{} at once, pause {}, a look every {}; {}", o.max_in_flight, line(o.pause),
                       line(o.poll_interval), line(o.breaker));
}

[[nodiscard]] inline std::string line(const lock_renewal_options& o)
{
    std::string said = fmt::format("lock {}, renewed at {} left", line(o.lock), o.renew_left);
    if (o.margin != duration{}) said += fmt::format(" or {}", line(o.margin));
    said += ", answer within " + line(o.answer_timeout);
    if (o.max_duration != duration::highest()) said += ", at most " + line(o.max_duration);
    return said + ", " + line(o.pauses);
}

[[nodiscard]] inline std::string line(const delivery_terms& t)
{
    std::string said = t.max_deliveries == unlimited
                           ? "unlimited deliveries"
                           : counted(t.max_deliveries, "delivery", "deliveries");
    said += fmt::format(", lock {} of at most {}", line(t.lock), line(t.highest_lock));
    if (t.time_to_live != duration::highest()) said += ", time to live " + line(t.time_to_live);
    return said;
}

[[nodiscard]] inline std::string line(const prune_spike& s)
{
    if (s.count == unlimited) return "no spike";
    return fmt::format("spike {} within {}", counted(s.count, "row", "rows"), line(s.within));
}

[[nodiscard]] inline std::string line(const prune_policy& p)
{
    std::string said = "keeps " + line(p.age);
    if (p.count != unlimited) said += ", " + counted(p.count, "row", "rows");
    if (p.bytes != unlimited) said += ", " + bytes(p.bytes);
    return said + fmt::format(", prunes to {}; {}; {}", p.low_water, line(p.spike), name(p.full));
}

[[nodiscard]] inline std::string line(const settle_policy& p)
{
    std::string said = p.max_deliveries == unlimited
                           ? "unlimited deliveries"
                           : counted(p.max_deliveries, "delivery", "deliveries");
    said += fmt::format(", calls of at most {}, on outage {}, ", line(p.to_settle),
                        name(p.on_outage));
    said += p.can_defer ? "defers up to " + line(p.longest_defer) : "cannot defer";
    if (p.can_defer && p.defer_renews) said += " and renews deliveries";
    if (!p.release_counts) said += ", releases not counted";
    return said + "; " + line(p.levels);
}

[[nodiscard]] inline std::string line(const settle_batch_policy& p)
{
    return fmt::format("{} a call, linger {}, calls of at most {}, {}, {}", items(p.items),
                       line(p.linger), line(p.to_settle), counted(p.tries, "try", "tries"),
                       line(p.pauses));
}

[[nodiscard]] inline std::string line(const lifecycle_options& o)
{
    return fmt::format("polls every {}, saves in {}, {}", line(o.poll),
                       counted(o.save_tries, "try", "tries"), line(o.pause));
}

[[nodiscard]] inline std::string line(const tracker_options& o)
{
    return fmt::format("at most {} in flight, span {}, commits at {}", events(o.max_in_flight),
                       o.span, name(o.mark));
}

[[nodiscard]] inline std::string line(const commit_schedule_policy& c)
{
    std::string said;
    const auto add = [&](const std::string& what, std::string_view between) {
        if (!said.empty()) said += between;
        said += what;
    };
    const bool both = c.needs == commit_schedule_policy::commit_needs::both;
    if (c.every != unlimited) add("every " + events(c.every), "");
    if (c.interval != duration::highest()) {
        add("every " + line(c.interval), both ? " and " : " or ");
    }
    if (c.on_close) add("on close", ", ");
    if (c.idle_refresh != duration::highest()) add("idle every " + line(c.idle_refresh), ", ");
    add("pause " + line(c.pause), ", ");
    return said;
}

[[nodiscard]] inline std::string line(const idempotency_options& o)
{
    return fmt::format("keys of the {}, at most {}", name(o.scope), bytes(o.max_bytes));
}

[[nodiscard]] inline std::string line(const at_least_once_policy& p)
{
    std::string said =
        fmt::format("{}, then {}", counted(p.tries, "try", "tries"), name(p.on_exhausted));
    if (p.commit_every != unlimited) said += fmt::format(", commits every {}", p.commit_every);
    said += ", reasons of at most " + bytes(p.reason_bytes);
    const at_least_once_policy usual;
    if (p.keeps != usual.keeps) said += fmt::format(", letters keep {}", name(p.keeps));
    if (p.body_bytes != usual.body_bytes) said += ", bodies of at most " + bytes(p.body_bytes);
    if (p.check_commit != usual.check_commit)
        said += fmt::format(", read back {}", name(p.check_commit));
    if (p.ask_from == unlimited) said += ", never asks";
    else if (p.ask_from != usual.ask_from) said += ", asks from " + events(p.ask_from);
    return said + "; " + line(p.keys);
}

}  // namespace waybill::inline v0_2::detail::words

#endif  // WAYBILL_EXT_FMT_OPTIONS_HPP
