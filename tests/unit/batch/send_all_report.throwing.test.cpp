// SPDX-License-Identifier: MIT
//
// An exception that leaves send_all loses no outcome: the reports of the calls that return have
// every item exactly once, whichever call of the caller's functions throws.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/batch/send_all.hpp>

namespace send_all_report_test {

using namespace waybill;

namespace {

/// Throws at one call, counted over all functions of the caller, or at several consecutive ones.
struct call_counter {
    std::uint64_t count = 0;
    std::uint64_t first = 0;  // the number of the call that throws
    std::uint64_t last = 0;   // and of the last one
    void call()
    {
        const std::uint64_t number = count++;
        if (number >= first && number <= last) throw std::runtime_error("a call failed");
    }
};

constexpr std::uint64_t how_many = 20;
constexpr std::uint64_t huge = 11;       // the item that fits into no batch
constexpr std::uint64_t refused_at = 3;  // the item that the broker refuses for good

std::uint64_t bytes_of(std::uint64_t n)
{
    return n == huge ? 5'000'000 : 20 + n % 7;
}

/// Reads 0, 1, 2 ... once.
struct generator {
    using value_type = std::uint64_t;
    using difference_type = std::ptrdiff_t;
    std::uint64_t* at = nullptr;
    call_counter* calls = nullptr;
    std::uint64_t operator*() const
    {
        calls->call();
        return *at;
    }
    generator& operator++()
    {
        ++*at;
        return *this;
    }
    void operator++(int) { ++*at; }
    friend bool operator==(const generator& g, std::default_sentinel_t)
    {
        return *g.at == how_many;
    }
};

/// The outcomes of each item in the reports of the calls that returned.
struct ledger {
    std::vector<std::uint64_t> times = std::vector<std::uint64_t>(how_many);
    std::vector<item_report> outcomes{};
    send_report sum{};
    void take(send_report r)
    {
        for (const item_report& i : r.outcomes) {
            for (std::uint64_t n = i.items.first; n != i.items.end(); ++n) ++times.at(n);
        }
        sum += std::move(r);
    }
    const item_report* of(std::uint64_t n) const
    {
        for (const item_report& i : sum.outcomes) {
            if (n >= i.items.first && n < i.items.end()) return &i;
        }
        return nullptr;
    }
};

/// Calls send_all until all is settled, with time passing and exceptions caught. Returns how many
/// exceptions there were.
template <class Input>
std::uint64_t run_all(Input& input, call_counter& calls, const send_policy& p)
{
    batch_sender s(p);
    ledger all;
    steady_time now{};
    std::uint64_t sent = 0;
    const batch_sender::entry_fault second[] = {{1, fault_kind::transient}};
    const auto size = [&](std::uint64_t n) {
        calls.call();
        return batch_sender::queued(bytes_of(n), n % 3);
    };
    const auto clock = [&] {
        calls.call();
        return now;
    };
    const auto transmit = [&](const auto& batch) -> send_outcome {
        ++sent;
        calls.call();
        if (sent == 2) return batch_sender::too_large{};
        if (sent == 4) return batch_sender::partial{.failed = second};
        for (const std::uint64_t n : batch) {
            if (n == refused_at)
                return batch_sender::failed{0, fault_kind::permanent, "no such topic"};
        }
        return batch_sender::accepted{};
    };
    const auto replace = [&](const auto&, const batch_sender::replace&) {
        calls.call();
        return fault{fault_kind::permanent, "the store is full"};
    };
    std::uint64_t thrown = 0;
    bool done = false;
    for (int rounds = 0; !done && rounds != 100; ++rounds) {
        try {
            send_report r = send_all(input, size, s, transmit, clock, replace);
            CHECK(!r.other_input);
            CHECK(s.unreported() == send_report{});
            done = !r.waiting;
            if (r.waiting) now = *r.waiting;
            all.take(std::move(r));
        } catch (const std::runtime_error&) {
            ++thrown;
        }
    }
    CHECK(done);
    CHECK(s.finished());
    CHECK(all.times == std::vector<std::uint64_t>(how_many, 1));
    CHECK(all.sum.accepted + all.sum.not_accepted == how_many);
    CHECK(all.sum.taken == how_many);
    CHECK(all.sum.sends == sent);
    CHECK(!all.sum.stopped);
    const item_report* large = all.of(huge);
    REQUIRE(large != nullptr);
    if (!p.ordered) CHECK(large->outcome == item_outcome::too_large);
    const bool asked = large->outcome == item_outcome::too_large &&
                       p.on_too_large == send_policy::when_too_large::replace;
    CHECK(large->text == (asked ? "the store is full" : ""));
    const item_report* refused_one = all.of(refused_at);
    REQUIRE(refused_one != nullptr);
    const bool failed_now = refused_one->outcome == item_outcome::failed;
    CHECK(refused_one->text == (failed_now ? "no such topic" : ""));
    if (thrown == 0) CHECK(failed_now);
    return thrown;
}

template <class F>
void each_policy(F&& check)
{
    for (const send_policy::when_unknown unknown :
         {send_policy::when_unknown::repeat, send_policy::when_unknown::hand_back}) {
        for (const send_policy::when_too_large large :
             {send_policy::when_too_large::report, send_policy::when_too_large::replace}) {
            for (const bool ordered : {false, true}) {
                CAPTURE(static_cast<int>(unknown));
                CAPTURE(static_cast<int>(large));
                CAPTURE(ordered);
                check(send_policy{
                    .limit = {.bytes = 200, .items = 6},
                    .ordered = ordered,
                    .on_too_large = large,
                    .on_unknown = unknown,
                    .retry = {.max_attempts = 100, .pauses = {.spread = backoff::jitter::none}}});
            }
        }
    }
}

std::vector<std::uint64_t> numbers()
{
    std::vector<std::uint64_t> all(how_many);
    for (std::uint64_t n = 0; n != how_many; ++n) all[n] = n;
    return all;
}

/// Runs `of(calls)` with the exception at each call in turn, until there is no further call.
template <class F>
void at_each_call(std::uint64_t in_a_row, F&& of)
{
    std::uint64_t at = 0;
    for (bool threw = true; threw; ++at) {
        CAPTURE(at);
        call_counter calls{.first = at, .last = at + in_a_row - 1};
        threw = of(calls) != 0;
        REQUIRE(at < 1'000);
    }
    CHECK(at > 50);
}

}  // namespace

TEST_CASE(
    "send_all: the reports contain each of 400 items, one oversized, although transmit "
    "throws")
{
    std::vector<std::string> inbox(400, std::string(100, 'x'));
    inbox[170] = std::string(5'000'000, 'y');
    for (std::uint64_t at = 0; at != 8; ++at) {
        CAPTURE(at);
        batch_sender s({.limit = {.bytes = 262'144, .items = 50},
                        .retry = {.pauses = {.spread = backoff::jitter::none}}});
        std::uint64_t sends = 0;
        const auto transmit = [&](const auto&) -> send_outcome {
            if (sends++ == at) throw std::runtime_error("connection reset");
            return batch_sender::accepted{};
        };
        steady_time now{};
        send_report sum;
        do {
            if (sum.waiting) now = *sum.waiting;
            try {
                sum += send_all(inbox, &std::string::size, s, transmit, now);
            } catch (const std::runtime_error&) {
                sum.waiting = now;
            }
        } while (sum.waiting);
        CHECK(sum.accepted == 399);
        CHECK(sum.not_accepted == 1);
        CHECK(sum.sends == 9);
    }
}

TEST_CASE("send_all: an exception of any call, once or twice, leaves each item in the reports once")
{
    for (const std::uint64_t in_a_row : {1U, 2U}) {
        each_policy([&](const send_policy& p) {
            at_each_call(in_a_row, [&](call_counter& calls) {
                const std::vector<std::uint64_t> items = numbers();
                return run_all(items, calls, p);
            });
        });
    }
}

TEST_CASE("send_all: the same for a list, and for a single-pass input")
{
    each_policy([&](const send_policy& p) {
        at_each_call(1, [&](call_counter& calls) {
            const std::vector<std::uint64_t> items = numbers();
            std::forward_list<std::uint64_t> list(items.begin(), items.end());
            return run_all(list, calls, p);
        });
        at_each_call(1, [&](call_counter& calls) {
            std::uint64_t at = 0;
            resend_buffer<generator, std::default_sentinel_t> box(generator{&at, &calls}, {});
            const std::uint64_t thrown = run_all(box, calls, p);
            CHECK(box.size() == 0);
            return thrown;
        });
    });
}

TEST_CASE("sender: unreported contains the report of a call that threw until a call returns it")
{
    const std::vector<std::string> words{"far too large", "a", "b", "c", "d"};
    const std::vector<std::string> none{};
    batch_sender s({.limit = {.bytes = 10, .items = 2},
                    .retry = {.pauses = {.spread = backoff::jitter::none}}});
    CHECK(s.unreported() == send_report{});
    bool throws = true;
    std::uint64_t sends = 0;
    const auto transmit = [&](const auto&) -> send_outcome {
        if (++sends == 2 && throws) throw std::runtime_error("connection reset");
        return batch_sender::accepted{};
    };
    const auto call = [&](const auto& input, steady_time now) {
        return send_all(input, &std::string::size, s, transmit, now);
    };
    CHECK_THROWS_AS((void)call(words, steady_time()), std::runtime_error);
    const send_report kept = s.unreported();
    CHECK(kept.outcomes.size() == 2);
    CHECK(kept.accepted == 2);
    CHECK(kept.not_accepted == 1);
    CHECK(kept.sends == 2);
    CHECK(kept.unaccepted_bytes == 2);

    // Neither an input that is not the sender's nor a wait loses it.
    CHECK(call(none, steady_time()).other_input);
    CHECK(s.unreported() == kept);
    send_report r = call(words, steady_time());
    REQUIRE(r.waiting);
    const steady_time later = *r.waiting;
    CHECK(r.accepted == 2);
    CHECK(r.not_accepted == 1);
    CHECK(s.unreported() == send_report{});
    r += call(words, later);
    CHECK(r.accepted == 4);
    CHECK(r.not_accepted == 1);
    CHECK(r.sends == 3);

    // The report of the next input has nothing of this one.
    CHECK(call(std::vector<std::string>{"e"}, later).accepted == 1);
}

TEST_CASE("send_all: stopped after an exception, the report contains accepted and in_doubt items")
{
    const std::vector<std::string> words{"a", "b", "c", "d", "e"};
    for (const send_policy::when_unknown unknown :
         {send_policy::when_unknown::repeat, send_policy::when_unknown::hand_back}) {
        batch_sender s({.limit = {.items = 2}, .on_unknown = unknown});
        std::uint64_t sends = 0;
        const auto transmit = [&](const auto&) -> send_outcome {
            if (++sends == 2) throw std::runtime_error("connection reset");
            return batch_sender::accepted{};
        };
        const auto call = [&] {
            return send_all(words, &std::string::size, s, transmit, steady_time());
        };
        CHECK_THROWS_AS((void)call(), std::runtime_error);
        s.on(batch_sender::stopped{}, steady_time());
        const send_report r = call();
        CHECK(r.stopped);
        CHECK(r.taken == 4);
        CHECK(r.sends == 2);
        CHECK(r.outcomes == std::vector<item_report>{{{0, 2}, item_outcome::accepted},
                                                     {{2, 2}, item_outcome::in_doubt}});
    }
}

}  // namespace send_all_report_test
