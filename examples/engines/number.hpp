// SPDX-License-Identifier: MIT
//
// number: unsigned numbers in the lines of a text protocol.
//
//     number_in("65535");                                      // 65535
//     number_in("message of 70000 bytes", "message of ", " ");    // 70000
//
// Empty if the text is not digits only, is larger than 64 bits, or its end is missing. The sizes in
// the text of a refusal are read by waybill::wire::read_refusal.

#ifndef WAYBILL_EXAMPLES_ENGINES_NUMBER_HPP
#define WAYBILL_EXAMPLES_ENGINES_NUMBER_HPP

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace engines {

/// The whole text as a number.
[[nodiscard]] inline std::optional<std::uint64_t> number_in(std::string_view text)
{
    std::uint64_t n = 0;
    const char* const end = text.data() + text.size();
    const auto [read, error] = std::from_chars(text.data(), end, n);
    if (error != std::errc{} || read != end) return {};
    return n;
}

/// The number between `words` and the first character that ends it.
[[nodiscard]] inline std::optional<std::uint64_t> number_in(std::string_view text,
                                                            std::string_view words,
                                                            std::string_view ends)
{
    const std::size_t at = text.find(words);
    if (at == std::string_view::npos) return {};
    text.remove_prefix(at + words.size());
    const std::size_t size = text.find_first_of(ends);
    if (size == std::string_view::npos) return {};
    return number_in(text.substr(0, size));
}

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_NUMBER_HPP
