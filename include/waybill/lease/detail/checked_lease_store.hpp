// SPDX-License-Identifier: MIT
//
// checked_lease_store: does not compile for a lease store without a required call; the error names
// the call.

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
    static constexpr bool has_list = requires(S& s, const std::string& name) {
        { s.list(name, name) } -> std::same_as<result<lease_table>>;
    };
    static constexpr bool has_claim = requires(S& s, const lease_claim& c) {
        { s.claim(c) } -> std::same_as<result<claim_result>>;
    };
    static constexpr bool has_heartbeat = requires(S& s, const owner_heartbeat& p) {
        { s.heartbeat(p) } -> std::same_as<result<void>>;
    };
    static constexpr bool has_leave = requires(S& s, const owner_heartbeat& p) {
        { s.leave(p) } -> std::same_as<result<void>>;
    };

    static_assert(has_list, "lease store: list(source, group) must exist and return "
                            "result<lease_table>");
    static_assert(has_claim, "lease store: claim(lease_claim) must exist and return "
                             "result<claim_result>");
    static_assert(has_heartbeat, "lease store: heartbeat(owner_heartbeat) must exist and return "
                                 "result<void>");
    static_assert(has_leave, "lease store: leave(owner_heartbeat) must exist and return "
                             "result<void>");
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_LEASE_DETAIL_CHECKED_LEASE_STORE_HPP
