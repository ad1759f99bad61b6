// SPDX-License-Identifier: MIT
//
// batch_order: the part of a batch that is delivered, if its events are in order.
//
// Both drivers leave out events that took effect earlier. Both refuse a batch whose sequence
// numbers do not ascend, with the same error text.

#ifndef WAYBILL_CONSUME_DETAIL_BATCH_ORDER_HPP
#define WAYBILL_CONSUME_DETAIL_BATCH_ORDER_HPP

#include <concepts>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include <waybill/consume/batch_outcome.hpp>
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
};

/// Stores the fault of a batch whose event number `event` has the sequence `n`, after `previous`. A
/// template, so that it costs nothing where it is included and not called.
template <std::same_as<fault> Fault>
void store_order_error(Fault& order_error, std::uint64_t event, std::optional<std::uint64_t> n,
                       std::uint64_t previous)
{
    std::string text = "event " + std::to_string(event) + " has ";
    text += n ? "sequence " + std::to_string(*n) + ", which must be greater than " +
                    std::to_string(previous) + " before it"
              : "a sequence that is negative or has more than 64 bits; it must be from 0 "
                "to 2^64 - 1";
    order_error = permanent(std::move(text));
}

/// Checks that the sequence numbers ascend, and counts the leading events up to `from` as repeated.
/// If they do not ascend, stores a fault in `order_error`. Linear; reads no event more than twice.
template <std::forward_iterator I, std::sentinel_for<I> S>
[[nodiscard]] ordered_batch<I> ordered_after(const std::optional<position>& from, I first, S last,
                                             fault& order_error)
{
    ordered_batch<I> b{.first = first, .last_event = first};
    if (from) {
        for (; b.first != last; ++b.first, ++b.repeated) {
            const std::optional<std::uint64_t> n = as_sequence((*b.first).sequence);
            if (!n || *n > from->sequence) break;
        }
    }
    std::uint64_t previous = 0;
    for (I at = b.first; at != last; ++at) {
        const std::optional<std::uint64_t> n = as_sequence((*at).sequence);
        if (!n || (b.events != 0 && *n <= previous)) {
            store_order_error(order_error, b.repeated + b.events, n, previous);
            break;
        }
        previous = *n;
        b.last_event = at;
        ++b.events;
    }
    return b;
}

/// Completes the report of a batch of which no event is delivered. Its reason is the fault of
/// `ordered_after`.
template <class Report>
void report_no_delivery(Report& r, const std::optional<position>& from)
{
    r.outcome = r.reason.ok() ? batch_outcome::empty : batch_outcome::invalid;
    r.reached = from;
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
