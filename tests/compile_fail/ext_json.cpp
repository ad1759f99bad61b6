// SPDX-License-Identifier: MIT

#include <waybill/ext/json/state_codec.hpp>

// expect: state_codec: T must have a default constructor, because a new state is T{}
struct without_default {
    explicit without_default(int n) : items(n) {}
    int items;
};

auto codec_without_default()
{
    return waybill::state_codec<without_default>::make();
}

// expect: state_codec: T must have to_json and from_json, as NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_
struct without_macro {
    int items = 0;
};

auto codec_without_macro()
{
    return waybill::state_codec<without_macro>::make();
}
