// SPDX-License-Identifier: MIT
//
// deferral_bytes: a deferral book as bytes, and the book made of them again.
//
//     store.put(key, waybill::save(book));
//     ...
//     auto again = waybill::load<waybill::deferral_book>(bytes, options);
//     if (!again) stop(waybill::text(again.error()));      // never begin with an empty one instead
//
// What holds:
//   1. entries come back exactly. What was in hand is not: whoever had it is gone. Options are not
//      stored, since they are settings; a book with more entries than `most` is read as it is, and
//      is full;
//   2. bytes are a whole book, or the answer is the first thing that is wrong with them. What is
//      accepted is byte for byte what `save` writes;
//   3. nothing is allocated for what the bytes do not hold.
//
// The format, version 1. `whole` is seven bits a byte, the lowest first; `near` is the same of a
// signed number in zigzag form (0, -1, 1, -2 ... as 0, 1, 2, 3 ...), differences are taken around
// the end of 64 bits; `text` is its length, whole, and its bytes:
//
//     "wbd"    3 bytes
//     version  1 byte: 1
//     count    whole
//     entries  for each, by sequence: the sequence, or how much it is above the one before, whole;
//              due, as nanoseconds later than the one before, or than the epoch, near; since, as
//              nanoseconds later than due, near; attempts, whole; session, text; id, text
//     sum      4 bytes: CRC-32C of all before it, the lowest first
//
// Every later version begins with the same three bytes and a version, and ends in the same
// checksum.

#ifndef WAYBILL_RETRY_DEFERRAL_BYTES_HPP
#define WAYBILL_RETRY_DEFERRAL_BYTES_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/check.hpp>
#include <waybill/core/crc32c.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/varint.hpp>
#include <waybill/retry/deferral_book.hpp>

namespace waybill::inline v0_1 {

/// What can be wrong with the bytes of a stored book, or with how it is to be kept.
enum class deferral_problem : std::uint8_t {
    empty,         ///< There are no bytes at all.
    too_short,     ///< They begin like a book and end too soon to be one.
    not_a_book,    ///< They are something else.
    corrupt,       ///< They are not what was written.
    newer,         ///< A later version of waybill has written them.
    unsorted,      ///< A sequence is no higher than the one before it.
    out_of_range,  ///< A number is beyond what its type can hold.
    bad_options,   ///< Nothing with the bytes: no book can be kept with such options.
};

[[nodiscard]] constexpr std::string_view name(deferral_problem p) noexcept
{
    switch (p) {
        case deferral_problem::empty: return "empty";
        case deferral_problem::too_short: return "too_short";
        case deferral_problem::not_a_book: return "not_a_book";
        case deferral_problem::corrupt: return "corrupt";
        case deferral_problem::newer: return "newer";
        case deferral_problem::unsorted: return "unsorted";
        case deferral_problem::out_of_range: return "out_of_range";
        case deferral_problem::bad_options: return "bad_options";
    }
    return "?";
}

/// The first thing that is wrong, and at which byte.
struct deferral_error {
    deferral_problem problem = deferral_problem::corrupt;
    std::uint64_t offset = 0;
    config_error options{};  ///< What is wrong with the options, if that is the problem.

    friend bool operator==(const deferral_error&, const deferral_error&) = default;
};

/// One line for a log.
[[nodiscard]] inline std::string text(const deferral_error& e)
{
    std::string line = "deferral book: ";
    line += name(e.problem);
    if (e.problem == deferral_problem::bad_options) return line + ": " + text(e.options);
    line += " at byte ";
    line += std::to_string(e.offset);
    return line;
}

namespace detail {

inline constexpr std::string_view deferral_magic = "wbd";
inline constexpr char deferral_format = 1;
inline constexpr std::size_t deferral_checksum_bytes = 4;
inline constexpr std::size_t deferral_least = 6;  // bytes of an entry: its numbers, its empty texts

inline void put_whole(std::string& to, std::uint64_t n)
{
    for (; n >= 0x80; n >>= 7U) to += static_cast<char>(n | 0x80U);
    to += static_cast<char>(n);
}

inline void put_near(std::string& to, std::uint64_t n)
{
    put_whole(to, zigzag(static_cast<std::int64_t>(n)));
}

inline void put_text(std::string& to, std::string_view text)
{
    put_whole(to, text.size());
    to += text;
}

[[nodiscard]] inline std::uint64_t stored_nanoseconds(wall_time t) noexcept
{
    return static_cast<std::uint64_t>(t.since_epoch().count());
}

[[nodiscard]] inline wall_time stored_time(std::uint64_t ns) noexcept
{
    return wall_time::at(duration::nanoseconds(static_cast<std::int64_t>(ns)));
}

/// Reads what was written above. The first thing that is wrong is kept; what is read after it are
/// zeros and empty texts.
class deferral_reader {
public:
    explicit deferral_reader(std::string_view bytes) noexcept : bytes_(bytes)
    {
        check_all();
        if (error_) return;
        bytes_.remove_suffix(deferral_checksum_bytes);
        at_ = from_ = deferral_magic.size();
        const std::uint8_t version = byte();
        if (version == 0) fail(deferral_problem::not_a_book);
        if (version > deferral_format) fail(deferral_problem::newer);
    }

    [[nodiscard]] const std::optional<deferral_error>& error() const noexcept { return error_; }
    [[nodiscard]] std::size_t left() const noexcept { return bytes_.size() - at_; }

    /// Of what was read last.
    void fail(deferral_problem p) noexcept
    {
        if (!error_) error_ = deferral_error{p, from_};
    }

    [[nodiscard]] std::uint64_t whole() noexcept
    {
        from_ = at_;
        std::uint64_t n = 0;
        for (unsigned shift = 0; !error_; shift += 7) {
            const std::uint8_t b = byte();
            // Neither more than 64 bits nor zeros that need not be there.
            if ((shift == 63 && b > 1) || (shift != 0 && b == 0)) fail(deferral_problem::corrupt);
            n |= (b & std::uint64_t{0x7F}) << shift;
            if (b < 0x80 || shift == 63) break;
        }
        return error_ ? 0 : n;
    }

    [[nodiscard]] std::uint64_t near() noexcept
    {
        return static_cast<std::uint64_t>(from_zigzag(whole()));
    }

    /// A view into the bytes.
    [[nodiscard]] std::string_view text() noexcept
    {
        const std::uint64_t size = whole();
        if (size > left()) fail(deferral_problem::corrupt);
        if (error_) return {};
        const std::string_view read = bytes_.substr(at_, static_cast<std::size_t>(size));
        at_ += read.size();
        return read;
    }

    /// There is nothing behind what was read.
    void end() noexcept
    {
        from_ = at_;
        if (left() != 0) fail(deferral_problem::corrupt);
    }

private:
    void check_all() noexcept
    {
        if (bytes_.empty()) return fail(deferral_problem::empty);
        const std::string_view magic = bytes_.substr(0, deferral_magic.size());
        if (magic != deferral_magic.substr(0, magic.size())) {
            return fail(deferral_problem::not_a_book);
        }
        from_ = bytes_.size();
        if (from_ < deferral_magic.size() + 1 + deferral_checksum_bytes) {
            return fail(deferral_problem::too_short);
        }
        from_ -= deferral_checksum_bytes;
        std::uint32_t sum = 0;
        for (std::size_t n = bytes_.size(); n != from_; --n) {
            sum = sum << 8U | static_cast<unsigned char>(bytes_[n - 1]);
        }
        if (sum != crc32c(bytes_.substr(0, from_))) fail(deferral_problem::corrupt);
    }

    [[nodiscard]] std::uint8_t byte() noexcept
    {
        if (at_ == bytes_.size()) fail(deferral_problem::corrupt);
        if (error_) return 0;
        return static_cast<std::uint8_t>(bytes_[at_++]);
    }

    std::string_view bytes_;
    std::size_t at_ = 0;
    std::size_t from_ = 0;  // where that begins what was read last
    std::optional<deferral_error> error_;
};

}  // namespace detail

/// The entries of a book.
[[nodiscard]] inline std::string save(const deferral_book& book)
{
    std::string out(detail::deferral_magic);
    out += detail::deferral_format;
    detail::put_whole(out, book.size());
    std::uint64_t sequence = 0;
    std::uint64_t due = 0;
    book.each([&](const deferred& d) {
        detail::put_whole(out, d.sequence - sequence);
        detail::put_near(out, detail::stored_nanoseconds(d.due) - due);
        sequence = d.sequence;
        due = detail::stored_nanoseconds(d.due);
        detail::put_near(out, detail::stored_nanoseconds(d.since) - due);
        detail::put_whole(out, d.attempts);
        detail::put_text(out, d.session);
        detail::put_text(out, d.id);
    });
    std::uint32_t sum = crc32c(out);
    for (std::size_t n = 0; n != detail::deferral_checksum_bytes; ++n, sum >>= 8U) {
        out += static_cast<char>(sum & 0xFFU);
    }
    return out;
}

/// A book of what `save` has written: load<deferral_book>(bytes, options).
template <std::same_as<deferral_book> B>
[[nodiscard]] result<B, deferral_error> load(std::string_view bytes,
                                             const deferral_options& options)
{
    if (const std::optional<config_error> bad = check(options)) {
        return unexpected(deferral_error{deferral_problem::bad_options, 0, *bad});
    }
    detail::deferral_reader in(bytes);
    const std::uint64_t count = in.whole();
    if (count > in.left() / detail::deferral_least) in.fail(deferral_problem::corrupt);
    if (in.error()) return unexpected(*in.error());

    result<B, deferral_error> loaded = B(options);
    deferred d;
    for (std::uint64_t n = 0; n != count; ++n) {
        const std::uint64_t above = in.whole();
        if (n != 0 && above == 0) in.fail(deferral_problem::unsorted);
        if (above > highest_size - d.sequence) in.fail(deferral_problem::out_of_range);
        d.sequence += above;
        d.due = detail::stored_time(detail::stored_nanoseconds(d.due) + in.near());
        d.since = detail::stored_time(detail::stored_nanoseconds(d.due) + in.near());
        const std::uint64_t attempts = in.whole();
        if (attempts > UINT32_MAX) in.fail(deferral_problem::out_of_range);
        d.attempts = static_cast<std::uint32_t>(attempts);
        d.session = in.text();
        d.id = in.text();
        if (in.error()) return unexpected(*in.error());
        loaded->restore(d);
    }
    in.end();
    if (in.error()) return unexpected(*in.error());
    return loaded;
}

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_RETRY_DEFERRAL_BYTES_HPP
