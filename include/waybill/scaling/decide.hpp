// SPDX-License-Identifier: MIT
//
// decide: how many instances there shall be, and why.
//
//     const scaling::reading known[]{scaling::read("orders", orders.query(now)),
//                                    scaling::read("age", age.query(now))};
//     scaling::decision d = scaling::decide(policy, known, state, instances, now);
//     // d.verdict, d.from, d.to, d.why, d.until, d.because
//     state.on(d);
//
// It is a pure function: a dry run is one whose decision is thrown away, and the same facts give
// the same decision, today and in a test. What is wanted goes through these steps in this order,
// and each can only hold it back, never turn it round:
//
//   1. rules and targets say what is wanted. More, where a rule up holds or a target needs more;
//      fewer, where the rule down holds, every target agrees, and no rule up holds or could hold:
//      what is unknown never takes an instance away;
//   2. more or fewer than the policy allows is brought within its bounds at once;
//   3. while a command has no answer, and for a while behind a failure, nothing is done;
//   4. a direction may be disabled, and nothing goes while new instances warm up;
//   5. stabilisation: what was not asked for long enough is held; and never beyond the bounds;
//   6. flapping: where fewer instances would be asked to become more at once (the rules are asked
//      again, with the load that those would have), as many go as do not, or none;
//   7. rate limits, from what was applied; 8. cooldowns, likewise.
//
// The first instance is started where `activation` holds, if more are allowed at all, and waits for
// nothing but a command that is pending or failed a short while ago.
// All may go, and not only as many as the rules say, where `activation` has said no for
// `zero_after`. As in KEDA, steps 5 to 7 do not apply then: they are for the instances that stay.

#ifndef WAYBILL_SCALING_DECIDE_HPP
#define WAYBILL_SCALING_DECIDE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <waybill/core/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/scaling/change.hpp>
#include <waybill/scaling/condition.hpp>
#include <waybill/scaling/decision.hpp>
#include <waybill/scaling/desired.hpp>
#include <waybill/scaling/policy.hpp>
#include <waybill/scaling/reading.hpp>
#include <waybill/scaling/state.hpp>

namespace waybill::inline v0_2::scaling {

namespace detail {

/// One decision in the making. Each step may bring `d.to` nearer to `d.from`, and then says why.
template <condition Up, condition Down>
class deciding {
public:
    deciding(const basic_policy<Up, Down>& p, std::span<const reading> metrics, const state& s,
             std::uint64_t instances, wall_time now)
        : p_(p), metrics_(metrics), s_(s)
    {
        d_.from = d_.desired = d_.to = instances;
        d_.now = now;
        d_.stabilise = p.stabilise;
        d_.warm_up = p.warm_up;
    }

    [[nodiscard]] decision made() &&
    {
        want();
        if (d_.to != d_.from) hold_back();
        if (d_.to > d_.from) d_.verdict = verdict::up;
        else if (d_.to < d_.from) d_.verdict = verdict::down;
        else if (d_.why != reason::nothing && !is_lowest_wanted()) d_.verdict = verdict::held;
        if (d_.to != d_.from) {
            d_.command = command{saturating_add(s_.last_id, 1), d_.from, d_.to};
        }
        return std::move(d_);
    }

private:
    [[nodiscard]] std::uint64_t lowest() const { return p_.instances.lowest; }
    [[nodiscard]] std::uint64_t highest() const
    {
        const std::uint64_t most = greater(p_.instances.lowest, p_.instances.highest);
        return p_.ladder.empty() ? most : lesser(most, p_.ladder.size() - 1);
    }
    [[nodiscard]] std::uint64_t capacity(std::uint64_t at) const
    {
        return capacity_at(p_.ladder, at);
    }
    [[nodiscard]] bool is_outside() const { return d_.from < lowest() || d_.from > highest(); }
    [[nodiscard]] bool is_up() const { return d_.to > d_.from; }
    /// As few as there may be, and more are not wanted: that is no news.
    [[nodiscard]] bool is_lowest_wanted() const
    {
        return d_.why == reason::bounds && d_.from == lowest() && d_.desired < d_.from;
    }
    /// Whether it was less than `wait` ago. What is in the future, as after a clock was set back,
    /// was not long ago; but who does not want to wait does not.
    [[nodiscard]] bool is_within(duration wait, wall_time last) const
    {
        return wait > duration{} && d_.now - last < wait;
    }
    [[nodiscard]] bool is_warming() const { return s_.warm_at && d_.now < *s_.warm_at; }

    [[nodiscard]] situation situation_at(std::uint64_t at) const
    {
        const auto now = static_cast<double>(capacity(d_.from));
        const auto then = static_cast<double>(capacity(at));
        return {.metrics = metrics_, .instances = capacity(at), .now = d_.now,
                .min_points = p_.min_points, .max_age = p_.max_age,
                .load = at == d_.from ? 1.0 : now / then};
    }

    void limit(std::uint64_t to, reason why, std::optional<wall_time> until = {})
    {
        if (to == d_.to) return;
        d_.to = to;
        d_.why = why;
        d_.until = until;
    }
    void hold(reason why, std::optional<wall_time> until = {}) { limit(d_.from, why, until); }

    /// 1.
    void want()
    {
        const std::uint64_t ready = is_warming() ? lesser(s_.ready, d_.from) : d_.from;
        const wishes w = ask(p_, situation_at(d_.from), ready, d_.from, d_.because);
        d_.up = w.up;
        d_.down = w.down;
        d_.activation = w.activation;
        if (d_.from == 0 && p_.activation && p_.ladder.empty()) want_first(w);
        else want_change(w);
        d_.to = d_.desired;
        if (is_outside()) {
            d_.to = d_.desired < lowest() ? lowest() : lesser(d_.desired, highest());
            d_.why = reason::bounds;
        } else if (d_.from == lowest() && d_.desired < d_.from) {
            hold(reason::bounds);
        }
    }

    void want_first(const wishes& w)
    {
        if (w.activation == truth::yes) d_.desired = greater(w.target.value_or(0), 1);
        else if (w.activation == truth::unknown) unknown();
    }

    void want_change(const wishes& w)
    {
        if (w.above > d_.from) d_.desired = w.above;
        if (w.target && *w.target > d_.desired) d_.desired = *w.target;
        if (d_.desired > d_.from) return;
        if (w.up == truth::yes) return;  // as many as it asks for are warming up
        if (!is_set(p_.down) && p_.targets.empty() && !p_.activation) {
            if (w.up == truth::unknown) unknown();
            return;
        }
        if (w.up == truth::unknown || !w.all_known) return unknown();
        if (ends(w)) return;
        std::uint64_t fewer = d_.from;
        if (is_set(p_.down)) {
            if (w.down == truth::unknown) return unknown();
            if (w.down == truth::no) return;
            fewer = w.below;
            if (w.target) fewer = greater(fewer, *w.target);
        } else if (w.target) {
            fewer = *w.target;
        }
        d_.desired = lesser(fewer, d_.from);
        keep_the_last(w);
    }

    /// Nobody needs any, and has not for long enough.
    [[nodiscard]] bool ends(const wishes& w)
    {
        if (!p_.activation || !p_.ladder.empty() || lowest() != 0) return false;
        if (w.activation != truth::no) return false;
        if (is_within(p_.zero_after, inactive_since())) return false;
        d_.desired = 0;
        return ends_ = true;
    }

    [[nodiscard]] wall_time inactive_since() const { return s_.inactive_since.value_or(d_.now); }

    void keep_the_last(const wishes& w)
    {
        if (d_.desired != 0 || d_.from == 0 || !p_.activation || !p_.ladder.empty()) return;
        if (lowest() != 0) return;
        d_.desired = 1;
        if (d_.from != 1) return;
        d_.why = reason::active;
        if (w.activation == truth::no) d_.until = inactive_since() + p_.zero_after;
    }

    /// Nobody knows, so nothing goes; and what the policy says for that case is there.
    void unknown()
    {
        d_.why = reason::unknown;
        if (p_.if_unknown) d_.desired = greater(d_.from, lesser(*p_.if_unknown, highest()));
    }

    void hold_back()
    {
        if (is_pending()) return hold(reason::pending, s_.pending->at + p_.patience);
        if (s_.last_failure && is_within(p_.after_failure, *s_.last_failure)) {
            return hold(reason::failed, *s_.last_failure + p_.after_failure);
        }
        if (is_outside()) return;
        if (!(is_up() ? p_.allow.up : p_.allow.down)) return hold(reason::disabled);
        if (d_.from == 0 && p_.ladder.empty()) return bring_within_bounds();
        if (!is_up() && is_warming()) return hold(reason::warming, s_.warm_at);
        if (!ends_) slow_down();
        if (d_.to != d_.from) cool_down();
    }

    void slow_down()
    {
        stabilise();
        bring_within_bounds();
        if (d_.to < d_.from) project();
        if (d_.to != d_.from) keep_to_rates();
        if (d_.to < d_.from && d_.why == reason::rate) project();
    }

    [[nodiscard]] bool is_pending() const
    {
        return s_.pending && is_within(p_.patience, s_.pending->at);
    }

    /// 5. What was asked for last stands until now; before the first time nobody had asked.
    void stabilise()
    {
        const duration period = is_up() ? p_.stabilise.up : p_.stabilise.down;
        const auto& list = is_up() ? s_.lowest : s_.highest;
        if (period <= duration{}) return;
        if (list.empty()) return hold(reason::stabilising, d_.now + period);
        for (const recommendation& r : list) {
            const wall_time ends = (&r == &list.back() ? d_.now : r.at) + period;
            if (!(d_.now < ends)) continue;
            // The first that counts is the one farthest from what is wanted now.
            const std::uint64_t to = is_up() ? greater(d_.from, lesser(d_.to, r.instances))
                                             : lesser(d_.from, greater(d_.to, r.instances));
            return limit(to, reason::stabilising, ends);
        }
    }

    /// 6. Half of what is left is tried each time; what is taken has been tried.
    void project()
    {
        const std::uint64_t wanted = d_.to;
        if (capacity(wanted) == 0 || is_enough(wanted)) return;
        std::uint64_t too_few = wanted;
        std::uint64_t enough = d_.from;
        while (enough - too_few > 1) {
            const std::uint64_t middle = too_few + (enough - too_few) / 2;
            if (is_enough(middle)) enough = middle;
            else too_few = middle;
        }
        (void)projects(too_few);  // its rows stay
        limit(enough, reason::flapping);
    }

    [[nodiscard]] bool is_enough(std::uint64_t at)
    {
        const auto rows = static_cast<std::ptrdiff_t>(d_.because.size());
        const bool enough = projects(at);
        d_.because.erase(d_.because.begin() + rows, d_.because.end());
        return enough;
    }

    /// Whether so many would be left alone. Adds rows.
    [[nodiscard]] bool projects(std::uint64_t at)
    {
        std::vector<evidence>& rows = d_.because;
        const situation then = situation_at(at);
        truth up = ask(p_.up, then, role::projected, rows);
        for (const band& b : p_.bands.up) up = either(up, ask(b.when, then, role::projected, rows));
        bool enough = up == truth::no;
        for (const target& t : p_.targets) {
            const std::optional<std::uint64_t> n = ask(t, then, rows);
            rows.back().part = role::projected;
            enough = enough && n && *n <= capacity(at);
        }
        return enough;
    }

    /// 7. Changes the other way within the period are taken back first, as Kubernetes does.
    void keep_to_rates()
    {
        for (const rate_limit& r : is_up() ? p_.rate.up : p_.rate.down) {
            std::uint64_t more = 0;
            std::uint64_t fewer = 0;
            std::optional<wall_time> until;
            bool joined = s_.made.is_full();  // the first of each direction may be
            for (const made_change& c : s_.made) {
                const bool ours = c.is_up() == is_up();
                const bool counts = ours || !joined;
                joined = joined && ours;
                if (!counts || !is_within(r.per, c.at)) continue;
                more = saturating_add(more, saturating_sub(c.to, c.from));
                fewer = saturating_add(fewer, saturating_sub(c.from, c.to));
                if (ours && !until) until = c.at + r.per;
            }
            const std::uint64_t start = saturating_sub(saturating_add(d_.from, fewer), more);
            const std::uint64_t to =
                is_up() ? lesser(d_.to, most_above(p_.ladder, start, r.most))
                        : greater(d_.to, least_below(p_.ladder, start, r.most));
            const bool back = is_up() ? to < d_.from : to > d_.from;
            limit(back ? d_.from : to, reason::rate, until);
            if (d_.to == d_.from) return;
        }
    }

    /// 8.
    void cool_down()
    {
        std::optional<wall_time> last = is_up() ? s_.last_up : s_.last_down;
        const std::optional<wall_time> other = is_up() ? s_.last_down : s_.last_up;
        const bool both = !is_up() || p_.cooldown.shared;
        if (both && other && (!last || *last < *other)) last = other;
        const duration wait = is_up() ? p_.cooldown.up : p_.cooldown.down;
        if (last && is_within(wait, *last)) hold(reason::cooldown, *last + wait);
    }

    void bring_within_bounds()
    {
        if (d_.to > highest()) limit(highest(), reason::bounds);
        if (d_.to < lowest()) limit(lowest(), reason::bounds);
    }

    const basic_policy<Up, Down>& p_;
    std::span<const reading> metrics_;
    const state& s_;
    decision d_;
    bool ends_ = false;  // all may go, as none is needed
};

}  // namespace detail

/// What to do about so many instances (of a ladder: at this rung). Where there are as many as the
/// unanswered command says, it counts as applied now. Total: a policy that `check` refuses gets a
/// decision, too. Linear in rules times metrics, times the logarithm of the instances that would
/// go. Allocates for the rows alone.
template <condition Up, condition Down>
[[nodiscard]] decision decide(const basic_policy<Up, Down>& p, std::span<const reading> metrics,
                              const state& s, std::uint64_t instances, wall_time now)
{
    const bool arrived = s.pending && s.pending->ordered.to == instances;
    if (!arrived && !s.is_ahead(now)) {
        return detail::deciding<Up, Down>(p, metrics, s, instances, now).made();
    }
    state seen = s;
    seen.rein_in(now);
    if (arrived) seen.on(applied{s.pending->ordered.id}, now);
    decision d = detail::deciding<Up, Down>(p, metrics, seen, instances, now).made();
    d.arrived = arrived;
    return d;
}

/// The rows of a decision view the policy, so it has to have a name.
template <condition Up, condition Down>
void decide(const basic_policy<Up, Down>&& p, std::span<const reading> metrics, const state& s,
            std::uint64_t instances, wall_time now) = delete;

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_DECIDE_HPP
