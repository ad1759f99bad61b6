// SPDX-License-Identifier: MIT
//
// utf8: checks whether a text is valid UTF-8.

#ifndef WAYBILL_CORE_UTF8_HPP
#define WAYBILL_CORE_UTF8_HPP

#include <cstddef>
#include <string_view>

#include <waybill/core/detail/utf8_lead.hpp>

namespace waybill::inline v0_2 {

/// True if `text` is valid UTF-8 as defined by RFC 3629: no overlong forms, no surrogates, no code
/// point above U+10FFFF. Linear.
[[nodiscard]] constexpr bool is_utf8(std::string_view text) noexcept
{
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    for (std::size_t i = 0; i < text.size();) {
        const unsigned char first = byte(i++);
        if (first < 0x80) continue;
        const detail::utf8_lead lead = detail::utf8_lead_of(first);
        if (lead.follow == 0 || text.size() - i < lead.follow) return false;
        if (byte(i) < lead.lowest || byte(i) > lead.highest) return false;
        for (std::size_t k = 1; k < lead.follow; ++k) {
            if ((byte(i + k) & 0xC0U) != 0x80U) return false;
        }
        i += lead.follow;
    }
    return true;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CORE_UTF8_HPP
