// SPDX-License-Identifier: MIT
//
// The snippets of the guide of the module tracking.
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/core/match.hpp>
#include <waybill/tracking.hpp>

namespace tracking_guide_test {
namespace {

using namespace std::chrono_literals;
using waybill::completion_tracker;

using commits = std::vector<std::optional<std::uint64_t>>;

TEST_CASE("tracking guide: the watermark waits for the oldest event in flight")
{
    const std::uint64_t stored = 9;
    struct {
        commits all;
        void commit(std::optional<std::uint64_t> n) { all.push_back(n); }
    } store, kafka;

    //! [tracking_watermark]
    waybill::completion_tracker tracker{{.max_in_flight = 1'000}, stored};  // 9 is done
    const auto first = tracker.begin(10);   // a ticket, or the reason why it was not begun
    const auto second = tracker.begin(12);  // position 11 is a gap
    tracker.complete(*second);              // 10 is still in flight
    store.commit(tracker.watermark());      // 9: all events up to it are done
    kafka.commit(tracker.resume_at());      // 10, the next event to read
    tracker.complete(*first);
    store.commit(tracker.watermark());  // 12
    kafka.commit(tracker.resume_at());  // 13
    //! [tracking_watermark]
    CHECK(store.all == commits{9, 12});
    CHECK(kafka.all == commits{10, 13});
}

TEST_CASE("tracking guide: a schedule decides when to commit")
{
    waybill::steady_time now;
    waybill::completion_tracker tracker{{}, 0};
    for (const int n : {1, 2}) tracker.complete(*tracker.begin(n));
    const std::uint64_t done = 2;
    commits written;
    bool reachable = false;
    const auto commit = [&](std::optional<std::uint64_t> n) {
        written.push_back(n);
        return reachable;
    };
    std::optional<waybill::steady_time> wake;
    const auto wake_at = [&](waybill::steady_time t) { wake = t; };

    //! [tracking_schedule]
    using waybill::commit_schedule;
    commit_schedule schedule{{.every = 1'000, .interval = 5s, .idle_refresh = 6h}, now};
    schedule.on(commit_schedule::events_done{done}, now);
    const auto step = [&] {
        waybill::match(
            schedule.next(now),
            [&](commit_schedule::commit_position) {
                schedule.on(commit_schedule::commit_started{}, now);
                if (commit(tracker.resume_at()))
                    schedule.on(commit_schedule::commit_confirmed{}, now);
                else
                    schedule.on(commit_schedule::commit_failed{},
                                now);  // or its outcome is unknown
            },
            [&](waybill::wait_until w) { wake_at(w.time); },  // then call step() again
            [](waybill::idle) {});
    };
    //! [tracking_schedule]
    const waybill::steady_time begin = now;
    step();
    CHECK(wake == begin + waybill::duration::seconds(5));
    now = *wake;
    step();
    CHECK(schedule.unconfirmed() == 2);  // the commit failed
    step();
    CHECK(wake == begin + waybill::duration::seconds(6));
    now = *wake;
    reachable = true;
    step();
    CHECK(schedule.unconfirmed() == 0);
    CHECK(written == commits{3, 3});
    step();
    CHECK(wake == now + waybill::duration::seconds(6 * 3'600));
}

TEST_CASE("tracking guide: the next owner skips the events that are done")
{
    struct row {
        std::int64_t offset = 0;
        std::string metadata{};
    } committed;
    const std::uint64_t salt = waybill::crc32c("orders/7");
    const std::uint64_t first = 10;
    {
        waybill::completion_tracker tracker{{}, 9};
        (void)tracker.begin(first);
        tracker.complete(*tracker.begin(11));
        std::uint64_t repeated = 0;
        const auto log_repeated = [&](std::uint64_t n) { repeated += n; };
        struct {
            row& to;
            void commit(std::uint64_t next, const std::string& text)
            {
                to = {static_cast<std::int64_t>(next), text};
            }
        } kafka{committed};
        //! [tracking_encode]
        const waybill::tracker_budget budget{.max_bytes = 4'096};  // characters, as text is written
        const auto done = waybill::encode_text(tracker, budget, salt);
        kafka.commit(*tracker.resume_at(), done.bytes);
        if (done.dropped != 0) log_repeated(done.dropped);  // they did not fit
        //! [tracking_encode]
        CHECK(repeated == 0);
        CHECK(done.kept == 1);
        CHECK(budget.in_bytes().can_accept(tracker));
    }
    std::string problem;
    const auto log = [&](std::string_view why) { problem = why; };
    for (const std::string& metadata : {committed.metadata, std::string("changed")}) {
        waybill::completion_tracker tracker;
        committed.metadata = metadata;
        //! [tracking_decode]
        const auto last = committed.offset - 1;  // negative: no event is done
        if (auto start = waybill::decode_text(last, committed.metadata, salt)) {
            tracker.resume(*start);
        } else {
            log(name(start.error()));
            tracker.assign(last);  // all events after it are handled again
        }
        //! [tracking_decode]
        CHECK(tracker.begin(10));
        const auto next = tracker.begin(11);
        if (metadata == "changed") CHECK(next);
        else CHECK(next.error() == completion_tracker::track_error::done_before);
    }
    CHECK(!problem.empty());
}

TEST_CASE("tracking guide: an event that never ends")
{
    waybill::completion_tracker tracker{{}, 0};
    (void)tracker.begin(1);
    tracker.complete(*tracker.begin(2));
    waybill::steady_time now;
    waybill::stuck_watch watch;
    (void)watch.stuck_for(tracker, now);
    now = now + waybill::duration::seconds(301);
    std::uint64_t dead = 0;
    const auto write_dead_letter = [&](std::uint64_t n) {
        dead = n;
        return true;
    };

    //! [tracking_stuck]
    if (watch.stuck_for(tracker, now) > 5min) {
        const auto oldest = tracker.blocked_by();
        if (write_dead_letter(oldest->sequence)) {
            tracker.complete({oldest->sequence, tracker.generation()});
        }
    }
    //! [tracking_stuck]
    CHECK(dead == 1);
    CHECK(tracker.watermark() == 2);
}

TEST_CASE("tracking guide: a revoked partition")
{
    waybill::completion_tracker tracker{{}, 0};
    const auto ticket = tracker.begin(1);
    commits written;
    const auto commit = [&](std::optional<std::uint64_t> n) { written.push_back(n); };

    //! [tracking_revoke]
    commit(tracker.watermark());  // if this owner may still write
    tracker.revoke();
    const auto late = tracker.complete(*ticket);  // event_result::stale
    //! [tracking_revoke]
    CHECK(written == commits{0});
    CHECK(late == waybill::event_result::stale);
    CHECK(tracker.begin(2).error() == completion_tracker::track_error::not_assigned);
}

TEST_CASE("tracking guide: bytes of the form runs")
{
    waybill::completion_tracker tracker{{}, 10};
    for (std::uint64_t n = 11; n != 31; ++n) (void)tracker.begin(n);
    for (std::uint64_t n = 31; n != 1'012; ++n) tracker.complete(*tracker.begin(n));
    const std::string bytes = waybill::encode(tracker).bytes;
    CHECK(bytes.size() == 10);
    CHECK(bytes.substr(0, 6) == std::string("\x10\x0b\x00\x13\xd4\x07", 6));
}

struct order {
    std::uint64_t sequence;
    std::string body;
};

TEST_CASE("tracking guide: events that end in any order")
{
    struct {
        std::uint64_t next = 0;
        std::string beside;
        bool commit(std::uint64_t n, const std::string& metadata)
        {
            next = n;
            beside = metadata;
            return true;
        }
    } kafka;
    const std::vector<order> fetched{{10, "a"}, {11, "b"}, {14, "c"}};
    std::map<std::uint64_t, waybill::tracked_event> started;
    waybill::steady_time now;

    //! [tracking_loop]
    using waybill::commit_schedule;
    waybill::completion_tracker tracker{{.max_in_flight = 1'000}, 9};  // 9 is done
    commit_schedule pace{{.every = 2, .interval = 5s}, now};
    for (const order& o : fetched) {
        if (auto t = tracker.begin(o.sequence)) started[o.sequence] = *t;  // or why not
    }
    const auto ended = [&](std::uint64_t sequence) {  // in any order
        if (tracker.complete(started[sequence]) != waybill::event_result::applied) return;
        pace.on(commit_schedule::events_done{1}, now);
        if (!pace.due(now)) return;
        pace.on(commit_schedule::commit_started{}, now);
        const auto beside = waybill::encode_text(tracker, {.max_bytes = 4'096});
        if (kafka.commit(*tracker.resume_at(), beside.bytes))
            pace.on(commit_schedule::commit_confirmed{}, now);
        else pace.on(commit_schedule::commit_failed{}, now);
    };
    //! [tracking_loop]
    ended(14);
    ended(10);
    CHECK(kafka.next == 11);  // 11 is still in flight; 14 is done, which stands beside it
    CHECK_FALSE(kafka.beside.empty());
    const auto again = waybill::decode_text(10, kafka.beside);
    REQUIRE(again);
    waybill::completion_tracker other{{.max_in_flight = 1'000}};
    other.resume(*again);
    CHECK(other.begin(11));
    CHECK_FALSE(other.begin(14));
}

}  // namespace
}  // namespace tracking_guide_test
