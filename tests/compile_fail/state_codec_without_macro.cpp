// expect: state_codec: T must have to_json and from_json, as NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_
// SPDX-License-Identifier: MIT

#include <waybill/ext/json/state_codec.hpp>

struct basket {
    int items = 0;
};

auto codec()
{
    return waybill::state_codec<basket>::make();
}
