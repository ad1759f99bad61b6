// SPDX-License-Identifier: MIT
//
// ext/json/wire: limits, error codes and refusals of services as JSON, written only: the values are
// views of text in the program.

#ifndef WAYBILL_EXT_JSON_WIRE_HPP
#define WAYBILL_EXT_JSON_WIRE_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <string>

#include <waybill/ext/json/core.hpp>
#include <waybill/wire/error_codes.hpp>
#include <waybill/wire/refusal_text.hpp>
#include <waybill/wire/services.hpp>

namespace waybill::inline v0_2::wire {

template <waybill::detail::json_value Json>
void to_json(Json& j, const service& s)
{
    j = {{"highest", s.highest}, {"evidence", s.evidence}};
    waybill::detail::put_text(j, "name", std::string(s.name));
    waybill::detail::put_text(j, "as_of", std::string(s.as_of));
    waybill::detail::put_text(j, "source", std::string(s.source));
    waybill::detail::put_text(j, "note", std::string(s.note));
}

template <waybill::detail::json_value Json>
void to_json(Json& j, const error_code& c)
{
    j = {{"means", c.means}};
    waybill::detail::put_text(j, "code", std::string(c.code));
    if (c.number) j["number"] = *c.number;
}

template <waybill::detail::json_value Json>
void to_json(Json& j, const error_table& t)
{
    j = {{"codes", t.codes}};
    waybill::detail::put_text(j, "service", std::string(t.service));
    waybill::detail::put_text(j, "as_of", std::string(t.as_of));
    waybill::detail::put_text(j, "source", std::string(t.source));
}

template <waybill::detail::json_value Json>
void to_json(Json& j, const refusal_numbers& n)
{
    j = {{"of", n.of}};
    if (n.actual) j["actual"] = *n.actual;
    if (n.limit) j["limit"] = *n.limit;
}

}  // namespace waybill::inline v0_2::wire

#endif  // WAYBILL_EXT_JSON_WIRE_HPP
