// SPDX-License-Identifier: MIT
//
// ext/fmt/session: progress and failures of sessions, pipelines, redrives and sweeps as lines.

#ifndef WAYBILL_EXT_FMT_SESSION_HPP
#define WAYBILL_EXT_FMT_SESSION_HPP

#include <waybill/ext/fmt/detail/package.hpp>

#include <waybill/ext/fmt/detail/line.hpp>
#include <waybill/ext/fmt/retry.hpp>
#include <waybill/session/dead_letter_import.hpp>
#include <waybill/session/envelope.hpp>
#include <waybill/session/job.hpp>
#include <waybill/session/pipeline.hpp>
#include <waybill/session/pipeline_dead_letter.hpp>
#include <waybill/session/pipeline_policy.hpp>
#include <waybill/session/pipeline_steps.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/redrive.hpp>
#include <waybill/session/redrive_plan.hpp>
#include <waybill/session/redrive_report.hpp>
#include <waybill/session/row_key.hpp>
#include <waybill/session/session_report.hpp>
#include <waybill/session/state_budget.hpp>
#include <waybill/session/state_text.hpp>
#include <waybill/session/step.hpp>
#include <waybill/session/step_properties.hpp>
#include <waybill/session/sweep.hpp>

namespace waybill::inline v0_2::detail::words {

template <>
struct line_of<dead_letter_reason> : enumerator_line {};
template <>
struct line_of<dead_letter_import::import_outcome> : enumerator_line {};
template <>
struct line_of<job_error::code> : enumerator_line {};
template <>
struct line_of<opened_state::problem_type> : enumerator_line {};
template <>
struct line_of<pipeline_policy::pipeline_mode> : enumerator_line {};
template <>
struct line_of<pipeline_policy::when_refused> : enumerator_line {};
template <>
struct line_of<pipeline_policy::when_unreadable> : enumerator_line {};
template <>
struct line_of<redrive::redrive_outcome> : enumerator_line {};
template <>
struct line_of<row_key::read_outcome> : enumerator_line {};
template <>
struct line_of<redrive_plan::skip_reason> : enumerator_line {};
template <>
struct line_of<session_report::run_outcome> : enumerator_line {};
template <>
struct line_of<state_format> : enumerator_line {};
template <>
struct line_of<state_read> : enumerator_line {};
template <>
struct line_of<step_outcome> : enumerator_line {};
template <>
struct line_of<step_properties_read::read_outcome> : enumerator_line {};
template <>
struct line_of<sweep_item::sweep_verdict> : enumerator_line {};
template <>
struct line_of<text_state::read_result::problem_type> : enumerator_line {
};

[[nodiscard]] inline std::string letters(std::uint64_t n)
{
    return counted(n, "letter", "letters");
}

template <>
struct line_of<schema_version> {
    template <class T>
    [[nodiscard]] static std::string text(const T& v)
    {
        return describe(v);
    }
};

template <>
struct line_of<opened_state> {
    template <class T>
    [[nodiscard]] static std::string text(const T& s)
    {
        return one_line(describe(s));
    }
};

template <>
struct line_of<text_state::read_result> {
    template <class T>
    [[nodiscard]] static std::string text(const T& r)
    {
        return one_line(describe(r));
    }
};

template <>
struct line_of<state_budget::too_large> {
    template <class T>
    [[nodiscard]] static std::string text(const T& e)
    {
        return describe(e);
    }
};

template <>
struct line_of<job_error> {
    template <class T>
    [[nodiscard]] static std::string text(const T& e)
    {
        return one_line(describe(e));
    }
};

template <>
struct line_of<job_progress> {
    template <class T>
    [[nodiscard]] static std::string text(const T& p)
    {
        return one_line(describe(p));
    }
};

template <>
struct line_of<row_key> {
    template <class T>
    [[nodiscard]] static std::string text(const T& r)
    {
        return one_line(describe(r));
    }
};

template <>
struct line_of<step_properties_read> {
    template <class T>
    [[nodiscard]] static std::string text(const T& r)
    {
        return one_line(r.text());
    }
};

template <>
struct line_of<pipeline_dead_letter> {
    template <class T>
    [[nodiscard]] static std::string text(const T& l)
    {
        return one_line(describe(l));
    }
};

template <>
struct line_of<session_report> {
    template <class T>
    [[nodiscard]] static std::string text(const T& r)
    {
        return one_line(describe(r));
    }
};

template <>
struct line_of<pipeline::step> {
    template <class T>
    [[nodiscard]] static std::string text(const T& s)
    {
        return fmt::format("{}, attempt {}", one_line(s.key()), s.attempt);
    }
};

template <>
struct line_of<sweep_item> {
    template <class T>
    [[nodiscard]] static std::string text(const T& i)
    {
        return describe(i);
    }
};

template <>
struct line_of<redrive_plan::session_marks> {
    template <class T>
    [[nodiscard]] static std::string text(const T& m)
    {
        return describe(m);
    }
};

template <>
struct line_of<state_budget> {
    template <class T>
    [[nodiscard]] static std::string text(const T& b)
    {
        return fmt::format("{}, {} of them kept for a failure", bytes(b.bytes), b.failure_reserve);
    }
};

/// "step 2 of 5", or "step 2" if the total is not known.
[[nodiscard]] inline std::string step_of(std::uint64_t step, std::uint64_t total)
{
    if (total == 0) return "step " + number(step);
    return "step " + number(step) + " of " + number(total);
}

template <>
struct line_of<step_properties> {
    template <class T>
    [[nodiscard]] static std::string text(const T& s)
    {
        std::string result = one_line(s.session) + ", " + step_of(s.step, s.total);
        if (s.first != 1) result += fmt::format(", begins with step {}", s.first);
        if (s.last) result += ", the last";
        return result;
    }
};

template <>
struct line_of<step_facts> {
    template <class T>
    [[nodiscard]] static std::string text(const T& f)
    {
        std::string result = fmt::format("{}, message {}", step_of(f.step, f.total), f.sequence);
        if (f.first != 1) result += fmt::format(", begins with step {}", f.first);
        if (f.last) result += ", the last";
        if (f.deliveries > 1) result += fmt::format(", delivery {}", f.deliveries);
        return result;
    }
};

template <>
struct line_of<step_failure> {
    template <class T>
    [[nodiscard]] static std::string text(const T& f)
    {
        std::string result =
            fmt::format("step {} (message {}) {} after {} at {}", f.step, f.sequence,
                        name(f.reason), counted(f.tries, "try", "tries"), line(f.at));
        if (!f.text.empty()) result += ": " + one_line(f.text);
        return result;
    }
};

template <>
struct line_of<session_progress> {
    template <class T>
    [[nodiscard]] static std::string text(const T& p)
    {
        std::string result = p.total == 0 ? fmt::format("{} done", p.done)
                                          : fmt::format("{} of {} done", p.done, p.total);
        if (p.first > 1) result += fmt::format(", begins with step {}", p.first);
        if (p.arrived != 0) result += fmt::format(", {} numbered by arrival", p.arrived);
        if (p.dead_lettered != 0)
            result += fmt::format(", {} of them dead-lettered", p.dead_lettered);
        if (p.tries != 0)
            result += fmt::format(", {} at the next", counted(p.tries, "try", "tries"));
        if (p.failed) result += "; stopped by " + line(*p.failed);
        return result;
    }
};

template <>
struct line_of<pipeline_policy> {
    template <class T>
    [[nodiscard]] static std::string text(const T& p)
    {
        return fmt::format(
            "{}: at most {} of a step, in hand for {}, {} of {}; unreadable: {}, "
            "refused: {}",
            name(p.mode), counted(p.retry.max_attempts, "try", "tries"), line(p.max_wait_in_hand),
            counted(p.max_deliveries, "delivery", "deliveries"),
            p.broker_max_deliveries == detail::highest_size
                ? std::string("any number")
                : fmt::format("{}", p.broker_max_deliveries),
            name(p.unreadable), name(p.refused));
    }
};

template <>
struct line_of<sweep_policy> {
    template <class T>
    [[nodiscard]] static std::string text(const T& p)
    {
        std::string result =
            fmt::format("messages live for {}, failed states for {}, stuck after {}",
                        line(p.messages_live), line(p.keep_failed), line(p.stuck_after));
        if (p.give_up_after != duration::highest())
            result += ", gone after " + line(p.give_up_after);
        return result;
    }
};

template <>
struct line_of<pipeline::load_state> {
    template <class T>
    [[nodiscard]] static std::string text(const T&)
    {
        return "load state";
    }
};

template <>
struct line_of<pipeline::execute> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        if (a.tries <= 1) return fmt::format("execute step {}", a.step);
        return fmt::format("execute step {}, try {}", a.step, a.tries);
    }
};

template <>
struct line_of<pipeline::save_state> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return a.keep_old_value ? "save state, undone" : "save state";
    }
};

template <>
struct line_of<pipeline::write_dead_letter> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        std::string result = fmt::format("write dead letter: {}", name(a.reason));
        if (a.cause != 0) result += fmt::format(" by message {} of step {}", a.cause, a.cause_step);
        if (a.tries != 0) result += " after " + counted(a.tries, "try", "tries");
        if (a.without_body) result += ", without its body";
        if (a.independent) result += ", of an independent step";
        return result;
    }
};

template <>
struct line_of<pipeline::clear_state> {
    template <class T>
    [[nodiscard]] static std::string text(const T&)
    {
        return "clear state";
    }
};

template <>
struct line_of<pipeline::give_back> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        std::string result = "give back until " + line(a.until);
        if (a.reason != fault_kind::none) result += ": " + line(a.reason);
        return result;
    }
};

template <>
struct line_of<redrive::resubmit> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return fmt::format("resubmit {} from {} on", letters(a.count), a.offset);
    }
};

template <>
struct line_of<redrive::mark_sent> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return fmt::format("mark {} as sent, the first is number {}",
                           counted(a.count, "session", "sessions"), a.session);
    }
};

template <>
struct line_of<redrive::remove_dead_letters> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return fmt::format("remove {} from {} on", letters(a.count), a.offset);
    }
};

template <>
struct line_of<redrive::redrive_report> {
    template <class T>
    [[nodiscard]] static std::string text(const T& r)
    {
        return one_line(describe(r));
    }
};

template <>
struct line_of<redrive::redrive_report::refused_letter> {
    template <class T>
    [[nodiscard]] static std::string text(const T& r)
    {
        return one_line(describe(r));
    }
};

template <>
struct line_of<pipeline::action> : action_line {};
template <>
struct line_of<redrive::action> : action_line {};
template <>
struct line_of<dead_letter_import::action> : action_line {};

}  // namespace waybill::inline v0_2::detail::words
#include <waybill/session/describe.hpp>

// Full specialisations: only those take precedence over the partial specialisations for variants
// and ranges in the headers of {fmt}.
template <>
struct fmt::formatter<waybill::pipeline::action>
    : waybill::detail::line_formatter<waybill::pipeline::action> {};
template <>
struct fmt::formatter<waybill::redrive::action>
    : waybill::detail::line_formatter<waybill::redrive::action> {};
template <>
struct fmt::formatter<waybill::dead_letter_import::action>
    : waybill::detail::line_formatter<waybill::dead_letter_import::action> {};

#endif  // WAYBILL_EXT_FMT_SESSION_HPP
