// SPDX-License-Identifier: MIT
//
// ext/json_batch: batches as JSON, written only: size in bytes, number of items and the reason why
// the batch was closed. Items are not written, only their number; the caller may write them. A key
// is written if it converts to text or to JSON.

#ifndef WAYBILL_EXT_JSON_BATCH_HPP
#define WAYBILL_EXT_JSON_BATCH_HPP

#include <concepts>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <waybill/batch/bin_packer.hpp>
#include <waybill/batch/chunk_by.hpp>
#include <waybill/batch/keyed_batches.hpp>
#include <waybill/batch/open_batch.hpp>
#include <waybill/batch/owned_chunks.hpp>
#include <waybill/batch/too_large.hpp>
#include <waybill/ext/json_enum.hpp>
#include <waybill/ext/json_policy.hpp>
#include <waybill/ext/json_state.hpp>

namespace waybill::inline v0_2 {

inline void to_json(nlohmann::json& j, const oversized_item& o)
{
    j = {{"index", o.index},
         {"bytes", detail::size_or_unlimited(o.bytes)},
         {"own", detail::size_or_unlimited(o.own)},
         {"envelope", detail::size_or_unlimited(o.envelope)},
         {"limit", detail::size_or_unlimited(o.limit)}};
    if (o.single) j["single"] = true;
}

template <class I>
void to_json(nlohmann::json& j, const chunk<I>& c)
{
    j = {{"count", c.count},
         {"bytes", detail::size_or_unlimited(c.bytes)},
         {"fits", c.fits},
         {"closed", c.closed}};
}

template <class Item, class Items>
void to_json(nlohmann::json& j, const owned_chunk<Item, Items>& c)
{
    j = {{"count", c.size()},
         {"bytes", detail::size_or_unlimited(c.bytes)},
         {"fits", c.fits},
         {"closed", c.closed}};
}

template <class Item>
void to_json(nlohmann::json& j, const closed_batch<Item>& b)
{
    j = {{"count", b.items.size()},
         {"bytes", b.bytes},
         {"closed", b.closed},
         {"opened_steady_ns", b.opened.since_epoch().count()}};
}

template <class Key, class Item>
void to_json(nlohmann::json& j, const keyed_batch<Key, Item>& b)
{
    j = {{"count", b.items.size()},
         {"bytes", b.bytes},
         {"closed", b.closed},
         {"opened_steady_ns", b.opened.since_epoch().count()}};
    if constexpr (std::convertible_to<const Key&, std::string_view>) {
        detail::put_text(j, "key", std::string(std::string_view(b.key)));
    } else if constexpr (std::constructible_from<nlohmann::json, const Key&>) {
        j["key"] = b.key;
    }
}

/// The items of packed batches are positions (indices), which are written.
inline void to_json(nlohmann::json& j, const packed_bins& p)
{
    j = {{"batches", nlohmann::json::array()}, {"too_large", p.too_large}};
    for (const auto& b : p.batches) {
        j["batches"].push_back({{"items", b.items}, {"bytes", b.bytes}, {"closed", b.closed}});
    }
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_BATCH_HPP
