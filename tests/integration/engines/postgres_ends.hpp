// SPDX-License-Identifier: MIT
//
// postgres_ends: races for a checkpoint, and all outcomes of a transaction on a server.

#ifndef WAYBILL_TESTS_POSTGRES_ENDS_HPP
#define WAYBILL_TESTS_POSTGRES_ENDS_HPP

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "postgres_own.hpp"
#include "postgres_relay.hpp"

namespace postgres_test {

using waybill::advance_outcome;
using waybill::commit_outcome;

/// Four connections advance the same checkpoint at the same time. In each round exactly one
/// succeeds, and the others get that result. The first checkpoint of a key is absent.
[[nodiscard]] inline int races()
{
    constexpr int owners = 4;
    constexpr std::uint64_t rounds = 100;
    const std::string schema = fresh_schema();
    std::atomic<int> ready{0};
    std::atomic<int> errors{0};
    std::vector<std::atomic<int>> winners(rounds);
    std::vector<std::thread> threads;
    for (int owner = 0; owner != owners; ++owner) {
        threads.emplace_back([&, owner] {
            store_at s(schema);
            if (!s.load(key_of("0"))) ++errors;
            for (std::uint64_t round = 0; round != rounds; ++round) {
                // Ten steps a key. The first one starts without a checkpoint.
                const auto key = key_of(std::to_string(round / 10));
                std::optional<waybill::position> from;
                if (round % 10 != 0) from = waybill::position{round - 1, ""};
                ++ready;
                while (ready < owners * static_cast<int>(round + 1)) std::this_thread::yield();
                auto tx = s.begin();
                if (!tx) {
                    ++errors;
                    continue;
                }
                const auto a = s.advance(*tx, key, from, {round, std::to_string(owner)}, 1);
                if (!a) ++errors;
                if (!a || *a != advance_outcome::applied) continue;
                const auto c = tx->commit();
                if (c && *c == commit_outcome::applied) ++winners[round];
                else ++errors;
            }
        });
    }
    for (std::thread& t : threads) t.join();
    int alone = 0;
    for (const auto& w : winners) alone += w == 1 ? 1 : 0;
    std::printf("races: %d of %d rounds had one winner, %d errors\n", alone,
                static_cast<int>(rounds), errors.load());
    return expect(alone == static_cast<int>(rounds) && errors == 0, "each race has one winner");
}

/// Commits that a server refuses, and transactions that end without the store's knowledge.
/// Afterwards nothing is written outside of a transaction.
[[nodiscard]] inline int ends()
{
    int wrong = 0;
    const auto key = key_of("0");
    const auto is = [](const waybill::result<commit_outcome>& r, commit_outcome o) {
        return r && *r == o;
    };
    {
        store_at s(fresh_schema());
        wrong += expect(s.load(key) && !*s.load(key), "a table that is new is empty");
        s.db().exec("CREATE TABLE t (n int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED)");
        if (auto tx = s.begin()) {
            (void)s.advance(*tx, key, {}, {1, ""}, 1);
            s.db().exec("INSERT INTO t VALUES (1), (1)");
            wrong += expect(is(tx->commit(), commit_outcome::not_applied),
                            "a deferred constraint refuses the commit");
        }
        if (auto tx = s.begin()) {
            (void)s.advance(*tx, key, {}, {1, ""}, 1);
            wrong +=
                expect(!s.db().ask("INSERT INTO nowhere VALUES (1)").ok(), "a statement fails");
            const auto a = s.put(*tx, {.key = key});
            wrong += expect(!a && a.error().kind == waybill::fault_kind::infrastructure,
                            "a step after a failed statement is an infrastructure fault");
            wrong += expect(is(tx->commit(), commit_outcome::not_applied),
                            "a commit that the server answers with ROLLBACK is none");
        }
        if (auto tx = s.begin()) {
            const bool opened = tx->savepoint().has_value();
            const bool failed = !s.db().ask("INSERT INTO nowhere VALUES (1)").ok();
            wrong += expect(opened && failed && tx->rollback_to_savepoint(),
                            "undo mends a failed transaction");
            (void)s.advance(*tx, key, {}, {2, ""}, 1);
            wrong += expect(is(tx->commit(), commit_outcome::applied), "and it is committed then");
        }
        for (const char* end : {"COMMIT", "ROLLBACK"}) {
            auto tx = s.begin();
            if (!tx) return wrong + 1;
            s.db().exec(end);
            wrong += expect(!s.put(*tx, {.key = key, .at = {7, ""}}),
                            "nothing is written outside of a transaction");
            wrong += expect(is(tx->commit(), commit_outcome::unknown),
                            "how a handler has ended a transaction is unknown");
        }
        if (auto tx = s.begin()) {
            wrong += expect(!s.begin(), "a second transaction on one connection is refused");
            tx->rollback();
            s.db().exec("BEGIN");
            wrong += expect(!s.begin(), "a transaction that is not ours is not joined");
            s.db().exec("ROLLBACK");
        }
        store_at other(s.schema());
        if (auto tx = s.begin()) {
            (void)s.put(*tx, {.key = key, .at = {8, ""}});
            (void)other.load(key);
            const std::string pid = std::to_string(PQbackendPID(s.db().handle()));
            other.db().exec(("SELECT pg_terminate_backend(" + pid + ", 5000)").c_str());
            wrong +=
                expect(!s.put(*tx, {.key = key, .at = {9, ""}}), "a lost connection is noticed");
            const auto seen = s.load(key);
            wrong += expect(!seen, "within a transaction it is not replaced");
            wrong += expect(is(tx->commit(), commit_outcome::not_applied),
                            "a commit that was never sent is none");
        }
        const auto back = s.load(key);
        wrong +=
            expect(back && *back && (*back)->at.sequence == 2, "outside of one it is replaced");
        wrong += expect(s.find(key, 8) && !*s.find(key, 8), "what was not committed is not there");
    }
    {
        const std::string schema = fresh_schema();
        store_at one(schema, "5s", engines::isolation::serializable);
        store_at two(schema, "5s", engines::isolation::serializable);
        (void)one.load(key);
        (void)two.load(key);
        one.db().exec("CREATE TABLE t (n int)");
        auto a = one.begin();
        auto b = two.begin();
        if (!a || !b) return wrong + 1;
        // Each transaction counts the rows to which the other one adds.
        for (store_at* s : {&one, &two}) s->db().exec("SELECT count(*) FROM t");
        for (store_at* s : {&one, &two}) s->db().exec("INSERT INTO t VALUES (1)");
        wrong += expect(is(a->commit(), commit_outcome::applied), "the first of two is serialized");
        wrong += expect(is(b->commit(), commit_outcome::not_applied), "the second one is refused");
    }
    std::printf("ends: %d wrong\n", wrong);
    return wrong;
}

/// A connection that is cut right before the commit request, and one that is cut right before the
/// reply. Both outcomes are unknown, and reading the checkpoint resolves them.
[[nodiscard]] inline int cuts()
{
    int wrong = 0;
    const auto key = key_of("0");
    for (const bool applied : {false, true}) {
        const std::string schema = fresh_schema();
        relay between(where, applied ? relay::cut::answer : relay::cut::request);
        store_at s(schema);
        (void)s.load(key);
        engines::postgres through(between.where() + " options='-c search_path=" + schema + "'");
        engines::postgres_store cut(through);
        auto tx = cut.begin();
        if (!tx) return wrong + expect(false, "one connects through the relay");
        const auto a = cut.advance(*tx, key, {}, {5, "five"}, 3);
        wrong += expect(a && *a == advance_outcome::applied, "the checkpoint is advanced");
        const auto c = tx->commit();
        wrong +=
            expect(c && *c == commit_outcome::unknown, "a commit without an answer is unknown");
        const auto back = cut.load(key);
        wrong += expect(back && back->has_value() == applied, "what happened is read back");
        // The transaction that was cut holds its lock until the server notices. A transaction with
        // the same expected position waits for it.
        auto later = s.begin();
        if (!later) return wrong + 1;
        const auto again = s.advance(*later, key, {}, {5, "five"}, 3);
        wrong += expect(again && (*again == advance_outcome::applied) != applied,
                        "once more it takes effect only if it has not");
    }
    std::printf("cuts: %d wrong\n", wrong);
    return wrong;
}

}  // namespace postgres_test

#endif  // WAYBILL_TESTS_POSTGRES_ENDS_HPP
