// SPDX-License-Identifier: MIT

#include "event.hpp"

#include <charconv>
#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../support/input.hpp"
#include <waybill/core/text.hpp>

namespace mailroom {

namespace {

using nlohmann::json;

constexpr std::size_t excerpt_bytes = 160;
constexpr std::size_t subject_bytes = 64;

/// A text for printing or a header: `instead` replaces control characters and, in a header, spaces.
std::string plain(std::string_view text, std::size_t most, char instead)
{
    std::string s(waybill::utf8_prefix(text, most));
    for (char& c : s) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7F || (c == ' ' && instead == '_')) c = instead;
    }
    return s;
}

std::string_view text_of(const json& object, const char* field)
{
    const auto found = object.find(field);
    if (found == object.end() || !found->is_string()) return {};
    return found->get_ref<const std::string&>();
}

/// The reason why a line is no JSON. Called only for invalid lines, as exceptions are slow.
std::string why_not_json(const std::string& text)
{
    try {
        const json unused = json::parse(text);
    } catch (const json::parse_error& e) {
        return fmt::format("not JSON from byte {} on", e.byte);
    } catch (const json::exception&) {
        return "JSON that cannot be read, such as a number out of range";
    }
    return "not JSON";
}

/// The time of an invalid line, if the text contains one.
std::string time_somewhere_in(std::string_view text)
{
    constexpr std::string_view name = "\"at\":\"";
    const std::size_t at = text.find(name);
    if (at == std::string_view::npos) return {};
    const std::string_view rest = text.substr(at + name.size());
    const std::string_view t = rest.substr(0, rest.find('"'));
    return time_in(t) ? std::string(t) : std::string();
}

template <class N>
bool number_in(std::string_view digits, N& n)
{
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    return error == std::errc{} && end == digits.data() + digits.size();
}

/// The value of `name=value` in a header, up to the next space.
std::string_view field(std::string_view header, std::string_view name)
{
    const std::size_t at = header.find(name);
    if (at == std::string_view::npos) return {};
    const std::string_view rest = header.substr(at + name.size());
    return rest.substr(0, rest.find(' '));
}

}  // namespace

event parse(line&& l)
{
    event e{.line = l.number, .begin = l.begin, .next = l.next};
    if (!l.whole()) {
        e.body = std::move(l.text);
        e.time = time_somewhere_in(e.body);
        return marker_of(e, fmt::format("too large: a line of {} bytes", l.length));
    }
    const json parsed = json::parse(l.text, nullptr, false);
    e.body = std::move(l.text);
    if (parsed.is_discarded()) {
        e.time = time_somewhere_in(e.body);
        return marker_of(e, why_not_json(e.body));
    }
    if (!parsed.is_object()) return marker_of(e, "not an event: a JSON object is expected");

    for (const char* name : {"at", "time", "timestamp"}) {
        const std::string_view t = text_of(parsed, name);
        if (e.time.empty() && time_in(t)) e.time = t;
    }
    e.subject = plain(text_of(parsed, "event"), subject_bytes, '_') + '/' +
                plain(text_of(parsed, "package"), subject_bytes, '_');
    return e;
}

event marker_of(const event& e, std::string_view reason)
{
    event m{.line = e.line, .begin = e.begin, .next = e.next, .time = e.time, .marker = true};
    const json body{{"reason", reason}, {"excerpt", plain(e.body, excerpt_bytes, '?')}};
    m.body = body.dump(-1, ' ', false, json::error_handler_t::replace);
    return m;
}

engines::message to_message(const event& e)
{
    return {fmt::format("type={} line={} byte={} time={} subject={}", e.marker ? "marker" : "event",
                        e.line, e.begin, e.time, e.subject),
            e.body};
}

delivery to_delivery(std::uint64_t number, std::string_view header, std::string_view body)
{
    delivery d{.sequence = number};
    static_cast<void>(number_in(field(header, "line="), d.line));
    static_cast<void>(number_in(field(header, "byte="), d.begin));
    d.offset = fmt::format("line {}, byte {}", d.line, d.begin);
    d.when = field(header, "time=");
    d.time = time_in(d.when).value_or(waybill::wall_time{});
    d.marker = field(header, "type=") == "marker";
    if (d.marker) {
        const json m = json::parse(body, nullptr, false);
        d.reason = text_of(m, "reason");
        d.body = text_of(m, "excerpt");
    } else {
        d.body = body;
    }
    return d;
}

std::optional<waybill::wall_time> time_in(std::string_view text)
{
    namespace ch = std::chrono;
    constexpr std::string_view form = "0000-00-00T00:00:00";
    if (text.size() < form.size() + 1 || text.size() > form.size() + 11 || text.back() != 'Z')
        return {};
    unsigned n[6] = {};
    const std::initializer_list<std::pair<std::size_t, std::size_t>> digits = {
        {0, 4}, {5, 2}, {8, 2}, {11, 2}, {14, 2}, {17, 2}};
    std::size_t i = 0;
    for (const auto& [at, size] : digits) {
        if (!number_in(text.substr(at, size), n[i++])) return {};
    }
    for (const std::size_t at : {4U, 7U, 10U, 13U, 16U}) {
        if (text[at] != form[at]) return {};
    }
    const ch::year_month_day day{ch::year(static_cast<int>(n[0])), ch::month(n[1]), ch::day(n[2])};
    if (!day.ok() || n[3] > 23 || n[4] > 59 || n[5] > 60) return {};

    std::uint32_t fraction = 0;
    std::string_view rest = text.substr(form.size(), text.size() - form.size() - 1);
    if (!rest.empty()) {
        if (rest[0] != '.' || rest.size() == 1 || !number_in(rest.substr(1), fraction)) return {};
        for (std::size_t places = rest.size() - 1; places < 9; ++places) fraction *= 10;
    }
    const ch::nanoseconds since = ch::sys_days(day).time_since_epoch() + ch::hours(n[3]) +
                                  ch::minutes(n[4]) + ch::seconds(n[5]) + ch::nanoseconds(fraction);
    return waybill::wall_time::at(since);
}

std::int64_t checksum(std::string_view bytes) noexcept
{
    return static_cast<std::int64_t>(support::checksum(bytes));
}

}  // namespace mailroom
