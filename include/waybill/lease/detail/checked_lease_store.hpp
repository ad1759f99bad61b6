// SPDX-License-Identifier: MIT
//
// checked_lease_store: refuses a lease_store without a required call, with one sentence for each.

#ifndef WAYBILL_LEASE_DETAIL_CHECKED_LEASE_STORE_HPP
#define WAYBILL_LEASE_DETAIL_CHECKED_LEASE_STORE_HPP

#include <concepts>
#include <string>

#include <waybill/core/result.hpp>
#include <waybill/lease/lease.hpp>

namespace waybill::inline v0_2::detail {

template <class S>
struct checked_lease_store {
    static constexpr bool ok = lease_store<S>;
    static constexpr bool lists = requires(S& s, const std::string& name) {
        { s.list(name, name) } -> std::same_as<result<lease_table>>;
    };
    static constexpr bool claims = requires(S& s, const lease_claim& c) {
        { s.claim(c) } -> std::same_as<result<claim_result>>;
    };
    static constexpr bool beats = requires(S& s, const owner_heartbeat& p) {
        { s.heartbeat(p) } -> std::same_as<result<void>>;
    };
    static constexpr bool leaves = requires(S& s, const owner_heartbeat& p) {
        { s.leave(p) } -> std::same_as<result<void>>;
    };

    static_assert(lists, "lease store: list(source, group) must exist and return "
                         "result<lease_table>");
    static_assert(claims, "lease store: claim(lease_claim) must exist and return "
                          "result<claim_result>");
    static_assert(beats, "lease store: heartbeat(owner_heartbeat) must exist and return "
                         "result<void>");
    static_assert(leaves, "lease store: leave(owner_heartbeat) must exist and return "
                          "result<void>");
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_LEASE_DETAIL_CHECKED_LEASE_STORE_HPP
