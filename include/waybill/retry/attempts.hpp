// SPDX-License-Identifier: MIT
//
// attempts: how one call is tried again.
//
// A machine: `next` says what to do now, `on` tells it what happened. The clock, the dice and the
// call are the caller's:
//
//     waybill::attempts tries({.retry = {.most = 5}, .time_limit = 1min}, clock::now());
//     for (bool open = true; open;)
//         waybill::match(tries.next(clock::now()),
//             [&](act::go)        { tries.on(attempted{call().how, dice()}, clock::now()); },
//             [&](act::wait w)    { sleep_until(w.until); },
//             [&](act::done)      { open = false; },
//             [&](act::give_up g) { park(message, g.why); open = false; });
//
// Four things hold:
//   1. asked again, it answers the same until told otherwise, or until the time has come;
//   2. it goes at most `most` times, the first one counted, and never before the wait is over;
//   3. no try begins when the time limit is over, the first one included, and it does not wait for
//      one that would. A try that began in time may end after it, and counts;
//   4. after `done`, or a `give_up` that an event has brought about, nothing changes it any more.
//
// The limit counts on the caller's steady clock, from when the machine was made. A wall clock that
// is set back would give a call hours more, and one that is set forward none.
// A value without locks: one thread at a time.

#ifndef WAYBILL_RETRY_ATTEMPTS_HPP
#define WAYBILL_RETRY_ATTEMPTS_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include <waybill/core/act.hpp>
#include <waybill/core/check.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/retry/nanoseconds.hpp>
#include <waybill/retry/shared_budget.hpp>

namespace waybill::inline v0_2 {

namespace act {

/// Make the call, and tell how it went.
struct go {
    friend bool operator==(const go&, const go&) = default;
};

/// It worked. There is nothing more to do.
struct done {
    friend bool operator==(const done&, const done&) = default;
};

}  // namespace act

/// How often, how far apart, and for how long in all.
struct call_policy {
    retry_policy retry{};
    duration time_limit = duration::highest();  ///< No try begins so long after the start.

    friend bool operator==(const call_policy&, const call_policy&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> check(const call_policy& p) noexcept
{
    if (p.time_limit <= duration{}) {
        return config_error{"call.time_limit", detail::magnitude(p.time_limit),
                            "nanoseconds must be at least", 1, p.time_limit < duration{}};
    }
    return check(p.retry);
}

/// One try is over. `draw` in [0, 1) spreads the pauses; where it comes from is the caller's.
struct attempted {
    fault_class how = fault_class::none;
    double draw = 0.5;
    duration retry_after{};  ///< A server's own "come back after", if it said one.

    friend bool operator==(const attempted&, const attempted&) = default;
};

/// Why there is no other try.
enum class attempts_end : std::uint8_t {
    open,         ///< There may be one.
    succeeded,    ///< The last one worked.
    not_worth_it,  ///< It failed in a way that no retry can change, or was cancelled.
    tries,        ///< They are used up.
    time_limit,   ///< The next one would begin too late; or even the first, and none was made.
    budget,       ///< There are no retries left in the budget.
};

[[nodiscard]] constexpr std::string_view name(attempts_end e) noexcept
{
    switch (e) {
        case attempts_end::open: return "open";
        case attempts_end::succeeded: return "succeeded";
        case attempts_end::not_worth_it: return "not_worth_it";
        case attempts_end::tries: return "tries";
        case attempts_end::time_limit: return "time_limit";
        case attempts_end::budget: return "budget";
    }
    return "?";
}

class attempts {
public:
    using action = std::variant<act::go, act::wait, act::done, act::give_up>;

    /// The time limit counts from `now`; see make<attempts>(policy, now) below. With a budget, each
    /// retry is taken from it, and each success is told to it; see shared_budget.hpp for how long
    /// it has to live.
    constexpr attempts(const call_policy& p, steady_time now, shared_budget budget = {}) noexcept
        : policy_(p), budget_(budget), began_(now)
    {
    }

    /// What to do now. Where not even a first try could begin in time it gives up as `cancelled`:
    /// it has neither worked nor failed.
    [[nodiscard]] constexpr action next(steady_time now) const noexcept
    {
        if (end_ == attempts_end::succeeded) return act::done{};
        if (end(now) != attempts_end::open) {
            return act::give_up{tries_ == 0 ? fault_class::cancelled : how_};
        }
        if (now < not_before_) return act::wait{not_before_};
        return act::go{};
    }

    constexpr heard on(const attempted& a, steady_time now)
    {
        if (end_ != attempts_end::open) return heard::late;
        if (tries_ != ~std::uint32_t{0}) ++tries_;
        how_ = a.how;
        const retry_action then =
            decide(policy_.retry, tries_, a.how, pause_, a.draw, now, a.retry_after);
        const act::wait* w = std::get_if<act::wait>(&then);
        const steady_time at = w != nullptr ? w->until : now;
        if (a.how == fault_class::none) {
            end_ = attempts_end::succeeded;
            budget_.succeeded(now);
        } else if (std::holds_alternative<act::give_up>(then)) {
            end_ = is_worth_a_retry(a.how) ? attempts_end::tries : attempts_end::not_worth_it;
        } else if (too_late(at)) {
            end_ = attempts_end::time_limit;
        } else if (!budget_.spend(now)) {
            end_ = attempts_end::budget;
        } else {
            not_before_ = w != nullptr ? at : steady_time::lowest();
            pause_ = w != nullptr ? at - now : pause_;
        }
        return heard::taken;
    }

    /// So many tries are over.
    [[nodiscard]] constexpr std::uint32_t tries() const noexcept { return tries_; }
    /// How the last one went.
    [[nodiscard]] constexpr fault_class how() const noexcept { return how_; }
    /// Why there is no other try at `now`, if there is none.
    [[nodiscard]] constexpr attempts_end end(steady_time now) const noexcept
    {
        return end_ == attempts_end::open && too_late(now) ? attempts_end::time_limit : end_;
    }
    /// The same by what was told alone, however late it is now.
    [[nodiscard]] constexpr attempts_end end() const noexcept { return end_; }
    /// For how long it has been going on at `now`.
    [[nodiscard]] constexpr duration elapsed(steady_time now) const noexcept
    {
        return greater(now - began_, duration{});
    }
    [[nodiscard]] constexpr const call_policy& policy() const noexcept { return policy_; }

    friend bool operator==(const attempts&, const attempts&) = default;

private:
    [[nodiscard]] constexpr bool too_late(steady_time at) const noexcept
    {
        return policy_.time_limit < duration::highest() && elapsed(at) >= policy_.time_limit;
    }

    call_policy policy_;
    shared_budget budget_;
    steady_time began_;
    steady_time not_before_ = steady_time::lowest();
    duration pause_{};  // the last one
    std::uint32_t tries_ = 0;
    fault_class how_ = fault_class::none;
    attempts_end end_ = attempts_end::open;
};

/// Attempts from `now` on, or what is wrong with the policy.
template <std::same_as<attempts> M>
[[nodiscard]] constexpr result<M, config_error> make(const call_policy& p, steady_time now,
                                                     shared_budget budget = {})
{
    if (const std::optional<config_error> bad = check(p)) return unexpected(*bad);
    return M(p, now, budget);
}

template <std::same_as<attempts> M, std::convertible_to<call_policy> P>
[[nodiscard]] constexpr result<M, config_error> make(const P&)
{
    static_assert(!std::same_as<M, attempts>,
                  "attempts begin at a time: make<attempts>(policy, now)");
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_ATTEMPTS_HPP
