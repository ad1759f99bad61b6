// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/core/crc32c.hpp>
#include <waybill/window/measures.hpp>
#include <waybill/window/sliding_window.hpp>
#include <waybill/window/snapshot_error.hpp>
#include <waybill/window/window_snapshot.hpp>

namespace window_snapshot_test {
namespace {

using namespace waybill;
using namespace std::chrono_literals;

template <class V>
using plain = sliding_window<stats<V>>;
template <class V>
using weighing = sliding_window<weighted_stats<V>, wall_time, worst_case>;

// Windows that can be stored, and others.
static_assert(detail::storable_window<plain<std::int64_t>>);
static_assert(detail::storable_window<plain<std::uint8_t>>);
static_assert(detail::storable_window<plain<char>>);
static_assert(detail::storable_window<weighing<float>>);
static_assert(detail::storable_window<sliding_window<measures<double>>>);
static_assert(!detail::storable_window<sliding_window<stats<double>, steady_time>>);
static_assert(!detail::storable_window<plain<long double>> || sizeof(long double) == 8);
static_assert(!detail::storable_window<std::string>);

constexpr wall_time at(duration d)
{
    return wall_time::at(d);
}
// 12:01 on 29 February 2024.
constexpr wall_time noon = wall_time::at(duration::seconds(1'709'208'060));

std::string hex(std::string_view bytes)
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    for (const char c : bytes) {
        const unsigned b = static_cast<unsigned char>(c);
        out += digits[b / 16];
        out += digits[b % 16];
    }
    return out;
}

std::string bytes(std::string_view digits)
{
    const auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
    std::string out;
    for (std::size_t n = 0; n + 1 < digits.size(); n += 2) {
        out += static_cast<char>(value(digits[n]) * 16 + value(digits[n + 1]));
    }
    return out;
}

// The bytes with the right checksum after them.
std::string summed_up(std::string_view digits)
{
    std::string out = bytes(digits);
    std::uint32_t sum = crc32c(out);
    for (int n = 0; n != 4; ++n, sum >>= 8U) out += static_cast<char>(sum & 0xFFU);
    return out;
}

template <class W>
bool same_samples(const W& a, const W& b)
{
    if (a.size() != b.size() || a.clock() != b.clock()) return false;
    for (std::uint64_t n = 0; n != a.size(); ++n) {
        if (!(a[n] == b[n])) return false;
    }
    return true;
}

template <class W>
void is_stored_as(const W& w, std::string_view digits)
{
    CHECK(hex(save(w)) == digits);
    const auto again = load<W>(bytes(digits), w.options());
    REQUIRE(again.has_value());
    CHECK(same_samples(*again, w));
    CHECK(again->losses() == window_losses{});
    CHECK(hex(save(*again)) == digits);
}

template <class W>
snapshot_error wrong(std::string_view stored)
{
    const auto read = load<W>(stored, {});
    REQUIRE_FALSE(read.has_value());
    return read.error();
}

// The same with bytes that have a valid checksum.
template <class W>
void refuses(std::string_view digits, snapshot_error::code p, std::uint64_t offset)
{
    CAPTURE(digits);
    CHECK(wrong<W>(summed_up(digits)) == snapshot_error{p, offset});
}

TEST_CASE("snapshot: the bytes of version 1 do not change")
{
    // Kind 8; minutes, a clock of seconds; 3 samples; the first minute, the clock 150 s after it;
    // 120; a step of 1, +15; the same step, no more of them, -45.
    plain<std::int64_t> ints;
    ints.insert(noon, 120);
    ints.insert(noon + 1min, 135);
    ints.insert(noon + 2min, 90);
    ints.advance(noon + 150s);
    is_stored_as(ints, "77627701083403a2b2951bac02f001021e0000597120e99a");

    is_stored_as(plain<std::int64_t>{}, "776277010004002a3272b5");

    plain<double> doubles;
    doubles.insert(noon, 1.5);
    doubles.insert(noon + 1s, 1.5);
    doubles.insert(noon + 3s, -0.0);
    is_stored_as(doubles, "77627701030303f8c783de0c02f83f02000202f8bfd9c71bca");

    weighing<float> floats;
    floats.insert(at(5ns), 2.5F, 1);
    floats.insert(at(5ns), 2.75F, 300);
    floats.advance(at(7ns));
    is_stored_as(floats, "776277010e00020a044220400100005110ac027aaa2591");

    plain<std::uint64_t> extremes;
    extremes.insert(wall_time::lowest(), UINT64_MAX);
    extremes.insert(wall_time::highest(), 0);
    extremes.advance(wall_time::lowest());
    is_stored_as(extremes, "77627701094002ffffffffffffffffff01000101028100a8e9");
}

TEST_CASE("snapshot: samples a minute apart take at most four bytes each, header included")
{
    std::uint64_t dice = 1;
    const auto next = [&] {
        dice = dice * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
        return static_cast<std::int64_t>(dice >> 33U);
    };
    for (const std::uint64_t points : {10U, 60U, 600U}) {
        for (const std::int64_t most : {10, 1'000, 8'000}) {
            plain<std::int64_t> w({.max_points = 1'000});
            for (std::uint64_t n = 0; n != points; ++n) {
                const auto minute = static_cast<std::int64_t>(n);
                w.insert(noon + duration::seconds(60 * minute), next() % most);
            }
            w.advance(w[points - 1].at);
            CHECK(save(w).size() <= 4 * points);
            if (points == 600) CHECK(save(w).size() <= 2 * points + 30);
        }
    }
}

TEST_CASE("snapshot: neither the algorithm nor the options are stored")
{
    sliding_window<stats<std::int64_t>, wall_time, amortised> w({.span = 10min});
    sliding_window<measures<std::int64_t, summed>, wall_time, worst_case> other({.span = 1h});
    for (int n = 0; n != 20; ++n) {
        w.insert(noon + duration::seconds(60 * n), n);
        (void)w.query(noon + duration::seconds(60 * n));
    }
    for (int n = 10; n != 20; ++n) other.insert(noon + duration::seconds(60 * n), n);
    (void)other.query(noon + 19min);
    CHECK(save(w) == save(other));

    const auto moved = load<decltype(other)>(save(w), {.span = 5min});
    REQUIRE(moved.has_value());
    CHECK(moved->size() == 5);
    CHECK(moved->losses() == window_losses{.too_old = 5});
    CHECK(load<decltype(other)>(save(w), {.max_points = 3})->size() == 3);
    CHECK(load<decltype(other)>(save(w), {.max_points = 3})->losses().pushed_out == 7);

    // A narrower type matters only if a number does not fit.
    CHECK(load<plain<std::int8_t>>(save(w), {})->query(noon + 19min).sum() == 145);
}

TEST_CASE("snapshot: a window loaded after a long gap is empty, not stale")
{
    plain<std::int64_t> w({.span = 10min});
    for (int n = 0; n != 10; ++n) w.insert(noon + duration::seconds(60 * n), 500);
    CHECK(w.query(noon + 9min).points == 10);

    auto again = load<plain<std::int64_t>>(save(w), {.span = 10min});
    REQUIRE(again.has_value());
    auto soon = *again;
    CHECK(soon.query(noon + 10min).points == 9);
    CHECK(again->query(noon + 24h).points == 0);
    CHECK_FALSE(again->query(noon + 24h).mean().has_value());
    CHECK(again->size() == 0);

    // A clock that is set back does not restore samples, before or after.
    CHECK(soon.query(noon).points == 9);
    CHECK(load<plain<std::int64_t>>(save(*again), {.span = 10min})->query(noon).points == 0);
    CHECK(load<plain<std::int64_t>>(save(*again), {})->insert(noon, 1) == insert_result::newest);
    CHECK(load<plain<std::int64_t>>(save(*again), {.span = 1h})->insert(noon, 1) ==
          insert_result::too_old);
}

TEST_CASE("snapshot: load applies on_equal_time and ahead of the new options")
{
    plain<double> w;
    w.insert(noon, 1);
    w.insert(noon, 2);
    w.insert(noon + 1min, 3);
    w.insert(noon + 1h, 4);
    w.advance(noon + 1min);
    const std::string stored = save(w);

    auto twins =
        load<plain<double>>(stored, {.on_equal_time = window_options::equal_time::replace});
    REQUIRE(twins.has_value());
    CHECK(twins->size() == 3);
    CHECK((*twins)[0].value == 2);

    auto present = load<plain<double>>(stored, {.ahead = 1min});
    REQUIRE(present.has_value());
    CHECK(present->size() == 3);
    CHECK(present->losses() == window_losses{.future = 1});

    // Before the first time was known, every time was accepted.
    plain<double> early({.ahead = 1min});
    CHECK(early.insert(noon + 1h, 4) == insert_result::newest);
    CHECK(load<plain<double>>(save(early), early.options())->size() == 1);
    early.advance(noon);
    CHECK(load<plain<double>>(save(early), early.options())->size() == 0);

    CHECK(load<plain<double>>(stored, {})->query(noon + 1min).points == 3);
    CHECK(load<plain<double>>(stored, {})->query(noon + 1h).points == 4);
}

TEST_CASE("snapshot: load reports the error and its place")
{
    using W = plain<std::int64_t>;
    using enum snapshot_error::code;
    CHECK(wrong<W>("") == snapshot_error{empty, 0});
    CHECK(wrong<W>("w") == snapshot_error{too_short, 1});
    CHECK(wrong<W>("wbw\x01"
                   "abc") == snapshot_error{too_short, 7});
    CHECK(wrong<W>("W") == snapshot_error{not_a_snapshot, 0});
    CHECK(wrong<W>("{\"version\":1}") == snapshot_error{not_a_snapshot, 0});

    const std::string good = bytes("77627701083403a2b2951bac02f001021e0000597120e99a");
    CHECK(load<W>(good, {}).has_value());
    CHECK(wrong<W>(good.substr(0, good.size() - 1)) == snapshot_error{corrupt, 19});
    CHECK(wrong<W>(good + '\0') == snapshot_error{corrupt, 21});
    CHECK(describe(wrong<W>(good + good)) == "window snapshot: corrupt at byte 44");

    // All following bytes have a valid checksum.
    refuses<W>("77627702", newer, 3);
    CHECK(describe(snapshot_error{newer, 3}) ==
          "window snapshot: newer at byte 3: update the program");
    refuses<W>("776277ff0004000000", newer, 3);
    refuses<W>("77627700000400", not_a_snapshot, 3);
    CHECK(wrong<plain<std::uint64_t>>(good) == snapshot_error{other_kind, 4});
    CHECK(wrong<plain<double>>(good) == snapshot_error{other_kind, 4});
    CHECK(wrong<plain<float>>(save(plain<double>{})) == snapshot_error{other_kind, 4});
    CHECK(wrong<weighing<std::int64_t>>(good) == snapshot_error{other_kind, 4});
    refuses<W>("77627701100400", other_kind, 4);

    refuses<W>("77627701", corrupt, 4);
    refuses<W>("77627701000500", corrupt, 5);    // no such unit
    refuses<W>("77627701001400", corrupt, 5);    // of no clock
    refuses<W>("7762770100040000", corrupt, 7);  // more at the end
    refuses<W>("77627701000300", corrupt, 7);    // too fine a unit
    refuses<W>("77627701083400f001", corrupt, 7);
    CHECK(load<W>(summed_up("77627701083400f601"), {}).has_value());
    refuses<W>("7762770100048000", corrupt, 6);  // a 0 in two bytes
}

TEST_CASE("snapshot: a sample count above the bytes is corrupt, even with a valid checksum")
{
    using W = plain<std::int64_t>;
    using enum snapshot_error::code;
    // 2^60 of them, 2^64 - 1, and one more than there are.
    refuses<W>("7762770100048080808080808080100202", corrupt, 6);
    refuses<W>("776277010004ffffffffffffffffff010202", corrupt, 6);
    refuses<W>("776277010004ffffffffffffffffff7f0202", corrupt, 6);
    CHECK(load<W>(summed_up("776277010004010202"), {}).has_value());
    refuses<W>("776277010004020202", corrupt, 9);
    // Steps with a run length above the number of samples.
    CHECK(load<W>(summed_up("776277010004040202020200010202"), {}).has_value());
    refuses<W>("776277010004040202020200020202", corrupt, 12);
    refuses<W>("7762770100040402020202000002000002", corrupt, 14);
}

TEST_CASE("snapshot: invalid times, values and weights are refused")
{
    using enum snapshot_error::code;
    using W = plain<std::int64_t>;
    // A step back by a minute, and one beyond the end of time; a first time and a clock beyond it.
    refuses<W>("7762770100040202020102", unsorted, 9);
    refuses<W>("776277010004020202feffffff1f02", out_of_range, 9);
    refuses<W>("77627701000401feffffff1f02", out_of_range, 7);
    refuses<W>("77627701084400feffffff1f", out_of_range, 7);

    // 128 as eight bits with a sign, -1 without one.
    plain<std::int64_t> w;
    w.insert(noon, 128);
    CHECK(wrong<plain<std::int8_t>>(save(w)).kind == out_of_range);
    CHECK(load<plain<std::int16_t>>(save(w), {}).has_value());
    CHECK(wrong<plain<std::uint8_t>>(summed_up("776277010104010201")).kind == out_of_range);

    // Infinity, not a number, and a float of more bits than it has.
    refuses<plain<double>>("776277010304010202f07f", not_finite, 8);
    refuses<plain<double>>("776277010304010202f8ff", not_finite, 8);
    refuses<plain<float>>("776277010204010242807f", not_finite, 8);
    refuses<plain<float>>("77627701020401023101", out_of_range, 8);
    CHECK(load<plain<float>>(summed_up("77627701020401024140"), {}).has_value());
    refuses<plain<float>>("7762770102040102424000", corrupt, 8);
    refuses<plain<float>>("7762770102040102420040", corrupt, 8);
    refuses<plain<float>>("7762770102040102494040", corrupt, 8);

    // Weights of 0 and of 2^32.
    using Q = weighing<std::int64_t>;
    CHECK(load<Q>(summed_up("776277010404010202ffffffff0f"), {}).has_value());
    refuses<Q>("77627701040401020200", out_of_range, 9);
    refuses<Q>("7762770104040102028080808010", out_of_range, 9);
}

TEST_CASE("snapshot: 100,000 samples of one time are loaded and replaced by the last")
{
    plain<std::int64_t> w;
    for (std::int64_t n = 0; n != 100'000; ++n) w.insert(noon, n);
    const auto one =
        load<plain<std::int64_t>>(save(w), {.on_equal_time = window_options::equal_time::replace});
    REQUIRE(one.has_value());
    CHECK(one->size() == 1);
    CHECK((*one)[0].value == 99'999);

    // After many others, if each replacement read all of them, this would be slow.
    plain<std::int64_t> behind;
    for (std::int64_t n = 0; n != 100'000; ++n) behind.insert(noon + duration::nanoseconds(n), n);
    for (std::int64_t n = 0; n != 100'000; ++n) behind.insert(noon + 1s, n);
    const auto others = load<plain<std::int64_t>>(
        save(behind), {.on_equal_time = window_options::equal_time::replace});
    CHECK(others->size() == 100'001);
}

TEST_CASE("snapshot: load refuses invalid options")
{
    const std::string stored = save(plain<std::int64_t>{});
    const auto refused = [&](const window_options& o) {
        const auto read = load<plain<std::int64_t>>(stored, o);
        REQUIRE_FALSE(read.has_value());
        CHECK(read.error().kind == snapshot_error::code::bad_options);
        CHECK(read.error().options == *validate(o));
        return describe(read.error());
    };
    CHECK(refused({.span = 0s}) ==
          "window snapshot: bad_options: span is 0: nanoseconds must be more than (0)");
    CHECK(refused({.max_points = 0}) ==
          "window snapshot: bad_options: max_points is 0: must be at least (1)");
    CHECK(refused({.ahead = -1s}) ==
          "window snapshot: bad_options: ahead is -1000000000: "
          "nanoseconds must be at least (0)");
    // Nothing is read then, and nothing is allocated.
    CHECK(load<plain<std::int64_t>>("", {.span = 0s}).error().kind ==
          snapshot_error::code::bad_options);
    CHECK(load<plain<std::int64_t>>(stored, {.max_points = 1ULL << 40U}).error().options.bound ==
          1ULL << 32U);
}

TEST_CASE("snapshot: every error code has a name")
{
    for (std::uint8_t n = 0; n != 10; ++n) {
        CHECK(name(static_cast<snapshot_error::code>(n)) != "?");
    }
    CHECK(name(static_cast<snapshot_error::code>(10)) == "?");
}

}  // namespace
}  // namespace window_snapshot_test
