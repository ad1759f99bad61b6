// SPDX-License-Identifier: MIT
//
// snapshot_bytes: the numbers of a stored window, written and read, and what may be wrong in them.
//
// Part of window_snapshot.hpp, where the format is told. Every number has one way to be written,
// and any other is refused; so what is accepted is what was written, byte for byte.

#ifndef WAYBILL_WINDOW_SNAPSHOT_BYTES_HPP
#define WAYBILL_WINDOW_SNAPSHOT_BYTES_HPP

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <waybill/core/check.hpp>
#include <waybill/core/sealed_bytes.hpp>

namespace waybill::inline v0_2 {

/// What can be wrong with the bytes of a stored window, or with how it is to be kept.
enum class snapshot_problem : std::uint8_t {
    empty,           ///< There are no bytes at all.
    too_short,       ///< They begin like a snapshot and end too soon to be one.
    not_a_snapshot,  ///< They are something else.
    corrupt,         ///< They are not what was written.
    newer,           ///< A later version of waybill has written them.
    other_kind,      ///< They hold other values: floating ones, or some with weights, or without.
    unsorted,        ///< A sample is older than the one in front of it.
    not_finite,      ///< A value is an infinity or not a number.
    out_of_range,    ///< A time, value or weight is beyond what its type can hold.
    bad_options,     ///< Nothing with the bytes: no window can be kept with such options.
};

[[nodiscard]] constexpr std::string_view name(snapshot_problem p) noexcept
{
    switch (p) {
        case snapshot_problem::empty: return "empty";
        case snapshot_problem::too_short: return "too_short";
        case snapshot_problem::not_a_snapshot: return "not_a_snapshot";
        case snapshot_problem::corrupt: return "corrupt";
        case snapshot_problem::newer: return "newer";
        case snapshot_problem::other_kind: return "other_kind";
        case snapshot_problem::unsorted: return "unsorted";
        case snapshot_problem::not_finite: return "not_finite";
        case snapshot_problem::out_of_range: return "out_of_range";
        case snapshot_problem::bad_options: return "bad_options";
    }
    return "?";
}

/// The first thing that is wrong, and at which byte.
struct snapshot_error {
    snapshot_problem problem = snapshot_problem::corrupt;
    std::uint64_t offset = 0;
    config_error options{};  ///< What is wrong with the options, if that is the problem.

    friend bool operator==(const snapshot_error&, const snapshot_error&) = default;
};

/// One line for a log.
[[nodiscard]] inline std::string text(const snapshot_error& e)
{
    std::string line = "window snapshot: ";
    line += name(e.problem);
    if (e.problem == snapshot_problem::bad_options) return line + ": " + text(e.options);
    line += " at byte ";
    line += std::to_string(e.offset);
    return line;
}

namespace detail {

struct snapshot_format {
    using error_type = snapshot_error;
    using problem_type = snapshot_problem;
    static constexpr snapshot_problem foreign = snapshot_problem::not_a_snapshot;
    static constexpr std::string_view magic = "wbw";
    static constexpr std::uint8_t version = 1;
};

/// Which bytes of `x` are written: behind so many zero ones, so many. 0 for 0.
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

    /// All but the zero bytes in front and behind.
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
        if (in_front + count > 8) fail(snapshot_problem::corrupt);
        std::uint64_t x = 0;
        for (unsigned n = 0; n != count && !error(); ++n) {
            x |= static_cast<std::uint64_t>(more()) << 8U * (8 - in_front - count + n);
        }
        if (bytes_used(x) != used) fail(snapshot_problem::corrupt);
        return error() ? 0 : x;
    }
};

}  // namespace detail

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_SNAPSHOT_BYTES_HPP
