// SPDX-License-Identifier: MIT
//
// race_rules: of two concurrent transactions on one row at most one takes effect.
//
// A part of conformance.hpp. Without threads or a second connection its rules are untested.
//
// A store that compares before it has locked the row passes all rules in one thread, because it
// refuses the transaction that would have to wait. Here one transaction waits while the other one
// commits.

#ifndef WAYBILL_TESTING_DETAIL_RACE_RULES_HPP
#define WAYBILL_TESTING_DETAIL_RACE_RULES_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <waybill/testing/detail/trial.hpp>
#include <waybill/testing/detail/trial_values.hpp>

namespace waybill::inline v0_2::testing::detail {

/// Calls write(store, transaction, second) in two concurrent transactions. Returns for each whether
/// its commit was applied.
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

struct race_rule {
    static constexpr std::string_view one_moves =
        "of two transactions with the same `from` that meet at most one takes effect";
    static constexpr std::string_view mover =
        "of two transactions that meet the one that says so took effect";
    static constexpr std::string_view one_removes =
        "of two transactions that remove the same letter and meet at most one takes effect";
};

template <class S, class Race>
void meet_at_checkpoint(trial& t, S& s, S& other, Race& race)
{
    std::optional<checkpoint> stored;
    for (std::uint64_t n = 0; n != 20; ++n) {
        // Even rounds begin without a stored row, odd rounds with one.
        const partition_key key = key_of("orders", "billing", std::to_string(n / 2));
        if (n % 2 == 0) stored.reset();
        const auto from = stored ? std::optional(stored->at) : std::optional<position>();
        const position to[] = {{10 * n + 5, "first"}, {10 * n + 6, "second"}};
        const auto won = meet(s, other, race, [&](S& on, typename S::transaction& tx, bool second) {
            const auto a = on.advance(tx, key, from, to[second ? 1 : 0], 1);
            return a && *a == advance_outcome::applied;
        });
        t.holds(!(won.first && won.second), race_rule::one_moves);
        if (won.first || won.second) stored = checkpoint{to[won.first ? 0 : 1], 1};
        t.holds(t.stands(s, key, stored), race_rule::mover);
    }
}

template <class S, class Race>
void meet_at_letter(trial& t, S& s, S& other, Race& race)
{
    for (std::uint64_t n = 0; n != 20; ++n) {
        const dead_letter d = letter_of(key_of("orders", "billing", "0"), n, "first");
        (void)t.park(s, d);
        const auto won = meet(s, other, race, [&](S& on, typename S::transaction& tx, bool) {
            const auto r = on.remove(tx, d.key, d.at.sequence);
            return r && *r;
        });
        t.holds(!(won.first && won.second), race_rule::one_removes);
    }
}

/// The rules of two concurrent transactions. `race(waits, commits)` calls both functions, `commits`
/// slightly later.
template <class Make, class Again, class Race>
void race_rules(trial& t, Make& make, Again& again, Race& race)
{
    using store = std::remove_cvref_t<std::invoke_result_t<Make&>>;
    if constexpr (!has_race<Race> || !has_second<Again>) {
        const std::string_view needs = has_second<Again> ? two_threads : threads_and_connections;
        if constexpr (checkpoint_store<store>) t.untested(race_rule::one_moves, needs);
        if constexpr (checkpoint_store<store>) t.untested(race_rule::mover, needs);
        if constexpr (dead_letter_queue<store>) t.untested(race_rule::one_removes, needs);
    } else {
        auto s = make();
        decltype(auto) other = again(s);
        if constexpr (checkpoint_store<store>) meet_at_checkpoint<store>(t, s, other, race);
        if constexpr (dead_letter_queue<store>) meet_at_letter<store>(t, s, other, race);
    }
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_RACE_RULES_HPP
