// SPDX-License-Identifier: MIT
//
// lease_conformance: checks that a store meets the requirements of a `lease_manager`.
//
//     const auto report = waybill::testing::lease_conformance(
//         [&] { return my_leases(new_empty_database()); },      // an empty store at each call
//         [](my_leases& s) { return my_leases(s.path()); },     // a second connection to it
//         [](auto f, auto g) { std::jthread t(f); g(); },       // runs both at the same time
//         [](my_leases& s, const auto& key) { delete_row(s.path(), key); });
//     for (const auto& rule : report.broken) log(rule);         // empty if the store conforms
//     for (const auto& rule : report.untested) log(rule);       // empty if all rules were tried
//
// The last three arguments may be omitted: a second connection, two threads, and a function that
// deletes a row as an administrator may. Their rules are then reported as untested. To omit one
// before another, pass `no_second{}` or `no_race{}`.
//
// `lease_outage_conformance` checks a store that cannot be reached.

#ifndef WAYBILL_TESTING_LEASE_CONFORMANCE_HPP
#define WAYBILL_TESTING_LEASE_CONFORMANCE_HPP

#include <type_traits>
#include <utility>

#include <waybill/lease/lease.hpp>
#include <waybill/testing/conformance_report.hpp>
#include <waybill/testing/detail/bulk_lease_rules.hpp>
#include <waybill/testing/detail/lease_rules.hpp>
#include <waybill/testing/detail/trial.hpp>
#include <waybill/testing/detail/trial_values.hpp>

namespace waybill::inline v0_2::testing {

/// Tries the rules of `list`, `claim`, `heartbeat` and `leave`, and of `renew` and `claim_all` if
/// the store has them. `make()` returns a new, empty store at each call. `again(store)` returns a
/// second connection to it. `race(f, g)` calls both functions, at the same time if possible.
/// `erase(store, key)` deletes the row of a lease.
template <class Make, class Again = no_second, class Race = no_race, class Erase = no_erase>
[[nodiscard]] conformance_report lease_conformance(Make make, Again again = {}, Race race = {},
                                                   Erase erase = {})
{
    using store = std::remove_cvref_t<std::invoke_result_t<Make&>>;
    static_assert(lease_store<store>, "lease_conformance: not a lease store, see lease/lease.hpp");
    detail::trial t;
    const auto on_new = [&](auto rules) {
        auto s = make();
        rules(s);
    };
    on_new([&](store& s) { detail::claim_rules(s, t); });
    on_new([&](store& s) { detail::heartbeat_rules(s, t); });
    on_new([&](store& s) { detail::owner_rules(s, t); });
    on_new([&](store& s) { detail::lease_key_rules(s, t); });
    on_new([&](store& s) { detail::lease_version_rules(s, t); });
    if constexpr (!std::is_same_v<Erase, no_erase>) {
        on_new([&](store& s) { detail::lease_erase_rules(s, t, erase); });
    }
    if constexpr (detail::has_second<Again>) {
        on_new([&](store& s) {
            decltype(auto) other = again(s);
            detail::second_lease_rules(s, other, t);
        });
    }
    if constexpr (waybill::detail::bulk_lease_store<store>) {
        on_new([&](store& s) { detail::renew_rules(s, t); });
        on_new([&](store& s) { detail::claim_all_rules(s, t); });
        if constexpr (!std::is_same_v<Erase, no_erase>)
            on_new([&](store& s) { detail::renew_erase_rules(s, t, erase); });
    }
    detail::lease_race_rules(t, make, again, race);
    if (t.report.broken.empty()) on_new([&](store& s) { detail::lease_page_rules(s, t); });
    else t.untested("list: returns all rows", detail::no_broken_rule);
    detail::untested_lease_rules<store, Again, Race, Erase>(t);
    return std::move(t.report);
}

/// Tries the rules of a store that cannot be reached. Each call must return an error, and neither
/// an empty table nor `contended`.
template <lease_store S>
[[nodiscard]] conformance_report lease_outage_conformance(S& unreachable)
{
    detail::trial t;
    const partition_key key = detail::key_of("orders", "billing", "0");
    const owner_heartbeat p{"orders", "billing", {"a", 1}, 1};
    t.holds(!unreachable.list(key.source, key.group),
            "list: while the store cannot be reached, the result is an error, not an empty table");
    const lease_claim first{.key = key, .owner = {"a", 1}, .epoch = 1};
    const lease_claim renewal{.key = key, .owner = {"a", 1}, .epoch = 1, .expected = 1};
    t.holds(!unreachable.claim(first) && !unreachable.claim(renewal),
            "claim: while the store cannot be reached, the result is an error, not contention");
    t.holds(!unreachable.heartbeat(p),
            "heartbeat: while the store cannot be reached, the result is an error");
    t.holds(!unreachable.leave(p),
            "leave: while the store cannot be reached, the result is an error");
    if constexpr (waybill::detail::bulk_lease_store<S>) {
        t.holds(!unreachable.renew(p, 0),
                "renew: while the store cannot be reached, the result is an error");
        t.holds(!unreachable.claim_all({first}),
                "claim_all: while the store cannot be reached, the result is an error");
    }
    return std::move(t.report);
}

}  // namespace waybill::inline v0_2::testing

#endif  // WAYBILL_TESTING_LEASE_CONFORMANCE_HPP
