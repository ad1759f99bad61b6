// SPDX-License-Identifier: MIT
//
// handler_exceptions: finds the event whose handler throws, for drivers without a crash record.
//
// The driver catches no exceptions. A destructor counts each exception of a handler in
// `assignment::last`, which the caller keeps between deliveries. After `max_exceptions` consecutive
// deliveries that ended with an exception, the batch is cut after the event whose handler threw
// last. That event fails permanently, and its handler is not called again. Without the cut, the
// handler of a later event could throw before the batch commits.
//
// A driver whose store keeps crash records passes 0 for `max_exceptions`.

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
    /// Starts a delivery of `b`. If `max_exceptions` consecutive deliveries have ended with an
    /// exception, `b` is cut after the event whose handler threw last. If `max_exceptions` is 0,
    /// `b` is never cut. Linear in the events of `b` if it may be cut, otherwise constant.
    template <class I>
    handler_exceptions(const assignment& mine, std::uint32_t max_exceptions, ordered_batch<I>& b)
        : memory_(mine.last), returned_before_(memory_.report_returned)
    {
        memory_.report_returned = false;
        if (max_exceptions == 0 || memory_.exceptions < max_exceptions) return;
        I at = b.first;
        for (std::uint64_t n = 0; n != b.events; ++n, ++at) {
            if (static_cast<std::uint64_t>((*at).sequence) != memory_.event) continue;
            excluded_event_ = memory_.event;
            removed_count_ = b.events - n - 1;
            b.last_event = at;
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
    [[nodiscard]] std::uint64_t removed_count() const noexcept { return removed_count_; }
    /// True if the handler must not be called for this event again.
    [[nodiscard]] bool is_excluded(std::uint64_t sequence) const noexcept
    {
        return excluded_event_ == sequence;
    }
    /// The number of consecutive deliveries that ended with an exception.
    [[nodiscard]] std::uint32_t exception_count() const noexcept { return memory_.exceptions; }
    [[nodiscard]] fault reason() const
    {
        return permanent(std::to_string(exception_count()) +
                         " deliveries in a row ended in an exception, the last in its handler");
    }

    /// One call of a handler. Counts an exception that leaves it.
    class handler_call {
    public:
        handler_call(const handler_call&) = delete;
        handler_call& operator=(const handler_call&) = delete;
        ~handler_call()
        {
            if (returned_) return;
            memory_.event = sequence_;
            if (memory_.exceptions != UINT32_MAX) ++memory_.exceptions;
        }
        void returned() noexcept { returned_ = true; }

    private:
        friend class handler_exceptions;
        handler_call(assignment::delivery_memory& memory, std::uint64_t sequence)
            : memory_(memory), sequence_(sequence)
        {
        }

        assignment::delivery_memory& memory_;
        std::uint64_t sequence_;
        bool returned_ = false;
    };

    /// Begins a call of the handler with the event `sequence`.
    [[nodiscard]] handler_call begin_call(std::uint64_t sequence) { return {memory_, sequence}; }

    /// Records that the delivery returns a report. `stored_record`: this delivery wrote the crash
    /// record; otherwise a stored record belongs to an earlier delivery. If `checkpoint_moved`, the
    /// count of exceptions starts again at 0.
    void on_report(bool stored_record, bool checkpoint_moved) noexcept
    {
        memory_.report_returned = stored_record || returned_before_;
        if (checkpoint_moved) memory_.exceptions = 0;
    }

private:
    assignment::delivery_memory& memory_;
    bool returned_before_;
    std::optional<std::uint64_t> excluded_event_{};
    std::uint64_t removed_count_ = 0;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CONSUME_DETAIL_HANDLER_EXCEPTIONS_HPP
