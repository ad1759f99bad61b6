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
// before another, pass `no_second{}` or `no_race{}`. All rules are tried with one connection, with
// two in turn, with a new one for each call, and with two heartbeats instead of one.
//
// `lease_outage_conformance` checks a store that cannot be reached.

#ifndef WAYBILL_TESTING_LEASE_CONFORMANCE_HPP
#define WAYBILL_TESTING_LEASE_CONFORMANCE_HPP

#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

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
    using trial = detail::lease_trial<Make, Again, Race, Erase>;
    using std::string_view;
    constexpr string_view deletes =
        std::is_same_v<Erase, no_erase> ? "rows that are deleted by hand" : "";
    constexpr string_view threads = detail::has_race<Race> ? "" : detail::two_threads;
    std::vector<detail::rule<trial>> rules{
        {"claim: compares the version", detail::claim_rules},
        {"heartbeat: writes the row of an owner", detail::heartbeat_rules},
        {"heartbeat: names are compared byte for byte", detail::owner_rules},
        {"heartbeat: numbers have 64 bits", detail::heartbeat_number_rules},
        {"claim: keys are compared byte for byte", detail::lease_key_rules},
        {"claim: versions of a lease are its own", detail::lease_version_rules},
        {detail::lease_rule::deleted, detail::lease_erase_rules, deletes}};
    if constexpr (trial::is_bulk) {
        rules.push_back({"renew: returns the changes", detail::renew_rules});
        rules.push_back({"claim_all: makes all claims", detail::claim_all_rules});
        rules.push_back(
            {"renew: is complete after a deletion", detail::renew_erase_rules, deletes});
    }
    rules.push_back({detail::lease_rule::odd_names, detail::lease_odd_name_rules, "", 0, true});
    rules.push_back({"list: returns all rows", detail::lease_page_rules, "", 1, true});
    rules.push_back({detail::lease_rule::one, detail::lease_race_rules, threads, 50});
    detail::trial t;
    using detail::way;
    const auto ways = {way::plain, way::repeated, way::alternating, way::reopened};
    detail::run_rules<Again>(t, rules, ways, [&](way how, auto body) {
        trial x(make, again, race, erase, how, t);
        body(x);
    });
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
