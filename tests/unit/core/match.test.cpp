// SPDX-License-Identifier: MIT

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include <doctest/doctest.h>

#include <waybill/core/act.hpp>
#include <waybill/core/match.hpp>

namespace match_test {

namespace act = waybill::act;
using waybill::match;
using action = std::variant<act::wait, act::idle, int>;

constexpr int code(const action& a)
{
    return match(
        a, [](const act::wait&) { return 1; }, [](act::idle) { return 2; },
        [](int n) { return n; });
}
static_assert(code(act::wait{}) == 1 && code(act::idle{}) == 2 && code(7) == 7);

// One handler may take several.
static_assert(match(
                  action(7), [](int) { return 1; }, [](auto) { return 2; }) == 1);
static_assert(match(
                  action(act::idle{}), [](int) { return 1; }, [](auto) { return 2; }) == 2);

TEST_CASE("match: hands on what it was given, and what comes back")
{
    std::variant<std::string, int> v = std::string("abc");
    std::string& inside = match(
        v, [](std::string& s) -> std::string& { return s; },
        [](int&) -> std::string& {
            static std::string none;
            return none;
        });
    CHECK(&inside == &std::get<std::string>(v));
    match(
        v, [](std::string& s) { s += "d"; }, [](int&) {});
    CHECK(std::get<std::string>(v) == "abcd");
    const std::string out = match(
        std::move(v), [](std::string&& s) { return std::move(s); },
        [](int&&) { return std::string(); });
    CHECK(out == "abcd");
    const auto& fixed = v;
    static_assert(std::is_same_v<decltype(match(
                                     fixed, [](const std::string&) { return 1L; },
                                     [](const int&) { return 2L; })),
                                 long>);

    // What a function returns as const is a const temporary.
    CHECK(match(
              std::as_const(v), [](const std::string&) { return 1; }, [](int) { return 2; }) == 1);
    CHECK(match(
              static_cast<const std::variant<std::string, int>&&>(v),
              [](const std::string&) { return 1; }, [](int) { return 2; }) == 1);

    // A handler may itself be something that can only be moved.
    auto owner = std::make_unique<int>(5);
    CHECK(match(
              action(1), [o = std::move(owner)](int n) { return n + *o; },
              [](auto) { return 0; }) == 6);
}

}  // namespace match_test
