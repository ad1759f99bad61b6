// expect: holds_alternative: the variant has no such type
// SPDX-License-Identifier: MIT

#include <waybill/core/variant.hpp>

const long* long_in(const waybill::variant<int, char>& held)
{
    return waybill::get_if<long>(&held);
}
