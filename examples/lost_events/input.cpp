// SPDX-License-Identifier: MIT

#include "input.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../support/lines.hpp"
#include "../support/program.hpp"
#include <waybill/core/time_text.hpp>

namespace lost_events {

namespace {

using nlohmann::json;
using support::complaint;
using support::flaw;
using support::in_field;
using support::is_blank;
using support::line_source;
using support::longest_line;

/// The field under the first name that exists. The names differ between services.
struct field {
    std::string_view name{};
    const json* value = nullptr;
};
field find(const json& object, std::initializer_list<const char*> names)
{
    for (const char* name : names) {
        if (const auto found = object.find(name); found != object.end()) return {name, &*found};
    }
    throw in_field(*names.begin(), "is missing");
}

waybill::wall_time time_of(const json& object)
{
    const field f = find(object, {"time", "timestamp", "TimeGenerated"});
    if (!f.value->is_string()) throw in_field(f.name, "is no text");
    const auto at = waybill::parse_wall_time(f.value->get_ref<const std::string&>());
    if (!at) throw in_field(f.name, "is no time such as 2026-01-31T10:07:00.25Z");
    return *at;
}

const std::string& operation_of(const json& object)
{
    const field f = find(object, {"operation", "name", "Name"});
    if (!f.value->is_string()) throw in_field(f.name, "is no text");
    return f.value->get_ref<const std::string&>();
}

/// Empty if the row has no duration, such as a custom event.
std::optional<double> duration_of(const json& object)
{
    constexpr const char* names[]{"duration_ms", "duration", "DurationMs"};
    if (std::none_of(std::begin(names), std::end(names),
                     [&](const char* name) { return object.contains(name); })) {
        return {};
    }
    const field f = find(object, {"duration_ms", "duration", "DurationMs"});
    if (!f.value->is_number()) throw in_field(f.name, "is no number");
    const double ms = f.value->get<double>();
    if (!std::isfinite(ms)) throw in_field(f.name, "is not finite");
    if (ms < 0) throw in_field(f.name, "is negative");
    return ms;
}

/// A whole number in [1, 2^32).
std::uint32_t number_in(const field& f)
{
    if (!f.value->is_number()) throw in_field(f.name, "is no number");
    const double n = f.value->get<double>();  // exact for all accepted values
    if (n == 0) throw in_field(f.name, "is 0: a row stands for itself at least");
    if (n < 0) throw in_field(f.name, "is negative");
    if (!(n <= UINT32_MAX)) throw in_field(f.name, "is more than 4,294,967,295");
    const auto whole = static_cast<std::uint32_t>(n);
    if (static_cast<double>(whole) != n) throw in_field(f.name, "is not a whole number");
    return whole;
}

/// The item count, times the row's own count if present: in the row, or in its measurements.
std::uint32_t weight_of(const json& object, const std::string& count_field)
{
    const std::uint64_t items = number_in(find(object, {"item_count", "itemCount", "ItemCount"}));
    std::uint64_t count = 1;
    if (!count_field.empty()) {
        for (const char* part : {"", "customMeasurements", "Measurements"}) {
            const auto inner = *part == 0 ? object.end() : object.find(part);
            const json& place = inner == object.end() ? object : *inner;
            if (!place.is_object() || !place.contains(count_field)) continue;
            count = number_in({count_field, &place[count_field]});
            break;
        }
    }
    if (items * count > UINT32_MAX) {
        throw in_field(count_field, "times the item count is more than 4,294,967,295");
    }
    return static_cast<std::uint32_t>(items * count);
}

/// NaN and a number out of range are invalid JSON. The error names the last field that was begun.
json parsed(const std::string& line)
{
    std::string last;
    const auto note = [&](int, json::parse_event_t event, json& value) {
        if (event == json::parse_event_t::key) last = value.get_ref<const std::string&>();
        return true;
    };
    json j = json::parse(line, note, false);
    if (j.is_discarded() && last.empty()) throw flaw{"the line is no JSON"};
    if (j.is_discarded()) {
        const bool known = last.size() < 40 && last.find_first_of("\r\n\x1b") == last.npos;
        throw in_field(known ? last : "a field", "or the text after it is no JSON");
    }
    if (!j.is_object()) throw flaw{"the line is no JSON object"};
    return j;
}

class reader {
public:
    reader(telemetry& to, const selection& s) : to_(to), select_(s) {}

    void take(const std::string& line, std::uint64_t number, bool too_long)
    {
        try {
            if (too_long) throw flaw{fmt::format("the line is longer than {} bytes", longest_line)};
            const json j = parsed(line);
            row r;
            r.at = time_of(j);
            const std::optional<double> took = duration_of(j);
            r.value = took.value_or(0);
            r.timed = took.has_value();
            r.weight = weight_of(j, select_.count_field);
            const std::string& operation = operation_of(j);
            if (!select_.operation.empty() && operation != select_.operation) {
                ++to_.others;
                return;
            }
            r.operation = number_of(operation);
            if (!to_.rows.empty() && r.at < latest_) ++to_.late;
            latest_ = to_.rows.empty() ? r.at : std::max(latest_, r.at);
            to_.rows.push_back(r);
        } catch (const flaw& f) {
            rejected& r = to_.rejections[f.text];
            if (r.lines++ == 0) r.first = number;
        }
    }

    void end()
    {
        std::sort(to_.rows.begin(), to_.rows.end());
        if (select_.keep_duplicates) return;
        const auto behind = std::unique(to_.rows.begin(), to_.rows.end());
        to_.duplicates = static_cast<std::uint64_t>(to_.rows.end() - behind);
        to_.rows.erase(behind, to_.rows.end());
    }

private:
    std::uint32_t number_of(const std::string& operation)
    {
        const auto next = static_cast<std::uint32_t>(to_.operations.size());
        const auto [found, is_new] = numbers_.emplace(operation, next);
        if (is_new) to_.operations.push_back(operation);
        return found->second;
    }

    telemetry& to_;
    const selection& select_;
    waybill::wall_time latest_{};
    std::unordered_map<std::string, std::uint32_t> numbers_{};
};

}  // namespace

telemetry read_telemetry(const std::string& path, const selection& s)
{
    telemetry t;
    t.name = path == "-" ? "the standard input" : std::filesystem::path(path).filename().string();
    line_source from(path);
    reader to(t, s);
    std::string line;
    bool too_long = false;
    for (std::uint64_t number = 1; from.next(line, too_long); ++number) {
        if (!is_blank(line)) to.take(line, number, too_long);
    }
    to.end();
    return t;
}

std::vector<counted_minute> read_truth(const std::string& path)
{
    std::vector<counted_minute> minutes;
    line_source from(path, "truth");
    std::string line;
    bool too_long = false;
    for (std::uint64_t number = 1; from.next(line, too_long); ++number) {
        if (is_blank(line) || (number == 1 && line == "minute,events")) continue;
        const auto wrong = [&](std::string_view what) {
            throw complaint(fmt::format("{}, line {}: {}", path, number, what));
        };
        const std::size_t comma = line.find(',');
        if (comma == line.npos) wrong("events is missing");
        const auto at = waybill::parse_wall_time(std::string_view(line).substr(0, comma));
        const auto events = support::number_in(std::string_view(line).substr(comma + 1));
        if (!at) wrong("minute is no time such as 2026-01-31T10:07:00Z");
        if (!events) wrong("events is no number");
        if (!minutes.empty() && *at < minutes.back().from + waybill::duration::seconds(60)) {
            wrong("minute is not at least 1min after the previous one");
        }
        minutes.push_back({*at, *events});
    }
    if (minutes.empty()) throw complaint(path + " has no line minute,events");
    return minutes;
}

}  // namespace lost_events
