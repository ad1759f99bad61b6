// SPDX-License-Identifier: MIT
//
// The calibration of a sender with wrong or new documented limits. Each case once needed more
// refusals.

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <support/send_books.hpp>

#include <waybill/batch/chunk_by.hpp>
#include <waybill/batch/merged.hpp>
#include <waybill/batch/send_all.hpp>

namespace sender_learning_test {

using namespace waybill;

namespace {

using numbers = std::vector<std::uint64_t>;

constexpr std::uint64_t true_limit = 65'536;

// 20,000 bodies of 100 to 400 bytes, about 77 batches of them.
numbers bodies(std::uint32_t seed)
{
    numbers all(20'000);
    for (std::uint64_t& n : all) {
        seed = seed * 1'664'525U + 1'013'904'223U;
        n = 100 + (seed >> 16U) % 301;
    }
    return all;
}

// Each item has one byte more than its body, and the broker does not report it.
constexpr auto whole = [](std::uint64_t body) { return body + 1; };

std::uint64_t fewest(const numbers& all)
{
    std::uint64_t n = 0;
    for (const auto& part : chunk_by(all, {.bytes = true_limit}, whole)) n += part.fits ? 1U : 0U;
    return n;
}

// Requests and refusals with a broker that reports exact sums, or nothing.
send_report send_under(std::uint64_t documented, const numbers& all, bool tells)
{
    batch_sender s({.limit = {.bytes = documented}});
    std::uint64_t arrived = 0;
    const auto answer = [&](const auto& batch) -> send_outcome {
        std::uint64_t actual = 0;
        for (const std::uint64_t body : batch) actual += whole(body);
        if (actual > true_limit) {
            return tells ? batch_sender::too_large{.actual = actual, .limit = true_limit}
                         : batch_sender::too_large{};
        }
        arrived += batch.size();
        return tells ? batch_sender::accepted{.actual = actual} : batch_sender::accepted{};
    };
    send_report r =
        send_all(all, [](std::uint64_t body) { return body; }, s, answer, steady_time{});
    CHECK(arrived == all.size());
    CHECK(r.accepted == all.size());
    CHECK(s.finished());
    return r;
}

}  // namespace

TEST_CASE("sender: a limit 16 times below the documented one is found without reported numbers")
{
    // Measured: 10 to 13 refusals, and 1.19 to 1.28 times the fewest requests. A refusal without
    // numbers is explained by larger headers. A search for the limit would take 8 or 9 refusals, and
    // 1.11 to 1.13 times the fewest requests. But if headers are the reason, it takes up to 1.8 times
    // the fewest, instead of 1.06 (bodies of 1,000 bytes on average, headers of 6,000).
    for (const std::uint32_t seed : {1U, 2U, 3U, 4U, 5U}) {
        CAPTURE(seed);
        const numbers all = bodies(seed);
        const send_report r = send_under(1U << 20U, all, false);
        CHECK(r.refusals <= 13);
        CHECK(r.sends * 100 <= fewest(all) * 128);
    }
}

TEST_CASE("sender: exact reported sums lead to at most 3 requests above the minimum")
{
    // Measured: 1 refusal, and 1 or 2 requests above the minimum, including the refused one. If the
    // documented limit is higher, it is probed again after 32 full batches.
    for (const std::uint32_t seed : {1U, 2U, 3U, 4U, 5U}) {
        CAPTURE(seed);
        const numbers all = bodies(seed);
        const send_report honest = send_under(true_limit, all, true);
        CHECK(honest.refusals <= 1);
        CHECK(honest.sends <= fewest(all) + 2);
        const send_report higher = send_under(1U << 20U, all, true);
        CHECK(higher.refusals <= 2);
        CHECK(higher.sends <= fewest(all) + 3);
    }
}

namespace {

// The limit was found at 63,000 bytes, probes have failed several times, and the next one is due.
// Items have 60,000 bytes, so a slightly larger probe has no item more.
constexpr detail::calibrator with_large_items(int batches)
{
    detail::calibrator c(calibration{.documented = 1'000'000,
                                     .limit = 1'000'000,
                                     .ceiling = 1'000'000,
                                     .accepted = 63'000,
                                     .refused = 64'000,
                                     .consecutive_accepted = 1'024,
                                     .probe_after = 1'024});
    for (int n = 0; n != batches; ++n) c.accepted({.exact_bytes = 60'000, .items = 1}, {}, true);
    return c;
}
constexpr detail::batch_sizes two_of_them{.exact_bytes = 120'000, .items = 2};

}  // namespace

// So the probes double their distance, and find a raised limit.
static_assert(!with_large_items(4).fits(two_of_them) && with_large_items(5).fits(two_of_them));

namespace {

constexpr batch_limits small{.bytes = 1'000, .envelope = 10};
constexpr batch_limits large{.bytes = 2'000, .envelope = 10};

constexpr detail::batch_sizes of(std::uint64_t bodies, std::uint64_t items)
{
    return {.body_bytes = bodies, .estimated_items = items, .items = items};
}

// Has the limit and the items from one refusal with numbers.
constexpr calibration with_numbers = [] {
    detail::calibrator c(small, 5);
    c.refused(of(900, 10), 1'110, 700);
    return c.state();
}();
// Knows them by yes and no alone, and that from no header at all.
constexpr calibration tried = [] {
    detail::calibrator c(small);
    c.accepted(of(700, 7), {}, true);
    c.refused(of(980, 10), {}, {});
    c.refused(of(960, 10), {}, {});
    return c.state();
}();
// Has only the limit, between an accepted and a refused size.
constexpr calibration between = [] {
    detail::calibrator c(small);
    c.accepted({.exact_bytes = 300, .items = 3}, {}, true);
    c.refused({.exact_bytes = 600, .items = 6}, {}, {});
    return c.state();
}();
// Knows a limit that is below another one, and was probing for that.
constexpr calibration probed{.documented = 1'000,
                             .limit = 700,
                             .ceiling = 1'000,
                             .envelope = 10,
                             .consecutive_accepted = 70,
                             .probe_after = 64,
                             .reports = calibration::broker_reports::refusals};
static_assert(with_numbers.limit == 700 && with_numbers.items.header > 5);
static_assert(detail::calibrator(between).budget() < 620 && between.refused < unlimited);
static_assert(tried.items.header > 0 && !detail::overhead(tried.items).counts_as_exact());

constexpr bool void_under(const calibration& c, const batch_limits& l)
{
    const calibration now = c.for_limits(l);
    return now.documented == l.bytes && now.limit == l.bytes && now.ceiling == l.bytes &&
           detail::calibrator(now).budget() == l.bytes && now.accepted == 0 &&
           now.refused == unlimited && now.consecutive_accepted == 0 && now.probe_after == 32;
}

}  // namespace

// Another documented limit is a new limit. The estimates of items stay.
static_assert(void_under(with_numbers, large) && void_under(between, large) &&
              void_under(tried, large));
static_assert(void_under(probed, large) && probed.for_limits(small) == probed);
static_assert(void_under(with_numbers, {.bytes = 500}) && void_under(between, {}));
static_assert(with_numbers.for_limits(large).items == with_numbers.items);
static_assert(with_numbers.for_limits(large).reports == with_numbers.reports);
static_assert(tried.for_limits(large).items == tried.items);
// With the same documented limit, nothing changes, for any calibration.
static_assert(with_numbers.for_limits(small) == with_numbers &&
              between.for_limits(small) == between);
static_assert(tried.for_limits(small) == tried);

TEST_CASE("sender: with another documented limit, only the estimates of items are kept")
{
    for (const calibration& known : {with_numbers, tried, between, probed}) {
        const batch_sender same({.limit = small}, known);
        CHECK(same.learnt() == known);
        const batch_sender other({.limit = large}, known);
        CHECK(other.learnt().limit == 2'000);
        CHECK(detail::calibrator(other.learnt()).budget() == 2'000);
        CHECK(other.learnt().items == known.items);
    }
}

namespace {

// Merging with an empty calibration loses nothing, in either order.
constexpr bool keeps(const calibration& learnt, const calibration& untouched)
{
    const calibration both = merged(learnt, untouched);
    return both == merged(untouched, learnt) && both.items == learnt.items &&
           both.limit == learnt.limit && both.reports == learnt.reports &&
           both.refused == learnt.refused;
}

constexpr calibration fresh(std::uint64_t header = 0)
{
    return detail::calibrator(small, header).state();
}

}  // namespace

static_assert(keeps(with_numbers, fresh()) && keeps(with_numbers, fresh(54)));
static_assert(keeps(tried, fresh()) && keeps(between, fresh()));
static_assert(keeps(with_numbers, calibration()) && keeps(tried, calibration()));

namespace {

struct day {
    std::uint64_t limit;       // the true one
    bool tells = true;         // reports sizes and limits of refused batches
    std::uint64_t claims = 0;  // a limit that it names instead
};

struct came {
    std::uint64_t sends;
    std::uint64_t lost;
};

// One input of equal items.
came send_on(const day& d, batch_sender& s, std::uint64_t items, std::uint64_t bytes)
{
    const numbers all(items, bytes);
    const send_report r = send_all(
        all, [](std::uint64_t body) { return body; }, s,
        [&](const auto& batch) -> send_outcome {
            std::uint64_t actual = 0;
            for (const std::uint64_t body : batch) actual += body;
            if (actual <= d.limit) return batch_sender::accepted{};
            if (!d.tells) return batch_sender::too_large{};
            return batch_sender::too_large{.actual = actual,
                                           .limit = d.claims == 0 ? d.limit : d.claims};
        },
        steady_time{});
    CHECK(r.accepted + r.not_accepted == items);
    return {r.sends, r.not_accepted};
}

}  // namespace

TEST_CASE("sender: a limit that was below every item for a while is found again after it is raised")
{
    for (const bool exact : {false, true}) {
        for (const bool replaces : {false, true}) {
            CAPTURE(exact);
            CAPTURE(replaces);
            send_policy p{.limit = {.bytes = 262'144}, .exact_sizes = exact};
            if (replaces) p.on_too_large = send_policy::when_too_large::replace;
            batch_sender s(p);
            CHECK(send_on({.limit = 1'000}, s, 500, 2'000).lost == 500);
            CHECK(send_on({.limit = 262'144}, s, 500, 2'000).lost < 32);
            const came third = send_on({.limit = 262'144}, s, 500, 2'000);
            CHECK(third.lost == 0);
            CHECK(third.sends <= 5);
        }
    }
}

TEST_CASE("sender: a permanent low limit costs few attempts with oversized items")
{
    batch_sender s({.limit = {.bytes = 262'144}, .exact_sizes = true});
    const day low{.limit = 1'000};
    CHECK(send_on(low, s, 500, 2'000).sends < 30);
    CHECK(send_on(low, s, 3'200, 2'000).sends <= 101);     // each 32nd
    batch_sender documented({.limit = {.bytes = 1'000}});  // nothing higher is known
    CHECK(send_on(low, documented, 500, 2'000).sends == 0);
}

TEST_CASE("sender: neither a wrong reported limit nor a wrong header estimate stops it permanently")
{
    batch_sender s({.limit = {.bytes = 262'144}, .item_overhead = 54});
    const day absurd{.limit = 100'000, .tells = true, .claims = 256};  // it means kilobytes
    CHECK(send_on(absurd, s, 5'000, 300).lost < 5'000);
    CHECK(send_on({.limit = 262'144, .tells = false}, s, 5'000, 300).lost < 32);
    CHECK(send_on({.limit = 262'144, .tells = false}, s, 5'000, 300).lost == 0);

    for (const std::uint64_t header : {200'000U, 300'000U, 1'000'000'000U}) {
        CAPTURE(header);
        batch_sender guessed({.limit = {.bytes = 262'144}, .item_overhead = header});
        CHECK(send_on({.limit = 262'144}, guessed, 5'000, 200).lost == 0);
        CHECK(send_on({.limit = 262'144}, guessed, 5'000, 200).sends <= 8);  // 4 would do,
        for (int n = 0; n != 10; ++n) send_on({.limit = 262'144}, guessed, 5'000, 200);
        CHECK(send_on({.limit = 262'144}, guessed, 5'000, 200).sends <= 5);
    }
}

TEST_CASE("sender: an item that is too large only by its estimate is sent before it is given up")
{
    batch_sender s({.limit = {.bytes = 1'000}});
    for (int n = 0; n != 3; ++n) s.on(batch_sender::queued{300}, steady_time{});
    s.on(batch_sender::flushed{}, steady_time{});
    s.on(batch_sender::too_large{0, 9'000}, steady_time{});  // 3,000 each, on the average
    const auto first = s.next(steady_time{});
    CHECK(waybill::get_if<batch_sender::send>(&first)->items.items() == 1);
    for (std::uint64_t attempt = 1; !s.finished() && attempt != 4; ++attempt) {
        CHECK(s.on(batch_sender::accepted{attempt}, steady_time{}) == event_result::applied);
        for (;;) {
            const auto action = s.next(steady_time{});
            const auto* done = waybill::get_if<batch_sender::report>(&action);
            if (!done) break;
            s.on(batch_sender::reported{done->items}, steady_time{});
        }
    }
    CHECK(s.finished());
}

namespace {

// The numbers of items of the refused batches that begin with item 0. The broker refuses each of
// them with this refusal, and accepts the others. All items have the same size.
numbers refused_counts(std::uint64_t items, const batch_sender::too_large& refusal)
{
    batch_sender s({.limit = {.bytes = 1'000}});
    numbers all(items);
    std::iota(all.begin(), all.end(), 0);
    numbers counts;
    const auto answer = [&](const auto& batch) -> send_outcome {
        if (*batch.begin() != 0) return batch_sender::accepted{};
        counts.push_back(batch.size());
        return refusal;
    };
    const send_report r =
        send_all(all, [](std::uint64_t) -> std::uint64_t { return 5; }, s, answer, steady_time{});
    CHECK(r.accepted == items - 1);
    return counts;
}

}  // namespace

TEST_CASE("sender: a refused batch comes back with fewer items, whatever the broker reports")
{
    // A reported size of 1 byte or 0 is wrong, and permits batches of any number of items.
    for (const std::uint64_t actual : {std::uint64_t{0}, std::uint64_t{1}}) {
        const numbers counts = refused_counts(200, {.actual = actual});
        CHECK(counts.size() <= send_audit::max_refusals(200, true));
        for (std::size_t n = 1; n != counts.size(); ++n) {
            CHECK(counts[n] <= send_audit::items_after_refusal(counts[n - 1], n != 1, true));
        }
    }
    const numbers counts = refused_counts(200, {});
    CHECK(counts.size() <= send_audit::max_refusals(200, false));
    for (std::size_t n = 1; n != counts.size(); ++n) {
        CHECK(counts[n] <= send_audit::items_after_refusal(counts[n - 1], n != 1, false));
    }
}

}  // namespace sender_learning_test
