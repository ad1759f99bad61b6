// SPDX-License-Identifier: MIT
//
// commit_schedule: decides when a consumer commits its position.
//
// A commit after each event costs more than the event; rare commits repeat many events after a
// crash. A commit schedule counts the events done since the last commit:
//
//     waybill::commit_schedule pace{{.every = 1'000, .interval = 5s, .idle_refresh = 6h}, now};
//     pace.on(commit_schedule::events_done{n}, now);
//     match(pace.next(now),
//         [&](commit_schedule::commit_position) { commit(tracker); },  // commit_started first
//         [&](wait_until w) { ask_again_at(w.time); }, [](idle) {});
//     if (written) pace.on(commit_schedule::commit_confirmed{}, now);
//
//   1. A confirmed commit covers the events done before it began. A failed commit covers none; the
//      next one waits for `pause`.
//   2. At most one commit is in progress at a time.
//   3. An unchanged position is committed again after `idle_refresh`, so that it does not expire.
//   4. If the clock goes back, a commit is delayed by at most that jump. An event shortens this.
//
// A value without locks: one thread at a time.

#ifndef WAYBILL_TRACKING_COMMIT_SCHEDULE_HPP
#define WAYBILL_TRACKING_COMMIT_SCHEDULE_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/act.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/variant.hpp>

namespace waybill::inline v0_2 {

/// The actions and events of a `commit_schedule`, which inherits them.
struct commit_schedule_types {
    /// The conditions of a commit. By default, `every`, `interval` and `idle_refresh` never cause a
    /// commit. `validate` reports values that cannot work.
    struct config {
        /// The conditions that must be met: one of `every` and `interval`, or both.
        enum class commit_needs : std::uint8_t {
            either,  ///< One of them is enough.
            both,    ///< Both are required.
        };
        [[nodiscard]] friend constexpr std::string_view texts_of(commit_needs) noexcept
        {
            return "either, both";
        }

        std::uint64_t every = detail::highest_size;  ///< Uncommitted events that cause a commit.
        duration interval = duration::highest();     ///< Time since the first uncommitted event.
        commit_needs needs = commit_needs::either;
        bool on_close = true;  ///< Commit the rest after `schedule_closed`.
        /// Time since the last commit after which an unchanged position is committed again.
        duration idle_refresh = duration::highest();
        /// Minimum time from a failed commit to the next one.
        duration pause = duration::seconds(1);

        friend bool operator==(const config&, const config&) = default;
    };

    /// The reason why a commit is due.
    enum class commit_reason : std::uint8_t {
        count,     ///< Enough events are done.
        interval,  ///< The first uncommitted event was done long enough ago.
        idle,      ///< No new events: the position is committed again so that it does not expire.
        close,     ///< No more events will come.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(commit_reason) noexcept
    {
        return "count, interval, idle, close";
    }

    /// Commit the current position. The caller reports `commit_started` first.
    struct commit_position {
        commit_reason reason = commit_reason::count;
        friend bool operator==(const commit_position&, const commit_position&) = default;
    };

    /// `events` more events are done.
    struct events_done {
        std::uint64_t events = 1;

        friend bool operator==(const events_done&, const events_done&) = default;
    };

    /// The position was read from the tracker, and its commit is in progress.
    struct commit_started {
        friend bool operator==(const commit_started&, const commit_started&) = default;
    };

    /// The commit is confirmed.
    struct commit_confirmed {
        friend bool operator==(const commit_confirmed&, const commit_confirmed&) = default;
    };

    /// The commit failed, or its outcome is unknown.
    struct commit_failed {
        friend bool operator==(const commit_failed&, const commit_failed&) = default;
    };

    /// No more events will be started. Events in flight may still be done.
    struct schedule_closed {
        friend bool operator==(const schedule_closed&, const schedule_closed&) = default;
    };

    friend bool operator==(const commit_schedule_types&, const commit_schedule_types&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(
    const commit_schedule_types::config& c) noexcept
{
    const auto too_short = [](std::string_view field, duration d, std::int64_t smallest) {
        const auto ns = static_cast<std::uint64_t>(d.count());
        return config_error{field, d < duration{} ? 0 - ns : ns, "nanoseconds must be at least",
                            static_cast<std::uint64_t>(smallest), d < duration{}};
    };
    if (c.every == 0) return config_error{"every", 0, "must be at least", 1};
    if (c.interval < duration{}) return too_short("interval", c.interval, 0);
    if (c.idle_refresh.count() < 1) return too_short("idle_refresh", c.idle_refresh, 1);
    if (c.pause < duration{}) return too_short("pause", c.pause, 0);
    if (c.needs == commit_schedule_types::config::commit_needs::both &&
        c.every == detail::highest_size) {
        return config_error{"every", c.every,
                            "must be less than unlimited, because `needs` is both",
                            detail::highest_size};
    }
    if (c.needs == commit_schedule_types::config::commit_needs::both &&
        c.interval == duration::highest()) {
        const auto ns = static_cast<std::uint64_t>(c.interval.count());
        return config_error{"interval", ns,
                            "nanoseconds must be less than the maximum, because `needs` is both",
                            ns};
    }
    const bool never = c.every == detail::highest_size && c.interval == duration::highest() &&
                       c.idle_refresh == duration::highest();
    if (never && !c.on_close)
        return config_error{"on_close", 0, "must be true, because nothing else causes a commit", 1};
    return std::nullopt;
}

class commit_schedule : public commit_schedule_types {
public:
    using action = variant<commit_position, wait_until, idle>;

    /// The idle time starts at `now`.
    constexpr commit_schedule(const config& c, steady_time now) noexcept
        : policy_(c), confirmed_at_(now), last_time_(now)
    {
    }

    /// The reason for a commit that is due; empty if none is due.
    [[nodiscard]] constexpr std::optional<commit_reason> due(steady_time now) const noexcept
    {
        if (in_progress_ || (failed_ && now < retry_at_)) return std::nullopt;
        if (unconfirmed_count_ == 0) {
            if (closed_ || !has_passed(now, confirmed_at_, policy_.idle_refresh))
                return std::nullopt;
            return commit_reason::idle;
        }
        if (closed_ && policy_.on_close) return commit_reason::close;
        const bool enough = unconfirmed_count_ >= policy_.every;
        const bool long_enough = has_passed(now, first_uncommitted_at_, policy_.interval);
        if (policy_.needs == config::commit_needs::both && !(enough && long_enough))
            return std::nullopt;
        if (enough) return commit_reason::count;
        if (long_enough) return commit_reason::interval;
        return std::nullopt;
    }

    /// The next action: commit now, wait until a time, or idle until the next event.
    [[nodiscard]] constexpr action next(steady_time now) const noexcept
    {
        if (const std::optional<commit_reason> reason = due(now)) return commit_position{*reason};
        const std::optional<steady_time> until = next_commit_at();
        if (!until) return idle{};
        return wait_until{*until};
    }

    constexpr event_result on(const events_done& e, steady_time now) noexcept
    {
        observe_time(now);
        if (e.events == 0) return event_result::applied;
        if (unconfirmed_count_ == in_commit_count_) first_uncommitted_at_ = now;
        unconfirmed_count_ = detail::saturating_add(unconfirmed_count_, e.events);
        return event_result::applied;
    }

    constexpr event_result on(const commit_started&, steady_time now) noexcept
    {
        if (in_progress_) return event_result::stale;
        observe_time(now);
        in_progress_ = true;
        in_commit_count_ = unconfirmed_count_;
        first_in_commit_at_ = first_uncommitted_at_;
        return event_result::applied;
    }

    constexpr event_result on(const commit_confirmed&, steady_time now) noexcept
    {
        if (!in_progress_) return event_result::stale;
        observe_time(now);
        in_progress_ = false;
        failed_ = false;
        unconfirmed_count_ -= in_commit_count_;
        in_commit_count_ = 0;
        confirmed_at_ = now;
        return event_result::applied;
    }

    constexpr event_result on(const commit_failed&, steady_time now) noexcept
    {
        if (!in_progress_) return event_result::stale;
        observe_time(now);
        in_progress_ = false;
        failed_ = true;
        if (in_commit_count_ != 0) first_uncommitted_at_ = first_in_commit_at_;
        in_commit_count_ = 0;
        retry_at_ = now + policy_.pause;
        return event_result::applied;
    }

    constexpr event_result on(const schedule_closed&, steady_time now) noexcept
    {
        if (closed_) return event_result::stale;
        observe_time(now);
        closed_ = true;
        return event_result::applied;
    }

    /// Events done that are not in a confirmed commit.
    [[nodiscard]] constexpr std::uint64_t unconfirmed() const noexcept
    {
        return unconfirmed_count_;
    }
    [[nodiscard]] constexpr bool in_progress() const noexcept { return in_progress_; }
    [[nodiscard]] constexpr const config& policy() const noexcept { return policy_; }

    friend bool operator==(const commit_schedule&, const commit_schedule&) = default;

private:
    /// True if at least `d` has passed since `since`. False for the longest duration, which means
    /// that the condition is not used.
    [[nodiscard]] static constexpr bool has_passed(steady_time now, steady_time since,
                                                   duration d) noexcept
    {
        return d != duration::highest() && !(now < since + d);
    }

    /// The time of the next commit if no further event is reported; empty if there is none.
    [[nodiscard]] constexpr std::optional<steady_time> next_commit_at() const noexcept
    {
        if (in_progress_ || (unconfirmed_count_ == 0 && closed_)) return std::nullopt;
        constexpr steady_time at_once = steady_time::lowest();
        constexpr steady_time never = steady_time::highest();
        const auto after = [never](steady_time since, duration d) {
            return d == duration::highest() ? never : since + d;
        };
        steady_time commit_at{};
        if (unconfirmed_count_ == 0) {
            commit_at = after(confirmed_at_, policy_.idle_refresh);
        } else {
            commit_at = after(first_uncommitted_at_, policy_.interval);
            const bool enough = unconfirmed_count_ >= policy_.every;
            if (policy_.needs == config::commit_needs::both && !enough) commit_at = never;
            if (policy_.needs == config::commit_needs::either && enough) commit_at = at_once;
            if (closed_ && policy_.on_close) commit_at = at_once;
        }
        if (failed_) commit_at = detail::later(commit_at, retry_at_);
        if (commit_at == never) return std::nullopt;
        return commit_at;
    }

    /// Stores the time. If the clock went back, moves the other stored times back, too. No event
    /// may be later than `now`, and no retry later than `now` plus the pause.
    constexpr void observe_time(steady_time now) noexcept
    {
        if (now < last_time_) {
            first_uncommitted_at_ = detail::earlier(first_uncommitted_at_, now);
            first_in_commit_at_ = detail::earlier(first_in_commit_at_, now);
            confirmed_at_ = detail::earlier(confirmed_at_, now);
            retry_at_ = detail::earlier(retry_at_, now + policy_.pause);
        }
        last_time_ = now;
    }

    config policy_;
    std::uint64_t unconfirmed_count_ = 0;  // events done that are in no confirmed commit
    std::uint64_t in_commit_count_ = 0;    // those of them in the commit in progress
    steady_time first_uncommitted_at_{};   // when the first event that is in no commit was done
    steady_time first_in_commit_at_{};     // when the first event in the current commit was done
    steady_time confirmed_at_;             // of the last commit; at first the construction
    steady_time retry_at_{};               // if failed_: the earliest time of the next commit
    steady_time last_time_;                // the last `now`
    bool in_progress_ = false;
    bool failed_ = false;
    bool closed_ = false;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_TRACKING_COMMIT_SCHEDULE_HPP
