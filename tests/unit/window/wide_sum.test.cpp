// SPDX-License-Identifier: MIT

#include <cstdint>

#include <waybill/window/detail/wide_sum.hpp>

namespace wide_sum_test {

using waybill::detail::wide_sum;

namespace {

constexpr std::uint32_t all_of_them = 0xFFFF'FFFFU;
constexpr std::uint64_t largest = ~std::uint64_t{0};

constexpr wide_sum of(std::int64_t n, std::uint32_t times = 1)
{
    return {n, times};
}
constexpr bool is(wide_sum s, std::int64_t n)
{
    return s == of(n) && s.clamped() == n && s.fits();
}

}  // namespace

static_assert(is(wide_sum(), 0) && wide_sum().approximately() == 0);
static_assert(is(of(7, 6), 42) && is(of(-7, 6), -42) && is(of(-7, 0), 0));
static_assert(is(of(-7) + of(7), 0) && is(of(-7) + of(6), -1) && is(of(-1) + of(-1), -2));
static_assert(is(of(INT64_MAX), INT64_MAX) && is(of(INT64_MIN), INT64_MIN));
static_assert(is(of(INT64_MAX) + of(INT64_MIN), -1));

// A sum beyond 64 bits is reported, and nothing is lost: later values are still added.
static_assert(!of(INT64_MAX, 2).fits() && of(INT64_MAX, 2).clamped() == INT64_MAX);
static_assert(!of(INT64_MIN, 2).fits() && of(INT64_MIN, 2).clamped() == INT64_MIN);
static_assert(is(of(INT64_MAX) + of(1) + of(-1), INT64_MAX));
static_assert((of(INT64_MAX) + of(1)).clamped() == INT64_MAX && !(of(INT64_MAX) + of(1)).fits());
static_assert((of(INT64_MIN) + of(-1)).clamped() == INT64_MIN && !(of(INT64_MIN) + of(-1)).fits());
static_assert(is(of(INT64_MIN) + of(-1) + of(1), INT64_MIN));
static_assert(is(of(INT64_MIN, all_of_them) + of(INT64_MAX, all_of_them),
                 -std::int64_t{all_of_them}));
static_assert(is(of(INT64_MAX, 3) + of(INT64_MIN, 3), -3));
static_assert(of(INT64_MIN, all_of_them).clamped() == INT64_MIN);
static_assert(of(INT64_MIN, all_of_them) == of(INT64_MIN, all_of_them - 1) + of(INT64_MIN));
static_assert(of(INT64_MIN, all_of_them).approximately() ==
              -9'223'372'036'854'775'808.0 * 4'294'967'295.0);
static_assert(of(3, 1).approximately() == 3 && of(-3, 5).approximately() == -15);

// Numbers without a sign need one bit more.
static_assert(!wide_sum(largest, 1).fits() && wide_sum(largest, 1).clamped() == INT64_MAX);
static_assert(wide_sum(std::uint64_t{INT64_MAX}, 1) == of(INT64_MAX));
static_assert(is(wide_sum(std::uint64_t{1} << 63, 1) + of(-1), INT64_MAX));
static_assert(is(wide_sum(largest, all_of_them) + of(INT64_MIN, all_of_them) +
                     of(INT64_MIN, all_of_them),
                 -std::int64_t{all_of_them}));
static_assert(wide_sum(largest, 2).approximately() == 36'893'488'147'419'103'232.0);

// A carry can come from either half of the product.
static_assert(wide_sum(std::uint64_t{0xFFFF'FFFFU}, all_of_them) ==
              wide_sum(0xFFFF'FFFE'0000'0001U, 1));
static_assert(wide_sum(std::uint64_t{0x1'0000'0001U}, all_of_them) ==
              wide_sum(0xFFFF'FFFF'FFFF'FFFFU, 1));

}  // namespace wide_sum_test
