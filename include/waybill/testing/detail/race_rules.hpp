// SPDX-License-Identifier: MIT
//
// race_rules: of two concurrent transactions on one row at most one takes effect.
//
// A part of conformance.hpp.
//
// A store may compare before it has locked the row. Such a store passes all rules in one thread,
// because it refuses the transaction that would have to wait. Here one transaction waits while the
// other one commits.

#ifndef WAYBILL_TESTING_DETAIL_RACE_RULES_HPP
#define WAYBILL_TESTING_DETAIL_RACE_RULES_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <waybill/testing/detail/trial.hpp>
#include <waybill/testing/detail/trial_values.hpp>

namespace waybill::inline v0_2::testing::detail {

/// Calls write(store, transaction, second) in two concurrent transactions. Returns for each whether
/// its commit was applied.
template <class S, class Race, class Write>
[[nodiscard]] std::pair<bool, bool> run_concurrently(S& s, S& other, Race& race, Write write)
{
    std::pair<bool, bool> committed;
    auto mine = s.begin();
    if (!mine || !write(s, *mine, false)) return committed;
    race(
        [&] {
            auto theirs = other.begin();
            committed.second = theirs && write(other, *theirs, true) && trial::committed(*theirs);
        },
        [&] { committed.first = trial::committed(*mine); });
    return committed;
}

/// The number of races for each kind of rows. There are many, because the result of a race depends
/// on chance.
inline constexpr std::uint64_t race_rounds = 20;

template <class S, class Race>
void checkpoint_race_rules(trial& t, S& s, S& other, Race& race)
{
    std::optional<checkpoint> stored;
    for (std::uint64_t n = 0; n != race_rounds; ++n) {
        // Even rounds begin without a stored row, odd rounds with one.
        const partition_key key = key_of("orders", "billing", std::to_string(n / 2));
        if (n % 2 == 0) stored.reset();
        const auto from = stored ? std::optional(stored->at) : std::optional<position>();
        const position to[] = {{10 * n + 5, "first"}, {10 * n + 6, "second"}};
        const auto committed = run_concurrently(
            s, other, race, [&](S& store, typename S::transaction& tx, bool second) {
                const auto a = store.advance(tx, key, from, to[second ? 1 : 0], 1);
                return a && *a == advance_outcome::applied;
            });
        t.holds(!(committed.first && committed.second),
                "two concurrent transactions with the same `from`: at most one takes effect");
        if (committed.first || committed.second)
            stored = checkpoint{to[committed.first ? 0 : 1], 1};
        t.holds(t.checkpoint_is(s, key, stored),
                "two concurrent transactions: the confirmed one takes effect");
    }
}

template <class S, class Race>
void letter_race_rules(trial& t, S& s, S& other, Race& race)
{
    for (std::uint64_t n = 0; n != race_rounds; ++n) {
        const dead_letter d = letter_of(key_of("orders", "billing", "0"), n, "first");
        (void)t.put(s, d);
        const auto committed =
            run_concurrently(s, other, race, [&](S& store, typename S::transaction& tx, bool) {
                const auto r = store.remove(tx, d.key, d.at.sequence);
                return r && *r;
            });
        t.holds(
            !(committed.first && committed.second),
            "two concurrent transactions that remove the same letter: at most one takes effect");
    }
}

/// The rules of two concurrent transactions. `race(waits, commits)` calls both functions, `commits`
/// slightly later.
template <class S, class Race>
void race_rules(trial& t, S& s, S& other, Race& race)
{
    if constexpr (checkpoint_store<S>) checkpoint_race_rules(t, s, other, race);
    if constexpr (dead_letter_queue<S>) letter_race_rules(t, s, other, race);
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_RACE_RULES_HPP
