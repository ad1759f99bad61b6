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
    explicit send_queue(const send_policy& p)
        : limits_(p.limit),
          linger_(p.linger),
          too_large_(p.on_too_large),
          prototype_{.basis = p.exact_sizes ? size_basis::exact : size_basis::body},
          ordered_(p.ordered),
          one_key_(p.one_key),
          may_overtake_(p.may_overtake),
          strict_(p.ordered && p.limit.answers_per_entry && !p.may_overtake),
          items_(p.ordered)
    {
        if (limits_.items == 0) limits_.items = 1;
        max_items_ = limits_.items;
    }

    [[nodiscard]] std::uint64_t begin() const noexcept { return items_.begin(); }
    [[nodiscard]] std::uint64_t end() const noexcept { return items_.end(); }
    [[nodiscard]] send_items& items() noexcept { return items_; }
    [[nodiscard]] const send_draft& draft() const noexcept { return draft_; }

    /// True if all items have ended.
    [[nodiscard]] bool all_ended() const noexcept { return begin() == end(); }

    /// True if an item that is queued now would be examined for the next batch. After `stopped`, no
    /// item is examined, and there is no look-ahead.
    [[nodiscard]] bool wants_more(bool stopped) const noexcept
    {
        if (draft_.looks_ahead()) return true;
        return !stopped && !draft_.full && replace_requests_.empty() && draft_.next_item == end();
    }

    /// The first item that the caller is to replace, or null.
    [[nodiscard]] const batch_sender_types::replace* first_replace_request() const noexcept
    {
        return replace_requests_.empty() ? nullptr : &replace_requests_.front();
    }

    /// True if a draft is sent after a time even if it is not full.
    [[nodiscard]] bool lingers() const noexcept { return linger_ != duration::highest(); }

    /// True if the draft can be sent, now or later, without further items. If it `waits` for keys
    /// in flight, it is sent only when its linger ends.
    [[nodiscard]] bool can_be_sent(bool waits) const noexcept
    {
        return !draft_.empty() && (draft_.full || (is_flushed() && !waits) || lingers());
    }
    /// The time from which the draft can be sent.
    [[nodiscard]] steady_time due(bool waits) const noexcept
    {
        if (draft_.full || (is_flushed() && !waits)) return steady_time::lowest();
        return draft_.started_at + linger_;
    }
    /// The close reason of the draft if it is sent.
    [[nodiscard]] batch_close_reason close_reason() const noexcept
    {
        if (draft_.full) return draft_.close_reason;
        return is_flushed() ? batch_close_reason::end : batch_close_reason::deadline;
    }

    /// Items below this number do not wait for a full batch.
    void flush_before(std::uint64_t below) noexcept
    {
        draft_.end_look_ahead(items_);
        if (below > flushed_end_) flushed_end_ = below;
    }

    /// Queues an item. All allocations come first, also for the draft and for the item's outcome.
    void push(const batch_sender_types::queued& q, settlements& outcomes)
    {
        draft_.end_look_ahead(items_);
        detail::make_room(draft_.runs);
        detail::make_room(replace_requests_);
        outcomes.make_room(1);
        items_.make_room();
        std::uint32_t key = 0;
        if (ordered_ || one_key_) key = keys_.enter(q.key);
        items_.push(prototype_, q.bytes).key = key & max_key;
    }

    /// Queues an item and adds it to the draft, if it certainly fits. False, without a change, if
    /// not.
    [[nodiscard]] bool push_if_certain(std::uint64_t bytes)
    {
        if (!items_.has_announced() || !draft_.take_ahead(bytes)) return false;
        items_.push_announced(prototype_, bytes);
        return true;
    }

    /// The same for a draft that lingers. It may be sent at any time, so it gets the item at once.
    [[nodiscard]] bool push_visible(std::uint64_t bytes)
    {
        items_.make_room();
        if (draft_.certain_items() == 0 || !draft_.take_ahead(bytes)) return false;
        items_.push(prototype_, bytes);
        draft_.add_taken(end());
        return true;
    }

    /// Lets the draft grow until it is full or the queue ends. Items that cannot be sent end at
    /// once. Parked items come first: they have lower numbers than those that were not examined.
    void extend(const calibrator& estimates, steady_time now, settlements& outcomes)
    {
        draft_.end_look_ahead(items_);
        while (!draft_.full) {
            const std::uint64_t ready = keys_.first_ready();
            const bool parked = ready != highest_size;
            const std::uint64_t n = parked ? ready : draft_.next_item;
            if (n == end()) break;
            send_item& i = items_[n];
            if (i.state == item_state::oversized) break;
            if (i.state != item_state::waiting) {
                ++draft_.next_item;
                continue;
            }
            if (ordered_ && keys_[i.key].blocks(n)) {
                examined(n, i);
                end_item(n, item_outcome::blocked_by_key, outcomes);
                continue;
            }
            if (ordered_ && keys_[i.key].busy()) {
                if (keys_.parked() >= max_parked()) {
                    // Nothing can be added until the draft is sent.
                    if (keys_[i.key].drafted) draft_.close(batch_close_reason::key);
                    break;
                }
                examined(n, i);
                keys_.park(items_, i.key, n);
                continue;
            }
            const std::uint64_t alone_bytes = saturating_add(limits_.envelope, i.bytes);
            const bool exceeds_single = i.bytes > limits_.single;
            const bool large = exceeds_single || too_large(i, alone_bytes, estimates);
            if (large && !decide_sent_alone(n, i, alone_bytes, estimates)) {
                if (alone_bytes <= estimates.ceiling() && trial_is_open(n))
                    break;  // wait for the trial
                const std::uint64_t limit = exceeds_single ? limits_.single : estimates.limit();
                const std::uint64_t bytes = exceeds_single ? i.bytes : alone_bytes;
                if (request_replacement(n, bytes, limit)) break;
                examined(n, i);
                end_too_large(n, bytes, limit, outcomes);
                continue;
            }
            if (draft_.empty()) draft_.started_at = now;
            if (!draft_.admit(n, i, estimates, max_items_, one_key_, large)) break;
            examined(n, i);
            if (strict_) keys_.set_drafted(i.key, true);
        }
        draft_.waits_for_keys =
            keys_.any_waits_for_flight() && !draft_.full && !is_half_full(estimates);
        // No look-ahead for a draft that `next` may have returned: its changes must be visible.
        const bool waits = !draft_.empty() && !is_flushed() && draft_.next_item == end();
        if (waits && !ordered_ && !one_key_) {
            draft_.look_ahead(estimates, limits_, max_items_,
                              prototype_.basis == size_basis::exact);
            if (!lingers()) items_.announce(draft_.certain_items());
        }
        trim();
    }

    /// Refits the draft after new knowledge: it may admit more items. False if it is now too large.
    [[nodiscard]] bool refit(const calibrator& estimates, steady_time now, settlements& outcomes)
    {
        draft_.end_look_ahead(items_);
        const std::uint64_t items = draft_.sizes.items;
        if (items > max_items_ || (items > 1 && !estimates.fits(draft_.sizes))) return false;
        draft_.reopen(max_items_);
        extend(estimates, now, outcomes);
        return true;
    }

    /// True if an item before the end of the draft can be sent and is not in it.
    [[nodiscard]] bool draft_is_late() const noexcept
    {
        return !draft_.empty() && keys_.first_ready() < draft_.runs.back().end();
    }

    /// Cuts the draft again from the head. Items in flight must have the state `in_flight`. A draft
    /// that waits to fill keeps its start time.
    void recut(const calibrator& estimates, steady_time now, settlements& outcomes)
    {
        draft_.end_look_ahead(items_);
        const steady_time since = draft_.empty() ? now : draft_.started_at;
        if (ordered_) park(draft_.runs);
        draft_.begin(ordered_ ? draft_.next_item : begin(), items_);
        extend(estimates, now, outcomes);
        if (!draft_.empty()) draft_.started_at = earlier(draft_.started_at, since);
    }

    /// Removes the runs of the draft and begins the next draft after it. Marks the keys of the
    /// removed items as in flight. The items themselves get the state `in_flight` later, if a draft
    /// is cut from the head again: the next draft examines only items after them. `runs`, which
    /// has been empty, is the buffer of the next draft.
    void take_draft(std::vector<item_range>& runs)
    {
        if (ordered_) {
            items_.for_each(draft_.runs,
                            [this](send_item& i) { keys_.set_in_flight(i.key, true); });
        }
        runs.swap(draft_.runs);
        draft_.begin(draft_.next_item, items_);
    }

    /// Records the outcome of a batch with the single item `n`, for the trials of other items.
    void record_single(std::uint64_t n, item_outcome outcome)
    {
        // Trials compare sizes from the caller, not reported ones.
        if (items_[n].basis != prototype_.basis) return;
        const std::uint64_t alone_bytes = saturating_add(limits_.envelope, items_[n].bytes);
        if (outcome == item_outcome::accepted) trials_.accepted(alone_bytes);
        else trials_.refused(alone_bytes);
    }

    /// A batch with these items may have arrived. From now on, an item of them that does not arrive
    /// ends as `in_doubt`.
    void mark_maybe_arrived(const std::vector<item_range>& runs)
    {
        items_.for_each(runs, [this](send_item& i) { mark_maybe_arrived(i); });
        if (!ordered_ || !may_overtake_) return;
        // The answer that was lost can have refused an item and accepted later ones of its key.
        items_.for_each(runs, [this](send_item& i) { keys_[i.key].refused = false; });
        items_.for_each(runs, [this](send_item& i) {
            mark_maybe_overtook(i, std::exchange(keys_[i.key].refused, true));
        });
    }
    void mark_maybe_arrived(send_item& i) noexcept
    {
        if (i.maybe_arrived == 0) ++not_sent_again_;
        i.maybe_arrived = 1;
    }
    /// These items are sent. Returns the number of items that are sent for the first time after a
    /// batch with them may have arrived. O(1) if there are no such items in the queue.
    [[nodiscard]] std::uint64_t count_sent_again(const std::vector<item_range>& runs)
    {
        std::uint64_t n = 0;
        if (not_sent_again_ == 0) return n;
        items_.for_each(runs, [&n](send_item& i) {
            if (i.maybe_arrived != 0 && i.sent_again == 0) ++n;
            i.sent_again = i.maybe_arrived;
        });
        not_sent_again_ -= n;
        return n;
    }

    /// The items of a batch that was not sent, or of which nothing arrived, wait again.
    void give_back(const std::vector<item_range>& runs)
    {
        items_.set_state(runs, item_state::waiting);
        release_keys(runs);
        if (ordered_) park(runs);
    }

    /// A batch with only the item `n` was too large. Asks the caller to replace it, or ends it.
    void refuse_alone(std::uint64_t n, std::uint64_t bytes, std::uint64_t limit,
                      settlements& outcomes)
    {
        if (ordered_) keys_.set_in_flight(items_[n].key, false);
        if (!request_replacement(n, bytes, limit)) end_too_large(n, bytes, limit, outcomes);
        else if (ordered_) keys_.park(items_, items_[n].key, n);
    }

    /// The end of an item that may have arrived.
    [[nodiscard]] static batch_sender_types::report in_doubt(const send_item& i) noexcept
    {
        return {.outcome = item_outcome::in_doubt, .overtook = i.maybe_overtook != 0};
    }

    /// The end of item `n`, which is too large.
    [[nodiscard]] batch_sender_types::report report_of_too_large(std::uint64_t n,
                                                                 std::uint64_t bytes,
                                                                 std::uint64_t limit)
    {
        if (items_[n].maybe_arrived != 0) return in_doubt(items_[n]);
        return {.outcome = item_outcome::too_large,
                .kind = fault_kind::permanent,
                .bytes = bytes,
                .limit = limit,
                .envelope = limits_.envelope};
    }

    /// An item fits into no batch. True if the caller is asked to replace it.
    [[nodiscard]] bool request_replacement(std::uint64_t n, std::uint64_t bytes,
                                           std::uint64_t limit)
    {
        send_item& i = items_[n];
        if (too_large_ != send_policy::when_too_large::replace || i.replace_handled != 0)
            return false;
        i.state = item_state::oversized;
        replace_requests_.push_back(
            {.item = n, .bytes = bytes, .limit = limit, .envelope = limits_.envelope});
        return true;
    }
    /// Allocates for replace requests of a result.
    void make_room_for_requests(std::size_t more) { detail::make_room(replace_requests_, more); }

    /// A batch of several items failed for good, and one of them may be the reason. Half of them are
    /// sent next, and so on, until the item is alone: about log2(items) requests.
    void isolate(std::uint64_t items) noexcept
    {
        set_suspects(suspects_ == 0 ? items : lesser(suspects_, items));
    }
    /// A batch of `items` items was accepted. If some are suspect, these were the first of them.
    void clear_suspects(std::uint64_t items) noexcept
    {
        if (suspects_ != 0) set_suspects(saturating_sub(suspects_, items));
    }

    /// Forgets all items and keys.
    void clear()
    {
        draft_.end_look_ahead(items_);
        items_.clear();
        keys_ = {};
        draft_.begin(end(), items_);
        replace_requests_.clear();
        not_sent_again_ = 0;
    }

    /// Ends the first replace request. `bytes` is the item's new size. If empty, the item ends.
    void replace(std::optional<std::uint64_t> bytes, settlements& outcomes)
    {
        const batch_sender_types::replace a = replace_requests_.front();
        remove_at(replace_requests_, 0);
        send_item& i = items_[a.item];
        i.replace_handled = 1;
        if (!bytes) {
            if (ordered_ && a.item < draft_.next_item) keys_.unpark(items_, i.key, a.item);
            end_too_large(a.item, a.bytes, a.limit, outcomes);
            return;
        }
        i.bytes = *bytes;
        i.basis = prototype_.basis;
        i.on_trial = 0;
        i.max_items = send_item::no_maximum;
        i.state = item_state::waiting;
    }

    /// Processes the result of a batch. `verdict(n, item)` returns the report of item `n`
    /// with `items.count` 1 if it ends, or 0 if it waits again. Equal outcomes are
    /// reported in runs.
    template <class F>
    void settle(const std::vector<item_range>& runs, settlements& outcomes, F&& verdict)
    {
        release_keys(runs);
        batch_sender_types::report run;
        for (const item_range& r : runs) {
            for (std::uint64_t n = r.first; n != r.end(); ++n) {
                send_item& i = items_[n];
                i.state = item_state::waiting;
                batch_sender_types::report ends = verdict(n, i);
                if (ends.items.count == 0) continue;
                end_item(n, ends.outcome);
                ends.items = run.items;
                const bool more = run.items.count != 0 && run.items.end() == n && ends == run &&
                                  run.outcome != item_outcome::too_large;
                if (more) {
                    ++run.items.count;
                    continue;
                }
                if (run.items.count != 0) outcomes.push(run);
                run = ends;
                run.items = {.first = n, .count = 1};
            }
        }
        if (run.items.count != 0) outcomes.push(run);
        if (ordered_) park(runs);
    }

    enum class entry_answer : std::uint8_t { accepted, refused, unknown };

    /// Marks the keys of a batch in which a refused item stands before one that has arrived, or may
    /// have. `answer()` returns the answers in the order of the batch.
    template <class F>
    void find_overtaken(const std::vector<item_range>& runs, F&& answer)
    {
        if (!ordered_) return;
        items_.for_each(
            runs, [this](send_item& i) { keys_[i.key].refused = keys_[i.key].overtaken = false; });
        items_.for_each(runs, [&](send_item& i) {
            send_keys::slot& k = keys_[i.key];
            const entry_answer a = answer();
            if (a != entry_answer::refused) k.overtaken = k.overtaken || k.refused;
            if (a != entry_answer::accepted) k.refused = true;
        });
        items_.for_each(runs, [this](send_item& i) { keys_[i.key].refused = false; });
    }
    /// An item of the batch was refused, in the order of the batch. True if its key ends with it:
    /// it is the first one, and a later item of the key has arrived.
    [[nodiscard]] bool refuse_entry(const send_item& i)
    {
        if (!ordered_) return false;
        send_keys::slot& k = keys_[i.key];
        const bool first = !std::exchange(k.refused, true);
        return first && k.overtaken && !may_overtake_;
    }
    /// The outcome of an item of the batch is unknown, in the order of the batch.
    void doubt_entry(send_item& i)
    {
        mark_maybe_arrived(i);
        if (ordered_) mark_maybe_overtook(i, keys_[i.key].refused);
    }
    /// An item of the batch was accepted, in the order of the batch. True if it has overtaken one of
    /// its key, or may have.
    [[nodiscard]] bool accept_entry(const send_item& i) const
    {
        return ordered_ && (keys_[i.key].refused || i.maybe_overtook != 0);
    }
    /// True if accepted items have to be asked for `maybe_overtook`.
    [[nodiscard]] bool any_maybe_overtook() const noexcept { return any_maybe_overtook_; }

    /// Ends all items in `runs` with the same outcome.
    void settle_all(const std::vector<item_range>& runs, item_outcome o, settlements& outcomes)
    {
        outcomes.make_room(runs.size());
        release_keys(runs);
        const bool each = ordered_ || one_key_ || not_sent_again_ != 0;
        if (!each) items_.end_items(runs);
        for (const item_range& r : runs) {
            if (each) {
                for (std::uint64_t n = r.first; n != r.end(); ++n) end_item(n, o);
            }
            outcomes.push({.items = r, .outcome = o});
        }
    }

    /// Ends all waiting items as `unsent`. Items in flight must have the state `in_flight`.
    void end_waiting(settlements& outcomes)
    {
        draft_.begin(begin(), items_);
        keys_.unpark_all();
        replace_requests_.clear();
        for (; draft_.next_item != end(); ++draft_.next_item) {
            const item_state s = items_[draft_.next_item].state;
            if (s != item_state::waiting && s != item_state::oversized) continue;
            end_item(draft_.next_item, item_outcome::unsent, outcomes);
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
        if (draft_.next_item < begin()) draft_.next_item = begin();
    }

    friend bool operator==(const send_queue& a, const send_queue& b)
    {
        // Items that were taken ahead count as added.
        send_draft x = a.draft_, y = b.draft_;
        x.add_taken(a.end());
        y.add_taken(b.end());
        return a.items_ == b.items_ && x == y && a.keys_ == b.keys_ &&
               a.replace_requests_ == b.replace_requests_ && a.flushed_end_ == b.flushed_end_ &&
               a.limits_ == b.limits_ && a.max_items_ == b.max_items_ &&
               a.suspects_ == b.suspects_ && a.linger_ == b.linger_ && a.trials_ == b.trials_;
    }

private:
    /// The most items that wait for their keys while later items are examined: memory for an input
    /// that is read on demand (`bench/run simulation`, O8).
    [[nodiscard]] std::uint64_t max_parked() const noexcept
    {
        return 4'096 + saturating_mul(16, draft_.sizes.items);
    }

    /// True if the draft has half of the bytes or items of a batch. If smaller drafts were sent,
    /// their rest would need batches of its own (`bench/run simulation`, O2 to O8).
    [[nodiscard]] bool is_half_full(const calibrator& estimates) const
    {
        return estimates.predict(draft_.sizes) >= estimates.limit() / 2 ||
               draft_.sizes.items >= max_items_ / 2 + max_items_ % 2;
    }

    [[nodiscard]] bool is_flushed() const noexcept
    {
        return draft_.runs.front().first < flushed_end_;
    }

    /// True if an item is too large. `alone_bytes` is the size of the envelope and the item,
    /// without an estimated header. A reported limit below the highest known limit may count bytes
    /// on the wire. So if the item's size is estimated, its predicted size decides.
    [[nodiscard]] static bool too_large(const send_item& i, std::uint64_t alone_bytes,
                                        const calibrator& estimates)
    {
        if (alone_bytes == highest_size || alone_bytes > estimates.ceiling()) return true;
        if (alone_bytes <= estimates.limit()) return false;
        if (i.basis != size_basis::body) return true;
        return estimates.predict({.body_bytes = i.bytes, .estimated_items = 1, .items = 1}) >
               estimates.limit();
    }

    /// True if an item that is too large by current knowledge is sent alone, so that the broker
    /// decides. There are three cases. The policy requires it. The item's size was reported, and
    /// may be wrong. The item is a trial of a reported limit. Begins such a trial if none is open. `alone_bytes` is as in `too_large`.
    [[nodiscard]] bool decide_sent_alone(std::uint64_t n, send_item& i, std::uint64_t alone_bytes,
                                         const calibrator& estimates)
    {
        if (alone_bytes == highest_size) return false;
        if (too_large_ == send_policy::when_too_large::send_alone) return true;
        if (i.basis == size_basis::reported) return true;
        if (i.bytes > limits_.single || alone_bytes > estimates.ceiling()) return false;
        if (i.on_trial == 0 && !trial_is_open(n) &&
            trials_.begin_trial(n, alone_bytes, estimates.limit())) {
            i.on_trial = 1;
        }
        return i.on_trial != 0;
    }

    /// True if an item before `next` is being tried.
    [[nodiscard]] bool trial_is_open(std::uint64_t next)
    {
        const std::uint64_t n = trials_.last_trial();
        if (n < begin() || n >= next) return false;
        return items_[n].on_trial != 0 && items_[n].state != item_state::ended;
    }

    void set_suspects(std::uint64_t items) noexcept
    {
        suspects_ = items;
        max_items_ = items == 0 ? limits_.items : greater(items / 2, 1);
    }

    void mark_maybe_overtook(send_item& i, bool overtook) noexcept
    {
        if (!overtook) return;
        i.maybe_overtook = 1;
        any_maybe_overtook_ = true;
    }

    void release_keys(const std::vector<item_range>& runs)
    {
        if (!ordered_) return;
        items_.for_each(runs, [this](send_item& i) { keys_.set_in_flight(i.key, false); });
    }

    /// Item `n` is in the draft, parked or ended: it does not have to be examined again now.
    void examined(std::uint64_t n, const send_item& i)
    {
        if (n == draft_.next_item) ++draft_.next_item;
        else keys_.unpark(items_, i.key, n);
    }

    /// Parks the items in `runs` that still wait. They come before the parked items of their keys.
    void park(const std::vector<item_range>& runs)
    {
        for (std::size_t r = runs.size(); r-- != 0;) {
            for (std::uint64_t n = runs[r].end(); n-- != runs[r].first;) {
                const send_item& i = items_[n];
                if (i.state != item_state::waiting && i.state != item_state::oversized) continue;
                if (strict_) keys_.set_drafted(i.key, false);
                keys_.park(items_, i.key, n);
            }
        }
    }

    void end_item(std::uint64_t n, item_outcome o)
    {
        send_item& i = items_[n];
        i.state = item_state::ended;
        if (i.maybe_arrived != 0 && i.sent_again == 0) --not_sent_again_;
        if (!ordered_ && !one_key_) return;
        const bool stops = o == item_outcome::too_large || o == item_outcome::failed ||
                           o == item_outcome::in_doubt;
        if (ordered_ && stops) keys_.stop(i.key, n);
        keys_.leave(i.key);
    }

    /// For an item that is not sent again. If a batch with it may have arrived, it is in doubt.
    void end_item(std::uint64_t n, item_outcome o, settlements& outcomes)
    {
        const bool blocked = o == item_outcome::blocked_by_key;  // its key may have been resumed
        const send_item& i = items_[n];
        batch_sender_types::report ends{.outcome = o};
        if (i.maybe_arrived != 0) ends = in_doubt(i);
        ends.items = {.first = n, .count = 1};
        end_item(n, blocked ? o : ends.outcome);
        outcomes.push(ends);
    }

    void end_too_large(std::uint64_t n, std::uint64_t bytes, std::uint64_t limit,
                       settlements& outcomes)
    {
        batch_sender_types::report r = report_of_too_large(n, bytes, limit);
        r.items = {.first = n, .count = 1};
        end_item(n, r.outcome);
        outcomes.push(r);
    }

    static constexpr std::uint32_t max_key = ~std::uint32_t{0} >> 3U;  // send_item::key has 29 bits

    batch_limits limits_;
    duration linger_;
    send_policy::when_too_large too_large_;
    send_item prototype_;  // copied for each queued item
    bool ordered_;
    bool one_key_;
    bool may_overtake_;
    bool strict_;                      // at most one item of a key in a batch
    std::uint64_t max_items_;          // of a batch; fewer while an item is being isolated
    std::uint64_t suspects_ = 0;       // items of the smallest batch that failed for good; or 0
    bool any_maybe_overtook_ = false;  // an item has had this mark
    std::uint64_t flushed_end_ = 0;
    std::uint64_t not_sent_again_ = 0;  // items that may have arrived and were not sent again since
    send_items items_;
    send_keys keys_;
    send_draft draft_;
    std::vector<batch_sender_types::replace> replace_requests_;
    send_trials trials_;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_SEND_QUEUE_HPP
