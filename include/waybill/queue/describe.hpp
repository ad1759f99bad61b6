// SPDX-License-Identifier: MIT
//
// describe: settlements, deferred messages, lock renewal and the receive planner as text.

#ifndef WAYBILL_QUEUE_DESCRIBE_HPP
#define WAYBILL_QUEUE_DESCRIBE_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <waybill/core/describe.hpp>
#include <waybill/core/detail/line.hpp>
#include <waybill/queue/deferred.hpp>
#include <waybill/queue/deferred_messages_bytes.hpp>
#include <waybill/queue/lock_renewal.hpp>
#include <waybill/queue/queue_policy.hpp>
#include <waybill/queue/queue_report.hpp>
#include <waybill/queue/receive_planner.hpp>
#include <waybill/queue/receive_planner_steps.hpp>
#include <waybill/queue/relay_report.hpp>
#include <waybill/queue/settle.hpp>
#include <waybill/queue/settle_batches.hpp>
#include <waybill/retry/describe_policies.hpp>

namespace waybill::inline v0_2::detail::words {

/// "3 of 10", or "3" if `limit` is unlimited.
template <class N>
std::string used_of(N used, N limit)
{
    if (limit == unlimited) return number(used);
    return number(used) + " of " + number(limit);
}

/// "item 3", "items 0 to 2, 7" or "no items".
template <class List>
std::string numbered_items(const List& all)
{
    if (all.empty()) return "no items";
    std::string result = all.size() == 1 ? "item " : "items ";
    std::string_view between;
    for (std::size_t i = 0; i != all.size();) {
        const std::uint64_t first = all[i];
        std::uint64_t count = 1;
        for (++i; i != all.size() && all[i] == first + count; ++i) ++count;
        result += between;
        result += numbers(first, count);
        between = ", ";
    }
    return result;
}

template <>
struct line_of<receive_planner::config> {
    static std::string text(const auto& o)
    {
        return concat(o.max_in_flight, " at once, pause ", line(o.pause), ", polls every ",
                      line(o.poll_interval), "; ", line(o.breaker));
    }
};

template <>
struct line_of<lock_renewal::config> {
    static std::string text(const auto& o)
    {
        std::string result = concat("lock ", line(o.lock), ", renewed at ", o.renew_left, " left");
        if (o.margin != duration{}) result += concat(" or ", line(o.margin));
        result += ", answer within " + line(o.answer_timeout);
        if (o.max_duration != duration::highest()) result += ", at most " + line(o.max_duration);
        return result + ", " + line(o.pauses);
    }
};

template <>
struct line_of<settle_policy> {
    static std::string text(const auto& p)
    {
        std::string result = p.max_deliveries == unlimited
                                 ? "unlimited deliveries"
                                 : counted(p.max_deliveries, "delivery", "deliveries");
        result += concat(", calls of at most ", line(p.to_settle), ", on outage ",
                         name(p.on_outage), ", ");
        result += p.can_defer ? "defers up to " + line(p.longest_defer) : "cannot defer";
        if (p.can_defer && p.defer_renews) result += " and renews deliveries";
        if (!p.release_counts) result += ", releases not counted";
        return result + "; " + line(p.levels);
    }
};

template <>
struct line_of<settle_batches::config> {
    static std::string text(const auto& p)
    {
        return concat(items(p.items), " a call, linger ", line(p.linger), ", calls of at most ",
                      line(p.to_settle), ", ", tries(p.tries), ", ", line(p.pauses));
    }
};

template <>
struct line_of<abandon> {
    static std::string text(const auto& a) { return a.failed ? "abandon" : "abandon, not failed"; }
};

template <>
struct line_of<defer> {
    static std::string text(const auto& a) { return "defer for " + line(a.delay); }
};

template <>
struct line_of<dead_letter_message> {
    static std::string text(const auto& a)
    {
        if (a.reason == dead_letter_message::cause::permanent)
            return "dead-letter the message: permanent";
        return concat(
            "dead-letter the message: ", name(a.reason), ", ",
            a.reason == dead_letter_message::cause::crashes ? "" : concat(name(a.kind), ", "),
            used_of(a.used, a.max_attempts), " ",
            a.reason == dead_letter_message::cause::exhausted ? "tries" : "deliveries");
    }
};

template <>
struct line_of<let_lock_expire> {
    static std::string text(const auto& a)
    {
        return concat("let the lock expire: ", name(a.reason));
    }
};

template <>
struct line_of<settle_batches::settle_batch> {
    static std::string text(const auto& a)
    {
        return concat("settle batch ", a.call, ": ", name(a.kind), " ", numbered_items(a.items));
    }
};

template <>
struct line_of<settle_batches::report> {
    static std::string text(const auto& a)
    {
        std::string result = concat("report item ", a.item, ": ", name(a.kind), " ",
                                    name(a.outcome), " after ", tries(a.tries));
        if (a.fault != fault_kind::none) result += concat(", ", name(a.fault));
        return result;
    }
};

template <>
struct line_of<lock_renewal::renew> {
    static std::string text(const auto& a) { return concat("renew, attempt ", a.attempt); }
};

template <>
struct line_of<receive_planner_types::take_due_pairs> {
    static std::string text(const auto& a)
    {
        return concat("take due: at most ", counted(a.max_pairs, "pair", "pairs"), " from number ",
                      a.first);
    }
};

template <>
struct line_of<receive_planner_types::receive> {
    static std::string text(const auto& a)
    {
        return concat("receive: at most ", counted(a.max_messages, "message", "messages"),
                      " from number ", a.first);
    }
};

template <>
struct line_of<receive_planner_types::receive_deferred> {
    static std::string text(const auto& a) { return concat("receive deferred ", a.work); }
};

template <>
struct line_of<receive_planner_types::settle_original> {
    static std::string text(const auto& a)
    {
        return concat("settle original ", a.work, ": ", name(a.as));
    }
};

template <>
struct line_of<receive_planner_types::settle_message> {
    static std::string text(const auto& a)
    {
        return concat("settle message ", a.work, ": ", name(a.as), a.gone ? ", original gone" : "");
    }
};

template <>
struct line_of<deferred> {
    static std::string text(const auto& a)
    {
        return fields(concat("message ", a.sequence), "due", a.due, "attempts", a.attempts,
                      "session", a.session, "id", a.id, "deferred since", a.since);
    }
};

template <>
struct line_of<deferral_options> {
    static std::string text(const auto& a)
    {
        const std::string limit = a.max_messages == unlimited
                                      ? "any number of messages"
                                      : "at most " + counted(a.max_messages, "message", "messages");
        return concat(limit, ", in hand for at most ", a.hold,
                      a.session_order ? ", sessions in order" : "");
    }
};

template <>
struct line_of<deferred_messages::load_error> : described_line {};

template <>
struct line_of<deferred_messages::taken> {
    static std::string text(const auto& a)
    {
        return concat(a.entry, ", ticket ", a.ticket, a.redelivered ? ", redelivered" : "");
    }
};

template <>
struct line_of<lock_renewal_types::lock_taken> {
    static std::string text(const auto& a) { return fields("lock taken", "lasts", a.lasts); }
};

template <>
struct line_of<lock_renewal_types::renewal_started> {
    static std::string text(const auto& a)
    {
        return fields("renewal started", "attempt", a.attempt);
    }
};

template <>
struct line_of<lock_renewal_types::lock_renewed> {
    static std::string text(const auto& a)
    {
        return fields("lock renewed", "attempt", a.attempt, "lasts", a.lasts);
    }
};

template <>
struct line_of<lock_renewal_types::renewal_failed> {
    static std::string text(const auto& a)
    {
        return fields("renewal failed", "attempt", a.attempt, "fault", a.kind, "hint", a.hint);
    }
};

template <>
struct line_of<lock_renewal_types::lock_released> {
    static std::string text(const auto&) { return "lock released"; }
};

template <>
struct line_of<receive_planner_types::pairs_taken> {
    static std::string text(const auto& a)
    {
        return fields(concat("taken: ", counted(a.pairs, "pair", "pairs")), "next", a.next, "fault",
                      a.kind);
    }
};

template <>
struct line_of<receive_planner_types::messages_received> {
    static std::string text(const auto& a)
    {
        return fields(concat("received: ", counted(a.messages, "message", "messages")), "fault",
                      a.kind);
    }
};

template <>
struct line_of<receive_planner_types::original_fetched> {
    static std::string text(const auto& a)
    {
        return fields("original fetched", "message", a.work, "result", a.result, "redelivered",
                      a.redelivered);
    }
};

template <>
struct line_of<receive_planner_types::work_done> {
    static std::string text(const auto& a)
    {
        return fields("work done", "message", a.work, "fault", a.kind, "deferred", a.deferred);
    }
};

template <>
struct line_of<receive_planner_types::original_settled> {
    static std::string text(const auto& a)
    {
        return fields("original settled", "message", a.work, "result", a.result);
    }
};

template <>
struct line_of<receive_planner_types::message_settled> {
    static std::string text(const auto& a)
    {
        return fields("message settled", "message", a.work, "result", a.result);
    }
};

template <>
struct line_of<receive_planner_types::pair_scheduled> {
    static std::string text(const auto& a) { return fields("pair scheduled", "due", a.due); }
};

template <>
struct line_of<settle_batches_types::decided> {
    static std::string text(const auto& a)
    {
        return fields(concat("decided: ", a.kind), "lock left", a.lock_left);
    }
};

template <>
struct line_of<settle_batches_types::last_decided> {
    static std::string text(const auto&) { return "last decided"; }
};

template <>
struct line_of<settle_batches_types::batch_started> {
    static std::string text(const auto& a)
    {
        return fields("batch started", "call", a.call, "items", a.items);
    }
};

template <>
struct line_of<settle_batches_types::not_settled> {
    static std::string text(const auto& a)
    {
        return fields("not settled", "index", a.index, "fault", a.kind);
    }
};

template <>
struct line_of<settle_batches_types::batch_settled> {
    static std::string text(const auto& a)
    {
        return fields("batch settled", "call", a.call, "items", a.items, "fault", a.kind, "failed",
                      a.failed);
    }
};

template <>
struct line_of<settle_batches_types::reported> {
    static std::string text(const auto& a) { return fields("reported", "item", a.item); }
};

template <>
struct line_of<queue_delivery> {
    static std::string text(const auto& a)
    {
        return fields(concat("delivery ", a.count), "tries", a.tries, "lock left", a.lock_left,
                      "of an outage", a.outage_deliveries);
    }
};

template <>
struct line_of<settle_policy::check> : described_line {};

template <>
struct line_of<queue_policy::scheduled_copy> {
    static std::string text(const auto& c)
    {
        return concat("copy ", one_line(c.id), " of ", one_line(c.original_id), " in ", c.delay,
                      ", ", tries(c.tries));
    }
};

template <>
struct line_of<relay_report::policy> {
    static std::string text(const auto& p)
    {
        return concat("claims of at most ", counted(p.max_rows, "row", "rows"), " for ", p.lease,
                      ", pause ", p.poll_interval,
                      p.drain ? ", until none is left" : ", until a stop",
                      p.dead_row_blocks_key ? ", dead rows block their keys" : "");
    }
};

}  // namespace waybill::inline v0_2::detail::words

#endif  // WAYBILL_QUEUE_DESCRIBE_HPP
