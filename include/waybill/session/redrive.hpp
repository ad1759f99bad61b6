// SPDX-License-Identifier: MIT
//
// redrive: sends the letters of a plan and removes them, so that a crash anywhere loses none.
//
//     waybill::redrive run(plan, {.chunk = 500});
//     while (!run.over())
//         waybill::match(run.next(now()),
//             [&](act::resubmit a)       { run.on(send(letters, a), now()); },
//             [&](act::mark_sent a)      { run.on(mark(letters, a), now()); },
//             [&](act::remove_letters a) { run.on(remove(letters, a), now()); },
//             [&](act::wait w)           { sleep_until(w.until); },
//             [&](act::idle)             {});
//
// It goes round by round, as many whole sessions as fit into a chunk, or one that is larger:
//
//     resubmit (front to back) -> mark_sent -> remove_letters (back to front) -> the next round
//
// What holds:
//   1. no letter is removed before all of its session are accepted. An answer that got lost is no
//      acceptance: the same letters are sent again, under the same ids;
//   2. whatever is left of a session after a crash begins with its first letter. While others of it
//      are removed that one says how far the session was sent, and it is the last to go: without
//      it, steps that were sent look like steps that are lost. It stays where the end of the
//      session is still to come, so that this end finds the same new session;
//   3. what is sent again has the same message id. A broker that drops duplicates makes it exactly
//      once, if it remembers for longer than a redrive may lie still. Beyond that, or without it, a
//      pipeline completes what its session has done, as long as that session is not over; but of
//      independent steps it knows only how many, and runs one that comes again;
//   4. a message that the broker will never take stops its session and no other: the letters of
//      that session all stay, and refused() says so;
//   5. two who redrive the same letters at once do no harm: the ids are the same, and a mark is only
//      ever raised (`merged_mark`);
//   6. begin it when no message of these sessions is left in the queue. A consumer who dies between
//      a letter and its message's completion writes that letter again, and it is sent again.
//
// tests/enumerate/session/redrive.test.cpp tries it, with a consumer beside it.
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
#include <waybill/core/check.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/session/redrive_plan.hpp>
#include <waybill/session/redrive_session.hpp>

namespace waybill::inline v0_2 {

namespace act {

/// Send these letters in their order, each with `plan.step(letters, i)`. Answered by `resubmitted`.
struct resubmit {
    std::uint64_t offset = 0;
    std::uint64_t count = 0;
    friend bool operator==(const resubmit&, const resubmit&) = default;
};

/// Write `plan.marked(letters, s)` for each of these sessions that `marks_first`: its first letter,
/// with how far it was sent. Only a letter that is there is written, merged with that one by
/// `merged_mark`. Answered by `sessions_marked`; `permanent`: one of them is never taken.
struct mark_sent {
    std::uint64_t session = 0;  ///< The first of them in the plan,
    std::uint64_t count = 0;    ///< and how many.
    friend bool operator==(const mark_sent&, const mark_sent&) = default;
};

/// Remove these letters, all at once or from the last to the first. One that is not there is
/// removed. Answered by `letters_removed`.
struct remove_letters {
    std::uint64_t offset = 0;
    std::uint64_t count = 0;
    friend bool operator==(const remove_letters&, const remove_letters&) = default;
};

}  // namespace act

/// The first `accepted` of the letters were accepted for sure; `how` says what kept the next one
/// from it. `permanent`: it is never taken, say for its size.
struct resubmitted {
    std::uint64_t accepted = 0;
    fault_class how = fault_class::none;

    friend bool operator==(const resubmitted&, const resubmitted&) = default;
};

/// All are marked, or that is not sure.
struct sessions_marked {
    fault_class how = fault_class::none;

    friend bool operator==(const sessions_marked&, const sessions_marked&) = default;
};

/// So many of the letters, counted from the last, are removed for sure.
struct letters_removed {
    std::uint64_t removed = 0;
    fault_class how = fault_class::none;

    friend bool operator==(const letters_removed&, const letters_removed&) = default;
};

struct redrive_policy {
    /// Most letters an action, but for a session that its table removes at once.
    std::uint64_t chunk = 100;
    retry_policy retry{.pauses = {.spread = jitter::none}};  ///< Of one action.

    friend bool operator==(const redrive_policy&, const redrive_policy&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> check(const redrive_policy& p) noexcept
{
    if (p.chunk == 0) return config_error{"chunk", 0, "must be at least", 1};
    return check(p.retry);
}

/// Where a redrive has come to.
enum class redrive_end : std::uint8_t {
    running,
    finished,  ///< All is sent and removed, but for what was refused.
    stopped,   ///< Tries are used up, or it was told to stop. Make another plan of what is left.
};

[[nodiscard]] constexpr std::string_view name(redrive_end e) noexcept
{
    switch (e) {
        case redrive_end::running: return "running";
        case redrive_end::finished: return "finished";
        case redrive_end::stopped: return "stopped";
    }
    return "?";
}

class redrive {
public:
    using action = std::variant<act::resubmit, act::mark_sent, act::remove_letters, act::wait,
                                act::idle>;

    /// Of the plan only the sizes of its sessions are kept.
    explicit redrive(const redrive_plan& plan, const redrive_policy& p = {}) : policy_(p)
    {
        if (policy_.chunk == 0) policy_.chunk = 1;
        for (const redrive_session& s : plan.sessions) {
            if (s.held != held_back::no) break;
            const bool at_once = !s.marks_first && !s.marks.alone && !s.marks.unstamped;
            sessions_.push_back({s.end(), s.first_sent, s.marks_first, s.keeps_first, at_once});
        }
        begin_round();
    }

    [[nodiscard]] action next(steady_time now) const
    {
        if (over()) return act::idle{};
        if (now < not_before_) return act::wait{not_before_};
        if (phase_ == phase::send) return act::resubmit{at_, to_send()};
        if (phase_ == phase::mark) return act::mark_sent{session_, to_mark()};
        const std::uint64_t count = to_remove();
        return act::remove_letters{at_ - count, count};
    }

    heard on(const resubmitted& r, steady_time now)
    {
        if (over() || phase_ != phase::send) return heard::late;
        const std::uint64_t asked = to_send();
        if (r.accepted > asked) return heard::invalid;
        at_ += r.accepted;
        sent_ += r.accepted;
        if (r.accepted == asked) {
            go_on();
            skip_sent();
        } else if (r.how == fault_class::permanent) {
            refuse();
        } else {
            again(r.how, r.accepted, now);
        }
        return heard::taken;
    }

    heard on(const sessions_marked& m, steady_time now)
    {
        if (over() || phase_ != phase::mark) return heard::late;
        if (m.how == fault_class::permanent && to_mark() != 1) {
            one_by_one_ = true;
            mark_behind(session_);
        } else if (m.how == fault_class::permanent) {
            refused_.push_back(begin_of(session_));
            sessions_[session_].stays = true;
            mark_behind(session_ + 1);
        } else if (m.how != fault_class::none) {
            again(m.how, 0, now);
        } else {
            mark_behind(session_ + to_mark());
        }
        return heard::taken;
    }

    heard on(const letters_removed& r, steady_time now)
    {
        if (over() || phase_ != phase::remove) return heard::late;
        const std::uint64_t asked = to_remove();
        if (r.removed > asked) return heard::invalid;
        at_ -= r.removed;
        removed_ += r.removed;
        if (r.removed != asked) {
            again(r.how, r.removed, now);
        } else {
            go_on();
            skip_kept();
        }
        return heard::taken;
    }

    [[nodiscard]] redrive_end end() const noexcept { return state_; }
    [[nodiscard]] bool over() const noexcept { return state_ != redrive_end::running; }
    /// What it was stopped for.
    [[nodiscard]] fault_class why() const noexcept { return why_; }
    /// Letters that were accepted for sure,
    [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
    /// and that were removed for sure.
    [[nodiscard]] std::uint64_t removed() const noexcept { return removed_; }
    /// The letters that the broker, or marked the table, never takes. Those of their sessions stay.
    [[nodiscard]] const std::vector<std::uint64_t>& refused() const noexcept { return refused_; }

    friend bool operator==(const redrive&, const redrive&) = default;

private:
    enum class phase : std::uint8_t { send, mark, remove };

    struct extent {
        std::uint64_t end = 0;  // one behind its letters
        bool first_sent = false;
        bool marks_first = false;
        bool keeps_first = false;
        bool at_once = false;  // a table removes all of it or nothing
        bool stays = false;    // its mark was refused
        friend bool operator==(const extent&, const extent&) = default;
    };

    [[nodiscard]] std::uint64_t begin_of(std::size_t session) const noexcept
    {
        return session == 0 ? 0 : sessions_[session - 1].end;
    }

    /// Up to the next letter that was sent before.
    [[nodiscard]] std::uint64_t to_send() const noexcept
    {
        std::size_t s = session_;
        while (s + 1 != last_ && !sessions_[s + 1].first_sent) ++s;
        return lesser(policy_.chunk, sessions_[s].end - at_);
    }

    [[nodiscard]] std::uint64_t to_mark() const noexcept
    {
        return one_by_one_ ? 1 : last_ - session_;
    }

    /// Down to the next letter that stays.
    [[nodiscard]] std::uint64_t to_remove() const noexcept
    {
        std::size_t s = session_;
        while (s != first_ && !sessions_[s].keeps_first && !sessions_[s - 1].stays) --s;
        const std::uint64_t kept = sessions_[s].keeps_first ? 1 : 0;
        const std::uint64_t all = at_ - begin_of(s) - kept;
        return s == session_ && sessions_[s].at_once ? all : lesser(policy_.chunk, all);
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
            state_ = redrive_end::finished;
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

    /// To the next letter to be sent, or on to the marks.
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

    /// From this session on, or on to the removal where none of them is marked.
    void mark_behind(std::size_t session)
    {
        go_on();
        session_ = session;
        for (std::size_t s = session; s != last_; ++s) {
            if (!sessions_[s].marks_first) continue;
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

    /// To the next letter to be removed, from behind, or on to the next round.
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

    /// The round ends before the session of this letter, and the next one begins behind it.
    void refuse()
    {
        refused_.push_back(at_);
        while (sessions_[session_].end <= at_) ++session_;
        next_ = session_ + 1;
        last_ = session_;
        go_on();
        begin_marking();
    }

    /// Answers in full or in part failed. What was done in part counts as a try that went well.
    void again(fault_class how, std::uint64_t done, steady_time now)
    {
        if (how == fault_class::none) how = fault_class::transient;  // not done, and says nothing
        tries_ = done != 0 ? 1 : tries_ == UINT32_MAX ? tries_ : tries_ + 1;
        const retry_action then = decide(policy_.retry, tries_, how, 0.5, now);
        not_before_ = steady_time::lowest();
        if (const auto* w = std::get_if<act::wait>(&then)) not_before_ = w->until;
        if (std::holds_alternative<act::give_up>(then)) {
            why_ = how;
            state_ = redrive_end::stopped;
        }
    }

    redrive_policy policy_;
    std::vector<extent> sessions_;  // those to be sent
    std::vector<std::uint64_t> refused_;
    phase phase_ = phase::send;
    std::size_t first_ = 0;         // sessions of this round,
    std::size_t last_ = 0;          // one behind them,
    std::size_t next_ = 0;          // and the first of the next round
    std::size_t session_ = 0;       // the one that is at work
    std::uint64_t at_ = 0;          // sent up to here; then not yet removed up to here
    bool one_by_one_ = false;       // marked, since one of this round is never taken
    std::uint32_t tries_ = 0;
    steady_time not_before_ = steady_time::lowest();
    fault_class why_ = fault_class::none;
    redrive_end state_ = redrive_end::running;
    std::uint64_t sent_ = 0;
    std::uint64_t removed_ = 0;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_REDRIVE_HPP
