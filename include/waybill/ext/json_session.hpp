// SPDX-License-Identifier: MIT
//
// ext/json_session: what a session remembers from step to step, in a type of the user's own.
//
//     struct order { int lines = 0; std::string receipt; };
//     NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(order, lines, receipt)
//
//     auto codec = waybill::state_codec<order>::make({.budget = {.bytes = 262'144}});
//     auto state = codec->decode(bytes);                  // nullopt where the broker has no state
//     if (state.how > waybill::state_read::ok) stop(waybill::text(state));
//     state.value.receipt = "r17";
//     state.progress = pipe.progress();
//     auto out = codec->encode(state);                    // result<std::string, state_unwritten>
//     if (out && codec->changed(state, *out)) store(*out);
//
// The bytes are the object that nlohmann's library makes of the value, with one member more, the
// progress (json_progress.hpp), behind the line of session/envelope.hpp. Read them in a portal:
//
//     waybill/1 json 00001.00000 0000000058 a3c54a0e
//     {"lines":3,"receipt":"r17","waybill":{"done":2,"total":5}}
//
// What holds:
//   1. nothing but `absent` is a new session. What cannot be read is `corrupt`, `newer` or
//      `too_large`, says what is wrong and where, and is never written over;
//   2. the same state is always the same bytes. What others have put beside the user's fields, and
//      into the member, comes back as it was, see json_unknown.hpp; so does their minor version;
//   3. a session can always be written as failed, over any state that was accepted: where the value
//      cannot be written, being too large or not UTF-8, then with the user's part as it was read,
//      and where that has no room any more, without it. The reason is cut between characters;
//   4. a state that has failed is read as that, even if the value in it makes no sense any more:
//      `how` is ok, `problem` says why, and the user's part is written again as it was read.
//
// Of an older major version is what `upgrade` makes of it: version 2 turns the object of version 1
// into its own, in place, and says by throwing that it cannot. Erase what is not used any more, or
// it is kept as unknown. Plain JSON without an envelope is version 0.0.
//
// `envelope = false` writes plain JSON, for states that other programs read: the version is in the
// member, no checksum tells damage, and "IsFailedSession": true is beside it where it failed.
// Such a state is always read, and with that mark it is a failed one.
//
// Whatever the user's to_json and from_json throw becomes a problem with its text. Two things are
// nlohmann's and stay so: a number that its field cannot hold becomes some other one, and a whole
// number of more than 64 bits that is not known is kept as a double.

#ifndef WAYBILL_EXT_JSON_SESSION_HPP
#define WAYBILL_EXT_JSON_SESSION_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include <waybill/core/check.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/ext/json_decoded.hpp>
#include <waybill/ext/json_parts.hpp>
#include <waybill/ext/json_progress.hpp>
#include <waybill/ext/json_tree.hpp>
#include <waybill/ext/json_unknown.hpp>
#include <waybill/session/envelope.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/state_budget.hpp>

namespace waybill::inline v0_1 {

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

template <class T>
class state_codec {
    static_assert(std::default_initializable<T>, "a state begins as T{}");
    static_assert(
        requires(nlohmann::json& j, const T& from, T& to) {
            j = nlohmann::json(from);
            j.get_to(to);
        },
        "T needs to_json and from_json, as of NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT");

public:
    using value_type = T;
    using state = decoded_state<T>;

    [[nodiscard]] static result<state_codec, config_error> make(const state_codec_options& o = {})
    {
        if (const std::optional<config_error> bad = check(o)) return unexpected(*bad);
        return state_codec(o);
    }

    [[nodiscard]] const state_codec_options& options() const noexcept { return options_; }

    /// What is in the state's bytes, of which there are none where the broker has no state.
    [[nodiscard]] state decode(std::optional<std::string_view> bytes) const
    {
        state s;
        s.version = options_.version;
        s.envelope = open_state(bytes, options_.budget.bytes);
        const std::string_view body = std::exchange(s.envelope.body, {});
        s.how = s.envelope.how;
        if (s.how == state_read::absent) return s;
        if (s.how != state_read::ok) {
            s.problem = json_state_problem::envelope;
            return s;
        }
        s.version = s.envelope.version;
        read(body, s);
        if (s.how == state_read::ok) {
            s.read.failed = s.progress.failed.has_value();
            s.stored(*bytes);
            return s;
        }
        s.value = T{};  // nothing of it is to be taken for what was there
        s.progress = {};
        s.read = {};
        return s;
    }

    /// The state's bytes. Where the session has failed the text of it is cut to the room there is.
    [[nodiscard]] result<std::string, state_unwritten> encode(const state& s) const
    {
        return written(s, options_.budget);
    }

    /// Bytes that `encode` would give, with the whole text of a failure; the largest number where
    /// there is no way to write it. It costs as much as to encode.
    [[nodiscard]] std::uint64_t size(const state& s) const
    {
        const auto bytes = written(s, {.bytes = highest_size, .failure_reserve = 0});
        return bytes ? bytes->size() : highest_size;
    }

    /// Whether these bytes are others than those that the state was read from, or stored as.
    [[nodiscard]] bool changed(const state& s, std::string_view bytes) const noexcept
    {
        return !s.read.is(bytes);
    }

    friend bool operator==(const state_codec&, const state_codec&) = default;

private:
    using json = nlohmann::json;

    explicit state_codec(const state_codec_options& o) : options_(o) {}

    static void refuse(state& s, state_read how, json_state_problem p, std::string why)
    {
        s.how = how;
        s.problem = p;
        s.why = std::move(why);
    }

    void read(std::string_view body, state& s) const
    {
        using enum json_state_problem;
        if (s.envelope.format == state_format::text) {
            return refuse(s, state_read::corrupt, other_format, {});
        }
        if (newer(s)) return;
        detail::tree_builder tree = detail::tree_of(body, s.envelope.format == state_format::cbor);
        if (const auto bad = detail::problem_of(tree)) {
            return refuse(s, state_read::corrupt, bad->first, bad->second);
        }
        s.read.user = std::move(tree.root);
        if (s.envelope.format == state_format::cbor && !has_texts(s)) return;
        std::optional<schema_version> told;
        if (!read_member(s, told) || newer(s)) return;
        if (!s.progress.failed && !has_room(s, told)) return;
        if (!upgrade(s)) return;
        const auto bad = detail::tried([&] { s.read.user.get_to(s.value); });
        if (bad) unread(s, bad_value, *bad);
    }

    // A parser of JSON sees to it, one of CBOR does not.
    [[nodiscard]] static bool has_texts(state& s)
    {
        detail::tree_check check{.json = false, .texts = true};
        if (check(s.read.user)) return true;
        refuse(s, state_read::corrupt, json_state_problem::syntax, check.path + " is not UTF-8");
        return false;
    }

    // A later major version may mean anything.
    [[nodiscard]] bool newer(state& s) const
    {
        if (s.version.major <= options_.version.major) return false;
        refuse(s, state_read::newer, json_state_problem::newer_version,
               text(s.version) + ", and " + std::to_string(options_.version.major));
        return true;
    }

    /// Takes what is ours out of the user's object, and the version where the member tells it.
    static bool read_member(state& s, std::optional<schema_version>& told)
    {
        json& user = s.read.user;
        const auto member = user.find(detail::progress_name);
        if (member != user.end()) {
            detail::progress_found p = detail::progress_reader(*member).read();
            if (p.how != state_read::ok) {
                refuse(s, p.how, json_state_problem::bad_progress, std::move(p.why));
                return false;
            }
            s.progress = std::move(p.progress);
            s.read.later = std::move(p.later);
            told = p.version;
            if (s.envelope.bare && told) s.version = *told;
            user.erase(member);
        }
        const auto mark = s.envelope.bare ? user.find(detail::failed_mark) : user.end();
        if (mark == user.end()) return true;
        if (!mark->is_boolean()) {
            refuse(s, state_read::corrupt, json_state_problem::bad_progress,
                   "/IsFailedSession: expected true or false, found " + detail::shown(*mark));
            return false;
        }
        if (*mark->template get_ptr<const bool*>() && !s.progress.failed) {
            s.progress.failed.emplace().text = detail::failed_mark;
        }
        return true;
    }

    /// The user's part is held to what is not kept for a failure.
    [[nodiscard]] bool has_room(state& s, const std::optional<schema_version>& told) const
    {
        const std::uint64_t most = options_.budget.for_value();
        if (s.envelope.size <= most) return true;
        const bool cbor = s.envelope.format == state_format::cbor;
        const detail::progress_member m{s.progress, s.read.later, told};
        const std::size_t members = s.read.user.size();
        const std::uint64_t value =
            cbor ? detail::value_bytes<detail::cbor_out>(s.envelope.size, m, members)
                 : detail::value_bytes<detail::json_out>(s.envelope.size, m, members);
        if (value <= most) return true;
        refuse(s, state_read::too_large, json_state_problem::no_reserve,
               std::to_string(value) + " bytes beside the progress, and " + std::to_string(most));
        return false;
    }

    [[nodiscard]] bool upgrade(state& s) const
    {
        const bool older = s.version.major < options_.version.major;
        if (!older || options_.upgrade == nullptr) return true;
        json value = s.read.user;
        const auto bad = detail::tried([&] { options_.upgrade(value, s.version); });
        if (!bad && value.is_object()) {
            s.read.user = std::move(value);
            return true;
        }
        unread(s, json_state_problem::upgrade_failed,
               "from " + text(s.version) + ": " + (bad ? *bad : "it has left no object"));
        return false;
    }

    /// A session that has failed is that, whatever its value is; any other one cannot go on.
    static void unread(state& s, json_state_problem p, std::string why)
    {
        refuse(s, s.progress.failed ? state_read::ok : state_read::corrupt, p, std::move(why));
        s.read.unread = true;
        s.value = T{};
    }

    /// Minor versions of ours that are later are kept.
    [[nodiscard]] schema_version written_version(const state& s) const
    {
        const schema_version ours = options_.version;
        const bool later = s.version.major == ours.major && s.version.minor > ours.minor;
        return later || s.read.unread ? s.version : ours;
    }

    [[nodiscard]] result<std::string, state_unwritten> written(const state& s,
                                                               const state_budget& budget) const
    {
        if (s.how > state_read::ok) {
            return unexpected(state_unwritten{encode_problem::not_read, 0, 0, text(s)});
        }
        const json nothing;
        const bool cbor = options_.format == state_format::cbor;
        const schema_version version = written_version(s);
        const detail::part_writer writer{cbor,    options_.envelope, budget,
                                         version, s.progress,        s.read.later};
        state_unwritten bad;
        json user;
        if (!s.read.unread) {
            const auto threw = detail::tried([&] { make_user(s, user); });
            if (threw) bad = {encode_problem::threw, 0, 0, *threw};
            else if (auto bytes = writer.write(user, bad)) return *std::move(bytes);
            if (!s.progress.failed) return unexpected(std::move(bad));
        }
        // It has failed: that must be said, whatever becomes of the value.
        state_unwritten again;
        user = s.read.user.is_object() ? s.read.user : json::object();
        if (auto bytes = writer.write(user, again)) return *std::move(bytes);
        if (s.read.failed) return unexpected(s.read.unread ? std::move(again) : std::move(bad));
        const detail::part_writer bare{cbor,    options_.envelope, budget,
                                       version, s.progress,        nothing};
        user = json::object();
        if (auto bytes = bare.write(user, again)) return *std::move(bytes);
        return unexpected(std::move(again));
    }

    /// The value, with what it does not know of what was read.
    static void make_user(const state& s, json& user)
    {
        user = json(s.value);
        if (!detail::lacks(user, s.read.user)) return;
        const bool own_mark = user.contains(detail::failed_mark);
        T known{};
        s.read.user.get_to(known);
        detail::lay_under(user, s.read.user, json(known));
        if (!own_mark) user.erase(detail::failed_mark);
    }

    state_codec_options options_;
};

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_EXT_JSON_SESSION_HPP
