// SPDX-License-Identifier: MIT
//
// ext/fmt_report: batches, reports, policies and calibrations as lines.

#ifndef WAYBILL_EXT_FMT_REPORT_HPP
#define WAYBILL_EXT_FMT_REPORT_HPP

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include <waybill/batch/bin_packer.hpp>
#include <waybill/batch/calibration.hpp>
#include <waybill/batch/chunk_by.hpp>
#include <waybill/batch/keyed_batches.hpp>
#include <waybill/batch/open_batch.hpp>
#include <waybill/batch/owned_chunks.hpp>
#include <waybill/batch/send_policy.hpp>
#include <waybill/batch/send_report.hpp>
#include <waybill/batch/side_by_side.hpp>
#include <waybill/batch/too_large.hpp>
#include <waybill/consume/batch_machine.hpp>
#include <waybill/consume/process_batch.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/ext/fmt_line.hpp>
#include <waybill/retry/backoff.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/retry/levels.hpp>
#include <waybill/retry/retry_call.hpp>
#include <waybill/retry/retry_loop.hpp>

namespace waybill::inline v0_2::detail::words {

[[nodiscard]] inline std::string line(const batch_limits& l)
{
    std::string said;
    const auto add = [&](std::string what) {
        if (!said.empty()) said += ", ";
        said += what;
    };
    if (l.bytes != unlimited) add(bytes(l.bytes));
    if (l.items != unlimited) add(items(l.items));
    if (l.single != unlimited) add(bytes(l.single) + " an item");
    said = said.empty() ? "no limits" : "at most " + said;
    if (l.envelope != 0) add("envelope " + bytes(l.envelope));
    return said;
}

[[nodiscard]] inline std::string line(const open_limits& l)
{
    std::string said = l.open == unlimited ? "any number of batches"
                                           : "at most " + counted(l.open, "batch", "batches");
    said += " open, linger " + line(l.linger);
    if (l.items != unlimited) said += fmt::format(", {} in all", items(l.items));
    return said;
}

[[nodiscard]] inline std::string line(const oversized_item& o)
{
    return describe(o);
}

[[nodiscard]] inline std::string batch(std::uint64_t count, std::uint64_t sum,
                                       batch_close_reason reason, bool fits = true)
{
    const std::string what = fmt::format("{}, {}", items(count), bytes(sum));
    if (!fits) return what + ", does not fit";
    return fmt::format("{}, closed by {}", what, name(reason));
}

template <class I>
[[nodiscard]] std::string line(const chunk<I>& c)
{
    return batch(c.count, c.bytes, c.closed, c.fits);
}

template <class T, class Items>
[[nodiscard]] std::string line(const owned_chunk<T, Items>& c)
{
    return batch(c.size(), c.bytes, c.closed, c.fits);
}

template <class T>
[[nodiscard]] std::string line(const closed_batch<T>& b)
{
    return batch(b.items.size(), b.bytes, b.closed);
}

/// Includes the key if {fmt} can format it.
template <class Key, class T>
[[nodiscard]] std::string line(const keyed_batch<Key, T>& b)
{
    const std::string said = batch(b.items.size(), b.bytes, b.closed);
    if constexpr (!fmt::is_formattable<Key>::value) return said;
    else return fmt::format("key {}: {}", one_line(fmt::format("{}", b.key)), said);
}

[[nodiscard]] inline std::string line(const packed_bins& p)
{
    std::uint64_t packed_items = 0;
    for (const auto& b : p.batches) packed_items += b.items.size();
    return fmt::format("{} in {}, {} too large", items(packed_items),
                       counted(p.batches.size(), "batch", "batches"), p.too_large.size());
}

template <class T, class F>
[[nodiscard]] std::string line(const open_batch<T, F>& b)
{
    const auto due = b.deadline();
    return fmt::format("{}, {}, open, due {}", items(b.size()), bytes(b.bytes()),
                       due ? line(*due) : "when full");
}

template <class Batch, class F, bool Fullest>
[[nodiscard]] std::string line(const detail::side_by_side<Batch, F, Fullest>& b)
{
    const auto due = b.deadline();
    return fmt::format("{}, {} open, due {}", items(b.items()),
                       counted(b.open(), "batch", "batches"), due ? line(*due) : "when full");
}

[[nodiscard]] inline std::string line(const item_report& r)
{
    return one_line(describe(r));
}

[[nodiscard]] inline std::string line(const send_report& r)
{
    std::string said = fmt::format("sent {}, {} refused; {} accepted, {} not",
                                   counted(r.sends, "request", "requests"), r.refusals, r.accepted,
                                   r.not_accepted);
    if (r.resent_bytes != 0) said += fmt::format("; {} sent in vain", bytes(r.resent_bytes));
    if (r.stopped) said += fmt::format("; stopped after reading {}", items(r.taken));
    if (r.waiting) said += "; waiting until " + line(*r.waiting);
    return said;
}

[[nodiscard]] inline std::string line(const batch_report& r)
{
    std::string said(name(r.outcome));
    if (r.reached) said += " at " + line(*r.reached);
    if (r.outcome == batch_outcome::committed) {
        said += fmt::format(": {} handled, {} dead-lettered", r.handled, r.dead_lettered);
    } else if (!r.reason.ok()) {
        said += ": " + line(r.reason);
    }
    if (r.dropped != 0) said += fmt::format("; {} dropped", r.dropped);
    if (r.skipped != 0) said += fmt::format("; {} skipped", r.skipped);
    if (r.repeated != 0) said += fmt::format("; {} repeated", r.repeated);
    if (r.cut_off != 0) said += fmt::format("; {} left", r.cut_off);
    return said;
}

[[nodiscard]] inline std::string line(const dead_letter& d)
{
    std::string said = fmt::format("{} at {}: {} after {}", line(d.key), line(d.at), name(d.kind),
                                   counted(d.tries, "try", "tries"));
    if (!d.reason.empty()) said += ": " + one_line(d.reason);
    said += fmt::format(" (parked {}", line(d.dead_lettered_at));
    if (d.occurred != wall_time{}) said += ", occurred " + line(d.occurred);
    if (!d.body.empty()) said += ", " + bytes(d.body.size());
    if (d.kept != dead_letter_body::body) {
        said += fmt::format(", {} of {}", name(d.kept), bytes(d.size));
    }
    return said + ")";
}

[[nodiscard]] inline std::string line(const calibration_state& c)
{
    std::string said = "limit " + bytes(c.limit);
    if (c.envelope != 0) said += ", envelope " + bytes(c.envelope);
    said += fmt::format(", header {:.1f} bytes", c.items.header);
    if (c.items.ratio != 1) said += fmt::format(" and {:.3f} of a body", c.items.ratio);
    if (c.accepted != 0) said += ", went through " + bytes(c.accepted);
    if (c.refused != unlimited) said += ", refused " + bytes(c.refused);
    return said;
}

[[nodiscard]] inline std::string line(const calibration& c)
{
    return fmt::format("budget {}: {}", bytes(c.budget()), line(c.state()));
}

[[nodiscard]] inline std::string line(const backoff& b)
{
    std::string said = fmt::format("pauses {} to {}", line(b.base), line(b.cap));
    said += fmt::format(", factor {}", b.factor);
    if (b.step != duration{}) said += ", step " + line(b.step);
    said += fmt::format(", jitter {}", name(b.spread));
    if (b.highest_hint != duration{}) said += ", hints up to " + line(b.highest_hint);
    return said;
}

[[nodiscard]] inline std::string line(const retry_policy& p)
{
    return fmt::format("{}, {} at once, {}", counted(p.max_attempts, "try", "tries"), p.immediate,
                       line(p.pauses));
}

[[nodiscard]] inline std::string line(const call_policy& p)
{
    if (p.time_limit == duration::highest()) return line(p.retry);
    return fmt::format("{}, within {}", line(p.retry), line(p.time_limit));
}

[[nodiscard]] inline std::string line(const retry_levels& l)
{
    const std::string deliveries =
        l.delayed == retry_levels::unlimited
            ? "unlimited deliveries"
            : counted(saturating_add(l.delayed, 1), "delivery", "deliveries");
    return fmt::format("{} of {} each, {}", deliveries,
                       counted(saturating_add(l.immediate, 1), "try", "tries"), line(l.pauses));
}

[[nodiscard]] inline std::string line(const call_report& r)
{
    if (r.waiting) {
        return fmt::format("{} after {}, waiting until {}", line(r.reason),
                           counted(r.tries, "try", "tries"), line(*r.waiting));
    }
    const std::string took =
        fmt::format("{} in {}", counted(r.tries, "try", "tries"), line(r.elapsed));
    if (r.ok()) return "ok after " + took;
    return fmt::format("given up after {} ({}): {}", took, name(r.outcome), line(r.reason));
}

[[nodiscard]] inline std::string line(const retry_budget& b)
{
    if (b.tokens == retry_budget::uncounted) return "retries not counted";
    std::string said = fmt::format("{}, one more for each {}",
                                   counted(b.tokens, "retry", "retries"),
                                   counted(b.successes, "success", "successes"));
    if (b.refill != duration::highest()) said += " and every " + line(b.refill);
    return said;
}

[[nodiscard]] inline std::string line(const send_policy& p)
{
    std::string said = fmt::format("{}; ", line(p.limit));
    said += p.exact_sizes ? "exact sizes" : "header " + bytes(p.header);
    said += fmt::format(", {} in flight, ", p.in_flight);
    if (p.ordered) said += "ordered by key, ";
    if (p.one_key) said += "one key a batch, ";
    said += fmt::format("linger {}, if too large {}, if unknown {}; {}", line(p.linger),
                        name(p.on_too_large), name(p.on_unknown), line(p.retry));
    if (p.budget != retry_budget{}) said += "; " + line(p.budget);
    return said;
}

[[nodiscard]] inline std::string line(const batch_policy& p)
{
    std::string said = fmt::format("{}, then {}, {} savepoints, reasons of at most {}",
                                   counted(p.tries, "try", "tries"), name(p.on_exhausted),
                                   p.savepoints ? "with" : "without", bytes(p.reason_bytes));
    const batch_policy usual;
    if (p.keeps != usual.keeps) said += fmt::format(", letters keep {}", name(p.keeps));
    if (p.body_bytes != usual.body_bytes) said += ", bodies of at most " + bytes(p.body_bytes);
    if (p.check_commit != usual.check_commit)
        said += fmt::format(", read back {}", name(p.check_commit));
    if (p.ask_from != usual.ask_from) {
        said += ", ask from " + counted(p.ask_from, "event", "events");
    }
    if (!p.attempts) said += ", deaths not counted";
    if (p.deaths != usual.deaths) said += ", " + counted(p.deaths, "death", "deaths");
    return said;
}

}  // namespace waybill::inline v0_2::detail::words

#endif  // WAYBILL_EXT_FMT_REPORT_HPP
