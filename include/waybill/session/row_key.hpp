// SPDX-License-Identifier: MIT
//
// row_key: a sequence number as a table key of 20 digits; keys sort in the order of the numbers.
//
//     waybill::row_key::of(17)                           // "00000000000000000017"
//     waybill::row_key::read("17").outcome               // read_outcome::other_width, sequence 17
//
// Tables compare keys as text; without padding, "100" comes before "11". The largest number has 20
// digits. Keys that other tools wrote without zeros are read and reported as `other_width`.
//
// In a partitioned queue of Service Bus, the upper 16 bits of a sequence number are the partition.
// The lower 48 bits wrap after 2^48.

#ifndef WAYBILL_SESSION_ROW_KEY_HPP
#define WAYBILL_SESSION_ROW_KEY_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/detail/digits.hpp>
#include <waybill/core/enum_name.hpp>

namespace waybill::inline v0_2 {

namespace detail {

inline constexpr std::size_t row_key_digits = 20;  // as many as 2^64 - 1 has

}  // namespace detail

/// The key of a dead letter in a table.
struct row_key {
    enum class read_outcome : std::uint8_t {
        ok,
        other_width,  ///< A number, but not of 20 digits: such keys do not sort as their numbers.
        empty,
        not_number,  ///< A character is not a digit.
        too_large,   ///< The number has more than 64 bits.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(read_outcome) noexcept
    {
        return "ok, other_width, empty, not_number, too_large";
    }

    read_outcome outcome = read_outcome::empty;
    std::uint64_t sequence = 0;  ///< Valid if `readable()`.
    std::size_t bytes = 0;       ///< The size of the key.

    [[nodiscard]] constexpr bool readable() const noexcept
    {
        return outcome == read_outcome::ok || outcome == read_outcome::other_width;
    }

    /// The key of a sequence number: 20 digits.
    [[nodiscard]] static std::string of(std::uint64_t sequence)
    {
        std::string text(detail::row_key_digits, '0');
        detail::put_digits(text.data(), detail::row_key_digits, sequence);
        return text;
    }

    /// Reads a key. Linear time.
    [[nodiscard]] static constexpr row_key read(std::string_view key) noexcept
    {
        if (key.empty()) return {.outcome = read_outcome::empty};
        if (key.find_first_not_of("0123456789") != key.npos) {
            return {.outcome = read_outcome::not_number, .bytes = key.size()};
        }
        const std::optional<std::uint64_t> n = detail::digits_in(key);
        if (!n) return {.outcome = read_outcome::too_large, .bytes = key.size()};
        const bool padded = key.size() == detail::row_key_digits;
        return {.outcome = padded ? read_outcome::ok : read_outcome::other_width,
                .sequence = *n,
                .bytes = key.size()};
    }

    friend bool operator==(const row_key&, const row_key&) = default;
};

/// One line for a log. An error names the size of the key or the rule that is broken.
template <std::same_as<row_key> T>
[[nodiscard]] std::string describe(const T& r)
{
    const std::string bytes = std::to_string(r.bytes);
    const std::string digits = std::to_string(detail::row_key_digits);
    switch (r.outcome) {
        case row_key::read_outcome::ok: return "ok";
        case row_key::read_outcome::other_width:
            return "row key of " + bytes + " digits instead of " + digits +
                   ": pad it with zeros, or rows are not in the order of their numbers";
        case row_key::read_outcome::empty:
            return "row key is empty instead of " + digits + " digits";
        case row_key::read_outcome::not_number:
            return "row key contains a character that is not a digit: it must have " + digits +
                   " digits";
        case row_key::read_outcome::too_large: return "row key is greater than 2^64 - 1";
    }
    return "?";
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_ROW_KEY_HPP
