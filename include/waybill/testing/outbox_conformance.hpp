// SPDX-License-Identifier: MIT
//
// outbox_conformance: checks that a store meets the requirements of a relay.
//
//     const auto report = waybill::testing::outbox_conformance(
//         [&] { return my_outbox(new_empty_database()); },     // an empty store at each call
//         [](my_outbox& s) { return my_outbox(s.path()); },    // a second connection to it
//         [](auto f, auto g) { std::jthread t(f); g(); });     // runs both at the same time
//     for (const auto& rule : report.broken) log(rule);        // empty if the store conforms
//     for (const auto& rule : report.untested) log(rule);      // empty if all rules were tried
//
//   1. The store also needs `begin()`, as all stores with transactions (consume/stores.hpp).
//   2. The second connection and the threads may be omitted. Their rules are then reported as
//      untested. With threads but without a second connection, pass `no_second{}`.
//   3. `outbox_outage_conformance` checks a store that cannot be reached.

#ifndef WAYBILL_TESTING_OUTBOX_CONFORMANCE_HPP
#define WAYBILL_TESTING_OUTBOX_CONFORMANCE_HPP

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
/// time if possible.
template <class Make, class Again = no_second, class Race = no_race>
[[nodiscard]] conformance_report outbox_conformance(Make make, Again again = {}, Race race = {})
{
    using store = std::remove_cvref_t<std::invoke_result_t<Make&>>;
    static_assert(outbox_store<store>,
                  "outbox_conformance: not an outbox store, see queue/outbox_store.hpp");
    static_assert(transactional<store>,
                  "outbox_conformance: the store has no begin(), see consume/stores.hpp");
    detail::trial t;
    const auto try_with_new_store = [&](auto rules) {
        auto s = make();
        rules(s, t);
    };
    try_with_new_store(detail::outbox_transaction_rules<store>);
    try_with_new_store(detail::outbox_claim_rules<store>);
    try_with_new_store(detail::outbox_order_rules<store>);
    try_with_new_store(detail::outbox_sent_rules<store>);
    try_with_new_store(detail::outbox_dead_rules<store>);
    try_with_new_store(detail::outbox_hold_rules<store>);
    try_with_new_store(detail::outbox_value_rules<store>);
    if constexpr (detail::has_second<Again>) {
        auto s = make();
        decltype(auto) other = again(s);
        detail::second_outbox_rules<store>(s, other, t);
    }
    constexpr int rounds = 50;  // many, because the result of a race depends on chance
    for (int n = 0; n != rounds; ++n) {
        auto s = make();
        decltype(auto) other = again(s);
        detail::outbox_race<store>(s, other, race, t);
    }
    detail::untested_outbox_rules<Again, Race>(t);
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
