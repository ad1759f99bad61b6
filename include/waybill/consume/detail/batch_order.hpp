// SPDX-License-Identifier: MIT
//
// batch_order: the part of a batch that is delivered, if its events are in order.
//
// Both drivers leave out events that took effect earlier. Both refuse a batch whose sequence
// numbers do not ascend, with the same error text.

#ifndef WAYBILL_CONSUME_DETAIL_BATCH_ORDER_HPP
#define WAYBILL_CONSUME_DETAIL_BATCH_ORDER_HPP

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include <waybill/consume/batch_policy.hpp>
#include <waybill/consume/event.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/core/detail/sequence_number.hpp>
#include <waybill/core/fault.hpp>

namespace waybill::inline v0_2::detail {

/// The events to deliver: `events` of them, `first` to `last_event`, both included.
template <class I>
struct ordered_batch {
    I first{};
    I last_event{};
    std::uint64_t events = 0;
    std::uint64_t repeated = 0;  // events up to the given position, before `first`
    std::optional<fault> order_error{};
};

/// Checks that the sequence numbers ascend, and counts the leading events up to `from` as repeated.
/// Reads the range once.
template <std::forward_iterator I, std::sentinel_for<I> S>
[[nodiscard]] ordered_batch<I> ordered_after(const std::optional<position>& from, I first, S last)
{
    ordered_batch<I> b{.first = first, .last_event = first};
    std::optional<std::uint64_t> previous;
    for (I at = first; at != last; ++at) {
        const std::optional<std::uint64_t> n = as_sequence((*at).sequence);
        const bool ascends = n && (!previous || *n > *previous);
        if (!previous && n && from && *n <= from->sequence) {
            ++b.repeated;
            continue;
        }
        if (!ascends) {
            std::string text = "event " + std::to_string(b.repeated + b.events) + " has ";
            text += n ? "sequence " + std::to_string(*n) + ", which must be greater than " +
                            std::to_string(*previous) + " before it"
                      : "a sequence that is negative or has more than 64 bits; it must be from 0 "
                        "to 2^64 - 1";
            b.order_error = permanent(std::move(text));
            return b;
        }
        if (!previous) b.first = at;
        b.last_event = at;
        previous = n;
        ++b.events;
    }
    return b;
}

/// The report of a batch of which no event is delivered.
template <class Report, class I>
[[nodiscard]] Report report_without_delivery(const ordered_batch<I>& b,
                                             const std::optional<position>& from)
{
    Report r;
    r.outcome = b.order_error ? batch_outcome::invalid : batch_outcome::empty;
    r.reached = from;
    r.repeated = b.repeated;
    if (b.order_error) r.reason = *b.order_error;
    return r;
}

/// Finds an event by its number. Forward moves are linear in the distance; a move back starts at
/// the first event.
template <class I>
class batch_cursor {
public:
    explicit batch_cursor(I first) : first_(first), current_iterator_(first) {}

    [[nodiscard]] I operator()(std::uint64_t event)
    {
        if (event < current_event_) {
            current_iterator_ = first_;
            current_event_ = 0;
        }
        for (; current_event_ != event; ++current_event_) ++current_iterator_;
        return current_iterator_;
    }

private:
    I first_;
    I current_iterator_;  // position of `current_event_`
    std::uint64_t current_event_ = 0;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CONSUME_DETAIL_BATCH_ORDER_HPP
