// SPDX-License-Identifier: MIT
//
// The snippets of the guide include/waybill/consume/README.md.
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/consume.hpp>
#include <waybill/retry/circuit_breaker.hpp>
#include <waybill/testing/memory_store.hpp>

namespace consume_guide_test {
namespace {

using namespace std::chrono_literals;

struct order {
    std::uint64_t sequence;
    std::string body;
    long total;
};

const auto log_fault = [](const waybill::fault& f) { FAIL(f.text); };

using memory_store = waybill::testing::memory_store<std::string>;

const waybill::partition_key key{"orders", "billing", "0"};
const std::vector<order> events{{1, "a", 10}, {2, "b", -1}, {5, "c", 30}};
const waybill::wall_time now;
constexpr std::uint64_t epoch = 1;
constexpr std::uint64_t incarnation = 81;

const auto apply = [](auto& tx, const order& o) -> waybill::fault {
    if (o.total < 0) return waybill::permanent("total is negative");
    tx.record(o.body);
    return {};
};

// A log that still has all events.
struct {
    waybill::result<std::optional<order>> read(const waybill::position& at) const
    {
        for (const order& o : events) {
            if (o.sequence == at.sequence) return std::optional<order>(o);
        }
        return std::optional<order>();
    }
} orders;

namespace store_calls {
//! [consume_store]
using namespace waybill;
struct my_store {
    struct transaction {                  // movable; without a commit it is rolled back
        result<commit_outcome> commit();  // applied, not_applied or unknown
        void rollback() noexcept;
        result<void> savepoint();              // optional: these three
        result<void> release_savepoint();      // keeps the writes since then
        result<void> rollback_to_savepoint();  // removes them
    };
    result<transaction> begin();
    result<std::optional<checkpoint>> load(const partition_key& key);  // {.at, .epoch}
    result<advance_outcome> advance(transaction& tx, const partition_key& key,
                                    const std::optional<position>& from, const position& to,
                                    std::uint64_t epoch);  // applied, conflict or stale_epoch
    result<void> put(transaction& tx, const dead_letter& letter);  // inserts or replaces
    result<std::optional<dead_letter>> find(const partition_key& key, std::uint64_t sequence);

    // Optional, for reprocess, reprocess_all and resubmit:
    result<bool> remove(transaction& tx, const partition_key& key, std::uint64_t sequence);
    result<std::vector<dead_letter>> list(const partition_key& key,
                                          const std::optional<std::uint64_t>& after,
                                          std::uint64_t max_count);  // ascending
    result<std::vector<partition_key>> dead_letter_keys();           // each key once
};
//! [consume_store]
static_assert(checkpoint_store<my_store> && dead_letter_queue<my_store>);
static_assert(savepoint_scope<my_store::transaction>);
}  // namespace store_calls

TEST_CASE("consume guide: effects, dead letters and checkpoint in one transaction")
{
    memory_store store;

    const auto handle = [](auto& tx, const order& o) -> waybill::fault {
        if (o.total < 0) return waybill::permanent("total is negative");
        tx.record(o.body);  // your INSERT or UPDATE, through tx
        return {};
    };
    const auto stored = store.load(key);            // a checkpoint, no checkpoint, or an error
    if (!stored) return log_fault(stored.error());  // try later; not from the beginning
    waybill::assignment mine{key, waybill::position_of(*stored), epoch, incarnation};

    const auto r = waybill::process_batch(store, mine, events, handle, now);
    if (r.outcome == waybill::batch_outcome::committed) mine.from = r.reached;

    CHECK(r.outcome == waybill::batch_outcome::committed);
    CHECK(store.records() == std::vector<std::string>{"a", "c"});
    CHECK((*store.find(key, 2))->reason == "total is negative");
    CHECK((*store.load(key))->at.sequence == 5);
    CHECK(mine.from->sequence == 5);
    CHECK(waybill::detail::deaths_at_most(100, 3) == 11);
}

TEST_CASE("consume guide: a circuit breaker decides about a batch in which every event failed")
{
    memory_store store;
    const waybill::assignment mine{key, {}, epoch};
    const waybill::steady_time steady_now;
    const auto deliver = [&](waybill::circuit_breaker& breaker) {
        const auto handle = [](auto&, const order&) { return waybill::permanent("no answer"); };
        //! [consume_ask]
        const auto ask = [&](std::uint64_t) {  // the argument: the number of failed events
            using decision = waybill::batch_policy::if_all_failed;
            return breaker.suspects_outage(steady_now) ? decision::redeliver : decision::go_on;
        };
        const auto r = waybill::process_batch(store, mine, events, handle, now, {}, ask);
        //! [consume_ask]
        return r;
    };

    waybill::circuit_breaker open;
    open.force_open(steady_now);
    CHECK(deliver(open).outcome == waybill::batch_outcome::redeliver);
    CHECK(store.letters().empty());
    waybill::circuit_breaker closed;
    CHECK(deliver(closed).outcome == waybill::batch_outcome::committed);
    CHECK(store.letters().size() == 3);
}

TEST_CASE("consume guide: effects that share no transaction with the checkpoint")
{
    memory_store store;
    waybill::checkpoint_writer_for offsets(store);
    waybill::dead_letter_sink_for letter_topic(store);
    struct {
        std::map<std::string, std::string> sent;
        waybill::fault send(const std::string& text, std::string_view message_id)
        {
            sent[std::string(message_id)] = text;
            return {};
        }
    } mail;
    waybill::assignment mine{key, {}, epoch};

    //! [consume_at_least_once]
    const auto handle = [&](const order& o, std::string_view id) -> waybill::fault {
        if (o.total < 0) return waybill::permanent("total is negative");
        return mail.send(o.body, id);  // the same id whenever the event is repeated
    };
    const auto r = waybill::process_at_least_once(offsets, letter_topic, mine, events, handle, now,
                                                  {.commit_every = 100});
    mine.from = r.reached;  // valid for each outcome
    //! [consume_at_least_once]

    CHECK(r.outcome == waybill::batch_outcome::committed);
    CHECK(mail.sent == std::map<std::string, std::string>{{"orders/billing/0/1", "a"},
                                                          {"orders/billing/0/5", "c"}});
    CHECK(store.letters().size() == 1);
    CHECK(mine.from->sequence == 5);
}

TEST_CASE("consume guide: the same key for each delivery of an event")
{
    std::vector<std::string> sent;
    const auto send = [&](const order&, std::string_view id) { sent.emplace_back(id); };

    //! [consume_key]
    using scope = waybill::idempotency_keys::options::scope_type;
    waybill::idempotency_keys keys(key, {.scope = scope::event});
    for (const order& o : events) send(o, keys(o.sequence));                // "orders/0/1" ...
    const std::string one = waybill::idempotency_key({"a/b", "", "ü"}, 0);  // "a%2Fb//%C3%BC/0"
    //! [consume_key]

    CHECK(sent == std::vector<std::string>{"orders/0/1", "orders/0/2", "orders/0/5"});
    CHECK(one == "a%2Fb//%C3%BC/0");
    const std::string named = waybill::idempotency_key({std::string(200, 'x'), "g", "0"}, 7);
    CHECK(named.size() == 1 + 32 + 1 + 1);
    CHECK(named.front() == '~');
}

TEST_CASE("consume guide: dead letters are reprocessed")
{
    memory_store store;
    waybill::assignment mine{key, {}, epoch};
    CHECK(waybill::process_batch(store, mine, events, apply, now,
                                 {.dead_letters = {.keeps = waybill::dead_letter_body::pointer}})
              .handled == 2);
    std::map<std::string, int> ended;
    const auto corrected = [](auto& tx, const order& o) -> waybill::fault {
        tx.record("corrected " + o.body);
        return {};
    };

    //! [consume_reprocess]
    const auto fetch = [&](const waybill::dead_letter& d) { return orders.read(d.at); };
    const auto letters = store.list(key, {}, 100);  // the first 100, in the order of sequences
    if (!letters) return log_fault(letters.error());
    for (const waybill::dead_letter& d : *letters) {
        const auto r = waybill::reprocess(store, key, d.at.sequence, fetch, corrected, now);
        ++ended[std::string(name(r.outcome))];  // "handled", "failed", "gone" ...
    }
    //! [consume_reprocess]

    CHECK(ended == std::map<std::string, int>{{"handled", 1}});
    CHECK(store.records() == std::vector<std::string>{"a", "c", "corrected b"});
    CHECK(store.letters().empty());
}

TEST_CASE("consume guide: a checkpoint is moved back")
{
    memory_store store;
    waybill::assignment mine{key, {}, epoch};
    mine.from = waybill::process_batch(store, mine, events, apply, now).reached;

    //! [consume_rewind]
    const auto r = waybill::rewind(store, mine, waybill::position{1});  // the next event follows 1
    if (r.outcome == waybill::rewind_report::outcome_type::rewound) mine = r.mine;
    //! [consume_rewind]

    CHECK(r.outcome == waybill::rewind_report::outcome_type::rewound);
    CHECK((*store.load(key))->at.sequence == 1);
    CHECK(waybill::process_batch(store, mine, events, apply, now).repeated == 1);
}

TEST_CASE("consume guide: old dead letters are removed")
{
    const auto old = waybill::wall_time::at(waybill::duration::seconds(0));
    const auto today = old + 8 * 24h;
    const std::vector<waybill::prune_plan::row> rows{
        {1, 500, old}, {2, 500, old, true}, {3, 500, today}};
    std::vector<std::uint64_t> removed;
    struct {
        std::vector<std::uint64_t>& removed;
        void exec(const char*, std::uint64_t id, waybill::wall_time) { removed.push_back(id); }
    } db{removed};
    const auto alarm = [](std::uint64_t) { FAIL("no spike"); };

    //! [consume_prune]
    const waybill::prune_policy policy{
        .age = 7 * 24h, .count = 100'000, .spike = {.count = 500, .within = 10min}};
    const auto plan = waybill::plan_prune(rows, policy, today);
    for (const waybill::prune_plan::removal& r : plan.removals) {
        db.exec("delete from letters where id = ? and dead_lettered_at = ? and redriving = 0", r.id,
                r.dead_lettered_at);
    }
    if (plan.spike) alarm(plan.recent);
    //! [consume_prune]

    CHECK(removed == std::vector<std::uint64_t>{1});
    CHECK(plan.after == waybill::prune_plan::totals{2, 1'000});
    CHECK(plan.redriving.rows == 1);
    CHECK_FALSE(plan.limit_reached);
    CHECK_FALSE(plan.removals[0].may_remove({1, 500, old, true}));
}

}  // namespace
}  // namespace consume_guide_test
