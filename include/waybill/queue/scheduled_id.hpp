// SPDX-License-Identifier: MIT
//
// scheduled_id: message ids for copies scheduled for later, on brokers with duplicate detection.
//
//     auto id = waybill::scheduled_id::make("order-7", 3);        // "order-7:3"
//     if (!id) write_dead_letter(message, describe(id.error()));  // too long: never truncated
//     send({.id = *id, .properties = {{"attempt", "3"}}, .at = later});
//     complete(message);
//
// If a crash separates the last two steps, the redelivered original creates the same id again, and
// the broker drops the duplicate. The next attempt uses the original id:
//
//     scheduled_id::original_of("order-7:3", 3)                          // "order-7"
//     scheduled_id::make(*scheduled_id::original_of("order-7:3", 3), 4)  // "order-7:4"
//
// Guarantees (background is in the guide)
//   1. Different pairs of original id and attempt, from 1, never produce the same id.
//   2. `scheduled_id::original_of` uses the attempt in the message's properties, because an
//      original id may look like the id of a copy. `scheduled_id::parse` uses the id alone.
//   3. One collision remains: if senders use both "a" and "a:7" as ids, the 7th copy of "a" is
//      dropped as a duplicate of "a:7". To prevent it, choose ids of one shape, or another `mark`.

#ifndef WAYBILL_QUEUE_SCHEDULED_ID_HPP
#define WAYBILL_QUEUE_SCHEDULED_ID_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/enum_name.hpp>
#include <waybill/core/result.hpp>

namespace waybill::inline v0_2 {

/// The id of a scheduled copy: the original id and the attempt. Attempt 0 is the message itself.
struct scheduled_id {
    /// Default limit for ids. Azure Service Bus allows 128 characters, and 128 bytes never exceed
    /// that.
    static constexpr std::uint64_t max_bytes = 128;

    struct error {
        /// The reason why `make` returned no id.
        enum class code : std::uint8_t {
            /// The id has too many bytes. Truncated, it could equal another message's id.
            too_large,
            /// The original id is empty: all copies of such messages would have the same id.
            no_id,
            bad_mark,  ///< The mark is a digit, which cannot separate an id from a number.
        };
        [[nodiscard]] friend constexpr std::string_view texts_of(code) noexcept
        {
            return "too_large, no_id, bad_mark";
        }

        code kind = code::too_large;
        std::uint64_t bytes = 0;  ///< Size of the id in bytes, for `too_large` only. Otherwise 0.
        std::uint64_t max_bytes = 0;  ///< The limit in bytes.

        friend bool operator==(const error&, const error&) = default;
    };

    std::string_view original{};
    std::uint32_t attempt = 0;

    /// The id of the copy for this attempt: the original id, the mark and the attempt. For attempt
    /// 0 the original id. `limit` is in bytes. `mark` must not be a digit. A pure
    /// function: after a crash it returns the same id again.
    [[nodiscard]] static result<std::string, error> make(std::string_view original,
                                                         std::uint32_t attempt,
                                                         std::uint64_t limit = max_bytes,
                                                         char mark = ':')
    {
        if (original.empty())
            return unexpected(error{.kind = error::code::no_id, .max_bytes = limit});
        if (mark >= '0' && mark <= '9')
            return unexpected(error{.kind = error::code::bad_mark, .max_bytes = limit});
        const std::string number = attempt == 0 ? std::string() : mark + std::to_string(attempt);
        const std::uint64_t bytes = original.size() + number.size();
        if (bytes > limit) return unexpected(error{error::code::too_large, bytes, limit});
        return std::string(original) + number;
    }

    /// Splits an id by its form alone: "order-7:3" into "order-7" and 3; "order-7" and "a:07" are
    /// originals with attempt 0. An original id may look like a copy (guarantee 2), so use it only
    /// for ids that never end in the mark and a number. Otherwise use original_of().
    [[nodiscard]] static constexpr scheduled_id parse(std::string_view id, char mark = ':') noexcept
    {
        constexpr std::size_t max_digits = 10;  // of an attempt, which has 32 bits
        const scheduled_id no_copy{.original = id, .attempt = 0};
        std::uint64_t attempt = 0;
        std::uint64_t place_value = 1;
        std::size_t begin = id.size();  // of the digits at the end
        for (; begin != 0 && id[begin - 1] >= '0' && id[begin - 1] <= '9'; --begin) {
            if (id.size() - begin == max_digits) return no_copy;
            attempt += static_cast<std::uint64_t>(id[begin - 1] - '0') * place_value;
            place_value *= 10;
        }
        const bool has_number = begin != id.size() && id[begin] != '0' && attempt <= UINT32_MAX;
        // An original id of at least one byte and the mark must precede the number.
        if (!has_number || begin < 2 || id[begin - 1] != mark) return no_copy;
        return {id.substr(0, begin - 1), static_cast<std::uint32_t>(attempt)};
    }

    /// The original id of a message that is known to be the copy for this attempt. Empty if the id
    /// does not end in the mark and this attempt. For attempt 0 the id itself.
    [[nodiscard]] static constexpr std::optional<std::string_view> original_of(
        std::string_view id, std::uint32_t attempt, char mark = ':') noexcept
    {
        if (attempt == 0) return id;
        const scheduled_id parts = parse(id, mark);
        if (parts.attempt != attempt) return {};
        return parts.original;
    }

    friend bool operator==(const scheduled_id&, const scheduled_id&) = default;
};

/// One line for a log.
template <std::same_as<scheduled_id::error> T>
[[nodiscard]] std::string describe(const T& e)
{
    std::string line = "scheduled id: ";
    line += name(e.kind);
    switch (e.kind) {
        case scheduled_id::error::code::too_large:
            return line + ": " + std::to_string(e.bytes) + " bytes, at most " +
                   std::to_string(e.max_bytes) + ": shorten the id of the message";
        case scheduled_id::error::code::no_id: return line + ": the message must have an id";
        case scheduled_id::error::code::bad_mark: return line + ": the mark must not be a digit";
    }
    return line;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_QUEUE_SCHEDULED_ID_HPP
