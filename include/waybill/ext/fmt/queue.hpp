// SPDX-License-Identifier: MIT
//
// ext/fmt/queue: settlement, deferred messages, the receive planner and lock renewal as lines.

#ifndef WAYBILL_EXT_FMT_QUEUE_HPP
#define WAYBILL_EXT_FMT_QUEUE_HPP

#include <waybill/ext/fmt/detail/package.hpp>

#include <waybill/ext/fmt/detail/line.hpp>
#include <waybill/ext/fmt/retry.hpp>
#include <waybill/queue/describe.hpp>
#include <waybill/queue/deferred.hpp>
#include <waybill/queue/deferred_messages_bytes.hpp>
#include <waybill/queue/lock_renewal.hpp>
#include <waybill/queue/queue_policy.hpp>
#include <waybill/queue/queue_report.hpp>
#include <waybill/queue/receive_planner.hpp>
#include <waybill/queue/receive_planner_steps.hpp>
#include <waybill/queue/settle.hpp>
#include <waybill/queue/settle_batches.hpp>

namespace waybill::inline v0_2::detail::words {

template <>
struct line_of<dead_letter_message::cause> : enumerator_line {};
template <>
struct line_of<deferred_messages::defer_result> : enumerator_line {};
template <>
struct line_of<deferred_messages::load_error::code> : enumerator_line {};
template <>
struct line_of<deferral_options::hand_out_order> : enumerator_line {};
template <>
struct line_of<let_lock_expire::cause> : enumerator_line {};
template <>
struct line_of<lock_renewal::lock_outcome> : enumerator_line {};
template <>
struct line_of<receive_planner_types::settle_as> : enumerator_line {};
template <>
struct line_of<receive_planner_types::settle_result> : enumerator_line {};
template <>
struct line_of<queue_report::end_reason> : enumerator_line {};
template <>
struct line_of<queue_report::outcome> : enumerator_line {};
template <>
struct line_of<settle_batches_types::settle_outcome> : enumerator_line {};
template <>
struct line_of<settle_batches::settle_kind> : enumerator_line {};
template <>
struct line_of<settle_policy::when_down> : enumerator_line {};

/// "3 of 10", or "3" if `limit` is unlimited.
[[nodiscard]] inline std::string used_of(std::uint64_t used, std::uint64_t limit)
{
    if (limit == unlimited) return number(used);
    return number(used) + " of " + number(limit);
}

/// "item 3", "items 0 to 2, 7" or "no items".
[[nodiscard]] inline std::string numbered_items(const std::vector<std::uint64_t>& all)
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
    template <class T>
    [[nodiscard]] static std::string text(const T& o)
    {
        return fmt::format("{} at once, pause {}, a look every {}; {}", o.max_in_flight,
                           line(o.pause), line(o.poll_interval), line(o.breaker));
    }
};

template <>
struct line_of<lock_renewal::config> {
    template <class T>
    [[nodiscard]] static std::string text(const T& o)
    {
        std::string result = fmt::format("lock {}, renewed at {} left", line(o.lock), o.renew_left);
        if (o.margin != duration{}) result += fmt::format(" or {}", line(o.margin));
        result += ", answer within " + line(o.answer_timeout);
        if (o.max_duration != duration::highest()) result += ", at most " + line(o.max_duration);
        return result + ", " + line(o.pauses);
    }
};

template <>
struct line_of<queue_policy> {
    template <class T>
    [[nodiscard]] static std::string text(const T& p)
    {
        return describe(p);
    }
};

template <>
struct line_of<queue_report> {
    template <class T>
    [[nodiscard]] static std::string text(const T& r)
    {
        return describe(r);
    }
};

template <>
struct line_of<queue_report::delivery> {
    template <class T>
    [[nodiscard]] static std::string text(const T& d)
    {
        return describe(d);
    }
};

template <>
struct line_of<settle_policy> {
    template <class T>
    [[nodiscard]] static std::string text(const T& p)
    {
        std::string result = p.max_deliveries == unlimited
                                 ? "unlimited deliveries"
                                 : counted(p.max_deliveries, "delivery", "deliveries");
        result += fmt::format(", calls of at most {}, on outage {}, ", line(p.to_settle),
                              name(p.on_outage));
        result += p.can_defer ? "defers up to " + line(p.longest_defer) : "cannot defer";
        if (p.can_defer && p.defer_renews) result += " and renews deliveries";
        if (!p.release_counts) result += ", releases not counted";
        return result + "; " + line(p.levels);
    }
};

template <>
struct line_of<settle_batches::config> {
    template <class T>
    [[nodiscard]] static std::string text(const T& p)
    {
        return fmt::format("{} a call, linger {}, calls of at most {}, {}, {}", items(p.items),
                           line(p.linger), line(p.to_settle), counted(p.tries, "try", "tries"),
                           line(p.pauses));
    }
};

template <>
struct line_of<abandon> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return a.failed ? "abandon" : "abandon, not failed";
    }
};

template <>
struct line_of<defer> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return "defer until " + line(a.until);
    }
};

template <>
struct line_of<dead_letter_message> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        if (a.reason == dead_letter_message::cause::permanent)
            return "dead-letter the message: permanent";
        return fmt::format(
            "dead-letter the message: {}, {}, {} {}", name(a.reason), name(a.kind),
            used_of(a.used, a.max_attempts),
            a.reason == dead_letter_message::cause::exhausted ? "tries" : "deliveries");
    }
};

template <>
struct line_of<let_lock_expire> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return fmt::format("leave: {}", name(a.reason));
    }
};

template <>
struct line_of<settle_batches::settle_batch> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return fmt::format("settle batch {}: {} {}", a.call, name(a.kind), numbered_items(a.items));
    }
};

template <>
struct line_of<settle_batches::report> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        std::string result = fmt::format("report item {}: {} {} after {}", a.item, name(a.kind),
                                         name(a.outcome), counted(a.tries, "try", "tries"));
        if (a.fault != fault_kind::none) result += fmt::format(", {}", name(a.fault));
        return result;
    }
};

template <>
struct line_of<lock_renewal::renew> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return fmt::format("renew, attempt {}", a.attempt);
    }
};

template <>
struct line_of<receive_planner_types::take_due_pairs> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return fmt::format("take due: at most {} from number {}",
                           counted(a.max_pairs, "pair", "pairs"), a.first);
    }
};

template <>
struct line_of<receive_planner_types::receive> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return fmt::format("receive: at most {} from number {}",
                           counted(a.max_messages, "message", "messages"), a.first);
    }
};

template <>
struct line_of<receive_planner_types::receive_deferred> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return fmt::format("receive deferred {}", a.work);
    }
};

template <>
struct line_of<receive_planner_types::settle_original> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return fmt::format("settle original {}: {}", a.work, name(a.as));
    }
};

template <>
struct line_of<receive_planner_types::settle_message> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return fmt::format("settle message {}: {}{}", a.work, name(a.as),
                           a.gone ? ", original gone" : "");
    }
};

template <>
struct line_of<settlement> : action_line {};
template <>
struct line_of<settle_batches::action> : action_line {};
template <>
struct line_of<receive_planner::action> : action_line {};
template <>
struct line_of<lock_renewal::action> : action_line {};

}  // namespace waybill::inline v0_2::detail::words

// Full specialisations: only those take precedence over the partial specialisations for variants
// and ranges in the headers of {fmt}.
template <>
struct fmt::formatter<waybill::settlement>
    : waybill::detail::line_formatter<waybill::settlement> {};
template <>
struct fmt::formatter<waybill::settle_batches::action>
    : waybill::detail::line_formatter<waybill::settle_batches::action> {};
template <>
struct fmt::formatter<waybill::receive_planner::action>
    : waybill::detail::line_formatter<waybill::receive_planner::action> {};
template <>
struct fmt::formatter<waybill::lock_renewal::action>
    : waybill::detail::line_formatter<waybill::lock_renewal::action> {};

#endif  // WAYBILL_EXT_FMT_QUEUE_HPP
