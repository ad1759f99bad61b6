// SPDX-License-Identifier: MIT
//
// completion_tracker: computes which position may be committed if events complete out of order.
//
// If events of a partition are handled in parallel, the last completed event must not be committed
// while earlier ones are in flight. A crash would lose the earlier ones. The tracker records both:
//
//     waybill::completion_tracker tracker{{.max_in_flight = 1'000}, stored_position};
//     if (tracker.can_accept()) fetch();
//     if (auto t = tracker.begin(event.sequence)) start(event, *t);      // or an error
//     tracker.complete(ticket_of_what_ended);                            // in any order
//     if (auto done = tracker.watermark()) store.commit(*done);          // all up to it are done
//     if (auto next = tracker.resume_at()) kafka.commit(*next);          // the next one to read
//
//   1. All events begun up to the watermark are done. Gaps (compaction, filters) do not block it.
//   2. In one assignment (generation), events begin once, in log order. Older tickets are `stale`.
//   3. All 64-bit sequence numbers are valid, including the largest.
//   4. If memory runs out, nothing has changed. No allocation once it has grown to the load.
// Cost: `begin` and `complete` O(1) amortised; at most 4 bits per position or 12 bytes per event.
//
// A value without locks: one thread at a time.

#ifndef WAYBILL_TRACKING_COMPLETION_TRACKER_HPP
#define WAYBILL_TRACKING_COMPLETION_TRACKER_HPP

#include <cstdint>
#include <optional>
#include <utility>

#include <waybill/core/act.hpp>
#include <waybill/core/detail/inlining.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/result.hpp>
#include <waybill/tracking/detail/done_runs.hpp>
#include <waybill/tracking/detail/event_slots.hpp>
#include <waybill/tracking/tracker_options.hpp>

namespace waybill::inline v0_2 {

class completion_tracker {
public:
    /// The oldest event in flight, which blocks the watermark.
    struct blocked {
        std::uint64_t sequence = 0;
        std::uint64_t waiting = 0;  ///< Number of done events after it.

        friend bool operator==(const blocked&, const blocked&) = default;
    };

    /// The reason why an event was not begun.
    enum class track_error : std::uint8_t {
        /// `max_in_flight` or `span` is reached. Begin it again after other events are done.
        full,
        behind,       ///< It is not after the low-water mark: it is done, or was skipped.
        duplicate,    ///< It is in flight.
        done_before,  ///< It was done earlier, after the watermark. Do not handle it again.
        /// It was not begun, and a later event was. The tracker does not wait for it.
        not_ascending,
        not_assigned,  ///< The partition was revoked.
        invalid,       ///< Its number is negative, or needs more than 64 bits.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(track_error) noexcept
    {
        return "full, behind, duplicate, done_before, not_ascending, not_assigned, invalid";
    }

    explicit completion_tracker(detail::no_options = {}) : completion_tracker(tracker_options{}) {}
    /// The partition is assigned and continues after `from`. Options that `validate` refuses are
    /// replaced by the nearest valid ones.
    explicit completion_tracker(const tracker_options& o, detail::done_position from = {})
        : options_(o), generation_(o.first_generation - 1)  // `assign` starts the first one
    {
        options_.span = detail::lesser(detail::greater(o.span, 1), detail::max_tracker_span);
        options_.max_in_flight = detail::lesser(detail::greater(o.max_in_flight, 1), options_.span);
        assign(from);
    }

    /// Starts a new generation: the partition is assigned, and continues after `last_done`, or at
    /// the beginning.
    void assign(detail::done_position last_done) noexcept
    {
        const std::optional<std::uint64_t>& from = last_done.at();
        start_over();
        assigned_ = true;
        any_done_ = false;
        has_low_water_ = position_known_ = any_seen_ = from.has_value();
        low_position_ = last_seen_ = from.value_or(0);
    }

    /// Like `assign`, with the positions that an earlier owner completed out of order, and with the
    /// first position if no event was done yet.
    void resume(tracker_start s) noexcept
    {
        assign(s.from);
        if (!has_low_water_ && (s.next || !s.done.empty())) {
            position_known_ = true;
            low_position_ = s.next.value_or(0);
        }
        done_by_earlier_owner_ = std::move(s.done);
        done_by_earlier_owner_.pass(has_low_water_ ? detail::saturating_add(low_position_, 1)
                                                   : low_position_);
        if (has_low_water_ && low_position_ == detail::highest_size) done_by_earlier_owner_.clear();
    }

    /// The partition now belongs to another owner. Events in flight can no longer be committed, so
    /// commit before this call if possible. The watermark remains readable.
    void revoke() noexcept
    {
        if (!assigned_) return;
        start_over();
        assigned_ = false;
        // begin() then refuses every position.
        any_seen_ = true;
        last_seen_ = detail::highest_size;
    }

    /// Begins an event. Returns its ticket, or the reason why it was not begun. O(1) amortised.
    [[nodiscard]] result<tracked_event, track_error> begin(std::uint64_t sequence)
    {
        if (any_seen_ && sequence <= last_seen_) return unexpected(refusal_of(sequence));
        if (in_flight() >= options_.max_in_flight || pending() >= options_.span) {
            return unexpected(track_error::full);
        }
        if (!done_by_earlier_owner_.empty()) [[unlikely]] {
            if (done_by_earlier_owner_.holds(sequence)) return skip_done(sequence);
            slots_.make_room(sequence);
            drop_done_up_to(sequence);
        } else {
            slots_.make_room(sequence);
        }
        slots_.push({.sequence = sequence, .in_flight = true});
        last_seen_ = sequence;
        any_seen_ = true;
        if (!position_known_) {
            position_known_ = true;
            low_position_ = sequence;
        }
        return tracked_event{sequence, generation_, begun_count_++};
    }

    /// The same for other integers and enumerations. `bool` and floating-point types are not
    /// accepted.
    template <class N>
    result<tracked_event, track_error> begin(const N&) = delete;
    template <detail::sequence_like N>
    [[nodiscard]] result<tracked_event, track_error> begin(const N& sequence)
    {
        const std::optional<std::uint64_t> at = detail::as_sequence(sequence);
        if (!at) return unexpected(track_error::invalid);
        return begin(*at);
    }

    /// The event is done: handled or dead-lettered. `stale` if the ticket is of an earlier
    /// generation, or the event is already done or forgotten. O(1) amortised. Logarithmic if
    /// positions are sparse and the ticket lacks its `number`.
    event_result complete(const tracked_event& t) noexcept
    {
        if (t.generation != generation_) return event_result::stale;
        const detail::slot_completion completed =
            slots_.complete(t.sequence, begun_count_ - t.number);
        if (!completed.was_in_flight) return event_result::stale;
        record_done(t.sequence);
        if (completed.was_oldest) set_low_water(completed.removed);
        return event_result::applied;
    }

    /// Events before this position are gone from the log: the tracker does not wait for them. The
    /// watermark is then at least `sequence` - 1. A repeated call changes nothing.
    void forget_below(std::uint64_t sequence) noexcept
    {
        if (!assigned_ || sequence == 0 || (has_low_water_ && low_position_ >= sequence - 1))
            return;
        std::uint64_t reached = sequence - 1;
        if (in_flight() != 0 && slots_.front() < sequence) {
            reached = detail::greater(reached, slots_.drop_below(sequence));
        }
        set_low_water(reached);
        done_by_earlier_owner_.pass(sequence);
        if (!any_seen_ || last_seen_ < reached) last_seen_ = reached;
        any_seen_ = true;
    }

    /// The same for other integers and enumerations. A negative position changes nothing.
    template <class N>
    void forget_below(const N&) = delete;
    template <detail::sequence_like N>
    void forget_below(const N& sequence) noexcept
    {
        forget_below(detail::as_sequence(sequence).value_or(0));
    }

    /// The position to commit, if the store keeps the last position up to which all events are done
    /// (waybill's stores, Event Hubs).
    [[nodiscard]] std::optional<std::uint64_t> watermark() const noexcept
    {
        return options_.mark == tracker_options::commit_mark::low_water ? low_water()
                                                                        : high_water();
    }

    /// The position to commit, if the store keeps the next event to read (Kafka). Empty if no
    /// position is known yet, or no event can follow.
    [[nodiscard]] std::optional<std::uint64_t> resume_at() const noexcept
    {
        if (const std::optional<std::uint64_t> done = watermark()) {
            if (*done == detail::highest_size) return std::nullopt;
            return *done + 1;
        }
        if (!position_known_) return std::nullopt;
        return low_position_;
    }

    /// The last position up to which all begun events are done; empty if there is none.
    [[nodiscard]] std::optional<std::uint64_t> low_water() const noexcept
    {
        if (!has_low_water_) return std::nullopt;
        return low_position_;
    }

    /// The last event done, even if earlier events are in flight. Constant time with
    /// `commit_mark::high_water`, otherwise linear in the positions after it.
    [[nodiscard]] std::optional<std::uint64_t> high_water() const noexcept
    {
        if (options_.mark == tracker_options::commit_mark::low_water) {
            const std::optional<std::uint64_t> done = slots_.newest_done();
            return done ? done : low_water();
        }
        if (!any_done_ || (has_low_water_ && low_position_ > highest_done_)) return low_water();
        return highest_done_;
    }

    /// The lowest sequence number that may come next; empty if there is none.
    [[nodiscard]] std::optional<std::uint64_t> expected() const noexcept
    {
        if (!any_seen_) return position_known_ ? low_position_ : 0;
        if (last_seen_ == detail::highest_size) return std::nullopt;
        return last_seen_ + 1;
    }

    /// True if the partition is assigned and the limits permit one more event.
    [[nodiscard]] bool can_accept() const noexcept
    {
        return assigned_ && in_flight() < options_.max_in_flight && pending() < options_.span;
    }

    /// Number of events begun and not done.
    [[nodiscard]] std::uint64_t in_flight() const noexcept { return slots_.in_flight(); }

    /// Number of events in flight, and of events done after the oldest of them.
    [[nodiscard]] std::uint64_t pending() const noexcept { return slots_.size(); }

    /// The event that blocks the watermark. `stuck_watch` measures for how long.
    [[nodiscard]] std::optional<blocked> blocked_by() const noexcept
    {
        if (in_flight() == 0) return std::nullopt;
        return blocked{slots_.front(), pending() - in_flight()};
    }

    /// Calls f with a `tracked_range` for each position range, from resume_at() to the last
    /// position done.
    template <class F>
    void for_each_range(F&& f) const
    {
        if (options_.mark == tracker_options::commit_mark::high_water || !position_known_) return;
        if (has_low_water_ && low_position_ == detail::highest_size) return;
        const auto done_range = [this](std::uint64_t a, std::uint64_t b) {
            return detail::tracked_range{.at = {a, b}, .done = true, .events = slots_.count(a, b)};
        };
        std::uint64_t at = has_low_water_ ? low_position_ + 1 : low_position_;
        if (in_flight() != 0) {
            const std::optional<std::uint64_t> newest = high_water();
            // Ranges of an earlier owner follow all positions passed to begin().
            const std::uint64_t end =
                done_by_earlier_owner_.empty() ? newest.value_or(0) : last_seen_;
            for (auto o = slots_.in_flight_from(at); o && *o <= end;
                 o = slots_.in_flight_from(at)) {
                if (*o != at) f(done_range(at, *o - 1));
                f(detail::tracked_range{.at = {*o, *o}, .done = false});
                if (*o == detail::highest_size) return;
                at = *o + 1;
            }
            if (at <= end) f(done_range(at, end));
            if (end == detail::highest_size || done_by_earlier_owner_.empty()) return;
            at = end + 1;
        }
        for (std::uint64_t n = 0; n != done_by_earlier_owner_.size(); ++n) {
            const detail::position_run r = done_by_earlier_owner_[n];
            if (r.first != at) f(detail::tracked_range{.at = {at, r.first - 1}, .done = false});
            const std::uint64_t positions = detail::saturating_add(r.last - r.first, 1);
            f(detail::tracked_range{.at = r, .done = true, .events = positions});
            if (r.last == detail::highest_size) return;
            at = r.last + 1;
        }
    }

    /// The number of the assignment; it grows with each one.
    [[nodiscard]] std::uint32_t generation() const noexcept { return generation_; }
    [[nodiscard]] bool assigned() const noexcept { return assigned_; }
    [[nodiscard]] const tracker_options& options() const noexcept { return options_; }

    /// True if events are stored by position, false if they are stored one by one.
    [[nodiscard]] bool dense() const noexcept { return slots_.dense(); }

    /// Memory used in bytes, including the tracker itself.
    [[nodiscard]] std::uint64_t bytes() const noexcept
    {
        return sizeof(*this) + slots_.bytes() + done_by_earlier_owner_.bytes();
    }

    /// Reserves memory for `positions` dense positions and `events` events with sparse positions.
    void reserve(std::uint64_t positions, std::uint64_t events = 0)
    {
        slots_.reserve(positions, events);
    }

    /// Equal if options, generation, positions and ticket numbers are equal, and the same events
    /// are in flight and done. The kind of storage (`dense`) is not compared. With
    /// `commit_mark::high_water`, the last events done are equal, too.
    friend bool operator==(const completion_tracker& a, const completion_tracker& b) noexcept
    {
        return a.options_ == b.options_ && a.low_position_ == b.low_position_ &&
               a.last_seen_ == b.last_seen_ && a.generation_ == b.generation_ &&
               a.begun_count_ == b.begun_count_ && a.assigned_ == b.assigned_ &&
               a.has_low_water_ == b.has_low_water_ && a.position_known_ == b.position_known_ &&
               a.any_seen_ == b.any_seen_ && a.done_by_earlier_owner_ == b.done_by_earlier_owner_ &&
               a.slots_ == b.slots_ &&
               (a.options_.mark == tracker_options::commit_mark::low_water ||
                a.high_water() == b.high_water());
    }

private:
    void start_over() noexcept
    {
        ++generation_;
        slots_.clear();
        done_by_earlier_owner_.clear();
    }

    void record_done(std::uint64_t sequence) noexcept
    {
        if (options_.mark == tracker_options::commit_mark::low_water ||
            (any_done_ && sequence < highest_done_))
            return;
        any_done_ = true;
        highest_done_ = sequence;
    }

    void set_low_water(std::uint64_t sequence) noexcept
    {
        has_low_water_ = true;
        position_known_ = true;
        low_position_ = sequence;
    }

    /// Drops the positions of an earlier owner up to `sequence`, which was passed to begin().
    WAYBILL_NOINLINE void drop_done_up_to(std::uint64_t sequence) noexcept
    {
        if (sequence == detail::highest_size) done_by_earlier_owner_.clear();
        else done_by_earlier_owner_.pass(sequence + 1);
    }

    /// Records an event that an earlier owner completed as done. Returns `done_before`.
    WAYBILL_NOINLINE unexpected<track_error> skip_done(std::uint64_t sequence)
    {
        if (in_flight() == 0) {
            set_low_water(sequence);
        } else {
            slots_.make_room(sequence);
            slots_.push({.sequence = sequence, .in_flight = false});
            ++begun_count_;
            record_done(sequence);
        }
        last_seen_ = sequence;
        any_seen_ = true;
        drop_done_up_to(sequence);
        return unexpected(track_error::done_before);
    }

    /// The reason why begin() refuses a position that is not after the last one.
    [[nodiscard]] WAYBILL_NOINLINE track_error refusal_of(std::uint64_t sequence) const noexcept
    {
        if (!assigned_) return track_error::not_assigned;
        if (has_low_water_ && sequence <= low_position_) return track_error::behind;
        const std::optional<detail::slot_event> found = slots_.first_from(sequence);
        if (!found || found->sequence != sequence) return track_error::not_ascending;
        return found->in_flight ? track_error::duplicate : track_error::done_before;
    }

    tracker_options options_;
    detail::event_slots slots_;
    detail::done_runs done_by_earlier_owner_;  // only positions after last_seen_
    /// The low watermark if has_low_water_, else the first position if position_known_.
    std::uint64_t low_position_ = 0;
    std::uint64_t last_seen_ = 0;  // the highest position passed to begin(), if any_seen_
    std::uint32_t generation_ = 0;
    std::uint32_t begun_count_ = 0;   // number of events begun
    std::uint64_t highest_done_ = 0;  // if any_done_; only for commit_mark::high_water
    bool any_done_ = false;
    bool assigned_ = true;
    bool has_low_water_ = false;
    bool position_known_ = false;
    bool any_seen_ = false;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_TRACKING_COMPLETION_TRACKER_HPP
