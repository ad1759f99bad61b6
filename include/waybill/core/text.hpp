// SPDX-License-Identifier: MIT
//
// text: shortens a text to a number of bytes without splitting a UTF-8 character.
//
// Recording a failure must not fail itself. An error text of 10 MB, or one cut within a character,
// can block a dead-letter queue.

#ifndef WAYBILL_CORE_TEXT_HPP
#define WAYBILL_CORE_TEXT_HPP

#include <cstddef>
#include <string_view>

namespace waybill::inline v0_2 {

/// The longest prefix of `text` of at most `most` bytes that ends at the end of a UTF-8 character.
/// If `text` is not UTF-8, it is cut after `most` bytes. Reads at most four bytes.
[[nodiscard]] constexpr std::string_view utf8_prefix(std::string_view text,
                                                     std::size_t most) noexcept
{
    if (text.size() <= most) return text;
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    // A split character begins at most three bytes before the cut.
    for (std::size_t back = 0; back < 4 && back <= most; ++back) {
        const unsigned char lead = byte(most - back);
        if (lead >= 0x80U && lead < 0xC0U) continue;
        std::size_t character_size = 4;
        if (lead < 0xF0U) character_size = 3;
        if (lead < 0xE0U) character_size = 2;
        if (lead < 0xC0U) character_size = 1;
        return text.substr(0, character_size > back ? most - back : most);
    }
    return text.substr(0, most);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CORE_TEXT_HPP
