// SPDX-License-Identifier: MIT
//
// wire_bytes: a plain writer of bytes for the reference encoders, and texts with lengths near the
// steps of encodings.

#ifndef WAYBILL_TESTS_WIRE_BYTES_HPP
#define WAYBILL_TESTS_WIRE_BYTES_HPP

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>

#include <rapidcheck.h>

namespace wire_bytes {

/// Appends to a string, most significant byte first.
struct writer {
    std::string out{};

    void fixed(std::uint64_t n, unsigned bytes)
    {
        while (bytes-- != 0) out.push_back(static_cast<char>(n >> (8 * bytes)));
    }
    void varint(std::uint64_t n)
    {
        for (; n >= 128; n >>= 7U) out.push_back(static_cast<char>(n | 128U));
        out.push_back(static_cast<char>(n));
    }
    void zigzag(std::int64_t n)
    {
        const auto twice = static_cast<std::uint64_t>(n) << 1U;
        varint(n < 0 ? ~twice : twice);
    }
    void raw(const std::string& s) { out += s; }
};

/// A text that is mostly short. Often its length is at a step of an encoding, or one off it.
inline rc::Gen<std::string> text(std::size_t most = 70'000)
{
    return rc::gen::map(
        rc::gen::pair(rc::gen::inRange(0, 20), rc::gen::inRange<std::size_t>(0, 300)),
        [most](const auto& p) {
            constexpr std::size_t steps[] = {63,  64,  65,    127,   128,    129,    254,
                                             255, 256, 8'191, 8'192, 16'383, 16'384, 65'535};
            const auto which = static_cast<std::size_t>(p.first);
            const bool step = which < std::size(steps) && p.second % 4 == 0;
            const std::size_t n = step ? steps[which] : p.second / (1 + which);
            return std::string(n < most ? n : most, 'x');
        });
}

/// Such a text, or nothing.
inline rc::Gen<std::optional<std::string>> maybe(std::size_t most = 70'000)
{
    return rc::gen::mapcat(rc::gen::arbitrary<bool>(), [most](bool any) {
        return rc::gen::map(text(most), [any](std::string s) {
            return any ? std::optional<std::string>(std::move(s)) : std::nullopt;
        });
    });
}

}  // namespace wire_bytes

#endif  // WAYBILL_TESTS_WIRE_BYTES_HPP
