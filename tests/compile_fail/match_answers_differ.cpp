// expect: match: the handlers return different types; return the same type
// SPDX-License-Identifier: MIT

#include <waybill/core/match.hpp>

long count(const waybill::variant<int, char>& held)
{
    return waybill::match(held, [](int n) { return n; }, [](char) { return 1L; });
}
