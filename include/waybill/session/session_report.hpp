// SPDX-License-Identifier: MIT
//
// session_report: the policy of `run_session`, and its result.

#ifndef WAYBILL_SESSION_SESSION_REPORT_HPP
#define WAYBILL_SESSION_SESSION_REPORT_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/described.hpp>
#include <waybill/core/detail/nanoseconds.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/session/pipeline_dead_letter.hpp>
#include <waybill/session/pipeline_policy.hpp>
#include <waybill/session/step.hpp>

namespace waybill::inline v0_2 {

/// The result of `run_session`. Each received message is in exactly one of `done`, `repeated`,
/// `dead_lettered`, `given_back`, `state_unreadable` and `lost`.
struct [[nodiscard]] session_report {
    /// The configuration of `run_session`.
    struct policy {
        pipeline_policy pipeline{};
        pipeline_dead_letter::policy dead_letters{};
        /// Return as soon as the queue has no session to accept. Messages of locked sessions, and
        /// of sessions that were given back with a pause (`sessions_waiting`), may remain.
        bool until_empty = false;
        /// The pause after `accept` has found no session, or one without messages. At least 1 ms.
        duration poll = duration::seconds(1);
        /// The minimum time from one renewal of a session's lock to the next. The lock is renewed
        /// before an attempt, a save or a dead letter, and during pauses. Must be at most half of
        /// the lock duration of the queue, and more than 0.
        duration renew_every = duration::seconds(10);
        /// The property that marks the last message of a session without step numbers. Its values
        /// are those of `waybill-last`: true or false.
        std::string_view last_property = step_properties::names::last;

        friend bool operator==(const policy&, const policy&) = default;
    };

    /// The reason why the run ended.
    enum class run_outcome : std::uint8_t {
        unfinished,      ///< It has not ended, or a callable threw an exception.
        stopped,         ///< A stop was requested, or the time limit is reached.
        queue_empty,     ///< The policy has `until_empty`, and the queue had no session to accept.
        queue_refused,   ///< `accept` returned a permanent fault: see `last_fault`.
        invalid_policy,  ///< Nothing was done: see `policy_error`.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(run_outcome) noexcept
    {
        return "unfinished, stopped, queue_empty, queue_refused, invalid_policy";
    }

    run_outcome ended = run_outcome::unfinished;
    std::uint64_t sessions = 0;  ///< Locks of sessions that were accepted.
    std::uint64_t received = 0;  ///< Messages that were received.
    std::uint64_t done = 0;      ///< The step has run, and the message is complete.
    std::uint64_t repeated = 0;  ///< The step was done before. The message is complete.
    std::uint64_t dead_lettered = 0;
    std::uint64_t given_back = 0;  ///< The session was given back with the message.
    /// Given back, because the state of the session cannot be read and must not be overwritten.
    std::uint64_t state_unreadable = 0;
    /// The outcome is unknown, because a call failed or threw, or the lock was lost. The message is
    /// delivered again unless it is complete.
    std::uint64_t lost = 0;
    /// Messages without a step number, which were numbered by their arrival.
    std::uint64_t numbered_by_arrival = 0;
    /// Messages of redriven sessions that were sent without `planned_message::origin`. Their steps
    /// run without the results of earlier steps, and with the new session id as job.
    std::uint64_t without_origin = 0;
    /// Sessions that were given back with a pause that had not ended at the end of the call.
    std::uint64_t sessions_waiting = 0;
    std::uint64_t states_left = 0;  ///< Sessions that ended, and whose state could not be removed.
    std::uint64_t faults = 0;       ///< Failed calls to the queue, the state and the dead letters.
    fault last_fault{};             ///< The last of them.
    std::optional<config_error> policy_error{};

    friend bool operator==(const session_report&, const session_report&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(
    const session_report::policy& p) noexcept
{
    constexpr std::int64_t nanoseconds_per_millisecond = 1'000'000;
    if (const auto bad = validate(p.pipeline)) return bad;
    if (const auto bad = validate(p.dead_letters)) return bad;
    if (p.poll < duration::milliseconds(1)) {
        return config_error{.field = "poll",
                            .value = detail::magnitude(p.poll),
                            .rule = "nanoseconds must be at least",
                            .bound = nanoseconds_per_millisecond,
                            .negative = p.poll < duration{}};
    }
    if (p.renew_every <= duration{}) {
        return config_error{.field = "renew_every",
                            .value = detail::magnitude(p.renew_every),
                            .rule = "nanoseconds must be at least",
                            .bound = 1,
                            .negative = p.renew_every < duration{}};
    }
    if (p.last_property.empty())
        return config_error{"last_property", 0, "bytes must be at least", 1};
    return std::nullopt;
}

/// One line: the sessions, the outcomes of the messages, the end and the last fault.
[[nodiscard]] inline std::string describe(const session_report& r)
{
    if (r.policy_error) return "nothing was done: " + describe(*r.policy_error);
    using detail::counted_noun;
    std::string line = counted_noun(r.sessions, "session") + ", " +
                       counted_noun(r.received, "message") + ": " + std::to_string(r.done) +
                       " done";
    const auto add = [&line](std::uint64_t n, std::string_view text) {
        if (n == 0) return;
        line += ", ";
        line += std::to_string(n);
        line += text;
    };
    add(r.repeated, " repeated");
    add(r.dead_lettered, " dead-lettered");
    add(r.given_back, " given back");
    add(r.state_unreadable, " with an unreadable state");
    add(r.lost, " with an unknown outcome");
    add(r.without_origin, " redriven without an origin");
    if (r.states_left != 0) line += ", " + counted_noun(r.states_left, "state") + " left";
    line += "; ";
    const bool none_left = r.ended == session_report::run_outcome::queue_empty;
    line += none_left ? "no session to accept" : name(r.ended);
    add(r.sessions_waiting, r.sessions_waiting == 1 ? " waits" : " wait");
    if (r.faults == 0) return line;
    line += ", " + counted_noun(r.faults, "fault") + ", the last: ";
    line +=
        r.last_fault.text.empty() ? name(r.last_fault.kind) : std::string_view(r.last_fault.text);
    return line;
}

template <>
struct detail::words::line_of<session_report> : detail::words::described_line {};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_SESSION_REPORT_HPP
