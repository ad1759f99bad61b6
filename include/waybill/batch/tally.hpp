// SPDX-License-Identifier: MIT
//
// tally: a batch in the making, in numbers alone.
//
// Says of each item whether it goes in, and counts it if it does. Who keeps the items himself, in an
// SDK's own batch object or nowhere at all, needs no more:
//
//     waybill::tally<my_framing> t;
//     switch (t.add(limits, f, item)) {                       // three answers, not two
//         case added:     sdk_batch.append(item); break;
//         case full:      flush(sdk_batch); t = {}; t.add(limits, f, item); ... break;
//         case too_large: store_elsewhere(item); break;
//     }
//
//   1. `full` and `too_large` leave the tally as it was, but that after `full` nothing more goes in:
//      what came later does not overtake what had to wait;
//   2. an item that is `full` in one tally is `added` to an empty one, and one that is `too_large`
//      fits into none;
//   3. the bytes are exact, and never over the limit.

#ifndef WAYBILL_BATCH_TALLY_HPP
#define WAYBILL_BATCH_TALLY_HPP

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <waybill/batch/closed_by.hpp>
#include <waybill/batch/framing.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/wire/limits.hpp>

namespace waybill::inline v0_2 {

/// What became of a message that was to be added.
enum class adding : std::uint8_t {
    added,      ///< It is in the batch.
    full,       ///< It fits into the next batch, not into this one.
    too_large,  ///< It fits into no batch.
};

[[nodiscard]] constexpr std::string_view name(adding a) noexcept
{
    switch (a) {
        case adding::added: return "added";
        case adding::full: return "full";
        case adding::too_large: return "too_large";
    }
    return "?";
}

/// What a batch takes before its items, this one being the first.
template <class Item, framing<Item> F>
[[nodiscard]] constexpr std::uint64_t envelope_of(const limits& l, const F& f, const Item& first)
{
    return saturating_add(l.envelope, as_size(f.envelope(first)));
}

/// What a batch of this one item takes, envelope and all.
template <class Item, framing<Item> F>
[[nodiscard]] constexpr std::uint64_t size_alone(const limits& l, const F& f, const Item& item)
{
    return saturating_add(envelope_of(l, f, item), as_size(f.delta(typename F::state{}, item)));
}

template <class F>
struct tally {
    typename F::state state{};
    std::uint64_t bytes = 0;  ///< With the envelope; 0 while it is empty.
    std::uint64_t items = 0;
    closed_by closed = closed_by::end;  ///< Why it is full, once it is.
    bool full = false;                  ///< Nothing more goes in.

    /// Counts the item in if it fits. O(1) but for what the framing does, which is asked for the
    /// item's bytes here and, if it does not fit here, for its bytes in front of a batch.
    template <class Item>
        requires framing<F, Item>
    constexpr adding add(const limits& l, const F& f, const Item& item)
    {
        if (!full && items != 0 && items >= l.items) close(closed_by::items);  // fewer than before
        std::uint64_t own = 0;
        if (!full) {
            own = as_size(f.delta(state, item));
            const std::uint64_t so_far = items == 0 ? envelope_of(l, f, item) : bytes;
            if (fits(l, so_far, own)) {
                f.push(state, item);
                bytes = so_far + own;
                if (++items >= l.items) close(closed_by::items);
                return adding::added;
            }
            if (items == 0) return adding::too_large;
        }
        // A framing without a state asks for the same bytes in every place.
        if (full || !std::is_empty_v<typename F::state>) {
            own = as_size(f.delta(typename F::state{}, item));
        }
        if (!fits(l, envelope_of(l, f, item), own)) return adding::too_large;
        if (!full) close(closed_by::bytes);
        return adding::full;
    }

    /// Lets nothing more in.
    constexpr void close(closed_by why)
    {
        full = true;
        closed = why;
    }

    friend bool operator==(const tally&, const tally&) = default;

private:
    [[nodiscard]] static constexpr bool fits(limits l, std::uint64_t so_far, std::uint64_t own)
    {
        l.envelope = so_far;
        return fits_alone(l, own);
    }
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_TALLY_HPP
