// SPDX-License-Identifier: MIT
//
// verdict: maps the code of a broker to the outcome for a sender.
//
// The table of a service is in waybill::wire. An adapter puts its own entries first: codes that are
// no errors, and codes with another meaning in this program.
//
//     inline constexpr error_code nats_own[]{
//         {"503", answer::infrastructure},
//         {"Stale Connection", answer::outcome_unknown},
//     };
//     answer a = find(nats_own, nats_errors, code).value_or(answer::outcome_unknown);
//     waybill::send_outcome o = outcome_of(a, text);
//
// A code without an entry is `outcome_unknown`: the batch may be stored, and only the identical
// batch may be sent again.

#ifndef WAYBILL_EXAMPLES_ENGINES_VERDICT_HPP
#define WAYBILL_EXAMPLES_ENGINES_VERDICT_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <waybill/batch.hpp>
#include <waybill/wire/error_codes.hpp>
#include <waybill/wire/outcome_of.hpp>
#include <waybill/wire/refusal_text.hpp>

namespace engines {

using waybill::wire::answer;
using waybill::wire::error_code;

/// The sizes that are known.
struct counted {
    std::optional<std::uint64_t> actual{};
    std::optional<std::uint64_t> limit{};
};

/// Numbers of the whole batch in the broker's text replace our own.
[[nodiscard]] constexpr counted reported(waybill::wire::dialect d, std::string_view text,
                                         counted ours)
{
    const auto numbers = waybill::wire::read_refusal(d, text);
    if (!numbers || numbers->of != waybill::wire::extent::request) return ours;
    if (numbers->actual) ours.actual = numbers->actual;
    if (numbers->limit) ours.limit = numbers->limit;
    return ours;
}

/// The outcome of a batch or of an entry. `text` is the broker's. If the destination or the
/// permission is missing, later lines would fail as well, so the sender stops.
[[nodiscard]] inline waybill::send_outcome outcome_of(answer a, std::string text, counted c = {})
{
    if (a == answer::accepted) return waybill::batch_sender::accepted{.actual = c.actual};
    if (a == answer::infrastructure)
        return waybill::batch_sender::failed{.kind = waybill::fault_kind::cancelled,
                                             .text = std::move(text)};
    return waybill::wire::outcome_of(a, text, waybill::wire::refusal_numbers{c.actual, c.limit});
}

/// The outcome if no connection could be made, so nothing was sent. A permanent refusal stops the
/// sender; any other one is retried.
[[nodiscard]] inline waybill::send_outcome not_connected(std::string text,
                                                         answer a = answer::outcome_unknown)
{
    switch (a) {
        case answer::throttled:
        case answer::infrastructure:
        case answer::ownership_lost: return outcome_of(a, std::move(text));
        case answer::permanent: return outcome_of(answer::infrastructure, std::move(text));
        case answer::accepted:
        case answer::too_large:
        case answer::too_many:
        case answer::transient:
        case answer::outcome_unknown: break;
    }
    return waybill::batch_sender::failed{.kind = waybill::fault_kind::infrastructure,
                                         .text = std::move(text)};
}

/// The limits of a broker, and its way of counting, known before the first batch.
struct manual {
    waybill::batch_limits limit{};
    bool sizes = false;  ///< `size_of` of the adapter is exact.
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_VERDICT_HPP
