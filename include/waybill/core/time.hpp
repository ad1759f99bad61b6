// SPDX-License-Identifier: MIT
//
// time: durations and points in time, without <chrono>.
//
//     waybill::duration d = 10min;
//     waybill::steady_time until = std::chrono::steady_clock::now() + 5s;
//     std::this_thread::sleep_until(until.to_chrono());     // with ext/chrono.hpp
//
// State machines take the current time as an argument and return times. Including <chrono> costs a
// quarter of a second of compile time per file. So the three types here recognise chrono types by
// their members, accept them implicitly and convert back explicitly.
//
// Guarantees
//   1. Each value is 64-bit nanoseconds. Sums, differences, products and quotients saturate.
//   2. Steady time, wall time and plain numbers do not convert to each other.
//   3. Leases, timeouts and waits are steady_time. Stored times are wall_time (Unix epoch).
//   4. A chrono value outside the range of 64-bit nanoseconds is clamped, never wrapped.

#ifndef WAYBILL_CORE_TIME_HPP
#define WAYBILL_CORE_TIME_HPP

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <waybill/core/detail/chrono.hpp>

namespace waybill::inline v0_2 {

namespace detail {
// The error of g++ names these types. The error of clang for a deleted function names no type, so
// clang gets an unavailable function instead. Neither function is a candidate in a requires
// expression.
struct a_duration_is_printed_by_to_text;
struct a_wall_time_is_printed_by_to_text;

/// The <chrono> type of a time, as its member `type`. ext/chrono.hpp defines it.
template <class T>
struct to_chrono_needs_ext_chrono_hpp;
}  // namespace detail

/// A length of time in nanoseconds, -292 to +292 years. Saturates at both ends.
class duration {
public:
    constexpr duration() noexcept = default;

    /// From any chrono duration. Floating-point values are truncated to whole nanoseconds.
    template <detail::chrono_duration D>
    constexpr duration(const D& d) noexcept : ns_(detail::to_ns(d))
    {
    }

    [[nodiscard]] static constexpr duration nanoseconds(std::int64_t n) noexcept { return raw(n); }
    [[nodiscard]] static constexpr duration milliseconds(std::int64_t n) noexcept
    {
        return raw(detail::multiply_ns(n, 1'000'000));
    }
    [[nodiscard]] static constexpr duration seconds(std::int64_t n) noexcept
    {
        return raw(detail::multiply_ns(n, 1'000'000'000));
    }
    [[nodiscard]] static constexpr duration lowest() noexcept { return raw(detail::lowest_ns); }
    [[nodiscard]] static constexpr duration highest() noexcept { return raw(detail::highest_ns); }

    /// The number of nanoseconds.
    [[nodiscard]] constexpr std::int64_t count() const noexcept { return ns_; }

    /// To a chrono duration, rounded towards zero if its unit is coarser.
    template <detail::chrono_duration D>
    [[nodiscard]] constexpr explicit operator D() const noexcept
    {
        return detail::from_ns<D>(ns_);
    }

    /// The same as std::chrono::nanoseconds. Needs ext/chrono.hpp.
    template <class T = duration>
    [[nodiscard]] constexpr auto to_chrono() const noexcept
    {
        return static_cast<typename detail::to_chrono_needs_ext_chrono_hpp<T>::type>(*this);
    }

    constexpr duration& operator+=(duration d) noexcept { return *this = *this + d; }
    constexpr duration& operator-=(duration d) noexcept { return *this = *this - d; }

    [[nodiscard]] constexpr duration operator-() const noexcept
    {
        return raw(detail::saturating_difference(0, ns_));
    }
    [[nodiscard]] friend constexpr duration operator+(duration a, duration b) noexcept
    {
        return raw(detail::add_ns(a.ns_, b.ns_));
    }
    [[nodiscard]] friend constexpr duration operator-(duration a, duration b) noexcept
    {
        return raw(detail::saturating_difference(a.ns_, b.ns_));
    }

    /// Products and quotients are truncated to whole nanoseconds. Integers are not converted to
    /// double, so products with them are exact. A quotient by zero has the highest absolute value,
    /// or is zero if `d` is zero.
    [[nodiscard]] friend constexpr duration operator*(duration d, double by) noexcept
    {
        return raw(detail::truncate_ns(static_cast<double>(d.ns_) * by));
    }
    [[nodiscard]] friend constexpr duration operator*(duration d,
                                                      detail::exact_factor auto by) noexcept
    {
        return raw(detail::product_ns(d.ns_, by));
    }
    [[nodiscard]] friend constexpr duration operator*(double by, duration d) noexcept
    {
        return d * by;
    }
    [[nodiscard]] friend constexpr duration operator*(detail::exact_factor auto by,
                                                      duration d) noexcept
    {
        return d * by;
    }
    [[nodiscard]] friend constexpr duration operator/(duration d, double by) noexcept
    {
        return by == 0 ? raw(detail::quotient_ns(d.ns_, 0))
                       : raw(detail::truncate_ns(static_cast<double>(d.ns_) / by));
    }
    [[nodiscard]] friend constexpr duration operator/(duration d,
                                                      detail::exact_factor auto by) noexcept
    {
        return raw(detail::quotient_ns(d.ns_, by));
    }
    friend auto operator<=>(const duration&, const duration&) = default;

    /// Deleted: to_text (time_text.hpp) returns the text of a duration.
    template <class Stream>
#ifdef __clang__
    __attribute__((
        unavailable("a duration is printed by to_text, of time_text.hpp"))) friend detail::
        a_duration_is_printed_by_to_text
        operator<<(Stream&, duration);
#else
    friend detail::a_duration_is_printed_by_to_text operator<<(Stream&, duration) = delete;
#endif

private:
    static constexpr duration raw(std::int64_t n) noexcept
    {
        duration d;
        d.ns_ = n;
        return d;
    }

    std::int64_t ns_ = 0;
};

/// A point in time of one clock. Times of different clocks are different types, so only times of
/// the same clock can be subtracted.
template <class Clock>
class time_on {
public:
    constexpr time_on() noexcept = default;

    template <detail::chrono_point T>
        requires(Clock::template accepts<T>)
    constexpr time_on(const T& t) noexcept : since_epoch_(t.time_since_epoch())
    {
    }

    [[nodiscard]] static constexpr time_on at(duration since_epoch) noexcept
    {
        time_on t;
        t.since_epoch_ = since_epoch;
        return t;
    }
    [[nodiscard]] static constexpr time_on lowest() noexcept { return at(duration::lowest()); }
    [[nodiscard]] static constexpr time_on highest() noexcept { return at(duration::highest()); }

    [[nodiscard]] constexpr duration since_epoch() const noexcept { return since_epoch_; }

    template <detail::chrono_point T>
        requires(Clock::template accepts<T>)
    [[nodiscard]] constexpr explicit operator T() const noexcept
    {
        return T(static_cast<typename T::duration>(since_epoch_));
    }

    /// The same as a time_point of std::chrono::steady_clock or system_clock. Needs ext/chrono.hpp.
    template <class T = time_on>
    [[nodiscard]] constexpr auto to_chrono() const noexcept
    {
        return static_cast<typename detail::to_chrono_needs_ext_chrono_hpp<T>::type>(*this);
    }

    constexpr time_on& operator+=(duration d) noexcept { return *this = *this + d; }
    constexpr time_on& operator-=(duration d) noexcept { return *this = *this - d; }

    [[nodiscard]] friend constexpr time_on operator+(time_on t, duration d) noexcept
    {
        return at(t.since_epoch_ + d);
    }
    [[nodiscard]] friend constexpr time_on operator-(time_on t, duration d) noexcept
    {
        return at(t.since_epoch_ - d);
    }
    [[nodiscard]] friend constexpr duration operator-(time_on a, time_on b) noexcept
    {
        return a.since_epoch_ - b.since_epoch_;
    }
    friend auto operator<=>(const time_on&, const time_on&) = default;

    /// Deleted: to_text (time_text.hpp) returns the text of a wall time. A steady time has none.
    template <class Stream>
#ifdef __clang__
    __attribute__((
        unavailable("a wall time is printed by to_text, of time_text.hpp"))) friend detail::
        a_wall_time_is_printed_by_to_text
        operator<<(Stream&, time_on);
#else
    friend detail::a_wall_time_is_printed_by_to_text operator<<(Stream&, time_on) = delete;
#endif

private:
    duration since_epoch_;
};

namespace detail {

struct steady_clock_tag {
    template <class T>
    static constexpr bool accepts = steady_point<T>;
};

struct wall_clock_tag {
    template <class T>
    static constexpr bool accepts = wall_point<T>;
};

}  // namespace detail

using steady_time = time_on<detail::steady_clock_tag>;  ///< For waits, timeouts and leases.
using wall_time = time_on<detail::wall_clock_tag>;      ///< For stored times, from the Unix epoch.

namespace detail {

[[nodiscard]] constexpr duration lesser(duration a, duration b) noexcept
{
    return b < a ? b : a;
}
[[nodiscard]] constexpr duration greater(duration a, duration b) noexcept
{
    return a < b ? b : a;
}

template <class Clock>
[[nodiscard]] constexpr time_on<Clock> earlier(time_on<Clock> a, time_on<Clock> b) noexcept
{
    return b < a ? b : a;
}

template <class Clock>
[[nodiscard]] constexpr time_on<Clock> later(time_on<Clock> a, time_on<Clock> b) noexcept
{
    return a < b ? b : a;
}

}  // namespace detail

}  // namespace waybill::inline v0_2

namespace std {

template <>
struct hash<waybill::duration> {
    [[nodiscard]] constexpr std::size_t operator()(waybill::duration d) const noexcept
    {
        return waybill::detail::hash_of_ns(d.count());
    }
};

template <class Clock>
struct hash<waybill::time_on<Clock>> {
    [[nodiscard]] constexpr std::size_t operator()(waybill::time_on<Clock> t) const noexcept
    {
        return waybill::detail::hash_of_ns(t.since_epoch().count());
    }
};

}  // namespace std

#endif  // WAYBILL_CORE_TIME_HPP
