// SPDX-License-Identifier: MIT
//
// open_limits: limits for all open batches of `bin_packer` or `keyed_batches` together.
//
//     auto by_tenant = waybill::keyed_batches<std::string, order>::of(
//         limits, wire_size, {.open = 64, .linger = 50ms});

#ifndef WAYBILL_BATCH_OPEN_LIMITS_HPP
#define WAYBILL_BATCH_OPEN_LIMITS_HPP

#include <cstdint>

#include <waybill/core/batch_limits.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// Limits for all open batches together; `batch_limits` applies to a single batch.
struct open_limits {
    std::uint64_t open = 16;                ///< Maximum number of batches; 0 counts as 1.
    duration linger = duration::highest();  ///< Maximum time that a batch stays open.
    std::uint64_t items = unlimited;        ///< Maximum items in all of them; 0 counts as 1.

    friend bool operator==(const open_limits&, const open_limits&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_OPEN_LIMITS_HPP
