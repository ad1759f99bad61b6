// SPDX-License-Identifier: MIT
//
// send_report: the outcome of every item, and the cost of sending.

#ifndef WAYBILL_BATCH_SEND_REPORT_HPP
#define WAYBILL_BATCH_SEND_REPORT_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <waybill/batch/detail/settlements.hpp>
#include <waybill/batch/sending.hpp>
#include <waybill/core/describe.hpp>
#include <waybill/core/detail/line.hpp>
#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2 {

/// Consecutive items with the same outcome. Numbers count from the first item of the input.
struct item_report {
    item_range items{};
    item_outcome outcome = item_outcome::accepted;
    fault_kind kind = fault_kind::none;
    /// If too large: its size in a batch of its own, or without the envelope if `limits.single`
    /// applies.
    std::uint64_t bytes = 0;
    /// If too large: the limit for `bytes`; `unlimited` if no limit is known.
    std::uint64_t limit = 0;
    /// If too large: the bytes of a batch's envelope.
    std::uint64_t envelope = 0;
    /// The broker's text about the last failure, or the reason why the item was not replaced.
    std::string text{};
    /// They have arrived before an earlier item of their key, or may have.
    bool overtook = false;

    friend bool operator==(const item_report&, const item_report&) = default;
};

/// One line: the items, their outcome by its name in C++, and for an item that is too large its
/// size and the limit.
template <std::same_as<item_report> T>
[[nodiscard]] std::string describe(const T& r)
{
    std::string line = r.items.count == 1 ? "item " : "items ";
    line += std::to_string(r.items.first);
    if (r.items.count > 1) {
        line += " to ";
        line += std::to_string(r.items.end() - 1);
    }
    line += ": ";
    line += r.outcome == item_outcome::in_doubt         ? "in_doubt"
            : r.outcome == item_outcome::blocked_by_key ? "blocked_by_key"
                                                        : name(r.outcome);
    if (r.outcome == item_outcome::too_large) {
        line += ", ";
        line += std::to_string(r.bytes);
        if (r.limit == unlimited) {
            line += " bytes, refused alone, limit unknown";
        } else if (r.bytes > r.limit) {
            line += " bytes where the limit is ";
            line += std::to_string(r.limit);
        } else {
            line += " bytes at least, refused alone although the reported limit is ";
            line += std::to_string(r.limit);
        }
        if (r.envelope != 0) {
            line += ", ";
            line += std::to_string(r.envelope);
            line += " of them envelope";
        }
    }
    if (r.overtook) line += ", before an earlier item of the key";
    if (r.outcome == item_outcome::failed) {
        line += ", ";
        line += name(r.kind);
    }
    if (!r.text.empty()) {
        line += ": ";
        line += r.text;
    }
    return line;
}

namespace detail {

/// The same outcome with a copy of its text.
[[nodiscard]] inline item_report as_item_report(const batch_sender_types::report& r)
{
    return {.items = r.items,
            .outcome = r.outcome,
            .kind = r.kind,
            .bytes = r.bytes,
            .limit = r.limit,
            .envelope = r.envelope,
            .text = std::string(r.text),
            .overtook = r.overtook};
}

}  // namespace detail

/// The result of one call of send_all. Reports for one input add up with +=. Counts saturate.
struct [[nodiscard]] send_report {
    /// If items are left: the time for the next call with the same input. The call ended at a stop
    /// request or time limit, or it never sleeps. Empty if all is settled.
    std::optional<steady_time> waiting{};
    /// In the order in which items were settled.
    std::vector<item_report> outcomes{};
    /// The sender was stopped; items from `taken` on were never read.
    bool stopped = false;
    /// Nothing was done. The sender is busy with another input, or has open items that were queued
    /// without an input. Finish these first.
    bool other_input = false;
    /// Items read from the input so far, in all calls.
    std::uint64_t taken = 0;
    /// Requests, with any result.
    std::uint64_t sends = 0;
    /// Requests that were refused as too large.
    std::uint64_t refusals = 0;
    /// Requests that the broker throttled.
    std::uint64_t throttled = 0;
    /// Items that the broker accepted.
    std::uint64_t accepted = 0;
    /// Items with another outcome.
    std::uint64_t not_accepted = 0;
    /// Items that were sent again after an unknown outcome, each counted once. They may have
    /// arrived twice or more often, unless the broker drops duplicates. `send_all` counts them.
    std::uint64_t maybe_twice = 0;
    /// Items that have arrived before an earlier item of their key, or may have: see
    /// `send_policy::may_overtake`.
    std::uint64_t overtook = 0;
    /// Estimated bytes of requests of which nothing was accepted, or whose outcome is unknown. This
    /// includes throttled and failed requests. `send_all` counts it; a `batch_sender` alone counts
    /// no bytes.
    std::uint64_t unaccepted_bytes = 0;

    /// Adds the report of a later call. If an allocation fails, neither report changes.
    send_report& operator+=(send_report&& later)
    {
        detail::make_room(outcomes, later.outcomes.size());
        waiting = later.waiting;
        stopped = later.stopped;
        other_input = later.other_input;
        taken = later.taken;
        for (item_report& r : later.outcomes) add(std::move(r));
        sends = detail::saturating_add(sends, later.sends);
        refusals = detail::saturating_add(refusals, later.refusals);
        throttled = detail::saturating_add(throttled, later.throttled);
        maybe_twice = detail::saturating_add(maybe_twice, later.maybe_twice);
        unaccepted_bytes = detail::saturating_add(unaccepted_bytes, later.unaccepted_bytes);
        return *this;
    }

    /// Adds an outcome. Merges it with the last one if that is adjacent and equal. If an allocation
    /// fails, nothing changes.
    void add(item_report r)
    {
        std::uint64_t& total = r.outcome == item_outcome::accepted ? accepted : not_accepted;
        const std::uint64_t count = r.items.count;
        const bool overtaking = r.overtook;
        if (extends_last(r)) outcomes.back().items.count += count;
        else outcomes.push_back(std::move(r));
        total = detail::saturating_add(total, count);
        if (overtaking) overtook = detail::saturating_add(overtook, count);
    }

    friend bool operator==(const send_report&, const send_report&) = default;

private:
    [[nodiscard]] bool extends_last(const item_report& r) const
    {
        if (outcomes.empty() || r.outcome == item_outcome::too_large) return false;
        const item_report& last = outcomes.back();
        return last.items.end() == r.items.first && last.outcome == r.outcome &&
               last.kind == r.kind && last.overtook == r.overtook && last.text == r.text;
    }
};

namespace detail {

/// The data of send_all about the open input: a report that no call has returned yet, and texts for
/// it. The sender stores them, so that an exception loses nothing.
struct open_report {
    send_report report{};
    std::string not_replaced{};  // why the item that is reported next was not replaced

    friend bool operator==(const open_report&, const open_report&) = default;
};

}  // namespace detail

}  // namespace waybill::inline v0_2

namespace waybill::inline v0_2::detail::words {

template <>
struct line_of<item_report> : described_line {};

template <>
struct line_of<send_report> {
    static std::string text(const auto& r)
    {
        std::string result = concat("sent ", counted(r.sends, "request", "requests"), ", ",
                                    r.refusals, " too large");
        if (r.throttled != 0) result += concat(", ", r.throttled, " throttled");
        result += concat("; ", r.accepted, " accepted, ", r.not_accepted, " not");
        if (r.maybe_twice != 0) result += concat("; ", items(r.maybe_twice), " maybe twice");
        if (r.overtook != 0) result += concat("; ", items(r.overtook), " out of order");
        if (r.unaccepted_bytes != 0)
            result += concat("; ", bytes(r.unaccepted_bytes), " sent without effect");
        if (r.stopped) result += concat("; stopped after reading ", items(r.taken));
        if (r.waiting)
            result += concat("; not finished, ", items(r.taken), " read: a further call continues");
        return result;
    }
};

}  // namespace waybill::inline v0_2::detail::words

#endif  // WAYBILL_BATCH_SEND_REPORT_HPP
