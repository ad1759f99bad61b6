// SPDX-License-Identifier: MIT
//
// receive_planner: plans the next requests: due messages first, and in an outage only probes.
//
//     using planner = waybill::receive_planner;
//     planner in({.max_in_flight = 16});
//     match(in.next(now),
//         [&](planner::take_due_pairs a) {
//             const auto due = deferred.take(wall, now, a.max_pairs);
//             for (const auto& h : due) pairs[a.first++] = h;
//             in.on(planner::pairs_taken{due.size(), steady(deferred.next_due())}, now);
//         },
//         [&](planner::receive_deferred a) { in.on(fetch(a), now); },     // original_fetched
//         [&](planner::receive a)          { in.on(receive(a), now); },   // messages_received
//         [&](planner::settle_original a)  { in.on(settle(a), now); },    // original_settled
//         [&](planner::settle_message a)   { in.on(settle(a), now); },    // message_settled
//         [&](wait_until w) { ... }, [&](idle) { ... });
//     in.on(planner::work_done{number, handle(message).kind}, now);  // from each handler
//
// `deferred` is a deferred_messages (receive_planner_deferred.test.cpp). The comment of the class
// has the guarantees. A value without locks: one thread at a time.

#ifndef WAYBILL_QUEUE_RECEIVE_PLANNER_HPP
#define WAYBILL_QUEUE_RECEIVE_PLANNER_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <waybill/core/act.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/nanoseconds.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/variant.hpp>
#include <waybill/queue/receive_planner_steps.hpp>
#include <waybill/retry/circuit_breaker.hpp>

namespace waybill::inline v0_2 {

[[nodiscard]] constexpr std::optional<config_error> validate(
    const receive_planner_types::config& o) noexcept
{
    if (o.max_in_flight == 0)
        return config_error{"receive_planner.max_in_flight", 0, "must be at least", 1};
    if (o.max_in_flight > circuit_breaker::max_permits) {
        return config_error{"receive_planner.max_in_flight", o.max_in_flight, "must be at most",
                            circuit_breaker::max_permits};
    }
    if (o.pause < duration{}) {
        return config_error{.field = "receive_planner.pause",
                            .value = detail::magnitude(o.pause),
                            .rule = "nanoseconds must be at least",
                            .bound = 0,
                            .negative = true};
    }
    if (o.poll_interval <= duration{}) {
        return config_error{"receive_planner.poll_interval", detail::magnitude(o.poll_interval),
                            "nanoseconds must be more than", 0, o.poll_interval < duration{}};
    }
    return validate(o.breaker);
}

/// Plans the calls of a consumer of a queue that can defer messages. A pair is a deferred message,
/// the original, and a pointer with its sequence number. The pointer is a scheduled message or an
/// entry of a deferred_messages. A circuit breaker counts the results of the handlers.
///
/// Guarantees
///   1. After each state change of the circuit breaker, due pairs are requested first. Fresh
///      messages are requested if no due pair is left. After a pair is given back, fresh messages
///      are received for `pause`, so a single pair cannot block all other messages.
///   2. The work in hand is at most `max_in_flight`, and at most what the circuit breaker permits.
///      In its state `half_open`, pairs are the first probes.
///   3. A pointer is completed only after its original was completed, dead-lettered, deferred
///      again, or found to be gone twice, with the end of a lock between. If the outcome is
///      unknown, the pointer is given back. A crash at any point loses no message, but a message may
///      be handled twice.
///   4. If a handler does not report within the circuit breaker's timeout, its work is given back.
///      A later result is stale, even if the work is not given back yet: the caller may already be
///      giving it back. The timeout must be longer than any handler takes.
///
/// There is no state to store: after a crash, a new planner starts with new requests. To defer a
/// message, schedule its pointer first. If a pointer is visible earlier, and finds its original not
/// yet deferred, it is left to its lock, which lasts at least as long as that of the original.
class receive_planner : public receive_planner_types {
public:
    using action = variant<take_due_pairs, receive, receive_deferred, settle_original,
                           settle_message, wait_until, idle>;

    explicit receive_planner(detail::no_options = {}) : receive_planner(config{}) {}
    explicit receive_planner(const config& o) : options_(o), breaker_(o.breaker)
    {
        options_.max_in_flight = detail::lesser(o.max_in_flight, circuit_breaker::max_permits);
        works_.reserve(options_.max_in_flight);
    }

    /// The next action: first work in hand, then due pairs, then fresh messages. Linear time in the
    /// work in hand.
    [[nodiscard]] action next(steady_time now) const
    {
        steady_time until = breaker_.next_change(now);
        for (const work& w : works_) {
            const stage s = stage_of(w, now);
            if (s == stage::settle_original) return settle_original{w.number, w.settle_original_as};
            if (s == stage::settle_message)
                return settle_message{w.number, w.settle_message_as, w.original_gone};
            if (s == stage::give_back) return settle_message{w.number, settle_as::give_back};
            if (s == stage::handle) until = detail::earlier(until, w.permit.deadline);
        }
        for (const work& w : works_) {
            if (stage_of(w, now) == stage::fetch_original) return receive_deferred{w.number};
        }
        const std::uint64_t capacity = room(now);
        if (capacity != 0) {
            const bool changed = breaker_.generation(now) != last_request_generation_;
            if (changed || !(now < next_pair_request_))
                return take_due_pairs{next_number_, capacity};
            if (!(now < next_receive_)) return receive{next_number_, capacity};
            until = detail::earlier(until, detail::earlier(next_pair_request_, next_receive_));
        }
        if (until == steady_time::highest()) return idle{};
        return wait_until{until};
    }

    /// More pairs than `max_in_flight` leaves room for are `invalid`.
    event_result on(const pairs_taken& e, steady_time now)
    {
        if (e.pairs > options_.max_in_flight - works_.size()) return event_result::invalid;
        works_.reserve(options_.max_in_flight);  // a copied vector has no reserve
        last_request_generation_ = breaker_.generation(now);
        const steady_time after_pause = now + detail::greater(options_.pause, duration{});
        next_pair_request_ = now;
        if (e.kind != fault_kind::none) next_pair_request_ = after_pause;
        else if (e.pairs == 0)
            next_pair_request_ =
                detail::earlier(now < e.next ? e.next : after_pause, now + poll_interval());
        for (std::uint64_t i = 0; i != e.pairs; ++i) add_work(stage::fetch_original, now);
        return event_result::applied;
    }

    /// More messages than `max_in_flight` leaves room for are `invalid`.
    event_result on(const messages_received& e, steady_time now)
    {
        if (e.messages > options_.max_in_flight - works_.size()) return event_result::invalid;
        works_.reserve(options_.max_in_flight);
        next_receive_ = e.messages != 0 ? now : now + detail::greater(options_.pause, duration{});
        for (std::uint64_t i = 0; i != e.messages; ++i) add_work(stage::handle, now);
        return event_result::applied;
    }

    /// If the fetch failed, the pointer is given back. If the original is not found, the pointer is
    /// completed if it was redelivered. Otherwise the work ends, and the pointer is left to its lock:
    /// the original may be about to be deferred.
    event_result on(const original_fetched& e, steady_time now)
    {
        work* w = find(e.work, stage::fetch_original, now);
        if (w == nullptr) return event_result::stale;
        if (e.result == settle_result::done) {
            w->current_stage = stage::handle;
            return event_result::applied;
        }
        // No handler was called, so the circuit breaker gets neither a success nor a failure.
        breaker_.record(w->permit, fault_kind::cancelled, now);
        w->original_gone = e.result == settle_result::not_found;
        if (w->original_gone && !e.redelivered) {
            remove_work(*w);
            return event_result::applied;
        }
        w->settle_message_as = w->original_gone ? settle_as::complete : settle_as::give_back;
        w->current_stage = stage::settle_message;
        return event_result::applied;
    }

    /// A success completes the work, a permanent fault dead-letters it, other faults give it back.
    event_result on(const work_done& e, steady_time now)
    {
        work* w = find(e.work, stage::handle, now);
        if (w == nullptr) return event_result::stale;
        breaker_.record(w->permit, e.kind, now, e.random);
        settle_as handled_as = settle_as::give_back;
        if (e.kind == fault_kind::none) handled_as = settle_as::complete;
        if (e.kind == fault_kind::permanent) handled_as = settle_as::dead_letter;
        if (!w->is_pair) {
            w->settle_message_as = handled_as;
            w->current_stage = stage::settle_message;
            if (e.deferred) remove_work(*w);
            return event_result::applied;
        }
        w->settle_original_as = e.deferred ? settle_as::give_back : handled_as;
        const bool pair_done = e.deferred || handled_as != settle_as::give_back;
        w->settle_message_as = pair_done ? settle_as::complete : settle_as::give_back;
        w->deferred_again = e.deferred;
        w->current_stage = stage::settle_original;
        return event_result::applied;
    }

    event_result on(const original_settled& e, steady_time now)
    {
        work* w = find(e.work, stage::settle_original, now);
        if (w == nullptr) return event_result::stale;
        // The original may still exist, and could never be fetched without its pointer. If it was
        // deferred again, it has a new pointer.
        if (e.result == settle_result::failed && !w->deferred_again)
            w->settle_message_as = settle_as::give_back;
        w->current_stage = stage::settle_message;
        return event_result::applied;
    }

    /// The reported outcome is ignored: an unsettled message is redelivered after its lock expires.
    event_result on(const message_settled& e, steady_time now)
    {
        work* w = find(e.work, stage::settle_message, now);
        if (w == nullptr) w = find(e.work, stage::give_back, now);
        if (w == nullptr) return event_result::stale;
        // No handler was called, so the circuit breaker gets neither a success nor a failure.
        if (w->current_stage == stage::fetch_original)
            breaker_.record(w->permit, fault_kind::cancelled, now);
        const bool given_back = w->current_stage != stage::settle_message ||
                                w->settle_message_as == settle_as::give_back;
        const steady_time after_pause = now + detail::greater(options_.pause, duration{});
        if (given_back && w->is_pair) next_pair_request_ = after_pause;
        if (given_back && !w->is_pair) next_receive_ = after_pause;
        remove_work(*w);
        return event_result::applied;
    }

    /// Brings the next request for pairs forward to `due` if that is earlier.
    event_result on(const pair_scheduled& e, steady_time)
    {
        next_pair_request_ = detail::earlier(next_pair_request_, e.due);
        return event_result::applied;
    }

    /// Requests nothing more. Running handlers finish; pairs without a fetched original are given
    /// back. The stop is complete when in_hand() is 0.
    void stop() noexcept { stopping_ = true; }
    /// The number of messages and pairs in hand.
    [[nodiscard]] std::uint64_t in_hand() const noexcept { return works_.size(); }

    /// The circuit breaker. The next three functions call those of the same name in it.
    [[nodiscard]] const circuit_breaker& breaker() const noexcept { return breaker_; }
    void force_closed(steady_time now) noexcept { breaker_.force_closed(now); }
    void force_open(steady_time now) noexcept { breaker_.force_open(now); }
    void release_force(steady_time now) noexcept { breaker_.release_force(now); }

    friend bool operator==(const receive_planner&, const receive_planner&) = default;

private:
    // The stages of the work in hand, which is a fresh message or a pair.
    enum class stage : std::uint8_t {
        fetch_original,   // of a pair, whose pointer was received
        handle,           // the handler runs
        settle_original,  // of a pair
        settle_message,   // a fresh message, or the pointer of a pair
        // Returned by `stage_of`, never stored. The handler is late, or the original of a pair must
        // not be fetched: the permit is void or has expired, or `stop` was called.
        give_back,
    };

    struct work {
        std::uint64_t number = 0;
        circuit_breaker_types::permit permit{};
        stage current_stage = stage::fetch_original;
        bool is_pair = false;
        bool original_gone = false;
        bool deferred_again = false;  // the handler deferred the message of a pair again
        settle_as settle_original_as = settle_as::give_back;
        settle_as settle_message_as = settle_as::give_back;
        friend bool operator==(const work&, const work&) = default;
    };

    [[nodiscard]] stage stage_of(const work& w, steady_time now) const
    {
        const bool permit_expired = !(now < w.permit.deadline);
        if (w.current_stage == stage::handle && permit_expired) return stage::give_back;
        if (w.current_stage != stage::fetch_original) return w.current_stage;
        const bool can_continue = !permit_expired && !stopping_ && has_permit(w, now);
        return can_continue ? stage::fetch_original : stage::give_back;
    }

    /// In state `forced_closed`, work passes without a valid permit, too.
    [[nodiscard]] bool has_permit(const work& w, steady_time now) const
    {
        return breaker_.has(w.permit, now) ||
               breaker_.state(now) == circuit_breaker_types::circuit_state::forced_closed;
    }

    [[nodiscard]] std::uint64_t room(steady_time now) const
    {
        if (stopping_) return 0;
        return detail::lesser(options_.max_in_flight - works_.size(), breaker_.room(now));
    }

    [[nodiscard]] duration poll_interval() const
    {
        return detail::greater(options_.poll_interval, duration::nanoseconds(1));
    }

    /// If the circuit breaker has opened and gives no permit, the work is given back unhandled.
    void add_work(stage s, steady_time now)
    {
        work w{.number = next_number_++, .current_stage = s, .is_pair = s == stage::fetch_original};
        if (const auto p = breaker_.try_acquire(now)) w.permit = *p;
        else w.current_stage = stage::settle_message;
        works_.push_back(w);
    }

    [[nodiscard]] work* find(std::uint64_t number)
    {
        for (work& w : works_) {
            if (w.number == number) return &w;
        }
        return nullptr;
    }

    [[nodiscard]] work* find(std::uint64_t number, stage s, steady_time now)
    {
        work* w = find(number);
        return w != nullptr && stage_of(*w, now) == s ? w : nullptr;
    }

    void remove_work(const work& w) { works_.erase(works_.begin() + (&w - works_.data())); }

    config options_;
    circuit_breaker breaker_;
    std::vector<work> works_;
    std::uint64_t next_number_ = 0;
    // Generation of the circuit breaker at the last request for pairs.
    std::uint64_t last_request_generation_ = 0;
    steady_time next_pair_request_ = steady_time::lowest();
    steady_time next_receive_ = steady_time::lowest();
    bool stopping_ = false;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_QUEUE_RECEIVE_PLANNER_HPP
