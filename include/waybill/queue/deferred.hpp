// SPDX-License-Identifier: MIT
//
// deferred: the entry of a deferred message, the options of a deferral book, and the error of
// stored bytes.
//
// Part of deferred_messages.hpp, which has an example and the guarantees.

#ifndef WAYBILL_QUEUE_DEFERRED_HPP
#define WAYBILL_QUEUE_DEFERRED_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/nanoseconds.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// A deferred message that waits at the broker.
struct deferred {
    std::uint64_t sequence = 0;  ///< The broker's sequence number, needed to fetch the message.
    wall_time due{};             ///< When the message is to be fetched.
    std::uint32_t attempts = 0;  ///< Failed attempts; counted by the caller.
    std::string session{};       ///< Empty if the message has no session.
    std::string id{};            ///< The caller's own identifier; may be empty.
    wall_time since{};           ///< When it was first deferred; set by the caller if needed.

    friend bool operator==(const deferred&, const deferred&) = default;
};

/// An entry in hand and its ticket. A book does not issue a ticket twice.
struct handed {
    deferred entry{};
    std::uint64_t ticket = 0;

    friend bool operator==(const handed&, const handed&) = default;
};

/// The result of `deferred_messages::defer`.
enum class defer_result : std::uint8_t {
    added,     ///< There was no entry with this number.
    replaced,  ///< The entry with this number was replaced; its ticket is void.
    full,      ///< Refused without a change: dead-letter the message, or do not defer it.
};

[[nodiscard]] constexpr std::string_view texts_of(defer_result) noexcept
{
    return "added, replaced, full";
}

struct deferral_options {
    /// The order of the entries that `take` returns. It does not change which entries those are. A
    /// broker may refuse to return messages of several partitions in one request; `by_partition`
    /// puts the entries of one partition next to each other.
    enum class hand_out_order : std::uint8_t {
        by_due,        ///< By due time, then by sequence number.
        by_partition,  ///< Grouped; the partition of the earliest due entry comes first.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(hand_out_order) noexcept
    {
        return "by_due, by_partition";
    }

    std::uint64_t max_messages = highest_size;  ///< Maximum number of entries, at least 1.
    duration hold = duration::seconds(60);  ///< Maximum time in hand without a report.
    /// If true, at most one entry of a session is in hand, and `take` returns only the lowest
    /// number of a session. A later message does not overtake an earlier one that waits longer.
    bool session_order = true;

    friend bool operator==(const deferral_options&, const deferral_options&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(const deferral_options& o) noexcept
{
    if (o.max_messages == 0) return config_error{"deferral.max_messages", 0, "must be at least", 1};
    if (o.hold <= duration{}) {
        return config_error{"deferral.hold", detail::magnitude(o.hold),
                            "nanoseconds must be more than", 0, o.hold < duration{}};
    }
    return {};
}

/// The first error of `load`.
struct deferral_error {
    /// The reason why stored bytes, or the options for the book, were refused.
    enum class code : std::uint8_t {
        empty,         ///< There are no bytes.
        too_short,     ///< The bytes begin like a book and end too early.
        not_a_book,    ///< The bytes have another format.
        corrupt,       ///< The checksum or the structure is wrong.
        newer,         ///< The bytes have a later version of the format.
        unsorted,      ///< A sequence number is not higher than the previous one.
        out_of_range,  ///< A number exceeds the range of its type.
        bad_options,   ///< The options are invalid; the bytes were not read.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(code) noexcept
    {
        return "empty, too_short, not_a_book, corrupt, newer, unsorted, out_of_range, bad_options";
    }

    code kind = code::corrupt;
    std::uint64_t offset = 0;  ///< The first byte of the wrong part; 0 for bad options.
    config_error options{};  ///< Set if `kind` is `bad_options`.

    friend bool operator==(const deferral_error&, const deferral_error&) = default;
};

/// A description of the error in one line.
[[nodiscard]] inline std::string describe(const deferral_error& e)
{
    std::string line = "deferral book: ";
    line += name(e.kind);
    if (e.kind == deferral_error::code::bad_options) return line + ": " + describe(e.options);
    line += " at byte ";
    line += std::to_string(e.offset);
    return line;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_QUEUE_DEFERRED_HPP
