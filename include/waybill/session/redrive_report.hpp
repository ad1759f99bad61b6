// SPDX-License-Identifier: MIT
//
// redrive_report: the dead letters that redrive_all sent, removed and left.

#ifndef WAYBILL_SESSION_REDRIVE_REPORT_HPP
#define WAYBILL_SESSION_REDRIVE_REPORT_HPP

#include <cstdint>
#include <string>
#include <vector>

#include <waybill/core/detail/described.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/session/redrive.hpp>

namespace waybill::inline v0_2 {

/// The report of one call of redrive_all, or the sum of several calls with the same report.
struct [[nodiscard]] redrive_types::redrive_report {
    /// A dead letter that the broker or the table never accepts. Its session stays from there on.
    struct refused_letter {
        std::string session{};
        std::uint64_t step = 0;
        std::uint64_t sequence = 0;  ///< The broker's sequence number of the old message.
        fault reason{};

        friend bool operator==(const refused_letter&, const refused_letter&) = default;
    };

    /// `running` after a stop request or at the time limit: a further call continues.
    redrive_outcome outcome = redrive_outcome::running;
    fault reason{};          ///< The fault that stopped the redrive.
    std::uint64_t sent = 0;  ///< Messages that the broker accepted.
    /// Attempts with an unknown outcome (an `infrastructure` fault or an exception). Each can have
    /// caused one more message with the same message id.
    std::uint64_t in_doubt = 0;
    std::uint64_t removed = 0;    ///< Dead letters removed from the table.
    std::uint64_t held_back = 0;  ///< Dead letters that the last plan held back.
    std::uint64_t filtered = 0;   ///< Dead letters that the filter did not select.
    std::vector<refused_letter> refused{};

    /// True if everything that the filter selected was sent and removed.
    [[nodiscard]] bool ok() const noexcept
    {
        return outcome == redrive_outcome::finished && held_back == 0 && refused.empty();
    }

    friend bool operator==(const redrive_report&, const redrive_report&) = default;
};

/// One line: "finished: 3 sent, 3 removed, 0 held back".
[[nodiscard]] inline std::string describe(const redrive_types::redrive_report& r)
{
    std::string line(name(r.outcome));
    if (!r.reason.ok()) {
        line += " (";
        line += name(r.reason.kind);
        if (!r.reason.text.empty()) line += ": " + r.reason.text;
        line += ')';
    }
    line += ": " + std::to_string(r.sent) + " sent, " + std::to_string(r.removed) + " removed, ";
    line += std::to_string(r.held_back) + " held back";
    if (r.in_doubt != 0) line += ", " + std::to_string(r.in_doubt) + " in doubt";
    if (!r.refused.empty()) line += ", " + std::to_string(r.refused.size()) + " refused";
    return line;
}

/// One line: "order-17, step 4 (17): permanent: too large".
[[nodiscard]] inline std::string describe(const redrive_types::redrive_report::refused_letter& r)
{
    std::string line = r.session + ", step " + std::to_string(r.step);
    line += " (" + std::to_string(r.sequence) + "): ";
    line += name(r.reason.kind);
    if (!r.reason.text.empty()) line += ": " + r.reason.text;
    return line;
}

template <>
struct detail::words::line_of<redrive_types::redrive_report> : detail::words::described_line {};
template <>
struct detail::words::line_of<redrive_types::redrive_report::refused_letter>
    : detail::words::described_line {};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_REDRIVE_REPORT_HPP
