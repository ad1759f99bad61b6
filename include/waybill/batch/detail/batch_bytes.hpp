// SPDX-License-Identifier: MIT
//
// batch_bytes: the bytes of a batch before its items, and of a batch with a single item.

#ifndef WAYBILL_BATCH_DETAIL_BATCH_BYTES_HPP
#define WAYBILL_BATCH_DETAIL_BATCH_BYTES_HPP

#include <cstdint>

#include <waybill/batch/framing.hpp>
#include <waybill/core/batch_limits.hpp>
#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::detail {

/// The bytes of a batch before its items, if `first` is the first of them.
template <class Item, framing<Item> F>
[[nodiscard]] constexpr std::uint64_t envelope_of(const batch_limits& l, const F& f,
                                                  const Item& first)
{
    return saturating_add(l.envelope, as_size(f.envelope(first)));
}

/// The bytes of a batch that contains only this item, envelope included.
template <class Item, framing<Item> F>
[[nodiscard]] constexpr std::uint64_t size_alone(const batch_limits& l, const F& f,
                                                 const Item& item)
{
    return saturating_add(envelope_of(l, f, item), as_size(f.delta(typename F::state{}, item)));
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_BATCH_BYTES_HPP
