// SPDX-License-Identifier: MIT
//
// describe: one sentence about a value, for logs.
//
//     log(describe(report));       // found by argument-dependent lookup
//
// Each report, decision, error, policy, action and event has a text. <waybill/waybill.hpp> includes
// all of them, <waybill/<module>/describe.hpp> those of one module, and a module header those that
// its drivers return. Otherwise the error names the missing header.
// ext/fmt and ext/print.hpp write the same texts. The texts of an enum are those of `name`.
//
// Guarantees
//   1. The text is one line. Control characters in texts from outside are shown as escapes, so a
//      message cannot forge a log entry.
//   2. Whole numbers are exact, times and durations to the nanosecond. Floating-point numbers are
//      rounded to six digits, or to a whole number from 100,000 on. JSON has all digits.
//   3. The texts are for people and may change in a later version. For programs, use ext/json.

#ifndef WAYBILL_CORE_DESCRIBE_HPP
#define WAYBILL_CORE_DESCRIBE_HPP

#include <concepts>
#include <string>

#include <waybill/core/act.hpp>
#include <waybill/core/batch_limits.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/line.hpp>
#include <waybill/core/detail/time_format.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2::detail::words {

template <>
struct line_of<duration> {
    static std::string text(const auto& d) { return written(d); }
};

template <>
struct line_of<wall_time> {
    static std::string text(const auto& t) { return written(t); }
};

// The epoch of a steady clock has no meaning outside the process: the line shows the time since it.
template <>
struct line_of<steady_time> {
    static std::string text(const auto& t)
    {
        return t == steady_time::highest() ? "never" : "steady " + written(t.since_epoch());
    }
};

template <>
struct line_of<fault> {
    static std::string text(const auto& f)
    {
        if (f.ok() && f.text.empty()) return "ok";
        std::string result(name(f.kind));
        if (!f.text.empty()) result += ": " + one_line(f.text);
        return result;
    }
};

template <>
struct line_of<batch_limits> {
    static std::string text(const auto& l)
    {
        std::string result;
        const auto add = [&](const std::string& what) {
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
    static std::string text(const auto&) { return "complete"; }
};

template <>
struct line_of<idle> {
    static std::string text(const auto&) { return "idle"; }
};

template <>
struct line_of<wait_until> {
    static std::string text(const auto& a) { return "wait until " + line(a.time); }
};

template <>
struct line_of<stop_requested> {
    static std::string text(const auto&) { return "stop requested"; }
};

template <>
struct line_of<lock_lost> {
    static std::string text(const auto&) { return "lock lost"; }
};

/// The value, "ok" if it has no line, or the error.
template <class T, has_line E>
struct line_of<result<T, E>> {
    static std::string text(const result<T, E>& r)
    {
        if (!r.has_value()) return line(r.error());
        if constexpr (has_line<T>) return line(*r);
        return "ok";
    }
};

}  // namespace waybill::inline v0_2::detail::words

namespace waybill::inline v0_2 {

/// The sentence about a value.
template <detail::words::has_line T>
    requires(!std::derived_from<detail::words::line_of<T>, detail::words::described_line>)
[[nodiscard]] std::string describe(const T& value)
{
    return detail::words::line(value);
}

// For argument-dependent lookup.
namespace scaling {
using v0_2::describe;
}
namespace wire {
using v0_2::describe;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CORE_DESCRIBE_HPP
