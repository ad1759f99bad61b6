// SPDX-License-Identifier: MIT
//
// settle_audit: settle_batches beside a naive record of decisions, calls, answers and reports.
//
// Each action is compared with the record, and each answer is recorded by the documented rules. The
// first broken rule is kept as a text. The machine is a parameter, so that mutants can be tested.

#ifndef WAYBILL_TESTS_SUPPORT_SETTLE_AUDIT_HPP
#define WAYBILL_TESTS_SUPPORT_SETTLE_AUDIT_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <waybill/queue/settle_batches.hpp>

namespace tests_support {

template <class Machine>
class settle_audit_of {
public:
    explicit settle_audit_of(const waybill::settle_batches::config& p) : policy_(p), machine_(p) {}

    void decide(waybill::settle_batches::settle_kind kind, waybill::duration left,
                waybill::steady_time now)
    {
        machine_.on(waybill::settle_batches::decided{kind, left}, now);
        record_.push_back({kind, state::waiting, {}, {}, 0, now, now + left, now});
        no_more_ = false;
    }

    void no_more(waybill::steady_time now)
    {
        const auto result = machine_.on(waybill::settle_batches::last_decided{}, now);
        const bool any = unreported() != 0;
        if ((result == waybill::event_result::applied) != any)
            breaks("last_decided is taken where nothing waits, or late where something does");
        no_more_ = any;
    }

    /// The machine's next action, checked. A report is acknowledged at once.
    waybill::settle_batches::action next(waybill::steady_time now)
    {
        const auto a = machine_.next(now);
        if (!(machine_.next(now) == a)) breaks("next differs when called again");
        if (const auto* b = waybill::get_if<waybill::settle_batches::settle_batch>(&a))
            check_call(*b, now);
        if (const auto* r = waybill::get_if<waybill::settle_batches::report>(&a))
            check_report(*r, now);
        if (const auto* w = waybill::get_if<waybill::wait_until>(&a)) check_wait(w->time, now);
        if (waybill::holds_alternative<waybill::idle>(a)) {
            for (const entry& e : record_) {
                if (e.at == state::waiting || e.at == state::ended)
                    breaks("idle, and there is something to do");
            }
        }
        if (machine_.size() != unreported())
            breaks("the number of messages differs from the record");
        return a;
    }

    void started(const waybill::settle_batches::settle_batch& b, waybill::steady_time now)
    {
        machine_.on(waybill::settle_batches::batch_started{b.call, b.items}, now);
        begun_.insert(b.call);
        for (const std::uint64_t item : b.items) record_[item].at = state::called;
    }

    void answer(const waybill::settle_batches::batch_settled& s, waybill::steady_time now)
    {
        machine_.on(s, now);
        begun_.insert(s.call);
        const Machine once = machine_;
        if (machine_.on(s, now) != waybill::event_result::stale || !(machine_ == once))
            breaks("an answer counts twice");
        for (std::size_t i = 0; i != s.items.size(); ++i) {
            waybill::fault_kind how = s.kind;
            if (how == waybill::fault_kind::none) {
                for (auto f = s.failed.rbegin(); f != s.failed.rend(); ++f) {
                    if (f->index == i) how = f->kind;
                }
            }
            note(record_[s.items[i]], how, s.random, now);
        }
    }

    [[nodiscard]] std::uint64_t unreported() const
    {
        std::uint64_t n = 0;
        for (const entry& e : record_) n += e.at == state::reported ? 0U : 1U;
        return n;
    }
    [[nodiscard]] const std::string& broken() const { return broken_; }
    [[nodiscard]] Machine& machine() { return machine_; }
    [[nodiscard]] std::uint64_t calls() const { return calls_; }
    [[nodiscard]] std::uint64_t ends(waybill::settle_batches::settle_outcome e) const
    {
        std::uint64_t n = 0;
        for (const entry& one : record_) n += one.at == state::reported && one.end == e ? 1U : 0U;
        return n;
    }

private:
    enum class state : std::uint8_t { waiting, called, ended, reported };

    struct entry {
        waybill::settle_batches::settle_kind kind;
        state at;
        waybill::settle_batches::settle_outcome end;
        waybill::fault_kind fault;
        std::uint32_t tries;
        waybill::steady_time since;
        waybill::steady_time locked_until;
        waybill::steady_time not_before;
    };

    void breaks(const char* rule)
    {
        if (broken_.empty()) broken_ = rule;
    }

    [[nodiscard]] std::uint64_t limit() const { return policy_.items == 0 ? 1 : policy_.items; }
    [[nodiscard]] std::uint32_t tries() const { return policy_.tries == 0 ? 1 : policy_.tries; }

    [[nodiscard]] static bool expired(const entry& e, waybill::steady_time t)
    {
        if (e.at != state::waiting || e.locked_until > t) return false;
        return e.kind != waybill::settle_batches::settle_kind::complete || e.tries != 0;
    }

    [[nodiscard]] static bool ready(const entry& e, waybill::settle_batches::settle_kind k,
                                    waybill::steady_time t)
    {
        return e.kind == k && e.at == state::waiting && e.not_before <= t;
    }

    // True if it must not wait for further messages.
    [[nodiscard]] bool urgent(const entry& e, waybill::steady_time t) const
    {
        return e.tries != 0 || no_more_ || e.since + policy_.linger <= t ||
               e.locked_until - policy_.to_settle <= t;
    }

    [[nodiscard]] bool is_due(waybill::settle_batches::settle_kind k, waybill::steady_time t) const
    {
        std::uint64_t n = 0;
        for (const entry& e : record_) {
            if (!ready(e, k, t)) continue;
            ++n;
            if (urgent(e, t)) return true;
        }
        return n >= limit();
    }

    [[nodiscard]] waybill::steady_time first_lock(waybill::settle_batches::settle_kind k,
                                                  waybill::steady_time t) const
    {
        auto first = waybill::steady_time::highest();
        for (const entry& e : record_) {
            if (ready(e, k, t)) first = waybill::detail::earlier(first, e.locked_until);
        }
        return first;
    }

    [[nodiscard]] bool something_to_do(waybill::steady_time t) const
    {
        for (const entry& e : record_) {
            if (e.at == state::ended || expired(e, t)) return true;
        }
        for (const auto k : waybill::settle_batches::settle_kinds) {
            if (is_due(k, t)) return true;
        }
        return false;
    }

    void check_call(const waybill::settle_batches::settle_batch& b, waybill::steady_time now)
    {
        ++calls_;
        if (b.items.empty() || b.items.size() > limit())
            breaks("a call is empty, or has more than its limit");
        if (!is_due(b.kind, now)) breaks("a call is not due");
        for (const auto k : waybill::settle_batches::settle_kinds) {
            if (is_due(k, now) && first_lock(k, now) < first_lock(b.kind, now))
                breaks("another call has less time left");
        }
        if (begun_.count(b.call) != 0) breaks("a call has the number of another one");
        // The ready messages whose locks end first, in the order of their decisions.
        std::set<std::pair<waybill::steady_time, std::uint64_t>> by_lock;
        for (std::size_t i = 0; i != record_.size(); ++i) {
            if (expired(record_[i], now)) breaks("a call comes before a report");
            if (ready(record_[i], b.kind, now)) by_lock.insert({record_[i].locked_until, i});
        }
        std::set<std::uint64_t> expected;
        for (const auto& [lock, i] : by_lock) {
            if (expected.size() != limit()) expected.insert(i);
        }
        if (b.items != std::vector<std::uint64_t>(expected.begin(), expected.end())) {
            breaks("a call does not contain the most urgent ready messages");
        }
        for (const std::uint64_t item : b.items) {
            if (record_[item].tries >= tries()) breaks("a message is tried too often");
        }
    }

    void check_report(const waybill::settle_batches::report& r, waybill::steady_time now)
    {
        if (r.item >= record_.size()) return breaks("a report of an unknown message");
        entry& e = record_[r.item];
        if (expired(e, now)) {
            e.at = state::ended;
            e.end = waybill::settle_batches::settle_outcome::lost;
        }
        if (e.at != state::ended)
            breaks("a report of a message that is not finished, or is reported already");
        if (r.outcome != e.end || r.kind != e.kind || r.fault != e.fault || r.tries != e.tries)
            breaks("a report has a wrong outcome");
        e.at = state::reported;
        const auto earlier = waybill::steady_time::lowest();  // the clock may go back
        if (machine_.on(waybill::settle_batches::reported{r.item}, earlier) !=
            waybill::event_result::applied)
            breaks("a report is not taken");
        if (machine_.on(waybill::settle_batches::reported{r.item}, now) !=
            waybill::event_result::stale)
            breaks("a report is taken twice");
        if (unreported() == 0) no_more_ = false;
    }

    void check_wait(waybill::steady_time until, waybill::steady_time now)
    {
        if (something_to_do(now)) breaks("waits, and there is something to do");
        std::set<waybill::steady_time> times;
        for (const entry& e : record_) {
            if (e.at != state::waiting) continue;
            for (const auto t : {e.not_before, e.since + policy_.linger,
                                 e.locked_until - policy_.to_settle, e.locked_until}) {
                if (t > now) times.insert(t);
            }
        }
        for (const auto t : times) {
            if (!something_to_do(t)) continue;
            if (t != until) breaks("wait_until is not the time of the first action");
            return;
        }
        breaks("waits for nothing");
    }

    void note(entry& e, waybill::fault_kind how, double draw, waybill::steady_time now)
    {
        if (e.at == state::ended || e.at == state::reported) return;
        ++e.tries;
        e.fault = how;
        e.at = state::ended;
        switch (how) {
            case waybill::fault_kind::none:
                e.end = waybill::settle_batches::settle_outcome::done;
                return;
            case waybill::fault_kind::ownership_lost:
                e.end = waybill::settle_batches::settle_outcome::lost;
                return;
            case waybill::fault_kind::permanent:
            case waybill::fault_kind::cancelled:
                e.end = waybill::settle_batches::settle_outcome::given_up;
                return;
            case waybill::fault_kind::transient:
            case waybill::fault_kind::infrastructure: break;
        }
        e.end = waybill::settle_batches::settle_outcome::given_up;
        if (e.tries >= tries()) return;
        e.end = waybill::settle_batches::settle_outcome::lost;
        if (e.locked_until - policy_.to_settle <= now) return;
        e.at = state::waiting;
        e.not_before = waybill::detail::earlier(now + waybill::pause(policy_.pauses, e.tries, draw),
                                                e.locked_until - policy_.to_settle);
    }

    waybill::settle_batches::config policy_;
    Machine machine_;
    std::vector<entry> record_;
    bool no_more_ = false;
    std::uint64_t calls_ = 0;
    std::set<std::uint64_t> begun_;
    std::string broken_;
};

using settle_audit = settle_audit_of<waybill::settle_batches>;

}  // namespace tests_support

#endif  // WAYBILL_TESTS_SUPPORT_SETTLE_AUDIT_HPP
