// SPDX-License-Identifier: MIT
//
// deferral_format: the format of stored deferred_messages.

#ifndef WAYBILL_QUEUE_DETAIL_DEFERRAL_FORMAT_HPP
#define WAYBILL_QUEUE_DETAIL_DEFERRAL_FORMAT_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <waybill/core/time.hpp>
#include <waybill/queue/deferred_messages.hpp>

namespace waybill::inline v0_2::detail {

struct deferral_format {
    using error_type = deferred_messages::load_error;
    using problem_type = deferred_messages::load_error::code;
    static constexpr problem_type foreign = problem_type::other_format;
    static constexpr std::string_view magic = "wbd";
    static constexpr std::uint8_t version = 1;
};
inline constexpr std::size_t min_entry_bytes = 6;  // one for each of 4 numbers and 2 empty texts

[[nodiscard]] inline std::uint64_t stored_nanoseconds(wall_time t) noexcept
{
    return static_cast<std::uint64_t>(t.since_epoch().count());
}

[[nodiscard]] inline wall_time stored_time(std::uint64_t ns) noexcept
{
    return wall_time::at(duration::nanoseconds(static_cast<std::int64_t>(ns)));
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_QUEUE_DETAIL_DEFERRAL_FORMAT_HPP
