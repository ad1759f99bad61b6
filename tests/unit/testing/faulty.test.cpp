// SPDX-License-Identifier: MIT

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/consume/process_batch.hpp>
#include <waybill/testing/faulty.hpp>
#include <waybill/testing/memory_store.hpp>

namespace faulty_test {
namespace {

using waybill::commit_outcome;
using waybill::fault_kind;
using waybill::testing::faulty;
using waybill::testing::injected_fault;
using waybill::testing::memory_store;
using waybill::testing::store_call;

const waybill::partition_key key{"s", "g", "p"};

// Injects this fault at the first call of this kind.
struct once {
    store_call at;
    injected_fault what;
    injected_fault operator()(store_call c)
    {
        return c == at ? std::exchange(what, injected_fault::none) : injected_fault::none;
    }
};

using store = memory_store<std::string>;

static_assert(waybill::checkpoint_store<faulty<store, once>>);
static_assert(waybill::dead_letter_store<faulty<store, once>>);
static_assert(waybill::savepoint_scope<faulty<store, once>::transaction>);

// A store without savepoints has none in a faulty store either.
struct plain_store : store {
    class transaction : store::transaction {
    public:
        explicit transaction(store::transaction tx) : store::transaction(std::move(tx)) {}
        using store::transaction::commit;
        using store::transaction::rollback;
    };
    waybill::result<transaction> begin() { return transaction(*store::begin()); }
};
static_assert(!waybill::savepoint_scope<plain_store::transaction>);
static_assert(waybill::detail::transaction_scope<faulty<plain_store, once>::transaction>);
static_assert(!waybill::savepoint_scope<faulty<plain_store, once>::transaction>);

static_assert(waybill::testing::faults_of(store_call::commit).size() == 8);
static_assert(waybill::testing::faults_of(store_call::put).size() == 5);
static_assert(waybill::testing::faults_of(store_call::load).size() == 3);
static_assert(waybill::testing::faults_of(store_call::load)[0] == injected_fault::none);
static_assert(name(store_call::reset) == "reset" &&
              waybill::testing::faults_of(store_call::reset).size() == 5);
static_assert(waybill::checkpoint_reset<faulty<store, once>>);
static_assert(name(store_call::advance) == "advance" &&
              name(injected_fault::dies_after) == "dies_after");
static_assert(name(store_call::commit) == "commit" &&
              name(injected_fault::unknown_applied) == "unknown_applied");

TEST_CASE("faulty: each fault of a commit has its result and its effect on the store")
{
    const struct {
        injected_fault what;
        std::optional<commit_outcome> answer;  // none: an error
        bool there;
        bool alive;
    } cases[] = {
        {injected_fault::none, commit_outcome::applied, true, true},
        {injected_fault::fails, {}, false, true},
        {injected_fault::fails_though_done, {}, true, true},
        {injected_fault::dies_before, {}, false, false},
        {injected_fault::dies_after, {}, true, false},
        {injected_fault::not_applied, commit_outcome::not_applied, false, true},
        {injected_fault::unknown_not_applied, commit_outcome::unknown, false, true},
        {injected_fault::unknown_applied, commit_outcome::unknown, true, true},
    };
    for (const auto& c : cases) {
        INFO(std::string(name(c.what)));
        store kept;
        faulty s(kept, once{store_call::commit, c.what});
        auto tx = s.begin();
        REQUIRE(tx.has_value());
        tx->inner()->record("effect");
        const auto r = tx->commit();
        CHECK(r.has_value() == c.answer.has_value());
        if (r && c.answer) CHECK(*r == *c.answer);
        if (!r) CHECK(r.error().kind == fault_kind::infrastructure);
        CHECK(kept.records().size() == (c.there ? 1 : 0));
        CHECK(s.alive() == c.alive);
        CHECK(tx->inner() == nullptr);
    }
}

TEST_CASE("faulty: a failed put is stored if the script injects fails_though_done")
{
    for (const injected_fault what : {injected_fault::fails, injected_fault::fails_though_done}) {
        store kept;
        faulty s(kept, once{store_call::put, what});
        auto tx = s.begin();
        waybill::dead_letter letter;
        letter.key = key;
        CHECK(!s.put(*tx, letter));
        CHECK(tx->commit() == waybill::result<commit_outcome>(commit_outcome::applied));
        CHECK(kept.letters().size() == (what == injected_fault::fails ? 0 : 1));
    }
}

TEST_CASE("faulty: a death ends every open transaction, and all calls fail until revive")
{
    for (const injected_fault what : {injected_fault::dies_before, injected_fault::dies_after}) {
        store kept;
        faulty s(kept, once{store_call::advance, what});
        auto tx = s.begin();
        auto other = s.begin();
        tx->inner()->record("effect");
        other->inner()->record("another");
        CHECK(!s.advance(*tx, key, {}, {1, ""}, 1));
        CHECK(!s.alive());
        CHECK(tx->inner() == nullptr);
        CHECK(other->inner() == nullptr);
        CHECK(!s.begin());
        CHECK(s.load(key).error().kind == fault_kind::infrastructure);
        CHECK(!s.find(key, 1));
        CHECK(!tx->savepoint());
        CHECK(!s.put(*tx, {}));
        CHECK(tx->commit() == waybill::result<commit_outcome>(commit_outcome::not_applied));
        CHECK(kept.records().empty());

        s.revive();
        CHECK(!other->savepoint());
        CHECK(s.load(key) == waybill::result<std::optional<waybill::checkpoint>>(std::nullopt));
        auto next = s.begin();
        REQUIRE(next.has_value());
        next->inner()->record("of a new process");
        CHECK(next->commit().has_value());
        CHECK(kept.records() == std::vector<std::string>{"of a new process"});
    }
}

TEST_CASE("faulty: a begin that fails after its effect leaves no transaction open")
{
    store kept;
    faulty s(kept, once{store_call::begin, injected_fault::fails_though_done});
    CHECK(!s.begin());
    CHECK(s.begin().has_value());
}

TEST_CASE("faulty: rollback_to_savepoint fails before or after its effect")
{
    for (const injected_fault what : {injected_fault::fails, injected_fault::fails_though_done}) {
        store kept;
        faulty s(kept, once{store_call::rollback_to_savepoint, what});
        auto tx = s.begin();
        CHECK(tx->savepoint().has_value());
        tx->inner()->record("effect");
        CHECK(!tx->rollback_to_savepoint());
        CHECK(tx->commit().has_value());
        CHECK(kept.records().size() == (what == injected_fault::fails ? 1 : 0));
    }
}

TEST_CASE("faulty: transactions can be moved, and die in their new place")
{
    store kept;
    faulty s(kept, once{store_call::release_savepoint, injected_fault::dies_after});
    auto begun = s.begin();
    auto moved = *std::move(begun);
    auto target = *s.begin();
    target = std::move(moved);
    CHECK(target.savepoint().has_value());
    CHECK(!target.release_savepoint());
    CHECK(target.inner() == nullptr);
}

}  // namespace
}  // namespace faulty_test
