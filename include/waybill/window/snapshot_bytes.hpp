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
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/check.hpp>
#include <waybill/core/crc32c.hpp>
#include <waybill/core/varint.hpp>

namespace waybill::inline v0_1 {

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

inline constexpr std::string_view snapshot_magic = "wbw";
inline constexpr std::uint8_t snapshot_version = 1;
inline constexpr std::size_t snapshot_checksum_bytes = 4;

/// Which bytes of `x` are written: behind so many zero ones, so many. 0 for 0.
[[nodiscard]] constexpr std::uint8_t bytes_used(std::uint64_t x) noexcept
{
    if (x == 0) return 0;
    const int in_front = std::countl_zero(x) / 8;
    const int behind = std::countr_zero(x) / 8;
    return static_cast<std::uint8_t>(in_front * 16 + (8 - in_front - behind));
}

class snapshot_writer {
public:
    explicit snapshot_writer(std::size_t samples) : bytes_(snapshot_magic)
    {
        bytes_.reserve(32 + 3 * samples);
        byte(snapshot_version);
    }

    void byte(std::uint8_t b) { bytes_ += static_cast<char>(b); }

    /// Seven bits a byte, the lowest first.
    void whole(std::uint64_t n)
    {
        for (; n >= 0x80; n >>= 7U) byte(static_cast<std::uint8_t>(n | 0x80U));
        byte(static_cast<std::uint8_t>(n));
    }

    /// The same for a number close to zero on either side of it, in two's complement.
    void near(std::uint64_t n) { whole(zigzag(static_cast<std::int64_t>(n))); }

    /// All but the zero bytes in front and behind.
    void middle(std::uint64_t x)
    {
        const std::uint8_t used = bytes_used(x);
        byte(used);
        if (x != 0) x >>= static_cast<unsigned>(std::countr_zero(x) / 8 * 8);
        for (int n = used % 16; n != 0; --n, x >>= 8U) byte(static_cast<std::uint8_t>(x & 0xFFU));
    }

    [[nodiscard]] std::string finish() &&
    {
        std::uint32_t sum = crc32c(bytes_);
        for (std::size_t n = 0; n != snapshot_checksum_bytes; ++n, sum >>= 8U) {
            byte(static_cast<std::uint8_t>(sum & 0xFFU));
        }
        return static_cast<std::string&&>(bytes_);
    }

private:
    std::string bytes_;
};

/// Reads what the writer has written. The first thing that is wrong is kept; what is read after
/// it are zeros.
class snapshot_reader {
public:
    explicit snapshot_reader(std::string_view bytes) noexcept : bytes_(bytes)
    {
        check_all();
        if (error_) return;
        bytes_.remove_suffix(snapshot_checksum_bytes);
        at_ = snapshot_magic.size();
        const std::uint8_t version = byte();
        if (version == 0) fail(snapshot_problem::not_a_snapshot);
        if (version > snapshot_version) fail(snapshot_problem::newer);
    }

    [[nodiscard]] const std::optional<snapshot_error>& error() const noexcept { return error_; }
    [[nodiscard]] std::size_t left() const noexcept { return bytes_.size() - at_; }

    /// Of what was read last.
    void fail(snapshot_problem p) noexcept
    {
        if (!error_) error_ = snapshot_error{p, from_};
    }

    [[nodiscard]] std::uint8_t byte() noexcept
    {
        from_ = at_;
        return next();
    }

    [[nodiscard]] std::uint64_t whole() noexcept
    {
        from_ = at_;
        std::uint64_t n = 0;
        for (unsigned shift = 0; !error_; shift += 7) {
            const std::uint8_t b = next();
            const std::uint64_t digits = b & 0x7FU;
            // Neither more than 64 bits nor zeros that need not be there.
            if ((shift == 63 && b > 1) || (shift != 0 && b == 0)) fail(snapshot_problem::corrupt);
            n |= digits << shift;
            if (b < 0x80 || shift == 63) break;
        }
        return error_ ? 0 : n;
    }

    [[nodiscard]] std::uint64_t near() noexcept
    {
        return static_cast<std::uint64_t>(from_zigzag(whole()));
    }

    [[nodiscard]] std::uint64_t middle() noexcept
    {
        const std::uint8_t used = byte();
        const unsigned in_front = used / 16U;
        const unsigned count = used % 16U;
        if (in_front + count > 8) fail(snapshot_problem::corrupt);
        std::uint64_t x = 0;
        for (unsigned n = 0; n != count && !error_; ++n) {
            x |= static_cast<std::uint64_t>(next()) << 8U * (8 - in_front - count + n);
        }
        if (bytes_used(x) != used) fail(snapshot_problem::corrupt);
        return error_ ? 0 : x;
    }

private:
    void check_all() noexcept
    {
        if (bytes_.empty()) return fail(snapshot_problem::empty);
        const std::string_view magic = bytes_.substr(0, snapshot_magic.size());
        if (magic != snapshot_magic.substr(0, magic.size())) {
            return fail(snapshot_problem::not_a_snapshot);
        }
        from_ = bytes_.size();
        if (from_ < snapshot_magic.size() + 1 + snapshot_checksum_bytes) {
            return fail(snapshot_problem::too_short);
        }
        from_ -= snapshot_checksum_bytes;
        std::uint32_t sum = 0;
        for (std::size_t n = bytes_.size(); n != from_; --n) {
            sum = sum << 8U | static_cast<unsigned char>(bytes_[n - 1]);
        }
        if (sum != crc32c(bytes_.substr(0, from_))) fail(snapshot_problem::corrupt);
    }

    [[nodiscard]] std::uint8_t next() noexcept
    {
        if (at_ == bytes_.size()) fail(snapshot_problem::corrupt);
        if (error_) return 0;
        return static_cast<std::uint8_t>(bytes_[at_++]);
    }

    std::string_view bytes_;
    std::size_t at_ = 0;
    std::size_t from_ = 0;  // where that begins what was read last
    std::optional<snapshot_error> error_;
};

}  // namespace detail

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_WINDOW_SNAPSHOT_BYTES_HPP
