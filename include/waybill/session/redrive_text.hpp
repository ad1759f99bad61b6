// SPDX-License-Identifier: MIT
//
// redrive_text: describes a redrive plan as text, for a review before anything is sent.
//
//     order-17 -> order-17~1: 3 letters, steps 3 to 5 of 5: failed: no template
//     order-18: 2 letters, steps 4 to 5, held back: damaged (its first step is missing): gap: ...
//     import-3 -> import-3~1: 3 letters, steps 17 to 4000 (each alone): failed: no price, and 2 for
//     other reasons
//     12 letters of 4 sessions to send, 2 of 1 held back, 0 not asked for

#ifndef WAYBILL_SESSION_REDRIVE_TEXT_HPP
#define WAYBILL_SESSION_REDRIVE_TEXT_HPP

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <waybill/session/pipeline_dead_letter.hpp>
#include <waybill/session/redrive_plan.hpp>
#include <waybill/session/redrive_session.hpp>

namespace waybill::inline v0_2 {

/// Describes one session of a plan. Requires: `letters` in the order in which `plan_redrive` left
/// them.
[[nodiscard]] inline std::string describe(const redrive_session& s,
                                          std::span<const pipeline_dead_letter> letters)
{
    const auto part = letters.subspan(s.offset,
                                      s.count);
    std::string line = part.empty() ? std::string() : part.front().properties.session;
    if (s.held == skip_reason::none) line += " -> " + s.id;
    line += ": " + std::to_string(s.count) + (s.count == 1 ? " letter" : " letters");
    if (!part.empty() && !s.marks.unnumbered) {
        const std::uint64_t first = part.front().properties.step;
        const std::uint64_t last = part.back().properties.step;
        line += first == last ? ", step " : ", steps ";
        line += std::to_string(first);
        if (first != last) line += " to " + std::to_string(last);
        const bool ends = s.held == skip_reason::none && s.total != 0 && !s.marks.alone;
        if (ends) line += " of " + std::to_string(s.total);
    }
    if (s.without_body != 0) line += ", " + std::to_string(s.without_body) + " bodies to fetch";
    const std::string marks = describe(s.marks);
    if (s.held != skip_reason::none) line += ", held back: " + std::string(name(s.held));
    if (!marks.empty()) line += " (" + marks + ")";
    const pipeline_dead_letter* reason = nullptr;
    std::uint64_t others = 0;
    for (const pipeline_dead_letter& l : part) {
        if (!is_cause(l)) continue;
        if (reason == nullptr) reason = &l;
        if (l.reason != reason->reason || l.text != reason->text) ++others;
    }
    if (reason == nullptr) return line;
    line += ": ";
    line += name(reason->reason);
    if (!reason->text.empty()) line += ": " + reason->text;
    // In a session that stops, the other causes follow from the first.
    if (!s.marks.alone || others == 0) return line;
    line += ", and " + std::to_string(others);
    return line + (others == 1 ? " for another reason" : " for other reasons");
}

/// Describes the plan in one line: numbers of dead letters and sessions.
[[nodiscard]] inline std::string describe(const redrive_plan& p)
{
    std::uint64_t ready = 0;
    std::uint64_t held = 0;
    for (const redrive_session& s : p.sessions) {
        if (s.held == skip_reason::none)
            ++ready;
        else if (s.held != skip_reason::filtered)
            ++held;
    }
    return std::to_string(p.ready) + " letters of " + std::to_string(ready) +
           " sessions to send, " + std::to_string(p.held) + " of " + std::to_string(held) +
           " held back, " + std::to_string(p.filtered) + " not asked for";
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_REDRIVE_TEXT_HPP
