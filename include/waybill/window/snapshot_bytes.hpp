// SPDX-License-Identifier: MIT
//
// snapshot_bytes: writes and reads the numbers of a stored window, and names the errors.
//
// Part of window_snapshot.hpp. Every number has exactly one valid encoding. So accepted bytes are
// identical to the bytes that were written.

#ifndef WAYBILL_WINDOW_SNAPSHOT_BYTES_HPP
#define WAYBILL_WINDOW_SNAPSHOT_BYTES_HPP

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/sealed_bytes.hpp>
#include <waybill/core/enum_name.hpp>

namespace waybill::inline v0_2 {

/// The first error, and the offset of its first byte.
struct snapshot_error {
    /// Why the bytes of a stored window, or the options to load it with, are refused.
    enum class code : std::uint8_t {
        empty,           ///< There are no bytes.
        too_short,       ///< The bytes begin like a snapshot and end too early.
        not_a_snapshot,  ///< The bytes are something else.
        corrupt,         ///< The bytes differ from those written.
        newer,           ///< A later version of waybill wrote the bytes.
        other_kind,      ///< The values have another type, or differ in having weights.
        unsorted,        ///< A sample is older than the previous one.
        not_finite,      ///< A value is an infinity or NaN.
        out_of_range,    ///< A time, value or weight does not fit its type.
        bad_options,     ///< The options are invalid; the bytes were not read.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(code) noexcept
    {
        return "empty, too_short, not_a_snapshot, corrupt, newer, other_kind, unsorted, "
               "not_finite, "
               "out_of_range, bad_options";
    }

    code kind = code::corrupt;
    std::uint64_t offset = 0;
    config_error options{};  ///< The invalid option, if `problem` is `bad_options`.

    friend bool operator==(const snapshot_error&, const snapshot_error&) = default;
};

/// One line for a log.
[[nodiscard]] inline std::string describe(const snapshot_error& e)
{
    std::string line = "window snapshot: ";
    line += name(e.kind);
    if (e.kind == snapshot_error::code::bad_options) return line + ": " + describe(e.options);
    line += " at byte ";
    line += std::to_string(e.offset);
    return line;
}

namespace detail {

struct snapshot_format {
    using error_type = snapshot_error;
    using problem_type = snapshot_error::code;
    static constexpr snapshot_error::code foreign = snapshot_error::code::not_a_snapshot;
    static constexpr std::string_view magic = "wbw";
    static constexpr std::uint8_t version = 1;
};

/// Which bytes of `x` are written: the number of leading zero bytes * 16 + the number of bytes from
/// there to the last that is not zero. 0 for 0.
[[nodiscard]] constexpr std::uint8_t bytes_used(std::uint64_t x) noexcept
{
    if (x == 0) return 0;
    const int in_front = std::countl_zero(x) / 8;
    const int behind = std::countr_zero(x) / 8;
    return static_cast<std::uint8_t>(in_front * 16 + (8 - in_front - behind));
}

class snapshot_writer : public sealed_writer<snapshot_format> {
public:
    explicit snapshot_writer(std::size_t samples) : sealed_writer(32 + 3 * samples) {}

    /// Writes `bytes_used`, then these bytes, the lowest first.
    void middle(std::uint64_t x)
    {
        const std::uint8_t used = bytes_used(x);
        byte(used);
        if (x != 0) x >>= static_cast<unsigned>(std::countr_zero(x) / 8 * 8);
        for (int n = used % 16; n != 0; --n, x >>= 8U) byte(static_cast<std::uint8_t>(x & 0xFFU));
    }
};

class snapshot_reader : public sealed_reader<snapshot_format> {
public:
    using sealed_reader::sealed_reader;

    [[nodiscard]] std::uint64_t middle() noexcept
    {
        const std::uint8_t used = byte();
        const unsigned in_front = used / 16U;
        const unsigned count = used % 16U;
        if (in_front + count > 8) fail(snapshot_error::code::corrupt);
        std::uint64_t x = 0;
        for (unsigned n = 0; n != count && !error(); ++n) {
            x |= static_cast<std::uint64_t>(more()) << 8U * (8 - in_front - count + n);
        }
        if (bytes_used(x) != used) fail(snapshot_error::code::corrupt);
        return error() ? 0 : x;
    }
};

}  // namespace detail

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_SNAPSHOT_BYTES_HPP
