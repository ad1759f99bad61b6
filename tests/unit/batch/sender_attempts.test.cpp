// SPDX-License-Identifier: MIT
//
// The next batch of a sender, and its attempt number. Each case was once a bug.

#include <cstdint>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <support/send_said.hpp>

#include <waybill/batch/batch_sender.hpp>
#include <waybill/batch/detail/calibrator.hpp>
#include <waybill/batch/detail/flights.hpp>

namespace sender_attempts_test {

using namespace waybill;
using send_said::numbers;
using send_said::settle_all;

namespace {

constexpr steady_time at(std::int64_t ms)
{
    return steady_time::at(duration::milliseconds(ms));
}

struct sending {
    std::uint64_t attempt = unlimited;
    numbers items{};
};

// The batch to be sent now; no items if there is none.
sending asked(const batch_sender& s, steady_time now = at(0))
{
    return {send_said::attempt(s, now), send_said::sending(s, now)};
}

}  // namespace

TEST_CASE("sender: a closed batch that is opened again gets another attempt number")
{
    batch_sender s({.limit = {.bytes = 100}, .item_overhead = 50, .in_flight = 2});
    s.on(batch_sender::queued{10}, at(0));
    s.on(batch_sender::queued{60}, at(0));
    CHECK(s.on(batch_sender::started{0}, at(0)) == event_result::applied);
    CHECK(asked(s).attempt == 1);
    CHECK(asked(s).items == numbers{1});  // too large for a second item, by the estimated headers
    s.on(batch_sender::accepted{0, 12},
         at(0));  // and they are not: there is space now, and the batch waits
    CHECK(settle_all(s) == std::vector<batch_sender::report>{{{0, 1}, item_outcome::accepted}});
    CHECK(waybill::holds_alternative<idle>(s.next(at(0))));
    s.on(batch_sender::queued{10}, at(0));
    s.on(batch_sender::flushed{}, at(0));
    CHECK(asked(s).attempt == 2);
    CHECK(asked(s).items == numbers{1, 2});

    // Item 2 was never sent, so it has no outcome.
    CHECK(s.on(batch_sender::accepted{1}, at(0)) == event_result::stale);
    CHECK(s.on(batch_sender::started{1}, at(0)) == event_result::stale);
    CHECK(settle_all(s).empty());
    CHECK(s.first_open() == 1);
    CHECK(s.on(batch_sender::accepted{2}, at(0)) == event_result::applied);
    CHECK(settle_all(s) == std::vector<batch_sender::report>{{{1, 2}, item_outcome::accepted}});
    CHECK(s.finished());
}

namespace {

detail::batch_sizes sizes_of(const sending& x, const numbers& bodies, bool exact)
{
    detail::batch_sizes b{.items = x.items.size()};
    for (const std::uint64_t n : x.items) (exact ? b.exact_bytes : b.body_bytes) += bodies[n];
    if (!exact) b.estimated_items = b.items;
    return b;
}

// Sends all items, one after the other, to a broker that refuses items above the known limit. Every
// batch fits by the current knowledge; only a single item may exceed it. Returns the items that
// were too large.
numbers too_large_of(batch_sender s, const numbers& bodies)
{
    for (const std::uint64_t n : bodies) s.on(batch_sender::queued{n}, at(0));
    s.on(batch_sender::flushed{}, at(0));
    numbers alone;
    while (!s.finished()) {
        for (const batch_sender::report& x : settle_all(s)) {
            if (x.outcome == item_outcome::too_large) alone.push_back(x.items.first);
        }
        const sending x = asked(s);
        if (x.items.empty()) break;
        const batch_limits& l = s.policy().limit;
        bool above = false;
        for (const std::uint64_t n : x.items) {
            above = above || bodies[n] + l.envelope > s.learnt().limit;
        }
        if (above) {
            CHECK(x.items.size() == 1);
            s.on(batch_sender::too_large{x.attempt}, at(0));
        } else {
            CHECK(detail::calibrator(s.learnt()).fits(sizes_of(x, bodies, s.policy().exact_sizes)));
            s.on(batch_sender::accepted{x.attempt}, at(0));
        }
    }
    CHECK(s.finished());
    return alone;
}

}  // namespace

TEST_CASE("sender: an oversized item is not added to a batch that fits")
{
    // Compressed, so that two of 600 leave 1,300 bytes for bodies.
    const calibration compressed{
        .documented = 1'000, .limit = 1'000, .ceiling = 1'000, .items = {.ratio = 0.4}};
    const send_policy guessed{.limit = {.bytes = 1'000}};
    CHECK(too_large_of(batch_sender(guessed, compressed), {600, 600, 1'100}) == numbers{2});
    CHECK(too_large_of(batch_sender(guessed, compressed), {600, 600, 1'000}).empty());

    // The broker reported 500, and it is time to probe for the documented 1,000.
    const calibration probing{
        .documented = 1'000, .limit = 500, .ceiling = 1'000, .consecutive_accepted = 40};
    REQUIRE(detail::calibrator(probing).budget() == 1'000);
    const send_policy exact{.limit = {.bytes = 1'000}, .exact_sizes = true};
    CHECK(too_large_of(batch_sender(exact, probing), {100, 700}) == numbers{1});
    CHECK(too_large_of(batch_sender(exact, probing), {100, 500}).empty());

    // An envelope counts, too.
    const calibration with_envelope{.documented = 1'000,
                                    .limit = 500,
                                    .ceiling = 1'000,
                                    .envelope = 50,
                                    .consecutive_accepted = 40};
    const send_policy enveloped{.limit = {.bytes = 1'000, .envelope = 50}, .exact_sizes = true};
    CHECK(too_large_of(batch_sender(enveloped, with_envelope), {100, 451}) == numbers{1});
    CHECK(too_large_of(batch_sender(enveloped, with_envelope), {100, 450}).empty());
}

TEST_CASE("sender: each batch fits, even if the margin grows while it is filled")
{
    // Ratio and header were learnt together: if one is larger, the other is smaller. So a batch
    // with other body sizes is more uncertain than its size shows.
    struct which {
        calibration::item_estimate items;
        calibration::broker_reports tells;
        std::uint64_t limit;
        std::uint64_t before;  // the number of items of the first size
        std::uint64_t small;
        std::uint64_t large;  // the size of the later items
    };
    for (const which& x : {which{{.header = 20,
                                  .ratio_variance = 0.03,
                                  .covariance = -5,
                                  .header_variance = 1'000,
                                  .noise = 600,
                                  .seen = 4},
                                 calibration::broker_reports::sizes,
                                 41'000,
                                 50,
                                 140,
                                 1'110},
                           which{{.ratio = 1.1,
                                  .header = 5,
                                  .ratio_variance = 0.0009,
                                  .covariance = -2,
                                  .header_variance = 5'500,
                                  .noise = 20,
                                  .seen = 4},
                                 calibration::broker_reports::nothing,
                                 42'000,
                                 13,
                                 50,
                                 130}}) {
        const detail::calibrator known(calibration{.documented = x.limit,
                                                   .limit = x.limit,
                                                   .ceiling = x.limit,
                                                   .items = x.items,
                                                   .reports = x.tells});
        REQUIRE(known.state().items == x.items);
        batch_sender s({.limit = {.bytes = x.limit}}, known.state());
        numbers bodies;
        while (s.wants_more() && bodies.size() != 1'000) {
            bodies.push_back(bodies.size() < x.before ? x.small : x.large);
            s.on(batch_sender::queued{bodies.back()}, at(0));
        }
        sending first = asked(s);
        CHECK(first.items.size() > x.before);
        CHECK(known.fits(sizes_of(first, bodies, false)));
        // No space is wasted: with one more item, it would be too large.
        CHECK(first.items.size() + 1 == bodies.size());
        first.items.push_back(bodies.size() - 1);
        CHECK(!known.fits(sizes_of(first, bodies, false)));
    }
}

TEST_CASE("sender: after 4,096 items of a busy key, wants_more is false")
{
    batch_sender s({.limit = {.items = 1}, .in_flight = 2, .ordered = true});
    for (const std::uint64_t key : {7U, 8U}) s.on(batch_sender::queued(1, key), at(0));
    for (const std::uint64_t attempt : {0U, 1U}) {
        CHECK(s.on(batch_sender::started{attempt}, at(0)) == event_result::applied);
    }
    for (int n = 0; n != 5'000; ++n) s.on(batch_sender::queued(1, 7), at(0));
    s.on(batch_sender::accepted{1}, at(0));  // so the queue is looked through from its head
    CHECK(settle_all(s) == std::vector<batch_sender::report>{{{1, 1}, item_outcome::accepted}});
    CHECK(!s.wants_more());
    CHECK(waybill::holds_alternative<idle>(s.next(at(0))));
    // An item that is queued anyway is not lost: it is sent when the key is free.
    s.on(batch_sender::queued(1, 9), at(0));
    CHECK(!s.wants_more());
    s.on(batch_sender::accepted{0}, at(0));
    std::uint64_t accepted_items = 1;
    while (!s.finished()) {
        for (const batch_sender::report& x : settle_all(s)) accepted_items += x.items.count;
        const sending x = asked(s);
        if (x.items.empty()) break;
        s.on(batch_sender::accepted{x.attempt}, at(0));
    }
    CHECK(s.finished());
    CHECK(accepted_items == 5'003);
}

TEST_CASE("sender: a caller that obeys wants_more stops 4,096 items after a busy key")
{
    batch_sender s({.limit = {.items = 1}, .ordered = true});
    s.on(batch_sender::queued(1, 7), at(0));
    CHECK(s.on(batch_sender::started{0}, at(0)) == event_result::applied);
    std::uint64_t more = 0;
    for (; s.wants_more() && more != 10'000; ++more) s.on(batch_sender::queued(1, 7), at(0));
    CHECK(more == 4'097);  // the last of them was not checked
    s.on(batch_sender::accepted{0}, at(0));
    settle_all(s);
    CHECK(asked(s).items == numbers{1});
}

TEST_CASE("sender: wants_more is false while a replacement is awaited")
{
    batch_sender s({.limit = {.bytes = 100}, .on_too_large = send_policy::when_too_large::replace});
    s.on(batch_sender::queued{10}, at(0));
    CHECK(s.wants_more());
    s.on(batch_sender::queued{200}, at(0));
    CHECK(!s.wants_more());
    s.on(batch_sender::queued{10}, at(0));  // items that are queued anyway do not change that
    CHECK(!s.wants_more());
    CHECK(s.on(batch_sender::replaced{1, 30}, at(0)) == event_result::applied);
    CHECK(s.wants_more());
    s.on(batch_sender::flushed{}, at(0));
    CHECK(asked(s).items == numbers{0, 1, 2});
}

TEST_CASE("sender: a partial success returns a token to the budget, a total failure does not")
{
    batch_sender s({.limit = {.items = 2},
                    .retry = {.max_attempts = 9, .pauses = {.base = {}, .cap = {}}},
                    .budget = {.tokens = 1, .successes = 1}});
    for (int n = 0; n != 2; ++n) s.on(batch_sender::queued{1}, at(0));
    s.on(batch_sender::flushed{}, at(0));
    s.on(batch_sender::failed{.attempt = 0}, at(0));  // that was the token
    CHECK(settle_all(s).empty());
    batch_sender none = s;

    const batch_sender::entry_fault first[] = {{0, fault_kind::transient}};
    CHECK(s.on(batch_sender::partial{.attempt = 1, .failed = first}, at(0)) ==
          event_result::applied);
    CHECK(settle_all(s) == std::vector<batch_sender::report>{{{1, 1}, item_outcome::accepted}});
    CHECK(asked(s).items == numbers{0});

    const batch_sender::entry_fault both[] = {{0, fault_kind::transient},
                                              {1, fault_kind::transient}};
    CHECK(none.on(batch_sender::partial{.attempt = 1, .failed = both}, at(0)) ==
          event_result::applied);
    CHECK(settle_all(none) ==
          std::vector<batch_sender::report>{{{0, 2}, item_outcome::failed, fault_kind::transient}});
    CHECK(none.finished());
}

TEST_CASE("sender: a lingering batch that has grown since it was requested is another attempt")
{
    batch_sender s(
        {.limit = {.bytes = 1'000}, .exact_sizes = true, .linger = duration::milliseconds(10)});
    for (int n = 0; n != 10; ++n) s.on(batch_sender::queued{1}, at(0));
    const sending attempted = asked(s, at(10));
    CHECK(attempted.items.size() == 10);
    s.on(batch_sender::queued{1}, at(10));
    CHECK(s.on(batch_sender::accepted{attempted.attempt}, at(10)) == event_result::stale);
    CHECK(settle_all(s).empty());
    const sending now = asked(s, at(10));
    CHECK(now.items.size() == 11);
    CHECK(s.on(batch_sender::accepted{now.attempt}, at(10)) == event_result::applied);
    CHECK(s.first_open() == 0);
    CHECK(settle_all(s) == std::vector<batch_sender::report>{{{0, 11}, item_outcome::accepted}});
}

TEST_CASE(
    "sender: a result for an earlier sender is stale, before and after the same items are "
    "sent")
{
    const send_policy p{.limit = {.items = 1}, .in_flight = 2};
    const auto with_two_items = [&](std::uint64_t first_attempt) {
        batch_sender s(p, {}, {}, first_attempt);
        for (int n = 0; n != 2; ++n) s.on(batch_sender::queued{10}, at(0));
        s.on(batch_sender::flushed{}, at(0));
        return s;
    };
    batch_sender earlier = with_two_items(0);
    earlier.on(batch_sender::started{0}, at(0));
    CHECK(asked(earlier).attempt == 1);  // this one is sent, but `started` is never reported

    for (const std::uint64_t first : {earlier.attempts_end(), unlimited / 2}) {
        CAPTURE(first);
        batch_sender s = with_two_items(first);
        const auto hears_nothing = [&s] {
            const batch_sender before = s;
            const batch_sender::entry_fault one[] = {{0, fault_kind::transient}};
            const std::uint64_t sizes[] = {10};
            for (const std::uint64_t n : {0U, 1U}) {
                CHECK(s.on(batch_sender::started{n}, at(0)) == event_result::stale);
                CHECK(s.on(batch_sender::accepted{n}, at(0)) == event_result::stale);
                CHECK(s.on(batch_sender::too_large{n, {}, {}, sizes}, at(0)) ==
                      event_result::stale);
                CHECK(s.on(batch_sender::partial{n, one}, at(0)) == event_result::stale);
                CHECK(s.on(batch_sender::throttled{n}, at(0)) == event_result::stale);
                CHECK(s.on(batch_sender::failed{n}, at(0)) == event_result::stale);
                CHECK(s.on(batch_sender::outcome_unknown{n}, at(0)) == event_result::stale);
            }
            CHECK(s == before);
        };
        hears_nothing();
        CHECK(asked(s).attempt == first);
        s.on(batch_sender::started{first}, at(0));
        hears_nothing();
        CHECK(asked(s).attempt == first + 1);
        s.on(batch_sender::started{first + 1}, at(0));
        hears_nothing();
        CHECK(s.on(batch_sender::accepted{first + 1}, at(0)) == event_result::applied);
        CHECK(s.on(batch_sender::accepted{first}, at(0)) == event_result::applied);
        CHECK(settle_all(s).size() == 2);
        CHECK(s.finished());
        CHECK(s.attempts_end() > earlier.attempts_end());
    }
}

TEST_CASE("flights: a probe is still one after a later batch was refused")
{
    waybill::detail::flights f;
    f.make_room();
    (void)f.add(0, {}, waybill::batch_close_reason::bytes, waybill::detail::cut_with::probe);
    f.make_room();
    (void)f.add(1, {}, waybill::batch_close_reason::bytes, waybill::detail::cut_with::latest);
    CHECK(f.has_probe());
    f.mark_older();
    CHECK(f.has_probe());
    f.remove(*f.find(0));
    CHECK(!f.has_probe());
}

}  // namespace sender_attempts_test
