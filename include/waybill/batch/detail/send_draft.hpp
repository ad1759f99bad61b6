// SPDX-License-Identifier: MIT
//
// send_draft: the batch that would be sent next, while it grows.
//
// Part of the sender. A test whether an item fits needs an estimate and a margin, which needs
// square roots. This is too slow for each item. So the draft computes one margin that holds up to a
// full batch, and counts down the bytes and items that certainly fit. Near the end of the batch,
// each item is tested on its own.

#ifndef WAYBILL_BATCH_DETAIL_SEND_DRAFT_HPP
#define WAYBILL_BATCH_DETAIL_SEND_DRAFT_HPP

#include <cstdint>
#include <utility>
#include <vector>

#include <waybill/batch/batch_close_reason.hpp>
#include <waybill/batch/detail/calibrator.hpp>
#include <waybill/batch/detail/send_items.hpp>
#include <waybill/batch/sending.hpp>
#include <waybill/core/batch_limits.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2::detail {

class send_draft {
public:
    std::vector<item_range> runs;         ///< The items of the draft, in ascending order.
    batch_sizes sizes;                    ///< The sums over these items.
    std::uint64_t next_item = 0;          ///< Number of the next item to examine.
    std::uint64_t max_items = unlimited;  ///< Maximum number of items.
    std::uint32_t key = 0;                ///< Key slot of the first item, if keys are used.
    steady_time started_at;               ///< Time at which the first item was added.
    batch_close_reason close_reason = batch_close_reason::end;
    bool full = false;
    bool waits_for_keys = false;  ///< It is small, and skipped items can be added later.

    [[nodiscard]] bool empty() const noexcept { return sizes.items == 0; }

    /// Empties the draft and continues with item `from`.
    void begin(std::uint64_t from, send_items& items)
    {
        items.announce(0);
        // Member by member: clang 14 would copy a whole draft through the stack at shifted offsets.
        // The processor would then wait until all earlier writes of items are finished.
        runs.clear();
        sizes = {};
        next_item = from;
        max_items = unlimited;
        key = 0;
        started_at = {};
        close_reason = batch_close_reason::end;
        full = false;
        waits_for_keys = false;
        margin_bound_ = {};
        margin_ = highest_size;
        look_ahead_end_ = 0;
    }

    void close(batch_close_reason reason) noexcept
    {
        full = true;
        close_reason = reason;
    }

    /// After new knowledge: admits more items again, unless the draft has all items of its key.
    void reopen(std::uint64_t most_items) noexcept
    {
        margin_bound_ = {};
        margin_ = highest_size;
        const bool more = sizes.items < max_items && sizes.items < most_items;
        if (close_reason != batch_close_reason::key && more) full = false;
        if (!empty() && sizes.items >= most_items) close(batch_close_reason::items);
        // Its first item allows fewer items than a batch may have now.
        if (close_reason == batch_close_reason::items && sizes.items < most_items)
            close_reason = batch_close_reason::bytes;
    }

    /// Adds item `n` if it fits. Otherwise closes the draft and returns false. Also closes the
    /// draft if the item fills it. An empty draft admits any item: if only an estimated header
    /// makes it too large, the broker decides. An item that is known to be too large is
    /// `sent_alone`.
    [[nodiscard]] bool admit(std::uint64_t n, const send_item& i, const calibrator& estimates,
                             std::uint64_t most_items, bool one_key, bool sent_alone)
    {
        batch_sizes sizes_with_item = sizes;
        count(sizes_with_item, i);
        if (empty()) {
            max_items = i.max_items == send_item::no_maximum ? unlimited : i.max_items;
            if (sent_alone) max_items = 1;
            key = i.key;
        } else if (one_key && i.key != key) {
            close(batch_close_reason::key);
            return false;
        }
        bool fits = !sent_alone && certainly_fits(sizes_with_item, estimates);
        if (!fits && !sent_alone) {
            compute_margin(sizes_with_item, estimates);
            fits = certainly_fits(sizes_with_item, estimates) || estimates.fits(sizes_with_item);
        }
        if (!fits && !empty()) {
            close(batch_close_reason::bytes);
            return false;
        }
        if (!runs.empty() && runs.back().end() == n) ++runs.back().count;
        else runs.push_back(item_range{.first = n, .count = 1});
        sizes = sizes_with_item;
        if (!fits || sizes_with_item.items >= max_items) close(batch_close_reason::bytes);
        if (fits && sizes_with_item.items >= most_items) close(batch_close_reason::items);
        return true;
    }

    [[nodiscard]] bool looks_ahead() const noexcept { return look_ahead_end_ != 0; }

    /// The maximum number of further calls of `take_ahead`. Requires: `add_taken` was called after
    /// the last `take_ahead`.
    [[nodiscard]] std::uint64_t certain_items() const noexcept
    {
        return saturating_sub(look_ahead_end_, next_item);
    }

    /// Takes the next item of `bytes` bytes if it certainly fits. The draft contains it only after
    /// `add_taken`. A negative rest has the highest bit set, so one branch tests the rest and
    /// `bytes`.
    [[nodiscard]] bool take_ahead(std::uint64_t bytes) noexcept
    {
        const std::uint64_t rest = certain_bytes_ - bytes;
        if (((rest | bytes) >> 63U) != 0) return false;
        certain_bytes_ = rest - item_extra_bytes_;
        return true;
    }

    /// Adds the taken items to the draft: all items below `end`.
    void add_taken(std::uint64_t end) noexcept
    {
        if (!looks_ahead() || next_item == end) return;
        const std::uint64_t items = end - next_item;
        const std::uint64_t bytes =
            certain_bytes_at_add_ - certain_bytes_ - items * item_extra_bytes_;
        certain_bytes_at_add_ = certain_bytes_;
        (exact_ ? sizes.exact_bytes : sizes.body_bytes) += bytes;
        if (!exact_) sizes.estimated_items += items;
        sizes.items += items;
        runs.back().count += items;
        next_item += items;
    }

    /// The same, and ends the look-ahead.
    void end_look_ahead(send_items& items) noexcept
    {
        add_taken(items.end());
        look_ahead_end_ = 0;
        items.announce(0);
    }

    /// Computes how much certainly fits after the last item. All items must be `exact`, or none.
    void look_ahead(const calibrator& estimates, const batch_limits& l, std::uint64_t most_items,
                    bool exact)
    {
        if (full || empty() || runs.back().end() != next_item || !margin_holds(sizes)) return;
        exact_ = exact;
        // The last item closes the draft, so it is not taken ahead. A quarter of the range keeps
        // item numbers from overflow.
        const std::uint64_t items = lesser(lesser(most_items, max_items) - 1, highest_size / 4);
        if (sizes.items >= items) return;
        std::uint64_t more = items - sizes.items;
        std::uint64_t bodies = highest_size;
        if (!exact) {
            more = lesser(more, margin_bound_.estimated_items - sizes.estimated_items);
            bodies = margin_bound_.body_bytes - sizes.body_bytes;
        }
        compute_certain_bytes(estimates, l, more, bodies);
    }

    /// The margin, and the certain bytes are not part of the value. Requires:
    /// `add_taken` was called after the last `take_ahead`, for both.
    friend bool operator==(const send_draft& a, const send_draft& b)
    {
        return a.runs == b.runs && a.sizes == b.sizes && a.next_item == b.next_item &&
               a.max_items == b.max_items && a.key == b.key && a.started_at == b.started_at &&
               a.close_reason == b.close_reason && a.full == b.full &&
               a.waits_for_keys == b.waits_for_keys;
    }

private:
    static constexpr double max_convertible = 1e18;  // below 2^63
    // Outside these bounds, an estimate is not used to look ahead.
    static constexpr double min_ratio = 1.0 / max_compression;
    static constexpr double max_ratio = 100;
    static constexpr double max_header = 1e15;  // bytes

    static void count(batch_sizes& s, const send_item& i)
    {
        ++s.items;
        if (i.basis == size_basis::body) {
            ++s.estimated_items;
            s.body_bytes = saturating_add(s.body_bytes, i.bytes);
        } else {
            s.exact_bytes = saturating_add(s.exact_bytes, i.bytes);
        }
    }

    /// True if the computed margin holds for such a batch.
    [[nodiscard]] bool margin_holds(const batch_sizes& b) const noexcept
    {
        return margin_ != highest_size && b.body_bytes <= margin_bound_.body_bytes &&
               b.estimated_items <= margin_bound_.estimated_items;
    }

    [[nodiscard]] bool certainly_fits(const batch_sizes& b, const calibrator& estimates) const
    {
        return margin_holds(b) &&
               saturating_add(estimates.predict(b), margin_) < estimates.budget();
    }

    /// Computes one margin for all batches from `b` to a full one. Assumes that further items are
    /// like those in `b`; their bodies may have any number of bytes that fits.
    void compute_margin(const batch_sizes& b, const calibrator& estimates)
    {
        const std::uint64_t size = estimates.predict(b);
        const std::uint64_t budget = estimates.budget();
        if (size == 0 || size >= budget) return;
        const double room = static_cast<double>(budget - size);
        // A number out of range counts as 0: the margin then holds for fewer batches.
        const auto whole = [](double n) {
            return n < max_convertible ? static_cast<std::uint64_t>(n) : 0;
        };
        const auto grown = [&](std::uint64_t n) {
            const double more = static_cast<double>(n) * room / static_cast<double>(size);
            return saturating_add(n, whole(more));
        };
        const double ratio = estimates.item_line().ratio;
        const bool estimated = b.estimated_items != 0 && ratio > min_ratio;
        margin_bound_ = {
            .body_bytes = saturating_add(b.body_bytes, estimated ? whole(room / ratio) : 0),
            .estimated_items = grown(b.estimated_items)};
        margin_ = estimates.widest_margin(b, margin_bound_);
    }

    void compute_certain_bytes(const calibrator& estimates, const batch_limits& l,
                               std::uint64_t items, std::uint64_t bodies)
    {
        const std::uint64_t taken = saturating_add(estimates.predict(sizes), margin_);
        // At most half of the range, so that take_ahead() can recognise a negative rest.
        const std::uint64_t budget = lesser(estimates.budget(), highest_size / 2);
        if (taken >= budget) return;
        std::uint64_t bytes = budget - taken;
        item_extra_bytes_ = 0;
        if (!exact_) {
            // In bytes of bodies: an item takes its body times `ratio` on the wire, plus the
            // header.
            const calibrator::line o = estimates.item_line();
            if (!(o.ratio > min_ratio) || !(o.ratio < max_ratio)) return;
            const double room = static_cast<double>(bytes - 1) / o.ratio;
            bytes = room < max_convertible ? static_cast<std::uint64_t>(room) : highest_size / 4;
            if (o.header > 0 && o.header < max_header) {
                item_extra_bytes_ = static_cast<std::uint64_t>(o.header / o.ratio) + 1;
            } else if (o.header > 0) {
                return;
            }
        }
        // An item that is too large alone never certainly fits.
        bytes = lesser(lesser(bytes, bodies), saturating_sub(estimates.limit(), l.envelope));
        if (bytes <= item_extra_bytes_ || l.single < bytes) return;
        certain_bytes_at_add_ = certain_bytes_ =
            bytes - (item_extra_bytes_ == 0 ? 1 : item_extra_bytes_);
        look_ahead_end_ = next_item + items;
    }

    batch_sizes margin_bound_;             // margin_ holds for batches up to these sizes
    std::uint64_t margin_ = highest_size;  // bytes
    std::uint64_t certain_bytes_ = 0;     // an item up to this size certainly fits; may be negative
    std::uint64_t item_extra_bytes_ = 0;  // bytes of an item beyond its body
    std::uint64_t look_ahead_end_ = 0;    // items from this number on may not fit; 0: no look-ahead
    std::uint64_t certain_bytes_at_add_ = 0;  // certain_bytes_ at the last add_taken()
    bool exact_ = false;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_SEND_DRAFT_HPP
