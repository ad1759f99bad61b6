// SPDX-License-Identifier: MIT
//
// ext/json_session: what a session remembers from step to step, in a type of the user's own.
//
//     struct order { int lines = 0; std::string receipt; };
//     NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(order, lines, receipt)
//
//     auto codec = waybill::state_codec<order>::make({.budget = {.bytes = 262'144}});
//     if (!codec) return refuse(waybill::text(codec.error()));
//     auto state = codec->decode(bytes);                  // nullopt where the broker has no state
//     if (state.how > waybill::state_read::ok) stop(waybill::text(state));
//     state.value.receipt = "r17";
//     state.progress = pipe.progress();
//     auto out = codec->encode(state);                    // result<std::string, state_unwritten>
//     if (out && codec->changed(state, *out)) store(*out);    // and then state.stored(*out)
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
//      into the member, comes back as it was, and so does their minor version. What they put into
//      an element of an array stays as long as the element is what it was, see json_unknown.hpp;
//   3. a session can always be written as failed, over any state that was accepted, one that had
//      failed before too: where the value cannot be written, being too large or not UTF-8, with the
//      user's part as it was read, or as it was `stored` last; and where that cannot be written
//      either, without it. The reason is cut between characters;
//   4. a state that has failed is read as that, even if the value in it makes no sense any more:
//      `how` is ok, `problem` says why, and the user's part is written again as it was read, but
//      never without a failure.
//
// Of an older major version is what `upgrade` makes of it: version 2 turns the object of version 1
// into its own, in place, and says by throwing that it cannot. What it leaves must be such that it
// can be written. Erase what is not used any more, or it is kept as unknown. Plain JSON without an
// envelope is version 0.0. Of a session that has failed the old object stays as it is, of its old
// version, if either the upgrade fails or the type cannot be made of what it left.
//
// The budget holds for what is read, with the line that it gets where it has none, and where it is
// of the other format also for what it takes in ours. It tells no more: a value in which others
// have written numbers or texts shorter than nlohmann's library does (1e14 is 100000000000000.0
// there) may be too large to be written, and then only a failure is, as in 3.
//
// `envelope = false` writes plain JSON, for states that other programs read: the version is in the
// member, no checksum tells damage, and "IsFailedSession": true is beside it where it failed.
// Such a state is always read, and with that mark it is a failed one. Without the member, a name
// that is the mark but for one bit and says true makes it corrupt.
//
// Whatever the user's to_json and from_json throw becomes a problem with its text; only
// std::bad_alloc passes, theirs too, and so does what an upgrade throws of it. Without exceptions
// whatever would throw ends the program, but not a text that is not UTF-8.
//
// These things are nlohmann's and stay so: a number that its field cannot hold becomes some other
// one; a whole number of more than 64 bits that is not known is kept as a double, and -0 as 0; a
// negative number of CBOR below -2^63 is read as another one. To copy a JSON value it calls itself
// for each level, so `to_json` must not make one of ten thousands of levels; and to destroy one it
// needs memory, and ends the program where there is none.

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
#include <waybill/ext/json_member.hpp>
#include <waybill/ext/json_parts.hpp>
#include <waybill/ext/json_progress.hpp>
#include <waybill/ext/json_tree.hpp>
#include <waybill/ext/json_unknown.hpp>
#include <waybill/session/envelope.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/state_budget.hpp>

namespace waybill::inline v0_2 {

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
            s.read.are(*bytes);
            return s;
        }
        s.value = T{};  // nothing of it is to be taken for what was there
        s.progress = {};
        s.read = {};
        return s;
    }

    /// The same where a session may have been redriven: one that has no state yet begins with the
    /// user's part of the state that came with its first message (`step_origin::state`), and
    /// `how` is `absent` all the same.
    [[nodiscard]] state decode(std::optional<std::string_view> bytes, std::string_view came) const
    {
        state s = decode(bytes);
        if (s.how != state_read::absent || came.empty()) return s;
        s = decode(came);
        if (s.how != state_read::ok) return s;
        if (s.envelope.bare && s.read.user.contains(detail::failed_mark)) {
            s.read.user[detail::failed_mark] = false;
            const auto bad = detail::tried([&] { s.read.user.get_to(s.value); });
            if (bad) unread(s, json_state_problem::bad_value, *bad);
        }
        if (s.read.unread) {
            refuse(s, state_read::corrupt, s.problem, std::move(s.why));
            return s;
        }
        s.progress = {};
        s.read.later = {};
        s.read.bytes = s.read.sum = 0;
        const std::uint64_t value = unwritable(s, s.read.user).size;
        if (value != 0) {  // one that has failed may be larger
            refuse_size(s, value);
            s.value = T{};
            s.read = {};
            return s;
        }
        s.how = state_read::absent;
        s.envelope = {};
        return s;
    }

    /// The state's bytes. Where the session has failed the text of it is cut to the room there is.
    [[nodiscard]] result<std::string, state_unwritten> encode(const state& s) const
    {
        return written(s, options_.budget);
    }

    /// Bytes that `encode` would give if there were no budget, with the whole value and the whole
    /// text of a failure; the largest number where there is no way to write it. It costs as much as
    /// to encode.
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

    static bool refuse(state& s, state_read how, json_state_problem p, std::string why)
    {
        s.how = how;
        s.problem = p;
        s.why = std::move(why);
        return false;
    }

    bool refuse_size(state& s, std::uint64_t value) const
    {
        return refuse(s, state_read::too_large, json_state_problem::no_reserve,
                      std::to_string(value) + " bytes beside the progress, and " +
                          std::to_string(options_.budget.for_value()));
    }

    void read(std::string_view body, state& s) const
    {
        using enum json_state_problem;
        if (s.envelope.format == state_format::text) {
            refuse(s, state_read::corrupt, other_format, {});
            return;
        }
        if (newer(s)) return;
        std::optional<schema_version> told;
        const bool may_be_cut = s.envelope.format == state_format::json && !s.envelope.bare;
        const bool cut = may_be_cut && detail::read_cut(body, s.read.user, s.progress);
        if (!cut && !read_whole(body, s, told)) return;
        if (!s.progress.failed && !has_room(s, told)) return;
        json before;
        if (!upgrade(s, before)) return;
        const auto bad = detail::tried([&] { s.read.user.get_to(s.value); });
        if (!bad) return;
        if (before.is_object()) s.read.user = std::move(before);
        unread(s, bad_value, *bad);
    }

    [[nodiscard]] bool read_whole(std::string_view body, state& s,
                                  std::optional<schema_version>& told) const
    {
        const bool cbor = s.envelope.format == state_format::cbor;
        detail::tree_builder tree = detail::tree_of(body, cbor);
        if (const auto bad = detail::problem_of(tree)) {
            return refuse(s, state_read::corrupt, bad->first, bad->second);
        }
        s.read.user = std::move(tree.root);
        detail::tree_check check{.json = false, .texts = cbor};  // a parser of JSON sees to it
        if (cbor && !check(s.read.user)) {
            return refuse(s, state_read::corrupt, json_state_problem::syntax,
                          check.path + " is not UTF-8");
        }
        return read_member(s, told) && !newer(s);
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
        std::string odd = s.envelope.bare ? detail::nearly_marked(user) : std::string();
        if (!odd.empty()) {
            return refuse(s, state_read::corrupt, json_state_problem::bad_progress, std::move(odd));
        }
        const auto member = user.find(detail::progress_name);
        if (member != user.end()) {
            detail::progress_found p = detail::progress_reader(*member).read();
            if (p.how != state_read::ok) {
                return refuse(s, p.how, json_state_problem::bad_progress, std::move(p.why));
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
            return refuse(
                s, state_read::corrupt, json_state_problem::bad_progress,
                "/IsFailedSession: expected true or false, found " + detail::shown(*mark));
        }
        if (*mark->template get_ptr<const bool*>() && !s.progress.failed) {
            s.progress.failed.emplace().text = detail::failed_mark;
        }
        return true;
    }

    /// The user's part is held to what is not kept for a failure, with the line that it gets.
    [[nodiscard]] bool has_room(state& s, const std::optional<schema_version>& told) const
    {
        const std::uint64_t most = options_.budget.for_value();
        const std::uint64_t line = s.envelope.bare && options_.envelope ? envelope_bytes : 0;
        std::uint64_t value = saturating_add(s.envelope.size, line);
        if (value > most) {
            const detail::progress_member m{s.progress, s.read.later, told};
            const std::size_t members = s.read.user.size();
            value = s.envelope.format == state_format::cbor
                        ? detail::value_bytes<detail::cbor_out>(value, m, members)
                        : detail::value_bytes<detail::json_out>(value, m, members);
        }
        if (value <= most && s.envelope.format != options_.format) {
            value = unwritable(s, s.read.user).size;  // nothing but what is too large has a size
        }
        if (value <= most) return true;
        return refuse_size(s, value);
    }

    /// Puts the object of our version in the place of an older one, and that one into `before`.
    [[nodiscard]] bool upgrade(state& s, json& before) const
    {
        const bool older = s.version.major < options_.version.major;
        if (!older || options_.upgrade == nullptr) return true;
        json value = s.read.user;
        auto bad = detail::tried([&] { options_.upgrade(value, s.version); });
        if (!bad) {
            const state_unwritten u = unwritable(s, value);
            if (u.problem == encode_problem::none) {
                before = std::exchange(s.read.user, std::move(value));
                return true;
            }
            bad = "what it left is " + text(u).substr(std::string_view("state: ").size());
        }
        unread(s, json_state_problem::upgrade_failed, "from " + text(s.version) + ": " + *bad);
        return false;
    }

    /// Why this user's part could not be written beside the progress.
    [[nodiscard]] state_unwritten unwritable(const state& s, json user) const
    {
        state_unwritten bad;
        const auto w = writer(s, options_.budget, options_.version, s.read.later);
        static_cast<void>(w.write(user, bad));
        return bad;
    }

    /// A session that has failed is that, whatever its value is; any other one cannot go on.
    static void unread(state& s, json_state_problem p, std::string why)
    {
        refuse(s, s.progress.failed ? state_read::ok : state_read::corrupt, p, std::move(why));
        s.read.unread = true;
        s.value = T{};
    }

    [[nodiscard]] result<std::string, state_unwritten> written(const state& s,
                                                               const state_budget& budget) const
    {
        if (s.how > state_read::ok || (s.read.unread && !s.progress.failed)) {
            return unexpected(state_unwritten{encode_problem::not_read, 0, 0, text(s)});
        }
        const schema_version version =
            s.read.unread ? s.version : detail::written_version(s.version, options_.version);
        const detail::part_writer whole = writer(s, budget, version, s.read.later);
        state_unwritten bad;
        json user;
        if (!s.read.unread) {
            const auto threw = detail::tried([&] { make_user(s, user); });
            if (threw) bad = {encode_problem::threw, 0, 0, *threw};
            else if (auto bytes = whole.write(user, bad)) return *std::move(bytes);
            if (!s.progress.failed) return unexpected(std::move(bad));
        }
        // It has failed: that must be said, whatever becomes of the value.
        user = detail::last_user(s.read);
        if (auto bytes = whole.write(user, bad)) return *std::move(bytes);
        const json nothing;
        user = json::object();
        if (auto bytes = writer(s, budget, version, nothing).write(user, bad)) {
            return *std::move(bytes);
        }
        return unexpected(std::move(bad));
    }

    [[nodiscard]] detail::part_writer writer(const state& s, const state_budget& budget,
                                             schema_version version, const json& later) const
    {
        const bool cbor = options_.format == state_format::cbor;
        return {cbor, options_.envelope, budget, version, s.progress, later, s.read.bytes};
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

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_SESSION_HPP
