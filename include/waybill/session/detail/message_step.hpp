// SPDX-License-Identifier: MIT
//
// message_step: the step of a received message, with or without a step number.

#ifndef WAYBILL_SESSION_DETAIL_MESSAGE_STEP_HPP
#define WAYBILL_SESSION_DETAIL_MESSAGE_STEP_HPP

#include <string_view>

#include <waybill/session/detail/property_reader.hpp>
#include <waybill/session/step.hpp>
#include <waybill/session/step_properties.hpp>

namespace waybill::inline v0_2::detail {

/// The step properties of a message. A message without any step number is numbered by its arrival.
struct message_step {
    step_properties::read_result read{};
    bool by_arrival = false;

    [[nodiscard]] step_facts facts(std::uint64_t sequence, std::uint64_t deliveries) const noexcept
    {
        step_facts f = step_facts::of(read.properties, sequence, deliveries);
        f.by_arrival = by_arrival;
        return f;
    }
};

/// `last_property` marks the last message of a session without step numbers.
template <class Find>
[[nodiscard]] message_step read_message_step(Find&& find, std::string_view session,
                                             std::string_view last_property)
{
    using names = step_properties::names;
    using read_outcome = step_properties::read_result::read_outcome;
    message_step m{.read = read_step_properties(find, session)};
    step_properties::read_result& read = m.read;
    const bool lacks_step = read.outcome == read_outcome::absent && read.property == names::step;
    if (!lacks_step || find(names::first) || find(names::total) || find(names::generation))
        return m;
    read.outcome = read_outcome::ok;
    read.property = {};
    property_reader<std::remove_reference_t<Find>, step_properties::read_result> reader(find, read);
    reader.read_flag(last_property, read.properties.last);
    m.by_arrival = read.ok();
    return m;
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_SESSION_DETAIL_MESSAGE_STEP_HPP
