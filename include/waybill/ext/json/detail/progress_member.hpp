// SPDX-License-Identifier: MIT
//
// ext/json/detail/progress_member: the progress of a session as one member next to the user's own
// members:
//
//     "waybill":{"done":2,"failed":{"at":"2024-02-29T12:00:00Z","reason":"exhausted","sequence":17,
//                "step":3,"text":"no printer answers","tries":5},"total":5}
//
// Fields that are zero are left out. The other fields are `arrived`, `begun`, `changed`, `first`,
// `parked`, `seen`, `tries` and `version`. `arrived` and `seen` are the number and the sequence
// number of the last message that was numbered by its arrival.
//
// The member is written directly as JSON or CBOR, without a tree. Most states are small, and a tree
// would be the larger part of the work. The text of a failure is made UTF-8 and cut to the
// available bytes, so a failure can always be written.

#ifndef WAYBILL_EXT_JSON_DETAIL_PROGRESS_MEMBER_HPP
#define WAYBILL_EXT_JSON_DETAIL_PROGRESS_MEMBER_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <waybill/core/detail/digits.hpp>
#include <waybill/core/text.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/time_text.hpp>
#include <waybill/core/utf8.hpp>
#include <waybill/ext/json/detail/json_value.hpp>
#include <waybill/ext/json/read.hpp>
#include <waybill/session/detail/progress_text.hpp>
#include <waybill/session/envelope.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/step.hpp>

namespace waybill::inline v0_2::detail {

/// Largest size of the member in bytes, with all numbers and times at their longest. It includes a
/// version, and the mark of a failed session next to the member, but no text of a failure. A failed
/// session has either `arrived` and `seen`, or `first` and `tries`. Checked in
/// tests/unit/ext_json/session_budget.test.cpp.
inline constexpr std::uint64_t max_progress_member_bytes = 510;

inline constexpr std::string_view progress_name = "waybill";

/// Bytes of `c` in a JSON string: 2 for a short escape such as \n, 6 for one such as \u001f.
[[nodiscard]] constexpr std::uint64_t json_size(char c) noexcept
{
    if (c == '"' || c == '\\' || (c >= '\b' && c <= '\r' && c != '\v')) return 2;
    return static_cast<unsigned char>(c) < 0x20 ? 6 : 1;
}

/// Writes JSON on one line.
struct json_out {
    std::string& to;
    bool first = true;

    void open(std::uint64_t)
    {
        to += '{';
        first = true;
    }

    void close()
    {
        to += '}';
        first = false;
    }

    void name(std::string_view n)
    {
        if (!first) to += ',';
        first = false;
        text(n);
        to += ':';
    }

    void number(std::uint64_t n) { to += std::to_string(n); }

    template <json_value Json>
    void value(const Json& v)
    {
        to += v.dump();
    }

    void text(std::string_view utf8)
    {
        to += '"';
        for (std::size_t n = plain_size(utf8); n != utf8.size(); n = plain_size(utf8)) {
            to += utf8.substr(0, n);
            escape(utf8[n]);
            utf8.remove_prefix(n + 1);
        }
        to += utf8;
        to += '"';
    }

    /// The number of bytes before the first one that needs an escape.
    [[nodiscard]] static std::size_t plain_size(std::string_view utf8) noexcept
    {
        std::size_t n = 0;
        while (n != utf8.size() && json_size(utf8[n]) == 1) ++n;
        return n;
    }

    void escape(char c)
    {
        to += '\\';
        if (json_size(c) == 2) {
            // \b, \t, \n, \f and \r have the codes 8 to 13; 11 has no short escape.
            to += c == '"' || c == '\\' ? c : "btn.fr"[c - '\b'];
            return;
        }
        to += "u00";
        to += "0123456789abcdef"[c / 16];
        to += "0123456789abcdef"[c % 16];
    }

    /// The longest prefix that takes at most `max_bytes` bytes in JSON, cut between characters.
    [[nodiscard]] static std::string_view prefix(std::string_view utf8, std::uint64_t max_bytes)
    {
        std::size_t n = 0;
        for (; n != utf8.size() && json_size(utf8[n]) <= max_bytes; ++n) {
            max_bytes -= json_size(utf8[n]);
        }
        return utf8_prefix(utf8, n);
    }
};

/// The same functions for CBOR (RFC 8949).
struct cbor_out {
    /// Major types, in the upper three bits of a head.
    static constexpr unsigned unsigned_number = 0x00, text_string = 0x60, map = 0xA0;

    std::string& to;

    [[nodiscard]] static constexpr std::size_t head_size(std::uint64_t n) noexcept
    {
        if (n < 24) return 1;
        if (n <= 0xFF) return 2;
        if (n <= 0xFFFF) return 3;
        return n <= 0xFFFF'FFFF ? 5 : 9;
    }

    void head(unsigned major_type, std::uint64_t n)
    {
        const std::size_t size = head_size(n);
        // The low bits of a longer head, by its size: they encode the width of the number.
        constexpr unsigned widths[] = {0, 0, 24, 25, 0, 26, 0, 0, 0, 27};
        const unsigned low = size == 1 ? static_cast<unsigned>(n) : widths[size];
        to += static_cast<char>(major_type | low);
        for (std::size_t left = size - 1; left != 0; --left) {
            to += static_cast<char>(static_cast<unsigned char>(n >> (8 * (left - 1)) & 0xFFU));
        }
    }

    void open(std::uint64_t members) { head(map, members); }
    void close() {}
    void name(std::string_view n) { text(n); }
    void number(std::uint64_t n) { head(unsigned_number, n); }

    template <json_value Json>
    void value(const Json& v)
    {
        Json::to_cbor(v, to);
    }

    void text(std::string_view utf8)
    {
        head(text_string, utf8.size());
        to += utf8;
    }

    [[nodiscard]] static std::string_view prefix(std::string_view utf8, std::uint64_t max_bytes)
    {
        // The head of an empty text, one byte, is already counted. The additional bytes of a
        // longer head are taken from the text.
        std::uint64_t n = utf8.size() < max_bytes ? utf8.size() : max_bytes;
        while (n != 0 && n + head_size(n) - 1 > max_bytes) --n;
        return utf8_prefix(utf8, n);
    }
};

/// The text with U+FFFD for each byte that is not part of a character.
[[nodiscard]] inline std::string replace_invalid_utf8(std::string_view text)
{
    std::string valid;
    valid.reserve(text.size());
    while (!text.empty()) {
        std::size_t n = 1;
        while (n <= 4 && n <= text.size() && !is_utf8(text.substr(0, n))) ++n;
        const bool invalid = n > 4 || n > text.size();
        valid += invalid ? std::string_view("\xEF\xBF\xBD") : text.substr(0, n);
        text.remove_prefix(invalid ? 1 : n);
    }
    return valid;
}

/// The content of the member.
struct progress_member {
    const session_progress& known;
    const nlohmann::json& unknown_fields;     ///< Fields of later versions: an object, or null.
    std::optional<schema_version> version{};  ///< The user's version, if there is no envelope.

    [[nodiscard]] bool empty() const
    {
        return known == session_progress{} && unknown_fields.empty() && !version;
    }
};

/// The object that has the unknown fields: the progress, or its failure.
enum class fields_of : bool { progress, failure };

/// The unknown fields of one object; null if there are none. Those of the progress include
/// "failed", which contains those of the failure.
template <json_value Json>
[[nodiscard]] const typename Json::object_t* unknown_members(const Json& unknown, fields_of owner)
{
    using object = typename Json::object_t;
    if (!unknown.is_object() || owner == fields_of::progress) {
        return unknown.template get_ptr<const object*>();
    }
    const auto found = unknown.find("failed");
    return found == unknown.end() ? nullptr : found->template get_ptr<const object*>();
}

template <class Out, json_value Json>
void put_unknown_fields(Out& out, const Json& unknown, fields_of owner)
{
    const auto* members = unknown_members(unknown, owner);
    if (!members) return;
    for (const auto& [key, value] : *members) {
        if (owner == fields_of::progress && key == "failed") continue;
        out.name(key);
        out.value(value);
    }
}

template <json_value Json>
[[nodiscard]] std::uint64_t count_unknown_fields(const Json& unknown, fields_of owner)
{
    const auto* members = unknown_members(unknown, owner);
    if (!members) return 0;
    const bool has_failure = owner == fields_of::progress && members->count("failed") != 0;
    return members->size() - (has_failure ? 1 : 0);
}

/// Writes the failure of `m`, with `text` as its text.
template <class Out>
void put_failure(Out& out, const progress_member& m, std::string_view text)
{
    const session_progress::failure& f = *m.known.failed;
    out.name("failed");
    constexpr std::uint64_t known_fields = 6;
    out.open(known_fields + count_unknown_fields(m.unknown_fields, fields_of::failure));
    out.name("at");
    out.text(waybill::to_text(f.at));
    out.name("reason");
    out.text(waybill::name(f.reason));
    out.name("sequence");
    out.number(f.sequence);
    out.name("step");
    out.number(f.step);
    out.name("text");
    out.text(text);
    out.name("tries");
    out.number(f.tries);
    put_unknown_fields(out, m.unknown_fields, fields_of::failure);
    out.close();
}

/// Writes the value of the member, with `failure` as the text of its failure.
template <class Out>
void put_progress(Out& out, const progress_member& m, std::string_view failure)
{
    const session_progress& p = m.known;
    const auto count_if = [](bool present) { return present ? 1U : 0U; };
    out.open(count_if(p.arrived != 0) + count_if(p.arrived_sequence != 0) +
             count_if(p.begun != wall_time{}) + count_if(p.changed != wall_time{}) +
             count_if(p.done != 0) + count_if(p.failed.has_value()) + count_if(p.first != 0) +
             count_if(p.dead_lettered != 0) + count_if(p.total != 0) + count_if(p.tries != 0) +
             count_if(m.version.has_value()) +
             count_unknown_fields(m.unknown_fields, fields_of::progress));
    const auto number = [&](std::string_view word, std::uint64_t n) {
        if (n == 0) return;
        out.name(word);
        out.number(n);
    };
    const auto time = [&](std::string_view word, wall_time t) {
        if (t == wall_time{}) return;
        char line[max_time_size] = {};
        out.name(word);
        out.text(std::string_view(line, put_time(line, t)));
    };
    number("arrived", p.arrived);
    time("begun", p.begun);
    time("changed", p.changed);
    number("done", p.done);
    if (p.failed) put_failure(out, m, failure);
    number("first", p.first);
    number("parked", p.dead_lettered);
    number("seen", p.arrived_sequence);
    number("total", p.total);
    number("tries", p.tries);
    if (m.version) {
        out.name("version");
        out.text(waybill::describe(*m.version));
    }
    put_unknown_fields(out, m.unknown_fields, fields_of::progress);
    out.close();
}

/// The result of reading the member.
template <json_value Json>
struct progress_result {
    state_read outcome = state_read::ok;
    session_progress progress{};
    Json unknown_fields{};  ///< Fields of later versions; null if there are none.
    std::optional<schema_version> version{};
    std::string reason{};  ///< The invalid field, with its path.
};

/// Reads the member. Moves unknown fields out of it.
template <json_value Json>
class progress_reader {
public:
    explicit progress_reader(Json& member) : member_(member) {}

    [[nodiscard]] progress_result<Json> read()
    {
        if (!member_.is_object()) {
            fail({}, member_, "an object");
            return std::move(result_);
        }
        session_progress& p = result_.progress;
        for (auto i = member_.begin(); i != member_.end(); ++i) {
            const std::string& key = i.key();
            Json& v = i.value();
            if (key == "arrived") number(key, v, p.arrived);
            else if (key == "begun") time(key, v, p.begun);
            else if (key == "changed") time(key, v, p.changed);
            else if (key == "done") number(key, v, p.done);
            else if (key == "failed") failure(v);
            else if (key == "first") number(key, v, p.first);
            else if (key == "parked") number(key, v, p.dead_lettered);
            else if (key == "seen") number(key, v, p.arrived_sequence);
            else if (key == "total") number(key, v, p.total);
            else if (key == "tries") number(key, v, p.tries);
            else if (key == "version") version(v);
            else result_.unknown_fields[key] = std::move(v);
        }
        return std::move(result_);
    }

private:
    void fail(std::string_view field, const Json& v, std::string_view expected,
              state_read outcome = state_read::corrupt)
    {
        if (result_.outcome != state_read::ok) return;
        result_.outcome = outcome;
        std::string path = "/waybill";
        if (!field.empty()) path = path + '/' + std::string(field);
        result_.reason = describe(
            json_error{json_error::code::wrong, std::move(path), std::string(expected), shown(v)});
    }

    void number(std::string_view field, const Json& v, std::uint64_t& into)
    {
        const std::optional<std::uint64_t> n = whole_number(v);
        if (!n) fail(field, v, "a whole number of at most 64 bits");
        into = n.value_or(0);
    }

    void time(std::string_view field, const Json& v, wall_time& into)
    {
        const auto* s = v.template get_ptr<const std::string*>();
        const std::optional<wall_time> t = s ? parse_wall_time(*s) : std::nullopt;
        if (!t) fail(field, v, "a time such as \"2024-02-29T12:00:00.25Z\"");
        into = t.value_or(wall_time{});
    }

    void reason(const Json& v, dead_letter_reason& into)
    {
        const auto* s = v.template get_ptr<const std::string*>();
        const std::optional<dead_letter_reason> r = s ? dead_letter_reason_in(*s) : std::nullopt;
        if (!s) fail("failed/reason", v, "a reason");
        else if (!r) fail("failed/reason", v, "a reason known to this program", state_read::newer);
        into = r.value_or(dead_letter_reason::failed);
    }

    void version(const Json& v)
    {
        const auto* s = v.template get_ptr<const std::string*>();
        const std::string_view all = s ? std::string_view(*s) : std::string_view();
        const std::size_t dot = all.find('.');
        const auto major = digits_in(all.substr(0, dot));
        const auto minor = dot == all.npos ? major : digits_in(all.substr(dot + 1));
        if (dot == all.npos || !major || !minor || *major > UINT16_MAX || *minor > UINT16_MAX) {
            return fail("version", v, "a version such as \"1.0\"");
        }
        result_.version = {static_cast<std::uint16_t>(*major), static_cast<std::uint16_t>(*minor)};
    }

    void failure(Json& v)
    {
        result_.progress.failed = session_progress::failure{};  // not emplace(): clang 14
        session_progress::failure& f = *result_.progress.failed;
        if (!v.is_object()) return fail("failed", v, "an object");
        for (const char* const needed : {"reason", "sequence", "step"}) {
            if (v.contains(needed)) continue;
            return fail(std::string("failed/") + needed, Json(), "a value");
        }
        for (auto i = v.begin(); i != v.end(); ++i) {
            const std::string& key = i.key();
            Json& one = i.value();
            if (key == "at") time("failed/at", one, f.at);
            else if (key == "reason") reason(one, f.reason);
            else if (key == "sequence") number("failed/sequence", one, f.sequence);
            else if (key == "step") number("failed/step", one, f.step);
            else if (key == "text") text(one, f.text);
            else if (key == "tries") number("failed/tries", one, f.tries);
            else result_.unknown_fields["failed"][key] = std::move(one);
        }
    }

    void text(const Json& v, std::string& into)
    {
        const auto* s = v.template get_ptr<const std::string*>();
        if (!s || !is_utf8(*s)) fail("failed/text", v, "a text in UTF-8");
        else into = *s;
    }

    Json& member_;
    progress_result<Json> result_;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_EXT_JSON_DETAIL_PROGRESS_MEMBER_HPP
