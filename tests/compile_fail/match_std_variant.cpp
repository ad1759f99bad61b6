// SPDX-License-Identifier: MIT

// expect: match: the first argument is no variant; pass an action of next()

#include <variant>

#include <waybill/core/match.hpp>

int number(const std::variant<int, char>& held)
{
    return waybill::match(held, [](auto) { return 1; });
}
