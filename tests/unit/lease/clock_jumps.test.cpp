// SPDX-License-Identifier: MIT
//
// Clocks that jump: two processes share three partitions. The clock of one stands still, goes back
// by a day or ahead by a year, before and after each of its steps, one run after the other. It
// reads nothing until the lease is known again. The other process keeps its partitions. A process
// that the fence refuses stops. Each partition gets an owner again. A process with a stop request
// ends after a few steps.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <doctest/doctest.h>
#include <support/brief.hpp>

#include <waybill/lease/processor.hpp>
#include <waybill/testing/memory_leases.hpp>

namespace clock_jumps_test {
namespace {

using waybill::duration;
using waybill::partition_lifecycle;
using waybill::steady_time;
using waybill::testing::memory_leases;

constexpr std::uint32_t partitions = 3;
constexpr std::int64_t expiry = 60;

duration ms(std::int64_t n)
{
    return duration::milliseconds(n);
}

enum class jump : std::uint8_t { none, still, back, ahead };

// A steady clock with one fault from some time on.
struct clock {
    jump how = jump::none;
    std::int64_t since = 0;

    [[nodiscard]] steady_time at(std::int64_t true_ms) const
    {
        const steady_time t = steady_time::at(duration::seconds(1'000'000) + ms(true_ms));
        if (how == jump::still) return steady_time::at(duration::seconds(1'000'000) + ms(since));
        if (how == jump::back) return t - duration::seconds(86'400);
        return how == jump::ahead ? t + duration::seconds(31'536'000) : t;
    }
};

class process {
public:
    process(memory_leases& s, const char* name) : store_(s), work(config(name)) {}

    // One step at this time. `between` runs after the request, before the answer.
    template <class Between>
    bool step(std::int64_t now, Between between)
    {
        const auto next = work.next(ours.at(now));
        const bool waits = waybill::holds_alternative<waybill::wait_until>(next) ||
                           waybill::holds_alternative<waybill::idle>(next);
        if (const auto* a = waybill::get_if<waybill::partition_lifecycle::process>(&next)) {
            untrusted = untrusted || !work.leases().trusted(a->partition, ours.at(now));
        }
        between();
        const steady_time then = ours.at(now);
        waybill::match(
            next,
            [&](const waybill::lease_manager::lease_call& c) {
                work.on(waybill::perform(store_, c, 0.5), then);
            },
            [&](waybill::partition_lifecycle::open a) {
                work.on(waybill::partition_lifecycle::partition_opened{a.partition, a.epoch}, then);
            },
            [&](waybill::partition_lifecycle::process a) {
                work.on(
                    waybill::partition_lifecycle::processed{a.partition, a.epoch, commits(a, now)},
                    then);
            },
            [&](waybill::partition_lifecycle::close a) {
                work.on(waybill::partition_lifecycle::partition_closed{a.partition, a.epoch}, then);
            },
            [&](waybill::partition_lifecycle::save a) {
                work.on(waybill::partition_lifecycle::partition_saved{a.partition, a.epoch}, then);
            },
            [](waybill::wait_until) {}, [](waybill::idle) {});
        return !waits;
    }

    void run(std::int64_t now)
    {
        for (int n = 0; n != 30 && step(now, [] {}); ++n) {
        }
    }

    // Without more time than it waits for.
    [[nodiscard]] bool ends(std::int64_t now, int most)
    {
        work.on(waybill::stop_requested{}, ours.at(now));
        for (int n = 0; n != most && !work.ended(); ++n) (void)step(now, [] {});
        return work.ended();
    }

private:
    // The result of a fenced store.
    partition_lifecycle::batch_result commits(const waybill::partition_lifecycle::process& a,
                                              std::int64_t now)
    {
        const waybill::lease_table table = *store_.list("log", "g");
        for (const waybill::lease& row : table.leases) {
            if (row.key != work.key(a.partition) || row.epoch != a.epoch) continue;
            read[a.partition] = now;
            return partition_lifecycle::batch_result::drained;
        }
        ++refused;
        return partition_lifecycle::batch_result::lost;
    }
    static waybill::processor::config config(const char* name)
    {
        waybill::processor::config c;
        c.group = {"log", "g", {"0", "1", "2"}, {name, 1}, {ms(10), ms(expiry)}};
        c.lifecycle = {
            .poll = ms(4),
            .pause = {.base = ms(1), .cap = ms(8), .spread = waybill::backoff::jitter::none}};
        return c;
    }

    memory_leases& store_;

public:
    waybill::processor work;
    clock ours;
    std::int64_t read[partitions] = {-1, -1, -1};  // when each was read last
    std::uint32_t refused = 0;
    bool untrusted = false;
};

struct pair {
    memory_leases store;
    process a{store, "a"};
    process b{store, "b"};
    std::int64_t now = 0;
    bool between = false;  // the clock jumps between request and answer

    // Up to step number `k` of `a`, in which its clock jumps. False if it takes fewer steps.
    bool jumps(jump how, int k)
    {
        int steps = 0;
        for (; now != 90; ++now) {
            bool goes_on = true;
            for (int n = 0; goes_on && n != 30; ++n) {
                const bool here = steps++ == k;
                if (here && !between) a.ours = {how, now};
                goes_on = a.step(now, [&] {
                    if (here) a.ours = {how, now};
                });
                if (here) return true;
            }
            b.run(now);
        }
        return false;
    }
    void go_on(std::int64_t until)
    {
        for (; now != until; ++now) {
            a.run(now);
            b.run(now);
        }
    }
};

// A brief run takes every seventh moment.
constexpr int stride = tests_support::brief ? 7 : 1;

template <class Check>
int each_moment(jump how, Check check)
{
    int runs = 0;
    for (const bool between : {false, true}) {
        for (int k = 0;; k += stride, ++runs) {
            pair p;
            p.between = between;
            if (!p.jumps(how, k)) break;
            INFO("step ", k);
            check(p);
        }
    }
    return runs;
}

TEST_CASE(
    "clock jumps: no partition is read without a trusted lease, and every partition is "
    "read again")
{
    for (const jump how : {jump::still, jump::back, jump::ahead}) {
        const int runs = each_moment(how, [&](pair& p) {
            const std::uint32_t other_had = p.b.work.leases().held();
            const std::int64_t then = p.now;
            p.go_on(then + 4 * expiry);
            CHECK(!p.a.untrusted);
            CHECK(!p.b.untrusted);
            // At most one refused commit for each partition; then its reader stops.
            CHECK(p.a.refused <= partitions);
            CHECK(p.b.refused <= partitions);
            for (std::uint32_t n = 0; n != partitions; ++n) {
                const std::int64_t last = p.a.read[n] < p.b.read[n] ? p.b.read[n] : p.a.read[n];
                CHECK(last > p.now - 30);
            }
            // It does not take a lease of the other process that has not expired.
            if (how == jump::ahead && other_had == 1) CHECK(p.b.work.leases().held() == 1);
        });
        MESSAGE(runs);
        CHECK(runs > 100 / stride);
    }
}

TEST_CASE("clock jumps: after a jump of a year, a lease is trusted only after its renewal")
{
    each_moment(jump::ahead, [](pair& p) {
        std::uint32_t trusted = 0;
        for (std::uint32_t n = 0; n != partitions; ++n) {
            trusted += p.a.work.leases().trusted(n, p.a.ours.at(p.now)) ? 1U : 0U;
        }
        CHECK(trusted <= 1);  // at most the lease of this step's answer
    });
}

TEST_CASE("clock jumps: after a stop request, it ends within 40 steps")
{
    for (const jump how : {jump::still, jump::back, jump::ahead}) {
        each_moment(how, [how](pair& p) {
            CHECK(p.a.ends(p.now, 40));
            // An answer with an earlier time than its request is late: leases claimed so expire.
            if (how == jump::back && p.between) return;
            const waybill::lease_table table = *p.store.list("log", "g");
            for (const waybill::lease& row : table.leases) CHECK(row.owner.name != "a");
        });
        each_moment(how, [](pair& p) {
            p.go_on(p.now + 2 * expiry);
            CHECK(p.a.ends(p.now, 40));
            CHECK(p.b.ends(p.now, 40));
        });
    }
}

}  // namespace
}  // namespace clock_jumps_test
