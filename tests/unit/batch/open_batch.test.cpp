// SPDX-License-Identifier: MIT

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/batch/detail/assignable.hpp>
#include <waybill/batch/framing.hpp>
#include <waybill/batch/open_batch.hpp>

namespace open_batch_test {

using waybill::add_result;
using waybill::batch_close_reason;
using waybill::batch_limits;
using waybill::duration;
using waybill::open_batch;
using waybill::steady_time;
using waybill::unlimited;
using waybill::detail::highest_size;
using namespace std::chrono_literals;

static_assert(name(add_result::added) == "added" && name(add_result::full) == "full");
static_assert(name(add_result::too_large) == "too_large" &&
              name(static_cast<add_result>(9)) == "?");

constexpr steady_time at(std::int64_t s)
{
    return steady_time::at(duration::seconds(s));
}

// An item is its own size.
using numbers = open_batch<std::uint64_t>;
std::uint64_t itself(const std::uint64_t& n)
{
    return n;
}

TEST_CASE("open_batch: a batch at exactly the limit is accepted, one byte more is full")
{
    numbers b({.bytes = 100, .envelope = 10}, itself);
    CHECK(b.empty());
    CHECK(b.bytes() == 0);
    CHECK(b.try_add(40U, at(1)) == add_result::added);
    CHECK(b.bytes() == 50);
    CHECK(b.try_add(50U, at(1)) == add_result::added);
    CHECK(b.bytes() == 100);
    CHECK(b.try_add(0U, at(1)) == add_result::added);  // a size of zero still fits
    CHECK(b.try_add(1U, at(1)) == add_result::full);
    CHECK(b.size() == 3);
    CHECK(b.bytes() == 100);
    CHECK(b.try_add(0U, at(1)) == add_result::full);  // no item overtakes a refused one
    CHECK(b.size() == 3);
    const auto taken = b.take(at(2));
    CHECK(taken.items == std::vector<std::uint64_t>{40, 50, 0});
    CHECK(taken.bytes == 100);
    CHECK(taken.closed == batch_close_reason::bytes);
    CHECK(taken.opened == at(1));
    CHECK(b.empty());
    CHECK(b.bytes() == 0);

    // Alone: the limit of bytes includes the envelope, and the limit of one item does not.
    CHECK(b.try_add(91U, at(3)) == add_result::too_large);
    CHECK(b.try_add(90U, at(3)) == add_result::added);
    numbers s({.bytes = 100, .single = 20, .envelope = 10}, itself);
    CHECK(s.try_add(21U, at(3)) == add_result::too_large);
    CHECK(s.try_add(20U, at(3)) == add_result::added);
    CHECK(s.try_add(21U, at(3)) == add_result::too_large);
    CHECK(s.size() == 1);
}

TEST_CASE("open_batch: the item limit closes a batch, and zero is read as one")
{
    for (const std::uint64_t items : {0U, 1U}) {
        numbers b({.items = items}, itself);
        CHECK(!b.due(at(0)));
        CHECK(b.try_add(5U, at(0)) == add_result::added);
        CHECK(b.due(at(0)));  // it is full
        CHECK(b.try_add(5U, at(0)) == add_result::full);
        const auto taken = b.take(at(0));
        CHECK(taken.items.size() == 1);
        CHECK(taken.closed == batch_close_reason::items);
        CHECK(!b.due(at(0)));
    }
    numbers b({.bytes = 10, .items = 2}, itself);
    CHECK(b.try_add(5U, at(0)) == add_result::added);
    CHECK(b.try_add(5U, at(0)) == add_result::added);
    CHECK(b.take(at(0)).closed == batch_close_reason::items);
}

TEST_CASE("open_batch: after full and take, the same message is added")
{
    for (const batch_limits& l :
         {batch_limits{.bytes = 10, .items = 2, .envelope = 3},
          batch_limits{.bytes = 7, .envelope = 0}, batch_limits{.items = 1},
          batch_limits{.bytes = 4, .items = 3, .single = 2, .envelope = 1}}) {
        numbers b(l, itself);
        std::vector<std::uint64_t> out;
        std::size_t alone = 0;
        for (std::uint64_t n = 0; n != 40; ++n) {
            const std::uint64_t own = n * 7 % 11;
            const auto before = b.size();
            add_result a = b.try_add(own, at(0));
            if (a != add_result::added) CHECK(b.size() == before);
            if (a == add_result::full) {
                const auto taken = b.take(at(0));
                CHECK(!taken.items.empty());
                std::uint64_t sum = l.envelope;
                for (const std::uint64_t i : taken.items) sum += i;
                CHECK(taken.bytes == sum);
                CHECK(sum <= l.bytes);
                CHECK(taken.items.size() <= l.items);
                out.insert(out.end(), taken.items.begin(), taken.items.end());
                a = b.try_add(own, at(0));
                CHECK(a == add_result::added);
            }
            if (a == add_result::too_large) {
                ++alone;
                CHECK((own > l.single || own + l.envelope > l.bytes));
            }
        }
        const auto rest = b.take(at(0));
        CHECK(rest.closed == (l.items == 1 ? batch_close_reason::items : batch_close_reason::end));
        CHECK(out.size() + rest.items.size() + alone == 40);
    }
}

TEST_CASE("open_batch: zero and unlimited limits, and negative sizes, are handled")
{
    numbers nothing({.bytes = 0, .items = 0, .single = 0, .envelope = 0}, itself);
    CHECK(nothing.try_add(1U, at(0)) == add_result::too_large);
    CHECK(nothing.try_add(0U, at(0)) == add_result::added);
    numbers enveloped({.bytes = 10, .envelope = 11}, itself);
    CHECK(enveloped.try_add(0U, at(0)) == add_result::too_large);
    numbers any({}, itself);
    CHECK(any.try_add(unlimited, at(0)) == add_result::too_large);  // it has saturated
    CHECK(any.try_add(unlimited - 1, at(0)) == add_result::added);
    CHECK(any.try_add(0U, at(0)) == add_result::added);
    CHECK(any.try_add(1U, at(0)) == add_result::full);  // the sum would
    CHECK(any.take(at(0)).bytes == unlimited - 1);
    open_batch<int, int (*)(const int&)> negative({.bytes = 10}, [](const int& n) { return n; });
    CHECK(negative.try_add(-1, at(0)) == add_result::too_large);
    CHECK(negative.try_add(1, at(0)) == add_result::added);
}

TEST_CASE("open_batch: closes at its deadline, also if the clock goes back")
{
    numbers b({.bytes = 100}, itself, 5s);
    CHECK(!b.deadline());
    CHECK(!b.due(steady_time::highest()));  // there is nothing in it
    CHECK(b.try_add(1U, at(10)) == add_result::added);
    CHECK(b.try_add(1U, at(12)) == add_result::added);
    CHECK(b.deadline() == at(15));  // from its first item
    CHECK(!b.due(at(14)));
    CHECK(!b.due(at(3)));  // a clock that went back
    CHECK(b.due(at(15)));
    CHECK(b.try_add(1U, at(2)) == add_result::added);
    CHECK(b.deadline() == at(15));
    CHECK(b.take(at(15)).closed == batch_close_reason::deadline);
    CHECK(!b.deadline());

    CHECK(b.try_add(1U, at(20)) == add_result::added);
    CHECK(b.take(at(24)).closed == batch_close_reason::end);
    CHECK(b.try_add(60U, at(30)) == add_result::added);
    CHECK(b.try_add(60U, at(31)) == add_result::full);
    CHECK(b.deadline() == at(30));  // there is no reason to wait longer
    CHECK(b.take(at(99)).closed == batch_close_reason::bytes);

    numbers at_once({.bytes = 100}, itself, 0s);
    CHECK(at_once.try_add(1U, at(7)) == add_result::added);
    CHECK(at_once.due(at(7)));
    numbers for_ever({.bytes = 100}, itself);
    CHECK(for_ever.try_add(1U, at(7)) == add_result::added);
    CHECK(!for_ever.due(steady_time::highest()));
    CHECK(!for_ever.deadline());
    CHECK(for_ever.take(steady_time::highest()).closed == batch_close_reason::end);
    numbers at_the_end({.bytes = 100}, itself, 5s);
    CHECK(at_the_end.try_add(1U, steady_time::highest()) == add_result::added);
    CHECK(at_the_end.deadline() == steady_time::highest());
    CHECK(at_the_end.take({}).items.size() == 1);
}

TEST_CASE("open_batch: moves from a message only if it is added")
{
    using owner = std::unique_ptr<std::string>;
    open_batch<owner> b({.bytes = 5}, [](const owner& o) -> std::uint64_t { return o->size(); });
    owner small = std::make_unique<std::string>("abc");
    owner large = std::make_unique<std::string>("abcdef");
    CHECK(b.try_add(std::move(large), at(0)) == add_result::too_large);
    REQUIRE(large);
    CHECK(*large == "abcdef");
    CHECK(b.try_add(std::move(small), at(0)) == add_result::added);
    CHECK(!small);
    owner next = std::make_unique<std::string>("xyz");
    CHECK(b.try_add(std::move(next), at(0)) == add_result::full);
    REQUIRE(next);
    CHECK(*next == "xyz");
    const auto taken = b.take(at(0));
    CHECK(*taken.items.front() == "abc");
    CHECK(b.try_add(std::move(next), at(0)) == add_result::added);
    CHECK(!next);
    static_assert(std::movable<open_batch<owner>>);
}

TEST_CASE("open_batch: a copy is a snapshot; a size function may have state")
{
    std::uint64_t framing = 2;
    const auto size = [framing](const std::string& s) { return framing + s.size(); };
    open_batch<std::string, decltype(size)> b({.bytes = 10}, size);
    CHECK(b.try_add("abc", at(0)) == add_result::added);
    const std::string kept = "defg";
    auto copy = b;
    CHECK(copy.try_add(std::string("d"), at(0)) == add_result::added);
    CHECK(copy.try_add(kept, at(0)) == add_result::full);
    CHECK(kept == "defg");
    CHECK(b.size() == 1);
    CHECK(copy.size() == 2);
    CHECK(b.take(at(0)) ==
          waybill::closed_batch<std::string>{{"abc"}, 5, batch_close_reason::end, at(0)});
}

namespace {

struct order {
    std::string body;
    std::uint32_t bytes = 0;

    [[nodiscard]] std::uint32_t wire_size() const { return bytes; }
    friend bool operator==(const order&, const order&) = default;
};

// Elements of a JSON array: two brackets, and a comma before each but the first.
struct json_array {
    struct state {
        bool any = false;
        friend bool operator==(const state&, const state&) = default;
    };
    constexpr std::uint64_t envelope(const std::string&) const { return 2; }
    constexpr std::uint64_t delta(const state& s, const std::string& t) const
    {
        return t.size() + (s.any ? 1 : 0);
    }
    constexpr void push(state& s, const std::string&) const { s.any = true; }
    friend bool operator==(const json_array&, const json_array&) = default;
};

// A lambda with captures is no plain function. open_batch<order>, which requires one, refuses it
// with a sentence: compile_fail/batch.cpp.
constexpr auto capturing = [](int header) {
    return [header](const order& o) { return header + static_cast<int>(o.bytes); };
};
using captures = decltype(capturing(0));
using plain_size = std::uint64_t (*)(const order&);
static_assert(!std::convertible_to<captures, plain_size>);
static_assert(!std::convertible_to<json_array, plain_size>);
static_assert(!std::constructible_from<open_batch<order>, batch_limits>);
static_assert(std::constructible_from<open_batch<order>, batch_limits, plain_size>);
static_assert(!std::is_copy_assignable_v<captures>);
static_assert(std::copyable<open_batch<order, captures>>);
static_assert(std::copyable<open_batch<order>>);
static_assert(std::copyable<open_batch<std::string, json_array>>);
static_assert(std::equality_comparable<open_batch<std::string, json_array>>);
static_assert(!std::equality_comparable<open_batch<order, captures>>);
// This costs no memory.
static_assert(sizeof(waybill::detail::assignable<waybill::detail::plain_framing<captures>>) ==
              sizeof(captures));
static_assert(std::same_as<waybill::detail::kept_framing<std::string, json_array>, json_array>);

// A type whose move may throw cannot be replaced safely, so it has no assignment.
struct throws_on_move {
    throws_on_move() = default;
    throws_on_move(const throws_on_move&) noexcept(false) {}
    throws_on_move& operator=(const throws_on_move&) = delete;
    std::uint64_t operator()(const order& o) const { return o.bytes; }
};
static_assert(std::copy_constructible<open_batch<order, throws_on_move>>);
static_assert(!std::is_copy_assignable_v<open_batch<order, throws_on_move>>);

template <class Open>
void takes_one_of_8_and_2_bytes(Open open)
{
    order o{"abc", 8};
    CHECK(open.try_add(o, at(0)) == add_result::added);
    CHECK(open.bytes() == 10);
    CHECK(open.try_add(o, at(0)) == add_result::full);
    o.bytes = 9;
    CHECK(open.try_add(o, at(0)) == add_result::too_large);
    CHECK(open.take(at(0)) ==
          waybill::closed_batch<order>{{{"abc", 8}}, 10, batch_close_reason::bytes, at(0)});
}

}  // namespace

TEST_CASE("open_batch::of: accepts every size function that chunk_by accepts")
{
    const batch_limits l{.bytes = 10, .envelope = 2};
    takes_one_of_8_and_2_bytes(open_batch<order>::of(l, &order::bytes));
    takes_one_of_8_and_2_bytes(open_batch<order>::of(l, &order::wire_size, 5s));
    takes_one_of_8_and_2_bytes(open_batch<order>::of(l, [](const auto& o) { return o.bytes; }));
    takes_one_of_8_and_2_bytes(open_batch<order>::of({.bytes = 10}, capturing(2)));
    takes_one_of_8_and_2_bytes(
        open_batch<order>::of({.bytes = 10}, waybill::fixed_overhead(2, &order::bytes)));
    takes_one_of_8_and_2_bytes(
        open_batch<order>::of({.bytes = 10}, waybill::with_reserve(&order::bytes, {.batch = 2})));

    auto sizes = open_batch<std::uint64_t>::of({.bytes = 10});  // the items are the sizes
    CHECK(sizes.try_add(11U, at(0)) == add_result::too_large);
    CHECK(sizes.try_add(10U, at(0)) == add_result::added);
    auto texts = open_batch<std::string>::of({.bytes = 10}, &std::string::size);
    CHECK(texts.try_add("abc", at(0)) == add_result::added);  // a type that converts to an item
    CHECK(texts.bytes() == 3);
    auto any = open_batch<std::string>::of({}, [](const auto& t) { return std::size(t); });
    CHECK(any.try_add("abc", at(0)) == add_result::added);
    CHECK(any.bytes() == 3);  // and not the four of the array
    auto negative = open_batch<order>::of({}, capturing(-9));
    CHECK(negative.try_add(order{"", 8}, at(0)) == add_result::too_large);

    auto array = open_batch<std::string>::of({.bytes = 10}, json_array{}, 5s);
    CHECK(array.try_add("abc", at(1)) == add_result::added);
    const auto before = array;
    CHECK(array == before);
    CHECK(array.try_add("defg", at(1)) == add_result::added);
    CHECK(array != before);
    CHECK(array.deadline() == at(6));
    CHECK(array.take(at(1)).bytes == 10);
}

TEST_CASE("open_batch::of: a snapshot can be restored for any copyable size function")
{
    std::string header(30, 'h');  // on the heap
    std::uint64_t asked = 0;
    const auto size = [header, &asked](const std::string& s) {
        ++asked;
        return header.size() + s.size();
    };
    auto open = open_batch<std::string>::of({.bytes = 100}, size);
    CHECK(open.try_add("abc", at(0)) == add_result::added);
    const auto before = open;
    CHECK(open.try_add("de", at(0)) == add_result::added);
    CHECK(open.bytes() == 65);
    open = before;
    CHECK(open.size() == 1);
    CHECK(open.bytes() == 33);
    auto& same = open;
    open = same;
    CHECK(open.try_add("def", at(0)) == add_result::added);
    CHECK(open.bytes() == 66);
    auto moved = std::move(open);
    open = std::move(moved);
    CHECK(open.try_add("ghi", at(0)) == add_result::added);
    CHECK(open.take(at(0)).items == std::vector<std::string>{"abc", "def", "ghi"});
    CHECK(asked == 4);

    // A move-only size function can be moved.
    auto rate = [r = std::make_unique<std::uint64_t>(5)](const order&) { return *r; };
    auto only = open_batch<order>::of({.bytes = 10}, std::move(rate));
    static_assert(std::movable<decltype(only)> && !std::copy_constructible<decltype(only)>);
    static_assert(!std::is_copy_assignable_v<decltype(only)>);
    auto other = std::move(only);
    only = std::move(other);
    CHECK(only.try_add(order{"", 1}, at(0)) == add_result::added);
    CHECK(only.bytes() == 5);
}

}  // namespace open_batch_test
