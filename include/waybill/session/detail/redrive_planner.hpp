// SPDX-License-Identifier: MIT
//
// redrive_planner: makes the plan of plan_redrive, session by session.

#ifndef WAYBILL_SESSION_DETAIL_REDRIVE_PLANNER_HPP
#define WAYBILL_SESSION_DETAIL_REDRIVE_PLANNER_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/core/detail/broker_sequence.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/session/detail/dead_letter_facts.hpp>
#include <waybill/session/detail/dead_letter_order.hpp>
#include <waybill/session/detail/redrive_names.hpp>
#include <waybill/session/pipeline_dead_letter.hpp>
#include <waybill/session/redrive_plan.hpp>

namespace waybill::inline v0_2::detail {

/// True if the filter selects this dead letter by itself.
[[nodiscard]] inline bool is_selected(const pipeline_dead_letter& l, const redrive_plan::filter& f)
{
    bool reason_selected = f.reasons.empty();
    for (const dead_letter_reason r : f.reasons) reason_selected = reason_selected || r == l.reason;
    const bool step_selected = f.failed_step == 0 || l.properties.step == f.failed_step;
    return reason_selected && step_selected && l.properties.step >= f.from_step &&
           l.properties.step <= f.to_step && l.dead_lettered_at >= f.dead_lettered_from &&
           l.dead_lettered_at <= f.dead_lettered_to;
}

/// Makes the plan for dead letters that are sorted by session.
class redrive_planner {
public:
    redrive_planner(std::span<pipeline_dead_letter> letters, const redrive_plan::filter& f,
                    const redrive_plan::options& o, redrive_plan& plan)
        : letters_(letters), filter_(f), options_(o), plan_(plan), order_(letters)
    {
    }

    void plan()
    {
        plan_.max_id_bytes = greater(options_.max_id_bytes, min_redriven_bytes);
        order_.by_session();
        for (std::size_t at = 0; at != letters_.size();) {
            std::size_t end = at + 1;
            while (end != letters_.size() && session(end) == session(at)) ++end;
            add_session(at, end - at);
            for (redrive_plan::planned_session& s : split_off_) add(std::move(s));
            split_off_.clear();
            at = end;
        }
        put_sessions_in_order();
    }

private:
    using letters_part = std::span<const pipeline_dead_letter>;

    [[nodiscard]] std::string_view session(std::size_t i) const noexcept
    {
        return letters_[i].properties.session;
    }

    /// Plans the dead letters of one session.
    void add_session(std::size_t offset, std::size_t count)
    {
        redrive_plan::planned_session s;
        s.offset = offset;
        s.count = count;
        apply_filter(s);
        if (s.count == 0) return;
        if (session(offset).empty()) {
            s.reason = redrive_plan::skip_reason::no_session;
            return add(std::move(s));
        }
        separate_without_step(s);
        set_id_and_marks(s);
        put_in_order(s);
        if (s.marks.unnumbered) {
            s.total = s.count;
            return add_or_hold_back(std::move(s));
        }
        s.first = stopped_at_step(s);
        separate_done_steps(s);
        if (s.count == 0) return;
        check_steps(s);
        add_or_hold_back(std::move(s));
    }

    /// Separates dead letters that the filter does not select. Those that failed alone are selected
    /// one by one.
    void apply_filter(redrive_plan::planned_session& s)
    {
        const letters_part all = part(s);
        std::uint64_t selected = 0;
        for (const pipeline_dead_letter& l : all) {
            s.marks.independent = s.marks.independent || l.independent;
            if (is_selected(l, filter_)) ++selected;
        }
        if (!selects_session(all)) selected = 0;
        else if (!s.marks.independent) selected = s.count;
        if (selected == s.count) return;
        if (selected != 0) {
            // The selected ones have the key 0 and come first.
            order_.by_key(s.offset, all.size(), [&](const pipeline_dead_letter& l, std::size_t) {
                return std::uint64_t{!is_selected(l, filter_)};
            });
        }
        redrive_plan::planned_session rest = s;
        rest.offset = s.offset + selected;
        rest.count = s.count - selected;
        rest.reason = redrive_plan::skip_reason::filtered;
        s.count = selected;
        if (selected == 0) return add(std::move(rest));
        split_off_.push_back(std::move(rest));
    }

    /// Holds back dead letters without a step, because their position is unknown. If none in the
    /// session has a step, all of them remain.
    void separate_without_step(redrive_plan::planned_session& s)
    {
        std::uint64_t without_step = 0;
        for (const pipeline_dead_letter& l : part(s)) {
            if (l.properties.step == 0) ++without_step;
        }
        if (without_step == 0 || without_step == s.count) return;
        order_.by_key(s.offset, s.count, [](const pipeline_dead_letter& l, std::size_t) {
            return std::uint64_t{l.properties.step == 0};
        });
        s.count -= without_step;
        redrive_plan::planned_session rest = s;
        rest.offset = s.end();
        rest.count = without_step;
        rest.reason = redrive_plan::skip_reason::damaged;
        set_id_and_marks(rest);
        split_off_.push_back(std::move(rest));
    }

    /// Separates steps that the session has already done.
    void separate_done_steps(redrive_plan::planned_session& s)
    {
        redrive_plan::planned_session done = s;
        done.count = 0;
        done.reason = redrive_plan::skip_reason::already_done;
        while (!s.marks.independent && s.count != 0 && letter(s.offset).properties.step < s.first) {
            ++done.count;
            ++s.offset;
            --s.count;
        }
        if (done.count != 0) add(std::move(done));
    }

    [[nodiscard]] const pipeline_dead_letter& letter(std::uint64_t i) const noexcept
    {
        return letters_[i];
    }
    [[nodiscard]] letters_part part(const redrive_plan::planned_session& s) const noexcept
    {
        return letters_.subspan(s.offset, s.count);
    }

    /// True if the filter selects any dead letter of this session.
    [[nodiscard]] bool selects_session(letters_part all) const
    {
        if (!filter_.session.empty() && all.front().properties.session != filter_.session &&
            origin_session(all.front()) != filter_.session) {
            return false;
        }
        bool any_cause = false;
        for (const pipeline_dead_letter& l : all) {
            if (!l.is_cause()) continue;
            any_cause = true;
            if (is_selected(l, filter_)) return true;
        }
        for (const pipeline_dead_letter& l : all) {
            if (l.last_redriven_step != 0) return true;  // a redrive that has begun is continued
        }
        if (any_cause) return false;
        // The dead letter that stopped the session is missing.
        for (const pipeline_dead_letter& l : all) {
            if (is_selected(l, filter_)) return true;
        }
        return false;
    }

    /// Sets the id of the new session, the number of missing bodies, and the marks that do not
    /// depend on the order of the steps.
    void set_id_and_marks(redrive_plan::planned_session& s)
    {
        const pipeline_dead_letter& first = letter(s.offset);
        s.generation = saturating_add(first.origin.generation, 1);
        s.id = redriven_session(origin_session(first), s.generation, plan_.max_id_bytes);
        s.marks.contradictory = first.origin.generation == highest_size;
        const pipeline_dead_letter* previous = nullptr;
        for (const pipeline_dead_letter& l : part(s)) {
            s.marks.unnumbered = s.marks.unnumbered || l.properties.step == 0;
            s.marks.state_omitted = s.marks.state_omitted || l.state_omitted;
            if (l.kept != dead_letter_body::body && l.last_redriven_step == 0) ++s.without_body;
            // Equal origins would give equal message ids, and the broker would drop one message.
            const bool same_origin =
                previous != nullptr && origin_sequence(*previous) == origin_sequence(l);
            s.marks.contradictory = s.marks.contradictory || same_origin ||
                                    origin_session(l) != origin_session(first) ||
                                    l.origin.generation != first.origin.generation;
            previous = &l;
        }
    }

    /// Sorts by step, or by sequence number without steps. After a rollover of the sequence numbers
    /// there is one position, within a partition, at which they increase by more than half of their
    /// range. The dead letters from this position on were sent first.
    void put_in_order(redrive_plan::planned_session& s)
    {
        std::size_t descents = 0;
        std::size_t jump = 0;
        const letters_part all = part(s);
        for (std::size_t i = 1; i < all.size(); ++i) {
            if (all[i].properties.step < all[i - 1].properties.step) ++descents;
            const bool same_partition =
                partition_of(all[i].sequence) == partition_of(all[i - 1].sequence);
            if (same_partition && all[i].sequence - all[i - 1].sequence > half_of_sequence_range)
                jump = i;
        }
        const bool by_jump = s.marks.unnumbered && jump != 0;
        const bool wrapped_once = descents == 1 && jump != 0 &&
                                  all[jump].properties.step < all[jump - 1].properties.step &&
                                  all.back().properties.step <= all.front().properties.step;
        const bool in_order = s.marks.unnumbered ? !by_jump : descents == 0;
        if (in_order) return;
        s.marks.sequence_wrapped = by_jump || wrapped_once;
        s.marks.disordered = !s.marks.sequence_wrapped;
        const std::uint64_t wrap_position = s.offset + jump;
        order_.by_key(s.offset, all.size(), [&](const pipeline_dead_letter& l, std::size_t at) {
            return by_jump ? std::uint64_t{at < wrap_position} : l.properties.step;
        });
    }

    /// The step at which the session stopped. It is the highest `resume_at` of its dead letters,
    /// but not after the lowest step that failed, was exhausted or came after a gap. Without
    /// `resume_at` it is the lowest step present, and `start_unknown` is set unless this is the
    /// first step of the session. For independent steps it is always the lowest step present.
    [[nodiscard]] std::uint64_t stopped_at_step(redrive_plan::planned_session& s) const
    {
        const pipeline_dead_letter& first = letter(s.offset);
        std::uint64_t resume_at = 0;
        std::uint64_t lowest_not_done = highest_size;
        for (const pipeline_dead_letter& l : part(s)) {
            resume_at = greater(resume_at, l.resume_at);
            const bool not_done = l.reason == dead_letter_reason::failed ||
                                  l.reason == dead_letter_reason::gap ||
                                  l.reason == dead_letter_reason::exhausted;
            if (not_done) lowest_not_done = lesser(lowest_not_done, l.properties.step);
        }
        if (resume_at != 0 && !s.marks.independent) {
            s.marks.contradictory = s.marks.contradictory || lowest_not_done < resume_at;
            return lesser(resume_at, lowest_not_done);
        }
        s.marks.start_unknown =
            !s.marks.independent && first.properties.step != first.properties.first;
        return first.properties.step;
    }

    /// The total that a dead letter states, else `known_total`.
    [[nodiscard]] static std::uint64_t stated_total(const step_properties& s,
                                                    std::uint64_t known_total) noexcept
    {
        if (s.total != 0) return s.total;
        return s.last ? s.step : known_total;
    }

    /// Sets the marks that depend on the order of the steps, and the range of the new session.
    void check_steps(redrive_plan::planned_session& s) const
    {
        const bool contradictory_before = s.marks.contradictory;
        const letters_part all = part(s);
        std::uint64_t last_sent = 0;  // by an earlier redrive
        for (const pipeline_dead_letter& l : all)
            last_sent = greater(last_sent, l.last_redriven_step);
        s.first_sent = all.front().last_redriven_step != 0 && !s.marks.independent;
        s.marks.head_missing = last_sent == 0 && all.front().properties.step != s.first;

        // A total that an earlier redrive sent has precedence over the totals of the dead letters.
        const std::uint64_t sent_total =
            all.front().last_redriven_step != 0 ? all.front().properties.total : 0;
        std::uint64_t total = sent_total;
        std::uint64_t previous = greater(last_sent, all.front().properties.step);
        for (std::size_t i = 0; i != all.size(); ++i) {
            const step_properties& properties = all[i].properties;
            const std::uint64_t end =
                sent_total != 0 ? sent_total : stated_total(properties, total);
            s.marks.contradictory = s.marks.contradictory || (total != 0 && total != end);
            total = greater(total, end);
            s.marks.repeated =
                s.marks.repeated || (i != 0 && properties.step == all[i - 1].properties.step);
            s.marks.hole =
                s.marks.hole || (properties.step > previous && properties.step - previous > 1);
            previous = greater(previous, properties.step);
        }
        s.marks.contradictory = s.marks.contradictory || (total != 0 && previous > total);
        s.marks.open = total == 0 || previous < total;
        s.total = total;
        if (s.marks.independent) {
            s.marks.hole = s.marks.open = false;
            s.marks.contradictory = contradictory_before;
            s.total = previous;
            return;
        }
        set_range(s, last_sent, previous);
    }

    /// Sets the first and the last step of the new session, and whether its first dead letter is
    /// marked or kept. Holds the session back if its only dead letter was sent and is kept.
    /// `last_sent`: the last step that an earlier redrive has sent; 0 if there was none.
    /// `last`: the last step present or sent.
    void set_range(redrive_plan::planned_session& s, std::uint64_t last_sent,
                   std::uint64_t last) const
    {
        const std::uint64_t total = s.total;
        if (s.marks.damaged() && last_sent == 0) s.first = letter(s.offset).properties.step;
        const bool ends_with_last = s.marks.damaged() || (s.marks.open && options_.close);
        if (ends_with_last && (last_sent == 0 || total == 0)) s.total = last;
        s.last_redriven_step = last;
        s.keeps_first = (s.total == 0 || last < s.total) && !options_.close;
        s.mark_before_removal = s.keeps_first || s.count > greater(options_.removed_at_once, 1);
        if (s.first_sent && s.count == 1) {
            s.mark_before_removal = false;
            if (s.keeps_first) s.reason = redrive_plan::skip_reason::end_missing;
        }
    }

    /// Adds the session. Holds it back if it is damaged or needs bodies and the options do not
    /// permit that.
    void add_or_hold_back(redrive_plan::planned_session s)
    {
        const bool needs_state = s.first > 1 && !s.first_sent && !s.marks.independent;
        s.marks.without_state =
            needs_state && !s.marks.state_omitted && latest_state(part(s)).empty();
        if (s.reason == redrive_plan::skip_reason::none && s.marks.damaged() && !options_.damaged) {
            s.reason = redrive_plan::skip_reason::damaged;
        } else if (s.reason == redrive_plan::skip_reason::none && s.without_body != 0 &&
                   !options_.fetches_bodies) {
            s.reason = redrive_plan::skip_reason::no_body;
        }
        add(std::move(s));
    }

    void add(redrive_plan::planned_session s)
    {
        count_of(s.reason) += s.count;
        plan_.sessions.push_back(std::move(s));
    }

    [[nodiscard]] std::uint64_t& count_of(redrive_plan::skip_reason h) noexcept
    {
        if (h == redrive_plan::skip_reason::none) return plan_.ready;
        return h == redrive_plan::skip_reason::filtered ? plan_.filtered : plan_.held_back;
    }

    /// The group of a session, then the time of its first dead letter.
    [[nodiscard]] order_key place_of(const redrive_plan::planned_session& s) const noexcept
    {
        constexpr std::uint64_t sign = std::uint64_t{1} << 63U;
        wall_time first = wall_time::highest();
        for (const pipeline_dead_letter& l : part(s)) first = earlier(first, l.dead_lettered_at);
        const bool filtered = s.reason == redrive_plan::skip_reason::filtered;
        const bool held_back = !filtered && s.reason != redrive_plan::skip_reason::none;
        return {.major = filtered    ? 2U
                         : held_back ? 1U
                                     : 0U,
                .minor = static_cast<std::uint64_t>(first.since_epoch().count()) ^ sign};
    }

    /// Groups the sessions: first those to be sent, then those held back, then those that the
    /// filter does not select. In each group the oldest session is the first. Sessions of the same
    /// time keep their order. Sorts the dead letters with them.
    void put_sessions_in_order()
    {
        std::vector<order_key> places(plan_.sessions.size());
        bool in_order = true;
        for (std::size_t i = 0; i != places.size(); ++i) {
            places[i] = place_of(plan_.sessions[i]);
            places[i].index = i;
            in_order = in_order && (i == 0 || !(places[i] < places[i - 1]));
        }
        if (in_order) return;
        std::vector<order_key> ranks(places.size());
        sort_keys(places, ranks);
        for (std::size_t rank = 0; rank != places.size(); ++rank)
            ranks[places[rank].index].major = rank;
        std::size_t current = 0;  // the session of the dead letter at `at`
        order_.by_key(0, letters_.size(), [&](const pipeline_dead_letter&, std::size_t at) {
            while (at >= plan_.sessions[current].end()) ++current;
            return ranks[current].major;
        });
        std::vector<redrive_plan::planned_session> sorted;
        sorted.reserve(places.size());
        std::uint64_t offset = 0;
        for (const order_key& place : places) {
            sorted.push_back(std::move(plan_.sessions[place.index]));
            sorted.back().offset = offset;
            offset = sorted.back().end();
        }
        plan_.sessions = std::move(sorted);
    }

    // Half of 2^48, the range of a number within a partition (broker_sequence.hpp).
    static constexpr std::uint64_t half_of_sequence_range = std::uint64_t{1} << 47U;

    std::span<pipeline_dead_letter> letters_;
    const redrive_plan::filter& filter_;
    const redrive_plan::options& options_;
    redrive_plan& plan_;
    dead_letter_order order_;
    // Parts of the current session that are not sent with it. They are added after it.
    std::vector<redrive_plan::planned_session> split_off_;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_SESSION_DETAIL_REDRIVE_PLANNER_HPP
