// SPDX-License-Identifier: MIT

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <support/environment_of.hpp>

#include <waybill/batch/send_all.hpp>
#include <waybill/retry/circuit_breaker.hpp>
#include <waybill/retry/scoped_permit.hpp>
#include <waybill/testing/manual_environment.hpp>

namespace send_all_environment_test {

using namespace waybill;
using namespace std::chrono_literals;
using testing::manual_environment;

namespace {

const std::vector<std::string> words{"one", "two", "three", "four", "five"};
constexpr auto size = [](const std::string& s) { return s.size(); };

send_policy two_items_each()
{
    return {.limit = {.bytes = 100, .items = 2}, .exact_sizes = true};
}

/// A broker that returns the given outcomes in turn, and then accepts everything.
struct broker {
    std::vector<send_outcome> outcomes{};
    std::size_t sends = 0;
    std::vector<std::string> got{};

    template <class Batch>
    send_outcome operator()(const Batch& batch)
    {
        const std::size_t n = sends++;
        const send_outcome o = n < outcomes.size() ? outcomes[n] : batch_sender::accepted{};
        if (!waybill::holds_alternative<batch_sender::throttled>(o))
            for (const std::string& s : batch) got.push_back(s);
        return o;
    }
};

TEST_CASE("send_all: sleeps while the broker throttles, and returns after all items are settled")
{
    manual_environment env(steady_time::at(100s));
    batch_sender s(two_items_each());
    broker b{.outcomes = {batch_sender::throttled{.retry_after = 2s}, batch_sender::accepted{},
                          batch_sender::throttled{.retry_after = 4s}}};
    const send_report r = send_all(words, size, s, b, env);
    CHECK_FALSE(r.waiting);
    CHECK(r.accepted == 5);
    CHECK(b.got == words);
    CHECK(r.sends == 5);
    CHECK(env.sleeps() == 2);
    CHECK(env.slept() >= duration(6s));
    CHECK(s.finished());
}

TEST_CASE(
    "send_all: returns at its time limit from a broker that always throttles, and "
    "continues later")
{
    manual_environment env;
    batch_sender s(two_items_each());
    bool throttles = true;
    const auto transmit = [&](const auto&) -> send_outcome {
        if (throttles) return batch_sender::throttled{.retry_after = 7s};
        return batch_sender::accepted{};
    };
    send_report r = send_all(words, size, s, transmit, time_limited(env, 10min));
    REQUIRE(r.waiting);
    CHECK(*r.waiting > steady_time::at(10min));
    CHECK(env.now() == steady_time::at(10min));
    CHECK(r.outcomes.empty());
    throttles = false;
    r += send_all(words, size, s, transmit, env);
    CHECK(r.accepted == 5);
    CHECK_FALSE(r.waiting);
}

TEST_CASE("send_all: sends nothing after a stop request")
{
    manual_environment env;
    batch_sender s(two_items_each());
    broker b;
    env.stop_at(steady_time{});
    send_report r = send_all(words, size, s, b, env);
    CHECK(b.sends == 0);
    CHECK(r.waiting == steady_time{});
    env.stop_at(steady_time::highest());
    r += send_all(words, size, s, b, env);
    CHECK(r.accepted == 5);
    CHECK(b.got == words);
}

TEST_CASE("send_all: replaces nothing after a stop request")
{
    manual_environment env;
    send_policy p{.limit = {.bytes = 4}, .exact_sizes = true};
    p.on_too_large = send_policy::when_too_large::replace;
    batch_sender s(p);
    std::vector<std::string> inbox{"long word", "a"};
    std::vector<std::string> stored;
    const auto replace = [&](std::string& word, const batch_sender::replace&) {
        stored.push_back(word);
        word = "ref";
        return fault{};
    };
    broker b;
    env.stop_at(steady_time{});
    send_report r = send_all(inbox, size, s, b, env, replace);
    CHECK(stored.empty());
    CHECK(b.sends == 0);
    CHECK(r.waiting == steady_time{});
    env.stop_at(steady_time::highest());
    r += send_all(inbox, size, s, b, env, replace);
    CHECK(stored == std::vector<std::string>{"long word"});
    CHECK(b.got == std::vector<std::string>{"ref", "a"});
    CHECK(r.accepted == 2);
}

TEST_CASE("send_all: maybe_twice counts each item that may have arrived twice once")
{
    const send_outcome unknown = batch_sender::outcome_unknown{};
    const send_outcome busy = batch_sender::throttled{.retry_after = 1s};
    for (const std::uint32_t in_flight : {1U, 3U}) {
        manual_environment env;
        send_policy p = two_items_each();
        p.in_flight = in_flight;
        p.retry.max_attempts = 9;
        batch_sender s(p);
        broker b{.outcomes = {unknown, unknown, busy, unknown}};
        const send_report r = send_all(words, size, s, b, env);
        CHECK(r.accepted + r.not_accepted == 5);
        std::uint64_t twice = 0;
        for (const std::string& w : words)
            twice += std::count(b.got.begin(), b.got.end(), w) > 1 ? 1U : 0U;
        CHECK(twice != 0);
        CHECK(r.maybe_twice == twice);
    }

    manual_environment env;
    send_policy p = two_items_each();
    p.on_unknown = send_policy::when_unknown::hand_back;
    batch_sender s(p);
    broker b{.outcomes = {unknown}};
    const send_report r = send_all(words, size, s, b, env);
    CHECK(r.accepted == 3);
    CHECK(r.maybe_twice == 0);
}

TEST_CASE("send_all: loses nothing if a service fails before its size check")
{
    // 503 may be returned before the size is known, or after the batch was stored.
    for (const bool ordered : {false, true}) {
        manual_environment env;
        batch_sender s({.limit = {.bytes = 1'000, .answers_per_entry = false},
                        .item_overhead = 1,
                        .ordered = ordered});
        const std::vector<std::string> input(300, std::string(10, 'x'));
        std::map<const std::string*, int> stored;
        std::size_t requests = 0, after_503 = 0;
        bool was_503 = false;
        const auto transmit = [&](const auto& batch) -> send_outcome {
            std::size_t bytes = 0;
            for (const std::string& x : batch) bytes += x.size() + 15;
            const bool busy = std::exchange(was_503, false) ? false : ++requests % 3 == 1;
            if (busy) return was_503 = true, batch_sender::outcome_unknown{};
            if (bytes > 1'000) {
                after_503 += requests % 3 == 1 ? 1U : 0U;
                return batch_sender::too_large{};
            }
            for (const std::string& x : batch) ++stored[&x];
            if (requests % 4 == 0) return batch_sender::outcome_unknown{};
            return batch_sender::accepted{};
        };
        const send_report r = send_all(input, size, s, transmit, env);
        CHECK(after_503 != 0);
        CHECK(r.accepted == 300);
        CHECK(stored.size() == 300);
        std::uint64_t twice = 0;
        for (const auto& x : stored) twice += x.second > 1 ? 1U : 0U;
        CHECK(twice != 0);
        CHECK(twice <= r.maybe_twice);
        CHECK(r.maybe_twice <= 300);
    }
}

TEST_CASE("send_all: counts an item once if it is cut again after an unknown outcome")
{
    const send_outcome unknown = batch_sender::outcome_unknown{};
    manual_environment env;
    batch_sender s({.limit = {.items = 5}});
    // Five items are unknown, repeated and refused; the first of them are unknown and repeated.
    broker b{.outcomes = {unknown, batch_sender::too_large{.actual = 600, .limit = 500}, unknown}};
    const send_report r = send_all(words, size, s, b, env);
    CHECK(r.accepted == 5);
    CHECK(r.maybe_twice == 5);
}

TEST_CASE("send_all: loses nothing in an outage of 30 minutes with 255 attempts")
{
    for (const std::uint32_t attempts : {5U, 255U}) {
        manual_environment env;
        send_policy p = two_items_each();
        p.ordered = true;
        p.retry.max_attempts = attempts;
        batch_sender s(p);
        const auto transmit = [&](const auto&) -> send_outcome {
            if (env.now() < steady_time::at(30min)) return batch_sender::outcome_unknown{};
            return batch_sender::accepted{};
        };
        const send_report r = send_all(words, size, s, transmit, time_limited(env, 10h));
        CHECK(r.accepted == (attempts == 5 ? 0U : 5U));
        CHECK_FALSE(r.waiting);
    }
}

TEST_CASE("send_all: counts throttled requests")
{
    manual_environment env;
    batch_sender s(two_items_each());
    broker b{.outcomes = {batch_sender::throttled{}, batch_sender::accepted{},
                          batch_sender::throttled{}}};
    const send_report r = send_all(words, size, s, b, env);
    CHECK(r.throttled == 2);
    CHECK(r.sends == 5);
}

TEST_CASE("send_all: works with a circuit breaker shared with other calls")
{
    manual_environment env;
    circuit_breaker breaker(
        {.minimum_throughput = circuit_breaker::config::never, .consecutive_failures = 1});
    batch_sender s(two_items_each());
    int posts = 0;
    const auto transmit = [&](const auto&) -> send_outcome {
        const steady_time now = env.now();
        auto permit = scoped_permit(breaker, [&] { return env.now(); });
        if (!permit) return batch_sender::throttled{.retry_after = breaker.next_change(now) - now};
        const fault_kind kind = ++posts == 1 ? fault_kind::infrastructure : fault_kind::none;
        permit.record(kind);
        if (kind != fault_kind::none) return batch_sender::failed{.kind = kind};
        return batch_sender::accepted{};
    };
    const send_report r = send_all(words, size, s, transmit, env);
    CHECK(r.accepted == 5);
    CHECK(posts == 4);
    CHECK(r.throttled >= 1);
    CHECK(env.slept() >= duration(5s));
}

TEST_CASE("send_all: the jitter of its retries comes from the environment")
{
    std::vector<duration> slept;
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        manual_environment env({}, {}, seed);
        send_policy p = two_items_each();
        p.retry.pauses = {.base = 1min, .cap = 1min};
        batch_sender s(p);
        broker b{.outcomes = {batch_sender::failed{.kind = fault_kind::transient}}};
        CHECK(send_all(words, size, s, b, env).accepted == 5);
        CHECK(env.slept() < duration(1min));
        slept.push_back(env.slept());
    }
    CHECK(slept[0] != slept[1]);
    CHECK(slept[1] != slept[2]);
    // A value of the caller stays.
    manual_environment env;
    send_policy p = two_items_each();
    p.retry.pauses = {.base = 1min, .cap = 1min};
    batch_sender s(p);
    broker b{.outcomes = {batch_sender::failed{.kind = fault_kind::transient, .random = 0.5}}};
    CHECK(send_all(words, size, s, b, env).accepted == 5);
    CHECK(env.slept() == duration(30s));
}

TEST_CASE("send_all: ends with a clock that stands still and a sleep without effect")
{
    batch_sender s(two_items_each());
    int sends = 0;
    const auto transmit = [&](const auto&) -> send_outcome {
        ++sends;
        return batch_sender::failed{.kind = fault_kind::transient};
    };
    support::environment_of still{steady_time{}, support::no_sleep, [] { return 0.5; }};
    const send_report r = send_all(words, size, s, transmit, still);
    CHECK(r.not_accepted == 5);
    CHECK_FALSE(r.waiting);
}

}  // namespace
}  // namespace send_all_environment_test
