// SPDX-License-Identifier: MIT
//
// process_batch and process_at_least_once with an environment: the time of dead letters, stop
// requests and time limits.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/consume.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_store.hpp>

namespace consume_environment_test {
namespace {

using namespace std::chrono_literals;
using waybill::assignment;
using waybill::batch_outcome;
using waybill::fault;
using waybill::process_at_least_once;
using waybill::process_batch;
using waybill::testing::manual_environment;
using store = waybill::testing::memory_store<std::string>;

const waybill::partition_key key{"orders", "billing", "0"};
constexpr waybill::wall_time noon = waybill::wall_time::at(waybill::duration::seconds(43'200));

struct event {
    std::uint64_t sequence;
    std::string body;
};
const std::vector<event> events{{10, "a"}, {20, "bad"}, {30, "c"}, {40, "d"}};

fault write(store::transaction& tx, const event& e)
{
    tx.record(e.body);
    return e.body == "bad" ? waybill::permanent("cannot be") : fault{};
}

TEST_CASE("process_batch: with an environment, the result equals that with its wall time")
{
    store by_time, by_environment;
    manual_environment env({}, noon);
    const auto expected = process_batch(by_time, {key, {}, 1}, events, write, noon);
    const auto r = process_batch(by_environment, {key, {}, 1}, events, write, env);
    CHECK(r == expected);
    CHECK(r.outcome == batch_outcome::committed);
    CHECK(by_environment.records() == by_time.records());
    CHECK(by_environment.letters() == by_time.letters());
    CHECK((**by_environment.find(key, 20)).dead_lettered_at == noon);
    CHECK(env == manual_environment({}, noon));  // it neither slept nor took a random number

    store policy;
    const auto none = process_batch(
        policy, {key, {}, 1}, events.begin(), events.begin(), write, manual_environment{},
        {.tries = 1}, [](std::uint64_t) { return waybill::batch_policy::if_all_failed::go_on; });
    CHECK(none.outcome == batch_outcome::empty);
}

TEST_CASE(
    "process_batch: a stop request before any event rolls back, and the handler is not "
    "called")
{
    for (std::size_t stop = 0; stop != events.size() + 1; ++stop) {
        CAPTURE(stop);
        store s;
        manual_environment env;
        env.stop_at(waybill::steady_time{} + waybill::duration::seconds(static_cast<int>(stop)));
        std::size_t calls = 0;
        const auto slow = [&](store::transaction& tx, const event& e) {
            ++calls;
            env.advance(1s);
            return write(tx, e);
        };
        const auto r = process_batch(s, {key, {}, 1}, events, slow, env);
        CHECK(calls == stop);
        if (stop == events.size()) {  // during the last event: too late for a stop
            CHECK(r.outcome == batch_outcome::committed);
            continue;
        }
        CHECK(r.outcome == batch_outcome::cancelled);
        CHECK(r.reason == waybill::cancelled("a stop was requested"));
        CHECK(s.records().empty());
        CHECK(!s.load(key)->has_value());
    }
}

TEST_CASE("process_batch: a time limit is a stop request")
{
    store s;
    manual_environment env;
    const auto slow = [&](store::transaction&, const event&) {
        env.advance(2s);
        return fault{};
    };
    const auto r = process_batch(s, {key, {}, 1}, events, slow, waybill::time_limited(env, 3s));
    CHECK(r.outcome == batch_outcome::cancelled);
    CHECK(env.now() == waybill::steady_time{} + 4s);
}

TEST_CASE("process_at_least_once: a stop request before any event commits the earlier events")
{
    for (std::size_t stop = 0; stop != events.size() + 1; ++stop) {
        CAPTURE(stop);
        store s;
        waybill::checkpoint_writer_for offsets(s);
        waybill::dead_letter_sink_for letters(s);
        manual_environment env({}, noon);
        env.stop_at(waybill::steady_time{} + waybill::duration::seconds(static_cast<int>(stop)));
        std::vector<std::string> handled;
        const auto slow = [&](const event& e, std::string_view) {
            handled.push_back(e.body);
            env.advance(1s);
            return e.body == "bad" ? waybill::permanent("cannot be") : fault{};
        };
        const auto r = process_at_least_once(offsets, letters, {key, {}, 1}, events, slow, env);
        CHECK(handled.size() == stop);
        CHECK(r.outcome ==
              (stop == events.size() ? batch_outcome::committed : batch_outcome::cancelled));
        CHECK(r.reached.has_value() == (stop != 0));
        if (stop != 0) CHECK(r.reached->sequence == events[stop - 1].sequence);
        CHECK(s.letters().size() == (stop < 2 ? 0 : 1));
        for (const auto& [at, letter] : s.letters()) CHECK(letter.dead_lettered_at == noon);
    }
}

}  // namespace
}  // namespace consume_environment_test
