// SPDX-License-Identifier: MIT
//
// The lines themselves: a reader of logs sees each change of the words.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
// Headers of fmt for durations, variants, ranges and streams do not conflict.
#include <fmt/chrono.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>
#include <fmt/std.h>

#include <waybill/ext/fmt/batch.hpp>
#include <waybill/ext/fmt/consume.hpp>
#include <waybill/ext/fmt/core.hpp>
#include <waybill/ext/fmt/retry.hpp>
#include <waybill/ext/fmt/wire.hpp>

namespace ext_fmt_test {
namespace {

using namespace waybill;
using namespace std::chrono_literals;

constexpr steady_time at_5s = steady_time::at(5s);

template <class T>
std::string line(const T& value)
{
    return fmt::format("{}", value);
}

TEST_CASE("times and durations")
{
    CHECK(line(duration(1500ms)) == "1.5s");
    CHECK(line(duration(10min)) == "10min");
    CHECK(line(duration(300ms)) == "300ms");
    CHECK(line(duration(1ns)) == "1ns");
    CHECK(line(duration::highest()) == "forever");
    CHECK(line(at_5s) == "steady 5s");
    CHECK(line(steady_time::highest()) == "never");
    CHECK(line(wall_time::at(1'709'208'000'250ms)) == "2024-02-29T12:00:00.25Z");
    CHECK(line(std::chrono::milliseconds(1500)) == "1500ms");  // fmt's own
}

TEST_CASE("enums are formatted by name, with the format specifications of a string")
{
    CHECK(line(batch_close_reason::deadline) == "deadline");
    CHECK(line(add_result::too_large) == "too_large");
    CHECK(line(event_result::stale) == "stale");
    CHECK(line(fault_kind::ownership_lost) == "ownership_lost");
    CHECK(line(item_outcome::in_doubt) == "in_doubt");
    CHECK(line(batch_outcome::committed) == "committed");
    CHECK(line(commit_outcome::not_applied) == "not_applied");
    CHECK(line(advance_outcome::stale_epoch) == "stale_epoch");
    CHECK(line(backoff::jitter::equal) == "equal");
    CHECK(line(send_policy::when_unknown::hand_back) == "hand_back");
    CHECK(line(calibration::broker_reports::nothing) == name(calibration::broker_reports::nothing));
    CHECK(line(wire::answer::too_many) == "too_many");
    CHECK(line(wire::extent::item) == "item");
    CHECK(line(wire::proof::reported) == "reported");
    CHECK(line(wire::dialect::grpc) == "grpc");
    CHECK(line(batch_policy::when_exhausted::dead_letter) == "dead_letter");
    CHECK(fmt::format("{:>8}|{:<8}|{:.3}", backoff::jitter::full, backoff::jitter::full,
                      backoff::jitter::equal) == "    full|full    |equ");
    CHECK(line(static_cast<batch_close_reason>(200)) == "?");
}

TEST_CASE("faults and configuration errors")
{
    CHECK(line(fault{}) == "ok");
    CHECK(line(permanent("total is negative")) == "permanent: total is negative");
    CHECK(line(cancelled("")) == "cancelled");
    CHECK(line(*validate(batch_limits{.bytes = 10, .envelope = 20})) ==
          "limits.envelope is 20: must be less than bytes (10)");
}

TEST_CASE("control characters of external text are escaped")
{
    CHECK(line(transient("bad\nFATAL: all is lost\r\t\x1b[2J\x7f")) ==
          "transient: bad\\nFATAL: all is lost\\r\\t\\x1b[2J\\x7f");
    CHECK(line(permanent("gr\xc3\xbc\xc3\x9f")) == "permanent: gr\xc3\xbc\xc3\x9f");
    CHECK(line(partition_key{"a\nb", "c", "d"}) == "a\\nb/c/d");
    CHECK(line(item_report{
              {1, 1}, item_outcome::failed, fault_kind::permanent, 0, 0, 0, "no\nway"}) ==
          "item 1: failed, permanent: no\\nway");
}

TEST_CASE("limits, chunks and batches")
{
    CHECK(line(batch_limits{}) == "no limits");
    CHECK(line(batch_limits{.bytes = 262'144, .items = 1, .single = 1'024, .envelope = 1}) ==
          "at most 262144 bytes, 1 item, 1024 bytes an item, envelope 1 byte");
    const std::vector<std::uint64_t> sizes{1, 2, 9};
    std::vector<std::string> said;
    for (const auto& c :
         chunk_by(sizes, batch_limits{.bytes = 3}, [](std::uint64_t n) { return n; })) {
        said.push_back(line(c));
    }
    CHECK(said == std::vector<std::string>{"2 items, 3 bytes, closed by bytes",
                                           "1 item, 9 bytes, does not fit"});

    open_batch<int> open{batch_limits{.items = 3}, [](const int&) -> std::uint64_t { return 5; },
                         1s};
    CHECK(line(open) == "0 items, 0 bytes, open, due when full");
    CHECK(open.try_add(1, at_5s) == add_result::added);
    CHECK(line(open) == "1 item, 5 bytes, open, due steady 6s");
    CHECK(line(open.take(at_5s)) == "1 item, 5 bytes, closed by end");
}

TEST_CASE("keyed, owned and packed batches")
{
    const batch_limits l{.bytes = 10};
    const auto itself = [](const int& n) -> std::uint64_t { return static_cast<unsigned>(n); };
    keyed_batches<std::string, int> open{l, itself, {.open = 2, .linger = 1s}};
    CHECK(line(open) == "0 items, 0 batches open, due when full");
    CHECK(open.try_add("a\nb", 4, at_5s) == add_result::added);
    CHECK(line(open) == "1 item, 1 batch open, due steady 6s");
    CHECK(line(open.take(at_5s)) == "key a\\nb: 1 item, 4 bytes, closed by end");
    CHECK(line(keyed_batch<partition_key, int>{
              {"a", "b", "c"}, {1, 2}, 3, batch_close_reason::key, {}}) ==
          "key a/b/c: 2 items, 3 bytes, closed by key");
    struct nameless {
        bool operator==(const nameless&) const = default;
    };
    CHECK(line(keyed_batch<nameless, int>{{}, {1}, 3, batch_close_reason::key, {}}) ==
          "1 item, 3 bytes, closed by key");
    bin_packer<int> bins{l, itself};
    CHECK(bins.try_add(4, at_5s) == add_result::added);
    CHECK(bins.try_add(7, at_5s) == add_result::added);
    CHECK(line(bins) == "2 items, 2 batches open, due when full");
    int header = 1;
    auto with_header = open_batch<int>::of(l, [&header](int n) { return header + n; });
    CHECK(with_header.try_add(2, at_5s) == add_result::added);
    CHECK(line(with_header) == "1 item, 3 bytes, open, due when full");

    const std::vector<int> sizes{4, 5, 11, 2};
    CHECK(line(owned_chunks(sizes, l)[0]) == "2 items, 9 bytes, closed by bytes");
    CHECK(line(owned_chunks(sizes, l)[1]) == "1 item, 11 bytes, does not fit");
    CHECK(line(pack(sizes, l)) == "3 items in 2 batches, 1 too large");
    CHECK(line(packed_bins{}) == "0 items in 0 batches, 0 too large");
    CHECK(line(open_limits{}) == "at most 16 batches open, linger forever");
    CHECK(line(open_limits{.open = unlimited, .linger = 50ms, .items = 100}) ==
          "any number of batches open, linger 50ms, 100 items in all");
}

TEST_CASE("an oversized item")
{
    const std::vector<int> sizes{4, 11};
    const auto bad = first_too_large(sizes, {.bytes = 10, .envelope = 1});
    REQUIRE(bad);
    CHECK(line(*bad) == describe(*bad));
    CHECK(line(*bad) == "item 1: too_large, 12 bytes where the limit is 10, item 11, envelope 1");
}

TEST_CASE("limits, error codes and refusals of services")
{
    CHECK(line(wire::nats_default()) ==
          "nats_default: at most 1048576 bytes, 1 item, 1048576 bytes an item "
          "(measured 2026-11, https://docs.nats.io/reference/config/max_payload)");
    CHECK(line(wire::error_code{"ServerBusy", wire::answer::throttled}) == "ServerBusy: throttled");
    const wire::error_code mine[] = {{"a\nb", wire::answer::outcome_unknown, -1}};
    CHECK(line(mine[0]) == "a\\nb (-1): outcome_unknown");
    CHECK(line(wire::error_table{"mine", mine, "2026-11", "a page"}) ==
          "mine: 1 code (2026-11, a page)");
    CHECK(line(wire::refusal_numbers{300, 256}) ==
          "request: 300 bytes where the limit is 256 bytes");
    CHECK(line(wire::refusal_numbers{{}, 1, wire::extent::item}) == "item: the limit is 1 byte");
    CHECK(line(wire::refusal_numbers{300}) == "request: 300 bytes where no limit is named");
}

TEST_CASE("actions and calibration of batch_sender")
{
    batch_sender s{{.limit = {.bytes = 100}, .item_overhead = 2}};
    CHECK(line(s.next(at_5s)) == "idle");
    s.on(batch_sender::queued{30}, at_5s);
    s.on(batch_sender::queued{40}, at_5s);
    s.on(batch_sender::flushed{}, at_5s);
    CHECK(line(s.next(at_5s)) == "send attempt 0: items 0 to 1, 74 bytes, closed by end");
    s.on(batch_sender::accepted{0, {}}, at_5s);
    CHECK(line(s.next(at_5s)) == "report items 0 to 1: accepted");
    CHECK(line(s.learnt()) == "limit 100 bytes, header 2.0 bytes, went through 74 bytes");
    CHECK(line(calibration{.limit = 50,
                           .envelope = 1,
                           .items = {.ratio = 1.3333, .header = 1},
                           .accepted = 20,
                           .refused = 40}) ==
          "limit 50 bytes, envelope 1 byte, header 1.0 bytes and 1.333 of a body, went through 20 "
          "bytes, refused 40 bytes");

    const item_range gaps[] = {{0, 2}, {5, 1}, {7, 3}};
    CHECK(line(batch_sender::item_ranges(gaps, 3)) == "items 0 to 1, 5, 7 to 9");
    CHECK(line(batch_sender::item_ranges(gaps + 1, 1)) == "item 5");
    CHECK(line(batch_sender::item_ranges()) == "no items");
    CHECK(line(item_range{3, 2}) == "items 3 to 4");
    CHECK(line(item_range{}) == "no items");
    CHECK(line(batch_sender::send{7, batch_sender::item_ranges(gaps, 1), 1,
                                  batch_close_reason::items}) ==
          "send attempt 7: items 0 to 1, 1 byte, closed by items");
    CHECK(line(batch_sender::report{{4, 1}, item_outcome::too_large, fault_kind::none, 120, 100}) ==
          "report item 4: too_large, 120 bytes where the limit is 100");
    CHECK(line(batch_sender::replace{4, 130, 100, 10}) ==
          "replace item 4: 130 bytes where the limit is 100 bytes");
    CHECK(line(batch_sender::action(wait_until{at_5s})) == "wait until steady 5s");
}

TEST_CASE("actions of batch_machine")
{
    CHECK(line(batch_machine(3, {}, {5, ""}, 1).next()) == "begin a transaction");
    CHECK(line(batch_machine::load_crash_record{}) == "load the crash record");
    CHECK(line(batch_machine::shorten{1}) == "shorten to 1 event");
    CHECK(line(batch_machine::store_crash_record{crash_record{10, 14, 4, 1, 7, 3}}) ==
          "store a crash record: 4 events after 1 death");
    CHECK(line(batch_machine::clear_crash_record{}) == "clear the crash record");
    CHECK(line(batch_machine::decide_all_failed{2}) ==
          "decide about a batch without success: 2 events failed");
    CHECK(line(batch_machine::savepoint{}) == "set a savepoint");
    CHECK(line(batch_machine::handle{3}) == "handle event 3");
    CHECK(line(batch_machine::release_savepoint{}) == "release the savepoint");
    CHECK(line(batch_machine::rollback_to_savepoint{}) == "roll back to the savepoint");
    CHECK(line(batch_machine::write_dead_letter{3, fault_kind::permanent, 2}) ==
          "dead-letter event 3: permanent after 2 tries");
    CHECK(line(batch_machine::write_dead_letter{3, fault_kind::transient, 1}) ==
          "dead-letter event 3: transient after 1 try");
    CHECK(line(batch_machine::advance{}) == "advance the checkpoint");
    CHECK(line(batch_machine::commit{}) == "commit");
    CHECK(line(batch_machine::rollback{}) == "roll back");
    CHECK(line(batch_machine::action(batch_machine::check_commit{})) == "check the commit");
}

TEST_CASE("retry decisions")
{
    CHECK(line(decide({}, 1, fault_kind::permanent, 0.5, at_5s)) == "give up: permanent");
    CHECK(line(retry_action(retry_now{})) == "retry now");
    CHECK(line(give_up{}) == "give up");
    CHECK(line(idle{}) == "idle");
    CHECK(line(wait_until{steady_time::highest()}) == "wait until never");
}

TEST_CASE("reports of send_all and process_batch")
{
    send_report r{.taken = 1'002, .sends = 47, .refusals = 1, .accepted = 1'001, .not_accepted = 1};
    CHECK(line(r) == "sent 47 requests, 1 too large; 1001 accepted, 1 not");
    r.throttled = 21;
    r.maybe_twice = 7;
    r.unaccepted_bytes = 4'096;
    r.stopped = true;
    r.waiting = at_5s;
    CHECK(line(r) ==
          "sent 47 requests, 1 too large, 21 throttled; 1001 accepted, 1 not; 7 items maybe "
          "twice; 4096 bytes sent without effect; stopped after reading 1002 items; not finished, "
          "1002 items read: a further call continues");
    CHECK(line(send_report{.sends = 1}) == "sent 1 request, 0 too large; 0 accepted, 0 not");
    CHECK(line(item_report{{4, 1}, item_outcome::in_doubt}) == "item 4: in_doubt");
    CHECK(line(item_report{{5, 2}, item_outcome::blocked_by_key}) ==
          "items 5 to 6: blocked_by_key");
    CHECK(line(item_report{{0, 3}, item_outcome::accepted}) == "items 0 to 2: accepted");

    CHECK(line(batch_report{.outcome = batch_outcome::committed,
                            .reached = position{18, "x1"},
                            .handled = 9,
                            .dead_lettered = 1}) ==
          "committed at 18 (offset x1): 9 handled, 1 dead-lettered");
    CHECK(line(batch_report{.outcome = batch_outcome::redeliver,
                            .repeated = 2,
                            .reason = infrastructure("disk full")}) ==
          "redeliver: infrastructure: disk full; 2 repeated");
    CHECK(line(batch_report{}) == "empty");
}

TEST_CASE("positions and dead letters")
{
    const partition_key key{"orders", "billing", "0"};
    CHECK(line(key) == "orders/billing/0");
    CHECK(line(position{18, ""}) == "18");
    CHECK(line(checkpoint{{18, "x1"}, 3}) == "at 18 (offset x1), epoch 3");
    CHECK(line(assignment{key, position{18, ""}, 3}) == "orders/billing/0 after 18, epoch 3");
    CHECK(line(assignment{key, {}, 3}) == "orders/billing/0 from the beginning, epoch 3");
    dead_letter d{.key = key, .at = {18, ""}, .reason = "bad\nb18", .tries = 1};
    CHECK(line(d) ==
          "orders/billing/0 at 18: permanent after 1 try: bad\\nb18 (dead-lettered "
          "1970-01-01T00:00:00Z)");
    d.body = "12345";
    d.occurred = wall_time::at(1s);
    d.dead_lettered_at = wall_time::at(2s);
    CHECK(line(d) ==
          "orders/billing/0 at 18: permanent after 1 try: bad\\nb18 "
          "(dead-lettered 1970-01-01T00:00:02Z, occurred 1970-01-01T00:00:01Z, 5 bytes)");
}

TEST_CASE("actions and reports of retried calls")
{
    CHECK(line(retry_loop::call{}) == "call");
    CHECK(line(retry_loop::done{}) == "done");
    retry_loop tries({.retry = {.max_attempts = 2}}, {});
    CHECK(line(tries.next({})) == "call");
    CHECK(line(retry_loop::retry_outcome::time_limit) == "time_limit");
    CHECK(line(call_report{
              .outcome = retry_loop::retry_outcome::succeeded, .tries = 3, .elapsed = 1500ms}) ==
          "ok after 3 tries in 1.5s");
    CHECK(line(call_report{.reason = transient("no\nroute"),
                           .outcome = retry_loop::retry_outcome::tries,
                           .tries = 1}) ==
          "given up after 1 try in 0s (tries): transient: no\\nroute");
    CHECK(line(call_report{
              .reason = transient("busy"), .tries = 2, .waiting = steady_time::at(3s)}) ==
          "transient: busy after 2 tries, waiting until steady 3s");
}

TEST_CASE("policies")
{
    CHECK(line(backoff{}) == "pauses 100ms to 30s, factor 2, jitter full");
    CHECK(line(backoff{.base = 10s,
                       .cap = 1h,
                       .factor = 1,
                       .spread = backoff::jitter::around,
                       .step = 5s,
                       .highest_hint = 2h}) ==
          "pauses 10s to 1h, factor 1, step 5s, jitter around, hints up to 2h");
    CHECK(line(retry_policy{}) == "5 tries, 0 at once, pauses 100ms to 30s, factor 2, jitter full");
    CHECK(line(call_policy{}) == line(retry_policy{}));
    CHECK(line(call_policy{.time_limit = 90s}) == line(retry_policy{}) + ", within 90s");
    CHECK(line(retry_levels{}) ==
          "4 deliveries of 6 tries each, pauses 100ms to 30s, factor 2, jitter full");
    CHECK(line(retry_levels{.immediate = 0, .delayed = 0}) ==
          "1 delivery of 1 try each, pauses 100ms to 30s, factor 2, jitter full");
    CHECK(line(retry_levels{.immediate = 0, .delayed = retry_levels::unlimited}) ==
          "unlimited deliveries of 1 try each, pauses 100ms to 30s, factor 2, jitter full");
    CHECK(line(retry_budget{}) == "retries not counted");
    CHECK(line(retry_budget{.tokens = 3, .successes = 1}) ==
          "3 retries, one more for each 1 success");
    CHECK(line(retry_budget{.tokens = 100, .successes = 5, .refill = 100ms}) ==
          "100 retries, one more for each 5 successes and every 100ms");
    CHECK(line(send_policy{.limit = {.items = 10}, .item_overhead = 54, .linger = 50ms}) ==
          "at most 10 items; header 54 bytes, 1 in flight, linger 50ms, if too large report, if "
          "unknown repeat; "
          "5 tries, 0 at once, pauses 100ms to 30s, factor 2, jitter full");
    CHECK(line(batch_policy{}) ==
          "3 tries, then redeliver, with savepoints, reasons of at most 1024 bytes");
}

TEST_CASE("the guide's example: lines for a log")
{
    std::vector<std::string> log;
    const waybill::fault f = transient("no\nroute");

    //! [ext_lines]
    log.push_back(fmt::format("{}", waybill::retry_policy{}));
    // 5 tries, 0 at once, pauses 100ms to 30s, factor 2, jitter full
    log.push_back(fmt::format("{}", f));                             // transient: no\nroute
    log.push_back(fmt::format("{:>8}", waybill::duration(1500ms)));  //     1.5s
    //! [ext_lines]
    CHECK(log ==
          std::vector<std::string>{"5 tries, 0 at once, pauses 100ms to 30s, factor 2, jitter full",
                                   "transient: no\\nroute", "    1.5s"});
}

}  // namespace
}  // namespace ext_fmt_test
