// SPDX-License-Identifier: MIT
//
// ext/json/state_codec: reads and writes a session state whose value has the user's own type.
//
//     struct order { int lines = 0; std::string receipt; };
//     NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(order, lines, receipt)
//
//     auto codec = waybill::state_codec<order>::make({.budget = {.bytes = 262'144}});
//     if (!codec) return refuse(waybill::describe(codec.error()));
//     auto state = codec->decode(bytes);                  // nullopt if the broker has no state
//     if (state.outcome > waybill::state_read::ok) stop(waybill::describe(state));  // unreadable
//     state.value.receipt = "r17";
//     auto out = codec->encode(state);                    // result<std::string, state_unwritten>
//     if (out && codec->changed(state, *out)) store(*out);    // and then state.stored(*out)
//
//   1. Only `absent` is a new session. A state that cannot be read is never overwritten.
//   2. Equal states have equal bytes. Fields that the type does not know are kept.
//   3. A session can always be written as failed, over any state that was accepted.
//   4. A failed state is read as failed, even if its value cannot be read.
// The guide of ext has the bytes, upgrades, budgets, states without an envelope, and exceptions.

#ifndef WAYBILL_EXT_JSON_STATE_CODEC_HPP
#define WAYBILL_EXT_JSON_STATE_CODEC_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/result.hpp>
#include <waybill/ext/json/decoded_state.hpp>
#include <waybill/ext/json/detail/progress_member.hpp>
#include <waybill/ext/json/detail/progress_scan.hpp>
#include <waybill/ext/json/detail/state_parts.hpp>
#include <waybill/ext/json/detail/stored_tree.hpp>
#include <waybill/ext/json/detail/unknown_fields.hpp>
#include <waybill/ext/json/read.hpp>
#include <waybill/session/detail/sealed_state.hpp>
#include <waybill/session/envelope.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/state_budget.hpp>

namespace waybill::inline v0_2 {

/// Converts the user's object, in place, from the older major version `from` to the written
/// version.
using state_upgrade = void (*)(nlohmann::json& value, schema_version from);

struct state_codec_options {
    state_budget budget{};
    schema_version version{};  ///< Version of the user's type that this program writes.
    state_format format = state_format::json;  ///< JSON or CBOR. Both are read.
    bool envelope = true;             ///< False: plain JSON, see the guide of ext. Both are read.
    state_upgrade upgrade = nullptr;  ///< Required if version.major is greater than 1.

    friend bool operator==(const state_codec_options&, const state_codec_options&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(const state_codec_options& o) noexcept
{
    if (const auto bad = validate(o.budget)) return bad;
    if (o.version.major == 0) return config_error{"version.major", 0, "must be at least", 1};
    if (o.version.major > 1 && o.upgrade == nullptr) {
        return config_error{"version.major", o.version.major,
                            "must have an upgrade, because it is more than", 1};
    }
    if (o.format != state_format::json && o.format != state_format::cbor) {
        return config_error{"format", static_cast<std::uint64_t>(o.format),
                            "must be json (0) or cbor; for text use state_text.hpp; at most", 1};
    }
    if (o.format == state_format::cbor && !o.envelope) {
        return config_error{"envelope", 0, "must be true, because format is cbor", 1};
    }
    return std::nullopt;
}

template <class T>
class state_codec {
    static_assert(std::default_initializable<T>,
                  "state_codec: T must have a default constructor, because a new state is T{}");
    static_assert(
        requires(nlohmann::json& j, const T& from, T& to) {
            j = nlohmann::json(from);
            j.get_to(to);
        },
        "state_codec: T must have to_json and from_json, as "
        "NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT defines them");

public:
    using value_type = T;
    using state = decoded_state<T>;

    /// With the default options, which are valid.
    state_codec() = default;

    [[nodiscard]] static result<state_codec, config_error> make(const state_codec_options& o = {})
    {
        if (const std::optional<config_error> bad = validate(o)) return unexpected(*bad);
        return state_codec(o);
    }

    [[nodiscard]] const state_codec_options& options() const noexcept { return options_; }

    /// Reads the state from `bytes`. Pass nullopt if the broker has no state.
    [[nodiscard]] state decode(std::optional<std::string_view> bytes) const
    {
        state s;
        s.version = options_.version;
        s.envelope = detail::open_state(bytes, options_.budget.bytes);
        const std::string_view body = std::exchange(s.envelope.body, {});
        s.outcome = s.envelope.outcome;
        if (s.outcome == state_read::absent) return s;
        if (s.outcome != state_read::ok) {
            s.problem = json_state_problem::envelope;
            return s;
        }
        s.version = s.envelope.version;
        read(body, s);
        if (s.outcome == state_read::ok) {
            s.read.set_size_and_checksum(*bytes);
            return s;
        }
        s.value = T{};  // no part of it may be mistaken for the stored state
        s.progress = {};
        s.read = {};
        return s;
    }

    /// Reads the state of a session that may have been redriven. `carried_state` is the state that
    /// came with the first message (`step_properties::origin::state`). If `bytes` is nullopt, the
    /// value is read from its user's part, and `outcome` is still `absent`. An error in
    /// `carried_state` is reported as if it were the stored state.
    [[nodiscard]] state decode(std::optional<std::string_view> bytes,
                               std::string_view carried_state) const
    {
        state s = decode(bytes);
        if (s.outcome != state_read::absent || carried_state.empty()) return s;
        s = decode(carried_state);
        if (s.outcome != state_read::ok) return s;
        if (s.envelope.without_envelope && s.read.user.contains(detail::failed_mark)) {
            s.read.user[detail::failed_mark] = false;
            s.read.user_fields = {};
            const auto bad = detail::exception_text_of([&] { s.read.user.get_to(s.value); });
            if (bad) mark_unreadable(s, json_state_problem::bad_value, *bad);
        }
        if (s.read.unreadable) {
            refuse(s, state_read::corrupt, s.problem, std::move(s.reason));
            return s;
        }
        s.progress = {};
        s.read.unknown_fields = {};
        s.read.size = s.read.checksum = 0;
        const std::uint64_t refused_size = write_error_of(s, s.read.user).size;
        if (refused_size != 0) {  // a failed state may be larger than a new one
            refuse_size(s, refused_size);
            s.value = T{};
            s.read = {};
            return s;
        }
        s.outcome = state_read::absent;
        s.envelope = {};
        return s;
    }

    /// Returns the bytes of the state. The text of a failure is cut to the available bytes.
    [[nodiscard]] result<std::string, state_unwritten> encode(const state& s) const
    {
        detail::unknown_user_fields fields;
        return encode_within(s, options_.budget, fields);
    }
    /// The same. Keeps in `s` the stored fields that T does not know. If there are some, finding
    /// them costs as much as writing the state. `decode` keeps them if the minor version is a later
    /// one.
    [[nodiscard]] result<std::string, state_unwritten> encode(state& s) const
    {
        return encode_within(s, options_.budget, s.read.user_fields);
    }

    /// Bytes that `encode` would return without a budget, with the whole value and the whole text
    /// of a failure. 2^64 - 1 if the state cannot be written. Costs as much as `encode`.
    [[nodiscard]] std::uint64_t size(const state& s) const
    {
        detail::unknown_user_fields fields;
        const auto bytes =
            encode_within(s, {.bytes = detail::highest_size, .failure_reserve = 0}, fields);
        return bytes ? bytes->size() : detail::highest_size;
    }

    /// True if size or checksum of `bytes` differ from those of the state as read or stored.
    [[nodiscard]] bool changed(const state& s, std::string_view bytes) const noexcept
    {
        return !s.read.matches(bytes);
    }

    friend bool operator==(const state_codec&, const state_codec&) = default;

private:
    using json = nlohmann::json;

    explicit state_codec(const state_codec_options& o) : options_(o) {}

    /// Sets the outcome and its reason. Returns false.
    static bool refuse(state& s, state_read outcome, json_state_problem p, std::string reason)
    {
        s.outcome = outcome;
        s.problem = p;
        s.reason = std::move(reason);
        return false;
    }

    bool refuse_size(state& s, std::uint64_t value_size) const
    {
        return refuse(s, state_read::too_large, json_state_problem::no_reserve,
                      std::to_string(value_size) + " bytes without the progress, and " +
                          std::to_string(options_.budget.max_value_bytes()));
    }

    void read(std::string_view body, state& s) const
    {
        using enum json_state_problem;
        if (s.envelope.format == state_format::text) {
            refuse(s, state_read::corrupt, other_format, {});
            return;
        }
        if (refuse_newer(s)) return;
        std::optional<schema_version> member_version;
        const bool try_fast_path =
            s.envelope.format == state_format::json && !s.envelope.without_envelope;
        const bool fast = try_fast_path && detail::read_fast_path(body, s.read.user, s.progress);
        if (!fast && !read_whole(body, s, member_version)) return;
        if (!s.progress.failed && !has_room(s, member_version)) return;
        json original;
        if (!upgrade(s, original)) return;
        const auto bad = detail::exception_text_of([&] { s.read.user.get_to(s.value); });
        if (!bad) {
            if (s.version.minor > options_.version.minor) expect_unknown_fields(s);
            return;
        }
        if (original.is_object()) s.read.user = std::move(original);
        mark_unreadable(s, bad_value, *bad);
    }

    [[nodiscard]] bool read_whole(std::string_view body, state& s,
                                  std::optional<schema_version>& member_version) const
    {
        const bool cbor = s.envelope.format == state_format::cbor;
        detail::tree_builder<json> tree = detail::tree_of<json>(body, cbor);
        if (const auto bad = detail::parse_problem_of(tree)) {
            return refuse(s, state_read::corrupt, bad->first, bad->second);
        }
        s.read.user = std::move(tree.root);
        detail::tree_check checker{.json = false, .texts = cbor};  // the JSON parser checks UTF-8
        if (cbor && !checker(s.read.user)) {
            return refuse(s, state_read::corrupt, json_state_problem::syntax,
                          checker.path + " is not UTF-8");
        }
        return read_member(s, member_version) && !refuse_newer(s);
    }

    // A later major version may have another meaning.
    [[nodiscard]] bool refuse_newer(state& s) const
    {
        if (s.version.major <= options_.version.major) return false;
        refuse(s, state_read::newer, json_state_problem::newer_version,
               describe(s.version) + ", and " + std::to_string(options_.version.major));
        return true;
    }

    /// Moves the members of this library out of the user's object, and the version of the user's
    /// part that they contain into `member_version`.
    static bool read_member(state& s, std::optional<schema_version>& member_version)
    {
        json& user = s.read.user;
        std::string mark_error =
            s.envelope.without_envelope ? detail::damaged_mark_error(user) : std::string();
        if (!mark_error.empty()) {
            return refuse(s, state_read::corrupt, json_state_problem::bad_progress,
                          std::move(mark_error));
        }
        const auto member = user.find(detail::progress_name);
        if (member != user.end()) {
            detail::progress_result<json> p = detail::progress_reader(*member).read();
            if (p.outcome != state_read::ok) {
                return refuse(s, p.outcome, json_state_problem::bad_progress, std::move(p.reason));
            }
            s.progress = std::move(p.progress);
            s.read.unknown_fields = std::move(p.unknown_fields);
            member_version = p.version;
            if (s.envelope.without_envelope && member_version) s.version = *member_version;
            user.erase(member);
        }
        const auto mark = s.envelope.without_envelope ? user.find(detail::failed_mark) : user.end();
        if (mark == user.end()) return true;
        if (!mark->is_boolean()) {
            return refuse(
                s, state_read::corrupt, json_state_problem::bad_progress,
                "/IsFailedSession: expected true or false, found " + detail::shown(*mark));
        }
        if (*mark->template get_ptr<const bool*>() && !s.progress.failed) {
            s.progress.failed = session_progress::failure{};  // not emplace(): clang 14
            s.progress.failed->text = detail::failed_mark;
        }
        return true;
    }

    /// Checks that the user's part, with the envelope that will be added, leaves the failure
    /// reserve.
    [[nodiscard]] bool has_room(state& s, const std::optional<schema_version>& member_version) const
    {
        const std::uint64_t max_value_bytes = options_.budget.max_value_bytes();
        const std::uint64_t envelope_size =
            s.envelope.without_envelope && options_.envelope ? detail::envelope_bytes : 0;
        std::uint64_t value_size = detail::saturating_add(s.envelope.size, envelope_size);
        if (value_size > max_value_bytes) {
            const detail::progress_member m{s.progress, s.read.unknown_fields, member_version};
            const std::size_t members = s.read.user.size();
            value_size = s.envelope.format == state_format::cbor
                             ? detail::value_bytes<detail::cbor_out>(value_size, m, members)
                             : detail::value_bytes<detail::json_out>(value_size, m, members);
        }
        if (value_size <= max_value_bytes && s.envelope.format != options_.format) {
            value_size = write_error_of(s, s.read.user).size;  // 0 unless it is too large
        }
        if (value_size <= max_value_bytes) return true;
        return refuse_size(s, value_size);
    }

    /// Replaces an object of an older version by the upgraded one, and moves the older one to
    /// `original`.
    [[nodiscard]] bool upgrade(state& s, json& original) const
    {
        const bool older = s.version.major < options_.version.major;
        if (!older || options_.upgrade == nullptr) return true;
        json value = s.read.user;
        auto bad = detail::exception_text_of([&] { options_.upgrade(value, s.version); });
        if (!bad) {
            const state_unwritten error = write_error_of(s, value);
            if (error.problem == state_unwritten::problem_type::none) {
                original = std::exchange(s.read.user, std::move(value));
                return true;
            }
            bad = "its result is " + describe(error).substr(std::string_view("state: ").size());
        }
        mark_unreadable(s, json_state_problem::upgrade_failed,
                        "from " + describe(s.version) + ": " + *bad);
        return false;
    }

    /// The reason why this user's part cannot be written next to the progress; `none` if it can.
    [[nodiscard]] state_unwritten write_error_of(const state& s, json user) const
    {
        state_unwritten bad;
        const auto trial = writer(s, options_.budget, options_.version, s.read.unknown_fields);
        static_cast<void>(trial.write(user, bad));
        return bad;
    }

    /// The value cannot be read: a failed session is still read as failed, any other is `corrupt`.
    static void mark_unreadable(state& s, json_state_problem p, std::string reason)
    {
        refuse(s, s.progress.failed ? state_read::ok : state_read::corrupt, p, std::move(reason));
        s.read.unreadable = true;
        s.value = T{};
    }

    /// Finds the unknown fields of a state that was just read. Its later minor version shows that
    /// it probably has some.
    void expect_unknown_fields(state& s) const
    {
        if (s.version.major != options_.version.major) return;  // upgraded
        json known;
        const auto threw = detail::exception_text_of([&] { known = json(s.value); });
        if (!threw) s.read.user_fields = detail::unknown_user_fields_in(s.read.user, known);
    }

    /// Sets `fields` to the unknown fields if they are needed and `s` does not have them.
    [[nodiscard]] result<std::string, state_unwritten> encode_within(
        const state& s, const state_budget& budget, detail::unknown_user_fields& fields) const
    {
        if (s.outcome > state_read::ok || (s.read.unreadable && !s.progress.failed)) {
            return unexpected(state_unwritten{.problem = state_unwritten::problem_type::not_read,
                                              .reason = describe(s)});
        }
        const schema_version version =
            s.read.unreadable ? s.version : detail::written_version(s.version, options_.version);
        const detail::state_writer<json> whole = writer(s, budget, version, s.read.unknown_fields);
        state_unwritten bad;
        json user;
        if (!s.read.unreadable) {
            const auto threw =
                detail::exception_text_of([&] { build_user_object(s, fields, user); });
            if (threw) bad = {.problem = state_unwritten::problem_type::threw, .reason = *threw};
            else if (auto bytes = whole.write(user, bad)) return *std::move(bytes);
            if (!s.progress.failed) return unexpected(std::move(bad));
        }
        // The failure must be written: with the stored user's part, or else without it.
        user = detail::stored_user_part<json>(s.read);
        if (auto bytes = whole.write(user, bad)) return *std::move(bytes);
        const json no_unknown_fields;
        user = json::object();
        if (auto bytes = writer(s, budget, version, no_unknown_fields).write(user, bad)) {
            return *std::move(bytes);
        }
        return unexpected(std::move(bad));
    }

    [[nodiscard]] detail::state_writer<json> writer(const state& s, const state_budget& budget,
                                                    schema_version version,
                                                    const json& unknown_fields) const
    {
        const bool cbor = options_.format == state_format::cbor;
        return {cbor, options_.envelope, budget, version, s.progress, unknown_fields, s.read.size};
    }

    /// Builds the user's object from the value and from the stored fields that the type does not
    /// know.
    static void build_user_object(const state& s, detail::unknown_user_fields& fields, json& user)
    {
        user = json(s.value);
        const bool found = s.read.user_fields.found;
        if (!found) {
            if (!detail::lacks(user, s.read.user)) return;
            T stored{};
            s.read.user.get_to(stored);
            json known(stored);
            fields = detail::unknown_user_fields_in(s.read.user, known);
        }
        const detail::unknown_user_fields& all = found ? s.read.user_fields : fields;
        detail::add_unknown_fields(user, all.fields, all.known);
    }

    state_codec_options options_;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_STATE_CODEC_HPP
