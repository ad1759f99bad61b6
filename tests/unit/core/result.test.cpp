// SPDX-License-Identifier: MIT

#include <any>
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <doctest/doctest.h>

#include <waybill/core/result.hpp>

namespace result_test {

using waybill::fault;
using waybill::result;
using waybill::unexpected;

enum class trouble { small, big };

constexpr result<int, trouble> half(int n)
{
    if (n % 2 != 0) return unexpected(trouble::small);
    return n / 2;
}

// g++ 12 cannot compare the address of a temporary in the condition of a static_assert itself, so
// the conditions are in functions.
constexpr bool values()
{
    return half(8).has_value() && *half(8) == 4 && half(8) && !half(7) &&
           half(7).error() == trouble::small && half(7).value_or(9) == 9 &&
           half(8).value_or(9) == 4 && half(8).and_then(half) == result<int, trouble>(2) &&
           half(8).and_then(half).and_then(half).and_then(half).error() == trouble::small;
}
static_assert(values());

constexpr bool transformed()
{
    const auto more = [](int n) { return n + 0.5; };
    const auto nothing = [](int) {};
    return *half(8).transform(more) == 4.5 && half(7).transform(more).error() == trouble::small &&
           half(8).transform(nothing).has_value() &&
           half(7).transform(nothing).error() == trouble::small;
}
static_assert(transformed());
static_assert(std::same_as<decltype(half(8).transform([](int) {})), result<void, trouble>>);

// An error of the value's own type is still an error.
constexpr bool of_one_type()
{
    using same = result<int, int>;
    return !same(unexpected(3)).has_value() && same(3).has_value() &&
           !(same(3) == same(unexpected(3))) && same() == same(0) &&
           result<bool, trouble>(false).has_value();
}
static_assert(of_one_type());

// Nothing, or an error.
constexpr result<void, trouble> even(int n)
{
    if (n % 2 != 0) return unexpected(trouble::big);
    return {};
}
constexpr bool nothing_or_error()
{
    const auto on = [] { return half(4); };
    const auto five = [] { return 5; };
    return even(2).has_value() && !even(3) && even(3).error() == trouble::big &&
           *even(2).and_then(on) == 2 && even(3).and_then(on).error() == trouble::big &&
           *even(2).transform(five) == 5 && even(3).transform(five).error() == trouble::big &&
           even(2).transform([] {}).has_value() && !even(3).transform([] {}) &&
           even(2) == even(4) && !(even(2) == even(3));
}
static_assert(nothing_or_error());

// An implicitly convertible value may be returned directly; another type may not.
constexpr result<std::optional<int>, trouble> found(int n)
{
    if (n < 0) return unexpected(trouble::small);
    if (n == 0) return std::nullopt;
    return n;
}
constexpr bool converted()
{
    return !found(-1) && found(0).has_value() && !*found(0) && **found(7) == 7 &&
           *result<int, trouble>(std::integral_constant<int, 4>()) == 4 &&
           found(1) == result<std::optional<int>, trouble>(std::optional<int>(1));
}
static_assert(converted());
static_assert(std::convertible_to<const char*, result<std::string>>);
static_assert(!std::convertible_to<int, result<std::string>>);
static_assert(!std::constructible_from<result<std::unique_ptr<int>>, int*>);  // explicit there, too
static_assert(std::convertible_to<bool, result<bool>> &&
              std::convertible_to<std::true_type, result<bool>> &&
              !std::convertible_to<const char*, result<bool>> &&
              !std::constructible_from<result<bool>, const char (&)[5]> &&
              !std::constructible_from<result<bool>, int*> &&
              !std::constructible_from<result<bool>, std::nullptr_t> &&
              !std::constructible_from<result<bool>, result<int>>);

struct no_default {
    explicit no_default(int) {}
};
static_assert(!std::is_default_constructible_v<result<no_default>>);
static_assert(std::is_default_constructible_v<result<void>>);
static_assert(!std::is_convertible_v<result<int>, bool> &&
              std::is_constructible_v<bool, result<int>>);

TEST_CASE("result: a move-only value can be moved in and out")
{
    result<std::unique_ptr<int>> r = std::make_unique<int>(5);
    CHECK(r);
    CHECK(**r == 5);
    std::unique_ptr<int> taken = *std::move(r);
    CHECK(*taken == 5);
    CHECK(result<std::unique_ptr<int>>(std::move(taken)).value_or(nullptr));
    const result<std::unique_ptr<int>> none = unexpected(waybill::permanent("no"));
    CHECK(none.error().text == "no");
    CHECK(*result<std::unique_ptr<int>>(std::make_unique<int>(6)).transform([](const auto& p) {
        return *p;
    }) == 6);
}

// The storage is as trivial as both types, and moves and copies like both.
static_assert(std::is_trivially_copyable_v<result<int, trouble>>);
static_assert(!std::is_trivially_copyable_v<result<int>>);
static_assert(std::is_nothrow_move_constructible_v<result<std::string>> &&
              std::is_nothrow_move_assignable_v<result<std::string>>);
static_assert(std::is_copy_assignable_v<result<std::string>> &&
              !std::is_copy_constructible_v<result<std::unique_ptr<int>>> &&
              !std::is_copy_assignable_v<result<std::unique_ptr<int>>> &&
              std::is_move_assignable_v<result<std::unique_ptr<int>>>);
static_assert(std::equality_comparable<result<int>> && !std::equality_comparable<result<std::any>>);

TEST_CASE("result: assignment between each pair of values and errors")
{
    using text = result<std::string>;
    const text values[] = {
        text("a value that is too long for the string itself"), text(""),
        text(waybill::permanent("an error that is too long for the string itself")),
        text(waybill::transient(""))};
    for (const text& before : values) {
        for (const text& after : values) {
            text by_copy = before;
            by_copy = after;
            CHECK(by_copy == after);
            text from = after;
            text by_move = before;
            by_move = std::move(from);
            CHECK(by_move == after);
            CHECK((before == after) == (&before == &after));
        }
        text itself = before;
        const text& alias = itself;
        itself = alias;
        CHECK(itself == before);
    }
}

TEST_CASE("result: may be assigned from a part of itself")
{
    struct node {
        std::unique_ptr<result<node>> next;
        int number = 0;
    };
    result<node> r = node{std::make_unique<result<node>>(node{nullptr, 2}), 1};
    r = std::move(*r->next);
    REQUIRE(r);
    CHECK(r->number == 2);
}

TEST_CASE("result: errors and values are propagated and converted")
{
    const result<int> r = unexpected(fault{waybill::fault_kind::transient, "later"});
    const auto next = r.and_then([](int) -> result<std::string> { return std::string("x"); });
    REQUIRE(!next);
    CHECK(next.error() == r.error());
    const result<int, std::string> text = unexpected("four");
    CHECK(text.error() == "four");
    result<std::string> s = std::string("abc");
    s->push_back('d');
    CHECK(*s == "abcd");
    const auto named = [](bool known) -> result<std::string> {
        if (known) return "text";
        return unexpected(waybill::permanent("no"));
    };
    CHECK(*named(true) == "text");
    CHECK(named(false).error().text == "no");
    const auto owner = []() -> result<std::shared_ptr<const int>> {
        return std::make_unique<int>(5);
    };
    CHECK(**owner() == 5);
    result<std::any> anything = 5;
    const result<std::any> same = anything;
    CHECK(std::any_cast<int>(&*same));  // copied, and not put into itself
    const result<std::any> none = unexpected(waybill::permanent("no"));
    CHECK(!none);
    result<std::optional<int>> maybe = std::optional<int>();
    CHECK(maybe);
    CHECK(!*maybe);
    result<int> w = unexpected(waybill::permanent("x"));
    w.error().text += "y";
    CHECK(std::move(w).error().text == "xy");
    CHECK(unexpected(3) == unexpected(3));
}

// A fault is the error, unless it converts to the value.
static_assert(std::convertible_to<fault, result<int>> &&
              std::convertible_to<fault&, result<std::optional<std::string>>> &&
              std::convertible_to<fault, result<std::unique_ptr<int>>> &&
              std::convertible_to<fault, result<void>>);
static_assert(!std::convertible_to<fault, result<int, trouble>> &&
              !std::convertible_to<fault, result<void, trouble>> &&
              !std::convertible_to<waybill::fault_kind, result<int>>);

TEST_CASE("result: a fault is returned as the error")
{
    const auto row = [](int key) -> result<int> {
        if (key < 0) return waybill::permanent("no row");
        return key;
    };
    CHECK(*row(1) == 1);
    CHECK(row(-1).error() == waybill::permanent("no row"));
    const fault down = waybill::infrastructure("down");
    const result<std::string> copied = down;
    CHECK(copied.error() == down);
}

TEST_CASE("result: an error is never of kind none")
{
    const auto down = waybill::fault_kind::infrastructure;
    CHECK(result<int>(fault{}).error().kind == down);
    CHECK(result<int>(unexpected(fault{})).error() == fault{down});
    CHECK(result<std::any>(unexpected(fault{waybill::fault_kind::none, "x"})).error() ==
          fault{down, "x"});
    CHECK(result<void>(unexpected(fault{})).error().kind == down);
    CHECK(
        result<int>(1).and_then([](int) -> result<void> { return unexpected(fault{}); }).error() ==
        fault{down});
}

TEST_CASE("result: an empty fault is success for result<void>")
{
    const auto passed_on = [](fault f) -> result<void> { return f; };
    CHECK(passed_on({}));
    CHECK(passed_on(waybill::transient("busy")).error() == waybill::transient("busy"));
}

TEST_CASE("result: if the value type is constructible from a fault, the fault is the value")
{
    const result<fault> value = waybill::permanent("stored");
    CHECK(value->text == "stored");
    const result<std::any> any = waybill::permanent("stored");
    CHECK(any);
    const result<std::optional<fault>> maybe = waybill::permanent("stored");
    CHECK((maybe && maybe->has_value()));
    const result<fault> none = unexpected(waybill::permanent("no"));
    CHECK(none.error().text == "no");
}

}  // namespace result_test
