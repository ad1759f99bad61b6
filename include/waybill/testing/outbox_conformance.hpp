// SPDX-License-Identifier: MIT
//
// outbox_conformance: checks that a store meets the requirements of a relay.
//
//     const auto report = waybill::testing::outbox_conformance(
//         [&] { return my_outbox(new_empty_database()); },     // an empty store at each call
//         [](my_outbox& s) { return my_outbox(s.path()); },    // a second connection to it
//         [](auto f, auto g) { std::jthread t(f); g(); },      // runs both at the same time
//         [](my_outbox& s) { return s.reasons(); },            // the texts of dead rows
//         {.longest_id = 128});                                // the limits of the store
//     for (const auto& rule : report.broken) log(rule);        // empty if the store conforms
//     for (const auto& rule : report.untested) log(rule);      // empty if all rules were tried
//
//   1. The store also needs `begin()`, as all stores with transactions (consume/stores.hpp).
//   2. The arguments after the first one may be omitted. Their rules are then reported as untested.
//      With threads but without a second connection, pass `no_second{}`.
//   3. All rules are tried with one connection, with two connections in turn, with a new connection
//      for each call, and with two calls instead of one, as after a lost result.
//   4. Values outside the limits must be stored unchanged, or be errors with a text.
//   5. `outbox_outage_conformance` checks a store that cannot be reached.

#ifndef WAYBILL_TESTING_OUTBOX_CONFORMANCE_HPP
#define WAYBILL_TESTING_OUTBOX_CONFORMANCE_HPP

#include <string_view>
#include <type_traits>
#include <utility>

#include <waybill/consume/stores.hpp>
#include <waybill/queue/outbox_store.hpp>
#include <waybill/testing/conformance_report.hpp>
#include <waybill/testing/detail/outbox_rules.hpp>
#include <waybill/testing/detail/trial.hpp>

namespace waybill::inline v0_2::testing {

/// Tries the rules of queue/outbox_store.hpp. `make()` returns a new, empty store at each call.
/// `again(store)` returns a second connection to it. `race(f, g)` calls both functions, at the same
/// time if possible. `reasons(store)` returns the reasons of all dead rows, a range of strings.
template <class Make, class Again = no_second, class Race = no_race, class Reasons = no_reasons>
[[nodiscard]] conformance_report outbox_conformance(Make make, Again again = {}, Race race = {},
                                                    Reasons reasons = {},
                                                    const store_limits& limits = {})
{
    using store = std::remove_cvref_t<std::invoke_result_t<Make&>>;
    static_assert(outbox_store<store>,
                  "outbox_conformance: not an outbox store, see queue/outbox_store.hpp");
    static_assert(transactional<store>,
                  "outbox_conformance: the store has no begin(), see consume/stores.hpp");
    using trial = detail::outbox_trial<Make, Again, Race, Reasons>;
    using std::string_view;
    constexpr string_view two = detail::has_second<Again> ? "" : detail::second_connection;
    constexpr string_view threads = detail::has_race<Race> ? "" : detail::threads_and_connections;
    constexpr string_view texts = std::is_same_v<Reasons, no_reasons> ? detail::stored_reasons : "";
    const detail::rule<trial> rules[] = {
        {"add: takes effect with the commit", detail::outbox_transaction_rules},
        {"claim: claims exclude each other until their time", detail::outbox_claim_rules},
        {"claim: rows of a key are in one claim", detail::outbox_order_rules},
        {"mark_sent: removes the rows of the list", detail::outbox_sent_rules},
        {"mark_dead: the row is not claimed again", detail::outbox_dead_rules},
        {"hold: sets the time of the rows", detail::outbox_hold_rules},
        {"claim: keys, ids and bodies are unchanged", detail::outbox_value_rules},
        {"add: values outside the limits are errors", detail::outbox_limit_rules},
        {"claim: contains all rows", detail::outbox_page_rules},
        {"claim: numbers have 64 bits", detail::outbox_number_rules},
        {detail::outbox_reasons, detail::outbox_reason_rules, texts},
        {detail::outbox_two_transactions, detail::outbox_open_transactions_rules, two, 1},
        {detail::outbox_one_claims, detail::outbox_race, threads, 50}};
    detail::trial t;
    using detail::way;
    const auto ways = {way::plain, way::repeated, way::alternating, way::reopened};
    detail::run_rules<Again>(t, rules, ways, [&](way how, auto body) {
        trial x(make, again, race, reasons, limits, how, t);
        body(x);
    });
    return std::move(t.report);
}

/// Tries a store that cannot be reached: each call must return an error. `claimed` is any claim.
template <outbox_store S>
[[nodiscard]] conformance_report outbox_outage_conformance(
    S& unreachable, const typename S::claimed_rows& claimed = {})
{
    detail::trial t;
    t.holds(!unreachable.claim(1, wall_time{}, wall_time{}),
            "claim: while the store cannot be reached, the result is an error, and not empty");
    const auto held = unreachable.hold(claimed, {0}, wall_time{});
    t.holds(!held && held.error().kind != fault_kind::ownership_lost,
            "hold: while the store cannot be reached, the result is an error, and not "
            "ownership_lost");
    t.holds(!unreachable.mark_sent(claimed, {0}),
            "mark_sent: while the store cannot be reached, the result is an error");
    t.holds(!unreachable.mark_dead(claimed, 0, "refused", false),
            "mark_dead: while the store cannot be reached, the result is an error");
    return std::move(t.report);
}

}  // namespace waybill::inline v0_2::testing

#endif  // WAYBILL_TESTING_OUTBOX_CONFORMANCE_HPP
