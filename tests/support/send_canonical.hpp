// SPDX-License-Identifier: MIT
//
// send_canonical: one form for senders that differ in names only.
//
// The number of an attempt is only a name, a time is only before or after now, and ended items are
// not read again. So a sender and its audit are brought to a canonical form. The open attempts are
// 1, 2 ... in the order of their start (0 is an ended one). The time is one second, and all that is
// due has the lowest time. Ended items are equal. Enumerations find the same number of schedules
// with this form, in a twentieth of the simulations.
//
// This needs private members of a sender. An explicit instantiation may name them.

#ifndef WAYBILL_TESTS_SUPPORT_SEND_CANONICAL_HPP
#define WAYBILL_TESTS_SUPPORT_SEND_CANONICAL_HPP

#include <array>
#include <cstddef>
#include <cstdint>

#include <support/send_audit.hpp>

#include <waybill/batch/batch_sender.hpp>

namespace send_canonical {

template <class Tag, typename Tag::member M>
struct exposed {
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
struct throttles {
    using member = std::uint32_t waybill::detail::pace::*;
    friend member inside(throttles);
};
struct flushed {
    using member = std::uint64_t waybill::detail::send_queue::*;
    friend member inside(flushed);
};
template struct exposed<attempts, &waybill::batch_sender::next_attempt_>;
template struct exposed<flights, &waybill::batch_sender::flights_>;
template struct exposed<queue, &waybill::batch_sender::queue_>;
template struct exposed<pace, &waybill::batch_sender::pace_>;
template struct exposed<draft, &waybill::detail::send_queue::draft_>;
template struct exposed<quiet, &waybill::detail::pace::not_before_>;
template struct exposed<throttles, &waybill::detail::pace::consecutive_throttles_>;
template struct exposed<flushed, &waybill::detail::send_queue::flushed_end_>;

constexpr waybill::steady_time start = waybill::steady_time::at(waybill::duration::seconds(1));

/// Renumbers the open attempts. Returns false if sender and audit disagree about them, or if there
/// are more than in small cases.
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

/// Sets the time to one second. Only valid if nothing depends on elapsed time.
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

/// A hash of the parts that the audit does not have. Equal senders have equal hashes.
inline std::uint64_t digest(waybill::batch_sender& s)
{
    std::uint64_t h = 0;
    const auto mix = [&h](std::uint64_t x) {
        h = (h ^ x) * 0x9E37'79B9'7F4A'7C15U;
        h ^= h >> 29;
    };
    const auto number = [](auto x) { return static_cast<std::uint64_t>(x); };
    waybill::detail::send_queue& q = s.*inside(queue());
    waybill::detail::send_items& items = q.items();
    for (std::uint64_t n = items.begin(); n != items.end(); ++n) {
        using waybill::detail::item_state;
        const waybill::detail::send_item& i = items[n];
        mix(i.bytes);
        mix(number(i.state == item_state::in_flight ? item_state::waiting : i.state) +
            8U * number(i.basis) + 32U * i.maybe_arrived + 64U * i.replace_handled +
            256U * i.on_trial + 512U * i.sent_again + 1024U * i.failed_attempts +
            (number(i.max_items) << 32));
    }
    const waybill::detail::send_draft& d = q.*inside(draft());
    mix(d.sizes.items + 16U * d.next_item + 256U * d.max_items);
    mix((s.*inside(pace())).*inside(throttles()) + 256U * q.*inside(flushed()));
    for (const waybill::detail::flight& f : s.*inside(flights())) {
        mix(number(f.closed) + 8U * f.in_flight + 16U * f.probe + 32U * number(f.cut) +
            512U * f.unknown_outcomes);
        mix(f.sizes.body_bytes);
    }
    return h;
}

}  // namespace send_canonical

#endif  // WAYBILL_TESTS_SUPPORT_SEND_CANONICAL_HPP
