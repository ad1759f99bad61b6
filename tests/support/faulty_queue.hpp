// SPDX-License-Identifier: MIT
//
// faulty_queue: a message queue that injects faults into the calls of another queue.

#ifndef WAYBILL_TESTS_SUPPORT_FAULTY_QUEUE_HPP
#define WAYBILL_TESTS_SUPPORT_FAULTY_QUEUE_HPP

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/queue/message_queue.hpp>
#include <waybill/testing/faulty.hpp>

namespace tests_support {

using waybill::testing::injected_fault;

/// Calls script() before each call and applies the returned fault, one of the first five of
/// `injected_fault`. After the end of the process each call fails without effect, until revive().
template <class Q, class Script>
class faulty_queue {
public:
    using message = typename Q::message;
    using pointer = typename Q::pointer;

    faulty_queue(Q& queue, Script script) : queue_(queue), script_(std::move(script)) {}

    auto receive(waybill::duration lock)
    {
        return with_fault([&] { return queue_.receive(lock); });
    }
    auto complete(message& m)
    {
        return with_fault([&] { return queue_.complete(m); });
    }
    auto abandon(message& m, bool failed)
        requires waybill::detail::abandons_uncounted<Q>
    {
        return with_fault([&] { return queue_.abandon(m, failed); });
    }
    auto abandon(message& m)
        requires waybill::detail::abandons_counted<Q>
    {
        return with_fault([&] { return queue_.abandon(m); });
    }
    auto dead_letter(message& m, std::string_view reason)
    {
        return with_fault([&] { return queue_.dead_letter(m, reason); });
    }
    auto renew(message& m, waybill::duration lock)
    {
        return with_fault([&] { return queue_.renew(m, lock); });
    }
    waybill::result<bool> empty()
    {
        if (!alive_) return waybill::unexpected(gone());
        return queue_.empty();
    }
    waybill::fault defer(message& m, waybill::duration delay, bool failed)
        requires waybill::detail::defers_uncounted<Q>
    {
        return with_fault([&] { return queue_.defer(m, delay, failed); });
    }
    waybill::fault make_due()
        requires waybill::detail::makes_due<Q>
    {
        return with_fault([&] { return queue_.make_due(); });
    }
    waybill::fault defer(message& m, waybill::duration delay)
        requires waybill::detail::defers_counted<Q>
    {
        return with_fault([&] { return queue_.defer(m, delay); });
    }
    waybill::fault schedule_copy(message& m, const waybill::queue_policy::scheduled_copy& copy)
        requires waybill::detail::schedules_copies<Q>
    {
        return with_fault([&] { return queue_.schedule_copy(m, copy); });
    }
    waybill::fault schedule_pointer(message& m, std::uint64_t tries, waybill::duration delay)
        requires waybill::detail::defers_with_pointers<Q>
    {
        return with_fault([&] { return queue_.schedule_pointer(m, tries, delay); });
    }
    waybill::fault defer(message& m)
        requires waybill::detail::defers_with_pointers<Q>
    {
        return with_fault([&] { return queue_.defer(m); });
    }
    waybill::result<std::optional<pointer>> receive_pointer(waybill::duration lock)
        requires waybill::detail::defers_with_pointers<Q>
    {
        return with_fault([&] { return queue_.receive_pointer(lock); });
    }
    waybill::result<std::optional<message>> receive_deferred(pointer& p, waybill::duration lock)
        requires waybill::detail::defers_with_pointers<Q>
    {
        return with_fault([&] { return queue_.receive_deferred(p, lock); });
    }
    waybill::fault complete(pointer& p)
        requires waybill::detail::defers_with_pointers<Q>
    {
        return with_fault([&] { return queue_.complete(p); });
    }
    waybill::fault schedule_pointer(pointer& p, std::uint64_t tries, waybill::duration delay)
        requires waybill::detail::defers_with_pointers<Q>
    {
        return with_fault([&] { return queue_.schedule_pointer(p, tries, delay); });
    }

    void die() noexcept { alive_ = false; }
    [[nodiscard]] bool alive() const noexcept { return alive_; }
    void revive() noexcept { alive_ = true; }

private:
    static waybill::fault gone() { return waybill::infrastructure("process gone"); }

    template <class F>
    auto with_fault(F&& f) -> decltype(f())
    {
        using returned = decltype(f());
        if (!alive_) return waybill::detail::result_of_fault<returned>(gone());
        const injected_fault chosen = script_();
        if (chosen == injected_fault::none) return f();
        if (chosen == injected_fault::dies_after || chosen == injected_fault::fails_though_done)
            (void)f();
        if (chosen == injected_fault::dies_before || chosen == injected_fault::dies_after) {
            die();
            return waybill::detail::result_of_fault<returned>(gone());
        }
        return waybill::detail::result_of_fault<returned>(
            waybill::infrastructure("the call failed"));
    }

    Q& queue_;
    Script script_;
    bool alive_ = true;
};

}  // namespace tests_support

#endif  // WAYBILL_TESTS_SUPPORT_FAULTY_QUEUE_HPP
