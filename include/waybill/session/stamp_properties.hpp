// SPDX-License-Identifier: MIT
//
// stamp_properties: the stamp of a step as properties of its message, and back.
//
//     waybill::write_stamp(job.next(), {}, [&](std::string_view name, std::string_view value) {
//         message.properties[std::string(name)] = value;
//     });
//
//     auto read = waybill::read_stamp([&](std::string_view name) { return message.find(name); });
//     if (!read.ok()) log(read.text());                  // "waybill-step is no number: 'three'"
//     pipe.on(step_received{facts_of(read.stamp, message.sequence, message.deliveries)}, now);
//
// All values are texts, since not every broker has numbers, but for `waybill-state`, whose bytes
// are those that were saved: of CBOR they are no text. What says nothing is not written. What
// cannot be read becomes step 0, which contradicts every session, so that a pipeline parks it.
// Where the broker has sessions of its own, the id that it says counts, and the property need not
// be there.
//
// An id that `job` refuses is read as it is: the message came under this one, and a pipeline can
// run its step or park it. `odd_id` says what is wrong with it. That takes a store that takes such
// ids; whoever has none parks the message before a pipeline sees it.

#ifndef WAYBILL_SESSION_STAMP_PROPERTIES_HPP
#define WAYBILL_SESSION_STAMP_PROPERTIES_HPP

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <waybill/core/text.hpp>
#include <waybill/session/job.hpp>
#include <waybill/session/row_key.hpp>
#include <waybill/session/step.hpp>

namespace waybill::inline v0_2 {

/// How the properties are called.
struct step_property {
    static constexpr std::string_view session = "waybill-session";
    static constexpr std::string_view step = "waybill-step";
    static constexpr std::string_view first = "waybill-first";
    static constexpr std::string_view total = "waybill-total";
    static constexpr std::string_view last = "waybill-last";
    static constexpr std::string_view origin = "waybill-origin";
    static constexpr std::string_view origin_sequence = "waybill-origin-sequence";
    static constexpr std::string_view origin_message = "waybill-origin-message";
    static constexpr std::string_view generation = "waybill-generation";
    static constexpr std::string_view tries = "waybill-tries";
    static constexpr std::string_view state = "waybill-state";
};

/// Where a message was before it was redriven. Nothing of it is set in one that was not.
struct step_origin {
    std::string session{};         ///< The id of the session that it was sent in at first,
    std::uint64_t sequence = 0;    ///< and its number there.
    std::uint64_t generation = 0;  ///< How often it has been redriven.
    std::uint64_t tries = 0;       ///< In all of the sessions before this one.
    /// With the first message of a session: the state that the one before it stopped with.
    std::string state{};
    std::string message_id{};      ///< The one that it was sent under at first.

    friend bool operator==(const step_origin&, const step_origin&) = default;
};

/// What a consumer knows of the message with this stamp.
[[nodiscard]] constexpr step_facts facts_of(const step_stamp& s, std::uint64_t sequence,
                                            std::uint64_t deliveries) noexcept
{
    return {sequence, s.step, s.first, s.total, s.last, deliveries};
}

/// Hands each property to `put(name, value)`; the value is there for the call.
template <class F>
void write_stamp(const step_stamp& s, const step_origin& o, F&& put)
{
    const auto number = [&](std::string_view name, std::uint64_t n) {
        char digits[row_key_digits] = {};
        const auto end = std::to_chars(digits, digits + row_key_digits, n);
        put(name, std::string_view(digits, static_cast<std::size_t>(end.ptr - digits)));
    };
    put(step_property::session, std::string_view(s.session));
    number(step_property::step, s.step);
    if (s.first != 1) number(step_property::first, s.first);
    if (s.total != 0) number(step_property::total, s.total);
    if (s.last) put(step_property::last, std::string_view("true"));
    if (o.generation == 0) return;
    put(step_property::origin, std::string_view(o.session));
    number(step_property::origin_sequence, o.sequence);
    if (!o.message_id.empty()) put(step_property::origin_message, std::string_view(o.message_id));
    number(step_property::generation, o.generation);
    number(step_property::tries, o.tries);
    if (!o.state.empty()) put(step_property::state, std::string_view(o.state));
}

/// What was found where a stamp should be.
enum class stamp_found : std::uint8_t {
    ok,
    absent,      ///< It has no session or no step: whoever sent it knows nothing of sessions.
    not_number,  ///< A property is no number without a sign.
    too_large,   ///< A property is more than 64 bits hold.
    not_bool,    ///< `waybill-last` is neither true nor false.
    other_session,  ///< The property says another session than the broker does.
};

[[nodiscard]] constexpr std::string_view name(stamp_found f) noexcept
{
    switch (f) {
        case stamp_found::ok: return "ok";
        case stamp_found::absent: return "absent";
        case stamp_found::not_number: return "not_number";
        case stamp_found::too_large: return "too_large";
        case stamp_found::not_bool: return "not_bool";
        case stamp_found::other_session: return "other_session";
    }
    return "?";
}

struct stamp_read {
    stamp_found how = stamp_found::absent;
    std::string_view property{};  ///< Which one it is about; a literal.
    std::string value{};          ///< What stands in it, at most 64 bytes.
    step_stamp stamp{};           ///< Step 0 where it could not be read.
    step_origin origin{};
    /// What `job` refuses in the id of the session. The end of a redriven one is fine if it is one.
    std::optional<job_problem> odd_id{};

    [[nodiscard]] bool ok() const noexcept { return how == stamp_found::ok; }
    /// The session that it was sent in at first, which is the same however often it is redriven:
    /// what a step does is done once for each of these and its number.
    [[nodiscard]] const std::string& job() const noexcept
    {
        return origin.generation == 0 ? stamp.session : origin.session;
    }

    /// One line for a log.
    [[nodiscard]] std::string text() const
    {
        const std::string what(property);
        switch (how) {
            case stamp_found::ok:
                if (!odd_id) return "ok";
                return "ok, but " + waybill::text(job_error{*odd_id, stamp.session.size()});
            case stamp_found::absent: return what + " is absent: was it sent by a job?";
            case stamp_found::not_number: return what + " is no number: '" + value + "'";
            case stamp_found::too_large: return what + " is too large: '" + value + "'";
            case stamp_found::not_bool: return what + " is neither true nor false: '" + value + "'";
            case stamp_found::other_session:
                return what + " is '" + value + "', and the broker says '" + stamp.session + "'";
        }
        return "?";
    }

    friend bool operator==(const stamp_read&, const stamp_read&) = default;
};

namespace detail {

/// Reads property after property, up to the first that is wrong.
template <class F>
class stamp_reader {
public:
    stamp_reader(F& find, stamp_read& read) : find_(find), read_(read) {}

    bool texts(std::string_view name, std::string& to)
    {
        const auto found = find_(name);
        if (found) to = std::string(std::string_view(*found));
        return static_cast<bool>(found);
    }
    /// False if it is absent or wrong.
    bool number(std::string_view name, std::uint64_t& to)
    {
        const auto found = find_(name);
        if (!found || !read_.ok()) return false;
        const std::string_view text(*found);
        const row_key_read read = sequence_of_row_key(text);
        if (read.readable()) {
            to = read.sequence;
            return true;
        }
        const bool large = read.how == row_key_found::too_large;
        return wrong(large ? stamp_found::too_large : stamp_found::not_number, name, text);
    }
    void flag(std::string_view name, bool& to)
    {
        const auto found = find_(name);
        if (!found || !read_.ok()) return;
        const std::string_view text(*found);
        to = text == "true" || text == "True" || text == "1";
        if (to || text == "false" || text == "False" || text == "0") return;
        wrong(stamp_found::not_bool, name, text);
    }
    bool wrong(stamp_found how, std::string_view name, std::string_view value)
    {
        if (!read_.ok()) return false;
        read_.how = how;
        read_.property = name;
        read_.value = std::string(utf8_prefix(value, 64));
        return false;
    }

private:
    F& find_;
    stamp_read& read_;
};

}  // namespace detail

/// Reads a stamp. `find(name)` answers an optional text; `session` is what the broker says.
template <class F>
[[nodiscard]] stamp_read read_stamp(F&& find, std::string_view session = {})
{
    stamp_read r;
    r.how = stamp_found::ok;
    detail::stamp_reader<std::remove_reference_t<F>> in(find, r);
    const bool said = in.texts(step_property::session, r.stamp.session);
    if (!session.empty()) {
        if (said && r.stamp.session != session) {
            in.wrong(stamp_found::other_session, step_property::session, r.stamp.session);
        }
        r.stamp.session = std::string(session);
    }
    if (r.stamp.session.empty()) in.wrong(stamp_found::absent, step_property::session, {});
    if (!in.number(step_property::step, r.stamp.step)) {
        in.wrong(stamp_found::absent, step_property::step, {});
    }
    in.number(step_property::first, r.stamp.first);
    in.number(step_property::total, r.stamp.total);
    in.flag(step_property::last, r.stamp.last);
    in.number(step_property::generation, r.origin.generation);
    if (r.origin.generation != 0) {
        if (!in.texts(step_property::origin, r.origin.session)) {
            in.wrong(stamp_found::absent, step_property::origin, {});
        }
        if (!in.number(step_property::origin_sequence, r.origin.sequence)) {
            in.wrong(stamp_found::absent, step_property::origin_sequence, {});
        }
        in.number(step_property::tries, r.origin.tries);
        in.texts(step_property::state, r.origin.state);
        in.texts(step_property::origin_message, r.origin.message_id);
    }
    if (!r.stamp.session.empty()) r.odd_id = session_id_problem(r.stamp.session);
    if (r.odd_id == job_problem::redriven_end && r.origin.generation != 0) r.odd_id.reset();
    if (!r.ok()) r.stamp.step = 0;
    return r;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_STAMP_PROPERTIES_HPP
