// SPDX-License-Identifier: MIT
//
// send_canonical: the same for senders that differ in names alone.
//
// An attempt's number names it, a time is earlier or later than now, and what is over will not be
// looked at again. So a sender and its audit are brought to one form: the attempts that are open
// are 1, 2 ... in the order in which they began (0 is one that is over), it is one second, what is
// due is due since ever, and items that are over are alike. Enumerations that do this find the same
// number of schedules as those that do not, in a twentieth of the simulations.
//
// This needs what is private in a sender. An explicit instantiation may name it.

#ifndef WAYBILL_TESTS_SUPPORT_SEND_CANONICAL_HPP
#define WAYBILL_TESTS_SUPPORT_SEND_CANONICAL_HPP

#include <array>
#include <cstddef>
#include <cstdint>

#include <support/send_audit.hpp>

#include <waybill/batch/batch_sender.hpp>

namespace send_canonical {

template <class Tag, typename Tag::member M>
struct door {
    friend typename Tag::member inside(Tag) { return M; }
};

struct attempts {
    using member = std::uint64_t waybill::batch_sender::*;
    friend member inside(attempts);
};
struct flights {
    using member = waybill::detail::flights waybill::batch_sender::*;
    friend member inside(flights);
};
struct queue {
    using member = waybill::detail::send_queue waybill::batch_sender::*;
    friend member inside(queue);
};
struct pace {
    using member = waybill::detail::pace waybill::batch_sender::*;
    friend member inside(pace);
};
struct draft {
    using member = waybill::detail::send_draft waybill::detail::send_queue::*;
    friend member inside(draft);
};
struct quiet {
    using member = waybill::steady_time waybill::detail::pace::*;
    friend member inside(quiet);
};
template struct door<attempts, &waybill::batch_sender::next_attempt_>;
template struct door<flights, &waybill::batch_sender::flights_>;
template struct door<queue, &waybill::batch_sender::queue_>;
template struct door<pace, &waybill::batch_sender::pace_>;
template struct door<draft, &waybill::detail::send_queue::draft_>;
template struct door<quiet, &waybill::detail::pace::not_before_>;

constexpr waybill::steady_time start = waybill::steady_time::at(waybill::duration::seconds(1));

/// Numbers the open attempts anew. False where sender and audit do not agree about them, or there
/// are more than small cases have.
inline bool renumber(waybill::batch_sender& s, send_audit::audit& a)
{
    using send_audit::audit;
    constexpr std::size_t most = 8;
    std::array<audit::attempt, most + 1> open{{{.open = false}}};
    std::array<waybill::detail::flight*, most> found{};
    std::array<std::uint64_t, 4 * most> members{};
    waybill::detail::flights& flying = s.*inside(flights());
    if (flying.size() != a.open || flying.size() > most) return false;
    std::size_t number = 0;
    std::size_t end = 0;
    for (const waybill::detail::flight& f : flying) {
        if (f.attempt >= a.attempts.size() || !a.attempts[f.attempt].open) return false;
        audit::attempt x = a.attempts[f.attempt];
        if (end + x.count > members.size()) return false;
        for (std::size_t i = 0; i != x.count; ++i) members[end + i] = a.members[x.first + i];
        x.first = end;
        end += x.count;
        found[number] = flying.find(f.attempt);
        open[++number] = x;
    }
    for (std::size_t n = 1; n <= number; ++n) {
        found[n - 1]->attempt = n;
        for (std::size_t i = 0; i != open[n].count; ++i) a.items[members[open[n].first + i]].in = n;
    }
    s.*inside(attempts()) = number + 1;
    a.attempts.assign(open.data(), open.data() + number + 1);
    a.members.assign(members.data(), members.data() + end);
    return true;
}

/// Makes it one second, where nothing depends on how long something has waited.
inline void turn_back(waybill::batch_sender& s, send_audit::audit& a, waybill::steady_time& now)
{
    const waybill::duration past = now - start;
    const auto turned = [&](waybill::steady_time& t, waybill::steady_time due) {
        t = t > now ? t - past : due;
    };
    waybill::detail::pace& p = s.*inside(pace());
    turned(p.*inside(quiet()), waybill::steady_time::lowest());
    turned(a.quiet, waybill::steady_time::lowest());
    waybill::detail::flights& flying = s.*inside(flights());
    for (const waybill::detail::flight& f : flying) turned(flying.find(f.attempt)->not_before, {});
    for (send_audit::audit::attempt& x : a.attempts) {
        turned(x.not_before, waybill::steady_time::lowest());
    }
    waybill::detail::send_queue& q = s.*inside(queue());
    (q.*inside(draft())).started_at = start;
    now = start;
}

inline void forget_what_is_over(waybill::batch_sender& s)
{
    waybill::detail::send_items& items = (s.*inside(queue())).items();
    for (std::uint64_t n = items.begin(); n != items.end(); ++n) {
        if (items[n].state != waybill::detail::item_state::ended) continue;
        items[n] = waybill::detail::send_item();
        items[n].state = waybill::detail::item_state::ended;
    }
}

inline void bring(waybill::batch_sender& s, send_audit::audit& a, waybill::steady_time& now)
{
    if (!renumber(s, a)) return;
    forget_what_is_over(s);
    if (s.policy().linger == waybill::duration::highest()) turn_back(s, a, now);
}

}  // namespace send_canonical

#endif  // WAYBILL_TESTS_SUPPORT_SEND_CANONICAL_HPP
