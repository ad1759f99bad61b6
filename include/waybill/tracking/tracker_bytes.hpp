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

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/base64_text.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/crc32c.hpp>
#include <waybill/core/detail/seal.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/result.hpp>
#include <waybill/tracking/completion_tracker.hpp>
#include <waybill/tracking/detail/tracker_form.hpp>

namespace waybill::inline v0_2 {

/// The maximum size of an encoding: in bytes, or in characters if text is written.
struct tracker_budget {
    /// How an encoding is handled that exceeds the budget.
    enum class when_too_long : std::uint8_t {
        cut,        ///< Encode only the events nearest to the watermark.
        leave_out,  ///< Encode nothing.
        refuse,  ///< Encode nothing and report `refused`, so that the caller can delay the commit.
    };

    std::uint64_t max_bytes = 3'072;  ///< At least 24.
    when_too_long if_more = when_too_long::cut;
    /// Percent of `max_bytes`, at most 100. If the encoding takes more, can_accept() returns false.
    std::uint64_t pressure = 75;

    friend bool operator==(const tracker_budget&, const tracker_budget&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(const tracker_budget& b) noexcept
{
    // 1 byte for the head, 10 for the first position, 9 for three lengths, 4 for the checksum.
    if (b.max_bytes < 24) return config_error{"max_bytes", b.max_bytes, "must be at least", 24};
    if (b.pressure > 100) return config_error{"pressure", b.pressure, "must be at most", 100};
    return std::nullopt;
}

/// Converts a budget in characters of text to the budget of the encoded bytes.
[[nodiscard]] constexpr tracker_budget in_bytes(tracker_budget characters) noexcept
{
    characters.max_bytes = detail::base64_bytes(characters.max_bytes);
    return characters;
}

struct encoded_done {
    /// How much of the events done after the watermark was encoded.
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

    friend bool operator==(const encoded_done&, const encoded_done&) = default;
};

/// Why bytes cannot be decoded.
enum class tracker_problem : std::uint8_t {
    not_text,    ///< The text is not base64 as encode_text() writes it.
    corrupt,     ///< The bytes were changed, or were encoded with another `salt`.
    newer,       ///< The bytes were encoded by a later version of waybill.
    other_base,  ///< The bytes belong to another position than the committed one.
};

[[nodiscard]] constexpr std::string_view texts_of(tracker_problem) noexcept
{
    return "not_text, corrupt, newer, other_base";
}

namespace detail {

inline constexpr unsigned tracker_version = 1;
inline constexpr unsigned tracker_is_first = 4;

/// The form and the size of an encoding, before it is written.
struct tracker_plan {
    tracker_form form = tracker_form::runs;
    std::uint64_t bytes = 0;      ///< Encoded size; 0 if there is nothing to write.
    std::uint64_t end = 0;        ///< The last encoded position.
    std::uint64_t kept = 0;       ///< Number of encoded events.
    std::uint64_t all = 0;        ///< Number of done events, including those that do not fit.
    std::uint64_t all_bytes = 0;  ///< Encoded size of all done events.
};

/// Plans the encoding of the longest beginning that fits into `most` bytes.
[[nodiscard]] constexpr tracker_plan plan_tracker(const completion_tracker& t, std::uint64_t most)
{
    tracker_plan p;
    form_sizes sizes;
    for_each_run(t, [&](const tracked_range& r) {
        sizes.add(r);
        if (!r.done) return;
        p.all = saturating_add(p.all, r.events);
        if (r.events == 0 && p.all == 0) return;  // a gap before the first event
        const tracker_form form = sizes.smallest();
        p.all_bytes = saturating_add(sizes.of(form), 1 + varint_size(sizes.first) + seal_bytes);
        if (p.all_bytes > most) return;
        p.form = form;
        p.bytes = p.all_bytes;
        p.end = r.at.last;
        p.kept = p.all;
    });
    return p;
}

/// The checksum of the bytes: CRC-32C, XOR the CRC-32C of the salt unless that is 0.
[[nodiscard]] constexpr std::uint32_t tracker_sum(std::string_view bytes,
                                                  std::uint64_t salt) noexcept
{
    if (salt == 0) return crc32c(bytes);
    char number[8] = {};
    for (unsigned n = 0; n != 8; ++n) number[n] = static_cast<char>(salt >> 8 * n & 0xFFU);
    return crc32c(bytes) ^ crc32c({number, 8});
}

/// Whether the last `seal_bytes` bytes are the checksum of the others. Requires: there are others.
[[nodiscard]] constexpr bool tracker_holds(std::string_view bytes, std::uint64_t salt) noexcept
{
    const std::size_t end = bytes.size() - seal_bytes;
    std::uint32_t sum = 0;
    for (std::size_t n = seal_bytes; n != 0; --n) {
        sum = sum << 8U | static_cast<unsigned char>(bytes[end + n - 1]);
    }
    return sum == tracker_sum(bytes.substr(0, end), salt);
}

[[nodiscard]] inline std::string write_tracker(const completion_tracker& t, const tracker_plan& p,
                                               std::uint64_t salt)
{
    std::string out;
    if (p.bytes == 0) return out;
    out.reserve(p.bytes);
    const unsigned head = tracker_version * 16 + static_cast<unsigned>(p.form) +
                          (t.low_water() ? 0 : tracker_is_first);
    out += static_cast<char>(head);
    const std::uint64_t first = t.resume_at().value_or(0);
    put_whole(out, first);
    form_writer body(out, p.form, first);
    for_each_run(t, [&](const tracked_range& r) {
        if (r.at.last <= p.end) body.add(r, r.at.last == p.end);
    });
    std::uint32_t sum = tracker_sum(out, salt);
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

    /// Returns 0 and fails if there is no number, or it is longer than necessary or than 64 bits.
    [[nodiscard]] std::uint64_t whole() noexcept
    {
        const std::optional<std::uint64_t> n = take_whole(bytes_);
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

    /// Skips `many` positions and reads the next one. No value if that is past the largest
    /// position.
    [[nodiscard]] constexpr std::optional<std::uint64_t> step(std::uint64_t many) noexcept
    {
        if (over || many > highest_size - at) return std::nullopt;
        const std::uint64_t found = at + many;
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
        if (const std::uint64_t lead = in.whole(); lead != 0) {
            const std::optional<std::uint64_t> last = next.step(lead - 1);
            if (!last || !out.add({first, *last})) return false;
        }
    }
    while (!in.at_end() && !in.failed()) {
        const std::uint64_t from = next.at;
        const std::uint64_t many = in.whole();
        const std::optional<std::uint64_t> stop = next.step(many);
        if (in.failed() || !stop) return false;
        if (form == tracker_form::done) {
            if (!out.add({*stop, *stop})) return false;
        } else if (form == tracker_form::open) {
            if (in.at_end()) return out.add({from, *stop});
            if (many != 0 && !out.add({from, *stop - 1})) return false;
        } else {
            const std::uint64_t done = next.at;
            const std::optional<std::uint64_t> last = next.step(in.whole());
            if (in.failed() || !last || !out.add({done, *last})) return false;
        }
    }
    return !in.failed() && !out.empty() && form != tracker_form::open;
}

[[nodiscard]] inline bool read_bits(std::string_view bytes, std::uint64_t first, done_runs& out)
{
    if (bytes.empty() || bytes.back() == '\0') return false;
    std::uint64_t runs = 0;
    unsigned before = 0;  // the highest bit of the previous byte
    for (const char c : bytes) {
        const unsigned bits = static_cast<unsigned char>(c);
        runs += static_cast<unsigned>(std::popcount(bits & ~(bits << 1U | before)));
        before = bits >> 7U;
    }
    out.reserve(runs);  // a growing list would take twice the memory, and more while it grows
    for (std::size_t n = 0; n != bytes.size() * 8; ++n) {
        if ((static_cast<unsigned char>(bytes[n / 8]) >> n % 8 & 1U) == 0) continue;
        if (n > highest_size - first || !out.add({first + n, first + n})) return false;
    }
    return true;
}

}  // namespace detail

/// Returns the size in bytes of the encoding of all events done after the watermark; 0 if there are
/// no such events. Examines all pending events.
[[nodiscard]] constexpr std::uint64_t encoded_size(const completion_tracker& t)
{
    return detail::plan_tracker(t, highest_size).all_bytes;
}

/// Whether new events should be accepted: the tracker can accept them, and the encoding takes at
/// most `pressure` percent of `max_bytes`. Examines all pending events: call it once for each
/// fetch, not for each event.
[[nodiscard]] constexpr bool can_accept(const completion_tracker& t, const tracker_budget& b)
{
    const std::uint64_t most =
        b.max_bytes / 100 * b.pressure + b.max_bytes % 100 * b.pressure / 100;
    return t.can_accept() && encoded_size(t) <= detail::lesser(most, b.max_bytes);
}

/// Encodes the events done after the watermark. Commit the bytes together with resume_at() or
/// watermark(). `salt` is a number of the partition, such as waybill::crc32c("orders/7"), or 0.
/// decode() needs the same salt. Examines all pending events.
[[nodiscard]] inline encoded_done encode(const completion_tracker& t, const tracker_budget& b = {},
                                         std::uint64_t salt = 0)
{
    detail::tracker_plan p = detail::plan_tracker(t, b.max_bytes);
    encoded_done out;
    if (p.kept != p.all) {
        out.outcome =
            p.kept == 0 ? encoded_done::encoded_as::left_out : encoded_done::encoded_as::cut;
        if (b.if_more != tracker_budget::when_too_long::cut) p.bytes = p.kept = 0;
        if (b.if_more == tracker_budget::when_too_long::leave_out)
            out.outcome = encoded_done::encoded_as::left_out;
        if (b.if_more == tracker_budget::when_too_long::refuse)
            out.outcome = encoded_done::encoded_as::refused;
    }
    out.bytes = detail::write_tracker(t, p, salt);
    out.kept = p.kept;
    out.dropped = p.all - p.kept;
    return out;
}

/// encode() as base64 text. The budget is in characters.
[[nodiscard]] inline encoded_done encode_text(const completion_tracker& t,
                                              const tracker_budget& b = {.max_bytes = 4'096},
                                              std::uint64_t salt = 0)
{
    encoded_done out = encode(t, in_bytes(b), salt);
    out.bytes = to_base64(out.bytes);
    return out;
}

/// Decodes the start of an assignment from the committed position and bytes. `done` is the last
/// event done, if any. For Kafka that is the committed offset minus 1, or no event if the offset is
/// 0. Empty bytes are valid and contain no events. Errors: `tracker_problem`.
[[nodiscard]] inline result<tracker_start, tracker_problem> decode(done_position done,
                                                                   std::string_view bytes,
                                                                   std::uint64_t salt = 0)
{
    const std::optional<std::uint64_t>& from = done.at();
    tracker_start start{from, {}, {}};
    if (bytes.empty()) return start;
    if (bytes.size() <= 2 + detail::seal_bytes) return unexpected(tracker_problem::corrupt);
    if (!detail::tracker_holds(bytes, salt)) return unexpected(tracker_problem::corrupt);
    bytes.remove_suffix(detail::seal_bytes);
    const auto head = static_cast<unsigned char>(bytes.front());
    if (head / 16U > detail::tracker_version) return unexpected(tracker_problem::newer);
    if (head / 16U == 0 || (head & 8U) != 0) return unexpected(tracker_problem::corrupt);

    detail::tracker_reader in(bytes.substr(1));
    const std::uint64_t first = in.whole();
    if (in.failed() || in.at_end()) return unexpected(tracker_problem::corrupt);
    const bool follows = from && *from != highest_size && *from + 1 == first;
    const bool is_first = (head & detail::tracker_is_first) != 0;
    if (!follows && (from || !is_first)) return unexpected(tracker_problem::other_base);

    const auto form = static_cast<detail::tracker_form>(head & 3U);
    const bool good = form == detail::tracker_form::bits
                          ? detail::read_bits(in.rest(), first, start.done)
                          : detail::read_lengths(in, form, first, start.done);
    if (!good) return unexpected(tracker_problem::corrupt);
    if (!from) start.next = first;
    return start;
}

/// decode() of base64 text.
[[nodiscard]] inline result<tracker_start, tracker_problem> decode_text(done_position done,
                                                                        std::string_view text,
                                                                        std::uint64_t salt = 0)
{
    const std::optional<std::string> bytes = from_base64(text);
    if (!bytes) return unexpected(tracker_problem::not_text);
    return decode(done, *bytes, salt);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_TRACKING_TRACKER_BYTES_HPP
