// SPDX-License-Identifier: MIT
//
// A handler that throws, and a caller that catches and delivers the same events again.
//
// The event is found in a bounded number of rounds and becomes a dead letter. This holds in a store
// with crash records, in one without, and without transactions.

#include <cstdint>
#include <cstdio>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/consume.hpp>
#include <waybill/lease.hpp>
#include <waybill/testing/faulty.hpp>
#include <waybill/testing/memory_store.hpp>

namespace handler_exceptions_test {
namespace {

using waybill::assignment;
using waybill::batch_outcome;
using waybill::fault;
using waybill::position;
using store_type = waybill::testing::memory_store<std::uint64_t>;

struct event {
    std::uint64_t sequence;
};
const waybill::partition_key key{"log", "orders", "0"};

// The calls that process_batch needs, without crash records.
struct plain_store {
    using transaction = store_type::transaction;

    store_type& behind;

    auto begin() { return behind.begin(); }
    auto load(const waybill::partition_key& k) { return behind.load(k); }
    auto advance(transaction& tx, const waybill::partition_key& k,
                 const std::optional<position>& from, const position& to, std::uint64_t epoch)
    {
        return behind.advance(tx, k, from, to, epoch);
    }
    auto put(transaction& tx, const waybill::dead_letter& d) { return behind.put(tx, d); }
    auto find(const waybill::partition_key& k, std::uint64_t n) { return behind.find(k, n); }
};
static_assert(!waybill::crash_record_store<plain_store>);

enum class way { with_rows, without_rows, at_least_once };
enum class caller { keeps_assignment, makes_a_new_one };

struct result_of_rounds {
    std::uint64_t rounds = 0;  // until all events are done; 50 if they never are
    std::uint64_t exceptions = 0;
    std::vector<std::uint64_t> effects{};
    std::vector<waybill::dead_letter> letters{};
};

// Events 1 to `events` of which the handler throws at `bad`, caught and delivered again by the
// caller.
result_of_rounds deliver(way w, caller c, std::uint64_t events, const std::set<std::uint64_t>& bad,
                         std::uint64_t most_rounds = 50)
{
    store_type kept;
    plain_store plain{kept};
    waybill::checkpoint_writer_for<store_type> checkpoints{kept};
    waybill::dead_letter_sink_for<store_type> letters{kept};
    result_of_rounds r;
    std::vector<std::uint64_t> done;
    const auto in_transaction = [&](store_type::transaction& tx, const event& e) -> fault {
        tx.record(e.sequence);
        if (bad.contains(e.sequence)) throw std::runtime_error("out of order");
        return {};
    };
    const auto outside = [&](const event& e, std::string_view) -> fault {
        if (bad.contains(e.sequence)) throw std::runtime_error("out of order");
        done.push_back(e.sequence);
        return {};
    };
    assignment mine{key, {}, 1, 7};
    for (; r.rounds != most_rounds; ++r.rounds) {
        const auto stored = *kept.load(key);
        if (stored && stored->at.sequence == events) break;
        std::vector<event> rest;
        for (std::uint64_t n = stored ? stored->at.sequence + 1 : 1; n <= events; ++n)
            rest.push_back({n});
        if (c == caller::makes_a_new_one) mine = {key, {}, 1, 7};
        mine.from = waybill::position_of(stored);
        try {
            if (w == way::with_rows)
                (void)waybill::process_batch(kept, mine, rest, in_transaction, {});
            if (w == way::without_rows)
                (void)waybill::process_batch(plain, mine, rest, in_transaction, {});
            if (w == way::at_least_once) {
                (void)waybill::process_at_least_once(checkpoints, letters, mine, rest, outside, {});
            }
        } catch (const std::runtime_error&) {
            ++r.exceptions;
        }
    }
    r.effects = w == way::at_least_once ? done : kept.records();
    for (const auto& [at, letter] : kept.letters()) r.letters.push_back(letter);
    return r;
}

TEST_CASE(
    "process_batch: an event whose handler throws is dead-lettered, and the others take "
    "effect")
{
    for (const caller c : {caller::keeps_assignment, caller::makes_a_new_one}) {
        for (std::uint64_t bad = 1; bad <= 10; ++bad) {
            const auto r = deliver(way::with_rows, c, 10, {bad});
            CHECK(r.rounds < 50);
            CHECK(r.exceptions <= waybill::detail::deaths_at_most(10, 3));
            CHECK(r.effects.size() == 9);
            REQUIRE(r.letters.size() == 1);
            CHECK(r.letters[0].at.sequence == bad);
            CHECK(r.letters[0].tries == 3);
            CHECK(r.letters[0].reason ==
                  "its handler did not return 3 times: it threw an exception or its process ended");
        }
    }
}

TEST_CASE(
    "process_batch: without crash records, a throwing event is found if the assignment is "
    "kept")
{
    for (const way w : {way::without_rows, way::at_least_once}) {
        for (std::uint64_t bad = 1; bad <= 10; ++bad) {
            const auto r = deliver(w, caller::keeps_assignment, 10, {bad});
            CHECK(r.exceptions == 3);
            CHECK(r.rounds == (bad == 10 ? 4 : 5));
            REQUIRE(r.letters.size() == 1);
            CHECK(r.letters[0].at.sequence == bad);
            CHECK(r.letters[0].tries == 3);
            CHECK(r.letters[0].reason ==
                  "3 deliveries in a row ended in an exception, the last in its handler");
            if (w == way::without_rows) CHECK(r.effects.size() == 9);
        }
    }
    // A new assignment for each delivery has no record of earlier exceptions.
    CHECK(deliver(way::without_rows, caller::makes_a_new_one, 3, {2}).exceptions == 50);
}

TEST_CASE("process_batch: each set of events whose handlers throw is found, and no other event")
{
    for (const way w : {way::with_rows, way::without_rows, way::at_least_once}) {
        for (std::uint64_t events = 1; events <= 6; ++events) {
            for (std::uint64_t set = 0; set != std::uint64_t{1} << events; ++set) {
                std::set<std::uint64_t> bad;
                for (std::uint64_t n = 0; n != events; ++n) {
                    if ((set >> n & 1) != 0) bad.insert(n + 1);
                }
                const auto r = deliver(w, caller::keeps_assignment, events, bad, 200);
                CHECK(r.rounds < 200);
                REQUIRE(r.letters.size() == bad.size());
                for (const auto& letter : r.letters) CHECK(bad.contains(letter.at.sequence));
                if (w != way::at_least_once) CHECK(r.effects.size() == events - bad.size());
            }
        }
    }
}

TEST_CASE(
    "process_batch: after a throwing event has left the log, no other event is "
    "dead-lettered for it")
{
    store_type kept;
    plain_store plain{kept};
    const assignment mine{key, {}, 1};
    int exceptions = 0;
    const auto handle = [&](store_type::transaction&, const event& e) -> fault {
        if (e.sequence == 1 || (e.sequence == 2 && ++exceptions != 3))
            throw std::runtime_error("out of order");
        return {};
    };
    const auto round = [&](const std::vector<event>& events) {
        try {
            return process_batch(plain, mine, events, handle, {}).outcome;
        } catch (const std::runtime_error&) {
            return batch_outcome::redeliver;
        }
    };
    for (int n = 0; n != 3; ++n) CHECK(round({{1}, {2}}) == batch_outcome::redeliver);
    CHECK(round({{2}}) == batch_outcome::redeliver);
    CHECK(round({{2}}) == batch_outcome::redeliver);
    CHECK(round({{2}}) == batch_outcome::committed);
    CHECK(kept.letters().empty());
}

TEST_CASE(
    "process_batch: a handler that throws a few times and then succeeds leaves no dead "
    "letter")
{
    for (const way w : {way::with_rows, way::without_rows}) {
        store_type kept;
        plain_store plain{kept};
        int exceptions = 0;
        const auto handle = [&](store_type::transaction& tx, const event& e) -> fault {
            if (e.sequence % 3 == 0 && ++exceptions % 3 != 0) throw std::runtime_error("not yet");
            tx.record(e.sequence);
            return {};
        };
        assignment mine{key, {}, 1, 7};
        for (std::uint64_t n = 1; n <= 12; ++n) {
            batch_outcome end = batch_outcome::empty;
            while (end != batch_outcome::committed) {
                const std::vector<event> one{{n}};
                try {
                    const auto r = w == way::with_rows
                                       ? process_batch(kept, mine, one, handle, {})
                                       : process_batch(plain, mine, one, handle, {});
                    end = r.outcome;
                    mine.from = r.reached;
                } catch (const std::runtime_error&) {
                }
            }
        }
        CHECK(exceptions == 12);
        CHECK(kept.letters().empty());
        CHECK(kept.records().size() == 12);
    }
}

// Each time the store stores the record and is down at the end of the delivery: no event is at
// fault.
TEST_CASE("process_batch: with a kept assignment, a failing store does not count as an exception")
{
    for (const bool keeps : {true, false}) {
        store_type kept;
        assignment mine{key, {}, 1, 7};
        std::uint64_t rounds = 0;
        for (; rounds != 10; ++rounds) {
            int begins = 0;
            waybill::testing::faulty s(kept, [&](waybill::testing::store_call c) {
                const bool down = c == waybill::testing::store_call::begin && ++begins > 1;
                return down ? waybill::testing::injected_fault::fails
                            : waybill::testing::injected_fault::none;
            });
            if (!keeps) mine = {key, {}, 1, 7};
            const auto handle = [](auto&, const event&) { return fault{}; };
            if (process_batch(s, mine, std::vector<event>{{1}}, handle, {}).outcome ==
                batch_outcome::committed)
                break;
        }
        CHECK(kept.letters().empty() == keeps);
        CHECK(rounds == (keeps ? 10 : 3));
    }
}

}  // namespace
}  // namespace handler_exceptions_test
