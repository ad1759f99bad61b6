// SPDX-License-Identifier: MIT
//
// session_conformance: checks that a store meets the requirements of a pipeline.
//
//     const auto report = waybill::testing::session_conformance(
//         [&] { return my_sessions(new_empty_database()); },       // an empty store at each call
//         [](my_sessions& s) { return my_sessions(s.path()); },    // a second connection to it
//         [](auto f, auto g) { std::jthread t(f); g(); });         // runs both at the same time
//     for (const auto& rule : report.broken) log(rule);            // empty if the store conforms
//     for (const auto& rule : report.untested) log(rule);          // empty if all rules were tried
//
//   1. The second connection and the threads may be omitted. Their rules are then reported as
//      untested. With threads but without a second connection, pass `no_second{}`.
//   2. The fourth argument is the `state_budget` of the pipelines, if it is not the default. The
//      store must accept states of that size.
//   3. `session_outage_conformance` checks a store that cannot be reached.

#ifndef WAYBILL_TESTING_SESSION_CONFORMANCE_HPP
#define WAYBILL_TESTING_SESSION_CONFORMANCE_HPP

#include <string>
#include <type_traits>
#include <utility>

#include <waybill/session/session_store.hpp>
#include <waybill/session/state_budget.hpp>
#include <waybill/testing/conformance_report.hpp>
#include <waybill/testing/detail/session_rules.hpp>
#include <waybill/testing/detail/trial.hpp>
#include <waybill/testing/detail/trial_values.hpp>

namespace waybill::inline v0_2::testing {

/// Tries the rules of `load`, `save` and `clear`. `make()` returns a new, empty store at each call.
/// `again(store)` returns a second connection to it. `race(f, g)` calls both functions, at the same
/// time if possible. The largest state has `budget.bytes` bytes.
template <class Make, class Again = no_second, class Race = no_race>
[[nodiscard]] conformance_report session_conformance(Make make, Again again = {}, Race race = {},
                                                     const state_budget& budget = {})
{
    using store = std::remove_cvref_t<std::invoke_result_t<Make&>>;
    static_assert(session_store<store>,
                  "session_conformance: not a session store, see session/session_store.hpp");
    using calls = detail::session_calls<Make, Again, Race>;
    const detail::rule<calls> rules[] = {
        {"save, clear: compare the version", detail::session_rules},
        {"save: keeps any bytes", detail::session_bytes_rules},
        {"save: keeps states of all sizes", detail::session_size_rules},
        {"states of different sessions are independent", detail::session_id_rules},
        {detail::session_one_saves, detail::session_race,
         detail::has_race<Race> ? "" : detail::two_threads, 50}};
    using detail::way;
    const auto ways = {way::plain, way::alternating, way::reopened};
    detail::trial t;
    detail::run_rules<Again>(t, rules, ways, [&](way how, auto body) {
        calls x(make, again, how, race, budget.bytes, t);
        body(x);
    });
    return std::move(t.report);
}

/// Tries the rules of a store that cannot be reached. Each call must return an error of the kind
/// `transient` or `infrastructure`. `version` is any value that `save` and `clear` may expect.
template <session_store S>
[[nodiscard]] conformance_report session_outage_conformance(S& unreachable,
                                                            const typename S::version& version = {})
{
    detail::trial t;
    const std::string id = "order-17";
    const auto loaded = unreachable.load(id);
    const auto made = unreachable.save(id, "bytes", {});
    const auto saved = unreachable.save(id, "bytes", version);
    const auto cleared = unreachable.clear(id, version);
    t.holds(!loaded,
            "load: while the store cannot be reached, the result is an error, not absence");
    t.holds(!made && !saved,
            "save: while the store cannot be reached, the result is an error, not a conflict");
    t.holds(!cleared,
            "clear: while the store cannot be reached, the result is an error, not a conflict");
    t.holds(detail::is_temporary(loaded) && detail::is_temporary(made) &&
                detail::is_temporary(saved) && detail::is_temporary(cleared),
            "load, save, clear: a store that cannot be reached is infrastructure or transient; "
            "none means success, permanent a refused step, ownership_lost a lost session");
    return std::move(t.report);
}

}  // namespace waybill::inline v0_2::testing

#endif  // WAYBILL_TESTING_SESSION_CONFORMANCE_HPP
