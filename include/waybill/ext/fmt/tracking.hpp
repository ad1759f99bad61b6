// SPDX-License-Identifier: MIT
//
// ext/fmt/tracking: values of the completion tracker and actions of the commit schedule as lines.

#ifndef WAYBILL_EXT_FMT_TRACKING_HPP
#define WAYBILL_EXT_FMT_TRACKING_HPP

#include <string>
#include <string_view>

#include <waybill/ext/fmt/detail/package.hpp>

#include <waybill/ext/fmt/core.hpp>
#include <waybill/ext/fmt/detail/line.hpp>
#include <waybill/tracking/commit_schedule.hpp>
#include <waybill/tracking/tracker_bytes.hpp>
#include <waybill/tracking/tracker_options.hpp>

namespace waybill::inline v0_2::detail::words {

template <>
struct line_of<commit_schedule::config::commit_needs> : enumerator_line {};
template <>
struct line_of<commit_schedule_types::commit_reason> : enumerator_line {};
template <>
struct line_of<encoded_done::encoded_as> : enumerator_line {};
template <>
struct line_of<completion_tracker::track_error> : enumerator_line {};
template <>
struct line_of<tracker_options::commit_mark> : enumerator_line {};
template <>
struct line_of<tracker_start::decode_error> : enumerator_line {};

template <>
struct line_of<tracker_options> {
    template <class T>
    [[nodiscard]] static std::string text(const T& o)
    {
        return fmt::format("at most {} in flight, span {}, commits at {}", events(o.max_in_flight),
                           o.span, name(o.mark));
    }
};

template <>
struct line_of<commit_schedule::config> {
    template <class T>
    [[nodiscard]] static std::string text(const T& c)
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
    template <class T>
    [[nodiscard]] static std::string text(const T& t)
    {
        return fmt::format("event {}, generation {}", t.sequence, t.generation);
    }
};

template <>
struct line_of<completion_tracker::blocked> {
    template <class T>
    [[nodiscard]] static std::string text(const T& b)
    {
        return fmt::format("event {} holds back {}", b.sequence, events(b.waiting));
    }
};

template <>
struct line_of<encoded_done> {
    template <class T>
    [[nodiscard]] static std::string text(const T& e)
    {
        return fmt::format("{}: {} in {}, {} dropped", name(e.outcome), events(e.kept),
                           bytes(e.bytes.size()), e.dropped);
    }
};

template <>
struct line_of<commit_schedule::commit_position> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return fmt::format("commit position: {}", name(a.reason));
    }
};

template <>
struct line_of<commit_schedule::action> : action_line {};

}  // namespace waybill::inline v0_2::detail::words

// Full specialisations: only those take precedence over the partial specialisations for variants
// and ranges in the headers of {fmt}.
template <>
struct fmt::formatter<waybill::commit_schedule::action>
    : waybill::detail::line_formatter<waybill::commit_schedule::action> {};

#endif  // WAYBILL_EXT_FMT_TRACKING_HPP
