// SPDX-License-Identifier: MIT
//
// pipeline_policy: what the steps of a session may do, and the ways in which one of them can end.
//
// A broker that parks a step itself goes on with the next one, as if nothing had been. So the
// limits here must be reached before its own: `check` refuses a policy under which it is first.

#ifndef WAYBILL_SESSION_PIPELINE_POLICY_HPP
#define WAYBILL_SESSION_PIPELINE_POLICY_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/check.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/retry/nanoseconds.hpp>

namespace waybill::inline v0_2 {

/// What the failure of one step means to those after it.
enum class pipeline_mode : std::uint8_t {
    /// They depend on it, as payment does on the order: all of them are parked.
    stop_on_failure,
    /// Nothing, as with the products of an import. Steps may be missing, and may come late. One
    /// that its sender sent twice runs twice: it cannot be told from one that is late.
    ///
    /// The state says how far the session has come, and nothing of each step behind that. So:
    ///   - a late step that fails and is not complete is counted as parked each time that it comes;
    ///   - one that comes after the last step finds the state gone, and leaves a new one behind,
    ///     which nothing clears: a sweep finds it as one that is stuck;
    ///   - what a late step makes of the user's part of the state is not stored;
    ///   - where the broker does not count, a late step that ends its process is never parked, as
    ///     there is no room for its tries. So only steps that cannot do that may be late there.
    independent,
};

[[nodiscard]] constexpr std::string_view name(pipeline_mode m) noexcept
{
    switch (m) {
        case pipeline_mode::stop_on_failure: return "stop_on_failure";
        case pipeline_mode::independent: return "independent";
    }
    return "?";
}

/// What becomes of the steps of a session whose state is corrupt or too large. The state itself is
/// never touched. Where a later version has written it they are held in any case. A value that this
/// program cannot make of it is `corrupt` too, and so is an upgrade that fails: `hold` waits for a
/// program that can.
enum class when_unreadable : std::uint8_t {
    park,  ///< Each is parked, so that nothing waits for somebody to notice.
    hold,  ///< Each is given back, until somebody has mended the state.
};

[[nodiscard]] constexpr std::string_view name(when_unreadable w) noexcept
{
    switch (w) {
        case when_unreadable::park: return "park";
        case when_unreadable::hold: return "hold";
    }
    return "?";
}

/// What becomes of a step whose letter is refused for good, say for its size.
enum class when_refused : std::uint8_t {
    hold,          ///< It is given back, until the broker parks it itself or there is room for it.
    without_body,  ///< Its letter has no body: it is lost where nobody else has kept it.
};

[[nodiscard]] constexpr std::string_view name(when_refused w) noexcept
{
    switch (w) {
        case when_refused::hold: return "hold";
        case when_refused::without_body: return "without_body";
    }
    return "?";
}

struct pipeline_policy {
    pipeline_mode mode = pipeline_mode::stop_on_failure;
    /// Tries of one step that ended as transient, over all its deliveries, and the pauses between.
    /// After a fault of the surroundings `pauses` are those before the session comes again: they
    /// grow with the deliveries of the message, and are the cap where nobody counts these. Where
    /// the broker counts, but not what was given back, each of an outage is the first one, and the
    /// handler is called after each: choose `pauses.base` with that in mind.
    retry_policy retry{};
    /// The longest pause that is waited for with the message in hand: renew its lock meanwhile. For
    /// a longer one the tries are saved and the session is given back; who has it too early waits
    /// so long at most. But a late step waits in hand, as the state has no room for its tries.
    duration patience = duration::seconds(10);
    /// A step that comes more often than this is parked and not run: its deliveries ended the
    /// process, lost the lock, or were given back where that counts. A broker that does not count
    /// says 0 deliveries: then each try is saved before it begins, and taken back if it ends by no
    /// fault of its own. Where nobody could save that, since the process or the store was gone, or
    /// the lock with the state under it, it is a try as well: the state of one that the step itself
    /// has killed looks the same. A delivery that parks may end, too: those that are left to the
    /// broker's own limit are for that.
    std::uint64_t deliveries = 7;
    /// As set there; `highest_size` where it parks nothing. `retry.most` and `deliveries` are less.
    std::uint64_t broker_deliveries = 10;
    when_unreadable unreadable = when_unreadable::park;
    when_refused refused = when_refused::hold;
    std::size_t reason_bytes = 1'024;  ///< Most bytes of the text that says why a step failed.

    friend bool operator==(const pipeline_policy&, const pipeline_policy&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> check(const pipeline_policy& p) noexcept
{
    if (const auto bad = check(p.retry)) return bad;
    if (p.retry.most >= p.broker_deliveries) {
        return config_error{"retry.most", p.retry.most,
                            "must be less than broker_deliveries: a broker that parks a step first "
                            "delivers the next one",
                            p.broker_deliveries};
    }
    if (p.deliveries == 0) return config_error{"deliveries", 0, "must be at least", 1};
    if (p.deliveries >= p.broker_deliveries) {
        return config_error{"deliveries", p.deliveries,
                            "must be less than broker_deliveries: a broker that parks a step first "
                            "delivers the next one",
                            p.broker_deliveries};
    }
    if (p.patience < duration{}) {
        return config_error{"patience", detail::magnitude(p.patience),
                            "nanoseconds must be at least", 0, true};
    }
    return {};
}

/// What became of a message.
enum class step_end : std::uint8_t {
    done,        ///< The step has run, the state says so, and the message is complete.
    repeated,    ///< It was done before, and is complete now.
    parked,      ///< There is a letter with the reason, and the message is complete.
    given_back,  ///< It comes again, and with it the rest of its session.
    held,        ///< The same, as the state of its session must not be written over.
    /// Nobody knows, or somebody else has the session now. It comes again, if it is not complete.
    lost,
    not_taken,   ///< Another message is in hand. Nothing was done with this one: it has to wait.
};

[[nodiscard]] constexpr std::string_view name(step_end e) noexcept
{
    switch (e) {
        case step_end::done: return "done";
        case step_end::repeated: return "repeated";
        case step_end::parked: return "parked";
        case step_end::given_back: return "given_back";
        case step_end::held: return "held";
        case step_end::lost: return "lost";
        case step_end::not_taken: return "not_taken";
    }
    return "?";
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_PIPELINE_POLICY_HPP
