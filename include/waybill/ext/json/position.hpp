// SPDX-License-Identifier: MIT
//
// ext/json/position: partitions, positions and checkpoints, read and written; assignments, written
// only.
//
//     {"version": 1, "at": {"offset": "o", "sequence": 17}, "epoch": 3}

#ifndef WAYBILL_EXT_JSON_POSITION_HPP
#define WAYBILL_EXT_JSON_POSITION_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <cstdint>

#include <waybill/consume/position.hpp>
#include <waybill/ext/json/core.hpp>

namespace waybill::inline v0_2 {

namespace detail {

/// Format version of the written JSON.
inline constexpr std::uint64_t checkpoint_version = 1;

}  // namespace detail

template <detail::json_value Json>
void to_json(Json& j, const partition_key& k)
{
    j = Json::object();
    detail::put_text(j, "source", k.source);
    detail::put_text(j, "group", k.group);
    detail::put_text(j, "partition", k.partition);
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, partition_key& into)
{
    json_fields(at)
        .required_text("source", into.source)
        .required_text("group", into.group)
        .required_text("partition", into.partition)
        .done();
}

template <detail::json_value Json>
void to_json(Json& j, const position& p)
{
    j = {{"sequence", p.sequence}};
    detail::put_text(j, "offset", p.offset);
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, position& into)
{
    json_fields(at).required("sequence", into.sequence).required_text("offset", into.offset).done();
}

template <detail::json_value Json>
void to_json(Json& j, const checkpoint& c)
{
    j = {{"version", detail::checkpoint_version}, {"at", c.at}, {"epoch", c.epoch}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, checkpoint& into)
{
    json_fields(at)
        .version(detail::checkpoint_version)
        .required("at", into.at)
        .required("epoch", into.epoch)
        .done();
}

template <detail::json_value Json>
void to_json(Json& j, const assignment& a)
{
    j = {{"key", a.key}, {"epoch", a.epoch}};
    if (a.incarnation != 0) j["incarnation"] = a.incarnation;
    if (a.expired_incarnation) j["expired_incarnation"] = *a.expired_incarnation;
    if (a.from) j["from"] = *a.from;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_POSITION_HPP
