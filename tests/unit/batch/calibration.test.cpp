// SPDX-License-Identifier: MIT

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include <doctest/doctest.h>

#include <waybill/batch/detail/calibrator.hpp>
#include <waybill/batch/merged.hpp>

namespace calibration_test {

using waybill::batch_limits;
using waybill::calibration;
using waybill::unlimited;
using waybill::detail::batch_sizes;
using waybill::detail::calibrator;
using waybill::detail::item_sum;

namespace {

constexpr batch_sizes of(std::uint64_t bodies, std::uint64_t items)
{
    return {.body_bytes = bodies, .estimated_items = items, .items = items};
}
constexpr batch_sizes exactly(std::uint64_t bytes, std::uint64_t items)
{
    return {.exact_bytes = bytes, .items = items};
}

constexpr batch_limits standard{.bytes = 1'000, .envelope = 10};

template <class... Told>
constexpr calibrator taught(calibrator c, const Told&... tell)
{
    (tell(c), ...);
    return c;
}

struct refusal {
    batch_sizes batch;
    std::optional<std::uint64_t> actual{};
    std::optional<std::uint64_t> limit{};
    constexpr void operator()(calibrator& c) const { c.refused(batch, actual, limit); }
};
struct acceptance {
    batch_sizes batch;
    std::optional<std::uint64_t> actual{};
    bool full = true;
    constexpr void operator()(calibrator& c) const { c.accepted(batch, actual, full); }
};

}  // namespace

static_assert(std::is_trivially_copyable_v<calibrator>);

// The expected size of a batch: the envelope, the bodies, and a guess for each estimated item.
static_assert(calibrator(standard, 5).predict(of(100, 3)) == 125);
static_assert(
    calibrator(standard, 5)
        .predict({.body_bytes = 100, .estimated_items = 3, .exact_bytes = 50, .items = 5}) == 175);
static_assert(calibrator(standard).predict(of(100, 3)) == 110);
static_assert(calibrator(standard, unlimited).predict(of(1, 2)) == unlimited);
static_assert(calibrator(standard).predict(of(unlimited, 1)) == unlimited);
static_assert(calibrator().predict({}) == 0);
// Compressed bodies are smaller on the wire. A stored header below 0 is discarded.
static_assert(
    calibrator(calibration{.items = {.ratio = 0.25, .header = 2}}).predict(of(1'000, 10)) == 270);
static_assert(calibrator(calibration{.items = {.header = -200}}).predict(of(100, 1)) == 100);

static_assert(calibrator(standard).budget() == 1'000 && calibrator(standard).limit() == 1'000);
static_assert(calibrator().budget() == unlimited);
static_assert(calibrator(standard, 5).header() == 5 && calibrator(standard).header() == 0);

// No guess: sizes are whole, and a batch is cut at the limit itself, and stays so.
static_assert(calibrator(standard).fits(of(990, 7)) && !calibrator(standard).fits(of(991, 7)));
static_assert(calibrator(standard).margin(of(990, 7)) == 0);
static_assert(taught(calibrator(standard), acceptance{of(990, 7)}).fits(of(990, 3)));
static_assert(taught(calibrator(standard), acceptance{of(980, 7), 990}).fits(of(990, 3)));
static_assert(taught(calibrator(standard), acceptance{of(990, 7)}).state().consecutive_accepted ==
              0);
static_assert(calibrator().fits(of(unlimited - 1, 2)) && !calibrator().fits(of(unlimited, 2)));
// ... until something speaks against it.
static_assert(!taught(calibrator(standard), acceptance{of(970, 7), 991}).fits(of(990, 7)));
static_assert(!taught(calibrator(standard), refusal{of(990, 7)}).fits(of(990, 7)));
static_assert(taught(calibrator(standard), refusal{of(990, 7)}).margin(of(500, 7)) > 0);
// Exact sizes have no margin, for any guess.
static_assert(calibrator(standard, 50).fits(exactly(990, 7)));
static_assert(!calibrator(standard, 50).fits(of(990, 7)));

// One refusal with sizes corrects the header and the limit.
constexpr calibrator told_once = taught(calibrator(batch_limits{.bytes = 100'000}, 54),
                                        refusal{of(94'000, 200), 124'000, 100'000});
static_assert(told_once.header() >= 130 && told_once.header() <= 150);
static_assert(told_once.predict(of(94'000, 200)) > 123'000);
static_assert(told_once.predict(of(94'000, 200)) <= 124'000);
static_assert(told_once.limit() == 100'000 &&
              told_once.state().reports == calibration::broker_reports::refusals);
static_assert(taught(calibrator(standard), refusal{of(900, 10), {}, 500}).limit() == 500);
static_assert(taught(calibrator(standard), refusal{of(900, 10), 1'110, 500}).budget() == 500);
static_assert(taught(calibrator(standard), refusal{of(900, 10), 5'110, 5'000}).limit() == 5'000);

// Sizes of single items count as their sum, and leave a small margin for an unknown envelope.
constexpr calibrator told_items = [] {
    calibrator c(batch_limits{.bytes = 100'000}, 54);
    item_sum s;
    for (std::uint64_t i = 0; i != 200; ++i) s.add(400 + i, 700 + i);
    c.refused(of(99'900, 200), {}, {}, s);
    return c;
}();
static_assert(told_items.state().envelope == 48);
static_assert(told_items.predict(of(99'900, 200)) > 159'000);
static_assert(told_items.predict(of(99'900, 200)) <= 159'948);

// A refused single item gives no information about the limit.
static_assert(taught(calibrator(standard, 5), refusal{of(900, 1), 5'000, 1}) ==
              calibrator(standard, 5));
static_assert(taught(calibrator(standard, 5), refusal{of(5'000, 1)}, refusal{exactly(1, 1)},
                     refusal{batch_sizes{}, 7, 6}) == calibrator(standard, 5));

// Implausible numbers are ignored: the refusal counts as one without numbers.
constexpr calibrator no_numbers = taught(calibrator(standard, 5), refusal{of(900, 10)});
static_assert(!(no_numbers == calibrator(standard, 5)));
static_assert(taught(calibrator(standard, 5), refusal{of(900, 10), {}, 0}) == no_numbers);
static_assert(taught(calibrator(standard, 5), refusal{of(900, 10), 0, 0}) == no_numbers);
static_assert(taught(calibrator(standard, 5), refusal{of(900, 10), 3, 1'000}) == no_numbers);
static_assert(taught(calibrator(standard, 5), refusal{of(900, 10), 1'000, 1'000}) == no_numbers);
static_assert(taught(calibrator(standard, 5), refusal{of(900, 10), {}, unlimited}) == no_numbers);
static_assert(taught(calibrator(standard, 5), refusal{of(900, 10), 0, {}}) == no_numbers);
static_assert(taught(calibrator(standard, 5), refusal{of(900, 10), unlimited, {}}) == no_numbers);
static_assert(taught(calibrator(standard, 5), acceptance{of(900, 10), 0}) ==
              taught(calibrator(standard, 5), acceptance{of(900, 10)}));
static_assert(taught(calibrator(standard, 5), acceptance{of(900, 10), unlimited}) ==
              taught(calibrator(standard, 5), acceptance{of(900, 10)}));

// An accepted size is within the limit, even above the documented one.
static_assert(taught(calibrator(standard, 5), acceptance{of(900, 10), 1'300}).limit() == 1'300);

// A reported limit is ignored once a larger batch was accepted, by its reported size or by its
// bodies alone. Higher limits that are reported later count.
constexpr batch_limits large{.bytes = 262'144};
constexpr calibrator in_kilobytes =
    taught(calibrator(large, 54), refusal{of(200'000, 500), {}, 256});
static_assert(in_kilobytes.limit() == 256);
constexpr calibrator refuted = taught(in_kilobytes, acceptance{of(300, 1), {}, false});
static_assert(refuted.limit() == 262'144 && refuted.state().refuted_limit == 256);
static_assert(taught(refuted, refusal{of(200'000, 500), {}, 256}).limit() == 262'144);
static_assert(taught(refuted, refusal{of(200'000, 500), {}, 256}).header() > 100);
static_assert(taught(refuted, refusal{of(200'000, 500), {}, 100'000}).limit() == 100'000);
static_assert(taught(in_kilobytes, acceptance{of(10, 1), 300, false}).limit() == 262'144);
static_assert(taught(in_kilobytes, acceptance{of(250, 2), {}, false}).limit() == 256);
static_assert(refuted.state().for_limits({.bytes = 1'000}).refuted_limit == 0);
static_assert(calibrator(refuted.state()) == refuted);
static_assert(waybill::merged(refuted.state(), calibrator(large, 54).state()).refuted_limit == 256);

// A higher limit without a plausible explanation is only probed.
static_assert(taught(calibrator(standard, 5), refusal{of(900, 10), {}, 9'000}).limit() == 1'000);
static_assert(taught(calibrator(standard, 5), refusal{of(900, 10), {}, 9'000}).ceiling() == 9'000);

// An outcome of a batch that was cut before a refusal lowers a limit further, and raises none.
constexpr calibrator twice = [] {
    calibrator c(batch_limits{.bytes = 1'000});
    c.refused(exactly(1'000, 10), 1'000, 980);
    c.refused(exactly(1'000, 10), 1'000, 970, {}, waybill::detail::cut_with::older);
    c.refused(exactly(1'000, 10), 1'000, 990, {}, waybill::detail::cut_with::older);
    c.accepted(exactly(1'000, 10), 1'000, true, waybill::detail::cut_with::older);
    return c;
}();
static_assert(twice.limit() == 970 && twice.budget() == 970 &&
              twice.state().consecutive_accepted == 0);

// One probe at a time.
constexpr calibrator probing(calibration{
    .documented = 1'000, .limit = 400, .ceiling = 1'000, .consecutive_accepted = 32});
static_assert(probing.budget() == 800 &&
              probing.next_cut_with() == waybill::detail::cut_with::probe);
static_assert([] {
    calibrator c = probing;
    c.hold_probes(true);
    return c.budget() == 400 && c.next_cut_with() == waybill::detail::cut_with::latest;
}());

// A batch that was closed for another reason than bytes gives no information about limits.
static_assert(taught(calibrator(standard, 5), acceptance{of(100, 3), {}, false}).state().items ==
              calibrator(standard, 5).state().items);
static_assert(taught(calibrator(standard, 5), acceptance{of(100, 3), {}, false})
                  .state()
                  .consecutive_accepted == 0);
static_assert(taught(calibrator(standard, 5), acceptance{of(100, 3), {}, false}).budget() == 1'000);

// With known sizes, a refusal means that the limit is lower: half-way, then nearer.
static_assert(taught(calibrator(standard), refusal{exactly(890, 9)}).budget() == 450);
static_assert(taught(calibrator(standard), refusal{exactly(890, 9)}, acceptance{exactly(400, 5)})
                  .budget() == 655);
static_assert(taught(calibrator(standard), refusal{exactly(890, 9)}, acceptance{exactly(880, 9)})
                  .budget() == 890);
// An observation that contradicts the estimate wins: the limit was lowered, or was raised by an
// unknown amount.
static_assert(taught(calibrator(standard), acceptance{exactly(790, 4)}, refusal{exactly(390, 3)})
                  .budget() == 200);
static_assert(taught(calibrator(standard), refusal{exactly(590, 3)}, acceptance{exactly(790, 4)})
                  .budget() == 800);
static_assert(taught(calibrator(standard), refusal{exactly(590, 3)}, acceptance{exactly(990, 4)})
                  .state()
                  .refused == unlimited);
// A refusal of hardly anything leaves something to send.
static_assert(taught(calibrator(batch_limits{.bytes = 10}), refusal{exactly(2, 2)}).budget() == 1);
static_assert(taught(calibrator(batch_limits{.bytes = 10}), refusal{exactly(1, 2)}).budget() >= 1);
static_assert(taught(calibrator(batch_limits{.bytes = 10}), refusal{exactly(0, 2)}).budget() >= 1);

// A state is complete, and contradicting values in it are dropped.
static_assert(calibrator(told_once.state()) == told_once);
static_assert(calibrator(told_items.state()) == told_items);
static_assert(calibrator(no_numbers.state()) == no_numbers);
static_assert(calibrator(calibration{}) == calibrator());
static_assert(calibrator(calibrator(standard, unlimited).state()) ==
              calibrator(standard, unlimited));
static_assert(calibrator(calibration{.limit = 500, .ceiling = 90}).state().ceiling == 500);
static_assert(calibrator(calibration{
                  .documented = 500, .limit = 500, .ceiling = 9, .accepted = 90, .refused = 90}) ==
              calibrator(batch_limits{.bytes = 500}));
static_assert(calibrator(calibration{
                  .documented = 500, .limit = 500, .ceiling = 9, .accepted = 90, .refused = 7}) ==
              calibrator(batch_limits{.bytes = 500}));
static_assert(calibrator(calibration{.limit = 500, .refused = 1}).budget() == 500);
static_assert(calibrator(calibration{.limit = 500, .probe_after = 0}).budget() == 500);
static_assert(calibrator(calibration{.probe_after = 4'000'000'000}).state().probe_after == 16'384);
static_assert(calibrator(calibration{
                  .documented = 500,
                  .limit = 500,
                  .ceiling = 500,
                  .items = {.header = std::numeric_limits<double>::quiet_NaN(), .noise = -1}}) ==
              calibrator(batch_limits{.bytes = 500}));

// Copies are values of their own.
static_assert([] {
    calibrator a(standard, 5);
    const calibrator b = a;
    a.refused(of(900, 10), 1'110, 1'000);
    return b == calibrator(standard, 5) && !(a == b);
}());

namespace {

struct dice {
    std::uint64_t state = 1;
    std::uint64_t operator()(std::uint64_t n)  // splitmix64
    {
        state += 0x9E3779B97F4A7C15U;
        std::uint64_t z = state;
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        return (z ^ (z >> 31U)) % n;
    }
};

// A broker, the items, and the numbers that it reports.
struct simulation {
    std::uint64_t limit = 262'144;
    std::uint64_t header = 60;
    std::uint64_t differ = 0;  // how much headers differ
    std::uint64_t smallest = 100;
    std::uint64_t largest = 800;
    double ratio = 1;
    bool exact = false;
    bool numbers = false;
    bool items = false;
    bool actual = false;
};

struct result {
    int refused = 0;
    int last_refused = -1;
    double fill = 0;  // of accepted batches, on an average
};

class sends {
public:
    explicit sends(const calibrator& c) : known(c) {}

    // A number of batches, one after the other, as a sender cuts them.
    result run(const simulation& w, int batches)
    {
        result r;
        int accepted = 0;
        for (int n = 0; n != batches; ++n) {
            batch_sizes b;
            item_sum seen;
            std::uint64_t actual = 0;
            for (;;) {
                if (body_ == 0) draw(w);
                batch_sizes with = b;
                ++with.items;
                (w.exact ? with.exact_bytes : with.body_bytes) += w.exact ? whole_ : body_;
                if (!w.exact) ++with.estimated_items;
                if ((!known.fits(with) && b.items != 0) || b.items == 50'000) break;
                b = with;
                actual += whole_;
                seen.add(body_, whole_);
                body_ = 0;
                if (!known.fits(with)) break;
            }
            const auto if_told = [](bool tells, std::uint64_t x) {
                return tells ? std::optional(x) : std::nullopt;
            };
            if (actual > w.limit) {
                ++r.refused;
                r.last_refused = n;
                known.refused(b, if_told(w.numbers, actual), if_told(w.numbers, w.limit),
                              w.items ? seen : item_sum{});
            } else {
                ++accepted;
                r.fill += static_cast<double>(actual) / static_cast<double>(w.limit);
                known.accepted(b, if_told(w.actual, actual), true);
            }
            CHECK(std::isfinite(known.state().items.header));
        }
        if (accepted != 0) r.fill /= accepted;
        return r;
    }

    calibrator known;

private:
    void draw(const simulation& w)
    {
        body_ = w.smallest + roll_(w.largest - w.smallest + 1);
        whole_ = static_cast<std::uint64_t>(static_cast<double>(body_) * w.ratio) + w.header;
        if (w.differ != 0) whole_ += roll_(w.differ);
    }

    dice roll_;
    std::uint64_t body_ = 0;
    std::uint64_t whole_ = 0;
};

}  // namespace

TEST_CASE("calibration: without reported numbers, batches are at least 90 % full after 40 batches")
{
    for (const std::uint64_t header : {60U, 300U, 0U, 1'000U}) {
        CAPTURE(header);
        sends s(calibrator(batch_limits{.bytes = 262'144}, 54));
        const result first = s.run({.header = header}, 40);
        CHECK(first.refused <= 13);
        CHECK(s.run({.header = header}, 25).fill > 0.97);
        CHECK(s.run({.header = header}, 500).refused <= 12);
    }
}

TEST_CASE("calibration: reported sums or item sizes suffice after one refusal")
{
    for (const std::uint64_t header : {60U, 300U, 1'000U}) {
        for (const bool items : {false, true}) {
            CAPTURE(header);
            CAPTURE(items);
            const simulation w{.header = header, .numbers = !items, .items = items};
            sends s(calibrator(batch_limits{.bytes = 262'144}, 54));
            const result r = s.run(w, 250);  // the first probe follows after 256
            CHECK(r.refused == 1);
            CHECK(r.last_refused < 10);
            CHECK(r.fill > 0.98);
        }
    }
}

TEST_CASE(
    "calibration: estimates from accepted sizes converge, follow changes and include "
    "variance")
{
    sends s(calibrator(batch_limits{.bytes = 262'144}, 54));
    simulation w{.header = 200, .actual = true};
    s.run(w, 5);
    CHECK(s.run(w, 50).fill > 0.98);
    // Up and down: it is followed within 5 batches.
    for (const std::uint64_t header : {60U, 600U, 20U}) {
        CAPTURE(header);
        w.header = header;
        CHECK(s.run(w, 5).refused <= 3);
        const result r = s.run(w, 50);
        CHECK(r.fill > 0.97);
        CHECK(r.refused <= 1);
    }
    // A drift of 5 % in 10 batches, both ways.
    for (int i = 0; i != 200; ++i) {
        i < 100 ? w.header += 3 : w.header -= 3;
        const result r = s.run(w, 1);
        if (i > 10 && r.refused == 0) CHECK(r.fill > 0.92);
    }
    // Headers that differ by 2,000: one in a hundred batches is refused, or fewer.
    w.differ = 2'000;
    s.run(w, 50);
    const result r = s.run(w, 300);
    CHECK(r.refused <= 6);
    CHECK(r.fill > 0.87);
    const double deviation = std::sqrt(s.known.state().items.noise);
    CHECK(deviation > 300);  // 577 it is
    CHECK(deviation < 1'200);
}

TEST_CASE("calibration: an undocumented limit is found within 1/64")
{
    for (const std::uint64_t limit : {1'000'000U, 262'144U, 30'000U}) {
        CAPTURE(limit);
        sends s{calibrator()};
        const simulation w{.limit = limit, .smallest = 1, .largest = 40, .exact = true};
        const result first = s.run(w, 40);
        CHECK(first.refused <= 16);
        CHECK(s.known.budget() <= limit);
        CHECK(s.known.budget() >= limit - limit / 40);
        const auto known = s.known.state();
        CHECK(known.accepted <= limit);
        CHECK(known.refused > limit);
        CHECK(known.refused - known.accepted <= known.refused / 64 + 1);
        // From then on, one in 32, in 64, in 128 ... is lost on a probe.
        CHECK(s.run(w, 1'000).refused <= 6);
    }
}

TEST_CASE("calibration: a limit that was lowered and raised again is used again")
{
    const calibrator start(batch_limits{.bytes = 262'144}, 54);
    SUBCASE("reported limit: after 33 full batches")
    {
        sends s(start);
        s.run({.limit = 65'536, .numbers = true}, 20);
        CHECK(s.known.budget() == 65'536);
        CHECK(s.run({.numbers = true}, 33).refused <= 1);
        const result r = s.run({.numbers = true}, 50);
        CHECK(r.fill > 0.97);
        CHECK(r.refused <= 1);
    }
    SUBCASE("reported limit, raised to less than the documented one: after 34 full batches")
    {
        sends s(start);
        s.run({.limit = 65'536, .numbers = true}, 20);
        s.run({.limit = 131'072, .numbers = true}, 34);
        CHECK(s.known.budget() == 131'072);
        CHECK(s.run({.limit = 131'072, .numbers = true}, 50).fill > 0.96);
    }
    SUBCASE("searched limit: after 40 full batches")
    {
        sends s{calibrator(batch_limits{.bytes = 262'144})};
        s.run({.limit = 65'536, .exact = true}, 20);
        CHECK(s.known.budget() <= 65'536);
        CHECK(s.known.budget() > 62'000);
        s.run({.exact = true}, 40);
        CHECK(s.known.budget() > 255'000);
        CHECK(s.run({.exact = true}, 50).fill > 0.97);
    }
    SUBCASE("searched, undocumented limit: half of it after 60 full batches")
    {
        sends s{calibrator()};
        s.run({.limit = 65'536, .exact = true}, 40);
        s.run({.exact = true}, 60);
        CHECK(s.known.budget() > 131'072);
    }
    SUBCASE("limit mistaken for headers: after 300 full batches")
    {
        sends s(start);
        s.run({.limit = 65'536}, 40);
        CHECK(s.run({.limit = 65'536}, 20).fill > 0.8);
        s.run({}, 300);
        const result r = s.run({}, 100);
        CHECK(r.fill > 0.95);
        CHECK(r.refused <= 4);
    }
}

TEST_CASE("calibration: a decrease of headers is found for every kind of broker report")
{
    struct which {
        std::string name;
        simulation reported;
        int within;
    };
    for (const which& x : {which{"nothing", {}, 300}, which{"numbers", {.numbers = true}, 600},
                           which{"items", {.items = true}, 600},
                           which{"actual", {.numbers = true, .actual = true}, 10}}) {
        for (const std::uint64_t before : {150U, 600U, 2'000U}) {
            CAPTURE(x.name);
            CAPTURE(before);
            sends s(calibrator(batch_limits{.bytes = 262'144}, 54));
            simulation w = x.reported;
            w.header = before;
            s.run(w, 60);
            w.header = 20;
            s.run(w, x.within);
            const result r = s.run(w, 100);
            CHECK(r.fill > 0.92);
            CHECK(r.refused <= 3);
        }
    }
}

TEST_CASE("calibration: a change of body size or encoding is found")
{
    const auto recovers = [](const simulation& first, const simulation& then, int within) {
        sends s(calibrator(batch_limits{.bytes = 262'144}, 54));
        s.run(first, 100);
        s.run(then, within);
        const result r = s.run(then, 100);
        CHECK(r.fill > 0.9);
        CHECK(r.refused <= 6);
    };
    for (const bool items : {false, true}) {
        CAPTURE(items);
        const bool numbers = !items;
        // Base64 of bodies that are all of one size looks like a header of a third of it.
        recovers(
            {.smallest = 30'000,
             .largest = 30'000,
             .ratio = 4.0 / 3,
             .numbers = numbers,
             .items = items},
            {.smallest = 300, .largest = 300, .ratio = 4.0 / 3, .numbers = numbers, .items = items},
            600);
        // Two in a batch, with headers that differ, are on a line that means nothing.
        recovers({.header = 100,
                  .differ = 300,
                  .smallest = 90'000,
                  .largest = 140'000,
                  .numbers = numbers,
                  .items = items},
                 {.header = 100,
                  .differ = 300,
                  .smallest = 100,
                  .largest = 300,
                  .numbers = numbers,
                  .items = items},
                 600);
        recovers({.ratio = 4.0 / 3, .numbers = numbers, .items = items},
                 {.numbers = numbers, .items = items}, 600);
    }
    recovers({.smallest = 30'000, .largest = 30'000, .ratio = 4.0 / 3},
             {.smallest = 300, .largest = 300, .ratio = 4.0 / 3}, 300);
    recovers({.ratio = 4.0 / 3}, {}, 300);
}

TEST_CASE("calibration: an initial header estimate above the limit has no lasting effect")
{
    for (const std::uint64_t guess : {200'000U, 1'000'000U}) {
        CAPTURE(guess);
        sends s(calibrator(batch_limits{.bytes = 262'144}, guess));
        s.run({}, 300);
        CHECK(s.run({}, 100).fill > 0.9);
    }
}

TEST_CASE(
    "calibration: for extreme reported numbers, the state stays finite and the budget "
    "positive")
{
    const std::uint64_t some[] = {
        0, 1, 2, 63, 1'000, std::uint64_t{1} << 40U, unlimited / 2, unlimited - 1, unlimited};
    const auto sane = [](const calibrator& c, std::uint64_t limit) {
        const auto s = c.state();
        const auto& i = s.items;
        for (const double x : {i.ratio, i.header, i.ratio_variance, i.covariance, i.header_variance,
                               i.noise, i.drift, i.error}) {
            if (!std::isfinite(x)) return false;
        }
        return i.ratio_variance >= 0 && i.header_variance >= 0 && i.noise >= 0 &&
               s.accepted < s.refused && (limit == 0 || c.budget() >= 1) &&
               calibrator(s).state() == s && calibrator(s).budget() == c.budget();
    };
    for (const std::uint64_t limit : some) {
        for (const std::uint64_t first : some) {
            for (const std::uint64_t second : some) {
                for (const std::uint64_t reported : some) {
                    calibrator c(batch_limits{.bytes = limit, .envelope = second}, reported);
                    bool good = sane(c, limit);
                    c.refused(of(first, 2), reported, {});
                    good = good && sane(c, limit);
                    c.accepted(of(second, 3), reported, true);
                    good = good && sane(c, limit);
                    c.refused({second, 3, first, 3}, {}, {});
                    good = good && sane(c, limit);
                    item_sum s;
                    s.add(first, reported);
                    s.add(reported, second);
                    s.add(second, 1);
                    c.refused(of(first, 3), {}, {}, s);
                    good = good && sane(c, limit);
                    c.accepted(of(first, 2), {}, true);
                    good = good && sane(c, limit);
                    c.refused(of(first, first), first, reported);
                    good = good && sane(c, c.limit());
                    c.accepted(exactly(second, 9), {}, false);
                    good = good && sane(c, c.limit());
                    CHECK(good);
                    (void)c.margin(of(first, second));
                    (void)c.fits({first, second, reported, 9});
                }
            }
        }
    }
}

TEST_CASE("calibration: merged combines the calibrations of two workers")
{
    using waybill::merged;
    calibrator with_sizes(waybill::batch_limits{.bytes = 262'144}, 54);
    calibrator without_sizes = with_sizes;
    const waybill::detail::batch_sizes b{
        .body_bytes = 200'000, .estimated_items = 1'000, .items = 1'000};
    with_sizes.refused(b, 300'000, 250'000);
    without_sizes.refused(b, {}, {});
    const calibration reported = with_sizes.state();
    const calibration blind = without_sizes.state();
    const calibration both = merged(reported, blind);
    CHECK(both == merged(blind, reported));
    CHECK(merged(both, both) == both);
    CHECK(both.limit == 250'000);
    CHECK(both.ceiling == 262'144);
    CHECK(both.items == reported.items);
    CHECK(both.reports == waybill::calibration::broker_reports::refusals);
    CHECK(merged(reported, reported) == reported);
}

TEST_CASE("calibration: merged has the same result for both orders of its arguments")
{
    // Equal in all fields that decide which estimate is better.
    calibration a;
    a.items = {.ratio = 1, .header = 50, .header_variance = 4};
    for (int field = 0; field != 6; ++field) {
        calibration b = a;
        double* const fields[] = {&b.items.ratio_variance, &b.items.covariance, &b.items.noise,
                                  &b.items.drift, &b.items.error};
        if (field == 5) b.items.seen = 3;
        else *fields[field] = 2;
        CHECK(merged(a, b) == merged(b, a));
    }
}

}  // namespace calibration_test
