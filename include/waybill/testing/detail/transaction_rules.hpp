// SPDX-License-Identifier: MIT
//
// transaction_rules: the effect of each end of a transaction on each kind of write.
//
// A part of conformance.hpp. A store may roll back checkpoints and still keep crash records. So
// each rule is tried with a first, a replaced and a removed row of each kind that the store keeps.

#ifndef WAYBILL_TESTING_DETAIL_TRANSACTION_RULES_HPP
#define WAYBILL_TESTING_DETAIL_TRANSACTION_RULES_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <waybill/testing/detail/stored_rows.hpp>
#include <waybill/testing/detail/trial.hpp>
#include <waybill/testing/detail/trial_values.hpp>

namespace waybill::inline v0_2::testing::detail {

enum class ending : std::uint8_t {
    rollback,
    scope,
    assigned_over,
    late_write,
    commit,
    moved,
    rollback_late,
    to_savepoint,  // requires savepoints, as do the next two
    released_and_rolled_back,
    release,
};

struct ending_rule {
    ending kind;
    bool keeps;             // whether the write is committed
    std::string_view rule;  // text of the rule; the name of the write follows
};

inline constexpr std::string_view commit_keeps = "commit keeps ";

// Columns: kind, keeps, rule.
inline constexpr ending_rule ending_rules[] = {
    {ending::rollback, false, "rollback reverts "},
    {ending::scope, false, "a transaction that goes out of scope reverts "},
    {ending::assigned_over, false, "a transaction that is assigned over reverts "},
    {ending::late_write, false, "a transaction that has ended does not write "},
    {ending::commit, true, commit_keeps},
    {ending::moved, true, "a transaction that was moved commits "},
    {ending::rollback_late, true, "a rollback after the commit keeps "},
};
inline constexpr ending_rule savepoint_ending_rules[] = {
    {ending::to_savepoint, false, "rollback_to_savepoint reverts "},
    {ending::released_and_rolled_back, false, "a rollback after release reverts "},
    {ending::release, true, "release keeps "},
};

/// Ends the transaction, except for `scope` and `late_write`, which end it with the scope.
/// Returns false if a commit, or a rollback_to_savepoint or release before it, fails.
template <class Tx>
bool end_transaction(Tx& tx, Tx& ended_before, ending kind)
{
    if (kind == ending::commit) return trial::committed(tx);
    if (kind == ending::rollback) tx.rollback();
    if (kind == ending::assigned_over) tx = std::move(ended_before);
    if (kind == ending::moved) {
        Tx destination = std::move(tx);
        return trial::committed(destination);
    }
    if (kind == ending::rollback_late) {
        const bool done = trial::committed(tx);
        tx.rollback();
        return done;
    }
    if constexpr (savepoint_scope<Tx>) {
        if (kind == ending::to_savepoint) return tx.rollback_to_savepoint() && trial::committed(tx);
        if (kind == ending::release) return tx.release_savepoint() && trial::committed(tx);
        if (kind == ending::released_and_rolled_back) {
            (void)tx.release_savepoint();
            tx.rollback();
        }
    }
    return true;
}

/// Commits the row that the write requires. If that fails, only this rule is reported as broken.
template <class Row, class S>
bool prepare(trial& t, S& s, const change<Row>& c)
{
    if (!c.from) return true;
    const bool done = commit_write<Row>(t, s, c.key, {}, c.from) && row_is(s, c.key, c.from);
    t.holds(done, std::string(commit_keeps) + std::string(rows_of<Row>::first));
    return done;
}

template <class Row, class S>
void check_ending(trial& t, S& s, const change<Row>& c, const ending_rule& e)
{
    if (!prepare(t, s, c)) return;
    bool done = true;
    auto ended = t.open(s);
    if (!ended) return;
    ended->rollback();
    if (auto tx = t.open(s)) {
        if (e.kind == ending::late_write) (void)tx->commit();
        if constexpr (savepoint_scope<typename S::transaction>) {
            if (e.kind >= ending::to_savepoint) done = tx->savepoint().has_value();
        }
        done = rows_of<Row>::write(s, *tx, c.key, c.from, c.to) && done;
        done = end_transaction(*tx, *ended, e.kind) && done;
        if (e.kind == ending::assigned_over) {
            t.holds(s.begin().has_value(), "a transaction that is assigned over blocks no other");
        }
    }
    // A write that remained in a buffer of the store would be committed now.
    if (auto next = t.open(s)) (void)next->commit();
    const std::string rule = std::string(e.rule) + std::string(c.name);
    t.holds(e.keeps ? done && row_is(s, c.key, c.to) : row_is(s, c.key, c.from), rule);
}

template <class S>
void check_all_endings(trial& t, S& s)
{
    const auto check_each = [&](const ending_rule& e) {
        for_each_change<S>(std::string(e.rule), [&](const auto& c) { check_ending(t, s, c, e); });
    };
    for (const ending_rule& e : ending_rules) check_each(e);
    if constexpr (savepoint_scope<typename S::transaction>) {
        for (const ending_rule& e : savepoint_ending_rules) check_each(e);
    }
}

/// All kinds of writes in one transaction are committed together or rolled back together.
template <class S>
void atomic_write_rules(trial& t, S& s)
{
    bool ready = true;
    const auto all = [&](auto f) { for_each_change<S>("together", f); };
    all([&](const auto& c) { ready = prepare(t, s, c) && ready; });
    if (!ready) return;
    for (const bool commits : {false, true}) {
        bool done = false;
        if (auto tx = t.open(s)) {
            done = true;
            all([&]<class Row>(const change<Row>& c) {
                done = rows_of<Row>::write(s, *tx, c.key, c.from, c.to) && done;
            });
            if (commits) done = t.committed(*tx) && done;
        }
        all([&](const auto& c) { done = row_is(s, c.key, commits ? c.to : c.from) && done; });
        t.holds(done, commits ? "all writes of a transaction are committed together"
                              : "all writes of a transaction are rolled back together");
    }
}

template <class Row, class S>
void second_commit_rules(trial& t, S& s)
{
    const partition_key key = key_of("second commit", std::string(rows_of<Row>::plural), "0");
    const auto one = std::optional(rows_of<Row>::make(key, 1));
    const auto two = std::optional(rows_of<Row>::make(key, 2));
    if (!commit_write<Row>(t, s, key, {}, one)) return;
    if (auto tx = t.open(s)) {
        (void)rows_of<Row>::write(s, *tx, key, one, two);
        const bool done = t.committed(*tx) && commit_write<Row>(t, s, key, two, one);
        (void)tx->commit();
        t.holds(!done || row_is(s, key, one), "a second commit of a transaction writes nothing: " +
                                                  std::string(rows_of<Row>::plural));
    }
}

/// The rules of a transaction object: end, move and assignment. One kind of rows suffices.
template <class Row, class S>
void transaction_object_rules(trial& t, S& s)
{
    const auto key = [](const char* part) { return key_of("handles", "", part); };
    const auto row = [&](const char* part) {
        return std::optional(rows_of<Row>::make(key(part), 1));
    };
    const auto write = [&](auto& tx, const char* part) {
        return rows_of<Row>::write(s, tx, key(part), {}, row(part));
    };
    const auto absent = std::optional<Row>();
    if (auto tx = t.open(s)) {
        (void)write(*tx, "0");
        tx->rollback();
        t.holds(!t.committed(*tx) && row_is(s, key("0"), absent),
                "a commit after a rollback does nothing");
    }
    if (auto tx = t.open(s)) {
        (void)write(*tx, "1");
        auto destination = *std::move(tx);
        const bool committed = t.committed(*tx);
        destination.rollback();
        t.holds(!committed && row_is(s, key("1"), absent),
                "a transaction that was moved from commits nothing");
    }
    if (auto tx = t.open(s)) {
        tx->rollback();
        if (auto other = t.open(s)) {
            (void)write(*other, "2");
            *tx = *std::move(other);
            other.reset();
            t.holds(t.committed(*tx) && row_is(s, key("2"), row("2")),
                    "a transaction survives being assigned");
        }
    }
}

/// A transaction that is assigned over another one. Some stores refuse a second open transaction.
template <class Row, class S>
void assignment_rules(trial& t, S& s)
{
    const auto key = [](const char* part) { return key_of("handles", "", part); };
    const auto row = [&](const char* part) {
        return std::optional(rows_of<Row>::make(key(part), 1));
    };
    const auto write = [&](auto& tx, const char* part) {
        return rows_of<Row>::write(s, tx, key(part), {}, row(part));
    };
    auto mine = s.begin();
    auto theirs = s.begin();
    if (mine && theirs && write(*mine, "3") && write(*theirs, "4")) {
        *mine = *std::move(theirs);
        const bool committed = t.committed(*mine);
        t.holds(
            committed && row_is(s, key("4"), row("4")) && row_is(s, key("3"), std::optional<Row>()),
            "a transaction that another one is assigned to is rolled back, and the other one "
            "continues");
    }
}

template <class S>
void leak_rules(trial& t, S& s)
{
    bool opens = true;
    for (int n = 0; n != 100; ++n) {
        auto dropped = s.begin();
        opens = dropped.has_value() && opens;
    }
    t.holds(opens && s.begin(), "begin opens a transaction after 100 that went out of scope");
}

/// The rules of consecutive savepoints.
template <class Row, class S>
void savepoint_rules(trial& t, S& s)
{
    const auto key = [](const char* part) { return key_of("savepoints", "", part); };
    const auto row = [&](const char* part) {
        return std::optional(rows_of<Row>::make(key(part), 1));
    };
    const auto rule = [](std::string_view text) {
        return std::string(text) + ": " + std::string(rows_of<Row>::plural);
    };
    const auto is_stored = [&](const char* part) { return row_is(s, key(part), row(part)); };
    const auto absent = std::optional<Row>();
    auto tx = t.open(s);
    if (!tx) return;
    const auto write = [&](const char* part) {
        return rows_of<Row>::write(s, *tx, key(part), {}, row(part));
    };
    bool done = write("before") && tx->savepoint() && write("released") && tx->release_savepoint();
    done =
        done && tx->savepoint() && write("undone") && tx->rollback_to_savepoint() && write("after");
    done = done && tx->savepoint() && write("released later") && tx->release_savepoint();
    done = done && tx->savepoint() && tx->rollback_to_savepoint() && t.committed(*tx);
    t.holds(done && row_is(s, key("undone"), absent),
            rule("rollback_to_savepoint reverts what was written since its savepoint"));
    t.holds(done && is_stored("before"),
            rule("rollback_to_savepoint keeps what was written before its savepoint"));
    t.holds(done && is_stored("after"),
            rule("a transaction continues after rollback_to_savepoint"));
    t.holds(done && is_stored("released") && is_stored("released later"),
            rule("savepoints follow one another, each for itself"));
}

/// `rollback_to_savepoint` restores the row that the transaction wrote before the savepoint.
template <class Row, class S>
void replaced_in_savepoint(trial& t, S& s)
{
    using rows = rows_of<Row>;
    const partition_key key = key_of("replaced in a savepoint", "", "");
    const auto one = std::optional(rows::make(key, 1));
    const auto two = std::optional(rows::make(key, 2));
    const std::string rule = "rollback_to_savepoint restores what the transaction wrote before: ";
    if (auto tx = t.open(s)) {
        const bool done = rows::write(s, *tx, key, {}, one) && tx->savepoint() &&
                          rows::write(s, *tx, key, one, two) && tx->rollback_to_savepoint() &&
                          t.committed(*tx);
        t.holds(done && row_is(s, key, one), rule + std::string(rows::plural));
    }
}

/// A batch uses one savepoint for each event.
template <class S>
void many_savepoints(trial& t, S& s)
{
    auto tx = t.open(s);
    bool done = tx.has_value();
    for (int n = 0; n != 200; ++n) done = done && tx->savepoint() && tx->release_savepoint();
    t.holds(done && t.committed(*tx), "a transaction takes 200 savepoints, one after another");
}

template <class S>
void every_savepoint_rule(trial& t, S& s)
{
    for_each_kind<S>([&]<class Row>(std::type_identity<Row>) { savepoint_rules<Row>(t, s); });
    many_savepoints(t, s);
    if constexpr (dead_letter_store<S>) replaced_in_savepoint<dead_letter>(t, s);
    if constexpr (crash_record_store<S>) replaced_in_savepoint<crash_record>(t, s);
}

/// The rules of each end of a transaction.
template <class S>
void ending_rules_of(trial& t, S& s)
{
    check_all_endings(t, s);
    atomic_write_rules(t, s);
    for_each_kind<S>([&]<class Row>(std::type_identity<Row>) { second_commit_rules<Row>(t, s); });
}

/// The rules of a transaction as an object.
template <class S>
void object_rules_of(trial& t, S& s)
{
    using row =
        std::conditional_t<checkpoint_store<S>, checkpoint,
                           std::conditional_t<dead_letter_store<S>, dead_letter, crash_record>>;
    transaction_object_rules<row>(t, s);
    assignment_rules<row>(t, s);
    leak_rules(t, s);
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_TRANSACTION_RULES_HPP
