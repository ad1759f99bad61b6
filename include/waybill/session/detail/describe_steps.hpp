// SPDX-License-Identifier: MIT
//
// detail/describe_steps: the actions and events of pipelines and redrives as text.

#ifndef WAYBILL_SESSION_DETAIL_DESCRIBE_STEPS_HPP
#define WAYBILL_SESSION_DETAIL_DESCRIBE_STEPS_HPP

#include <string>

#include <waybill/core/detail/line.hpp>
#include <waybill/session/pipeline_steps.hpp>
#include <waybill/session/redrive.hpp>

namespace waybill::inline v0_2::detail {

namespace words {

template <class N>
std::string dead_letters(N n)
{
    return counted(n, "dead letter", "dead letters");
}

template <>
struct line_of<pipeline_types::load_state> {
    static std::string text(const auto&) { return "load state"; }
};

template <>
struct line_of<pipeline_types::execute> {
    static std::string text(const auto& a)
    {
        if (a.tries <= 1) return concat("execute step ", a.step);
        return concat("execute step ", a.step, ", try ", a.tries);
    }
};

template <>
struct line_of<pipeline_types::save_state> {
    static std::string text(const auto& a)
    {
        return a.keep_old_value ? "save state, undone" : "save state";
    }
};

template <>
struct line_of<pipeline_types::write_dead_letter> {
    static std::string text(const auto& a)
    {
        std::string result = concat("write dead letter: ", name(a.reason));
        if (a.cause != 0) result += concat(" by message ", a.cause, " of step ", a.cause_step);
        if (a.tries != 0) result += " after " + tries(a.tries);
        if (a.without_body) result += ", without its body";
        if (a.independent) result += ", of an independent step";
        return result;
    }
};

template <>
struct line_of<pipeline_types::clear_state> {
    static std::string text(const auto&) { return "clear state"; }
};

template <>
struct line_of<pipeline_types::give_back> {
    static std::string text(const auto& a)
    {
        std::string result = "give back until " + line(a.until);
        if (a.reason != fault_kind::none) result += ": " + line(a.reason);
        return result;
    }
};

template <>
struct line_of<redrive::resubmit> {
    static std::string text(const auto& a)
    {
        return concat("resubmit ", dead_letters(a.count), " from ", a.offset, " on");
    }
};

template <>
struct line_of<redrive::mark_sent> {
    static std::string text(const auto& a)
    {
        return concat("mark ", counted(a.count, "session", "sessions"),
                      " as sent, the first is number ", a.session);
    }
};

template <>
struct line_of<redrive::remove_dead_letters> {
    static std::string text(const auto& a)
    {
        return concat("remove ", dead_letters(a.count), " from ", a.offset, " on");
    }
};

template <>
struct line_of<pipeline_types::state_loaded> {
    static std::string text(const auto& a)
    {
        return fields(concat("state loaded: ", name(a.found), ", ", a.progress), "fault", a.kind,
                      "deliveries", a.deliveries, "reason", a.reason);
    }
};

template <>
struct line_of<pipeline_types::step_received> {
    static std::string text(const auto& a) { return "received: " + line(a.facts); }
};

template <>
struct line_of<pipeline_types::step_begun> {
    static std::string text(const auto&) { return "step begun"; }
};

template <>
struct line_of<pipeline_types::executed> {
    static std::string text(const auto& a)
    {
        return fields("executed", "reason", a.reason, "retry after", a.retry_after);
    }
};

template <>
struct line_of<pipeline_types::state_saved> {
    static std::string text(const auto& a)
    {
        return fields("state saved", "fault", a.kind, "reason", a.reason);
    }
};

template <>
struct line_of<pipeline_types::step_dead_lettered> {
    static std::string text(const auto& a) { return fields("step dead lettered", "fault", a.kind); }
};

template <>
struct line_of<pipeline_types::completed> {
    static std::string text(const auto& a) { return fields("completed", "fault", a.kind); }
};

template <>
struct line_of<pipeline_types::state_cleared> {
    static std::string text(const auto& a) { return fields("state cleared", "fault", a.kind); }
};

template <>
struct line_of<pipeline_types::given_back> {
    static std::string text(const auto&) { return "given back"; }
};

template <>
struct line_of<redrive_types::resubmitted> {
    static std::string text(const auto& a)
    {
        return fields("resubmitted", "accepted", a.accepted, "fault", a.kind);
    }
};

template <>
struct line_of<redrive_types::sessions_marked> {
    static std::string text(const auto& a) { return fields("sessions marked", "fault", a.kind); }
};

template <>
struct line_of<redrive_types::dead_letters_removed> {
    static std::string text(const auto& a)
    {
        return fields("dead letters removed", "removed", a.removed, "fault", a.kind);
    }
};

}  // namespace words

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_SESSION_DETAIL_DESCRIBE_STEPS_HPP
