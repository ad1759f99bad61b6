// SPDX-License-Identifier: MIT
//
// tracker_bytes: what is done behind the watermark, as a few bytes to commit beside it.
//
// After a crash or a change of owner all behind the watermark comes again, and with one slow event
// in front that may be thousands that were done. Where a commit has room for metadata (4,096
// characters in Kafka's), what is done goes with it, and the next owner passes it by:
//
//     const auto beside = waybill::encode_text(tracker, {.most = 4'096});
//     kafka.commit(*tracker.resume_at(), beside.bytes);      // beside.dropped will come again
//     ...
//     auto start = waybill::decode_text(from, metadata);     // from: the last event done, if any
//     if (start) tracker.resume(*start); else tracker.assign(from);      // all of it once more
//     tracker.begin(17);                                     // done_before
//
// What holds:
//   1. what is read is what was done, or the answer is what is wrong. No byte of it was done
//      otherwise: a bit that has turned is found, and so is what belongs to another position;
//   2. of four ways to write it the shortest is taken; the same tracker gives the same bytes. Where
//      nothing is done behind the watermark there are no bytes, and none are read as that;
//   3. what is too long is cut, so that what is nearest to the watermark is kept; or left out; or
//      refused, and then nothing should be committed before more is done in front. Which of these
//      it was, and how many events will be handled again, is said. `can_accept` with a budget says
//      in time when to stop taking events;
//   4. reading takes memory for at most 64 times the bytes, whatever is in them, and that while a
//      list grows, too;
//   5. bytes of another partition are not told from ours where the position is the same, unless
//      both were given a number of their partition, such as waybill::crc32c("orders/7"). It is
//      mixed into the checksum, and what was written with another reads as corrupt.
//
// The format, version 1; a number is seven bits a byte, the lowest first:
//
//     head     1 byte: 16 x version + form, + 4 where nothing was done in front
//     first    a number: the first position that is not committed
//     body     0 runs: how many are done from there (perhaps none), how many are not, how many are,
//                      and so on; all but the first of them less one
//              1 open: for each position that is not done, how many are in front of it, back to the
//                      one before; then how many are done behind the last, less one
//              2 done: for each position that is done, how many are in front of it
//              3 bits: one for each position, 1 where it is done, the lowest first
//     sum      4 bytes, the lowest first: CRC-32C of all before it; and that of the partition's
//              number, of 8 bytes, the lowest first, added without carry, if it is not 0
//
// A position that was never begun is written as done, since it is not waited for either. Every
// later version begins with a byte like that and ends in the same checksum.

#ifndef WAYBILL_CONSUME_TRACKER_BYTES_HPP
#define WAYBILL_CONSUME_TRACKER_BYTES_HPP

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/consume/completion_tracker.hpp>
#include <waybill/consume/tracker_form.hpp>
#include <waybill/core/base64_text.hpp>
#include <waybill/core/check.hpp>
#include <waybill/core/crc32c.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/seal.hpp>

namespace waybill::inline v0_2 {

/// What to do with more than fits.
enum class when_too_long : std::uint8_t {
    cut,       ///< Keep what is nearest to the watermark.
    leave_out, ///< Keep nothing of it.
    refuse,    ///< Say so, and let the caller hold the commit back.
};

/// How much room there is: bytes, or characters where text is written.
struct tracker_budget {
    std::uint64_t most = 3'072;
    when_too_long if_more = when_too_long::cut;
    std::uint64_t pressure = 75;  ///< Percent of `most`, from which on no new events should come.

    friend bool operator==(const tracker_budget&, const tracker_budget&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> check(const tracker_budget& b) noexcept
{
    // One head, one first position of any length, three lengths and the checksum.
    if (b.most < 24) return config_error{"most", b.most, "must be at least", 24};
    if (b.pressure > 100) return config_error{"pressure", b.pressure, "must be at most", 100};
    return std::nullopt;
}

/// The same budget, of text, as that of the bytes in it.
[[nodiscard]] constexpr tracker_budget in_bytes(tracker_budget characters) noexcept
{
    characters.most = base64_bytes(characters.most);
    return characters;
}

/// What became of what is done behind the watermark.
enum class encoded_as : std::uint8_t {
    whole,     ///< All of it is there.
    cut,       ///< Some is there.
    left_out,  ///< None is there.
    refused,   ///< None is there, and the caller wanted to be told.
};

struct encoded_done {
    std::string bytes{};
    std::uint64_t kept = 0;     ///< Events done that are in the bytes.
    std::uint64_t dropped = 0;  ///< Those that are not, and will be handled again after a restart.
    encoded_as how = encoded_as::whole;

    friend bool operator==(const encoded_done&, const encoded_done&) = default;
};

/// Why bytes are not read.
enum class tracker_problem : std::uint8_t {
    not_text,    ///< These are no characters of ours.
    corrupt,     ///< They are not what was written.
    newer,       ///< A later version of waybill has written them.
    other_base,  ///< They belong to another position than the one that was committed.
};

[[nodiscard]] constexpr std::string_view name(encoded_as e) noexcept
{
    switch (e) {
        case encoded_as::whole: return "whole";
        case encoded_as::cut: return "cut";
        case encoded_as::left_out: return "left_out";
        case encoded_as::refused: return "refused";
    }
    return "?";
}

[[nodiscard]] constexpr std::string_view name(tracker_problem p) noexcept
{
    switch (p) {
        case tracker_problem::not_text: return "not_text";
        case tracker_problem::corrupt: return "corrupt";
        case tracker_problem::newer: return "newer";
        case tracker_problem::other_base: return "other_base";
    }
    return "?";
}

namespace detail {

inline constexpr unsigned tracker_version = 1;
inline constexpr unsigned tracker_is_first = 4;

/// What is going to be written, and how long it will be.
struct tracker_plan {
    tracker_form form = tracker_form::runs;
    std::uint64_t bytes = 0;      ///< 0 where there is nothing to write.
    std::uint64_t end = 0;        ///< The last position.
    std::uint64_t kept = 0;       ///< Events.
    std::uint64_t all = 0;        ///< Events, with those that do not fit.
    std::uint64_t all_bytes = 0;  ///< What it would take to write all.
};

/// The longest beginning that fits.
[[nodiscard]] constexpr tracker_plan plan_tracker(const completion_tracker& t, std::uint64_t most)
{
    tracker_plan p;
    form_sizes sizes;
    for_each_run(t, [&](const tracked_stretch& r) {
        sizes.add(r);
        if (!r.done) return;
        p.all = saturating_add(p.all, r.events);
        if (r.events == 0 && p.all == 0) return;  // a gap in front is nothing to write
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

/// The checksum of what is written for a partition.
[[nodiscard]] constexpr std::uint32_t tracker_sum(std::string_view bytes,
                                                  std::uint64_t salt) noexcept
{
    if (salt == 0) return crc32c(bytes);
    char number[8] = {};
    for (unsigned n = 0; n != 8; ++n) number[n] = static_cast<char>(salt >> 8 * n & 0xFFU);
    return crc32c(bytes) ^ crc32c({number, 8});
}

/// Whether it is behind the bytes. Requires: there are more than those of a seal.
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
    for_each_run(t, [&](const tracked_stretch& r) {
        if (r.at.last <= p.end) body.add(r, r.at.last == p.end);
    });
    std::uint32_t sum = tracker_sum(out, salt);
    for (std::size_t n = 0; n != seal_bytes; ++n, sum >>= 8U) out += static_cast<char>(sum & 0xFFU);
    return out;
}

/// Reads one number behind the other, and keeps whether one was wrong.
class tracker_reader {
public:
    explicit tracker_reader(std::string_view bytes) noexcept : bytes_(bytes) {}

    [[nodiscard]] bool at_end() const noexcept { return bytes_.empty(); }
    [[nodiscard]] bool failed() const noexcept { return failed_; }
    [[nodiscard]] std::string_view rest() const noexcept { return bytes_; }

    /// 0 where there is none, or one that is not written as it should be.
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

/// Where the next position is: it may be past the largest one, and then there can be none.
struct next_position {
    std::uint64_t at = 0;
    bool over = false;

    /// Steps over so many and one more, and answers with that one.
    [[nodiscard]] constexpr std::optional<std::uint64_t> step(std::uint64_t many) noexcept
    {
        if (over || many > highest_size - at) return std::nullopt;
        const std::uint64_t found = at + many;
        over = found == highest_size;
        at = found + 1;
        return found;
    }
};

/// What is done, of lengths or distances in one of three forms. False where that cannot be.
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
    unsigned before = 0;  // the last bit of the byte in front
    for (const char c : bytes) {
        const unsigned bits = static_cast<unsigned char>(c);
        runs += static_cast<unsigned>(std::popcount(bits & ~(bits << 1U | before)));
        before = bits >> 7U;
    }
    out.reserve(runs);  // a list that grew would take twice as much, and more on the way
    for (std::size_t n = 0; n != bytes.size() * 8; ++n) {
        if ((static_cast<unsigned char>(bytes[n / 8]) >> n % 8 & 1U) == 0) continue;
        if (n > highest_size - first || !out.add({first + n, first + n})) return false;
    }
    return true;
}

}  // namespace detail

/// How many bytes all of it takes; 0 where there is nothing done behind the watermark.
[[nodiscard]] constexpr std::uint64_t encoded_size(const completion_tracker& t)
{
    return detail::plan_tracker(t, highest_size).all_bytes;
}

/// Whether new events should come: there is room for them, and what is done behind the watermark is
/// still short enough. It looks at all that is pending: ask once for each fetch, not for each
/// event.
[[nodiscard]] constexpr bool can_accept(const completion_tracker& t, const tracker_budget& b)
{
    const std::uint64_t most = b.most / 100 * b.pressure + b.most % 100 * b.pressure / 100;
    return t.can_accept() && encoded_size(t) <= lesser(most, b.most);
}

/// What is done behind the watermark, as bytes. Commit them with resume_at(), or with watermark().
/// `salt` is a number of the partition, and whoever reads them needs the same.
[[nodiscard]] inline encoded_done encode(const completion_tracker& t, const tracker_budget& b = {},
                                         std::uint64_t salt = 0)
{
    detail::tracker_plan p = detail::plan_tracker(t, b.most);
    encoded_done out;
    if (p.kept != p.all) {
        out.how = p.kept == 0 ? encoded_as::left_out : encoded_as::cut;
        if (b.if_more != when_too_long::cut) p.bytes = p.kept = 0;
        if (b.if_more == when_too_long::leave_out) out.how = encoded_as::left_out;
        if (b.if_more == when_too_long::refuse) out.how = encoded_as::refused;
    }
    out.bytes = detail::write_tracker(t, p, salt);
    out.kept = p.kept;
    out.dropped = p.all - p.kept;
    return out;
}

/// The same as text, in base64. The budget is one of characters.
[[nodiscard]] inline encoded_done encode_text(const completion_tracker& t,
                                              const tracker_budget& b = {.most = 4'096},
                                              std::uint64_t salt = 0)
{
    encoded_done out = encode(t, in_bytes(b), salt);
    out.bytes = to_base64(out.bytes);
    return out;
}

/// Where to begin, from what was committed: the last event done, if any, and the bytes beside it.
/// Of Kafka's committed offset the last event done is the one before, and none where it is 0.
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

    const auto form = static_cast<tracker_form>(head & 3U);
    const bool good = form == tracker_form::bits
                          ? detail::read_bits(in.rest(), first, start.done)
                          : detail::read_lengths(in, form, first, start.done);
    if (!good) return unexpected(tracker_problem::corrupt);
    if (!from) start.next = first;
    return start;
}

[[nodiscard]] inline result<tracker_start, tracker_problem> decode_text(done_position done,
                                                                        std::string_view text,
                                                                        std::uint64_t salt = 0)
{
    const std::optional<std::string> bytes = from_base64(text);
    if (!bytes) return unexpected(tracker_problem::not_text);
    return decode(done, *bytes, salt);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_TRACKER_BYTES_HPP
