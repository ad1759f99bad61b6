// SPDX-License-Identifier: MIT

#include <cstdint>
#include <optional>

#include <doctest/doctest.h>

#include <waybill/batch/calibration.hpp>

namespace calibration_test {

using waybill::batch_sizes;
using waybill::calibration;
using waybill::limits;
using waybill::unlimited;

constexpr batch_sizes of(std::uint64_t bodies, std::uint64_t items)
{
    return {.bodies = bodies, .guessed = items, .items = items};
}

constexpr limits standard{.bytes = 1'000, .envelope = 10};

static_assert(calibration(standard, 5).predict(of(100, 3)) == 125);
static_assert(calibration(standard, 5)
                  .predict({.bodies = 100, .guessed = 3, .exact = 50, .items = 5}) == 175);
static_assert(calibration(standard, unlimited).predict(of(1, 2)) == unlimited);
static_assert(calibration(standard).predict(of(unlimited, 1)) == unlimited);
static_assert(calibration(standard).budget() == 1'000 && calibration(standard).limit() == 1'000);
static_assert(calibration().budget() == unlimited);

template <class... Told>
constexpr calibration taught(calibration c, const Told&... tell)
{
    (tell(c), ...);
    return c;
}

struct refusal {
    batch_sizes batch;
    std::optional<std::uint64_t> actual{};
    std::optional<std::uint64_t> limit{};
    constexpr void operator()(calibration& c) const { c.refused(batch, actual, limit); }
};
struct acceptance {
    batch_sizes batch;
    std::optional<std::uint64_t> actual{};
    constexpr void operator()(calibration& c) const { c.accepted(batch, actual); }
};

// Numbers correct the header and the limit at once: 20 bytes were missing for 10 items.
static_assert(taught(calibration(standard), refusal{of(900, 10), 1'110, 1'000}).header() == 20);
static_assert(taught(calibration(standard), refusal{of(900, 10), 1'111, 1'000}).header() == 21);
static_assert(taught(calibration(standard), refusal{of(900, 10), {}, 500}).limit() == 500);
static_assert(taught(calibration(standard), refusal{of(900, 10), 1'110, 500}).budget() == 500);

// No numbers: half-way to what was refused, then towards what was accepted.
static_assert(taught(calibration(standard), refusal{of(890, 10)}).budget() == 450);
static_assert(
    taught(calibration(standard), refusal{of(890, 10)}, acceptance{of(390, 5)}).budget() == 650);
static_assert(
    taught(calibration(standard), refusal{of(890, 10)}, acceptance{of(880, 9)}).budget() == 890);

// A refused single item teaches nothing: it may be the item.
static_assert(taught(calibration(standard), refusal{of(900, 1), 5'000, 1}) ==
              calibration(standard));

// What contradicts what was known wins: the limit has moved.
static_assert(taught(calibration(standard), refusal{of(590, 3)}, acceptance{of(790, 4)}).budget() ==
              1'000);
static_assert(taught(calibration(standard), acceptance{of(790, 4)}, refusal{of(390, 3)}).budget() ==
              200);

// Lies: a batch within the limit that was refused does not move the limit, a zero is none.
static_assert(taught(calibration(standard), refusal{of(900, 10), 3, unlimited}).limit() == 1'000);
static_assert(taught(calibration(standard), refusal{of(900, 10), 0, 0}).limit() == 1'000);
static_assert(taught(calibration(standard), refusal{of(900, 10), {}, 0}).limit() == 1'000);

// An acceptance with a size corrects upwards at once and downwards slowly.
static_assert(taught(calibration(standard, 10), acceptance{of(100, 10), 310}).header() == 20);
static_assert(taught(calibration(standard, 10), acceptance{of(100, 10), 130}).header() == 9);
static_assert(taught(calibration(standard, 0), acceptance{of(100, 10), 1}).header() == 0);
static_assert(
    taught(calibration(standard, 3), acceptance{{.exact = 50, .items = 1}, 9'000}).header() == 3);

TEST_CASE("calibration: refusals without numbers halve a span and end near the true limit")
{
    // The broker takes 700 of the 1,000 that the manual names; bodies only.
    calibration c(limits{.bytes = 1'000});
    int refusals = 0, last = 0;
    for (int i = 0; i != 100; ++i) {
        const std::uint64_t size = c.budget();
        CHECK(size >= 1);
        if (size > 700) {
            c.refused(of(size, 10), {}, {});
            ++refusals;
            last = i;
        } else {
            c.accepted(of(size, 10), {});
        }
    }
    CHECK(refusals <= 8);
    CHECK(last < 20);
    CHECK(c.budget() <= 700);
    CHECK(c.budget() >= 680);
}

TEST_CASE("calibration: whatever is told, a budget and a prediction are there and nothing wraps")
{
    const std::uint64_t some[] = {0,        1, 2, 63, 64, 65, 1'000, unlimited / 2, unlimited - 1,
                                  unlimited};
    for (const std::uint64_t limit : some) {
        for (const std::uint64_t first : some) {
            for (const std::uint64_t second : some) {
                for (const std::uint64_t told : some) {
                    calibration c(limits{.bytes = limit}, 7);
                    c.refused(of(first, 2), told, {});
                    c.accepted(of(second, 3), told);
                    c.refused(of(second, 3), {}, {});
                    CHECK(c.budget() <= limit);
                    c.refused(of(first, 2), first, told);
                    c.accepted(of(first, 2), {});
                    CHECK(c.predict(of(first, 2)) >= first);
                }
            }
        }
    }
}

}  // namespace calibration_test
