// SPDX-License-Identifier: MIT
//
// The snippets of the guides include/waybill/README.md and include/waybill/testing/README.md.
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "../../../examples/support/environment.hpp"
#include <waybill/batch.hpp>
#include <waybill/consume.hpp>
#include <waybill/core/match.hpp>
#include <waybill/core/time_text.hpp>
#include <waybill/ext/chrono.hpp>
#include <waybill/retry.hpp>
#include <waybill/testing/choices.hpp>
#include <waybill/testing/conformance.hpp>
#include <waybill/testing/faulty.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_store.hpp>

namespace core_guide_test {
namespace {

using namespace std::chrono_literals;

TEST_CASE("core guide: a loop over a state machine")
{
    waybill::steady_time time;
    const auto now = [&] { return time; };
    const auto sleep_until = [&](waybill::steady_time t) { time = t; };
    const auto random = [] { return 0.5; };
    int calls = 0;
    const auto call = [&] { return ++calls < 3 ? waybill::transient("busy") : waybill::fault{}; };
    std::optional<waybill::fault_kind> failed;

    //! [core_loop]
    using waybill::retry_loop;
    retry_loop tries({.retry = {.max_attempts = 5}, .time_limit = 1min}, now());
    for (bool open = true; open;)
        waybill::match(
            tries.next(now()),
            [&](retry_loop::call) {
                tries.on(retry_loop::attempted{call().kind, random()}, now());
            },
            [&](waybill::wait_until w) { sleep_until(w.time); },
            [&](retry_loop::done) { open = false; },
            [&](waybill::give_up g) {
                failed = g.reason;
                open = false;
            });
    //! [core_loop]

    CHECK(calls == 3);
    CHECK_FALSE(failed);
    CHECK(tries.next(now()) == tries.next(now()));  // `next` changes nothing
    CHECK(tries.on(waybill::retry_loop::attempted{}, now()) == waybill::event_result::stale);
}

TEST_CASE("core guide: the environment of a driver")
{
    int calls = 0;
    const auto call = [&] {
        return ++calls % 2 == 0 ? waybill::fault{} : waybill::transient("busy");
    };

    using support::standard_environment;
    //! [core_drive]
    standard_environment env;
    auto report = waybill::retry_call({}, call, env);
    report =
        waybill::retry_call({}, call, waybill::time_limited(env, 10min));  // at most 10 minutes
    //! [core_drive]

    CHECK(report.ok());
    CHECK(calls == 4);
}

TEST_CASE("core guide: a snapshot is a copy")
{
    const waybill::steady_time now;
    waybill::retry_loop tries({}, now);

    //! [core_snapshot]
    const waybill::retry_loop before = tries;
    const waybill::event_result r = tries.on(waybill::retry_loop::attempted{}, now);
    //! [core_snapshot]

    CHECK(r == waybill::event_result::applied);
    CHECK_FALSE(tries == before);
    tries = before;
    CHECK(tries.next(now) == before.next(now));
}

TEST_CASE("core guide: configurations are validated")
{
    std::vector<std::string> lines;
    const auto log = [&](const std::string& line) { lines.push_back(line); };

    //! [core_validate]
    const waybill::batch_limits limits{.bytes = 262'144, .envelope = 300'000};
    if (auto bad = waybill::validate(limits)) log(waybill::describe(*bad));
    // "limits.envelope is 300000: must be less than bytes (262144)"

    auto sender = waybill::make<waybill::batch_sender>(waybill::send_policy{.limit = limits});
    if (!sender) log(waybill::describe(sender.error()));
    //! [core_validate]

    CHECK(lines == std::vector<std::string>(
                       2, "limits.envelope is 300000: must be less than bytes (262144)"));
}

TEST_CASE("core guide: times")
{
    const auto sleep = [](std::chrono::steady_clock::time_point) {};

    //! [core_time]
    waybill::duration pause = 1500ms;
    waybill::steady_time until = std::chrono::steady_clock::now() + 5s;
    until += 2 * pause;
    sleep(until.to_chrono());
    waybill::wall_time stored = std::chrono::system_clock::now();

    std::string text = waybill::to_text(pause);  // "1.5s"
    std::optional<waybill::duration> d = waybill::parse_duration(text);
    //! [core_time]

    CHECK(text == "1.5s");
    CHECK(d == pause);
    CHECK(waybill::parse_wall_time(waybill::to_text(stored)) == stored);
    CHECK(waybill::steady_time::highest() + pause == waybill::steady_time::highest());
}

struct key_value_store {
    bool down = false;
    waybill::result<std::optional<int>> load(const std::string& key)
    {
        if (down) return waybill::unexpected(waybill::infrastructure("connection refused"));
        if (key == "a") return std::optional(7);
        return std::nullopt;
    }
};

waybill::fault use(key_value_store& store, const std::string& key, int& got)
{
    //! [core_result]
    const auto loaded = store.load(key);  // result<std::optional<int>>: three cases
    if (!loaded) return loaded.error();   // a fault: its kind and a text
    if (!*loaded) return waybill::permanent("no row with the key " + key);
    got = **loaded;
    return {};  // success
    //! [core_result]
}

TEST_CASE("core guide: results")
{
    key_value_store store;
    int got = 0;
    CHECK(use(store, "a", got).ok());
    CHECK(got == 7);
    CHECK(use(store, "b", got) == waybill::permanent("no row with the key b"));
    store.down = true;
    CHECK(use(store, "a", got).kind == waybill::fault_kind::infrastructure);
}

struct order {
    std::uint64_t sequence = 0;
    std::string body{};
};

const waybill::partition_key key{"orders", "billing", "0"};
const std::vector<order> orders{{1, "a"}, {2, "b"}};

TEST_CASE("testing guide: a store in memory")
{
    const waybill::wall_time now;

    //! [testing_store]
    waybill::testing::memory_store<std::string> store;
    const auto handle = [](auto& tx, const order& o) -> waybill::fault {
        if (o.body == "b") return waybill::permanent("no such customer");
        tx.record(o.body);  // an effect of the event
        return {};
    };
    const auto r = waybill::process_batch(store, waybill::assignment{key}, orders, handle, now);

    CHECK(r.outcome == waybill::batch_outcome::committed);
    CHECK(store.records() == std::vector<std::string>{"a"});
    CHECK(store.letters().size() == 1);  // the dead letter of "b"
    //! [testing_store]
}

using my_store = waybill::testing::memory_store<std::string>;

TEST_CASE("testing guide: an environment in which a sleep moves the time")
{
    int calls = 0;
    const auto call = [&] { return ++calls < 3 ? waybill::transient("busy") : waybill::fault{}; };

    //! [testing_environment]
    waybill::testing::manual_environment env;
    const auto r = waybill::retry_call({.time_limit = 1min}, call, env);
    CHECK(env.slept() == r.elapsed);
    //! [testing_environment]
    CHECK(r.ok());
}

TEST_CASE("testing guide: conformance")
{
    std::vector<std::string> lines;
    const auto log = [&](const std::string& line) { lines.push_back(line); };

    //! [testing_conformance]
    const auto make = [] { return my_store(); };                    // a new, empty store
    const auto again = [](my_store& s) -> my_store& { return s; };  // a second connection to it
    const auto report = waybill::testing::conformance(make, again);
    for (const auto& rule : report.broken) log("broken: " + rule);
    for (const auto& rule : report.untested) log("untested: " + rule);
    //! [testing_conformance]

    CHECK(report.broken.empty());
    REQUIRE_FALSE(lines.empty());
    for (const std::string& line : lines) {
        CHECK(line.starts_with("untested: "));
        CHECK(line.ends_with(" (needs two threads)"));
    }
}

TEST_CASE("testing guide: a race")
{
    //! [testing_race]
    const auto race = [](auto waits, auto commits) {
        std::thread one(waits);
        std::this_thread::sleep_for(2ms);  // until `waits` has read the row and waits
        commits();
        one.join();
    };
    //! [testing_race]

    bool waited = false, committed = false;
    race([&] { waited = true; }, [&] { committed = true; });
    CHECK(waited);
    CHECK(committed);
}

TEST_CASE("testing guide: every fault at every call")
{
    const waybill::wall_time now;
    std::vector<std::string> wrong;
    const auto handle = [](auto& tx, const order& o) {
        tx.inner()->record(o.body);
        return waybill::fault{};
    };
    const std::vector<order> one_order{{1, "a"}};

    //! [testing_faults]
    namespace testing = waybill::testing;
    testing::choices c;
    do {
        testing::memory_store<std::string> kept;
        testing::faulty store(kept, [&](testing::store_call call) {
            const auto faults = testing::faults_of(call);
            return faults[c.pick(static_cast<std::uint32_t>(faults.size()))];
        });
        (void)waybill::process_batch(store, waybill::assignment{key}, one_order, handle, now);
        const bool passed = kept.load(key)->has_value();  // the checkpoint is stored
        if (passed != (kept.records().size() == 1)) wrong.push_back(c.line());
    } while (c.next());
    //! [testing_faults]

    CHECK(wrong.empty());
    CHECK_FALSE(c.diverged());
    CHECK(c.completed() > 20);
}

TEST_CASE("testing guide: one run again")
{
    int sum = 0;
    const auto run = [&](waybill::testing::choices& c) {
        sum = static_cast<int>(c.pick(4)) + 10 * static_cast<int>(c.pick(3));
    };

    //! [testing_replay]
    if (auto again = waybill::testing::choices::replay("2/4 1/3")) run(*again);
    //! [testing_replay]
    CHECK(sum == 12);
}

}  // namespace
}  // namespace core_guide_test
