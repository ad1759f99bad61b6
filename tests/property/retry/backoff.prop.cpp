// SPDX-License-Identifier: MIT
//
// Pauses against an exact model in fractions of whole numbers.

#include <cstdint>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <waybill/retry/backoff.hpp>

namespace backoff_prop {

using namespace waybill;

namespace {

__extension__ using wide = unsigned __int128;

constexpr auto longest = static_cast<std::uint64_t>(INT64_MAX);

/// A fraction: numerator over a power of two, or more than any duration.
struct fraction {
    wide over = 0;
    std::uint32_t shift = 0;  // it is over / 2^shift
    bool too_long = false;

    /// Exact while it fits. A value of at least 2^63 counts as infinite.
    void times(std::uint64_t n, std::uint32_t halves)
    {
        if (too_long) return;
        over *= n;
        shift += halves;
        while (shift != 0 && over % 2 == 0) over /= 2, --shift;
        too_long = (over >> shift) > longest;
    }
    [[nodiscard]] wide whole() const { return too_long ? wide{longest} : over >> shift; }
};

struct input {
    backoff b{};
    std::uint64_t up = 1;  // the factor is up / 2^halves
    std::uint32_t halves = 0;
    std::uint32_t n = 1;
};

/// Any length, short ones as often as long ones.
std::int64_t any_length(std::int64_t least)
{
    const auto full = rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>());
    const auto bits = *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(1, 64));
    const auto n = static_cast<std::int64_t>(*full >> (64 - bits));
    return n < least ? least : n;
}

input any_input()
{
    static constexpr std::pair<std::uint64_t, std::uint32_t> factors[] = {
        {1, 0}, {2, 0}, {3, 0}, {10, 0}, {3, 1}, {5, 2}, {9, 3}, {17, 4}, {1'000, 0}};
    input in;
    const auto f = *rc::gen::elementOf(std::vector(std::begin(factors), std::end(factors)));
    in.up = f.first;
    in.halves = f.second;
    // a number that the model can represent
    in.n = *rc::gen::inRange(1U, in.halves == 0 ? 80U : 16U);
    in.b.base = duration::nanoseconds(any_length(1));
    in.b.cap = duration::nanoseconds(any_length(1));
    in.b.step = duration::nanoseconds(any_length(0));
    in.b.factor = static_cast<double>(in.up) / static_cast<double>(1U << in.halves);
    return in;
}

/// base * factor^(n-1) + step * (n-1), at most the longest duration.
wide grown(const input& in)
{
    fraction f{static_cast<std::uint64_t>(in.b.base.count())};
    for (std::uint32_t i = 1; i < in.n; ++i) f.times(in.up, in.halves);
    const wide all = f.whole() + wide{static_cast<std::uint64_t>(in.b.step.count())} * (in.n - 1);
    return all < longest ? all : wide{longest};
}

wide lower_of(wide a, wide b)
{
    return a < b ? a : b;
}

/// The rounding error of doubles: some of their 53 bits for each of at most 8 products.
bool close(duration said, wide exact)
{
    const auto got = static_cast<wide>(static_cast<std::uint64_t>(said.count()));
    const wide apart = got < exact ? exact - got : got - exact;
    return apart <= (exact >> 48) + 1;
}

TEST_CASE("backoff: pauses without jitter equal exact fractions up to rounding, and saturate")
{
    CHECK(rc::check([] {
        input in = any_input();
        in.b.spread = backoff::jitter::none;
        const wide cap = static_cast<std::uint64_t>(in.b.cap.count());
        const wide exact = lower_of(grown(in), cap);
        const duration said = pause(in.b, in.n, 0.5);
        RC_ASSERT(said >= duration{});
        RC_ASSERT(said <= in.b.cap);
        RC_ASSERT(close(said, exact));
        // Without a factor there is no rounding.
        if (in.up == 1) RC_ASSERT(static_cast<std::uint64_t>(said.count()) == exact);
        // Nor if all factors are exact in a double.
        const bool small = in.b.base.count() < (1 << 20) && in.n < 16 && in.up < 4;
        if (small) RC_ASSERT(static_cast<std::uint64_t>(said.count()) == exact);
    }));
}

TEST_CASE("backoff: jitter stays in its range; draws of 0 and 1 give the least and greatest pause")
{
    CHECK(rc::check([] {
        input in = any_input();
        in.b.spread = backoff::jitter::none;
        const duration all = pause(in.b, in.n, 0);
        const auto draw = static_cast<double>(*rc::gen::inRange(0, 1'000)) / 1'000;
        const duration slack = duration::nanoseconds((all.count() >> 48) + 1);
        const auto drawn = [&](backoff::jitter j, double d) {
            in.b.spread = j;
            return pause(in.b, in.n, d);
        };
        RC_ASSERT(drawn(backoff::jitter::full, draw) <= all);
        RC_ASSERT(drawn(backoff::jitter::full, 0) == duration{});
        RC_ASSERT(drawn(backoff::jitter::equal, draw) <= all);
        RC_ASSERT(drawn(backoff::jitter::equal, draw) + slack >= all * 0.5);
        RC_ASSERT(drawn(backoff::jitter::around, draw) <= in.b.cap);
        RC_ASSERT(drawn(backoff::jitter::around, draw) <= all * 1.2 + slack);
        RC_ASSERT(drawn(backoff::jitter::around, draw) + slack >=
                  detail::lesser(all, in.b.cap * (1 / 1.2)) * 0.8);
        for (const backoff::jitter j : {backoff::jitter::full, backoff::jitter::equal,
                                        backoff::jitter::around, backoff::jitter::decorrelated}) {
            RC_ASSERT(drawn(j, draw) >= drawn(j, 0));
            RC_ASSERT(drawn(j, draw) <= drawn(j, 1));
        }
        RC_ASSERT(drawn(backoff::jitter::full, 1) + slack >= all);  // doubles have 53 bits of it
        RC_ASSERT(drawn(backoff::jitter::equal, 1) + slack >= all);
    }));
}

TEST_CASE("backoff: decorrelated pauses equal the exact formula up to rounding")
{
    CHECK(rc::check([] {
        input in = any_input();
        in.b.spread = backoff::jitter::decorrelated;
        const auto previous = *rc::gen::inRange(0, 4) == 0 ? 0 : any_length(0);
        const auto sixteenths = *rc::gen::inRange(0U, 17U);
        const wide base = lower_of(static_cast<std::uint64_t>(in.b.base.count()),
                                   static_cast<std::uint64_t>(in.b.cap.count()));
        wide last = static_cast<std::uint64_t>(previous);
        if (last < base) last = base;
        const wide widest = lower_of(3 * last, longest);
        const wide exact = lower_of(base + (widest - base) * sixteenths / 16,
                                    static_cast<std::uint64_t>(in.b.cap.count()));
        const duration said = pause(in.b, in.n, duration::nanoseconds(previous),
                                    static_cast<double>(sixteenths) / 16);
        RC_ASSERT(close(said, exact));
        RC_ASSERT(said <= in.b.cap);
        RC_ASSERT(said >= detail::lesser(in.b.base, in.b.cap));
    }));
}

TEST_CASE("backoff: without the previous pause, decorrelated pauses assume earlier draws of 0.5")
{
    CHECK(rc::check([] {
        input in = any_input();
        in.b.spread = backoff::jitter::decorrelated;
        const auto draw = static_cast<double>(*rc::gen::inRange(0, 1'001)) / 1'000;
        const auto n = *rc::gen::inRange(1U, 150U);
        duration previous{};
        for (std::uint32_t i = 1; i != n; ++i) previous = pause(in.b, i, previous, 0.5);
        const duration with = pause(in.b, n, previous, draw);
        const duration without = pause(in.b, n, draw);
        // Each step rounds down, and the error grows with it.
        const auto one = static_cast<double>(with.count());
        const auto other = static_cast<double>(without.count());
        const double lost = 8.0 * (one / static_cast<double>(in.b.base.count()) + 1);
        RC_ASSERT((one < other ? other - one : one - other) <= lost + one * 1e-12);
    }));
}

TEST_CASE("backoff: for any arguments, a pause is in [0, maximum] and at least the hint")
{
    CHECK(rc::check([] {
        const auto any = [] { return duration::nanoseconds(*rc::gen::arbitrary<std::int64_t>()); };
        const backoff b{any(),
                        any(),
                        *rc::gen::arbitrary<double>(),
                        static_cast<backoff::jitter>(*rc::gen::inRange(0, 7)),
                        any(),
                        any()};
        const auto n = *rc::gen::arbitrary<std::uint32_t>();
        const auto draw = *rc::gen::arbitrary<double>();
        const duration hint = any(), previous = any();
        const duration hinted = detail::lesser(hint, b.highest_hint);
        const duration cap = detail::greater(b.cap, duration{});
        const duration most = detail::greater(hinted, duration{}) + cap;
        for (const duration p : {pause(b, n, draw, hint), pause(b, n, previous, draw, hint)}) {
            RC_ASSERT(p >= duration{});
            RC_ASSERT(p <= most);
            RC_ASSERT(p >= hinted);
        }
        RC_ASSERT(pause(b, n, draw) <= cap);
        RC_ASSERT(pause(b, n, previous, draw) <= cap);
    }));
}

}  // namespace
}  // namespace backoff_prop
