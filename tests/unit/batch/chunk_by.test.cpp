// SPDX-License-Identifier: MIT

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <forward_list>
#include <functional>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <support/static_check.hpp>

#include <waybill/batch/chunk_by.hpp>

namespace chunk_by_test {

using waybill::batch_close_reason;
using waybill::batch_limits;
using waybill::chunk;
using waybill::chunk_by;
using waybill::front_chunk;
using waybill::unlimited;
using waybill::detail::sizer;

struct letter {
    std::string_view body;
    int declared = 0;

    constexpr std::size_t bytes() const { return body.size(); }
};

struct parcel : letter {};

constexpr std::uint64_t wire_size(const letter& l)
{
    return 8 + l.body.size();
}

struct itself {
    constexpr auto operator()(std::integral auto n) const { return n; }
};

/// Two brackets, and a comma before each element but the first.
struct array_of {
    struct state {
        bool any = false;
        friend bool operator==(const state&, const state&) = default;
    };
    constexpr std::uint64_t envelope(int) const { return 2; }
    constexpr std::uint64_t delta(const state& s, int n) const
    {
        return waybill::detail::saturating_add(waybill::detail::as_size(n), s.any ? 1 : 0);
    }
    constexpr void push(state& s, int) const { s.any = true; }
};

/// A size function that is a framing by name only.
struct plainly {
    struct state {
        friend bool operator==(const state&, const state&) = default;
    };
    constexpr std::uint64_t envelope(std::integral auto) const { return 0; }
    constexpr auto delta(const state&, std::integral auto n) const { return n; }
    constexpr void push(state&, std::integral auto) const {}
};

// Checks all guarantees for any input. Returns one line a chunk, for comparisons.
template <class Items, class F>
constexpr bool promises(Items& items, const batch_limits& l, F size)
{
    auto expected = std::begin(items);
    const auto end = std::end(items);
    const std::uint64_t most = l.items == 0 ? 1 : l.items;
    auto range = chunk_by(items, l, size);
    bool over = expected == end;
    for (auto part : range) {
        if (over || part.empty() || part.first != expected) return false;
        std::uint64_t sum = l.envelope;
        std::uint64_t count = 0;
        bool each = true;
        for (auto&& item : part) {
            const std::uint64_t own = waybill::detail::as_size(size(item));
            each = each && own <= l.single;
            sum = waybill::detail::saturating_add(sum, own);
            ++count;
        }
        if (part.bytes != sum || part.count != count || count > most) return false;
        const bool fits = each && sum <= l.bytes && sum != unlimited;
        if (part.fits != fits || (!fits && count != 1)) return false;
        expected = part.last;
        over = expected == end;
        // The next item shows the reason for the end of the chunk.
        if (!fits) {
            if (part.closed != batch_close_reason::bytes) return false;
        } else if (over) {
            if (part.closed != batch_close_reason::end) return false;
        } else if (count == most) {
            if (part.closed != batch_close_reason::items) return false;
        } else {
            const std::uint64_t next = waybill::detail::as_size(size(*expected));
            const std::uint64_t with = waybill::detail::saturating_add(sum, next);
            if (next <= l.single && with <= l.bytes && with != unlimited) return false;
            if (part.closed != batch_close_reason::bytes) return false;
        }
    }
    return over;
}

// The same for all limits around the occurring sizes, including useless ones.
template <class Items, class F>
constexpr bool promises_all_around(Items& items, F size)
{
    for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{9},
                                      std::uint64_t{10}, std::uint64_t{11}, unlimited}) {
        for (const std::uint64_t most :
             {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, unlimited}) {
            for (const std::uint64_t single : {std::uint64_t{0}, std::uint64_t{3}, unlimited}) {
                for (const std::uint64_t envelope :
                     {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{10}, unlimited}) {
                    const batch_limits l{bytes, most, single, envelope};
                    if (!promises(items, l, size)) return false;
                }
            }
        }
    }
    return true;
}

static_assert([] {
    constexpr std::array sizes{5, 3, 8, 1, 1, 2, 1, 0, 0, 11, 10, 9, -1, 4};
    return promises_all_around(sizes, itself{});
}());

STATIC_CHECK([] {
    constexpr int one[] = {4};
    std::vector<int> none;
    return promises_all_around(one, itself{}) && promises_all_around(none, itself{});
}());

// The largest sizes: nothing overflows and counts as fitting.
static_assert([] {
    constexpr std::array<std::uint64_t, 6> sizes{unlimited,     unlimited - 1, 1,
                                                 unlimited - 1, unlimited / 2, unlimited / 2 + 1};
    return promises_all_around(sizes, itself{});
}());

TEST_CASE("chunk_by: the guarantees hold without random access")
{
    std::list<int> sizes{5, 3, 8, 1, 1, 2, 1, 0, 0, 11, 10, 9, -1, 4};
    CHECK(promises_all_around(sizes, itself{}));
    const std::forward_list<std::uint64_t> wide{unlimited, unlimited - 1, 1, unlimited - 1};
    CHECK(promises_all_around(wide, itself{}));
}

using lengths = std::vector<std::vector<int>>;

template <class Items, class F>
lengths cuts(Items& items, const batch_limits& l, F size)
{
    lengths all;
    for (auto part : chunk_by(items, l, size)) {
        auto& one = all.emplace_back();
        for (auto&& item : part) one.push_back(static_cast<int>(size(item)));
    }
    return all;
}

TEST_CASE("chunk_by: equals the examples of constrained_batches in more-itertools")
{
    const std::vector<std::string> words{"12345", "123", "12345678", "1", "1", "12", "1"};
    const auto length = [](const std::string& s) { return s.size(); };
    CHECK(cuts(words, {.bytes = 10}, length) == lengths{{5, 3}, {8, 1, 1}, {2, 1}});
    CHECK(cuts(words, {.bytes = 10, .items = 2}, length) == lengths{{5, 3}, {8, 1}, {1, 2}, {1}});

    const std::vector<std::string> oversize{"aaaa", "", "b"};
    CHECK(cuts(oversize, {.bytes = 3}, length) == lengths{{4}, {0, 1}});

    // In more-itertools a count of 0 means "unlimited" by accident. Here only `unlimited` does.
    CHECK(cuts(words, {.items = 0}, length).size() == words.size());
}

TEST_CASE("chunk_by: each chunk contains its size and its close reason")
{
    const std::vector<int> sizes{40, 40, 40, 10, 10, 10, 200, 5};
    using part_of = chunk<std::vector<int>::const_iterator>;
    std::vector<part_of> parts;
    for (auto part : chunk_by(sizes, {.bytes = 100, .items = 3, .envelope = 20}, itself{})) {
        parts.push_back(part);
    }
    const auto at = [&](int n) { return sizes.begin() + n; };
    REQUIRE(parts.size() == 5);
    CHECK(parts[0] == part_of{at(0), at(2), 100, 2, true, batch_close_reason::bytes});
    CHECK(parts[1] == part_of{at(2), at(5), 80, 3, true, batch_close_reason::items});
    CHECK(parts[2] == part_of{at(5), at(6), 30, 1, true, batch_close_reason::bytes});
    CHECK(parts[3] == part_of{at(6), at(7), 220, 1, false, batch_close_reason::bytes});
    CHECK(parts[4] == part_of{at(7), at(8), 25, 1, true, batch_close_reason::end});
}

TEST_CASE("chunk_by: an oversized item is a chunk of its own and takes no space from other items")
{
    const std::vector<int> sizes{1, 2, 500, 3, 4};
    std::vector<std::uint64_t> bytes;
    std::vector<bool> fits;
    std::vector<batch_close_reason> closed;
    for (auto part : chunk_by(sizes, {.bytes = 100, .envelope = 7}, itself{})) {
        bytes.push_back(part.bytes);
        fits.push_back(part.fits);
        closed.push_back(part.closed);
    }
    CHECK(bytes == std::vector<std::uint64_t>{10, 507, 14});
    CHECK(fits == std::vector<bool>{true, false, true});
    CHECK(closed == std::vector<batch_close_reason>{batch_close_reason::bytes,
                                                    batch_close_reason::bytes,
                                                    batch_close_reason::end});

    // The limit of a single item has the same effect, even if the batch has space left.
    CHECK(cuts(sizes, {.single = 100}, itself{}) == lengths{{1, 2}, {500}, {3, 4}});
    const auto alone = *std::next(chunk_by(sizes, {.single = 100}, itself{}).begin());
    CHECK_FALSE(alone.fits);
    CHECK(alone.bytes == 500);
}

TEST_CASE("chunk_by: a negative size is too large, even without limits")
{
    const std::vector<int> sizes{1, -1, 2};
    CHECK(cuts(sizes, {}, itself{}) == lengths{{1}, {-1}, {2}});
    const auto range = chunk_by(sizes, {}, itself{});
    const auto error = *std::next(range.begin());
    CHECK_FALSE(error.fits);
    CHECK(error.bytes == unlimited);
}

TEST_CASE("chunk_by: accepts any container, constant or not, and any part of one")
{
    std::vector<int> vector{5, 3, 8, 1, 1, 2, 1};
    const lengths expected{{5, 3}, {8, 1, 1}, {2, 1}};
    const batch_limits ten{.bytes = 10};
    const itself size;

    CHECK(cuts(vector, ten, size) == expected);
    CHECK(cuts(std::as_const(vector), ten, size) == expected);
    std::list<int> list(vector.begin(), vector.end());
    CHECK(cuts(list, ten, size) == expected);
    const std::forward_list<int> forward(vector.begin(), vector.end());
    CHECK(cuts(forward, ten, size) == expected);
    std::deque<int> deque(vector.begin(), vector.end());
    CHECK(cuts(deque, ten, size) == expected);
    int array[] = {5, 3, 8, 1, 1, 2, 1};
    CHECK(cuts(array, ten, size) == expected);
    const std::span<const int> view(vector);
    CHECK(cuts(view, ten, size) == expected);

    const std::map<int, std::string> map{{1, "12345"}, {2, "123"}, {3, "12345678"}, {4, "1"}};
    CHECK(cuts(map, ten, [](const auto& entry) { return entry.second.size(); }) ==
          lengths{{5, 3}, {8, 1}});
    std::set<int> set{1, 2, 3, 7};
    CHECK(cuts(set, ten, size) == lengths{{1, 2, 3}, {7}});
    std::string text = "a line and another one";
    CHECK(cuts(text, {.bytes = 7}, [](char) { return 1; }).size() == 4);
    std::vector<bool> flags(10, true);
    CHECK(cuts(flags, {.bytes = 4}, [](bool flag) { return flag ? 2 : 1; }).size() == 5);
    std::vector<std::unique_ptr<int>> owners;
    owners.push_back(std::make_unique<int>(6));
    owners.push_back(std::make_unique<int>(6));
    CHECK(cuts(owners, ten, [](const std::unique_ptr<int>& p) { return *p; }) == lengths{{6}, {6}});

    const auto tail = chunk_by(vector.begin() + 2, vector.end(), ten, size);
    CHECK((*tail.begin()).first == vector.begin() + 2);

    for (auto part : chunk_by(vector, ten, size)) {
        for (int& n : part) n = 0;
    }
    CHECK(vector == std::vector<int>(7, 0));
}

// A sequence whose last item is a mark has a sentinel of another type.
struct until_zero {
    friend constexpr bool operator==(const int* at, until_zero) { return *at == 0; }
};

static_assert([] {
    constexpr int sizes[] = {5, 3, 8, 1, 0};
    int parts = 0;
    for (auto part : chunk_by(&sizes[0], until_zero{}, {.bytes = 10}, itself{})) {
        parts += part.fits ? 1 : 0;
    }
    return parts == 2;
}());

TEST_CASE("chunk_by: a size may be a function, a lambda, a functor or a member")
{
    std::vector<letter> inbox{{"12345", 4}, {"123", 4}, {"12345678", 4}};
    const batch_limits l{.bytes = 20};
    const auto count = [&](auto size) {
        int parts = 0;
        for ([[maybe_unused]] auto part : chunk_by(inbox, l, size)) ++parts;
        return parts;
    };
    const int header = 8;
    CHECK(count(wire_size) == 3);
    CHECK(count(&wire_size) == 3);
    CHECK(count([=](const letter& m) { return header + static_cast<int>(m.body.size()); }) == 3);
    CHECK(count(&letter::bytes) == 1);
    CHECK(count(&letter::declared) == 1);

    std::vector<std::string> lines{"12345", "123", "12345678"};
    int parts = 0;
    for (auto part : chunk_by(lines, {.bytes = 10}, &std::string::size)) parts += part.fits ? 1 : 0;
    CHECK(parts == 2);
}

static_assert(sizer<std::uint64_t (*)(const letter&), const letter&>);
static_assert(sizer<decltype(&letter::bytes), const letter&>);
static_assert(sizer<decltype(&letter::bytes), letter&>);
static_assert(sizer<decltype(&letter::declared), const letter&>);
static_assert(sizer<decltype(&letter::bytes), const parcel&>, "a member of a base");
static_assert(!sizer<decltype(&letter::body), const letter&>, "no integer");
static_assert(!sizer<decltype(&letter::bytes), const int&>);
static_assert(!sizer<int, const letter&>);
static_assert(!sizer<bool (*)(const letter&), const letter&>, "whether is not how large");
static_assert(!sizer<double (*)(const letter&), const letter&>);

struct changing {
    int operator()(const letter&) { return ++n; }
    int n = 0;
};
static_assert(!sizer<changing, const letter&>, "asking must change nothing");

TEST_CASE("chunk_by: each item is measured once a pass, and not before its chunk is cut")
{
    std::vector<int> sizes(1'000, 7);
    sizes[500] = 70'000;
    int asked = 0;
    const auto size = [&asked](int n) {
        ++asked;
        return n;
    };
    for (const batch_limits l :
         {batch_limits{.bytes = 100}, batch_limits{.items = 8},
          batch_limits{.bytes = 100, .items = 3}, batch_limits{.single = 50}, batch_limits{}}) {
        asked = 0;
        const auto range = chunk_by(sizes, l, size);
        CHECK(asked == 0);
        const auto first = range.begin();
        CHECK(static_cast<std::uint64_t>(asked) <= first->count + 1);
        asked = 0;
        std::uint64_t items = 0;
        for (auto part : range) items += part.count;
        CHECK(items == 1'000);
        CHECK(asked == 1'000);
    }
}

TEST_CASE("front_chunk: limits may differ between calls")
{
    const std::vector<int> sizes{5, 5, 5, 5, 5, 5};
    auto part = front_chunk(sizes.begin(), sizes.end(), {.bytes = 15}, itself{});
    CHECK(part.count == 3);
    CHECK(part.closed == batch_close_reason::bytes);
    part = front_chunk(part.last, sizes.end(), {.bytes = 10}, itself{});
    CHECK(part.count == 2);
    part = front_chunk(part.last, sizes.end(), {.bytes = 4}, itself{});
    CHECK(part.count == 1);
    CHECK_FALSE(part.fits);
    part = front_chunk(part.last, sizes.end(), {.bytes = 4}, itself{});
    CHECK(part.empty());
    CHECK(part.fits);
}

TEST_CASE(
    "chunk_by: with a lambda that is not assignable, the iterators are still forward "
    "iterators")
{
    std::vector<int> sizes{1, 2, 3, 4, 5};
    int most = 4;
    const auto size = [&most](int n) { return n < most ? n : most; };
    static_assert(!std::is_copy_assignable_v<decltype(size)>);
    auto range = chunk_by(sizes, {.bytes = 5}, size);
    static_assert(std::ranges::forward_range<decltype(range)>);
    static_assert(std::ranges::forward_range<const decltype(range)>);
    static_assert(std::forward_iterator<decltype(range.begin())>);

    auto it = range.begin();
    const auto kept = it;
    CHECK(it == kept);
    CHECK(it->count == 2);
    const auto before = it++;
    CHECK(before == kept);
    CHECK(it != kept);
    CHECK(it->first == sizes.begin() + 2);
    it = kept;
    CHECK(it == range.begin());
    CHECK(std::ranges::distance(range) == 4);
    CHECK(std::ranges::distance(range) == 4);
    decltype(it) blank;
    blank = std::next(kept, 4);
    CHECK(blank == range.end());
}

TEST_CASE("chunk_by: a loop sends the chunks that fit and stores oversized items")
{
    std::vector<letter> inbox(10'000, letter{"an order"});
    inbox[77].body = std::string_view("0123456789");
    std::uint64_t sent = 0;
    int stored = 0;
    const auto send = [&sent](const auto& part) { sent += part.count; };
    const auto store_elsewhere = [&stored](const letter&) { ++stored; };
    const auto wire_size = [](const letter& l) {
        return l.body.size() == 10 ? 300'000 : static_cast<int>(l.body.size());
    };
    for (auto part :
         waybill::chunk_by(inbox, {.bytes = 262'144, .items = 4'500, .envelope = 512}, wire_size))
        part.fits ? send(part) : store_elsewhere(*part.begin());
    CHECK(sent == 9'999);
    CHECK(stored == 1);
}

// With a framing that is none the chunks are the same, on any container.
template <class Items>
constexpr bool same_by_framing(const Items& items)
{
    for (const std::uint64_t bytes :
         {std::uint64_t{0}, std::uint64_t{9}, std::uint64_t{10}, unlimited}) {
        for (const std::uint64_t most : {std::uint64_t{0}, std::uint64_t{2}, unlimited}) {
            for (const std::uint64_t single : {std::uint64_t{3}, unlimited}) {
                for (const std::uint64_t envelope :
                     {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{10}, unlimited}) {
                    const batch_limits l{bytes, most, single, envelope};
                    const auto range = chunk_by(items, l, plainly{});
                    auto framed = range.begin();
                    for (auto part : chunk_by(items, l, itself{})) {
                        const auto front = front_chunk(part.first, items.end(), l, plainly{});
                        if (*framed != part || front != part) return false;
                        ++framed;
                    }
                    if (framed != range.end()) return false;
                }
            }
        }
    }
    return true;
}

static_assert(same_by_framing(std::array{5, 3, 8, 1, 1, 2, 1, 0, 0, 11, 10, 9, -1, 4}));
static_assert(same_by_framing(std::array<std::uint64_t, 6>{
    unlimited, unlimited - 1, 1, unlimited - 1, unlimited / 2, unlimited / 2 + 1}));
static_assert(same_by_framing(std::array<int, 0>{}));

// Commas count between the items of one batch, and not before the next.
static_assert([] {
    constexpr std::array sizes{3, 3, 2, 9, 8, -1, 1};
    using part_of = chunk<const int*>;
    const part_of expected[] = {
        {&sizes[0], &sizes[2], 9, 2, true, batch_close_reason::bytes},
        {&sizes[2], &sizes[3], 4, 1, true, batch_close_reason::bytes},
        {&sizes[3], &sizes[4], 11, 1, false, batch_close_reason::bytes},
        {&sizes[4], &sizes[5], 10, 1, true, batch_close_reason::bytes},
        {&sizes[5], &sizes[6], unlimited, 1, false, batch_close_reason::bytes},
        {&sizes[6], &sizes[6] + 1, 3, 1, true, batch_close_reason::end},
    };
    auto at = &expected[0];
    for (auto part :
         chunk_by(sizes.data(), sizes.data() + sizes.size(), {.bytes = 10}, array_of{})) {
        if (part != *at++) return false;
    }
    return at == &expected[0] + 6;
}());

static_assert([] {
    constexpr std::array sizes{1, 1, 1, 1, 1};
    const auto parts = chunk_by(sizes, {.items = 2}, array_of{});
    auto at = parts.begin();
    return at->closed == batch_close_reason::items && at->bytes == 5 &&
           (++at)->closed == batch_close_reason::items &&
           (++at)->closed == batch_close_reason::end && at->bytes == 3 && ++at == parts.end();
}());

TEST_CASE("chunk_by: accepts a framing for any container, also a temporary one")
{
    const std::list<int> list{3, 3, 2, 9};
    std::vector<std::uint64_t> bytes;
    for (auto part : chunk_by(list, {.bytes = 10}, array_of{})) bytes.push_back(part.bytes);
    CHECK(bytes == std::vector<std::uint64_t>{9, 4, 11});
    CHECK(same_by_framing(list));
    CHECK(same_by_framing(std::forward_list<int>{3, 1, 4, 1, 5, 9, 2, 6}));

    // The chunks live as long as the input. A framing that ends before has no effect.
    const auto range = chunk_by(list, {.bytes = 10}, array_of{});
    static_assert(std::forward_iterator<decltype(range.begin())>);
    CHECK(std::next(range.begin()) == ++range.begin());
    CHECK(front_chunk(list.begin(), list.end(), {.bytes = 10}, array_of{}) == *range.begin());
    CHECK(front_chunk(list.end(), list.end(), {.bytes = 10}, array_of{}).empty());
}

// Where the items are the sizes, a size function is not needed.
static_assert([] {
    constexpr std::array sizes{5, 3, 8, 1, 1, 2, 1, 0, 0, 11, 10, 9, -1, 4};
    return promises_all_around(sizes, std::identity{});
}());

template <class Items>
constexpr bool same_without(const Items& items, const batch_limits& l)
{
    const auto range = chunk_by(items.begin(), items.end(), l);
    auto bare = range.begin();
    for (auto part : chunk_by(items, l, itself{})) {
        if (*bare != part || front_chunk(part.first, items.end(), l) != part) return false;
        ++bare;
    }
    return bare == range.end();
}

TEST_CASE("chunk_by: integers need no size function")
{
    std::vector<int> sizes{5, 3, 8, 1, 1, 2, 1};
    std::vector<std::uint64_t> counts;
    for (auto part : chunk_by(sizes, {.bytes = 10})) counts.push_back(part.count);
    CHECK(counts == std::vector<std::uint64_t>{2, 3, 2});
    for (auto part : chunk_by(sizes, {.bytes = 10})) {
        for (int& n : part) n = 0;
    }
    CHECK(sizes == std::vector<int>(7, 0));

    // Long runs, as long as it takes for blocks and more; with something large at every place.
    for (std::size_t place = 0; place != 1'000; ++place) {
        std::vector<std::uint32_t> many(1'000, 10);
        many[place] = place % 2 == 0 ? 60'000 : 9'999;
        REQUIRE(same_without(many, {.bytes = 10'000}));
        REQUIRE(same_without(many, {.bytes = 4'321, .items = 300, .envelope = 20}));
        REQUIRE(same_without(many, {.bytes = 20'000, .single = 9'999}));
        REQUIRE(same_without(many, {.bytes = 20'000, .single = 9'998}));
        REQUIRE(same_without(many, {.items = 130}));
        REQUIRE(same_without(many, {.bytes = 0}));
        REQUIRE(same_without(many, {}));
    }
    CHECK(same_without(std::deque<int>(500, 3), {.bytes = 1'000}));
    CHECK(same_without(std::list<int>(500, 3), {.bytes = 1'000}));
}

// Chunks are ranges for the algorithms of std::ranges and for the older ones.
TEST_CASE("chunk_by: std::ranges algorithms work on chunks and on their items")
{
    const std::vector<int> sizes{5, 3, 8, 1, 1, 2, 1, 20};
    const auto range = chunk_by(sizes, {.bytes = 10});
    using range_type = decltype(range);
    static_assert(std::ranges::forward_range<range_type>);
    static_assert(!std::ranges::bidirectional_range<range_type>);
    static_assert(std::ranges::random_access_range<std::ranges::range_value_t<range_type>>);
    static_assert(std::ranges::sized_range<std::ranges::range_value_t<range_type>>);

    CHECK(std::ranges::distance(range) == 4);
    CHECK(std::ranges::count_if(range, [](const auto& part) { return part.fits; }) == 3);
    std::uint64_t bytes = 0;
    std::ranges::for_each(range, [&bytes](const auto& part) { bytes += part.bytes; });
    CHECK(bytes == 41);
    std::vector<std::uint64_t> counts(4);
    std::ranges::transform(range, counts.begin(), [](const auto& part) { return part.size(); });
    CHECK(counts == std::vector<std::uint64_t>{2, 3, 2, 1});
    const auto lone = std::ranges::find_if(range, [](const auto& part) { return !part.fits; });
    CHECK(*lone->begin() == 20);
    CHECK(std::ranges::all_of(range, [](const auto& part) {
        return std::ranges::distance(part) == static_cast<std::ptrdiff_t>(part.count);
    }));
    const auto largest = *std::ranges::next(range.begin());
    CHECK(*std::ranges::max_element(largest) == 8);
    CHECK(std::accumulate(largest.begin(), largest.end(), 0) == 10);
    CHECK(std::ranges::equal(range, range));

    std::vector<int> copied;
    for (auto part : range) std::ranges::copy(part, std::back_inserter(copied));
    CHECK(copied == sizes);
    std::vector<chunk<std::vector<int>::const_iterator>> kept;
    std::ranges::copy(range, std::back_inserter(kept));
    CHECK(kept.size() == 4);
    CHECK(kept[1].bytes == 10);
}

// A temporary container and a wrong size function are refused with a sentence (compile_fail/). The
// result of chunk_by shows the first; the second is a requirement on the size function.
template <class Items, class... F>
using cut = decltype(chunk_by(std::declval<Items>(), batch_limits{}, std::declval<const F&>()...));
template <class Items, class... F>
concept cut_as_temporary =
    std::same_as<cut<Items, F...>, waybill::detail::chunks_of_temporary<std::remove_cv_t<Items>>>;
static_assert(!cut_as_temporary<std::vector<int>&> && !cut_as_temporary<const std::vector<int>&>);
static_assert(cut_as_temporary<std::vector<int>> && cut_as_temporary<const std::vector<int>>);
static_assert(!cut_as_temporary<std::vector<int>&, itself>);
static_assert(cut_as_temporary<std::vector<int>, itself>);
static_assert(cut_as_temporary<const std::vector<int>, itself>);
static_assert(!cut_as_temporary<std::vector<int>&, array_of>);
static_assert(cut_as_temporary<std::vector<int>, array_of>);

template <class Items, class F = std::identity>
concept cut_by = waybill::detail::size_model<F, decltype(*std::declval<Items&>().begin())>;
static_assert(cut_by<std::vector<int>> && cut_by<std::list<std::uint64_t>>);
static_assert(cut_by<std::vector<int>, itself> && cut_by<const std::vector<int>, itself>);
static_assert(!cut_by<std::vector<std::string>>, "a string is not its own size");
static_assert(!cut_by<std::vector<bool>> && !cut_by<std::vector<double>>);
static_assert(cut_by<std::vector<int>, array_of> && !cut_by<std::vector<std::string>, array_of>);

}  // namespace chunk_by_test
