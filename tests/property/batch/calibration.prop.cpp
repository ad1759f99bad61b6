// SPDX-License-Identifier: MIT
//
// A calibration gets any answers of a broker in any order. All of its numbers stay valid.

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <waybill/batch/batch_sender.hpp>
#include <waybill/core/match.hpp>

namespace calibration_prop {

using namespace waybill;

namespace {

// Rapidcheck finds small failing seeds. A seed always gives the same run.
class dice {
public:
    explicit dice(std::uint64_t seed) : state_(seed) {}
    std::uint64_t operator()()
    {
        state_ += 0x9E3779B97F4A7C15U;  // splitmix64
        std::uint64_t z = state_;
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        return z ^ (z >> 31U);
    }
    std::uint64_t operator()(std::uint64_t n) { return (*this)() % n; }

    // Sizes of any magnitude, including the ends of the range.
    std::uint64_t size()
    {
        switch ((*this)(12)) {
            case 0: return 0;
            case 1: return 1;
            case 2: return unlimited;
            case 3: return unlimited - (*this)(3);
            default: return (*this)() >> (*this)(64);
        }
    }
    // Typical sizes.
    std::uint64_t usual(std::uint64_t most) { return 1 + (*this)(most); }

private:
    std::uint64_t state_;
};

detail::batch_sizes any_batch(dice& roll, bool wild)
{
    if (wild) return {roll.size(), roll.size(), roll.size(), roll.size()};
    const std::uint64_t items = roll.usual(500);
    const std::uint64_t guessed = roll(3) == 0 ? roll(items + 1) : items;
    return {roll.usual(guessed * 600 + 1), guessed, (items - guessed) * roll.usual(400), items};
}

void report_any(detail::calibrator& c, dice& roll, bool wild)
{
    const detail::batch_sizes b = any_batch(roll, wild);
    const std::uint64_t far =
        wild ? roll.size() : c.predict(b) / 2 + roll.usual(c.predict(b) / 4 * 3 + 9);
    std::optional<std::uint64_t> actual;
    std::optional<std::uint64_t> limit;
    if (roll(2) == 0) actual = far;
    if (roll(3) == 0) limit = wild ? roll.size() : roll.usual(300'000);
    switch (roll(5)) {
        case 0:
        case 1: c.accepted(b, actual, roll(3) != 0); break;
        case 2: c.accepted(b, std::nullopt, true); break;
        case 3: c.refused(b, actual, limit); break;
        default: {
            detail::item_sum s;
            for (std::uint64_t n = roll(60); n != 0; --n) {
                const std::uint64_t body = wild ? roll.size() : roll.usual(1'000);
                s.add(body, wild ? roll.size() : body + roll(400));
            }
            c.refused(b, actual, limit, s);
        }
    }
}

detail::calibrator any_start(dice& roll, bool wild)
{
    if (wild) {
        return detail::calibrator(batch_limits{.bytes = roll.size(), .envelope = roll.size()},
                                  roll.size());
    }
    return detail::calibrator(batch_limits{.bytes = 1'000 + roll(300'000), .envelope = roll(100)},
                              roll(400));
}

void check_sound(const detail::calibrator& c)
{
    const calibration s = c.state();
    for (const double x :
         {s.items.ratio, s.items.header, s.items.ratio_variance, s.items.covariance,
          s.items.header_variance, s.items.noise, s.items.drift, s.items.error}) {
        RC_ASSERT(std::isfinite(x));
    }
    RC_ASSERT(s.items.header >= 0);
    RC_ASSERT(s.items.ratio >= 1.0 / 64);
    RC_ASSERT(s.items.ratio <= 16);
    RC_ASSERT(s.items.ratio_variance >= 0);
    RC_ASSERT(s.items.header_variance >= 0);
    RC_ASSERT(s.items.noise >= 0);
    RC_ASSERT(s.accepted < s.refused);
    RC_ASSERT(s.limit <= s.ceiling);
    RC_ASSERT(c.limit() == 0 || c.budget() >= 1);
    RC_ASSERT(detail::calibrator(s).state() == s);
    RC_ASSERT(detail::calibrator(s).budget() == c.budget());
}

double any_double(dice& roll)
{
    switch (roll(8)) {
        case 0: return 0;
        case 1: return std::numeric_limits<double>::quiet_NaN();
        case 2: return std::numeric_limits<double>::infinity();
        case 3: return -static_cast<double>(roll.size());
        case 4: return std::ldexp(1.0, static_cast<int>(roll(2'000)) - 1'000);
        default: return static_cast<double>(roll.usual(1'000));
    }
}

}  // namespace

TEST_CASE("calibration: stays valid, is restored from its state, and is deterministic")
{
    for (const bool wild : {false, true}) {
        CHECK(rc::check([wild](std::uint64_t seed) {
            dice roll(seed);
            detail::calibrator c = any_start(roll, wild);
            dice twice(seed);
            detail::calibrator d = any_start(twice, wild);
            for (int i = 0; i != 60; ++i) {
                report_any(c, roll, wild);
                check_sound(c);
                report_any(d, twice, wild);
            }
            RC_ASSERT(c == d);
            RC_ASSERT(c.state() == d.state());
        }));
    }
}

TEST_CASE("calibration: any state is corrected to valid values, and stays valid")
{
    CHECK(rc::check([](std::uint64_t seed) {
        dice roll(seed);
        calibration s;
        s.limit = roll.size();
        s.ceiling = roll.size();
        s.envelope = roll.size();
        s.items = {any_double(roll), any_double(roll), any_double(roll),
                   any_double(roll), any_double(roll), any_double(roll),
                   any_double(roll), any_double(roll), static_cast<std::uint32_t>(roll())};
        s.accepted = roll.size();
        s.refused = roll.size();
        s.consecutive_accepted = static_cast<std::uint32_t>(roll());
        s.probe_after = static_cast<std::uint32_t>(roll());
        s.reports = static_cast<calibration::broker_reports>(roll(3));
        detail::calibrator c(s);
        for (int i = 0; i != 20; ++i) {
            check_sound(c);
            report_any(c, roll, i % 2 == 0);
        }
    }));
}

TEST_CASE("calibration: a batch that fits is within the budget, including its margin")
{
    CHECK(rc::check([](std::uint64_t seed) {
        dice roll(seed);
        const bool wild = roll(2) == 0;
        detail::calibrator c = any_start(roll, wild);
        for (int i = 0; i != 40; ++i) {
            report_any(c, roll, wild);
            const detail::batch_sizes b = any_batch(roll, wild);
            if (!c.fits(b)) continue;
            RC_ASSERT(c.predict(b) <= c.budget());
            if (c.budget() == unlimited) continue;  // no upper bound
            RC_ASSERT(c.margin(b) <= c.budget() - c.predict(b));
        }
    }));
}

// The sender relies on this law: the margin of a batch of twice the size is enough for all smaller
// ones. It holds while the deviation is below a quarter of the budget. Above that, margins are zero
// again, since only probing helps.
TEST_CASE("calibration: the margin grows with the batch")
{
    CHECK(rc::check([](std::uint64_t seed) {
        dice roll(seed);
        detail::calibrator c = any_start(roll, false);
        for (int i = 0; i != 40; ++i) {
            report_any(c, roll, false);
            const std::uint64_t items = roll.usual(200);
            const std::uint64_t body = roll.usual(500);
            const auto of = [&](std::uint64_t n) {
                return detail::batch_sizes{
                    .body_bytes = n * body, .estimated_items = n, .items = n};
            };
            const detail::batch_sizes twice = of(2 * items);
            const double spread =
                std::sqrt(detail::overhead(c.state().items)
                              .variance(static_cast<double>(twice.body_bytes),
                                        static_cast<double>(twice.estimated_items), 1));
            if (spread > 0.24 * static_cast<double>(c.budget())) continue;
            std::uint64_t before = 0;
            for (std::uint64_t n = 3; n <= 2 * items; n += 3) {
                const std::uint64_t now = c.margin(of(n));
                RC_ASSERT(now + 1 >= before);
                RC_ASSERT(c.margin(twice) + 1 >= now);
                before = now;
            }
        }
    }));
}

// The broker reports no numbers and refuses batches of more than a few items. Bytes cannot explain
// that, so the search must end in another way.
TEST_CASE("sender: a broker that accepts at most 1 to 4 items a batch causes few refusals")
{
    CHECK(rc::check([](std::uint64_t seed) {
        dice roll(seed);
        send_policy p;
        p.limit.bytes = roll(3) == 0 ? unlimited : 1'000 + roll(1'000'000);
        p.item_overhead = roll(4) == 0 ? 0 : roll(2'000);
        p.exact_sizes = roll(3) == 0;
        p.on_too_large = send_policy::when_too_large::send_alone;
        const std::uint64_t most = roll.usual(4);  // items that the broker accepts in a batch
        const std::uint64_t body = roll.usual(500);
        const bool alike = roll(2) == 0;
        batch_sender s(p);
        for (int i = 0; i != 1'000; ++i)
            s.on(batch_sender::queued{alike ? body : roll.usual(body)}, {});
        s.on(batch_sender::flushed{}, {});
        std::uint64_t refused_ones = 0;
        std::uint64_t sends = 0;
        std::uint64_t arrived = 0;
        for (bool going = true; going;) {
            match(
                s.next({}),
                [&](const batch_sender::send& a) {
                    const std::uint64_t attempt = a.attempt;
                    const std::uint64_t n = a.items.items();
                    RC_ASSERT(++sends < 5'000U);
                    if (n > most) {
                        ++refused_ones;
                        s.on(batch_sender::too_large{attempt}, {});
                    } else {
                        arrived += n;
                        s.on(batch_sender::accepted{attempt}, {});
                    }
                },
                [&](const batch_sender::report& x) {
                    RC_ASSERT(x.outcome == item_outcome::accepted);
                    const item_range items = x.items;
                    s.on(batch_sender::reported{items}, {});
                },
                [](const wait_until&) {}, [](const batch_sender::replace&) {},
                [&](idle) { going = false; });
        }
        RC_ASSERT(arrived == 1'000U);
        RC_LOG() << "refused " << refused_ones << " of " << sends << "\n";
        // If sizes differ, an item accepted alone can be larger than two that were refused
        // together.
        RC_ASSERT(refused_ones <= (alike ? 40 : 330 / most + 10));
    }));
}

}  // namespace calibration_prop
