// SPDX-License-Identifier: MIT
//
// conformance: does a store do what `process_batch` relies on?
//
// The concepts say which calls a store has; this says what they have to do, and tries it out. It
// stands on no test framework: the answer is the list of rules that do not hold, in plain words.
//
//     auto broken = waybill::testing::conformance(
//         [&] { return my_store(new_empty_database()); },       // a store in which nothing is
//         [&](my_store& s) { return my_store(s.path()); },      // a second connection to the same one
//         race);                                                // see race_conformance.hpp
//     for (const auto& rule : broken) log(rule);                // nothing: it conforms
//
// With the second connection it also finds out what others see of an open transaction, and what
// happens when two owners race; a store that can be shared answers with itself. All but the third
// argument is done in one thread, so a store must not wait for ever for a lock: an error is a good
// answer there. What a store does that is down is tried by outage_conformance.hpp.

#ifndef WAYBILL_TESTING_CONFORMANCE_HPP
#define WAYBILL_TESTING_CONFORMANCE_HPP

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/consume/stores.hpp>
#include <waybill/testing/attempt_conformance.hpp>
#include <waybill/testing/checkpoint_conformance.hpp>
#include <waybill/testing/dead_letter_conformance.hpp>
#include <waybill/testing/letter_queue_conformance.hpp>
#include <waybill/testing/race_conformance.hpp>
#include <waybill/testing/trial.hpp>

namespace waybill::inline v0_1::testing {

/// All rules that apply to the store that make() answers with, an empty one each time it is called.
/// `again(store)` answers with a second connection to the same store, or with a reference to it, and
/// `race(waits, commits)` calls both at the same time.
template <class Make, class Again = no_second, class Race = in_turn>
[[nodiscard]] std::vector<std::string> conformance(Make make, Again again = {}, Race race = {})
{
    using store = std::remove_cvref_t<std::invoke_result_t<Make&>>;
    static_assert(checkpoint_store<store> || dead_letter_store<store> || attempt_store<store>,
                  "conformance: the store has neither checkpoints, attempts nor dead letters, see "
                  "consume/stores.hpp");
    std::vector<std::string> broken;
    const auto add = [&](std::vector<std::string> rules) {
        for (std::string& rule : rules) broken.push_back(std::move(rule));
    };
    if constexpr (checkpoint_store<store>) add(checkpoint_conformance(make, again));
    if constexpr (dead_letter_store<store>) add(dead_letter_conformance(make, again));
    if constexpr (dead_letter_queue<store>) add(letter_queue_conformance(make, again));
    if constexpr (attempt_store<store>) add(attempt_conformance(make, again));
    if constexpr (!std::is_same_v<Race, in_turn>) add(race_conformance(make, again, race));
    return broken;
}

}  // namespace waybill::inline v0_1::testing

#endif  // WAYBILL_TESTING_CONFORMANCE_HPP
