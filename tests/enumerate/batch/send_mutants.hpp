// SPDX-License-Identifier: MIT
//
// send_mutants: senders with one mistake each, in the events that they get or the actions they
// return.

#ifndef WAYBILL_TESTS_ENUMERATE_BATCH_SEND_MUTANTS_HPP
#define WAYBILL_TESTS_ENUMERATE_BATCH_SEND_MUTANTS_HPP

#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <waybill/batch/batch_sender.hpp>

namespace send_mutants {

using namespace waybill;

enum class wrong {
    cuts_unknown_anew,
    repeats_what_arrived,
    takes_partial_for_all,
    does_not_shrink,
    settles_twice,
    fails_the_refused,
    does_not_stop,
    sends_too_many_at_a_time,
    takes_one_item_too_many,
    takes_ten_bytes_too_many,
    takes_unknown_for_accepted,
    gives_up_a_refused_repetition,
    gives_up_a_part_of_a_repetition,
    does_not_rest,
    hears_what_is_late,
    changes_its_mind,
    forgets_an_item,
    fails_neighbours,
    loses_one_of_six,
    none,
};

inline fault_kind kind_of(const batch_sender::entry_fault& f)
{
    const auto* x = waybill::get_if<batch_sender::failed>(&f.answer);
    return x ? x->kind : fault_kind::none;
}

template <wrong W>
class mutant {
public:
    using action = batch_sender::action;

    explicit mutant(send_policy p) : s_((spoil(p), p)) {}

    [[nodiscard]] action next(steady_time now) const
    {
        if (W == wrong::changes_its_mind && asked_++ % 2 == 1) return idle{};
        return s_.next(now);
    }
    template <class E>
    event_result on(const E& e, steady_time now)
    {
        const bool repeated =
            std::exchange(repeated_, std::is_same_v<E, batch_sender::outcome_unknown> ||
                                         (repeated_ && std::is_same_v<E, batch_sender::started>));
        if constexpr (W == wrong::gives_up_a_refused_repetition &&
                      std::is_same_v<E, batch_sender::too_large>) {
            return repeated ? fail_all(e.attempt, now) : s_.on(e, now);
        } else if constexpr (W == wrong::gives_up_a_part_of_a_repetition &&
                             std::is_same_v<E, batch_sender::partial>) {
            std::vector<batch_sender::entry_fault> failed(e.failed.begin(), e.failed.end());
            for (batch_sender::entry_fault& f : failed) {
                if (repeated && kind_of(f) == fault_kind::transient)
                    f = {f.index, fault_kind::permanent};
            }
            batch_sender::partial changed = e;
            changed.failed = failed;
            return s_.on(changed, now);
        } else if constexpr (W == wrong::cuts_unknown_anew &&
                             std::is_same_v<E, batch_sender::outcome_unknown>) {
            return s_.on(batch_sender::throttled{e.attempt}, now);
        } else if constexpr (W == wrong::repeats_what_arrived &&
                             std::is_same_v<E, batch_sender::accepted>) {
            return s_.on(batch_sender::outcome_unknown{e.attempt}, now);
        } else if constexpr (W == wrong::takes_partial_for_all &&
                             std::is_same_v<E, batch_sender::partial>) {
            return s_.on(batch_sender::accepted{e.attempt}, now);
        } else if constexpr (W == wrong::does_not_shrink &&
                             std::is_same_v<E, batch_sender::too_large>) {
            return s_.on(batch_sender::throttled{e.attempt}, now);
        } else if constexpr (W == wrong::settles_twice &&
                             std::is_same_v<E, batch_sender::reported>) {
            if (!once_ && e.items.first != 77) return once_ = true, event_result::applied;
            return s_.on(e, now);
        } else if constexpr (W == wrong::fails_the_refused &&
                             std::is_same_v<E, batch_sender::too_large>) {
            return e.item_sizes.empty() ? fail_all(e.attempt, now) : s_.on(e, now);
        } else if constexpr (W == wrong::does_not_stop &&
                             std::is_same_v<E, batch_sender::stopped>) {
            return s_.on(batch_sender::flushed{}, now);
        } else if constexpr (W == wrong::takes_unknown_for_accepted &&
                             std::is_same_v<E, batch_sender::outcome_unknown>) {
            return s_.on(batch_sender::accepted{e.attempt}, now);
        } else if constexpr (W == wrong::does_not_rest &&
                             std::is_same_v<E, batch_sender::throttled>) {
            return s_.on(batch_sender::throttled{e.attempt}, now);
        } else if constexpr (W == wrong::hears_what_is_late &&
                             std::is_same_v<E, batch_sender::accepted>) {
            const event_result h = s_.on(e, now);
            if (h == event_result::stale) s_.on(batch_sender::stopped{}, now);
            return h;
        } else if constexpr (W == wrong::forgets_an_item &&
                             std::is_same_v<E, batch_sender::queued>) {
            if (s_.end() == 2) return event_result::applied;
            return s_.on(e, now);
        } else if constexpr (W == wrong::fails_neighbours &&
                             std::is_same_v<E, batch_sender::partial>) {
            if (e.failed.empty() || kind_of(e.failed.front()) != fault_kind::transient) {
                return s_.on(e, now);
            }
            return s_.on(batch_sender::failed{e.attempt, fault_kind::transient}, now);
        } else if constexpr (W == wrong::loses_one_of_six &&
                             std::is_same_v<E, batch_sender::partial>) {
            // A partial answer after one item has ended, with another batch in flight, and with one kind
            // of fault.
            const bool late = s_.in_flight() == 2 && s_.end() == 6 && s_.first_open() == 1;
            if (late && !e.failed.empty() &&
                kind_of(e.failed.front()) == fault_kind::infrastructure) {
                return s_.on(batch_sender::accepted{e.attempt}, now);
            }
            return s_.on(e, now);
        } else {
            return s_.on(e, now);
        }
    }
    [[nodiscard]] batch_sender& inside() { return s_; }
    [[nodiscard]] bool finished() const { return s_.finished(); }
    [[nodiscard]] std::uint64_t end() const { return s_.end(); }
    [[nodiscard]] std::uint64_t first_open() const { return s_.first_open(); }
    friend bool operator==(const mutant& a, const mutant& b)
    {
        return a.s_ == b.s_ && a.repeated_ == b.repeated_;
    }

private:
    // Every item of the attempt fails for good.
    event_result fail_all(std::uint64_t attempt, steady_time now)
    {
        event_result h = event_result::invalid;
        for (std::uint64_t items = 7; items != 0 && h == event_result::invalid; --items) {
            std::vector<batch_sender::entry_fault> all;
            for (std::uint64_t i = 0; i != items; ++i) all.push_back({i, fault_kind::permanent});
            h = s_.on(batch_sender::partial{.attempt = attempt, .failed = all}, now);
        }
        return h;
    }

    static void spoil(send_policy& p)
    {
        if (W == wrong::sends_too_many_at_a_time) ++p.in_flight;
        if (W == wrong::takes_one_item_too_many) ++p.limit.items;
        if (W == wrong::takes_ten_bytes_too_many) p.limit.bytes += 10;
    }

    batch_sender s_;
    bool once_ = false;
    bool repeated_ = false;  // with one attempt in flight: its last answer was unknown
    mutable std::uint64_t asked_ = 0;
};

}  // namespace send_mutants

#endif  // WAYBILL_TESTS_ENUMERATE_BATCH_SEND_MUTANTS_HPP
