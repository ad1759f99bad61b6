// SPDX-License-Identifier: MIT
//
// lease_group: which partitions are shared and by whom, and what a lease_keeper is told.

#ifndef WAYBILL_CONSUME_LEASE_GROUP_HPP
#define WAYBILL_CONSUME_LEASE_GROUP_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <waybill/consume/lease.hpp>
#include <waybill/core/check.hpp>

namespace waybill::inline v0_2 {

/// Which partitions are shared, and who shares.
struct lease_group {
    std::string source{};
    std::string group{};
    std::vector<std::string> partitions{};  ///< All of them, by different names, numbered from 0.
    owner_id self{};  ///< No two that are alive may be equal: draw the incarnation at the start.
    lease_options leases{};  ///< No interval reads as 10 s, a shorter expiry as three intervals.

    friend bool operator==(const lease_group&, const lease_group&) = default;
};

[[nodiscard]] inline std::optional<config_error> check(const lease_group& g)
{
    if (g.self.nobody()) return config_error{"group.self.name", 0, "bytes must be at least", 1};
    std::map<std::string_view, std::uint64_t> number;
    for (std::uint64_t p = 0; p != g.partitions.size(); ++p) {
        const auto [other, first] = number.emplace(g.partitions[p], p);
        if (first) continue;
        return config_error{"group.partitions", p, "must not be named as", other->second};
    }
    return check(g.leases);
}

/// Without a name of a partition that is not there.
[[nodiscard]] inline partition_key key_of(const lease_group& g, std::uint32_t partition)
{
    const bool there = partition < g.partitions.size();
    return {g.source, g.group, there ? g.partitions[partition] : std::string()};
}

namespace detail {

/// The group as a keeper uses it: with options that `check` refuses it would ask without end, or
/// never trust a lease.
[[nodiscard]] inline lease_group usable(lease_group g)
{
    lease_options& o = g.leases;
    if (o.interval <= duration{}) o.interval = lease_options{}.interval;
    o.expiry = greater(o.expiry, o.interval + o.interval + o.interval);
    return g;
}

}  // namespace detail

/// The partition is closed and saved: its lease is to be given back.
struct vacated {
    std::uint32_t partition = 0;

    friend bool operator==(const vacated&, const vacated&) = default;
};
/// A store has said that the partition is somebody else's. The keeper makes sure at once.
struct doubted {
    std::uint32_t partition = 0;

    friend bool operator==(const doubted&, const doubted&) = default;
};
/// Its checkpoint was written under this epoch, which ours has to exceed. The last one is invalid:
/// no other is above it.
struct outdated {
    std::uint32_t partition = 0;
    std::uint64_t epoch = 0;

    friend bool operator==(const outdated&, const outdated&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_LEASE_GROUP_HPP
