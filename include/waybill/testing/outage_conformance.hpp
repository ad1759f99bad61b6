// SPDX-License-Identifier: MIT
//
// outage_conformance: what a store answers that cannot be reached any more.
//
// Whoever takes an outage for an absent checkpoint begins again at the first event, and whoever takes
// it for a conflict gives his partition up. It is tried apart from conformance.hpp, with a function
// that takes away what the store stands on:
//
//     auto broken = waybill::testing::outage_conformance(
//         [&] { return my_store(new_empty_database()); },
//         [&](my_store& s) { drop_the_tables_of(s.path()); });
//     for (const auto& rule : broken) log(rule);

#ifndef WAYBILL_TESTING_OUTAGE_CONFORMANCE_HPP
#define WAYBILL_TESTING_OUTAGE_CONFORMANCE_HPP

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/testing/trial.hpp>

namespace waybill::inline v0_1::testing {

/// The rules for a store that worked, and does not after `breaks(store)`.
template <class Make, class Break>
[[nodiscard]] std::vector<std::string> outage_conformance(Make make, Break breaks)
{
    using store = std::remove_cvref_t<std::invoke_result_t<Make&>>;
    detail::trial t;
    const partition_key key = detail::key_of("orders", "billing", "0");
    const partition_key unknown = detail::key_of("orders", "billing", "1");
    const position five{5, "5@a"};
    const position nine{9, "9@a"};
    const dead_letter a = detail::letter_of(key, 1, "first");
    const attempt row{17, 100, 2, 3};

    auto s = make();
    bool ready = true;
    if constexpr (checkpoint_store<store>) ready = t.set(s, key, {}, five, 1) && ready;
    if constexpr (dead_letter_store<store>) ready = t.park(s, a) && ready;
    if constexpr (attempt_store<store>) {
        auto tx = t.open(s);
        ready = tx && s.note(*tx, key, row) && t.committed(*tx) && ready;
    }
    t.holds(ready, "a store that can be reached takes what is written");
    breaks(s);

    // A write may be an error at once or at its commit; an answer has to be one at once.
    const auto never = [&](auto write) {
        auto tx = s.begin();
        return !tx || !write(*tx) || !t.committed(*tx);
    };
    if constexpr (checkpoint_store<store>) {
        t.holds(!s.load(key) && !s.load(unknown),
                "load: a store that cannot be reached is an error, not an absent checkpoint");
        for (const std::optional<position>& from : {std::optional(five), std::optional<position>()}) {
            bool answered = false;
            const bool refused = never([&](auto& tx) {
                const auto r = s.advance(tx, key, from, nine, 1);
                answered = answered || (r && *r != advance_outcome::applied);
                return r.has_value();
            });
            t.holds(!answered,
                    "advance: a store that cannot be reached is an error, not a conflict");
            t.holds(refused, "advance: is not committed to a store that cannot be reached");
        }
    }
    if constexpr (dead_letter_store<store>) {
        t.holds(!s.find(key, 1) && !s.find(key, 2),
                "find: a store that cannot be reached is an error, not an absent letter");
        t.holds(never([&](auto& tx) { return s.put(tx, a).has_value(); }),
                "put: is not committed to a store that cannot be reached");
    }
    if constexpr (dead_letter_queue<store>) {
        t.holds(!s.list(key, {}, 10),
                "list: a store that cannot be reached is an error, and not empty");
        bool answered = false;
        const bool refused = never([&](auto& tx) {
            const auto r = s.remove(tx, key, 1);
            answered = r && !*r;
            return r.has_value();
        });
        t.holds(!answered,
                "remove: a store that cannot be reached is an error, not an absent letter");
        t.holds(refused, "remove: is not committed to a store that cannot be reached");
    }
    if constexpr (attempt_store<store>) {
        t.holds(!s.attempted(key) && !s.attempted(unknown),
                "attempted: a store that cannot be reached is an error, not an absent row");
        t.holds(never([&](auto& tx) { return s.note(tx, key, row).has_value(); }) &&
                    never([&](auto& tx) { return s.forget(tx, key).has_value(); }),
                "note and forget: are not committed to a store that cannot be reached");
    }
    return std::move(t.broken);
}

}  // namespace waybill::inline v0_1::testing

#endif  // WAYBILL_TESTING_OUTAGE_CONFORMANCE_HPP
