// SPDX-License-Identifier: MIT
//
// Every window is equal after it was saved and loaded. Changed bytes are refused, or saving the
// loaded window gives exactly these bytes.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>

#include <doctest/doctest.h>
#include <rapidcheck.h>
#include <support/brief.hpp>

#include <waybill/core/crc32c.hpp>
#include <waybill/window/measures.hpp>
#include <waybill/window/sliding_window.hpp>
#include <waybill/window/window_snapshot.hpp>

namespace window_snapshot_prop {
namespace {

using namespace waybill;

using dice = std::mt19937_64;
using tests_support::brief;

std::uint64_t below(dice& d, std::uint64_t n)
{
    return d() % n;
}

// Near the previous value, any value, or an end of the range.
template <class V>
V any_value(dice& d, V last)
{
    constexpr V highest = (std::numeric_limits<V>::max)();
    const std::uint64_t how = below(d, 8);
    if constexpr (std::is_integral_v<V>) {
        if (how == 0) return highest;
        if (how == 1) return std::numeric_limits<V>::lowest();
        if (how == 2) return static_cast<V>(d());
        return static_cast<V>(static_cast<std::uint64_t>(last) + below(d, 9) - 4);
    } else {
        if (how == 0) return below(d, 2) == 0 ? highest : -highest;
        if (how == 1) return std::numeric_limits<V>::denorm_min();
        if (how == 2) return below(d, 2) == 0 ? V(0) : -V(0);
        if (how == 3) return static_cast<V>(std::ldexp(static_cast<double>(d()), -70));
        if (how == 4) return last;
        return static_cast<V>(below(d, 1'000));
    }
}

constexpr std::int64_t units[] = {1, 1'000, 1'000'000, 1'000'000'000, 60'000'000'000};

std::int64_t any_time(dice& d)
{
    if (below(d, 8) == 0) return below(d, 2) == 0 ? INT64_MAX : INT64_MIN;
    return static_cast<std::int64_t>(d()) >> below(d, 40);
}

window_options any_options(dice& d)
{
    window_options o;
    if (below(d, 2) == 0) o.span = duration::nanoseconds(INT64_MAX >> below(d, 60));
    if (below(d, 2) == 0) o.max_points = 1 + below(d, 50);
    if (below(d, 4) == 0) o.on_equal_time = window_options::equal_time::replace;
    return o;
}

// A window after some inserts, in order or not, with or without a clock.
template <class W>
W any_window(dice& d)
{
    using V = typename W::value_type;
    W w(any_options(d));
    const std::int64_t unit = units[below(d, 5)];
    const std::int64_t most = INT64_MAX / unit;
    std::int64_t at = any_time(d) / unit;
    V value{};
    for (std::uint64_t n = below(d, 40); n != 0; --n) {
        const std::uint64_t how = below(d, 16);
        std::int64_t step = 1;
        if (how == 0) step = any_time(d) / unit;
        else if (how < 4) step = static_cast<std::int64_t>(below(d, 200)) - 30;
        if (at > 0 ? step > most - at : step < -most - at) step = 0;
        at += step;
        value = any_value(d, value);
        typename W::sample_type s{wall_time::at(duration::nanoseconds(at * unit)), value};
        if constexpr (W::weighted) {
            s.weight = static_cast<std::uint32_t>(below(d, 2) == 0 ? 1 : d());
        }
        w.insert(s);
        if (below(d, 4) == 0) w.advance(s.at);
    }
    if (below(d, 4) == 0) w.advance(wall_time::at(duration::nanoseconds(any_time(d))));
    return w;
}

template <class W, class X>
bool same_samples(const W& a, const X& b)
{
    if (a.size() != b.size() || a.clock() != b.clock()) return false;
    for (std::uint64_t n = 0; n != a.size(); ++n) {
        if (a[n].at != b[n].at || weight_of(a[n]) != weight_of(b[n])) return false;
        if (detail::bits_of(a[n].value) != detail::bits_of(b[n].value)) return false;
    }
    return true;
}

// Sets the checksum that fits the other bytes.
void sum_up(std::string& bytes)
{
    if (bytes.size() < 4) return;
    std::uint32_t sum = crc32c(std::string_view(bytes).substr(0, bytes.size() - 4));
    for (std::size_t n = bytes.size() - 4; n != bytes.size(); ++n, sum >>= 8U) {
        bytes[n] = static_cast<char>(sum & 0xFFU);
    }
}

void damage(dice& d, std::string& bytes)
{
    for (std::uint64_t times = 1 + below(d, 4); times != 0; --times) {
        if (bytes.empty()) bytes = "wbw";
        const std::size_t at = below(d, bytes.size());
        const std::size_t length = 1 + below(d, 8);
        switch (below(d, 8)) {
            case 0: bytes[at] = static_cast<char>(d()); break;
            case 1: bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(d, 8))); break;
            case 2: bytes.erase(at, length); break;
            case 3: bytes.insert(at, length, static_cast<char>(d())); break;
            case 4: bytes.insert(at, bytes.substr(below(d, bytes.size()), length)); break;
            case 5: bytes[at] = static_cast<char>(0xFF); break;
            case 6: bytes[at] = static_cast<char>(bytes[at] + (below(d, 2) == 0 ? 1 : -1)); break;
            case 7:
                for (std::size_t n = at; n != bytes.size() && n != at + length; ++n) {
                    bytes[n] = static_cast<char>(0x80);
                }
                break;
        }
    }
}

struct counts {
    std::uint64_t refused = 0;
    std::uint64_t taken = 0;
};

// Default options keep every sample. So saving gives the same bytes.
template <class W>
void refused_or_the_same(const std::string& bytes, counts& c)
{
    const auto read = load<W>(bytes, {});
    if (read) {
        ++c.taken;
        REQUIRE(save(*read) == bytes);
    } else {
        ++c.refused;
        REQUIRE(read.error().offset <= bytes.size());
    }
}

// f(a window) for each kind of value, narrow or wide, with and without weights, for both policies.
// The measures are not stored, so a few are enough.
template <class F>
void for_each_kind(F f)
{
    f(sliding_window<measures<std::int64_t>>{});
    f(sliding_window<measures<std::uint8_t>, wall_time, worst_case>{});
    f(sliding_window<measures<float>>{});
    f(sliding_window<measures<double>>{});
    f(sliding_window<measures<std::int16_t, weighted_count>>{});
    f(sliding_window<measures<std::uint64_t, weighted_count>>{});
    f(sliding_window<measures<float, weighted_count>, wall_time, worst_case>{});
    f(sliding_window<measures<double, weighted_count>>{});
}

TEST_CASE("window_snapshot: any saved window is loaded with equal samples and clock")
{
    CHECK(rc::check([](std::uint64_t seed) {
        dice d(seed);
        for_each_kind([&](auto kind) {
            using W = decltype(kind);
            const W w = any_window<W>(d);
            const std::string bytes = save(w);
            const auto again = load<W>(bytes, w.options());
            RC_ASSERT(again.has_value());
            RC_ASSERT(same_samples(*again, w));
            RC_ASSERT(again->losses() == window_losses{});
            RC_ASSERT(save(*again) == bytes);
            const auto all = load<W>(bytes, {});
            RC_ASSERT(all.has_value());
            RC_ASSERT(same_samples(*all, w));
        });
    }));
}

TEST_CASE("window_snapshot: loading with other options equals inserting the samples one by one")
{
    CHECK(rc::check([](std::uint64_t seed) {
        dice d(seed);
        for_each_kind([&](auto kind) {
            using W = decltype(kind);
            const W w = any_window<W>(d);
            window_options o = any_options(d);
            if (below(d, 2) == 0) o.ahead = duration::nanoseconds(INT64_MAX >> below(d, 60));
            const auto again = load<W>(save(w), o);
            W one_by_one(o);
            if (w.clock()) one_by_one.advance(*w.clock());
            for (std::uint64_t n = 0; n != w.size(); ++n) one_by_one.insert(w[n]);
            RC_ASSERT(again.has_value());
            RC_ASSERT(same_samples(*again, one_by_one));
        });
    }));
}

TEST_CASE("window_snapshot: truncated bytes and bytes with one wrong bit are refused")
{
    dice d(4);
    const int rounds = 50;
    for (int round = 0; round != rounds; ++round) {
        for_each_kind([&](auto kind) {
            using W = decltype(kind);
            const std::string bytes = save(any_window<W>(d));
            for (std::size_t n = 0; n != bytes.size(); ++n) {
                REQUIRE_FALSE(load<W>(std::string(bytes, 0, n), {}).has_value());
                for (int bit = 0; bit != 8; ++bit) {
                    std::string other = bytes;
                    other[n] = static_cast<char>(other[n] ^ (1 << bit));
                    REQUIRE_FALSE(load<W>(other, {}).has_value());
                }
            }
        });
    }
}

TEST_CASE("window_snapshot: randomly changed bytes are refused")
{
    dice d(5);
    counts c;
    const int rounds = brief ? 4'000 : 25'000;
    for (int round = 0; round != rounds; ++round) {
        for_each_kind([&](auto kind) {
            using W = decltype(kind);
            const std::string bytes = save(any_window<W>(d));
            std::string other = bytes;
            damage(d, other);
            const auto read = load<W>(other, {});
            REQUIRE((!read.has_value() || other == bytes));
            refused_or_the_same<W>(other, c);
        });
    }
    CHECK(c.refused > c.taken);
}

TEST_CASE("window_snapshot: changed bytes with a valid checksum are refused, or equal when saved")
{
    dice d(6);
    counts c;
    const int rounds = brief ? 4'000 : 25'000;
    for (int round = 0; round != rounds; ++round) {
        for_each_kind([&](auto kind) {
            using W = decltype(kind);
            std::string bytes = save(any_window<W>(d));
            damage(d, bytes);
            sum_up(bytes);
            refused_or_the_same<W>(bytes, c);
        });
    }
    // Both outcomes must occur often.
    CHECK(c.refused > static_cast<std::uint64_t>(rounds));
    CHECK(c.taken > static_cast<std::uint64_t>(rounds));
}

TEST_CASE("window_snapshot: random bytes with a valid checksum are refused, or equal when saved")
{
    dice d(7);
    counts c;
    const int rounds = brief ? 8'000 : 50'000;
    for (int round = 0; round != rounds; ++round) {
        std::string bytes("wbw\x01", 4);
        for (std::uint64_t n = below(d, 40); n != 0; --n) {
            bytes += static_cast<char>(d() & (below(d, 2) == 0 ? 0xFFU : 0x07U));
        }
        sum_up(bytes);
        for_each_kind([&](auto kind) { refused_or_the_same<decltype(kind)>(bytes, c); });
    }
    CHECK(c.refused != 0);
}

}  // namespace
}  // namespace window_snapshot_prop
