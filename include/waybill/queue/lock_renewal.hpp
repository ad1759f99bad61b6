// SPDX-License-Identifier: MIT
//
// lock_renewal: a state machine that renews the lock of a message, a session or a lease in time.
//
//     waybill::lock_renewal lock{{.lock = 60s, .max_duration = 10min}};
//     lock.on(lock_renewal::lock_taken{}, now());
//     match(lock.next(now()),
//         [&](lock_renewal::renew r) { lock.on(start(r, dice()), now()); },  // renewal_started
//         [&](wait_until w) { work_until(w.time); },
//         [&](idle) {});
//     if (auto end = lock.ended(now())) stop_working(*end);
//
// Guarantees (the guide has the complete loop and all details)
//   1. A lock lasts from its request, on the caller's steady clock: no longer than at the broker.
//   2. At most one renewal is under way. Without a result within `answer_timeout` it has failed.
//   3. The pause before a retry takes at most half of the time that is left, unless a server's hint
//      or `pauses.base` is longer.
//   4. `ownership_lost` ends the renewals at once. After a `permanent` fault no renewal follows.
//   5. After `max_duration` the end is `too_long`, and the lock is still held for `left`.
//   6. Events after the end are stale. Exception: a release or loss after `too_long` ends `left`.
// Cost: constant time, fixed size, no allocation.
// A value without locks: one thread at a time.

#ifndef WAYBILL_QUEUE_LOCK_RENEWAL_HPP
#define WAYBILL_QUEUE_LOCK_RENEWAL_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/act.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/nanoseconds.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/variant.hpp>
#include <waybill/retry/backoff.hpp>

namespace waybill::inline v0_2 {

/// The actions and events of a `lock_renewal`, which inherits them.
struct lock_renewal_types {
    /// The reason why the renewals of a lock have ended.
    enum class lock_outcome : std::uint8_t {
        released,  ///< The caller has settled the message or released the lock.
        lost,      ///< Another owner has the lock. The caller must not settle or write.
        expired,   ///< The lock has expired, or may have. The caller must act as if it were lost.
        too_long,  ///< The lock was kept for `max_duration`. It is still held for `left`.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(lock_outcome) noexcept
    {
        return "released, lost, expired, too_long";
    }

    struct config {
        duration lock = duration::seconds(60);  ///< Duration of a lock if `lasts` is empty.
        /// A renewal starts when this share of the lock's duration is left. In (0, 1); a share
        /// above 0.75 counts as 0.75.
        double renew_left = 0.5;
        /// A renewal starts at the earlier of two times: when `renew_left` of the lock is left, or
        /// `margin` before its end. At least 0 and less than `lock`; more than 3/4 of the lock's
        /// duration counts as 3/4.
        duration margin{};
        /// A renewal without a result after this time has failed. A pause of `pauses.base` and a
        /// retry must still fit before the end. With the other defaults, `lock` must exceed 21
        /// seconds.
        duration answer_timeout = duration::seconds(10);
        /// Renewals end this long after `lock_taken`.
        duration max_duration = duration::highest();
        /// Pauses after failed renewals. A pause takes at most half of the time that is left, or
        /// the base if that is longer. A server's hint may make it longer.
        backoff pauses{.base = duration::milliseconds(500),
                       .cap = duration::seconds(10),
                       .highest_hint = duration::seconds(10)};

        friend bool operator==(const config&, const config&) = default;
    };

    /// Action: renew the lock.
    struct renew {
        std::uint32_t attempt = 0;  ///< 1, 2, 3 ... The events of this renewal carry it.
        friend bool operator==(const renew&, const renew&) = default;
    };

    /// Event: the caller has the lock. It lasts from `now`, which must be the time of the request.
    struct lock_taken {
        /// The broker's duration. If empty, `lock` of the options.
        std::optional<duration> lasts{};
        friend bool operator==(const lock_taken&, const lock_taken&) = default;
    };

    /// Event: a renewal was requested from the broker.
    struct renewal_started {
        std::uint32_t attempt = 0;  ///< From `renew`.
        double random = 0.5;        ///< In [0, 1): the jitter of the pause if no result comes.
        friend bool operator==(const renewal_started&, const renewal_started&) = default;
    };

    /// Event: the renewal succeeded. The lock lasts from the time of its `renewal_started`.
    struct lock_renewed {
        std::uint32_t attempt = 0;  ///< From `renew`.
        /// The broker's duration. If empty, `lock` of the options.
        std::optional<duration> lasts{};
        friend bool operator==(const lock_renewed&, const lock_renewed&) = default;
    };

    /// Event: the renewal failed. A `cancelled` renewal does not count as a failure.
    struct renewal_failed {
        std::uint32_t attempt = 0;                ///< From `renew`.
        fault_kind kind = fault_kind::transient;  ///< `none` is invalid.
        double random = 0.5;                      ///< In [0, 1): the jitter of the pause.
        /// The server's "retry after", which counts up to `highest_hint` of the pauses. Here, no
        /// jitter is added to it.
        duration hint{};
        friend bool operator==(const renewal_failed&, const renewal_failed&) = default;
    };

    /// Event: the caller has settled the message or released the lock.
    struct lock_released {
        friend bool operator==(const lock_released&, const lock_released&) = default;
    };

    friend bool operator==(const lock_renewal_types&, const lock_renewal_types&) = default;
};

namespace detail {

/// The time before the end of a lock at which its renewal starts. `lasts` is the duration of the
/// lock. At most three quarters of it, so that a `margin` chosen for long locks does not renew a
/// short lock at once.
[[nodiscard]] constexpr duration renewal_lead_time(const lock_renewal_types::config& o,
                                                   duration lasts) noexcept
{
    constexpr double max_share = 0.75;
    return lesser(greater(lasts * o.renew_left, o.margin), lasts * max_share);
}

}  // namespace detail

[[nodiscard]] constexpr std::optional<config_error> validate(
    const lock_renewal_types::config& o) noexcept
{
    const auto above_zero = [](std::string_view field, duration d) -> std::optional<config_error> {
        if (d > duration{}) return {};
        return config_error{field, detail::magnitude(d), "nanoseconds must be more than", 0,
                            d < duration{}};
    };
    if (auto bad = above_zero("lock_renewal.lock", o.lock)) return bad;
    if (!(o.renew_left > 0 && o.renew_left < 1)) {
        return detail::ratio_error("lock_renewal.renew_left", o.renew_left,
                                   "must be a number of thousandths above 0, and below", 1'000);
    }
    if (o.margin < duration{} || o.margin >= o.lock) {
        return config_error{"lock_renewal.margin", detail::magnitude(o.margin),
                            "nanoseconds must be at least 0 and less than lock_renewal.lock",
                            detail::magnitude(o.lock), o.margin < duration{}};
    }
    if (auto bad = above_zero("lock_renewal.answer_timeout", o.answer_timeout)) return bad;
    if (auto bad = above_zero("lock_renewal.max_duration", o.max_duration)) return bad;
    if (auto bad = validate(o.pauses)) return bad;
    const duration lead_time = detail::renewal_lead_time(o, o.lock);
    if (o.pauses.base >= lead_time) {
        return config_error{"lock_renewal.pauses.base", detail::magnitude(o.pauses.base),
                            "nanoseconds must be less than the rest of the lock at a renewal",
                            detail::magnitude(lead_time)};
    }
    if (o.answer_timeout >= lead_time - o.pauses.base) {
        return config_error{"lock_renewal.answer_timeout", detail::magnitude(o.answer_timeout),
                            "nanoseconds must be less than the rest of the lock at a renewal minus "
                            "pauses.base",
                            detail::magnitude(lead_time - o.pauses.base)};
    }
    return {};
}

class lock_renewal : public lock_renewal_types {
public:
    using action = variant<renew, wait_until, idle>;

    constexpr explicit lock_renewal(detail::no_options = {}) noexcept : lock_renewal(config{}) {}
    constexpr explicit lock_renewal(const config& o) noexcept : options_(o) {}

    /// The next action: `renew` (report `renewal_started`, then the result), `wait_until` or
    /// `idle`. Idle before `lock_taken` and after the end.
    [[nodiscard]] constexpr action next(steady_time now) const noexcept
    {
        if (!lock_taken_ || ended(now)) return idle{};
        const steady_time end = detail::earlier(lock_end_, renewals_end_);
        if (refused_permanently_) return wait_until{end};
        if (renewal_pending_ && now < result_deadline())
            return wait_until{detail::earlier(result_deadline(), end)};
        const steady_time earliest = renewal_pending_ ? retry_after_timeout() : not_before_;
        if (now < earliest) return wait_until{detail::earlier(earliest, end)};
        return renew{attempt_ + 1};
    }

    constexpr event_result on(const lock_taken& e, steady_time now) noexcept
    {
        if (lock_taken_) return event_result::stale;
        lock_taken_ = true;
        const bool no_limit = options_.max_duration == duration::highest();
        renewals_end_ = no_limit ? steady_time::highest() : now + options_.max_duration;
        set_lock_end(now, e.lasts);
        return event_result::applied;
    }

    constexpr event_result on(const renewal_started& e, steady_time now) noexcept
    {
        if (is_over(now) || e.attempt != attempt_ + 1) return event_result::stale;
        if (renewal_pending_ && now < result_deadline()) return event_result::invalid;
        if (renewal_pending_ && failures_ != UINT32_MAX)
            ++failures_;  // the previous renewal had no result
        attempt_ = e.attempt;
        renewal_pending_ = true;
        renewal_started_at_ = now;
        pending_random_ = e.random;
        return event_result::applied;
    }

    constexpr event_result on(const lock_renewed& e, steady_time now) noexcept
    {
        if (is_over(now) || !renewal_pending_ || e.attempt != attempt_) return event_result::stale;
        renewal_pending_ = false;
        failures_ = 0;
        set_lock_end(renewal_started_at_, e.lasts);
        return event_result::applied;
    }

    constexpr event_result on(const renewal_failed& e, steady_time now) noexcept
    {
        if (is_over(now) || !renewal_pending_ || e.attempt != attempt_) return event_result::stale;
        if (e.kind == fault_kind::none) return event_result::invalid;
        renewal_pending_ = false;
        if (e.kind == fault_kind::ownership_lost) ended_ = lock_outcome::lost;
        if (e.kind == fault_kind::permanent) refused_permanently_ = true;
        if (e.kind == fault_kind::cancelled)
            not_before_ = now + detail::greater(options_.pauses.base, {});
        if (e.kind == fault_kind::transient || e.kind == fault_kind::infrastructure) {
            if (failures_ != UINT32_MAX) ++failures_;
            not_before_ = now + pause_at(now, failures_, e.random, e.hint);
        }
        return event_result::applied;
    }

    constexpr event_result on(const lock_released&, steady_time now) noexcept
    {
        return end_with(lock_outcome::released, now);
    }

    constexpr event_result on(const lock_lost&, steady_time now) noexcept
    {
        return end_with(lock_outcome::lost, now);
    }

    /// The reason why the renewals have ended at `now`. Empty before `lock_taken` and while the
    /// lock is kept.
    [[nodiscard]] constexpr std::optional<lock_outcome> ended(steady_time now) const noexcept
    {
        if (ended_ || !lock_taken_) return ended_;
        if (now < detail::earlier(lock_end_, renewals_end_)) return {};
        return lock_end_ <= renewals_end_ ? lock_outcome::expired : lock_outcome::too_long;
    }

    /// True if the lock has expired on the caller's clock, for every value of `ended`.
    [[nodiscard]] constexpr bool expired(steady_time now) const noexcept
    {
        return lock_taken_ && now >= lock_end_;
    }

    /// The time for which the lock is certainly still held. Zero if it is not held.
    [[nodiscard]] constexpr duration left(steady_time now) const noexcept
    {
        const bool held = lock_taken_ && ended_ != lock_outcome::lost &&
                          ended_ != lock_outcome::released && ended_ != lock_outcome::expired;
        return held ? detail::greater(lock_end_ - now, duration{}) : duration{};
    }

    /// Number of renewals started.
    [[nodiscard]] constexpr std::uint32_t attempts() const noexcept { return attempt_; }

    friend bool operator==(const lock_renewal&, const lock_renewal&) = default;

private:
    /// True before `lock_taken` and after the end. Stores an end by time, so that a clock that
    /// jumps back does not undo it.
    constexpr bool is_over(steady_time now) noexcept
    {
        ended_ = ended(now);
        return ended_ || !lock_taken_;
    }

    constexpr event_result end_with(lock_outcome outcome, steady_time now) noexcept
    {
        if (!is_over(now)) {
            ended_ = outcome;
            return event_result::applied;
        }
        // A lock that was kept too long is still held until this event.
        if (ended_ != lock_outcome::too_long || now >= lock_end_) return event_result::stale;
        lock_end_ = now;
        return event_result::applied;
    }

    constexpr void set_lock_end(steady_time requested_at,
                                std::optional<duration> reported_duration) noexcept
    {
        const duration lasts = reported_duration ? *reported_duration : options_.lock;
        lock_end_ = requested_at + lasts;
        not_before_ = lock_end_ - detail::renewal_lead_time(options_, lasts);
    }

    [[nodiscard]] constexpr duration pause_at(steady_time at, std::uint32_t n, double random,
                                              duration hint) const noexcept
    {
        const backoff& b = options_.pauses;
        const duration max_pause =
            detail::greater(detail::greater(lock_end_ - at, duration{}) * 0.5, b.base);
        return detail::greater(detail::lesser(pause(b, n, random), max_pause),
                               detail::lesser(hint, b.highest_hint));
    }

    [[nodiscard]] constexpr steady_time result_deadline() const noexcept
    {
        return renewal_started_at_ + options_.answer_timeout;
    }

    [[nodiscard]] constexpr steady_time retry_after_timeout() const noexcept
    {
        const std::uint32_t n = failures_ == UINT32_MAX ? failures_ : failures_ + 1;
        return result_deadline() + pause_at(result_deadline(), n, pending_random_, {});
    }

    config options_;
    steady_time lock_end_{};
    steady_time renewals_end_{};  // the time of `lock_taken` plus `max_duration`
    steady_time not_before_{};    // earliest start of the next renewal, if none is pending
    steady_time renewal_started_at_{};
    double pending_random_ = 0.5;  // `random` of the last `renewal_started`
    std::uint32_t attempt_ = 0;
    std::uint32_t failures_ = 0;  // consecutive failures
    bool lock_taken_ = false;
    bool renewal_pending_ = false;      // it has no result; `answer_timeout` may have passed
    bool refused_permanently_ = false;  // no renewal follows; the lock expires
    std::optional<lock_outcome> ended_{};
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_QUEUE_LOCK_RENEWAL_HPP
