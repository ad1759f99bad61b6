// SPDX-License-Identifier: MIT
//
// receive_planner: plans what to receive next. Due messages first, in an outage only probes.
//
//     using planner = waybill::receive_planner;
//     planner in({.max_in_flight = 16});
//     match(in.next(now),
//         [&](planner::take_due_pairs a) {
//             const auto due = book.take(wall, now, a.max_pairs);
//             for (const auto& h : due) pairs[a.first++] = h;
//             in.on(planner::pairs_taken{due.size(), steady(book.next_due())}, now);
//         },
//         [&](planner::receive_deferred a) { in.on(fetch(a), now); },     // original_fetched
//         [&](planner::receive a)          { in.on(receive(a), now); },   // messages_received
//         [&](planner::settle_original a)  { in.on(settle(a), now); },    // original_settled
//         [&](planner::settle_message a)   { in.on(settle(a), now); },    // message_settled
//         [&](wait_until w) { ... }, [&](idle) { ... });
//     in.on(planner::work_done{number, handle(message).kind}, now);  // from each handler
//
// `book` is a deferred_messages (receive_planner_deferred.test.cpp). The comment of the class has
// the guarantees. A value without locks: one thread at a time.

#ifndef WAYBILL_QUEUE_RECEIVE_PLANNER_HPP
#define WAYBILL_QUEUE_RECEIVE_PLANNER_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include <waybill/core/act.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/nanoseconds.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/time.hpp>
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
        return config_error{"receive_planner.pause", detail::magnitude(o.pause),
                            "nanoseconds must be at least", 0, true};
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
///      Its probes are pairs first.
///   3. A pointer is completed only after its original was completed, dead-lettered, deferred
///      again, or found to be gone. If the outcome is unknown, the pointer is given back. A crash
///      at any point loses no message, but a message may be handled twice.
///   4. If a handler does not report within the circuit breaker's timeout, its work is given back.
///      A later result is stale, even if the work is not given back yet: the caller may already be
///      giving it back. The timeout must be longer than any handler takes.
///
/// There is no state to store: after a crash, a new planner starts with new requests. To defer a
/// message, schedule its pointer first, and for a time after the original's lock ends. An earlier
/// pointer could find the original not yet deferred and treat it as gone.
class receive_planner : public receive_planner_types {
public:
    using action = std::variant<take_due_pairs, receive, receive_deferred, settle_original,
                                settle_message, wait_until, idle>;

    explicit receive_planner(const config& o = {})
        : options_(o), breaker_(o.breaker)
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
            if (s == stage::original) return settle_original{w.number, w.original};
            if (s == stage::message) return settle_message{w.number, w.message, w.gone};
            if (s == stage::overdue) return settle_message{w.number, settle_as::give_back};
            if (s == stage::in_hand) until = detail::earlier(until, w.pass.deadline);
        }
        for (const work& w : works_) {
            if (stage_of(w, now) == stage::taken) return receive_deferred{w.number};
        }
        const std::uint64_t most = room(now);
        if (most != 0) {
            const bool changed = breaker_.generation(now) != looked_in_;
            if (changed || !(now < look_at_)) return take_due_pairs{next_number_, most};
            if (!(now < receive_at_)) return receive{next_number_, most};
            until = detail::earlier(until, detail::earlier(look_at_, receive_at_));
        }
        if (until == steady_time::highest()) return idle{};
        return wait_until{until};
    }

    /// More pairs than `max_in_flight` leaves room for are `invalid`.
    event_result on(const pairs_taken& e, steady_time now)
    {
        if (e.pairs > options_.max_in_flight - works_.size()) return event_result::invalid;
        works_.reserve(options_.max_in_flight);  // a copied vector has no reserve
        looked_in_ = breaker_.generation(now);
        const steady_time soon = now + detail::greater(options_.pause, duration{});
        look_at_ = now;
        if (e.kind != fault_kind::none)
            look_at_ = soon;
        else if (e.pairs == 0)
            look_at_ = detail::earlier(now < e.next ? e.next : soon, now + look_often());
        for (std::uint64_t i = 0; i != e.pairs; ++i) begin(stage::taken, now);
        return event_result::applied;
    }

    /// More messages than `max_in_flight` leaves room for are `invalid`.
    event_result on(const messages_received& e, steady_time now)
    {
        if (e.messages > options_.max_in_flight - works_.size()) return event_result::invalid;
        works_.reserve(options_.max_in_flight);
        receive_at_ = e.messages != 0 ? now : now + detail::greater(options_.pause, duration{});
        for (std::uint64_t i = 0; i != e.messages; ++i) begin(stage::in_hand, now);
        return event_result::applied;
    }

    /// If the fetch failed, the pointer is given back. If the original is gone, the pointer is
    /// completed.
    event_result on(const original_fetched& e, steady_time now)
    {
        work* w = find(e.work, stage::taken, now);
        if (w == nullptr) return event_result::stale;
        if (e.result == settle_result::done) {
            w->at = stage::in_hand;
            return event_result::applied;
        }
        // No handler was called, so the circuit breaker gets neither a success nor a failure.
        breaker_.record(w->pass, fault_kind::cancelled, now);
        w->gone = e.result == settle_result::not_found;
        w->message = w->gone ? settle_as::complete : settle_as::give_back;
        w->at = stage::message;
        return event_result::applied;
    }

    /// A success completes the work, a permanent fault dead-letters it, other faults give it back.
    event_result on(const work_done& e, steady_time now)
    {
        work* w = find(e.work, stage::in_hand, now);
        if (w == nullptr) return event_result::stale;
        breaker_.record(w->pass, e.kind, now, e.random);
        settle_as how = settle_as::give_back;
        if (e.kind == fault_kind::none) how = settle_as::complete;
        if (e.kind == fault_kind::permanent) how = settle_as::dead_letter;
        if (!w->pair) {
            w->message = how;
            w->at = stage::message;
            if (e.deferred) end(*w);
            return event_result::applied;
        }
        w->original = e.deferred ? settle_as::give_back : how;
        const bool over = e.deferred || how != settle_as::give_back;
        w->message = over ? settle_as::complete : settle_as::give_back;
        w->again = e.deferred;
        w->at = stage::original;
        return event_result::applied;
    }

    event_result on(const original_settled& e, steady_time now)
    {
        work* w = find(e.work, stage::original, now);
        if (w == nullptr) return event_result::stale;
        // The original may still exist, and could never be fetched without its pointer. If it was
        // deferred again, it has a new pointer.
        if (e.result == settle_result::failed && !w->again) w->message = settle_as::give_back;
        w->at = stage::message;
        return event_result::applied;
    }

    /// The reported outcome is ignored: an unsettled message is redelivered after its lock expires.
    event_result on(const message_settled& e, steady_time now)
    {
        work* w = find(e.work, stage::message, now);
        if (w == nullptr) w = find(e.work, stage::overdue, now);
        if (w == nullptr) return event_result::stale;
        if (w->at == stage::taken) breaker_.record(w->pass, fault_kind::cancelled, now);
        const bool back = w->at != stage::message || w->message == settle_as::give_back;
        const steady_time soon = now + detail::greater(options_.pause, duration{});
        if (back) (w->pair ? look_at_ : receive_at_) = soon;
        end(*w);
        return event_result::applied;
    }

    /// Brings the next request for pairs forward to `due` if that is earlier.
    event_result on(const pair_scheduled& e, steady_time)
    {
        look_at_ = detail::earlier(look_at_, e.due);
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
    enum class stage : std::uint8_t {
        taken,     // a pointer; its original is to be fetched
        in_hand,   // the handler runs
        original,  // the original is to be settled
        message,   // the message or pointer is to be settled
        overdue,   // to be given back: the handler is late, or the permit is void, or stopping
    };

    struct work {
        std::uint64_t number = 0;
        circuit_breaker_types::permit pass{};
        stage at = stage::taken;
        bool pair = false;
        bool gone = false;
        bool again = false;  // deferred again
        settle_as original = settle_as::give_back;
        settle_as message = settle_as::give_back;
        friend bool operator==(const work&, const work&) = default;
    };

    [[nodiscard]] stage stage_of(const work& w, steady_time now) const
    {
        const bool lost = !(now < w.pass.deadline);
        if (w.at == stage::in_hand && lost) return stage::overdue;
        if (w.at != stage::taken) return w.at;
        const bool may = !lost && !stopping_ && may_pass(w, now);
        return may ? stage::taken : stage::overdue;
    }

    /// In state `forced_closed`, work passes without a valid permit, too.
    [[nodiscard]] bool may_pass(const work& w, steady_time now) const
    {
        return breaker_.has(w.pass, now) ||
               breaker_.state(now) == circuit_breaker_types::circuit_state::forced_closed;
    }

    [[nodiscard]] std::uint64_t room(steady_time now) const
    {
        if (stopping_) return 0;
        return detail::lesser(options_.max_in_flight - works_.size(), breaker_.room(now));
    }

    [[nodiscard]] duration look_often() const
    {
        return detail::greater(options_.poll_interval, duration::nanoseconds(1));
    }

    /// If the circuit breaker has opened and gives no permit, the work is given back unhandled.
    void begin(stage s, steady_time now)
    {
        work w{.number = next_number_++, .at = s, .pair = s == stage::taken};
        if (const auto p = breaker_.try_acquire(now))
            w.pass = *p;
        else w.at = stage::message;
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

    void end(const work& w) { works_.erase(works_.begin() + (&w - works_.data())); }

    config options_;
    circuit_breaker breaker_;
    std::vector<work> works_;
    std::uint64_t next_number_ = 0;
    std::uint64_t looked_in_ = 0;  // the circuit breaker's, at the last request for pairs
    steady_time look_at_ = steady_time::lowest();
    steady_time receive_at_ = steady_time::lowest();
    bool stopping_ = false;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_QUEUE_RECEIVE_PLANNER_HPP
