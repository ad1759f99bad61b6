// SPDX-License-Identifier: MIT
//
// describe: completion trackers and commit schedules as text.

#ifndef WAYBILL_TRACKING_DESCRIBE_HPP
#define WAYBILL_TRACKING_DESCRIBE_HPP

#include <string>
#include <string_view>

#include <waybill/core/describe.hpp>
#include <waybill/core/detail/line.hpp>
#include <waybill/tracking/commit_schedule.hpp>
#include <waybill/tracking/tracker_bytes.hpp>
#include <waybill/tracking/tracker_options.hpp>

namespace waybill::inline v0_2::detail::words {

template <>
struct line_of<tracker_options> {
    static std::string text(const auto& o)
    {
        return concat("at most ", events(o.max_in_flight), " in flight, span ", o.span,
                      ", commits at ", name(o.mark));
    }
};

template <>
struct line_of<commit_schedule::config> {
    static std::string text(const auto& c)
    {
        std::string result;
        const auto add = [&](const std::string& what, std::string_view between) {
            if (!result.empty()) result += between;
            result += what;
        };
        const bool both = c.needs == commit_schedule::config::commit_needs::both;
        if (c.every != unlimited) add("every " + events(c.every), "");
        if (c.interval != duration::highest()) {
            add("every " + line(c.interval), both ? " and " : " or ");
        }
        if (c.on_close) add("on close", ", ");
        if (c.idle_refresh != duration::highest()) add("idle every " + line(c.idle_refresh), ", ");
        add("pause " + line(c.pause), ", ");
        return result;
    }
};

template <>
struct line_of<tracked_event> {
    static std::string text(const auto& t)
    {
        return concat("event ", t.sequence, ", generation ", t.generation);
    }
};

template <>
struct line_of<completion_tracker::blocked> {
    static std::string text(const auto& b)
    {
        return concat("event ", b.sequence, " holds back ", events(b.waiting));
    }
};

template <>
struct line_of<encoded_done> {
    static std::string text(const auto& e)
    {
        return concat(name(e.outcome), ": ", events(e.kept), " in ", bytes(e.bytes.size()), ", ",
                      e.dropped, " dropped");
    }
};

template <>
struct line_of<commit_schedule::commit_position> {
    static std::string text(const auto& a) { return concat("commit position: ", name(a.reason)); }
};

template <>
struct line_of<commit_schedule_types::events_done> {
    static std::string text(const auto& a) { return concat("done: ", events(a.events)); }
};

template <>
struct line_of<commit_schedule_types::commit_started> {
    static std::string text(const auto&) { return "commit started"; }
};

template <>
struct line_of<commit_schedule_types::commit_confirmed> {
    static std::string text(const auto&) { return "commit confirmed"; }
};

template <>
struct line_of<commit_schedule_types::commit_failed> {
    static std::string text(const auto&) { return "commit failed"; }
};

template <>
struct line_of<commit_schedule_types::schedule_closed> {
    static std::string text(const auto&) { return "schedule closed"; }
};

template <>
struct line_of<tracker_budget> {
    static std::string text(const auto& a)
    {
        return concat("at most ", bytes(a.max_bytes), ", if too long ", a.if_too_long,
                      ", refuses events from ", a.pressure, " % on");
    }
};

template <>
struct line_of<tracker_start> {
    static std::string text(const auto& a)
    {
        return fields("start", "from", a.from, "next", a.next);
    }
};

}  // namespace waybill::inline v0_2::detail::words

#endif  // WAYBILL_TRACKING_DESCRIBE_HPP
