// SPDX-License-Identifier: MIT
//
// deferral_format: the format of stored deferred_messages.

#ifndef WAYBILL_QUEUE_DETAIL_DEFERRAL_FORMAT_HPP
#define WAYBILL_QUEUE_DETAIL_DEFERRAL_FORMAT_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <waybill/core/detail/sealed_bytes.hpp>
#include <waybill/core/time.hpp>
#include <waybill/queue/deferred.hpp>
#include <waybill/queue/deferred_messages.hpp>

namespace waybill::inline v0_2::detail {

struct deferral_format {
    using error_type = deferred_messages::load_error;
    using problem_type = deferred_messages::load_error::code;
    static constexpr problem_type foreign = problem_type::other_format;
    static constexpr std::string_view magic = "wbd";
    static constexpr std::uint8_t version = 1;
};
inline constexpr std::uint64_t deferral_count_offset = 4;  // after magic and version
inline constexpr std::size_t min_entry_bytes = 6;  // one for each of 4 numbers and 2 empty texts

[[nodiscard]] inline std::uint64_t stored_nanoseconds(wall_time t) noexcept
{
    return static_cast<std::uint64_t>(t.since_epoch().count());
}

[[nodiscard]] inline wall_time stored_time(std::uint64_t ns) noexcept
{
    return wall_time::at(duration::nanoseconds(static_cast<std::int64_t>(ns)));
}

/// Writes the entries, by ascending numbers, after their count.
class deferral_writer {
public:
    explicit deferral_writer(std::uint64_t count) { out_.integer(count); }

    void entry(const deferred& d)
    {
        out_.integer(d.sequence - sequence_);
        out_.signed_integer(stored_nanoseconds(d.due) - due_);
        sequence_ = d.sequence;
        due_ = stored_nanoseconds(d.due);
        out_.signed_integer(stored_nanoseconds(d.since) - due_);
        out_.integer(d.attempts);
        out_.text(d.session);
        out_.text(d.id);
    }

    [[nodiscard]] std::string finish() &&
    {
        return static_cast<sealed_writer<deferral_format>&&>(out_).finish();
    }

private:
    sealed_writer<deferral_format> out_;
    std::uint64_t sequence_ = 0;  // of the last entry
    std::uint64_t due_ = 0;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_QUEUE_DETAIL_DEFERRAL_FORMAT_HPP
