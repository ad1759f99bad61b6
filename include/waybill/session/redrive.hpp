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
//   2. The first dead letter of a session is removed last. It records how far the session was sent.
//   3. A message that is sent again has the same message id.
//   4. A permanently refused message stops only its session, whose dead letters stay: refused().
//   5. Concurrent redrives of the same dead letters are safe: equal ids, marks that only increase.
// Requires no queued message of these sessions. Test: tests/enumerate/session/redrive.test.cpp
// A value without locks: one thread at a time.

#ifndef WAYBILL_SESSION_REDRIVE_HPP
#define WAYBILL_SESSION_REDRIVE_HPP

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <waybill/core/act.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
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

    /// For each of these sessions with `mark_before_removal`, write `plan.marked(letters, s)`: the
    /// first dead letter, with the step up to which the session was sent. Only update an existing
    /// dead letter, to the result of `pipeline_dead_letter::with_mark`. Report `sessions_marked`;
    /// `permanent`: the table never accepts one of them.
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

        friend bool operator==(const resubmitted&, const resubmitted&) = default;
    };

    /// All sessions are marked. With another `kind` than `none`, a mark is not confirmed.
    struct sessions_marked {
        fault_kind kind = fault_kind::none;

        friend bool operator==(const sessions_marked&, const sessions_marked&) = default;
    };

    /// The last `removed` dead letters of the action are removed. `kind` is the fault of the next
    /// one.
    struct dead_letters_removed {
        std::uint64_t removed = 0;
        fault_kind kind = fault_kind::none;

        friend bool operator==(const dead_letters_removed&, const dead_letters_removed&) = default;
    };

    friend bool operator==(const redrive_types&, const redrive_types&) = default;
};

struct redrive_policy {
    /// Maximum dead letters in an action, at least 1. A removal is larger if the table removes a
    /// longer session in one atomic request.
    std::uint64_t chunk = 100;
    retry_policy retry{.pauses = {.spread = backoff::jitter::none}};  ///< Attempts of one action.

    friend bool operator==(const redrive_policy&, const redrive_policy&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(const redrive_policy& p) noexcept
{
    if (p.chunk == 0) return config_error{"chunk", 0, "must be at least", 1};
    return validate(p.retry);
}

class redrive : public redrive_types {
public:
    using action = std::variant<resubmit, mark_sent, remove_dead_letters, wait_until, idle>;

    /// Copies the sizes and flags of the sessions to be sent. The plan is not needed after that.
    explicit redrive(const redrive_plan& plan, const redrive_policy& p = {}) : policy_(p)
    {
        if (policy_.chunk == 0) policy_.chunk = 1;
        for (const redrive_plan::planned_session& s : plan.sessions) {
            if (s.held != redrive_plan::skip_reason::none) break;
            const bool at_once = !s.mark_before_removal && !s.marks.alone && !s.marks.unnumbered;
            sessions_.push_back(
                {s.end(), s.first_sent, s.mark_before_removal, s.keeps_first, at_once});
        }
        begin_round();
    }

    [[nodiscard]] action next(steady_time now) const
    {
        if (over()) return idle{};
        if (now < not_before_) return wait_until{not_before_};
        if (phase_ == phase::send) return resubmit{at_, to_send()};
        if (phase_ == phase::mark) return mark_sent{session_, to_mark()};
        const std::uint64_t count = to_remove();
        return remove_dead_letters{at_ - count, count};
    }

    event_result on(const resubmitted& r, steady_time now)
    {
        if (over() || phase_ != phase::send) return event_result::stale;
        const std::uint64_t asked = to_send();
        if (r.accepted > asked) return event_result::invalid;
        at_ += r.accepted;
        sent_ += r.accepted;
        if (r.accepted == asked) {
            go_on();
            skip_sent();
        } else if (r.kind == fault_kind::permanent) {
            refuse();
        } else {
            again(r.kind, r.accepted, now);
        }
        return event_result::applied;
    }

    event_result on(const sessions_marked& m, steady_time now)
    {
        if (over() || phase_ != phase::mark) return event_result::stale;
        if (m.kind == fault_kind::permanent && to_mark() != 1) {
            one_by_one_ = true;
            mark_behind(session_);
        } else if (m.kind == fault_kind::permanent) {
            refused_.push_back(begin_of(session_));
            sessions_[session_].stays = true;
            mark_behind(session_ + 1);
        } else if (m.kind != fault_kind::none) {
            again(m.kind, 0, now);
        } else {
            mark_behind(session_ + to_mark());
        }
        return event_result::applied;
    }

    event_result on(const dead_letters_removed& r, steady_time now)
    {
        if (over() || phase_ != phase::remove) return event_result::stale;
        const std::uint64_t asked = to_remove();
        if (r.removed > asked) return event_result::invalid;
        at_ -= r.removed;
        removed_ += r.removed;
        if (r.removed != asked) {
            again(r.kind, r.removed, now);
        } else {
            go_on();
            skip_kept();
        }
        return event_result::applied;
    }

    [[nodiscard]] redrive_outcome outcome() const noexcept { return state_; }
    [[nodiscard]] bool over() const noexcept { return state_ != redrive_outcome::running; }
    /// The fault that stopped the redrive; `none` if it was not stopped.
    [[nodiscard]] fault_kind reason() const noexcept { return why_; }
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

    struct extent {
        std::uint64_t end = 0;  // one past its last dead letter
        bool first_sent = false;
        bool mark_before_removal = false;
        bool keeps_first = false;
        bool at_once = false;  // the table removes all of it or nothing
        bool stays = false;    // its mark was refused
        friend bool operator==(const extent&, const extent&) = default;
    };

    [[nodiscard]] std::uint64_t begin_of(std::size_t session) const noexcept
    {
        return session == 0 ? 0 : sessions_[session - 1].end;
    }

    /// At most one chunk, and only up to the next dead letter that was sent before.
    [[nodiscard]] std::uint64_t to_send() const noexcept
    {
        std::size_t s = session_;
        while (s + 1 != last_ && !sessions_[s + 1].first_sent) ++s;
        return detail::lesser(policy_.chunk, sessions_[s].end - at_);
    }

    [[nodiscard]] std::uint64_t to_mark() const noexcept
    {
        return one_by_one_ ? 1 : last_ - session_;
    }

    /// At most one chunk or one session removed at once, and only down to the next dead letter that
    /// stays.
    [[nodiscard]] std::uint64_t to_remove() const noexcept
    {
        std::size_t s = session_;
        while (s != first_ && !sessions_[s].keeps_first && !sessions_[s - 1].stays) --s;
        const std::uint64_t kept = sessions_[s].keeps_first ? 1 : 0;
        const std::uint64_t all = at_ - begin_of(s) - kept;
        return s == session_ && sessions_[s].at_once ? all : detail::lesser(policy_.chunk, all);
    }

    void go_on() noexcept
    {
        tries_ = 0;
        not_before_ = steady_time::lowest();
    }

    void begin_round()
    {
        go_on();
        first_ = last_;
        if (first_ == sessions_.size()) {
            state_ = redrive_outcome::finished;
            return;
        }
        at_ = begin_of(first_);
        const std::uint64_t begin = at_;
        ++last_;
        while (last_ != sessions_.size() && sessions_[last_].end - begin <= policy_.chunk) ++last_;
        next_ = last_;
        session_ = first_;
        phase_ = phase::send;
        skip_sent();
    }

    /// Moves to the next dead letter to be sent, or to the marks.
    void skip_sent()
    {
        while (session_ != last_) {
            if (at_ == begin_of(session_) && sessions_[session_].first_sent) ++at_;
            if (at_ < sessions_[session_].end) return;
            ++session_;
        }
        begin_marking();
    }

    void begin_marking()
    {
        phase_ = phase::mark;
        one_by_one_ = false;
        mark_behind(first_);
    }

    /// Marks from this session on. If no session is left to be marked, moves to the removal.
    void mark_behind(std::size_t session)
    {
        go_on();
        session_ = session;
        for (std::size_t s = session; s != last_; ++s) {
            if (!sessions_[s].mark_before_removal) continue;
            if (one_by_one_) session_ = s;
            return;
        }
        begin_removing();
    }

    void begin_removing()
    {
        go_on();
        phase_ = phase::remove;
        session_ = last_;
        at_ = begin_of(session_);
        skip_kept();
    }

    /// Moves to the next dead letter to be removed, from the last to the first, or to the next
    /// round.
    void skip_kept()
    {
        while (at_ != begin_of(first_)) {
            while (at_ <= begin_of(session_)) --session_;
            if (sessions_[session_].stays) {
                at_ = begin_of(session_);
                continue;
            }
            if (at_ - begin_of(session_) != 1 || !sessions_[session_].keeps_first) return;
            --at_;
        }
        last_ = next_;
        begin_round();
    }

    /// Ends the round before the session of this dead letter. The next round begins after that
    /// session.
    void refuse()
    {
        refused_.push_back(at_);
        while (sessions_[session_].end <= at_) ++session_;
        next_ = session_ + 1;
        last_ = session_;
        go_on();
        begin_marking();
    }

    /// Retries after a failure. If a part was done, this attempt is the first one again.
    void again(fault_kind kind, std::uint64_t done, steady_time now)
    {
        if (kind == fault_kind::none) kind = fault_kind::transient;  // not done, with no reason
        tries_ = done != 0 ? 1 : tries_ == UINT32_MAX ? tries_ : tries_ + 1;
        const retry_action then = decide(policy_.retry, tries_, kind, 0.5, now);
        not_before_ = steady_time::lowest();
        if (const auto* w = std::get_if<wait_until>(&then)) not_before_ = w->time;
        if (std::holds_alternative<give_up>(then)) {
            why_ = kind;
            state_ = redrive_outcome::stopped;
        }
    }

    redrive_policy policy_;
    std::vector<extent> sessions_;  // sessions to be sent
    std::vector<std::uint64_t> refused_;
    phase phase_ = phase::send;
    std::size_t first_ = 0;    // first session of this round
    std::size_t last_ = 0;     // one past the last session of this round
    std::size_t next_ = 0;     // first session of the next round
    std::size_t session_ = 0;  // current session
    std::uint64_t at_ = 0;     // sent up to here; in the removal: not yet removed up to here
    // mark one session per action, because a mark of this round was refused
    bool one_by_one_ = false;
    std::uint32_t tries_ = 0;
    steady_time not_before_ = steady_time::lowest();
    fault_kind why_ = fault_kind::none;
    redrive_outcome state_ = redrive_outcome::running;
    std::uint64_t sent_ = 0;
    std::uint64_t removed_ = 0;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_REDRIVE_HPP
