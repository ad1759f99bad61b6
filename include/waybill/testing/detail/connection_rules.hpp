// SPDX-License-Identifier: MIT
//
// connection_rules: the rules of two connections to one store.
//
// A part of conformance.hpp. Without a second connection each rule is reported as untested.

#ifndef WAYBILL_TESTING_DETAIL_CONNECTION_RULES_HPP
#define WAYBILL_TESTING_DETAIL_CONNECTION_RULES_HPP

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <waybill/testing/detail/stored_rows.hpp>
#include <waybill/testing/detail/trial.hpp>
#include <waybill/testing/detail/trial_values.hpp>

namespace waybill::inline v0_2::testing::detail {

/// The texts of the rules. A rule of one kind of rows continues with the name of that kind.
struct connection_rule {
    static constexpr std::string_view unseen =
        "before the commit a second connection does not see ";
    static constexpr std::string_view seen = "after the commit a second connection sees ";
    static constexpr std::string_view apart =
        "of two transactions on different keys each that says so took effect: ";
    static constexpr std::string_view compared =
        "advance: a later commit of another connection is a conflict";
    static constexpr std::string_view guarded =
        "advance: an epoch lower than that of another connection is refused";
    static constexpr std::string_view one_moves =
        "of two transactions with the same `from` at most one takes effect";
    static constexpr std::string_view uncommitted =
        "advance: a `from` that another connection has not committed is refused";
    static constexpr std::string_view loser =
        "of two transactions that race the one that lost leaves nothing";
    static constexpr std::string_view mover =
        "of two transactions that race the one that says so took effect";
    static constexpr std::string_view next_moves =
        "after a race that nobody won the next one works";
    static constexpr std::string_view reset_guards =
        "reset: an epoch lower than that of another connection's reset is refused";
    static constexpr std::string_view gone =
        "remove: answers false for a letter that another connection has removed";
    static constexpr std::string_view one_removes =
        "of two transactions that remove the same letter at most one takes effect";
    static constexpr std::string_view remover =
        "of two transactions that remove the same letter the one that says so took effect";
};

template <class S>
void untested_connection_rules(trial& t)
{
    using rule = connection_rule;
    const auto skip = [&](std::string_view r) { t.untested(r, second_connection); };
    for_each_change<S>("", [&](const auto& c) {
        skip(std::string(rule::unseen) + std::string(c.name));
        skip(std::string(rule::seen) + std::string(c.name));
    });
    for_each_kind<S>([&]<class Row>(std::type_identity<Row>) {
        skip(std::string(rule::apart) + std::string(rows_of<Row>::plural));
    });
    if constexpr (checkpoint_store<S>) {
        for (const auto r : {rule::compared, rule::guarded, rule::uncommitted, rule::one_moves,
                             rule::mover, rule::next_moves}) {
            skip(r);
        }
        if constexpr (dead_letter_store<S>) skip(rule::loser);
    }
    if constexpr (checkpoint_reset<S>) skip(rule::reset_guards);
    if constexpr (dead_letter_queue<S>) {
        for (const auto r : {rule::gone, rule::one_removes, rule::remover}) skip(r);
    }
}

/// A read during the transaction may fail: a store may let the reader wait, and end the wait with
/// an error.
template <class S, class Other>
void visibility_rules(trial& t, S& s, Other& other)
{
    for_each_change<S>("seen", [&]<class Row>(const change<Row>& c) {
        bool done = !c.from || stores<Row>(t, s, c.key, {}, c.from);
        done = shows(other, c.key, c.from) && done;  // a cache contains the row from now on
        if (auto tx = t.open(s)) {
            done = rows_of<Row>::write(s, *tx, c.key, c.from, c.to) && done;
            const auto seen = rows_of<Row>::read(other, c.key);
            t.holds(!seen || (*seen == c.from && lists_only(other, c.key, c.from)),
                    std::string(connection_rule::unseen) + std::string(c.name));
            done = t.committed(*tx) && done;
        }
        t.holds(done && shows(other, c.key, c.to),
                std::string(connection_rule::seen) + std::string(c.name));
    });
}

/// Opens a transaction on each connection, writes in both and commits both. If `second_first`, the
/// second one is committed first. Returns which of them took effect.
template <class S, class Other, class Write>
[[nodiscard]] std::pair<bool, bool> both(S& s, Other& other, bool second_first, Write write)
{
    std::pair<bool, bool> won;
    auto mine = s.begin();
    const bool ready = mine && write(s, *mine, false);
    auto theirs = other.begin();
    const bool theirs_ready = theirs && write(other, *theirs, true);
    if (second_first && theirs_ready) won.second = trial::committed(*theirs);
    if (ready) won.first = trial::committed(*mine);
    if (!second_first && theirs_ready) won.second = trial::committed(*theirs);
    return won;
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
        const auto won = both(s, other, second_first, [&](auto& on, auto& tx, bool second) {
            return rows::write(on, tx, key(second), {}, row(second));
        });
        const auto absent = std::optional<Row>();
        t.holds(shows(s, key(false), won.first ? row(false) : absent) &&
                    shows(s, key(true), won.second ? row(true) : absent),
                std::string(connection_rule::apart) + std::string(rows::plural));
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
    (void)t.set(s, key, {}, five, 1);
    const bool known = t.stands(s, key, checkpoint{five, 1}) && t.set(other, key, five, nine, 1);
    t.holds(known && !t.set(s, key, five, twelve, 1) && t.stands(s, key, checkpoint{nine, 1}),
            connection_rule::compared);
    const bool later = t.set(other, key, nine, five, 3);
    t.holds(later && !t.set(s, key, five, twelve, 2) && t.stands(s, key, checkpoint{five, 3}),
            connection_rule::guarded);
    const partition_key unset = key_of("orders", "billing", "1");
    if (auto tx = t.open(s)) {
        const bool ready = rows_of<checkpoint>::write(s, *tx, unset, {}, checkpoint{five, 1});
        auto theirs = other.begin();
        bool taken = theirs && rows_of<checkpoint>::write(other, *theirs, unset,
                                                          checkpoint{five, 1}, checkpoint{nine, 1});
        taken = taken && t.committed(*theirs);
        tx->rollback();
        t.holds(ready && !taken && t.stands(s, unset, {}), connection_rule::uncommitted);
    }
    if constexpr (checkpoint_reset<S>) {
        const bool back = stores<checkpoint>(t, s, key, checkpoint{five, 3}, {});
        t.holds(back && t.stands(other, key, {}) && !t.set(other, key, {}, nine, 2),
                connection_rule::reset_guards);
    }
}

/// Two transactions advance from the same `from`. A store may refuse the second `begin`, the second
/// `advance` or the second commit.
template <class S, class Other>
void same_from_rules(trial& t, S& s, Other& other)
{
    for (const bool second_first : {false, true}) {
        const partition_key key = key_of("race", "billing", second_first ? "1" : "0");
        const position to[] = {{5, "first"}, {6, "second"}};
        const dead_letter beside[] = {letter_of(key, 1, "first"), letter_of(key, 2, "second")};
        const auto won = both(s, other, second_first, [&](auto& on, auto& tx, bool second) {
            if constexpr (dead_letter_store<S>) {
                if (!on.put(tx, beside[second ? 1 : 0])) return false;
            }
            const auto a = on.advance(tx, key, {}, to[second ? 1 : 0], 1);
            return a && *a == advance_outcome::applied;
        });
        if constexpr (dead_letter_store<S>) {
            t.holds((won.first ? t.has(s, beside[0]) : t.lacks(s, beside[0])) &&
                        (won.second ? t.has(s, beside[1]) : t.lacks(s, beside[1])),
                    connection_rule::loser);
        }
        t.holds(!(won.first && won.second), connection_rule::one_moves);
        const bool any = won.first || won.second;
        const auto winner = checkpoint{to[won.first ? 0 : 1], 1};
        t.holds(t.stands(s, key, any ? std::optional(winner) : std::nullopt),
                connection_rule::mover);
        t.holds(any || t.set(s, key, {}, to[0], 1), connection_rule::next_moves);
    }
}

template <class S, class Other>
void same_letter_rules(trial& t, S& s, Other& other)
{
    const dead_letter a = letter_of(key_of("orders", "billing", "0"), 1, "first");
    const auto removes = [&](auto& on, auto& tx, bool) {
        const auto r = on.remove(tx, a.key, a.at.sequence);
        return r && *r;
    };
    for (const bool second_first : {false, true}) {
        (void)t.park(s, a);
        const auto won = both(s, other, second_first, removes);
        const bool any = won.first || won.second;
        t.holds(!(won.first && won.second), connection_rule::one_removes);
        t.holds(any ? t.lacks(s, a) : t.has(s, a), connection_rule::remover);
    }
    (void)t.park(s, a);
    bool known = t.has(s, a);
    if (auto tx = t.open(other)) known = removes(other, *tx, false) && t.committed(*tx) && known;
    if (auto tx = t.open(s)) {
        const auto r = s.remove(*tx, a.key, a.at.sequence);
        t.holds(known && ((r && !*r) || !t.committed(*tx)), connection_rule::gone);
    }
}

/// The rules of two connections to one store. All calls are made in one thread.
template <class Make, class Again>
void connection_rules(trial& t, Make& make, Again& again)
{
    using store = std::remove_cvref_t<std::invoke_result_t<Make&>>;
    if constexpr (!has_second<Again>) {
        untested_connection_rules<store>(t);
    } else {
        auto s = make();
        decltype(auto) other = again(s);
        visibility_rules(t, s, other);
        for_each_kind<store>(
            [&]<class Row>(std::type_identity<Row>) { different_keys<Row>(t, s, other); });
        if constexpr (checkpoint_store<store>) {
            stale_connection_rules(t, s, other);
            same_from_rules(t, s, other);
        }
        if constexpr (dead_letter_queue<store>) same_letter_rules(t, s, other);
    }
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_CONNECTION_RULES_HPP
