// SPDX-License-Identifier: MIT
//
// tracker_codec: writes and reads the bytes of a `completion_tracker`. The guide has the format.

#ifndef WAYBILL_TRACKING_DETAIL_TRACKER_CODEC_HPP
#define WAYBILL_TRACKING_DETAIL_TRACKER_CODEC_HPP

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/crc32c.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/detail/seal.hpp>
#include <waybill/core/detail/varint.hpp>
#include <waybill/tracking/completion_tracker.hpp>
#include <waybill/tracking/detail/done_runs.hpp>
#include <waybill/tracking/detail/tracker_form.hpp>
#include <waybill/tracking/tracker_options.hpp>

namespace waybill::inline v0_2::detail {

// The first byte is 16 * version + form (bits 0 and 1) + flag (bit 2). Bit 3 is 0.
inline constexpr unsigned tracker_version = 1;
inline constexpr unsigned no_low_water_flag = 4;  // no event was done before the first position

/// The form and the size of an encoding, before it is written.
struct tracker_plan {
    tracker_form form = tracker_form::runs;
    std::uint64_t bytes = 0;           ///< Encoded size; 0 if there is nothing to write.
    std::uint64_t last_position = 0;   ///< The last encoded position.
    std::uint64_t encoded_events = 0;  ///< Number of encoded events.
    std::uint64_t done_events = 0;     ///< Number of done events, with those that do not fit.
    std::uint64_t full_bytes = 0;      ///< Encoded size of all done events.
};

/// Plans the encoding of the first done events, as many as fit into `max_bytes`.
[[nodiscard]] inline tracker_plan plan_tracker(const completion_tracker& t, std::uint64_t max_bytes)
{
    tracker_plan p;
    form_sizes sizes;
    for_each_run(t, [&](const tracked_range& r) {
        sizes.add(r);
        if (!r.done) return;
        p.done_events = saturating_add(p.done_events, r.events);
        if (r.events == 0 && p.done_events == 0) return;  // a gap before the first event
        const tracker_form form = sizes.smallest();
        p.full_bytes =
            saturating_add(sizes.size_of(form), 1 + varint_size(sizes.first) + seal_bytes);
        if (p.full_bytes > max_bytes) return;
        p.form = form;
        p.bytes = p.full_bytes;
        p.last_position = r.at.last;
        p.encoded_events = p.done_events;
    });
    return p;
}

/// The checksum of the bytes: CRC-32C, XOR the CRC-32C of the salt unless that is 0.
[[nodiscard]] constexpr std::uint32_t tracker_checksum(std::string_view bytes,
                                                       std::uint64_t salt) noexcept
{
    if (salt == 0) return crc32c(bytes);
    char number[8] = {};
    for (unsigned n = 0; n != 8; ++n) number[n] = static_cast<char>(salt >> 8 * n & 0xFFU);
    return crc32c(bytes) ^ crc32c({number, 8});
}

/// True if the last `seal_bytes` bytes are the checksum of the others. Requires: at least
/// `seal_bytes` bytes.
[[nodiscard]] constexpr bool has_valid_checksum(std::string_view bytes, std::uint64_t salt) noexcept
{
    const std::size_t end = bytes.size() - seal_bytes;
    std::uint32_t sum = 0;
    for (std::size_t n = seal_bytes; n != 0; --n) {
        sum = sum << 8U | static_cast<unsigned char>(bytes[end + n - 1]);
    }
    return sum == tracker_checksum(bytes.substr(0, end), salt);
}

/// Writes the planned encoding; empty if there is nothing to write.
[[nodiscard]] inline std::string write_tracker(const completion_tracker& t, const tracker_plan& p,
                                               std::uint64_t salt)
{
    std::string out;
    if (p.bytes == 0) return out;
    out.reserve(p.bytes);
    const unsigned head = tracker_version * 16 + static_cast<unsigned>(p.form) +
                          (t.low_water() ? 0 : no_low_water_flag);
    out += static_cast<char>(head);
    const std::uint64_t first = t.resume_at().value_or(0);
    put_varint(out, first);
    form_writer body(out, p.form, first);
    for_each_run(t, [&](const tracked_range& r) {
        if (r.at.last <= p.last_position) body.add(r, r.at.last == p.last_position);
    });
    std::uint32_t sum = tracker_checksum(out, salt);
    for (std::size_t n = 0; n != seal_bytes; ++n, sum >>= 8U) out += static_cast<char>(sum & 0xFFU);
    return out;
}

/// Reads consecutive numbers, and records whether one of them was invalid.
class tracker_reader {
public:
    explicit tracker_reader(std::string_view bytes) noexcept : bytes_(bytes) {}

    [[nodiscard]] bool at_end() const noexcept { return bytes_.empty(); }
    [[nodiscard]] bool failed() const noexcept { return failed_; }
    [[nodiscard]] std::string_view rest() const noexcept { return bytes_; }

    /// Reads a number. If there is none, or it is longer than necessary or than 64 bits, returns 0,
    /// and failed() is true from then on.
    [[nodiscard]] std::uint64_t take_number() noexcept
    {
        const std::optional<std::uint64_t> n = take_varint(bytes_);
        failed_ = failed_ || !n;
        return n.value_or(0);
    }

private:
    std::string_view bytes_;
    bool failed_ = false;
};

/// The next position to read.
struct next_position {
    std::uint64_t at = 0;
    bool over = false;  ///< The largest position was read: there is no next one.

    /// Skips `count` positions and returns the one after them. No value if that is past the largest
    /// position.
    [[nodiscard]] constexpr std::optional<std::uint64_t> skip(std::uint64_t count) noexcept
    {
        if (over || count > highest_size - at) return std::nullopt;
        const std::uint64_t found = at + count;
        over = found == highest_size;
        at = found + 1;
        return found;
    }
};

/// Decodes a body of the forms runs, open and done. Returns false if it is invalid.
[[nodiscard]] inline bool read_lengths(tracker_reader in, tracker_form form, std::uint64_t first,
                                       done_runs& out)
{
    next_position next{first};
    if (form == tracker_form::runs) {
        if (const std::uint64_t first_run_length = in.take_number(); first_run_length != 0) {
            const std::optional<std::uint64_t> last = next.skip(first_run_length - 1);
            if (!last || !out.add({first, *last})) return false;
        }
    }
    while (!in.at_end() && !in.failed()) {
        const std::uint64_t from = next.at;
        const std::uint64_t skipped = in.take_number();
        const std::optional<std::uint64_t> stop = next.skip(skipped);
        if (in.failed() || !stop) return false;
        if (form == tracker_form::done) {
            if (!out.add({*stop, *stop})) return false;
        } else if (form == tracker_form::open) {
            if (in.at_end()) return out.add({from, *stop});
            if (skipped != 0 && !out.add({from, *stop - 1})) return false;
        } else {
            const std::uint64_t done = next.at;
            const std::optional<std::uint64_t> last = next.skip(in.take_number());
            if (in.failed() || !last || !out.add({done, *last})) return false;
        }
    }
    return !in.failed() && !out.empty() && form != tracker_form::open;
}

/// Decodes a body of the form bits. Returns false if it is invalid.
[[nodiscard]] inline bool read_bits(std::string_view bytes, std::uint64_t first, done_runs& out)
{
    if (bytes.empty() || bytes.back() == '\0') return false;
    std::uint64_t run_count = 0;
    unsigned before = 0;  // the highest bit of the previous byte
    for (const char c : bytes) {
        const unsigned bits = static_cast<unsigned char>(c);
        // A run begins at each 1 that follows a 0.
        run_count += static_cast<unsigned>(std::popcount(bits & ~(bits << 1U | before)));
        before = bits >> 7U;
    }
    out.reserve(run_count);  // a growing list would take twice the memory, and more while it grows
    for (std::size_t n = 0; n != bytes.size() * 8; ++n) {
        if ((static_cast<unsigned char>(bytes[n / 8]) >> n % 8 & 1U) == 0) continue;
        if (n > highest_size - first || !out.add({first + n, first + n})) return false;
    }
    return true;
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_TRACKING_DETAIL_TRACKER_CODEC_HPP
