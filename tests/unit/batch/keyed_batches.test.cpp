// SPDX-License-Identifier: MIT

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/batch/framing.hpp>
#include <waybill/batch/keyed_batches.hpp>

namespace keyed_batches_test {

using waybill::add_result;
using waybill::batch_close_reason;
using waybill::batch_limits;
using waybill::duration;
using waybill::keyed_batch;
using waybill::keyed_batches;
using waybill::open_limits;
using waybill::steady_time;
using waybill::unlimited;
using namespace std::chrono_literals;

namespace {

constexpr steady_time at(std::int64_t s)
{
    return steady_time::at(duration::seconds(s));
}

// An item is its own size, and a letter its key.
using numbers = keyed_batches<char, std::uint64_t>;
using taken = keyed_batch<char, std::uint64_t>;
std::uint64_t itself(const std::uint64_t& n)
{
    return n;
}

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
using texts = keyed_batches<std::string, std::string, json_array>;

static_assert(std::regular<open_limits> && std::regular<taken>);
static_assert(std::copyable<numbers> && std::equality_comparable<texts>);
static_assert(!std::constructible_from<numbers, batch_limits>);  // without a size

}  // namespace

TEST_CASE("keyed_batches: each key has its own batch, filled up to the exact limit")
{
    numbers b({.bytes = 100, .envelope = 10}, itself, {.open = 2});
    CHECK(b.empty());
    CHECK(b.try_add('a', 40U, at(1)) == add_result::added);
    CHECK(b.try_add('b', 80U, at(2)) == add_result::added);
    CHECK(b.try_add('a', 50U, at(3)) == add_result::added);
    CHECK(b.open() == 2);
    CHECK(b.items() == 3);
    CHECK(b.try_add('b', 91U, at(3)) == add_result::too_large);
    CHECK(!b.due(at(99)));  // an item that never fits closes nothing
    CHECK(b.try_add('a', 1U, at(4)) == add_result::full);
    CHECK(b.due(at(0)));                                     // at any time: an item waits
    CHECK(b.try_add('a', 0U, at(4)) == add_result::full);    // no item overtakes a refused one
    CHECK(b.try_add('b', 10U, at(4)) == add_result::added);  // of its key
    CHECK(b.take(at(5)) == taken{'a', {40, 50}, 100, batch_close_reason::bytes, at(1)});
    CHECK(b.try_add('a', 1U, at(6)) == add_result::added);
    CHECK(b.take('b', at(6)) == taken{'b', {80, 10}, 100, batch_close_reason::end, at(2)});
    CHECK(b.take('b', at(6)) == taken{'b', {}, 0, batch_close_reason::end, {}});
    CHECK(b.take('a', at(6)) == taken{'a', {1}, 11, batch_close_reason::end, at(6)});
    CHECK(b.take(at(7)) == taken{});
    CHECK(b.empty());
    CHECK(b.items() == 0);
}

TEST_CASE("keyed_batches: if no place is free, a new key closes the oldest batch")
{
    numbers b({.bytes = 100}, itself, {.open = 3});
    CHECK(b.try_add('a', 1U, at(1)) == add_result::added);
    CHECK(b.try_add('b', 90U, at(2)) == add_result::added);
    CHECK(b.try_add('c', 1U, at(3)) == add_result::added);
    CHECK(!b.due(at(9)));
    CHECK(!b.deadline());
    CHECK(b.try_add('d', 101U, at(4)) == add_result::too_large);
    CHECK(!b.due(at(9)));
    CHECK(b.try_add('d', 1U, at(4)) == add_result::full);
    CHECK(b.due(at(4)));
    CHECK(b.deadline() == at(1));
    CHECK(b.try_add('d', 0U, at(4)) == add_result::full);
    CHECK(b.take(at(4)) == taken{'a', {1}, 1, batch_close_reason::key, at(1)});
    CHECK(!b.due(at(4)));
    CHECK(b.try_add('d', 1U, at(4)) == add_result::added);

    // A full batch is first, although it is not the oldest.
    CHECK(b.try_add('d', 100U, at(5)) == add_result::full);
    CHECK(b.try_add('e', 1U, at(5)) == add_result::full);
    CHECK(b.take(at(5)) == taken{'d', {1}, 1, batch_close_reason::bytes, at(4)});
    CHECK(b.try_add('e', 1U, at(5)) == add_result::added);
    CHECK(b.take('c', at(5)).closed == batch_close_reason::end);
    CHECK(b.take(at(5)) == taken{'b', {90}, 90, batch_close_reason::end, at(2)});
}

TEST_CASE("keyed_batches: after full, one take makes room for the last refused item")
{
    numbers b({.bytes = 10, .items = 3}, itself, {.open = 4});
    for (const char key : {'a', 'b', 'c', 'd'}) {
        CHECK(b.try_add(key, 8U, at(key)) == add_result::added);
    }
    CHECK(b.try_add('a', 3U, at(200)) == add_result::full);
    CHECK(b.try_add('c', 3U, at(200)) == add_result::full);
    CHECK(b.try_add('b', 3U, at(200)) == add_result::full);
    CHECK(b.take(at(200)).key == 'b');
    CHECK(b.try_add('b', 3U, at(200)) == add_result::added);
    CHECK(b.try_add('a', 3U, at(200)) == add_result::full);
    CHECK(b.take(at(200)).key == 'a');
    CHECK(b.try_add('a', 3U, at(200)) == add_result::added);
    CHECK(b.take(at(200)).key == 'c');
    CHECK(b.take(at(200)).key == 'd');
    CHECK(b.take(at(200)).key == 'b');
}

TEST_CASE("keyed_batches: a limit for the items of all batches together")
{
    numbers b({.bytes = 100}, itself, {.open = 9, .items = 3});
    CHECK(b.try_add('a', 1U, at(1)) == add_result::added);
    CHECK(b.try_add('b', 1U, at(2)) == add_result::added);
    CHECK(!b.due(at(3)));
    CHECK(b.try_add('b', 2U, at(3)) == add_result::added);
    CHECK(b.due(at(3)));  // it is full
    CHECK(b.try_add('b', 3U, at(3)) == add_result::full);
    CHECK(b.try_add('c', 3U, at(3)) == add_result::full);
    CHECK(b.try_add('c', 101U, at(3)) == add_result::too_large);
    CHECK(b.items() == 3);
    CHECK(b.take(at(3)) == taken{'a', {1}, 1, batch_close_reason::items, at(1)});
    CHECK(!b.due(at(3)));
    CHECK(b.try_add('b', 3U, at(3)) == add_result::added);
    CHECK(b.take(at(3)) == taken{'b', {1, 2, 3}, 6, batch_close_reason::items, at(2)});
    CHECK(b.empty());

    // The shared limit is reached by a batch that its own limit has closed: that batch is first.
    numbers both({.items = 2}, itself, {.open = 9, .items = 3});
    CHECK(both.try_add('a', 1U, at(1)) == add_result::added);
    CHECK(both.try_add('b', 1U, at(2)) == add_result::added);
    CHECK(both.try_add('b', 1U, at(2)) == add_result::added);
    CHECK(both.try_add('a', 1U, at(2)) == add_result::full);
    CHECK(both.take(at(2)).key == 'b');
    CHECK(both.try_add('a', 1U, at(2)) == add_result::added);
}

TEST_CASE("keyed_batches: each batch closes at its deadline, also if the clock goes back")
{
    numbers b({.bytes = 100}, itself, {.open = 3, .linger = 5s});
    CHECK(!b.deadline());
    CHECK(!b.due(steady_time::highest()));
    CHECK(b.try_add('a', 1U, at(10)) == add_result::added);
    CHECK(b.try_add('b', 1U, at(12)) == add_result::added);
    CHECK(b.try_add('a', 1U, at(14)) == add_result::added);
    CHECK(b.deadline() == at(15));  // from its first item
    CHECK(!b.due(at(14)));
    CHECK(!b.due(at(3)));
    CHECK(b.due(at(15)));
    CHECK(b.try_add('c', 1U, at(2)) == add_result::added);  // a clock that went back
    CHECK(b.deadline() == at(7));
    CHECK(b.take(at(7)) == taken{'c', {1}, 1, batch_close_reason::deadline, at(2)});
    CHECK(b.deadline() == at(15));
    CHECK(b.take(at(16)).closed == batch_close_reason::deadline);
    CHECK(b.deadline() == at(17));
    CHECK(b.take(at(16)).closed == batch_close_reason::end);

    // A batch past its deadline is closed by `key` if another key needs its place.
    numbers one({.bytes = 9}, itself, {.open = 1, .linger = 5s});
    CHECK(one.try_add('a', 1U, at(1)) == add_result::added);
    CHECK(one.try_add('b', 1U, at(9)) == add_result::full);
    CHECK(one.take(at(9)).closed == batch_close_reason::key);

    numbers at_once({.bytes = 100}, itself, {.linger = 0s});
    CHECK(at_once.try_add('a', 1U, at(7)) == add_result::added);
    CHECK(at_once.due(at(7)));
    CHECK(at_once.take(at(7)).closed == batch_close_reason::deadline);
    numbers at_the_end({.bytes = 100}, itself, {.linger = 5s});
    CHECK(at_the_end.try_add('a', 1U, steady_time::highest()) == add_result::added);
    CHECK(at_the_end.deadline() == steady_time::highest());
    numbers for_ever({.bytes = 100}, itself);
    CHECK(for_ever.try_add('a', 1U, at(7)) == add_result::added);
    CHECK(!for_ever.due(steady_time::highest()));
    CHECK(for_ever.take(steady_time::highest()).closed == batch_close_reason::end);
}

TEST_CASE("keyed_batches: zero and unlimited limits, and negative sizes, are handled")
{
    for (const std::uint64_t n : {0U, 1U}) {
        numbers b({.items = n}, itself, {.open = n, .items = n});
        CHECK(b.try_add('a', 5U, at(0)) == add_result::added);
        CHECK(b.due(at(0)));
        CHECK(b.try_add('a', 5U, at(0)) == add_result::full);
        CHECK(b.try_add('b', 5U, at(0)) == add_result::full);
        CHECK(b.take(at(0)) == taken{'a', {5}, 5, batch_close_reason::items, at(0)});
        CHECK(b.try_add('b', 5U, at(0)) == add_result::added);
    }
    numbers any({.bytes = 10}, itself, {.open = 0, .items = unlimited});
    CHECK(any.try_add('a', 5U, at(0)) == add_result::added);
    CHECK(any.try_add('a', 5U, at(0)) == add_result::added);
    CHECK(any.try_add('b', 5U, at(0)) == add_result::full);
    numbers nothing({.bytes = 0, .items = 0, .single = 0}, itself);
    CHECK(nothing.try_add('a', 1U, at(0)) == add_result::too_large);
    numbers enveloped({.bytes = 10, .envelope = 11}, itself);
    CHECK(enveloped.try_add('a', 0U, at(0)) == add_result::too_large);
    CHECK(enveloped.empty());
    keyed_batches<char, int, int (*)(const int&)> negative({}, [](const int& n) { return n; });
    CHECK(negative.try_add('a', -1, at(0)) == add_result::too_large);
    CHECK(negative.try_add('a', 1, at(0)) == add_result::added);
    CHECK(negative.try_add('a', -1, at(0)) == add_result::too_large);
    CHECK(negative.items() == 1);
}

TEST_CASE("keyed_batches: moves from a message only if it is added")
{
    using owner = std::unique_ptr<std::string>;
    const auto size = [](const owner& o) -> std::uint64_t { return o->size(); };
    keyed_batches<std::string, owner, decltype(size)> b({.bytes = 5}, size, {.open = 1});
    const auto refused = [&b](const char* key, const char* text, add_result what) {
        owner o = std::make_unique<std::string>(text);
        CHECK(b.try_add(key, std::move(o), at(0)) == what);
        REQUIRE(o);
        CHECK(*o == text);
    };
    refused("a", "abcdef", add_result::too_large);
    owner small = std::make_unique<std::string>("abc");
    CHECK(b.try_add("a", std::move(small), at(0)) == add_result::added);
    CHECK(!small);
    refused("a", "abcdef", add_result::too_large);
    refused("a", "xyz", add_result::full);
    refused("b", "xyz", add_result::full);
    CHECK(*b.take(at(0)).items.front() == "abc");
}

TEST_CASE("keyed_batches: a size may depend on the position; a copy is a snapshot")
{
    texts b({.bytes = 10}, json_array{}, {.open = 2});
    CHECK(b.try_add("k", "abc", at(0)) == add_result::added);
    const texts before = b;
    CHECK(b == before);
    CHECK(b.try_add("k", "defg", at(0)) == add_result::added);
    CHECK(b != before);
    CHECK(b.try_add("l", "12345678", at(0)) == add_result::added);
    texts copy = before;
    CHECK(copy.try_add("k", "defgh", at(0)) == add_result::full);
    CHECK(copy != before);
    CHECK(b.take("k", at(0)) == keyed_batch<std::string, std::string>{
                                    "k", {"abc", "defg"}, 10, batch_close_reason::end, at(0)});
    CHECK(copy.take("k", at(0)).bytes == 5);
}

namespace {

struct order {
    std::string body;
    std::uint32_t bytes = 0;

    friend bool operator==(const order&, const order&) = default;
};

template <class Open>
void takes_one_of_8_and_2_bytes(Open open)
{
    const order o{"abc", 8};
    CHECK(open.try_add('a', o, at(0)) == add_result::added);
    CHECK(open.try_add('b', o, at(0)) == add_result::added);
    const auto before = open;
    CHECK(open.try_add('a', o, at(0)) == add_result::full);
    open = before;
    CHECK(!open.due(at(0)));
    CHECK(open.try_add('a', order{"", 9}, at(0)) == add_result::too_large);
    CHECK(open.take('a', at(0)) ==
          keyed_batch<char, order>{'a', {o}, 10, batch_close_reason::end, at(0)});
    open = before;
    CHECK(open.items() == 2);
}

}  // namespace

TEST_CASE("keyed_batches::of: accepts every size function that chunk_by accepts")
{
    const batch_limits l{.bytes = 10, .envelope = 2};
    const auto capturing = [h = std::uint64_t{2}](const order& o) { return h + o.bytes; };
    // keyed_batches<char, order> refuses it: compile_fail/batch.cpp.
    using plain_size = std::uint64_t (*)(const order&);
    static_assert(!std::convertible_to<decltype(capturing), plain_size>);
    takes_one_of_8_and_2_bytes(keyed_batches<char, order>::of(l, &order::bytes));
    takes_one_of_8_and_2_bytes(keyed_batches<char, order>::of({.bytes = 10}, capturing));
    takes_one_of_8_and_2_bytes(
        keyed_batches<char, order>::of({.bytes = 10}, waybill::fixed_overhead(2, &order::bytes)));

    auto itself = keyed_batches<char, std::uint64_t>::of({.bytes = 10});
    CHECK(itself.try_add('a', 10U, at(0)) == add_result::added);
    auto sizes = keyed_batches<char, std::string>::of({}, &std::string::size, {.open = 1});
    CHECK(sizes.try_add('a', "abc", at(0)) == add_result::added);
    CHECK(sizes.try_add('b', "abc", at(0)) == add_result::full);
    CHECK(sizes.take(at(0)).bytes == 3);
    auto array = keyed_batches<std::string, std::string>::of({.bytes = 10}, json_array{});
    static_assert(std::same_as<decltype(array), texts>);
    CHECK(array.try_add("k", "12345678", at(0)) == add_result::added);
    CHECK(array.take(at(0)).bytes == 10);
}

}  // namespace keyed_batches_test
