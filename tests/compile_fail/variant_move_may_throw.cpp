// expect: variant: moving a value must not throw
// SPDX-License-Identifier: MIT

#include <waybill/core/variant.hpp>

struct may_throw {
    may_throw(may_throw&&) {}
};

waybill::variant<int, may_throw> made()
{
    return 1;
}
