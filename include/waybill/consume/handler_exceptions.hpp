// SPDX-License-Identifier: MIT
//
// handler_exceptions: how a driver without a row of attempts finds the event whose handler throws.
//
// The driver catches nothing. A destructor counts the exception in `assignment::last`, which the
// caller keeps from delivery to delivery. After `most` such deliveries in a row, the batch is cut
// after the event whose handler threw last. That event fails for good without a call. The cut lets
// it commit before a later event throws.

#ifndef WAYBILL_CONSUME_HANDLER_EXCEPTIONS_HPP
#define WAYBILL_CONSUME_HANDLER_EXCEPTIONS_HPP

#include <cstdint>
#include <optional>
#include <string>

#include <waybill/consume/batch_order.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/core/fault.hpp>

namespace waybill::inline v0_2::detail {

class handler_exceptions {
public:
    /// The delivery of `b` begins. With `most` = 0 no event is found.
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
        memory_.exceptions = 0;  // it has left the log: no other event is blamed for it
    }

    /// The last delivery with this assignment returned a report.
    [[nodiscard]] bool returned_before() const noexcept { return returned_before_; }
    /// Events that were cut off.
    [[nodiscard]] std::uint64_t left() const noexcept { return left_; }
    /// The handler is not to be called for this event again.
    [[nodiscard]] bool found(std::uint64_t sequence) const noexcept { return found_ == sequence; }
    [[nodiscard]] std::uint32_t tries() const noexcept { return memory_.exceptions; }
    [[nodiscard]] fault why() const
    {
        return permanent(std::to_string(tries()) +
                         " deliveries in a row ended in an exception, the last in its handler");
    }

    /// Returns the result of `call`. Counts an exception that leaves it.
    template <class Call>
    auto during(std::uint64_t sequence, Call&& call)
    {
        struct count {
            delivery_memory& memory;
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

    /// The delivery returns a report. `noted`: it wrote the row of attempts; if not, a stored row
    /// is of an earlier delivery. `progress`: the checkpoint has moved.
    void returns(bool noted, bool progress) noexcept
    {
        memory_.returned = noted || returned_before_;
        if (progress) memory_.exceptions = 0;
    }

private:
    delivery_memory& memory_;
    bool returned_before_;
    std::optional<std::uint64_t> found_{};
    std::uint64_t left_ = 0;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CONSUME_HANDLER_EXCEPTIONS_HPP
