// SPDX-License-Identifier: MIT

#include <waybill/batch/closed_by.hpp>

namespace closed_by_test {

using waybill::closed_by;

static_assert(name(closed_by::bytes) == "bytes");
static_assert(name(closed_by::items) == "items");
static_assert(name(closed_by::key) == "key");
static_assert(name(closed_by::deadline) == "deadline");
static_assert(name(closed_by::end) == "end");
static_assert(name(static_cast<closed_by>(99)) == "unknown");

}  // namespace closed_by_test
