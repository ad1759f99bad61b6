// SPDX-License-Identifier: MIT
//
// batch_order: the part of a batch that is to be delivered, if its events are in order.
//
// Both drivers leave out what took effect earlier and refuse what does not ascend, in these words.

#ifndef WAYBILL_CONSUME_BATCH_ORDER_HPP
#define WAYBILL_CONSUME_BATCH_ORDER_HPP

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include <waybill/consume/batch_policy.hpp>
#include <waybill/consume/event.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/consume/sequence_number.hpp>
#include <waybill/core/fault.hpp>

namespace waybill::inline v0_2::detail {

/// The events from `first` on, of which there are `events` and the last is `final`.
template <class I>
struct ordered_batch {
    I first{};
    I final{};
    std::uint64_t events = 0;
    std::uint64_t repeated = 0;  // before `first`, up to the position that it was made with
    std::optional<fault> wrong{};
};

/// Looks at each event once. Those up to `from` come first, if at all, and are only counted.
template <std::forward_iterator I, std::sentinel_for<I> S>
[[nodiscard]] ordered_batch<I> ordered_after(const std::optional<position>& from, I first, S last)
{
    ordered_batch<I> b{first, first};
    std::optional<std::uint64_t> before;
    for (I at = first; at != last; ++at) {
        const std::optional<std::uint64_t> n = as_sequence((*at).sequence);
        const bool ascends = n && (!before || *n > *before);
        if (!before && n && from && *n <= from->sequence) {
            ++b.repeated;
            continue;
        }
        if (!ascends) {
            std::string text = "event " + std::to_string(b.repeated + b.events) + " has ";
            text += n ? "sequence " + std::to_string(*n) + ", which must be greater than " +
                            std::to_string(*before) + " before it"
                      : "a sequence that is negative or has more than 64 bits; it must be from 0 to 2^64 - 1";
            b.wrong = permanent(std::move(text));
            return b;
        }
        if (!before) b.first = at;
        b.final = at;
        before = n;
        ++b.events;
    }
    return b;
}

/// What is said of a batch of which nothing is delivered.
template <class Report, class I>
[[nodiscard]] Report left_alone(const ordered_batch<I>& b, const std::optional<position>& from)
{
    Report r;
    r.end = b.wrong ? batch_end::invalid : batch_end::empty;
    r.reached = from;
    r.repeated = b.repeated;
    if (b.wrong) r.why = *b.wrong;
    return r;
}

/// An event of a batch by its number; one further on is found by going there.
template <class I>
class batch_cursor {
public:
    explicit batch_cursor(I first) : first_(first), at_(first) {}

    [[nodiscard]] I operator()(std::uint64_t event)
    {
        if (event < number_) {
            at_ = first_;
            number_ = 0;
        }
        for (; number_ != event; ++number_) ++at_;
        return at_;
    }

private:
    I first_;
    I at_;  // event number number_
    std::uint64_t number_ = 0;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CONSUME_BATCH_ORDER_HPP
