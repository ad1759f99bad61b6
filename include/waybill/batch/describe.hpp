// SPDX-License-Identifier: MIT
//
// describe: batches, calibrations, policies, reports, actions and events of the sender as text.

#ifndef WAYBILL_BATCH_DESCRIBE_HPP
#define WAYBILL_BATCH_DESCRIBE_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <waybill/batch/add_result.hpp>
#include <waybill/batch/batch_close_reason.hpp>
#include <waybill/batch/batch_sender.hpp>
#include <waybill/batch/bin_packer.hpp>
#include <waybill/batch/calibration.hpp>
#include <waybill/batch/chunk_by.hpp>
#include <waybill/batch/detail/tally.hpp>
#include <waybill/batch/keyed_batches.hpp>
#include <waybill/batch/open_batch.hpp>
#include <waybill/batch/open_limits.hpp>
#include <waybill/batch/owned_chunks.hpp>
#include <waybill/batch/send_policy.hpp>
#include <waybill/batch/send_report.hpp>
#include <waybill/batch/sending.hpp>
#include <waybill/batch/too_large.hpp>
#include <waybill/core/describe.hpp>
#include <waybill/core/detail/decimal.hpp>
#include <waybill/core/detail/line.hpp>
#include <waybill/retry/describe_policies.hpp>

namespace waybill::inline v0_2::detail::words {

template <>
struct line_of<item_range> {
    static std::string text(const auto& r)
    {
        if (r.count == 0) return "no items";
        return (r.count == 1 ? "item " : "items ") + numbers(r.first, r.count);
    }
};

template <>
struct line_of<batch_sender::item_ranges> {
    static std::string text(const auto& parts)
    {
        if (parts.items() == 0) return "no items";
        std::string result = parts.items() == 1 ? "item " : "items ";
        for (const item_range* r = parts.begin(); r != parts.end(); ++r) {
            if (r != parts.begin()) result += ", ";
            result += numbers(r->first, r->count);
        }
        return result;
    }
};

template <>
struct line_of<open_limits> {
    static std::string text(const auto& l)
    {
        std::string result = l.open == unlimited ? "any number of batches"
                                                 : "at most " + counted(l.open, "batch", "batches");
        result += " open, linger " + line(l.linger);
        if (l.items != unlimited) result += concat(", ", items(l.items), " in all");
        return result;
    }
};

template <>
struct line_of<batch_limits::oversized_item> : described_line {};

/// "2 items, 30 bytes, closed by bytes", or "1 item, 90 bytes, does not fit".
template <class N>
std::string batch(N count, std::uint64_t sum, batch_close_reason reason, bool fits = true)
{
    std::string result = items(count) + ", " + bytes(sum);
    if (!fits) return result + ", does not fit";
    result += ", closed by ";
    result += name(reason);
    return result;
}

template <class I>
struct line_of<chunk<I>> {
    static std::string text(const chunk<I>& c) { return batch(c.count, c.bytes, c.closed, c.fits); }
};

template <class T, class Items>
struct line_of<owned_chunk<T, Items>> {
    static std::string text(const owned_chunk<T, Items>& c)
    {
        return batch(c.size(), c.bytes, c.closed, c.fits);
    }
};

template <class T>
struct line_of<closed_batch<T>> {
    static std::string text(const closed_batch<T>& b)
    {
        return batch(b.items.size(), b.bytes, b.closed);
    }
};

/// Includes the key if it is a text or a number, or has a line.
template <class Key, class T>
struct line_of<keyed_batch<Key, T>> {
    static std::string text(const keyed_batch<Key, T>& b)
    {
        std::string result = batch(b.items.size(), b.bytes, b.closed);
        if constexpr (std::is_convertible_v<Key, std::string_view>)
            return concat("key ", one_line(b.key), ": ", result);
        else if constexpr (std::is_arithmetic_v<Key> || has_line<Key>)
            return concat("key ", b.key, ": ", result);
        else return result;
    }
};

template <>
struct line_of<packed_bins> {
    static std::string text(const auto& p)
    {
        std::uint64_t packed_items = 0;
        for (const auto& b : p.batches) packed_items += b.items.size();
        return concat(items(packed_items), " in ", counted(p.batches.size(), "batch", "batches"),
                      ", ", p.too_large.size(), " too large");
    }
};

template <class T, class F>
struct line_of<open_batch<T, F>> {
    static std::string text(const open_batch<T, F>& b)
    {
        const auto due = b.deadline();
        return concat(items(b.size()), ", ", bytes(b.bytes()), ", open, due ",
                      due ? line(*due) : "when full");
    }
};

/// The line of several open batches.
struct open_batches_line {
    static std::string text(const auto& b)
    {
        const auto due = b.deadline();
        return concat(items(b.items()), ", ", counted(b.open(), "batch", "batches"), " open, due ",
                      due ? line(*due) : "when full");
    }
};
template <class Key, class T, class F>
struct line_of<keyed_batches<Key, T, F>> : open_batches_line {};
template <class T, class F>
struct line_of<bin_packer<T, F>> : open_batches_line {};

template <>
struct line_of<calibration> {
    static std::string text(const auto& c)
    {
        std::string result = "limit " + bytes(c.limit);
        if (c.envelope != 0) result += ", envelope " + bytes(c.envelope);
        result += concat(", header ", decimal(c.items.header, 1), " bytes");
        if (c.items.ratio != 1) result += concat(" and ", decimal(c.items.ratio, 3), " of a body");
        if (c.accepted != 0) result += ", went through " + bytes(c.accepted);
        if (c.refused != unlimited) result += ", refused " + bytes(c.refused);
        return result;
    }
};

template <>
struct line_of<send_policy> {
    static std::string text(const auto& p)
    {
        std::string result = concat(line(p.limit), "; ");
        result += p.exact_sizes ? "exact sizes" : "header " + bytes(p.item_overhead);
        result += concat(", ", p.in_flight, " in flight, ");
        if (p.ordered) result += "ordered by key, ";
        if (p.one_key) result += "one key a batch, ";
        result += concat("linger ", line(p.linger), ", if too large ", name(p.on_too_large),
                         ", if unknown ", name(p.on_unknown), "; ", line(p.retry));
        if (p.budget != retry_budget{}) result += "; " + line(p.budget);
        return result;
    }
};

template <>
struct line_of<batch_sender_types::send> {
    static std::string text(const auto& a)
    {
        return concat("send attempt ", a.attempt, ": ", line(a.items), ", ", bytes(a.bytes),
                      ", closed by ", name(a.closed));
    }
};

template <>
struct line_of<batch_sender_types::report> {
    static std::string text(const auto& a)
    {
        return "report " + describe(detail::as_item_report(a));
    }
};

template <>
struct line_of<batch_sender_types::replace> {
    static std::string text(const auto& a)
    {
        return concat("replace item ", a.item, ": ", bytes(a.bytes), " where the limit is ",
                      bytes(a.limit));
    }
};

template <>
struct line_of<calibration::item_estimate> {
    static std::string text(const auto& a)
    {
        return concat("header ", decimal(a.header, 1), " bytes and ", decimal(a.ratio, 3),
                      " of a body, from ", counted(a.seen, "batch", "batches"));
    }
};

template <>
struct line_of<reserve> {
    static std::string text(const auto& a)
    {
        return concat("reserve of ", bytes(a.batch), " a batch, ", bytes(a.item), " an item");
    }
};

template <>
struct line_of<batch_sender_types::entry_fault> {
    static std::string text(const auto& a)
    {
        using sender = batch_sender_types;
        const std::string answer = match(
            a.answer,
            [](const sender::failed& x) {
                return x.text.empty() ? std::string(name(x.kind))
                                      : concat(x.kind, ": ", one_line(x.text));
            },
            [](const sender::throttled& x) {
                return x.retry_after == duration() ? std::string("throttled")
                                                   : concat("throttled for ", x.retry_after);
            },
            [](const sender::too_large&) { return std::string("too large"); },
            [](const sender::accepted&) { return std::string("accepted"); },
            [](const auto&) { return std::string("outcome unknown"); });
        return concat("entry ", a.index, ": ", answer);
    }
};

template <>
struct line_of<batch_sender_types::input_opened> {
    static std::string text(const auto&) { return "input opened"; }
};

template <>
struct line_of<batch_sender_types::input_closed> {
    static std::string text(const auto&) { return "input closed"; }
};

template <>
struct line_of<batch_sender_types::queued> {
    static std::string text(const auto& a)
    {
        return concat("queued: ", bytes(a.bytes), ", key ", a.key);
    }
};

template <>
struct line_of<batch_sender_types::flushed> {
    static std::string text(const auto&) { return "flushed"; }
};

template <>
struct line_of<batch_sender_types::replaced> {
    static std::string text(const auto& a)
    {
        return concat("replaced: item ", a.item, " by ", bytes(a.bytes));
    }
};

template <>
struct line_of<batch_sender_types::not_replaced> {
    static std::string text(const auto& a) { return concat("not replaced: item ", a.item); }
};

template <>
struct line_of<batch_sender_types::resumed> {
    static std::string text(const auto& a) { return fields("resumed", "key", a.key); }
};

template <>
struct line_of<batch_sender_types::stopped> {
    static std::string text(const auto&) { return "stopped"; }
};

template <>
struct line_of<batch_sender_types::discarded> {
    static std::string text(const auto&) { return "discarded"; }
};

template <>
struct line_of<batch_sender_types::started> {
    static std::string text(const auto& a) { return fields("started", "attempt", a.attempt); }
};

template <>
struct line_of<batch_sender_types::accepted> {
    static std::string text(const auto& a)
    {
        return fields("accepted", "attempt", a.attempt, "actual", a.actual);
    }
};

template <>
struct line_of<batch_sender_types::too_large> {
    static std::string text(const auto& a)
    {
        return fields("too large", "attempt", a.attempt, "actual", a.actual, "limit", a.limit,
                      "item sizes", a.item_sizes);
    }
};

template <>
struct line_of<batch_sender_types::partial> {
    static std::string text(const auto& a)
    {
        return fields("partial", "attempt", a.attempt, "failed", a.failed, "retry after",
                      a.retry_after);
    }
};

template <>
struct line_of<batch_sender_types::throttled> {
    static std::string text(const auto& a)
    {
        return fields("throttled", "attempt", a.attempt, "retry after", a.retry_after);
    }
};

template <>
struct line_of<batch_sender_types::failed> {
    static std::string text(const auto& a)
    {
        return fields("failed", "attempt", a.attempt, "fault", a.kind, "text", a.text);
    }
};

template <>
struct line_of<batch_sender_types::outcome_unknown> {
    static std::string text(const auto& a)
    {
        return fields("outcome unknown", "attempt", a.attempt);
    }
};

template <>
struct line_of<batch_sender_types::reported> {
    static std::string text(const auto& a) { return "reported: " + line(a.items); }
};

}  // namespace waybill::inline v0_2::detail::words

#endif  // WAYBILL_BATCH_DESCRIBE_HPP
