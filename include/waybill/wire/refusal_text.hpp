// SPDX-License-Identifier: MIT
//
// refusal_text: reads the size and the limit from the text of a refusal.
//
//     using waybill::wire::dialect;
//     auto n = waybill::wire::read_refusal(dialect::azure_amqp, error.description);
//     batch_sender::too_large refused{attempt};
//     if (n && n->of == extent::request) refused = {attempt, n->actual, n->limit};  // not an item
//     sender.on(refused, now);
//
// With both numbers, one attempt replaces about ten attempts of a bisection.
//
// Guarantees
//   1. A known phrase must be in the text completely and literally. Other numbers are ignored.
//   2. A number is decimal, at most 64 bits, without sign, separators, leading zero or unit. The
//      limit must be above 0 and the actual size above the limit. Otherwise, or if a number may
//      have been cut (followed by "..."), the result is nullopt.
//   3. If the text contains several phrases, their numbers must be equal; otherwise nullopt.
//   4. Linear in the length of the text; no allocation.
// Limitations: if a phrase ends with a number, a cut inside that number without a mark is not
// detected. Read the text before a log shortens it. gRPC uses the same phrases for large responses.

#ifndef WAYBILL_WIRE_REFUSAL_TEXT_HPP
#define WAYBILL_WIRE_REFUSAL_TEXT_HPP

#include <cstddef>
#include <optional>
#include <string_view>

#include <waybill/wire/detail/refusal_phrases.hpp>
#include <waybill/wire/detail/refusal_reader.hpp>
#include <waybill/wire/refusal_numbers.hpp>

namespace waybill::inline v0_2::wire {

/// The numbers in a refusal of the service `d`, or nullopt. Client text around the phrase does not
/// matter, for example "An error occurred (...) when calling ...: " or "(Service: Sqs, Status Code:
/// 400, ...)". The texts are no contract: if a service changes a phrase, the result is nullopt.
[[nodiscard]] constexpr std::optional<refusal_numbers> read_refusal(dialect d,
                                                                    std::string_view text) noexcept
{
    std::optional<refusal_numbers> numbers{};
    for (const detail::phrase& p : detail::phrases_of(d)) {
        const std::string_view prefix = p.words.substr(0, p.words.find('%'));
        for (std::size_t at = text.find(prefix); at != std::string_view::npos;
             at = text.find(prefix, at + 1)) {
            if (!detail::may_begin_at(text, at)) continue;
            refusal_numbers found{};
            const detail::reading result = detail::read_at(p, text.substr(at), found);
            if (result == detail::reading::no_match) continue;
            if (result == detail::reading::invalid_number) return std::nullopt;
            if (numbers && *numbers != found) return std::nullopt;
            numbers = found;
        }
    }
    return numbers;
}

}  // namespace waybill::inline v0_2::wire

#endif  // WAYBILL_WIRE_REFUSAL_TEXT_HPP
