// SPDX-License-Identifier: MIT

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include <waybill/batch/detail/size_model.hpp>
#include <waybill/batch/detail/tally.hpp>
#include <waybill/batch/framing.hpp>

namespace framing_test {

using waybill::fixed_overhead;
using waybill::framed;
using waybill::framing;
using waybill::reserve;
using waybill::with_reserve;
using waybill::detail::framing_of;
using waybill::detail::highest_size;
using waybill::detail::plain_framing;
using waybill::detail::size_model;
using waybill::detail::sizer;

struct letter {
    std::string_view body;
    int declared = 0;

    constexpr std::size_t bytes() const { return body.size(); }
    constexpr std::string_view text() const { return body; }
};

/// Two brackets, and a comma before each element but the first.
struct array {
    struct state {
        bool any = false;
        friend bool operator==(const state&, const state&) = default;
    };

    constexpr std::uint64_t envelope(std::string_view) const { return 2; }
    constexpr std::uint64_t delta(const state& s, std::string_view t) const
    {
        return t.size() + (s.any ? 1 : 0);
    }
    constexpr void push(state& s, std::string_view) const { s.any = true; }
};

constexpr std::uint64_t own_size(const letter& l)
{
    return l.body.size();
}

// Types that are framings, and types that are not.
static_assert(framing<array, std::string_view>);
static_assert(framing<array, std::string>, "what turns into its item");
static_assert(!framing<array, letter>);
static_assert(!framing<decltype(&own_size), letter>);
static_assert(size_model<array, const std::string_view&>);
static_assert(size_model<decltype(&own_size), const letter&>);
static_assert(size_model<decltype(&letter::bytes), letter&>);
static_assert(!size_model<bool (*)(const letter&), const letter&>);

struct no_equality : array {
    struct state {
        bool any = false;
    };
    constexpr std::uint64_t delta(const state&, std::string_view) const { return 0; }
    constexpr void push(state&, std::string_view) const {}
};
static_assert(!framing<no_equality, std::string_view>, "a state can be compared");

struct counting : array {
    constexpr std::uint64_t delta(const state&, std::string_view) { return ++asked; }
    std::uint64_t asked = 0;
};
static_assert(!framing<counting, std::string_view>, "asking must change nothing");

struct in_doubles : array {
    constexpr double delta(const state&, std::string_view) const { return 1; }
};
static_assert(!framing<in_doubles, std::string_view>);

/// The bytes of the items in one batch, envelope and all.
template <class F, class... Items>
constexpr std::uint64_t sum(const F& f, const Items&... items)
{
    typename F::state s;
    std::uint64_t bytes = 0;
    bool first = true;
    const auto add = [&](const auto& item) {
        if (first) bytes = f.envelope(item);
        first = false;
        bytes = waybill::detail::saturating_add(bytes, f.delta(s, item));
        f.push(s, item);
    };
    (add(items), ...);
    return bytes;
}

static_assert(sum(array{}, std::string_view("12"), std::string_view("3")) == 6);

// A size function as a framing: all places are equal, and no envelope.
static_assert(framing<plain_framing<decltype(&own_size)>, letter>);
static_assert(sum(plain_framing<decltype(&own_size)>{&own_size}, letter{"12"}, letter{"3"}) == 3);
static_assert(sum(plain_framing<decltype(&letter::bytes)>{&letter::bytes}, letter{"12"}) == 2);
static_assert(sum(plain_framing<decltype(&letter::declared)>{&letter::declared}, letter{"", 7}) ==
              7);
static_assert(sum(plain_framing<decltype(&letter::declared)>{&letter::declared}, letter{"", -7}) ==
              highest_size);
static_assert(!framing<plain_framing<decltype(&own_size)>, int>);

// A framing is used unchanged. A type that is both a framing and callable is a framing.
static_assert(std::same_as<waybill::detail::framing_for<std::string_view, array>, array>);
static_assert(std::same_as<waybill::detail::framing_for<letter, decltype(&letter::bytes)>,
                           plain_framing<decltype(&letter::bytes)>>);
struct both : array {
    constexpr std::uint64_t operator()(std::string_view) const { return 1'000; }
};
static_assert(sum(framing_of<std::string_view>(both{}), std::string_view("12")) == 4);

// The same header for every item.
constexpr auto with_54 = fixed_overhead(54, &letter::bytes);
static_assert(sizer<decltype(with_54), const letter&>);
static_assert(!sizer<decltype(with_54), int>);
static_assert(with_54(letter{"123"}) == 57);
static_assert(fixed_overhead(54, &letter::declared)(letter{"123", 6}) == 60);
static_assert(fixed_overhead(54, &own_size)(letter{"1"}) == 55);
static_assert(fixed_overhead(54, [](int n) { return n; })(-1) == highest_size);
static_assert(fixed_overhead(54, [](std::uint64_t n) { return n; })(highest_size - 10) ==
              highest_size);
static_assert(fixed_overhead(highest_size, [](int n) { return n; })(0) == highest_size);

// A model over another type of item.
constexpr auto to_text = [](const letter& l) { return l.body; };
static_assert(framing<framed<array, decltype(to_text)>, letter>);
static_assert(!framing<framed<array, decltype(to_text)>, int>);
static_assert(sum(framed(array{}, to_text), letter{"12"}, letter{"3"}) == 6);
static_assert(sum(framed(array{}, &letter::body), letter{"12"}, letter{"3"}) == 6);
static_assert(sum(framed(array{}, &letter::text), letter{"12"}, letter{"3"}) == 6);
static_assert(!framing<framed<array, decltype(&letter::body)>, int>);

struct huge : array {
    constexpr int delta(const state&, std::string_view) const { return -1; }
};
static_assert(sum(framed(huge{}, to_text), letter{"12"}) == highest_size);

// Reserved bytes.
static_assert(sum(with_reserve(array{}, {.batch = 100, .item = 10}), std::string_view("12"),
                  std::string_view("3")) == 126);
static_assert(sum(with_reserve(&own_size, {.batch = 100, .item = 10}), letter{"12"}) == 112);
static_assert(sum(with_reserve(&letter::bytes, {.item = 10}), letter{"12"}, letter{"3"}) == 23);
static_assert(sum(with_reserve(framed(array{}, to_text), {.item = 1}), letter{"12"}) == 5);
static_assert(sum(with_reserve(with_reserve(array{}, {.item = 1}), {.batch = 1}),
                  std::string_view("12")) == 6);
static_assert(sum(with_reserve(array{}, {.batch = highest_size}), std::string_view("")) ==
              highest_size);
static_assert(sum(with_reserve(array{}, {.item = highest_size}), std::string_view("1")) ==
              highest_size);
static_assert(sum(with_reserve(array{}, reserve{}), std::string_view("12")) == 4);
static_assert(reserve{} != reserve{.item = 1});

struct named {
    explicit named(std::string n) : name(std::move(n)) {}
    named(const named&) = delete;
    named& operator=(const named&) = delete;
    ~named() = default;

    std::string name;
};

/// No bytes for one known text, by its address; one byte for a copy of it.
struct by_address {
    struct state {
        friend bool operator==(const state&, const state&) = default;
    };

    std::uint64_t envelope(const std::string& s) const { return &s == expected ? 0 : 1; }
    std::uint64_t delta(const state&, const std::string& s) const { return envelope(s); }
    void push(state&, const std::string&) const {}

    const std::string* expected = nullptr;
};

TEST_CASE("framed: a projection that returns a reference makes no copy")
{
    const named one("one");
    CHECK(sum(framed(by_address{&one.name}, &named::name), one) == 0);
    const auto by_function = [](const named& n) -> const std::string& { return n.name; };
    CHECK(sum(framed(by_address{&one.name}, by_function), one) == 0);
    const auto by_copy = [](const named& n) { return n.name; };
    CHECK(sum(framed(by_address{&one.name}, by_copy), one) == 2);
}

}  // namespace framing_test
