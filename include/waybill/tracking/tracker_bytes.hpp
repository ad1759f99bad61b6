// SPDX-License-Identifier: MIT
//
// tracker_bytes: encodes the events done after the watermark, as metadata of a commit. After a
// crash or a change of owner these events are delivered again, and the next owner skips them.
//
//     const auto beside = waybill::encode_text(tracker, {.max_bytes = 4'096});
//     kafka.commit(*tracker.resume_at(), beside.bytes);      // beside.dropped events are repeated
//     ...
//     auto start = waybill::decode_text(from, metadata);     // from: the last event done, if any
//     if (start) tracker.resume(*start); else tracker.assign(from);      // all events are repeated
//     tracker.begin(17);                                     // done_before
//
// Guarantees (details and the format: guide)
//   1. Decoding returns the encoded events, or an error if bytes or position were changed.
//   2. The shortest of four forms is used. Without events to encode there are no bytes.
//   3. If the encoding exceeds the budget, it is cut, left out or refused. The result contains
//      which of these, and the number of events that will be repeated.
//   4. Decoding takes at most 64 bytes of memory for each byte of input.
//   5. Bytes of another partition with the same position are rejected only with a `salt`.

#ifndef WAYBILL_TRACKING_TRACKER_BYTES_HPP
#define WAYBILL_TRACKING_TRACKER_BYTES_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/base64_text.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/detail/seal.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/result.hpp>
#include <waybill/tracking/completion_tracker.hpp>
#include <waybill/tracking/detail/tracker_codec.hpp>
#include <waybill/tracking/detail/tracker_form.hpp>
#include <waybill/tracking/tracker_options.hpp>

namespace waybill::inline v0_2 {

/// The maximum size of an encoding: in bytes, or in characters if text is written.
struct tracker_budget {
    /// The treatment of an encoding that exceeds the budget.
    enum class when_too_long : std::uint8_t {
        cut,        ///< Encode only the events nearest to the watermark.
        leave_out,  ///< Encode nothing.
        refuse,  ///< Encode nothing and report `refused`, so that the caller can delay the commit.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(when_too_long) noexcept
    {
        return "cut, leave_out, refuse";
    }

    std::uint64_t max_bytes = 3'072;  ///< At least 24.
    when_too_long if_too_long = when_too_long::cut;
    /// Percent of `max_bytes`, at most 100. If the encoding takes more, can_accept() returns false.
    std::uint64_t pressure = 75;

    /// Converts a budget in characters of text to the budget of the encoded bytes.
    [[nodiscard]] constexpr tracker_budget in_bytes() const noexcept
    {
        tracker_budget bytes = *this;
        bytes.max_bytes = detail::base64_bytes(max_bytes);
        return bytes;
    }

    /// True if new events should be accepted: the tracker can accept them, and the encoding takes
    /// at most `pressure` percent of `max_bytes`. Examines all pending events: call it once for
    /// each fetch, not for each event.
    [[nodiscard]] bool can_accept(const completion_tracker& t) const;

    friend bool operator==(const tracker_budget&, const tracker_budget&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(const tracker_budget& b) noexcept
{
    // 1 byte for the head, 10 for the first position, 9 for three lengths, 4 for the checksum.
    constexpr std::uint64_t smallest = 1 + 10 + 9 + 4;
    if (b.max_bytes < smallest)
        return config_error{"max_bytes", b.max_bytes, "must be at least", smallest};
    if (b.pressure > 100) return config_error{"pressure", b.pressure, "must be at most", 100};
    return std::nullopt;
}

struct encoded_done {
    /// The part of the events done after the watermark that was encoded.
    enum class encoded_as : std::uint8_t {
        whole,     ///< All events.
        cut,       ///< Only the events nearest to the watermark.
        left_out,  ///< No events, although there are some.
        refused,   ///< No events, since not all fit and the budget has `refuse`. Delay the commit.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(encoded_as) noexcept
    {
        return "whole, cut, left_out, refused";
    }

    std::string bytes{};
    std::uint64_t kept = 0;     ///< Number of done events in `bytes`.
    std::uint64_t dropped = 0;  ///< Number of the other done events, repeated after a restart.
    encoded_as outcome = encoded_as::whole;

    /// The size in bytes if all events done after the watermark are encoded; 0 if there are no such
    /// events. Examines all pending events.
    [[nodiscard]] static std::uint64_t full_size(const completion_tracker& t)
    {
        return detail::plan_tracker(t, detail::highest_size).full_bytes;
    }

    friend bool operator==(const encoded_done&, const encoded_done&) = default;
};

inline bool tracker_budget::can_accept(const completion_tracker& t) const
{
    const std::uint64_t bytes_at_pressure =
        max_bytes / 100 * pressure + max_bytes % 100 * pressure / 100;
    return t.can_accept() &&
           encoded_done::full_size(t) <= detail::lesser(bytes_at_pressure, max_bytes);
}

/// Encodes the events done after the watermark. Commit the bytes together with resume_at() or
/// watermark(). `salt` is a number of the partition, such as waybill::crc32c("orders/7"), or 0.
/// decode() needs the same salt. Examines all pending events.
[[nodiscard]] inline encoded_done encode(const completion_tracker& t, const tracker_budget& b = {},
                                         std::uint64_t salt = 0)
{
    detail::tracker_plan p = detail::plan_tracker(t, b.max_bytes);
    encoded_done out;
    if (p.encoded_events != p.done_events) {
        out.outcome = p.encoded_events == 0 ? encoded_done::encoded_as::left_out
                                            : encoded_done::encoded_as::cut;
        if (b.if_too_long != tracker_budget::when_too_long::cut) p.bytes = p.encoded_events = 0;
        if (b.if_too_long == tracker_budget::when_too_long::leave_out)
            out.outcome = encoded_done::encoded_as::left_out;
        if (b.if_too_long == tracker_budget::when_too_long::refuse)
            out.outcome = encoded_done::encoded_as::refused;
    }
    out.bytes = detail::write_tracker(t, p, salt);
    out.kept = p.encoded_events;
    out.dropped = p.done_events - p.encoded_events;
    return out;
}

/// encode() as base64 text. The budget is in characters.
[[nodiscard]] inline encoded_done encode_text(const completion_tracker& t,
                                              const tracker_budget& b = {.max_bytes = 4'096},
                                              std::uint64_t salt = 0)
{
    encoded_done out = encode(t, b.in_bytes(), salt);
    out.bytes = detail::to_base64(out.bytes);
    return out;
}

/// Decodes the start of an assignment from the committed position and bytes. `done` is the last
/// event done, if any. For Kafka that is the committed offset minus 1, or no event if the offset is
/// 0. Empty bytes are valid and contain no events. Errors: `tracker_start::decode_error`.
[[nodiscard]] inline result<tracker_start, tracker_start::decode_error> decode(
    detail::done_position done, std::string_view bytes, std::uint64_t salt = 0)
{
    const std::optional<std::uint64_t>& from = done.at();
    tracker_start start{.from = from};
    if (bytes.empty()) return start;
    // Head, first position and body have at least one byte each.
    if (bytes.size() < 3 + detail::seal_bytes)
        return unexpected(tracker_start::decode_error::corrupt);
    if (!detail::has_valid_checksum(bytes, salt))
        return unexpected(tracker_start::decode_error::corrupt);
    bytes.remove_suffix(detail::seal_bytes);
    const auto head = static_cast<unsigned char>(bytes.front());
    if (head / 16U > detail::tracker_version) return unexpected(tracker_start::decode_error::newer);
    if (head / 16U == 0 || (head & 8U) != 0)
        return unexpected(tracker_start::decode_error::corrupt);

    detail::tracker_reader in(bytes.substr(1));
    const std::uint64_t first = in.take_number();
    if (in.failed() || in.at_end()) return unexpected(tracker_start::decode_error::corrupt);
    const bool follows = from && *from != detail::highest_size && *from + 1 == first;
    const bool is_first = (head & detail::no_low_water_flag) != 0;
    if (!follows && (from || !is_first)) return unexpected(tracker_start::decode_error::other_base);

    const auto form = static_cast<detail::tracker_form>(head & 3U);
    const bool good = form == detail::tracker_form::bits
                          ? detail::read_bits(in.rest(), first, start.done)
                          : detail::read_lengths(in, form, first, start.done);
    if (!good) return unexpected(tracker_start::decode_error::corrupt);
    if (!from) start.next = first;
    return start;
}

/// decode() of base64 text.
[[nodiscard]] inline result<tracker_start, tracker_start::decode_error> decode_text(
    detail::done_position done, std::string_view text, std::uint64_t salt = 0)
{
    const std::optional<std::string> bytes = detail::from_base64(text);
    if (!bytes) return unexpected(tracker_start::decode_error::not_text);
    return decode(done, *bytes, salt);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_TRACKING_TRACKER_BYTES_HPP
