// SPDX-License-Identifier: MIT

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/consume/process_batch.hpp>
#include <waybill/ext/exceptions.hpp>
#include <waybill/ext/exceptions_store.hpp>
#include <waybill/testing/choices.hpp>
#include <waybill/testing/faulty.hpp>
#include <waybill/testing/memory_store.hpp>

namespace catching_store_test {
namespace {

using namespace waybill;
using testing::choices;
using testing::faults_of;
using testing::faulty;
using testing::memory_store;
using testing::store_call;

struct database_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A store over another one that throws where that returns an error.
template <class Store>
class throwing_store {
    template <class R>
    static R value_or_throw(R r)
    {
        if (!r.has_value()) throw database_error(r.error().text);
        return r;
    }

public:
    class transaction : public Store::transaction {
    public:
        using base = typename Store::transaction;
        explicit transaction(base&& tx) : base(std::move(tx)) {}
        result<commit_outcome> commit()
        {
            auto r = base::commit();
            if (r.has_value() && *r == commit_outcome::unknown) throw database_error("lost");
            return value_or_throw(std::move(r));
        }
        result<void> savepoint() { return value_or_throw(base::savepoint()); }
        result<void> release_savepoint() { return value_or_throw(base::release_savepoint()); }
        result<void> rollback_to_savepoint()
        {
            return value_or_throw(base::rollback_to_savepoint());
        }
    };

    explicit throwing_store(Store& store) : store_(store) {}

    result<transaction> begin() { return transaction(std::move(*value_or_throw(store_.begin()))); }
    result<std::optional<checkpoint>> load(const partition_key& key)
    {
        return value_or_throw(store_.load(key));
    }
    result<advance_outcome> advance(transaction& tx, const partition_key& key,
                                    const std::optional<position>& from, const position& to,
                                    std::uint64_t epoch)
    {
        return value_or_throw(store_.advance(tx, key, from, to, epoch));
    }
    result<advance_outcome> reset(transaction& tx, const partition_key& key, const position& from,
                                  std::uint64_t epoch)
    {
        return value_or_throw(store_.reset(tx, key, from, epoch));
    }
    result<void> put(transaction& tx, const dead_letter& letter)
    {
        return value_or_throw(store_.put(tx, letter));
    }
    result<std::optional<dead_letter>> find(const partition_key& key, std::uint64_t sequence)
    {
        return value_or_throw(store_.find(key, sequence));
    }
    result<bool> remove(transaction& tx, const partition_key& key, std::uint64_t sequence)
    {
        return value_or_throw(store_.remove(tx, key, sequence));
    }
    result<std::vector<dead_letter>> list(const partition_key& key,
                                          const std::optional<std::uint64_t>& after,
                                          std::uint64_t max_count)
    {
        return value_or_throw(store_.list(key, after, max_count));
    }
    result<std::optional<crash_record>> load_crash_record(const partition_key& key)
    {
        return value_or_throw(store_.load_crash_record(key));
    }
    result<void> store_crash_record(transaction& tx, const partition_key& key,
                                    const crash_record& row)
    {
        return value_or_throw(store_.store_crash_record(tx, key, row));
    }
    result<void> clear_crash_record(transaction& tx, const partition_key& key)
    {
        return value_or_throw(store_.clear_crash_record(tx, key));
    }

private:
    Store& store_;
};

using memory = memory_store<std::string>;
using full_wrapper = catching_store<throwing_store<memory>>;
static_assert(dead_letter_queue<full_wrapper> && crash_record_store<full_wrapper> &&
              checkpoint_reset<full_wrapper> && savepoint_scope<full_wrapper::transaction>);

/// A store with checkpoints only.
struct checkpoints_only {
    struct transaction {
        result<commit_outcome> commit() { throw database_error("commit"); }
        void rollback() noexcept(false) { throw database_error("rollback"); }
    };
    result<transaction> begin() { return transaction(); }
    result<std::optional<checkpoint>> load(const partition_key&) { throw database_error("load"); }
    result<advance_outcome> advance(transaction&, const partition_key&,
                                    const std::optional<position>&, const position&, std::uint64_t)
    {
        throw 42;
    }
};
template <class S>
concept has_find = requires(S& s, const partition_key& key) { s.find(key, 1U); };
template <class T>
concept has_savepoint = requires(T& tx) { tx.savepoint(); };
static_assert(checkpoint_store<catching_store<checkpoints_only>>);
static_assert(!has_find<catching_store<checkpoints_only>>);
static_assert(!has_savepoint<catching_store<checkpoints_only>::transaction>);

struct event {
    std::uint64_t sequence = 0;
    std::string body{};
};

const partition_key key{"orders", "billing", "0"};
const std::vector<event> events{{1, "a"}, {2, "bad"}, {3, "c"}};

template <class Tx>
fault handle(Tx& tx, const event& e)
{
    if (e.body == "bad") return permanent("bad order");
    auto* const inner = tx.inner();
    if (!inner) return infrastructure("the process ended");
    inner->record(e.body);
    return {};
}

TEST_CASE("catching_store: exceptions of single calls become errors")
{
    checkpoints_only db;
    catching_store safe(db);
    CHECK(safe.load(key).error() == infrastructure("load"));
    auto tx = safe.begin();
    REQUIRE(tx.has_value());
    CHECK(safe.advance(*tx, key, {}, {1, ""}, 1).error() ==
          infrastructure("an exception that is not a std::exception"));
    CHECK_FALSE(tx->commit().has_value());
    tx->rollback();

    const auto never_succeeds = [](const std::exception&) { return fault_kind::permanent; };
    CHECK(catching_store(db, never_succeeds).load(key).error() == permanent("load"));
    const auto throws = [](const std::exception&) -> fault_kind { throw 1; };
    CHECK(catching_store(db, throws).load(key).error() == infrastructure("load"));
    const auto none = [](const std::exception&) { return fault_kind::none; };
    CHECK(catching_store(db, none).load(key).error() == infrastructure("load"));
}

TEST_CASE("catching_store: process_batch ends as over a store that returns its errors")
{
    choices c;
    std::uint64_t runs = 0;
    do {
        std::vector<std::uint32_t> picks;
        memory first, second;
        const auto with = [&](memory& kept, const auto& pick) {
            return faulty(kept, [pick](store_call call) {
                const auto faults = faults_of(call);
                return faults[pick(static_cast<std::uint32_t>(faults.size()))];
            });
        };
        auto returning = with(first, [&](std::uint32_t n) {
            picks.push_back(c.pick(n));
            return picks.back();
        });
        std::size_t at = 0;
        auto same =
            with(second, [&](std::uint32_t) { return at < picks.size() ? picks[at++] : 0; });
        throwing_store thrower(same);
        catching_store safe(thrower);

        assignment mine{key, {}, 1};
        const batch_policy policy{.deaths = 2};
        const auto handler = [](auto& tx, const event& e) { return handle(tx, e); };
        const batch_report a = process_batch(returning, mine, events, handler, {}, policy);
        assignment mine_too{key, {}, 1};
        const batch_report b = process_batch(safe, mine_too, events, handler, {}, policy);
        CHECK(a.outcome == b.outcome);
        CHECK(a.handled == b.handled);
        CHECK(a.dead_lettered == b.dead_lettered);
        CHECK(first.records() == second.records());
        CHECK(first.letters().size() == second.letters().size());
        ++runs;
    } while (c.next());
    CHECK(runs > 50);
}

TEST_CASE("the guide's example: a store whose database library throws")
{
    memory kept;
    throwing_store<memory> store(kept);
    const assignment mine{key};
    const auto handle = [](auto& tx, const event& e) { tx.record(e.body); };
    const wall_time now;

    //! [ext_catching_store]
    waybill::catching_store safe(store);
    auto r = waybill::process_batch(safe, mine, events, waybill::catching(handle), now);
    //! [ext_catching_store]
    CHECK(r.outcome == batch_outcome::committed);
    CHECK(kept.records().size() == 3);
}

}  // namespace
}  // namespace catching_store_test
