// SPDX-License-Identifier: MIT

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <support/failed_call.hpp>
#include <support/held.hpp>
#include <support/row_leases.hpp>

#include <waybill/consume/process_batch.hpp>
#include <waybill/lease/fenced_store.hpp>
#include <waybill/lease/processor.hpp>
#include <waybill/testing/memory_leases.hpp>
#include <waybill/testing/memory_store.hpp>

namespace processor_test {
namespace {

using waybill::duration;
using waybill::event_result;
using waybill::fault_kind;
using waybill::partition_lifecycle;
using partition_closed = waybill::partition_lifecycle::partition_closed;
using partition_opened = waybill::partition_lifecycle::partition_opened;
using partition_saved = waybill::partition_lifecycle::partition_saved;
using processed = waybill::partition_lifecycle::processed;
using tests_support::row_leases;
using waybill::processor;
using waybill::steady_time;
using waybill::testing::memory_leases;

constexpr duration ms(std::int64_t n)
{
    return duration::milliseconds(n);
}
steady_time at(std::int64_t n)
{
    return steady_time::at(ms(n));
}

// A process: its actions in order, without the calls to the store.
template <class Store>
class process_of {
public:
    process_of(Store& s, const char* name, std::uint32_t partitions)
        : store_(s), work(config(name, partitions))
    {
    }

    void run(std::int64_t now, int most = 50)
    {
        for (int n = 0; n != most; ++n) {
            const auto next = work.next(at(now));
            if (waybill::holds_alternative<waybill::wait_until>(next) ||
                waybill::holds_alternative<waybill::idle>(next))
                return;
            waybill::match(
                next,
                [&](const waybill::lease_manager::lease_call& c) {
                    work.on(waybill::perform(store_, c, 0.0), at(now));
                },
                [&](waybill::partition_lifecycle::open a) {
                    said += "open" + of(a);
                    work.on(partition_opened{a.partition, a.epoch, fault_kind::none, stored},
                            at(now));
                },
                [&](waybill::partition_lifecycle::process a) {
                    said += "process" + of(a);
                    work.on(processed{a.partition, a.epoch, how}, at(now));
                },
                [&](waybill::partition_lifecycle::close a) {
                    said += (a.lost ? "drop" : "close") + of(a);
                    work.on(partition_closed{a.partition, a.epoch}, at(now));
                },
                [&](waybill::partition_lifecycle::save a) {
                    said += "save" + of(a);
                    work.on(partition_saved{a.partition, a.epoch, saved_as}, at(now));
                },
                [](waybill::wait_until) {}, [](waybill::idle) {});
        }
    }
    std::string what() { return std::exchange(said, {}); }

private:
    template <class Action>
    static std::string of(const Action& a)
    {
        return " " + std::to_string(a.partition) + "/" + std::to_string(a.epoch) + " ";
    }
    static waybill::processor::config config(const char* name, std::uint32_t partitions)
    {
        waybill::processor::config c;
        c.group = {"log", "g", {}, {name, 1}, {ms(10), ms(40)}};
        for (std::uint32_t p = 0; p != partitions; ++p)
            c.group.partitions.push_back(std::to_string(p));
        c.lifecycle = {
            .poll = ms(100),
            .pause = {.base = ms(1), .cap = ms(8), .spread = waybill::backoff::jitter::none}};
        return c;
    }

    Store& store_;

public:
    processor work;
    std::string said;
    partition_lifecycle::batch_result how = partition_lifecycle::batch_result::drained;
    std::uint64_t stored = 0;
    fault_kind saved_as = fault_kind::none;
};

using process = process_of<memory_leases>;

TEST_CASE("processor: takes, opens and processes partitions, and closes and saves them at a stop")
{
    memory_leases store;
    process a(store, "a", 2);
    a.run(0);
    CHECK(a.what().empty());
    a.run(4);
    CHECK(a.what() == "open 0/1 open 1/1 process 0/1 process 1/1 ");
    a.work.on(waybill::partition_lifecycle::woken{1}, at(5));
    a.run(5);
    CHECK(a.what() == "process 1/1 ");
    CHECK(a.work.on(waybill::stop_requested{}, at(6)) == event_result::applied);
    CHECK(a.work.on(waybill::stop_requested{}, at(6)) == event_result::stale);
    a.run(6);
    CHECK(a.what() == "close 0/1 close 1/1 save 0/1 save 1/1 ");
    CHECK(a.work.ended());
    CHECK(a.work.next(at(6)) == processor::action(waybill::idle{}));
    const auto table = *store.list("log", "g");
    CHECK(table.owners.empty());
    for (const auto& row : table.leases) CHECK(row.owner.none());
}

TEST_CASE("processor: an assignment is made of the opened partition and its stored checkpoint")
{
    memory_leases store;
    process a(store, "a", 2);
    a.run(0);
    a.run(4);
    const waybill::partition_key key{"log", "g", "1"};
    CHECK(a.work.assignment_of(waybill::partition_lifecycle::open{1, 1}, std::nullopt) ==
          waybill::assignment{key, {}, 1, 1, {}});
    CHECK(a.work.assignment_of(waybill::partition_lifecycle::open{1, 3},
                               waybill::checkpoint{{9, "x"}, 2}) ==
          waybill::assignment{key, waybill::position{9, "x"}, 3, 1, {}});
}

TEST_CASE("processor: a partition that always has events blocks no other partition, and no renewal")
{
    memory_leases store;
    process a(store, "a", 3);
    a.run(0);
    a.how = partition_lifecycle::batch_result::moved;
    a.run(4, 12);
    a.what();
    a.run(5, 6);
    const std::string said = a.what();
    const std::string turn = said.substr(0, said.size() / 2);
    CHECK(said == turn + turn);
    for (const char* each : {"process 0/1 ", "process 1/1 ", "process 2/1 "}) {
        CHECK(turn.find(each) != std::string::npos);
    }
    a.run(1'000, 3);  // it woke late: first it renews
    CHECK(a.what().empty());
}

TEST_CASE("processor: reads nothing in a partition whose lease is not trusted")
{
    memory_leases store;
    process a(store, "a", 1);
    a.run(0);
    a.how = partition_lifecycle::batch_result::moved;
    a.run(4, 6);
    CHECK(!a.what().empty());
    // From 39 on the lease is not trusted: the answer to the request at 12 arrives at 60.
    const auto call = tests_support::held<waybill::lease_manager::lease_call>(a.work.next(at(12)));
    const auto answer = waybill::perform(store, call, 0.0);
    a.work.on(answer, at(60));
    CHECK(a.what().empty());
    CHECK(a.work.leases().epoch(0) == 1U);
    a.run(70, 6);
    CHECK(!a.what().empty());
}

TEST_CASE("processor: a lost partition is dropped, and not saved")
{
    memory_leases store;
    process a(store, "a", 1);
    a.run(0);
    a.run(4);
    a.what();
    const auto row = store.list("log", "g")->leases[0];
    (void)store.claim({row.key, {"b", 1}, 2, row.version});
    (void)a.work.on(processed{0, 1, partition_lifecycle::batch_result::moved},
                    at(5));  // late: there was no request
    a.work.on(waybill::partition_lifecycle::woken{0}, at(6));
    a.how = partition_lifecycle::batch_result::lost;  // the fence has refused
    a.run(6);
    CHECK(a.what() == "process 0/1 drop 0/1 ");
    CHECK(!a.work.leases().epoch(0));
    a.work.on(waybill::stop_requested{}, at(7));
    a.run(7);
    CHECK(a.what().empty());
    CHECK(a.work.ended());
    CHECK(store.list("log", "g")->leases[0].owner.name == "b");
}

TEST_CASE("processor: a lease whose renewal got no answer is released when it stops")
{
    for (const bool effect : {false, true}) {
        row_leases store;
        process_of<row_leases> a(store, "a", 1);
        a.run(0);
        a.run(4);
        a.what();
        const auto next_call = [&] {
            return tests_support::held<waybill::lease_manager::lease_call>(a.work.next(at(14)));
        };
        a.work.on(waybill::perform(store, next_call(), 0.0), at(14));
        const auto renewal = next_call();
        REQUIRE(waybill::holds_alternative<waybill::lease_manager::claim>(renewal));
        if (effect) (void)waybill::perform(store, renewal, 0.0);
        a.work.on(tests_support::failed(renewal), at(14));
        const std::int64_t now = 15;
        a.work.on(waybill::stop_requested{}, at(now));
        a.run(now);
        CHECK(a.what() == "close 0/1 save 0/1 ");
        CHECK(a.work.ended());
        CHECK(store.list("log", "g")->leases[0].owner.none());
    }
}

TEST_CASE("processor: after a batch that reports `lost`, the partition is opened again")
{
    memory_leases store;
    process a(store, "a", 1);
    a.run(0);
    a.run(4);
    a.what();
    a.work.on(waybill::partition_lifecycle::woken{0}, at(5));
    a.how = partition_lifecycle::batch_result::lost;  // another owner has rewound the checkpoint
    a.run(5);
    CHECK(a.what() == "process 0/1 ");
    a.how = partition_lifecycle::batch_result::drained;
    a.run(7);
    CHECK(a.what() == "open 0/1 process 0/1 ");
}

TEST_CASE(
    "processor: an epoch that the checkpoint has already seen is raised before anything is read")
{
    for (const std::uint64_t stored : {1U, 7U}) {
        memory_leases store;
        process a(store, "a", 1);
        a.stored = stored;
        a.run(0);
        a.run(4);
        const std::string next = std::to_string(stored + 1);
        CHECK(a.what() == "open 0/1 drop 0/1 open 0/" + next + " process 0/" + next + " ");
        CHECK(store.list("log", "g")->leases[0].epoch == stored + 1);
    }
}

TEST_CASE(
    "processor: with a checkpoint of the last epoch, a partition is not opened, and "
    "reports an error")
{
    memory_leases store;
    process a(store, "a", 2);
    CHECK(a.work.last_error(0).ok());
    a.stored = waybill::lease::max_epoch;
    a.run(0);
    for (std::int64_t now = 4; now != 80; ++now) a.run(now);
    CHECK(a.what().find("process") == std::string::npos);
    CHECK(a.work.leases().epoch(0) == 1U);  // raised to no end
    for (const std::uint32_t p : {0U, 1U})
        CHECK(a.work.last_error(p) == waybill::detail::epochs_used_up());
    CHECK(a.work.last_error(0).kind == fault_kind::permanent);
    CHECK(a.work.last_error(9).ok());
    a.stored = 5;  // another owner has written a lower one
    for (std::int64_t now = 80; now != 110; ++now) a.run(now);
    CHECK(a.what().find("process 0/6 ") != std::string::npos);
    CHECK(a.work.last_error(0).ok());

    const waybill::partition_key zero{"log", "g", "0"};
    memory_leases last;
    (void)last.claim({zero, {}, waybill::lease::max_epoch, {}});
    process b(last, "b", 1);
    for (std::int64_t now = 0; now != 80; ++now) b.run(now);
    CHECK(b.what().empty());
    CHECK(b.work.last_error(0) == waybill::detail::epochs_used_up());
}

TEST_CASE("processor: a partition index out of range is idle")
{
    memory_leases store;
    process a(store, "a", 1);
    a.run(0);
    a.run(4);
    CHECK(a.work.part(0).epoch() == 1);
    CHECK(a.work.part(99).is_idle());
    CHECK(a.work.key(99) == waybill::partition_key{"log", "g", ""});
    CHECK(a.work.assignment_of(waybill::partition_lifecycle::open{99, 2}, {}) ==
          waybill::assignment{{"log", "g", ""}, {}, 2, 1, {}});
    CHECK(a.work.on(waybill::partition_lifecycle::woken{99}, at(5)) == event_result::invalid);
}

TEST_CASE("processor: when another owner joins, the surplus is closed, saved and released")
{
    memory_leases store;
    process a(store, "a", 4);
    a.run(0);
    a.run(4);
    a.what();
    process b(store, "b", 4);
    std::string of_a;
    std::string of_b;
    for (std::int64_t now = 10; now != 80; now += 10) {
        a.run(now);
        b.run(now);
        of_a += a.what();
        of_b += b.what();
    }
    CHECK(of_a == "close 2/1 close 3/1 save 2/1 save 3/1 ");
    CHECK(of_b == "open 2/3 open 3/3 process 2/3 process 3/3 ");
}

TEST_CASE("processor: a partition is released even if its save is refused")
{
    memory_leases store;
    process a(store, "a", 4);
    a.run(0);
    a.run(4);
    process b(store, "b", 4);
    b.run(5);
    a.saved_as = fault_kind::ownership_lost;
    for (std::int64_t now = 14; now < 60; now += 10) {
        a.run(now);
        b.run(now);
    }
    CHECK(a.work.leases().held() == 2);
    CHECK(b.work.leases().held() == 2);
    CHECK(b.work.leases().balanced());
}

TEST_CASE("processor: a partition to release is not opened under a raised epoch")
{
    memory_leases store;
    process a(store, "a", 2);
    a.run(0);
    a.how = partition_lifecycle::batch_result::lost;
    a.run(4);  // the epoch of each partition will be raised
    process b(store, "b", 2);
    b.run(5);
    for (std::int64_t now = 6; now != 60; ++now) {
        a.run(now);
        b.run(now);
    }
    CHECK(a.work.leases().held() == 1);
    CHECK(b.work.leases().held() == 1);
    CHECK(a.work.part(1).is_idle());
}

TEST_CASE("processor: events of a partition out of range are invalid")
{
    memory_leases store;
    process a(store, "a", 1);
    CHECK(a.work.on(processed{9, 1}, at(0)) == event_result::invalid);
    CHECK(a.work.on(partition_opened{9, 1}, at(0)) == event_result::invalid);
    CHECK(a.work.on(partition_closed{9, 1}, at(0)) == event_result::invalid);
    CHECK(a.work.on(partition_saved{9, 1}, at(0)) == event_result::invalid);
    CHECK(a.work.on(waybill::partition_lifecycle::woken{9}, at(0)) == event_result::invalid);
    waybill::processor::config none{{"log", "g", {}, {"a", 1}}, {}};
    CHECK(!validate(none));
    none.lifecycle.save_tries = 0;
    CHECK(validate(none)->field == "lifecycle.save_tries");
}

TEST_CASE("fenced_store: only the holder of the lease under this epoch advances the checkpoint")
{
    using store_type = waybill::testing::memory_store<std::string>;
    store_type checkpoints;
    memory_leases leases;
    waybill::fenced_store store(checkpoints, leases);
    static_assert(waybill::checkpoint_store<decltype(store)>);
    static_assert(waybill::dead_letter_store<decltype(store)>);
    const waybill::partition_key key{"log", "g", "0"};
    const auto advance = [&](std::uint64_t epoch) {
        auto tx = *store.begin();
        return *store.advance(tx, key, {}, {1, {}}, epoch);
    };
    CHECK(advance(0) == waybill::advance_outcome::stale_epoch);
    (void)leases.claim({key, {"a", 1}, 4, {}});
    CHECK(advance(3) == waybill::advance_outcome::stale_epoch);
    CHECK(advance(4) == waybill::advance_outcome::applied);
    CHECK(advance(5) == waybill::advance_outcome::stale_epoch);
}

TEST_CASE("fenced_store: an owner that has given its lease back advances nothing")
{
    using store_type = waybill::testing::memory_store<std::string>;
    store_type checkpoints;
    memory_leases leases;
    waybill::fenced_store store(checkpoints, leases);
    const waybill::partition_key key{"log", "g", "0"};
    const auto advance = [&](std::optional<waybill::position> from, std::uint64_t to,
                             std::uint64_t epoch) {
        auto tx = *store.begin();
        const auto moved = *store.advance(tx, key, from, {to, {}}, epoch);
        if (moved == waybill::advance_outcome::applied) (void)tx.commit();
        return moved;
    };
    process a(leases, "a", 1);
    a.run(0);
    a.run(4);
    const std::uint64_t epoch = a.work.leases().epoch(0).value_or(0);
    CHECK(advance({}, 1, epoch) == waybill::advance_outcome::applied);
    a.work.on(waybill::stop_requested{}, at(5));
    a.run(5);
    REQUIRE(a.work.ended());
    REQUIRE(leases.list("log", "g")->leases[0].owner.none());
    CHECK(advance(waybill::position{1, {}}, 2, epoch) == waybill::advance_outcome::stale_epoch);
    process b(leases, "b", 1);
    b.run(6);
    b.run(10);
    const std::uint64_t later = b.work.leases().epoch(0).value_or(0);
    CHECK(later > epoch);
    CHECK(advance(waybill::position{1, {}}, 2, later) == waybill::advance_outcome::applied);
}

// The row of a lease is lost, and the guarded store has later epochs. So each batch loses its
// ownership although there is no other owner.
TEST_CASE("processor: an epoch that the store reports as stale is raised, for each cause")
{
    using store = waybill::testing::memory_store<std::string>;
    struct event {
        std::uint64_t sequence;
    };
    const waybill::partition_key key{"log", "g", "0"};
    const waybill::position one{1, {}};
    enum class past { row_of_attempts, row_above_checkpoint, reset, row_of_last_epoch };
    const auto prepare = [&](store& s, past what) {
        auto tx = *s.begin();
        switch (what) {
            case past::row_of_attempts:
                (void)s.store_crash_record(tx, key, {std::nullopt, 2, 2, 0, 77, 2});
                break;
            case past::row_above_checkpoint:
                (void)s.advance(tx, key, {}, one, 4);
                (void)s.store_crash_record(tx, key, {1, 2, 1, 0, 77, 6'000'000});
                break;
            case past::reset: (void)s.advance(tx, key, {}, one, 5); break;
            case past::row_of_last_epoch:
                (void)s.store_crash_record(tx, key,
                                           {std::nullopt, 2, 2, 0, 77, waybill::lease::max_epoch});
        }
        (void)tx.commit();
        if (what != past::reset) return;
        auto back = *s.begin();
        (void)s.reset(back, key, one, 5);
        (void)back.commit();
    };
    for (const past what : {past::row_of_attempts, past::row_above_checkpoint, past::reset,
                            past::row_of_last_epoch}) {
        CAPTURE(static_cast<int>(what));
        store inside;
        memory_leases leases;
        waybill::fenced_store guarded(inside, leases);
        prepare(inside, what);
        processor work({.group = {"log", "g", {"0"}, {"w", 9}, {}}});
        std::int64_t now = 0;
        int abandoned = 0;
        int committed = 0;
        const auto handle = [](auto&, const event&) { return waybill::fault{}; };
        for (int n = 0; n != 4'000 && committed == 0; ++n) {
            waybill::match(
                work.next(at(now)),
                [&](const waybill::lease_manager::lease_call& c) {
                    work.on(waybill::perform(leases, c, 0.5), at(now));
                },
                [&](const waybill::partition_lifecycle::open& a) {
                    work.on(
                        waybill::partition_lifecycle::partition_opened::of(a, guarded.load(key)),
                        at(now));
                },
                [&](const waybill::partition_lifecycle::process& a) {
                    const auto mine = work.assignment_of({0, a.epoch}, *guarded.load(key));
                    const auto r = waybill::process_batch(
                        guarded, mine, std::vector<event>{{1}, {2}}, handle, waybill::wall_time{});
                    abandoned += r.outcome == waybill::batch_outcome::ownership_lost ? 1 : 0;
                    committed += r.outcome == waybill::batch_outcome::committed ? 1 : 0;
                    work.on(waybill::partition_lifecycle::processed::of(a, r.outcome), at(now));
                },
                [&](const waybill::partition_lifecycle::close& a) {
                    work.on(partition_closed{a.partition, a.epoch}, at(now));
                },
                [&](const waybill::partition_lifecycle::save& a) {
                    work.on(partition_saved{a.partition, a.epoch}, at(now));
                },
                [&](waybill::wait_until) { now += 1'000; }, [](waybill::idle) {});
        }
        if (what == past::row_of_last_epoch) {
            CHECK(committed == 0);
            CHECK(abandoned <= 66);
            CHECK(work.last_error(0) == waybill::detail::epochs_used_up());
        } else {
            CHECK(committed == 1);
            CHECK(abandoned <= 25);  // twice as far each time
            CHECK(work.last_error(0).ok());
        }
    }
}

}  // namespace
}  // namespace processor_test
