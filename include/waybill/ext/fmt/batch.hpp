// SPDX-License-Identifier: MIT
//
// ext/fmt/batch: batches, calibrations, policies, reports and actions of the batch sender as lines.

#ifndef WAYBILL_EXT_FMT_BATCH_HPP
#define WAYBILL_EXT_FMT_BATCH_HPP

#include <waybill/ext/fmt/detail/package.hpp>

#include <waybill/batch/describe.hpp>
#include <waybill/ext/fmt/detail/line.hpp>
#include <waybill/ext/fmt/retry.hpp>

// Full specialisations: only those take precedence over the partial specialisations for variants
// and ranges in the headers of {fmt}.
template <>
struct fmt::formatter<waybill::batch_sender::action>
    : waybill::detail::line_formatter<waybill::batch_sender::action> {};
template <>
struct fmt::formatter<waybill::send_outcome>
    : waybill::detail::line_formatter<waybill::send_outcome> {};
template <>
struct fmt::formatter<waybill::batch_sender::item_ranges>
    : waybill::detail::line_formatter<waybill::batch_sender::item_ranges> {};

// Chunks are ranges, but are formatted as one line, not element by element.
FMT_BEGIN_NAMESPACE
template <class T, class Char>
struct is_range;
template <class I, class Char>
struct is_range<waybill::chunk<I>, Char> {
    static constexpr bool value = false;
};
template <class T, class Items, class Char>
struct is_range<waybill::owned_chunk<T, Items>, Char> {
    static constexpr bool value = false;
};
FMT_END_NAMESPACE

#endif  // WAYBILL_EXT_FMT_BATCH_HPP
