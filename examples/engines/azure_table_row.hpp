// SPDX-License-Identifier: MIT
//
// azure_table_row: the dead letter of a pipeline step as a row of an Azure table.
//
//     PartitionKey   the session; / \ # ? % ! and control characters are !XX in hexadecimal:
//                    "a/b" is "a!2Fb"
//     RowKey         the sequence number, 20 digits
//     body           Edm.String if it is text of at most 32 Ki characters, which a portal shows;
//                    otherwise Edm.Binary in pieces of 64 KiB: body, body_1, body_2 ...
//     state, origin_state    Edm.String if they are text, otherwise Edm.Binary
//
//   1. Numbers are Edm.Int64, which JSON writes as text. A larger number is a text of 20 digits.
//   2. Times are Edm.DateTime, which has 100 ns. The remaining nanoseconds are in another property.
//   3. A dead letter is read as it was written, with three exceptions, which it reports: a reason
//      is cut after 8 KiB, a body after the largest size of an entity, and a state of more than 32
//      KiB is left out.

#ifndef WAYBILL_EXAMPLES_ENGINES_AZURE_TABLE_ROW_HPP
#define WAYBILL_EXAMPLES_ENGINES_AZURE_TABLE_ROW_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "number.hpp"
#include "shared_key.hpp"
#include <waybill/core/text.hpp>
#include <waybill/core/time_text.hpp>
#include <waybill/session.hpp>

namespace engines {

/// A row that contains no valid letter.
struct malformed_row : std::runtime_error {
    using std::runtime_error::runtime_error;
};

namespace azure_row {

inline constexpr std::size_t most_units = 32'768;  ///< UTF-16 units in a property.
inline constexpr std::size_t most_bytes = 65'536;  ///< Bytes in a property.
/// In base64, the pieces and the rest fit into a request of 1 MiB, the limit of an emulator. The
/// service counts the bytes without base64.
inline constexpr std::size_t most_pieces = 10;
inline constexpr std::size_t state_bytes = 32'768;
inline constexpr std::size_t summary_bytes = 256;
inline constexpr std::size_t reason_bytes = 8'192;

using json = nlohmann::json;

[[nodiscard]] inline std::string type_of(const std::string& name)
{
    return name + "@odata.type";
}

/// UTF-8 without control characters other than those of a text.
[[nodiscard]] inline bool is_text(std::string_view bytes)
{
    for (const char c : bytes) {
        const auto u = static_cast<unsigned char>(c);
        if (u == 127 || (u < 32 && c != '\t' && c != '\n' && c != '\r')) return false;
    }
    try {
        static_cast<void>(json(bytes).dump());
    } catch (const json::type_error&) {
        return false;
    }
    return true;
}

/// The number of UTF-16 units of a UTF-8 text.
[[nodiscard]] inline std::size_t units(std::string_view text)
{
    std::size_t n = 0;
    for (const char c : text) {
        const auto u = static_cast<unsigned char>(c);
        n += (u & 0xC0U) == 0x80U ? 0U : u >= 0xF0U ? 2U : 1U;
    }
    return n;
}

inline void put_bytes(json& row, const std::string& name, std::string_view bytes)
{
    row[type_of(name)] = "Edm.Binary";
    row[name] = padded_base64(bytes);
}
inline void put(json& row, const std::string& name, std::string_view text)
{
    if (is_text(text)) row[name] = text;
    else put_bytes(row, name, text);
}
inline void put(json& row, const std::string& name, std::uint64_t n)
{
    if (n > static_cast<std::uint64_t>(INT64_MAX)) {
        row[name] = waybill::row_key::of(n);
        return;
    }
    row[type_of(name)] = "Edm.Int64";
    row[name] = std::to_string(n);
}
inline void put(json& row, const std::string& name, waybill::wall_time t)
{
    constexpr std::int64_t tick = 100;
    const std::int64_t ns = t.since_epoch().count();
    const std::int64_t whole = ns / tick - (ns % tick < 0 && ns > INT64_MIN + tick ? 1 : 0);
    row[type_of(name)] = "Edm.DateTime";
    row[name] = to_text(waybill::wall_time::at(waybill::duration::nanoseconds(whole * tick)));
    if (ns != whole * tick) row[name + "_ns"] = ns - whole * tick;
}

[[nodiscard]] inline std::string text_in(const json& row, const std::string& name)
{
    const auto found = row.find(name);
    if (found == row.end() || found->is_null()) return {};
    if (!found->is_string()) throw malformed_row(name + " is no text");
    const auto& text = found->get_ref<const std::string&>();
    if (row.value(type_of(name), "") != "Edm.Binary") return text;
    auto bytes = from_padded_base64(text);
    if (!bytes) throw malformed_row(name + " is no base64");
    return *std::move(bytes);
}
/// Reads a number of any type that other tools may write.
[[nodiscard]] inline std::uint64_t count_in(const json& row, const std::string& name)
{
    const auto found = row.find(name);
    if (found == row.end() || found->is_null()) return 0;
    if (found->is_number_unsigned()) return found->get<std::uint64_t>();
    const auto n = found->is_string() ? number_in(found->get_ref<const std::string&>())
                                      : std::optional<std::uint64_t>();
    if (!n) throw malformed_row(name + " is no number");
    return *n;
}
[[nodiscard]] inline bool flag_in(const json& row, const std::string& name)
{
    const auto found = row.find(name);
    if (found == row.end() || found->is_null()) return false;
    if (!found->is_boolean()) throw malformed_row(name + " is neither true nor false");
    return found->get<bool>();
}
[[nodiscard]] inline waybill::wall_time time_in(const json& row, const std::string& name)
{
    const std::string text = text_in(row, name);
    if (text.empty()) return {};
    const auto t = waybill::parse_wall_time(text);
    if (!t) throw malformed_row(name + " is no time");
    const auto rest = row.find(name + "_ns");
    const bool more = rest != row.end() && rest->is_number_integer();
    return more ? *t + waybill::duration::nanoseconds(rest->get<std::int64_t>()) : *t;
}
/// The value with the name in `property`, of the values up to `last`.
template <class E>
[[nodiscard]] E named_in(const json& row, const std::string& property, E otherwise, E last)
{
    const std::string text = text_in(row, property);
    if (text.empty()) return otherwise;
    for (unsigned n = 0; n <= static_cast<unsigned>(last); ++n) {
        if (name(static_cast<E>(n)) == text) return static_cast<E>(n);
    }
    throw malformed_row("no " + property + " is called " + text.substr(0, 100));
}

[[nodiscard]] inline std::string piece_name(std::size_t n)
{
    return n == 0 ? "body" : "body_" + std::to_string(n);
}

inline void put_body(json& row, waybill::dead_letter_body kept, std::string_view body)
{
    const bool readable = is_text(body) && units(body) <= most_units;
    if (!readable && body.size() > most_pieces * most_bytes) {
        kept = waybill::dead_letter_body::summary;
        body = waybill::utf8_prefix(body, summary_bytes);
    }
    row["kept"] = name(kept);
    if (is_text(body) && units(body) <= most_units) {
        row["body"] = body;
        return;
    }
    for (std::size_t n = 0; !body.empty(); ++n) {
        const std::string_view piece = body.substr(0, most_bytes);
        put_bytes(row, piece_name(n), piece);
        body.remove_prefix(piece.size());
    }
}
/// Returns false if the state is too large.
[[nodiscard]] inline bool put_state(json& row, const std::string& name, std::string_view state)
{
    if (state.size() > state_bytes) return false;
    put(row, name, state);
    return true;
}
[[nodiscard]] inline std::string body_in(const json& row)
{
    std::string body = text_in(row, "body");
    for (std::size_t n = 1; row.contains(piece_name(n)); ++n) body += text_in(row, piece_name(n));
    return body;
}

}  // namespace azure_row

[[nodiscard]] inline std::string partition_key(std::string_view session)
{
    constexpr std::string_view digits = "0123456789ABCDEF";
    constexpr std::string_view reserved = "/\\#?%!";
    const bool readable = azure_row::is_text(session);
    std::string key;
    for (std::size_t n = 0; n != session.size(); ++n) {
        const char c = session[n];
        const auto u = static_cast<unsigned char>(c);
        // U+0080 to U+009F are control characters, too: C2 80 to C2 9F.
        const auto next = n + 1 == session.size() ? 0U : static_cast<unsigned char>(session[n + 1]);
        const auto before = n == 0 ? 0U : static_cast<unsigned char>(session[n - 1]);
        const bool leads = u == 0xC2U && next >= 0x80U && next < 0xA0U;
        const bool follows = before == 0xC2U && u >= 0x80U && u < 0xA0U;
        const bool forbidden = u < 32 || u == 127 || reserved.find(c) != session.npos;
        if (!forbidden && !leads && !follows && (readable || u < 0x80U)) {
            key += c;
            continue;
        }
        key += '!';
        key += digits[u >> 4U];
        key += digits[u & 15U];
    }
    return key;
}

/// The inverse. A ! without two digits after it is kept, as other tools may write such keys.
[[nodiscard]] inline std::string session_of_partition_key(std::string_view key)
{
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string session;
    for (std::size_t n = 0; n != key.size(); ++n) {
        const std::size_t high = n + 2 < key.size() ? digits.find(key[n + 1]) : key.npos;
        const std::size_t low = n + 2 < key.size() ? digits.find(key[n + 2]) : key.npos;
        if (key[n] != '!' || high == key.npos || low == key.npos) {
            session += key[n];
            continue;
        }
        session += static_cast<char>(high * 16 + low);
        n += 2;
    }
    return session;
}

[[nodiscard]] inline nlohmann::json row_of(const waybill::pipeline_dead_letter& l)
{
    using azure_row::put;
    nlohmann::json row{{"PartitionKey", partition_key(l.properties.session)},
                       {"RowKey", waybill::row_key::of(l.sequence)},
                       {"last", l.properties.last},
                       {"alone", l.independent},
                       {"reason", name(l.reason)}};
    put(row, "step", l.properties.step);
    put(row, "first", l.properties.first);
    put(row, "total", l.properties.total);
    put(row, "origin", l.origin.session);
    put(row, "origin_sequence", l.origin.sequence);
    put(row, "generation", l.origin.generation);
    put(row, "origin_tries", l.origin.tries);
    put(row, "origin_message", l.origin.message_id);
    put(row, "message_id", l.message_id);
    put(row, "cause", l.cause);
    put(row, "resume_at", l.resume_at);
    put(row, "sent_to", l.last_redriven_step);
    put(row, "text", waybill::utf8_prefix(l.text, azure_row::reason_bytes));
    put(row, "tries", l.tries);
    put(row, "enqueued", l.enqueued);
    put(row, "parked", l.dead_lettered_at);
    put(row, "size", l.size);
    put(row, "checksum", std::uint64_t{l.checksum});
    azure_row::put_body(row, l.kept, l.body);
    const bool state = azure_row::put_state(row, "state", l.state);
    const bool origin = azure_row::put_state(row, "origin_state", l.origin.state);
    row["state_cut"] = l.state_omitted || !state || !origin;
    return row;
}

/// A missing property has the default of a new letter. Throws malformed_row.
[[nodiscard]] inline waybill::pipeline_dead_letter letter_in(const nlohmann::json& row)
{
    using namespace azure_row;
    if (!row.is_object()) throw malformed_row("a row is no object");
    waybill::pipeline_dead_letter l;
    l.properties = {session_of_partition_key(text_in(row, "PartitionKey")), count_in(row, "step"),
                    count_in(row, "first"), count_in(row, "total"), flag_in(row, "last")};
    const auto key = waybill::row_key::read(text_in(row, "RowKey"));
    if (!key.readable()) throw malformed_row(describe(key));
    l.sequence = key.sequence;
    l.origin = {text_in(row, "origin"),       count_in(row, "origin_sequence"),
                count_in(row, "generation"),  count_in(row, "origin_tries"),
                text_in(row, "origin_state"), text_in(row, "origin_message")};
    l.message_id = text_in(row, "message_id");
    l.reason = named_in(row, "reason", l.reason, waybill::dead_letter_reason::broker);
    l.cause = count_in(row, "cause");
    l.resume_at = count_in(row, "resume_at");
    l.independent = flag_in(row, "alone");
    l.last_redriven_step = count_in(row, "sent_to");
    l.text = text_in(row, "text");
    l.tries = count_in(row, "tries");
    l.enqueued = time_in(row, "enqueued");
    l.dead_lettered_at = time_in(row, "parked");
    l.kept = named_in(row, "kept", l.kept, waybill::dead_letter_body::discard);
    l.body = body_in(row);
    l.size = count_in(row, "size");
    const std::uint64_t checksum = count_in(row, "checksum");
    if (checksum > UINT32_MAX) throw malformed_row("checksum is no CRC-32C");
    l.checksum = static_cast<std::uint32_t>(checksum);
    l.state = text_in(row, "state");
    l.state_omitted = flag_in(row, "state_cut");
    return l;
}

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_AZURE_TABLE_ROW_HPP
