// SPDX-License-Identifier: MIT
//
// race_conformance: of two transactions that meet at one row only one takes effect.
//
// A part of conformance.hpp, for whoever has threads. A store that reads, compares, and then writes
// under a lock it did not have while it read is right in one thread: it refuses whoever would have to
// wait. Here somebody does wait, and the other one commits meanwhile:
//
//     [](auto waits, auto commits) {
//         std::jthread t(waits);
//         std::this_thread::sleep_for(2ms);      // so that it has read, and waits
//         commits();
//     }
//
// Connections must wait for a lock longer than that, and not for ever.

#ifndef WAYBILL_TESTING_RACE_CONFORMANCE_HPP
#define WAYBILL_TESTING_RACE_CONFORMANCE_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/testing/trial.hpp>

namespace waybill::inline v0_1::testing {

namespace detail {

/// Both write(store, transaction, which), in transactions that meet. Who says that his took effect?
template <class S, class Race, class Write>
[[nodiscard]] std::pair<bool, bool> meet(S& s, S& other, Race& race, Write write)
{
    std::pair<bool, bool> won;
    auto mine = s.begin();
    if (!mine || !write(s, *mine, false)) return won;
    race(
        [&] {
            auto theirs = other.begin();
            won.second = theirs && write(other, *theirs, true) && trial::committed(*theirs);
        },
        [&] { won.first = trial::committed(*mine); });
    return won;
}

}  // namespace detail

/// The rules of two that meet; `race(waits, commits)` calls both, the second one a little later.
template <class Make, class Again, class Race>
[[nodiscard]] std::vector<std::string> race_conformance(Make make, Again again, Race race)
{
    using store = std::remove_cvref_t<std::invoke_result_t<Make&>>;
    using transaction = typename store::transaction;
    detail::trial t;
    auto s = make();
    decltype(auto) other = again(s);
    if constexpr (checkpoint_store<store>) {
        std::optional<checkpoint> stored;
        for (std::uint64_t n = 0; n != 20; ++n) {
            // One time nothing is stored yet, and one time something is.
            const partition_key key = detail::key_of("orders", "billing", std::to_string(n / 2));
            if (n % 2 == 0) stored.reset();
            const auto from = stored ? std::optional(stored->at) : std::optional<position>();
            const position to[] = {{10 * n + 5, "first"}, {10 * n + 6, "second"}};
            const auto write = [&](store& on, transaction& tx, bool second) {
                const auto a = on.advance(tx, key, from, to[second ? 1 : 0], 1);
                return a && *a == advance_outcome::applied;
            };
            const auto won = detail::meet(s, other, race, write);
            t.holds(!(won.first && won.second),
                    "of two transactions with the same `from` that meet at most one takes effect");
            if (won.first || won.second) stored = checkpoint{to[won.first ? 0 : 1], 1};
            t.holds(t.stands(s, key, stored),
                    "of two transactions that meet the one that says so took effect");
        }
    }
    if constexpr (dead_letter_queue<store>) {
        for (std::uint64_t n = 0; n != 20; ++n) {
            const partition_key key = detail::key_of("orders", "billing", "0");
            const dead_letter d = detail::letter_of(key, n, "first");
            (void)t.park(s, d);
            const auto won = detail::meet(s, other, race, [&](store& on, transaction& tx, bool) {
                const auto r = on.remove(tx, d.key, d.at.sequence);
                return r && *r;
            });
            t.holds(!(won.first && won.second),
                    "of two transactions that remove the same letter and meet at most one takes effect");
        }
    }
    return std::move(t.broken);
}

}  // namespace waybill::inline v0_1::testing

#endif  // WAYBILL_TESTING_RACE_CONFORMANCE_HPP
