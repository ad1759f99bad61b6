// SPDX-License-Identifier: MIT
//
// order_codec: reads and writes the state of a session.

#ifndef WAYBILL_EXAMPLES_ORDER_PIPELINE_ORDER_CODEC_HPP
#define WAYBILL_EXAMPLES_ORDER_PIPELINE_ORDER_CODEC_HPP

#include <utility>

#include "../support/program.hpp"
#include "shop.hpp"
#include <waybill/ext/json/state_codec.hpp>

namespace order_pipeline {

/// Throws a complaint if the options of the codec are wrong.
[[nodiscard]] inline waybill::state_codec<order_state> order_codec()
{
    auto codec = waybill::state_codec<order_state>::make();
    if (!codec) throw support::complaint(waybill::describe(codec.error()));
    return *std::move(codec);
}

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_ORDER_CODEC_HPP
