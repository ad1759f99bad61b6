// SPDX-License-Identifier: MIT
//
// retry_after: the pause that the answer of a service requires.
//
//     if (auto pause = wire::retry_after(response.header("Retry-After"), now))
//         return outcome_of(wire::http_errors, response.status, response.body, *pause);
//     auto pause = wire::retry_after_ms(response.header("x-ms-retry-after-ms"));
//     auto pause = wire::retry_info(decoded_base64(trailers["grpc-status-details-bin"]));
//     auto pause = wire::retry_delay(error["details"][0]["retryDelay"]);  // the same as JSON: "2.5s"
//
//   1. A value that is not one of these forms is no pause: the result is empty, never a guess.
//   2. A time that has passed, and a negative number, is a pause of zero: ask again.
//   3. A pause that is too long for a `duration` saturates. Which pauses are obeyed is up to the
//      caller, for example to `backoff::highest_hint`.
// Each is linear in the text, and does not allocate.

#ifndef WAYBILL_WIRE_RETRY_AFTER_HPP
#define WAYBILL_WIRE_RETRY_AFTER_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/detail/time_format.hpp>
#include <waybill/core/detail/time_parse.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2::wire {

namespace detail {

/// Without the white space of HTTP at both ends.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) noexcept
{
    constexpr std::string_view white = " \t";
    while (!text.empty() && white.find(text.front()) != white.npos) text.remove_prefix(1);
    while (!text.empty() && white.find(text.back()) != white.npos) text.remove_suffix(1);
    return text;
}

/// Removes digits, with decimals or without, and returns them as a multiple of `unit`. Decimals below
/// a nanosecond are cut.
[[nodiscard]] constexpr std::optional<duration> take_pause(std::string_view& from,
                                                           duration unit) noexcept
{
    const auto is_digit = [&] { return !from.empty() && from[0] >= '0' && from[0] <= '9'; };
    if (!is_digit()) return {};
    duration pause{};
    for (; is_digit(); from.remove_prefix(1)) pause = pause * 10 + unit * (from[0] - '0');
    if (from.empty() || from[0] != '.') return pause;
    from.remove_prefix(1);
    if (!is_digit()) return {};
    for (; is_digit(); from.remove_prefix(1)) {
        unit = unit / 10;
        pause += unit * (from[0] - '0');
    }
    return pause;
}

/// The whole text as such a multiple, perhaps with a minus sign, which makes it zero.
[[nodiscard]] constexpr std::optional<duration> pause_in(std::string_view text,
                                                         duration unit) noexcept
{
    text = trimmed(text);
    const bool negative = text.starts_with('-');
    if (negative) text.remove_prefix(1);
    const std::optional<duration> pause = take_pause(text, unit);
    if (!pause || !text.empty()) return {};
    return negative ? duration{} : *pause;
}

/// Removes the name of a month, "Jan" to "Dec", and returns its number, 1 to 12.
[[nodiscard]] constexpr std::optional<std::int64_t> take_month(std::string_view& from) noexcept
{
    constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const std::size_t at = from.size() < 3 ? months.npos : months.find(from.substr(0, 3));
    if (at == months.npos || at % 3 != 0) return {};
    from.remove_prefix(3);
    return static_cast<std::int64_t>(at / 3 + 1);
}

[[nodiscard]] constexpr bool take(std::string_view& from, std::string_view expected) noexcept
{
    if (!from.starts_with(expected)) return false;
    from.remove_prefix(expected.size());
    return true;
}

struct http_date {
    std::int64_t year = 0;
    std::int64_t month = 0;
    std::int64_t day = 0;
    std::int64_t seconds = 0;  // of the day

    /// Removes "08:49:37".
    [[nodiscard]] constexpr bool take_time(std::string_view& from) noexcept
    {
        const auto hour = v0_2::detail::take_field(from, 2, ':');
        const auto minute = hour ? v0_2::detail::take_field(from, 2, ':') : hour;
        const auto second = minute ? v0_2::detail::take_field(from, 2, '\0') : minute;
        if (!second || *hour > 23 || *minute > 59 || *second > 60) return false;
        seconds = *hour * 3'600 + *minute * 60 + *second;
        return true;
    }

    [[nodiscard]] constexpr std::optional<wall_time> time() const noexcept
    {
        if (month < 1 || day < 1 || day > 31) return {};
        const v0_2::detail::civil_date date{year, month, day};
        const std::int64_t days = v0_2::detail::days_to(date);
        return wall_time::at(duration::seconds(days * 86'400 + seconds));
    }
};

/// The three forms of RFC 9110, section 5.6.7. The name of the day is not compared with the date.
/// `now` decides the century of two digits: at most 50 years ahead.
[[nodiscard]] constexpr std::optional<wall_time> date_in(std::string_view text,
                                                         wall_time now) noexcept
{
    constexpr std::string_view days = "MonTueWedThuFriSatSun";
    const std::size_t named = text.size() < 3 ? days.npos : days.find(text.substr(0, 3));
    if (named == days.npos || named % 3 != 0) return {};
    http_date d;
    const std::size_t comma = text.find(',');
    if (comma == text.npos) {  // Sun Nov  6 08:49:37 1994
        text.remove_prefix(3);
        if (!take(text, " ")) return {};
        const auto month = take_month(text);
        if (!month || !take(text, " ")) return {};
        const bool one_digit = take(text, " ");
        const auto day = v0_2::detail::take_field(text, one_digit ? 1 : 2, ' ');
        if (!day || !d.take_time(text) || !take(text, " ")) return {};
        const auto year = v0_2::detail::take_field(text, 4, '\0');
        if (!year || !text.empty()) return {};
        d.year = *year;
        d.month = *month;
        d.day = *day;
        return d.time();
    }
    const bool whole_name = comma != 3;  // Sunday, 06-Nov-94 08:49:37 GMT
    const char mark = whole_name ? '-' : ' ';
    text.remove_prefix(comma + 1);
    if (!take(text, " ")) return {};
    const auto day = v0_2::detail::take_field(text, 2, mark);
    const auto month = take_month(text);
    if (!day || !month || !take(text, whole_name ? "-" : " ")) return {};
    const auto year = v0_2::detail::take_field(text, whole_name ? 2 : 4, ' ');
    if (!year || !d.take_time(text) || text != " GMT") return {};
    d.year = *year;
    d.month = *month;
    d.day = *day;
    if (!whole_name) return d.time();
    // The year with these digits that is at most 50 years after `now`.
    const std::int64_t now_days = now.since_epoch().count() / 86'400'000'000'000;
    const std::int64_t this_year = v0_2::detail::date_of(now_days).year;
    d.year += (this_year + 51 - d.year) / 100 * 100;
    return d.time();
}

/// Removes a varint of protobuf.
[[nodiscard]] constexpr std::optional<std::uint64_t> take_varint(std::string_view& from) noexcept
{
    std::uint64_t n = 0;
    for (unsigned shift = 0; shift < 64 && !from.empty(); shift += 7) {
        const auto byte = static_cast<unsigned char>(from[0]);
        from.remove_prefix(1);
        n |= std::uint64_t{byte & 0x7FU} << shift;
        if (byte < 0x80) return n;
    }
    return {};
}

/// A field of a protobuf message.
struct protobuf_field {
    std::uint64_t number = 0;  // 0 if the message has ended, or is no message
    std::uint64_t value = 0;   // of a varint
    std::string_view bytes{};  // of a string or a message
};

/// Removes a field. `Size` is a parameter: the cast is useless where size_t has 64 bits.
template <class Size = std::size_t>
[[nodiscard]] constexpr protobuf_field take_protobuf_field(std::string_view& from) noexcept
{
    const auto key = take_varint(from).value_or(0);
    protobuf_field f{.number = key >> 3U};
    std::uint64_t length = 0;
    switch (key & 7U) {
        case 0: {
            const auto value = take_varint(from);
            if (!value) return {};
            f.value = *value;
            return f;
        }
        case 1: length = 8; break;
        case 2: length = take_varint(from).value_or(~std::uint64_t{0}); break;
        case 5: length = 4; break;
        default: return {};
    }
    if (length > from.size()) return {};
    f.bytes = from.substr(0, static_cast<Size>(length));
    from.remove_prefix(static_cast<Size>(length));
    return f;
}

/// The last field of this number; empty if there is none.
[[nodiscard]] constexpr std::optional<protobuf_field> last_field(std::string_view message,
                                                                 std::uint64_t number) noexcept
{
    std::optional<protobuf_field> found{};
    for (protobuf_field f = take_protobuf_field(message); f.number != 0;
         f = take_protobuf_field(message)) {
        if (f.number == number) found = f;
    }
    return found;
}

}  // namespace detail

/// The value of the header Retry-After (RFC 9110, section 10.2.3): seconds, or a date in one of three
/// forms, from which `now` is subtracted. Decimals of a second are accepted, too.
[[nodiscard]] constexpr std::optional<duration> retry_after(std::string_view value,
                                                            wall_time now) noexcept
{
    if (const auto pause = detail::pause_in(value, duration::seconds(1))) return pause;
    const std::optional<wall_time> until = detail::date_in(detail::trimmed(value), now);
    if (!until) return {};
    return *until > now ? *until - now : duration{};
}

/// The value of a header with milliseconds: x-ms-retry-after-ms (Azure), retry-after-ms.
[[nodiscard]] constexpr std::optional<duration> retry_after_ms(std::string_view value) noexcept
{
    return detail::pause_in(value, duration::milliseconds(1));
}

/// The `retry_delay` of google.rpc.RetryInfo in its JSON form, such as "2.5s".
[[nodiscard]] constexpr std::optional<duration> retry_delay(std::string_view value) noexcept
{
    value = detail::trimmed(value);
    if (!value.ends_with('s')) return {};
    value.remove_suffix(1);
    return detail::pause_in(value, duration::seconds(1));
}

/// The same in the binary form of an error of gRPC: the bytes of a google.rpc.Status, which a client
/// finds in the trailer grpc-status-details-bin (base64). Empty if there is no RetryInfo in it.
[[nodiscard]] constexpr std::optional<duration> retry_info(std::string_view status) noexcept
{
    for (auto f = detail::take_protobuf_field(status); f.number != 0;
         f = detail::take_protobuf_field(status)) {
        if (f.number != 3) continue;  // details, each a google.protobuf.Any
        const auto type = detail::last_field(f.bytes, 1);
        const auto value = detail::last_field(f.bytes, 2);
        if (!type || !value || !type->bytes.ends_with("/google.rpc.RetryInfo")) continue;
        const auto delay = detail::last_field(value->bytes, 1);
        if (!delay) continue;
        const auto seconds = detail::last_field(delay->bytes, 1);
        const auto nanos = detail::last_field(delay->bytes, 2);
        const auto number = [](const auto& field) {
            return field ? static_cast<std::int64_t>(field->value) : std::int64_t{0};
        };
        const duration pause =
            duration::seconds(number(seconds)) + duration::nanoseconds(number(nanos));
        return pause < duration{} ? duration{} : pause;
    }
    return {};
}

}  // namespace waybill::inline v0_2::wire

#endif  // WAYBILL_WIRE_RETRY_AFTER_HPP
