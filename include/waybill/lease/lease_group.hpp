// SPDX-License-Identifier: MIT
//
// lease_group: the partitions that owners share, and this owner.

#ifndef WAYBILL_LEASE_LEASE_GROUP_HPP
#define WAYBILL_LEASE_LEASE_GROUP_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <waybill/core/config_error.hpp>
#include <waybill/lease/lease.hpp>

namespace waybill::inline v0_2 {

/// The shared partitions, and this owner.
struct lease_group {
    std::string source{};
    std::string group{};
    /// All partitions, with different names, numbered from 0.
    std::vector<std::string> partitions{};
    /// This process. Differs from all live owners: draw a random incarnation at the start.
    owner_id self{};
    /// An interval of 0 or less counts as 10 s; an expiry below three intervals counts as three
    /// intervals.
    lease_options leases{};

    friend bool operator==(const lease_group&, const lease_group&) = default;
};

/// The first error of `g`: an empty owner name, a partition name that occurs twice, or invalid
/// lease options.
[[nodiscard]] inline std::optional<config_error> validate(const lease_group& g)
{
    if (g.self.none()) return config_error{"group.self.name", 0, "bytes must be at least", 1};
    std::map<std::string, std::uint32_t> numbers;
    for (std::uint32_t p = 0; p != g.partitions.size(); ++p) {
        const auto [other, is_new] = numbers.emplace(g.partitions[p], p);
        if (is_new) continue;
        return config_error{"group.partitions", p, "must not have the same key as partition",
                            other->second};
    }
    return validate(g.leases);
}

namespace detail {

/// The key of a partition. An unknown partition has an empty name.
[[nodiscard]] inline partition_key key_of(const lease_group& g, std::uint32_t partition)
{
    const bool known = partition < g.partitions.size();
    return {g.source, g.group, known ? g.partitions[partition] : std::string()};
}

/// The group with valid lease options. With options that `validate` refuses, a manager would call
/// the store without end, or never trust a lease.
[[nodiscard]] inline lease_group usable(lease_group g)
{
    lease_options& o = g.leases;
    if (o.interval <= duration{}) o.interval = lease_options{}.interval;
    o.expiry = greater(o.expiry, o.interval + o.interval + o.interval);
    if (o.max_moves == 0) o.max_moves = 1;
    return g;
}

}  // namespace detail

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_LEASE_LEASE_GROUP_HPP
