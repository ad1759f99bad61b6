// SPDX-License-Identifier: MIT
//
// sealed_bytes: stores integers and texts as bytes with a format name, a version and a checksum.
//
//     detail::sealed_writer<note_format> out;
//     out.integer(note.number);
//     out.text(note.line);
//     store(key, std::move(out).finish());
//     ...
//     detail::sealed_reader<note_format> in(bytes);
//     const std::uint64_t number = in.integer();
//     const std::string_view line = in.text();
//     in.end();
//     if (in.error()) return unexpected(*in.error());      // a note_error
//
// Guarantees
//   1. Each value has exactly one encoding. The reader accepts only bytes that a writer produces.
//   2. The reader keeps the first error and its position. Later reads return 0 and empty texts, so
//      one check at the end is enough.
//   3. Reading does not allocate. If the checksum is wrong, nothing is read.
// The byte format is described in the module's guide.

#ifndef WAYBILL_CORE_DETAIL_SEALED_BYTES_HPP
#define WAYBILL_CORE_DETAIL_SEALED_BYTES_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/detail/seal.hpp>
#include <waybill/core/detail/varint.hpp>

namespace waybill::inline v0_2::detail {

/// Writes bytes of the format F:
///
///     struct note_format {
///         using error_type = note_error;      // begins with a problem_type and a byte position
///         using problem_type = note_problem;  // has at least empty, too_short, corrupt and newer
///         static constexpr note_problem foreign = note_problem::not_a_note;  // another format
///         static constexpr std::string_view magic = "wbn";
///         static constexpr std::uint8_t version = 1;
///     };
template <class F>
class sealed_writer {
public:
    /// Reserves `expected_size` bytes: a hint, not a limit.
    explicit sealed_writer(std::size_t expected_size = 0) : bytes_(F::magic)
    {
        bytes_.reserve(expected_size);
        byte(F::version);
    }

    void byte(std::uint8_t b) { bytes_ += static_cast<char>(b); }

    /// Writes an unsigned integer as a varint.
    void integer(std::uint64_t n) { put_varint(bytes_, n); }

    /// Writes a signed integer, passed in two's complement, as a zigzag varint. It is short if the
    /// integer is close to zero.
    void signed_integer(std::uint64_t n) { integer(zigzag(static_cast<std::int64_t>(n))); }

    /// Writes the length of t and then its bytes.
    void text(std::string_view t)
    {
        integer(t.size());
        bytes_ += t;
    }

    [[nodiscard]] std::string finish() &&
    {
        put_seal(bytes_);
        return static_cast<std::string&&>(bytes_);
    }

private:
    std::string bytes_;
};

/// Reads bytes of the format F, which a sealed_writer of the same format has written.
template <class F>
class sealed_reader {
public:
    using error_type = typename F::error_type;
    using problem_type = typename F::problem_type;

    constexpr explicit sealed_reader(std::string_view bytes) noexcept { check_frame(bytes); }

    [[nodiscard]] constexpr const std::optional<error_type>& error() const noexcept
    {
        return error_;
    }
    [[nodiscard]] constexpr std::size_t left() const noexcept { return unread_.size(); }

    /// Records an error at the start of the last value read. Only the first error is kept.
    constexpr void fail(problem_type p) noexcept
    {
        if (error_) return;
        error_ = error_type{p, value_begin_};
        unread_ = {};
    }

    [[nodiscard]] constexpr std::uint8_t byte() noexcept
    {
        begin_value();
        return next_byte();
    }

    /// One more byte of the last value read. An error is reported at the start of that value.
    [[nodiscard]] constexpr std::uint8_t next_byte() noexcept
    {
        if (unread_.empty()) {
            fail(problem_type::corrupt);
            return 0;
        }
        const auto b = static_cast<std::uint8_t>(unread_.front());
        unread_.remove_prefix(1);
        return b;
    }

    [[nodiscard]] constexpr std::uint64_t integer() noexcept
    {
        begin_value();
        const std::optional<std::uint64_t> n = take_varint(unread_);
        if (!n) fail(problem_type::corrupt);
        return n.value_or(0);
    }

    [[nodiscard]] constexpr std::uint64_t signed_integer() noexcept
    {
        return static_cast<std::uint64_t>(from_zigzag(integer()));
    }

    /// The text as a view into the bytes.
    [[nodiscard]] constexpr std::string_view text() noexcept
    {
        const std::uint64_t size = integer();
        if (size > left()) fail(problem_type::corrupt);
        const std::string_view t = unread_.substr(0, static_cast<std::size_t>(size));
        unread_.remove_prefix(t.size());
        return t;
    }

    /// Fails if unread bytes remain.
    constexpr void end() noexcept
    {
        begin_value();
        if (left() != 0) fail(problem_type::corrupt);
    }

private:
    constexpr void begin_value() noexcept { value_begin_ = content_size_ - unread_.size(); }

    constexpr void check_frame(std::string_view bytes) noexcept
    {
        constexpr std::string_view magic = F::magic;
        if (bytes.empty()) return fail(problem_type::empty);
        if (!magic.starts_with(bytes.substr(0, magic.size()))) return fail(F::foreign);
        value_begin_ = bytes.size();  // the position of `too_short`
        if (value_begin_ < magic.size() + 1 + seal_bytes) return fail(problem_type::too_short);
        value_begin_ = content_size_ = bytes.size() - seal_bytes;  // of the checksum
        if (!seal_holds(bytes)) return fail(problem_type::corrupt);
        unread_ = bytes.substr(magic.size(), content_size_ - magic.size());
        const std::uint8_t version = byte();
        if (version == 0) fail(F::foreign);
        if (version > F::version) fail(problem_type::newer);
    }

    std::string_view unread_;
    std::size_t content_size_ = 0;  // size of the bytes without the checksum
    std::size_t value_begin_ = 0;   // position of the last value read
    std::optional<error_type> error_;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_SEALED_BYTES_HPP
