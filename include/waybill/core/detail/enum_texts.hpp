// SPDX-License-Identifier: MIT
//
// enum_texts: splits the texts of the enumerators of an enum at compile time. Part of `name`.

#ifndef WAYBILL_CORE_DETAIL_ENUM_TEXTS_HPP
#define WAYBILL_CORE_DETAIL_ENUM_TEXTS_HPP

#include <cstddef>
#include <string_view>

namespace waybill::inline v0_2::detail {

template <std::size_t N>
struct enum_texts {
    std::string_view text[N];
};

[[nodiscard]] constexpr std::size_t count_texts(std::string_view all) noexcept
{
    std::size_t n = 1;
    for (const char c : all) n += c == ',' ? 1U : 0U;
    return n;
}

template <std::size_t N>
[[nodiscard]] constexpr enum_texts<N> split_texts(std::string_view all) noexcept
{
    constexpr std::size_t separator_size = 2;  // a comma and a blank
    enum_texts<N> texts{};
    for (std::string_view& text : texts.text) {
        text = all.substr(0, all.find(','));
        const bool is_last = text.size() == all.size();
        all.remove_prefix(is_last ? text.size() : text.size() + separator_size);
    }
    return texts;
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_ENUM_TEXTS_HPP
