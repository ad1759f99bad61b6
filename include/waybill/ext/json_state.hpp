// SPDX-License-Identifier: MIT
//
// ext/json_state: state that outlives a process, read and written: calibrations of destinations,
// checkpoints of partitions, and dead letters.
//
// Each format has its own version, independent of the algorithms and the store.

#ifndef WAYBILL_EXT_JSON_STATE_HPP
#define WAYBILL_EXT_JSON_STATE_HPP

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <waybill/batch/calibration.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/ext/json_enum.hpp>
#include <waybill/ext/json_policy.hpp>
#include <waybill/ext/json_read.hpp>
#include <waybill/ext/json_text.hpp>

namespace waybill::inline v0_2 {

namespace detail {

/// Format versions of the written JSON.
inline constexpr std::uint64_t calibration_version = 2;
inline constexpr std::uint64_t checkpoint_version = 1;
inline constexpr std::uint64_t dead_letter_version = 1;

/// Writes UTF-8 under `field`, and other bytes as base64 under `field` with "_base64" appended.
inline void put_text(nlohmann::json& j, std::string_view field, const std::string& value)
{
    if (is_utf8(value)) j[std::string(field)] = value;
    else j[std::string(field) + "_base64"] = base64(value);
}

inline void to_json(nlohmann::json& j, const overhead_state& o)
{
    j = {{"ratio", o.ratio},
         {"header", o.header},
         {"ratio_variance", o.ratio_variance},
         {"covariance", o.covariance},
         {"header_variance", o.header_variance},
         {"noise", o.noise},
         {"drift", o.drift},
         {"error", o.error},
         {"seen", o.seen}};
}

inline void read_value(const json_place& at, overhead_state& into)
{
    json_fields(at)
        .must("ratio", into.ratio)
        .must("header", into.header)
        .must("ratio_variance", into.ratio_variance)
        .must("covariance", into.covariance)
        .must("header_variance", into.header_variance)
        .must("noise", into.noise)
        .must("drift", into.drift)
        .must("error", into.error)
        .must("seen", into.seen)
        .done();
}

}  // namespace detail

/// Drops learnt values that contradict each other, as the constructor of `calibration` does. So the
/// written JSON can always be read.
inline void to_json(nlohmann::json& j, const calibration_state& known)
{
    const calibration_state c = calibration(known).state();
    j = {{"version", detail::calibration_version},
         {"documented", detail::size_or_unlimited(c.documented)},
         {"limit", detail::size_or_unlimited(c.limit)},
         {"ceiling", detail::size_or_unlimited(c.ceiling)},
         {"envelope", detail::size_or_unlimited(c.envelope)},
         {"items", c.items},
         {"accepted", detail::size_or_unlimited(c.accepted)},
         {"refused", detail::size_or_unlimited(c.refused)},
         {"row", c.consecutive_accepted},
         {"probe_after", c.probe_after},
         {"tells", c.reports}};
    if (c.refuted != 0) j["refuted"] = c.refuted;
}

inline void read_value(const json_place& at, calibration_state& into)
{
    if (at.value.is_object() && at.value.value("version", nlohmann::json()) == 1) {
        std::uint64_t header = 0;  // version 1 has only the header
        std::uint64_t version = 1;
        json_fields(at)
            .must("version", version)
            .must_size("limit", into.limit)
            .must_size("envelope", into.envelope)
            .must_size("header", header)
            .must_size("accepted", into.accepted)
            .must_size("refused", into.refused)
            .done();
        into.documented = into.ceiling = into.limit;
        into.items = detail::overhead(static_cast<double>(header)).state();
        if (into.refused <= into.accepted) at.fail("\"refused\" greater than \"accepted\"");
        return;
    }
    json_fields(at)
        .version(detail::calibration_version)
        .must_size("documented", into.documented)
        .must_size("limit", into.limit)
        .must_size("ceiling", into.ceiling)
        .must_size("envelope", into.envelope)
        .must("items", into.items)
        .must_size("accepted", into.accepted)
        .must_size("refused", into.refused)
        .must("row", into.consecutive_accepted)
        .must("probe_after", into.probe_after)
        .must("tells", into.reports)
        .may_size("refuted", into.refuted)
        .done();
    if (into.refused <= into.accepted) at.fail("\"refused\" greater than \"accepted\"");
    if (!(calibration(into).state() == into)) at.fail("numbers that do not contradict each other");
}

inline void to_json(nlohmann::json& j, const calibration& c) { j = c.state(); }

inline void read_value(const json_place& at, calibration& into)
{
    calibration_state state;
    read_value(at, state);
    into = calibration(state);
}

inline void to_json(nlohmann::json& j, const partition_key& k)
{
    j = nlohmann::json::object();
    detail::put_text(j, "source", k.source);
    detail::put_text(j, "group", k.group);
    detail::put_text(j, "partition", k.partition);
}

inline void read_value(const json_place& at, partition_key& into)
{
    json_fields(at)
        .must_text("source", into.source)
        .must_text("group", into.group)
        .must_text("partition", into.partition)
        .done();
}

inline void to_json(nlohmann::json& j, const position& p)
{
    j = {{"sequence", p.sequence}};
    detail::put_text(j, "offset", p.offset);
}

inline void read_value(const json_place& at, position& into)
{
    json_fields(at).must("sequence", into.sequence).must_text("offset", into.offset).done();
}

inline void to_json(nlohmann::json& j, const checkpoint& c)
{
    j = {{"version", detail::checkpoint_version}, {"at", c.at}, {"epoch", c.epoch}};
}

inline void read_value(const json_place& at, checkpoint& into)
{
    json_fields(at)
        .version(detail::checkpoint_version)
        .must("at", into.at)
        .must("epoch", into.epoch)
        .done();
}

inline void to_json(nlohmann::json& j, const dead_letter& d)
{
    j = {{"version", detail::dead_letter_version},
         {"key", d.key},
         {"at", d.at},
         {"how", d.kind},
         {"tries", d.tries},
         {"occurred", d.occurred},
         {"parked", d.dead_lettered_at}};
    detail::put_text(j, "reason", d.reason);
    detail::put_text(j, "body", d.body);
    if (d.kept != dead_letter_body::body) j["kept"] = d.kept;
    if (d.size != 0) j["size"] = d.size;
    if (d.checksum != 0) j["checksum"] = d.checksum;
}

inline void read_value(const json_place& at, dead_letter& into)
{
    json_fields(at)
        .version(detail::dead_letter_version)
        .must("key", into.key)
        .must("at", into.at)
        .must("how", into.kind)
        .must_text("reason", into.reason)
        .must_text("body", into.body)
        .must("tries", into.tries)
        .must("occurred", into.occurred)
        .must("parked", into.dead_lettered_at)
        .may("kept", into.kept)
        .may("size", into.size)
        .may("checksum", into.checksum)
        .done();
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_STATE_HPP
