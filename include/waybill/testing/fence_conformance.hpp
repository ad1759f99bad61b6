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
#include <vector>

#include <waybill/lease/fenced_store.hpp>
#include <waybill/lease/lease.hpp>
#include <waybill/testing/conformance_report.hpp>
#include <waybill/testing/detail/fence_rules.hpp>
#include <waybill/testing/detail/trial.hpp>

namespace waybill::inline v0_2::testing {

/// Tries the rules of `epoch`. `other` is a second connection to the leases. It may be omitted.
template <checkpoint_store Store, class Leases, class Other = detail::no_other_leases>
    requires lease_store<Leases> &&
             waybill::detail::lease_fence<Leases, typename Store::transaction>
[[nodiscard]] conformance_report fence_conformance(Store& store, Leases& leases, Other&& other = {})
{
    using other_leases = std::remove_reference_t<Other>;
    using trial = detail::fence_trial<Store, Leases, other_leases>;
    constexpr bool two = !std::is_same_v<other_leases, detail::no_other_leases>;
    std::vector<detail::rule<trial>> rules{
        {"epoch: returns that of the last claim", detail::epoch_read_rules}};
    if constexpr (two) rules.push_back({detail::fence_locks, detail::epoch_lock_rules});
    else rules.push_back({detail::fence_locks, {}, "a second connection to the leases"});
    rules.push_back({"epoch: keys are compared", detail::epoch_key_rules, "", 0, true});
    detail::trial t;
    detail::run_rules<no_second>(t, rules, {detail::way::plain}, [&](detail::way, auto body) {
        trial x{store, leases, other, t};
        body(x);
    });
    return std::move(t.report);
}

}  // namespace waybill::inline v0_2::testing

#endif  // WAYBILL_TESTING_FENCE_CONFORMANCE_HPP
