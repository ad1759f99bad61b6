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
#include <waybill/core/result.hpp>
#include <waybill/core/sealed_bytes.hpp>
#include <waybill/retry/deferral_book.hpp>

namespace waybill::inline v0_2 {

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

struct deferral_format {
    using error_type = deferral_error;
    using problem_type = deferral_problem;
    static constexpr deferral_problem foreign = deferral_problem::not_a_book;
    static constexpr std::string_view magic = "wbd";
    static constexpr std::uint8_t version = 1;
};
inline constexpr std::size_t deferral_least = 6;  // bytes of an entry: its numbers, its empty texts

[[nodiscard]] inline std::uint64_t stored_nanoseconds(wall_time t) noexcept
{
    return static_cast<std::uint64_t>(t.since_epoch().count());
}

[[nodiscard]] inline wall_time stored_time(std::uint64_t ns) noexcept
{
    return wall_time::at(duration::nanoseconds(static_cast<std::int64_t>(ns)));
}

}  // namespace detail

/// The entries of a book.
[[nodiscard]] inline std::string save(const deferral_book& book)
{
    detail::sealed_writer<detail::deferral_format> out;
    out.whole(book.size());
    std::uint64_t sequence = 0;
    std::uint64_t due = 0;
    book.each([&](const deferred& d) {
        out.whole(d.sequence - sequence);
        out.near(detail::stored_nanoseconds(d.due) - due);
        sequence = d.sequence;
        due = detail::stored_nanoseconds(d.due);
        out.near(detail::stored_nanoseconds(d.since) - due);
        out.whole(d.attempts);
        out.text(d.session);
        out.text(d.id);
    });
    return static_cast<detail::sealed_writer<detail::deferral_format>&&>(out).finish();
}

/// A book of what `save` has written: load<deferral_book>(bytes, options).
template <std::same_as<deferral_book> B>
[[nodiscard]] result<B, deferral_error> load(std::string_view bytes,
                                             const deferral_options& options)
{
    if (const std::optional<config_error> bad = check(options)) {
        return unexpected(deferral_error{deferral_problem::bad_options, 0, *bad});
    }
    detail::sealed_reader<detail::deferral_format> in(bytes);
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

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_DEFERRAL_BYTES_HPP
