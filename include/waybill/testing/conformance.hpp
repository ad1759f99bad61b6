// SPDX-License-Identifier: MIT
//
// conformance: checks that a store meets the requirements of `process_batch`.
//
// The concepts of consume/stores.hpp check which calls a store has. This suite checks the effects:
//
//     const auto report = waybill::testing::conformance(
//         [&] { return my_store(new_empty_database()); },  // a new, empty store at each call
//         [](my_store& s) { return my_store(s.path()); },  // a second connection to that store
//         race);                                           // two threads, see below
//     for (const auto& rule : report.broken) log("broken: " + rule);
//     for (const auto& rule : report.untested) log("untested: " + rule);
//
//   1. Call it in a test of any framework. It creates about thirty stores, one after the other. The
//      rules are tried with one connection, with two in turn, and with a new one for each call.
//   2. Only `race` uses threads. In all other rules a connection must not wait for a lock without
//      limit; it may return an error. A lock timeout of 20 ms keeps the suite fast.
//   3. The store conforms if `broken` is empty. A rule names a call or an end of a transaction, and
//      its effect on a row. Begin with the first rule: one mistake may break several.
//   4. `untested` contains the rules that were not tried, and what they need: a second connection,
//      or two threads. The store may break any of them.

#ifndef WAYBILL_TESTING_CONFORMANCE_HPP
#define WAYBILL_TESTING_CONFORMANCE_HPP

#include <type_traits>
#include <utility>

#include <waybill/consume/process_batch.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/testing/conformance_report.hpp>
#include <waybill/testing/detail/store_trial.hpp>
#include <waybill/testing/detail/trial.hpp>

namespace waybill::inline v0_2::testing {

/// Tries all rules that apply to a store. `make()` returns a new, empty store at each call.
/// `again(store)` returns a second connection to the same store. If a store may be shared, `again`
/// returns a reference to it. outage_conformance.hpp checks a store that cannot be reached.
///
/// `race(waits, commits)` calls both functions at the same time, `commits` after a short delay. One
/// transaction waits while the other one commits. The lock timeout of both connections must be
/// finite and longer than the delay:
///
///     [](auto waits, auto commits) {
///         std::jthread t(waits);
///         std::this_thread::sleep_for(2ms);      // until it has read and waits
///         commits();
///     }
template <class Make, class Again = no_second, class Race = no_race>
[[nodiscard]] conformance_report conformance(Make make, Again again = {}, Race race = {})
{
    using store = std::remove_cvref_t<std::invoke_result_t<Make&>>;
    static_assert(waybill::detail::checked_transactions<store>::begins);
    static_assert(checkpoint_store<store> || dead_letter_store<store> || crash_record_store<store>,
                  "conformance: the store has neither checkpoints, crash records nor dead letters, "
                  "see consume/stores.hpp");
    using trial = detail::store_trial<Make, Again, Race>;
    constexpr bool two = detail::has_second<Again>;
    constexpr bool threads = detail::has_race<Race>;
    const auto rules = detail::store_rules<trial>(
        two ? "" : detail::second_connection,
        two && threads ? "" : (two ? detail::two_threads : detail::threads_and_connections));
    detail::trial t;
    using detail::way;
    const auto ways = {way::plain, way::alternating, way::reopened};
    detail::run_rules<Again>(t, rules, ways, [&](way how, auto body) {
        trial x(make, again, race, how, t);
        body(x);
    });
    return std::move(t.report);
}

}  // namespace waybill::inline v0_2::testing

#endif  // WAYBILL_TESTING_CONFORMANCE_HPP
