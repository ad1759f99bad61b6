// SPDX-License-Identifier: MIT
//
// outage_conformance: checks that a store returns errors if it cannot be reached.
//
// If a store reports an outage as an absent checkpoint, the consumer begins again at the first
// event. If it reports a conflict, the consumer gives up its partition. The second argument makes
// the database unusable:
//
//     const auto report = waybill::testing::outage_conformance(
//         [&] { return my_store(new_empty_database()); },
//         [&](my_store& s) { drop_the_tables_of(s.path()); });
//     for (const auto& rule : report.broken) log(rule);

#ifndef WAYBILL_TESTING_OUTAGE_CONFORMANCE_HPP
#define WAYBILL_TESTING_OUTAGE_CONFORMANCE_HPP

#include <type_traits>
#include <utility>

#include <waybill/testing/conformance_report.hpp>
#include <waybill/testing/detail/outage_rules.hpp>
#include <waybill/testing/detail/trial.hpp>
#include <waybill/testing/detail/trial_values.hpp>

namespace waybill::inline v0_2::testing {

/// Tries the rules of an outage. `make()` returns a new, empty store. `breaks(store)` makes it
/// unreachable after some rows have been written.
template <class Make, class Break>
[[nodiscard]] conformance_report outage_conformance(Make make, Break breaks)
{
    using store = std::remove_cvref_t<std::invoke_result_t<Make&>>;
    detail::trial t;
    const partition_key key = detail::key_of("orders", "billing", "0");
    const position five{5, "5@a"};
    const dead_letter letter = detail::letter_of(key, 1, "first");
    const crash_record row{.from = 17, .to = 100, .suspects = 2, .deaths = 3};

    auto s = make();
    bool ready = true;
    if constexpr (checkpoint_store<store>) ready = t.advance(s, key, {}, five, 1) && ready;
    if constexpr (dead_letter_store<store>) ready = t.put(s, letter) && ready;
    if constexpr (crash_record_store<store>) {
        auto tx = t.open(s);
        ready = tx && s.store_crash_record(*tx, key, row) && t.committed(*tx) && ready;
    }
    t.holds(ready, "a store that can be reached accepts writes");
    breaks(s);
    if constexpr (checkpoint_store<store>) detail::checkpoint_outage_rules(s, t, key, five);
    if constexpr (dead_letter_store<store>) detail::letter_outage_rules(s, t, letter);
    if constexpr (crash_record_store<store>) detail::crash_record_outage_rules(s, t, key, row);
    return std::move(t.report);
}

}  // namespace waybill::inline v0_2::testing

#endif  // WAYBILL_TESTING_OUTAGE_CONFORMANCE_HPP
