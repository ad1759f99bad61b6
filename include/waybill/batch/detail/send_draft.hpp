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
    std::vector<item_range> parts;         ///< The items of the draft, in ascending order.
    batch_sizes sizes;                     ///< The sums over these items.
    std::uint64_t scan = 0;                ///< Number of the next item to examine.
    std::uint64_t max_items = unlimited;   ///< Maximum number of items.
    std::uint32_t key = 0;                 ///< Key slot of the first item, if keys are used.
    std::uint32_t busy = 0;                ///< Items skipped because of a busy key.
    steady_time since;                     ///< Time at which the first item was added.
    batch_close_reason closed = batch_close_reason::end;
    bool full = false;

    [[nodiscard]] bool empty() const noexcept { return sizes.items == 0; }

    /// Empties the draft and continues with item `from`.
    void begin(std::uint64_t from, send_items& items)
    {
        items.expect(0);
        // Member by member: clang 14 moves a whole draft through the stack with shifted bytes, and
        // the processor stalls until all items are written.
        parts.clear();
        sizes = {};
        scan = from;
        max_items = unlimited;
        key = 0;
        busy = 0;
        since = {};
        closed = batch_close_reason::end;
        full = false;
        as_far_as_ = {};
        margin_ = highest_size;
        sure_end_ = 0;
    }

    void close(batch_close_reason reason) noexcept
    {
        full = true;
        closed = reason;
    }

    /// After new knowledge: admits more items again if the draft was full only by its bytes.
    void reopen(const batch_limits& l) noexcept
    {
        as_far_as_ = {};
        margin_ = highest_size;
        const bool more = sizes.items < max_items && sizes.items < l.items;
        if (closed == batch_close_reason::bytes && more) full = false;
    }

    /// Adds item `n` if it fits. Otherwise closes the draft and returns false. Also closes the
    /// draft if the item fills it. An empty draft admits any item: if only an estimated header
    /// makes it too large, the broker decides. An item that goes `alone` is known to be too large.
    [[nodiscard]] bool admit(std::uint64_t n, const send_item& i, const calibrator& known,
                             const batch_limits& l, bool one_key, bool alone)
    {
        batch_sizes with = sizes;
        count(with, i);
        if (empty()) {
            max_items = alone ? 1 : i.max_items == send_item::any_number ? unlimited : i.max_items;
            key = i.key;
        } else if (one_key && i.key != key) {
            close(batch_close_reason::key);
            return false;
        }
        bool fits = !alone && fits_for_sure(with, known);
        if (!fits && !alone) {
            look(with, known);
            fits = fits_for_sure(with, known) || known.fits(with);
        }
        if (!fits && !empty()) {
            close(batch_close_reason::bytes);
            return false;
        }
        if (!parts.empty() && parts.back().end() == n) ++parts.back().count;
        else parts.push_back({n, 1});
        sizes = with;
        if (!fits || with.items >= max_items) close(batch_close_reason::bytes);
        if (fits && with.items >= l.items) close(batch_close_reason::items);
        return true;
    }

    [[nodiscard]] bool looks_ahead() const noexcept { return sure_end_ != 0; }

    /// How many more items can be taken, if their bytes fit. Requires that all taken items are
    /// shown.
    [[nodiscard]] std::uint64_t sure_items() const noexcept
    {
        return saturating_sub(sure_end_, scan);
    }

    /// Takes the next item of `bytes` bytes if it certainly fits. The draft contains it after
    /// `show`. A negative rest has the highest bit set, so one branch tests the rest and `bytes`.
    [[nodiscard, gnu::always_inline]] bool take(std::uint64_t bytes) noexcept
    {
        const std::uint64_t rest = sure_bytes_ - bytes;
        if (((rest | bytes) >> 63U) != 0) return false;
        sure_bytes_ = rest - each_;
        return true;
    }

    /// Adds the taken items to the draft: all items below `end`.
    void show(std::uint64_t end) noexcept
    {
        if (!looks_ahead() || scan == end) return;
        const std::uint64_t items = end - scan;
        const std::uint64_t bytes = looked_bytes_ - sure_bytes_ - items * each_;
        looked_bytes_ = sure_bytes_;
        (exact_ ? sizes.exact : sizes.bodies) += bytes;
        if (!exact_) sizes.guessed += items;
        sizes.items += items;
        parts.back().count += items;
        scan += items;
    }

    /// The same, and ends the look-ahead.
    void catch_up(send_items& items) noexcept
    {
        show(items.end());
        sure_end_ = 0;
        items.expect(0);
    }

    /// Computes how much certainly fits after the last item. All items must be `exact`, or none.
    void look_ahead(const calibrator& known, const batch_limits& l, bool exact)
    {
        if (full || empty() || parts.back().end() != scan || !serves(sizes)) return;
        exact_ = exact;
        const std::uint64_t items = lesser(lesser(l.items, max_items) - 1, highest_size / 4);
        if (sizes.items >= items) return;
        std::uint64_t more = items - sizes.items;
        std::uint64_t bodies = highest_size;
        if (!exact) {
            more = lesser(more, as_far_as_.guessed - sizes.guessed);
            bodies = as_far_as_.bodies - sizes.bodies;
        }
        sure(known, l, more, bodies);
    }

    /// The look-ahead is not part of the value. Requires that all taken items are shown.
    friend bool operator==(const send_draft& a, const send_draft& b)
    {
        return a.parts == b.parts && a.sizes == b.sizes && a.scan == b.scan &&
               a.max_items == b.max_items && a.key == b.key && a.since == b.since &&
               a.closed == b.closed && a.full == b.full;
    }

private:
    static void count(batch_sizes& s, const send_item& i)
    {
        ++s.items;
        if (i.size == send_item::known::body) {
            ++s.guessed;
            s.bodies = saturating_add(s.bodies, i.bytes);
        } else {
            s.exact = saturating_add(s.exact, i.bytes);
            if (i.size == send_item::known::sum) ++s.reported;
        }
    }

    /// True if the computed margin holds for such a batch.
    [[nodiscard]] bool serves(const batch_sizes& b) const noexcept
    {
        return margin_ != highest_size && b.bodies <= as_far_as_.bodies &&
               b.guessed <= as_far_as_.guessed && b.reported <= as_far_as_.reported;
    }

    [[nodiscard]] bool fits_for_sure(const batch_sizes& b, const calibrator& known) const
    {
        return serves(b) && saturating_add(known.predict(b), margin_) < known.budget();
    }

    /// Computes one margin for all batches from `b` to a full one. Assumes that further items are
    /// like those in `b`; their bodies may have any number of bytes that fits.
    void look(const batch_sizes& b, const calibrator& known)
    {
        const std::uint64_t size = known.predict(b);
        const std::uint64_t budget = known.budget();
        if (size == 0 || size >= budget) return;
        const double room = static_cast<double>(budget - size);
        // A number out of range counts as 0: the margin then holds for fewer batches.
        const auto whole = [](double n) { return n < 1e18 ? static_cast<std::uint64_t>(n) : 0; };
        const auto grown = [&](std::uint64_t n) {
            const double more = static_cast<double>(n) * room / static_cast<double>(size);
            return saturating_add(n, whole(more));
        };
        const double ratio = known.items().state().ratio;
        const bool sane = b.guessed != 0 && ratio > 1.0 / 64;
        as_far_as_ = {saturating_add(b.bodies, sane ? whole(room / ratio) : 0), grown(b.guessed), 0,
                      grown(b.reported), 0};
        margin_ = known.widest_margin(b, as_far_as_);
    }

    void sure(const calibrator& known, const batch_limits& l, std::uint64_t items,
              std::uint64_t bodies)
    {
        const std::uint64_t taken = saturating_add(known.predict(sizes), margin_);
        const std::uint64_t budget = lesser(known.budget(), highest_size / 2);
        if (taken >= budget) return;
        std::uint64_t bytes = budget - taken;
        each_ = 0;
        if (!exact_) {
            // In bytes of bodies: an item takes its body times `ratio` on the wire, plus the
            // header.
            const calibration::item_estimate& o = known.items().state();
            if (!(o.ratio > 1.0 / 64) || !(o.ratio < 100)) return;
            const double room = static_cast<double>(bytes - 1) / o.ratio;
            bytes = room < 1e18 ? static_cast<std::uint64_t>(room) : highest_size / 4;
            if (o.header > 0 && o.header < 1e15) {
                each_ = static_cast<std::uint64_t>(o.header / o.ratio) + 1;
            } else if (o.header > 0) {
                return;
            }
        }
        // An item that is too large alone never certainly fits.
        bytes = lesser(lesser(bytes, bodies), saturating_sub(known.limit(), l.envelope));
        if (bytes <= each_ || l.single < bytes) return;
        looked_bytes_ = sure_bytes_ = bytes - (each_ == 0 ? 1 : each_);
        sure_end_ = scan + items;
    }

    batch_sizes as_far_as_;                // margin_ holds for batches up to this one
    std::uint64_t margin_ = highest_size;  // margin for these batches
    std::uint64_t sure_bytes_ = 0;         // bytes of an item that certainly fits; may be negative
    std::uint64_t each_ = 0;               // bytes that each item takes beyond its own
    std::uint64_t sure_end_ = 0;           // items from here on may not fit; 0: no look-ahead
    std::uint64_t looked_bytes_ = 0;       // sure_bytes_ when taken items were last shown
    bool exact_ = false;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_SEND_DRAFT_HPP
