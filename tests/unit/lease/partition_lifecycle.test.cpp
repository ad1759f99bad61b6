// SPDX-License-Identifier: MIT

#include <cstdint>
#include <string>
#include <variant>

#include <doctest/doctest.h>

#include <waybill/core/match.hpp>
#include <waybill/lease/lease_group.hpp>
#include <waybill/lease/lease_manager.hpp>
#include <waybill/lease/partition_lifecycle.hpp>
#include <waybill/tracking/commit_schedule.hpp>

namespace partition_lifecycle_test {
namespace {

using assigned = waybill::partition_lifecycle::assigned;
using waybill::batch_outcome;
using waybill::duration;
using waybill::event_result;
using waybill::fault_kind;
using partition_closed = waybill::partition_lifecycle::partition_closed;
using waybill::partition_lifecycle;
using partition_lost = waybill::partition_lifecycle::partition_lost;
using partition_opened = waybill::partition_lifecycle::partition_opened;
using partition_released = waybill::partition_lifecycle::partition_released;
using partition_saved = waybill::partition_lifecycle::partition_saved;
using processed = waybill::partition_lifecycle::processed;
using revoked = waybill::partition_lifecycle::revoked;
using waybill::steady_time;
using woken = waybill::partition_lifecycle::woken;

constexpr steady_time at(std::int64_t ms)
{
    return steady_time::at(duration::milliseconds(ms));
}

static_assert(!validate(partition_lifecycle::config{}));
static_assert(validate(partition_lifecycle::config{.save_tries = 0})->field ==
              "lifecycle.save_tries");
static_assert(validate(partition_lifecycle::config{.poll = duration::milliseconds(-1)})->negative);
static_assert(validate(partition_lifecycle::config{.pause = {.base = duration{}}})->field ==
              "backoff.base");
static_assert(partition_lifecycle::pass_of(batch_outcome::committed) ==
                  partition_lifecycle::batch_result::moved &&
              partition_lifecycle::pass_of(batch_outcome::empty) ==
                  partition_lifecycle::batch_result::drained);
static_assert(partition_lifecycle::pass_of(batch_outcome::ownership_lost) ==
                  partition_lifecycle::batch_result::lost &&
              partition_lifecycle::pass_of(batch_outcome::unknown) ==
                  partition_lifecycle::batch_result::reopen);
static_assert(partition_lifecycle::pass_of(batch_outcome::redeliver) ==
                  partition_lifecycle::batch_result::again &&
              partition_lifecycle::pass_of(batch_outcome::cancelled) ==
                  partition_lifecycle::batch_result::again);
static_assert(name(partition_lifecycle::batch_result::drained) == "drained");

static_assert(assigned{1} == assigned{1} &&
              processed{0, 1, partition_lifecycle::batch_result::moved} !=
                  processed{0, 1, partition_lifecycle::batch_result::again});
static_assert(partition_saved{0, 1} != partition_saved{0, 2} &&
              partition_opened{0, 1} == partition_opened{0, 1});
static_assert(revoked{} == revoked{} && partition_lost{} == partition_lost{} &&
              waybill::partition_lifecycle::woken{1} != waybill::partition_lifecycle::woken{2});
static_assert(partition_closed{0, 1} == partition_closed{0, 1} &&
              waybill::partition_lifecycle::partition_released{1} !=
                  waybill::partition_lifecycle::partition_released{2});
static_assert(waybill::lease_manager::lease_released{1} !=
                  waybill::lease_manager::lease_released{2} &&
              waybill::lease_manager::lease_suspected{1} ==
                  waybill::lease_manager::lease_suspected{1});
static_assert(waybill::lease_manager::epoch_too_low{1, 2} !=
                  waybill::lease_manager::epoch_too_low{1, 3} &&
              waybill::stop_requested{} == waybill::stop_requested{});
static_assert(waybill::commit_schedule::events_done{2} != waybill::commit_schedule::events_done{3});
static_assert(waybill::commit_schedule::commit_started{} ==
                  waybill::commit_schedule::commit_started{} &&
              waybill::commit_schedule::schedule_closed{} ==
                  waybill::commit_schedule::schedule_closed{});
static_assert(waybill::commit_schedule::commit_confirmed{} ==
                  waybill::commit_schedule::commit_confirmed{} &&
              waybill::commit_schedule::commit_failed{} ==
                  waybill::commit_schedule::commit_failed{});

// At compile time: opened, processed and released.
static_assert([] {
    partition_lifecycle p(3);
    bool right = p.is_idle() && p.on(assigned{1}, at(0)) == event_result::applied;
    right = right && p.next(at(0)) == partition_lifecycle::action(partition_lifecycle::open{3, 1});
    right = right && p.on(partition_opened{3, 1}, at(0)) == event_result::applied;
    right =
        right && p.next(at(0)) == partition_lifecycle::action(partition_lifecycle::process{3, 1});
    right = right && p.on(processed{3, 1, partition_lifecycle::batch_result::moved}, at(0)) ==
                         event_result::applied;
    right = right && p.on(revoked{}, at(0)) == event_result::applied;
    right = right &&
            p.next(at(0)) == partition_lifecycle::action(partition_lifecycle::close{3, 1, false});
    right = right && p.on(partition_closed{3, 1}, at(0)) == event_result::applied;
    right = right && p.next(at(0)) == partition_lifecycle::action(partition_lifecycle::save{3, 1});
    right = right && p.on(partition_saved{3, 1}, at(0)) == event_result::applied;
    right =
        right && p.next(at(0)) == partition_lifecycle::action(partition_lifecycle::release{3, 1});
    right = right && p.on(partition_released{3, 1}, at(0)) == event_result::applied;
    return right && p.is_idle() && p.next(at(0)) == partition_lifecycle::action(waybill::idle{});
}());

/// A short text for the next action.
std::string next_action(const partition_lifecycle& p, std::int64_t now = 0)
{
    return waybill::match(
        p.next(at(now)),
        [](const partition_lifecycle::open& a) { return "open " + std::to_string(a.epoch); },
        [](const partition_lifecycle::process& a) { return "process " + std::to_string(a.epoch); },
        [](const partition_lifecycle::close& a) {
            return (a.lost ? "drop " : "close ") + std::to_string(a.epoch);
        },
        [](const partition_lifecycle::save& a) { return "save " + std::to_string(a.epoch); },
        [](const partition_lifecycle::release& a) {
            return "relinquish " + std::to_string(a.epoch);
        },
        [](const waybill::wait_until& w) {
            return "wait " + std::to_string(w.time.since_epoch().count() / 1'000'000);
        },
        [](const waybill::idle&) { return std::string("idle"); });
}

partition_lifecycle processing()
{
    partition_lifecycle p(0);
    (void)p.on(assigned{5}, at(0));
    (void)p.on(partition_opened{0, 5}, at(0));
    return p;
}

TEST_CASE("partition_lifecycle: a failed step is retried after a growing pause")
{
    partition_lifecycle p(0);
    (void)p.on(assigned{5}, at(0));
    CHECK(p.on(partition_opened{0, 5, fault_kind::infrastructure}, at(0)) == event_result::applied);
    CHECK(next_action(p, 999) == "wait 1000");
    CHECK(next_action(p, 1'000) == "open 5");
    (void)p.on(partition_opened{0, 5, fault_kind::transient}, at(1'000));
    CHECK(next_action(p, 1'000) == "wait 3000");
    (void)p.on(partition_opened{0, 5}, at(3'000));
    CHECK(next_action(p, 3'000) == "process 5");
    (void)p.on(processed{0, 5, partition_lifecycle::batch_result::again},
               at(3'000));  // not yet: nothing has moved since
    CHECK(next_action(p, 3'000) == "wait 7000");
    CHECK(p.on(woken{0}, at(3'500)) == event_result::stale);
    (void)p.on(processed{0, 5, partition_lifecycle::batch_result::moved}, at(7'000));
    CHECK(p.failures() == 0);
    (void)p.on(processed{0, 5, partition_lifecycle::batch_result::reopen}, at(7'000));
    CHECK(next_action(p, 8'000) == "open 5");
    (void)p.on(partition_opened{0, 5}, at(8'000));
    (void)p.on(processed{0, 5, partition_lifecycle::batch_result::lost}, at(8'000));
    CHECK(next_action(p, 9'999) == "wait 10000");
    CHECK(next_action(p, 10'000) == "open 5");
}

TEST_CASE("partition_lifecycle: a drained partition is polled, or processed after woken")
{
    partition_lifecycle p = processing();
    (void)p.on(processed{0, 5, partition_lifecycle::batch_result::drained}, at(10));
    CHECK(next_action(p, 10) == "wait 1010");
    CHECK(p.on(woken{0}, at(20)) == event_result::applied);
    CHECK(next_action(p, 20) == "process 5");
}

TEST_CASE("partition_lifecycle: after partition_lost, the only action is a close as lost")
{
    for (int steps = 0; steps != 6; ++steps) {
        partition_lifecycle p(0);
        (void)p.on(assigned{5}, at(0));
        if (steps > 0) (void)p.on(partition_opened{0, 5}, at(0));
        if (steps > 1) (void)p.on(processed{0, 5}, at(0));
        if (steps > 2) (void)p.on(revoked{}, at(0));
        if (steps > 3) (void)p.on(partition_closed{0, 5}, at(0));
        if (steps > 4) (void)p.on(partition_saved{0, 5}, at(0));
        INFO(steps);
        CHECK(p.on(partition_lost{}, at(0)) == event_result::applied);
        CHECK(next_action(p) == (steps < 4 ? "drop 5" : "idle"));
        CHECK(p.on(processed{0, 5}, at(0)) == event_result::stale);
        CHECK(p.on(partition_saved{0, 5}, at(0)) == event_result::stale);
        CHECK(p.on(revoked{}, at(0)) == event_result::stale);
        (void)p.on(partition_closed{0, 5}, at(0));
        CHECK(next_action(p) == "idle");
        CHECK(p.on(partition_lost{}, at(0)) == event_result::stale);
    }
}

TEST_CASE("partition_lifecycle: a new epoch first closes the old one as lost")
{
    partition_lifecycle p = processing();
    CHECK(p.on(assigned{5}, at(0)) == event_result::stale);
    CHECK(p.on(assigned{4}, at(0)) == event_result::stale);
    CHECK(p.on(assigned{8}, at(0)) == event_result::applied);
    CHECK(next_action(p) == "drop 5");
    const partition_lifecycle before = p;
    CHECK(p.on(partition_closed{0, 4}, at(0)) == event_result::stale);
    CHECK(p.on(processed{0, 5}, at(0)) == event_result::stale);
    CHECK(p == before);
    CHECK(p.on(partition_closed{0, 5}, at(0)) == event_result::applied);
    CHECK(next_action(p) == "open 8");
    CHECK(p.on(partition_opened{0, 5}, at(0)) == event_result::stale);  // of the older epoch
    CHECK(next_action(p) == "open 8");
    CHECK(!p.has_processed());

    (void)p.on(assigned{9}, at(0));
    (void)p.on(partition_lost{}, at(0));  // and the new one is gone before the old one is closed
    (void)p.on(partition_closed{0, 8}, at(0));
    CHECK(next_action(p) == "idle");
}

TEST_CASE("partition_lifecycle: an epoch revoked while the previous one is closed is never opened")
{
    partition_lifecycle p = processing();
    (void)p.on(assigned{8}, at(0));
    CHECK(p.on(revoked{}, at(0)) == event_result::applied);
    CHECK(p.on(revoked{}, at(0)) == event_result::stale);
    CHECK(p.on(assigned{8}, at(0)) == event_result::stale);  // the same once more
    CHECK(next_action(p) == "drop 5");
    partition_lifecycle lost_too = p;
    partition_lifecycle anew = p;
    (void)p.on(partition_closed{0, 5}, at(0));
    CHECK(next_action(p) == "relinquish 8");
    CHECK(p.on(waybill::partition_lifecycle::partition_released{0, 8}, at(0)) ==
          event_result::applied);
    CHECK(next_action(p) == "idle");

    (void)lost_too.on(partition_lost{}, at(0));
    (void)lost_too.on(partition_closed{0, 5}, at(0));
    CHECK(next_action(lost_too) == "idle");
    (void)anew.on(assigned{9}, at(0));
    (void)anew.on(partition_closed{0, 5}, at(0));
    CHECK(next_action(anew) == "open 9");
    (void)anew.on(partition_lost{}, at(0));
    CHECK(anew.on(revoked{}, at(0)) == event_result::stale);  // nothing follows
}

TEST_CASE(
    "partition_lifecycle: a failed save waits as after a first failure, after any number of "
    "failed batches")
{
    partition_lifecycle p = processing();
    for (int n = 0; n != 9; ++n)
        (void)p.on(processed{0, 5, partition_lifecycle::batch_result::again}, at(100'000 * n));
    CHECK(p.failures() == 9);
    (void)p.on(revoked{}, at(900'000));
    (void)p.on(partition_closed{0, 5}, at(900'000));
    (void)p.on(partition_saved{0, 5, fault_kind::infrastructure}, at(900'000));
    CHECK(next_action(p, 901'000) == "save 5");
}

TEST_CASE("partition_lifecycle: a partition without a processed batch is not saved")
{
    partition_lifecycle p = processing();
    (void)p.on(revoked{}, at(0));
    (void)p.on(partition_closed{0, 5}, at(0));
    CHECK(next_action(p) == "relinquish 5");
}

TEST_CASE(
    "partition_lifecycle: a failed save is retried up to save_tries, then the lease is "
    "released")
{
    partition_lifecycle p = processing();
    (void)p.on(processed{0, 5}, at(0));
    (void)p.on(revoked{}, at(0));
    (void)p.on(partition_closed{0, 5}, at(0));
    (void)p.on(partition_saved{0, 5, fault_kind::infrastructure}, at(0));
    CHECK(next_action(p, 1'000) == "save 5");
    (void)p.on(partition_saved{0, 5, fault_kind::infrastructure}, at(1'000));
    CHECK(next_action(p, 3'000) == "save 5");
    partition_lifecycle other = p;
    (void)p.on(partition_saved{0, 5, fault_kind::infrastructure}, at(3'000));
    CHECK(next_action(p, 3'000) == "relinquish 5");
    (void)other.on(partition_saved{0, 5, fault_kind::ownership_lost}, at(3'000));
    CHECK(next_action(other, 3'000) == "idle");
}

}  // namespace
}  // namespace partition_lifecycle_test
