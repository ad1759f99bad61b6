// SPDX-License-Identifier: MIT
//
// deferred_messages: the sequence numbers of deferred messages, and when to fetch each message.
//
//     waybill::deferred_messages deferred{{.hold = 60s}};
//     deferred.defer({.sequence = m.sequence, .due = wall + 10min, .session = m.session});
//     for (auto& h : deferred.take(wall, steady, 20)) {      // due entries; each gets a hold
//         if (handle(fetch(h.entry.sequence))) deferred.settled(h.entry.sequence);
//         else deferred.defer(once_more(h.entry, wall + 20min));  // replaces its entry
//     }                              // receive_planner_deferred.test.cpp: with a receive planner
//
// Guarantees
//   1. `take` orders due entries by due time, then by number. It returns an entry again only if the
//      entry is deferred again or given back, or if its hold ends.
//   2. With `session_order`, a session has at most one entry in hand. `take` returns only its
//      lowest number of all entries. Other due entries of the session wait.
//   3. Due times are wall times. Holds are steady times and are not stored
//      (deferred_messages_bytes.hpp).
//   4. If an allocation fails, no entry is lost, added or returned.
// Requires unique numbers within an object. Cost: logarithmic time per affected entry.
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

/// The deferred messages of one queue. A broker returns a deferred message only by its sequence
/// number, so a lost number is a lost message. If the wall clock jumps, entries become due too
/// early or too late; nothing else changes. A loaded object has no entry in hand. Its ticket
/// numbers start at 1 again, so tickets from before the restart must not be reported to it. An
/// assignment does not restart the ticket numbers of its target.
class deferred_messages {
public:
    /// The first error of `load`.
    struct load_error {
        /// The reason why stored bytes, or the options, were refused.
        enum class code : std::uint8_t {
            empty,         ///< There are no bytes.
            too_short,     ///< The bytes begin correctly and end too early.
            other_format,  ///< The bytes have another format.
            corrupt,       ///< The checksum or the structure is wrong.
            newer,         ///< The bytes have a later version of the format.
            unsorted,      ///< A sequence number is not higher than the previous one.
            out_of_range,  ///< A number exceeds the range of its type.
            bad_options,   ///< The options are invalid; the bytes were not read.
        };
        [[nodiscard]] friend constexpr std::string_view texts_of(code) noexcept
        {
            return "empty, too_short, other_format, corrupt, newer, unsorted, out_of_range, "
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

    /// An entry in hand and its ticket. An object does not issue a ticket twice.
    struct taken {
        deferred entry{};
        std::uint64_t ticket = 0;
        bool redelivered = false;  ///< It was taken before, and its hold ended without a report.

        friend bool operator==(const taken&, const taken&) = default;
    };

    explicit deferred_messages(detail::no_options = {}) : deferred_messages(deferral_options{}) {}
    explicit deferred_messages(const deferral_options& o) : options_(o) {}

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
        const bool known = entries_.contains(entry.sequence);
        if (!known && entries_.size() >= options_.max_messages) return defer_result::full;
        add_or_replace(static_cast<deferred&&>(entry));
        return known ? defer_result::replaced : defer_result::added;
    }

    /// Adds or replaces a stored entry, even if the object is full: a lower `max_messages` than
    /// before must not lose a message.
    void restore(deferred entry) { add_or_replace(static_cast<deferred&&>(entry)); }

    /// Ends expired holds, then returns at most `max_count` entries that are due at wall time
    /// `now`. The returned entries are in hand until a report or the end of the hold, `at` plus
    /// `hold`. A template, so that its maps are not instantiated while the header is read.
    template <class Taken = taken>
    [[nodiscard]] std::vector<Taken> take(
        wall_time now, steady_time at, std::uint64_t max_count,
        deferral_options::hand_out_order order = deferral_options::hand_out_order::by_due)
    {
        while (!in_hand_.empty() && steady_time::at(in_hand_.begin()->at) <= at) {
            tracked_entry& r = entry_at(in_hand_.begin()->sequence);
            r.hold_ended = true;
            end_hold(r);
        }
        std::vector<Taken> out;
        for (auto s = due_.begin(); s != due_.end() && out.size() < max_count; ++s) {
            if (wall_time::at(s->at) > now) break;
            const tracked_entry& r = entry_at(s->sequence);
            out.push_back({r.entry, tickets_.last + out.size() + 1, r.hold_ended});
        }
        if (order == deferral_options::hand_out_order::group_by_partition)
            out = grouped_by_partition(out);
        tickets_.last += out.size();
        for (const Taken& h : out) {
            tracked_entry& r = entry_at(h.entry.sequence);
            schedule::node_type node = extract_key(r);
            r.ticket = h.ticket;
            r.hold_end = at + options_.hold;
            insert_key(r, entry_state::in_hand, node);
        }
        return out;
    }

    /// Removes the entry, in hand or not: its message was completed, dead-lettered, or is no longer
    /// in its queue. If there is no such entry, returns `stale`.
    event_result settled(std::uint64_t sequence) noexcept
    {
        if (!entries_.contains(sequence)) return event_result::stale;
        erase_entry(sequence);
        return event_result::applied;
    }

    /// Removes the entry if it is in hand with this ticket. Otherwise returns `stale` and keeps it:
    /// it was deferred again, its hold ended, or it is in hand with a newer ticket.
    event_result settled(std::uint64_t sequence, std::uint64_t ticket) noexcept
    {
        return find_in_hand(sequence, ticket) ? settled(sequence) : event_result::stale;
    }

    /// Ends the hold of an entry that was not processed. `take` can return it again; its due time
    /// stays. If the entry is not in hand with this ticket, returns `stale`.
    event_result give_back(std::uint64_t sequence, std::uint64_t ticket) noexcept
    {
        tracked_entry* r = find_in_hand(sequence, ticket);
        if (!r) return event_result::stale;
        r->hold_ended = false;
        end_hold(*r);
        return event_result::applied;
    }

    /// Restarts the hold at `at`, for an entry that is still being processed. If the entry is not
    /// in hand with this ticket, returns `stale`.
    event_result hold_on(std::uint64_t sequence, std::uint64_t ticket, steady_time at) noexcept
    {
        tracked_entry* r = find_in_hand(sequence, ticket);
        if (!r) return event_result::stale;
        schedule::node_type node = extract_key(*r);
        r->hold_end = at + options_.hold;
        insert_key(*r, entry_state::in_hand, node);
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
        if (in_hand_.empty()) return {};
        return steady_time::at(in_hand_.begin()->at);
    }

    /// The entry with this number, in hand or not; null if there is none. The pointer is valid
    /// until the entry is replaced or settled.
    [[nodiscard]] const deferred* find(std::uint64_t sequence) const noexcept
    {
        const auto i = entries_.find(sequence);
        return i == entries_.end() ? nullptr : &i->second.entry;
    }

    /// True if `take` returned the entry and no report followed. An expired hold ends at the next
    /// `take`; until then the entry is in hand.
    [[nodiscard]] bool is_in_hand(std::uint64_t sequence) const noexcept
    {
        const auto i = entries_.find(sequence);
        return i != entries_.end() && i->second.state == entry_state::in_hand;
    }

    /// Calls f(entry) for each entry, in ascending order of numbers. Linear time.
    template <class F>
    void each(F&& f) const
    {
        for (const auto& [sequence, r] : entries_) f(r.entry);
    }

    [[nodiscard]] std::uint64_t size() const noexcept { return entries_.size(); }
    [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
    [[nodiscard]] std::uint64_t in_hand() const noexcept { return in_hand_.size(); }
    [[nodiscard]] const deferral_options& options() const noexcept { return options_; }

    /// Equal options and equal entries, which contain the tickets and ends of hold of those in
    /// hand. Tickets and ended holds of entries that are not in hand are ignored.
    friend bool operator==(const deferred_messages& a, const deferred_messages& b)
    {
        return a.entries_ == b.entries_ && a.options_ == b.options_;
    }

private:
    enum class entry_state : std::uint8_t {
        due,      // `take` returns it from its due time on
        in_hand,  // `take` has returned it, and its hold has not ended
        waiting,  // for another entry of its session
    };

    struct tracked_entry {
        deferred entry{};
        entry_state state = entry_state::due;
        std::uint64_t ticket = 0;  // the last ticket; valid only in hand
        steady_time hold_end{};    // valid only in hand
        bool hold_ended = false;   // without a report; set by `take`

        bool operator==(const tracked_entry& other) const noexcept
        {
            if (state != other.state || !(entry == other.entry)) return false;
            return state != entry_state::in_hand ||
                   (ticket == other.ticket && hold_end == other.hold_end);
        }
    };

    // The last ticket issued. Assignment keeps the higher number, so an object never issues the
    // same ticket twice.
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

    // Each state has a schedule of its entries. `in_hand_` is sorted by the end of the hold, `due_`
    // and `waiting_` by the due time. All three have the same node type, so that a change of state
    // needs no allocation.
    struct schedule_key {
        duration at{};
        std::uint64_t sequence = 0;

        friend auto operator<=>(const schedule_key&, const schedule_key&) = default;
    };
    using schedule = std::set<schedule_key>;

    // The entries of a session with session order. `front` is due or in hand; all others wait.
    struct session_entries {
        std::set<std::uint64_t> sequences{};
        std::optional<std::uint64_t> front{};
    };
    using session_map = std::map<std::string, session_entries>;

    [[nodiscard]] bool has_session_order(const deferred& d) const noexcept
    {
        return options_.session_order && !d.session.empty();
    }

    [[nodiscard]] tracked_entry& entry_at(std::uint64_t sequence) noexcept
    {
        return entries_.find(sequence)->second;
    }

    [[nodiscard]] schedule& schedule_of(entry_state state) noexcept
    {
        if (state == entry_state::due) return due_;
        if (state == entry_state::in_hand) return in_hand_;
        return waiting_;
    }

    [[nodiscard]] static schedule_key key_of(const tracked_entry& r) noexcept
    {
        const bool held = r.state == entry_state::in_hand;
        return {held ? r.hold_end.since_epoch() : r.entry.due.since_epoch(), r.entry.sequence};
    }

    [[nodiscard]] tracked_entry* find_in_hand(std::uint64_t sequence, std::uint64_t ticket) noexcept
    {
        const auto i = entries_.find(sequence);
        const bool found = i != entries_.end() && i->second.state == entry_state::in_hand;
        return found && i->second.ticket == ticket ? &i->second : nullptr;
    }

    [[nodiscard]] schedule::node_type extract_key(const tracked_entry& r) noexcept
    {
        return schedule_of(r.state).extract(key_of(r));
    }

    void insert_key(tracked_entry& r, entry_state to, schedule::node_type& node) noexcept
    {
        r.state = to;
        node.value() = key_of(r);
        schedule_of(to).insert(static_cast<schedule::node_type&&>(node));
    }

    void set_state(tracked_entry& r, entry_state to) noexcept
    {
        schedule::node_type node = extract_key(r);
        insert_key(r, to, node);
    }

    void end_hold(tracked_entry& r) noexcept
    {
        set_state(r, entry_state::due);
        if (has_session_order(r.entry)) update_front(sessions_.find(r.entry.session)->second);
    }

    /// Makes the entry with the lowest number the front, unless the current front is in hand.
    void update_front(session_entries& s) noexcept
    {
        if (s.front) {
            tracked_entry& r = entry_at(*s.front);
            if (r.state == entry_state::in_hand || *s.front == *s.sequences.begin()) return;
            set_state(r, entry_state::waiting);
        }
        s.front = *s.sequences.begin();
        set_state(entry_at(*s.front), entry_state::due);
    }

    void erase_entry(std::uint64_t sequence) noexcept
    {
        const auto i = entries_.find(sequence);
        const tracked_entry& r = i->second;
        schedule_of(r.state).erase(key_of(r));
        if (has_session_order(r.entry)) {
            const auto session = sessions_.find(r.entry.session);
            session_entries& s = session->second;
            s.sequences.erase(sequence);
            if (s.front == sequence) s.front.reset();
            if (s.sequences.empty()) sessions_.erase(session);
            else update_front(s);
        }
        entries_.erase(i);
    }

    void add_or_replace(deferred&& entry)
    {
        // All allocations happen before the first change; the merges only relink nodes.
        const std::uint64_t sequence = entry.sequence;
        const bool ordered = has_session_order(entry);
        schedule new_key{{entry.due.since_epoch(), sequence}};
        session_map new_session;
        std::set<std::uint64_t> new_sequence;
        if (ordered) {
            new_session.try_emplace(entry.session);
            new_sequence.insert(sequence);
        }
        std::map<std::uint64_t, tracked_entry> new_entry;
        tracked_entry& r = new_entry.try_emplace(sequence).first->second;
        r.entry = static_cast<deferred&&>(entry);
        r.state = ordered ? entry_state::waiting : entry_state::due;

        if (entries_.contains(sequence)) erase_entry(sequence);
        entries_.merge(new_entry);
        schedule_of(r.state).merge(new_key);
        if (!ordered) return;
        sessions_.merge(new_session);
        session_entries& s = sessions_.find(r.entry.session)->second;
        s.sequences.merge(new_sequence);
        update_front(s);
    }

    /// Puts the entries of a partition next to each other. Partitions are in the order of their
    /// first entries, and entries keep their order within a partition.
    template <class Taken>
    [[nodiscard]] static std::vector<Taken> grouped_by_partition(std::vector<Taken>& from)
    {
        std::map<std::uint16_t, std::uint64_t> first_index;  // by partition
        // By the first index of the partition, then by the index of the entry.
        std::map<std::pair<std::uint64_t, std::uint64_t>, Taken*> sorted;
        std::uint64_t index = 0;
        for (Taken& h : from) {
            const std::uint16_t partition = detail::partition_of(h.entry.sequence);
            const std::uint64_t first = first_index.try_emplace(partition, index).first->second;
            sorted.try_emplace(std::pair{first, index}, &h);
            ++index;
        }
        std::vector<Taken> to;
        to.reserve(from.size());
        for (const auto& [key, h] : sorted) to.push_back(static_cast<Taken&&>(*h));
        return to;
    }

    deferral_options options_;
    counter tickets_;
    std::map<std::uint64_t, tracked_entry> entries_;
    session_map sessions_;
    schedule due_;
    schedule in_hand_;
    schedule waiting_;
};

/// A description of the error in one line.
template <std::same_as<deferred_messages::load_error> T>
[[nodiscard]] std::string describe(const T& e)
{
    std::string text = "deferred messages: ";
    text += name(e.kind);
    if (e.kind == deferred_messages::load_error::code::bad_options)
        return text + ": " + describe(e.options);
    text += " at byte ";
    text += std::to_string(e.offset);
    if (e.kind == deferred_messages::load_error::code::newer) text += ": update the program";
    return text;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_QUEUE_DEFERRED_MESSAGES_HPP
