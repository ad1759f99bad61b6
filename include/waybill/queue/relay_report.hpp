// SPDX-License-Identifier: MIT
//
// relay_report: the policy of a relay, its counts, and the reason why it has returned.

#ifndef WAYBILL_QUEUE_RELAY_REPORT_HPP
#define WAYBILL_QUEUE_RELAY_REPORT_HPP

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

namespace waybill::inline v0_2 {

/// The counts of one or several calls of `relay`. A row that is sent again is counted again.
struct relay_report {
    /// The configuration of a relay. `validate` finds invalid fields; `relay` uses the nearest
    /// valid values.
    struct policy {
        /// Maximum number of rows that the relay claims and holds in memory at a time.
        std::uint64_t max_rows = 1'000;
        /// The duration of a claim. If a quarter of it has passed, the relay renews the claim, and
        /// sends no batch before that has succeeded. After a crash the rows can be claimed again
        /// when it has ended. The longest call of `transmit` plus the difference of the hosts'
        /// clocks must be less than three quarters of it. Otherwise another relay may send the same
        /// rows meanwhile. After half of it without a renewal, the relay renews the claim before it
        /// marks rows. If a row is in a later claim, the relay marks none, and counts the rows that
        /// it has sent in `maybe_twice`.
        duration lease = duration::seconds(60);
        /// The pause after a claim without rows, and after an error of the store. Also how long a
        /// row waits after a batch has failed more often than the sender's policy allows. A row
        /// that was throttled for this time is returned to the store, and waits there as long.
        duration poll_interval = duration::seconds(1);
        /// The relay returns when no row is left that a relay could still send. Otherwise it runs
        /// until a stop is requested.
        bool drain = false;
        /// Later rows of a key wait until its dead row is removed. Otherwise they are sent.
        bool dead_row_blocks_key = false;

        friend bool operator==(const policy&, const policy&) = default;
    };

    /// The reason why the relay has returned.
    enum class ending : std::uint8_t {
        running,           ///< It has not returned: a callable has thrown.
        stop_requested,    ///< The environment has requested a stop. Rows may be left.
        drained,           ///< No row is left (only with `drain`).
        sender_stopped,    ///< The sender sends nothing more: a batch failed as cancelled.
        unordered_sender,  ///< Nothing was done: the policy of the sender does not set `ordered`.
        other_input,       ///< The sender has an open input of `send_all`, or attempts in flight.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(ending) noexcept
    {
        return "running, stop_requested, drained, sender_stopped, unordered_sender, other_input";
    }

    ending outcome = ending::running;
    std::uint64_t sent = 0;      ///< Rows that the broker accepted and that are marked as sent.
    std::uint64_t dead = 0;      ///< Rows that are marked as dead.
    std::uint64_t returned = 0;  ///< Rows that were returned to the store, to be claimed again.
    /// Rows that may arrive twice, unless the broker drops messages with equal ids. Their batch or
    /// their entry had an unknown outcome, they could not be marked as sent, or another relay
    /// claimed them while they were sent.
    std::uint64_t maybe_twice = 0;
    /// Rows that have arrived before an earlier row of their key, or may have: see
    /// `send_policy::may_overtake`.
    std::uint64_t overtook = 0;
    std::uint64_t sends = 0;         ///< Calls of `transmit`.
    std::uint64_t claims = 0;        ///< Claims that contained rows.
    std::uint64_t lost_claims = 0;   ///< Claims that ended before their rows were sent.
    std::uint64_t store_errors = 0;  ///< Failed calls of the store.
    /// Rows that stay as they are until their claim ends: the store refuses to mark them, and works
    /// otherwise. `last_error` has the id of the last one. If such a row was sent and has an id, the
    /// same call of `relay` tries to mark it in later claims, and does not send it again. It
    /// remembers at most `max_rows` such rows, each until two leases after its last claim.
    std::uint64_t unwritten = 0;
    fault last_error{};  ///< The last error of the store.

    friend bool operator==(const relay_report&, const relay_report&) = default;
};

/// The first invalid field, if any.
[[nodiscard]] constexpr std::optional<config_error> validate(const relay_report::policy& p) noexcept
{
    if (p.max_rows == 0) return config_error{"max_rows", 0, "must be at least", 1};
    constexpr duration shortest_poll = duration::milliseconds(1);
    const std::uint64_t poll = detail::magnitude(p.poll_interval);
    if (p.poll_interval < shortest_poll) {
        return config_error{"poll_interval", poll, "nanoseconds must be at least",
                            detail::magnitude(shortest_poll), p.poll_interval < duration{}};
    }
    // One failed renewal must not end the claim.
    const std::uint64_t lease = detail::magnitude(p.lease);
    if (p.lease < duration{} || lease / 2 < poll) {
        return config_error{"lease", lease,
                            "nanoseconds must be at least twice poll_interval, which is", poll,
                            p.lease < duration{}};
    }
    return {};
}

/// One line: the counts that are not zero, and why the relay has returned.
[[nodiscard]] inline std::string describe(const relay_report& r)
{
    std::string line = std::to_string(r.sent) + " sent";
    const auto add = [&](std::uint64_t n, std::string_view text) {
        if (n != 0) line.append(", ").append(std::to_string(n)).append(text);
    };
    add(r.dead, " dead");
    add(r.returned, " returned");
    add(r.maybe_twice, " maybe twice");
    add(r.overtook, " out of order");
    add(r.lost_claims, r.lost_claims == 1 ? " claim lost" : " claims lost");
    add(r.unwritten, " unwritten");
    add(r.store_errors, r.store_errors == 1 ? " store error" : " store errors");
    if (r.store_errors != 0 && !r.last_error.text.empty())
        line.append(" (last: ").append(r.last_error.text).append(")");
    line.append("; ").append(name(r.outcome));
    using ending = relay_report::ending;
    if (r.outcome == ending::unordered_sender)
        return line + ": nothing was sent, because the policy of the sender does not set `ordered`";
    if (r.outcome == ending::other_input) return line + ": the sender has items of another call";
    return line;
}

template <>
struct detail::words::line_of<relay_report> : detail::words::described_line {};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_QUEUE_RELAY_REPORT_HPP
