// SPDX-License-Identifier: MIT
//
// deferred_messages: the sequence numbers of deferred messages, and when to fetch each message.
//
//     waybill::deferred_messages book{{.hold = 60s}};
//     book.defer({.sequence = m.sequence, .due = wall + 10min, .session = m.session});
//     for (auto& h : book.take(wall, steady, 20)) {          // due entries; each gets a hold
//         if (handle(fetch(h.entry.sequence))) book.settled(h.entry.sequence);
//         else book.defer(once_more(h.entry, wall + 20min));  // replaces the entry of this number
//     }                              // receive_planner_deferred.test.cpp: with a receive planner
//
// Guarantees
//   1. `take` orders due entries by due time, then by number. It returns an entry again only if the
//      entry is deferred again or given back, or if its hold ends.
//   2. With `session_order`, a session has at most one entry in hand. `take` returns only its
//      lowest number in the book. Other due entries of the session wait.
//   3. Due times are wall times. Holds are steady times and are not stored
//      (deferred_messages_bytes.hpp).
//   4. If an allocation fails, no entry is lost, added or returned.
// Requires unique numbers within a book. Cost: logarithmic time per affected entry.
// A value without locks: one thread at a time.

#ifndef WAYBILL_QUEUE_DEFERRED_MESSAGES_HPP
#define WAYBILL_QUEUE_DEFERRED_MESSAGES_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <waybill/core/act.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/broker_sequence.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/queue/deferred.hpp>

namespace waybill::inline v0_2 {

/// The deferred messages of one queue, called a book. A broker returns a deferred message only by
/// its sequence number, so a lost number is a lost message. If the wall clock jumps, entries become
/// due too early or too late; nothing else changes. A loaded book has no entry in hand. Its ticket
/// numbers start at 1 again, so tickets from before the restart must not be reported to it. An
/// assignment to a book does not restart its ticket numbers.
class deferred_messages {
public:
    /// The first error of `load`.
    struct load_error {
        /// The reason why stored bytes, or the options for the book, were refused.
        enum class code : std::uint8_t {
            empty,         ///< There are no bytes.
            too_short,     ///< The bytes begin like a book and end too early.
            not_a_book,    ///< The bytes have another format.
            corrupt,       ///< The checksum or the structure is wrong.
            newer,         ///< The bytes have a later version of the format.
            unsorted,      ///< A sequence number is not higher than the previous one.
            out_of_range,  ///< A number exceeds the range of its type.
            bad_options,   ///< The options are invalid; the bytes were not read.
        };
        [[nodiscard]] friend constexpr std::string_view texts_of(code) noexcept
        {
            return "empty, too_short, not_a_book, corrupt, newer, unsorted, out_of_range, "
                   "bad_options";
        }

        code kind = code::corrupt;
        std::uint64_t offset = 0;  ///< The first byte of the wrong part; 0 for bad options.
        config_error options{};    ///< Set if `kind` is `bad_options`.

        friend bool operator==(const load_error&, const load_error&) = default;
    };

    /// The result of `defer`.
    enum class defer_result : std::uint8_t {
        added,     ///< There was no entry with this number.
        replaced,  ///< The entry with this number was replaced; its ticket is void.
        full,      ///< Refused without a change: dead-letter the message, or do not defer it.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(defer_result) noexcept
    {
        return "added, replaced, full";
    }

    /// An entry in hand and its ticket. A book does not issue a ticket twice.
    struct taken {
        deferred entry{};
        std::uint64_t ticket = 0;

        friend bool operator==(const taken&, const taken&) = default;
    };

    explicit deferred_messages(const deferral_options& o = {}) : options_(o) {}

    deferred_messages(const deferred_messages&) = default;
    deferred_messages(deferred_messages&&) = default;
    deferred_messages& operator=(deferred_messages&&) = default;
    deferred_messages& operator=(const deferred_messages& other)
    {
        deferred_messages copy(other);  // a failed allocation changes nothing
        *this = static_cast<deferred_messages&&>(copy);
        return *this;
    }
    ~deferred_messages() = default;

    /// Adds an entry, or replaces the entry with the same number, also if that is in hand.
    defer_result defer(deferred entry)
    {
        const bool known = rows_.contains(entry.sequence);
        if (!known && rows_.size() >= options_.max_messages) return defer_result::full;
        put(static_cast<deferred&&>(entry));
        return known ? defer_result::replaced : defer_result::added;
    }

    /// Adds or replaces a stored entry, even if the book is full: a lower `max_messages` than
    /// before must not lose a message.
    void restore(deferred entry) { put(static_cast<deferred&&>(entry)); }

    /// Ends expired holds, then returns at most `most` entries that are due at wall time `now`. The
    /// returned entries are in hand until a report or the end of the hold, `at` plus `hold`.
    [[nodiscard]] std::vector<taken> take(
        wall_time now, steady_time at, std::uint64_t most,
        deferral_options::hand_out_order order = deferral_options::hand_out_order::by_due)
    {
        while (!held_.empty() && steady_time::at(held_.begin()->at) <= at) {
            set_free(row_of(held_.begin()->sequence));
        }
        std::vector<taken> out;
        for (auto s = due_.begin(); s != due_.end() && out.size() < most; ++s) {
            if (wall_time::at(s->at) > now) break;
            out.push_back({row_of(s->sequence).entry, tickets_.last + out.size() + 1});
        }
        if (order == deferral_options::hand_out_order::group_by_partition) out = grouped(out);
        tickets_.last += out.size();
        for (const taken& h : out) {
            row& r = row_of(h.entry.sequence);
            slot_set::node_type node = taken_out(r);
            r.ticket = h.ticket;
            r.until = at + options_.hold;
            put_in(r, place::held, node);
        }
        return out;
    }

    /// Removes the entry, in hand or not: its message was completed, dead-lettered, or is no longer
    /// in its queue. If there is no such entry, returns `stale`.
    event_result settled(std::uint64_t sequence) noexcept
    {
        if (!rows_.contains(sequence)) return event_result::stale;
        forget(sequence);
        return event_result::applied;
    }

    /// Removes the entry if it is in hand with this ticket. Otherwise returns `stale` and keeps it:
    /// it was deferred again, its hold ended, or it is in hand with a newer ticket.
    event_result settled(std::uint64_t sequence, std::uint64_t ticket) noexcept
    {
        return in_hand_with(sequence, ticket) ? settled(sequence) : event_result::stale;
    }

    /// Ends the hold of an entry that was not processed. `take` can return it again; its due time
    /// stays. If the entry is not in hand with this ticket, returns `stale`.
    event_result give_back(std::uint64_t sequence, std::uint64_t ticket) noexcept
    {
        row* r = in_hand_with(sequence, ticket);
        if (!r) return event_result::stale;
        set_free(*r);
        return event_result::applied;
    }

    /// Restarts the hold at `at`, for an entry that is still being processed. If the entry is not
    /// in hand with this ticket, returns `stale`.
    event_result hold_on(std::uint64_t sequence, std::uint64_t ticket, steady_time at) noexcept
    {
        row* r = in_hand_with(sequence, ticket);
        if (!r) return event_result::stale;
        slot_set::node_type node = taken_out(*r);
        r->until = at + options_.hold;
        put_in(*r, place::held, node);
        return event_result::applied;
    }

    /// The earliest due time of the entries that are neither in hand nor waiting for another entry
    /// of their session. Empty if there is no such entry. Constant time.
    [[nodiscard]] std::optional<wall_time> next_due() const noexcept
    {
        if (due_.empty()) return {};
        return wall_time::at(due_.begin()->at);
    }

    /// When the next hold ends; empty if no entry is in hand. Constant time.
    [[nodiscard]] std::optional<steady_time> next_release() const noexcept
    {
        if (held_.empty()) return {};
        return steady_time::at(held_.begin()->at);
    }

    /// The entry with this number, in hand or not; null if there is none. The pointer is valid
    /// until the entry is replaced or settled.
    [[nodiscard]] const deferred* find(std::uint64_t sequence) const noexcept
    {
        const auto i = rows_.find(sequence);
        return i == rows_.end() ? nullptr : &i->second.entry;
    }

    /// True if `take` returned the entry and no report followed. An expired hold ends at the next
    /// `take`; until then the entry is in hand.
    [[nodiscard]] bool is_in_hand(std::uint64_t sequence) const noexcept
    {
        const auto i = rows_.find(sequence);
        return i != rows_.end() && i->second.where == place::held;
    }

    /// Calls f(entry) for each entry, in ascending order of numbers. Linear time.
    template <class F>
    void each(F&& f) const
    {
        for (const auto& [sequence, r] : rows_) f(r.entry);
    }

    [[nodiscard]] std::uint64_t size() const noexcept { return rows_.size(); }
    [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }
    [[nodiscard]] std::uint64_t in_hand() const noexcept { return held_.size(); }
    [[nodiscard]] const deferral_options& options() const noexcept { return options_; }

    /// Equal options, equal entries, and the same entries in hand with equal tickets and ends of
    /// hold. Tickets of entries that are not in hand are ignored.
    friend bool operator==(const deferred_messages& a, const deferred_messages& b)
    {
        return a.rows_ == b.rows_ && a.options_ == b.options_;
    }

private:
    enum class place : std::uint8_t { due, held, behind };

    struct row {
        deferred entry{};
        place where = place::due;
        std::uint64_t ticket = 0;  // the last one; valid only in hand
        steady_time until{};       // end of the hold; valid only in hand

        bool operator==(const row& other) const noexcept
        {
            if (where != other.where || !(entry == other.entry)) return false;
            return where != place::held || (ticket == other.ticket && until == other.until);
        }
    };

    // Assignment keeps the higher number, so a book never issues the same ticket twice.
    struct counter {
        std::uint64_t last = 0;

        counter() = default;
        counter(const counter&) = default;
        counter& operator=(const counter& other) noexcept
        {
            last = detail::greater(last, other.last);
            return *this;
        }
        ~counter() = default;
    };

    // An entry is in one of three lists. `held_` is sorted by end of hold, the others by due time.
    // The lists have the same node type, so moving an entry between them needs no allocation.
    struct slot {
        duration at{};
        std::uint64_t sequence = 0;

        friend auto operator<=>(const slot&, const slot&) = default;
    };
    using slot_set = std::set<slot>;

    // The entries of a session. All except the front one are in `behind_`.
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

    [[nodiscard]] slot_set& list(place p) noexcept
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

    [[nodiscard]] slot_set::node_type taken_out(const row& r) noexcept
    {
        return list(r.where).extract(slot_of(r));
    }

    void put_in(row& r, place to, slot_set::node_type& node) noexcept
    {
        r.where = to;
        node.value() = slot_of(r);
        list(to).insert(static_cast<slot_set::node_type&&>(node));
    }

    void move_to(row& r, place to) noexcept
    {
        slot_set::node_type node = taken_out(r);
        put_in(r, to, node);
    }

    void set_free(row& r) noexcept
    {
        move_to(r, place::due);
        if (in_line(r.entry)) update_front(sessions_in_order_.find(r.entry.session)->second);
    }

    /// Makes the lowest number the front, unless the front is in hand.
    void update_front(line& l) noexcept
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
            const auto at = sessions_in_order_.find(r.entry.session);
            line& l = at->second;
            l.members.erase(sequence);
            if (l.front == sequence) l.front.reset();
            if (l.members.empty())
                sessions_in_order_.erase(at);
            else
                update_front(l);
        }
        rows_.erase(i);
    }

    void put(deferred&& entry)
    {
        // All allocations happen before the first change; the merges only relink nodes.
        const std::uint64_t sequence = entry.sequence;
        const bool ordered = in_line(entry);
        slot_set new_slot{{entry.due.since_epoch(), sequence}};
        lines new_line;
        std::set<std::uint64_t> new_member;
        if (ordered) {
            new_line.try_emplace(entry.session);
            new_member.insert(sequence);
        }
        std::map<std::uint64_t, row> new_row;
        row& r = new_row.try_emplace(sequence).first->second;
        r.entry = static_cast<deferred&&>(entry);
        r.where = ordered ? place::behind : place::due;

        if (rows_.contains(sequence)) forget(sequence);
        rows_.merge(new_row);
        list(r.where).merge(new_slot);
        if (!ordered) return;
        sessions_in_order_.merge(new_line);
        line& l = sessions_in_order_.find(r.entry.session)->second;
        l.members.merge(new_member);
        update_front(l);
    }

    /// Puts the entries of a partition next to each other. Partitions are in the order of their
    /// first entries, and entries keep their order within a partition.
    [[nodiscard]] static std::vector<taken> grouped(std::vector<taken>& from)
    {
        std::map<std::uint16_t, std::uint64_t> first;
        std::map<std::pair<std::uint64_t, std::uint64_t>, taken*> by_place;
        std::uint64_t n = 0;
        for (taken& h : from) {
            const auto p =
                first.try_emplace(detail::partition_of(h.entry.sequence), n).first->second;
            by_place.try_emplace(std::pair{p, n++}, &h);
        }
        std::vector<taken> to;
        to.reserve(from.size());
        for (const auto& [key, h] : by_place) to.push_back(static_cast<taken&&>(*h));
        return to;
    }

    deferral_options options_;
    counter tickets_;
    std::map<std::uint64_t, row> rows_;
    lines sessions_in_order_;
    slot_set due_;
    slot_set held_;
    slot_set behind_;
};

/// A description of the error in one line.
[[nodiscard]] inline std::string describe(const deferred_messages::load_error& e)
{
    std::string line = "deferral book: ";
    line += name(e.kind);
    if (e.kind == deferred_messages::load_error::code::bad_options)
        return line + ": " + describe(e.options);
    line += " at byte ";
    line += std::to_string(e.offset);
    return line;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_QUEUE_DEFERRED_MESSAGES_HPP
