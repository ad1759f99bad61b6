// SPDX-License-Identifier: MIT

#include <cstdint>
#include <optional>
#include <string>

#include <doctest/doctest.h>

#include <waybill/core/config_error.hpp>

namespace check_test {

struct options {
    std::uint64_t size = 4;
};

constexpr std::optional<waybill::config_error> validate(const options& o)
{
    if (o.size % 2 != 0)
        return waybill::config_error{"size", o.size, "must be even, and less than", 100};
    return {};
}

struct machine {
    constexpr explicit machine(const options& o) : size(o.size) {}
    std::uint64_t size;
};

// `validate` is found where the configuration lives.
constexpr bool made()
{
    const auto bad = waybill::make<machine>(options{7});
    return waybill::make<machine>(options{6})->size == 6 && !bad && bad.error().field == "size" &&
           bad.error().value == 7;
}
static_assert(made());

TEST_CASE("config_error: describe contains field, value, rule and bound in one line")
{
    CHECK(describe(*validate(options{7})) == "size is 7: must be even, and less than (100)");
    CHECK(describe(waybill::config_error{"n", ~std::uint64_t{0}, "r", 0}) ==
          "n is 18446744073709551615: r (0)");
    CHECK(describe(waybill::config_error{}) == " is 0:  (0)");
}

}  // namespace check_test
