// SPDX-License-Identifier: MIT
//
// snapshot_error: the first error in the bytes of a stored window (window_snapshot.hpp).

#ifndef WAYBILL_WINDOW_SNAPSHOT_ERROR_HPP
#define WAYBILL_WINDOW_SNAPSHOT_ERROR_HPP

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include <waybill/core/config_error.hpp>
#include <waybill/core/enum_name.hpp>

namespace waybill::inline v0_2 {

/// The first error, and the offset of its first byte.
struct snapshot_error {
    /// The reason why the bytes of a stored window, or the options to load it with, are refused.
    enum class code : std::uint8_t {
        empty,           ///< There are no bytes.
        too_short,       ///< The bytes begin like a snapshot and end too early.
        not_a_snapshot,  ///< The bytes are something else.
        corrupt,         ///< The bytes differ from those written.
        newer,           ///< A later version of waybill wrote the bytes.
        other_kind,      ///< The value type differs, or weights are missing or unexpected.
        unsorted,        ///< A sample is older than the previous one.
        not_finite,      ///< A value is an infinity or NaN.
        out_of_range,    ///< A time, value or weight does not fit its type.
        bad_options,     ///< The options are invalid; the bytes were not read.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(code) noexcept
    {
        return "empty, too_short, not_a_snapshot, corrupt, newer, other_kind, unsorted, "
               "not_finite, "
               "out_of_range, bad_options";
    }

    code kind = code::corrupt;
    std::uint64_t offset = 0;
    config_error options{};  ///< The invalid option, if `kind` is `bad_options`.

    friend bool operator==(const snapshot_error&, const snapshot_error&) = default;
};

/// One line for a log.
template <std::same_as<snapshot_error> T>
[[nodiscard]] std::string describe(const T& e)
{
    std::string line = "window snapshot: ";
    line += name(e.kind);
    if (e.kind == snapshot_error::code::bad_options) return line + ": " + describe(e.options);
    line += " at byte ";
    line += std::to_string(e.offset);
    if (e.kind == snapshot_error::code::newer) line += ": update the program";
    return line;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_SNAPSHOT_ERROR_HPP
