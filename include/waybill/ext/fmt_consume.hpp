// SPDX-License-Identifier: MIT
//
// ext/fmt_consume: reports of consumers, values of the tracker, and actions for checkpoints and
// settlement as lines.

#ifndef WAYBILL_EXT_FMT_CONSUME_HPP
#define WAYBILL_EXT_FMT_CONSUME_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <waybill/batch/sending.hpp>
#include <waybill/consume/at_least_once.hpp>
#include <waybill/consume/crash_record.hpp>
#include <waybill/consume/process_at_least_once.hpp>
#include <waybill/consume/reprocess.hpp>
#include <waybill/consume/rewind.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/ext/fmt_line.hpp>
#include <waybill/queue/settle.hpp>
#include <waybill/queue/settle_batches.hpp>
#include <waybill/tracking/commit_schedule.hpp>
#include <waybill/tracking/tracker_bytes.hpp>
#include <waybill/tracking/tracker_options.hpp>

namespace waybill::inline v0_2::detail::words {

[[nodiscard]] inline std::string events(std::uint64_t n) { return counted(n, "event", "events"); }

/// "3 of 10", or "3" if `most` is unlimited.
[[nodiscard]] inline std::string used_of(std::uint64_t used, std::uint64_t most)
{
    if (most == unlimited) return fmt::format("{}", used);
    return fmt::format("{} of {}", used, most);
}

[[nodiscard]] inline std::string line(const crash_record& a)
{
    const std::string from = a.from ? fmt::format("after {}", *a.from) : "from the beginning";
    std::string said = fmt::format("{} {} up to {}, {}, ", events(a.suspects), from, a.to,
                                   counted(a.deaths, "death", "deaths"));
    if (a.by != 0) said += fmt::format("by {} of ", a.by);
    said += fmt::format("epoch {}", a.epoch);
    return said;
}

[[nodiscard]] inline std::string line(const at_least_once_report& r)
{
    std::string said(name(r.outcome));
    if (r.reached) said += " at " + line(*r.reached);
    const bool some =
        r.outcome == batch_outcome::committed || r.handled != 0 || r.dead_lettered != 0;
    if (some) said += fmt::format(": {} handled, {} dead-lettered", r.handled, r.dead_lettered);
    if (!r.reason.ok()) said += (some ? "; " : ": ") + line(r.reason);
    if (r.dropped != 0) said += fmt::format("; {} dropped", r.dropped);
    if (r.skipped != 0) said += fmt::format("; {} skipped", r.skipped);
    if (r.repeated != 0) said += fmt::format("; {} repeated", r.repeated);
    if (r.uncovered != 0) said += fmt::format("; {} uncovered", r.uncovered);
    return said;
}

[[nodiscard]] inline std::string line(const rewind_report& r)
{
    std::string said = fmt::format("{}: {}", name(r.outcome), line(r.mine));
    if (!r.reason.ok()) said += "; " + line(r.reason);
    return said;
}

[[nodiscard]] inline std::string line(const reprocess_report& r)
{
    if (r.reason.ok()) return std::string(name(r.outcome));
    return fmt::format("{}: {}", name(r.outcome), line(r.reason));
}

[[nodiscard]] inline std::string line(const tracked_event& t)
{
    return fmt::format("event {}, generation {}", t.sequence, t.generation);
}

[[nodiscard]] inline std::string line(const blocked& b)
{
    return fmt::format("event {} holds back {}", b.sequence, events(b.waiting));
}

[[nodiscard]] inline std::string line(const encoded_done& e)
{
    return fmt::format("{}: {} in {}, {} dropped", name(e.outcome), events(e.kept),
                       bytes(e.bytes.size()), e.dropped);
}

[[nodiscard]] inline std::string line(const at_least_once_machine::commit_to& a)
{
    return fmt::format("commit to event {}", a.event);
}
[[nodiscard]] inline std::string line(const commit_schedule::commit_position& a)
{
    return fmt::format("commit position: {}", name(a.reason));
}

[[nodiscard]] inline std::string line(const complete&)
{
    return "complete";
}
[[nodiscard]] inline std::string line(const abandon& a)
{
    return a.failed ? "abandon" : "abandon, not failed";
}
[[nodiscard]] inline std::string line(const defer& a)
{
    return "defer until " + line(a.until);
}
[[nodiscard]] inline std::string line(const dead_letter_message& a)
{
    if (a.reason == dead_letter_message::cause::permanent) return "dead_letter message: permanent";
    return fmt::format("dead_letter message: {}, {}, {} {}", name(a.reason), name(a.kind),
                       used_of(a.used, a.max_attempts),
                       a.reason == dead_letter_message::cause::exhausted ? "tries" : "deliveries");
}
[[nodiscard]] inline std::string line(const let_lock_expire& a)
{
    return fmt::format("leave: {}", name(a.reason));
}

/// "item 3" or "items 0 to 2, 7".
[[nodiscard]] inline std::string numbered_items(const std::vector<std::uint64_t>& all)
{
    if (all.empty()) return "no items";
    std::string said = all.size() == 1 ? "item " : "items ";
    std::string_view between;
    for (std::size_t i = 0; i != all.size();) {
        item_range r{all[i], 1};
        for (++i; i != all.size() && all[i] == r.end(); ++i) ++r.count;
        said += fmt::format("{}{}", between, numbers(r));
        between = ", ";
    }
    return said;
}

[[nodiscard]] inline std::string line(const settle_batches::settle_batch& a)
{
    return fmt::format("settle batch {}: {} {}", a.call, name(a.kind), numbered_items(a.items));
}
[[nodiscard]] inline std::string line(const settle_batches::report& a)
{
    std::string said = fmt::format("report item {}: {} {} after {}", a.item, name(a.kind),
                                   name(a.outcome), counted(a.tries, "try", "tries"));
    if (a.fault != fault_kind::none) said += fmt::format(", {}", name(a.fault));
    return said;
}

}  // namespace waybill::inline v0_2::detail::words

#endif  // WAYBILL_EXT_FMT_CONSUME_HPP
