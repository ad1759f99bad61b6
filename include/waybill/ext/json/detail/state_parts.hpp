// SPDX-License-Identifier: MIT
//
// ext/json/detail/state_parts: builds the bytes of a state from the user's object and the progress.
//
// nlohmann's library writes the object, and the progress is appended as its last member. The user's
// part may take the budget without the failure reserve. In a failed session the user's part and the
// failure together may take the whole budget. `state_codec_options` has the settings.

#ifndef WAYBILL_EXT_JSON_DETAIL_STATE_PARTS_HPP
#define WAYBILL_EXT_JSON_DETAIL_STATE_PARTS_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

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
inline constexpr std::uint64_t failed_mark_bytes = 23;  // of the name, its value and a comma

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
/// none. The object has neither the mark nor the member "waybill", but a member that is true and
/// whose name differs from the mark in one bit. A state without an envelope has no checksum to
/// detect damage, and without this error a failed session would continue. "isFailedSession" is such
/// a name, too: a program that writes names in camel case means the mark.
template <json_value Json>
[[nodiscard]] std::string nearly_marked(const Json& user)
{
    const auto* members = user.template get_ptr<const typename Json::object_t*>();
    if (!members || user.contains(progress_name) || user.contains(failed_mark)) return {};
    for (const auto& [key, value] : *members) {
        const bool* says = value.template get_ptr<const bool*>();
        if (!says || !*says || !one_bit_apart(key, failed_mark)) continue;
        return path_to({}, in_line(key)) + ": is true, and is IsFailedSession but for one bit";
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

/// Bytes of the fields that only later versions know. They do not count as known progress.
template <class Out>
[[nodiscard]] std::uint64_t later_bytes(const progress_member& m)
{
    if (m.later.empty()) return 0;
    std::string all;
    Out out{all};
    put_later(out, m.later, false);
    if (m.known.failed) put_later(out, m.later, true);
    return all.size() + 1;
}

/// Bytes of the user's part in a state of `size` bytes, where `members` is the number of members
/// other than "waybill": all but the known progress and the bytes that join it.
template <class Out>
[[nodiscard]] std::uint64_t value_bytes(std::uint64_t size, const progress_member& m,
                                        std::size_t members)
{
    if (m.empty()) return size;
    std::string member;
    put_member(Out{member}, m, {});
    std::uint64_t joint = members != 0 ? 1 : 0;
    if constexpr (!std::is_same_v<Out, json_out>) {
        joint = Out::head_size(members + 1) - Out::head_size(members);
    }
    return saturating_add(saturating_sub(size, member.size() + joint), later_bytes<Out>(m));
}

/// The problem of parsed bytes that are not an object; empty if they are an object.
template <json_value Json>
[[nodiscard]] std::optional<std::pair<json_state_problem, std::string>> problem_of(
    const tree_builder<Json>& t)
{
    using enum json_state_problem;
    switch (t.problem) {
        case tree_problem::none: break;
        case tree_problem::syntax:
            return std::pair(syntax, "something else at byte " + std::to_string(t.at));
        case tree_problem::too_many:  // not reached: the budget limits the number
        case tree_problem::too_deep:
            return std::pair(too_deep, "more than " + std::to_string(max_state_depth) + " levels");
        case tree_problem::duplicate: return std::pair(duplicate, shown(Json(t.twice)));
    }
    if (!t.root.is_object()) return std::pair(not_an_object, shown(t.root));
    return std::nullopt;
}

/// The user's part as it is stored; an empty object if there is none.
template <json_value Json>
[[nodiscard]] Json last_user(const state_as_read& read)
{
    if (!read.since.empty() && !read.unread) {
        const opened_state o = open_state(read.since, highest_size);
        tree_builder<Json> tree = tree_of<Json>(o.body, o.format == state_format::cbor);
        if (!problem_of(tree)) {
            tree.root.erase(progress_name);
            return std::move(tree.root);
        }
    }
    return read.user.is_object() ? read.user : Json::object();
}

template <json_value Json>
struct part_writer {
    bool cbor;
    bool envelope;
    state_budget budget;
    schema_version version;
    const session_progress& progress;
    const Json& later;
    std::uint64_t guess = 0;  ///< Expected size in bytes: the size of the last state.

    /// Returns the bytes of the state. If there are none, `bad` contains the reason. May set the
    /// mark of a failed session in `user`.
    [[nodiscard]] std::optional<std::string> write(Json& user, state_unwritten& bad) const
    {
        const bool mark = !envelope && progress.failed;
        if (!is_storable(user, bad)) return std::nullopt;
        const std::uint64_t marked = mark && !user.contains(failed_mark) ? failed_mark_bytes : 0;
        if (mark) user[failed_mark] = true;
        std::string bytes;
        if (!dump(user, bytes, bad)) return std::nullopt;
        const bool done = cbor ? complete<cbor_out>(bytes, user.size(), marked, bad)
                               : complete<json_out>(bytes, user.size(), marked, bad);
        return done ? std::optional(std::move(bytes)) : std::nullopt;
    }

private:
    [[nodiscard]] bool is_storable(const Json& user, state_unwritten& bad) const
    {
        if (!user.is_object()) {
            bad = {state_unwritten::problem_type::not_an_object, 0, 0, shown(user)};
            return false;
        }
        if (user.contains(progress_name)) {
            bad = {state_unwritten::problem_type::reserved_name, 0, 0, "\"waybill\" of its own"};
            return false;
        }
        const auto own = envelope ? user.end() : user.find(failed_mark);
        if (own != user.end() && !own->is_boolean()) {
            bad = {state_unwritten::problem_type::reserved_name, 0, 0,
                   "\"IsFailedSession\" that is neither true nor false"};
            return false;
        }
        tree_check checker{.json = !cbor, .texts = cbor || !can_throw};
        if (!checker(user)) return fault(checker, bad);
        if (checker(later)) return true;
        checker.path = "/waybill" + checker.path;
        return fault(checker, bad);
    }

    static bool fault(const tree_check& checker, state_unwritten& bad)
    {
        bad = {state_unwritten::problem_type::too_deep, 0, 0, checker.path};
        if (checker.fault == tree_fault::not_finite)
            bad.problem = state_unwritten::problem_type::not_finite;
        if (checker.fault == tree_fault::not_utf8)
            bad.problem = state_unwritten::problem_type::not_utf8;
        if (checker.fault == tree_fault::not_json)
            bad.problem = state_unwritten::problem_type::not_json;
        if (checker.fault == tree_fault::subtype)
            bad.problem = state_unwritten::problem_type::subtype;
        return false;
    }

    [[nodiscard]] std::size_t line() const noexcept { return envelope ? envelope_bytes : 0; }

    /// Writes the user's part after the space for the envelope.
    [[nodiscard]] bool dump(const Json& user, std::string& bytes,
                            state_unwritten& bad) const
    {
        if (cbor) {
            bytes.reserve(lesser(guess, budget.bytes));
            bytes.assign(line(), ' ');
            Json::to_cbor(user, bytes);
            return true;
        }
        const auto threw = tried([&] {
            const std::string body = user.dump();
            bytes.reserve(line() + body.size() + max_progress_member_bytes);
            bytes.assign(line(), ' ').append(body);
        });
        if (!threw) return true;
        tree_check where{.json = true, .texts = true};
        static_cast<void>(where(user));
        return fault(where, bad);
    }

    /// Appends the progress to the user's part and writes the envelope.
    template <class Out>
    [[nodiscard]] bool complete(std::string& bytes, std::size_t members, std::uint64_t marked,
                                state_unwritten& bad) const
    {
        constexpr bool as_json = std::is_same_v<Out, json_out>;
        const progress_member m{progress, later, envelope ? std::nullopt : std::optional(version)};
        const std::uint64_t value = bytes.size() - marked + later_bytes<Out>(m);
        const std::uint64_t most = progress.failed ? budget.bytes : budget.for_value();
        if (value > most) {
            bad = {state_unwritten::problem_type::too_large, value, most, {}};
            return false;
        }
        if (!m.empty()) {
            if constexpr (as_json) {
                bytes.pop_back();
                if (members != 0) bytes += ',';
            } else {
                std::string head;
                Out{head}.open(members + 1);
                bytes.replace(line(), Out::head_size(members), head);
            }
            if (!put_within<Out>(bytes, m, bad)) return false;
            if (as_json) bytes += '}';
        }
        if (envelope) {
            put_envelope(bytes, cbor ? state_format::cbor : state_format::json, version);
        }
        return true;
    }

    /// Appends the member. The text of a failure is cut to the available bytes.
    template <class Out>
    [[nodiscard]] bool put_within(std::string& bytes, const progress_member& m,
                                  state_unwritten& bad) const
    {
        if (!progress.failed) {
            put_member(Out{bytes}, m, {});
            return true;
        }
        const std::size_t before = bytes.size();
        put_member(Out{bytes}, m, {});
        const std::uint64_t all = bytes.size() + (std::is_same_v<Out, json_out> ? 1 : 0);
        if (all > budget.bytes) {
            bad = {state_unwritten::problem_type::too_large, all, budget.bytes, {}};
            return false;
        }
        const std::string& said = progress.failed->text;
        const std::string made = is_utf8(said) ? std::string() : made_utf8(said);
        const std::string_view whole = made.empty() ? std::string_view(said) : made;
        bytes.resize(before);
        put_member(Out{bytes}, m, Out::prefix(whole, budget.bytes - all));
        return true;
    }
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_EXT_JSON_DETAIL_STATE_PARTS_HPP
