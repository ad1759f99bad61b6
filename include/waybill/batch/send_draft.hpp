// SPDX-License-Identifier: MIT
//
// send_draft: the batch that would go next, while it grows.
//
// Part of the sender. Whether an item still fits takes an estimate and a margin, and a margin takes
// roots. That is too much for each of a million items, so the draft works out one margin that serves
// all the way to a full batch, and counts down the bytes and items that go in for sure. Near its end
// it looks closely.

#ifndef WAYBILL_BATCH_SEND_DRAFT_HPP
#define WAYBILL_BATCH_SEND_DRAFT_HPP

#include <cstdint>
#include <utility>
#include <vector>

#include <waybill/batch/calibration.hpp>
#include <waybill/batch/closed_by.hpp>
#include <waybill/batch/send_items.hpp>
#include <waybill/batch/sending.hpp>
#include <waybill/core/time.hpp>
#include <waybill/wire/limits.hpp>

namespace waybill::inline v0_2 {

class send_draft {
public:
    std::vector<run> parts;
    batch_sizes sizes;
    std::uint64_t scan = 0;                      ///< The next number to look at.
    std::uint64_t most = unlimited;              ///< Items that it may have.
    std::uint32_t key = 0;                       ///< Of its first item, where keys count.
    std::uint32_t busy = 0;                      ///< Items that it passed as their key was busy.
    steady_time since;                           ///< When it got its first item.
    closed_by closed = closed_by::end;
    bool full = false;

    [[nodiscard]] bool empty() const noexcept { return sizes.items == 0; }

    /// An empty one, that looks for items from there on.
    void begin(std::uint64_t from, send_items& items)
    {
        items.expect(0);
        // One by one, as clang 14 moves a whole draft through the stack, byte by byte shifted, and a
        // processor waits there until all items are written.
        parts.clear();
        sizes = {};
        scan = from;
        most = unlimited;
        key = 0;
        busy = 0;
        since = {};
        closed = closed_by::end;
        full = false;
        as_far_as_ = {};
        margin_ = highest_size;
        sure_end_ = 0;
    }

    void close(closed_by why) noexcept
    {
        full = true;
        closed = why;
    }

    /// Lets more in again if it was full for its bytes alone; something has been learnt.
    void reopen(const limits& l) noexcept
    {
        as_far_as_ = {};
        margin_ = highest_size;
        const bool more = sizes.items < most && sizes.items < l.items;
        if (closed == closed_by::bytes && more) full = false;
    }

    /// Counts item `n` in if it fits, and is full where it does not, or by it. An empty draft takes
    /// anything: whether a guessed header makes it too large is for the broker to say. An item that
    /// goes `alone` is known to be too large.
    [[nodiscard]] bool admit(std::uint64_t n, const send_item& i, const calibration& known,
                             const limits& l, bool one_key, bool alone)
    {
        batch_sizes with = sizes;
        count(with, i);
        if (empty()) {
            most = alone ? 1 : i.most == send_item::any_number ? unlimited : i.most;
            key = i.key;
        } else if (one_key && i.key != key) {
            close(closed_by::key);
            return false;
        }
        bool fits = !alone && fits_for_sure(with, known);
        if (!fits && !alone) {
            look(with, known);
            fits = fits_for_sure(with, known) || known.fits(with);
        }
        if (!fits && !empty()) {
            close(closed_by::bytes);
            return false;
        }
        if (!parts.empty() && parts.back().end() == n) ++parts.back().count;
        else parts.push_back({n, 1});
        sizes = with;
        if (!fits || with.items >= most) close(closed_by::bytes);
        if (fits && with.items >= l.items) close(closed_by::items);
        return true;
    }

    [[nodiscard]] bool looks_ahead() const noexcept { return sure_end_ != 0; }

    /// Where all that was taken shows: how many more may be taken, if their bytes are.
    [[nodiscard]] std::uint64_t sure_items() const noexcept
    {
        return saturating_sub(sure_end_, scan);
    }

    /// Counts the next item of so many bytes in if it fits for sure. That does not show in the draft
    /// as yet. What is below zero has the highest bit: so one branch asks for both.
    [[nodiscard, gnu::always_inline]] bool take(std::uint64_t bytes) noexcept
    {
        const std::uint64_t rest = sure_bytes_ - bytes;
        if (((rest | bytes) >> 63U) != 0) return false;
        sure_bytes_ = rest - each_;
        return true;
    }

    /// Shows in the draft what has been taken, which is all up to this number.
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

    /// The same; what fits for sure is to be worked out again.
    void catch_up(send_items& items) noexcept
    {
        show(items.end());
        sure_end_ = 0;
        items.expect(0);
    }

    /// Works out how much fits for sure behind the last item. All of them are to be `exact`, or none.
    void look_ahead(const calibration& known, const limits& l, bool exact)
    {
        if (full || empty() || parts.back().end() != scan || !serves(sizes)) return;
        exact_ = exact;
        const std::uint64_t items = lesser(lesser(l.items, most) - 1, highest_size / 4);
        if (sizes.items >= items) return;
        std::uint64_t more = items - sizes.items;
        std::uint64_t bodies = highest_size;
        if (!exact) {
            more = lesser(more, as_far_as_.guessed - sizes.guessed);
            bodies = as_far_as_.bodies - sizes.bodies;
        }
        sure(known, l, more, bodies);
    }

    /// What was worked out beforehand is no part of the value, if all that was taken shows.
    friend bool operator==(const send_draft& a, const send_draft& b)
    {
        return a.parts == b.parts && a.sizes == b.sizes && a.scan == b.scan && a.most == b.most &&
               a.key == b.key && a.since == b.since && a.closed == b.closed && a.full == b.full;
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
            if (i.size == send_item::known::sum) ++s.told;
        }
    }

    /// Whether the margin that was worked out is one for such a batch.
    [[nodiscard]] bool serves(const batch_sizes& b) const noexcept
    {
        return margin_ != highest_size && b.bodies <= as_far_as_.bodies &&
               b.guessed <= as_far_as_.guessed && b.told <= as_far_as_.told;
    }

    [[nodiscard]] bool fits_for_sure(const batch_sizes& b, const calibration& known) const
    {
        return serves(b) && saturating_add(known.predict(b), margin_) < known.budget();
    }

    /// Works out a margin for all batches from this one to a full one, if items stay like these, and
    /// however many bytes of bodies that has.
    void look(const batch_sizes& b, const calibration& known)
    {
        const std::uint64_t size = known.predict(b);
        const std::uint64_t budget = known.budget();
        if (size == 0 || size >= budget) return;
        const double room = static_cast<double>(budget - size);
        // What nobody can count is no more: the margin serves the less for it.
        const auto whole = [](double n) { return n < 1e18 ? static_cast<std::uint64_t>(n) : 0; };
        const auto grown = [&](std::uint64_t n) {
            const double more = static_cast<double>(n) * room / static_cast<double>(size);
            return saturating_add(n, whole(more));
        };
        const double ratio = known.items().state().ratio;
        const bool sane = b.guessed != 0 && ratio > 1.0 / 64;
        as_far_as_ = {saturating_add(b.bodies, sane ? whole(room / ratio) : 0), grown(b.guessed), 0,
                      grown(b.told), 0};
        margin_ = known.widest_margin(b, as_far_as_);
    }

    void sure(const calibration& known, const limits& l, std::uint64_t items, std::uint64_t bodies)
    {
        const std::uint64_t taken = saturating_add(known.predict(sizes), margin_);
        const std::uint64_t budget = lesser(known.budget(), highest_size / 2);
        if (taken >= budget) return;
        std::uint64_t bytes = budget - taken;
        each_ = 0;
        if (!exact_) {
            // In bytes of bodies: each takes `ratio` on the wire, and the header comes on top.
            const overhead_state& o = known.items().state();
            if (!(o.ratio > 1.0 / 64) || !(o.ratio < 100)) return;
            const double room = static_cast<double>(bytes - 1) / o.ratio;
            bytes = room < 1e18 ? static_cast<std::uint64_t>(room) : highest_size / 4;
            if (o.header > 0 && o.header < 1e15) {
                each_ = static_cast<std::uint64_t>(o.header / o.ratio) + 1;
            } else if (o.header > 0) {
                return;
            }
        }
        // What is too large by itself is never sure.
        bytes = lesser(lesser(bytes, bodies), saturating_sub(known.limit(), l.envelope));
        if (bytes <= each_ || l.single < bytes) return;
        looked_bytes_ = sure_bytes_ = bytes - (each_ == 0 ? 1 : each_);
        sure_end_ = scan + items;
    }

    batch_sizes as_far_as_;                // up to a batch like this
    std::uint64_t margin_ = highest_size;  // this margin is enough
    std::uint64_t sure_bytes_ = 0;    // the next item fits for sure with so many; may be below zero
    std::uint64_t each_ = 0;          // if each item takes these beside its own,
    std::uint64_t sure_end_ = 0;      // and has a number below this one
    std::uint64_t looked_bytes_ = 0;  // what sure_bytes_ was when the draft was up to date
    bool exact_ = false;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_SEND_DRAFT_HPP
