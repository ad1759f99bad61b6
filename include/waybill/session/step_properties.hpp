// SPDX-License-Identifier: MIT
//
// step_properties: writes the properties of a step to its message, and reads them.
//
//     waybill::write_step_properties(job.next(), {}, [&](auto name, auto value) {
//         message.properties[std::string(name)] = value;
//     });
//
//     auto read = waybill::read_step_properties([&](auto name) { return message.find(name); });
//     if (!read.ok()) log(read.text());   // "waybill-step is not an unsigned number: 'three'"
//     const auto facts = step_facts::of(read.properties, message.sequence, message.deliveries);
//     pipe.on(pipeline::step_received{facts, wall_now}, now);
//
// Guarantees
//   1. All values are text, because some brokers have no numbers. Exception: `waybill-state`
//      contains the saved bytes, which are binary for CBOR.
//   2. Optional properties with default values are not written.
//   3. If a property cannot be read, the step is 0. It contradicts every session, so a pipeline
//      dead-letters the message.
//   4. If the broker has sessions, its session id is used; the property is optional.
//   5. A session id that `job` refuses is read unchanged; `id_problem` contains the reason.

#ifndef WAYBILL_SESSION_STEP_PROPERTIES_HPP
#define WAYBILL_SESSION_STEP_PROPERTIES_HPP

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <waybill/core/enum_name.hpp>
#include <waybill/session/detail/property_reader.hpp>
#include <waybill/session/job.hpp>
#include <waybill/session/row_key.hpp>
#include <waybill/session/step.hpp>

namespace waybill::inline v0_2 {

/// The origin of a redriven message. All fields have default values if it was not redriven.
struct step_properties::origin {
    std::string session{};         ///< The session id with which it was sent first.
    std::uint64_t sequence = 0;    ///< The sequence number that it had in that session.
    std::uint64_t generation = 0;  ///< The number of redrives so far.
    std::uint64_t tries = 0;       ///< Tries in all earlier sessions.
    /// The state with which the previous session stopped; only in the first message of a session.
    std::string state{};
    std::string message_id{};  ///< The message id with which it was sent first.

    friend bool operator==(const origin&, const origin&) = default;
};

/// Calls `put(name, value)` for each property. `value` is valid only during the call.
template <class F>
void write_step_properties(const step_properties& s, const step_properties::origin& o, F&& put)
{
    const auto put_number = [&](std::string_view name, std::uint64_t n) {
        char digits[detail::row_key_digits] = {};  // has space for the largest number
        const auto end = std::to_chars(digits, digits + detail::row_key_digits, n);
        put(name, std::string_view(digits, static_cast<std::size_t>(end.ptr - digits)));
    };
    put(step_properties::names::session, std::string_view(s.session));
    put_number(step_properties::names::step, s.step);
    if (s.first != 1) put_number(step_properties::names::first, s.first);
    if (s.total != 0) put_number(step_properties::names::total, s.total);
    if (s.last) put(step_properties::names::last, std::string_view("true"));
    if (o.generation == 0) return;
    put(step_properties::names::origin, std::string_view(o.session));
    put_number(step_properties::names::origin_sequence, o.sequence);
    if (!o.message_id.empty())
        put(step_properties::names::origin_message, std::string_view(o.message_id));
    put_number(step_properties::names::generation, o.generation);
    put_number(step_properties::names::tries, o.tries);
    if (!o.state.empty()) put(step_properties::names::state, std::string_view(o.state));
}

struct step_properties::read_result {
    /// The result of reading the properties.
    enum class read_outcome : std::uint8_t {
        ok,
        absent,         ///< Session or step is missing, or the origin of a redriven message.
        not_number,     ///< The value is not an unsigned decimal number.
        too_large,      ///< The number has more than 64 bits.
        not_bool,       ///< `waybill-last` is neither true nor false.
        other_session,  ///< The property and the broker have different session ids.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(read_outcome) noexcept
    {
        return "ok, absent, not_number, too_large, not_bool, other_session";
    }

    read_outcome outcome = read_outcome::absent;
    std::string_view property{};   ///< The property with the error; a literal.
    std::string value{};           ///< Its value, at most the first 64 bytes.
    step_properties properties{};  ///< Its step is 0 if `outcome` is not ok.
    step_properties::origin origin{};
    /// The reason why `job` refuses the session id; nullopt if it accepts the id. A redriven
    /// message may have an id with the suffix of a redrive. If the session store does not accept a
    /// refused id, dead-letter the message before a pipeline receives it.
    std::optional<waybill::job::error::code> id_problem{};

    [[nodiscard]] bool ok() const noexcept { return outcome == read_outcome::ok; }
    /// The session id with which the message was sent first; it is the same after each redrive.
    /// Use the job and the step number as the key of a step's effects, so that they happen once.
    [[nodiscard]] const std::string& job() const noexcept
    {
        return origin.generation == 0 ? properties.session : origin.session;
    }

    /// One line for a log: the property with the error and its value.
    [[nodiscard]] std::string text() const
    {
        const std::string property_name(property);
        switch (outcome) {
            case read_outcome::ok:
                if (!id_problem) return "ok";
                return "ok, but " + waybill::describe(waybill::job::error{
                                        *id_problem, properties.session.size()});
            case read_outcome::absent:
                return property_name + " is missing: send the message with write_step_properties";
            case read_outcome::not_number:
                return property_name + " is not an unsigned number: '" + value + "'";
            case read_outcome::too_large:
                return property_name + " is too large: '" + value + "', the maximum is 2^64 - 1";
            case read_outcome::not_bool:
                return property_name + " is neither true nor false: '" + value + "'";
            case read_outcome::other_session:
                return property_name + " is '" + value +
                       "', but the session id of the broker is '" + properties.session + "'";
        }
        return "?";
    }

    friend bool operator==(const read_result&, const read_result&) = default;
};

namespace detail {

/// Reads the origin of a redriven step.
template <class Reader>
void read_step_origin(Reader& reader, step_properties::origin& origin)
{
    using names = step_properties::names;
    constexpr auto absent = step_properties::read_result::read_outcome::absent;
    if (!reader.read_text(names::origin, origin.session))
        reader.set_error(absent, names::origin, {});
    if (!reader.read_number(names::origin_sequence, origin.sequence))
        reader.set_error(absent, names::origin_sequence, {});
    reader.read_number(names::tries, origin.tries);
    reader.read_text(names::state, origin.state);
    reader.read_text(names::origin_message, origin.message_id);
}

}  // namespace detail

/// Reads the properties of a step. `find(name)` returns an optional text, such as
/// std::optional<std::string_view>; it is read before the next call. `session` is the session id of
/// the broker; empty if it has no sessions. The result contains the first error.
template <class F>
[[nodiscard]] step_properties::read_result read_step_properties(F&& find,
                                                                std::string_view session = {})
{
    step_properties::read_result r;
    r.outcome = step_properties::read_result::read_outcome::ok;
    detail::property_reader<std::remove_reference_t<F>, step_properties::read_result> reader(find,
                                                                                             r);
    const bool has_session =
        reader.read_text(step_properties::names::session, r.properties.session);
    if (!session.empty()) {
        if (has_session && r.properties.session != session) {
            reader.set_error(step_properties::read_result::read_outcome::other_session,
                             step_properties::names::session, r.properties.session);
        }
        r.properties.session = std::string(session);
    }
    if (r.properties.session.empty())
        reader.set_error(step_properties::read_result::read_outcome::absent,
                         step_properties::names::session, {});
    if (!reader.read_number(step_properties::names::step, r.properties.step)) {
        reader.set_error(step_properties::read_result::read_outcome::absent,
                         step_properties::names::step, {});
    }
    reader.read_number(step_properties::names::first, r.properties.first);
    reader.read_number(step_properties::names::total, r.properties.total);
    reader.read_flag(step_properties::names::last, r.properties.last);
    reader.read_number(step_properties::names::generation, r.origin.generation);
    if (r.origin.generation != 0) detail::read_step_origin(reader, r.origin);
    if (!r.properties.session.empty()) r.id_problem = job::id_problem(r.properties.session);
    if (r.id_problem == job::error::code::redriven_end && r.origin.generation != 0)
        r.id_problem.reset();
    if (!r.ok()) r.properties.step = 0;
    return r;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_STEP_PROPERTIES_HPP
