// SPDX-License-Identifier: MIT
//
// utf8_lead: the length of a character in UTF-8 and the bounds of its second byte.
//
// Source: the Unicode Standard, table 3-7, "Well-Formed UTF-8 Byte Sequences".

#ifndef WAYBILL_CORE_DETAIL_UTF8_LEAD_HPP
#define WAYBILL_CORE_DETAIL_UTF8_LEAD_HPP

namespace waybill::inline v0_2::detail {

/// The first byte of a character determines the number of further bytes, and the bounds of the
/// second one. The bounds exclude overlong forms, surrogates and code points above U+10FFFF.
struct utf8_lead {
    unsigned follow = 0;  // further bytes; 0 if no multi-byte character begins with this byte
    unsigned char lowest = 0x80;
    unsigned char highest = 0xBF;
};

[[nodiscard]] constexpr utf8_lead utf8_lead_of(unsigned char c) noexcept
{
    if (c < 0xC2U || c > 0xF4U) return {};
    if (c < 0xE0U) return {1};
    if (c < 0xF0U) {
        return {2, static_cast<unsigned char>(c == 0xE0U ? 0xA0U : 0x80U),
                static_cast<unsigned char>(c == 0xEDU ? 0x9FU : 0xBFU)};
    }
    return {3, static_cast<unsigned char>(c == 0xF0U ? 0x90U : 0x80U),
            static_cast<unsigned char>(c == 0xF4U ? 0x8FU : 0xBFU)};
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_UTF8_LEAD_HPP
