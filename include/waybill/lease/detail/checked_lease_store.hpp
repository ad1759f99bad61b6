// SPDX-License-Identifier: MIT
//
// checked_lease_store: does not compile for a lease store without a required call; the error names
// the call.

#ifndef WAYBILL_LEASE_DETAIL_CHECKED_LEASE_STORE_HPP
#define WAYBILL_LEASE_DETAIL_CHECKED_LEASE_STORE_HPP

#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include <waybill/core/result.hpp>
#include <waybill/lease/lease.hpp>

namespace waybill::inline v0_2::detail {

template <class S>
struct checked_lease_store {
    static constexpr bool ok = lease_store<S>;
    static constexpr bool has_list = requires(S& s, const std::string& name) {
        { s.list(name, name) } -> std::same_as<result<lease_table>>;
    };
    static constexpr bool has_claim = requires(S& s, const lease_claim& c) {
        { s.claim(c) } -> std::same_as<result<lease_claim::result>>;
    };
    static constexpr bool has_heartbeat = requires(S& s, const owner_heartbeat& p) {
        { s.heartbeat(p) } -> std::same_as<result<void>>;
    };
    static constexpr bool has_leave = requires(S& s, const owner_heartbeat& p) {
        { s.leave(p) } -> std::same_as<result<void>>;
    };

    // One of the two without the other, or with another result, would not be used.
    static constexpr bool has_renew =
        requires(S& s, const owner_heartbeat& own) { s.renew(own, std::uint64_t{}); };
    static constexpr bool has_claim_all =
        requires(S& s, const std::vector<lease_claim>& claims) { s.claim_all(claims); };

    static_assert(has_list,
                  "lease store: list(source, group) must exist and return "
                  "result<lease_table>");
    static_assert(has_claim,
                  "lease store: claim(lease_claim) must exist and return "
                  "result<lease_claim::result>");
    static_assert(has_heartbeat,
                  "lease store: heartbeat(owner_heartbeat) must exist and return "
                  "result<void>");
    static_assert(has_leave,
                  "lease store: leave(owner_heartbeat) must exist and return "
                  "result<void>");
    static_assert((!has_renew && !has_claim_all) || bulk_lease_store<S>,
                  "lease store: renew(owner_heartbeat, version) must return result<lease_table>, "
                  "and claim_all(std::vector<lease_claim>) must return "
                  "result<std::vector<lease_claim::result>>; both must exist, or none");
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_LEASE_DETAIL_CHECKED_LEASE_STORE_HPP
