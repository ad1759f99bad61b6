// SPDX-License-Identifier: MIT
//
// naive_scaler: scaling without bounds on memory. It stores all earlier requests and commands in
// whole seconds, and each step reads all of them.

#ifndef WAYBILL_TESTS_SUPPORT_NAIVE_SCALER_HPP
#define WAYBILL_TESTS_SUPPORT_NAIVE_SCALER_HPP

#include <cstdint>
#include <optional>
#include <vector>

#include <waybill/scaling/command.hpp>
#include <waybill/scaling/decision.hpp>

namespace tests_support {

struct naive_limit {
    std::uint64_t count = 0;
    std::uint64_t percent = 0;
    std::int64_t per = 0;
};

/// One instance more if "load" is above `more`, one less if "idle" is above `fewer`, and as many as
/// "work" needs. The first instance if "wake" is above `active`. None if "wake" was not above it
/// for `zero_after`. With `wake_alone`, "idle" and "work" must need none in that time, either.
struct naive_policy {
    double more = 100;
    bool per_instance = false;
    bool averaged = false;
    std::optional<double> fewer{};
    std::optional<double> each{};  // tolerates a quarter
    std::uint64_t step_up = 1, step_down = 1;
    std::int64_t stabilise_up = 0, stabilise_down = 0;
    std::vector<naive_limit> rate_up{}, rate_down{};
    std::int64_t cooldown_up = 0, cooldown_down = 0;
    bool shared = false;
    std::uint64_t lowest = 1, highest = 20;
    bool may_up = true, may_down = true;
    std::int64_t patience = 60, after_failure = 0;
    std::optional<std::uint64_t> if_unknown{};
    std::optional<double> active{};  // only with lowest = 0
    bool wake_alone = false;
    std::int64_t zero_after = 0;
};

struct naive_metrics {
    std::optional<double> load{}, idle{}, work{}, wake{};
};

class naive_scaler {
public:
    explicit naive_scaler(naive_policy p) : p_(p) {}

    struct answer {
        std::uint64_t desired = 0;
        std::uint64_t to = 0;
        waybill::scaling::reason why{};
        std::optional<std::int64_t> until{};
    };

    /// The pending command counts as done if `instances` equals its target.
    void look(std::uint64_t instances, std::int64_t now)
    {
        if (out_ && out_->to == instances) done(now);
    }

    [[nodiscard]] answer decide(const naive_metrics& m, std::uint64_t n, std::int64_t now) const
    {
        using enum waybill::scaling::reason;
        answer a;
        const demand w = wants(m, n, now);
        a.desired = w.instances;
        a.to = a.desired;
        if (w.unknown) a.why = unknown;
        if (w.keeps_the_last) {
            a.why = active;
            if (is_idle(m)) a.until = idle_since(now) + p_.zero_after;
        }
        const bool outside = n < p_.lowest || n > p_.highest;
        if (outside) {
            a.why = bounds;
            a.to = a.to < p_.lowest ? p_.lowest : a.to > p_.highest ? p_.highest : a.to;
        } else if (n == p_.lowest && a.to < n) {  // already the minimum
            return held(a, n, bounds, {});
        }
        if (a.to == n) return a;
        if (out_ && now - out_->at < p_.patience) {
            return held(a, n, pending, out_->at + p_.patience);
        }
        if (failed_ && now - *failed_ < p_.after_failure) {
            return held(a, n, failed, *failed_ + p_.after_failure);
        }
        if (outside) return a;
        const bool up = a.to > n;
        if (!(up ? p_.may_up : p_.may_down)) return held(a, n, disabled, {});
        if (n == 0) return a.to > p_.highest ? cut(a, p_.highest, bounds, {}) : a;
        if (w.all_go) {
            cool_down(a, n, now, up);
            return a;
        }
        stabilise(a, n, now, up);
        if (a.to > p_.highest) cut(a, p_.highest, bounds, {});
        if (a.to < p_.lowest) cut(a, p_.lowest, bounds, {});
        if (!up) project(a, m, n);
        for (const naive_limit& r : up ? p_.rate_up : p_.rate_down) {
            if (a.to != n) keep_to(r, a, n, now, up);
        }
        if (!up && a.to != n && a.why == rate) project(a, m, n);
        if (a.to != n) cool_down(a, n, now, up);
        return a;
    }

    void decided(const naive_metrics& m, std::uint64_t n, std::uint64_t desired, std::int64_t now)
    {
        seen_.push_back({now, is_idle(m) && !is_needed(m, n)});
        if (asked_.empty()) {
            asked_.push_back({now, n > desired ? n : desired, n < desired ? n : desired});
        } else {
            asked_.back().ends = now;
        }
        asked_.push_back({now, desired, desired});
    }
    void ordered(const waybill::scaling::command& c, std::int64_t now) { out_ = order{c, now}; }
    void done(std::int64_t now)
    {
        changes_.push_back({now, out_->from, out_->to});
        out_.reset();
    }
    void not_done(std::int64_t now)
    {
        failed_ = now;
        out_.reset();
    }
    [[nodiscard]] std::optional<std::uint64_t> waits_for() const
    {
        return out_ ? std::optional(out_->id) : std::nullopt;
    }
    [[nodiscard]] std::size_t changes() const { return changes_.size(); }

    /// True if the load of `from` instances, shared by `n`, needs more. Empty if the load is
    /// unknown.
    [[nodiscard]] std::optional<bool> asks_for_more(const naive_metrics& m, std::uint64_t from,
                                                    std::uint64_t n) const
    {
        if (!m.load) return {};
        const double share = static_cast<double>(from) / static_cast<double>(n);
        const double load = p_.averaged ? *m.load * share : *m.load;
        return load > (p_.per_instance ? p_.more * static_cast<double>(n) : p_.more);
    }

private:
    using reason = waybill::scaling::reason;
    struct order : waybill::scaling::command {
        order(const waybill::scaling::command& c, std::int64_t t)
            : waybill::scaling::command(c), at(t)
        {
        }
        std::int64_t at;
    };
    struct wish {
        std::int64_t ends;
        std::uint64_t most, least;
    };
    struct change {
        std::int64_t at;
        std::uint64_t from, to;
    };

    [[nodiscard]] std::uint64_t needs(double work, std::uint64_t n) const
    {
        const double whole = static_cast<double>(n);
        const double wanted = work / *p_.each;
        if (wanted <= whole * 1.25 && wanted >= whole * 0.75) return n;
        std::uint64_t k = 0;
        while (static_cast<double>(k) * *p_.each < work) ++k;
        return k;
    }

    struct demand {
        std::uint64_t instances = 0;
        bool unknown = false;
        bool all_go = false;
        bool keeps_the_last = false;
    };

    [[nodiscard]] bool is_idle(const naive_metrics& m) const
    {
        return p_.active && m.wake && *m.wake <= *p_.active;
    }
    [[nodiscard]] bool is_needed(const naive_metrics& m, std::uint64_t n) const
    {
        if (!p_.active || !p_.wake_alone || n == 0) return false;
        if (p_.each && (!m.work || needs(*m.work, n) != 0)) return true;
        return p_.fewer && !(m.idle && *m.idle > *p_.fewer);
    }
    /// The time of the first of the latest consecutive decisions without any need.
    [[nodiscard]] std::int64_t idle_since(std::int64_t now) const
    {
        for (auto s = seen_.rbegin(); s != seen_.rend() && s->idle; ++s) now = s->at;
        return now;
    }

    [[nodiscard]] demand nobody_knows(std::uint64_t n) const
    {
        const std::uint64_t least = p_.if_unknown.value_or(0);
        const std::uint64_t within = least < p_.highest ? least : p_.highest;
        return {.instances = within > n ? within : n, .unknown = true};
    }

    [[nodiscard]] demand wants_first(const naive_metrics& m) const
    {
        if (!m.wake) return nobody_knows(0);
        if (is_idle(m)) return {};
        const std::uint64_t target = p_.each && m.work ? needs(*m.work, 0) : 0;
        return {.instances = target > 1 ? target : 1};
    }

    [[nodiscard]] demand wants(const naive_metrics& m, std::uint64_t n, std::int64_t now) const
    {
        if (p_.active && n == 0) return wants_first(m);
        const std::optional<bool> up = asks_for_more(m, n, n);
        std::uint64_t most = n;
        if (up && *up) most = n + p_.step_up;
        const bool target_known = !p_.each || m.work;
        const std::uint64_t target = p_.each && m.work ? needs(*m.work, n) : 0;
        if (target > most) most = target;
        if (most > n) return {.instances = most};
        if (!up || !target_known) return nobody_knows(n);
        const bool idle = is_idle(m) && !is_needed(m, n);
        if (idle && now - idle_since(now) >= p_.zero_after) return {.all_go = true};
        if (!p_.fewer && !p_.each) return {.instances = n};
        if (p_.fewer && !m.idle) return nobody_knows(n);
        std::uint64_t fewer = target;
        if (p_.fewer) {
            if (!(*m.idle > *p_.fewer)) return {.instances = n};
            const std::uint64_t step = n > p_.step_down ? n - p_.step_down : 0;
            fewer = step > target ? step : target;
        }
        if (fewer > n) fewer = n;
        if (p_.active && fewer == 0) return {.instances = 1, .keeps_the_last = n == 1};
        return {.instances = fewer};
    }

    static answer& cut(answer& a, std::uint64_t to, reason why, std::optional<std::int64_t> until)
    {
        if (to == a.to) return a;
        a.to = to;
        a.why = why;
        a.until = until;
        return a;
    }
    static answer held(answer a, std::uint64_t n, reason why, std::optional<std::int64_t> until)
    {
        return cut(a, n, why, until);
    }

    void stabilise(answer& a, std::uint64_t n, std::int64_t now, bool up) const
    {
        const std::int64_t period = up ? p_.stabilise_up : p_.stabilise_down;
        if (period <= 0) return;
        if (asked_.empty()) return void(cut(a, n, reason::stabilising, now + period));
        std::uint64_t end = 0;
        std::optional<std::int64_t> until;
        for (std::size_t i = 0; i != asked_.size(); ++i) {
            const std::int64_t ends = (i + 1 == asked_.size() ? now : asked_[i].ends) + period;
            if (now >= ends) continue;
            const std::uint64_t v = up ? asked_[i].least : asked_[i].most;
            if (!until || (up ? v <= end : v >= end)) {
                end = v;
                until = ends;
            }
        }
        std::uint64_t to = a.to;
        if (up && end < to) to = end > n ? end : n;
        if (!up && end > to) to = end < n ? end : n;
        cut(a, to, reason::stabilising, until);
    }

    void project(answer& a, const naive_metrics& m, std::uint64_t n) const
    {
        for (std::uint64_t k = a.to; k < n; ++k) {
            const bool enough = k != 0 && !asks_for_more(m, n, k).value_or(true) &&
                                (!p_.each || needs(*m.work, k) <= k);
            if (enough || k == 0) return void(cut(a, k, reason::flapping, {}));
        }
        cut(a, n, reason::flapping, {});
    }

    void keep_to(const naive_limit& r, answer& a, std::uint64_t n, std::int64_t now, bool up) const
    {
        std::int64_t start = static_cast<std::int64_t>(n);
        std::optional<std::int64_t> until;
        for (const change& c : changes_) {
            if (now - c.at >= r.per) continue;
            start += static_cast<std::int64_t>(c.from) - static_cast<std::int64_t>(c.to);
            if ((c.to > c.from) == up && !until) until = c.at + r.per;
        }
        if (start < 0) start = 0;
        std::int64_t most = (start * static_cast<std::int64_t>(r.percent) + 99) / 100;
        const auto count = static_cast<std::int64_t>(r.count);
        most = most > count ? most : count;
        most = most > 1 ? most : 1;
        const auto from = static_cast<std::int64_t>(n), to = static_cast<std::int64_t>(a.to);
        std::int64_t limit = up ? start + most : start - most;
        if (limit < 0) limit = 0;
        if (up ? limit >= to : limit <= to) return;
        if (up ? limit < from : limit > from) limit = from;
        cut(a, static_cast<std::uint64_t>(limit), reason::rate, until);
    }

    void cool_down(answer& a, std::uint64_t n, std::int64_t now, bool up) const
    {
        const std::int64_t wait = up ? p_.cooldown_up : p_.cooldown_down;
        std::optional<std::int64_t> last;
        for (const change& c : changes_) {
            if (!up || c.to > c.from || p_.shared) last = c.at;
        }
        if (last && now - *last < wait) cut(a, n, reason::cooldown, *last + wait);
    }

    struct sight {
        std::int64_t at;
        bool idle;
    };

    naive_policy p_;
    std::vector<sight> seen_;
    std::vector<wish> asked_;
    std::vector<change> changes_;
    std::optional<order> out_;
    std::optional<std::int64_t> failed_;
};

}  // namespace tests_support

#endif  // WAYBILL_TESTS_SUPPORT_NAIVE_SCALER_HPP
