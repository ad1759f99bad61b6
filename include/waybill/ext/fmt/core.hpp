// SPDX-License-Identifier: MIT
//
// ext/fmt/core: times, faults, config errors, limits of batches and shared actions as lines.

#ifndef WAYBILL_EXT_FMT_CORE_HPP
#define WAYBILL_EXT_FMT_CORE_HPP

#include <string>

#include <waybill/ext/fmt/detail/package.hpp>

#include <waybill/core/act.hpp>
#include <waybill/core/batch_limits.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/time_text.hpp>
#include <waybill/ext/fmt/detail/line.hpp>

namespace waybill::inline v0_2::detail::words {

template <>
struct line_of<event_result> : enumerator_line {};
template <>
struct line_of<fault_kind> : enumerator_line {};

template <>
struct line_of<duration> {
    template <class T>
    [[nodiscard]] static std::string text(const T& d)
    {
        return to_text(d);
    }
};

template <>
struct line_of<wall_time> {
    template <class T>
    [[nodiscard]] static std::string text(const T& t)
    {
        return to_text(t);
    }
};

// The epoch of a steady clock has no meaning outside the process: the line shows the time since it.
template <>
struct line_of<steady_time> {
    template <class T>
    [[nodiscard]] static std::string text(const T& t)
    {
        return t == steady_time::highest() ? "never" : "steady " + to_text(t.since_epoch());
    }
};

template <>
struct line_of<fault> {
    template <class T>
    [[nodiscard]] static std::string text(const T& f)
    {
        if (f.ok() && f.text.empty()) return "ok";
        std::string result(name(f.kind));
        if (!f.text.empty()) result += ": " + one_line(f.text);
        return result;
    }
};

template <>
struct line_of<config_error> {
    template <class T>
    [[nodiscard]] static std::string text(const T& e)
    {
        return one_line(describe(e));
    }
};

template <>
struct line_of<batch_limits> {
    template <class T>
    [[nodiscard]] static std::string text(const T& l)
    {
        std::string result;
        const auto add = [&](std::string what) {
            if (!result.empty()) result += ", ";
            result += what;
        };
        if (l.bytes != unlimited) add(bytes(l.bytes));
        if (l.items != unlimited) add(items(l.items));
        if (l.single != unlimited) add(bytes(l.single) + " an item");
        result = result.empty() ? "no limits" : "at most " + result;
        if (l.envelope != 0) add("envelope " + bytes(l.envelope));
        return result;
    }
};

template <>
struct line_of<complete> {
    template <class T>
    [[nodiscard]] static std::string text(const T&)
    {
        return "complete";
    }
};

template <>
struct line_of<idle> {
    template <class T>
    [[nodiscard]] static std::string text(const T&)
    {
        return "idle";
    }
};

template <>
struct line_of<wait_until> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return "wait until " + line(a.time);
    }
};

}  // namespace waybill::inline v0_2::detail::words

#endif  // WAYBILL_EXT_FMT_CORE_HPP
