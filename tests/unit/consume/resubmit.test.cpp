// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/consume/resubmit.hpp>
#include <waybill/core/environment.hpp>
#include <waybill/retry/call_report.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_store.hpp>

namespace resubmit_test {
namespace {

using namespace std::chrono_literals;
using waybill::dead_letter;
using waybill::fault;
using waybill::fault_kind;
using waybill::resubmit;
using environment = waybill::testing::manual_environment;
using run_outcome = dead_letter::run_report::run_outcome;
using store = waybill::testing::memory_store<std::string>;
using texts = std::vector<std::string>;

const waybill::partition_key orders{"orders", "billing", "0"};
const waybill::partition_key mails{"mails", "billing", "0"};

dead_letter letter(const waybill::partition_key& key, std::uint64_t sequence,
                   fault_kind kind = fault_kind::permanent)
{
    dead_letter d;
    d.key = key;
    d.at.sequence = sequence;
    d.kind = kind;
    d.body = key.source + std::to_string(sequence);
    d.dead_lettered_at = waybill::wall_time::at(1h * static_cast<int>(sequence));
    return d;
}

void put(store& s, const dead_letter& d)
{
    auto tx = s.begin();
    CHECK(s.put(*tx, d));
    CHECK(tx->commit());
}

store three_orders_and_a_mail()
{
    store s;
    for (const std::uint64_t n : {3U, 1U, 2U}) put(s, letter(orders, n));
    put(s, letter(mails, 7, fault_kind::transient));
    return s;
}

struct queue {
    texts bodies;
    fault send(const dead_letter& l)
    {
        bodies.push_back(l.body);
        return {};
    }
};

TEST_CASE("resubmit: all dead letters are sent, the oldest of each key first")
{
    store letters = three_orders_and_a_mail();
    queue q;
    environment env;
    const auto r = resubmit(letters, [&](const auto& l) { return q.send(l); }, env);
    CHECK(q.bodies == texts{"mails7", "orders1", "orders2", "orders3"});
    CHECK(r.ok());
    CHECK(r.done == 4);
    CHECK(describe(r) == "finished: 4 done, 0 failed");
    CHECK(letters.letters().empty());
    CHECK(resubmit(letters, [&](const auto& l) { return q.send(l); }, env).ok());
}

TEST_CASE("resubmit: selects by key, kind and time, and passes message ids")
{
    store letters = three_orders_and_a_mail();
    environment env;
    texts ids;
    const auto send = [&](const dead_letter&, std::string_view id) { ids.emplace_back(id); };
    auto r = resubmit(letters, send, {.kind = fault_kind::transient}, env);
    CHECK(ids == texts{"mails/billing/0/7"});
    CHECK(r.filtered == 3);
    const auto two = waybill::wall_time::at(2h);
    r = resubmit(letters, send, {.dead_lettered_from = two, .dead_lettered_to = two}, env);
    CHECK(ids.back() == "orders/billing/0/2");
    CHECK(describe(r) == "finished: 1 done, 0 failed, 2 not selected");
    CHECK(resubmit(letters, send, {.keys = {mails}}, env).done == 0);
    CHECK(resubmit(letters, send, {.keys = {orders}, .page = 1}, env).done == 2);
}

TEST_CASE("resubmit: a refused dead letter stays, and the next ones are sent")
{
    store letters = three_orders_and_a_mail();
    queue q;
    environment env;
    const auto send = [&](const dead_letter& l) {
        return l.body == "orders2" ? waybill::permanent("too large") : q.send(l);
    };
    const auto r = resubmit(letters, send, env);
    CHECK(q.bodies == texts{"mails7", "orders1", "orders3"});
    CHECK(r.outcome == run_outcome::finished);
    CHECK(!r.ok());
    REQUIRE(r.failed.size() == 1);
    CHECK(describe(r.failed[0]) == "orders/billing/0, event 2: permanent: too large");
    CHECK(letters.letters().size() == 1);
}

TEST_CASE("resubmit: a dead letter without a body stays unless the caller fetches bodies")
{
    store letters;
    dead_letter d = letter(orders, 1);
    d.kept = waybill::dead_letter_body::pointer;
    put(letters, d);
    queue q;
    environment env;
    const auto send = [&](const dead_letter& l) { return q.send(l); };
    const auto r = resubmit(letters, send, env);
    CHECK(r.gone == 1);
    CHECK(describe(r) == "finished: 0 done, 0 failed, 1 without a body");
    CHECK(!r.ok());
    CHECK(resubmit(letters, send, {.fetches_bodies = true}, env).ok());
}

TEST_CASE("resubmit: a queue that always throttles ends the call after two dead letters")
{
    store letters = three_orders_and_a_mail();
    environment env;
    int calls = 0;
    const auto r = resubmit(
        letters,
        [&](const dead_letter&) {
            ++calls;
            return waybill::call_answer{waybill::transient("busy"), 10s};
        },
        env);
    CHECK(calls == 10);
    CHECK(r.outcome == run_outcome::stopped);
    CHECK(r.reason == waybill::transient("busy"));
    CHECK(r.failed.size() == 1);
    CHECK(r.in_doubt == 0);
    CHECK(env.slept() >= waybill::duration(80s));
    CHECK(letters.letters().size() == 4);
    // A message that is always refused temporarily does not block the others.
    queue q;
    const auto send = [&](const dead_letter& l) {
        return l.body == "orders1" ? waybill::transient("busy") : q.send(l);
    };
    CHECK(resubmit(letters, send, env).outcome == run_outcome::finished);
    CHECK(q.bodies == texts{"mails7", "orders2", "orders3"});
}

TEST_CASE("resubmit: an unknown outcome is repeated and reported")
{
    store letters = three_orders_and_a_mail();
    queue q;
    environment env;
    bool first = true;
    const auto send = [&](const dead_letter& l) {
        const fault f = q.send(l);
        return std::exchange(first, false) ? waybill::infrastructure("no answer") : f;
    };
    const auto r = resubmit(letters, send, env);
    CHECK(q.bodies == texts{"mails7", "mails7", "orders1", "orders2", "orders3"});
    CHECK(r.ok());
    CHECK(r.in_doubt == 1);
}

TEST_CASE("resubmit: a dead letter removed during the call is not sent")
{
    store letters = three_orders_and_a_mail();
    queue q;
    environment env;
    const auto send = [&](const dead_letter& l) {
        if (l.body == "orders1") {
            auto tx = letters.begin();
            CHECK(letters.remove(*tx, orders, 2));
            CHECK(tx->commit());
        }
        return q.send(l);
    };
    const auto r = resubmit(letters, send, env);
    CHECK(r.absent == 1);
    CHECK(q.bodies == texts{"mails7", "orders1", "orders3"});
}

TEST_CASE("resubmit: rate, stop request and time limit")
{
    store letters = three_orders_and_a_mail();
    queue q;
    environment env;
    dead_letter::run_report r;
    std::vector<waybill::steady_time> times;
    const auto send = [&](const dead_letter& l) {
        times.push_back(env.now());
        if (times.size() == 2) env.stop_at(env.now());
        env.advance(-1min);  // the clock is set back
        return q.send(l);
    };
    resubmit(letters, send, {.max_per_second = 1}, env, r);
    env.stop_at(waybill::steady_time::highest());
    const auto limited = resubmit(
        letters, [&](const dead_letter& l) { return q.send(l); }, {.max_per_second = 2},
        waybill::time_limited(env, 400ms));
    CHECK(limited.outcome == run_outcome::running);
    CHECK(limited.done == 1);
    resubmit(
        letters, [&](const dead_letter& l) { return q.send(l); }, {.max_per_second = 1}, env, r);
    CHECK(r.ok());
    CHECK(q.bodies == texts{"mails7", "orders1", "orders2", "orders3"});
}

struct without_keys : private store {
    explicit without_keys(const store& s) : store(s) {}
    using transaction = store::transaction;
    using store::begin;
    using store::find;
    using store::list;
    using store::put;
    using store::remove;
};

TEST_CASE("resubmit: refuses an invalid policy, and a store without keys")
{
    store letters = three_orders_and_a_mail();
    queue q;
    environment env;
    const auto send = [&](const dead_letter& l) { return q.send(l); };
    CHECK(resubmit(letters, send, {.page = 0}, env).reason.kind == fault_kind::permanent);
    const auto range_error = [](waybill::duration from, waybill::duration to) {
        return describe(
            *validate(dead_letter::run_policy{.dead_lettered_from = waybill::wall_time::at(from),
                                              .dead_lettered_to = waybill::wall_time::at(to)}));
    };
    CHECK(range_error(2h, 1h) ==
          "dead_lettered_to is 3600000000000: nanoseconds since 1970 must be at least "
          "dead_lettered_from (7200000000000)");
    CHECK(range_error(-1h, -2h) ==
          "dead_lettered_to is -7200000000000: nanoseconds since 1970 must be at least "
          "dead_lettered_from, which is minus (3600000000000)");
    CHECK(validate(dead_letter::run_policy{.retry = {.max_attempts = 0}}));
    without_keys some(letters);
    const auto stopped = resubmit(some, send, {}, env);
    CHECK(stopped.outcome == run_outcome::stopped);
    CHECK(stopped.reason.text == "the store has no dead_letter_keys(): set run_policy::keys");
    CHECK(resubmit(some, send, {.keys = {orders}}, env).done == 3);
}

}  // namespace
}  // namespace resubmit_test
