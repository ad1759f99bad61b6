// SPDX-License-Identifier: MIT
//
// send_schedules: every small schedule of a sender, as a graph: each answer at each step, reported
// at once or after `started`, out of order, with a stop at any step.
//
// Paths that meet are followed once. This is sound because the sender, the audit and the rest of
// the plan are values. A sender is all that its == compares, and so is an audit. So two equal
// simulations get the same events, return the same actions and break the same rules from there on.
// Simulations that differ in names only are made equal first, see send_canonical.
//
// The graph is walked in layers, by the remaining work. Each step must reduce it; a step that does
// not is a broken rule, since it might not end. So no path leads back, and a layer is freed after
// its walk. The number of paths to each simulation is summed. So all schedules are counted without
// walking them one by one.
//
// A step is made in `next_`, and a node of an ended layer is used again. So steps reuse memory.

#ifndef WAYBILL_TESTS_ENUMERATE_BATCH_SEND_SCHEDULES_HPP
#define WAYBILL_TESTS_ENUMERATE_BATCH_SEND_SCHEDULES_HPP

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <enumerate/batch/many.hpp>
#include <enumerate/batch/send_answers.hpp>
#include <enumerate/batch/send_noise.hpp>
#include <support/brief.hpp>
#include <support/send_audit.hpp>
#include <support/send_canonical.hpp>

#include <waybill/batch/batch_sender.hpp>

namespace send_schedules {

template <class Machine>
class enumeration {
public:
    explicit enumeration(const plan& p)
        : plan_(p), copy_(p.policy), next_{Machine(p.policy), audit(p.policy)}
    {
    }

    void run()
    {
        simulation& w = next_;
        w.resumes = plan_.resumes;
        w.throttles = plan_.throttles;
        w.wide = plan_.wide;
        w.narrow = plan_.narrow;
        if (!plan_.streaming) {
            while (w.queued != plan_.sizes.size()) queue_one(w);
            w.m.on(waybill::batch_sender::flushed{}, w.now);
            w.flushed = true;
        }
        at_ = none;
        reach({}, 0, many(1));
        while (!ahead_.empty() && broken.empty()) {
            const auto next = std::prev(ahead_.end());
            layer now = std::move(next->second);
            at_ = next->first;
            ahead_.erase(next);
            for (std::unique_ptr<node>& n : now.nodes) {
                if (broken.empty()) walk(*n);
                free_.push_back(std::move(n));
            }
        }
        audit whole(plan_.policy);
        for (const std::uint64_t size : plan_.sizes) whole.queued(size);
        if (plan_.policy.on_too_large == send_policy::when_too_large::replace) {
            whole.replacements = plan_.sizes.size();
        }
        if (broken.empty() && most_sends > static_cast<std::int64_t>(whole.bound())) {
            broken.emplace_back("the number of sends is within its bound");
        }
    }

    many schedules;                   // distinct and complete
    std::size_t simulations = 0;      // distinct, without the finished ones
    std::uint64_t edges = 0;          // steps between simulations
    std::int64_t most_sends = 0;      // in one schedule, without the throttled sends
    std::vector<std::string> broken;  // the rule, and a path to it

private:
    static constexpr std::uint64_t none = unlimited;
    struct step {
        const char* what = nullptr;  // a text with static lifetime
        std::uint64_t attempt = none;
    };

    struct simulation {
        Machine m;
        audit a;
        int resumes = 0;
        int throttles = 0;
        int wide = 0;
        int narrow = 0;
        unsigned waits = 0;  // consecutive waits
        steady_time now = send_canonical::start;
        std::size_t queued = 0;
        bool flushed = false;

        friend bool operator==(const simulation& x, const simulation& y)
        {
            return x.resumes == y.resumes && x.throttles == y.throttles && x.wide == y.wide &&
                   x.narrow == y.narrow && x.waits == y.waits && x.now == y.now &&
                   x.queued == y.queued && x.flushed == y.flushed && x.a == y.a && x.m == y.m;
        }
    };

    struct node {
        simulation w;
        many ways;
        std::int64_t sends = 0;
        std::uint32_t id = 0;
    };
    struct place {
        std::uint64_t digest = 0;
        node* of = nullptr;
    };
    struct layer {
        std::vector<std::unique_ptr<node>> nodes;
        std::vector<place> places;  // a hash table of the nodes

        /// The place of an equal simulation, or a free one.
        place& place_of(const simulation& w, std::uint64_t digest)
        {
            if (2 * nodes.size() >= places.size()) grow();
            std::size_t i = digest & (places.size() - 1);
            while (places[i].of && !(places[i].digest == digest && places[i].of->w == w)) {
                i = (i + 1) & (places.size() - 1);
            }
            return places[i];
        }
        void grow()
        {
            std::vector<place> all(std::max<std::size_t>(64, 2 * places.size()));
            for (const place& p : places) {
                std::size_t i = p.digest & (all.size() - 1);
                while (p.of && all[i].of) i = (i + 1) & (all.size() - 1);
                if (p.of) all[i] = p;
            }
            places = std::move(all);
        }
    };
    struct link {  // the first path to a simulation
        std::uint32_t from = 0;
        step by;
    };

    void note(const std::string& what, std::uint32_t from, step last)
    {
        std::vector<step> way;
        if (last.what) way.push_back(last);
        for (std::uint32_t id = from; id != 0; id = links_[id].from) way.push_back(links_[id].by);
        std::string line = what + "; after:";
        for (auto s = way.rbegin(); s != way.rend(); ++s) {
            line += s->attempt == none ? " " : " " + std::to_string(s->attempt) + " ";
            line += s->what;
            line += ";";
        }
        broken.push_back(line);
    }

    void must(bool holds, const char* what)
    {
        if (!holds) note(what, from_, by_);
    }

    void queue_one(simulation& w)
    {
        const std::size_t n = w.queued++;
        const std::uint64_t size = plan_.sizes[n];
        const std::uint64_t key = plan_.keys.empty() ? 0 : plan_.keys[n];
        w.a.queued(size, key);
        w.m.on(waybill::batch_sender::queued(size, key), w.now);
    }

    // A repeated query returns the same action.
    typename Machine::action asked(const simulation& w, bool noise)
    {
        typename Machine::action a = w.m.next(w.now);
        must(a == w.m.next(w.now), "next is the same when called again");
        if (!noise) return a;
        ignores_noise(w.m, copy_, w.a, a, w.now,
                      [this](bool holds, const char* s) { must(holds, s); });
        return a;
    }

    // The state of a simulation after one step.
    template <class F>
    void go(const node& n, step s, std::int64_t sends, F&& change)
    {
        if (!broken.empty()) return;
        by_ = s;
        ++edges;
        next_ = n.w;
        next_.waits = 0;
        change(next_);
        reach(s, n.sends + sends, n.ways);
    }

    // Records all reports of `next_`, and adds it to its layer, unless an equal one is there.
    void reach(step s, std::int64_t sends, const many& ways)
    {
        simulation& w = next_;
        const bool noise = plan_.noise == hearing::all_noise;
        auto a = noise ? asked(w, true) : w.m.next(w.now);
        for (int times = 0; const waybill::batch_sender::report* x =
                                waybill::get_if<waybill::batch_sender::report>(&a);
             ++times) {
            const waybill::batch_sender::report copy = *x;
            w.a.settle(copy);
            w.m.on(waybill::batch_sender::reported{copy.items}, w.now);
            if (!w.a.broken.empty() || times == 100) break;
            a = noise ? asked(w, true) : w.m.next(w.now);
        }
        if (!w.a.broken.empty()) return note(w.a.broken.front(), from_, s);
        if (!broken.empty()) return;
        if (over(w, a)) return end(w, sends, ways);
        if (plan_.canonical) bring_to_form(w);
        const std::uint64_t left = left_of(w);
        if (left >= at_) return note("each step leaves less to be done", from_, s);
        layer& l = ahead_[left];
        const std::uint64_t digest = digest_of(w);
        place& p = l.place_of(w, digest);
        if (p.of) {
            p.of->ways += ways;
            p.of->sends = std::max(p.of->sends, sends);
            return;
        }
        ++simulations;
        if (free_.empty()) free_.push_back(std::make_unique<node>(node{w, {}, 0, 0}));
        l.nodes.push_back(std::move(free_.back()));
        free_.pop_back();
        node& n = *l.nodes.back();
        n.w = w;
        n.ways = ways;
        n.sends = sends;
        n.id = static_cast<std::uint32_t>(links_.size());
        p = {digest, &n};
        links_.push_back({from_, s});
    }

    void bring_to_form(simulation& w)
    {
        if constexpr (std::is_same_v<Machine, batch_sender>) {
            send_canonical::bring(w.m, w.a, w.now);
        } else if constexpr (requires { w.m.inside(); }) {
            send_canonical::bring(w.m.inside(), w.a, w.now);
        }
    }

    // An answer reduces it by at least one unit, a start by less, and a wait by the least. A few
    // consecutive waits are possible.
    [[nodiscard]] std::uint64_t left_of(const simulation& w) const
    {
        const std::uint64_t all = plan_.sizes.size();
        const auto those = [](int n) { return static_cast<std::uint64_t>(std::max(n, 0)); };
        std::uint64_t n = w.a.left(all) + (all - w.queued) * (w.a.left_of({}, all) + 1);
        n += those(w.resumes);
        // An answer that only delays gives the repeats of an attempt back.
        n += (those(w.throttles) + those(w.wide) + those(w.narrow)) * (1 + w.a.most_tries());
        n += (plan_.stops && !w.a.stopped ? 1U : 0U) + (w.flushed ? 0U : 1U);
        std::uint64_t away = 0;
        for (const audit::attempt& a : w.a.attempts) away += a.away;
        return 16 * n - 5 * away - w.waits;
    }

    [[nodiscard]] static std::uint64_t digest_of(simulation& w)
    {
        std::uint64_t h = w.a.digest();
        const auto mix = [&](std::uint64_t x) {
            h = (h ^ x) * 0x9E37'79B9'7F4A'7C15U;
            h ^= h >> 29;
        };
        mix(static_cast<std::uint64_t>(w.now.since_epoch().count()));
        mix(static_cast<std::uint64_t>(w.throttles + 16 * (w.wide + 256 * w.narrow)));
        if constexpr (std::is_same_v<Machine, batch_sender>) mix(send_canonical::digest(w.m));
        if constexpr (requires { w.m.inside(); }) mix(send_canonical::digest(w.m.inside()));
        if constexpr (requires { w.m.learnt(); }) {
            const calibration c = w.m.learnt();
            mix(c.accepted);
            mix(c.refused);
            mix(c.limit);
            mix(c.consecutive_accepted + 256 * c.probe_after);
            mix(std::bit_cast<std::uint64_t>(c.items.header));
            mix(std::bit_cast<std::uint64_t>(c.items.header_variance));
        }
        return h;
    }

    [[nodiscard]] bool over(const simulation& w, const typename Machine::action& a) const
    {
        if (!waybill::holds_alternative<waybill::idle>(a) || !w.flushed || w.a.open != 0)
            return false;
        return w.queued == plan_.sizes.size() && w.resumes == 0 && (!plan_.stops || w.a.stopped);
    }

    void end(simulation& w, std::int64_t sends, const many& ways)
    {
        schedules += ways;
        most_sends = std::max(most_sends, sends);
        w.a.end();
        must(w.m.finished() && w.m.first_open() == w.m.end(), "the sender is finished");
        if (!w.a.broken.empty()) note(w.a.broken.front(), from_, by_);
    }

    const std::vector<answer>& answers(const simulation& w, std::size_t items) const
    {
        static const std::vector<answer> kind{
            {waybill::batch_sender::accepted{}, {}, {}, "accepted"}};
        if (w.wide != 0)
            return plan_.numbers ? wide_answers(items) : plain_answers(items, plan_.all_kinds);
        return w.narrow != 0 ? narrow_answers(items) : kind;
    }

    void answer_all(const node& v, std::uint64_t n, std::size_t items,
                    const waybill::batch_sender::send* sending)
    {
        for (const answer& x : answers(v.w, items)) {
            const bool throttles = x.only_delays(items);
            if (throttles && v.w.throttles == 0) continue;
            const std::int64_t sends = (sending ? 1 : 0) - (throttles ? 1 : 0);
            go(v, {x.name.c_str(), n}, sends, [&](simulation& w) {
                if (sending) w.a.sent(*sending, w.now);
                if (throttles && w.throttles > 0) --w.throttles;
                if (w.wide > 0) --w.wide;
                else if (w.wide == 0 && w.narrow > 0) --w.narrow;
                const event e = x.on(n);
                w.a.answered(e, w.now);
                const event_result h =
                    waybill::match(e, [&](const auto& y) { return w.m.on(y, w.now); });
                must(h == event_result::applied, "an answer in time is applied");
            });
        }
    }

    void walk(node& n)
    {
        from_ = n.id;
        by_ = {};
        simulation& w = n.w;
        const auto a = asked(w, plan_.noise != hearing::answers);
        const waybill::batch_sender::send* s = waybill::get_if<waybill::batch_sender::send>(&a);
        bool more = false;
        if (plan_.streaming && w.queued != plan_.sizes.size()) {
            go(n, {"queue"}, 0, [&](simulation& v) { queue_one(v); });
            more = true;
        }
        if (plan_.stops && !w.a.stopped) {
            go(n, {"stop"}, 0, [&](simulation& v) {
                v.m.on(waybill::batch_sender::stopped{}, v.now);
                v.a.stop();
            });
            more = true;
        }
        for (const audit::key& k : w.a.keys) {
            if (w.resumes == 0 || !k.stopped()) continue;
            go(n, {"resumed", k.name}, 0, [&](simulation& v) {
                --v.resumes;
                must(v.a.resume(k.name) && v.m.on(waybill::batch_sender::resumed{k.name}, v.now) ==
                                               event_result::applied,
                     "a key that stopped is resumed");
            });
        }
        for (std::uint64_t i = 0; i != w.a.attempts.size(); ++i) {
            if (!w.a.attempts[i].away) continue;
            answer_all(n, i, w.a.attempts[i].count, nullptr);
            more = true;
        }
        if (const waybill::batch_sender::replace* r =
                waybill::get_if<waybill::batch_sender::replace>(&a)) {
            for (const std::uint64_t bytes : plan_.replacements) {
                go(n, {"replaced", r->item}, 0, [&](simulation& v) {
                    v.a.asked(*r);
                    v.a.replaced(r->item, bytes);
                    must(v.m.on(waybill::batch_sender::replaced{r->item, bytes}, v.now) ==
                             event_result::applied,
                         "replaced");
                });
            }
            go(n, {"kept", r->item}, 0, [&](simulation& v) {
                v.a.asked(*r);
                v.a.kept(r->item);
                must(v.m.on(waybill::batch_sender::not_replaced{r->item}, v.now) ==
                         event_result::applied,
                     "kept");
            });
            return;
        }
        if (s) {
            if (plan_.policy.in_flight > 1 || !plan_.at_once) {
                go(n, {"start", s->attempt}, 1, [&](simulation& v) {
                    v.a.sent(*s, v.now);
                    must(v.m.on(waybill::batch_sender::started{s->attempt}, v.now) ==
                             event_result::applied,
                         "started in time is taken");
                });
            }
            if (plan_.at_once) answer_all(n, s->attempt, s->items.items(), s);
            return;
        }
        if (const waybill::wait_until* wait = waybill::get_if<waybill::wait_until>(&a)) {
            must(wait->time > w.now, "a wait is not over yet");
            go(n, {"wait"}, 0, [&](simulation& v) {
                v.now = wait->time;
                v.waits = w.waits + 1;
            });
            return;
        }
        if (more) return;
        if (w.flushed) return end(w, n.sends, n.ways);
        go(n, {"flush"}, 0, [&](simulation& v) {
            v.m.on(waybill::batch_sender::flushed{}, v.now);
            v.flushed = true;
        });
    }

    plan plan_;
    Machine copy_;     // of a sender that must ignore noise
    simulation next_;  // the result of the current step
    std::vector<std::unique_ptr<node>> free_;
    std::map<std::uint64_t, layer> ahead_;  // by the remaining work
    std::vector<link> links_;
    std::uint64_t at_ = none;  // the current layer
    std::uint32_t from_ = 0;   // the current simulation in the layer
    step by_;                  // the current step
};

inline void holds(plan p, std::uint64_t at_least)
{
    if (tests_support::brief) {
        const int most = tests_support::sanitized ? 1 : 2;
        p.narrow = std::min(p.narrow, most);
        if (p.wide < 0 || (tests_support::sanitized && p.wide > most)) p.wide = most;
        at_least = 1;
    }
    enumeration<batch_sender> e(p);
    e.run();
    MESSAGE(std::string(p.name), ": ", e.schedules.text(), " schedules, ", e.simulations,
            " simulations, ", e.edges, " steps, at most ", e.most_sends, " sends");
    CHECK(e.schedules.at_least(at_least));
    CHECK_MESSAGE(e.broken.empty(), p.name << ": " << (e.broken.empty() ? "" : e.broken.front()));
}

}  // namespace send_schedules

#endif  // WAYBILL_TESTS_ENUMERATE_BATCH_SEND_SCHEDULES_HPP
