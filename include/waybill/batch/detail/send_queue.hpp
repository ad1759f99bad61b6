// SPDX-License-Identifier: MIT
//
// send_queue: the waiting items, and the draft of the next batch, which is cut from their head.
//
// Part of the sender. The draft grows with new items. It is cut again from the head after items
// have come back, and refitted after new knowledge. So each batch is cut with the latest knowledge.

#ifndef WAYBILL_BATCH_DETAIL_SEND_QUEUE_HPP
#define WAYBILL_BATCH_DETAIL_SEND_QUEUE_HPP

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <waybill/batch/detail/calibrator.hpp>
#include <waybill/batch/detail/send_draft.hpp>
#include <waybill/batch/detail/send_items.hpp>
#include <waybill/batch/detail/send_keys.hpp>
#include <waybill/batch/detail/send_trials.hpp>
#include <waybill/batch/detail/settlements.hpp>
#include <waybill/batch/send_policy.hpp>
#include <waybill/batch/sending.hpp>

namespace waybill::inline v0_2::detail {

class send_queue {
public:
    using state = send_item::state;

    explicit send_queue(const send_policy& p)
        : limits_(p.limit),
          linger_(p.linger),
          too_large_(p.on_too_large),
          fresh_{.size = p.exact_sizes ? send_item::known::exact : send_item::known::body},
          ordered_(p.ordered),
          one_key_(p.one_key)
    {
        if (limits_.items == 0) limits_.items = 1;
    }

    [[nodiscard]] std::uint64_t begin() const noexcept { return items_.begin(); }
    [[nodiscard]] std::uint64_t end() const noexcept { return items_.end(); }
    [[nodiscard]] send_items& items() noexcept { return items_; }
    [[nodiscard]] const send_draft& head() const noexcept { return draft_; }

    /// True if all items have ended.
    [[nodiscard]] bool done() const noexcept { return begin() == end(); }

    /// True if an item that is queued now would be examined for the next batch. After `stopped`, no
    /// item is examined, and there is no look-ahead.
    [[nodiscard]] bool wants_more(bool stopped) const noexcept
    {
        if (draft_.looks_ahead()) return true;
        return !stopped && !draft_.full && outsized_.empty() && draft_.scan == end();
    }

    /// The first item that the caller is to replace, or null.
    [[nodiscard]] const batch_sender_types::replace* outsized() const noexcept
    {
        return outsized_.empty() ? nullptr : &outsized_.front();
    }

    /// True if a draft is sent after a time even if it is not full.
    [[nodiscard]] bool lingers() const noexcept { return linger_ != duration::highest(); }

    /// True if the draft can be sent, now or later, without further items.
    [[nodiscard]] bool may_go() const noexcept
    {
        return !draft_.empty() && (draft_.full || hurries() || lingers());
    }
    /// The time from which the draft can be sent.
    [[nodiscard]] steady_time due() const noexcept
    {
        if (draft_.full || hurries()) return steady_time::lowest();
        return draft_.since + linger_;
    }
    /// The close reason of the draft if it is sent.
    [[nodiscard]] batch_close_reason closed() const noexcept
    {
        if (draft_.full) return draft_.closed;
        return hurries() ? batch_close_reason::end : batch_close_reason::deadline;
    }

    /// Items below this number do not wait for a full batch.
    void hurry(std::uint64_t below) noexcept
    {
        draft_.catch_up(items_);
        if (below > hurry_) hurry_ = below;
    }

    /// Queues an item. All allocations come first, also for the draft and for the item's outcome.
    void push(const batch_sender_types::queued& q, settlements& notes)
    {
        draft_.catch_up(items_);
        detail::make_room(draft_.parts);
        detail::make_room(outsized_);
        notes.make_room(1);
        items_.make_room();
        std::uint32_t key = 0;
        if (ordered_ || one_key_) key = keys_.enter(q.key);
        items_.push(fresh_, q.bytes).key = key;
    }

    /// Queues an item and adds it to the draft, if it certainly fits. False, without a change, if
    /// not.
    [[nodiscard, gnu::always_inline]] bool push_sure(std::uint64_t bytes)
    {
        if (!items_.expects() || !draft_.take(bytes)) return false;
        items_.push_expected(fresh_, bytes);
        return true;
    }

    /// The same for a draft that lingers. It may be sent at any time, so it shows the item at once.
    [[nodiscard]] bool push_shown(std::uint64_t bytes)
    {
        items_.make_room();
        if (draft_.sure_items() == 0 || !draft_.take(bytes)) return false;
        items_.push(fresh_, bytes);
        draft_.show(end());
        return true;
    }

    /// Lets the draft grow until it is full or the queue ends. Items that cannot be sent end at
    /// once.
    void extend(const calibrator& known, steady_time now, settlements& notes)
    {
        draft_.catch_up(items_);
        for (; !draft_.full && draft_.scan != end(); ++draft_.scan) {
            send_item& i = items_[draft_.scan];
            if (i.kind == state::oversized) break;
            if (i.kind != state::waiting) continue;
            if (ordered_) {
                if (keys_[i.key].holds(draft_.scan)) {
                    end(draft_.scan, item_outcome::blocked_by_key, notes);
                    continue;
                }
                // At most `farthest` items of busy keys are skipped, so that no batch walks a long
                // queue.
                if (keys_[i.key].away) {
                    if (draft_.busy == farthest) break;
                    ++draft_.busy;
                    continue;
                }
            }
            const std::uint64_t whole = saturating_add(limits_.envelope, i.bytes);
            const bool single = i.bytes > limits_.single;
            const bool large = single || too_large(i, whole, known);
            if (large && !goes_alone(i, whole, known)) {
                if (whole <= known.ceiling() && trial_is_open()) break;  // wait for the trial
                const std::uint64_t limit = single ? limits_.single : known.limit();
                if (outsize(draft_.scan, single ? i.bytes : whole, limit, notes)) break;
                continue;
            }
            if (draft_.empty()) draft_.since = now;
            if (!draft_.admit(draft_.scan, i, known, limits_, one_key_, large)) return;
        }
        // No look-ahead for a draft that `next` may have returned: its changes must be visible.
        const bool waits = !draft_.empty() && !hurries() && draft_.scan == end();
        if (waits && !ordered_ && !one_key_) {
            draft_.look_ahead(known, limits_, fresh_.size == send_item::known::exact);
            if (!lingers()) items_.expect(draft_.sure_items());
        }
        trim();
    }

    /// Refits the draft after new knowledge: it may admit more items. False if it is now too large.
    [[nodiscard]] bool refit(const calibrator& known, steady_time now, settlements& notes)
    {
        draft_.catch_up(items_);
        if (draft_.sizes.items > 1 && !known.fits(draft_.sizes)) return false;
        draft_.reopen(limits_);
        extend(known, now, notes);
        return true;
    }

    /// Cuts the draft again from the head. Items in flight must be marked as `away`. A draft that
    /// waits to fill keeps its start time.
    void recut(const calibrator& known, steady_time now, settlements& notes)
    {
        draft_.catch_up(items_);
        const steady_time since = draft_.empty() ? now : draft_.since;
        draft_.begin(begin(), items_);
        extend(known, now, notes);
        if (!draft_.empty()) draft_.since = earlier(draft_.since, since);
    }

    /// Removes the runs of the draft and begins the next draft after it. The scan has passed these
    /// items, so they need no mark until a draft is cut from the head again. `buffer` is for the
    /// runs of the next draft.
    [[nodiscard]] std::vector<item_range> take_head(std::vector<item_range> buffer)
    {
        if (ordered_) {
            items_.for_each(draft_.parts, [this](send_item& i) { keys_[i.key].away = true; });
        }
        buffer.swap(draft_.parts);
        draft_.begin(draft_.scan, items_);
        return buffer;
    }

    /// Records the outcome of an item that was sent alone, for the trials of other items.
    void tried_alone(std::uint64_t n, bool accepted)
    {
        if (items_[n].size != fresh_.size) return;  // a reported size may differ from its own
        const std::uint64_t whole = saturating_add(limits_.envelope, items_[n].bytes);
        if (accepted) trials_.accepted(whole);
        else trials_.refused(whole);
    }

    /// Lets all items in `parts` wait again.
    void give_back(const std::vector<item_range>& parts)
    {
        landed(parts);
        items_.mark(parts, state::waiting);
    }

    /// An item fits into no batch. True if the caller is asked to replace it; otherwise it ends.
    bool outsize(std::uint64_t n, std::uint64_t bytes, std::uint64_t limit, settlements& notes)
    {
        send_item& i = items_[n];
        if (too_large_ == send_policy::when_too_large::replace && i.replaced == 0) {
            i.kind = state::oversized;
            outsized_.push_back({n, bytes, limit, limits_.envelope});
            return true;
        }
        end_too_large(n, bytes, limit, notes);
        return false;
    }

    /// Replaces the first item of `outsized`: `bytes` is its new size. If empty, the item ends.
    void replace(std::optional<std::uint64_t> bytes, settlements& notes)
    {
        const batch_sender_types::replace a = outsized_.front();
        outsized_.erase(outsized_.begin());
        send_item& i = items_[a.item];
        i.replaced = 1;
        if (!bytes) {
            end_too_large(a.item, a.bytes, a.limit, notes);
            return;
        }
        i.bytes = *bytes;
        i.size = fresh_.size;
        i.tried = 0;
        i.max_items = send_item::any_number;
        i.kind = state::waiting;
    }

    /// Sets the state of a failed item: waiting if it may be sent `again`, otherwise gone. If an
    /// earlier send of the same batch may have arrived, it is in doubt instead.
    static void fail(send_item& i, fault_kind kind, bool again, bool may_have_arrived)
    {
        i.kind = may_have_arrived ? state::in_doubt : again ? state::waiting : state::gone;
        if (i.kind == state::gone) i.max_items = static_cast<std::uint16_t>(kind);
    }

    /// Processes the result of a batch. Ends the items that do not wait again, by their states, and
    /// reports their outcomes in runs.
    void settle(const std::vector<item_range>& parts, settlements& notes)
    {
        landed(parts);
        batch_sender_types::report s;
        const auto note = [&] {
            if (s.items.count != 0) notes.push(s);
            s.items.count = 0;
        };
        for (const item_range& r : parts) {
            for (std::uint64_t n = r.first; n != r.end(); ++n) {
                const send_item& i = items_[n];
                if (i.kind == state::waiting) continue;
                item_outcome o = item_outcome::accepted;
                fault_kind kind = fault_kind::none;
                if (i.kind == state::in_doubt) o = item_outcome::in_doubt;
                if (i.kind == state::gone) {
                    o = item_outcome::failed;
                    kind = static_cast<fault_kind>(i.max_items);
                }
                end(n, o);
                if (s.items.end() != n || s.outcome != o || s.kind != kind) note();
                if (s.items.count == 0) s = {{n, 0}, o, kind};
                ++s.items.count;
            }
        }
        note();
    }

    /// Ends all items in `parts` with the same outcome.
    void settle_all(const std::vector<item_range>& parts, item_outcome o, settlements& notes)
    {
        notes.make_room(parts.size());
        landed(parts);
        if (!ordered_ && !one_key_) items_.end(parts);
        for (const item_range& r : parts) {
            if (ordered_ || one_key_) {
                for (std::uint64_t n = r.first; n != r.end(); ++n) end(n, o);
            }
            notes.push({r, o});
        }
    }

    /// Ends all waiting items as `unsent`. Items in flight must be marked as `away`.
    void end_waiting(settlements& notes)
    {
        draft_.begin(begin(), items_);
        outsized_.clear();
        for (; draft_.scan != end(); ++draft_.scan) {
            const state s = items_[draft_.scan].kind;
            if (s != state::waiting && s != state::oversized) continue;
            end(draft_.scan, item_outcome::unsent, notes);
        }
        trim();
    }

    /// Lets a stopped key continue with items that are queued from now on.
    event_result resume(std::uint64_t key)
    {
        return keys_.resume(key, end()) ? event_result::applied : event_result::stale;
    }

    void trim()
    {
        items_.trim();
        if (draft_.scan < begin()) draft_.scan = begin();
    }

    friend bool operator==(const send_queue& a, const send_queue& b)
    {
        send_draft x = a.draft_, y = b.draft_;
        x.show(a.end());
        y.show(b.end());
        return a.items_ == b.items_ && x == y && a.keys_ == b.keys_ &&
               a.outsized_ == b.outsized_ && a.hurry_ == b.hurry_ && a.limits_ == b.limits_ &&
               a.linger_ == b.linger_ && a.trials_ == b.trials_;
    }

private:
    static constexpr std::uint32_t farthest = 4'096;  // skipped items of busy keys

    [[nodiscard]] bool hurries() const noexcept { return draft_.parts.front().first < hurry_; }

    /// True if an item is too large. A reported limit below the highest known limit may count bytes
    /// on the wire. So if the item's size is estimated, its predicted size decides.
    [[nodiscard]] static bool too_large(const send_item& i, std::uint64_t whole,
                                        const calibrator& known)
    {
        if (whole == highest_size || whole > known.ceiling()) return true;
        if (whole <= known.limit()) return false;
        if (i.size != send_item::known::body) return true;
        return known.predict({.bodies = i.bytes, .guessed = 1, .items = 1}) > known.limit();
    }

    /// True if the broker decides about an item that is too large by current knowledge: if the
    /// policy requires it; if its size was reported, alone or in a sum, and may be wrong; or to
    /// test a reported limit.
    [[nodiscard]] bool goes_alone(send_item& i, std::uint64_t whole, const calibrator& known)
    {
        if (whole == highest_size) return false;
        if (too_large_ == send_policy::when_too_large::send_alone) return true;
        if (i.size == send_item::known::sum || i.size == send_item::known::told) return true;
        if (i.bytes > limits_.single || whole > known.ceiling()) return false;
        if (i.tried == 0 && !trial_is_open() && trials_.wants(draft_.scan, whole, known.limit())) {
            i.tried = 1;
        }
        return i.tried != 0;
    }

    /// True if an item before the next one is being tried.
    [[nodiscard]] bool trial_is_open()
    {
        const std::uint64_t n = trials_.last();
        if (n < begin() || n >= draft_.scan) return false;
        return items_[n].tried != 0 && items_[n].kind != state::over;
    }

    void landed(const std::vector<item_range>& parts)
    {
        if (!ordered_) return;
        items_.for_each(parts, [this](send_item& i) { keys_[i.key].away = false; });
    }

    void end(std::uint64_t n, item_outcome o)
    {
        send_item& i = items_[n];
        i.kind = state::over;
        if (!ordered_ && !one_key_) return;
        const bool stops = o == item_outcome::too_large || o == item_outcome::failed ||
                           o == item_outcome::in_doubt;
        if (ordered_ && stops) keys_.stop(i.key, n);
        keys_.leave(i.key);
    }

    void end(std::uint64_t n, item_outcome o, settlements& notes)
    {
        end(n, o);
        notes.push({{n, 1}, o});
    }

    void end_too_large(std::uint64_t n, std::uint64_t bytes, std::uint64_t limit,
                       settlements& notes)
    {
        end(n, item_outcome::too_large);
        notes.push({{n, 1},
                    item_outcome::too_large,
                    fault_kind::permanent,
                    bytes,
                    limit,
                    limits_.envelope});
    }

    batch_limits limits_;
    duration linger_;
    send_policy::when_too_large too_large_;
    send_item fresh_;  // the template for queued items
    bool ordered_;
    bool one_key_;
    std::uint64_t hurry_ = 0;
    send_items items_;
    send_keys keys_;
    send_draft draft_;
    std::vector<batch_sender_types::replace> outsized_;
    send_trials trials_;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_SEND_QUEUE_HPP
