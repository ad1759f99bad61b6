// expect: state_codec: T must have a default constructor, because a new state is T{}
// SPDX-License-Identifier: MIT

#include <waybill/ext/json/state_codec.hpp>

struct basket {
    explicit basket(int n) : items(n) {}
    int items;
};

auto codec()
{
    return waybill::state_codec<basket>::make();
}
