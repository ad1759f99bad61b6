// SPDX-License-Identifier: MIT
//
// All orders of added and expired samples up to a length, in rings that are full, wrap, and grow in
// between. The internal marks must also keep their invariant: l <= r <= a <= b, with equal numbers
// of samples in certain ranges.

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/window/amortised.hpp>
#include <waybill/window/detail/sample_ring.hpp>
#include <waybill/window/sample.hpp>
#include <waybill/window/worst_case.hpp>

namespace worst_case_test {

using waybill::amortised;
using waybill::sample;
using waybill::worst_case;
using waybill::detail::sample_ring;

namespace {

// The numbers from the first to the last, in this order; any other order is broken.
struct stretch {
    using value_type = int;
    int first = 0;
    int last = 0;  // one after the last number
    bool broken = false;

    static stretch identity() { return {}; }
    template <class S>
    static stretch of(const S& s)
    {
        return {s.value, s.value + 1};
    }
    static stretch combine(const stretch& a, const stretch& b)
    {
        if (a.first == a.last) return {b.first, b.last, a.broken || b.broken};
        if (b.first == b.last) return {a.first, a.last, a.broken || b.broken};
        return {a.first, b.last, a.broken || b.broken || a.last != b.first};
    }
    friend bool operator==(const stretch&, const stretch&) = default;
};

using ring = sample_ring<sample<int>, stretch>;

// An explicit instantiation may name private members.
struct marks {
    std::uint64_t older, steps, half, l, a;
    stretch middle, newer;
};
marks marks_of(const worst_case<stretch>& w);

template <auto Older, auto Steps, auto Half, auto L, auto A, auto Middle, auto Newer>
struct key {
    friend marks marks_of(const worst_case<stretch>& w)
    {
        return {w.*Older, w.*Steps, w.*Half, w.*L, w.*A, w.*Middle, w.*Newer};
    }
};
template struct key<&worst_case<stretch>::older_count_, &worst_case<stretch>::steps_left_,
                    &worst_case<stretch>::half_, &worst_case<stretch>::l_place_,
                    &worst_case<stretch>::a_place_, &worst_case<stretch>::middle_,
                    &worst_case<stretch>::newer_>;

// The measure of the samples from the n-th oldest on.
stretch of(const ring& r, std::uint64_t from, std::uint64_t to)
{
    stretch s;
    for (std::uint64_t n = from; n != to; ++n) s = stretch::combine(s, stretch::of(r[n]));
    return s;
}
const stretch& beside(const ring& r, std::uint64_t n)
{
    return r.measure_at(r.place_of(n));
}

bool holds(const ring& r, const worst_case<stretch>& w)
{
    const auto [b, steps, half, left, down, middle, newer] = marks_of(w);
    const std::uint64_t between = steps > half ? steps - half : 0;
    const std::uint64_t done = steps > half ? half - between : steps;
    const std::uint64_t e = r.measured();
    if (w.older_count() != b || b > e || 2 * between + done > b) return false;
    const std::uint64_t a = b - done;
    const std::uint64_t right = a - between;
    const std::uint64_t l = right - between;     // both are used up together
    if (b == 0 && e != 0) return false;          // something older, if there is anything
    if (b != 0 && l != e - b + 1) return false;  // and before the newer part is as long
    if (between != 0 && (left != r.place_of(l) || down != r.place_of(a))) return false;
    for (std::uint64_t n = 0; n != l; ++n) {
        if (!(beside(r, n) == of(r, n, b))) return false;
    }
    for (std::uint64_t n = l; n != right; ++n) {
        if (!(beside(r, n) == of(r, n, right))) return false;
    }
    for (std::uint64_t n = a; n != b; ++n) {
        if (!(beside(r, n) == of(r, n, b))) return false;
    }
    return newer == of(r, b, e) && (between == 0 || middle == of(r, right, b));
}
bool holds(const ring& r, const amortised<stretch>& w)
{
    if (w.older_count() > r.measured()) return false;
    for (std::uint64_t n = 0; n != w.older_count(); ++n) {
        if (!(beside(r, n) == of(r, n, w.older_count()))) return false;
    }
    return true;
}

// With as little space as possible: it grows by one place, or by some.
template <class How>
void push(ring& r, How& how, int n)
{
    if (r.size() == r.room()) {
        const std::uint64_t first = r.first(), room = r.room();
        r.grow(room + 1 + static_cast<std::uint64_t>(n) % 3);
        how.moved(first, room);
    }
    r.push({{}, n});
}

struct enumeration {
    std::uint64_t orders = 0;
    std::uint64_t broken = 0;
};

template <class How>
void all_orders(const ring& r, const How& how, int next, int left, enumeration& done)
{
    ++done.orders;
    const stretch all = how.all(r);
    if (!(all == of(r, 0, r.size())) || all.broken || !holds(r, how)) ++done.broken;
    if (left == 0) return;
    {
        ring more = r;
        How same = how;
        push(more, same, next);
        same.add(more, more.newest());
        all_orders(more, same, next + 1, left - 1, done);
    }
    if (!r.empty()) {
        ring fewer = r;
        How same = how;
        same.forget(fewer, 1);
        all_orders(fewer, same, next, left - 1, done);
    }
}

// From a window that was recomputed with this number of samples.
template <class How>
enumeration from(int samples, int left)
{
    ring r;
    How how;
    for (int n = 0; n != samples; ++n) push(r, how, n);
    how.recompute(r);
    enumeration done;
    all_orders(r, how, samples, left, done);
    return done;
}

}  // namespace

TEST_CASE_TEMPLATE(
    "worst_case: every order of 18 insertions and removals is "
    "exact",
    How, worst_case<stretch>, amortised<stretch>)
{
    const enumeration done = from<How>(0, 18);
    CHECK(done.broken == 0);
    CHECK(done.orders == 99'295);  // all that never remove from an empty window
    MESSAGE(done.orders, " orders");
}

TEST_CASE_TEMPLATE("worst_case: every order of 11 steps after a restart is exact", How,
                   worst_case<stretch>, amortised<stretch>)
{
    std::uint64_t orders = 0;
    for (int samples = 0; samples != 21; ++samples) {
        const enumeration done = from<How>(samples, 11);
        CHECK(done.broken == 0);
        orders += done.orders;
    }
    MESSAGE(orders, " orders");
}

TEST_CASE_TEMPLATE("worst_case: long runs with any rates of insertion and removal are exact", How,
                   worst_case<stretch>, amortised<stretch>)
{
    std::uint64_t broken = 0;
    for (int come = 1; come != 6; ++come) {
        for (int go = 1; go != 8; ++go) {
            ring r;
            How how;
            int next = 0;
            for (int n = 0; n != 60; ++n) {
                for (int i = 0; i != come; ++i) {
                    push(r, how, next++);
                    how.add(r, r.newest());
                }
                if (r.size() < 10) continue;
                const std::uint64_t most = go == 7 ? r.size() : static_cast<std::uint64_t>(go);
                how.forget(r, most < r.size() ? most : r.size());
                if (!(how.all(r) == of(r, 0, r.size())) || !holds(r, how)) ++broken;
            }
        }
    }
    CHECK(broken == 0);
}

}  // namespace worst_case_test
