// SPDX-License-Identifier: MIT
//
// redrive: sends the dead letters of a plan, then removes them. A crash at any point loses none.
//
//     waybill::redrive run(plan, {.chunk = 500});
//     while (!run.over())
//         waybill::match(run.next(now()),
//             [&](redrive::resubmit a)            { run.on(send(letters, a), now()); },
//             [&](redrive::mark_sent a)           { run.on(mark(letters, a), now()); },
//             [&](redrive::remove_dead_letters a) { run.on(remove(letters, a), now()); },
//             [&](wait_until w)                   { sleep_until(w.time); },
//             [&](idle)                           {});
//
// Guarantees (conditions and background: see the guide)
//   1. No dead letter is removed before the broker has accepted all of its session.
//   2. The first dead letter of a session is removed last. It records the last step sent.
//   3. A message that is sent again has the same message id.
//   4. A permanently refused message stops only its session, whose dead letters stay: refused().
//   5. Concurrent redrives of the same dead letters are safe: equal ids, marks that only increase.
// Requires that the queue has no message of these sessions.
// Test: tests/enumerate/session/redrive.test.cpp
// A value without locks: one thread at a time.

#ifndef WAYBILL_SESSION_REDRIVE_HPP
#define WAYBILL_SESSION_REDRIVE_HPP

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/core/act.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/variant.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/session/redrive_plan.hpp>

namespace waybill::inline v0_2 {

/// The actions and events of a `redrive`, which inherits them.
struct redrive_types {
    /// The outcome of a redrive.
    enum class redrive_outcome : std::uint8_t {
        running,
        /// All is sent and removed, except refused sessions and first dead letters that stay.
        finished,
        /// An action has no attempts left, or its fault permits no retry. Plan the rest again.
        stopped,
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(redrive_outcome) noexcept
    {
        return "running, finished, stopped";
    }

    /// Send these dead letters in order, each with `plan.step(letters, i)`. Report `resubmitted`.
    struct resubmit {
        std::uint64_t offset = 0;
        std::uint64_t count = 0;
        friend bool operator==(const resubmit&, const resubmit&) = default;
    };

    /// For each of these sessions with `mark_before_removal`, write `plan.marked(letters, s)`. It
    /// is the first dead letter, with the step up to which the session was sent. Only update an
    /// existing dead letter, to the result of `pipeline_dead_letter::with_mark`. Report
    /// `sessions_marked`; `permanent`: the table never accepts one of them.
    struct mark_sent {
        std::uint64_t session = 0;  ///< Index of the first session in the plan.
        std::uint64_t count = 0;    ///< Number of sessions.
        friend bool operator==(const mark_sent&, const mark_sent&) = default;
    };

    /// Remove these dead letters, all at once or from the last to the first. A missing one counts
    /// as removed. Report `dead_letters_removed`.
    struct remove_dead_letters {
        std::uint64_t offset = 0;
        std::uint64_t count = 0;
        friend bool operator==(const remove_dead_letters&, const remove_dead_letters&) = default;
    };

    /// The broker accepted the first `accepted` dead letters. `kind` is the fault of the next one.
    /// `permanent`: the broker never accepts it, for example for its size.
    struct resubmitted {
        std::uint64_t accepted = 0;
        fault_kind kind = fault_kind::none;
        duration retry_after{};  ///< The broker's "retry after". Zero if it sent no such value.

        friend bool operator==(const resubmitted&, const resubmitted&) = default;
    };

    /// All sessions are marked. With another `kind` than `none`, a mark is not confirmed.
    struct sessions_marked {
        fault_kind kind = fault_kind::none;

        friend bool operator==(const sessions_marked&, const sessions_marked&) = default;
    };

    /// `removed` dead letters are removed, counted from the end of the action. `kind` is the fault
    /// of the next one.
    struct dead_letters_removed {
        std::uint64_t removed = 0;
        fault_kind kind = fault_kind::none;

        friend bool operator==(const dead_letters_removed&, const dead_letters_removed&) = default;
    };

    struct redrive_report;  ///< The report of `redrive_all`.

    friend bool operator==(const redrive_types&, const redrive_types&) = default;
};

struct redrive_policy {
    /// Maximum dead letters in an action, at least 1. Exception: a session that the table may
    /// remove in one request (`redrive_plan::options::removed_at_once`) is removed in one action.
    std::uint64_t chunk = 100;
    /// Attempts of one action. Its jitter is not random: a pause is the middle of its range.
    retry_policy retry{.pauses = {.base = duration::seconds(1), .spread = backoff::jitter::none}};
    /// Maximum messages per second, evenly spaced; 0: no limit. Only `redrive_all` uses it.
    std::uint32_t max_per_second = 0;
    redrive_plan::options options{};  ///< For the plan of `redrive_all`.

    friend bool operator==(const redrive_policy&, const redrive_policy&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(const redrive_policy& p) noexcept
{
    if (p.chunk == 0) return config_error{"chunk", 0, "must be at least", 1};
    if (const auto bad = validate(p.options)) return bad;
    return validate(p.retry);
}

/// The state machine that executes a plan: it sends the dead letters and removes them from the
/// table.
class redrive : public redrive_types {
public:
    using action = variant<resubmit, mark_sent, remove_dead_letters, wait_until, idle>;

    /// Copies the sizes and flags of the sessions to be sent. The plan is not needed after that.
    explicit redrive(const redrive_plan& plan, const redrive_policy& p = {}) : policy_(p)
    {
        if (policy_.chunk == 0) policy_.chunk = 1;
        for (const redrive_plan::planned_session& s : plan.sessions) {
            if (s.reason != redrive_plan::skip_reason::none) break;
            const bool removed_at_once =
                !s.mark_before_removal && !s.marks.independent && !s.marks.unnumbered;
            sessions_.push_back({.end = s.end(),
                                 .first_sent = s.first_sent,
                                 .mark_before_removal = s.mark_before_removal,
                                 .keeps_first = s.keeps_first,
                                 .removed_at_once = removed_at_once});
        }
        begin_round();
    }

    [[nodiscard]] action next(steady_time now) const
    {
        if (over()) return idle{};
        if (now < not_before_) return wait_until{not_before_};
        if (phase_ == phase::send) return resubmit{.offset = position_, .count = send_count()};
        if (phase_ == phase::mark)
            return mark_sent{.session = current_session_, .count = mark_count()};
        const std::uint64_t count = removal_count();
        return remove_dead_letters{.offset = position_ - count, .count = count};
    }

    event_result on(const resubmitted& r, steady_time now)
    {
        if (over() || phase_ != phase::send) return event_result::stale;
        const std::uint64_t requested = send_count();
        if (r.accepted > requested) return event_result::invalid;
        position_ += r.accepted;
        sent_ += r.accepted;
        if (r.accepted == requested) {
            reset_attempts();
            skip_sent();
        } else if (r.kind == fault_kind::permanent) {
            skip_refused_session();
        } else {
            retry_later(r.kind, r.accepted, now, r.retry_after);
        }
        return event_result::applied;
    }

    event_result on(const sessions_marked& m, steady_time now)
    {
        if (over() || phase_ != phase::mark) return event_result::stale;
        if (m.kind == fault_kind::permanent && mark_count() != 1) {
            marks_one_by_one_ = true;
            mark_from(current_session_);
        } else if (m.kind == fault_kind::permanent) {
            refused_.push_back(begin_of(current_session_));
            sessions_[current_session_].mark_refused = true;
            mark_from(current_session_ + 1);
        } else if (m.kind != fault_kind::none) {
            constexpr std::uint64_t confirmed = 0;
            retry_later(m.kind, confirmed, now);
        } else {
            mark_from(current_session_ + mark_count());
        }
        return event_result::applied;
    }

    event_result on(const dead_letters_removed& r, steady_time now)
    {
        if (over() || phase_ != phase::remove) return event_result::stale;
        const std::uint64_t requested = removal_count();
        if (r.removed > requested) return event_result::invalid;
        position_ -= r.removed;
        removed_ += r.removed;
        if (r.removed != requested) {
            retry_later(r.kind, r.removed, now);
        } else {
            reset_attempts();
            skip_kept();
        }
        return event_result::applied;
    }

    [[nodiscard]] redrive_outcome outcome() const noexcept { return outcome_; }
    [[nodiscard]] bool over() const noexcept { return outcome_ != redrive_outcome::running; }
    /// The fault that stopped the redrive; `none` if it was not stopped.
    [[nodiscard]] fault_kind reason() const noexcept { return stop_reason_; }
    /// The number of dead letters that the broker accepted.
    [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
    /// The number of dead letters that were removed.
    [[nodiscard]] std::uint64_t removed() const noexcept { return removed_; }
    /// Indexes of dead letters that the broker never accepts, or whose mark the table never
    /// accepts. Their sessions stay.
    [[nodiscard]] const std::vector<std::uint64_t>& refused() const noexcept { return refused_; }

    friend bool operator==(const redrive&, const redrive&) = default;

private:
    enum class phase : std::uint8_t { send, mark, remove };

    struct session_extent {
        std::uint64_t end = 0;  // one past its last dead letter
        bool first_sent = false;
        bool mark_before_removal = false;
        bool keeps_first = false;
        bool removed_at_once = false;  // the table removes all of it or nothing
        bool mark_refused = false;     // its mark was refused
        friend bool operator==(const session_extent&, const session_extent&) = default;
    };

    [[nodiscard]] std::uint64_t begin_of(std::size_t session) const noexcept
    {
        return session == 0 ? 0 : sessions_[session - 1].end;
    }

    /// The number of dead letters to send next. At most one chunk, and only up to the next dead
    /// letter that an earlier redrive sent.
    [[nodiscard]] std::uint64_t send_count() const noexcept
    {
        std::size_t s = current_session_;
        while (s + 1 != round_end_ && !sessions_[s + 1].first_sent) ++s;
        return detail::lesser(policy_.chunk, sessions_[s].end - position_);
    }

    [[nodiscard]] std::uint64_t mark_count() const noexcept
    {
        return marks_one_by_one_ ? 1 : round_end_ - current_session_;
    }

    /// The number of dead letters in the next removal. At most one chunk, or one session with
    /// `removed_at_once`, and only down to the next dead letter that is kept.
    [[nodiscard]] std::uint64_t removal_count() const noexcept
    {
        std::size_t s = current_session_;
        while (s != round_begin_ && !sessions_[s].keeps_first && !sessions_[s - 1].mark_refused)
            --s;
        const std::uint64_t kept = sessions_[s].keeps_first ? 1 : 0;
        const std::uint64_t all = position_ - begin_of(s) - kept;
        if (s == current_session_ && sessions_[s].removed_at_once) return all;
        return detail::lesser(policy_.chunk, all);
    }

    void reset_attempts() noexcept
    {
        tries_ = 0;
        not_before_ = steady_time::lowest();
    }

    void begin_round()
    {
        reset_attempts();
        round_begin_ = round_end_;
        if (round_begin_ == sessions_.size()) {
            outcome_ = redrive_outcome::finished;
            return;
        }
        position_ = begin_of(round_begin_);
        const std::uint64_t begin = position_;
        ++round_end_;
        while (round_end_ != sessions_.size() && sessions_[round_end_].end - begin <= policy_.chunk)
            ++round_end_;
        next_round_begin_ = round_end_;
        current_session_ = round_begin_;
        phase_ = phase::send;
        skip_sent();
    }

    /// Moves to the next dead letter to be sent. If there is none in this round, begins to mark.
    void skip_sent()
    {
        while (current_session_ != round_end_) {
            if (position_ == begin_of(current_session_) && sessions_[current_session_].first_sent)
                ++position_;
            if (position_ < sessions_[current_session_].end) return;
            ++current_session_;
        }
        begin_marking();
    }

    void begin_marking()
    {
        phase_ = phase::mark;
        marks_one_by_one_ = false;
        mark_from(round_begin_);
    }

    /// Moves to the first session from `session` on that needs a mark. Without one, begins the
    /// removal.
    void mark_from(std::size_t session)
    {
        reset_attempts();
        current_session_ = session;
        for (std::size_t s = session; s != round_end_; ++s) {
            if (!sessions_[s].mark_before_removal) continue;
            if (marks_one_by_one_) current_session_ = s;
            return;
        }
        begin_removing();
    }

    void begin_removing()
    {
        reset_attempts();
        phase_ = phase::remove;
        current_session_ = round_end_;
        position_ = begin_of(current_session_);
        skip_kept();
    }

    /// Moves to the next dead letter to be removed, from the last to the first. If there is none in
    /// this round, begins the next round.
    void skip_kept()
    {
        while (position_ != begin_of(round_begin_)) {
            while (position_ <= begin_of(current_session_)) --current_session_;
            if (sessions_[current_session_].mark_refused) {
                position_ = begin_of(current_session_);
                continue;
            }
            if (position_ - begin_of(current_session_) != 1 ||
                !sessions_[current_session_].keeps_first)
                return;
            --position_;
        }
        round_end_ = next_round_begin_;
        begin_round();
    }

    /// Ends the round before the session of this dead letter. The next round begins after that
    /// session.
    void skip_refused_session()
    {
        refused_.push_back(position_);
        while (sessions_[current_session_].end <= position_) ++current_session_;
        next_round_begin_ = current_session_ + 1;
        round_end_ = current_session_;
        reset_attempts();
        begin_marking();
    }

    /// Retries the action after a pause, or stops the redrive. `done` is the number of dead letters
    /// that the failed attempt has sent or removed. If it is not 0, the attempts are counted again,
    /// and this one is the first.
    void retry_later(fault_kind kind, std::uint64_t done, steady_time now, duration hint = {})
    {
        if (kind == fault_kind::none) kind = fault_kind::transient;  // incomplete without a fault
        if (done != 0) tries_ = 1;
        else if (tries_ != UINT32_MAX) ++tries_;
        const retry_action decision =
            decide(policy_.retry, tries_, kind, middle_of_jitter, now, hint);
        not_before_ = steady_time::lowest();
        if (const auto* wait = get_if<wait_until>(&decision)) not_before_ = wait->time;
        if (holds_alternative<give_up>(decision)) {
            stop_reason_ = kind;
            outcome_ = redrive_outcome::stopped;
        }
    }

    static constexpr double middle_of_jitter = 0.5;

    redrive_policy policy_;
    std::vector<session_extent> sessions_;  // sessions to be sent
    std::vector<std::uint64_t> refused_;    // indexes of dead letters
    phase phase_ = phase::send;
    // Indexes of sessions. A round sends, marks and removes the sessions in [begin, end).
    std::size_t round_begin_ = 0;
    std::size_t round_end_ = 0;
    std::size_t next_round_begin_ = 0;
    std::size_t current_session_ = 0;
    // Index of a dead letter. Phase `send`: all before it are sent. Phase `remove`: all from it on
    // are removed or kept.
    std::uint64_t position_ = 0;
    // Mark one session per action, because a mark of this round was refused.
    bool marks_one_by_one_ = false;
    std::uint32_t tries_ = 0;                         // failed attempts of the current action
    steady_time not_before_ = steady_time::lowest();  // the end of the pause
    fault_kind stop_reason_ = fault_kind::none;
    redrive_outcome outcome_ = redrive_outcome::running;
    std::uint64_t sent_ = 0;
    std::uint64_t removed_ = 0;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_REDRIVE_HPP
