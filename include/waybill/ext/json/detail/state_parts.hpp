// SPDX-License-Identifier: MIT
//
// ext/json/detail/state_parts: builds the bytes of a state from the user's object and the progress.
//
// nlohmann's library writes the object, and the progress is appended as its last member. The user's
// part may take the budget without the failure reserve. In a failed session the user's part and the
// failure together may take the whole budget. `state_codec_options` has the settings.

#ifndef WAYBILL_EXT_JSON_DETAIL_STATE_PARTS_HPP
#define WAYBILL_EXT_JSON_DETAIL_STATE_PARTS_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/utf8.hpp>
#include <waybill/ext/json/decoded_state.hpp>
#include <waybill/ext/json/detail/json_value.hpp>
#include <waybill/ext/json/detail/progress_member.hpp>
#include <waybill/ext/json/detail/stored_tree.hpp>
#include <waybill/ext/json/detail/unknown_fields.hpp>
#include <waybill/ext/json/read.hpp>
#include <waybill/session/detail/sealed_state.hpp>
#include <waybill/session/envelope.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/state_budget.hpp>

namespace waybill::inline v0_2::detail {

static_assert(max_progress_member_bytes <= state_budget::min_failure_reserve);

/// The mark of a failed session in a state without an envelope.
inline constexpr const char* failed_mark = "IsFailedSession";
inline constexpr std::uint64_t failed_mark_bytes = 23;  // name, value `true` and comma in JSON

/// True if `a` and `b` have the same length and differ in exactly one bit.
[[nodiscard]] constexpr bool one_bit_apart(std::string_view a, std::string_view b) noexcept
{
    bool found = false;
    for (std::size_t n = 0; n != a.size() && a.size() == b.size(); ++n) {
        const unsigned bits = static_cast<unsigned char>(a[n] ^ b[n]);
        if (bits == 0) continue;
        if (found || (bits & (bits - 1)) != 0) return false;
        found = true;
    }
    return found;
}

/// The error of an object in which one bit of the mark was probably damaged; empty if there is
/// none. The object has neither the mark nor the member "waybill". It has a member that is true and
/// whose name differs from the mark in one bit. A state without an envelope has no checksum to
/// detect damage, and without this error a failed session would continue. "isFailedSession" also
/// differs in one bit only: a program that writes names in camel case means the mark.
template <json_value Json>
[[nodiscard]] std::string damaged_mark_error(const Json& user)
{
    const auto* members = user.template get_ptr<const typename Json::object_t*>();
    if (!members || user.contains(progress_name) || user.contains(failed_mark)) return {};
    for (const auto& [key, value] : *members) {
        const bool* flag = value.template get_ptr<const bool*>();
        if (!flag || !*flag || !one_bit_apart(key, failed_mark)) continue;
        return path_to({}, as_one_line(key)) +
               ": is true, and differs from IsFailedSession in one bit";
    }
    return {};
}

/// Writes name and value of the member.
template <class Out>
void put_member(Out out, const progress_member& m, std::string_view failure)
{
    out.name(progress_name);
    put_progress(out, m, failure);
}

/// Size of the unknown fields, in bytes. They count as part of the user's value, not as progress.
template <class Out>
[[nodiscard]] std::uint64_t unknown_field_bytes(const progress_member& m)
{
    if (m.unknown_fields.empty()) return 0;
    std::string fields;
    Out out{fields};
    put_unknown_fields(out, m.unknown_fields, fields_of::progress);
    if (m.known.failed) put_unknown_fields(out, m.unknown_fields, fields_of::failure);
    return fields.size() + 1;
}

/// Bytes of the user's part in a state of `size` bytes: `size` without the known progress and its
/// separator. `members` is the number of members other than "waybill".
template <class Out>
[[nodiscard]] std::uint64_t value_bytes(std::uint64_t size, const progress_member& m,
                                        std::size_t members)
{
    if (m.empty()) return size;
    std::string member;
    put_member(Out{member}, m, {});
    std::uint64_t separator_bytes = members != 0 ? 1 : 0;
    if constexpr (!std::is_same_v<Out, json_out>) {
        separator_bytes = Out::head_size(members + 1) - Out::head_size(members);
    }
    return saturating_add(saturating_sub(size, member.size() + separator_bytes),
                          unknown_field_bytes<Out>(m));
}

/// The problem of parsed bytes that are not an object; empty if they are an object.
template <json_value Json>
[[nodiscard]] std::optional<std::pair<json_state_problem, std::string>> parse_problem_of(
    const tree_builder<Json>& t)
{
    using enum json_state_problem;
    switch (t.problem) {
        case tree_problem::none: break;
        case tree_problem::syntax:
            return std::pair(syntax, "invalid at byte " + std::to_string(t.error_position));
        case tree_problem::too_many:  // not reached: the budget limits the number
        case tree_problem::too_deep:
            return std::pair(too_deep, "more than " + std::to_string(max_state_depth) + " levels");
        case tree_problem::duplicate: return std::pair(duplicate, shown(Json(t.duplicate_name)));
    }
    if (!t.root.is_object()) return std::pair(not_an_object, shown(t.root));
    return std::nullopt;
}

/// The user's part as it is stored; an empty object if there is none.
template <json_value Json>
[[nodiscard]] Json stored_user_part(const state_as_read& read)
{
    if (!read.stored_bytes.empty() && !read.unreadable) {
        const opened_state o = open_state(read.stored_bytes, highest_size);
        tree_builder<Json> tree = tree_of<Json>(o.body, o.format == state_format::cbor);
        if (!parse_problem_of(tree)) {
            tree.root.erase(progress_name);
            return std::move(tree.root);
        }
    }
    return read.user.is_object() ? read.user : Json::object();
}

/// The unknown fields of the user's part, without the mark of a failed session. `known` is what the
/// type wrote after reading the part; the result takes parts of it.
template <json_value Json>
[[nodiscard]] unknown_user_fields unknown_user_fields_in(const Json& user, Json& known)
{
    unknown_part<Json> part = unknown_part_of(user, known);
    if (part.fields.is_object()) part.fields.erase(failed_mark);
    return {true, std::move(part.fields), std::move(part.known)};
}

template <json_value Json>
struct state_writer {
    bool cbor;
    bool envelope;
    state_budget budget;
    schema_version version;
    const session_progress& progress;
    const Json& unknown_fields;   ///< Progress fields of later versions: an object, or null.
    std::uint64_t last_size = 0;  ///< Bytes of the last state: memory to reserve for CBOR.

    /// Returns the bytes of the state. If there are none, `error` contains the reason. May set the
    /// mark of a failed session in `user`.
    [[nodiscard]] std::optional<std::string> write(Json& user, state_unwritten& error) const
    {
        const bool needs_mark = !envelope && progress.failed;
        if (!is_storable(user, error)) return std::nullopt;
        const bool adds_mark = needs_mark && !user.contains(failed_mark);
        const std::uint64_t mark_bytes = adds_mark ? failed_mark_bytes : 0;
        if (needs_mark) user[failed_mark] = true;
        std::string bytes;
        if (!write_user_part(user, bytes, error)) return std::nullopt;
        const bool done = cbor ? append_progress<cbor_out>(bytes, user.size(), mark_bytes, error)
                               : append_progress<json_out>(bytes, user.size(), mark_bytes, error);
        return done ? std::optional(std::move(bytes)) : std::nullopt;
    }

private:
    [[nodiscard]] bool is_storable(const Json& user, state_unwritten& error) const
    {
        if (!user.is_object()) {
            error = {.problem = state_unwritten::problem_type::not_an_object,
                     .reason = shown(user)};
            return false;
        }
        if (user.contains(progress_name)) {
            error = {.problem = state_unwritten::problem_type::reserved_name,
                     .reason = "\"waybill\""};
            return false;
        }
        const auto user_mark = envelope ? user.end() : user.find(failed_mark);
        if (user_mark != user.end() && !user_mark->is_boolean()) {
            error = {.problem = state_unwritten::problem_type::reserved_name,
                     .reason = "\"IsFailedSession\" (neither true nor false)"};
            return false;
        }
        tree_check checker{.json = !cbor, .texts = cbor || !can_throw};
        if (!checker(user)) return set_error(checker, error);
        if (checker(unknown_fields)) return true;
        checker.path = "/waybill" + checker.path;
        return set_error(checker, error);
    }

    /// Sets the error to the fault that the checker found. Returns false.
    static bool set_error(const tree_check& checker, state_unwritten& error)
    {
        error = {.problem = state_unwritten::problem_type::too_deep, .reason = checker.path};
        if (checker.fault == tree_fault::not_finite)
            error.problem = state_unwritten::problem_type::not_finite;
        if (checker.fault == tree_fault::not_utf8)
            error.problem = state_unwritten::problem_type::not_utf8;
        if (checker.fault == tree_fault::not_json)
            error.problem = state_unwritten::problem_type::not_json;
        if (checker.fault == tree_fault::subtype)
            error.problem = state_unwritten::problem_type::subtype;
        return false;
    }

    [[nodiscard]] std::size_t envelope_size() const noexcept
    {
        return envelope ? envelope_bytes : 0;
    }

    /// Writes the user's part after the space for the envelope.
    [[nodiscard]] bool write_user_part(const Json& user, std::string& bytes,
                                       state_unwritten& error) const
    {
        if (cbor) {
            bytes.reserve(lesser(last_size, budget.bytes));
            bytes.assign(envelope_size(), ' ');
            Json::to_cbor(user, bytes);
            return true;
        }
        const auto threw = exception_text_of([&] {
            const std::string body = user.dump();
            bytes.reserve(envelope_size() + body.size() + max_progress_member_bytes);
            bytes.assign(envelope_size(), ' ').append(body);
        });
        if (!threw) return true;
        tree_check checker{.json = true, .texts = true};
        static_cast<void>(checker(user));
        return set_error(checker, error);
    }

    /// Appends the progress to the user's part and writes the envelope.
    template <class Out>
    [[nodiscard]] bool append_progress(std::string& bytes, std::size_t members,
                                       std::uint64_t mark_bytes, state_unwritten& error) const
    {
        constexpr bool as_json = std::is_same_v<Out, json_out>;
        const progress_member m{progress, unknown_fields,
                                envelope ? std::nullopt : std::optional(version)};
        const std::uint64_t value_size = bytes.size() - mark_bytes + unknown_field_bytes<Out>(m);
        const std::uint64_t max_bytes = progress.failed ? budget.bytes : budget.max_value_bytes();
        if (value_size > max_bytes) {
            error = {.problem = state_unwritten::problem_type::too_large,
                     .size = value_size,
                     .max_bytes = max_bytes};
            return false;
        }
        if (!m.empty()) {
            if constexpr (as_json) {
                bytes.pop_back();
                if (members != 0) bytes += ',';
            } else {
                std::string head;
                Out{head}.open(members + 1);
                bytes.replace(envelope_size(), Out::head_size(members), head);
            }
            if (!append_member<Out>(bytes, m, error)) return false;
            if (as_json) bytes += '}';
        }
        if (envelope) {
            put_envelope(bytes, cbor ? state_format::cbor : state_format::json, version);
        }
        return true;
    }

    /// Appends the member. In a failed session it is first written without the failure's text, to
    /// measure its size; the text is then cut to the available bytes.
    template <class Out>
    [[nodiscard]] bool append_member(std::string& bytes, const progress_member& m,
                                     state_unwritten& error) const
    {
        if (!progress.failed) {
            put_member(Out{bytes}, m, {});
            return true;
        }
        const std::size_t start = bytes.size();
        put_member(Out{bytes}, m, {});
        constexpr std::uint64_t closing_brace = std::is_same_v<Out, json_out> ? 1 : 0;
        const std::uint64_t total_bytes = bytes.size() + closing_brace;
        if (total_bytes > budget.bytes) {
            error = {.problem = state_unwritten::problem_type::too_large,
                     .size = total_bytes,
                     .max_bytes = budget.bytes};
            return false;
        }
        const std::string& failure_text = progress.failed->text;
        const std::string valid_text =
            is_utf8(failure_text) ? std::string() : replace_invalid_utf8(failure_text);
        const std::string_view full_text =
            valid_text.empty() ? std::string_view(failure_text) : valid_text;
        bytes.resize(start);
        put_member(Out{bytes}, m, Out::prefix(full_text, budget.bytes - total_bytes));
        return true;
    }
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_EXT_JSON_DETAIL_STATE_PARTS_HPP
