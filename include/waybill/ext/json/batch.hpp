// SPDX-License-Identifier: MIT
//
// ext/json/batch: policies and calibrations, read and written; batches, reports and the actions of
// the batch sender, written only.
//
// A batch is written as its size in bytes, its number of items and the reason why it was closed.
// The caller may write the items. A key is written if it converts to text or to JSON.

#ifndef WAYBILL_EXT_JSON_BATCH_HPP
#define WAYBILL_EXT_JSON_BATCH_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include <waybill/batch/batch_sender.hpp>
#include <waybill/batch/bin_packer.hpp>
#include <waybill/batch/calibration.hpp>
#include <waybill/batch/chunk_by.hpp>
#include <waybill/batch/detail/calibrator.hpp>
#include <waybill/batch/keyed_batches.hpp>
#include <waybill/batch/open_batch.hpp>
#include <waybill/batch/open_limits.hpp>
#include <waybill/batch/owned_chunks.hpp>
#include <waybill/batch/send_policy.hpp>
#include <waybill/batch/send_report.hpp>
#include <waybill/batch/sending.hpp>
#include <waybill/batch/too_large.hpp>
#include <waybill/core/match.hpp>
#include <waybill/ext/json/core.hpp>
#include <waybill/ext/json/retry.hpp>

namespace waybill::inline v0_2 {

template <detail::json_value Json>
void to_json(Json& j, const open_limits& l)
{
    j = {{"open", detail::size_or_unlimited(l.open)},
         {"linger", l.linger},
         {"items", detail::size_or_unlimited(l.items)}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, open_limits& into)
{
    json_fields(at)
        .optional_size("open", into.open)
        .optional("linger", into.linger)
        .optional_size("items", into.items)
        .done();
}

template <detail::json_value Json>
void to_json(Json& j, const send_policy& p)
{
    j = {{"limit", p.limit},
         {"item_overhead", detail::size_or_unlimited(p.item_overhead)},
         {"exact_sizes", p.exact_sizes},
         {"in_flight", p.in_flight},
         {"ordered", p.ordered},
         {"may_overtake", p.may_overtake},
         {"one_key", p.one_key},
         {"on_too_large", p.on_too_large},
         {"linger", p.linger},
         {"on_unknown", p.on_unknown},
         {"retry", p.retry},
         {"budget", p.budget}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, send_policy& into)
{
    json_fields(at)
        .optional("limit", into.limit)
        .optional_size("item_overhead", into.item_overhead)
        .optional("exact_sizes", into.exact_sizes)
        .optional("in_flight", into.in_flight)
        .optional("ordered", into.ordered)
        .optional("may_overtake", into.may_overtake)
        .optional("one_key", into.one_key)
        .optional("on_too_large", into.on_too_large)
        .optional("linger", into.linger)
        .optional("on_unknown", into.on_unknown)
        .optional("retry", into.retry)
        .optional("budget", into.budget)
        .done();
}

namespace detail {

/// Format version of the written JSON.
inline constexpr std::uint64_t calibration_version = 1;

}  // namespace detail

template <detail::json_value Json>
void to_json(Json& j, const calibration::item_estimate& o)
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

template <detail::json_value Json>
void read_value(const json_place<Json>& at, calibration::item_estimate& into)
{
    json_fields(at)
        .required("ratio", into.ratio)
        .required("header", into.header)
        .required("ratio_variance", into.ratio_variance)
        .required("covariance", into.covariance)
        .required("header_variance", into.header_variance)
        .required("noise", into.noise)
        .required("drift", into.drift)
        .required("error", into.error)
        .required("seen", into.seen)
        .done();
}

/// Drops learnt values that contradict each other, as a sender does. So the written JSON can always
/// be read.
template <detail::json_value Json>
void to_json(Json& j, const calibration& known)
{
    const calibration c = detail::calibrator(known).state();
    j = {{"version", detail::calibration_version},
         {"documented", detail::size_or_unlimited(c.documented)},
         {"limit", detail::size_or_unlimited(c.limit)},
         {"ceiling", detail::size_or_unlimited(c.ceiling)},
         {"envelope", detail::size_or_unlimited(c.envelope)},
         {"items", c.items},
         {"accepted", detail::size_or_unlimited(c.accepted)},
         {"refused", detail::size_or_unlimited(c.refused)},
         {"consecutive_accepted", c.consecutive_accepted},
         {"probe_after", c.probe_after},
         {"reports", c.reports}};
    if (c.refuted_limit != 0) j["refuted_limit"] = c.refuted_limit;
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, calibration& into)
{
    json_fields(at)
        .version(detail::calibration_version)
        .required_size("documented", into.documented)
        .required_size("limit", into.limit)
        .required_size("ceiling", into.ceiling)
        .required_size("envelope", into.envelope)
        .required("items", into.items)
        .required_size("accepted", into.accepted)
        .required_size("refused", into.refused)
        .required("consecutive_accepted", into.consecutive_accepted)
        .required("probe_after", into.probe_after)
        .required("reports", into.reports)
        .optional_size("refuted_limit", into.refuted_limit)
        .done();
    if (into.refused <= into.accepted) at.fail("\"refused\" greater than \"accepted\"");
    if (!(detail::calibrator(into).state() == into))
        at.fail("numbers as a sender stored them (or delete the value, to learn it again)");
}

template <detail::json_value Json>
void to_json(Json& j, const batch_limits::oversized_item& o)
{
    j = {{"index", o.index},
         {"bytes", detail::size_or_unlimited(o.bytes)},
         {"item_bytes", detail::size_or_unlimited(o.item_bytes)},
         {"envelope", detail::size_or_unlimited(o.envelope)},
         {"limit", detail::size_or_unlimited(o.limit)}};
    if (o.single) j["single"] = true;
}

template <detail::json_value Json, class I>
void to_json(Json& j, const chunk<I>& c)
{
    j = {{"count", c.count},
         {"bytes", detail::size_or_unlimited(c.bytes)},
         {"fits", c.fits},
         {"closed", c.closed}};
}

template <detail::json_value Json, class Item, class Items>
void to_json(Json& j, const owned_chunk<Item, Items>& c)
{
    j = {{"count", c.size()},
         {"bytes", detail::size_or_unlimited(c.bytes)},
         {"fits", c.fits},
         {"closed", c.closed}};
}

template <detail::json_value Json, class Item>
void to_json(Json& j, const closed_batch<Item>& b)
{
    j = {{"count", b.items.size()},
         {"bytes", b.bytes},
         {"closed", b.closed},
         {"opened_steady_ns", b.opened.since_epoch().count()}};
}

template <detail::json_value Json, class Key, class Item>
void to_json(Json& j, const keyed_batch<Key, Item>& b)
{
    j = {{"count", b.items.size()},
         {"bytes", b.bytes},
         {"closed", b.closed},
         {"opened_steady_ns", b.opened.since_epoch().count()}};
    if constexpr (std::convertible_to<const Key&, std::string_view>) {
        detail::put_text(j, "key", std::string(std::string_view(b.key)));
    } else if constexpr (std::constructible_from<Json, const Key&>) {
        j["key"] = b.key;
    }
}

/// Writes the items: they are positions in the input.
template <detail::json_value Json>
void to_json(Json& j, const packed_bins& p)
{
    j = {{"batches", Json::array()}, {"too_large", p.too_large}};
    for (const auto& b : p.batches) {
        j["batches"].push_back({{"items", b.items}, {"bytes", b.bytes}, {"closed", b.closed}});
    }
}

template <detail::json_value Json>
void to_json(Json& j, const item_range& r)
{
    j = {{"first", r.first}, {"count", r.count}};
}

template <detail::json_value Json>
void to_json(Json& j, const item_report& r)
{
    j = {{"first", r.items.first}, {"count", r.items.count}, {"outcome", r.outcome}};
    if (r.kind != fault_kind::none) j["kind"] = r.kind;
    if (r.outcome == item_outcome::too_large) {
        j["bytes"] = detail::size_or_unlimited(r.bytes);
        j["limit"] = detail::size_or_unlimited(r.limit);
        if (r.envelope != 0) j["envelope"] = detail::size_or_unlimited(r.envelope);
    }
    if (!r.text.empty()) detail::put_text(j, "text", r.text);
    if (r.overtook) j["overtook"] = true;
}

template <detail::json_value Json>
void to_json(Json& j, const send_report& r)
{
    j = {{"sends", r.sends},
         {"refusals", r.refusals},
         {"taken", r.taken},
         {"accepted", r.accepted},
         {"not_accepted", r.not_accepted},
         {"maybe_twice", r.maybe_twice},
         {"overtook", r.overtook},
         {"unaccepted_bytes", r.unaccepted_bytes},
         {"stopped", r.stopped},
         {"outcomes", r.outcomes}};
    if (r.other_input) j["other_input"] = true;
    if (r.waiting) j["waiting_until_steady_ns"] = r.waiting->since_epoch().count();
}

template <detail::json_value Json>
void to_json(Json& j, const batch_sender::send& a)
{
    j = {{"act", "send"},
         {"attempt", a.attempt},
         {"bytes", detail::size_or_unlimited(a.bytes)},
         {"closed", a.closed}};
    j["items"] = Json::array();
    for (const item_range& r : a.items) j["items"].push_back(r);
}

template <detail::json_value Json>
void to_json(Json& j, const batch_sender::report& a)
{
    j = detail::as_item_report(a);
    j["act"] = "report";
}

template <detail::json_value Json>
void to_json(Json& j, const batch_sender::replace& a)
{
    j = {{"act", "replace"},
         {"item", a.item},
         {"bytes", detail::size_or_unlimited(a.bytes)},
         {"limit", detail::size_or_unlimited(a.limit)},
         {"envelope", detail::size_or_unlimited(a.envelope)}};
}

/// Only this variant matches, not types convertible to it.
template <detail::json_value Json, class Action>
    requires std::same_as<Action, batch_sender::action>
void to_json(Json& j, const Action& action)
{
    match(action, [&](const auto& a) { j = a; });
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_BATCH_HPP
