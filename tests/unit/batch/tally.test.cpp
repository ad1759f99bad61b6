// SPDX-License-Identifier: MIT

#include <cstdint>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/batch/detail/tally.hpp>

namespace tally_test {

using waybill::add_result;
using waybill::batch_close_reason;
using waybill::batch_limits;
using waybill::detail::envelope_of;
using waybill::detail::highest_size;
using waybill::detail::size_alone;

struct own_size {
    constexpr int operator()(int n) const { return n; }
};
using plain = waybill::detail::plain_framing<own_size>;

/// The envelope is ten times the first item; each item takes one more than the previous one.
struct growing {
    struct state {
        std::uint64_t count = 0;
        friend bool operator==(const state&, const state&) = default;
    };

    constexpr int envelope(int first) const { return 10 * first; }
    constexpr std::uint64_t delta(const state& s, int n) const
    {
        return waybill::detail::as_size(n) + s.count;
    }
    constexpr void push(state& s, int) const { ++s.count; }
};

static_assert(name(add_result::added) == "added");
static_assert(name(add_result::full) == "full");
static_assert(name(add_result::too_large) == "too_large");
static_assert(name(static_cast<add_result>(77)) == "?");

static_assert(size_alone({.envelope = 5}, growing{}, 3) == 38);
static_assert(envelope_of({.envelope = 5}, growing{}, 3) == 35);
static_assert(envelope_of({.envelope = 5}, growing{}, -3) == highest_size);
static_assert(size_alone({.envelope = highest_size}, plain{}, 3) == highest_size);

// The three results, the bytes, and the reason for full.
static_assert([] {
    const batch_limits l{.bytes = 10, .envelope = 2};
    waybill::detail::tally<plain> t;
    if (t.add(l, {}, 5) != add_result::added || t.bytes != 7 || t.items != 1 || t.full)
        return false;
    if (t.add(l, {}, 9) != add_result::too_large || t.full) return false;
    if (t.add(l, {}, 3) != add_result::added || t.bytes != 10 || t.full) return false;
    if (t.add(l, {}, 1) != add_result::full || t.closed != batch_close_reason::bytes) return false;
    // A small item does not overtake a waiting one, and a large item is still too large.
    if (t.add(l, {}, 0) != add_result::full || t.add(l, {}, 9) != add_result::too_large)
        return false;
    return t.bytes == 10 && t.items == 2;
}());

static_assert([] {
    const batch_limits l{.bytes = 10, .items = 2};
    waybill::detail::tally<plain> t;
    if (t.add(l, {}, 1) != add_result::added || t.full) return false;
    if (t.add(l, {}, 1) != add_result::added || !t.full || t.closed != batch_close_reason::items)
        return false;
    return t.add(l, {}, 1) == add_result::full && t.add(l, {}, 11) == add_result::too_large &&
           t.closed == batch_close_reason::items && t.bytes == 2;
}());

// An item that is too large does not change an empty batch.
static_assert([] {
    waybill::detail::tally<growing> t;
    return t.add({.bytes = 10}, {}, 1) == add_result::too_large &&
           t == waybill::detail::tally<growing>{} &&
           t.add({.single = 4}, {}, 5) == add_result::too_large &&
           t == waybill::detail::tally<growing>{} && t.add({}, {}, -1) == add_result::too_large &&
           t == waybill::detail::tally<growing>{} &&
           t.add({.envelope = highest_size}, {}, 0) == add_result::too_large &&
           t == waybill::detail::tally<growing>{};
}());

// By position: an item that is too large in one place may fit in another.
static_assert([] {
    const batch_limits l{.bytes = 100, .single = 4};
    waybill::detail::tally<growing> t;
    if (t.add(l, {}, 3) != add_result::added || t.bytes != 33) return false;
    if (t.add(l, {}, 3) != add_result::added || t.bytes != 37) return false;
    if (t.add(l, {}, 3) != add_result::full || t.closed != batch_close_reason::bytes)
        return false;  // 5 here
    t = {};
    if (t.add(l, {}, 3) != add_result::added) return false;
    t = {};
    if (t.add({.bytes = 30}, {}, 2) != add_result::added) return false;
    return t.add({.bytes = 30}, {}, 3) == add_result::added &&    // alone it would take 33
           t.add({.bytes = 30}, {}, 3) == add_result::too_large;  // here it would take 5
}());

// Limits that change between two items count from then on.
static_assert([] {
    waybill::detail::tally<plain> t;
    for (int i = 0; i != 3; ++i) (void)t.add({}, {}, 1);
    if (t.add({.items = 3}, {}, 1) != add_result::full || t.closed != batch_close_reason::items)
        return false;
    t = {};
    if (t.add({.bytes = 100}, {}, 50) != add_result::added) return false;
    return t.add({.bytes = 50}, {}, 1) == add_result::full && t.bytes == 50;
}());

// Nothing overflows, and no limit of items is a limit of one.
static_assert([] {
    using wide = waybill::detail::plain_framing<std::uint64_t (*)(std::uint64_t)>;
    const wide f{[](std::uint64_t n) { return n; }};
    constexpr std::uint64_t none = 0;
    constexpr std::uint64_t one = 1;
    waybill::detail::tally<wide> t;
    if (t.add({}, f, highest_size) != add_result::too_large) return false;
    constexpr std::uint64_t most = highest_size - 1;
    if (t.add({}, f, most) != add_result::added || t.bytes != most) return false;
    if (t.add({}, f, none) != add_result::added) return false;
    if (t.add({}, f, one) != add_result::full || t.bytes != most) return false;
    t = {};
    return t.add({.items = 0}, f, one) == add_result::added && t.full && t.items == 1;
}());

static_assert([] {
    waybill::detail::tally<plain> t;
    t.close(batch_close_reason::key);
    return t.full && t.closed == batch_close_reason::key && t.add({}, {}, 1) == add_result::full &&
           t.closed == batch_close_reason::key && t.items == 0;
}());

struct asking {
    struct state {
        int count = 0;
        friend bool operator==(const state&, const state&) = default;
    };

    int envelope(int) const { return 0; }
    int delta(const state&, int n) const
    {
        ++*asked;
        return n;
    }
    void push(state& s, int) const { ++s.count; }

    int* asked = nullptr;
};

TEST_CASE("tally: a framing is called once for an item that fits, and twice for one that does not")
{
    int asked = 0;
    const batch_limits l{.bytes = 10};
    waybill::detail::tally<asking> t;
    CHECK(t.add(l, asking{&asked}, 6) == add_result::added);
    CHECK(asked == 1);
    CHECK(t.add(l, asking{&asked}, 5) == add_result::full);
    CHECK(asked == 3);
    CHECK(t.add(l, asking{&asked}, 1) == add_result::full);
    CHECK(asked == 4);

    // A size function gives the same size in every place, and is called once.
    asked = 0;
    const auto size = [&asked](int n) {
        ++asked;
        return n;
    };
    const waybill::detail::plain_framing<decltype(size)> f{size};
    waybill::detail::tally<waybill::detail::plain_framing<decltype(size)>> p;
    CHECK(p.add(l, f, 6) == add_result::added);
    CHECK(p.add(l, f, 5) == add_result::full);
    CHECK(asked == 2);
}

}  // namespace tally_test
