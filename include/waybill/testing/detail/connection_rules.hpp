// SPDX-License-Identifier: MIT
//
// connection_rules: the rules of two connections to one store.
//
// A part of conformance.hpp.

#ifndef WAYBILL_TESTING_DETAIL_CONNECTION_RULES_HPP
#define WAYBILL_TESTING_DETAIL_CONNECTION_RULES_HPP

#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <waybill/testing/detail/stored_rows.hpp>
#include <waybill/testing/detail/trial.hpp>
#include <waybill/testing/detail/trial_values.hpp>

namespace waybill::inline v0_2::testing::detail {

/// A read during the transaction may fail: a store may let the reader wait, and end the wait with
/// an error.
template <class S, class Other>
void visibility_rules(trial& t, S& s, Other& other)
{
    for_each_change<S>("seen", [&]<class Row>(const change<Row>& c) {
        bool done = !c.from || commit_write<Row>(t, s, c.key, {}, c.from);
        done = row_is(other, c.key, c.from) && done;  // a cache of `other` has the row from now on
        if (auto tx = t.open(s)) {
            done = rows_of<Row>::write(s, *tx, c.key, c.from, c.to) && done;
            const auto seen = rows_of<Row>::read(other, c.key);
            t.holds(!seen || (*seen == c.from && lists_only(other, c.key, c.from)),
                    std::string("before the commit a second connection does not see ") +
                        std::string(c.name));
            done = t.committed(*tx) && done;
        }
        t.holds(done && row_is(other, c.key, c.to),
                std::string("after the commit a second connection sees ") + std::string(c.name));
    });
}

/// Opens a transaction on each connection, calls write(store, transaction, second) in both and
/// commits both. If `second_first`, the second one is committed first. Returns for each whether its
/// commit was applied.
template <class S, class Other, class Write>
[[nodiscard]] std::pair<bool, bool> run_both(S& s, Other& other, bool second_first, Write write)
{
    std::pair<bool, bool> committed;
    auto mine = s.begin();
    const bool ready = mine && write(s, *mine, false);
    auto theirs = other.begin();
    const bool theirs_ready = theirs && write(other, *theirs, true);
    if (second_first && theirs_ready) committed.second = trial::committed(*theirs);
    if (ready) committed.first = trial::committed(*mine);
    if (!second_first && theirs_ready) committed.second = trial::committed(*theirs);
    return committed;
}

/// Two transactions write under different keys. A store that writes back everything it has read
/// loses one of the writes.
template <class Row, class S, class Other>
void different_keys(trial& t, S& s, Other& other)
{
    using rows = rows_of<Row>;
    for (const bool second_first : {false, true}) {
        const auto key = [&](bool second) {
            return key_of(second_first ? "apart" : "aside", std::string(rows::plural),
                          second ? "1" : "0");
        };
        const auto row = [&](bool second) { return std::optional(rows::make(key(second), 1)); };
        const auto committed =
            run_both(s, other, second_first, [&](auto& store, auto& tx, bool second) {
                return rows::write(store, tx, key(second), {}, row(second));
            });
        const auto absent = std::optional<Row>();
        t.holds(
            row_is(s, key(false), committed.first ? row(false) : absent) &&
                row_is(s, key(true), committed.second ? row(true) : absent),
            std::string("two transactions on different keys: each confirmed one takes effect: ") +
                std::string(rows::plural));
    }
}

/// A connection must compare with the rows that the other one has committed, not with a cache.
template <class S, class Other>
void stale_connection_rules(trial& t, S& s, Other& other)
{
    const partition_key key = key_of("orders", "billing", "0");
    const position five{5, "5@a"};
    const position nine{9, "9@a"};
    const position twelve{12, "12@a"};
    (void)t.advance(s, key, {}, five, 1);
    const bool seen =
        t.checkpoint_is(s, key, checkpoint{five, 1}) && t.advance(other, key, five, nine, 1);
    t.holds(
        seen && !t.advance(s, key, five, twelve, 1) && t.checkpoint_is(s, key, checkpoint{nine, 1}),
        "advance: a later commit of another connection is a conflict");
    const bool later = t.advance(other, key, nine, five, 3);
    t.holds(later && !t.advance(s, key, five, twelve, 2) &&
                t.checkpoint_is(s, key, checkpoint{five, 3}),
            "advance: an epoch lower than that of another connection is refused");
    const partition_key empty_key = key_of("orders", "billing", "1");
    if (auto tx = t.open(s)) {
        const bool ready = rows_of<checkpoint>::write(s, *tx, empty_key, {}, checkpoint{five, 1});
        auto theirs = other.begin();
        bool advanced =
            theirs && rows_of<checkpoint>::write(other, *theirs, empty_key, checkpoint{five, 1},
                                                 checkpoint{nine, 1});
        advanced = advanced && t.committed(*theirs);
        tx->rollback();
        t.holds(ready && !advanced && t.checkpoint_is(s, empty_key, {}),
                "advance: a `from` that another connection has not committed is refused");
    }
    if constexpr (checkpoint_reset<S>) {
        const bool back = commit_write<checkpoint>(t, s, key, checkpoint{five, 3}, {});
        t.holds(back && t.checkpoint_is(other, key, {}) && !t.advance(other, key, {}, nine, 2),
                "reset: an epoch lower than that of another connection's reset is refused");
    }
}

/// Two transactions advance from the same `from`. A store may refuse the second `begin`, the second
/// `advance` or the second commit.
template <class S, class Other>
void concurrent_advance_rules(trial& t, S& s, Other& other)
{
    for (const bool second_first : {false, true}) {
        const partition_key key = key_of("race", "billing", second_first ? "1" : "0");
        const position to[] = {{5, "first"}, {6, "second"}};
        const dead_letter letters[] = {letter_of(key, 1, "first"), letter_of(key, 2, "second")};
        const auto committed =
            run_both(s, other, second_first, [&](auto& store, auto& tx, bool second) {
                if constexpr (dead_letter_store<S>) {
                    if (!store.put(tx, letters[second ? 1 : 0])) return false;
                }
                const auto a = store.advance(tx, key, {}, to[second ? 1 : 0], 1);
                return a && *a == advance_outcome::applied;
            });
        if constexpr (dead_letter_store<S>) {
            t.holds((committed.first ? t.has(s, letters[0]) : t.missing(s, letters[0])) &&
                        (committed.second ? t.has(s, letters[1]) : t.missing(s, letters[1])),
                    "two racing transactions: the unconfirmed one leaves nothing");
        }
        t.holds(!(committed.first && committed.second),
                "two transactions with the same `from`: at most one takes effect");
        const bool any_committed = committed.first || committed.second;
        const auto winner = checkpoint{to[committed.first ? 0 : 1], 1};
        t.holds(t.checkpoint_is(s, key, any_committed ? std::optional(winner) : std::nullopt),
                "two racing transactions: the confirmed one takes effect");
        t.holds(any_committed || t.advance(s, key, {}, to[0], 1),
                "after a race without a winner, the next transaction works");
    }
}

template <class S, class Other>
void concurrent_remove_rules(trial& t, S& s, Other& other)
{
    const dead_letter a = letter_of(key_of("orders", "billing", "0"), 1, "first");
    const auto remove = [&](auto& store, auto& tx, bool) {
        const auto r = store.remove(tx, a.key, a.at.sequence);
        return r && *r;
    };
    for (const bool second_first : {false, true}) {
        (void)t.put(s, a);
        const auto committed = run_both(s, other, second_first, remove);
        const bool any_committed = committed.first || committed.second;
        t.holds(!(committed.first && committed.second),
                "two transactions that remove the same letter: at most one takes effect");
        t.holds(any_committed ? t.missing(s, a) : t.has(s, a),
                "two transactions that remove the same letter: the confirmed one takes effect");
    }
    (void)t.put(s, a);
    bool seen = t.has(s, a);
    if (auto tx = t.open(other)) seen = remove(other, *tx, false) && t.committed(*tx) && seen;
    if (auto tx = t.open(s)) {
        const auto r = s.remove(*tx, a.key, a.at.sequence);
        t.holds(seen && ((r && !*r) || !t.committed(*tx)),
                "remove: returns false for a letter that another connection has removed");
    }
}

/// The rules of two connections to one store. All calls are made in one thread.
template <class S, class Other>
void connection_rules(trial& t, S& s, Other& other)
{
    visibility_rules(t, s, other);
    for_each_kind<S>([&]<class Row>(std::type_identity<Row>) { different_keys<Row>(t, s, other); });
    if constexpr (checkpoint_store<S>) {
        stale_connection_rules(t, s, other);
        concurrent_advance_rules(t, s, other);
    }
    if constexpr (dead_letter_queue<S>) concurrent_remove_rules(t, s, other);
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_CONNECTION_RULES_HPP
