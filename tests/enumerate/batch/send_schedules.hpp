// SPDX-License-Identifier: MIT
//
// send_schedules: every small schedule of a sender: each answer at each step, told at once or after
// `started`, out of order, stopped anywhere.
//
// Ways that meet are followed once. That is sound since the sender, the audit and what is left of the
// plan are values: a sender is all that its == compares, and so is an audit, so two worlds that are
// equal hear the same, say the same and break the same promises from there on. Each step moves an
// attempt number, the time, or what is left of the plan, so no way leads back, and the schedules
// behind a world are counted once and added to each way that leads there.
//
// What keeps it finite: so many answers are any answer at all (`wide`), so many more are one of a few
// that lead to each other's states (`narrow`), and what comes then is accepted.

#ifndef WAYBILL_TESTS_ENUMERATE_BATCH_SEND_SCHEDULES_HPP
#define WAYBILL_TESTS_ENUMERATE_BATCH_SEND_SCHEDULES_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <support/sanitized.hpp>
#include <support/send_audit.hpp>

#include <waybill/batch/sender.hpp>

namespace send_schedules {

using namespace waybill;
using send_audit::audit;
using send_audit::event;

// An answer and what its spans look at.
struct answer {
    event what;
    std::vector<entry_fault> entries;
    std::vector<std::uint64_t> sizes;
    std::string name;

    [[nodiscard]] event on(std::uint64_t attempt) const
    {
        event e = what;
        std::visit([&](auto& x) { x.attempt = attempt; }, e);
        if (partial* p = std::get_if<partial>(&e)) p->failed = entries;
        if (refused* r = std::get_if<refused>(&e)) r->item_sizes = sizes;
        return e;
    }
};

struct plan {
    const char* name = "";
    send_policy policy{};
    std::vector<std::uint64_t> sizes{};
    std::vector<std::uint64_t> keys{};          // none: all of key 0
    std::vector<std::uint64_t> replacements{};  // sizes that may come in the place of an item
    bool streaming = false;  // items come when the enumeration says so, else all at once
    bool stops = false;      // it may be stopped at every step
    int wide = 0;            // so many answers are any answer
    int narrow = 0;          // so many more are one of a few; what comes then is accepted
    bool noise = true;       // at every step it is told what is late or contradicts itself, too
    bool at_once = true;     // an answer may come without `started`
    int resumes = 0;         // so many keys may be resumed
};

inline const std::vector<answer>& wide_answers(std::size_t items)
{
    static std::vector<std::vector<answer>> all(8);
    std::vector<answer>& a = all[items];
    if (!a.empty()) return a;
    const auto add = [&](event e, std::string name) {
        a.push_back({std::move(e), {}, {}, std::move(name)});
    };
    add(accepted{}, "accepted");
    add(accepted{.actual = 11 * items}, "accepted, with its size");
    add(refused{}, "refused");
    add(refused{.actual = 40, .limit = 25}, "refused, with numbers");
    add(refused{.actual = 0, .limit = 0}, "refused, with zeros");
    add(refused{.actual = 3, .limit = unlimited}, "refused, with lies");
    a.push_back({refused{.actual = 12 * items},
                 {},
                 std::vector<std::uint64_t>(items, 12),
                 "refused, with all sizes"});
    a.push_back(
        {refused{}, {}, std::vector<std::uint64_t>(items, unlimited), "refused, with wild sizes"});
    for (std::uint64_t some = 1; some < (std::uint64_t{1} << items); ++some) {
        for (const fault_class how :
             {fault_class::transient, fault_class::permanent, fault_class::infrastructure,
              fault_class::ownership_lost, fault_class::cancelled, fault_class::none}) {
            std::vector<entry_fault> entries;
            for (std::uint64_t i = 0; i != items; ++i) {
                if ((some >> i) % 2 != 0) entries.push_back({i, how});
            }
            entries.push_back(entries.front());  // told twice
            a.push_back(
                {partial{},
                 entries,
                 {},
                 "all but " + std::to_string(some) + " " + std::string(waybill::name(how))});
        }
        std::vector<entry_fault> mixed;  // the others for good
        for (std::uint64_t i = 0; i != items; ++i) {
            mixed.push_back(
                {i, (some >> i) % 2 != 0 ? fault_class::transient : fault_class::permanent});
        }
        a.push_back({partial{}, mixed, {}, "none, " + std::to_string(some) + " for now"});
    }
    add(partial{}, "all but none");
    add(throttled{}, "throttled");
    add(throttled{.retry_after = duration::seconds(5), .draw = 0.0}, "throttled for long");
    for (const fault_class how :
         {fault_class::transient, fault_class::permanent, fault_class::infrastructure,
          fault_class::ownership_lost, fault_class::cancelled}) {
        add(failed{.how = how}, "failed " + std::string(waybill::name(how)));
    }
    add(unknown{}, "unknown");
    return a;
}

inline const std::vector<answer>& narrow_answers(std::size_t items)
{
    static std::vector<std::vector<answer>> all(8);
    std::vector<answer>& a = all[items];
    if (!a.empty()) return a;
    a.push_back({accepted{}, {}, {}, "accepted"});
    a.push_back({refused{}, {}, {}, "refused"});
    a.push_back({partial{}, {{items - 1, fault_class::transient}}, {}, "all but the last"});
    a.push_back({partial{}, {{0, fault_class::permanent}}, {}, "all but the first"});
    a.push_back({failed{.how = fault_class::transient}, {}, {}, "failed"});
    a.push_back({unknown{}, {}, {}, "unknown"});
    return a;
}

template <class Machine>
class enumeration {
public:
    explicit enumeration(const plan& p) : plan_(p) {}

    void run()
    {
        world w{Machine(plan_.policy), audit(plan_.policy), plan_.resumes};
        if (!plan_.streaming) {
            while (w.queued != plan_.sizes.size()) queue_one(w);
            w.m.on(flushed{}, w.now);
            w.flushed = true;
        }
        const result all = explore(std::move(w));
        schedules = all.schedules;
        most_sends = all.sends;
        audit whole(plan_.policy);
        for (const std::uint64_t size : plan_.sizes) whole.queued(size);
        if (plan_.policy.on_too_large == when_too_large::replace) {
            whole.replacements = plan_.sizes.size();
        }
        if (broken.empty() && most_sends > static_cast<std::int64_t>(whole.bound())) {
            broken.emplace_back("it ends after as many sends as it may");
        }
    }

    std::uint64_t schedules = 0;   // distinct and to their end
    std::int64_t most_sends = 0;   // in one of them, those apart that were throttled
    std::vector<std::string> broken;  // what, and the way to it

    [[nodiscard]] std::size_t worlds() const { return seen_.size(); }

private:
    static constexpr std::uint64_t none = unlimited;
    struct step {
        const char* what = "";  // of something that is there for ever
        std::uint64_t attempt = none;
    };

    struct result {
        std::uint64_t schedules = 0;
        std::int64_t sends = 0;
    };

    struct world {
        Machine m;
        audit a;
        int resumes = 0;
        steady_time now = steady_time::at(duration::seconds(1));
        std::size_t queued = 0;
        bool flushed = false;
        int answers = 0;

        friend bool operator==(const world& x, const world& y)
        {
            return x.resumes == y.resumes && x.now == y.now && x.queued == y.queued &&
                   x.flushed == y.flushed && x.answers == y.answers && x.a == y.a && x.m == y.m;
        }
    };

    struct known {
        world at;
        result behind;
    };

    [[nodiscard]] bool spoilt() const { return !broken.empty(); }

    void note(const std::string& what)
    {
        std::string line = what + "; after:";
        for (const step& s : way_) {
            line += s.attempt == none ? " " : " " + std::to_string(s.attempt) + " ";
            line += s.what;
            line += ";";
        }
        broken.push_back(line);
    }

    void must(bool holds, const char* what)
    {
        if (!holds) note(what);
    }

    void queue_one(world& w)
    {
        const std::size_t n = w.queued++;
        const std::uint64_t size = plan_.sizes[n];
        const std::uint64_t key = plan_.keys.empty() ? 0 : plan_.keys[n];
        w.a.queued(size, key);
        w.m.on(queued(size, key), w.now);
    }

    // Asking twice says the same; a copy is the same and says the same; what is late, never was or
    // contradicts itself changes nothing.
    typename Machine::action asked(const world& w)
    {
        typename Machine::action a = w.m.next(w.now);
        must(a == w.m.next(w.now), "asked again it says the same");
        if (!plan_.noise) return a;
        Machine c = w.m;
        must(c == w.m, "a copy is equal");
        must(a == c.next(w.now), "a copy says the same");
        const auto ignored = [&](auto e, heard h, const char* what) {
            must(c.on(e, w.now) == h && c == w.m, what);
        };
        ignored(settled{{77, 1}},
                std::holds_alternative<act::settle>(a) ? heard::invalid : heard::late,
                "a wrong settled");
        ignored(closed{}, heard::late, "closed though not opened");
        ignored(resumed{777}, heard::late, "a key resumed that never was");
        for (const audit::key& k : w.a.keys) {
            if (!k.stopped() && !std::holds_alternative<act::settle>(a)) {
                ignored(resumed{k.name}, heard::late, "a key resumed that goes on");
            }
        }
        const auto* asks = std::get_if<act::replace>(&a);
        // Behind settlements there may be something to be replaced.
        if (asks || !std::holds_alternative<act::settle>(a)) {
            ignored(replaced{78, 1}, asks ? heard::invalid : heard::late, "a wrong one replaced");
            ignored(kept{78}, asks ? heard::invalid : heard::late, "a wrong one kept");
        }
        static const std::vector<entry_fault> far{{0, fault_class::transient},
                                                  {7, fault_class::transient}};
        static const std::vector<std::uint64_t> many(7, 10);
        const auto offered = std::get_if<act::send>(&a);
        for (std::uint64_t n = 0; n != w.a.attempts.size() + 2; ++n) {
            const bool asked_for = offered && offered->attempt == n;
            const bool open = n < w.a.attempts.size() && w.a.attempts[n].open;
            if (asked_for || open) {
                ignored(partial{n, far}, heard::invalid, "an entry past the end");
                ignored(refused{n, {}, {}, many}, heard::invalid, "sizes of another number");
                ignored(failed{n, fault_class::none}, heard::invalid, "failed, and worked");
                if (!asked_for && w.a.attempts[n].away)
                    ignored(started{n}, heard::late, "started twice");
                continue;
            }
            if (n >= w.a.attempts.size() && !std::holds_alternative<act::idle>(a)) continue;
            ignored(started{n}, heard::late, "started what is over");
            ignored(accepted{n}, heard::late, "accepted what is over");
            ignored(refused{n}, heard::late, "refused what is over");
            ignored(partial{n, far}, heard::late, "partial of what is over");
            ignored(throttled{n}, heard::late, "throttled what is over");
            ignored(failed{n}, heard::late, "failed what is over");
            ignored(unknown{n}, heard::late, "unknown of what is over");
        }
        return a;
    }

    void tell(world& w, const answer& a, std::uint64_t attempt)
    {
        const event e = a.on(attempt);
        ++w.answers;
        w.a.answered(e, w.now);
        const heard h = std::visit([&](const auto& x) { return w.m.on(x, w.now); }, e);
        must(h == heard::taken, "an answer in time is taken");
    }

    const std::vector<answer>& answers(const world& w, std::size_t items) const
    {
        static const std::vector<answer> kind{{accepted{}, {}, {}, "accepted"}};
        if (w.answers < plan_.wide) return wide_answers(items);
        if (w.answers < plan_.wide + plan_.narrow) return narrow_answers(items);
        return kind;
    }

    // What comes of a world after one step.
    template <class F>
    void go(const world& w, step s, result& all, std::int64_t sends, F&& change)
    {
        if (spoilt()) return;
        world next = w;
        way_.push_back(s);
        change(next);
        const result r = explore(std::move(next));
        way_.pop_back();
        all.schedules += r.schedules;
        all.sends = std::max(all.sends, sends + r.sends);
    }

    void answer_all(const world& w, std::uint64_t n, std::size_t items, const act::send* sending,
                    result& all)
    {
        for (const answer& x : answers(w, items)) {
            const bool throttles = std::holds_alternative<throttled>(x.what);
            go(w, {x.name.c_str(), n}, all, (sending ? 1 : 0) - (throttles ? 1 : 0), [&](world& v) {
                if (sending) v.a.sent(*sending, v.now);
                tell(v, x, n);
            });
        }
    }

    // Notes all that is over; false if a promise broke.
    bool settle(world& w, typename Machine::action& a)
    {
        for (int times = 0; const act::settle* s = std::get_if<act::settle>(&a); ++times) {
            const act::settle copy = *s;
            w.a.settle(copy);
            w.m.on(settled{copy.items}, w.now);
            if (!w.a.broken.empty() || times == 100) break;
            a = asked(w);
        }
        if (!w.a.broken.empty()) note(w.a.broken.front());
        return !spoilt();
    }

    result explore(world w)
    {
        if (spoilt()) return {};
        if (way_.size() > 200) return note("it does not end"), result{};
        auto a = asked(w);
        if (!settle(w, a)) return {};
        const std::uint64_t digest = w.a.digest() ^ static_cast<std::uint64_t>(w.answers * 7919) ^
                                     static_cast<std::uint64_t>(w.now.since_epoch().count());
        const auto [first, last] = seen_.equal_range(digest);
        for (auto i = first; i != last; ++i) {
            if (i->second.at == w) return i->second.behind;
        }
        const result all = steps(w, a);
        if (!spoilt()) seen_.emplace(digest, known{std::move(w), all});
        return all;
    }

    result steps(const world& w, const typename Machine::action& a)
    {
        result all;
        const act::send* s = std::get_if<act::send>(&a);
        bool more = false;
        if (plan_.streaming && w.queued != plan_.sizes.size()) {
            go(w, {"queue"}, all, 0, [&](world& v) { queue_one(v); });
            more = true;
        }
        if (plan_.stops && !w.a.stopped) {
            go(w, {"stop"}, all, 0, [&](world& v) {
                v.m.on(stopped{}, v.now);
                v.a.stop();
            });
            more = true;
        }
        for (const audit::key& k : w.a.keys) {
            if (w.resumes == 0 || !k.stopped()) continue;
            go(w, {"resumed", k.name}, all, 0, [&](world& v) {
                --v.resumes;
                must(v.a.resume(k.name) && v.m.on(resumed{k.name}, v.now) == heard::taken,
                     "a key that stopped is resumed");
            });
        }
        for (std::uint64_t n = 0; n != w.a.attempts.size(); ++n) {
            if (!w.a.attempts[n].away) continue;
            answer_all(w, n, w.a.attempts[n].count, nullptr, all);
            more = true;
        }
        if (const act::replace* r = std::get_if<act::replace>(&a)) {
            for (const std::uint64_t bytes : plan_.replacements) {
                go(w, {"replaced", r->item}, all, 0, [&](world& v) {
                    v.a.asked(*r);
                    v.a.replaced(r->item, bytes);
                    must(v.m.on(replaced{r->item, bytes}, v.now) == heard::taken, "replaced");
                });
            }
            go(w, {"kept", r->item}, all, 0, [&](world& v) {
                v.a.asked(*r);
                v.a.kept(r->item);
                must(v.m.on(kept{r->item}, v.now) == heard::taken, "kept");
            });
            return all;
        }
        if (s) {
            if (plan_.policy.in_flight > 1 || !plan_.at_once) {
                go(w, {"start", s->attempt}, all, 1, [&](world& v) {
                    v.a.sent(*s, v.now);
                    must(v.m.on(started{s->attempt}, v.now) == heard::taken,
                         "started in time is taken");
                });
            }
            if (plan_.at_once) answer_all(w, s->attempt, s->items.items(), s, all);
            return all;
        }
        if (const act::wait* wait = std::get_if<act::wait>(&a)) {
            must(wait->until > w.now, "a wait is not over yet");
            go(w, {"wait"}, all, 0, [&](world& v) { v.now = wait->until; });
            return all;
        }
        if (more) return all;
        if (!w.flushed) {
            go(w, {"flush"}, all, 0, [&](world& v) {
                v.m.on(flushed{}, v.now);
                v.flushed = true;
            });
            return all;
        }
        ++all.schedules;
        audit whole = w.a;
        whole.end();
        must(w.m.finished() && w.m.first_open() == w.m.end(), "it is finished");
        if (!whole.broken.empty()) note(whole.broken.front());
        return all;
    }

    plan plan_;
    std::vector<step> way_;
    std::unordered_multimap<std::uint64_t, known> seen_;
};

inline send_policy policy_of(std::uint32_t in_flight, when_unknown u = when_unknown::repeat)
{
    send_policy p{
        .limit = {.bytes = 35, .items = 3, .single = 30}, .in_flight = in_flight, .on_unknown = u};
    p.retry = {.most = 2, .pauses = {.base = duration::milliseconds(1), .spread = jitter::none}};
    return p;
}

// Under a sanitizer each step costs more, and fewer show as much of memory.
inline void holds(plan p, std::uint64_t at_least)
{
    if (tests_support::sanitized) {
        p.narrow = std::min(p.narrow, 2);
        at_least = 1;
    }
    enumeration<sender> e(p);
    e.run();
    MESSAGE(std::string(p.name), ": ", e.schedules, " schedules through ", e.worlds(),
            " worlds, at most ", e.most_sends, " sends");
    CHECK(e.schedules >= at_least);
    CHECK_MESSAGE(e.broken.empty(), p.name << ": " << (e.broken.empty() ? "" : e.broken.front()));
}

}  // namespace send_schedules

#endif  // WAYBILL_TESTS_ENUMERATE_BATCH_SEND_SCHEDULES_HPP
