// SPDX-License-Identifier: MIT
//
// snapshot_bytes: writes and reads the numbers of a stored window.
//
// Part of window_snapshot.hpp. Every number has exactly one valid encoding. So the reader
// accepts only bytes that the writer produces.

#ifndef WAYBILL_WINDOW_DETAIL_SNAPSHOT_BYTES_HPP
#define WAYBILL_WINDOW_DETAIL_SNAPSHOT_BYTES_HPP

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <waybill/core/detail/sealed_bytes.hpp>
#include <waybill/window/snapshot_error.hpp>

namespace waybill::inline v0_2::detail {

struct snapshot_format {
    using error_type = snapshot_error;
    using problem_type = snapshot_error::code;
    static constexpr snapshot_error::code foreign = snapshot_error::code::not_a_snapshot;
    static constexpr std::string_view magic = "wbw";
    static constexpr std::uint8_t version = 1;
};

/// Describes the bytes of `x` that are written: 16 * z + n, or 0 for 0. z is the number of leading
/// zero bytes, n the number of bytes from there to the last byte that is not zero.
[[nodiscard]] constexpr std::uint8_t used_bytes(std::uint64_t x) noexcept
{
    if (x == 0) return 0;
    const int leading = std::countl_zero(x) / 8;
    const int trailing = std::countr_zero(x) / 8;
    return static_cast<std::uint8_t>(leading * 16 + (8 - leading - trailing));
}

class snapshot_writer : public sealed_writer<snapshot_format> {
public:
    explicit snapshot_writer(std::size_t samples)
        : sealed_writer(expected_frame_bytes + expected_sample_bytes * samples)
    {
    }

    /// Writes `used_bytes`, then these bytes, the lowest first.
    void trimmed_integer(std::uint64_t x)
    {
        const std::uint8_t used = used_bytes(x);
        byte(used);
        if (x != 0) x >>= static_cast<unsigned>(std::countr_zero(x) / 8 * 8);
        for (int n = used % 16; n != 0; --n, x >>= 8U) byte(static_cast<std::uint8_t>(x & 0xFFU));
    }

private:
    // Estimates for the memory to reserve: all fields but the samples, and a usual sample.
    static constexpr std::size_t expected_frame_bytes = 32;
    static constexpr std::size_t expected_sample_bytes = 3;
};

class snapshot_reader : public sealed_reader<snapshot_format> {
public:
    using sealed_reader::sealed_reader;

    /// Reads an integer that `snapshot_writer::trimmed_integer` has written.
    [[nodiscard]] std::uint64_t trimmed_integer() noexcept
    {
        const std::uint8_t used = byte();
        const unsigned leading = used / 16U;
        const unsigned count = used % 16U;
        if (leading + count > 8) fail(snapshot_error::code::corrupt);
        std::uint64_t x = 0;
        for (unsigned n = 0; n != count && !error(); ++n) {
            x |= static_cast<std::uint64_t>(next_byte()) << 8U * (8 - leading - count + n);
        }
        if (used_bytes(x) != used) fail(snapshot_error::code::corrupt);
        return error() ? 0 : x;
    }
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_WINDOW_DETAIL_SNAPSHOT_BYTES_HPP
