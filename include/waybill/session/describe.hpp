// SPDX-License-Identifier: MIT
//
// describe: progress and failures of sessions, pipelines, redrives and sweeps as text.

#ifndef WAYBILL_SESSION_DESCRIBE_HPP
#define WAYBILL_SESSION_DESCRIBE_HPP

#include <cstdint>
#include <string>

#include <waybill/core/describe.hpp>
#include <waybill/core/detail/line.hpp>
#include <waybill/retry/describe_policies.hpp>
#include <waybill/session/dead_letter_import.hpp>
#include <waybill/session/detail/describe_steps.hpp>
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
#include <waybill/session/session_state.hpp>
#include <waybill/session/session_store.hpp>
#include <waybill/session/state_budget.hpp>
#include <waybill/session/state_text.hpp>
#include <waybill/session/step.hpp>
#include <waybill/session/step_properties.hpp>
#include <waybill/session/sweep.hpp>

namespace waybill::inline v0_2::detail::words {

template <class Filter>
std::string redrive_filter_text(const Filter& f)
{
    std::string result = "dead letters";
    std::string_view between = " with the reason ";
    for (const dead_letter_reason r : f.reasons) {
        result += concat(between, r);
        between = " or ";
    }
    const Filter all{};
    const bool to_end = f.to_step == all.to_step;
    if (f.from_step != all.from_step || !to_end) {
        result += concat(", from step ", f.from_step);
        if (!to_end) result += concat(" to ", f.to_step);
    }
    if (f.dead_lettered_from != all.dead_lettered_from)
        result += concat(", dead-lettered from ", f.dead_lettered_from);
    if (f.dead_lettered_to != all.dead_lettered_to)
        result += concat(", dead-lettered before ", f.dead_lettered_to);
    if (!f.session.empty()) result += ", of session " + one_line(f.session);
    return f == all ? "all dead letters" : result;
}

template <>
struct line_of<job::progress> : described_line {};

template <>
struct line_of<row_key> : described_line {};

template <>
struct line_of<step_properties::read_result> {
    static std::string text(const auto& r) { return one_line(r.text()); }
};

template <>
struct line_of<pipeline_dead_letter> : described_line {};

template <>
struct line_of<sweep_item> : described_line {};

template <>
struct line_of<redrive_plan::session_marks> : described_line {};

template <>
struct line_of<state_budget> {
    static std::string text(const auto& b)
    {
        return concat(bytes(b.bytes), ", ", b.failure_reserve, " of them kept for a failure");
    }
};

/// "step 2 of 5", or "step 2" if the total is not known.
template <class N>
std::string step_of(N step, N total)
{
    if (total == 0) return "step " + number(step);
    return "step " + number(step) + " of " + number(total);
}

template <>
struct line_of<step_properties> {
    static std::string text(const auto& s)
    {
        std::string result = one_line(s.session) + ", " + step_of(s.step, s.total);
        if (s.first != 1) result += concat(", begins with step ", s.first);
        if (s.last) result += ", the last";
        return result;
    }
};

template <>
struct line_of<step_facts> {
    static std::string text(const auto& f)
    {
        std::string result = concat(step_of(f.step, f.total), ", message ", f.sequence);
        if (f.first != 1) result += concat(", begins with step ", f.first);
        if (f.last) result += ", the last";
        if (f.deliveries > 1) result += concat(", delivery ", f.deliveries);
        return result;
    }
};

template <>
struct line_of<session_progress::failure> {
    static std::string text(const auto& f)
    {
        std::string result = concat("step ", f.step, " (message ", f.sequence, ") ", name(f.reason),
                                    " after ", tries(f.tries), " at ", line(f.at));
        if (!f.text.empty()) result += ": " + one_line(f.text);
        return result;
    }
};

template <>
struct line_of<session_progress> {
    static std::string text(const auto& p)
    {
        std::string result =
            p.total == 0 ? concat(p.done, " done") : concat(p.done, " of ", p.total, " done");
        if (p.first > 1) result += concat(", begins with step ", p.first);
        if (p.dead_lettered != 0) result += concat(", ", p.dead_lettered, " of them dead-lettered");
        if (p.tries != 0) result += concat(", ", tries(p.tries), " at the next");
        if (p.arrived != 0) result += concat(", ", p.arrived, " numbered by arrival");
        if (p.failed) result += "; stopped by " + line(*p.failed);
        return result;
    }
};

template <>
struct line_of<pipeline_policy> {
    static std::string text(const auto& p)
    {
        return concat(name(p.mode), ": at most ", tries(p.retry.max_attempts),
                      " of a step, in hand for ", line(p.max_wait_in_hand), ", ",
                      counted(p.max_deliveries, "delivery", "deliveries"), " of ",
                      p.broker_max_deliveries == detail::highest_size
                          ? std::string("any number")
                          : concat(p.broker_max_deliveries),
                      "; unreadable: ", name(p.unreadable), ", refused: ", name(p.refused));
    }
};

template <>
struct line_of<sweep_policy> {
    static std::string text(const auto& p)
    {
        std::string result =
            concat("messages live for ", line(p.messages_live), ", failed states for ",
                   line(p.keep_failed), ", stuck after ", line(p.stuck_after));
        if (p.give_up_after != duration::highest())
            result += ", gone after " + line(p.give_up_after);
        return result;
    }
};

template <>
struct line_of<pipeline_dead_letter::message> {
    static std::string text(const auto& a)
    {
        return fields(line(a.properties), "message", a.sequence, "id", a.message_id, "enqueued",
                      a.enqueued);
    }
};

template <>
struct line_of<pipeline_dead_letter::policy> {
    static std::string text(const auto& a)
    {
        return concat(a.mode, "; ", a.dead_letters, ", states of at most ", bytes(a.state_bytes));
    }
};

template <>
struct line_of<redrive_policy> {
    static std::string text(const auto& a)
    {
        return concat("calls of at most ", counted(a.chunk, "message", "messages"), ", ", a.retry);
    }
};

template <>
struct line_of<redrive_plan::filter> {
    static std::string text(const auto& a) { return redrive_filter_text(a); }
};

template <>
struct line_of<redrive_plan::options> {
    static std::string text(const auto& a)
    {
        return concat("complete sessions", a.damaged ? ", damaged ones too" : "",
                      a.close ? ", closes open ones" : "",
                      a.fetches_bodies ? ", fetches bodies" : "", "; removes ",
                      dead_letters(a.removed_at_once), " at once, ids of at most ",
                      bytes(a.max_id_bytes));
    }
};

template <>
struct line_of<redrive_plan> : described_line {};

template <>
struct line_of<redrive_plan::planned_message> {
    static std::string text(const auto& a)
    {
        return concat(a.properties, ", message id ", one_line(a.message_id));
    }
};

template <>
struct line_of<redrive_plan::planned_session> {
    static std::string text(const auto& a)
    {
        return concat("session ", one_line(a.id), ": ", dead_letters(a.count),
                      a.reason == redrive_plan::skip_reason::none ? std::string()
                                                                  : ", skipped: " + line(a.reason));
    }
};

template <>
struct line_of<text_state_codec::state> : described_line {};

template <>
struct line_of<text_state::options> {
    static std::string text(const auto& a) { return concat(a.budget, ", version ", a.version); }
};

template <>
struct line_of<text_state> {
    static std::string text(const auto& a)
    {
        return concat("version ", a.version, ", ", bytes(a.own.size()), ", ", a.progress);
    }
};

template <>
struct line_of<step_properties::origin> {
    static std::string text(const auto& a)
    {
        return a.session.empty() ? std::string("not redriven")
                                 : concat("from ", one_line(a.session), ", message ", a.sequence,
                                          ", redrive ", a.generation);
    }
};

template <>
struct line_of<sweep_item::swept_state> {
    static std::string text(const auto& a)
    {
        return concat("state of ", one_line(a.session), ": ", name(a.outcome), ", ", a.progress,
                      ", written ", a.written);
    }
};

template <class Version>
struct line_of<stored_state<Version>> {
    static std::string text(const stored_state<Version>& s)
    {
        return concat("a state of ", bytes(s.bytes.size()));
    }
};

template <class Version>
struct line_of<save_result<Version>> {
    static std::string text(const save_result<Version>& r) { return line(r.outcome); }
};

template <>
struct line_of<session_report::policy> {
    static std::string text(const auto& p)
    {
        return concat(p.pipeline, p.until_empty ? ", until the queue is empty" : ", until a stop",
                      ", polls every ", p.poll, ", renews locks after ", p.renew_every);
    }
};

template <>
struct line_of<pipeline::step> {
    static std::string text(const auto& s)
    {
        return concat(one_line(s.key()), ", attempt ", s.attempt);
    }
};

}  // namespace waybill::inline v0_2::detail::words

#endif  // WAYBILL_SESSION_DESCRIBE_HPP
