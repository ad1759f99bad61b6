// SPDX-License-Identifier: MIT
//
// bin_packer: fills several batches at the same time, for items whose order does not matter.
//
//     auto bins = waybill::bin_packer<entry>::of(limits, wire_size, {.open = 8, .linger = 50ms});
//     switch (bins.try_add(e, now)) {                              // three results, not two
//         case added:     break;
//         case full:      flush(bins.take(now)); bins.try_add(e, now); break;
//         case too_large: store_elsewhere(e); break;
//     }
//     if (bins.due(now)) flush(bins.take(now));
//     auto p = waybill::pack(entries, limits, wire_size);          // if all items are available
//     for (auto& b : p.batches) for (std::size_t i : b.items) ... entries[i] ...
//
// An item goes into the fullest bin, by bytes, that has room for it. `take` returns a full bin,
// else one past its deadline, else the fullest.
//   1. `full` and `too_large` leave the item unchanged; after `full` and take(now) it is `added`.
//   2. The bytes are exact and never above the limit. At most `open` bins are open.
//   3. One bin returns the same results as an open_batch.
// The guide has guarantees 4 and 5 (fill level) and measurements. Cost: all open bins are tried.
// A value without locks: one thread at a time.

#ifndef WAYBILL_BATCH_BIN_PACKER_HPP
#define WAYBILL_BATCH_BIN_PACKER_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/batch/add_result.hpp>
#include <waybill/batch/detail/assignable.hpp>
#include <waybill/batch/detail/open_batches.hpp>
#include <waybill/batch/detail/size_model.hpp>
#include <waybill/batch/framing.hpp>
#include <waybill/batch/open_batch.hpp>
#include <waybill/batch/open_limits.hpp>

namespace waybill::inline v0_2 {

/// `Size` as in open_batch; bin_packer::of deduces it. Each `try_add` calls it up to three times
/// for every bin that it tries. The last argument of the base selects the fullest bin for `take`.
template <class Item, class Size = std::uint64_t (*)(const Item&)>
class bin_packer
    : public detail::open_batches<closed_batch<Item>, detail::kept_framing<Item, Size>, true> {
    using base = detail::open_batches<closed_batch<Item>, detail::kept_framing<Item, Size>, true>;

public:
    bin_packer(const batch_limits& l, Size size_of, const open_limits& o = {.open = 8})
        : base(l, detail::framing_of<Item, Size>(std::move(size_of)), o)
    {
    }
    /// The same for any size function or framing, whose type it deduces.
    template <class F = std::identity>
    [[nodiscard]] static auto of(const batch_limits& l, F size = {},
                                 const open_limits& o = {.open = 8})
    {
        return bin_packer<Item, F>{l, std::move(size), o};
    }
    /// Refuses a size function or framing of another type: use `of`.
    template <class F>
        requires(!std::convertible_to<F, Size>)
    bin_packer(const batch_limits& l, F size, const open_limits& o = {})
        : bin_packer(l, detail::size_of_type<Size>(std::move(size)), o)
    {
    }

    /// Adds a copy of `item`, or moves an rvalue. If the result is not `added`, `item` is
    /// unchanged. Allocates if a bin is opened or its buffer must grow. O(open bins).
    template <class T>
        requires std::same_as<std::remove_cvref_t<T>, Item> && std::constructible_from<Item, T>
    add_result try_add(T&& item, steady_time now)
    {
        const std::size_t end = this->open();  // stands for a new bin, if no open one has room
        std::size_t best = end;
        // The sums of the best bin so far, with the item.
        detail::tally<detail::kept_framing<Item, Size>> counted;
        for (std::size_t at = 0; at <= end; ++at) {
            if (at == end && best != end) break;
            detail::tally<detail::kept_framing<Item, Size>> with;
            if (at != end) with = this->batches_[at].sum;
            if (with.full) continue;
            if (best != end && with.bytes <= this->batches_[best].sum.bytes) continue;
            const add_result result = with.add(this->limits_, this->framing_, std::as_const(item));
            if (result == add_result::too_large) return result;
            if (result == add_result::full) continue;
            best = at;
            counted = std::move(with);
        }
        return this->put(best, {}, std::move(counted), std::forward<T>(item), now);
    }
    /// Adds an item that is constructed from `item`. The bytes are those of the constructed item.
    template <class T>
        requires(!std::same_as<T, Item> && std::constructible_from<Item, const T&>)
    add_result try_add(const T& item, steady_time now)
    {
        return try_add(Item(item), now);
    }
};

/// The result of `pack`: positions in its input. Each is in exactly one batch or in `too_large`.
/// The batches are in the order in which they were closed.
struct packed_bins {
    std::vector<closed_batch<std::size_t>> batches{};
    std::vector<std::size_t> too_large{};

    friend bool operator==(const packed_bins&, const packed_bins&) = default;
};

/// Packs a container with operator[] and size(): a vector, span, array or deque. `bins` is the
/// number of open bins. `unlimited` bins waste the fewest bytes, in O(items * batches).
template <class Items, class F = std::identity>
[[nodiscard]] packed_bins pack(const Items& items, const batch_limits& l, F size = {},
                               std::uint64_t bins = 8)
{
    using item = std::remove_cvref_t<decltype(items[0])>;
    auto at = [&items](const std::size_t& i) -> decltype(auto) { return items[i]; };
    using model = framed<detail::framing_for<item, F>, decltype(at)>;
    bin_packer<std::size_t, model> open(l, {detail::framing_of<item>(std::move(size)), at},
                                        {.open = bins});
    const steady_time now{};  // any time: without `linger`, bins have no deadline
    packed_bins p;
    for (std::size_t i = 0; i != items.size(); ++i) {
        add_result result = open.try_add(i, now);
        if (result == add_result::full) {
            p.batches.push_back(open.take(now));
            result = open.try_add(i, now);
        }
        if (result == add_result::too_large) p.too_large.push_back(i);
        while (open.due(now)) p.batches.push_back(open.take(now));
    }
    while (!open.empty()) p.batches.push_back(open.take(now));
    return p;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_BIN_PACKER_HPP
