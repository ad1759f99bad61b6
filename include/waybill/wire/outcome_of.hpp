// SPDX-License-Identifier: MIT
//
// outcome_of: from the error code of a service to the outcome of a batch, for `send_all`.
//
//     const auto transmit = [&](auto batch) -> waybill::send_outcome {
//         const auto r = client.send(batch);
//         if (r.ok()) return waybill::batch_sender::accepted{};
//         return outcome_of(waybill::wire::azure_amqp_errors, r.code, r.text);
//     };
//
//   1. A code that is not in the table is `outcome_unknown`: the batch may have arrived. If the
//      text is that of a refusal for size, it is `too_large`.
//   2. The size and the limit in the text of a refusal are passed on, if the service writes them.
//   3. A list of the caller has priority, as in `find`.

#ifndef WAYBILL_WIRE_OUTCOME_OF_HPP
#define WAYBILL_WIRE_OUTCOME_OF_HPP

#include <concepts>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <waybill/batch/sending.hpp>
#include <waybill/core/time.hpp>
#include <waybill/wire/error_codes.hpp>
#include <waybill/wire/refusal_numbers.hpp>
#include <waybill/wire/refusal_text.hpp>

namespace waybill::inline v0_2::wire {

/// The outcome of a batch for the answer `a` of the service. `text` is the text of the service, for
/// the report of a failure. `numbers` are those of a refusal; numbers of an item are ignored.
/// `retry_after` is the pause that the service requires; only throttling uses it.
///
/// `too_many` becomes `too_large` without numbers: the sender cuts smaller batches.
/// `infrastructure` becomes `failed` and is retried. If nothing can succeed before an operator
/// acts, return `failed` with the kind `cancelled` instead: the sender stops.
///
/// A template, so that it costs nothing where it is included and not called.
template <std::same_as<answer> Answer, class Outcome = send_outcome>
[[nodiscard]] Outcome outcome_of(Answer a, std::string_view text = {},
                                 std::optional<refusal_numbers> numbers = {},
                                 duration retry_after = {})
{
    using sender = batch_sender_types;
    switch (a) {
        case answer::accepted: return sender::accepted{};
        case answer::too_large:
            if (numbers && numbers->of == extent::request)
                return sender::too_large{.actual = numbers->actual, .limit = numbers->limit};
            return sender::too_large{};
        case answer::too_many: return sender::too_large{};
        case answer::throttled: return sender::throttled{.retry_after = retry_after};
        case answer::transient:
        case answer::permanent:
        case answer::infrastructure:
        case answer::ownership_lost:
            return sender::failed{.kind = fault_of(a), .text = std::string(text)};
        case answer::outcome_unknown: break;
    }
    return sender::outcome_unknown{};
}

/// The outcome of a batch that a service refused with `code`, which is a text or a number. Linear
/// in the table.
template <class Code>
    requires std::convertible_to<const Code&, std::string_view> || std::integral<Code>
[[nodiscard]] send_outcome outcome_of(const error_table& table, const Code& code,
                                      std::string_view text = {}, duration retry_after = {})
{
    return outcome_of(std::span<const error_code>(), table, code, text, retry_after);
}

/// The same with a list of the caller, which has priority.
template <class Code>
    requires std::convertible_to<const Code&, std::string_view> || std::integral<Code>
[[nodiscard]] send_outcome outcome_of(std::span<const error_code> first, const error_table& then,
                                      const Code& code, std::string_view text = {},
                                      duration retry_after = {})
{
    const auto a = find(first, then, code, text);
    if (a && *a != answer::too_large) return outcome_of(*a, text, {}, retry_after);
    const auto numbers = read_refusal(then.refusals, text);
    if (a || numbers) return outcome_of(answer::too_large, text, numbers);
    return outcome_of(answer::outcome_unknown, text);
}

/// The outcome of a request with `items` entries, for which the service answers one by one. `entries`
/// is a range of answers in the order of the batch; each has the members `code` and `text`, and an
/// entry that was accepted has an empty code (for a number: 0). An entry without an answer is
/// `outcome_unknown`, and so is the request if there are more answers than entries. `faults` is
/// storage for the result and must stay unchanged until the sender has it. `retry_after` is the
/// pause for the whole request. Linear in the entries, times the table.
template <class Entries>
    requires requires(const Entries& entries) { std::begin(entries)->code; }
[[nodiscard]] send_outcome outcome_of(const error_table& table, const Entries& entries,
                                      std::uint64_t items,
                                      std::vector<batch_sender_types::entry_fault>& faults,
                                      duration retry_after = {})
{
    return outcome_of(std::span<const error_code>(), table, entries, items, faults, retry_after);
}

/// The same with a list of the caller, which has priority.
template <class Entries>
    requires requires(const Entries& entries) { std::begin(entries)->code; }
[[nodiscard]] send_outcome outcome_of(std::span<const error_code> first, const error_table& then,
                                      const Entries& entries, std::uint64_t items,
                                      std::vector<batch_sender_types::entry_fault>& faults,
                                      duration retry_after = {})
{
    faults.clear();
    std::uint64_t index = 0;
    for (const auto& e : entries) {
        using code = std::remove_cvref_t<decltype(e.code)>;
        if (index == items) return batch_sender_types::outcome_unknown{};
        if (!(e.code == code()))
            faults.emplace_back(index, outcome_of(first, then, e.code, e.text));
        ++index;
    }
    for (; index != items; ++index)
        faults.emplace_back(index, batch_sender_types::outcome_unknown{});
    if (faults.empty()) return batch_sender_types::accepted{};
    return batch_sender_types::partial{.failed = faults, .retry_after = retry_after};
}

}  // namespace waybill::inline v0_2::wire

#endif  // WAYBILL_WIRE_OUTCOME_OF_HPP
