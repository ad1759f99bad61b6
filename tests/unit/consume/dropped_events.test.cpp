// SPDX-License-Identifier: MIT
//
// Permanent failures without dead letters: only the report has them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/consume.hpp>
#include <waybill/lease.hpp>
#include <waybill/testing/faulty.hpp>
#include <waybill/testing/memory_store.hpp>

namespace dropped_events_test {
namespace {

using waybill::batch_outcome;
using waybill::batch_report;
using waybill::dead_letter_body;
using waybill::fault;
using store = waybill::testing::memory_store<std::uint64_t>;

struct event {
    std::uint64_t sequence;
    std::string offset;
};
const waybill::partition_key key{"log", "orders", "0"};

std::vector<event> events(std::uint64_t n)
{
    std::vector<event> all;
    for (std::uint64_t i = 1; i <= n; ++i) all.push_back({i, "@" + std::to_string(i)});
    return all;
}
batch_report::dropped_event dropped(std::uint64_t n, fault why)
{
    return {{n, "@" + std::to_string(n)}, std::move(why)};
}

// Every second event fails, the fourth one only after all of its tries.
fault every_second(const event& e)
{
    if (e.sequence == 4) return waybill::transient("busy");
    return e.sequence % 2 == 0 ? waybill::permanent("bad " + std::to_string(e.sequence)) : fault{};
}

TEST_CASE("process_batch: each dropped event is reported with its position and reason")
{
    for (const bool savepoints : {true, false}) {
        store s;
        const auto handle = [](store::transaction&, const event& e) { return every_second(e); };
        const auto r = waybill::process_batch(
            s, {key, {}, 1}, events(7), handle, {},
            {.on_exhausted = waybill::batch_policy::when_exhausted::dead_letter,
             .savepoints = savepoints,
             .dead_letters = {.keeps = dead_letter_body::discard}});
        CHECK(r.outcome == batch_outcome::committed);
        CHECK(r.dropped == 3);
        CHECK(r.dropped_events ==
              std::vector<batch_report::dropped_event>{dropped(2, waybill::permanent("bad 2")),
                                                       dropped(4, waybill::transient("busy")),
                                                       dropped(6, waybill::permanent("bad 6"))});
        CHECK(s.letters().empty());
    }
}

TEST_CASE(
    "process_at_least_once: each dropped event is reported after the checkpoint has passed "
    "it")
{
    store s;
    waybill::checkpoint_writer_for<store> checkpoints(s);
    waybill::dead_letter_sink_for<store> letters(s);
    const auto handle = [](const event& e, std::string_view) {
        return e.sequence == 7 ? waybill::infrastructure("down") : every_second(e);
    };
    const waybill::at_least_once_policy p{
        .on_exhausted = waybill::batch_policy::when_exhausted::dead_letter,
        .dead_letters = {.keeps = dead_letter_body::discard}};
    const auto r = waybill::process_at_least_once(checkpoints, letters, {key, {}, 1}, events(8),
                                                  handle, {}, p);
    CHECK(r.outcome == batch_outcome::redeliver);
    CHECK(r.dropped == 3);
    CHECK(r.dropped_events ==
          std::vector<batch_report::dropped_event>{dropped(2, waybill::permanent("bad 2")),
                                                   dropped(4, waybill::transient("busy")),
                                                   dropped(6, waybill::permanent("bad 6"))});

    // If the checkpoint is not stored, they are repeated, and reported then.
    store kept;
    waybill::testing::faulty down(kept, [](waybill::testing::store_call c) {
        return c == waybill::testing::store_call::begin ? waybill::testing::injected_fault::fails
                                                        : waybill::testing::injected_fault::none;
    });
    waybill::checkpoint_writer_for failing(down);
    const auto again =
        waybill::process_at_least_once(failing, letters, {key, {}, 1}, events(8), handle, {}, p);
    CHECK(again.dropped == 0);
    CHECK(again.dropped_events.empty());
}

TEST_CASE("process_batch: dropped events are listed up to max_dropped_events, and all are counted")
{
    for (const bool savepoints : {true, false}) {
        for (const std::uint64_t n : {waybill::batch_report::max_dropped_events,
                                      waybill::batch_report::max_dropped_events + 1}) {
            store s;
            const auto handle = [](store::transaction&, const event&) {
                return waybill::permanent("bad");
            };
            const auto r = waybill::process_batch(
                s, {key, {}, 1}, events(n), handle, {},
                {.savepoints = savepoints, .dead_letters = {.keeps = dead_letter_body::discard}});
            CHECK(r.dropped == n);
            REQUIRE(r.dropped_events.size() == waybill::batch_report::max_dropped_events);
            CHECK(r.dropped_events.front() == dropped(1, waybill::permanent("bad")));
            CHECK(r.dropped_events.back() ==
                  dropped(waybill::batch_report::max_dropped_events, waybill::permanent("bad")));
        }
    }
    store s;
    waybill::checkpoint_writer_for<store> checkpoints(s);
    waybill::dead_letter_sink_for<store> letters(s);
    const auto handle = [](const event&, std::string_view) { return waybill::permanent("bad"); };
    const auto r = waybill::process_at_least_once(
        checkpoints, letters, {key, {}, 1}, events(waybill::batch_report::max_dropped_events + 1),
        handle, {}, {.dead_letters = {.keeps = dead_letter_body::discard}});
    CHECK(r.dropped == waybill::batch_report::max_dropped_events + 1);
    CHECK(r.dropped_events.size() == waybill::batch_report::max_dropped_events);
}

TEST_CASE(
    "process_batch: an event dropped because it ended its process is reported with that "
    "reason")
{
    store kept;
    std::vector<batch_report::dropped_event> reported;
    waybill::assignment mine{key, {}, 1, 100};
    for (int n = 0; n != 3; ++n) {
        waybill::testing::faulty s(kept, [](waybill::testing::store_call) {
            return waybill::testing::injected_fault::none;
        });
        const auto handle = [&](auto&, const event&) { return s.die(); };
        const auto r = waybill::process_batch(
            s, mine, events(1), handle, {},
            {.dead_letters = {.keeps = dead_letter_body::discard}, .deaths = 2});
        ++mine.incarnation;
        if (s.alive()) reported = r.dropped_events;
    }
    CHECK(reported == std::vector<batch_report::dropped_event>{dropped(
                          1, waybill::permanent("its handler did not return 2 times: it threw an "
                                                "exception or its process ended"))});
}

TEST_CASE("process_batch: events dropped in a batch that is not committed are not listed")
{
    store kept;
    waybill::testing::faulty s(kept, [](waybill::testing::store_call c) {
        return c == waybill::testing::store_call::commit
                   ? waybill::testing::injected_fault::not_applied
                   : waybill::testing::injected_fault::none;
    });
    const auto handle = [](auto&, const event& e) { return every_second(e); };
    const auto r = waybill::process_batch(s, {key, {}, 1}, events(3), handle, {},
                                          {.dead_letters = {.keeps = dead_letter_body::discard}});
    CHECK(r.outcome == batch_outcome::redeliver);
    CHECK(r.dropped == 0);
    CHECK(r.dropped_events.empty());
}

}  // namespace
}  // namespace dropped_events_test
