// SPDX-License-Identifier: MIT
//
// dead_letter_run: the options and the report of resubmit and reprocess_all.
//
//     dead_letter::run_policy p{.kind = fault_kind::transient, .max_per_second = 20};
//     log(describe(report));                   // finished: 12 done, 1 failed, 3 not selected

#ifndef WAYBILL_CONSUME_DEAD_LETTER_RUN_HPP
#define WAYBILL_CONSUME_DEAD_LETTER_RUN_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <waybill/consume/dead_letter_options.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/described.hpp>
#include <waybill/core/detail/nanoseconds.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/decide.hpp>

namespace waybill::inline v0_2 {

/// The dead letters to resubmit or reprocess, and the maximum rate.
struct dead_letter::run_policy {
    /// The keys, in this order. Empty: all keys of the store, which then needs dead_letter_keys().
    std::vector<partition_key> keys{};
    fault_kind kind = fault_kind::none;  ///< The kind of the fault; `none` selects all.
    wall_time dead_lettered_from = wall_time::lowest();  ///< The earliest time of dead-lettering.
    wall_time dead_lettered_to = wall_time::highest();   ///< The latest time of dead-lettering.
    std::uint32_t max_per_second = 0;  ///< Maximum messages or events per second; 0: no limit.
    /// Attempts of one dead letter, and of reading the store.
    retry_policy retry{.pauses = {.base = duration::seconds(1)}};
    std::uint64_t page = 100;  ///< Dead letters read at once, at least 1.
    /// The caller's function fetches bodies that are not in their dead letters. If false, these
    /// dead letters stay.
    bool fetches_bodies = false;
    dead_letter_options dead_letters{};  ///< Size of the reason of an event that fails again.

    friend bool operator==(const run_policy&, const run_policy&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(
    const dead_letter::run_policy& p) noexcept
{
    if (p.page == 0) return config_error{"page", 0, "must be at least", 1};
    if (p.dead_lettered_to < p.dead_lettered_from) {
        const duration to = p.dead_lettered_to.since_epoch();
        const duration from = p.dead_lettered_from.since_epoch();
        std::string_view rule = "nanoseconds since 1970 must be at least dead_lettered_from";
        if (from < duration{}) {
            rule = "nanoseconds since 1970 must be at least dead_lettered_from, which is minus";
        }
        return config_error{"dead_lettered_to", detail::magnitude(to), rule,
                            detail::magnitude(from), to < duration{}};
    }
    return validate(p.retry);
}

/// The report of one call, or the sum of several calls with the same report.
struct [[nodiscard]] dead_letter::run_report {
    /// The outcome of the call.
    enum class run_outcome : std::uint8_t {
        running,   ///< By a stop request or at the time limit. A further call continues.
        finished,  ///< Each selected dead letter was tried.
        stopped,   ///< By a fault: the store or the broker is down. A further call continues.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(run_outcome) noexcept
    {
        return "running, finished, stopped";
    }

    /// A dead letter that stays, because its message was refused or its event failed again.
    struct failed_letter {
        partition_key key{};
        std::uint64_t sequence = 0;
        fault reason{};

        friend bool operator==(const failed_letter&, const failed_letter&) = default;
    };

    run_outcome outcome = run_outcome::running;
    fault reason{};              ///< The fault that stopped the call.
    std::uint64_t done = 0;      ///< Sent or handled, and removed from the store.
    std::uint64_t skipped = 0;   ///< Skipped by the handler, and removed from the store.
    std::uint64_t absent = 0;    ///< Removed by another caller meanwhile.
    std::uint64_t gone = 0;      ///< The body is not available. The dead letter stays.
    std::uint64_t filtered = 0;  ///< Not selected.
    /// Messages that can have arrived twice, with the same id. Counts attempts with an unknown
    /// outcome (an `infrastructure` fault or an exception), and sent messages whose dead letter
    /// stays.
    std::uint64_t in_doubt = 0;
    std::vector<failed_letter> failed{};

    /// True if every selected dead letter was sent or handled, and removed.
    [[nodiscard]] bool ok() const noexcept
    {
        return outcome == run_outcome::finished && failed.empty() && gone == 0;
    }

    friend bool operator==(const run_report&, const run_report&) = default;
};

/// One line: "finished: 12 done, 1 failed, 3 not selected".
[[nodiscard]] inline std::string describe(const dead_letter::run_report& r)
{
    std::string line(name(r.outcome));
    if (!r.reason.ok()) {
        line += " (";
        line += name(r.reason.kind);
        if (!r.reason.text.empty()) line += ": " + r.reason.text;
        line += ')';
    }
    line += ": " + std::to_string(r.done) + " done, " + std::to_string(r.failed.size()) + " failed";
    const auto append = [&](std::uint64_t n, std::string_view what) {
        if (n == 0) return;
        line += ", " + std::to_string(n);
        line += what;
    };
    append(r.skipped, " skipped");
    append(r.absent, " absent");
    append(r.gone, " without a body");
    append(r.filtered, " not selected");
    append(r.in_doubt, " in doubt");
    return line;
}

/// One line: "orders/billing/0, event 17: permanent: no total".
[[nodiscard]] inline std::string describe(const dead_letter::run_report::failed_letter& l)
{
    std::string line = l.key.source + "/" + l.key.group + "/" + l.key.partition;
    line += ", event " + std::to_string(l.sequence) + ": ";
    line += name(l.reason.kind);
    if (!l.reason.text.empty()) line += ": " + l.reason.text;
    return line;
}

template <>
struct detail::words::line_of<dead_letter::run_report> : detail::words::described_line {};
template <>
struct detail::words::line_of<dead_letter::run_report::failed_letter>
    : detail::words::described_line {};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_DEAD_LETTER_RUN_HPP
