// SPDX-License-Identifier: MIT
//
// verdict: what the codes of a broker's client mean, one line each.
//
// Each adapter in engines/ begins with a table of all the codes that it knows, so that its reader
// can hold it against the broker's manual:
//
//     inline constexpr std::array answers{
//         answer{"INSERTED", verdict::accepted},
//         answer{"JOB_TOO_BIG", verdict::too_large},
//         answer{"DRAINING", verdict::throttled},
//     };
//     waybill::send_outcome o = outcome_of(verdict_on(answers, code), text);
//
// A code that is not in the table is `unknown`: such an answer may come before or after the batch
// has been stored, and only the identical batch may be sent again.

#ifndef WAYBILL_EXAMPLES_ENGINES_VERDICT_HPP
#define WAYBILL_EXAMPLES_ENGINES_VERDICT_HPP

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <waybill/batch.hpp>

namespace engines {

enum class verdict : std::uint8_t {
    accepted,   ///< It has all of it.
    too_large,  ///< It has nothing of it, and fewer at a time would do.
    throttled,  ///< It has nothing of it and wants to be left alone for a while.
    transient,  ///< It has nothing of it; the same may work later.
    permanent,  ///< It has nothing of it, and never will.
    stop,       ///< It has nothing of it, and will take nothing else from us either.
    unknown,    ///< It may have it.
};

struct answer {
    std::string_view code{};
    verdict means = verdict::unknown;
};

template <std::size_t N>
[[nodiscard]] constexpr verdict verdict_on(const std::array<answer, N>& table,
                                           std::string_view code,
                                           verdict otherwise = verdict::unknown)
{
    for (const answer& a : table) {
        if (a.code == code) return a.means;
    }
    return otherwise;
}

/// What there is to know about the sizes, if anything.
struct counted {
    std::optional<std::uint64_t> actual{};
    std::optional<std::uint64_t> limit{};
};

/// What the sender is told. `text` is the broker's own.
[[nodiscard]] inline waybill::send_outcome outcome_of(verdict v, std::string text, counted c = {})
{
    using waybill::fault_class;
    switch (v) {
        case verdict::accepted: return waybill::accepted{.actual = c.actual};
        case verdict::too_large: return waybill::refused{.actual = c.actual, .limit = c.limit};
        case verdict::throttled: return waybill::throttled{};
        case verdict::transient:
            return waybill::failed{.how = fault_class::transient, .text = std::move(text)};
        case verdict::permanent:
            return waybill::failed{.how = fault_class::permanent, .text = std::move(text)};
        case verdict::stop:
            return waybill::failed{.how = fault_class::cancelled, .text = std::move(text)};
        case verdict::unknown: break;
    }
    return waybill::unknown{};
}

/// The same for one entry of a batch, of which the others were taken.
[[nodiscard]] constexpr waybill::fault_class fault_of(verdict v)
{
    using waybill::fault_class;
    switch (v) {
        case verdict::accepted: return fault_class::none;
        case verdict::too_large:
        case verdict::permanent: return fault_class::permanent;
        case verdict::stop: return fault_class::cancelled;
        case verdict::throttled:
        case verdict::transient:
        case verdict::unknown: break;
    }
    return fault_class::transient;
}

/// Nothing was sent, as there is no connection.
[[nodiscard]] inline waybill::send_outcome not_connected(std::string text)
{
    return waybill::failed{.how = waybill::fault_class::infrastructure, .text = std::move(text)};
}

/// The number that follows these words, as in "longer than 262144 bytes".
[[nodiscard]] inline std::optional<std::uint64_t> number_behind(std::string_view text,
                                                                std::string_view words)
{
    const std::size_t at = text.find(words);
    if (at == std::string_view::npos) return {};
    text.remove_prefix(at + words.size());
    std::uint64_t n = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), n).ec != std::errc{}) return {};
    return n;
}

/// What is known of a broker before anything is sent: its limits, and how it counts.
struct manual {
    waybill::limits limit{};
    bool sizes = false;  ///< `size_of` of its adapter tells what a body takes of them.
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_VERDICT_HPP
