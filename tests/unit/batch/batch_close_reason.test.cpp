// SPDX-License-Identifier: MIT

#include <waybill/batch/batch_close_reason.hpp>

namespace closed_by_test {

using waybill::batch_close_reason;

static_assert(name(batch_close_reason::bytes) == "bytes");
static_assert(name(batch_close_reason::items) == "items");
static_assert(name(batch_close_reason::key) == "key");
static_assert(name(batch_close_reason::deadline) == "deadline");
static_assert(name(batch_close_reason::end) == "end");
static_assert(name(static_cast<batch_close_reason>(99)) == "?");

}  // namespace closed_by_test
