// SPDX-License-Identifier: MIT
//
// error_codes: what a service's error code means for who sends.
//
// Every client of every broker has the same switch somewhere, and it is wrong in the same places: a
// timeout that is taken for a refusal, a queue that does not exist and parks ten thousand messages,
// a duplicate that is sent a third time. Here the codes of failures are tables, with the month and
// the page; that a request succeeded is not asked of them:
//
//     switch (waybill::wire::find(waybill::wire::kafka_errors, code).value_or(answer::unknown)) {
//         case answer::too_large: s.on(refused{attempt}, now); break;
//         case answer::unknown:   s.on(unknown{attempt}, now); break;
//         ...
//     }
//
// Promises:
//   1. A code that is not in a table has no answer; nothing is guessed from the look of a code.
//   2. A code with two meanings is in no table; where that is so, the table says it, and mostly
//      the text tells (refusal_text.hpp).
//   3. Your own list goes first: `find(mine, table, code)`. So a table can be put right at once.
//
// Codes are compared exactly, as they stand on the wire. An SDK that says FooException for Foo has
// to be undone by the caller.

#ifndef WAYBILL_WIRE_ERROR_CODES_HPP
#define WAYBILL_WIRE_ERROR_CODES_HPP

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <waybill/core/fault.hpp>

namespace waybill::inline v0_2::wire {

/// What came of a request, as far as its code tells.
enum class answer : std::uint8_t {
    accepted,        ///< The broker has it, by this attempt or an earlier one: never send it again.
    too_large,       ///< Not taken: too many bytes. Cut smaller; a lone message is hopeless.
    too_many,        ///< Not taken: too many items for one request. Cut smaller.
    throttled,       ///< Not taken: later, and slower.
    transient,       ///< Not taken: the same may be taken later.
    permanent,       ///< Not taken, and the same never will be.
    infrastructure,  ///< Broker, connection, destination or the right to it: no message is to
                     ///< blame, and what was under way on that connection may have arrived.
    ownership_lost,  ///< Somebody else has the lock, the session or the producer's id: stop.
    unknown,         ///< It may have arrived: repeat the identical request or ask, never re-cut.
};

[[nodiscard]] constexpr std::string_view name(answer a) noexcept
{
    switch (a) {
        case answer::accepted: return "accepted";
        case answer::too_large: return "too_large";
        case answer::too_many: return "too_many";
        case answer::throttled: return "throttled";
        case answer::transient: return "transient";
        case answer::permanent: return "permanent";
        case answer::infrastructure: return "infrastructure";
        case answer::ownership_lost: return "ownership_lost";
        case answer::unknown: return "unknown";
    }
    return "?";
}

/// The answer as the fault of one message that was sent alone: for those who send without batches.
/// A batch that is too large is no fault of its messages, so ask for the answer itself there.
[[nodiscard]] constexpr fault_class fault_of(answer a) noexcept
{
    switch (a) {
        case answer::accepted: return fault_class::none;
        case answer::too_large: return fault_class::permanent;
        case answer::too_many: return fault_class::transient;
        case answer::throttled: return fault_class::transient;
        case answer::transient: return fault_class::transient;
        case answer::permanent: return fault_class::permanent;
        case answer::infrastructure: return fault_class::infrastructure;
        case answer::ownership_lost: return fault_class::ownership_lost;
        case answer::unknown: return fault_class::infrastructure;
    }
    return fault_class::infrastructure;
}

/// One code and what it means. Protocols that number their errors have the number, too.
struct error_code {
    std::string_view code{};
    answer means = answer::unknown;
    std::optional<std::int32_t> number{};

    friend bool operator==(const error_code&, const error_code&) = default;
};

/// All codes of a service that a sender can meet and that have one meaning.
struct error_table {
    std::string_view service{};
    std::span<const error_code> codes{};
    std::string_view as_of{};   ///< Year and month of the source; of reading it, where it has none.
    std::string_view source{};
};

/// What a code means, if the list has it.
[[nodiscard]] constexpr std::optional<answer> find(std::span<const error_code> codes,
                                                   std::string_view code) noexcept
{
    for (const error_code& each : codes) {
        if (each.code == code) return each.means;
    }
    return std::nullopt;
}

/// What a number means, if the list has it.
[[nodiscard]] constexpr std::optional<answer> find(std::span<const error_code> codes,
                                                   std::int64_t number) noexcept
{
    for (const error_code& each : codes) {
        if (each.number && *each.number == number) return each.means;
    }
    return std::nullopt;
}

[[nodiscard]] constexpr std::optional<answer> find(const error_table& table,
                                                   std::string_view code) noexcept
{
    return find(table.codes, code);
}

[[nodiscard]] constexpr std::optional<answer> find(const error_table& table,
                                                   std::int64_t number) noexcept
{
    return find(table.codes, number);
}

/// The same with a list that is asked first: your own corrections, or the codes of a service before
/// those that all services of its vendor share.
[[nodiscard]] constexpr std::optional<answer> find(std::span<const error_code> first,
                                                   const error_table& then,
                                                   std::string_view code) noexcept
{
    const std::optional<answer> own = find(first, code);
    return own ? own : find(then, code);
}

[[nodiscard]] constexpr std::optional<answer> find(std::span<const error_code> first,
                                                   const error_table& then,
                                                   std::int64_t number) noexcept
{
    const std::optional<answer> own = find(first, number);
    return own ? own : find(then, number);
}

}  // namespace waybill::inline v0_2::wire

#endif  // WAYBILL_WIRE_ERROR_CODES_HPP
