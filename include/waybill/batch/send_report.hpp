// SPDX-License-Identifier: MIT
//
// send_report: how every item ended, and what it took.

#ifndef WAYBILL_BATCH_SEND_REPORT_HPP
#define WAYBILL_BATCH_SEND_REPORT_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <waybill/batch/sending.hpp>
#include <waybill/batch/settlements.hpp>

namespace waybill::inline v0_2 {

/// Consecutive items that ended alike. Numbers count from the first item of the input.
struct item_report {
    run items{};
    item_outcome outcome = item_outcome::accepted;
    fault_class how = fault_class::none;
    std::uint64_t bytes = 0;     ///< Of an item that is too large: its batch of one,
    std::uint64_t limit = 0;     ///< what that was held against,
    std::uint64_t envelope = 0;  ///< and what of it is not the item.
    std::string text{};  ///< What the broker said of the last failure, or why nothing replaced it.

    friend bool operator==(const item_report&, const item_report&) = default;
};

/// One line: which items, how they ended, and for one that is too large its size and the limit.
[[nodiscard]] inline std::string text(const item_report& r)
{
    std::string line = r.items.count == 1 ? "item " : "items ";
    line += std::to_string(r.items.first);
    if (r.items.count > 1) {
        line += " to ";
        line += std::to_string(r.items.end() - 1);
    }
    line += ": ";
    line += name(r.outcome);
    if (r.outcome == item_outcome::too_large) {
        line += ", ";
        line += std::to_string(r.bytes);
        if (r.limit == unlimited) {
            line += " bytes, no limit known, refused by itself";
        } else if (r.bytes > r.limit) {
            line += " bytes where the limit is ";
            line += std::to_string(r.limit);
        } else {
            line += " bytes at least, refused by itself though the limit is said to be ";
            line += std::to_string(r.limit);
        }
        if (r.envelope != 0) {
            line += ", ";
            line += std::to_string(r.envelope);
            line += " of them envelope";
        }
    }
    if (r.outcome == item_outcome::failed) {
        line += ", ";
        line += name(r.how);
    }
    if (!r.text.empty()) {
        line += ": ";
        line += r.text;
    }
    return line;
}

/// What one call of send_all came to. Reports of one input add up with +=.
struct [[nodiscard]] send_report {
    /// Nothing can be sent before then: call again with the same input. Empty when all is settled.
    std::optional<steady_time> waiting{};
    std::vector<item_report> outcomes{};  ///< In the order in which they were settled.
    bool stopped = false;               ///< It was cancelled; items from `taken` on were never read.
    /// This is not the input that the sender is busy with, or it has items that were queued by hand:
    /// nothing was done. Finish the one before you begin the other.
    bool other_input = false;
    std::uint64_t taken = 0;            ///< Items that were read from the input so far.
    std::uint64_t sends = 0;            ///< Requests, whatever came of them.
    std::uint64_t refusals = 0;         ///< Requests that were too large.
    std::uint64_t accepted = 0;         ///< Items that the broker has.
    std::uint64_t not_accepted = 0;     ///< Items that ended otherwise.
    std::uint64_t resent_bytes = 0;     ///< Bytes of requests that were not taken, as estimated.

    /// If an allocation fails, neither report changes.
    send_report& operator+=(send_report&& later)
    {
        detail::make_room(outcomes, later.outcomes.size());
        waiting = later.waiting;
        stopped = later.stopped;
        other_input = later.other_input;
        taken = later.taken;
        for (item_report& r : later.outcomes) add(std::move(r));
        sends += later.sends;
        refusals += later.refusals;
        resent_bytes += later.resent_bytes;
        return *this;
    }

    /// Adds an outcome, merged with the last one if that is adjacent and equal. If an allocation
    /// fails, nothing changes.
    void add(item_report r)
    {
        std::uint64_t& items = r.outcome == item_outcome::accepted ? accepted : not_accepted;
        const std::uint64_t count = r.items.count;
        if (grows(r)) outcomes.back().items.count += count;
        else outcomes.push_back(std::move(r));
        items += count;
    }

    friend bool operator==(const send_report&, const send_report&) = default;

private:
    [[nodiscard]] bool grows(const item_report& r) const
    {
        if (outcomes.empty() || r.outcome == item_outcome::too_large) return false;
        const item_report& last = outcomes.back();
        return last.items.end() == r.items.first && last.outcome == r.outcome &&
               last.how == r.how && last.text == r.text;
    }
};

namespace detail {

/// The notes of send_all about the open input that it has not returned yet. The sender keeps them,
/// so that an exception loses nothing.
struct send_notes {
    send_report report{};
    std::string failure{};       // the text of the last failure
    std::string not_replaced{};  // why the item that is reported next was not replaced

    friend bool operator==(const send_notes&, const send_notes&) = default;
};

}  // namespace detail

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_SEND_REPORT_HPP
