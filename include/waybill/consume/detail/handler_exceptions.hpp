// SPDX-License-Identifier: MIT
//
// handler_exceptions: finds the event whose handler throws, for drivers without a crash record.
//
// The driver catches no exceptions. A destructor counts each exception of a handler in
// `assignment::last`, which the caller keeps between deliveries. After `most` consecutive
// deliveries that ended with an exception, the batch is cut after the event whose handler threw
// last. That event fails permanently, and its handler is not called again. Without the cut, the
// handler of a later event could throw before the batch commits.
//
// A driver whose store keeps crash records passes 0 for `most`.

#ifndef WAYBILL_CONSUME_DETAIL_HANDLER_EXCEPTIONS_HPP
#define WAYBILL_CONSUME_DETAIL_HANDLER_EXCEPTIONS_HPP

#include <cstdint>
#include <optional>
#include <string>

#include <waybill/consume/detail/batch_order.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/core/fault.hpp>

namespace waybill::inline v0_2::detail {

class handler_exceptions {
public:
    /// Starts a delivery of `b`. If `most` consecutive deliveries have ended with an exception, `b`
    /// is cut after the event whose handler threw last. If `most` is 0, the batch is never cut.
    /// Linear in the events of `b` if it may be cut, otherwise constant.
    template <class I>
    handler_exceptions(const assignment& mine, std::uint32_t most, ordered_batch<I>& b)
        : memory_(mine.last), returned_before_(memory_.returned)
    {
        memory_.returned = false;
        if (most == 0 || memory_.exceptions < most) return;
        I at = b.first;
        for (std::uint64_t n = 0; n != b.events; ++n, ++at) {
            if (static_cast<std::uint64_t>((*at).sequence) != memory_.event) continue;
            found_ = memory_.event;
            left_ = b.events - n - 1;
            b.final = at;
            b.events = n + 1;
            return;
        }
        // The event is no longer in the log. Its count must not apply to other events.
        memory_.exceptions = 0;
    }

    /// True if the last delivery that wrote a crash record returned a report, and no delivery after
    /// it ended with an exception.
    [[nodiscard]] bool returned_before() const noexcept { return returned_before_; }
    /// The number of events removed from the end of the batch.
    [[nodiscard]] std::uint64_t left() const noexcept { return left_; }
    /// True if the handler must not be called for this event again.
    [[nodiscard]] bool found(std::uint64_t sequence) const noexcept { return found_ == sequence; }
    /// The number of consecutive deliveries that ended with an exception.
    [[nodiscard]] std::uint32_t tries() const noexcept { return memory_.exceptions; }
    [[nodiscard]] fault reason() const
    {
        return permanent(std::to_string(tries()) +
                         " deliveries in a row ended in an exception, the last in its handler");
    }

    /// Returns the result of `call` for the event `sequence`. Counts an exception that leaves
    /// `call`.
    template <class Call>
    auto during(std::uint64_t sequence, Call&& call)
    {
        struct count {
            assignment::delivery_memory& memory;
            std::uint64_t sequence;
            bool left_by_exception = true;
            ~count()
            {
                if (!left_by_exception) return;
                memory.event = sequence;
                if (memory.exceptions != UINT32_MAX) ++memory.exceptions;
            }
        } counting{memory_, sequence};
        auto answer = call();
        counting.left_by_exception = false;
        return answer;
    }

    /// Records that the delivery returns a report. `stored_record`: this delivery wrote the crash
    /// record.
    /// Otherwise a stored record belongs to an earlier delivery. `progress`: the checkpoint has
    /// moved, so the count of exceptions starts again at 0.
    void returns(bool stored_record, bool progress) noexcept
    {
        memory_.returned = stored_record || returned_before_;
        if (progress) memory_.exceptions = 0;
    }

private:
    assignment::delivery_memory& memory_;
    bool returned_before_;
    std::optional<std::uint64_t> found_{};
    std::uint64_t left_ = 0;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CONSUME_DETAIL_HANDLER_EXCEPTIONS_HPP
