// SPDX-License-Identifier: MIT

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <doctest/doctest.h>

#include <waybill/core/act.hpp>
#include <waybill/core/match.hpp>

namespace match_test {

using waybill::match;
using action = waybill::variant<waybill::wait_until, waybill::idle, int>;

constexpr int code(const action& a)
{
    return match(
        a, [](const waybill::wait_until&) { return 1; }, [](waybill::idle) { return 2; },
        [](int n) { return n; });
}
static_assert(code(waybill::wait_until{}) == 1 && code(waybill::idle{}) == 2 && code(7) == 7);

// One handler may take several.
static_assert(match(action(7), [](int) { return 1; }, [](auto) { return 2; }) == 1);
static_assert(match(action(waybill::idle{}), [](int) { return 1; }, [](auto) { return 2; }) == 2);

// Any number of actions, whichever of them it is.
template <std::size_t N>
struct numbered {
    std::size_t more = 0;
};
struct sum {
    template <std::size_t N>
    constexpr std::size_t operator()(const numbered<N>& n) const
    {
        return N + n.more;
    }
};

template <std::size_t... N>
constexpr bool all_are_found(std::index_sequence<N...>)
{
    using many = waybill::variant<numbered<N>...>;
    return ((match(many(numbered<N>{1'000}), sum{}) == N + 1'000) && ...);
}
template <std::size_t... Many>
constexpr bool any_number_is_found(std::index_sequence<Many...>)
{
    return (all_are_found(std::make_index_sequence<Many + 1>{}) && ...);
}
static_assert(any_number_is_found(std::make_index_sequence<18>{}));
static_assert(all_are_found(std::make_index_sequence<32>{}));
static_assert(all_are_found(std::make_index_sequence<33>{}));
static_assert(all_are_found(std::make_index_sequence<50>{}));

TEST_CASE("match: calls the handler of the active alternative at run time")
{
    using many = waybill::variant<numbered<0>, numbered<1>, numbered<2>, numbered<3>, numbered<4>,
                                  numbered<5>, numbered<6>, numbered<7>, numbered<8>, numbered<9>,
                                  numbered<10>, numbered<11>, numbered<12>, numbered<13>,
                                  numbered<14>, numbered<15>, numbered<16>, numbered<17>>;
    many v;
    v = numbered<15>{100};
    CHECK(match(v, sum{}) == 115);
    v = numbered<17>{100};
    CHECK(match(v, sum{}) == 117);
    match(v, [](auto& n) { n.more = 7; });
    CHECK(match(std::as_const(v), sum{}) == 24);
    CHECK(match(std::move(v), [](auto&& n) { return std::is_rvalue_reference_v<decltype(n)>; }));
}

TEST_CASE("match: the return type need not be movable")
{
    struct fixed {
        explicit fixed(int n) : number(n) {}
        fixed(const fixed&) = delete;
        fixed& operator=(const fixed&) = delete;
        int number;
    };
    const fixed f = match(action(5), [](auto) { return fixed(1); }, [](int n) { return fixed(n); });
    CHECK(f.number == 5);
}

TEST_CASE("match: forwards the value and the return value")
{
    waybill::variant<std::string, int> v = std::string("abc");
    std::string& inside = match(
        v, [](std::string& s) -> std::string& { return s; },
        [](int&) -> std::string& {
            static std::string none;
            return none;
        });
    CHECK(&inside == waybill::get_if<std::string>(&v));
    match(v, [](std::string& s) { s += "d"; }, [](int&) {});
    CHECK(*waybill::get_if<std::string>(&v) == "abcd");
    const std::string out = match(
        std::move(v), [](std::string&& s) { return std::move(s); },
        [](int&&) { return std::string(); });
    CHECK(out == "abcd");
    const auto& fixed = v;
    static_assert(std::is_same_v<decltype(match(
                                     fixed, [](const std::string&) { return 1L; },
                                     [](const int&) { return 2L; })),
                                 long>);

    // A const return value is a const temporary.
    CHECK(
        match(std::as_const(v), [](const std::string&) { return 1; }, [](int) { return 2; }) == 1);
    CHECK(match(
              static_cast<const waybill::variant<std::string, int>&&>(v),
              [](const std::string&) { return 1; }, [](int) { return 2; }) == 1);

    // A handler may itself be something that can only be moved.
    auto owner = std::make_unique<int>(5);
    CHECK(match(
              action(1), [o = std::move(owner)](int n) { return n + *o; },
              [](auto) { return 0; }) == 6);
}

}  // namespace match_test
