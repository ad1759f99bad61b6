// SPDX-License-Identifier: MIT

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/batch/chunk_by.hpp>
#include <waybill/batch/too_large.hpp>

namespace too_large_test {

using waybill::batch_limits;
using waybill::first_too_large;
using waybill::detail::highest_size;
using oversized_item = waybill::batch_limits::oversized_item;
using waybill::unlimited;

constexpr int sizes[] = {4, 90, 91, 400};

static_assert(!first_too_large(sizes, {}));
static_assert(!first_too_large(sizes, {.bytes = 400}));
static_assert(first_too_large(sizes, {.bytes = 100, .envelope = 10}) ==
              oversized_item{2, 101, 91, 10, 100, false});
static_assert(first_too_large(sizes, {.single = 89}) == oversized_item{1, 90, 90, 0, 89, true});
static_assert(first_too_large(sizes, {.bytes = 100, .single = 90, .envelope = 20}) ==
              oversized_item{1, 110, 90, 20, 100, false});
static_assert(first_too_large(sizes, {.bytes = 9, .envelope = 9}) ==
              oversized_item{0, 13, 4, 9, 9, false});
static_assert(first_too_large(sizes, {.bytes = 3, .single = 3}) ==
                  oversized_item{0, 4, 4, 0, 3, true},
              "the smaller limit is reported");
static_assert(first_too_large(sizes, {}, [](int n) { return n == 91 ? -1 : n; }) ==
              oversized_item{2, highest_size, highest_size, 0, unlimited, false});
static_assert(first_too_large(&sizes[1], &sizes[3], {.bytes = 90}) ==
              oversized_item{1, 91, 91, 0, 90, false});
static_assert(!first_too_large(&sizes[0], &sizes[0], {.bytes = 0}));

/// Ten bytes for each letter of the first text, and the texts with a comma.
struct by_first {
    struct state {
        bool any = false;
        friend bool operator==(const state&, const state&) = default;
    };
    constexpr std::uint64_t envelope(std::string_view first) const { return 10 * first.size(); }
    constexpr std::uint64_t delta(const state& s, std::string_view t) const
    {
        return t.size() + (s.any ? 1 : 0);
    }
    constexpr void push(state& s, std::string_view) const { s.any = true; }
};

constexpr std::string_view texts[] = {"1", "12", "1234", "123"};
static_assert(!first_too_large(texts, {.bytes = 49, .envelope = 5}, by_first{}));
static_assert(first_too_large(texts, {.bytes = 48, .envelope = 5}, by_first{}) ==
              oversized_item{2, 49, 4, 45, 48, false});

TEST_CASE("oversized_item: describe contains the item, its size, the limit and the envelope")
{
    CHECK(describe(oversized_item{7, 300'512, 300'000, 512, 262'144, false}) ==
          "item 7: too_large, 300512 bytes where the limit is 262144, item 300000, envelope 512");
    CHECK(describe(oversized_item{7, 5'512, 5'000, 512, 4'096, true}) ==
          "item 7: too_large, 5000 bytes where the limit is 4096 for one item, envelope 512");
    CHECK(describe(*first_too_large(std::vector<int>{-1}, {})) ==
          "item 0: too_large, size negative or above 2^64 - 2 bytes without a limit, envelope 0");
    CHECK(describe(*first_too_large(std::vector<int>{1, -1}, {.bytes = 9, .single = 5})) ==
          "item 1: too_large, size negative or above 2^64 - 2 bytes where the limit is 5 for one "
          "item, envelope 0");
    CHECK(describe(*first_too_large(std::vector<int>{1}, {.envelope = unlimited})) ==
          "item 0: too_large, size negative or above 2^64 - 2 bytes without a limit, "
          "envelope 18446744073709551615");
}

TEST_CASE(
    "first_too_large: accepts any input, also a stream, and measures nothing after the "
    "result")
{
    const std::list<std::string> list{"12345", "123456"};
    CHECK(first_too_large(list, {.bytes = 5}, &std::string::size)->index == 1);
    CHECK_FALSE(first_too_large(std::vector<std::string>{"12"}, {.bytes = 5}, &std::string::size));
    CHECK_FALSE(first_too_large(std::vector<bool>{true}, {.bytes = 5}, [](bool) { return 5; }));

    std::istringstream in("1 2 9 4");
    CHECK(
        first_too_large(std::istream_iterator<int>(in), std::istream_iterator<int>(), {.bytes = 5})
            ->index == 2);

    int asked = 0;
    const auto size = [&asked](int n) {
        ++asked;
        return n;
    };
    CHECK(first_too_large(sizes, {.bytes = 90}, size)->index == 2);
    CHECK(asked == 3);
}

// A wrong size function is refused with a sentence; first_too_large requires this concept.
template <class Item, class F = std::identity>
concept can_ask = waybill::detail::size_model<F, const Item&>;
static_assert(can_ask<int>);
static_assert(!can_ask<std::string>, "no size of a string");
static_assert(can_ask<std::string, std::size_t (*)(const std::string&)>);
static_assert(!can_ask<std::string, bool (*)(const std::string&)>);

TEST_CASE("first_too_large: returns the first item whose chunk does not fit")
{
    const std::vector<std::int64_t> some{4, 90, 91, 400, -1, 0};
    for (std::uint64_t bytes = 0; bytes != 500; ++bytes) {
        for (const std::uint64_t single : {std::uint64_t{90}, std::uint64_t{0}, unlimited}) {
            const batch_limits l{.bytes = bytes, .single = single, .envelope = 3};
            std::optional<std::uint64_t> index;
            std::uint64_t whole = 0;
            for (auto part : waybill::chunk_by(some, l)) {
                if (part.fits) continue;
                index = static_cast<std::uint64_t>(part.first - some.begin());
                whole = part.bytes;
                break;
            }
            const auto found = first_too_large(some, l);
            REQUIRE(found.has_value() == index.has_value());
            CHECK(found->index == index);
            CHECK(found->bytes == whole);
        }
    }
}

}  // namespace too_large_test
