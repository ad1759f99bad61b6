// SPDX-License-Identifier: MIT
//
// The deferred messages in the files of version 1: none, one, sessions, partitions, texts of any
// bytes, and extreme values.

#ifndef WAYBILL_TESTS_GOLDEN_QUEUE_BOOKS_HPP
#define WAYBILL_TESTS_GOLDEN_QUEUE_BOOKS_HPP

#include <cstdint>
#include <string>
#include <string_view>

#include <waybill/queue/deferred_messages.hpp>

namespace golden_books {

/// The stored form of an object.
struct stored {
    std::string_view name;
    std::string_view bytes;  ///< As hexadecimal digits.
    std::string_view json;
};

inline constexpr stored version_1[] = {
#include <golden/queue/deferral_1.inc>
};

inline const stored* find(std::string_view name)
{
    for (const stored& s : version_1) {
        if (s.name == name) return &s;
    }
    return nullptr;
}

inline std::string bytes_of(std::string_view digits)
{
    const auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
    std::string out;
    for (std::size_t n = 0; n + 1 < digits.size(); n += 2) {
        out += static_cast<char>(value(digits[n]) * 16 + value(digits[n + 1]));
    }
    return out;
}

inline constexpr std::int64_t noon = 1'709'208'000;  // on 29 February 2024

inline waybill::wall_time seconds(std::int64_t n)
{
    return waybill::wall_time::at(waybill::duration::seconds(n));
}

/// f(name, book) for each of them.
template <class F>
void each(F f)
{
    using waybill::wall_time;
    waybill::deferred_messages b;
    f("nothing", b);
    b.defer({.sequence = 7, .due = seconds(noon), .attempts = 1});
    f("one", b);
    b.defer({.sequence = 9,
             .due = seconds(noon + 600),
             .attempts = 2,
             .session = "s1",
             .id = "order-7:2",
             .since = seconds(noon - 60)});
    b.defer({.sequence = 8,
             .due = seconds(noon + 1'200),
             .attempts = 1,
             .session = "s1",
             .id = "order-6",
             .since = seconds(noon)});
    b.defer({.sequence = (3ULL << 48U) + 8, .due = seconds(noon), .session = "s2"});
    (void)b.take(seconds(noon), {}, 1);  // a message in hand is stored like all others
    f("sessions", b);
    waybill::deferred_messages ends;
    ends.defer({.sequence = 0, .due = wall_time::highest(), .since = wall_time::lowest()});
    ends.defer({.sequence = UINT64_MAX,
                .due = wall_time::lowest(),
                .attempts = UINT32_MAX,
                .session = std::string("\0\xFF\x80 no text", 11),
                .id = "\xC3\xA4",
                .since = wall_time::highest()});
    f("ends", ends);
}

}  // namespace golden_books

#endif  // WAYBILL_TESTS_GOLDEN_QUEUE_BOOKS_HPP
