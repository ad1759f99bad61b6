// SPDX-License-Identifier: MIT
//
// Random samples, clocks and options against naive_window, which decides by itself which samples
// are accepted. Each step is done by both kinds of window, and both are compared with it: two
// million steps for each measure.

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/dice.hpp>
#include <support/naive_window.hpp>

#include <waybill/window/sliding_window.hpp>

namespace sliding_window_prop {

using namespace waybill;
using tests_support::clamped;
using tests_support::dice;
using tests_support::differs;
using tests_support::naive_window;
using tests_support::wide;

namespace {

// A measure that depends on the order: the samples are the digits of a number.
struct in_order {
    using value_type = std::int64_t;
    std::uint64_t digits = 0;
    std::uint64_t shift = 1;
    std::uint64_t points = 0;

    static constexpr in_order identity() { return {}; }
    template <class S>
    static constexpr in_order of(const S& s)
    {
        return {static_cast<std::uint64_t>(s.value), 0x100'0000'01B3U, 1};
    }
    static constexpr in_order combine(const in_order& a, const in_order& b)
    {
        return {a.digits * b.shift + b.digits, a.shift * b.shift, a.points + b.points};
    }
    friend bool operator==(const in_order&, const in_order&) = default;
};
static_assert(measure<in_order>);

template <class Entry>
std::string differs(const window_summary<in_order, wall_time>& s, const std::vector<Entry>& all)
{
    in_order m;
    for (const Entry& e : all) m = in_order::combine(m, in_order::of(e));
    return static_cast<const in_order&>(s) == m ? "" : "order";
}

template <class V>
V any_value(dice& roll, bool wild)
{
    if constexpr (std::floating_point<V>) {
        using of = std::numeric_limits<V>;
        if (roll.one_in(20)) {
            const V odd[] = {of::quiet_NaN(), of::infinity(), -of::infinity(), of::quiet_NaN()};
            return roll.any_of(odd);
        }
        if (roll.one_in(20)) {
            const V odd[] = {-V{0}, V{0}, of::denorm_min(), -of::denorm_min(), (of::min)()};
            return roll.any_of(odd);
        }
        if (wild && roll.one_in(8)) {
            const double odd[] = {1e12, -1e12, 1e9, 1e9 + 1, 1e30, -1e30, 1e-30, 1e9 + 9};
            return static_cast<V>(roll.any_of(odd));
        }
        return static_cast<V>(roll.below(2'001) - 1'000) / V{8};
    } else {
        if (wild && roll.one_in(6)) {
            const std::int64_t odd[] = {
                INT64_MIN,     INT64_MAX, INT64_MIN + 1, INT64_MAX - 1, 1'000'000'000,
                1'000'000'009, -1,        1LL << 53};
            return static_cast<V>(roll.any_of(odd));
        }
        return static_cast<V>(roll.below(201) - 100);
    }
}

std::uint64_t any_weight(dice& roll)
{
    const std::uint64_t odd[] = {
        0, 0xFFFF'FFFFU, 0x1'0000'0000U, ~std::uint64_t{0}, 0x8000'0000U, 0x1'0000'0001U,
        0, 1'000'000};
    if (roll.one_in(12)) return roll.any_of(odd);
    return roll.one_in(2) ? 1 : 1 + roll(50);
}

duration ns(std::int64_t n)
{
    return duration::nanoseconds(n);
}
wall_time at_ns(std::int64_t n)
{
    return wall_time::at(ns(n));
}

window_options any_options(dice& roll)
{
    window_options o;
    const std::int64_t spans[] = {1, 2, 10, 10, 60, 60, 300, 3'000, INT64_MAX - 1, INT64_MAX / 2};
    if (!roll.one_in(8)) o.span = ns(roll.any_of(spans));
    const std::uint64_t most[] = {1, 1, 2, 3, 8, 16, 17, 32, 64, 600};
    if (roll.one_in(2) || o.span > ns(3'000)) o.max_points = roll.any_of(most);
    const std::int64_t ahead[] = {0, 1, 5, 30, INT64_MAX - 1};
    if (roll.one_in(2)) o.ahead = ns(roll.any_of(ahead));
    if (roll.one_in(3)) o.on_equal_time = window_options::equal_time::replace;
    return o;
}

struct tally {
    std::uint64_t steps = 0;
    std::uint64_t answers = 0;
    std::uint64_t points = 0;
    std::uint64_t said[7] = {};
    std::uint64_t pushed_out = 0;
    std::uint64_t given = 0;  // samples that were inserted together with a time
    std::uint64_t early = 0;  // queries while there are samples of the future
    std::uint64_t cut = 0;    // queries that are not complete
};

template <class Measure>
class life {
    using V = typename Measure::value_type;
    using quick = sliding_window<Measure, wall_time, amortised>;
    using steady = sliding_window<Measure, wall_time, worst_case>;

public:
    life(std::uint64_t seed, tally& t)
        : roll_(seed),
          options_(any_options(roll_)),
          naive_(options_),
          a_(options_),
          b_(options_),
          tally_(t)
    {
        const std::int64_t starts[] = {
            0, 1'700'000'000'000'000'000, INT64_MIN, INT64_MIN + 40, INT64_MAX - 400, -1'000};
        now_ = roll_.any_of(starts);
        wild_ = roll_.one_in(3);
        hasty_ = roll_.one_in(4);
        pace_ = 1 + roll_.below(4);
    }

    /// Returns the first difference, or an empty text.
    std::string goes(int steps)
    {
        for (int i = 0; i != steps; ++i) {
            ++tally_.steps;
            const bool clock = roll_.one_in(3);
            if (std::string why = clock ? advance_clock() : sample(); !why.empty()) {
                return why + " at step " + std::to_string(i);
            }
            if (!(a_.losses() == naive_.losses())) return "losses";
            if (!(b_.losses() == naive_.losses())) return "losses, worst case";
            if (a_.size() != naive_.kept().size() || b_.size() != a_.size()) return "size";
            if (i % 16 == 0 && !same_samples()) return "samples";
            if (roll_.one_in(200)) {
                // Copies, assigned and moved windows continue unchanged.
                const quick copy(a_);
                if (!(copy == a_)) return "copy";
                a_ = quick(copy);
                steady other(options_);
                other = b_;
                b_ = std::move(other);
            }
        }
        tally_.pushed_out += naive_.losses().pushed_out;
        return same_samples() ? "" : "samples";
    }

private:
    void move(std::int64_t by) { now_ = clamped(wide{now_} + by); }

    std::string advance_clock()
    {
        std::int64_t given = now_;
        switch (roll_(16)) {
            case 0: given = clamped(wide{now_} - roll_.below(100)); break;  // the clock goes back
            case 1: given = roll_.one_in(2) ? INT64_MIN : clamped(wide{now_} - INT64_MAX); break;
            case 2: move(roll_.below(400)), given = now_; break;
            case 3:
                if (roll_.one_in(8)) move(roll_.one_in(2) ? 1LL << 40 : INT64_MAX), given = now_;
                break;
            default: move(roll_.below(pace_ + 1)), given = now_; break;
        }
        naive_.advance(given);
        if (roll_.one_in(8)) {
            a_.advance(at_ns(given));
            b_.advance(at_ns(given));
            return {};
        }
        ++tally_.answers;
        const auto all = naive_.seen();
        tally_.points += all.size();
        tally_.early += all.size() < naive_.kept().size();
        tally_.cut += !naive_.complete();
        const auto s = a_.query(at_ns(given));
        const auto t = b_.query(at_ns(given));
        if (s.now.since_epoch().count() != *naive_.clock() || t.now != s.now) return "now";
        if (s.span != options_.span || t.span != s.span) return "span";
        if (s.complete() != naive_.complete() || t.complete() != s.complete()) return "complete";
        if (std::string why = differs(s, all); !why.empty()) return why;
        if (std::string why = differs(t, all); !why.empty()) return why + ", worst case";
        return {};
    }

    std::string sample()
    {
        const std::int64_t ends[] = {INT64_MIN, INT64_MAX, INT64_MIN + 1, INT64_MAX - 1};
        const wide reach = options_.span < ns(1'000) ? options_.span.count() : 100;
        std::int64_t at = now_;
        switch (roll_(16)) {
            case 0:
            case 1:
                at = clamped(wide{now_} - roll_.below(2 * static_cast<std::int64_t>(reach)));
                break;
            case 2: at = clamped(wide{now_} - reach); break;  // the start of the window
            case 3: at = clamped(wide{now_} - reach + 1); break;
            case 4:
            case 5:
                if (!naive_.kept().empty()) at = naive_.kept()[roll_(naive_.kept().size())].at;
                break;
            case 6: at = clamped(wide{now_} + roll_.below(12)); break;
            case 7:
                if (roll_.one_in(6)) at = clamped(wide{now_} + roll_.below(1LL << 50));
                break;
            case 8:
                if (roll_.one_in(12)) at = roll_.any_of(ends);
                break;
            default:
                if (!hasty_) move(roll_.below(pace_));
                at = hasty_ ? clamped(wide{now_} + roll_.below(30)) : now_;
                break;
        }
        // The time may be passed together with the sample.
        std::optional<wall_time> now;
        if (roll_.one_in(6)) {
            if (roll_.one_in(2)) move(roll_.below(pace_ + 1));
            now = at_ns(roll_.one_in(8) ? clamped(wide{now_} - roll_.below(50)) : now_);
            naive_.advance(now->since_epoch().count());
            ++tally_.given;
        }
        const V value = any_value<V>(roll_, wild_);
        if constexpr (quick::weighted) {
            const std::uint64_t weight = any_weight(roll_);
            if (roll_.one_in(4) && weight <= 0xFFFF'FFFFU) {
                const auto w = static_cast<std::uint32_t>(weight);
                if (now) {
                    return took(at, value, weight, a_.insert({at_ns(at), value, w}, *now),
                                b_.insert({at_ns(at), value, w}, *now));
                }
                return took(at, value, weight, a_.insert({at_ns(at), value, w}),
                            b_.insert({at_ns(at), value, w}));
            }
            if (now) {
                return took(at, value, weight, a_.insert(at_ns(at), value, weight, *now),
                            b_.insert(at_ns(at), value, weight, *now));
            }
            return took(at, value, weight, a_.insert(at_ns(at), value, weight),
                        b_.insert(at_ns(at), value, weight));
        } else {
            if (now) {
                return took(at, value, 1, a_.insert(at_ns(at), value, *now),
                            b_.insert(at_ns(at), value, *now));
            }
            return took(at, value, 1, a_.insert(at_ns(at), value), b_.insert(at_ns(at), value));
        }
    }

    std::string took(std::int64_t at, V value, std::uint64_t weight, insert_result a,
                     insert_result b)
    {
        ++tally_.said[static_cast<int>(a)];
        if (a != b) return "the two windows return different results";
        if (naive_.insert(at, value, weight, a)) return {};
        return "the result is " + std::string(name(a));
    }

    bool same_samples() const
    {
        const auto& all = naive_.kept();
        for (std::size_t n = 0; n != all.size(); ++n) {
            const auto& s = a_[n];
            if (s.at.since_epoch().count() != all[n].at || !(s.value == all[n].value) ||
                weight_of(s) != all[n].weight || !(s == b_[n])) {
                return false;
            }
        }
        return true;
    }

    dice roll_;
    window_options options_;
    naive_window<V> naive_;
    quick a_;
    steady b_;
    tally& tally_;
    std::int64_t now_ = 0;
    std::int64_t pace_ = 1;
    bool wild_ = false;
    bool hasty_ = false;  // samples may be ahead of the clock
};

template <class Measure>
void lives(const std::string& what)
{
    const std::uint64_t most = tests_support::rounds(100'000, 2'000'000);
    tally t;
    for (std::uint64_t seed = 0; t.steps < most; ++seed) {
        const std::string broken = life<Measure>(seed, t).goes(seed % 4 == 0 ? 1'000 : 200);
        CAPTURE(what);
        CAPTURE(seed);
        CHECK(broken == "");
        if (!broken.empty()) break;
    }
    MESSAGE(what, ": ", t.steps, " steps, ", t.answers, " answers of ", t.points,
            " points; newest ", t.said[0], ", late ", t.said[1], ", replaced ", t.said[2],
            ", too old ", t.said[3], ", future ", t.said[4], ", not finite ", t.said[5],
            ", no weight ", t.said[6], ", pushed out ", t.pushed_out, "; with a time ", t.given,
            ", with future samples ", t.early, ", not complete ", t.cut);
    for (const std::uint64_t n : {t.given, t.early, t.cut}) CHECK(n > most / 100);
    CHECK(t.points > 4 * t.answers);
    for (const insert_result i :
         {insert_result::newest, insert_result::late, insert_result::replaced,
          insert_result::too_old, insert_result::future}) {
        CHECK(t.said[static_cast<int>(i)] > most / 1'000);  // else the random numbers are biased
    }
}

}  // namespace

TEST_CASE("sliding_window: sums equal those of a naive window, for any samples and clocks")
{
    lives<measures<std::int64_t, summed>>("summed<int64>");
    lives<measures<double, summed>>("summed<double>");
    lives<measures<double, compensated>>("compensated<double>");
    lives<measures<double, weighted_count, compensated>>("weighted_count, compensated<double>");
}

TEST_CASE("sliding_window: extremes equal those of a naive window, for any samples and clocks")
{
    lives<measures<std::int64_t, extremes>>("extremes<int64>");
    lives<measures<double, extremes>>("extremes<double>");
}

TEST_CASE("sliding_window: moments equal those of a naive window, for any samples and clocks")
{
    lives<measures<double, moments>>("moments<double>");
}

TEST_CASE("sliding_window: ends equal those of a naive window, for any samples and clocks")
{
    lives<measures<std::int64_t, ends>>("ends<int64>");
}

TEST_CASE("sliding_window: all measures equal those of a naive window, for any samples and clocks")
{
    lives<stats<std::int64_t>>("stats<int64>");
    lives<stats<double>>("stats<double>");
    lives<weighted_stats<std::int64_t>>("weighted_stats<int64>");
    lives<weighted_stats<double>>("weighted_stats<double>");
}

TEST_CASE("sliding_window: a measure that depends on the order gets the samples in order")
{
    lives<in_order>("in_order");
}

}  // namespace sliding_window_prop
