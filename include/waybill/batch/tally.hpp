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

#include <waybill/batch/closed_by.hpp>
#include <waybill/batch/framing.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/wire/limits.hpp>

namespace waybill::inline v0_1 {

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

/// What a batch of this one item takes, envelope and all.
template <class Item, framing<Item> F>
[[nodiscard]] constexpr std::uint64_t size_alone(const limits& l, const F& f, const Item& item)
{
    const std::uint64_t envelope = saturating_add(l.envelope, as_size(f.envelope(item)));
    return saturating_add(envelope, as_size(f.delta(typename F::state{}, item)));
}

template <class F>
struct tally {
    typename F::state state{};
    std::uint64_t bytes = 0;  ///< With the envelope; 0 while it is empty.
    std::uint64_t items = 0;
    closed_by closed = closed_by::end;  ///< Why it is full, once it is.
    bool full = false;                  ///< Nothing more goes in.

    /// Counts the item in if it fits. O(1) but for what the framing does.
    template <class Item>
        requires framing<F, Item>
    constexpr adding add(const limits& l, const F& f, const Item& item)
    {
        if (!full) {
            const std::uint64_t own = as_size(f.delta(state, item));
            std::uint64_t sum = bytes;
            if (items == 0) sum = saturating_add(l.envelope, as_size(f.envelope(item)));
            sum = saturating_add(sum, own);
            if (own <= l.single && fits(l, sum)) {
                f.push(state, item);
                bytes = sum;
                if (++items >= l.items) close(closed_by::items);
                return adding::added;
            }
            if (items == 0) return adding::too_large;
        }
        const std::uint64_t alone = as_size(f.delta(typename F::state{}, item));
        if (alone > l.single || !fits(l, size_alone(l, f, item))) return adding::too_large;
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
    // A sum that has saturated fits nowhere: nobody knows how large it really is.
    [[nodiscard]] static constexpr bool fits(const limits& l, std::uint64_t sum)
    {
        return sum <= l.bytes && sum != highest_size;
    }
};

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_BATCH_TALLY_HPP
