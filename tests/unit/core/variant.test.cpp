// SPDX-License-Identifier: MIT

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/core/variant.hpp>

namespace variant_test {

using waybill::get_if;
using waybill::holds_alternative;
using waybill::variant;

struct point {
    int x = 1, y = 2;
    friend constexpr bool operator==(const point&, const point&) = default;
};

using plain = variant<int, point, char>;
static_assert(std::is_trivially_copyable_v<plain> && std::regular<plain>);
static_assert(sizeof(plain) == 3 * sizeof(int));
static_assert(plain() == plain(0));

constexpr bool is_constexpr()
{
    plain v = point{3, 4};
    const plain copy = v;
    const bool held = holds_alternative<point>(v) && get_if<point>(&v)->y == 4 && !get_if<int>(&v);
    get_if<point>(&v)->y = 5;
    const bool changed = v != copy && copy == plain(point{3, 4});
    v = 'c';
    return held && changed && v.index() == 2 && *get_if<char>(&v) == 'c' && v != plain(int{'c'});
}
static_assert(is_constexpr());

// Only from a value of exactly one of the types.
static_assert(std::is_constructible_v<plain, point> && std::is_constructible_v<plain, const char&>);
static_assert(!std::is_constructible_v<plain, long> && !std::is_constructible_v<plain, bool>);
static_assert(!std::is_constructible_v<variant<std::string, int>, const char*>);
static_assert(!std::is_constructible_v<plain, variant<int, point>>);

using text = variant<std::string, std::vector<int>, int>;
static_assert(std::regular<text> && std::is_nothrow_move_constructible_v<text>);
static_assert(std::is_nothrow_move_assignable_v<text>);
static_assert(std::same_as<decltype(get_if<int>(std::declval<const text*>())), const int*>);

struct no_default {
    explicit no_default(int) {}
};
static_assert(!std::is_default_constructible_v<variant<no_default, int>>);
static_assert(std::is_default_constructible_v<variant<int, no_default>>);

/// Counts its objects, and whether one was destroyed twice.
struct counted {
    static inline int objects = 0;
    int number = 0;

    explicit counted(int n) : number(n) { ++objects; }
    counted(const counted& from) : number(from.number) { ++objects; }
    counted(counted&& from) noexcept : number(std::exchange(from.number, -1)) { ++objects; }
    counted& operator=(const counted&) = default;
    counted& operator=(counted&&) = default;
    ~counted() { --objects; }
    friend bool operator==(const counted&, const counted&) = default;
};

template <int N>
struct other : counted {
    using counted::counted;
};

TEST_CASE("variant: each value is destroyed once")
{
    using held = variant<other<0>, int, other<1>, std::string>;
    {
        const held values[]{other<0>(10), 7, other<1>(20), std::string(100, 's')};
        REQUIRE(counted::objects == 2);
        for (const held& from : values) {
            for (const held& before : values) {
                held to = before;
                CHECK(to == before);
                to = from;
                CHECK(to == from);
                held taken = std::move(to);
                CHECK(taken == from);
                CHECK(to.index() == from.index());  // with a moved value
                held moved_to = before;
                moved_to = std::move(taken);
                CHECK(moved_to == from);
                std::swap(moved_to, to);
                CHECK(to == from);
                CHECK((from == before) == (from.index() == before.index()));
            }
        }
        CHECK(counted::objects == 2);
    }
    CHECK(counted::objects == 0);
}

TEST_CASE("variant: may be assigned from itself and from a part of itself")
{
    text v = std::string(100, 'a');
    const text& same = v;
    v = same;
    CHECK(v == text(std::string(100, 'a')));
    text& itself = v;
    v = std::move(itself);
    CHECK(v == text(std::string(100, 'a')));

    struct tree;
    using node = variant<int, std::vector<tree>>;
    struct tree {
        node of{};
        bool operator==(const tree&) const = default;
    };
    node root = std::vector<tree>{{node(3)}, {node(std::vector<tree>{{node(4)}})}};
    node& child = (*get_if<std::vector<tree>>(&root))[1].of;
    root = child;
    CHECK(root == node(std::vector<tree>{{node(4)}}));
    root = std::move((*get_if<std::vector<tree>>(&root))[0].of);
    CHECK(root == node(4));
}

TEST_CASE("variant: values of different types differ, even if they look equal")
{
    using numbers = variant<int, long, std::string>;
    CHECK(numbers(1) != numbers(1L));
    CHECK(numbers(1) == numbers(1));
    CHECK(numbers(1) != numbers(2));
    CHECK(numbers(std::string("1")) != numbers(1));
}

TEST_CASE("variant: get_if of a null pointer is null")
{
    CHECK(get_if<int>(static_cast<text*>(nullptr)) == nullptr);
    CHECK(get_if<int>(static_cast<const text*>(nullptr)) == nullptr);
}

TEST_CASE("variant: accepts move-only types")
{
    using owner = variant<int, std::unique_ptr<int>>;
    owner v = std::make_unique<int>(5);
    owner to = std::move(v);
    CHECK(**get_if<std::unique_ptr<int>>(&to) == 5);
    CHECK(*get_if<std::unique_ptr<int>>(&v) == nullptr);
    to = 3;
    CHECK(*get_if<int>(&to) == 3);
}

template <std::size_t N>
struct numbered {
    std::uint64_t value = N;
    std::string text{};
    friend bool operator==(const numbered&, const numbered&) = default;
};

template <std::size_t N, class Many>
bool is_found()
{
    const Many v = numbered<N>{};
    return v.index() == N && get_if<numbered<N>>(&v)->value == N;
}

template <std::size_t... N>
bool each_is_found(std::index_sequence<N...>)
{
    return (is_found<N, variant<numbered<N>...>>() && ...);
}

TEST_CASE("variant: accepts 40 types")
{
    CHECK(each_is_found(std::make_index_sequence<40>{}));
}

}  // namespace variant_test
