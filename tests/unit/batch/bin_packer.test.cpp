// SPDX-License-Identifier: MIT

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/batch/bin_packer.hpp>
#include <waybill/batch/framing.hpp>
#include <waybill/batch/open_batch.hpp>

namespace packing_test {

using waybill::add_result;
using waybill::batch_close_reason;
using waybill::batch_limits;
using waybill::bin_packer;
using waybill::closed_batch;
using waybill::duration;
using waybill::pack;
using waybill::steady_time;
using waybill::unlimited;
using namespace std::chrono_literals;

namespace {

constexpr steady_time at(std::int64_t s)
{
    return steady_time::at(duration::seconds(s));
}

// An item is its own size.
using numbers = bin_packer<std::uint64_t>;
using taken = closed_batch<std::uint64_t>;
using places = std::vector<std::size_t>;
std::uint64_t itself(const std::uint64_t& n)
{
    return n;
}

// An item after the first brings a comma.
struct list_of_numbers {
    struct state {
        bool any = false;
        friend bool operator==(const state&, const state&) = default;
    };
    constexpr std::uint64_t envelope(const std::uint64_t&) const { return 2; }
    constexpr std::uint64_t delta(const state& s, const std::uint64_t& n) const
    {
        return n + (s.any ? 1 : 0);
    }
    constexpr void push(state& s, const std::uint64_t&) const { s.any = true; }
    friend bool operator==(const list_of_numbers&, const list_of_numbers&) = default;
};

static_assert(std::copyable<numbers> && std::regular<waybill::packed_bins>);
static_assert(std::equality_comparable<bin_packer<std::uint64_t, list_of_numbers>>);

}  // namespace

TEST_CASE("bin_packer: an item goes into the fullest bin with space for it")
{
    numbers b({.bytes = 100, .envelope = 10}, itself, {.open = 3});
    CHECK(b.empty());
    CHECK(b.try_add(50U, at(1)) == add_result::added);
    CHECK(b.try_add(60U, at(2)) == add_result::added);  // too large for the first
    CHECK(b.try_add(55U, at(3)) == add_result::added);  // nor in the second
    CHECK(b.open() == 3);
    CHECK(b.try_add(91U, at(4)) == add_result::too_large);
    CHECK(b.try_add(30U, at(4)) == add_result::added);  // fills the second
    // the third has less free space than the first
    CHECK(b.try_add(1U, at(4)) == add_result::added);
    CHECK(b.try_add(90U, at(4)) == add_result::full);
    CHECK(b.due(at(0)));
    CHECK(b.items() == 5);
    CHECK(b.take(at(5)) == taken{{60, 30}, 100, batch_close_reason::bytes, at(2)});
    CHECK(!b.due(at(5)));
    CHECK(b.try_add(90U, at(5)) == add_result::added);
    CHECK(b.take(at(6)) == taken{{90}, 100, batch_close_reason::end, at(5)});
    CHECK(b.take(at(6)) == taken{{55, 1}, 66, batch_close_reason::end, at(3)});
    CHECK(b.take(at(6)) == taken{{50}, 60, batch_close_reason::end, at(1)});
    CHECK(b.take(at(6)) == taken{});
    CHECK(b.items() == 0);

    // Of equals, the one that was opened first.
    numbers equal({.bytes = 10}, itself, {.open = 2});
    CHECK(equal.try_add(6U, at(2)) == add_result::added);
    CHECK(equal.try_add(6U, at(1)) == add_result::added);
    CHECK(equal.try_add(2U, at(3)) == add_result::added);
    CHECK(equal.try_add(2U, at(3)) == add_result::added);
    CHECK(equal.try_add(2U, at(3)) == add_result::added);
    numbers level = equal;
    CHECK(level.try_add(2U, at(3)) == add_result::added);
    CHECK(level.take(at(3)) == taken{{6, 2, 2}, 10, batch_close_reason::end, at(2)});
    CHECK(level.take(at(3)).opened == at(1));
    CHECK(equal.take(at(3)).items == std::vector<std::uint64_t>{6, 2, 2});
    CHECK(equal.take(at(3)).items == std::vector<std::uint64_t>{6, 2});
}

TEST_CASE("bin_packer: a bin full by count or past its deadline is taken before the fullest bin")
{
    numbers b({.bytes = 100, .items = 2}, itself, {.open = 3, .linger = 5s});
    CHECK(!b.deadline());
    CHECK(b.try_add(30U, at(10)) == add_result::added);
    CHECK(b.try_add(80U, at(11)) == add_result::added);
    CHECK(b.deadline() == at(15));
    CHECK(!b.due(at(14)));
    CHECK(!b.due(at(2)));
    CHECK(b.try_add(25U, at(12)) == add_result::added);
    CHECK(b.due(at(12)));
    CHECK(b.take(at(12)) == taken{{30, 25}, 55, batch_close_reason::items, at(10)});
    CHECK(b.deadline() == at(16));
    CHECK(b.try_add(90U, at(13)) == add_result::added);
    CHECK(b.take(at(16)) == taken{{80}, 80, batch_close_reason::deadline, at(11)});
    CHECK(b.try_add(95U, at(3)) == add_result::added);  // a clock that went back
    CHECK(b.deadline() == at(8));
    CHECK(b.take(at(8)) == taken{{95}, 95, batch_close_reason::deadline, at(3)});
    CHECK(b.take(at(17)).closed == batch_close_reason::end);

    numbers at_once({.bytes = 100}, itself, {.linger = 0s});
    CHECK(at_once.try_add(1U, at(7)) == add_result::added);
    CHECK(at_once.due(at(7)));
    numbers for_ever({.bytes = 100}, itself);
    CHECK(for_ever.try_add(1U, at(7)) == add_result::added);
    CHECK(!for_ever.due(steady_time::highest()));
    CHECK(!for_ever.deadline());
}

TEST_CASE("bin_packer: zero and unlimited limits, and negative sizes, are handled")
{
    for (const std::uint64_t n : {0U, 1U}) {
        numbers b({.items = n}, itself, {.open = n, .items = n});
        CHECK(b.try_add(5U, at(0)) == add_result::added);
        CHECK(b.due(at(0)));
        CHECK(b.try_add(5U, at(0)) == add_result::full);
        CHECK(b.take(at(0)) == taken{{5}, 5, batch_close_reason::items, at(0)});
        CHECK(b.try_add(5U, at(0)) == add_result::added);
    }
    numbers nothing({.bytes = 0, .items = 0, .single = 0}, itself);
    CHECK(nothing.try_add(1U, at(0)) == add_result::too_large);
    numbers single({.bytes = 10, .single = 4}, itself);
    CHECK(single.try_add(5U, at(0)) == add_result::too_large);
    CHECK(single.try_add(4U, at(0)) == add_result::added);
    CHECK(single.try_add(5U, at(0)) == add_result::too_large);
    numbers any({}, itself, {.open = 2});
    CHECK(any.try_add(unlimited, at(0)) == add_result::too_large);  // it has saturated
    CHECK(any.try_add(unlimited - 1, at(0)) == add_result::added);
    CHECK(any.try_add(1U, at(0)) == add_result::added);  // the sum would
    CHECK(any.open() == 2);
    bin_packer<int, int (*)(const int&)> negative({}, [](const int& n) { return n; });
    CHECK(negative.try_add(-1, at(0)) == add_result::too_large);
    CHECK(negative.try_add(1, at(0)) == add_result::added);
    CHECK(negative.try_add(-1, at(0)) == add_result::too_large);
    CHECK(negative.items() == 1);

    // All bins together have a limit of items, too.
    numbers few({.bytes = 10}, itself, {.open = 9, .items = 3});
    for (const std::uint64_t n : {6U, 7U, 5U}) CHECK(few.try_add(n, at(0)) == add_result::added);
    CHECK(few.try_add(1U, at(0)) == add_result::full);
    CHECK(few.take(at(0)) == taken{{7}, 7, batch_close_reason::items, at(0)});
    CHECK(few.try_add(1U, at(0)) == add_result::added);
}

TEST_CASE("bin_packer: moves from an item only if it is added; a copy is a snapshot")
{
    using owner = std::unique_ptr<std::string>;
    const auto size = [](const owner& o) -> std::uint64_t { return o->size(); };
    bin_packer<owner, decltype(size)> b({.bytes = 5}, size, {.open = 1});
    owner large = std::make_unique<std::string>("abcdef");
    CHECK(b.try_add(std::move(large), at(0)) == add_result::too_large);
    REQUIRE(large);
    owner small = std::make_unique<std::string>("abc");
    CHECK(b.try_add(std::move(small), at(0)) == add_result::added);
    CHECK(!small);
    owner next = std::make_unique<std::string>("xyz");
    CHECK(b.try_add(std::move(next), at(0)) == add_result::full);
    REQUIRE(next);
    CHECK(*b.take(at(0)).items.front() == "abc");
    CHECK(b.try_add(std::move(next), at(0)) == add_result::added);
    CHECK(!next);

    bin_packer<std::uint64_t, list_of_numbers> c({.bytes = 10}, {}, {.open = 2});
    CHECK(c.try_add(3U, at(0)) == add_result::added);
    auto copy = c;
    CHECK(copy == c);
    CHECK(copy.try_add(4U, at(0)) == add_result::added);
    CHECK(copy != c);
    CHECK(copy.take(at(0)) == taken{{3, 4}, 10, batch_close_reason::end, at(0)});
    CHECK(c.take(at(0)).bytes == 5);
}

TEST_CASE("bin_packer::of and pack: accept every size function that chunk_by accepts")
{
    const auto capturing = [h = std::uint64_t{2}](const std::string& s) { return h + s.size(); };
    // bin_packer<std::string> refuses it: compile_fail/batch.cpp.
    using plain_size = std::uint64_t (*)(const std::string&);
    static_assert(!std::convertible_to<decltype(capturing), plain_size>);
    auto bins = bin_packer<std::string>::of({.bytes = 10}, capturing, {.open = 2});
    CHECK(bins.try_add("123456", at(0)) == add_result::added);
    const auto before = bins;
    CHECK(bins.try_add("1234567", at(0)) == add_result::added);
    CHECK(bins.open() == 2);
    bins = before;
    CHECK(bins.open() == 1);
    CHECK(bins.take(at(0)) ==
          closed_batch<std::string>{{"123456"}, 8, batch_close_reason::end, at(0)});

    auto sizes = bin_packer<std::string>::of({}, &std::string::size);
    CHECK(sizes.try_add("abc", at(0)) == add_result::added);
    CHECK(sizes.take(at(0)).bytes == 3);
    auto itself = bin_packer<std::uint64_t>::of({.bytes = 10});
    CHECK(itself.try_add(10U, at(0)) == add_result::added);
    auto list = bin_packer<std::uint64_t>::of({.bytes = 10}, list_of_numbers{});
    static_assert(std::same_as<decltype(list), bin_packer<std::uint64_t, list_of_numbers>>);
    CHECK(list.try_add(8U, at(0)) == add_result::added);

    const std::vector<std::string> texts{"123456", "1234567", "12"};
    const std::vector<std::uint64_t> bytes{8, 9, 4};
    const auto p = pack(texts, {.bytes = 12}, capturing);
    CHECK(p == pack(bytes, {.bytes = 12}));
    CHECK(p == pack(texts, {.bytes = 12}, waybill::fixed_overhead(2, &std::string::size)));
    REQUIRE(p.batches.size() == 2);
    CHECK(p.batches[0].items == places{0, 2});
}

TEST_CASE("pack: returns the indices of each batch, and those of oversized items separately")
{
    const std::vector<std::uint64_t> sizes{50, 60, 55, 91, 30, 1, 90};
    const auto p = pack(sizes, {.bytes = 100, .envelope = 10}, itself, 3);
    CHECK(p.too_large == places{3});
    REQUIRE(p.batches.size() == 4);
    CHECK(p.batches[0] == closed_batch<std::size_t>{{1, 4}, 100, batch_close_reason::bytes, {}});
    CHECK(p.batches[1] == closed_batch<std::size_t>{{6}, 100, batch_close_reason::end, {}});
    CHECK(p.batches[2].items == places{2, 5});
    CHECK(p.batches[3].items == places{0});
    CHECK(pack(std::vector<std::uint64_t>{}, {}, itself) == waybill::packed_bins{});

    // Any container with places, any size model.
    const std::deque<std::string> texts{"abcd", "ef", "ghi", "jklmnopqrstu", "v"};
    const auto t = pack(texts, {.bytes = 6}, &std::string::size, unlimited);
    CHECK(t.too_large == places{3});
    REQUIRE(t.batches.size() == 2);
    CHECK(t.batches[0].items == places{0, 1});
    CHECK(t.batches[1].items == places{2, 4});
    const std::array<std::uint64_t, 4> commas{3, 6, 4, 1};
    const auto c = pack(commas, {.bytes = 10, .items = 2}, list_of_numbers{});
    REQUIRE(c.batches.size() == 2);  // in the order in which they were closed
    CHECK(c.batches[0] == closed_batch<std::size_t>{{0, 2}, 10, batch_close_reason::items, {}});
    CHECK(c.batches[1] == closed_batch<std::size_t>{{1, 3}, 10, batch_close_reason::items, {}});
    const std::array<std::uint64_t, 4> later{3, 8, 2, 1};
    const auto d = pack(later, {.bytes = 10, .items = 2}, itself);
    REQUIRE(d.batches.size() == 2);
    CHECK(d.batches[0].items == places{1, 2});
    CHECK(d.batches[1].items == places{0, 3});
}

}  // namespace packing_test
