// SPDX-License-Identifier: MIT
//
// ext/json/scaling_messages: the messages of scaling, read and written.
//
//     queue.send(nlohmann::json(scaling::command_message{"orders", *d.command}).dump());
//     auto m = waybill::parse_json<scaling::command_message>(queue.receive());
//
// Each message has a version. An unknown field is an error.

#ifndef WAYBILL_EXT_JSON_SCALING_MESSAGES_HPP
#define WAYBILL_EXT_JSON_SCALING_MESSAGES_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <cstdint>
#include <optional>

#include <waybill/ext/json/core.hpp>
#include <waybill/ext/json/detail/json_value.hpp>
#include <waybill/ext/json/read.hpp>
#include <waybill/scaling/command.hpp>
#include <waybill/scaling/messages.hpp>
#include <waybill/window/sample.hpp>

namespace waybill::inline v0_2::scaling {

template <waybill::detail::json_value Json>
void to_json(Json& j, const command& c)
{
    j = {{"id", c.id}, {"from", c.from}, {"to", c.to}};
}

template <waybill::detail::json_value Json>
void read_value(const json_place<Json>& at, command& into)
{
    json_fields(at)
        .required("id", into.id)
        .required("from", into.from)
        .required("to", into.to)
        .done();
}

/// {"applied": 3}
template <waybill::detail::json_value Json>
void to_json(Json& j, const applied& a)
{
    j = {{"applied", a.id}};
}

template <waybill::detail::json_value Json>
void read_value(const json_place<Json>& at, applied& into)
{
    json_fields(at).required("applied", into.id).done();
}

/// {"failed": 3}
template <waybill::detail::json_value Json>
void to_json(Json& j, const failed& f)
{
    j = {{"failed", f.id}};
}

template <waybill::detail::json_value Json>
void read_value(const json_place<Json>& at, failed& into)
{
    json_fields(at).required("failed", into.id).done();
}

namespace detail {

/// Leaves out a number that is not finite: JSON has no such number, and nlohmann's library would
/// write null.
template <waybill::detail::json_value Json>
void put_number(Json& j, const char* field, const std::optional<double>& x)
{
    if (x && waybill::detail::is_finite(*x)) j[field] = *x;
}

}  // namespace detail

namespace detail {

/// Format version of the messages between measuring, deciding and executing processes.
inline constexpr std::uint64_t message_version = 1;

}  // namespace detail

template <waybill::detail::json_value Json>
void to_json(Json& j, const metric_message& m)
{
    j = {{"version", detail::message_version}, {"at", m.at}};
    waybill::detail::put_text(j, "resource", m.resource);
    waybill::detail::put_text(j, "metric", m.metric);
    detail::put_number(j, "value", m.value);
}

/// A message without a value is of a number that was not finite. It is refused.
template <waybill::detail::json_value Json>
void read_value(const json_place<Json>& at, metric_message& into)
{
    json_fields(at)
        .version(detail::message_version)
        .required_text("resource", into.resource)
        .required_text("metric", into.metric)
        .required("at", into.at)
        .required("value", into.value)
        .done();
}

template <waybill::detail::json_value Json>
void to_json(Json& j, const command_message& m)
{
    j = m.command;
    j["version"] = detail::message_version;
    waybill::detail::put_text(j, "resource", m.resource);
}

template <waybill::detail::json_value Json>
void read_value(const json_place<Json>& at, command_message& into)
{
    json_fields(at)
        .version(detail::message_version)
        .required_text("resource", into.resource)
        .required("id", into.command.id)
        .required("from", into.command.from)
        .required("to", into.command.to)
        .done();
}

template <waybill::detail::json_value Json>
void to_json(Json& j, const result_message& m)
{
    j = {{"version", detail::message_version}, {m.applied ? "applied" : "failed", m.id}};
    waybill::detail::put_text(j, "resource", m.resource);
    if (!m.text.empty()) waybill::detail::put_text(j, "text", m.text);
}

template <waybill::detail::json_value Json>
void read_value(const json_place<Json>& at, result_message& into)
{
    std::optional<std::uint64_t> applied_id;
    std::optional<std::uint64_t> failed_id;
    json_fields(at)
        .version(detail::message_version)
        .required_text("resource", into.resource)
        .optional("applied", applied_id)
        .optional("failed", failed_id)
        .optional_text("text", into.text)
        .done();
    if (applied_id.has_value() == failed_id.has_value())
        return at.fail("either \"applied\" or \"failed\"");
    into.applied = applied_id.has_value();
    into.id = into.applied ? *applied_id : *failed_id;
}

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_EXT_JSON_SCALING_MESSAGES_HPP
