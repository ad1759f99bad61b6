// SPDX-License-Identifier: MIT

#include "trace.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../support/lines.hpp"
#include "../support/program.hpp"
#include <waybill/core/time_text.hpp>
#include <waybill/core/utf8.hpp>
#include <waybill/window/sample.hpp>

namespace autoscaler {

namespace {

using nlohmann::json;
using support::complaint;
using support::flaw;
using support::in_field;
using support::is_blank;

constexpr std::size_t longest_name = 200;

// --- fields --------------------------------------------------------------------------------------

waybill::wall_time time_in(std::string_view text)
{
    const auto at = waybill::parse_wall_time(text);
    if (!at) throw in_field("time", "is no time such as 2026-01-31T10:07:00.25Z");
    return *at;
}

std::string name_in(std::string_view field, std::string_view text)
{
    if (text.empty()) throw in_field(field, "is empty");
    if (text.size() > longest_name) throw in_field(field, "is longer than 200 bytes");
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < ' ' || c == 127) {
            throw in_field(field, "has a control character");
        }
    }
    if (!waybill::is_utf8(text)) throw in_field(field, "is not UTF-8");
    return std::string(text);
}

double finite(double x)
{
    if (!std::isfinite(x)) throw in_field("value", "is not finite");
    return x;
}

/// A decimal number. Other forms of strtod, such as hexadecimal, are refused.
double value_in(const std::string& text)
{
    const bool decimal = !text.empty() && text.find_first_not_of("+-.0123456789eE") == text.npos;
    const std::string_view word = std::string_view(text).substr(text.starts_with('-') ? 1 : 0);
    for (const std::string_view other : {"nan", "NaN", "NAN", "inf", "Inf", "INF", "infinity"}) {
        if (word == other) throw in_field("value", "is not finite");
    }
    char* end = nullptr;
    const double x = decimal ? std::strtod(text.c_str(), &end) : 0;
    if (!decimal || end != text.c_str() + text.size()) throw in_field("value", "is no number");
    return finite(x);
}

std::uint64_t instances_in(std::string_view text)
{
    const auto n = support::number_in(text);
    if (!n) throw in_field("instances", "is no whole number");
    return *n;
}

// --- CSV -----------------------------------------------------------------------------------------

constexpr std::array<std::string_view, 5> columns = {"time", "resource", "metric", "value",
                                                     "instances"};
constexpr std::size_t must_be_there = 4;

/// The fields of a line. Quotes are doubled within quotes.
std::vector<std::string> fields_of(std::string_view line)
{
    std::vector<std::string> fields(1);
    bool quoted = false;
    bool closed = false;
    for (std::size_t i = 0; i != line.size(); ++i) {
        const char c = line[i];
        if (quoted && c == '"' && i + 1 != line.size() && line[i + 1] == '"') {
            fields.back() += line[i++];
        } else if (quoted && c == '"') {
            quoted = false;
            closed = true;
        } else if (quoted) {
            fields.back() += c;
        } else if (c == ',') {
            fields.emplace_back();
            closed = false;
        } else if (closed) {
            throw flaw{"text after the quotes of a field"};
        } else if (c == '"' && fields.back().empty()) {
            quoted = true;
        } else {
            fields.back() += c;
        }
    }
    if (quoted) throw flaw{"a quote is not closed"};
    return fields;
}

class csv {
public:
    /// Reads the heading.
    csv(const std::string& path, std::string_view heading, std::uint64_t number)
    {
        const auto wrong = [&](std::string_view what) {
            throw complaint(fmt::format("{}, line {}: {}", path, number, what));
        };
        if (heading.starts_with("\xEF\xBB\xBF")) heading.remove_prefix(3);
        std::vector<std::string> names;
        try {
            names = fields_of(heading);
        } catch (const flaw& f) {
            wrong(f.text);
        }
        count_ = names.size();
        for (std::size_t c = 0; c != columns.size(); ++c) {
            for (std::size_t n = 0; n != names.size(); ++n) {
                if (names[n] != columns[c]) continue;
                if (place_[c]) wrong(fmt::format("there are two columns {}", columns[c]));
                place_[c] = n;
            }
            if (!place_[c] && c < must_be_there) {
                wrong(
                    fmt::format("there is no column {}; a trace has time,resource,metric,value "
                                "and may have instances",
                                columns[c]));
            }
        }
    }

    [[nodiscard]] row row_of(std::string_view line) const
    {
        const std::vector<std::string> fields = fields_of(line);
        for (std::size_t c = 0; c != columns.size(); ++c) {
            if (place_[c] && *place_[c] >= fields.size()) throw in_field(columns[c], "is missing");
        }
        if (fields.size() > count_) throw flaw{"there are more fields than columns"};
        row r;
        r.at = time_in(fields[*place_[0]]);
        r.resource = name_in(columns[1], fields[*place_[1]]);
        r.metric = name_in(columns[2], fields[*place_[2]]);
        r.value = value_in(fields[*place_[3]]);
        if (!place_[4]) return r;
        const std::string& instances = fields[*place_[4]];
        if (!instances.empty()) r.instances = instances_in(instances);
        return r;
    }

private:
    std::array<std::optional<std::size_t>, columns.size()> place_{};
    std::size_t count_ = 0;
};

// --- NDJSON --------------------------------------------------------------------------------------

const json& field_of(const json& object, std::string_view name)
{
    const auto found = object.find(name);
    if (found == object.end()) throw in_field(name, "is missing");
    return *found;
}

const std::string& text_of(const json& object, std::string_view name)
{
    const json& f = field_of(object, name);
    if (!f.is_string()) throw in_field(name, "is no text");
    return f.get_ref<const std::string&>();
}

/// NaN and a number out of range are invalid JSON. The error names the last field that was begun.
/// A duplicate field is an error, as only one of the values could be kept.
json parsed(std::string_view line)
{
    std::string last;
    std::set<std::string> seen;
    std::optional<std::string> twice;
    const auto note = [&](int depth, json::parse_event_t event, json& value) {
        if (event != json::parse_event_t::key) return true;
        last = value.get_ref<const std::string&>();
        if (depth == 1 && !seen.insert(last).second) twice = last;
        return true;
    };
    json j = json::parse(line, note, false);
    if (j.is_discarded()) {
        for (const std::string_view known : columns) {
            if (last == known) throw in_field(known, "or the text after it is no JSON");
        }
        throw flaw{"the line is no JSON"};
    }
    if (!j.is_object()) throw flaw{"the line is no JSON object"};
    for (const std::string_view known : columns) {
        if (twice == known) throw in_field(known, "is there twice");
    }
    return j;
}

row row_of_json(std::string_view line)
{
    const json j = parsed(line);
    row r;
    r.at = time_in(text_of(j, "time"));
    r.resource = name_in("resource", text_of(j, "resource"));
    r.metric = name_in("metric", text_of(j, "metric"));
    const json& value = field_of(j, "value");
    if (!value.is_number()) throw in_field("value", "is no number");
    r.value = finite(value.get<double>());
    const auto instances = j.find("instances");
    if (instances == j.end() || instances->is_null()) return r;
    if (!instances->is_number_unsigned()) throw in_field("instances", "is no whole number");
    r.instances = instances->get<std::uint64_t>();
    return r;
}

}  // namespace

trace read_trace(const std::string& path)
{
    trace t;
    t.name = path == "-" ? "the standard input" : std::filesystem::path(path).filename().string();
    support::line_source from(path);
    std::optional<csv> table;
    bool is_json = false;
    std::string line;
    bool too_long = false;
    for (std::uint64_t number = 1; from.next(line, too_long); ++number) {
        if (!too_long && is_blank(line)) continue;
        if (!table && !is_json) {
            if (too_long) {
                throw complaint(
                    fmt::format("{}, line {}: there is no heading, and no JSON", t.name, number));
            }
            is_json = line[line.find_first_not_of(" \t")] == '{';
            if (!is_json) {
                table.emplace(t.name, line, number);
                continue;
            }
        }
        try {
            if (too_long) throw flaw{"the line is longer than 65,536 bytes"};
            row r = is_json ? row_of_json(line) : table->row_of(line);
            r.line = number;
            t.rows.push_back(std::move(r));
        } catch (const flaw& f) {
            reject(t.rejected_rows, f.text, number);
        }
    }
    if (!t.rows.empty()) return t;
    std::string why = t.name + " has no row in it";
    for (const auto& [what, r] : t.rejected_rows) {
        why += fmt::format("; line {}: {}", r.first, what);
    }
    throw complaint(why);
}

}  // namespace autoscaler
