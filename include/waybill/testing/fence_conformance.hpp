// SPDX-License-Identifier: MIT
//
// fence_conformance: checks that a lease store meets the requirements of a `fenced_store`.
//
// The store and the leases belong to the same database, which is empty. With a second connection to
// the leases the suite also tries to claim a lease after a transaction has read its epoch:
//
//     const auto report = waybill::testing::fence_conformance(checkpoints, leases, other_leases);
//     for (const auto& rule : report.broken) log(rule);
//
// Without that connection its rules are reported as untested. The suite uses one thread, so the
// second connection must not wait for a lock without limit.

#ifndef WAYBILL_TESTING_FENCE_CONFORMANCE_HPP
#define WAYBILL_TESTING_FENCE_CONFORMANCE_HPP

#include <type_traits>
#include <utility>

#include <waybill/lease/fenced_store.hpp>
#include <waybill/lease/lease.hpp>
#include <waybill/testing/conformance_report.hpp>
#include <waybill/testing/detail/fence_rules.hpp>
#include <waybill/testing/detail/trial.hpp>
#include <waybill/testing/detail/trial_values.hpp>

namespace waybill::inline v0_2::testing {

/// Stands for a missing second connection to the leases. Its rules are reported as untested.
struct no_other_leases {};

/// Tries the rules of `epoch`. `other` is a second connection to the leases. It may be omitted.
template <checkpoint_store Store, class Leases, class Other = no_other_leases>
    requires lease_store<Leases> &&
             waybill::detail::lease_fence<Leases, typename Store::transaction>
[[nodiscard]] conformance_report fence_conformance(Store& store, Leases& leases, Other&& other = {})
{
    detail::trial t;
    const partition_key key = detail::key_of("orders", "billing", "0");
    detail::epoch_read_rules(t, store, leases, key);
    if constexpr (std::is_same_v<std::remove_cvref_t<Other>, no_other_leases>) {
        using rule = detail::fence_rule;
        for (const auto r : {rule::ends, rule::locks, rule::follows}) {
            t.untested(r, "a second connection to the leases");
        }
    } else {
        detail::epoch_lock_rules(t, store, leases, other, detail::neighbours(key).front());
    }
    return std::move(t.report);
}

}  // namespace waybill::inline v0_2::testing

#endif  // WAYBILL_TESTING_FENCE_CONFORMANCE_HPP
