// SPDX-License-Identifier: MIT
//
// deferral_book: what was set aside at the broker, and when to fetch it.
//
// A deferred message stays in its queue, and nobody is given it again unless he asks for it by its
// number. Who loses the number has lost the message; so numbers and times are kept here, and stored
// (deferral_bytes.hpp):
//
//     waybill::deferral_book book{{.hold = 60s}};
//     book.defer({.sequence = m.sequence, .due = wall + 10min, .session = m.session});
//     for (auto& h : book.take(wall, steady, 20)) {          // those that are due, and in hand now
//         if (handle(fetch(h.entry.sequence))) book.settled(h.entry.sequence);
//         else book.defer(once_more(h.entry, wall + 20min));  // the same number: replaces it
//     }                                               // intake_book.test.cpp joins it to an intake
//
// What holds:
//   1. entries are handed out by due time, then by number; each once, until it is settled, deferred
//      again, given back, or its hold runs out. What runs out is for a process that hangs;
//   2. of one session there is never more than one in hand, and that has the lowest number in the
//      book: a later message does not overtake an earlier one that waits longer. What is due in
//      vain waits behind it. Without `session_order`, and without a session, each is for itself;
//   3. due times are wall times, since they are stored; holds are steady, since they are not. A
//      wall clock that jumps makes entries due early or late and does nothing else. A restored book
//      has nothing in hand. Its tickets begin anew, so those of before must not be shown to it; but
//      a book that another one is assigned to goes on counting;
//   4. each call takes logarithmic time for each entry that it is about. Where an allocation fails,
//      no entry is lost, added or handed out.
//
// Requires: numbers are unique within a book, as those of one queue are. Numbers of a partitioned
// queue carry the partition in their highest 16 bits, and a broker may refuse to give out several
// partitions at once: `handing::by_partition` puts those of one partition next to each other.
// A value without locks: one thread at a time.

#ifndef WAYBILL_RETRY_DEFERRAL_BOOK_HPP
#define WAYBILL_RETRY_DEFERRAL_BOOK_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <waybill/core/act.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/deferred.hpp>

namespace waybill::inline v0_2 {

class deferral_book {
public:
    explicit deferral_book(const deferral_options& o = {}) : options_(o) {}

    deferral_book(const deferral_book&) = default;
    deferral_book(deferral_book&&) = default;
    deferral_book& operator=(deferral_book&&) = default;
    deferral_book& operator=(const deferral_book& other)
    {
        deferral_book copy(other);  // all of it or nothing
        *this = static_cast<deferral_book&&>(copy);
        return *this;
    }
    ~deferral_book() = default;

    /// Takes an entry in, or in the place of the one that has its number.
    booked defer(deferred entry)
    {
        const bool known = rows_.contains(entry.sequence);
        if (!known && rows_.size() >= options_.most) return booked::full;
        put(static_cast<deferred&&>(entry));
        return known ? booked::replaced : booked::added;
    }

    /// The same of what was stored, even where the book is full: a setting that has changed since
    /// must not lose a message.
    void restore(deferred entry) { put(static_cast<deferred&&>(entry)); }

    /// At most so many that are due, and are in hand from now on.
    [[nodiscard]] std::vector<handed> take(wall_time now, steady_time at, std::uint64_t most,
                                           handing order = handing::by_due)
    {
        while (!held_.empty() && steady_time::at(held_.begin()->at) <= at) {
            set_free(row_of(held_.begin()->sequence));
        }
        std::vector<handed> out;
        for (auto s = due_.begin(); s != due_.end() && out.size() < most; ++s) {
            if (wall_time::at(s->at) > now) break;
            out.push_back({row_of(s->sequence).entry, tickets_.last + out.size() + 1});
        }
        if (order == handing::by_partition) out = grouped(out);
        tickets_.last += out.size();
        for (const handed& h : out) {
            row& r = row_of(h.entry.sequence);
            slots::node_type node = taken_out(r);
            r.ticket = h.ticket;
            r.until = at + options_.hold;
            put_in(r, place::held, node);
        }
        return out;
    }

    /// The message is done with, whoever did it: completed, dead-lettered, or gone from its queue.
    heard settled(std::uint64_t sequence) noexcept
    {
        if (!rows_.contains(sequence)) return heard::late;
        forget(sequence);
        return heard::taken;
    }

    /// The same for who had it in hand, and knows not whether he has it still. Late, and nothing is
    /// forgotten, where it was deferred again or somebody else has it by now.
    heard settled(std::uint64_t sequence, std::uint64_t ticket) noexcept
    {
        return in_hand_with(sequence, ticket) ? settled(sequence) : heard::late;
    }

    /// It was not tried after all: it can be handed out again, and is due as it was. Late where
    /// somebody else has it in hand by now.
    heard give_back(std::uint64_t sequence, std::uint64_t ticket) noexcept
    {
        row* r = in_hand_with(sequence, ticket);
        if (!r) return heard::late;
        set_free(*r);
        return heard::taken;
    }

    /// It is still being worked on: the hold begins anew, at `at`.
    heard hold_on(std::uint64_t sequence, std::uint64_t ticket, steady_time at) noexcept
    {
        row* r = in_hand_with(sequence, ticket);
        if (!r) return heard::late;
        slots::node_type node = taken_out(*r);
        r->until = at + options_.hold;
        put_in(*r, place::held, node);
        return heard::taken;
    }

    /// When the next one is due that is not in hand and not behind another one; empty if none is.
    [[nodiscard]] std::optional<wall_time> next_due() const noexcept
    {
        if (due_.empty()) return {};
        return wall_time::at(due_.begin()->at);
    }

    /// When the next hold runs out.
    [[nodiscard]] std::optional<steady_time> next_release() const noexcept
    {
        if (held_.empty()) return {};
        return steady_time::at(held_.begin()->at);
    }

    /// The entry of that number, in hand or not; null if there is none. Good until it is replaced
    /// or settled.
    [[nodiscard]] const deferred* find(std::uint64_t sequence) const noexcept
    {
        const auto i = rows_.find(sequence);
        return i == rows_.end() ? nullptr : &i->second.entry;
    }

    /// Whether it was handed out and nothing was heard of it. A hold that ran out is noticed by the
    /// next `take`.
    [[nodiscard]] bool is_in_hand(std::uint64_t sequence) const noexcept
    {
        const auto i = rows_.find(sequence);
        return i != rows_.end() && i->second.where == place::held;
    }

    /// Calls f(entry) for each, by number.
    template <class F>
    void each(F&& f) const
    {
        for (const auto& [sequence, r] : rows_) f(r.entry);
    }

    [[nodiscard]] std::uint64_t size() const noexcept { return rows_.size(); }
    [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }
    [[nodiscard]] std::uint64_t in_hand() const noexcept { return held_.size(); }
    [[nodiscard]] const deferral_options& options() const noexcept { return options_; }

    /// The same entries, and the same of them in hand, by the same tickets. Lists follow from that,
    /// and which tickets were given before is forgotten.
    friend bool operator==(const deferral_book& a, const deferral_book& b)
    {
        return a.rows_ == b.rows_ && a.options_ == b.options_;
    }

private:
    enum class place : std::uint8_t { due, held, behind };

    struct row {
        deferred entry{};
        place where = place::due;
        std::uint64_t ticket = 0;  // the last one; it counts while this is in hand
        steady_time until{};       // likewise

        bool operator==(const row& other) const noexcept
        {
            if (where != other.where || !(entry == other.entry)) return false;
            return where != place::held || (ticket == other.ticket && until == other.until);
        }
    };

    // Whatever is assigned to a book, it gives no ticket again.
    struct counter {
        std::uint64_t last = 0;

        counter() = default;
        counter(const counter&) = default;
        counter& operator=(const counter& other) noexcept
        {
            last = greater(last, other.last);
            return *this;
        }
        ~counter() = default;
    };

    // An entry is in one of three lists, by when it leaves it. They have nodes of one type, so that
    // it goes from one to another without an allocation.
    struct slot {
        duration at{};
        std::uint64_t sequence = 0;

        friend auto operator<=>(const slot&, const slot&) = default;
    };
    using slots = std::set<slot>;

    // The entries of a session. All but the front one are in `behind_`.
    struct line {
        std::set<std::uint64_t> members{};
        std::optional<std::uint64_t> front{};
    };
    using lines = std::map<std::string, line>;

    [[nodiscard]] bool in_line(const deferred& d) const noexcept
    {
        return options_.session_order && !d.session.empty();
    }

    [[nodiscard]] row& row_of(std::uint64_t sequence) noexcept
    {
        return rows_.find(sequence)->second;
    }

    [[nodiscard]] slots& list(place p) noexcept
    {
        return p == place::due ? due_ : p == place::held ? held_ : behind_;
    }

    [[nodiscard]] static slot slot_of(const row& r) noexcept
    {
        const bool held = r.where == place::held;
        return {held ? r.until.since_epoch() : r.entry.due.since_epoch(), r.entry.sequence};
    }

    [[nodiscard]] row* in_hand_with(std::uint64_t sequence, std::uint64_t ticket) noexcept
    {
        const auto i = rows_.find(sequence);
        const bool theirs = i != rows_.end() && i->second.where == place::held;
        return theirs && i->second.ticket == ticket ? &i->second : nullptr;
    }

    [[nodiscard]] slots::node_type taken_out(const row& r) noexcept
    {
        return list(r.where).extract(slot_of(r));
    }

    void put_in(row& r, place to, slots::node_type& node) noexcept
    {
        r.where = to;
        node.value() = slot_of(r);
        list(to).insert(static_cast<slots::node_type&&>(node));
    }

    void move_to(row& r, place to) noexcept
    {
        slots::node_type node = taken_out(r);
        put_in(r, to, node);
    }

    void set_free(row& r) noexcept
    {
        move_to(r, place::due);
        if (in_line(r.entry)) line_up(lines_.find(r.entry.session)->second);
    }

    /// The lowest number comes to the front, unless another one is in hand.
    void line_up(line& l) noexcept
    {
        if (l.front) {
            row& r = row_of(*l.front);
            if (r.where == place::held || *l.front == *l.members.begin()) return;
            move_to(r, place::behind);
        }
        l.front = *l.members.begin();
        move_to(row_of(*l.front), place::due);
    }

    void forget(std::uint64_t sequence) noexcept
    {
        const auto i = rows_.find(sequence);
        const row& r = i->second;
        list(r.where).erase(slot_of(r));
        if (in_line(r.entry)) {
            const auto at = lines_.find(r.entry.session);
            line& l = at->second;
            l.members.erase(sequence);
            if (l.front == sequence) l.front.reset();
            if (l.members.empty()) lines_.erase(at);
            else line_up(l);
        }
        rows_.erase(i);
    }

    void put(deferred&& entry)
    {
        // All memory is taken before anything changes; what follows only links nodes.
        const std::uint64_t sequence = entry.sequence;
        const bool lined = in_line(entry);
        slots new_slot{{entry.due.since_epoch(), sequence}};
        lines new_line;
        std::set<std::uint64_t> new_member;
        if (lined) {
            new_line.try_emplace(entry.session);
            new_member.insert(sequence);
        }
        std::map<std::uint64_t, row> new_row;
        row& r = new_row.try_emplace(sequence).first->second;
        r.entry = static_cast<deferred&&>(entry);
        r.where = lined ? place::behind : place::due;

        if (rows_.contains(sequence)) forget(sequence);
        rows_.merge(new_row);
        list(r.where).merge(new_slot);
        if (!lined) return;
        lines_.merge(new_line);
        line& l = lines_.find(r.entry.session)->second;
        l.members.merge(new_member);
        line_up(l);
    }

    /// Stable: by the place at which a partition appears first, then by the own place.
    [[nodiscard]] static std::vector<handed> grouped(std::vector<handed>& from)
    {
        std::map<std::uint16_t, std::uint64_t> first;
        std::map<std::pair<std::uint64_t, std::uint64_t>, handed*> by_place;
        std::uint64_t n = 0;
        for (handed& h : from) {
            const auto p = first.try_emplace(partition_of(h.entry.sequence), n).first->second;
            by_place.try_emplace(std::pair{p, n++}, &h);
        }
        std::vector<handed> to;
        to.reserve(from.size());
        for (const auto& [key, h] : by_place) to.push_back(static_cast<handed&&>(*h));
        return to;
    }

    deferral_options options_;
    counter tickets_;
    std::map<std::uint64_t, row> rows_;
    lines lines_;
    slots due_;
    slots held_;
    slots behind_;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_DEFERRAL_BOOK_HPP
