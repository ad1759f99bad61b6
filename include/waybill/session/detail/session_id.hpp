// SPDX-License-Identifier: MIT
//
// session_id: the checks of a session id.

#ifndef WAYBILL_SESSION_DETAIL_SESSION_ID_HPP
#define WAYBILL_SESSION_DETAIL_SESSION_ID_HPP

#include <cstddef>
#include <string_view>

namespace waybill::inline v0_2::detail {

/// True if UTF-8 text contains U+0000 to U+001F or U+007F to U+009F. U+0080 to U+009F are the bytes
/// 0xC2 0x80 to 0xC2 0x9F.
[[nodiscard]] constexpr bool has_control_character(std::string_view text) noexcept
{
    unsigned previous_byte = 0;
    for (const char c : text) {
        const unsigned byte = static_cast<unsigned char>(c);
        if (byte < 0x20U || byte == 0x7FU || (previous_byte == 0xC2U && byte < 0xA0U)) return true;
        previous_byte = byte;
    }
    return false;
}

/// True if an id ends in "~" and a number without leading zeros, as ids of redriven sessions do.
[[nodiscard]] constexpr bool has_redrive_suffix(std::string_view id) noexcept
{
    std::size_t at = id.size();
    while (at != 0 && id[at - 1] >= '0' && id[at - 1] <= '9') --at;
    return at != id.size() && at != 0 && id[at] != '0' && id[at - 1] == '~';
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_SESSION_DETAIL_SESSION_ID_HPP
