// SPDX-License-Identifier: MIT

#include <doctest/doctest.h>

#include <waybill/scaling/bounded_list.hpp>

namespace bounded_list_test {

using waybill::scaling::bounded_list;

namespace {

template <class... N>
constexpr bounded_list<int, 4> of(N... n)
{
    bounded_list<int, 4> f;
    (f.push(n), ...);
    return f;
}

constexpr int sum(const bounded_list<int, 4>& f)
{
    int all = 0;
    for (const int n : f) all = all * 10 + n;
    return all;
}

}  // namespace

static_assert(bounded_list<int, 4>().empty() && bounded_list<int, 4>::most == 4);
static_assert(sum(of(1, 2, 3)) == 123 && of(1, 2, 3).back() == 3 && of(1, 2, 3)[1] == 2);
static_assert(of(1, 2, 3, 4).is_full() && !of(1, 2, 3).is_full());
static_assert(sum(of(1, 2, 3, 4, 5)) == 1234);

static_assert([] {
    bounded_list<int, 4> f = of(1, 2, 3, 4);
    if (f.push(9) || sum(f) != 1234) return false;
    f.erase(1);
    if (sum(f) != 134) return false;
    f.erase(2);
    f.erase(0);
    f.push(7);
    f.pop();
    f[0] = 5;
    return sum(f) == 5 && f.size() == 1;
}());

// Removed elements do not matter.
static_assert([] {
    bounded_list<int, 4> f = of(1, 2, 3);
    f.pop();
    return f == of(1, 2) && !(f == of(1, 3)) && !(f == of(1));
}());
static_assert(bounded_list<int, 4>() == bounded_list<int, 4>());

TEST_CASE("bounded_list: keeps the order of its values")
{
    CHECK(sum(of(3, 1, 2)) == 312);
}

}  // namespace bounded_list_test
