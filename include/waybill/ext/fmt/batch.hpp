// SPDX-License-Identifier: MIT
//
// ext/fmt/batch: batches, calibrations, policies, reports and actions of the batch sender as lines.

#ifndef WAYBILL_EXT_FMT_BATCH_HPP
#define WAYBILL_EXT_FMT_BATCH_HPP

#include <cstdint>
#include <string>

#include <waybill/ext/fmt/detail/package.hpp>

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
#include <waybill/ext/fmt/core.hpp>
#include <waybill/ext/fmt/detail/line.hpp>
#include <waybill/ext/fmt/retry.hpp>

namespace waybill::inline v0_2::detail::words {

template <>
struct line_of<add_result> : enumerator_line {};
template <>
struct line_of<batch_close_reason> : enumerator_line {};
template <>
struct line_of<calibration::broker_reports> : enumerator_line {
};
template <>
struct line_of<item_outcome> : enumerator_line {};
template <>
struct line_of<send_policy::when_too_large> : enumerator_line {};
template <>
struct line_of<send_policy::when_unknown> : enumerator_line {};

template <>
struct line_of<item_range> {
    template <class T>
    [[nodiscard]] static std::string text(const T& r)
    {
        if (r.count == 0) return "no items";
        return (r.count == 1 ? "item " : "items ") + numbers(r.first, r.count);
    }
};

template <>
struct line_of<item_ranges> {
    template <class T>
    [[nodiscard]] static std::string text(const T& parts)
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
    template <class T>
    [[nodiscard]] static std::string text(const T& l)
    {
        std::string result = l.open == unlimited ? "any number of batches"
                                                 : "at most " + counted(l.open, "batch", "batches");
        result += " open, linger " + line(l.linger);
        if (l.items != unlimited) result += fmt::format(", {} in all", items(l.items));
        return result;
    }
};

template <>
struct line_of<oversized_item> {
    template <class T>
    [[nodiscard]] static std::string text(const T& o)
    {
        return describe(o);
    }
};

/// "2 items, 30 bytes, closed by bytes", or "1 item, 90 bytes, does not fit".
[[nodiscard]] inline std::string batch(std::uint64_t count, std::uint64_t sum,
                                       batch_close_reason reason, bool fits = true)
{
    std::string result = items(count) + ", " + bytes(sum);
    if (!fits) return result + ", does not fit";
    result += ", closed by ";
    result += name(reason);
    return result;
}

template <class I>
struct line_of<chunk<I>> {
    [[nodiscard]] static std::string text(const chunk<I>& c)
    {
        return batch(c.count, c.bytes, c.closed, c.fits);
    }
};

template <class T, class Items>
struct line_of<owned_chunk<T, Items>> {
    [[nodiscard]] static std::string text(const owned_chunk<T, Items>& c)
    {
        return batch(c.size(), c.bytes, c.closed, c.fits);
    }
};

template <class T>
struct line_of<closed_batch<T>> {
    [[nodiscard]] static std::string text(const closed_batch<T>& b)
    {
        return batch(b.items.size(), b.bytes, b.closed);
    }
};

/// Includes the key if {fmt} can format it.
template <class Key, class T>
struct line_of<keyed_batch<Key, T>> {
    [[nodiscard]] static std::string text(const keyed_batch<Key, T>& b)
    {
        const std::string result = batch(b.items.size(), b.bytes, b.closed);
        if constexpr (!fmt::is_formattable<Key>::value)
            return result;
        else
            return fmt::format("key {}: {}", one_line(fmt::format("{}", b.key)), result);
    }
};

template <>
struct line_of<packed_bins> {
    template <class T>
    [[nodiscard]] static std::string text(const T& p)
    {
        std::uint64_t packed_items = 0;
        for (const auto& b : p.batches) packed_items += b.items.size();
        return fmt::format("{} in {}, {} too large", items(packed_items),
                           counted(p.batches.size(), "batch", "batches"), p.too_large.size());
    }
};

template <class T, class F>
struct line_of<open_batch<T, F>> {
    [[nodiscard]] static std::string text(const open_batch<T, F>& b)
    {
        const auto due = b.deadline();
        return fmt::format("{}, {}, open, due {}", items(b.size()), bytes(b.bytes()),
                           due ? line(*due) : "when full");
    }
};

/// The line of several open batches.
struct open_batches_line {
    template <class T>
    [[nodiscard]] static std::string text(const T& b)
    {
        const auto due = b.deadline();
        return fmt::format("{}, {} open, due {}", items(b.items()),
                           counted(b.open(), "batch", "batches"), due ? line(*due) : "when full");
    }
};
template <class Key, class T, class F>
struct line_of<keyed_batches<Key, T, F>> : open_batches_line {};
template <class T, class F>
struct line_of<bin_packer<T, F>> : open_batches_line {};

template <>
struct line_of<item_report> {
    template <class T>
    [[nodiscard]] static std::string text(const T& r)
    {
        return one_line(describe(r));
    }
};

template <>
struct line_of<send_report> {
    template <class T>
    [[nodiscard]] static std::string text(const T& r)
    {
        std::string result = fmt::format("sent {}, {} refused; {} accepted, {} not",
                                         counted(r.sends, "request", "requests"), r.refusals,
                                         r.accepted, r.not_accepted);
        if (r.maybe_twice != 0) result += fmt::format("; {} maybe twice", items(r.maybe_twice));
        if (r.unaccepted_bytes != 0)
            result += fmt::format("; {} sent in vain", bytes(r.unaccepted_bytes));
        if (r.stopped) result += fmt::format("; stopped after reading {}", items(r.taken));
        if (r.waiting) result += "; waiting until " + line(*r.waiting);
        return result;
    }
};

template <>
struct line_of<calibration> {
    template <class T>
    [[nodiscard]] static std::string text(const T& c)
    {
        std::string result = "limit " + bytes(c.limit);
        if (c.envelope != 0) result += ", envelope " + bytes(c.envelope);
        result += fmt::format(", header {:.1f} bytes", c.items.header);
        if (c.items.ratio != 1) result += fmt::format(" and {:.3f} of a body", c.items.ratio);
        if (c.accepted != 0) result += ", went through " + bytes(c.accepted);
        if (c.refused != unlimited) result += ", refused " + bytes(c.refused);
        return result;
    }
};

template <>
struct line_of<send_policy> {
    template <class T>
    [[nodiscard]] static std::string text(const T& p)
    {
        std::string result = fmt::format("{}; ", line(p.limit));
        result += p.exact_sizes ? "exact sizes" : "header " + bytes(p.item_overhead);
        result += fmt::format(", {} in flight, ", p.in_flight);
        if (p.ordered) result += "ordered by key, ";
        if (p.one_key) result += "one key a batch, ";
        result += fmt::format("linger {}, if too large {}, if unknown {}; {}", line(p.linger),
                              name(p.on_too_large), name(p.on_unknown), line(p.retry));
        if (p.budget != retry_budget{}) result += "; " + line(p.budget);
        return result;
    }
};

template <>
struct line_of<batch_sender_types::send> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return fmt::format("send attempt {}: {}, {}, closed by {}", a.attempt, line(a.items),
                           bytes(a.bytes), name(a.closed));
    }
};

template <>
struct line_of<batch_sender_types::report> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return "settle " + describe(item_report{.items = a.items,
                                                .outcome = a.outcome,
                                                .kind = a.kind,
                                                .bytes = a.bytes,
                                                .limit = a.limit,
                                                .envelope = a.envelope});
    }
};

template <>
struct line_of<batch_sender_types::replace> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return fmt::format("replace item {}: {} where the limit is {}", a.item, bytes(a.bytes),
                           bytes(a.limit));
    }
};

template <>
struct line_of<batch_sender::action> : action_line {};

}  // namespace waybill::inline v0_2::detail::words

// Full specialisations: only those take precedence over the partial specialisations for variants
// and ranges in the headers of {fmt}.
template <>
struct fmt::formatter<waybill::batch_sender::action>
    : waybill::detail::line_formatter<waybill::batch_sender::action> {};
template <>
struct fmt::formatter<waybill::item_ranges>
    : waybill::detail::line_formatter<waybill::item_ranges> {};

// Chunks are ranges, but are formatted as one line, not element by element.
FMT_BEGIN_NAMESPACE
template <class T, class Char>
struct is_range;
template <class I, class Char>
struct is_range<waybill::chunk<I>, Char> {
    static constexpr bool value = false;
};
template <class T, class Items, class Char>
struct is_range<waybill::owned_chunk<T, Items>, Char> {
    static constexpr bool value = false;
};
FMT_END_NAMESPACE

#endif  // WAYBILL_EXT_FMT_BATCH_HPP
