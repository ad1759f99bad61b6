// SPDX-License-Identifier: MIT
//
// error_codes: the meaning of a service's error codes for a sender.
//
//     auto a = find(waybill::wire::kafka_errors, code).value_or(answer::outcome_unknown);
//
// outcome_of.hpp goes on to the outcome of a batch.
//
// Each service has a table of failure codes with the month and the page of its source. The tables
// are for failed requests only.
//
// Guarantees
//   1. `find` returns nullopt for a code that is not in the table. It does not guess.
//   2. A code with several meanings has a meaning only with a text that shows which one, unless all
//      other texts mean the same. The comment of a table lists codes that are not in it.
//   3. A list of the caller has priority: `find(mine, table, code)`. So the caller can correct a
//      table at once.
//   4. Codes are compared exactly, as sent by the service. If an SDK changes a code (FooException
//      for Foo), the caller has to restore it first.

#ifndef WAYBILL_WIRE_ERROR_CODES_HPP
#define WAYBILL_WIRE_ERROR_CODES_HPP

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <waybill/core/enum_name.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/wire/refusal_numbers.hpp>

namespace waybill::inline v0_2::wire {

using v0_2::name;

/// The outcome of a request, as far as its error code shows it.
enum class answer : std::uint8_t {
    /// The broker has the message, from this or an earlier attempt. Do not send it again.
    accepted,
    too_large,  ///< Refused: too many bytes. Send a smaller batch; a single message cannot be sent.
    too_many,   ///< Refused: too many items for one request. Send a smaller batch.
    throttled,  ///< Refused: send later and more slowly.
    transient,  ///< Refused: the same request may succeed later.
    permanent,  ///< Refused: the same request can never succeed.
    /// The cause is the broker, the connection, the destination or a permission, not a message.
    /// Messages in flight on that connection may have arrived.
    infrastructure,
    ownership_lost,  ///< Another owner has the lock, the session or the producer id. Stop.
    /// The message may have arrived. Repeat the identical request or query the outcome. Do not
    /// change the batch.
    outcome_unknown,
};

[[nodiscard]] constexpr std::string_view texts_of(answer) noexcept
{
    return "accepted, too_large, too_many, throttled, transient, permanent, infrastructure, "
           "ownership_lost, outcome_unknown";
}

/// The fault of a message that was sent alone, for callers without batches. For a batch use the
/// `answer` itself: `too_large` is no fault of its messages.
[[nodiscard]] constexpr fault_kind fault_of(answer a) noexcept
{
    switch (a) {
        case answer::accepted: return fault_kind::none;
        case answer::too_large: return fault_kind::permanent;
        case answer::too_many: return fault_kind::transient;
        case answer::throttled: return fault_kind::infrastructure;
        case answer::transient: return fault_kind::transient;
        case answer::permanent: return fault_kind::permanent;
        case answer::infrastructure: return fault_kind::infrastructure;
        case answer::ownership_lost: return fault_kind::ownership_lost;
        case answer::outcome_unknown: return fault_kind::infrastructure;
    }
    return fault_kind::infrastructure;
}

/// A code and its meaning. `number` is set if the protocol numbers its errors. A row with a `phrase`
/// has that meaning only if the text of the answer contains the phrase.
struct error_code {
    std::string_view code{};
    answer means = answer::outcome_unknown;
    std::optional<std::int32_t> number{};
    std::string_view phrase{};

    friend bool operator==(const error_code&, const error_code&) = default;
};

/// The codes of a service that a sender can receive. A code with several meanings has a row with a
/// phrase for each meaning that a text can show. A row without a phrase, if there is one, comes
/// after them: it has the meaning of all other texts.
struct error_table {
    std::string_view service{};
    std::span<const error_code> codes{};
    /// Year and month of the source. If the source has no date, year and month of reading it.
    std::string_view as_of{};
    std::string_view source{};
    /// The phrases of the service for sizes in the texts of its refusals (refusal_text.hpp).
    dialect refusals = dialect::none;
};

namespace detail {

template <class Is>
[[nodiscard]] constexpr std::optional<answer> find_code(std::span<const error_code> codes,
                                                        std::string_view text, Is is) noexcept
{
    for (const error_code& each : codes) {
        if (is(each) && text.find(each.phrase) != std::string_view::npos) return each.means;
    }
    return std::nullopt;
}

}  // namespace detail

/// The meaning of `code`, or nullopt if the list does not contain it. `text` is the text of the
/// answer; without it, rows with a phrase do not count. Linear in the list and in the text.
[[nodiscard]] constexpr std::optional<answer> find(std::span<const error_code> codes,
                                                   std::string_view code,
                                                   std::string_view text = {}) noexcept
{
    return detail::find_code(codes, text, [&](const error_code& e) { return e.code == code; });
}

/// The meaning of `number`, or nullopt if the list does not contain it. Otherwise as above.
[[nodiscard]] constexpr std::optional<answer> find(std::span<const error_code> codes,
                                                   std::int64_t number,
                                                   std::string_view text = {}) noexcept
{
    return detail::find_code(codes, text,
                             [&](const error_code& e) { return e.number && *e.number == number; });
}

[[nodiscard]] constexpr std::optional<answer> find(const error_table& table, std::string_view code,
                                                   std::string_view text = {}) noexcept
{
    return find(table.codes, code, text);
}

[[nodiscard]] constexpr std::optional<answer> find(const error_table& table, std::int64_t number,
                                                   std::string_view text = {}) noexcept
{
    return find(table.codes, number, text);
}

/// The same with a list that has priority. It can contain corrections of the caller, or the codes
/// of a service before those that all services of its vendor share.
[[nodiscard]] constexpr std::optional<answer> find(std::span<const error_code> first,
                                                   const error_table& then, std::string_view code,
                                                   std::string_view text = {}) noexcept
{
    const std::optional<answer> prior = find(first, code, text);
    return prior ? prior : find(then, code, text);
}

[[nodiscard]] constexpr std::optional<answer> find(std::span<const error_code> first,
                                                   const error_table& then, std::int64_t number,
                                                   std::string_view text = {}) noexcept
{
    const std::optional<answer> prior = find(first, number, text);
    return prior ? prior : find(then, number, text);
}

}  // namespace waybill::inline v0_2::wire

#endif  // WAYBILL_WIRE_ERROR_CODES_HPP
