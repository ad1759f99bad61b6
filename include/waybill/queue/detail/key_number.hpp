// SPDX-License-Identifier: MIT
//
// key_number: the number of a key of an outbox, for a sender that orders by numbers.

#ifndef WAYBILL_QUEUE_DETAIL_KEY_NUMBER_HPP
#define WAYBILL_QUEUE_DETAIL_KEY_NUMBER_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace waybill::inline v0_2::detail {

/// The number of a key for the sender: a hash of eight bytes at a time, different on machines with
/// another byte order. Two keys with one number are sent in order, too. std::hash takes 39
/// instructions more for a key of 11 bytes (g++ 12, `bench/run relay`).
[[nodiscard]] inline std::uint64_t key_number(std::string_view key) noexcept
{
    constexpr std::uint64_t odd_factor = 0x9E37'79B9'7F4A'7C15U;  // 2^64 / golden ratio
    std::uint64_t hash = key.size();
    const auto add = [&hash](std::uint64_t word) {
        hash = (hash ^ word) * odd_factor;
        hash ^= hash >> 32;
    };
    constexpr std::size_t word_size = sizeof(std::uint64_t);
    if (key.size() < word_size) {
        std::uint64_t word = 0;
        for (const char c : key) word = word << 8 | static_cast<unsigned char>(c);
        add(word);
        return hash;
    }
    const auto add_at = [&](std::size_t n) {
        std::uint64_t word = 0;
        std::memcpy(&word, key.data() + n, word_size);
        add(word);
    };
    const std::size_t last = key.size() - word_size;  // the last word may overlap the one before it
    for (std::size_t n = 0; n < last; n += word_size) add_at(n);
    add_at(last);
    return hash;
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_QUEUE_DETAIL_KEY_NUMBER_HPP
