// SPDX-License-Identifier: MIT
//
// ext/fmt_session: progress and failures of sessions, actions of pipelines, and redrives and sweeps
// as lines.

#ifndef WAYBILL_EXT_FMT_SESSION_HPP
#define WAYBILL_EXT_FMT_SESSION_HPP

#include <string>
#include <variant>

#include <fmt/format.h>

#include <waybill/ext/fmt_act.hpp>
#include <waybill/ext/fmt_consume.hpp>
#include <waybill/ext/fmt_line.hpp>
#include <waybill/session/dead_letter_import.hpp>
#include <waybill/session/envelope.hpp>
#include <waybill/session/job.hpp>
#include <waybill/session/pipeline.hpp>
#include <waybill/session/pipeline_dead_letter.hpp>
#include <waybill/session/pipeline_policy.hpp>
#include <waybill/session/pipeline_steps.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/redrive.hpp>
#include <waybill/session/redrive_session.hpp>
#include <waybill/session/row_key.hpp>
#include <waybill/session/state_budget.hpp>
#include <waybill/session/state_text.hpp>
#include <waybill/session/step.hpp>
#include <waybill/session/step_properties.hpp>
#include <waybill/session/sweep.hpp>

namespace waybill::inline v0_2::detail::words {

[[nodiscard]] inline std::string letters(std::uint64_t n)
{
    return counted(n, "letter", "letters");
}

[[nodiscard]] inline std::string line(const schema_version& v)
{
    return describe(v);
}
[[nodiscard]] inline std::string line(const opened_state& s)
{
    return one_line(describe(s));
}
[[nodiscard]] inline std::string line(const text_state_read& r)
{
    return one_line(describe(r));
}
[[nodiscard]] inline std::string line(const state_too_large& e)
{
    return describe(e);
}
[[nodiscard]] inline std::string line(const job_error& e)
{
    return one_line(describe(e));
}
[[nodiscard]] inline std::string line(const job_progress& p)
{
    return one_line(describe(p));
}
[[nodiscard]] inline std::string line(const row_key_read& r)
{
    return one_line(describe(r));
}
[[nodiscard]] inline std::string line(const step_properties_read& r)
{
    return one_line(r.text());
}
[[nodiscard]] inline std::string line(const pipeline_dead_letter& l)
{
    return one_line(describe(l));
}
[[nodiscard]] inline std::string line(const sweep_item& i)
{
    return describe(i);
}
[[nodiscard]] inline std::string line(const redrive_marks& m)
{
    return describe(m);
}

[[nodiscard]] inline std::string line(const state_budget& b)
{
    return fmt::format("{}, {} of them kept for a failure", bytes(b.bytes), b.failure_reserve);
}

/// "step 2 of 5", or "step 2" if the total is not known.
[[nodiscard]] inline std::string step_of(std::uint64_t step, std::uint64_t total)
{
    if (total == 0) return fmt::format("step {}", step);
    return fmt::format("step {} of {}", step, total);
}

[[nodiscard]] inline std::string line(const step_properties& s)
{
    std::string said = one_line(s.session) + ", " + step_of(s.step, s.total);
    if (s.first != 1) said += fmt::format(", from {} on", s.first);
    if (s.last) said += ", the last";
    return said;
}

[[nodiscard]] inline std::string line(const step_facts& f)
{
    std::string said = fmt::format("{}, message {}", step_of(f.step, f.total), f.sequence);
    if (f.first != 1) said += fmt::format(", from {} on", f.first);
    if (f.last) said += ", the last";
    if (f.deliveries > 1) said += fmt::format(", delivery {}", f.deliveries);
    return said;
}

[[nodiscard]] inline std::string line(const step_failure& f)
{
    std::string said = fmt::format("step {} (message {}) {} after {} at {}", f.step, f.sequence,
                                   name(f.reason), counted(f.tries, "try", "tries"), line(f.at));
    if (!f.text.empty()) said += ": " + one_line(f.text);
    return said;
}

[[nodiscard]] inline std::string line(const session_progress& p)
{
    std::string said = p.total == 0 ? fmt::format("{} done", p.done)
                                    : fmt::format("{} of {} done", p.done, p.total);
    if (p.first > 1) said += fmt::format(", from {} on", p.first);
    if (p.dead_lettered != 0) said += fmt::format(", {} of them parked", p.dead_lettered);
    if (p.tries != 0) said += fmt::format(", {} at the next", counted(p.tries, "try", "tries"));
    if (p.failed) said += "; stopped by " + line(*p.failed);
    return said;
}

[[nodiscard]] inline std::string line(const pipeline_policy& p)
{
    return fmt::format(
        "{}: at most {} of a step, in hand for {}, {} of {}; unreadable: {}, "
        "refused: {}",
        name(p.mode), counted(p.retry.max_attempts, "try", "tries"), line(p.patience),
        counted(p.deliveries, "delivery", "deliveries"),
        p.broker_deliveries == highest_size ? std::string("any number")
                                            : fmt::format("{}", p.broker_deliveries),
        name(p.unreadable), name(p.refused));
}

[[nodiscard]] inline std::string line(const sweep_policy& p)
{
    std::string said =
        fmt::format("messages live for {}, failed states for {}, stuck after {}",
                    line(p.messages_live), line(p.keep_failed), line(p.stuck_after));
    if (p.give_up_after != duration::highest()) said += ", gone after " + line(p.give_up_after);
    return said;
}

[[nodiscard]] inline std::string line(const pipeline::load_state&)
{
    return "load state";
}
[[nodiscard]] inline std::string line(const pipeline::execute& a)
{
    if (a.tries <= 1) return fmt::format("execute step {}", a.step);
    return fmt::format("execute step {}, try {}", a.step, a.tries);
}
[[nodiscard]] inline std::string line(const pipeline::save_state& a)
{
    return a.undone ? "save state, undone" : "save state";
}
[[nodiscard]] inline std::string line(const pipeline::write_dead_letter& a)
{
    std::string said = fmt::format("park: {}", name(a.reason));
    if (a.cause != 0) said += fmt::format(" by message {} of step {}", a.cause, a.cause_step);
    if (a.tries != 0) said += " after " + counted(a.tries, "try", "tries");
    if (a.bare) said += ", without its body";
    if (a.alone) said += ", alone";
    return said;
}
[[nodiscard]] inline std::string line(const pipeline::clear_state&)
{
    return "clear state";
}
[[nodiscard]] inline std::string line(const pipeline::give_back& a)
{
    std::string said = "give back until " + line(a.until);
    if (a.reason != fault_kind::none) said += ": " + line(a.reason);
    return said;
}

[[nodiscard]] inline std::string line(const redrive::resubmit& a)
{
    return fmt::format("resubmit {} from {} on", letters(a.count), a.offset);
}
[[nodiscard]] inline std::string line(const redrive::mark_sent& a)
{
    return fmt::format("mark {} from {} on as sent", counted(a.count, "session", "sessions"),
                       a.session);
}
[[nodiscard]] inline std::string line(const redrive::remove_dead_letters& a)
{
    return fmt::format("remove {} from {} on", letters(a.count), a.offset);
}

[[nodiscard]] inline std::string line(const pipeline::action& a)
{
    return std::visit([](const auto& one) { return line(one); }, a);
}
[[nodiscard]] inline std::string line(const redrive::action& a)
{
    return std::visit([](const auto& one) { return line(one); }, a);
}
[[nodiscard]] inline std::string line(const dead_letter_import::action& a)
{
    return std::visit([](const auto& one) { return line(one); }, a);
}

}  // namespace waybill::inline v0_2::detail::words

#endif  // WAYBILL_EXT_FMT_SESSION_HPP
