// SPDX-License-Identifier: MIT

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/testing/memory_store.hpp>

namespace memory_store_test {
namespace {

using waybill::advance_outcome;
using waybill::commit_outcome;
using store = waybill::testing::memory_store<std::string>;

static_assert(waybill::checkpoint_store<store>);
static_assert(waybill::dead_letter_store<store>);
static_assert(waybill::savepoint_scope<store::transaction>);

const waybill::partition_key key{"s", "g", "p"};

TEST_CASE("memory_store: effects are recorded at the commit, in the order of commits")
{
    store s;
    auto first = *s.begin();
    auto second = *s.begin();
    first.record("a");
    second.record("b");
    first.record("c");
    CHECK(s.records().empty());
    CHECK(*second.commit() == commit_outcome::applied);
    CHECK(*first.commit() == commit_outcome::applied);
    CHECK(s.records() == std::vector<std::string>{"b", "a", "c"});
    CHECK(*first.commit() == commit_outcome::not_applied);
    CHECK(s.records().size() == 3);
}

TEST_CASE("memory_store: the later of two conflicting commits is not applied, effects included")
{
    store s;
    auto fast = *s.begin();
    auto slow = *s.begin();
    CHECK(*s.advance(fast, key, {}, {5, ""}, 1) == advance_outcome::applied);
    CHECK(*s.advance(slow, key, {}, {7, ""}, 1) == advance_outcome::applied);
    slow.record("never");
    CHECK(*fast.commit() == commit_outcome::applied);
    CHECK(*slow.commit() == commit_outcome::not_applied);
    CHECK(s.records().empty());
    CHECK((*s.load(key))->at.sequence == 5);
}

TEST_CASE("memory_store: a transaction sees its own checkpoint")
{
    store s;
    auto tx = *s.begin();
    CHECK(*s.advance(tx, key, {}, {5, ""}, 2) == advance_outcome::applied);
    CHECK(*s.advance(tx, key, {}, {6, ""}, 2) == advance_outcome::conflict);
    CHECK(*s.advance(tx, key, waybill::position{5, ""}, {6, ""}, 1) ==
          advance_outcome::stale_epoch);
    CHECK(*s.advance(tx, key, waybill::position{5, ""}, {6, ""}, 2) == advance_outcome::applied);
    CHECK(*tx.commit() == commit_outcome::applied);
    CHECK((*s.load(key))->at.sequence == 6);
}

TEST_CASE("memory_store: savepoint calls without an open savepoint are errors")
{
    store s;
    auto tx = *s.begin();
    CHECK(!tx.release_savepoint());
    CHECK(!tx.rollback_to_savepoint());
    CHECK(tx.savepoint().has_value());
    CHECK(tx.rollback_to_savepoint().has_value());
    CHECK(!tx.rollback_to_savepoint());
    tx.rollback();
    CHECK(!tx.savepoint());
    CHECK(*tx.commit() == commit_outcome::not_applied);
}

TEST_CASE("memory_store: effects may be of the type dead_letter")
{
    waybill::testing::memory_store<waybill::dead_letter> s;
    auto tx = *s.begin();
    tx.record(waybill::dead_letter{});
    CHECK(*tx.commit() == commit_outcome::applied);
    CHECK(s.records().size() == 1);
    CHECK(s.letters().empty());
}

}  // namespace
}  // namespace memory_store_test
