// SPDX-License-Identifier: MIT
//
// packing: fewer batches, where the order of items does not matter.
//
// A batch that is cut in order is closed by the first item that does not fit, and a smaller one
// that comes later cannot fill the rest. Here a few stay open, and an item goes where it fits:
//
//     auto bins = waybill::open_bins_of<entry>(limits, wire_size, {.open = 8, .linger = 50ms});
//     switch (bins.try_add(e, now)) {                              // three answers, not two
//         case added:     break;
//         case full:      flush(bins.take(now)); bins.try_add(e, now); break;
//         case too_large: store_elsewhere(e); break;
//     }
//     if (bins.due(now)) flush(bins.take(now));
//
//     auto p = waybill::pack(entries, limits, wire_size);          // the same, if all are there
//     for (auto& b : p.batches) for (std::size_t i : b.items) ... entries[i] ...
//
// An item goes into the fullest bin where it fits, and take(now) gives a bin that is full, then one
// past its deadline, then the fullest, as that has the least room to lose. Fullest is by bytes,
// even under a limit of items; of equals, the one that was opened first. With 8 bins, items of any
// size up to nearly the limit need 8 % more batches than their bytes demand, in order 35 %; where
// each is below some 5 % of the limit, there is nothing to gain (bench/packing). Nothing is sorted:
// that puts small items together, and under a limit of items costs more batches than it saves.
//
//   1. `full` and `too_large` leave the item as it was; after `full` and take(now) it is `added`;
//   2. the bytes are exact and never over the limit; no more bins are open than was said;
//   3. one bin is an open_batch, answer for answer.
//
// More holds where a size does not depend on the place, every `full` is answered as above, and bins
// are taken otherwise only when they are full, or at the end:
//
//   4. two batches that were open at the same time, or were taken one after the other, do not fit
//      into one. For an item opens a bin only if it fits into no other; and of two that are taken
//      in succession either both were open when the first went, or the second took its place with
//      the item for which it went, unless the first was full by items. So there are less than twice
//      as many batches as needed, if two or more, and under a limit of items less than four times;
//   5. with two bins or more and no limit of items, all batches but one are more than half full,
//      the envelope not counted: of two that are open together one is, and the fullest goes.
//
// A value without locks: one thread at a time.

#ifndef WAYBILL_BATCH_PACKING_HPP
#define WAYBILL_BATCH_PACKING_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/batch/assignable.hpp>
#include <waybill/batch/framing.hpp>
#include <waybill/batch/open_batch.hpp>
#include <waybill/batch/side_by_side.hpp>

namespace waybill::inline v0_2 {

/// `Size` as in open_batch; open_bins_of finds it out. It is asked up to three times for every bin
/// that an item is tried in.
template <class Item, size_model<const Item&> Size = std::uint64_t (*)(const Item&)>
class open_bins : public side_by_side<closed_batch<Item>, kept_framing<Item, Size>, true> {
    using base = side_by_side<closed_batch<Item>, kept_framing<Item, Size>, true>;
    struct use_open_bins_of;  // what a compiler says of another size

public:
    open_bins(const limits& l, Size weigh, const open_limits& o = {.open = 8})
        : base(l, framing_of<Item, Size>(std::move(weigh)), o)
    {
    }
    /// Any other size function or framing is part of another type: see open_bins_of.
    template <class F, class = use_open_bins_of>
        requires(!std::convertible_to<F, Size>)
    open_bins(const limits&, F, const open_limits& = {}) = delete;

    /// Adds a copy of `item`, or the item itself where it may be moved; only if it is `added`.
    /// Allocates where a bin is opened or its buffer has to grow.
    template <class T>
        requires std::same_as<std::remove_cvref_t<T>, Item> && std::constructible_from<Item, T>
    adding try_add(T&& item, steady_time now)
    {
        const std::size_t end = this->open();
        std::size_t best = end;
        tally<kept_framing<Item, Size>> counted;  // with it, in the best place so far
        for (std::size_t at = 0; at <= end; ++at) {
            if (at == end && best != end) break;
            tally<kept_framing<Item, Size>> with;
            if (at != end) with = this->all_[at].sum;
            if (with.full || (best != end && with.bytes <= this->all_[best].sum.bytes)) continue;
            const adding what = with.add(this->limits_, this->framing_, std::as_const(item));
            if (what == adding::too_large) return what;
            if (what == adding::full) continue;
            best = at;
            counted = std::move(with);
        }
        return this->put(best, {}, std::move(counted), std::forward<T>(item), now);
    }
    /// The same for what an item can be made of: the bytes are those of the item.
    template <class T>
        requires(!std::same_as<T, Item> && std::constructible_from<Item, const T&>)
    adding try_add(const T& item, steady_time now)
    {
        return try_add(Item(item), now);
    }
};

/// Bins of `Item` by any size function or framing.
template <class Item, size_model<const Item&> F = std::identity>
[[nodiscard]] auto open_bins_of(const limits& l, F size = {}, const open_limits& o = {.open = 8})
{
    return open_bins<Item, F>{l, std::move(size), o};
}

/// Who travels with whom, by places in what was packed. Each is in one batch or too large for any.
/// Batches stand in the order in which they were closed.
struct packed {
    std::vector<closed_batch<std::size_t>> batches{};
    std::vector<std::size_t> too_large{};

    friend bool operator==(const packed&, const packed&) = default;
};

/// Packs what has places: a vector, a span, an array, a deque. `unlimited` bins waste least, in
/// time that grows with items times batches.
template <class Items, size_model<decltype(std::declval<const Items&>()[0])> F = std::identity>
[[nodiscard]] packed pack(const Items& items, const limits& l, F size = {}, std::uint64_t bins = 8)
{
    using item = std::remove_cvref_t<decltype(items[0])>;
    auto at = [&items](const std::size_t& i) -> decltype(auto) { return items[i]; };
    using model = framed<framing_for<item, F>, decltype(at)>;
    open_bins<std::size_t, model> open(l, {framing_of<item>(std::move(size)), at}, {.open = bins});
    packed p;
    for (std::size_t i = 0; i != items.size(); ++i) {
        adding what = open.try_add(i, {});
        if (what == adding::full) {
            p.batches.push_back(open.take({}));
            what = open.try_add(i, {});
        }
        if (what == adding::too_large) p.too_large.push_back(i);
        while (open.due({})) p.batches.push_back(open.take({}));
    }
    while (!open.empty()) p.batches.push_back(open.take({}));
    return p;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_PACKING_HPP
