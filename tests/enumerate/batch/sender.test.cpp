// SPDX-License-Identifier: MIT
//
// Every small schedule of a sender: each answer at each step, told at once or after `started`, out
// of order, stopped anywhere; and senders that are wrong on purpose, each of which must be caught.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <support/send_audit.hpp>

#include <waybill/batch/sender.hpp>
#include <waybill/core/match.hpp>

namespace sender_enumeration {

using namespace waybill;
using send_audit::audit;
using send_audit::event;

namespace {

// Sanitizers watch each of many small allocations, so there the largest enumerations are smaller.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool watched = true;
#elif defined(__has_feature)
constexpr bool watched = __has_feature(address_sanitizer);
#else
constexpr bool watched = false;
#endif

// What an item of a batch is called when the broker tells sizes, and its entries when some fail. The
// storage outlives the call of `on`, which is all that a span needs.
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
    bool streaming = false;  // items come when the enumeration says so, else all at once
    bool stops = false;      // it may be stopped at every step
    int wide = 0;            // so many answers are any answer
    int narrow = 0;          // so many more are one of a few; what comes then is accepted
    bool noise = true;       // at every step it is told what is late or contradicts itself, too
    bool at_once = true;     // an answer may come without `started`
};

const std::vector<answer>& wide_answers(std::size_t items)
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

const std::vector<answer>& narrow_answers(std::size_t items)
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
        world w{Machine(plan_.policy), audit(plan_.policy)};
        if (!plan_.streaming) {
            while (w.queued != plan_.sizes.size()) queue_one(w);
            w.m.on(flushed{}, w.now);
            w.flushed = true;
        }
        explore(std::move(w), 0);
    }

    std::uint64_t schedules = 0;
    std::uint64_t steps = 0;
    std::uint64_t most_sends = 0;
    std::vector<std::string> broken;  // what, and the way to it

private:
    static constexpr std::uint64_t none = unlimited;
    struct step {
        const char* what = "";  // of something that is there for ever
        std::uint64_t attempt = none;
    };

    struct world {
        Machine m;
        audit a;
        steady_time now = steady_time::at(duration::seconds(1));
        std::size_t queued = 0;
        bool flushed = false;
        int answers = 0;
        std::vector<step> way{};
    };

    [[nodiscard]] bool spoilt() const { return !broken.empty(); }

    void note(const world& w, const std::string& what)
    {
        std::string line = what + "; after:";
        for (const step& s : w.way) {
            line += s.attempt == none ? " " : " " + std::to_string(s.attempt) + " ";
            line += s.what;
            line += ";";
        }
        broken.push_back(line);
    }

    void must(const world& w, bool holds, const char* what)
    {
        if (!holds) note(w, what);
    }

    void queue_one(world& w)
    {
        const std::uint64_t size = plan_.sizes[w.queued++];
        w.a.queued(size);
        w.m.on(queued{size}, w.now);
    }

    // Asking twice says the same; a copy is the same and says the same; what is late, never was or
    // contradicts itself changes nothing.
    typename Machine::action asked(const world& w)
    {
        typename Machine::action a = w.m.next(w.now);
        must(w, a == w.m.next(w.now), "asked again it says the same");
        Machine c = w.m;
        must(w, c == w.m, "a copy is equal");
        must(w, a == c.next(w.now), "a copy says the same");
        if (!plan_.noise) return a;
        const auto ignored = [&](auto e, heard h, const char* what) {
            must(w, c.on(e, w.now) == h && c == w.m, what);
        };
        ignored(settled{{77, 1}},
                std::holds_alternative<act::settle>(a) ? heard::invalid : heard::late,
                "a wrong settled");
        ignored(closed{}, heard::late, "closed though not opened");
        static const std::vector<entry_fault> far{{0, fault_class::transient},
                                                  {7, fault_class::transient}};
        static const std::vector<std::uint64_t> many(7, 10);
        const auto offered = std::get_if<act::send>(&a);
        for (std::uint64_t n = 0; n != w.a.attempts.size() + 2; ++n) {
            const bool asked_for = offered && offered->attempt == n;
            const bool open = n < w.a.attempts.size() && w.a.attempts[n].open;
            // Whether it will be repeated or has been given up shows when all is settled.
            if (open && !w.a.attempts[n].away && std::holds_alternative<act::settle>(a)) continue;
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
        w.way.push_back({a.name.c_str(), attempt});
        w.a.answered(e, w.now);
        const heard h = std::visit([&](const auto& x) { return w.m.on(x, w.now); }, e);
        must(w, h == heard::taken, "an answer in time is taken");
    }

    const std::vector<answer>& answers(const world& w, std::size_t items) const
    {
        static const std::vector<answer> kind{{accepted{}, {}, {}, "accepted"}};
        if (w.answers < plan_.wide) return wide_answers(items);
        if (w.answers < plan_.wide + plan_.narrow) return narrow_answers(items);
        return kind;
    }

    void explore(world w, int depth)
    {
        ++steps;
        if (spoilt()) return;
        if (depth > 200) return note(w, "it does not end");
        auto a = asked(w);
        while (const act::settle* s = std::get_if<act::settle>(&a)) {
            const act::settle copy = *s;
            w.a.gives_up(copy.items);
            w.a.settle(copy);
            w.m.on(settled{copy.items}, w.now);
            if (!w.a.broken.empty() || ++depth > 200) break;
            a = asked(w);
        }
        if (!w.a.broken.empty()) return note(w, w.a.broken.front());
        if (spoilt()) return;
        const act::send* s = std::get_if<act::send>(&a);
        bool more = false;
        if (plan_.streaming && w.queued != plan_.sizes.size()) {
            world next = w;
            next.way.push_back({"queue"});
            queue_one(next);
            explore(std::move(next), depth + 1);
            more = true;
        }
        if (plan_.stops && !w.a.stopped) {
            world next = w;
            next.way.push_back({"stop"});
            next.m.on(stopped{}, next.now);
            next.a.stopped = true;
            explore(std::move(next), depth + 1);
            more = true;
        }
        for (std::uint64_t n = 0; n != w.a.attempts.size(); ++n) {
            if (!w.a.attempts[n].away) continue;
            for (const answer& x : answers(w, w.a.attempts[n].items.size())) {
                world next = w;
                tell(next, x, n);
                explore(std::move(next), depth + 1);
            }
            more = true;
        }
        if (s) {
            const act::send send = *s;  // its runs lie in w.m, which stays
            if (plan_.policy.in_flight > 1 || !plan_.at_once) {
                world next = w;
                next.a.sent(send, next.now);
                next.way.push_back({"start", send.attempt});
                must(next, next.m.on(started{send.attempt}, next.now) == heard::taken,
                     "started in time is taken");
                explore(std::move(next), depth + 1);
            }
            if (plan_.at_once) {
                for (const answer& x : answers(w, send.items.items())) {
                    world next = w;
                    next.a.sent(send, next.now);
                    tell(next, x, send.attempt);
                    explore(std::move(next), depth + 1);
                }
            }
            return;
        }
        if (const act::wait* wait = std::get_if<act::wait>(&a)) {
            must(w, wait->until > w.now, "a wait is not over yet");
            w.way.push_back({"wait"});
            w.now = wait->until;
            return explore(std::move(w), depth + 1);
        }
        if (more) return;
        if (!w.flushed) {
            w.way.push_back({"flush"});
            w.m.on(flushed{}, w.now);
            w.flushed = true;
            return explore(std::move(w), depth + 1);
        }
        ++schedules;
        most_sends = std::max(most_sends, w.a.sends);
        w.a.end();
        must(w, w.m.finished() && w.m.first_open() == w.m.end(), "it is finished");
        if (!w.a.broken.empty()) note(w, w.a.broken.front());
    }

    plan plan_;
};

send_policy policy_of(std::uint32_t in_flight, when_unknown u = when_unknown::repeat)
{
    send_policy p{
        .limit = {.bytes = 35, .items = 3, .single = 30}, .in_flight = in_flight, .on_unknown = u};
    p.retry = {.most = 2, .pauses = {.base = duration::milliseconds(1), .spread = jitter::none}};
    return p;
}

void holds(const plan& p, std::uint64_t at_least)
{
    enumeration<sender> e(p);
    e.run();
    MESSAGE(std::string(p.name), ": ", e.schedules, " schedules, ", e.steps, " steps, at most ",
            e.most_sends, " sends");
    CHECK(e.schedules >= at_least);
    CHECK_MESSAGE(e.broken.empty(), p.name << ": " << (e.broken.empty() ? "" : e.broken.front()));
}

}  // namespace

TEST_CASE("sender: any answers one after another")
{
    holds({"three items", policy_of(1), {10, 10, 10}, false, false, 3, 1}, 20'000);
    plan p{"four items in one batch", policy_of(1), {10, 10, 10, 10}, false, false, 2, 1};
    p.policy.limit = {.bytes = 45};
    holds(p, 4'000);
    p.name = "nothing is repeated";
    p.policy.on_unknown = when_unknown::hand_back;
    holds(p, 4'000);
}

TEST_CASE("sender: stopped anywhere, the answers told late")
{
    holds({"stopped", policy_of(1), {10, 10, 10}, false, true, 2, 2, true, false}, 20'000);
}

TEST_CASE("sender: few answers, to the end")
{
    holds({"three items to the end", policy_of(1), {10, 10, 10}, false, false, 0, 20}, 20'000);
    plan p{"four in twos", policy_of(1), {10, 20, 10, 10}, false, false, 0, 7};
    p.policy.limit.items = 2;
    holds(p, 20'000);
}

TEST_CASE("sender: two in flight, answers out of order")
{
    plan p{"two in flight", policy_of(2), {10, 10, 10, 10}, false, false, 2, 0, true, false};
    p.policy.limit.items = 2;
    holds(p, 20'000);
    plan q{"two in flight, stopped", policy_of(2), {10, 10, 10}, false, true, 0, 3};
    q.policy.limit.items = 1;
    if (watched) q.narrow = 1;
    holds(q, watched ? 1'000 : 250'000);
}

TEST_CASE("sender: items that come in between, and what waits to fill")
{
    plan p{"streaming", policy_of(1), {10, 40, 10}, true, false, 1, 2};
    p.policy.linger = duration::milliseconds(3);
    holds(p, 5'000);
    p.name = "nothing waits";
    p.policy.linger = {};
    holds(p, 3'000);
    plan q{"streaming, two in flight", policy_of(2), {10, 0, 26, 10}, true, true, 0, 2};
    if (watched) q.narrow = 1;
    holds(q, watched ? 1'000 : 40'000);
}

TEST_CASE("sender: limits that make no sense")
{
    for (const limits& l : {limits{0, 0, 0, 0}, limits{10, 0, 10, 10}, limits{5, 1, unlimited, 9},
                            limits{unlimited, unlimited, unlimited, unlimited}}) {
        plan p{"no sense", policy_of(0), {0, 1, unlimited}, false, false, 2, 1};
        p.policy.limit = l;
        p.policy.retry.most = 0;
        holds(p, 1);
    }
    plan p{"zero bytes", policy_of(1), {0, 0, 0}, false, false, 2, 1};
    p.policy.limit = {.bytes = 0};
    holds(p, 100);
    p.name = "wild sizes";
    p.policy.limit = {};
    p.sizes = {unlimited - 1, unlimited - 1, unlimited};
    holds(p, 100);
}

// Senders that are wrong on purpose. Each changes what the real one hears or says.
namespace {

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
    does_not_rest,
    hears_what_is_late,
    changes_its_mind,
    forgets_an_item,
    fails_neighbours,
    none,
};

template <wrong W>
class mutant {
public:
    using action = sender::action;

    explicit mutant(send_policy p) : s_((spoil(p), p)) {}

    [[nodiscard]] action next(steady_time now) const
    {
        if (W == wrong::changes_its_mind && asked_++ % 2 == 1) return act::idle{};
        return s_.next(now);
    }
    template <class E>
    heard on(const E& e, steady_time now)
    {
        if constexpr (W == wrong::cuts_unknown_anew && std::is_same_v<E, unknown>) {
            return s_.on(throttled{e.attempt}, now);
        } else if constexpr (W == wrong::repeats_what_arrived && std::is_same_v<E, accepted>) {
            return s_.on(unknown{e.attempt}, now);
        } else if constexpr (W == wrong::takes_partial_for_all && std::is_same_v<E, partial>) {
            return s_.on(accepted{e.attempt}, now);
        } else if constexpr (W == wrong::does_not_shrink && std::is_same_v<E, refused>) {
            return s_.on(throttled{e.attempt}, now);
        } else if constexpr (W == wrong::settles_twice && std::is_same_v<E, settled>) {
            if (!once_ && e.items.first != 77) return once_ = true, heard::taken;
            return s_.on(e, now);
        } else if constexpr (W == wrong::fails_the_refused && std::is_same_v<E, refused>) {
            if (e.item_sizes.empty()) return s_.on(failed{e.attempt, fault_class::permanent}, now);
            return s_.on(e, now);
        } else if constexpr (W == wrong::does_not_stop && std::is_same_v<E, stopped>) {
            return s_.on(flushed{}, now);
        } else if constexpr (W == wrong::takes_unknown_for_accepted && std::is_same_v<E, unknown>) {
            return s_.on(accepted{e.attempt}, now);
        } else if constexpr (W == wrong::does_not_rest && std::is_same_v<E, throttled>) {
            return s_.on(throttled{e.attempt}, now);
        } else if constexpr (W == wrong::hears_what_is_late && std::is_same_v<E, accepted>) {
            const heard h = s_.on(e, now);
            if (h == heard::late) s_.on(stopped{}, now);
            return h;
        } else if constexpr (W == wrong::forgets_an_item && std::is_same_v<E, queued>) {
            if (s_.end() == 2) return heard::taken;
            return s_.on(e, now);
        } else if constexpr (W == wrong::fails_neighbours && std::is_same_v<E, partial>) {
            if (e.failed.empty() || e.failed.front().how != fault_class::transient) {
                return s_.on(e, now);
            }
            return s_.on(failed{e.attempt, fault_class::transient}, now);
        } else {
            return s_.on(e, now);
        }
    }
    [[nodiscard]] bool finished() const { return s_.finished(); }
    [[nodiscard]] std::uint64_t end() const { return s_.end(); }
    [[nodiscard]] std::uint64_t first_open() const { return s_.first_open(); }
    friend bool operator==(const mutant& a, const mutant& b) { return a.s_ == b.s_; }

private:
    static void spoil(send_policy& p)
    {
        if (W == wrong::sends_too_many_at_a_time) ++p.in_flight;
        if (W == wrong::takes_one_item_too_many) ++p.limit.items;
        if (W == wrong::takes_ten_bytes_too_many) p.limit.bytes += 10;
    }

    sender s_;
    bool once_ = false;
    mutable std::uint64_t asked_ = 0;
};

template <wrong W>
std::string caught()
{
    // Four items of ten bytes: three by the limit of bytes, then two by that of items.
    plan p{"",
           policy_of(1),
           {10, 10, 10, 10},
           false,
           W == wrong::does_not_stop,
           2,
           1,
           W == wrong::hears_what_is_late,
           false};
    for (const std::uint64_t items : {4U, 2U}) {
        p.policy.limit.items = items;
        enumeration<mutant<W>> e(p);
        e.run();
        if (!e.broken.empty()) return e.broken.front();
    }
    return "";
}

}  // namespace

TEST_CASE("sender: what is wrong on purpose is caught")
{
    CHECK(caught<wrong::none>() == "");
    const auto by = [](const std::string& how, const char* promise) {
        MESSAGE(how);
        CHECK(how.rfind(promise, 0) == 0);
    };
    by(caught<wrong::cuts_unknown_anew>(), "no more attempts than");
    by(caught<wrong::repeats_what_arrived>(), "only what is unknown is sent again");
    by(caught<wrong::takes_partial_for_all>(), "accepted has arrived");
    by(caught<wrong::does_not_shrink>(), "a refused batch comes back smaller");
    by(caught<wrong::settles_twice>(), "no item is settled twice");
    by(caught<wrong::fails_the_refused>(), "failed has not arrived");
    by(caught<wrong::does_not_stop>(), "nothing is sent once it is stopped");
    by(caught<wrong::sends_too_many_at_a_time>(), "no more attempts than");
    by(caught<wrong::takes_one_item_too_many>(), "no batch has more items");
    by(caught<wrong::takes_ten_bytes_too_many>(), "no batch of several is over");
    by(caught<wrong::takes_unknown_for_accepted>(), "accepted has arrived");
    by(caught<wrong::does_not_rest>(), "a broker that wants to be left alone is");
    by(caught<wrong::hears_what_is_late>(), "accepted what is over");
    by(caught<wrong::changes_its_mind>(), "asked again it says the same");
    by(caught<wrong::forgets_an_item>(), "every item is settled");
    by(caught<wrong::fails_neighbours>(), "what has arrived is not sent again");
}

TEST_CASE("sender: what only an audit by hand can show is caught, too")
{
    const send_policy p = policy_of(2);
    const steady_time now{};
    const run first{0, 1}, second{1, 1}, both{0, 2};
    const auto said = [&](auto&& story) {
        audit a(p);
        a.queued(10);
        a.queued(10);
        story(a);
        return a.broken.empty() ? std::string() : a.broken.front();
    };
    CHECK(said([&](audit& a) { a.sent({0, {&both, 1}, 20, closed_by::end}, now); }) == "");
    CHECK(said([&](audit& a) {
              a.sent({0, {&second, 1}, 10, closed_by::end}, now);
          }) == "batches are cut from the head of the queue");
    CHECK(said([&](audit& a) {
              a.sent({99, {&both, 1}, 20, closed_by::end}, now);
          }) == "attempt numbers ascend, few left out");
    CHECK(said([&](audit& a) { a.sent({0, {}, 0, closed_by::end}, now); }) == "no batch is empty");
    CHECK(said([&](audit& a) {
              a.sent({0, {&both, 1}, 20, closed_by::end}, now);
              a.answered(unknown{0}, now);
              a.sent({0, {&first, 1}, 10, closed_by::end}, now);
          }) == "what may have arrived is repeated as it was");
    CHECK(said([&](audit& a) {
              a.sent({0, {&both, 1}, 20, closed_by::end}, now);
              a.answered(unknown{0}, now);
              a.sent({1, {&both, 1}, 20, closed_by::end}, now);
          }) == "an item is sent that is elsewhere");
    CHECK(said([&](audit& a) { a.end(); }) == "every item is settled");
    CHECK(said([&](audit& a) {
              a.settle({first, item_outcome::unsent});
          }) == "unsent has not arrived");
    CHECK(said([&](audit& a) {
              a.settle({first, item_outcome::too_large});
          }) == "too large was refused alone, or no cut could save it");
}

}  // namespace sender_enumeration
