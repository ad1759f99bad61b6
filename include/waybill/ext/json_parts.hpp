// SPDX-License-Identifier: MIT
//
// ext/json_parts: the user's object and the progress made into the bytes of one state.
//
// The object is written by nlohmann's library, the progress behind its last member, and all of it
// is held to the budget: the user's part to what is not kept for a failure, and with one to all.
// How that is to be done is told by the options, and checked before.

#ifndef WAYBILL_EXT_JSON_PARTS_HPP
#define WAYBILL_EXT_JSON_PARTS_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

#include <waybill/core/check.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/ext/json_decoded.hpp>
#include <waybill/ext/json_progress.hpp>
#include <waybill/ext/json_read.hpp>
#include <waybill/ext/json_tree.hpp>
#include <waybill/ext/json_unknown.hpp>
#include <waybill/session/envelope.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/state_budget.hpp>

namespace waybill::inline v0_2 {

/// Turns the user's object of an older major version into one of the version that is written.
using state_upgrade = void (*)(nlohmann::json& value, schema_version from);

struct state_codec_options {
    state_budget budget{};
    schema_version version{};  ///< Of the user's type, as this program writes it.
    state_format format = state_format::json;  ///< Or CBOR. Both are read.
    bool envelope = true;
    state_upgrade upgrade = nullptr;  ///< Needed from version 2 on.

    friend bool operator==(const state_codec_options&, const state_codec_options&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> check(const state_codec_options& o) noexcept
{
    if (const auto bad = check(o.budget)) return bad;
    if (o.version.major == 0) return config_error{"version.major", 0, "must be at least", 1};
    if (o.version.major > 1 && o.upgrade == nullptr) {
        return config_error{"version.major", o.version.major,
                            "must have an upgrade where it is more than", 1};
    }
    if (o.format != state_format::json && o.format != state_format::cbor) {
        return config_error{"format", static_cast<std::uint64_t>(o.format),
                            "must be json or cbor; text is for state_text.hpp, and they are 0 to",
                            1};
    }
    if (o.format == state_format::cbor && !o.envelope) {
        return config_error{"envelope", 0, "must be on for cbor, that is", 1};
    }
    return std::nullopt;
}

namespace detail {

static_assert(progress_member_most <= least_failure_reserve);

/// How states without an envelope say that their session has failed.
inline constexpr const char* failed_mark = "IsFailedSession";
inline constexpr std::uint64_t failed_mark_bytes = 23;  // of it, its value and a comma

/// Whether they differ in one bit and no more.
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

/// What is wrong with an object without the mark and without a member of ours, of which one name is
/// the mark but for one bit, and says true; empty where nothing is. A checksum would tell damage,
/// and there is none: with that bit turned a session that has failed would go on. "isFailedSession"
/// is such a name, too: whoever writes his names in camel case means the mark.
[[nodiscard]] inline std::string nearly_marked(const nlohmann::json& user)
{
    const auto* members = user.get_ptr<const nlohmann::json::object_t*>();
    if (!members || user.contains(progress_name) || user.contains(failed_mark)) return {};
    for (const auto& [key, value] : *members) {
        const bool* says = value.get_ptr<const bool*>();
        if (!says || !*says || !one_bit_apart(key, failed_mark)) continue;
        return path_to({}, in_line(key)) + ": is true, and is IsFailedSession but for one bit";
    }
    return {};
}

/// Name and value of the member.
template <class Out>
void put_member(Out out, const progress_member& m, std::string_view failure)
{
    out.name(progress_name);
    put_progress(out, m, failure);
}

/// Bytes that only later versions know: they are none of the progress that is known here.
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

/// Of a state of this size, with so many members beside ours, the user's part: all but the progress
/// that is known here and what joins it.
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

/// What a parser says of bytes that are no object; empty where they are one.
[[nodiscard]] inline std::optional<std::pair<json_state_problem, std::string>> problem_of(
    const tree_builder& t)
{
    using enum json_state_problem;
    switch (t.problem) {
        case tree_problem::none: break;
        case tree_problem::syntax:
            return std::pair(syntax, "something else at byte " + std::to_string(t.at));
        case tree_problem::too_many:  // the budget limits them
        case tree_problem::too_deep:
            return std::pair(too_deep, "more than " + std::to_string(deepest_state) + " levels");
        case tree_problem::duplicate: return std::pair(duplicate, shown(t.twice));
    }
    if (!t.root.is_object()) return std::pair(not_an_object, shown(t.root));
    return std::nullopt;
}

/// The user's part as it is stored.
[[nodiscard]] inline nlohmann::json last_user(const state_as_read& read)
{
    if (!read.since.empty() && !read.unread) {
        const opened_state o = open_state(read.since, highest_size);
        tree_builder tree = tree_of(o.body, o.format == state_format::cbor);
        if (!problem_of(tree)) {
            tree.root.erase(progress_name);
            return std::move(tree.root);
        }
    }
    return read.user.is_object() ? read.user : nlohmann::json::object();
}

struct part_writer {
    bool cbor;
    bool envelope;
    state_budget budget;
    schema_version version;
    const session_progress& progress;
    const nlohmann::json& later;
    std::uint64_t guess = 0;  ///< How many bytes it may be: as many as last time.

    /// The bytes of the state; where there are none it says why. May set the mark of a failure.
    [[nodiscard]] std::optional<std::string> write(nlohmann::json& user, state_unwritten& bad) const
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
    [[nodiscard]] bool is_storable(const nlohmann::json& user, state_unwritten& bad) const
    {
        if (!user.is_object()) {
            bad = {encode_problem::not_an_object, 0, 0, shown(user)};
            return false;
        }
        if (user.contains(progress_name)) {
            bad = {encode_problem::reserved_name, 0, 0, "\"waybill\" of its own"};
            return false;
        }
        const auto own = envelope ? user.end() : user.find(failed_mark);
        if (own != user.end() && !own->is_boolean()) {
            bad = {encode_problem::reserved_name, 0, 0,
                   "\"IsFailedSession\" that is neither true nor false"};
            return false;
        }
        tree_check check{.json = !cbor, .texts = cbor || !can_throw};
        if (!check(user)) return fault(check, bad);
        if (check(later)) return true;
        check.path = "/waybill" + check.path;
        return fault(check, bad);
    }

    static bool fault(const tree_check& check, state_unwritten& bad)
    {
        bad = {encode_problem::too_deep, 0, 0, check.path};
        if (check.fault == tree_fault::not_finite) bad.problem = encode_problem::not_finite;
        if (check.fault == tree_fault::not_utf8) bad.problem = encode_problem::not_utf8;
        if (check.fault == tree_fault::not_json) bad.problem = encode_problem::not_json;
        if (check.fault == tree_fault::subtype) bad.problem = encode_problem::subtype;
        return false;
    }

    [[nodiscard]] std::size_t line() const noexcept { return envelope ? envelope_bytes : 0; }

    /// Behind room for the line of the envelope.
    [[nodiscard]] bool dump(const nlohmann::json& user, std::string& bytes,
                            state_unwritten& bad) const
    {
        if (cbor) {
            bytes.reserve(lesser(guess, budget.bytes));
            bytes.assign(line(), ' ');
            nlohmann::json::to_cbor(user, bytes);
            return true;
        }
        const auto threw = tried([&] {
            const std::string body = user.dump();
            bytes.reserve(line() + body.size() + progress_member_most);
            bytes.assign(line(), ' ').append(body);
        });
        if (!threw) return true;
        tree_check where{.json = true, .texts = true};
        static_cast<void>(where(user));
        return fault(where, bad);
    }

    /// Puts the progress to the user's part, and the line before it.
    template <class Out>
    [[nodiscard]] bool complete(std::string& bytes, std::size_t members, std::uint64_t marked,
                                state_unwritten& bad) const
    {
        constexpr bool as_json = std::is_same_v<Out, json_out>;
        const progress_member m{progress, later, envelope ? std::nullopt : std::optional(version)};
        const std::uint64_t value = bytes.size() - marked + later_bytes<Out>(m);
        const std::uint64_t most = progress.failed ? budget.bytes : budget.for_value();
        if (value > most) {
            bad = {encode_problem::too_large, value, most, {}};
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

    /// Appends the member, with as much of the failure's text as there is room for.
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
            bad = {encode_problem::too_large, all, budget.bytes, {}};
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

}  // namespace detail

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_PARTS_HPP
