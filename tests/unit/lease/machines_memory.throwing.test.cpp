// SPDX-License-Identifier: MIT
//
// Machines that run out of memory: at each allocation of a whole run, one run after the other.
//
// The exception passes through. A caller that catches it queries the next action as usual.
// Partitions are shared and released, and each message is settled and reported once.

#include <array>
#include <cstdint>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/scarce_new.hpp>

#include <waybill/consume.hpp>
#include <waybill/lease.hpp>
#include <waybill/queue.hpp>
#include <waybill/testing/memory_leases.hpp>

namespace machines_memory_test {
namespace {

namespace scarce = tests_support::scarce;
using waybill::duration;
using waybill::event_result;
using waybill::processor;
using waybill::steady_time;

steady_time at(std::int64_t ms)
{
    return steady_time::at(duration::milliseconds(ms));
}

// Remote leases: a call takes effect or not, and then its answer may be too large for the memory.
class far_leases {
    template <class Call>
    static auto made(Call call)
    {
        scarce::one();
        auto answer = [&] {
            const scarce::pause enough;
            return call();
        }();
        scarce::one();
        return answer;
    }

public:
    auto list(const std::string& source, const std::string& group) const
    {
        return kept.list(source, group);
    }
    waybill::result<waybill::lease_claim::result> claim(const waybill::lease_claim& c)
    {
        return made([&] { return kept.claim(c); });
    }
    waybill::result<void> heartbeat(const waybill::owner_heartbeat& p)
    {
        return made([&] { return kept.heartbeat(p); });
    }
    waybill::result<void> leave(const waybill::owner_heartbeat& p)
    {
        return made([&] { return kept.leave(p); });
    }

    waybill::testing::memory_leases kept;
};

constexpr std::uint32_t partitions = 3;

class process {
public:
    process(far_leases& s, const char* name) : store_(s), work(config(name)) {}

    // One step. Its exceptions pass to the caller.
    void step(steady_time now)
    {
        const auto next = work.next(now);
        waybill::match(
            next,
            [&](const waybill::lease_manager::lease_call& c) {
                (void)work.on(waybill::perform(store_, c, 0.5), now);
            },
            [&](waybill::partition_lifecycle::open a) {
                (void)work.on(waybill::partition_lifecycle::partition_opened{a.partition, a.epoch},
                              now);
            },
            [&](waybill::partition_lifecycle::process a) {
                untrusted = untrusted || !work.leases().trusted(a.partition, now);
                (void)work.on(
                    waybill::partition_lifecycle::processed{
                        a.partition, a.epoch, waybill::partition_lifecycle::batch_result::drained},
                    now);
            },
            [&](waybill::partition_lifecycle::close a) {
                (void)work.on(waybill::partition_lifecycle::partition_closed{a.partition, a.epoch},
                              now);
            },
            [&](waybill::partition_lifecycle::save a) {
                (void)work.on(waybill::partition_lifecycle::partition_saved{a.partition, a.epoch},
                              now);
            },
            [](waybill::wait_until) {}, [](waybill::idle) {});
    }

private:
    static waybill::processor::config config(const char* name)
    {
        waybill::processor::config c;
        c.group.source = "a source with a rather long name";
        c.group.group = "a group with a rather long name";
        c.group.self = {std::string("a host with a rather long name: ") + name, 1};
        c.group.leases = {duration::milliseconds(10), duration::milliseconds(80)};
        for (std::uint32_t p = 0; p != partitions; ++p) {
            c.group.partitions.push_back("partition number " + std::to_string(p) + " of three");
        }
        c.lifecycle.poll = duration::milliseconds(20);
        return c;
    }

    far_leases& store_;

public:
    processor work;
    bool untrusted = false;
};

// Two processes start, share and stop, the second one last. Each step catches exceptions.
class lives {
public:
    std::uint64_t thrown = 0;

    void run(std::uint64_t allocations)
    {
        scarce::left = allocations;
        run_until(120, false, false);
        const bool shared = a_.work.leases().held() + b_.work.leases().held() == partitions;
        run_until(240, true, false);
        const bool ended = a_.work.ended();
        const std::uint32_t taken_over = b_.work.leases().held();
        run_until(360, true, true);
        scarce::left = scarce::plenty;

        CHECK(shared);
        CHECK(ended);
        CHECK(taken_over == partitions);
        CHECK(b_.work.ended());
        CHECK(!a_.untrusted);
        CHECK(!b_.untrusted);
        const auto group =
            *store_.list("a source with a rather long name", "a group with a rather long name");
        CHECK(group.owners.empty());
        CHECK(group.leases.size() == partitions);
        for (const waybill::lease& row : group.leases) CHECK(row.owner.none());
    }

private:
    void run_until(std::int64_t end, bool stop_a, bool stop_b)
    {
        for (; now_ != end; now_ += 4) {
            for (int n = 0; n != 6; ++n) {
                tried(a_, stop_a);
                tried(b_, stop_b);
            }
        }
    }

    void tried(process& p, bool stops)
    {
        try {
            if (stops) (void)p.work.on(waybill::stop_requested{}, at(now_));
            p.step(at(now_));
        } catch (const std::bad_alloc&) {
            scarce::left = scarce::plenty;
            ++thrown;
        }
    }

    far_leases store_;
    process a_{store_, "a"};
    process b_{store_, "b"};
    std::int64_t now_ = 0;
};

}  // namespace

TEST_CASE("machines memory: processors share and release partitions if any allocation fails")
{
    std::uint64_t runs = 0;
    constexpr std::uint64_t stride = tests_support::brief ? 7 : 1;
    for (std::uint64_t after = 0;; after += stride, ++runs) {
        lives l;
        l.run(after);
        if (l.thrown == 0) break;
        CHECK(l.thrown == 1);
    }
    MESSAGE(runs);
    CHECK(runs > 1'000 / stride);
}

namespace {

// Messages are decided, and a queue settles them: some at once, some later, one never.
class queue {
public:
    std::map<std::uint64_t, std::uint32_t> reported;
    std::map<std::uint64_t, std::uint32_t> settled;

    void run(std::uint64_t allocations, std::uint64_t& thrown)
    {
        std::uint64_t decided = 0;
        scarce::left = allocations;
        for (std::int64_t now = 0; now != 400; ++now) {
            const steady_time t = at(now);
            if (decided != 12 && tried(thrown, [&] {
                    const auto kind = waybill::settle_batches::settle_kinds[decided % 4];
                    return calls_.on(
                        waybill::settle_batches::decided{kind, duration::milliseconds(300)}, t);
                })) {
                ++decided;
            }
            if (decided == 12) {
                tried(thrown,
                      [&] { return calls_.on(waybill::settle_batches::last_decided{}, t); });
            }
            tried(thrown, [&] { return step(t); });
        }
        scarce::left = scarce::plenty;
        CHECK(calls_.empty());
        CHECK(calls_.decided_items() == 12);
        for (std::uint64_t n = 0; n != 12; ++n) {
            CHECK(reported[n] == 1);
            CHECK(settled[n] == (n == 5 ? 0U : 1U));
        }
    }

private:
    // Unchanged if it throws; returns true if it does not.
    template <class Step>
    bool tried(std::uint64_t& thrown, Step f)
    {
        const std::uint64_t left = std::exchange(scarce::left, scarce::plenty);
        const waybill::settle_batches before = calls_;
        scarce::left = left;
        try {
            (void)f();
            return true;
        } catch (const std::bad_alloc&) {
            scarce::left = scarce::plenty;
            ++thrown;
            CHECK(calls_ == before);
            return false;
        }
    }

    event_result step(steady_time t)
    {
        event_result h = event_result::applied;
        if (answer_) {  // an answer that could not be reported
            h = calls_.on(*answer_, t);
            answer_.reset();
            return h;
        }
        const auto next = calls_.next(t);
        if (const auto* b = waybill::get_if<waybill::settle_batches::settle_batch>(&next)) {
            const scarce::pause enough;
            waybill::settle_batches::batch_settled s;
            s.call = b->call;
            s.items = b->items;
            for (std::uint64_t i = 0; i != b->items.size(); ++i) {
                const std::uint64_t item = b->items[i];
                const bool later = item % 3 == 0 && asked_[item]++ == 0;
                if (item == 5 || later) {
                    const auto how =
                        item == 5 ? waybill::fault_kind::permanent : waybill::fault_kind::transient;
                    s.failed.push_back({i, how});
                } else {
                    ++settled[item];
                }
            }
            answer_ = std::move(s);
        } else if (const auto* r = waybill::get_if<waybill::settle_batches::report>(&next)) {
            h = calls_.on(waybill::settle_batches::reported{r->item}, t);
            const scarce::pause enough;
            ++reported[r->item];
        }
        return h;
    }

    waybill::settle_batches calls_{{.items = 3,
                                    .linger = duration::milliseconds(5),
                                    .to_settle = duration::milliseconds(20),
                                    .pauses = {.base = duration::milliseconds(10)}}};
    std::optional<waybill::settle_batches::batch_settled> answer_;
    std::map<std::uint64_t, int> asked_;
};

}  // namespace

TEST_CASE("machines memory: settle_batches settles and reports each item once")
{
    std::uint64_t runs = 0;
    for (std::uint64_t after = 0;; ++after, ++runs) {
        std::uint64_t thrown = 0;
        queue q;
        q.run(after, thrown);
        if (thrown == 0) break;
        CHECK(thrown == 1);
    }
    MESSAGE(runs);
    CHECK(runs > 40);
}

}  // namespace machines_memory_test
