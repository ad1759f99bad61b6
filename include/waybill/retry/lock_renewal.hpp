// SPDX-License-Identifier: MIT
//
// lock_renewal: keeps the lock of a message, a session or a lease while it is worked on.
//
// A machine: it says when to renew, and at once when the lock is lost.
//
//     waybill::lock_renewal lock{{.lock = 60s, .most = 10min}};
//     lock.on(lock_taken{}, clock::now());
//     while (working()) {
//         match(lock.next(clock::now()),
//             [&](act::renew r) {
//                 lock.on(renewal_started{r.attempt, dice()}, clock::now());
//                 fault f = renew(message);                      // or later, from another call
//                 if (f.ok()) lock.on(lock_renewed{r.attempt}, clock::now());
//                 else lock.on(renewal_failed{r.attempt, f.how}, clock::now());
//             },
//             [&](act::wait w) { work_until(w.until); },
//             [&](act::idle) {});
//         if (auto end = lock.ended(clock::now())) stop_working(*end);
//     }
//     lock.on(lock_released{}, clock::now());                    // settled, or given back
//
// What holds:
//   1. whether the lock is held is judged on the caller's steady clock, and never too well: a lock
//      counts from when it was asked for, not from the answer. What a broker tells is taken as how
//      long the lock lasts. The time at which it ends is one on the broker's clock, and its
//      difference from ours is wrong by as much as the clocks are: rather tell nothing, so that
//      `lock` counts, which is what is set at the queue;
//   2. while a renewal is under way there is no other one. An answer that does not come within
//      `answer` counts as failed; one that comes after that counts until the next one is started;
//   3. a failed renewal is tried again after a pause, and in time: a pause takes no more than half
//      of what is left, unless the server asks for more or that is less than the base of pauses.
//      So is one that is never answered, once at least, with options that `check` lets pass and a
//      lock that lasts as long as they say: `answer` has to be the shorter, the shorter a lock is;
//   4. ownership_lost ends it at once. After a permanent fault nothing is tried any more, and the
//      lock is held until it runs out, as it is at the broker. A cancelled renewal counts for
//      nothing;
//   5. `most` is how long it is kept in all: the end is `too_long` then, with `left` still to go,
//      so that there is time to stop and give it back;
//   6. ended is ended: what is told after it is late and changes nothing, but that what was kept
//      for too long has nothing left when it is released or lost. A new lock is a new machine.
//
// Constant time, fixed size, no allocation.
// A value without locks: one thread at a time.

#ifndef WAYBILL_RETRY_LOCK_RENEWAL_HPP
#define WAYBILL_RETRY_LOCK_RENEWAL_HPP

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include <waybill/core/act.hpp>
#include <waybill/core/check.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/backoff.hpp>
#include <waybill/retry/nanoseconds.hpp>

namespace waybill::inline v0_2 {

namespace act {

/// Renew the lock.
struct renew {
    std::uint32_t attempt = 0;  ///< 1, 2, 3 ...; the events about it carry it.
    friend bool operator==(const renew&, const renew&) = default;
};

}  // namespace act

/// Why a lock is not kept any more.
enum class lock_end : std::uint8_t {
    released,  ///< The caller has settled the message, or given back what was locked.
    lost,      ///< Somebody else has it: do not settle, and write nothing.
    expired,   ///< It ran out, or may have: as if lost.
    too_long,  ///< It was kept for as long as it may be, and is held for what `left` says.
};

[[nodiscard]] constexpr std::string_view name(lock_end e) noexcept
{
    switch (e) {
        case lock_end::released: return "released";
        case lock_end::lost: return "lost";
        case lock_end::expired: return "expired";
        case lock_end::too_long: return "too_long";
    }
    return "?";
}

struct lock_renewal_options {
    duration lock = duration::seconds(60);    ///< How long a lock lasts where nobody says.
    double renew_left = 0.5;                  ///< Renews when this share of it is left,
    duration margin{};                        ///< or so long before its end, if that is earlier.
    /// An answer takes no longer, or it failed. So short that another try fits in behind it, and a
    /// base of pauses between: with the default the lock must last for more than 21 seconds.
    duration answer = duration::seconds(10);
    duration most = duration::highest();      ///< Kept for so long in all.
    backoff pauses{.base = duration::milliseconds(500), .cap = duration::seconds(10)};

    friend bool operator==(const lock_renewal_options&, const lock_renewal_options&) = default;
};

namespace detail {

/// How long before its end a lock is renewed that lasts so long. A margin that is made for longer
/// locks leaves a quarter of a short one in peace.
[[nodiscard]] constexpr duration renewed_early(const lock_renewal_options& o,
                                               duration lasts) noexcept
{
    return lesser(greater(lasts * o.renew_left, o.margin), lasts * 0.75);
}

}  // namespace detail

[[nodiscard]] constexpr std::optional<config_error> check(const lock_renewal_options& o) noexcept
{
    const auto above_zero = [](std::string_view field, duration d) -> std::optional<config_error> {
        if (d > duration{}) return {};
        return config_error{field, detail::magnitude(d), "nanoseconds must be more than", 0,
                            d < duration{}};
    };
    if (auto bad = above_zero("lock_renewal.lock", o.lock)) return bad;
    if (!(o.renew_left > 0 && o.renew_left < 1)) {
        return detail::wrong_share("lock_renewal.renew_left", o.renew_left,
                                   "must be a number of thousandths above 0, and below", 1'000);
    }
    if (o.margin < duration{} || o.margin >= o.lock) {
        return config_error{"lock_renewal.margin", detail::magnitude(o.margin),
                            "nanoseconds must be none or some, and less than the lock",
                            detail::magnitude(o.lock), o.margin < duration{}};
    }
    if (auto bad = above_zero("lock_renewal.answer", o.answer)) return bad;
    if (auto bad = above_zero("lock_renewal.most", o.most)) return bad;
    if (auto bad = check(o.pauses)) return bad;
    const duration early = detail::renewed_early(o, o.lock);
    if (o.pauses.base >= early) {
        return config_error{"lock_renewal.pauses.base", detail::magnitude(o.pauses.base),
                            "nanoseconds must be less than are left at a renewal",
                            detail::magnitude(early)};
    }
    if (o.answer >= early - o.pauses.base) {
        return config_error{"lock_renewal.answer", detail::magnitude(o.answer),
                            "nanoseconds must leave some for another try, and be less than",
                            detail::magnitude(early - o.pauses.base)};
    }
    return {};
}

/// The lock is ours, and lasts from `now` on: tell it with the time at which it was asked for.
struct lock_taken {
    std::optional<duration> lasts{};  ///< As the broker says; empty: `lock` of the options.
    friend bool operator==(const lock_taken&, const lock_taken&) = default;
};

/// A renewal is on its way. `draw` in [0, 1) spreads the pause if its answer never comes.
struct renewal_started {
    std::uint32_t attempt = 0;
    double draw = 0.5;
    friend bool operator==(const renewal_started&, const renewal_started&) = default;
};

/// The lock lasts anew, from when that renewal was started.
struct lock_renewed {
    std::uint32_t attempt = 0;
    std::optional<duration> lasts{};  ///< As the broker says; empty: `lock` of the options.
    friend bool operator==(const lock_renewed&, const lock_renewed&) = default;
};

struct renewal_failed {
    std::uint32_t attempt = 0;
    fault_class how = fault_class::transient;
    double draw = 0.5;  ///< In [0, 1), spreads the pause.
    duration hint{};    ///< The server's own "come back after".
    friend bool operator==(const renewal_failed&, const renewal_failed&) = default;
};

/// What was locked is settled or given back.
struct lock_released {
    friend bool operator==(const lock_released&, const lock_released&) = default;
};

/// Somebody else has it, as another call has found out.
struct lock_lost {
    friend bool operator==(const lock_lost&, const lock_lost&) = default;
};

class lock_renewal {
public:
    using action = std::variant<act::renew, act::wait, act::idle>;

    constexpr explicit lock_renewal(const lock_renewal_options& o = {}) noexcept : options_(o) {}

    /// What to do now. Idle before there is a lock, and after the end.
    [[nodiscard]] constexpr action next(steady_time now) const noexcept
    {
        if (!taken_ || ended(now)) return act::idle{};
        const steady_time over = earlier(until_, limit_);
        if (given_up_) return act::wait{over};
        if (asked_ && now < unanswered_at()) return act::wait{earlier(unanswered_at(), over)};
        const steady_time from = asked_ ? after_silence() : not_before_;
        if (now < from) return act::wait{earlier(from, over)};
        return act::renew{attempt_ + 1};
    }

    constexpr heard on(const lock_taken& e, steady_time now) noexcept
    {
        if (taken_) return heard::late;
        taken_ = true;
        const bool endless = options_.most == duration::highest();
        limit_ = endless ? steady_time::highest() : now + options_.most;
        lasts_until(now, e.lasts);
        return heard::taken;
    }

    constexpr heard on(const renewal_started& e, steady_time now) noexcept
    {
        if (is_over(now) || e.attempt != attempt_ + 1) return heard::late;
        if (asked_ && now < unanswered_at()) return heard::invalid;
        if (asked_ && failures_ != UINT32_MAX) ++failures_;  // the one before was never answered
        attempt_ = e.attempt;
        asked_ = true;
        asked_at_ = now;
        draw_ = e.draw;
        return heard::taken;
    }

    constexpr heard on(const lock_renewed& e, steady_time now) noexcept
    {
        if (is_over(now) || !asked_ || e.attempt != attempt_) return heard::late;
        asked_ = false;
        failures_ = 0;
        lasts_until(asked_at_, e.lasts);
        return heard::taken;
    }

    constexpr heard on(const renewal_failed& e, steady_time now) noexcept
    {
        if (is_over(now) || !asked_ || e.attempt != attempt_) return heard::late;
        if (e.how == fault_class::none) return heard::invalid;
        asked_ = false;
        if (e.how == fault_class::ownership_lost) ended_ = lock_end::lost;
        if (e.how == fault_class::permanent) given_up_ = true;
        if (e.how == fault_class::cancelled) not_before_ = now + greater(options_.pauses.base, {});
        if (e.how == fault_class::transient || e.how == fault_class::infrastructure) {
            if (failures_ != UINT32_MAX) ++failures_;
            not_before_ = now + pause_at(now, failures_, e.draw, e.hint);
        }
        return heard::taken;
    }

    constexpr heard on(const lock_released&, steady_time now) noexcept
    {
        return ends(lock_end::released, now);
    }

    constexpr heard on(const lock_lost&, steady_time now) noexcept
    {
        return ends(lock_end::lost, now);
    }

    /// Whether and why it is over at this time.
    [[nodiscard]] constexpr std::optional<lock_end> ended(steady_time now) const noexcept
    {
        if (ended_ || !taken_) return ended_;
        if (now < earlier(until_, limit_)) return {};
        return until_ <= limit_ ? lock_end::expired : lock_end::too_long;
    }

    /// Whether the lock has run out by the caller's clock, whatever has ended the keeping of it.
    [[nodiscard]] constexpr bool expired(steady_time now) const noexcept
    {
        return taken_ && now >= until_;
    }

    /// How long the lock is held for sure; nothing where it is not.
    [[nodiscard]] constexpr duration left(steady_time now) const noexcept
    {
        const bool held = taken_ && ended_ != lock_end::lost && ended_ != lock_end::released &&
                          ended_ != lock_end::expired;
        return held ? greater(until_ - now, duration{}) : duration{};
    }

    /// Renewals that were started.
    [[nodiscard]] constexpr std::uint32_t attempts() const noexcept { return attempt_; }

    friend bool operator==(const lock_renewal&, const lock_renewal&) = default;

private:
    /// What time has ended stays ended, should the clock be set back.
    constexpr bool is_over(steady_time now) noexcept
    {
        ended_ = ended(now);
        return ended_ || !taken_;
    }

    constexpr heard ends(lock_end how, steady_time now) noexcept
    {
        if (!is_over(now)) {
            ended_ = how;
            return heard::taken;
        }
        // What was kept for too long is still held, until this.
        if (ended_ != lock_end::too_long || now >= until_) return heard::late;
        until_ = now;
        return heard::taken;
    }

    constexpr void lasts_until(steady_time asked, std::optional<duration> told) noexcept
    {
        const duration lasts = told ? *told : options_.lock;
        until_ = asked + lasts;
        not_before_ = until_ - detail::renewed_early(options_, lasts);
    }

    [[nodiscard]] constexpr duration pause_at(steady_time at, std::uint32_t n, double draw,
                                              duration hint) const noexcept
    {
        const backoff& b = options_.pauses;
        const duration most = greater(greater(until_ - at, duration{}) * 0.5, b.base);
        const duration asked = lesser(hint, greater(greater(b.cap, duration{}), b.highest_hint));
        return greater(lesser(pause(b, n, draw), most), asked);
    }

    [[nodiscard]] constexpr steady_time unanswered_at() const noexcept
    {
        return asked_at_ + options_.answer;
    }

    [[nodiscard]] constexpr steady_time after_silence() const noexcept
    {
        const std::uint32_t n = failures_ == UINT32_MAX ? failures_ : failures_ + 1;
        return unanswered_at() + pause_at(unanswered_at(), n, draw_, {});
    }

    lock_renewal_options options_;
    steady_time until_{};       // the lock is held until then
    steady_time limit_{};       // and kept until then
    steady_time not_before_{};  // the next renewal, if none is under way
    steady_time asked_at_{};
    double draw_ = 0.5;
    std::uint32_t attempt_ = 0;
    std::uint32_t failures_ = 0;  // in a row
    bool taken_ = false;
    bool asked_ = false;     // and not answered, be it in time or not
    bool given_up_ = false;  // a permanent fault: it is let run out
    std::optional<lock_end> ended_{};
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_LOCK_RENEWAL_HPP
