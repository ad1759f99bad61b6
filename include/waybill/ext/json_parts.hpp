// SPDX-License-Identifier: MIT
//
// ext/json_parts: the user's object and the progress made into the bytes of one state.
//
// The object is written by nlohmann's library, the progress behind its last member, and all of it
// is held to the budget: the user's part to what is not kept for a failure, and with one to all.

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

#include <waybill/core/saturating.hpp>
#include <waybill/ext/json_decoded.hpp>
#include <waybill/ext/json_progress.hpp>
#include <waybill/ext/json_tree.hpp>
#include <waybill/ext/json_unknown.hpp>
#include <waybill/session/envelope.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/state_budget.hpp>

namespace waybill::inline v0_1::detail {

static_assert(progress_member_most <= least_failure_reserve);

/// How states without an envelope say that their session has failed.
inline constexpr const char* failed_mark = "IsFailedSession";
inline constexpr std::uint64_t failed_mark_bytes = 23;  // of it, its value and a comma

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
        case tree_problem::too_deep:
            return std::pair(too_deep, "more than " + std::to_string(deepest_state) + " levels");
        case tree_problem::duplicate: return std::pair(duplicate, shown(t.twice));
    }
    if (!t.root.is_object()) return std::pair(not_an_object, shown(t.root));
    return std::nullopt;
}

struct part_writer {
    bool cbor;
    bool envelope;
    state_budget budget;
    schema_version version;
    const session_progress& progress;
    const nlohmann::json& later;

    /// The bytes of the state; where there are none it says why. May set the mark of a failure.
    [[nodiscard]] std::optional<std::string> write(nlohmann::json& user, state_unwritten& bad) const
    {
        const bool mark = !envelope && progress.failed;
        if (!is_storable(user, bad)) return std::nullopt;
        const std::uint64_t marked = mark && !user.contains(failed_mark) ? failed_mark_bytes : 0;
        if (mark) user[failed_mark] = true;
        std::string body;
        if (!dump(user, body, bad)) return std::nullopt;
        if (cbor) return join<cbor_out>(body, user.size(), marked, bad);
        return join<json_out>(body, user.size(), marked, bad);
    }

private:
    [[nodiscard]] bool is_storable(const nlohmann::json& user, state_unwritten& bad) const
    {
        if (!user.is_object()) {
            bad = {encode_problem::not_an_object, 0, 0, shown(user)};
            return false;
        }
        if (user.contains(progress_name)) {
            bad = {encode_problem::reserved_name, 0, 0, {}};
            return false;
        }
        tree_check check{.json = !cbor, .texts = cbor};
        return check(user) || fault(check, bad);
    }

    static bool fault(const tree_check& check, state_unwritten& bad)
    {
        bad = {encode_problem::too_deep, 0, 0, check.path};
        if (check.fault == tree_fault::not_finite) bad.problem = encode_problem::not_finite;
        if (check.fault == tree_fault::not_utf8) bad.problem = encode_problem::not_utf8;
        if (check.fault == tree_fault::not_json) bad.problem = encode_problem::not_json;
        return false;
    }

    [[nodiscard]] bool dump(const nlohmann::json& user, std::string& body,
                            state_unwritten& bad) const
    {
        if (cbor) {
            nlohmann::json::to_cbor(user, body);
            return true;
        }
        if (!tried([&] { body = user.dump(); })) return true;
        tree_check where{.json = true, .texts = true};
        static_cast<void>(where(user));
        return fault(where, bad);
    }

    template <class Out>
    [[nodiscard]] std::optional<std::string> join(const std::string& body, std::size_t members,
                                                  std::uint64_t marked, state_unwritten& bad) const
    {
        constexpr bool as_json = std::is_same_v<Out, json_out>;
        const std::uint64_t line = envelope ? envelope_bytes : 0;
        const progress_member m{progress, later, envelope ? std::nullopt : std::optional(version)};
        const std::uint64_t value = line + body.size() - marked + later_bytes<Out>(m);
        const std::uint64_t most = progress.failed ? budget.bytes : budget.for_value();
        if (value > most) {
            bad = {encode_problem::too_large, value, most, {}};
            return std::nullopt;
        }
        std::string bytes;
        bytes.reserve(line + body.size() + progress_member_most);
        bytes.assign(line, ' ');
        if (m.empty()) {
            bytes += body;
        } else if constexpr (as_json) {
            bytes.append(body, 0, body.size() - 1);
            if (members != 0) bytes += ',';
        } else {
            Out{bytes}.open(members + 1);
            bytes.append(body, Out::head_size(members));
        }
        if (!m.empty() && !put_within<Out>(bytes, m, bad)) return std::nullopt;
        if (as_json && !m.empty()) bytes += '}';
        if (envelope) {
            put_envelope(bytes, cbor ? state_format::cbor : state_format::json, version);
        }
        return bytes;
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

}  // namespace waybill::inline v0_1::detail

#endif  // WAYBILL_EXT_JSON_PARTS_HPP
