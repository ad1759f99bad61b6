// SPDX-License-Identifier: MIT
//
// send_draft: the batch that would go next, while it grows.
//
// Part of the sender. Whether an item still fits takes an estimate and a margin, and a margin takes
// roots. That is too much for each of a million items, so the draft works out beforehand how many
// bytes and items go in for sure, and counts those down. Near its end it looks closely.

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

namespace waybill::inline v0_1 {

class send_draft {
public:
    std::vector<run> parts;
    batch_sizes sizes;
    std::uint64_t scan = 0;                      ///< The next number to look at.
    std::uint64_t most = unlimited;              ///< Items that it may have.
    std::uint32_t key = 0;                       ///< Of its first item, where keys count.
    steady_time since;                           ///< When it got its first item.
    closed_by closed = closed_by::end;
    bool full = false;

    [[nodiscard]] bool empty() const noexcept { return sizes.items == 0; }

    /// An empty one, that looks for items from there on.
    void begin(std::uint64_t from)
    {
        send_draft next;
        next.parts.swap(parts);
        next.parts.clear();
        next.scan = from;
        *this = std::move(next);
    }

    void close(closed_by why) noexcept
    {
        full = true;
        closed = why;
    }

    /// Lets more in again if it was full for its bytes alone.
    void reopen(const limits& l) noexcept
    {
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
        const bool fits = !alone && known.fits(with);
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

    /// Whether the next item of so many bytes fits for sure, and counting it in if it does. It shows
    /// in the draft once that is brought up to date.
    [[nodiscard]] bool can_take(std::uint64_t bytes) const noexcept
    {
        return sure_items_ != 0 && bytes < sure_bytes_ && sure_bytes_ - bytes >= each_;
    }
    void take(std::uint64_t bytes) noexcept
    {
        --sure_items_;
        sure_bytes_ -= bytes + each_;
    }

    [[nodiscard]] bool looks_ahead() const noexcept { return looked_items_ != 0; }

    /// Brings the draft up to date; what fits for sure is to be worked out again.
    void catch_up() noexcept
    {
        const std::uint64_t items = looked_items_ - sure_items_;
        const std::uint64_t bytes = looked_bytes_ - sure_bytes_ - items * each_;
        looked_items_ = sure_items_ = 0;
        looked_bytes_ = sure_bytes_ = 0;
        if (items == 0) return;
        (exact_ ? sizes.exact : sizes.bodies) += bytes;
        if (!exact_) sizes.guessed += items;
        sizes.items += items;
        parts.back().count += items;
        scan += items;
    }

    /// Works out how much fits for sure behind the last item. All of them are to be `exact`, or none.
    void look_ahead(const calibration& known, const limits& l, bool exact)
    {
        if (full || empty() || parts.back().end() != scan) return;
        exact_ = exact;
        const std::uint64_t items = lesser(lesser(l.items, most) - 1, highest_size / 4);
        if (sizes.items >= items) return;
        if (exact && sizes.told == 0 && sizes.guessed == 0) {
            (void)sure(known, l, items - sizes.items, highest_size, 0);
        } else if (!look_as_far_as(1, items, known, l)) {
            (void)look_as_far_as(8, items, known, l);
        }
    }

    /// What was worked out beforehand is no part of the value.
    friend bool operator==(send_draft a, send_draft b)
    {
        a.catch_up();
        b.catch_up();
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

    // The margin of a batch that is larger by one part in `parts_of_it` serves all on the way there.
    [[nodiscard]] bool look_as_far_as(std::uint64_t parts_of_it, std::uint64_t items,
                                      const calibration& known, const limits& l)
    {
        const auto part = [&](std::uint64_t n) { return n / parts_of_it; };
        const batch_sizes s = sizes;
        const std::uint64_t more = part(s.items);
        if (more == 0) return false;
        const batch_sizes then{s.bodies + part(s.bodies), s.guessed + part(s.items), 0,
                               s.told + part(s.told), 0};
        const std::uint64_t bodies = exact_ ? highest_size : part(s.bodies);
        return sure(known, l, lesser(more, items - s.items), bodies, known.widest_margin(then));
    }

    [[nodiscard]] bool sure(const calibration& known, const limits& l, std::uint64_t items,
                            std::uint64_t bodies, std::uint64_t margin)
    {
        const std::uint64_t taken = saturating_add(known.predict(sizes), margin);
        const std::uint64_t budget = lesser(known.budget(), highest_size / 2);
        if (taken >= budget) return false;
        std::uint64_t bytes = budget - taken;
        each_ = 0;
        if (!exact_) {
            // In bytes of bodies: each takes `ratio` on the wire, and the header comes on top.
            const overhead_state& o = known.items().state();
            if (!(o.ratio > 0.01) || !(o.ratio < 100)) return false;
            const double room = static_cast<double>(bytes - 1) / o.ratio;
            bytes = room < 1e18 ? static_cast<std::uint64_t>(room) : highest_size / 4;
            if (o.header > 0 && o.header < 1e15) {
                each_ = static_cast<std::uint64_t>(o.header / o.ratio) + 1;
            } else if (o.header > 0) {
                return false;
            }
        }
        // What is too large by itself is never sure.
        bytes = lesser(lesser(bytes, bodies), saturating_sub(known.limit(), l.envelope));
        if (bytes <= each_ || l.single < bytes) return false;
        looked_bytes_ = sure_bytes_ = bytes;
        looked_items_ = sure_items_ = items;
        return items != 0;
    }

    std::uint64_t sure_bytes_ = 0;    // so many bytes fit for sure
    std::uint64_t sure_items_ = 0;    // in so many items,
    std::uint64_t each_ = 0;          // if each takes these beside its own
    std::uint64_t looked_bytes_ = 0;  // what it was
    std::uint64_t looked_items_ = 0;  // when the draft was up to date
    bool exact_ = false;
};

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_BATCH_SEND_DRAFT_HPP
