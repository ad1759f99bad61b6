// SPDX-License-Identifier: MIT
//
// send_queue: the items that wait, and the batch that is being cut off their head.
//
// Part of the sender. An item is 16 bytes, held from when it is queued until it and all before it
// are over. The draft is the batch that would go next; it grows while items come, and is cut anew
// from the head whenever items came back or sizes are known better. So there is never a batch that
// was cut with yesterday's knowledge.

#ifndef WAYBILL_BATCH_SEND_QUEUE_HPP
#define WAYBILL_BATCH_SEND_QUEUE_HPP

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <waybill/batch/calibration.hpp>
#include <waybill/batch/sending.hpp>
#include <waybill/batch/settlements.hpp>

namespace waybill::inline v0_1 {

class send_queue {
public:
    enum class state : std::uint8_t {
        waiting,    ///< To be sent.
        away,       ///< In a batch on its way, or to be repeated.
        over,       ///< Accepted, or settled otherwise.
        gone,       ///< Failed for good; `most` holds the fault class.
        undecided,  ///< Failed for good this time, but may have arrived before.
    };

    struct item {
        std::uint64_t bytes = 0;
        std::uint32_t most = any_number;  ///< Items that a batch with this one may have.
        std::uint16_t tries = 0;          ///< Failures; refusals and throttling are none.
        state kind = state::waiting;
        bool exact = false;  ///< A broker has told `bytes`; nothing is to be added.

        friend bool operator==(const item&, const item&) = default;
    };
    static_assert(sizeof(item) == 16, "an unsettled item takes 16 bytes");

    struct draft {
        std::vector<run> parts;
        batch_sizes sizes;
        std::uint64_t scan = 0;           ///< The next number to look at.
        std::uint64_t most = any_number;  ///< Items that it may have.
        steady_time since;                ///< When it got its first item.
        closed_by closed = closed_by::end;
        bool full = false;

        [[nodiscard]] bool empty() const noexcept { return sizes.items == 0; }
        friend bool operator==(const draft&, const draft&) = default;
    };

    static constexpr std::uint32_t any_number = ~std::uint32_t{0};

    send_queue(const limits& l, duration linger) : limits_(l), linger_(linger) {}

    /// The number of the first item that is not over; `end()` where all are.
    [[nodiscard]] std::uint64_t begin() const noexcept { return base_; }
    /// The number that the next item gets.
    [[nodiscard]] std::uint64_t end() const noexcept { return base_ + (items_.size() - dead_); }
    [[nodiscard]] item& operator[](std::uint64_t n) { return items_[dead_ + (n - base_)]; }
    [[nodiscard]] const draft& head() const noexcept { return draft_; }

    /// Whether there is a draft that may go, now or later, though nothing more comes.
    [[nodiscard]] bool may_go() const noexcept
    {
        return !draft_.empty() && (draft_.full || hurries() || linger_ != duration::highest());
    }
    /// When it may.
    [[nodiscard]] steady_time due() const noexcept
    {
        if (draft_.full || hurries()) return steady_time::lowest();
        return draft_.since + linger_;
    }
    /// Why it is closed when it goes.
    [[nodiscard]] closed_by closed() const noexcept
    {
        if (draft_.full) return draft_.closed;
        return hurries() ? closed_by::end : closed_by::deadline;
    }

    /// Items below this number wait for no batch to fill.
    void hurry(std::uint64_t below) noexcept
    {
        if (below > hurry_) hurry_ = below;
    }

    void push(const item& i) { items_.push_back(i); }

    /// Lets the draft grow until it is full or the queue is at its end. An item that no header and no
    /// cut can save is over at once, and `too_large(number, bytes, limit)` hears of it.
    template <class F>
    void extend(const calibration& known, steady_time now, F&& too_large)
    {
        for (; !draft_.full && draft_.scan != end(); ++draft_.scan) {
            item& i = (*this)[draft_.scan];
            if (i.kind != state::waiting) continue;
            const std::uint64_t whole = saturating_add(limits_.envelope, i.bytes);
            if (i.bytes > limits_.single || whole > known.limit() || whole == highest_size) {
                i.kind = state::over;
                const bool single = i.bytes > limits_.single;
                too_large(draft_.scan, single ? i.bytes : whole,
                          single ? limits_.single : known.limit());
                continue;
            }
            if (!admit(i, known)) return;
            if (draft_.sizes.items == 1) draft_.since = now;
            add(draft_.scan);
        }
        trim();
    }

    /// Cuts again from the head. A draft that was waiting to fill has waited since it began.
    template <class F>
    void recut(const calibration& known, steady_time now, F&& too_large)
    {
        const steady_time since = draft_.empty() ? now : draft_.since;
        begin_draft(base_);
        extend(known, now, std::forward<F>(too_large));
        if (!draft_.empty()) draft_.since = earlier(draft_.since, since);
    }

    /// Takes the draft's runs out, their items on their way, and begins the next one behind it.
    /// `buffer` is where the next draft keeps its runs.
    [[nodiscard]] std::vector<run> take_head(std::vector<run> buffer)
    {
        for_each(draft_.parts, [](item& i) { i.kind = state::away; });
        buffer.swap(draft_.parts);
        begin_draft(draft_.scan);
        return buffer;
    }

    /// All of these wait again.
    void give_back(const std::vector<run>& parts)
    {
        for_each(parts, [](item& i) { i.kind = state::waiting; });
    }

    /// A batch of so many items was too large. Every item keeps how many a batch with it may have at
    /// most. That number falls with each refusal, whatever has been learnt, so a batch cannot be
    /// refused for ever. `sizes` tells them whole, one by one, or is null.
    void shrink(const std::vector<run>& parts, std::uint64_t items, const std::uint64_t* sizes)
    {
        std::uint64_t most = lesser(items, any_number) - 1;
        for_each(parts, [&](const item& i) {
            if (i.most != any_number) most = lesser(most, items / 2);
        });
        for_each(parts, [&](item& i) {
            i.most = static_cast<std::uint32_t>(most);
            if (!sizes) return;
            i.bytes = *sizes++;
            i.exact = true;
        });
    }

    /// One of a batch has failed: it waits again if it may be tried `again`, else it is gone. What
    /// may have arrived with an earlier send of the same batch is neither.
    void fail(item& i, fault_class how, bool again, bool may_have_arrived)
    {
        i.kind = may_have_arrived ? state::undecided : again ? state::waiting : state::gone;
        if (i.kind == state::gone) i.most = static_cast<std::uint32_t>(how);
    }

    /// Ends what does not wait again, and notes how, run by run.
    void settle(const std::vector<run>& parts, settlements& notes)
    {
        act::settle s;
        const auto note = [&] {
            if (s.items.count != 0) notes.push(s);
            s.items.count = 0;
        };
        for (const run& r : parts) {
            for (std::uint64_t n = r.first; n != r.end(); ++n) {
                item& i = (*this)[n];
                if (i.kind == state::waiting) continue;
                item_outcome o = item_outcome::accepted;
                fault_class how = fault_class::none;
                if (i.kind == state::undecided) o = item_outcome::undecided;
                if (i.kind == state::gone) {
                    o = item_outcome::failed;
                    how = static_cast<fault_class>(i.most);
                }
                i.kind = state::over;
                if (s.items.end() != n || s.outcome != o || s.how != how) note();
                if (s.items.count == 0) s = {{n, 0}, o, how};
                ++s.items.count;
            }
        }
        note();
    }

    /// Ends all of these alike.
    void settle_all(const std::vector<run>& parts, item_outcome o, settlements& notes)
    {
        for_each(parts, [](item& i) { i.kind = state::over; });
        for (const run& r : parts) notes.push({r, o});
    }

    /// Ends all that wait, run by run: `f(run)`.
    template <class F>
    void end_waiting(F&& f)
    {
        begin_draft(base_);
        for (; draft_.scan != end(); ++draft_.scan) {
            item& i = (*this)[draft_.scan];
            if (i.kind != state::waiting) continue;
            i.kind = state::over;
            f(run{draft_.scan, 1});
        }
        trim();
    }

    /// Forgets what is over at the head; moves the rest down once half of the buffer is dead.
    void trim()
    {
        while (dead_ != items_.size() && items_[dead_].kind == state::over) {
            ++dead_;
            ++base_;
        }
        if (dead_ == items_.size()) {
            items_.clear();
            dead_ = 0;
        } else if (dead_ > items_.size() / 2) {
            items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(dead_));
            dead_ = 0;
        }
        if (draft_.scan < base_) draft_.scan = base_;
    }

    template <class F>
    void for_each(const std::vector<run>& parts, F&& f)
    {
        for (const run& r : parts) {
            for (std::uint64_t n = r.first; n != r.end(); ++n) f((*this)[n]);
        }
    }

    /// What is over at the head is no part of the value.
    friend bool operator==(const send_queue& a, const send_queue& b)
    {
        if (a.base_ != b.base_ || a.end() != b.end() || a.hurry_ != b.hurry_) return false;
        for (std::size_t i = a.dead_, j = b.dead_; i < a.items_.size(); ++i, ++j) {
            if (!(a.items_[i] == b.items_[j])) return false;
        }
        return a.draft_ == b.draft_ && a.limits_ == b.limits_ && a.linger_ == b.linger_;
    }

private:
    [[nodiscard]] bool hurries() const noexcept { return draft_.parts.front().first < hurry_; }

    /// Counts an item into the draft if it fits there; closes the draft where it is full. An empty
    /// draft takes anything: whether a guessed header makes it too large is for the broker to say.
    [[nodiscard]] bool admit(const item& i, const calibration& known)
    {
        batch_sizes with = draft_.sizes;
        ++with.items;
        if (i.exact) {
            with.exact = saturating_add(with.exact, i.bytes);
        } else {
            ++with.guessed;
            with.bodies = saturating_add(with.bodies, i.bytes);
        }
        const std::uint64_t most = lesser(draft_.most, i.most);
        const std::uint64_t size = known.predict(with);
        const bool fits = size <= known.budget() && size != highest_size && with.items <= most;
        if (!fits && !draft_.empty()) {
            draft_.full = true;
            draft_.closed = closed_by::bytes;
            return false;
        }
        draft_.sizes = with;
        draft_.most = most;
        const bool counted = with.items >= limits_.items;
        if (!fits || counted || with.items >= most) {
            draft_.full = true;
            draft_.closed = fits && counted ? closed_by::items : closed_by::bytes;
        }
        return true;
    }

    void add(std::uint64_t n)
    {
        if (!draft_.parts.empty() && draft_.parts.back().end() == n) {
            ++draft_.parts.back().count;
        } else {
            draft_.parts.push_back({n, 1});
        }
    }

    void begin_draft(std::uint64_t scan)
    {
        draft_.parts.clear();
        draft_.sizes = {};
        draft_.most = any_number;
        draft_.since = {};
        draft_.closed = closed_by::end;
        draft_.full = false;
        draft_.scan = scan;
    }

    limits limits_;
    duration linger_;
    std::uint64_t hurry_ = 0;
    std::vector<item> items_;  // number base_ is at items_[dead_]
    std::size_t dead_ = 0;
    std::uint64_t base_ = 0;
    draft draft_;
};

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_BATCH_SEND_QUEUE_HPP
